"""Comparisons with published figures, and of two qrels of the same queries."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from annot.base.errors import InputError
from annot.base.names import check_name, near
from annot.base.plugins import PluginNames, parts
from annot.base.records import CHANCE, Qrel, Query, grouped
from annot.base.stats.inference import tau_ap, tau_b_of_rows
from annot.base.stats.values import Undefined, Value, rounding
from annot.formats.input_files import in_words
from annot.measuring.agreement.coefficients import value_of
from annot.measuring.agreement.estimates import AgreementOfGradings, agreement_between, too_thin
from annot.measuring.evaluation.comparisons import RunComparison
from annot.measuring.evaluation.evaluated import TOGETHER, EvaluatedRuns, RunMeasures
from annot.measuring.evaluation.measures import CONVENTIONS, knows

# ----------------------------------------------------------------------------------------------------------------------
# Figures that a paper printed next to those of this study in the paper's convention, differences marked.
# ----------------------------------------------------------------------------------------------------------------------


DECIMALS = 2
"""Decimals of the percentages that the papers print."""
_ROUNDING = 1e-7


class PublishedTable(BaseModel):
    """A table of a paper: percentages by facet and system, in the order of `measures`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    source: str
    convention: str
    """Convention in which the paper computed its figures."""
    facets: tuple[str, ...]
    """Facets that `together` averages over; empty if the queries have none."""
    measures: tuple[str, ...]
    note: str = ""
    misprints: tuple[str, ...] = ()
    """Figures that cannot be right, as `facet system measure`."""
    queries: dict[str, tuple[str, ...]] = {}
    """Query papers of each facet, which identify the collection; empty if the table does not name them."""
    pairs: dict[str, int] = {}
    """Number of judged pairs of each facet."""
    figures: dict[str, dict[str, tuple[float, ...]]]

    @model_validator(mode="after")
    def _check(self) -> PublishedTable:
        if self.convention not in CONVENTIONS:
            raise ValueError(f"convention {self.convention!r}: {near(self.convention, CONVENTIONS)}")
        for measure in self.measures:
            if not knows(self.convention, measure):
                raise ValueError(f"measure {measure!r}: not known in convention {self.convention}")
        for facet, rows in self.figures.items():
            for system, row in rows.items():
                if len(row) != len(self.measures):
                    expected = f"{len(row)} figures, expected {len(self.measures)}, one for each measure"
                    raise ValueError(f"figures.{facet}.{system}: {expected}")
        return self

    @property
    def systems(self) -> tuple[str, ...]:
        """Systems of all facets."""
        return tuple(dict.fromkeys(system for rows in self.figures.values() for system in rows))


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One figure of this study next to the paper's; percentages."""

    facet: str
    run: str
    measure: str
    ours: float
    theirs: float
    same: bool
    """True if our figure rounds to the paper's."""
    misprint: bool


def read_published_named(name: str, plugins: PluginNames = ()) -> PublishedTable:
    """The table of this name that comes with `annot` or a plug-in. Raises InputError if there is none."""
    tables = parts("published_figures", plugins)
    check_name(name, (*tables,), what="table")
    package, _, file = tables[name].partition(":")
    return read_published((files(package) / file).read_text(encoding="utf-8"), name=name)


def read_published(text: str, *, name: str) -> PublishedTable:
    """Parse the table in `text`. Raises InputError with every fault."""
    try:
        return PublishedTable.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: not valid TOML: {error}") from None
    except ValidationError as error:
        raise InputError(f"{name}: not a published table", faults=in_words(error)) from None


