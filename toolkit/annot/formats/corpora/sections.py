"""Structured abstracts: their sections onto the sentence labels of a study, by the headings that people gave them.

A heading that no line of the study names falls back on the category that the National Library of Medicine gives it
(https://www.nlm.nih.gov/bsd/policy/structured_abstracts.html). A study with the five labels of CSAbstruct (Cohan et
al., EMNLP 2019) needs no line. Conclusions are results in it: CSAbstruct has no label of their own for them, its
sentences "We conclude that ..." are results, and so are they in the guidelines of CSFCube.

PubMed prints abstracts as one text with headings, `BACKGROUND: ... METHODS: ...`, and so do exports from it. A heading
has a colon after it, where the abstract or a sentence begins. In capitals, at least one of its words is one of those
that the headings of MEDLINE have. In lower case (`Background: ... Methods: ...`, or with a full stop, as Scopus and
Web of Science have it), all its words are such words or others that headings have, and the abstract has headings of two
categories. Each word of MEDLINE's headings belongs to one of the five categories of the National Library of Medicine:
Ripple, Mork, Knecht and Humphreys: A retrospective cohort study of structured abstracts in MEDLINE, 1992-2006. Journal
of the Medical Library Association 99 (2011), https://doi.org/10.3163/1536-5050.99.2.009.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from annot.base.names import plain_heading
from annot.base.records import Paper
from annot.formats.cleaning import PARAGRAPH, CleanedPaper, Way, clean, cleaned, without_heading, without_notices
from annot.formats.corpora.bibtex import unicode_of_tex
from annot.formats.input_files import packaged_table

_HEADINGS = packaged_table("headings.toml")
USUAL: Mapping[str, Sequence[str]] = _HEADINGS["usual"]
"""The headings of each label of a study that has these five."""
MOST_HEADINGS = 1_000
"""The most headings that are counted by name; all others are counted together."""
NO_HEADING, OTHERS = "(no heading)", "(other headings)"


Headings = tuple[tuple[str, str], ...]
"""The headings of one paper, each once: the name of a section, and the label that its sentences have; "" for none."""


@dataclass(frozen=True, slots=True)
class SectionLabels:
    """The labels of sections. faceted: whether sentences have labels; if not, headings are part of the text, as
    PubMed shows them."""

    label_of: Mapping[str, str]
    """The label of each plain heading, or category."""
    faceted: bool

    @classmethod
    def of(cls, names: Sequence[str], lines: Mapping[str, Sequence[str]], *, faceted: bool) -> SectionLabels:
        """Labels of sections in a study with the labels `names`. lines: headings that the study adds to each label."""
        usual = USUAL if {*names} == USUAL.keys() else {}
        all_headings = [*usual.items(), *lines.items()]
        return cls({plain_heading(heading): label for label, named in all_headings for heading in named}, faceted)

    def applied(self, record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Headings]:
        """The record with its `sections` as one abstract, and the headings that it was labelled by.

        Each paragraph of a section has the section's label. A record of which one part has none comes without labels.
        """
        if not record.get("sections"):
            return record, ()
        fields = {name: value for name, value in record.items() if name != "sections"}
        parts = [(name, category, text.strip()) for name, category, text in record["sections"] if text.strip()]
        if not self.faceted:
            texts = (f"{name.strip().rstrip(':')}: {text}" if plain_heading(name) else text for name, _, text in parts)
            return fields | {"abstract": "\n\n".join(texts)}, ()
        labels = [
            self.label_of.get(plain_heading(name)) or self.label_of.get(plain_heading(category), "")
            for name, category, _ in parts
        ]
        paragraphs = [
            (label, paragraph)
            for label, (_, _, text) in zip(labels, parts, strict=True)
            for paragraph in PARAGRAPH.split(text)
        ]
        fields["abstract"] = "\n\n".join(paragraph for _, paragraph in paragraphs)
        if labels and all(labels):
            fields["paragraph_labels"] = [label for label, _ in paragraphs]
        names = [plain_heading(name) or NO_HEADING for name, _, _ in parts]
        return fields, tuple(dict.fromkeys(zip(names, labels, strict=True)))


class StructuredAbstracts(NamedTuple):
    """The structured abstracts among papers."""

    papers: int
    unlabelled: int
    """Papers without labels, because a part of the abstract has no heading, or one without a label."""
    headings: tuple[tuple[str, str, int], ...]
    """Heading, label ("" for none), papers; those without a label first, then the most frequent."""

    @property
    def unknown(self) -> tuple[tuple[str, int], ...]:
        """The headings that no label has, and in how many papers."""
        return tuple((name, papers) for name, label, papers in self.headings if not label)

    @property
    def known(self) -> tuple[tuple[str, str, int], ...]:
        """The others."""
        return tuple(heading for heading in self.headings if heading[1])

    @property
    def writable(self) -> list[str]:
        """The headings that no line of annot.toml names, though one could; `templates/added.txt.j2` shows them."""
        return [name for name, _ in self.unknown if name not in (NO_HEADING, OTHERS)]


class HeadingCount:
    """Counts the headings of papers."""

    def __init__(self) -> None:
        self._papers = self._unlabelled = 0
        self._counts = Counter[tuple[str, str]]()

    def take(self, several: Iterable[Headings]) -> None:
        """Count these papers."""
        for headings in several:
            self._papers += 1
            self._unlabelled += not all(label for _, label in headings)
            for name, label in headings:
                self._count(name, label, 1)

    def remember(self, facts: Mapping[str, Any]) -> None:
        """Count the headings of an earlier count; nothing if no abstract was structured."""
        self._papers += facts.get("papers", 0)
        self._unlabelled += facts.get("unlabelled", 0)
        for name, label, papers in facts.get("headings", ()):
            self._count(name, label, papers)

    def _count(self, name: str, label: str, papers: int) -> None:
        is_counted = (name, label) in self._counts or len(self._counts) < MOST_HEADINGS
        self._counts[name if is_counted else OTHERS, label] += papers

    @property
    def facts(self) -> dict[str, Any]:
        """The counts as the store keeps them; nothing if no abstract was structured."""
        return self.found._asdict() if self._papers else {}

    @property
    def found(self) -> StructuredAbstracts:
        """The counts."""
        order = sorted(self._counts.items(), key=lambda item: (bool(item[0][1]), -item[1], item[0]))
        return StructuredAbstracts(
            self._papers, self._unlabelled, tuple((*heading, papers) for heading, papers in order)
        )


_CATEGORY = {word: category for category, words in _HEADINGS["words"].items() for word in words.split()}
_OTHER_WORDS = {*_HEADINGS["others"].split()}
_COLON = re.compile(r":\s+(?=\S)")
_COLON_OR_STOP = re.compile(r"[:.]\s+(?=\S)")
_STOPPED = ("ethods. ", "ETHODS. ", "esults. ", "ESULTS. ")
_BEFORE_COLON = re.compile(r"[A-Z][A-Za-z &/,()'’-]*\Z")
_CAPITALS = re.compile("[A-Z]+")
_SENTENCE_END = re.compile(r"[.!?][)\]\"'”’]{0,2},?\s*\Z|\n\s*\Z")
"""Ovid has a comma after each part but the last."""
_LONGEST = 80


def parts_of(abstract: str) -> list[tuple[str, str, str]]:
    """The parts of a structured abstract, as (heading, category, text); empty if the abstract has no heading.

    A text before the first heading has the heading and the category "".

    >>> parts_of("AIMS/HYPOTHESIS: To see. METHODS: We split DNA: twice. CONCLUSION: It works.")
    [('AIMS/HYPOTHESIS', 'OBJECTIVE', 'To see.'), ('METHODS', 'METHODS', 'We split DNA: twice.'), \
('CONCLUSION', 'CONCLUSIONS', 'It works.')]
    """
    stopped = any(map(abstract.__contains__, _STOPPED))
    if ":" not in abstract and not stopped:
        return []
    headings = []
    for colon in (_COLON_OR_STOP if stopped else _COLON).finditer(abstract):
        words = _BEFORE_COLON.search(abstract, max(0, colon.start() - _LONGEST), colon.start())
        earlier = abstract[max(0, words.start() - 8) : words.start()] if words else ""
        if words and (category := _category_of(words[0], earlier)) is not None:
            headings.append((words[0], category, words.start(), colon.end()))
    if len({category for _, category, _, _ in headings}) < 2:
        headings = [part for part in headings if part[0].isupper() and abstract[part[2] + len(part[0])] == ":"]
    if not headings:
        return []
    parts = []
    heading, category, begin = "", "", 0
    for name, its_category, start, end in headings:
        text = abstract[begin:start].strip()
        parts.append((heading, category, text.removesuffix(",") if text.endswith((".,", "?,")) else text))
        heading, category, begin = name, its_category, end
    parts.append((heading, category, abstract[begin:].strip()))
    return [part for part in parts if part[2]]


def _category_of(heading: str, earlier: str) -> str | None:
    """Category of a possible heading, None if it is none; earlier: the characters before it.

    If the words have several categories, it is the last, as NLM has it for `BACKGROUND AND AIMS`, but results go before
    all others.
    """
    words = _CAPITALS.findall(heading.upper())
    categories = [_CATEGORY[word] for word in words if word in _CATEGORY]
    if not categories or (earlier.strip() and not _SENTENCE_END.search(earlier)):
        return None
    if not heading.isupper() and not all(word in _CATEGORY or word in _OTHER_WORDS for word in words):
        return None
    return "RESULTS" if "RESULTS" in categories else categories[-1]


_AS_THEY_CAME = ("labels", "pred_labels", "paragraph_labels", "part_of")
"""Fields of records whose text stays as it came: it has labels, or is a passage of another text."""
_HEADING = re.compile(
    r"<((?:jats:)?title|h[1-6])\b[^<>]*>\s*(?P<plain>[^<>]{1,80}?)\s*:?\s*</\1\s*>\s*:?\s*"
    r"|<(b|strong)\b[^<>]*>\s*(?P<bold>[^<>]{1,80}?)\s*(?::\s*</\3\s*>|</\3\s*>\s*:)\s*"
)
"""A heading in markup: Europe PMC's `<h4>Background</h4>`, JATS, and bold letters with a colon."""


