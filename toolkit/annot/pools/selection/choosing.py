"""Choosing queries from the rated papers, as even as possible over periods, types and facets (guidelines, 1.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import grouped
from annot.base.stats.seeding import generator
from annot.pools.selection.sheet import SheetRow

Key = tuple[str, str]
"""Key of a count: the kind (`period`, `type` or `facet`) and its value."""


def keys_of(paper: SheetRow, facets: Sequence[str]) -> tuple[Key, ...]:
    """All that a choice of this paper for `facets` adds one to."""
    return (("period", paper.period), ("type", str(paper.type)), *(("facet", facet) for facet in facets))


def even_choice(
    candidates: Sequence[SheetRow], *, singles: int, doubles: int, rng: np.random.Generator
) -> tuple[dict[str, tuple[str, ...]], Counter[Key]]:
    """Facets of `singles` papers with one each and `doubles` papers with two, as evenly as can be, and their counts.

    There must be `doubles` candidates with two facets or more and `singles` others besides. Every candidate has at
    least one facet. Among the most even choices, and among papers that count alike, `rng` decides.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    shuffled = [candidates[index] for index in rng.permutation(len(candidates))]
    alike = grouped(((paper.period, str(paper.type), paper.facets), paper) for paper in shuffled)
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
    return chosen, counts


@dataclass(frozen=True, slots=True)
class Chosen:
    """One query to make: a paper and one of its facets."""

    paper_id: str
    facet: str


@dataclass(frozen=True, slots=True)
class ChosenShare:
    """Share of one period, type or facet in the choice."""

    value: str
    chosen: int
    available: int
    """Number of eligible papers with this value."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Distribution of the choice over its candidates. Periods and types count papers, facets count queries."""

    queries: int
    papers: int
    two_facet_papers: int
    two_facet_papers_wanted: int
    eligible: int
    """Papers that could have been chosen."""
    by_period: tuple[ChosenShare, ...]
    by_type: tuple[ChosenShare, ...]
    by_facet: tuple[ChosenShare, ...]
    left_out: tuple[tuple[str, int], ...]
    """Reasons why papers of the sheet were not eligible, with their numbers."""
    imbalance: int
    """Sum of the squared counts of all periods, types and facets: no choice of this size has a smaller one."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen queries, by period, then paper, then facet; and how they are spread."""

    chosen: tuple[Chosen, ...]
    distribution: Distribution


