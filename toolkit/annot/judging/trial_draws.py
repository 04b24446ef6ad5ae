"""Pairs that are judged besides the collection, in their order: training on gold, hidden gold, and the sub-study.

The sub-study is that of Mysore et al. 2021 (CSFCube), appendix B: three queries of each facet, and five candidates of
each, at random from all grades: 45 pairs. Theirs were of all types of papers; here the queries are drawn at random.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, islice
from typing import Literal, TypeVar

from numpy.random import Generator

from annot.base.errors import InputError
from annot.base.records import Assignment, Decision, PairKey, Query, grouped
from annot.base.stats.inference import generator
from annot.base.stats.values import Estimate, Undefined
from annot.formats.input_files import json_lines

T = TypeVar("T")
Pair = tuple[str, str]
"""(query_id, doc_id)."""
Verdict = Literal["passed", "not passed", "not finished", "undecided"]
BLOCK = 5
"""Pairs of a query that the assessor does not have otherwise: one alone would be noticed."""


def shuffled(items: Sequence[T], rng: Generator) -> list[T]:
    """The items in an order that `rng` draws."""
    return [items[place] for place in rng.permutation(len(items))]


def query_by_query(pairs: Iterable[Pair], *key: str, seed: int) -> tuple[Pair, ...]:
    """The pairs with those of a query together; queries and candidates are in an order that seed and `key` draw."""
    by_query = grouped((pair[0], pair) for pair in sorted(pairs))
    queries = shuffled(list(by_query), generator(seed, "sequence", *key))
    return tuple(pair for name in queries for pair in shuffled(by_query[name], generator(seed, "sequence", *key, name)))


def assigned(assessor: str, pairs: Iterable[Pair], *, behind: int = 0) -> list[Assignment]:
    """Assignments of the pairs to this person, in this order. behind: number of pairs that they have before these."""
    return [Assignment(*pair, assessor, position) for position, pair in enumerate(pairs, start=behind + 1)]


def draw_gold(
    queries: Iterable[Query], decisions: Iterable[Decision], current: AbstractSet[Pair], *, per_facet: int, seed: int
) -> tuple[Decision, ...]:
    """Settled pairs for training, up to `per_facet` of each facet with the current ones.

    The grades come in turn; within a grade adjudicated and agreed pairs alternate as far as they go, and the queries
    are spread evenly. Pairs in dispute alone would be too hard to pass on, pairs agreed on alone too easy to learn
    from. By facet in the order of its draw.
    """
    query_of = {query.query_id: query for query in queries}
    settled = [
        decision
        for decision in decisions
        if decision.query_id in query_of and not _is_itself(query_of[decision.query_id], decision.doc_id)
    ]
    drawn: list[Decision] = []
    for facet in sorted({query.facet for query in query_of.values()}):
        count_so_far = sum(query_of[query_id].facet == facet for query_id, _ in current if query_id in query_of)
        free = [
            decision
            for decision in sorted(settled, key=lambda decision: decision.pair)
            if query_of[decision.query_id].facet == facet and decision.pair not in current
        ]
        drawn += draw_evenly(shuffled(free, generator(seed, "gold", facet)), per_facet - count_so_far)
    return tuple(drawn)


def draw_evenly(free: Sequence[Decision], count: int) -> list[Decision]:
    """At most `count` of the pairs, one grade after the other, in each as evenly over origins and queries as can be."""
    # In the order of the draw, so that no grade always comes first.
    grades = list(dict.fromkeys(decision.grade for decision in free))
    left = {grade: [decision for decision in free if decision.grade == grade] for grade in grades}
    used: Counter[tuple[str, object]] = Counter()

    def in_turn() -> Iterator[Decision]:
        while any(left.values()):
            for grade in filter(left.get, grades):
                best = min(
                    left[grade],
                    key=lambda decision: (used["origin", decision.origin], used["query", decision.query_id]),
                )
                left[grade].remove(best)
                used.update([("origin", best.origin), ("query", best.query_id)])
                yield best

    return list(islice(in_turn(), max(0, count)))


def sequence_of(
    assessor: str,
    gold: Sequence[Pair],
    facet_of: Mapping[str, str],
    current: Sequence[Pair],
    *,
    facets: Sequence[str],
    seed: int,
) -> tuple[Pair, ...]:
    """The gold pairs in this assessor's order: the current ones keep their places, new ones follow, facet by facet."""
    new = set(gold) - set(current)
    added = (
        pair
        for facet in facets
        for pair in query_by_query(
            (pair for pair in new if facet_of[pair[0]] == facet), "training", assessor, facet, seed=seed
        )
    )
    return (*current, *added)


def batches_of(sequence: Iterable[Pair], facet_of: Mapping[str, str]) -> tuple[tuple[Pair, ...], ...]:
    """Batches of the sequence: adjacent pairs of one facet are one."""
    return tuple(tuple(batch) for _, batch in groupby(sequence, key=lambda pair: facet_of[pair[0]]))


def verdict(figure: Estimate, *, n_answered: int, n_gold: int, threshold: float, gate: str) -> Verdict:
    """Verdict on an assessor. gate: value that must reach the threshold, the `estimate` or the lower end of its
    `interval`."""
    if n_answered < n_gold:
        return "not finished"
    if isinstance(figure.value, Undefined):
        return "undecided"
    if gate == "interval":
        if isinstance(figure.interval, Undefined):
            return "undecided"
        return "passed" if figure.interval.low >= threshold else "not passed"
    return "passed" if figure.value >= threshold else "not passed"


