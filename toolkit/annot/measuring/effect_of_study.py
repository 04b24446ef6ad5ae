"""Effect of the assessors of a study on the comparison of its runs, on one record of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annot.base.records import Qrel, Ranking
from annot.measuring.assessor_effect.on_runs import assessor_effect_on_runs
from annot.measuring.assessor_effect.rankings import AssessorEffect, EffectSettings
from annot.measuring.evaluation.comparisons import ALPHA
from annot.measuring.measured import of_all_topics
from annot.measuring.sampled.gradings import SampledGradings
from annot.measuring.sampled_study import drawn_pairs
from annot.study.snapshot import Snapshot

N_RANDOM = 500
"""Number of random choices of one assessor for each topic."""
OF_WHOLE_POOLS = "a sample of the pools was judged: every figure is an estimate of the whole pools under its grading"
SWAP_PERMUTATIONS = 10_000
"""Permutations of each test of all pairs of runs, of which there is one for every random choice."""


def assessor_effect_of(
    snapshot: Snapshot,
    runs: Mapping[str, Mapping[str, Ranking]],
    qrels: tuple[Qrel, ...],
    *,
    convention: str,
    measure: str,
    unfinished: bool = False,
) -> AssessorEffect:
    """Rank the runs that rank for all topics under every grading. unfinished: as in `evaluation_of`."""
    drawn = None if snapshot.sample is None else drawn_pairs(snapshot, qrels, unfinished=unfinished)
    settings = EffectSettings(
        convention=convention,
        measure=measure,
        relevant_from=snapshot.ws.settings.evaluation.relevant_from,
        n_random=N_RANDOM,
        alpha=ALPHA,
        permutations=SWAP_PERMUTATIONS,
        level=snapshot.ws.settings.agreement.level,
        seed=snapshot.ws.settings.seed,
    )
    able = of_all_topics(snapshot, runs)
    effect = assessor_effect_on_runs(
        able,
        snapshot.outcome.judgements,
        qrels,
        settings,
        topics=snapshot.topics,
        sampled=None
        if drawn is None
        else SampledGradings(drawn.pi, drawn.judged, drawn.predicted, drawn.highest, drawn.weights),
    )
    if drawn is not None:
        effect = replace(effect, notes=(*effect.notes, OF_WHOLE_POOLS))
    unable = (f"{tag}: left out, because its system cannot rank for every topic" for tag in runs if tag not in able)
    return replace(effect, notes=(*effect.notes, *unable))
