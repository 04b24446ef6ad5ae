"""Training: gold pairs judged batch by batch, looked at again with the gold grade and why, and who has passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlmodel import Session

from annot.agreement import TITLES
from annot.errors import FindingError, InputError, MissingInput, StudioError
from annot.exchange.collecting import Found, Haul
from annot.exchange.connection import Away, away_finding
from annot.exchange.material import instructions_of, material_of, tasks_of
from annot.exchange.parcels import Parcel, check_parcels
from annot.exchange.recording import Pulled
from annot.exchange.sending import Advance, Sent, push_parcels
from annot.exchange.trials import pull_answers
from annot.formats.gold_file import GoldLine, read_gold, write_gold
from annot.labelstudio.screens import feedback_screen
from annot.labelstudio.tasks import feedback_task
from annot.names import check_name
from annot.records import Asked, Assignment, Judgement
from annot.stats.rounding import rounding
from annot.store import people, projects, trials
from annot.store.database import Store, open_store
from annot.store.projects import Round
from annot.store.queries import read_queries
from annot.store.trials import Gold
from annot.study import guidelines
from annot.study.outcome import Outcome, answered_of, outcome_of
from annot.study.settling import settling_of
from annot.study.trials import (
    FEEDBACK,
    FIGURES,
    TOO_LATE,
    TRAIN,
    Probed,
    Trained,
    by_person,
    current_answers,
    hidden_gold_of,
    on_record,
    training_of,
)
from annot.study.workspace import Workspace, write_file
from annot.trials.hidden_gold import draw_hidden
from annot.trials.sequence import Pair
from annot.trials.training import batches_of, draw_gold, sequence_of

HIDDEN: Round = "hidden-gold"
HINT = "make the gold pairs with `annot train gold`"


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
class Pushed:
    """The projects after a push: the pairs to judge, and those to look at again."""

    batches: tuple[Sent, ...]
    feedback: tuple[Sent, ...]
    notes: tuple[str, ...]
    away: tuple[Away, ...]

    def finding(self) -> FindingError | None:
        """What ends the command where somebody's server could not be asked."""
        return away_finding(self.away, "annot train push")


@dataclass(frozen=True, slots=True)
class Report:
    """All assessors in training."""

    level: float
    titles: dict[str, str]
    assessors: tuple[Trained, ...]
    hidden: tuple[Probed, ...]
    """Those who have hidden gold among their pairs."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """How many settled pairs are hidden among an assessor's own."""

    assessor: str
    pairs: int
    hidden: int
    added: int


def gold(ws: Workspace, file: Path | None, *, dry_run: bool) -> GoldSet:
    """Make the gold pairs: those of `file`, or settled pairs drawn up to as many a facet as annot.toml says.

    They are also written to `training/gold.tsv`. A pair that was sent keeps its grade. Raises InputError where that
    file was edited and not read in, which a draw would write over.
    """
    path = ws.training / "gold.tsv"
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            known = {query.query_id: query for query in read_queries(session)}
            standing = trials.read_gold(session)
            outcome = outcome_of(session, ws.settings)
        if file is None:
            if path.is_file() and path.read_text(encoding="utf-8") != _table(standing):
                raise InputError(
                    f"{path}: changed, and not read in",
                    hint="read it in with `annot train gold training/gold.tsv`, or delete it",
                )
            if not outcome.decisions and not standing:
                raise MissingInput("nothing is settled yet", hint="name a file of gold pairs, or see `annot status`")
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
            raise MissingInput(f"{file}: not there", hint="or let `annot train gold` draw settled pairs")
        else:
            lines = [
                *read_gold(file.read_bytes(), name=str(file), grades=ws.settings.scale.grades, queries=list(known))
            ]
        made = tuple(Gold(*line, position) for position, line in enumerate(lines, start=1))
        # Every text must be there before anybody is sent something.
        material_of(ws, store, {one.pair for one in made})
        if made != standing and not dry_run:
            with store.begin() as session:
                trials.replace_gold(session, made)
        if not dry_run:
            write_file(path, _table(made))
    facets = [known[one.query_id].facet for one in made]
    grades = [one.grade for one in made]
    return GoldSet(
        pairs=len(made),
        by_facet={facet: facets.count(facet) for facet in sorted(set(facets))},
        by_grade={grade: grades.count(grade) for grade in sorted(set(grades))},
        without_reason=sum(not one.why for one in made),
        added=len({one.pair for one in made} - {one.pair for one in standing}),
        path=path,
    )