Changes = Callable[[Paper], CleanedPaper | None]
"""Function that gives the differences between a paper and the record that it came in; None if there are none."""


def readable(record: Mapping[str, Any], *, published: bool) -> tuple[Mapping[str, Any], Changes]:
    """The record with texts for people, and the changes to its texts; the same record if there is nothing to do.

    published: True for texts of a published collection, which stay as they came.
    """
    if published or any(map(record.get, _AS_THEY_CAME)):
        return record, _changes(record)
    ways: set[Way] = set()
    fields, notices = _fields_for_people(record, ways)
    if all(record.get(name) == value for name, value in fields.items()):
        return record, _changes(record)
    return {**record, **fields}, _changes(record, also=ways, notices=notices)


def _fields_for_people(record: Mapping[str, Any], ways: set[Way]) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
    """The record's texts for people, and its notices."""
    title, abstract, sections = record.get("title"), record.get("abstract"), record.get("sections")
    fields: dict[str, Any] = {"title": _shown(title, ways)} if isinstance(title, str) else {}
    notices: tuple[tuple[str, str], ...] = ()
    if sections:
        cut = [without_notices(_shown(text, ways)) for _, _, text in sections]
        notices = tuple(notice for _, of_section in cut for notice in of_section)
        fields["sections"] = [(*part[:2], text) for part, (text, _) in zip(sections, cut, strict=True)]
    elif isinstance(abstract, str) and abstract:
        fields["abstract"], notices = _readable_abstract(abstract, ways)
        if parts := parts_of(fields["abstract"]):
            fields["sections"] = parts
    elif isinstance(abstract, list) and any("$" in sentence for sentence in abstract if isinstance(sentence, str)):
        fields["abstract"] = [unicode_of_tex(text) if isinstance(text, str) else text for text in abstract]
        ways |= {Way.MATHS} if fields["abstract"] != abstract else set()
    return fields, notices


