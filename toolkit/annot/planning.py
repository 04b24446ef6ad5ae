"""Who judges what, in which order: the plan is drawn from the seed before anything is sent.

Each pair gets exactly `per_pair` assessors. Loads are balanced per facet and over all, every two assessors come to
overlap as evenly as the queries allow, and each assessor sees the queries, and the candidates of a query, in an order
of their own.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from annot.errors import InputError
from annot.formats.json_lines import json_lines
from annot.hidden_repeats import with_repeats
from annot.records import Asked, Assignment, Query
from annot.stats.seeding import generator


def draw_plan(
    documents: Mapping[str, Sequence[str]],
    queries: Mapping[str, Query],
    assessors: Sequence[str],
    *,
    per_pair: int,
    assignment: str,
    repeats: float,
    seed: int,
    standing: Iterable[Assignment] = (),
) -> tuple[Assignment, ...]:
    """The assignments, by assessor and position.

    documents: the `doc_id`s to judge of each `query_id`.
    assignment: `per-query` gives all documents of a query to one team; `per-pair` forms a team for each document.
    repeats: the share of an assessor's pairs that come again in the second half of their sequence, as hidden repeats.
    standing: assignments that were made before; they keep their place, and new pairs are added behind them.

    Raises InputError when there are fewer assessors than a pair needs, or a standing assignment has no pair any more.
    """
    if len(set(assessors)) < per_pair:
        raise InputError(
            f"{len(set(assessors))} assessor(s), expected at least {per_pair}: each pair is judged by {per_pair}",
            hint="add them with `annot assessor add`",
        )
    standing = tuple(standing)
    _check_standing(standing, documents, assessors, per_pair)
    teams = _Teams(sorted(assessors), per_pair, queries, seed)
    done: dict[str, set[str]] = {}
    for assigned in standing:
        done.setdefault(assigned.query_id, set()).add(assigned.doc_id)
    for (query_id, _doc_id), members in _members(standing).items():
        teams.take(members, query_id, 1)

    given: dict[str, dict[str, list[str]]] = {name: {} for name in assessors}
    open_documents = {
        query_id: [doc for doc in documents[query_id] if doc not in done.get(query_id, ())] for query_id in documents
    }
    # The largest queries first: what is left to balance the loads with gets finer and finer.
    for query_id in sorted(open_documents, key=lambda name: (-len(open_documents[name]), name)):
        pending = open_documents[query_id]
        if not pending:
            continue
        if assignment == "per-query":
            team = teams.of_query(standing, query_id) or teams.best(query_id, len(pending))
            teams.take(team, query_id, len(pending))
            for name in team:
                given[name][query_id] = list(pending)
        else:
            for doc_id in pending:
                team = teams.best(query_id, 1, key=doc_id)
                teams.take(team, query_id, 1)
                for name in team:
                    given[name].setdefault(query_id, []).append(doc_id)
    return (*standing, *_sequence(given, standing, repeats, seed))


def plan_lines(plan: Iterable[Assignment]) -> str:
    """The plan as JSON lines, by assessor and position: the file that is hashed and can be read before the push."""
    names = ("assessor", "position", "query_id", "doc_id", "occasion")
    ordered = sorted(plan, key=attrgetter("assessor", "position"))
    return json_lines({name: getattr(assignment, name) for name in names} for assignment in ordered)


class _Teams:
    """The possible teams and how much each person and each team has to do so far."""

    def __init__(self, assessors: Sequence[str], size: int, queries: Mapping[str, Query], seed: int) -> None:
        self.combinations = list(itertools.combinations(assessors, size))
        self.queries = queries
        self.seed = seed
        self.load: Counter[str] = Counter()
        self.facet_load: Counter[tuple[str, str]] = Counter()
        self.overlap: Counter[tuple[str, ...]] = Counter()

    def best(self, query_id: str, pairs: int, *, key: str = "") -> tuple[str, ...]:
        """The team whose heaviest member stays lightest; then the rarest team; then the seed decides."""
        facet = self.queries[query_id].facet
        order = generator(self.seed, "team", query_id, key).permutation(len(self.combinations))

        def cost(index: int) -> tuple[int, int, int, int, int]:
            team = self.combinations[index]
            return (
                max(self.load[name] for name in team) + pairs,
                sum(self.load[name] for name in team),
                self.overlap[team],
                sum(self.facet_load[name, facet] for name in team),
                int(order[index]),
            )

        return self.combinations[min(range(len(self.combinations)), key=cost)]

    def take(self, team: Sequence[str], query_id: str, pairs: int) -> None:
        for name in team:
            self.load[name] += pairs
            self.facet_load[name, self.queries[query_id].facet] += pairs
        self.overlap[tuple(sorted(team))] += pairs

    def of_query(self, standing: Iterable[Assignment], query_id: str) -> tuple[str, ...] | None:
        """The team that has the query already; a query keeps its team when its pool grows."""
        members = {assigned.assessor for assigned in standing if assigned.query_id == query_id}
        return tuple(sorted(members)) or None


def _members(assignments: Iterable[Assignment]) -> dict[tuple[str, str], tuple[str, ...]]:
    members: dict[tuple[str, str], list[str]] = {}
    for assignment in assignments:
        if assignment.occasion == 1:
            members.setdefault((assignment.query_id, assignment.doc_id), []).append(assignment.assessor)
    return {pair: tuple(names) for pair, names in members.items()}


def _sequence(
    given: Mapping[str, Mapping[str, Sequence[str]]], standing: Sequence[Assignment], repeats: float, seed: int
) -> list[Assignment]:
    sequence: list[Assignment] = []
    for assessor in sorted(given):
        position = max((assignment.position for assignment in standing if assignment.assessor == assessor), default=0)
        queries = sorted(given[assessor])
        blocks = []
        for at in generator(seed, "queries", assessor).permutation(len(queries)):
            documents = sorted(given[assessor][queries[at]])
            order = generator(seed, "documents", assessor, queries[at]).permutation(len(documents))
            blocks.append([Asked(queries[at], documents[place]) for place in order])
        asked = with_repeats(blocks, repeats, generator(seed, "repeats", assessor))
        sequence += [Assignment(*one.pair, assessor, position + at, one.occasion) for at, one in enumerate(asked, 1)]
    return sequence


def _check_standing(
    standing: Sequence[Assignment], documents: Mapping[str, Sequence[str]], assessors: Sequence[str], per_pair: int
) -> None:
    wanted = {(query_id, doc_id) for query_id, doc_ids in documents.items() for doc_id in doc_ids}
    faults = [
        f"{assignment.query_id} {assignment.doc_id}: assigned to {assignment.assessor}, but no longer in the pool"
        for assignment in standing
        if (assignment.query_id, assignment.doc_id) not in wanted
    ]
    faults += [
        f"{assignment.query_id} {assignment.doc_id}: assigned to {assignment.assessor}, who is not an assessor any more"
        for assignment in standing
        if assignment.assessor not in assessors
    ]
    faults += [
        f"{query_id} {doc_id}: the plan has {len(names)} assessor(s), expected {per_pair}"
        for (query_id, doc_id), names in _members(standing).items()
        if len(names) != per_pair
    ]
    if faults:
        raise InputError(f"the existing plan no longer fits: {len(faults)} fault(s)", faults=faults)
