"""Choosing queries from the rated papers, as even as possible over periods, types and facets (guidelines, 1.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annot.errors import InputError
from annot.selection.evenness import Key, even_choice, keys_of
from annot.selection.sheet import SheetRow
from annot.stats.seeding import generator


@dataclass(frozen=True, slots=True)
class Chosen:
    """One query to make: a paper and one of its facets."""

    paper_id: str
    facet: str


@dataclass(frozen=True, slots=True)
class ChosenShare:
    """How much of the choice one period, type or facet has."""

    value: str
    chosen: int
    available: int
    """How many eligible papers are of it."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """What was chosen from what. Periods and types count papers, facets count queries."""

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
    """Why papers of the sheet were not eligible, and how many."""
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
    min_rating: int,
    two_facet_share: float,
    offered: Mapping[str, Sequence[str]],
    facets: Sequence[str],
    seed: int,
) -> Choice:
    """Choose `count` queries from the rated papers of a sheet.

    Left out: surveys, papers rated below `min_rating` or not yet rated, and papers without a facet. A paper gives one
    query or two, of different facets; `two_facet_share` (0 to 1) is the wanted share of papers that give two, kept as
    nearly as the eligible papers allow. `offered`: for each paper the facets it has sentences for; a facet of the
    sheet that is not among them is a fault. Among the choices of that size, the sum over periods, types and facets of
    the squared counts is the least possible (see `annot.selection.evenness`); among equals the seed decides.
    Raises InputError when the eligible papers cannot give `count` queries.
    """
    if count < 1:
        raise InputError(f"found {count} queries to choose, expected at least 1")
    if not 0 <= two_facet_share <= 1:
        raise InputError(f"the share of papers with two facets: found {two_facet_share}, expected 0 to 1")
    left_out: Counter[str] = Counter()
    eligible: list[SheetRow] = []
    faults: list[str] = []
    for row in sorted(rated, key=lambda row: row.paper_id):
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
        raise InputError("the sheet names facets without sentences", faults=faults, hint="strike them out there")
    wanted, doubles = _doubles([len(row.facets) for row in eligible], count, two_facet_share)
    found = even_choice(
        eligible, singles=count - 2 * doubles, doubles=doubles, rng=generator(seed, "query-choose", str(count))
    )
    period_of = {row.paper_id: row.period for row in eligible}
    chosen = [Chosen(paper_id, facet) for paper_id, own in found.facets.items() for facet in own]
    chosen.sort(key=lambda query: (period_of[query.paper_id], query.paper_id, facets.index(query.facet)))
    distribution = Distribution(
        queries=len(chosen),
        papers=len(found.facets),
        two_facet_papers=doubles,
        two_facet_papers_wanted=wanted,
        eligible=len(eligible),
        by_period=_shares("period", sorted({row.period for row in eligible}), eligible, found.counts),
        by_type=_shares("type", sorted({str(row.type) for row in eligible}), eligible, found.counts),
        by_facet=_shares("facet", facets, eligible, found.counts),
        left_out=tuple(sorted(left_out.items())),
        imbalance=found.imbalance,
    )
    return Choice(tuple(chosen), distribution)


def _reason(row: SheetRow, min_rating: int) -> str | None:
    """Why a row is not eligible, or None."""
    if row.type is None or row.rating is None:
        return "not rated"
    if row.type == "survey":
        return "survey"
    if row.rating < min_rating:
        return f"rated below {min_rating}"
    return None if row.facets else "no facet"


def _doubles(facet_counts: list[int], count: int, share: float) -> tuple[int, int]:
    """How many papers shall give two queries: as wanted, and as the eligible papers allow.

    With p papers, d of them giving two, d = share * p and p + d = count, so d = count * share / (1 + share).
    """
    papers = len(facet_counts)
    capable = sum(facets >= 2 for facets in facet_counts)
    if count > papers + capable:
        raise InputError(
            f"{count} queries cannot be chosen: found {papers} eligible paper(s), {capable} of them with two facets or "
            f"more, which give at most {papers + capable}",
            hint="rate more papers, lower the smallest rating, or choose fewer",
        )
    wanted = int(count * share / (1 + share) + 0.5)
    return wanted, max(count - papers, min(wanted, capable, count // 2))


def _shares(
    kind: str, values: Iterable[str], papers: Sequence[SheetRow], counts: Mapping[Key, int]
) -> tuple[ChosenShare, ...]:
    available = Counter(key for paper in papers for key in keys_of(paper, paper.facets))
    return tuple(ChosenShare(value, counts.get((kind, value), 0), available[kind, value]) for value in values)