def _changes(record: Mapping[str, Any], **found: Any) -> Changes:
    abstract = record.get("abstract") or "\n\n".join(text for _, _, text in record.get("sections") or ())
    return partial(cleaned, title=record.get("title") or "", abstract=abstract, **found)


def _readable_abstract(abstract: str, ways: set[Way]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The abstract for people, without the notices that come second."""
    text = _shown(_HEADING.sub(_in_line, abstract) if _has_tags(abstract) else abstract, ways)
    had_heading, text = without_heading(text)
    ways |= {Way.HEADING} if had_heading else set()
    return without_notices(text)


def _shown(text: str, ways: set[Way]) -> str:
    # A text without line ends and markup is cleaned as it is cut into sentences.
    if "\n" in text or "&" in text or _has_tags(text):
        text = "\n\n".join(map(clean, PARAGRAPH.split(text)))
    if (shown := unicode_of_tex(text)) != text:
        ways.add(Way.MATHS)
    return shown


def _has_tags(text: str) -> bool:
    # One character is searched for many times as fast as two, and few texts have it.
    return "<" in text and "</" in text


def _in_line(marked: re.Match[str]) -> str:
    heading = marked["plain"] or marked["bold"]
    return "\n\n" if heading.casefold() == "abstract" else f"\n\n{heading}: "
