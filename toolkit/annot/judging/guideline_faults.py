"""Check of the guidelines: missing pages, grades without a meaning, and examples that people do not get."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from annot.base.errors import AnnotError, InputError
from annot.base.records import WHOLE
from annot.base.words import ENGLISH, FOLDER, Words, languages, missing_words
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
    missing_words: Mapping[str, Sequence[str]]
    """Lines of the English words that a file of the study lacks, by language, so that the screen is in English there.
    """
    findings: tuple[str, ...]


def read_pages(ws: Workspace, words: Words = ENGLISH) -> tuple[dict[str, str], list[str]]:
    """The pages that assessors get, the general one first, and why a page cannot be read. words: of their language."""
    pages, faults = {}, []
    with ws.reading() as session:
        of_texts = (WHOLE,) if read_topics(session) else ()
    for name in dict.fromkeys((GENERAL, *ws.settings.facets, *of_texts)):
        try:
            pages[name] = _page(ws, name, words)
        except AnnotError as error:
            faults.append(error.message)
    return pages, faults


def _page(ws: Workspace, name: str, words: Words) -> str:
    return guidelines.page(ws, name, words=words) if name == GENERAL else guidelines.read(ws, name, words=words)


def _in_other_languages(ws: Workspace, names: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """The study's own pages of these names in other languages, such as `de/method`, and why one is not read."""
    pages, faults = {}, []
    folder = ws.root / "guidelines"
    for path in sorted(folder.glob("*/*.md")):
        language, name = path.parent.name, path.stem
        if language not in languages(ws.root / "templates"):
            faults.append(
                f"guidelines/{language}: there are no words in templates/words/{language}.toml, so it is not read"
            )
        elif name in names:
            try:
                pages[f"{language}/{name}"] = _page(ws, name, guidelines.words_in(ws, language))
            except AnnotError as error:
                faults.append(f"guidelines/{language}: {error.message}")
    return pages, list(dict.fromkeys(faults))


def criteria_of(text: str) -> dict[int, str]:
    """Meaning of each grade on a page of a facet, in Markdown: the text below its heading, before the first example."""
    parts = GRADE_HEADING.split(text)
    below = zip(parts[1::2], parts[2::2], strict=True)
    meanings = {int(grade): re.split("^(?:#+|>) ", part, flags=re.MULTILINE)[0] for grade, part in below}
    return {grade: meaning.strip() for grade, meaning in meanings.items()}


def check(ws: Workspace) -> CheckedGuidelines:
    """Compare the pages with the facets, the scale and the corpus; nothing is written."""
    in_english, findings = read_pages(ws)
    others, faults = _in_other_languages(ws, in_english)
    pages, names = in_english | others, ws.settings.scale.names
    findings += faults
    without_criteria = []
    headings = {text.strip().split("\n")[0] for name, text in pages.items() if PurePosixPath(name).name == GENERAL}
    for facet, text in pages.items():
        if PurePosixPath(facet).name == GENERAL:
            continue
        # `annot guidelines` prints the general page behind that of the facet.
        findings += [
            f"guidelines/{facet}.md: has the general page from line {number} on, which people would read twice; delete "
            "it there"
            for number, line in enumerate(text.splitlines(), start=1)
            if line in headings and line
        ]
        if not guidelines.short_criteria(text, len(names)):
            without_criteria.append(facet)
        meanings = criteria_of(text)
        findings += [
            f"guidelines/{facet}.md: grade {grade} is not defined: no text below a heading `## {grade} {name}`"
            for grade, name in enumerate(names)
            if not meanings.get(grade)
        ]
    templates = ws.root / "templates"
    missing = {}
    for path in sorted((templates / FOLDER).glob("*.toml")):
        try:
            missing[path.stem] = missing_words(path.stem, overrides=templates)
        except InputError as error:
            findings.append("; ".join((error.message, *error.faults)))
    return CheckedGuidelines(
        tuple(pages), guidelines.left_out(ws, in_english), tuple(without_criteria), missing, tuple(findings)
    )


def note_as_read(ws: Workspace, checked: CheckedGuidelines) -> None:
    """Note that the guidelines as they are were read, and in how many places they do not fit."""
    note(ws, "guidelines", states_of(ws), misfits=len(checked.findings))
