"""Judging beside the collection, as it is on record: who passed the training, hidden gold, and the sub-study."""

from __future__ import annotations

from collections.abc import Iterator

from annot.judging.substudy import recorded_substudy
from annot.judging.trial_answers import HIDDEN, TRAIN, recorded_against_gold
from annot.publishing.report.document import Section
from annot.publishing.report.study import Study
from annot.publishing.report.words import sentences, table


def appendix(study: Study) -> Iterator[Section]:
    """The training with hidden gold, and the sub-study; each where something of it is on record."""
    on_record = study.snapshot.trials
    trained = list(recorded_against_gold(on_record, TRAIN))
    hidden = list(recorded_against_gold(on_record, HIDDEN))
    blocks = [table(f"trials.{name}", rows) for name, rows in (("training", trained), ("hidden-gold", hidden)) if rows]
    if blocks:
        told = sentences("trials.against_gold", trained=trained, hidden=hidden, level=study.level)
        yield Section("training", "Training of the assessors", told, tuple(blocks))
    substudy = recorded_substudy(on_record)
    if substudy is not None:
        told = sentences("trials.substudy_told", substudy=substudy, level=study.level)
        blocks = [table("trials.substudy", substudy["compared"]), table("trials.substudy-times", substudy["views"])]
        yield Section("substudy", "Sub-study on full texts", told, tuple(blocks))