def push(
    ws: Workspace, *, assessors: Sequence[str], url: str | None, api_key: str | None, dry_run: bool, advance: Advance
) -> Pushed:
    """Send the next batch to everyone whose last one is answered, and the answered ones again with the gold grade.

    assessors: whom to train; none are all who assess. A gold pair that the plan gives to an assessor is not sent to
    them: the gold grade would be known before the pair is judged.
    """
    notes: list[str] = []
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            golden = {one.pair: one for one in trials.read_gold(session)}
            facet_of = {query.query_id: query.facet for query in read_queries(session)}
            everyone = [person for person in people.read_assessors(session) if person.left_on is None]
            answers = by_person(current_answers(session, TRAIN))
            hidden = trials.read_assignments(session, HIDDEN)
            planned = by_person([*people.read_assignments(session), *hidden])
            standing = by_person(trials.read_assignments(session, TRAIN))
        if not golden:
            raise MissingInput("no gold pairs", hint=HINT)
        for name in assessors:
            check_name(name, [person.assessor for person in everyone], what="assessor")
        in_training = assessors or [person.assessor for person in everyone if not person.adjudicator]
        sequences: dict[str, tuple[Pair, ...]] = {}
        for name in sorted({*in_training, *standing}):
            mine = [pair for pair in standing.get(name, {}) if pair in golden]
            free = [pair for pair in golden if pair in mine or pair not in planned.get(name, {})]
            if len(free) < len(golden):
                notes.append(f"{name}: {len(golden) - len(free)} gold pair(s) left out, which the plan gives to {name}")
            sequence = sequence_of(name, free, facet_of, mine, facets=list(ws.settings.facets), seed=ws.settings.seed)
            if sequence:
                sequences[name] = sequence
        if not dry_run:
            with store.begin() as session:
                trials.replace_assignments(session, TRAIN, _assignments(sequences))
        present = {person.assessor for person in everyone}
        still_here = {name: sequence for name, sequence in sequences.items() if name in present}
        parcels, again = _parcels(ws, store, still_here, golden, facet_of, answers)
        check_parcels(ws, store, parcels, round=TRAIN)
        check_parcels(ws, store, again, round=FEEDBACK)
        send: dict[str, Any] = {"url": url, "api_key": api_key, "dry_run": dry_run, "advance": advance, "checked": True}
        batches = push_parcels(ws, store, parcels, round=TRAIN, **send)
        again = [parcel for parcel in again if parcel.assessor not in {one.assessor for one in batches.away}]
        if not dry_run:
            # Noted before it can be seen: from now on an answer that changes has come too late.
            with store.begin() as session:
                for parcel in again:
                    shown = sorted(asked.pair for asked in parcel.tasks)
                    trials.put_trial(session, f"{FEEDBACK}/{parcel.assessor}", {"pairs": shown})
        feedback = push_parcels(ws, store, again, round=FEEDBACK, **send).projects if again else ()
    return Pushed(batches.projects, feedback, (*notes, *batches.notes), batches.away)


def pull(ws: Workspace, *, url: str | None, api_key: str | None, advance: Advance) -> Pulled:
    """Bring back the answers, and what was written on looking at them again; note down who has passed."""
    hint = "send the first batch with `annot train push`"
    with open_store(ws.database_url, create=False) as store:
        server: dict[str, Any] = {"url": url, "api_key": api_key, "advance": advance}
        pulled = pull_answers(ws, store, TRAIN, hint=hint, source_of=_in_time, **server)
        with store.read() as session:
            sent = any(
                projects.read_tasks(session, project.project)
                for project in projects.read_projects(session, round=FEEDBACK)
            )
        if sent:
            try:
                pull_answers(ws, store, FEEDBACK, hint=hint, **server)
            except StudioError:
                # Whose server was away a moment ago is told already.
                if not pulled.away:
                    raise
        notes = list(pulled.notes)
        with store.begin() as session:
            for trained in training_of(ws, session):
                trials.put_trial(session, f"{TRAIN}/{trained.assessor}", on_record(trained))
                if trained.changed_too_late:
                    notes.append(
                        f"{trained.assessor}: {trained.changed_too_late} answer(s) changed after the gold grade was "
                        "shown; the earlier ones count"
                    )
    return Pulled(pulled.assessors, tuple(notes), away=pulled.away)