def draw_hidden(
    assessor: str,
    decisions: Iterable[Decision],
    taken: AbstractSet[Pair],
    own: AbstractSet[str],
    *,
    count: int,
    seed: int,
) -> tuple[Pair, ...]:
    """Up to `count` settled pairs for this assessor. taken: pairs that they know. own: queries of their plan.

    Pairs of their own queries come first, because they are noticed least there; then blocks of other queries. In each
    query the grades come in turn.
    """
    ordered = sorted(decisions, key=lambda decision: decision.pair)
    free = grouped((decision.query_id, decision) for decision in ordered if decision.pair not in taken)
    rng = generator(seed, "hidden-gold", assessor)
    order = shuffled(sorted(free), rng)
    drawn: list[Pair] = []
    for query_id in sorted(order, key=lambda query_id: query_id not in own):
        some = draw_evenly(shuffled(free[query_id], rng), min(BLOCK, count - len(drawn)))
        drawn += [decision.pair for decision in some]
    return tuple(drawn)


def with_hidden(
    sequence: Sequence[PairKey], hidden: Sequence[Pair], answered: AbstractSet[PairKey], *, assessor: str, seed: int
) -> list[PairKey]:
    """The assessor's sequence with the hidden pairs in it: within their query if it is in the sequence, else as a block
    between two queries, never at the very beginning.

    The `answered` part comes first: pairs that were hidden in a study under way are among those still to come.
    """
    if not hidden:
        return list(sequence)
    blocks = [list(block) for _, block in groupby(sequence, key=lambda question: question.query_id)]
    mixed = query_by_query(hidden, "hidden-gold", assessor, seed=seed)
    for query_id, extra in grouped((pair[0], PairKey(*pair)) for pair in mixed).items():
        rng = generator(seed, "hidden-gold-place", assessor, query_id)
        home = next((block for block in blocks if block[0].query_id == query_id), None)
        if home is None:
            blocks.insert(int(rng.integers(min(1, len(blocks)), len(blocks) + 1)), extra)
            continue
        for question in extra:
            home.insert(int(rng.integers(1, len(home) + 1)), question)
    order = [question for block in blocks for question in block]
    return sorted(order, key=lambda question: question not in answered)


def draw_substudy(
    queries: Iterable[Query], final: Mapping[Pair, int], *, per_facet: int, per_query: int, seed: int
) -> tuple[Pair, ...]:
    """`per_query` candidates of each of `per_facet` queries of each facet, by query and document.

    final: the final grade of each settled pair. Only queries with enough settled candidates are drawn, and of two
    queries of one paper one where others are left. The candidates are drawn from the grades in turn, at random within
    each: so all grades of a query are among them as far as they go.
    Raises InputError if a facet has too few such queries.
    """
    candidates: dict[str, dict[int, list[str]]] = {}
    query_of = {query.query_id: query for query in sorted(queries, key=lambda query: query.query_id)}
    for (query_id, doc_id), grade in sorted(final.items()):
        if query_id in query_of and not _is_itself(query_of[query_id], doc_id):
            candidates.setdefault(query_id, {}).setdefault(grade, []).append(doc_id)
    settled = [
        query for name, query in query_of.items() if sum(map(len, candidates.get(name, {}).values())) >= per_query
    ]
    by_facet = {
        facet: [query for query in settled if query.facet == facet]
        for facet in sorted({query.facet for query in query_of.values()})
    }
    faults = [
        f"{facet}: queries with {per_query} or more settled pairs: found {len(eligible)}, expected {per_facet}"
        for facet, eligible in by_facet.items()
        if len(eligible) < per_facet
    ]
    if faults or not by_facet:
        raise InputError(
            "the sub-study cannot be drawn",
            faults=faults or ["no query has a settled pair"],
            hint="draw fewer: --queries, --candidates",
        )
    chosen = _queries(by_facet, per_facet, seed)
    return tuple(
        sorted(
            (query.query_id, doc_id)
            for query in chosen
            for doc_id in _drawn_candidates(candidates, query, per_query, seed)
        )
    )


def plan_lines(sequences: Mapping[str, Sequence[Pair]]) -> str:
    """The plan as JSON lines: of each view the pairs in their order."""
    return json_lines(
        {"view": view, "position": position, "query_id": query_id, "doc_id": doc_id}
        for view, sequence in sequences.items()
        for position, (query_id, doc_id) in enumerate(sequence, start=1)
    )


def _queries(by_facet: Mapping[str, Sequence[Query]], per_facet: int, seed: int) -> list[Query]:
    """Queries of each facet at random, of papers not chosen yet if there are."""
    rng = generator(seed, "substudy-queries")
    chosen: list[Query] = []
    for eligible in by_facet.values():
        left = shuffled(eligible, rng)
        for _ in range(per_facet):
            papers = {query.topic_id for query in chosen}
            chosen.append(min(left, key=lambda query: query.topic_id in papers))
            left.remove(chosen[-1])
    return chosen


def _drawn_candidates(
    candidates: Mapping[str, Mapping[int, list[str]]], query: Query, count: int, seed: int
) -> list[str]:
    """Candidates of the query, one grade after the other."""
    rng = generator(seed, "substudy-candidates", query.query_id)
    of_grade = [docs for _, docs in sorted(candidates[query.query_id].items())]
    left = [shuffled(docs, rng) for docs in shuffled(of_grade, rng)]
    turns = [docs[turn] for turn in range(max(map(len, left))) for docs in left if turn < len(docs)]
    return turns[:count]


def _is_itself(query: Query, doc_id: str) -> bool:
    """True if the document is the query paper. A document may have the id of a topic that is a text."""
    return doc_id == query.topic_id != query.query_id