def choose(
    rated: Iterable[SheetRow],
    *,
    count: int,
    min_rating: int | None,
    two_facet_share: float,
    offered: Mapping[str, Sequence[str]],
    facets: Sequence[str],
    seed: int,
) -> Choice:
    """Choose `count` queries from the rated papers of a sheet.

    Left out: surveys, papers rated below `min_rating` or not yet rated, and papers without a facet. Where `min_rating`
    is None, papers are taken unrated, and have no type. A paper gives one
    query or two, of different facets; `two_facet_share` (0 to 1) is the wanted share of papers that give two, kept as
    nearly as the eligible papers allow. `offered`: for each paper the facets it has sentences for; a facet of the
    sheet that is not among them is a fault. Among the choices of that size, the sum over periods, types and facets of
    the squared counts is the least possible (see `annot.pools.selection.choosing`); among equals the seed decides.
    Raises InputError when the eligible papers cannot give `count` queries, with the papers to rate first.
    """
    rows = list(rated)
    if count < 1:
        raise InputError(f"found {count} queries to choose, expected at least 1")
    if not 0 <= two_facet_share <= 1:
        raise InputError(f"the share of papers with two facets: found {two_facet_share}, expected 0 to 1")
    left_out: Counter[str] = Counter()
    eligible: list[SheetRow] = []
    faults: list[str] = []
    for row in sorted(rows, key=lambda row: row.paper_id):
        reason = _reason(row, min_rating)
        if reason is not None:
            left_out[reason] += 1
            continue
        eligible.append(row)
        faults += [
            f"paper {row.paper_id}: no sentence of facet {facet!r}, expected one of: "
            + (", ".join(offered.get(row.paper_id, ())) or "none")
            for facet in row.facets
            if facet not in offered.get(row.paper_id, ())
        ]
    if faults:
        raise InputError(
            "the sheet names facets that its papers have no sentences for",
            faults=faults,
            hint="remove them from the sheet",
        )
    wanted_doubles, capable = _doubles_wanted(count, two_facet_share), _capable(eligible)
    if count > len(eligible) + capable:
        raise _too_few(rows, eligible, count=count, papers=count - wanted_doubles, min_rating=min_rating)
    doubles = max(count - len(eligible), min(wanted_doubles, capable, count // 2))
    facets_of, counts = even_choice(
        eligible, singles=count - 2 * doubles, doubles=doubles, rng=generator(seed, "query-choose", str(count))
    )
    period_of = {row.paper_id: row.period for row in eligible}
    chosen = [Chosen(paper_id, facet) for paper_id, facets_of_paper in facets_of.items() for facet in facets_of_paper]
    chosen.sort(key=lambda query: (period_of[query.paper_id], query.paper_id, facets.index(query.facet)))
    distribution = Distribution(
        queries=len(chosen),
        papers=len(facets_of),
        two_facet_papers=doubles,
        two_facet_papers_wanted=wanted_doubles,
        eligible=len(eligible),
        by_period=_shares("period", sorted({row.period for row in eligible}), eligible, counts),
        by_type=_shares("type", sorted({row.type for row in eligible if row.type}), eligible, counts),
        by_facet=_shares("facet", facets, eligible, counts),
        left_out=tuple(sorted(left_out.items())),
        imbalance=sum(number**2 for number in counts.values()),
    )
    return Choice(tuple(chosen), distribution)


def _reason(row: SheetRow, min_rating: int | None) -> str | None:
    """Reason why a row is not eligible, or None."""
    if min_rating is not None:
        if row.type is None or row.rating is None:
            return "not rated"
        if row.type == "survey":
            return "survey"
        if row.rating < min_rating:
            return f"rated below {min_rating}"
    return None if row.facets else "no facet"


def _capable(rows: Iterable[SheetRow]) -> int:
    """Number of papers that can give two queries."""
    return sum(len(row.facets) >= 2 for row in rows)


def _doubles_wanted(count: int, share: float) -> int:
    """Number of papers that should give two queries.

    With p papers, d of them giving two, d = share * p and p + d = count, so d = count * share / (1 + share).
    """
    return int(count * share / (1 + share) + 0.5)


def papers_enough(papers: int, *, two_facet_share: float) -> int:
    """The smallest number of queries for which `choose` takes at least this many papers.

    >>> papers_enough(6, two_facet_share=0.5), papers_enough(6, two_facet_share=0)
    (9, 6)
    """
    chosen = ((n, n - min(_doubles_wanted(n, two_facet_share), n // 2)) for n in range(papers, 2 * papers + 1))
    return next(n for n, of_papers in chosen if of_papers >= papers)


def _too_few(
    rows: Sequence[SheetRow], eligible: Sequence[SheetRow], *, count: int, papers: int, min_rating: int | None
) -> InputError:
    """Error with the papers to rate first, if `count` queries cannot be chosen: `papers` are needed in all."""
    capable = _capable(eligible)
    problem = (
        f"{count} queries cannot be chosen: found {counted(len(eligible), 'eligible paper')}, {capable} of them with "
        f"two facets or more, which give at most {len(eligible) + capable}"
    )
    if min_rating is None:
        return InputError(problem, hint="draw more papers with --per-period, or choose fewer")
    rate_first = _first_to_rate(rows, eligible, max(1, papers - len(eligible)))
    if not rate_first:
        return InputError(
            problem,
            hint="draw more papers (`annot query sample --per-period 40 --out more.csv`), lower min_rating in "
            "annot.toml, or choose fewer",
        )
    if not any(row.rating for row in rows):
        problem = f"{count} queries cannot be chosen yet: none of the {len(rows)} papers of the sheet is rated"
    return InputError(
        problem,
        faults=[f"rate first, from {period}: {', '.join(ids)}" for period, ids in sorted(rate_first.items())],
        hint=f"if a rating is below {min_rating}, rate more papers; or choose without ratings, which is recorded: "
        f"`annot query sample --choose {count}`",
    )


def _first_to_rate(rows: Sequence[SheetRow], eligible: Sequence[SheetRow], number: int) -> dict[str, list[str]]:
    """Ids of papers that are not rated, by period, in the order of the sheet: those that even the periods out."""
    waiting = grouped(
        (row.period, row.paper_id) for row in rows if row.facets and (row.type is None or row.rating is None)
    )
    counts = Counter(row.period for row in eligible)
    to_rate: dict[str, list[str]] = {}
    for _ in range(number):
        open_periods = [period for period in sorted(waiting) if waiting[period]]
        if not open_periods:
            break
        period = min(open_periods, key=lambda name: counts[name])
        to_rate.setdefault(period, []).append(waiting[period].pop(0))
        counts[period] += 1
    return to_rate


def _shares(
    kind: str, values: Iterable[str], papers: Sequence[SheetRow], counts: Mapping[Key, int]
) -> tuple[ChosenShare, ...]:
    available = Counter(key for paper in papers for key in keys_of(paper, paper.facets))
    return tuple(ChosenShare(value, counts.get((kind, value), 0), available[kind, value]) for value in values)
