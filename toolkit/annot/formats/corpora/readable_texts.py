"""The title and the abstract of a record as people should read them: without notices, with maths as signs, and with the
headings of a structured abstract as those of its sections."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from annot.base.records import Paper
from annot.formats.cleaning import Cleaned, Way, clean, cleaned
from annot.formats.corpora.sections import parts_of
from annot.formats.corpora.tex import with_signs
from annot.formats.notices import without_notices
from annot.formats.paper_text import PARAGRAPH, without_heading

_OWN = ("labels", "pred_labels", "paragraph_labels", "part_of")
"""Fields of records whose text stays as it came: it has labels, or is a passage of another text."""
_HEADING = re.compile(
    r"<((?:jats:)?title|h[1-6])\b[^<>]*>\s*(?P<plain>[^<>]{1,80}?)\s*:?\s*</\1\s*>\s*:?\s*"
    r"|<(b|strong)\b[^<>]*>\s*(?P<bold>[^<>]{1,80}?)\s*(?::\s*</\3\s*>|</\3\s*>\s*:)\s*"
)
"""A heading in markup: Europe PMC's `<h4>Background</h4>`, JATS, and bold letters with a colon."""


class Readable(NamedTuple):
    """A record, and what was done to its texts."""

    record: Mapping[str, Any]
    ways: frozenset[Way] = frozenset()
    notices: tuple[tuple[str, str], ...] = ()
    """What was cut of the abstract, as (name of the rule, notice)."""

    def changed(self, came: Mapping[str, Any], paper: Paper) -> Cleaned | None:
        """What is other in the paper than in the record that came; None for nothing."""
        abstract = came.get("abstract") or "\n\n".join(text for _, _, text in came.get("sections") or ())
        title = came.get("title") or ""
        return cleaned(
            *(paper.paper_id, (title, paper.title), (abstract, paper.sentences)), also=self.ways, notices=self.notices
        )


def readable(record: Mapping[str, Any]) -> Readable:
    """The record with texts for people; itself where nothing is to be done."""
    if any(map(record.get, _OWN)):
        return Readable(record)
    fields: dict[str, Any] = {}
    ways: set[Way] = set()
    notices: tuple[tuple[str, str], ...] = ()
    title, abstract, sections = record.get("title"), record.get("abstract"), record.get("sections")
    if isinstance(title, str):
        fields["title"] = _shown(title, ways)
    if sections:
        cut = [without_notices(_shown(text, ways)) for _, _, text in sections]
        notices = tuple(notice for _, several in cut for notice in several)
        fields["sections"] = [(*part[:2], text) for part, (text, _) in zip(sections, cut, strict=True)]
    elif isinstance(abstract, str) and abstract:
        shown = _shown(_HEADING.sub(_in_line, abstract) if "</" in abstract else abstract, ways)
        had_heading, shown = without_heading(shown)
        ways |= {Way.HEADING} if had_heading else set()
        fields["abstract"], notices = without_notices(shown)
        if parts := parts_of(fields["abstract"]):
            fields["sections"] = parts
    elif isinstance(abstract, list) and any("$" in sentence for sentence in abstract if isinstance(sentence, str)):
        fields["abstract"] = [with_signs(text) if isinstance(text, str) else text for text in abstract]
        ways |= {Way.MATHS} if fields["abstract"] != abstract else set()
    if all(record.get(name) == value for name, value in fields.items()):
        return Readable(record)
    return Readable({**record, **fields}, frozenset(ways), notices)


def _shown(text: str, ways: set[Way]) -> str:
    # A text without line ends and markup is cleaned as it is cut into sentences.
    if "\n" in text or "</" in text or "&" in text:
        text = "\n\n".join(map(clean, PARAGRAPH.split(text)))
    if (shown := with_signs(text)) != text:
        ways.add(Way.MATHS)
    return shown


def _in_line(found: re.Match[str]) -> str:
    heading = found["plain"] or found["bold"]
    return "\n\n" if heading.casefold() == "abstract" else f"\n\n{heading}: "
