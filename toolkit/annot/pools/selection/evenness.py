"""An even choice: papers and facets such that the counts of periods, types and facets lie as close as they can.

The imbalance of a choice is the sum of its squared counts: papers in each period, papers of each type, queries of each
facet. It is separable and convex, so that the least one is found by an integer linear program (each further unit of a
count costs two more than the one before), solved to the end by HiGHS (Huangfu and Hall 2018).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annot.pools.selection.sheet import SheetRow

Key = tuple[str, str]
"""What is counted: the kind (`period`, `type` or `facet`) and its value."""


def keys_of(paper: SheetRow, facets: Sequence[str]) -> tuple[Key, ...]:
    """All that a choice of this paper for `facets` adds one to."""
    return (("period", paper.period), ("type", str(paper.type)), *(("facet", facet) for facet in facets))


@dataclass(frozen=True, slots=True)
class EvenChoice:
    """The facets of each chosen paper, how often each period, type and facet is chosen, and the sum of squares."""

    facets: Mapping[str, tuple[str, ...]]
    counts: Mapping[Key, int]
    imbalance: int


def even_choice(candidates: Sequence[SheetRow], *, singles: int, doubles: int, rng: np.random.Generator) -> EvenChoice:
    """Choose `singles` papers for one facet each and `doubles` papers for two, as evenly as can be.

    There must be `doubles` candidates with two facets or more and `singles` others besides. Every candidate has at
    least one facet. Among the most even choices, and among papers that count alike, `rng` decides.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    alike: dict[tuple[str, str, tuple[str, ...]], list[SheetRow]] = {}
    for index in rng.permutation(len(candidates)):
        paper = candidates[index]
        alike.setdefault((paper.period, str(paper.type), paper.facets), []).append(paper)
    groups = [alike[key] for key in sorted(alike)]
    options = [
        (index, facets)
        for index, group in enumerate(groups)
        for size in (1, 2)
        for facets in combinations(group[0].facets, size)
    ]
    keys = sorted({key for group in groups for key in keys_of(group[0], group[0].facets)})
    papers = singles + doubles
    steps = [(key, step) for key in keys for step in range(papers + doubles if key[0] == "facet" else papers)]
    # Of each option how many papers, then of each count whether it reaches that step.
    rows = np.zeros((len(groups) + 2 + len(keys), len(options) + len(steps)))
    for column, (index, facets) in enumerate(options):
        rows[index, column] = 1
        rows[len(groups) + len(facets) - 1, column] = 1
        for key in keys_of(groups[index][0], facets):
            rows[len(groups) + 2 + keys.index(key), column] = 1
    for column, (key, _) in enumerate(steps, start=len(options)):
        rows[len(groups) + 2 + keys.index(key), column] = -1
    sizes = [len(group) for group in groups]
    exact = [singles, doubles, *(0 for _ in keys)]
    # The imbalance changes by two at least, so that less than one in all decides only among the most even choices.
    chance = rng.integers(0, 1000, len(options)) / (1000 * (papers + 1))
    solved = milp(
        [*chance, *(2 * step + 1 for _, step in steps)],
        integrality=[1] * len(options) + [0] * len(steps),
        bounds=Bounds(0, [sizes[index] for index, _ in options] + [1] * len(steps)),
        constraints=LinearConstraint(rows, [-np.inf] * len(groups) + exact, sizes + exact),
        options={"mip_rel_gap": 0},
    )
    free = [iter(group) for group in groups]
    chosen: dict[str, tuple[str, ...]] = {}
    counts: Counter[Key] = Counter()
    for (index, facets), number in zip(options, np.rint(solved.x).astype(int), strict=False):
        for _ in range(number):
            candidate = next(free[index])
            chosen[candidate.paper_id] = facets
            counts.update(keys_of(candidate, facets))
    return EvenChoice(chosen, counts, sum(count**2 for count in counts.values()))
