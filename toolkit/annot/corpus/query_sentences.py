"""Sentences of a query by facet, and a judgements file under the names of the study."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import compress, count
from operator import attrgetter

from annot.base.errors import Faults, InputError
from annot.base.names import close_to, counted, near
from annot.base.records import WHOLE, Assessor, Assignment, Paper, Query, grouped
from annot.base.settings import Settings
from annot.formats.cleaning import folded_id
from annot.formats.input_files import ByColumn, first_places
from annot.formats.judgements_file import repeated

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
    present = {*labels}
    return tuple(facet for facet, names in facets.items() if present and not (names and present.isdisjoint(names)))


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


def under_names(rows: ByColumn, queries: Mapping[str, Query], persons: Mapping[str, Assessor]) -> ByColumn:
    """The rows with columns `query_id`, `person` and `adjudicates`: the query and the person in this study."""
    named = {name: query.query_id for name, query in queries.items()}
    people = [persons[name] for name in rows["assessor"]]
    return {
        **rows,
        "query_id": list(map(named.__getitem__, rows["query"])),
        "person": [person.assessor for person in people],
        "adjudicates": [person.adjudicator for person in people],
    }


def questions_of(named: ByColumn) -> list[tuple[str, str, int, str]]:
    """Query, document, occasion and person of each row under the names of this study."""
    return list(zip(*(named[name] for name in ("query_id", "document", "occasion", "person")), strict=True))


def queries_of(
    rows: ByColumn,
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
    for place in first_places(rows["query"]):
        query, line = rows["query"][place], rows["line"][place]
        if query in topics:
            by_name[query] = Query(query, query, WHOLE, ())
            continue
        facet_of_row = next((end for end in facets if query.endswith(f"-{end}") and query != f"-{end}"), facet)
        if topics and (facet_of_row is None or query.removesuffix(f"-{facet_of_row}") in topics):
            if drop:
                continue
            close = close_to(query, topics)
            faults.add(f"topic {query!r}: not in this study{close and f'; {close}'}", line=line)
            facet_of_row = ""
        elif facet_of_row is None:
            suffixes = ", ".join(f"-{known_facet}" for known_facet in settings.facets)
            faults.add(f"query {query!r} does not end in a facet of annot.toml ({suffixes})", line=line)
            facet_of_row = ""
        paper_id = query.removesuffix(f"-{facet_of_row}")
        by_name[query] = Query(f"{paper_id}-{facet_of_row}", paper_id, facet_of_row, ())
        if papers.setdefault((paper_id, facet_of_row), query) != query:
            faults.add(f"query {query!r} is the same as {papers[paper_id, facet_of_row]!r}", line=line)
    remedy = "add topics that are texts first, with `annot query add --file`"
    papers_too = "give the facet of queries that are papers with --facet; you can define one in annot.toml; "
    faults.raise_if_any(hint=remedy if topics else papers_too + remedy)
    return by_name


def same_names(rows: ByColumn, everyone: Iterable[Assessor], *, name: str) -> tuple[dict[str, str], ...]:
    """Groups of names that may be one person's, as they differ only in case, spaces or Unicode form, or are the number
    and the address of one account.

    Each group has a name in the file, or the pseudonym of a person of the study, and where it is from. Names that
    people of the study have word for word make no group.
    """
    known_names = {
        alias: person.assessor for person in everyone for alias in (person.assessor, person.account) if alias
    }
    groups: dict[str, dict[str, str]] = {}
    for alias, pseudonym in known_names.items():
        groups.setdefault(_folded(alias), {})[pseudonym] = "in this study"
    for place in first_places(rows["assessor"]):
        alias, account = rows["assessor"][place], rows["account"][place]
        if alias not in known_names:
            folded = _folded(alias)
            if account in known_names and folded not in groups:
                folded = _folded(account)
            groups.setdefault(folded, {})[alias] = f"{name}:{rows['line'][place]}"
    return tuple(group for group in groups.values() if len(group) > 1 and not group.keys() <= {*known_names.values()})


def _folded(alias: str) -> str:
    return "".join(folded_id(alias).split())


def persons_of(
    rows: ByColumn,
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
    everyone = tuple(everyone)
    # The numbers of accounts by size.
    names = sorted({*rows["assessor"]}, key=lambda alias: (len(alias) * alias.isdecimal(), alias))
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
                who = members[main].assessor
                faults.add(
                    f"{who}: an assessor in this study, an adjudicator in the file; give {who} another name in the "
                    "file's decisions"
                )
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


def plan_of(named: ByColumn, standing: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """Assignments on record, followed by the new rows, person by person, in the order of time, else of the file.

    named: the rows under the names of this study.
    """
    planned = {
        (assignment.query_id, assignment.doc_id, assignment.occasion, assignment.assessor) for assignment in standing
    }
    last = {assignment.assessor: assignment.position for assignment in sorted(standing, key=attrgetter("position"))}
    questions, moments, lines = questions_of(named), named["judged_at"], named["line"]
    # Several answers of one person to one pair were asked for once.
    places = [place for place in first_places(questions) if questions[place] not in planned]
    by_person = grouped((questions[place][3], place) for place in places if not named["adjudicates"][place])
    new: list[Assignment] = []
    for person, of_person in sorted(by_person.items()):
        of_person.sort(key=lines.__getitem__)
        if all(moments[place] for place in of_person):
            of_person.sort(key=moments.__getitem__)
        new += [
            Assignment(*questions[place][:2], person, position, questions[place][2])
            for position, place in enumerate(of_person, start=last.get(person, 0) + 1)
        ]
    return (*standing, *new)


def check_once(named: ByColumn, *, name: str) -> None:
    """Raise InputError with each pair that one person has twice under two spellings of their name."""
    faults = Faults(name)
    for place, earlier in repeated(questions_of(named), named["line"]):
        if not named["annotation"][place]:
            query, document, person, line = (named[of][place] for of in ("query", "document", "person", "line"))
            faults.add(f"{query} {document}: {person} judged the pair on line {earlier} already", line=line)
    faults.raise_if_any(hint="leave out one of the rows of each pair, or mark a repeated judgement with occasion 2")


def check_adjudicated(named: ByColumn, plan: Iterable[Assignment], *, name: str) -> None:
    faults = Faults(name)
    places = list(compress(count(), named["adjudicates"]))
    judged = {assignment.pair for assignment in plan} if places else set()
    for place in places:
        query, document, line = (named[of][place] for of in ("query", "document", "line"))
        if named["grade"][place] is None and named["cannot_judge"][place] is None:
            faults.add("an adjudicator's row without a grade, expected the final one", line=line)
        if named["occasion"][place] > 1:
            faults.add("an adjudicator's row with a second occasion, expected one decision", line=line)
        if (named["query_id"][place], document) not in judged:
            faults.add(f"{query} {document}: adjudicated, but not judged by any assessor", line=line)
    faults.raise_if_any()
