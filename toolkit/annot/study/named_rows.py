"""A judgements file under the names of the study: its queries, its people as pseudonyms, its rows as a plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from annot.facets.mapping import facet_sentences
from annot.formats.faults import Faults
from annot.formats.judgements_file import FileJudgement
from annot.records import Asked, Assessor, Assignment, Query
from annot.settings import Settings

PSEUDONYM = re.compile(r"[a-z][0-9]{1,4}")


class NamedRow(NamedTuple):
    """A row under the names of this study."""

    row: FileJudgement
    query: Query
    person: str
    adjudicates: bool


def queries_of(rows: Iterable[FileJudgement], settings: Settings, facet: str | None, *, name: str) -> dict[str, Query]:
    """The query that each name in the file stands for."""
    faults = Faults(name)
    found: dict[str, Query] = {}
    papers: dict[tuple[str, str], str] = {}
    facets = sorted(settings.facets, key=len, reverse=True)
    for row in rows:
        if row.query in found:
            continue
        own = next((one for one in facets if row.query.endswith(f"-{one}") and row.query != f"-{one}"), facet)
        if own is None:
            suffixes = ", ".join(f"-{one}" for one in settings.facets)
            faults.add(f"query {row.query!r} ends in no facet of annot.toml ({suffixes})", line=row.line)
            own = ""
        paper_id = row.query.removesuffix(f"-{own}")
        found[row.query] = Query(f"{paper_id}-{own}", paper_id, own, ())
        if papers.setdefault((paper_id, own), row.query) != row.query:
            faults.add(f"query {row.query!r} is the same as {papers[paper_id, own]!r}", line=row.line)
    faults.raise_if_any(hint="say with --facet which facet these queries have; annot.toml may name one of its own")
    return found


def persons_of(
    rows: Iterable[FileJudgement], adjudicators: set[str], everyone: Iterable[Assessor], *, name: str
) -> dict[str, Assessor]:
    """The person under each name in the file: one of those who are known, or a new one."""
    faults = Faults(name)
    names = sorted({row.assessor for row in rows})
    if absent := len(adjudicators - set(names)):
        faults.add(f"{absent} name(s) of --adjudicator stand in no row")
    known = {person.account or person.assessor: person for person in everyone}
    known |= {person.assessor: person for person in everyone}
    taken = {person.assessor for person in everyone} | {one for one in names if PSEUDONYM.fullmatch(one)}
    persons: dict[str, Assessor] = {}
    for one in names:
        settles = one in adjudicators
        if one in known:
            persons[one] = known[one]
            if settles and not known[one].adjudicator:
                faults.add(f"{known[one].assessor} is an assessor in this study, and an adjudicator by --adjudicator")
        elif PSEUDONYM.fullmatch(one):
            persons[one] = Assessor(one, None, settles)
        else:
            letter = "j" if settles else "a"
            pseudonym = next(name for at in range(1, len(taken) + 2) if (name := f"{letter}{at}") not in taken)
            taken.add(pseudonym)
            persons[one] = Assessor(pseudonym, one, settles)
    for person in sorted({person.assessor for person in persons.values()}):
        if sum(one.assessor == person for one in persons.values()) > 1:
            faults.add(f"{person} stands there under two names")
    faults.raise_if_any()
    return persons


def with_sentences(query: Query, labels: Mapping[str, Sequence[str]], settings: Settings) -> Query:
    """The query with its facet's sentences where the paper is in the corpus: a screen here can emphasise them."""
    own = labels.get(query.paper_id, ())
    return replace(query, sentences=facet_sentences(own, query.facet, facets=settings.facets))


def plan_of(given: Iterable[NamedRow], standing: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """What stands, and behind it, person by person, the new rows in the order of time, else of the file."""
    there = {(one.asked, one.assessor) for one in standing}
    last = {one.assessor: one.position for one in sorted(standing, key=lambda one: one.position)}
    by_person: dict[str, list[FileJudgement]] = {}
    query_of: dict[str, str] = {}
    for one in given:
        query_of[one.row.query] = one.query.query_id
        asked = Asked(one.query.query_id, one.row.document, one.row.occasion)
        if not one.adjudicates and (asked, one.person) not in there:
            by_person.setdefault(one.person, []).append(one.row)
    new: list[Assignment] = []
    for person, rows in sorted(by_person.items()):
        timed = all(row.judged_at for row in rows)
        rows.sort(key=lambda row: (row.judged_at or "" if timed else "", row.line))
        new += [
            Assignment(query_of[row.query], row.document, person, position, row.occasion)
            for position, row in enumerate(rows, start=last.get(person, 0) + 1)
        ]
    return (*standing, *new)


def check_adjudicated(given: Iterable[NamedRow], plan: Iterable[Assignment], *, name: str) -> None:
    faults = Faults(name)
    judged = {(one.query_id, one.doc_id) for one in plan}
    for one in given:
        if one.adjudicates and one.row.grade is None:
            faults.add("an adjudicator's row without a grade, expected the final one", line=one.row.line)
        if one.adjudicates and one.row.occasion > 1:
            faults.add("an adjudicator's row with a second occasion, expected one decision", line=one.row.line)
        if one.adjudicates and (one.query.query_id, one.row.document) not in judged:
            faults.add(f"{one.row.query} {one.row.document}: adjudicated, and judged by nobody", line=one.row.line)
    faults.raise_if_any()
