"""What a letter tells each person: how much they are asked to do, and where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from sqlmodel import Session

from annot.base.records import Asked, Assessor, Judgement
from annot.base.stats.values import Undefined
from annot.judging.progress import settled_of
from annot.judging.trial_answers import TRAIN
from annot.measuring.forecast.hours import HOUR, WHO, Settling, Speed, settling_of, speed_of
from annot.store import pools, projects, trials
from annot.store.projects import Project, read_hidden
from annot.study.outcome import answered_of
from annot.study.snapshot import Snapshot, snapshot_of
from annot.study.workspace import Workspace

UNTIMED_SECONDS = 60.0
"""What a pair is taken to take while none has a time."""
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Workload:
    """What one person has to do in one role."""

    pairs: int
    """Of them all, with those that are done."""
    done: int
    exact: bool
    """Whether these very pairs are given to the person; else it is about so many."""
    seconds: float | None
    """What a pair takes; None where that is not known."""
    timed: bool
    """Whether `seconds` is measured or set; else it is assumed."""

    @property
    def left(self) -> int:
        """Those still to do."""
        return self.pairs - self.done

    @property
    def about(self) -> int:
        """The number of pairs, of which two digits are told."""
        return round(float(f"{self.pairs:.2g}"))

    @property
    def time(self) -> str:
        """For those still to do: `40 minutes`, `1 hour`, `2.5 hours`; empty where it is not known."""
        return "" if self.seconds is None else spoken_time(self.left * self.seconds / HOUR)


def spoken_time(hours: float) -> str:
    """Hours as people say them: to five minutes, from three quarters of an hour on to half an hour.

    >>> spoken_time(0.03), spoken_time(0.6), spoken_time(1.1), spoken_time(2.6)
    ('5 minutes', '35 minutes', '1 hour', '2.5 hours')
    """
    if hours < HALF + HALF / 2:
        return f"{max(5, 5 * round(12 * hours))} minutes"
    halves = round(hours / HALF)
    return "1 hour" if halves == 2 else f"{halves * HALF:g} hours"


Role = Literal["judge", "adjudicate"]
ENOUGH = 20
"""Pairs with all of their judgements from which on it is said how many will be in dispute."""


class Addressee(NamedTuple):
    """One person in one role."""

    person: Assessor
    role: Role
    work: Workload | None
    """None while nothing tells how much it will be."""
    project: Project | None
    """Theirs on the server, once something was sent."""
    training: int
    """Gold pairs that come first, while they are not passed."""
    training_project: Project | None


def addressees(session: Session, ws: Workspace) -> list[Addressee]:
    """Everyone who has not left, once for each role that they have; but nobody whose answers were imported."""
    snapshot = snapshot_of(session, ws)
    imported = _imported(snapshot)
    everyone = [one for one in snapshot.people if one.left_on is None and one.assessor not in imported]
    planned = {assignment.assessor for assignment in snapshot.assignments}
    there = {(one.assessor, one.round): one for one in snapshot.projects if one.remote_id is not None}
    told = []
    for person in everyone:
        name = person.assessor
        if not person.adjudicator or name in planned:
            passed = snapshot.trials.get(f"{TRAIN}/{name}", {}).get("verdict") == "passed"
            training = 0 if passed else len(trials.read_assignments(session, TRAIN, name))
            work = _judging(session, snapshot, person, everyone)
            project, first = there.get((name, "judge")), there.get((name, TRAIN)) if training else None
            told.append(Addressee(person, "judge", work, project, training, first))
        if person.adjudicator:
            project = there.get((name, "adjudicate"))
            told.append(
                Addressee(person, "adjudicate", _settling(session, snapshot, project, everyone), project, 0, None)
            )
    return told


def _imported(snapshot: Snapshot) -> set[str]:
    """Who never had a project here, and has answers."""
    if not snapshot.judged_elsewhere:
        return set()
    answered = {answer.assessor for answer in snapshot.outcome.everything}
    answered |= {settled.adjudicator for settled in snapshot.outcome.adjudications.values()}
    return answered - {project.assessor for project in snapshot.projects}


def _judging(session: Session, snapshot: Snapshot, person: Assessor, everyone: list[Assessor]) -> Workload | None:
    """The pairs that are this person's; before the plan an even share of those in the pools."""
    name, settings = person.assessor, snapshot.ws.settings
    by_assessor: dict[str, list[Judgement]] = {}
    for answer in snapshot.outcome.everything:
        if answer.counts:
            by_assessor.setdefault(answer.assessor, []).append(answer)
    speed = speed_of(by_assessor, fence=settings.forecast.fence, papers=snapshot.papers)
    seconds = speed.mean_of(name) if isinstance(speed, Speed) else UNTIMED_SECONDS
    own = {one.asked for one in snapshot.assignments if one.assessor == name}
    if own:
        own |= {Asked(*pair) for pair in read_hidden(session).get(name, ())}
        own |= {one.asked for one in snapshot.outcome.returned if one.assessor == name}
        probed = {(one.record.assessor, one.record.asked) for one in trials.read_answers(session, "hidden-gold")}
        answered = {asked for who, asked in answered_of(session) | probed if who == name}
        done = len(own & answered)
        return Workload(len(own), done, exact=True, seconds=seconds, timed=isinstance(speed, Speed))
    pairs = sum(map(len, pools.documents_by_query(session).values()))
    if not pairs or snapshot.assignments:
        return None
    judging = [one for one in everyone if not one.adjudicator or settings.adjudication.adjudicator_may_assess]
    share = (person.share or 1.0) / sum(one.share or 1.0 for one in judging)
    asked = pairs * min(1.0, settings.judging.per_pair * share) * (1 + settings.judging.repeats)
    return Workload(round(asked), 0, exact=False, seconds=seconds, timed=isinstance(speed, Speed))


def _settling(
    session: Session, snapshot: Snapshot, project: Project | None, everyone: list[Assessor]
) -> Workload | None:
    """The disputes that were sent to this person; before that an even share of those to come, by those there are."""
    outcome, forecast = snapshot.outcome, snapshot.ws.settings.forecast
    rate = settling_of(
        settled_of(outcome), seconds=forecast.dispute_seconds, fence=forecast.fence, papers=snapshot.papers
    )
    seconds = _seconds(rate)
    if project is not None:
        pairs = {asked.pair for asked in projects.read_tasks(session, project.project)}
        return Workload(len(pairs), len(pairs - set(outcome.open)), exact=True, seconds=seconds, timed=True)
    complete = len(outcome.settlement.agreed) + len(outcome.settlement.disputed)
    if complete < ENOUGH:
        return None
    settling = sum(one.adjudicator for one in everyone)
    expected = len(outcome.settlement.disputed) / complete * len(outcome.planned) / settling
    return Workload(round(expected), 0, exact=False, seconds=seconds, timed=True)


def _seconds(rate: Settling) -> float | None:
    if isinstance(rate, Undefined):
        return None
    return rate if isinstance(rate, float) else rate.means[WHO]
