"""Sentences of a query by facet, and a judgements file under the names of the study."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from operator import attrgetter
from typing import NamedTuple

from annot.base.errors import Faults, InputError
from annot.base.names import close_to, counted, near
from annot.base.records import WHOLE, Assessor, Assignment, PairKey, Paper, Query
from annot.base.settings import Settings
from annot.formats.cleaning import folded_id
from annot.formats.judgements_file import FileJudgement

# ----------------------------------------------------------------------------------------------------------------------
# Sentences of each facet, and the queries made of them (CSFCube, Definitions 1 and 2).
# ----------------------------------------------------------------------------------------------------------------------


Facets = Mapping[str, Sequence[str]]
"""The sentence labels that make each facet, as `Settings.facets` has them; one without labels is the whole abstract."""


def make_query(
    paper: Paper, labels: Sequence[str], facet: str, *, facets: Facets, sentences: Sequence[int] | None
) -> Query:
    """The query for `facet` of `paper`: by the sentences labelled so, or by the chosen `sentences`.

    `labels`: one for each sentence of the paper. `sentences` are numbered as people count, from 1; the record counts
    from 0. Chosen sentences stay as chosen, whatever their labels: a person's choice is Definition 2 (retrieval by
    sentences), and how a wrong label of a query is put right.
    Raises InputError for an unknown facet, for a paper without a sentence of the facet, and for sentence numbers that
    are out of range, doubled or none at all.
    """
    check_facet(facet, facets=facets)
    if len(labels) != len(paper.sentences):
        raise InputError(
            f"paper {paper.paper_id}: {counted(len(labels), 'label')} for {counted(len(paper.sentences), 'sentence')}",
            hint="run `annot facets`",
        )
    if sentences is None:
        positions = facet_sentences(labels, facet, facets=facets)
        if not positions:
            raise InputError(
                f"paper {paper.paper_id} has no sentence of facet {facet!r}: found "
                + (", ".join(f"{number} {label}" for number, label in enumerate(labels, start=1)) or "no sentences")
                + f"; expected at least one of {', '.join(facets[facet])}",
                hint="choose another facet, or name the sentences with --sentences",
            )
    else:
        positions = _chosen(paper, sentences)
    return Query(f"{paper.paper_id}-{facet}", paper.paper_id, facet, positions)


def sentence_numbers(text: str) -> tuple[int, ...]:
    """The numbers in a list such as `2,3` or `2-4, 7`, as written. Raises InputError for anything else."""
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,6})\s*(?:-\s*([0-9]{1,6})\s*)?", part)
        if match is None or (match[2] is not None and int(match[2]) < int(match[1])):
            raise InputError(f"sentence numbers: found {text!r}, expected numbers from 1 such as 2,3 or 2-4")
        numbers += range(int(match[1]), int(match[2] or match[1]) + 1)
    return tuple(numbers)


def facet_sentences(labels: Sequence[str], facet: str, *, facets: Facets) -> tuple[int, ...]:
    """Positions (from 0) of the sentences whose label belongs to `facet`. Raises InputError for an unknown facet."""
    check_facet(facet, facets=facets)
    return tuple(position for position, label in enumerate(labels) if label in (facets[facet] or (label,)))


def offered_facets(labels: Sequence[str], *, facets: Facets) -> tuple[str, ...]:
    """The facets that have at least one sentence, in the order of `facets`."""
    return tuple(facet for facet in facets if facet_sentences(labels, facet, facets=facets))


def check_facet(facet: str, *, facets: Facets) -> None:
    """Raise InputError with the near name when there is no facet of this name."""
    if facet not in facets:
        raise InputError(f"unknown facet {facet!r}: {near(facet, facets)}")


def _chosen(paper: Paper, numbers: Sequence[int]) -> tuple[int, ...]:
    """Positions from 0, ascending, of sentences numbered from 1."""
    count = len(paper.sentences)
    faults = [
        f"sentence {number}: found no such sentence, expected 1 to {count}"
        for number in sorted(set(numbers))
        if not 1 <= number <= count
    ]
    faults += [
        f"sentence {number} is named twice" for number in sorted(set(numbers)) if list(numbers).count(number) > 1
    ]
    if not numbers:
        faults.append("found no sentence numbers, expected at least one")
    if faults:
        raise InputError(f"paper {paper.paper_id}: the sentences cannot be chosen", faults=faults)
    return tuple(sorted(number - 1 for number in numbers))


# ----------------------------------------------------------------------------------------------------------------------
# A judgements file under the names of the study: its queries, its people as pseudonyms, its rows as a plan.
# ----------------------------------------------------------------------------------------------------------------------


PSEUDONYM = re.compile(r"[a-z][0-9]{1,4}")


SAME_OR_NOT = (
    "add --same-person if each of these groups is one person, or --different-people if every name is another person"
)


class NamedRow(NamedTuple):
    """A row under the names of this study."""

    row: FileJudgement
    query: Query
    person: str
    adjudicates: bool

    @property
    def asked(self) -> PairKey:
        """Key of the pair that the person judged."""
        return PairKey(self.query.query_id, self.row.document, self.row.occasion)


def queries_of(
    rows: Iterable[FileJudgement],
    settings: Settings,
    facet: str | None,
    *,
    topics: Collection[str],
    name: str,
    drop: bool = False,
) -> dict[str, Query]:
    """Query of each name in the file; topics: the ids of those that are texts, which are judged as a whole.

    facet: of the papers that are named without one. drop: leave out topics that the study does not have.
    """
    faults = Faults(name)
    by_name: dict[str, Query] = {}
    papers: dict[tuple[str, str], str] = {}
    facets = sorted(settings.facets, key=len, reverse=True)
    for row in rows:
        if row.query in by_name:
            continue
        if row.query in topics:
            by_name[row.query] = Query(row.query, row.query, WHOLE, ())
            continue
        facet_of_row = next((end for end in facets if row.query.endswith(f"-{end}") and row.query != f"-{end}"), facet)
        if topics and (facet_of_row is None or row.query.removesuffix(f"-{facet_of_row}") in topics):
            if drop:
                continue
            close = close_to(row.query, topics)
            faults.add(f"topic {row.query!r}: not in this study{close and f'; {close}'}", line=row.line)
            facet_of_row = ""
        elif facet_of_row is None:
            suffixes = ", ".join(f"-{known_facet}" for known_facet in settings.facets)
            faults.add(f"query {row.query!r} does not end in a facet of annot.toml ({suffixes})", line=row.line)
            facet_of_row = ""
        paper_id = row.query.removesuffix(f"-{facet_of_row}")
        by_name[row.query] = Query(f"{paper_id}-{facet_of_row}", paper_id, facet_of_row, ())
        if papers.setdefault((paper_id, facet_of_row), row.query) != row.query:
            faults.add(f"query {row.query!r} is the same as {papers[paper_id, facet_of_row]!r}", line=row.line)
    remedy = "add topics that are texts first, with `annot query add --file`"
    papers_too = "give the facet of queries that are papers with --facet; you can define one in annot.toml; "
    faults.raise_if_any(hint=remedy if topics else papers_too + remedy)
    return by_name


def same_names(rows: Iterable[FileJudgement], everyone: Iterable[Assessor], *, name: str) -> tuple[dict[str, str], ...]:
    """Groups of names that may be one person's, as they differ only in case, spaces or Unicode form, or are the number
    and the address of one account.

    Each group has a name in the file, or the pseudonym of a person of the study, and where it is from. Names that
    people of the study have word for word make no group.
    """
    first: dict[str, FileJudgement] = {}
    for row in rows:
        first.setdefault(row.assessor, row)
    known_names = {
        alias: person.assessor for person in everyone for alias in (person.assessor, person.account) if alias
    }
    groups: dict[str, dict[str, str]] = {}
    for alias, pseudonym in known_names.items():
        groups.setdefault(_folded(alias), {})[pseudonym] = "in this study"
    for alias, row in first.items():
        if alias not in known_names:
            folded = _folded(alias)
            if row.account in known_names and folded not in groups:
                folded = _folded(row.account)
            groups.setdefault(folded, {})[alias] = f"{name}:{row.line}"
    return tuple(group for group in groups.values() if len(group) > 1 and not group.keys() <= {*known_names.values()})


def _folded(alias: str) -> str:
    return "".join(folded_id(alias).split())


def persons_of(
    rows: Iterable[FileJudgement],
    adjudicators: set[str],
    everyone: Iterable[Assessor],
    *,
    name: str,
    same_person: bool | None,
) -> dict[str, Assessor]:
    """The person under each name in the file: one who is in the study, or a new one.

    same_person: whether the names of each group of `same_names` are one person; None refuses them.
    """
    faults = Faults(name)
    rows, everyone = tuple(rows), tuple(everyone)
    # The numbers of accounts by size.
    names = sorted({row.assessor for row in rows}, key=lambda alias: (len(alias) * alias.isdecimal(), alias))
    if absent := len(adjudicators - set(names)):
        faults.add(f"{counted(absent, 'name')} given with --adjudicator not found in any row")
    groups = same_names(rows, everyone, name=name)
    main_names = _main_names(groups, names, everyone, faults, same_person=same_person)
    hint = None if same_person is not None or not faults.found else SAME_OR_NOT
    persons = _persons_by_name(names, main_names, adjudicators, everyone, faults)
    if not same_person:
        doubled = Counter(person.assessor for person in persons.values())
        for pseudonym in sorted(pseudonym for pseudonym, count in doubled.items() if count > 1):
            faults.add(f"{pseudonym} has two names in the file")
    faults.raise_if_any(hint=hint)
    return persons


def _main_names(
    groups: Iterable[Mapping[str, str]],
    names: Sequence[str],
    everyone: Iterable[Assessor],
    faults: Faults,
    *,
    same_person: bool | None,
) -> dict[str, str]:
    """The name that takes the place of each name of a group: the pseudonym in the study, or the first in `names`."""
    pseudonyms = {person.assessor for person in everyone}
    main_names: dict[str, str] = {}
    for group in groups:
        in_study = sorted(group.keys() & pseudonyms)
        if same_person is None:
            faults.add(f"{_in_words(group)} differ only in case, spaces or the form of letters")
        elif same_person and len(in_study) > 1:
            faults.add(f"{_in_words(group)}: with --same-person this could be {' or '.join(in_study)}")
        elif same_person:
            main_names |= dict.fromkeys(group, in_study[0] if in_study else min(group, key=names.index))
    return main_names


def _persons_by_name(
    names: Iterable[str],
    main_names: Mapping[str, str],
    adjudicators: Iterable[str],
    everyone: Iterable[Assessor],
    faults: Faults,
) -> dict[str, Assessor]:
    """The person under each name; people who are not in the study yet get the next free pseudonym."""
    settling = {main_names.get(alias, alias) for alias in adjudicators}
    members = {person.account or person.assessor: person for person in everyone}
    members |= {person.assessor: person for person in everyone}
    used = {person.assessor for person in everyone} | {alias for alias in names if PSEUDONYM.fullmatch(alias)}
    persons: dict[str, Assessor] = {}
    for alias in names:
        main = main_names.get(alias, alias)
        settles = main in settling
        if main in members:
            persons[alias] = members[main]
            if settles and not members[main].adjudicator:
                faults.add(f"{members[main].assessor}: an assessor in this study, an adjudicator by --adjudicator")
        elif main in persons:
            persons[alias] = persons[main]
        elif PSEUDONYM.fullmatch(alias):
            persons[alias] = Assessor(alias, None, settles)
        else:
            letter = "j" if settles else "a"
            pseudonym = next(name for number in count(1) if (name := f"{letter}{number}") not in used)
            used.add(pseudonym)
            persons[alias] = Assessor(pseudonym, alias, settles)
    return persons


def _in_words(group: Mapping[str, str]) -> str:
    # An address is not repeated.
    shown = [f"{'an address' if '@' in alias else repr(alias)} ({place})" for alias, place in group.items()]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def with_sentences(
    query: Query, labels: Mapping[str, Sequence[str]], papers: Mapping[str, Paper], settings: Settings
) -> Query:
    """The query with its facet's sentences, as far as its paper is among `papers` and, but for a whole abstract, was
    labelled: a screen here can emphasise them."""
    judged_whole = not settings.facets[query.facet]
    blank = ("",) * len(papers[query.topic_id].sentences) if query.topic_id in papers else ()
    labels_of_paper = blank if judged_whole else labels.get(query.topic_id, ())
    return replace(query, sentences=facet_sentences(labels_of_paper, query.facet, facets=settings.facets))


def plan_of(named_rows: Iterable[NamedRow], standing: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """Assignments on record, followed by the new rows, person by person, in the order of time, else of the file."""
    planned = {
        (assignment.query_id, assignment.doc_id, assignment.occasion, assignment.assessor) for assignment in standing
    }
    last = {assignment.assessor: assignment.position for assignment in sorted(standing, key=attrgetter("position"))}
    by_person: dict[str, list[FileJudgement]] = {}
    query_of: dict[str, str] = {}
    for named in named_rows:
        query_of[named.row.query] = named.query.query_id
        question = (named.query.query_id, named.row.document, named.row.occasion, named.person)
        # Several answers of one person to one pair were asked for once.
        if not named.adjudicates and question not in planned:
            planned.add(question)
            by_person.setdefault(named.person, []).append(named.row)
    new: list[Assignment] = []
    for person, rows in sorted(by_person.items()):
        timed = all(row.judged_at for row in rows)
        rows.sort(key=attrgetter("judged_at", "line") if timed else attrgetter("line"))
        new += [
            Assignment(query_of[row.query], row.document, person, position, row.occasion)
            for position, row in enumerate(rows, start=last.get(person, 0) + 1)
        ]
    return (*standing, *new)


def check_once(rows: Iterable[NamedRow], *, name: str) -> None:
    """Raise InputError with each pair that one person has twice under two spellings of their name."""
    faults = Faults(name)
    line_of: dict[tuple[str, str, int, str], int] = {}
    for named in rows:
        question = (named.query.query_id, named.row.document, named.row.occasion, named.person)
        earlier = line_of.setdefault(question, named.row.line)
        if earlier != named.row.line and not named.row.annotation:
            pair = f"{named.row.query} {named.row.document}"
            faults.add(f"{pair}: {named.person} judged the pair on line {earlier} already", line=named.row.line)
    faults.raise_if_any(hint="leave out one of the rows of each pair, or mark a repeated judgement with occasion 2")


def check_adjudicated(rows: Iterable[NamedRow], plan: Iterable[Assignment], *, name: str) -> None:
    faults = Faults(name)
    rows = [named for named in rows if named.adjudicates]
    judged = {assignment.pair for assignment in plan} if rows else set()
    for named in rows:
        if named.row.grade is None:
            faults.add("an adjudicator's row without a grade, expected the final one", line=named.row.line)
        if named.row.occasion > 1:
            faults.add("an adjudicator's row with a second occasion, expected one decision", line=named.row.line)
        if (named.query.query_id, named.row.document) not in judged:
            faults.add(
                f"{named.row.query} {named.row.document}: adjudicated, but not judged by any assessor",
                line=named.row.line,
            )
    faults.raise_if_any()
