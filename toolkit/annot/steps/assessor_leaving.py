"""People leave: their open pairs go to others, what they answered stays with them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlmodel import Session

from annot.base.errors import InputError, StudioError
from annot.base.names import check_name, counted, moment_now
from annot.base.records import Asked, Assessor
from annot.judging.exchange.servers import connect
from annot.judging.plan_on_record import adjudicators_of, plan_sha256, record_plan, write_plan
from annot.judging.planning.handing_on import PlanHandedOn, hand_on
from annot.judging.rounds.judging import unpulled
from annot.publishing.report.tables import Column, Columns
from annot.store import judgements, people, projects
from annot.store.projects import read_hidden
from annot.study.judged_texts import set_aside_of
from annot.study.outcome import answered_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Received:
    """How many pairs one person got."""

    assessor: str
    pairs: int


RECEIVED = Columns[Received](
    [Column("assessor", lambda one: one.assessor)], [Column("pairs received", lambda one: one.pairs)]
)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A pair that the successor could not take, and who has it."""

    query_id: str
    doc_id: str
    assessor: str


@dataclass(frozen=True, slots=True)
class Left:
    """What became of a person's pairs."""

    assessor: str
    successor: str | None
    open: int
    """Pairs that the person had not answered."""
    kept: int
    """Pairs that the person has answered, and keeps."""
    received: tuple[Received, ...]
    elsewhere: tuple[Elsewhere, ...]
    """The pairs that the successor could not take and another person took."""
    unassigned: tuple[tuple[str, str], ...]
    """(query_id, doc_id) of the pairs that no one could take."""
    returned: tuple[tuple[str, str], ...]
    """(query_id, doc_id) of the pairs that were put before the person again and that they had not answered."""
    contested: bool
    """Whether an adjudicator decides on these; otherwise they have again the decision that they had."""
    repeats_gone: int
    to_withdraw: int
    """Tasks on the server that the next push withdraws."""
    sha256: str


def leave(ws: Workspace, leaver: str, *, successor: str | None, contest: bool, offline: bool, dry_run: bool) -> Left:
    """Take a person out of the study. Their open pairs go to the successor, or are spread evenly over the others.

    contest: pairs that were put before the person again, and that they have not answered, go to an adjudicator;
    otherwise their first answer counts as before. offline: do not ask the server whether the person has answered more
    than was pulled. Raises InputError if they have, and for people whom the study does not have or who left.
    """
    with ws.reading() as session:
        everyone = {person.assessor: person for person in people.read_assessors(session)}
    _check(ws, everyone, leaver, successor)
    if not offline:
        _refuse_unpulled(ws, leaver)
    with ws.writing() as session:
        found = _handed_on(ws, session, everyone, leaver, successor)
        answered, aside = answered_of(session), {asked.pair for name, asked in set_aside_of(session) if name == leaver}
        sent = projects.read_sent(session).get(leaver, set())
        back = [
            one
            for one in judgements.read_returned(session)
            if one.assessor == leaver and one.withdrawn_at is None and (leaver, one.asked) not in answered
        ]
        if dry_run:
            session.rollback()
        else:
            now = moment_now()
            if everyone[leaver].left_on is None:
                people.set_left(session, leaver, now)
            for one in back:
                # Where a text was corrected, the first answer does not count, and another person gets the pair.
                contested = contest and one.pair not in aside
                judgements.withdraw_returned(session, one, withdrawn_at=now, contested=contested)
            if found.given_up:
                record_plan(ws, session, found.plan, handed_on=found.given_up)
    if found.given_up and not dry_run:
        write_plan(ws, found.plan)
    received = Counter(name for name in found.moved.values() if name is not None)
    kept = {one.asked for one in found.plan if one.assessor == leaver}
    return Left(
        assessor=leaver,
        successor=successor,
        open=len(found.moved),
        kept=sum(asked.occasion == 1 for asked in kept),
        received=tuple(Received(name, count) for name, count in sorted(received.items())),
        elsewhere=tuple(
            Elsewhere(*pair, name)
            for pair, name in found.moved.items()
            if successor is not None and name is not None and name != successor
        ),
        unassigned=tuple(pair for pair, name in found.moved.items() if name is None),
        returned=tuple(one.pair for one in back),
        contested=contest,
        repeats_gone=found.repeats_gone,
        to_withdraw=sum(asked not in kept and (leaver, asked) not in answered for asked in sent),
        sha256=plan_sha256(found.plan),
    )


