"""Check of the guidelines against the study: its facets, its scale, its corpus."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from annot.base.errors import AnnotError
from annot.base.records import WHOLE
from annot.store import papers, trials
from annot.store.pools import read_queries, read_topics
from annot.study import guidelines
from annot.study.outcome import outcome_of
from annot.study.provenance import note, states_of
from annot.study.workspace import Workspace

GENERAL = "general"
GRADE_HEADING = re.compile(r"^#{2,3} +(\d)\b[ .:-]*(.*?) *$", re.MULTILINE)
"""Heading of a grade on a page of a facet: `## 2 Similar`."""
GRADE_ROW = re.compile(r"^\| *(\d) *\| *([^|]*?) *\|", re.MULTILINE)
"""`| 2 | Similar | ...`: how the general page names the grades."""
QUOTATION = re.compile(r"^> ?(.*(?:\n> ?.*)*)", re.MULTILINE)
EXAMPLE = re.compile(r"\*\*[^*]+\*\* +\(([^()\s]+)\): +(.+)", re.DOTALL)
"""`**Query** (1791179): ...`: a quoted example and the paper that it is from."""


@dataclass(frozen=True, slots=True)
class CheckedGuidelines:
    """Figures of a check of the guidelines, and its findings."""

    pages: tuple[str, ...]
    examples: int
    """Number of quotations that are word for word in the corpus."""
    left_out: Mapping[str, int]
    """Quotations that assessors do not get because their papers are not in the corpus, by page that comes with annot.
    """
    without_criteria: tuple[str, ...]
    """Pages of facets without a list of the meaning of each grade, so that the screen does not show it."""
    findings: tuple[str, ...]


def read_pages(ws: Workspace) -> tuple[dict[str, str], list[str]]:
    """The pages that assessors get, the general one first, and why a page cannot be read."""
    pages, faults = {}, []
    with ws.reading() as session:
        of_texts = (WHOLE,) if read_topics(session) else ()
    for name in dict.fromkeys((GENERAL, *ws.settings.facets, *of_texts)):
        try:
            pages[name] = guidelines.page(ws, GENERAL) if name == GENERAL else guidelines.read(ws, name)
        except AnnotError as error:
            faults.append(error.message)
    return pages, faults


def criteria_of(text: str) -> dict[int, str]:
    """Meaning of each grade on a page, before its first example."""
    below = {grade: re.split("^> ", text, flags=re.MULTILINE)[0] for grade, (_, text) in _sections(text).items()}
    return {grade: _plain(meaning) for grade, meaning in below.items()}


def _sections(text: str) -> dict[int, tuple[str, str]]:
    """Heading of each grade on a page of a facet, and the text below it up to the next heading."""
    parts = GRADE_HEADING.split(text)
    return {
        int(parts[index]): (parts[index + 1], re.split(r"^#+ ", parts[index + 2], flags=re.MULTILINE)[0])
        for index in range(1, len(parts), 3)
    }


def check(ws: Workspace) -> CheckedGuidelines:
    """Compare the pages with the facets, the scale and the corpus; nothing is written."""
    pages, faults = read_pages(ws)
    quoted_ids = {
        example[1] for text in pages.values() for part in _quotations(text) if (example := EXAMPLE.fullmatch(part))
    }
    quoted_papers = papers.find_papers(ws.corpus, sorted(quoted_ids)) if quoted_ids and ws.has_corpus else {}
    findings = [*faults, *_given_away(ws, pages), *_strangers(ws, pages)]
    examples = 0
    for name, text in pages.items():
        place = f"guidelines/{name}.md"
        findings += [f"{place}: {fault}" for fault in _grades(name, text, ws.settings.scale.names)]
        for quoted in _quotations(text):
            example = EXAMPLE.fullmatch(quoted)
            if example is None:
                findings.append(
                    f"{place}: {_short(quoted)}: does not say which paper it quotes, expected **Query** (ID): ..."
                )
            elif example[1] not in quoted_papers:
                findings.append(f"{place}: quotes paper {example[1]}, which is not in the corpus")
            elif _plain(example[2]) not in _plain(
                " ".join([quoted_papers[example[1]].title, *quoted_papers[example[1]].sentences])
            ):
                findings.append(f"{place}: {_short(example[2])}: not found in this form in paper {example[1]}")
            else:
                examples += 1
    n_grades = len(ws.settings.scale.names)
    silent = tuple(
        name for name, text in pages.items() if name != GENERAL and not guidelines.short_criteria(text, n_grades)
    )
    return CheckedGuidelines(tuple(pages), examples, guidelines.left_out(ws, pages), silent, tuple(findings))


def note_as_read(ws: Workspace, checked: CheckedGuidelines) -> None:
    """Note that the guidelines as they are were read, and in how many places they do not fit."""
    note(ws, "guidelines", states_of(ws), misfits=len(checked.findings))


def _given_away(ws: Workspace, pages: Mapping[str, str]) -> Iterator[str]:
    """Lines of the study's own pages that are still to be written, and pairs on them whose grade is still to be found:
    pairs without a final grade, and gold."""
    own_pages = {path.stem for path in (ws.root / "guidelines").glob("*.md")} & pages.keys()
    if not own_pages:
        return
    with ws.reading() as session:
        query_of = {query.query_id: query for query in read_queries(session)}
        outcome, gold = outcome_of(session, ws.settings), {gold_pair.pair for gold_pair in trials.read_gold(session)}
    settled = {decision.pair for decision in outcome.decisions}
    secret = gold | (outcome.planned.keys() - settled)
    by_page = {(query_of[query].facet, query_of[query].topic_id, doc): f"{query} {doc}" for query, doc in secret}
    for name in sorted(own_pages):
        if re.search("^WHY:", pages[name], re.MULTILINE):
            yield f"guidelines/{name}.md: a line WHY: is still to be completed"
        ids = [example[1] for part in _quotations(pages[name]) if (example := EXAMPLE.fullmatch(part))]
        for pair in sorted({by_page[name, *two] for two in pairwise(ids) if (name, *two) in by_page}):
            yield f"guidelines/{name}.md: shows the pair {pair}, whose grade people are still to find"


def _strangers(ws: Workspace, pages: Mapping[str, str]) -> Iterator[str]:
    """Facets of the study that the general page does not name, and those it or a page speaks of that are none."""
    facets = ws.settings.facets
    general = pages.get(GENERAL, "")
    for facet in facets:
        if facet != WHOLE and general and not re.search(rf"\b{re.escape(facet)}\b", general, re.IGNORECASE):
            yield f"guidelines/{GENERAL}.md: does not name the facet {facet!r}"
    folder = ws.root / "guidelines"
    of_own = {path.stem for path in folder.glob("*.md")}
    expected = {GENERAL, WHOLE, *guidelines.NOT_FOR_ASSESSORS, *guidelines.OF_ROUNDS, *facets}
    for name in sorted(of_own - expected):
        yield f"guidelines/{name}.md: describes a facet that the study does not have ([facets] in annot.toml)"
    others = sorted((of_own | guidelines.packaged_facets()) - expected)
    sentences = " ".join(sentence for sentence in re.split(r"(?<=[.?!])\s+", general) if "facet" in sentence.casefold())
    for name in others:
        if re.search(rf"\b{re.escape(name)}\b", sentences, re.IGNORECASE):
            yield f"guidelines/{GENERAL}.md: mentions a facet {name!r}, which the study does not have"


def _grades(name: str, text: str, scale: Sequence[str]) -> Iterator[str]:
    """Grades without a description, and descriptions of no grade."""
    if name == GENERAL:
        rows = {int(grade): meaning for grade, meaning in GRADE_ROW.findall(text)}
        for grade, word in enumerate(scale):
            if grade not in rows or word.casefold() not in rows[grade].casefold():
                fault = f"calls it {rows[grade]!r}" if rows.get(grade) else "has no row for it"
                yield f"grade {grade} is {word!r} in annot.toml; the table of grades {fault}"
        described = rows.keys()
    else:
        defined = _sections(text)
        for grade, word in enumerate(scale):
            heading, below = defined.get(grade, ("", ""))
            if grade not in defined:
                yield f"grade {grade} is not defined: no heading `## {grade} {word}`"
            elif heading.casefold() != word.casefold():
                yield f"grade {grade} is called {heading!r}, and {word!r} in annot.toml"
            elif not QUOTATION.sub("", below).strip():
                yield f"grade {grade} is not defined: there is no text below its heading"
        described = defined.keys()
    for grade in sorted(set(described) - set(range(len(scale)))):
        yield f"defines grade {grade}, which is not on the scale 0 to {len(scale) - 1}"


def _quotations(text: str) -> list[str]:
    """Every quotation of a page, its lines joined; paragraphs of one are quotations of their own."""
    blocks = [re.sub(r"^> ?", "", block, flags=re.MULTILINE) for block in QUOTATION.findall(text)]
    return [" ".join(part.split()) for block in blocks for part in re.split(r"\n\s*\n", block) if part.strip()]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
