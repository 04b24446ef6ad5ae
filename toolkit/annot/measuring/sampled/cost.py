"""Cost of a sample in words, and the effect of an opinion on it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations
from statistics import median

import numpy as np

from annot.base.names import counted, verb
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.evaluation.computed import JUDGED_AT
from annot.measuring.evaluation.graded_pools import ByOpinion, SampleCost
from annot.measuring.sampled.estimates import SampledEvaluation


def scatter(estimates: Mapping[str, float], topics: Mapping[str, str]) -> float | None:
    """Variance of the mean of these estimates over topics; None if there is one topic only."""
    names = sorted({topics[query_id] for query_id in estimates})
    sums = dict.fromkeys(names, 0.0)
    sizes = dict.fromkeys(names, 0)
    mean = math.fsum(estimates.values()) / len(estimates)
    for query_id, value in estimates.items():
        sums[topics[query_id]] += value
        sizes[topics[query_id]] += 1
    off = np.array([sums[name] - sizes[name] * mean for name in names]) / len(estimates)
    return float((off**2).sum()) * len(names) / (len(names) - 1) if len(names) > 1 else None


def by_opinion(
    name: str,
    model: str,
    joint: Mapping[str, SampledEvaluation],
    alone: Mapping[str, SampledEvaluation],
    measure: str,
    topics: Mapping[str, str],
    *,
    pairs: int,
    other_texts: int,
) -> ByOpinion:
    """Effect of an opinion on the intervals.

    joint, alone: by run, with the opinion and with the rankings alone. pairs: that it helps to predict;
    other_texts: those of them that are judged on another version of a text than the model read.
    """
    both = [_values(values, measure) for values in (joint, alone)]
    levels = [tuple(scatter(values[tag], topics) for values in both) for tag in joint]
    differences = [
        tuple(scatter({name: values[a][name] - values[b][name] for name in values[a]}, topics) for values in both)
        for a, b in combinations(joint, 2)
    ]
    return ByOpinion(
        name=name,
        model=model,
        pairs=pairs,
        difference=_wider_by(differences),
        level=_wider_by(levels),
        other_texts=other_texts,
        means={tag: (run.evaluation.mean[measure], alone[tag].evaluation.mean[measure]) for tag, run in joint.items()},
    )


def _wider_by(variances: Iterable[tuple[float | None, ...]]) -> float | None:
    ratios = [math.sqrt(joint / alone) - 1 for joint, alone in variances if joint is not None and alone]
    return median(ratios) if ratios else None


def _values(runs: Mapping[str, SampledEvaluation], measure: str) -> dict[str, dict[str, float]]:
    return {
        tag: {query.query_id: query.values[measure] for query in run.evaluation.queries} for tag, run in runs.items()
    }


def notes_of(cost: SampleCost, measure: str, shown: Collection[str] = ()) -> Iterator[str]:
    """Notes that a reader of figures from a sample needs. shown: the measures in the tables."""
    yield (
        f"{cost.drawn:,} of the {cost.pairs:,} pairs of the pools were judged, drawn with known probabilities; all "
        "figures are estimates of the whole pools"
    )
    if isinstance(cost.level.value, Undefined):
        yield f"by how much the sample widens intervals is not known: {cost.level.value.reason}"
    else:
        widened = [
            f"that of {figure} by {_percent(wider)}"
            for figure, wider in (("a difference between two runs", cost.difference), ("a run", cost.level))
            if not isinstance(wider.value, Undefined)
        ]
        yield (
            f"the sample widens intervals: {', '.join(widened)}; found by drawing it again from filled-in pools (below "
            "0: narrower)"
        )
    if cost.opinion is not None:
        yield from _of_opinion(cost.opinion, cost.pairs, measure)
    if cost.so_far is not None:
        yield (
            f"{100 * cost.so_far:.0f}% of the drawn pairs have a grade so far; they are taken for a random part of "
            "those of their query"
        )
    if cost.outside:
        yield (
            f"{counted(cost.outside, 'estimate')} of a run on a query cannot be the value, by the grades that are "
            f"known: {verb(cost.outside, 'it is', 'they are')} not shown, and {verb(cost.outside, 'counts', 'count')} "
            "in the means"
        )
    if cost.too_empty:
        yield f"{cost.told_empty}: intervals of means and differences hold less often than they say"
    if cost.floored:
        yield (
            f"in {counted(cost.floored, 'query')} the best possible ranking was estimated below what was found, or "
            "below one relevant document, and was raised to that"
        )
    if recall := sorted(name for name in shown if re.fullmatch(r"R@\d+", name)):
        yield (
            f"{' and '.join(recall)}: recall from a sample is less certain than the other measures, because it divides "
            "by the estimated number of relevant documents; in two collections judged to a third it was off by up to "
            "0.04"
        )
    if judged := sorted(name for name in shown if JUDGED_AT.fullmatch(name)):
        yield f"{' and '.join(judged)}: the share of the first documents that are in a pool, whether drawn or not"


def _percent(wider: Estimate) -> str:
    assert not isinstance(wider.value, Undefined), wider.value
    ends = wider.interval
    span = f" [{100 * ends.low:.0f}, {100 * ends.high:.0f}]" if isinstance(ends, Interval) else ""
    return f"{100 * wider.value:.0f}%{span}"


def _of_opinion(opinion: ByOpinion, pairs: int, measure: str) -> Iterator[str]:
    yield opinion.told
    if not opinion.pairs:
        return
    if rest := pairs - opinion.pairs:
        yield f"the rankings alone predict {counted(rest, 'pair')}, on which no answer of {opinion.name} counts"
    if opinion.other_texts:
        yield (
            f"on {counted(opinion.other_texts, 'pair')} the model read another version of a text than "
            f"{verb(opinion.other_texts, 'the pair is', 'they are')} judged on; the answers predict nevertheless, "
            "because predictions must not depend on which pairs were drawn"
        )
    runs = sorted(opinion.means.items(), key=lambda run: (-run[1][0], run[0]))
    means = ", ".join(f"{tag} {100 * mean:.1f} ({100 * alone:.1f})" for tag, (mean, alone) in runs)
    yield f"{measure} with the opinion of {opinion.name}, and in brackets with the rankings alone: {means}"
