"""Folds of queries, grouped by topic: a topic's facets are never on both sides, nor are near-copies of it; and the
overlap of two sides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.base.errors import InputError, LeakError
from annot.base.names import OF_PAPERS, StudyVocabulary, counted, percent
from annot.base.records import Paper, Query, Topic, grouped
from annot.formats.paper_text import words_of_text

DEVELOP, TEST = "dev", "test"


def grouped_folds(
    queries: Sequence[Query],
    *,
    copies: Iterable[tuple[str, str]],
    count: int,
    seed: int,
    words: StudyVocabulary = OF_PAPERS,
) -> tuple[tuple[str, ...], ...]:
    """Query ids of each fold, sorted; they do not depend on the order of `queries`.

    copies: topics that are near-copies of each other, and count as one (`annot.measuring.folds.near_copies`). Topics
    come in a drawn order, those with the most queries first, each into the fold that has the fewest queries of its
    facets so far. Raises InputError for fewer topics than folds.
    """
    first = {query.topic_id: query.topic_id for query in queries}
    for topic_a, topic_b in sorted(copies):
        representative, replaced = sorted((first[topic_a], first[topic_b]))
        first = {topic_id: representative if current == replaced else current for topic_id, current in first.items()}
    by_topic = grouped((first[query.topic_id], query) for query in sorted(queries, key=lambda query: query.query_id))
    if count < 2 or len(by_topic) < count:
        raise InputError(
            f"{counted(count, 'fold')}: expected at least 2 folds, and a {words.topic} for each; "
            f"found {counted(len(by_topic), words.topic)} (near-copies count as one)"
        )
    topics = list(by_topic)
    np.random.default_rng(seed).shuffle(topics)
    topics.sort(key=lambda topic_id: -len(by_topic[topic_id]))
    facets_in: list[Counter[str]] = [Counter() for _ in range(count)]
    fold_of: dict[str, int] = {}
    for topic_id in topics:
        facets = [query.facet for query in by_topic[topic_id]]
        load = [sum(counts[facet] for facet in facets) for counts in facets_in]
        fold = min(range(count), key=lambda number: (load[number], facets_in[number].total(), number))
        facets_in[fold].update(facets)
        fold_of |= {query.query_id: fold for query in by_topic[topic_id]}
    return tuple(tuple(sorted(name for name, fold in fold_of.items() if fold == number)) for number in range(count))


def as_splits(queries: Sequence[Query], folds: Sequence[Sequence[str]]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Splits in CSFCube's names, one for each facet and `all`.

    `fold1_test` is tested on, `fold1_dev` is the rest of the queries, which may be learned from.
    """
    facets = {query.query_id: query.facet for query in queries}
    splits: dict[str, dict[str, tuple[str, ...]]] = {}
    for name in (*sorted({*facets.values()}), "all"):
        query_ids = sorted(query_id for query_id, facet in facets.items() if name in (facet, "all"))
        splits[name] = {}
        for number, fold in enumerate(folds, start=1):
            tested = tuple(query_id for query_id in fold if name in (facets[query_id], "all"))
            rest = tuple(query_id for query_id in query_ids if query_id not in tested)
            splits[name] |= {f"fold{number}_{DEVELOP}": rest, f"fold{number}_{TEST}": tested}
    return splits