@rounding
def report(ws: Workspace) -> Report:
    """Every assessor in training against the gold grades, from what has been pulled."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        found, hidden = training_of(ws, session), hidden_gold_of(ws, session)
    if not found and not hidden:
        raise MissingInput("nobody is in training", hint="send the first batch with `annot train push`")
    return Report(ws.settings.agreement.level, {name: TITLES[name] for name in FIGURES}, found, hidden)


def hide(ws: Workspace, *, share: float, dry_run: bool) -> tuple[Hidden, ...]:
    """Hide settled pairs among everyone's own, up to that share of their pairs; what is hidden already stays.

    Nobody gets a pair that the plan or the training gives them. `annot push` sends them with the others.
    """
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        decisions = outcome_of(session, ws.settings).decisions
        left = {person.assessor for person in people.read_assessors(session) if person.left_on is not None}
        planned = by_person(one for one in people.read_assignments(session) if one.assessor not in left)
        known = by_person(trials.read_assignments(session, TRAIN))
        # Whoever has judged or settled a pair knows it, whatever the plan says by now.
        met = {(name, asked.pair) for name, asked in answered_of(session)}
        met |= {(name, pair) for pair, names in settling_of(session).items() for name in names}
        if not planned:
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        if not decisions:
            raise MissingInput("nothing is settled yet", hint="see `annot adjudicate status`")
        found = []
        for name, own in sorted(planned.items()):
            standing = trials.read_assignments(session, HIDDEN, name)
            there = {one.asked.pair for one in standing}
            drawn = draw_hidden(
                name,
                decisions,
                there | own.keys() | known.get(name, {}).keys() | {pair for one, pair in met if one == name},
                {query_id for query_id, _ in own},
                count=round(share * len(own)) - len(there),
                seed=ws.settings.seed,
            )
            numbered = enumerate(drawn, start=len(standing) + 1)
            trials.add_assignments(session, HIDDEN, [Assignment(*pair, name, position) for position, pair in numbered])
            found.append(Hidden(name, len(own), len(there) + len(drawn), len(drawn)))
        if dry_run:
            session.rollback()
    return tuple(found)


def describe_gold(made: GoldSet) -> str:
    """The gold pairs as text for the terminal."""
    from annot.report.terminal import aligned

    def listed(counts: Mapping[Any, int]) -> str:
        return ", ".join(f"{name}: {count}" for name, count in counts.items())

    rows = [
        ("gold pairs", f"{made.pairs}, {made.added} of them new"),
        ("by facet", listed(made.by_facet)),
        ("by grade", listed(made.by_grade)),
        ("file", made.path),
    ]
    return aligned(rows)


def describe(found: Report) -> str:
    """The report as text for the terminal."""
    from annot.report.terminal import told

    return told("training", found=found)


def _parcels(
    ws: Workspace,
    store: Store,
    sequences: Mapping[str, Sequence[Pair]],
    golden: Mapping[Pair, Gold],
    facet_of: Mapping[str, str],
    answers: Mapping[str, Mapping[Pair, Judgement]],
) -> tuple[list[Parcel], list[Parcel]]:
    """What everyone is to judge, up to the first batch not answered; and the answered ones with gold and why."""
    names, labels = ws.settings.scale.names, ws.settings.labels.names
    material = material_of(ws, store, set(golden))
    language, overrides = ws.settings.collection.language, ws.root / "templates"
    looking = feedback_screen(scale_names=names, labels=labels, language=language, overrides=overrides)
    first = [guidelines.page(ws, "training")]
    judging, again = [], []
    for name, sequence in sequences.items():
        tasks = tasks_of(ws, material, [Asked(*pair) for pair in sequence])
        done = {pair: one for pair, one in answers.get(name, {}).items() if one.counts}
        sent: list[Pair] = []
        shown: list[Pair] = []
        for batch in batches_of(sequence, facet_of):
            sent += batch
            if not all(pair in done for pair in batch):
                break
            shown += batch
        instructions = instructions_of(ws, material, adjudication=False)
        first_ones = {Asked(*pair): tasks[Asked(*pair)] for pair in sent}
        judging.append(Parcel(name, guidelines.screen(ws), instructions, first_ones, whole=tuple(tasks)))
        if shown:
            with_gold = {
                Asked(*pair): feedback_task(
                    tasks[Asked(*pair)], done[pair], gold=golden[pair].grade, why=golden[pair].why, scale_names=names
                )
                for pair in shown
            }
            before = instructions_of(ws, material, adjudication=False, first=first)
            again.append(Parcel(name, looking, before, with_gold))
    return judging, again


def _in_time(session: Session, haul: Haul) -> Callable[[Found], str]:
    """An answer that stood when its gold grade could be seen stays; another one in its place is too late."""
    name = haul.project.assessor
    facts = trials.read_trial(session, f"{FEEDBACK}/{name}") or {"pairs": []}
    shown = {tuple(pair) for pair in facts["pairs"]}
    standing = by_person(current_answers(session, TRAIN)).get(name, {})

    def source(found: Found) -> str:
        before = standing.get(found.asked.pair)
        if found.asked.pair not in shown or before is None:
            return TRAIN
        same = (before.grade, before.cannot_judge, before.flags)
        return TRAIN if same == (found.reading.grade, found.reading.cannot_judge, found.reading.flags) else TOO_LATE

    return source


def _assignments(sequences: Mapping[str, Sequence[Pair]]) -> list[Assignment]:
    return [
        Assignment(*pair, name, position)
        for name, sequence in sequences.items()
        for position, pair in enumerate(sequence, start=1)
    ]


def _why(outcome: Outcome, query_id: str, doc_id: str) -> str:
    """What the adjudicator wrote, or that the assessors agreed, with what they wrote."""
    settled = outcome.adjudications.get((query_id, doc_id))
    if settled is not None:
        said = [settled.reason, settled.comment]
    else:
        said = [
            "the assessors agreed",
            *(one.comment for one in outcome.judgements if (one.query_id, one.doc_id) == (query_id, doc_id)),
        ]
    return ": ".join(filter(None, said))


def _table(golden: Sequence[Gold]) -> str:
    return write_gold(GoldLine(*one[:4]) for one in golden)