def _check(ws: Workspace, everyone: dict[str, Assessor], leaver: str, successor: str | None) -> None:
    check_name(leaver, tuple(everyone), what="assessor")
    if successor is None:
        return
    check_name(successor, tuple(everyone), what="--to")
    person = everyone[successor]
    if successor == leaver:
        raise InputError(f"--to {successor}: found the person who leaves, expected another")
    if person.left_on is not None:
        raise InputError(f"--to {successor}: has also left", hint="`annot assessor add` brings a person back")
    if person.adjudicator and not ws.settings.adjudication.adjudicator_may_assess:
        raise InputError(
            f"--to {successor}: an adjudicator, expected an assessor",
            hint="name an assessor, or set adjudicator_may_assess = true in annot.toml",
        )


def _refuse_unpulled(ws: Workspace, leaver: str) -> None:
    """Raise InputError if the person has answered pairs that would go to others, because they are not pulled yet."""
    with ws.reading() as session:
        recorded = {one.asked for one in judgements.read_judgements(session) if one.assessor == leaver}
        sent = [
            (project, tasks)
            for project in projects.read_projects(session, round="judge")
            if project.assessor == leaver and project.remote_id is not None
            if (tasks := projects.read_tasks(session, project.project))
        ]
        # Hidden gold pairs are not passed on.
        hidden = read_hidden(session).get(leaver, ())
        sent = [
            (project, {asked: task for asked, task in tasks.items() if asked.pair not in hidden})
            for project, tasks in sent
        ]
    if not sent:
        return
    hint = "--offline continues without asking, but pairs answered since the last `annot pull` then go to others, too"
    try:
        with connect(ws, person=leaver) as gateway:
            server = gateway.identity()
            here = [(project, tasks) for project, tasks in sent if project.server == server]
            if not here:
                raise InputError(
                    f"the tasks of {leaver} are on {sent[0][0].url}, not on {gateway.url}",
                    hint=f"name that server with --url; {hint}",
                )
            waiting: list[Asked] = [
                asked for project, tasks in here for asked in unpulled(gateway, project, tasks, recorded)
            ]
    except StudioError as error:
        raise StudioError(error.message, faults=error.faults, hint=f"{error.hint or ''}; {hint}".lstrip("; ")) from None
    if waiting:
        raise InputError(
            f"{counted(len(waiting), 'answer')} of {leaver} not pulled yet",
            hint="run `annot pull` first, so that these pairs stay with the person",
        )


def _handed_on(
    ws: Workspace, session: Session, everyone: dict[str, Assessor], leaver: str, successor: str | None
) -> PlanHandedOn:
    plan = people.read_assignments(session)
    answered = answered_of(session) - set_aside_of(session)
    may_assess = ws.settings.adjudication.adjudicator_may_assess
    others = [
        name
        for name, person in everyone.items()
        if name != leaver and person.left_on is None and (may_assess or not person.adjudicator)
    ]
    return hand_on(
        plan,
        leaver=leaver,
        answered={asked for name, asked in answered if name == leaver},
        successor=successor,
        others=others,
        together=ws.settings.judging.assignment == "per-query",
        open_loads=Counter(one.assessor for one in plan if (one.assessor, one.asked) not in answered),
        shares={name: person.share for name, person in everyone.items() if person.share is not None},
        barred=adjudicators_of(session),
    )