def test_folds(split: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Query ids of each fold of a split that is tested on; none if its folds have other names."""
    return tuple(split[name] for name in sorted(split) if re.fullmatch(rf"fold\d+_{TEST}", name))


NEAR = 0.6
"""Share of word 5-grams in common (Jaccard) from which two texts are near-duplicates."""
WORDS = 5


@dataclass(frozen=True, slots=True)
class Leaks:
    """Overlap of the two sides; a judged pair, a topic or a near-copy of one on both sides makes a figure void.

    Candidates on both sides are common where queries are close, and are reported: a system could learn them by heart.
    So are pairs the other way round: two query papers, each judged for the other.
    """

    topics: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    candidates: tuple[str, ...]
    other_way_round: tuple[tuple[str, str], ...]
    """Query papers, of which the first side judged the second's for the first's, and the second side the reverse."""
    near_duplicates: tuple[tuple[str, str, float], ...]
    """Topic of each side, and the share of their texts that is the same."""


def find_leaks(
    train: Sequence[Query],
    test: Sequence[Query],
    *,
    pools: Mapping[str, Iterable[str]],
    topics: Mapping[str, Paper | Topic],
) -> Leaks:
    """Compare two sides. pools: the documents of each query. topics: those of the queries at least, by id."""
    sides, judged = [], []
    for queries in (train, test):
        paper_queries = [query for query in queries if not isinstance(topics.get(query.topic_id), Topic)]
        judged.append({(query.topic_id, doc_id) for query in paper_queries for doc_id in pools.get(query.query_id, ())})
        pairs = {(query.query_id, doc_id) for query in queries for doc_id in pools.get(query.query_id, ())}
        sides.append(({query.topic_id for query in queries}, pairs, {doc_id for _, doc_id in pairs}))
    (topics_a, pairs, candidates), (topics_b, other_pairs, other_candidates) = sides
    return Leaks(
        tuple(sorted(topics_a & topics_b)),
        tuple(sorted(pairs & other_pairs)),
        tuple(sorted(candidates & other_candidates)),
        tuple(sorted(judged[0] & {(doc_id, paper_id) for paper_id, doc_id in judged[1]})),
        tuple(_near_duplicates(topics_a - topics_b, topics_b - topics_a, topics)),
    )


def refuse_leaks(leaks: Leaks, *, where: str) -> None:
    """Raise LeakError, with every fault, if a figure would be void."""
    faults = [f"{topic_id}: this {OF_PAPERS.topic} is in both training and test" for topic_id in leaks.topics]
    faults += [
        f"{query_id} {doc_id}: this judged pair is in both training and test" for query_id, doc_id in leaks.pairs
    ]
    faults += [f"{a} and {b}: {percent(share, 0)} of the text is the same" for a, b, share in leaks.near_duplicates]
    if faults:
        hint = f"draw folds that keep {OF_PAPERS.units} and their near-copies together: `annot query folds --redraw`"
        raise LeakError(f"{where}: training and test overlap", faults=faults, hint=hint)


def near_copies(topics: Mapping[str, Paper | Topic]) -> tuple[tuple[str, str], ...]:
    """Pairs of these topics whose texts are nearly the same."""
    return tuple(
        (topic_a, topic_b) for topic_a, topic_b, _ in _near_duplicates(topics, topics, topics) if topic_a < topic_b
    )


def _near_duplicates(
    left: Iterable[str], right: Iterable[str], topics: Mapping[str, Paper | Topic]
) -> Iterable[tuple[str, str, float]]:
    pieces_of = {topic_id: _pieces(topics[topic_id]) for topic_id in sorted(right) if topic_id in topics}
    holding = grouped((piece, topic_b) for topic_b, pieces in pieces_of.items() for piece in pieces)
    for topic_a in sorted(left):
        pieces_a = _pieces(topics[topic_a]) if topic_a in topics else frozenset()
        common = Counter(topic_b for piece in pieces_a for topic_b in holding.get(piece, ()))
        for topic_b in sorted(common):
            share = common[topic_b] / (len(pieces_a) + len(pieces_of[topic_b]) - common[topic_b])
            if share >= NEAR:
                yield topic_a, topic_b, share


def _pieces(topic: Paper | Topic) -> frozenset[tuple[str, ...]]:
    """Word 5-grams of a topic; the text itself if it is shorter."""
    if isinstance(topic, Topic):
        words = words_of_text(f"{topic.title} {topic.description or ''}".lower())
        return _runs_of(words, min(WORDS, len(words)))
    return _runs_of(words_of_text(" ".join((topic.title, *topic.sentences)).lower()), WORDS)


def _runs_of(words: Sequence[str], size: int) -> frozenset[tuple[str, ...]]:
    return frozenset(zip(*(words[start:] for start in range(size)), strict=False))