def beside(published: PublishedTable, lines: Iterable[RunMeasures]) -> tuple[ComparedFigure, ...]:
    """Compare every figure that both have, of systems whose names differ only in case and signs; `together` only if the
    facets are the paper's.

    lines: in the paper's convention. Raises InputError if no run is a system of the paper.
    """
    of_convention = [line for line in lines if line.convention == published.convention]
    same_facets = comparable(published, of_convention)
    comparisons = []
    for line in of_convention:
        facet = TOGETHER if same_facets and not published.facets else line.facet
        rows = {_plain(system): (system, row) for system, row in published.figures.get(facet, {}).items()}
        if _plain(line.run) not in rows or (facet == TOGETHER and not same_facets):
            continue
        system, row = rows[_plain(line.run)]
        for measure, theirs in zip(published.measures, row, strict=True):
            if measure in line.values:
                ours = 100 * line.values[measure]
                same = abs(ours - theirs) <= 0.5 * 10**-DECIMALS + _ROUNDING
                misprint = f"{facet} {system} {measure}" in published.misprints
                comparisons.append(ComparedFigure(line.facet, line.run, measure, ours, theirs, same, misprint))
    if not comparisons:
        runs = dict.fromkeys(line.run for line in of_convention)
        raise InputError(
            f"{published.title}: no run has the name of one of its systems on one of its facets",
            faults=[f"found {', '.join(runs)}", f"expected {', '.join(published.systems)}"],
            hint="name the system of a run with `annot run import --system NAME`",
        )
    return tuple(comparisons)


def same_collection(published: PublishedTable, queries: Sequence[Query], judged: Iterable[str]) -> bool | None:
    """Check that queries and numbers of judged pairs are the paper's on every facet that both have.

    judged: the query of each judged pair, or of each of which a sample was judged. Returns None if the table names no
    queries.
    """
    if not published.queries:
        return None
    facets = {query.query_id: query.facet for query in queries}
    pairs = Counter(facets[query_id] for query_id in judged)
    topics = grouped((query.facet, query.topic_id) for query in queries)
    shared = topics.keys() & published.queries.keys()
    return bool(shared) and all(
        set(topics[facet]) == set(published.queries[facet]) and pairs[facet] == published.pairs.get(facet, pairs[facet])
        for facet in shared
    )


def comparable(published: PublishedTable, lines: Iterable[RunMeasures]) -> bool:
    """Check that `together` averages over the same facets here as in the paper."""
    facets = {line.facet for line in lines} - {TOGETHER}
    return facets == set(published.facets) or (not published.facets and len(facets) == 1)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


# ----------------------------------------------------------------------------------------------------------------------
# Two qrels of the same queries: agreement of their grades, and of the order in which they put the runs.
# ----------------------------------------------------------------------------------------------------------------------


AGREEMENT = ("kappa", "alpha_ordinal")
TIED = Undefined("two runs tie, or there is only one: an order needs two that differ")
_FIGURES = 10
"""Digits after the point at which two means tie."""


@dataclass(frozen=True, slots=True)
class TopicAgreement:
    """Agreement of the two on one query."""

    query_id: str
    pairs: int
    """Documents that both graded."""
    only_a: int
    only_b: int
    kappa: Value
    alpha: Value


@dataclass(frozen=True, slots=True)
class ChangedSides:
    """Two runs of which one is better by the first qrels and the other by the second."""

    better_by_a: str
    better_by_b: str
    lead_by_a: float
    lead_by_b: float
    """Lead of `better_by_b`."""
    holds_by_a: bool
    holds_by_b: bool
    """True if the lead holds after correction for all pairs of runs, as in `annot evaluate`."""


