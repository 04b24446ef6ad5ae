"""Training: gold pairs judged batch by batch, looked at again with the gold grade and why, and who has passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from annot.base.errors import FindingError, MissingInput, StudioError
from annot.base.names import check_name
from annot.base.records import Advance, Asked, Judgement
from annot.judging.exchange.collecting import Found, Haul
from annot.judging.exchange.connection import Away, away_finding
from annot.judging.exchange.material import instructions_of, material_of, tasks_of
from annot.judging.exchange.parcels import Parcel, check_parcels
from annot.judging.exchange.recording import Pulled
from annot.judging.exchange.sending import Sent, push_parcels
from annot.judging.exchange.trials import pull_answers
from annot.judging.trial_answers import (
    FEEDBACK,
    FIGURES,
    HIDDEN,
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
from annot.judging.trials.sequence import Pair, assigned
from annot.judging.trials.training import batches_of, sequence_of
from annot.labelstudio.tasks import feedback_task
from annot.measuring.agreement.coefficients import TITLES
from annot.store import people, projects, trials
from annot.store.database import Store, open_store
from annot.store.queries import read_queries
from annot.store.trials import Gold
from annot.study import guidelines
from annot.study.workspace import Workspace

HINT = "make the gold pairs with `annot train gold`"


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


def push(ws: Workspace, *, assessors: Sequence[str], dry_run: bool, advance: Advance) -> Pushed:
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
                given = [one for name, sequence in sequences.items() for one in assigned(name, sequence)]
                trials.replace_assignments(session, TRAIN, given)
        present = {person.assessor for person in everyone}
        still_here = {name: sequence for name, sequence in sequences.items() if name in present}
        parcels, again = _parcels(ws, store, still_here, golden, facet_of, answers)
        check_parcels(ws, store, parcels, round=TRAIN)
        check_parcels(ws, store, again, round=FEEDBACK)
        send: dict[str, Any] = {"dry_run": dry_run, "advance": advance, "checked": True}
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


def pull(ws: Workspace, *, advance: Advance) -> Pulled:
    """Bring back the answers, and what was written on looking at them again; note down who has passed."""
    hint = "send the first batch with `annot train push`"
    with open_store(ws.database_url, create=False) as store:
        pulled = pull_answers(ws, store, TRAIN, hint=hint, source_of=_in_time, advance=advance)
        with store.read() as session:
            sent = any(
                projects.read_tasks(session, project.project)
                for project in projects.read_projects(session, round=FEEDBACK)
            )
        if sent:
            try:
                pull_answers(ws, store, FEEDBACK, hint=hint, advance=advance)
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


def report(ws: Workspace) -> Report:
    """Every assessor in training against the gold grades, from what has been pulled."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        found, hidden = training_of(ws, session), hidden_gold_of(ws, session)
    if not found and not hidden:
        raise MissingInput("nobody is in training", hint="send the first batch with `annot train push`")
    return Report(ws.settings.agreement.level, {name: TITLES[name] for name in FIGURES}, found, hidden)


def _parcels(
    ws: Workspace,
    store: Store,
    sequences: Mapping[str, Sequence[Pair]],
    golden: Mapping[Pair, Gold],
    facet_of: Mapping[str, str],
    answers: Mapping[str, Mapping[Pair, Judgement]],
) -> tuple[list[Parcel], list[Parcel]]:
    """What everyone is to judge, up to the first batch not answered; and the answered ones with gold and why."""
    material = material_of(ws, store, set(golden))
    judging, again = [], []
    for name, sequence in sequences.items():
        tasks = tasks_of(ws, material, [Asked(*pair) for pair in sequence])
        done = {Asked(*pair): one for pair, one in answers.get(name, {}).items() if one.counts}
        sent: dict[Asked, dict[str, Any]] = {}
        shown: dict[Asked, dict[str, Any]] = {}
        for batch in batches_of(sequence, facet_of):
            own = {Asked(*pair): tasks[Asked(*pair)] for pair in batch}
            sent |= own
            if not own.keys() <= done.keys():
                break
            for asked, task in own.items():
                gold = golden[asked.pair]
                shown[asked] = feedback_task(
                    task, done[asked], gold=gold.grade, why=gold.why, scale_names=ws.settings.scale.names
                )
        before = instructions_of(ws, material, screen="judge")
        judging.append(Parcel(name, guidelines.screen(ws), before, sent, whole=tuple(tasks)))
        if shown:
            before = instructions_of(ws, material, screen="feedback")
            again.append(Parcel(name, guidelines.screen(ws, "feedback"), before, shown))
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
