"""Runs of the methods that drew the pools, and the others: is the collection fair to a method that came later?

CSFCube (section 5, Reusability) compares them so: where runs of other methods do as well, pools show no serious bias.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from annot.pools.pooling import CITED

VIEWS = ("title_", "abs_", "fabs_", "whole_")
"""Which text a method looks at; the same method on another text counts as the same."""


class BestOfEach(NamedTuple):
    """The best run of a method that drew the pools, and the best of any other; None where there is none."""

    pooled: str | None
    other: str | None


def method_in_pool(run: str, methods: Iterable[str]) -> str | None:
    """The first pooling method that the run is of, by its tag, with any view of the text; None where none is.

    >>> method_in_pool("fabs_tfidf", ["title_tfidf", "specter"]), method_in_pool("fabs_bm25", ["title_tfidf"])
    ('title_tfidf', None)
    """
    return next((method for method in methods if method != CITED and _bare(method) == _bare(run)), None)


def best_of_each(means: Mapping[str, float], methods: Iterable[str]) -> BestOfEach:
    """means: of each run. Of equal ones the first by name."""
    drew = tuple(methods)
    order = sorted(means, key=lambda run: (-means[run], run))
    pooled = [run for run in order if method_in_pool(run, drew)]
    others = [run for run in order if run not in pooled]
    return BestOfEach(next(iter(pooled), None), next(iter(others), None))


def _bare(name: str) -> str:
    name = name.casefold()
    return next((name.removeprefix(view) for view in VIEWS if name.startswith(view)), name)
