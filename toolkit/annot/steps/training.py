"""Training: the gold pairs, those hidden among the pairs of assessors, and how everyone agrees with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import InputError, MissingInput
from annot.formats.spreadsheet import GoldLine, read_gold, write_gold
from annot.judging.exchange.outgoing import material_of
from annot.judging.plan_on_record import adjudicators_of
from annot.judging.trial_answers import (
    AGREED,
    FIGURES,
    HIDDEN,
    NO_REASONS,
    TRAIN,
    Probed,
    TrainedAssessor,
    by_person,
    hidden_gold_of,
    training_of,
)
from annot.judging.trials.draws import assigned, draw_gold, draw_hidden
from annot.measuring.agreement.coefficients import TITLES
from annot.publishing.report.tables import Column, Columns
from annot.store import people, trials
from annot.store.queries import read_queries
from annot.store.trials import Gold
from annot.study.outcome import Outcome, answered_of, outcome_of
from annot.study.workspace import Workspace, given_bytes, write_file


@dataclass(frozen=True, slots=True)
class GoldSet:
    """The gold pairs on record."""

    pairs: int
    by_facet: dict[str, int]
    by_grade: dict[int, int]
    without_reason: int
    added: int
    path: Path


@dataclass(frozen=True, slots=True)
class Hidden:
    """How many settled pairs are hidden among an assessor's own."""

    assessor: str
    pairs: int
    hidden: int
    added: int


HIDDEN_GOLD = Columns[Hidden](
    [Column("assessor", lambda one: one.assessor)],
    [
        Column("pairs", lambda one: one.pairs),
        Column("hidden gold", lambda one: one.hidden),
        Column("added now", lambda one: one.added),
    ],
)


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """All assessors in training."""

    level: float
    titles: dict[str, str]
    assessors: tuple[TrainedAssessor, ...]
    hidden: tuple[Probed, ...]
    """Those who have hidden gold among their pairs."""


def make(ws: Workspace, file: Path | None, *, dry_run: bool) -> GoldSet:
    """Make the gold pairs: those of `file`, or settled pairs drawn up to as many a facet as annot.toml says.

    They are also written to `training/gold.tsv`. A pair that was sent keeps its grade. Raises InputError if that
    file was edited and not read in, which a draw would write over.
    """
    path = ws.training / "gold.tsv"
    with ws.reading() as session:
        known = {query.query_id: query for query in read_queries(session)}
        standing = trials.read_gold(session)
        outcome = outcome_of(session, ws.settings)
    if file is None:
        if path.is_file() and path.read_text(encoding="utf-8") != _table(standing):
            raise InputError(
                f"{path}: changed since it was last read",
                hint="read it with `annot train gold training/gold.tsv`, or delete it",
            )
        if not outcome.decisions and not standing:
            raise MissingInput(
                "no pair is settled yet",
                hint="name a file of gold pairs, or wait until pairs are settled (`annot status`)",
            )
        drawn = draw_gold(
            known.values(),
            outcome.decisions,
            {one.pair for one in standing},
            per_facet=ws.settings.training.per_facet,
            seed=ws.settings.seed,
        )
        added = [
            GoldLine(one.query_id, one.doc_id, one.grade, _why(outcome, one.query_id, one.doc_id)) for one in drawn
        ]
        lines = [*(GoldLine(*one[:4]) for one in standing), *added]
    elif not file.is_file():
        raise MissingInput(f"{file}: no such file", hint="without a file, `annot train gold` draws settled pairs")
    else:
        data = given_bytes(file, expected="a table of gold pairs")
        lines = [*read_gold(data, name=str(file), grades=ws.settings.scale.grades, queries=list(known))]
    made = tuple(Gold(*line, position) for position, line in enumerate(lines, start=1))
    # Every text must be there before anybody is sent something.
    material_of(ws, {one.pair for one in made})
    if made != standing and not dry_run:
        with ws.writing() as session:
            trials.replace_gold(session, made)
    if not dry_run:
        write_file(path, _table(made))
    return GoldSet(
        pairs=len(made),
        by_facet=dict(sorted(Counter(known[one.query_id].facet for one in made).items())),
        by_grade=dict(sorted(Counter(one.grade for one in made).items())),
        without_reason=sum(one.why.strip() in NO_REASONS for one in made),
        added=len({one.pair for one in made} - {one.pair for one in standing}),
        path=path,
    )


def hide(ws: Workspace, *, share: float, dry_run: bool) -> tuple[Hidden, ...]:
    """Hide settled pairs among everyone's own, up to that share of their pairs; what is hidden already stays.

    Nobody gets a pair that the plan or the training gives them. `annot push` sends them with the others.
    """
    with ws.writing() as session:
        decisions = outcome_of(session, ws.settings).decisions
        left = people.who_left(session)
        planned = by_person(one for one in people.read_assignments(session) if one.assessor not in left)
        known = by_person(trials.read_assignments(session, TRAIN))
        # Whoever has judged or settled a pair knows it, whatever the plan says by now.
        met = {(name, asked.pair) for name, asked in answered_of(session)}
        met |= {(name, pair) for pair, names in adjudicators_of(session).items() for name in names}
        if not planned:
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        if not decisions:
            raise MissingInput("no pair is settled yet", hint="`annot status --adjudication` shows the progress")
        found = []
        for name, own in sorted(planned.items()):
            standing = trials.read_assignments(session, HIDDEN, name)
            there = {one.pair for one in standing}
            drawn = draw_hidden(
                name,
                decisions,
                there | own.keys() | known.get(name, {}).keys() | {pair for one, pair in met if one == name},
                {query_id for query_id, _ in own},
                count=round(share * len(own)) - len(there),
                seed=ws.settings.seed,
            )
            trials.add_assignments(session, HIDDEN, assigned(name, drawn, behind=len(standing)))
            found.append(Hidden(name, len(own), len(there) + len(drawn), len(drawn)))
        if dry_run:
            session.rollback()
    return tuple(found)


def report(ws: Workspace) -> TrainingReport:
    """Every assessor in training against the gold grades, from what has been pulled."""
    with ws.reading() as session:
        found, hidden = training_of(ws, session), hidden_gold_of(ws, session)
    if not found and not hidden:
        raise MissingInput("no one is in training", hint="send the first batch with `annot push training`")
    return TrainingReport(ws.settings.agreement.level, {name: TITLES[name] for name in FIGURES}, found, hidden)


def _why(outcome: Outcome, query_id: str, doc_id: str) -> str:
    """What the adjudicator wrote, or that the assessors agreed, with what they wrote."""
    settled = outcome.adjudications.get((query_id, doc_id))
    if settled is not None:
        said = [settled.reason, settled.comment]
    else:
        said = [AGREED, *(one.comment for one in outcome.judgements if one.pair == (query_id, doc_id))]
    return ": ".join(filter(None, said))


def _table(golden: Sequence[Gold]) -> str:
    return write_gold(GoldLine(*one[:4]) for one in golden)
