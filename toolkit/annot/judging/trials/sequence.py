"""The order in which a person meets pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from numpy.random import Generator

from annot.base.records import Assignment
from annot.base.stats.seeding import generator

T = TypeVar("T")
Pair = tuple[str, str]
"""(query_id, doc_id)."""


def shuffled(items: Sequence[T], rng: Generator) -> list[T]:
    """The items in an order that `rng` draws."""
    return [items[at] for at in rng.permutation(len(items))]


def query_by_query(pairs: Iterable[Pair], *key: str, seed: int) -> tuple[Pair, ...]:
    """The pairs with those of a query together; queries and candidates are in an order that seed and `key` draw."""
    by_query: dict[str, list[Pair]] = {}
    for pair in sorted(pairs):
        by_query.setdefault(pair[0], []).append(pair)
    queries = shuffled(list(by_query), generator(seed, "sequence", *key))
    return tuple(pair for name in queries for pair in shuffled(by_query[name], generator(seed, "sequence", *key, name)))


def assigned(assessor: str, pairs: Iterable[Pair], *, behind: int = 0) -> list[Assignment]:
    """The pairs as what this person is given, in this order. behind: how many they have before these."""
    return [Assignment(*pair, assessor, position) for position, pair in enumerate(pairs, start=behind + 1)]
