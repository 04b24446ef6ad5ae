"""Check of the guidelines: missing pages, grades without a meaning, and examples that people do not get."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from annot.base.errors import AnnotError
from annot.base.records import WHOLE
from annot.base.words import ENGLISH, Words, languages
from annot.store.pools import read_topics
from annot.study import guidelines
from annot.study.provenance import note, states_of
from annot.study.workspace import Workspace

GENERAL = "general"
GRADE_HEADING = re.compile(r"^#{2,3} +(\d)\b.*$", re.MULTILINE)
"""Heading of a grade on a page of a facet: `## 2 Similar`."""


@dataclass(frozen=True, slots=True)
class CheckedGuidelines:
    """The pages of the guidelines, and the findings."""

    pages: tuple[str, ...]
    left_out: Mapping[str, int]
    """Quotations that assessors do not get because their papers are not in the corpus, by page that comes with annot.
    """
    without_criteria: tuple[str, ...]
    """Pages of facets without a list of the meaning of each grade, so that the screen does not show it."""
    findings: tuple[str, ...]


def read_pages(ws: Workspace, words: Words = ENGLISH) -> tuple[dict[str, str], list[str]]:
    """The pages that assessors get, the general one first, and why a page cannot be read. words: of their language."""
    pages, faults = {}, []
    of_texts = (WHOLE,) if ws.read(read_topics) else ()
    for name in dict.fromkeys((GENERAL, *ws.settings.facets, *of_texts)):
        try:
            pages[name] = (guidelines.page if name == GENERAL else guidelines.read)(ws, name, words=words)
        except AnnotError as error:
            faults.append(error.message)
    return pages, faults


def criteria_of(text: str) -> dict[int, str]:
    """Meaning of each grade on a page of a facet, in Markdown: the text below its heading, before the first example."""
    parts = GRADE_HEADING.split(text)
    below = zip(parts[1::2], parts[2::2], strict=True)
    meanings = {int(grade): re.split("^(?:#+|>) ", part, flags=re.MULTILINE)[0] for grade, part in below}
    return {grade: meaning.strip() for grade, meaning in meanings.items()}


def check(ws: Workspace) -> CheckedGuidelines:
    """Compare the pages with the facets, the scale and the corpus; nothing is written."""
    pages, findings = read_pages(ws)
    left_out, names = guidelines.left_out(ws, pages), ws.settings.scale.names
    for language in languages(ws.root / "templates"):
        written = {path.stem for path in (ws.root / "guidelines" / language).glob("*.md")}
        if written.intersection(pages):
            of_language, faults = read_pages(ws, guidelines.words_in(ws, language))
            pages |= {f"{language}/{name}": text for name, text in of_language.items() if name in written}
            findings += [f"guidelines/{language}: {fault}" for fault in faults if fault not in findings]
    without_criteria = []
    for facet, text in pages.items():
        if PurePosixPath(facet).name == GENERAL:
            continue
        if not guidelines.short_criteria(text, len(names)):
            without_criteria.append(facet)
        meanings = criteria_of(text)
        findings += [
            f"guidelines/{facet}.md: grade {grade} is not defined: no text below a heading `## {grade} {name}`"
            for grade, name in enumerate(names)
            if not meanings.get(grade)
        ]
    return CheckedGuidelines(tuple(pages), left_out, tuple(without_criteria), tuple(findings))


def note_as_read(ws: Workspace, checked: CheckedGuidelines) -> None:
    """Note that the guidelines as they are were read, and in how many places they do not fit."""
    note(ws, "guidelines", states_of(ws), misfits=len(checked.findings))
