"""The opinions on record: listed, and each written as qrels of its own, which name the model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import median_low

from annot.base.records import Qrel
from annot.formats.trec import MODEL_MARK, write_qrels
from annot.judging.opinions.early import check_early, note_early
from annot.judging.opinions.standing import Standing, opinions_on_record
from annot.publishing.report.tables import Column, Columns
from annot.store import opinions
from annot.study.judged_texts import on_judged_texts
from annot.study.workspace import Workspace, write_file

OPINIONS = Columns[Standing](
    [
        Column("opinion", lambda one: one.name, "name"),
        Column("model", lambda one: one.model),
        Column("pairs", lambda one: one.pairs),
        Column("planned", lambda one: f"{one.planned_answered} of {one.planned}"),
        Column("reported", lambda one: one.reported),
        Column("repeats", lambda one: one.repeats),
        Column("set aside", lambda one: one.set_aside, "set_aside"),
        Column("unreadable", lambda one: one.unreadable),
        Column("cannot judge", lambda one: one.cannot_judge, "cannot_judge"),
        Column("requests", lambda one: one.requests),
        Column("failed", lambda one: one.failed),
        Column("tokens in", lambda one: one.tokens_in, "tokens_in"),
        Column("tokens out", lambda one: one.tokens_out, "tokens_out"),
        Column("cost", lambda one: round(one.cost, 4)),
        Column("prompt", lambda one: one.prompt_sha256[:12], "prompt_sha256"),
        Column("since", lambda one: one.since[:10]),
    ]
)


def listing(ws: Workspace) -> tuple[Standing, ...]:
    """One row for each opinion on record."""
    return tuple(one.standing for one in opinions_on_record(ws))


@dataclass(frozen=True, slots=True)
class WrittenOpinion:
    """The qrels of one opinion."""

    path: Path
    model: str
    pairs: int
    without_grade: int
    """Pairs on which it gave no grade: it cannot judge them, or its answers cannot be read."""
    set_aside: int
    """Pairs left out because the model read another version of a text than they are judged on."""


def write(ws: Workspace, name: str, *, before_judging: str | None) -> WrittenOpinion:
    """Write the opinion as qrels in `exports/opinions/`, with the model in the column where people's have 0.

    Of several opinions on a pair, the middle grade counts, and of two in the middle the lower. before_judging: why it
    is shown before all pairs are settled; it goes on record.
    """
    with ws.writing() as session:
        record = opinions.read_asked_model(session, name)
        if (reason := check_early(ws, session, "shown", why=before_judging)) is not None:
            note_early(session, name, "shown", reason)
        current, others = (
            list(opinions.opinions_from(calls))
            for calls in on_judged_texts(session, opinions.read_calls(session, name))
        )
    grades = {
        pair: [one.grade for one in several if one.grade is not None]
        for pair, several in groupby(current, key=attrgetter("pair"))
    }
    qrels = [Qrel(query_id, doc_id, median_low(own)) for (query_id, doc_id), own in grades.items() if own]
    model = re.sub(r"\s+", "_", record.model)
    path = ws.inside(ws.exports / "opinions", f"{name}.qrels")
    write_file(path, write_qrels(qrels, source=f"{MODEL_MARK}{model}"))
    set_aside = {one.pair for one in others} - grades.keys()
    return WrittenOpinion(path, record.model, len(qrels), len(grades) - len(qrels), len(set_aside))
