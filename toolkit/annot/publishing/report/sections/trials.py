"""Judging beside the collection, as it is on record: who passed the training, hidden gold, and the sub-study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annot.judging.substudy import recorded_substudy
from annot.judging.trial_answers import HIDDEN, TRAIN, recorded_against_gold
from annot.publishing.report.cells import COEFFICIENT, PERCENTAGE, SECONDS, measured
from annot.publishing.report.document import Chapter, Table
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, each, table
from annot.publishing.report.words import sentences

_OnRecord = Mapping[str, Any]


def appendix(study: Study) -> Iterator[Chapter]:
    """The training with hidden gold, and the sub-study; each where something of it is on record."""
    on_record = study.snapshot.trials
    trained = list(recorded_against_gold(on_record, TRAIN))
    hidden = list(recorded_against_gold(on_record, HIDDEN))
    blocks = [
        *([_against_gold("training", "Gold pairs", "gold", trained, verdict=True)] if trained else []),
        *([_against_gold("hidden-gold", "Hidden pairs", "hidden", hidden)] if hidden else []),
    ]
    if blocks:
        told = sentences("trials.against_gold", trained=trained, hidden=hidden, level=study.level)
        yield Chapter("training", "Training of the assessors", told, tuple(blocks))
    substudy = recorded_substudy(on_record)
    if substudy is not None:
        told = sentences("trials.substudy_told", substudy=substudy, level=study.level)
        yield Chapter("substudy", "Sub-study on full texts", told, tuple(_substudy(substudy)))


def _against_gold(name: str, asked: str, gold: str, rows: Sequence[_OnRecord], *, verdict: bool = False) -> Table:
    return table(
        name,
        rows,
        [Column("Assessor", lambda one: one["assessor"])],
        [
            *([Column[_OnRecord]("Batches", lambda one: one["batches"])] if verdict else []),
            Column(asked, lambda one: one[gold]),
            Column("Answered", lambda one: one["answered"]),
            Column("Compared", lambda one: one["pairs"]),
            Column("Kappa (quadratic)", lambda one: measured(one["kappa"], COEFFICIENT)),
            *([Column[_OnRecord]("Verdict", lambda one: one["verdict"])] if verdict else []),
        ],
        caption=f"trials.{name.replace('-', '_')}",
        command="annot train report",
    )


def _substudy(found: _OnRecord) -> Iterator[Table]:
    command = "annot substudy report"
    titles = {"spearman_rho": "Spearman's rho", "alpha_ordinal": "Alpha (ordinal)", "kappa": "Cohen's kappa"}
    yield table(
        "substudy",
        found["compared"],
        [Column[_OnRecord]("First", lambda one: one["first"]), Column("Second", lambda one: one["second"])],
        [
            Column("Pairs", lambda one: one["pairs"]),
            *each(titles, lambda one, name: measured(one["figures"][name], COEFFICIENT), titles.__getitem__),
            Column("Equal grades, %", lambda one: measured(one["figures"]["percent"], PERCENTAGE)),
        ],
        caption="trials.substudy",
        command=command,
    )
    yield table(
        "substudy-times",
        found["views"],
        [Column[_OnRecord]("View", lambda one: one["view"])],
        [
            Column("Timed pairs", lambda one: one["timed"]),
            Column("Seconds per pair", lambda one: measured(one["seconds"], SECONDS)),
        ],
        caption="trials.substudy_times",
        command=command,
    )