@dataclass(frozen=True, slots=True)
class TwoQrels:
    """Comparison of two qrels on the queries that both have."""

    grades: tuple[int, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Pairs by grade in the first (rows) and in the second (columns)."""
    together: AgreementOfGradings
    """Agreement on all pairs, with intervals over topics."""
    topics: tuple[TopicAgreement, ...]
    convention: str
    measure: str
    facet: str
    means: dict[str, tuple[float, float]]
    """Mean of each run on this facet by the first and by the second, the best by the first on top."""
    above_chance: dict[str, tuple[bool, bool]]
    """Run, and if it is significantly better than a random order by the first and by the second."""
    tau: Value
    tau_ap: Value
    """Tau AP with the first as reference. It gives more weight to the top."""
    changed: tuple[ChangedSides, ...]

    @property
    def like_chance(self) -> bool:
        """True if at least one run is not significantly better than a random order by one of the two."""
        return not all(map(all, self.above_chance.values()))


@rounding
def compare_qrels(
    a: Iterable[Qrel],
    b: Iterable[Qrel],
    by_a: EvaluatedRuns,
    by_b: EvaluatedRuns,
    *,
    facet: str,
    level: float,
    topics: Mapping[str, str],
    weights: Mapping[tuple[str, str], float] | None = None,
) -> TwoQrels:
    """Compare the grades, and the runs as measured on each of the two.

    a, b: the grades of the queries that both have. by_a, by_b: the same runs measured on each. facet: the facet on
    which the runs are ordered. level: of the intervals of agreement. topics: the topic of each query, the unit of
    chance. weights: of each pair, 1 / pi if a sample was drawn; coefficients then describe the whole pools.
    """
    first, second = ({(qrel.query_id, qrel.doc_id): qrel.relevance for qrel in qrels} for qrels in (a, b))
    grades_in_use = {*first.values(), *second.values()}
    # A grade between these that no pair has is on their scale all the same.
    grades = tuple(range(min(grades_in_use), max(*grades_in_use, min(grades_in_use) + 1) + 1))
    pairs = Counter((first[pair], second[pair]) for pair in first.keys() & second.keys())
    lines_a, lines_b = (_lines(evaluated, facet) for evaluated in (by_a, by_b))
    runs = sorted(lines_a.keys() & lines_b.keys(), key=lambda run: (-lines_a[run].values[by_a.measure], run))
    means = {run: (lines_a[run].values[by_a.measure], lines_b[run].values[by_b.measure]) for run in runs}
    scores = [[round(pair[side], _FIGURES) for pair in means.values()] for side in (0, 1)]
    tau = tau_b_of_rows(np.array([scores[0]]), np.array([scores[1]]))[0] if len(means) > 1 else np.nan
    tau_of_top = tau_ap(scores[1], scores[0])
    return TwoQrels(
        grades=grades,
        confusion=tuple(tuple(pairs[row, column] for column in grades) for row in grades),
        together=agreement_between(
            first, second, grades=grades, level=level, coefficients=AGREEMENT, topics=topics, weights=weights
        ),
        topics=tuple(_topics(first, second, grades, weights or {})),
        convention=by_a.convention,
        measure=by_a.measure,
        facet=facet,
        means=means,
        above_chance={run: (lines_a[run].above_chance, lines_b[run].above_chance) for run in runs},
        tau=TIED if np.isnan(tau) else float(tau),
        tau_ap=TIED if np.isnan(tau_of_top) else tau_of_top,
        changed=tuple(_changed(by_a.comparisons, by_b.comparisons, facet)),
    )


def _lines(evaluated: EvaluatedRuns, facet: str) -> dict[str, RunMeasures]:
    return {
        line.run: line
        for line in evaluated.lines
        if (line.convention, line.facet) == (evaluated.convention, facet) and line.run != CHANCE
    }


def _topics(
    first: Mapping[tuple[str, str], int],
    second: Mapping[tuple[str, str], int],
    grades: tuple[int, ...],
    weights: Mapping[tuple[str, str], float],
) -> Iterable[TopicAgreement]:
    for query_id in sorted({query_id for query_id, _ in (*first, *second)}):
        pairs_a, pairs_b = ({pair for pair in grading if pair[0] == query_id} for grading in (first, second))
        shared = sorted(pairs_a & pairs_b)
        ratings = np.array([[grading[pair] for pair in shared] for grading in (first, second)], dtype=np.float64)
        weighed = np.array([weights.get(pair, 1.0) for pair in shared])
        kappa, alpha = (too_thin(weighed) or value_of(name, ratings, grades, weighed) for name in AGREEMENT)
        yield TopicAgreement(query_id, len(shared), len(pairs_a - pairs_b), len(pairs_b - pairs_a), kappa, alpha)


def _changed(by_a: Iterable[RunComparison], by_b: Iterable[RunComparison], facet: str) -> Iterable[ChangedSides]:
    pairs_by_b = {(pair.run_a, pair.run_b): pair for pair in by_b if pair.facet == facet}
    for pair in by_a:
        turned = pairs_by_b.get((pair.run_b, pair.run_a))
        if pair.facet == facet and turned is not None and pair.difference > 0 and turned.difference > 0:
            yield ChangedSides(
                better_by_a=pair.run_a,
                better_by_b=pair.run_b,
                lead_by_a=pair.difference,
                lead_by_b=turned.difference,
                holds_by_a=pair.holds,
                holds_by_b=turned.holds,
            )
