"""What both rounds share: a project for each person, its tasks sent and remembered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlmodel import Session

from annot.errors import FindingError
from annot.exchange.connection import connect
from annot.exchange.locating import Twins, locate, marker_of, remove_twins
from annot.labelstudio.delivery import behind, deliver
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.screens import check_predictions
from annot.labelstudio.studio_records import ProjectSpec, StudioTask
from annot.labelstudio.task_lint import Screen, lint_tasks
from annot.labelstudio.tasks import opinions_in, pair_key
from annot.records import Asked
from annot.store import people, projects, trials
from annot.store.adjudications import ADJUDICATIONS
from annot.store.database import Store
from annot.store.hidden_gold import read_hidden
from annot.store.judgements import JUDGEMENTS
from annot.store.projects import Project, Round
from annot.store.returned import read_returned
from annot.study.workspace import Workspace

Advance = Callable[[int, int | None], None]

TITLE_LONGEST = 50
COLORS: dict[Round, str] = {
    "judge": "#617ADA",
    "adjudicate": "#B5651D",
    "train": "#2E7D32",
    "train-feedback": "#2E7D32",
    "substudy-abstract": "#6A4C93",
    "substudy-full": "#6A4C93",
    "hidden-gold": "#617ADA",
}
TITLES: dict[Round, str] = {
    "judge": "judging",
    "adjudicate": "adjudication",
    "train": "training",
    "train-feedback": "training, gold grades",
    "substudy-abstract": "sub-study, abstracts",
    "substudy-full": "sub-study, full texts",
    "hidden-gold": "judging",
}
PUSHES: dict[Round, str] = {
    "judge": "annot push",
    "adjudicate": "annot adjudicate push",
    "train": "annot train push",
    "train-feedback": "annot train push",
    "substudy-abstract": "annot substudy push --view abstract",
    "substudy-full": "annot substudy push --view full",
    "hidden-gold": "annot push",
}
"""The command that sends the tasks of a round."""
SCREENS: dict[Round, Screen] = {
    "judge": "judge",
    "adjudicate": "adjudicate",
    "train": "judge",
    "train-feedback": "feedback",
    "substudy-abstract": "judge",
    "substudy-full": "full-text",
    "hidden-gold": "judge",
}
"""Which form the tasks of a round must have."""
ANSWERS: dict[Round, Any] = {"judge": JUDGEMENTS, "adjudicate": ADJUDICATIONS}
"""Where the answers of the rounds that make the collection are on record."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One person's project after a push."""

    assessor: str
    planned: int
    there: int
    """Tasks that were there already."""
    sent: int
    withdrawn: int
    """Tasks nobody had answered that are gone, because what they showed or asked for no longer holds."""
    known: int
    """Tasks that are not on the server and are not sent, because their answers are on record and count."""
    address: str
    """The link to give to the person."""
    updated: int = 0
    """Unanswered tasks that were there and showed another place in the person's order."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """The projects after a push, and what a person should know."""

    projects: tuple[Sent, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parcel:
    """What one person is to find in their project, in their order."""

    assessor: str
    label_config: str
    instructions: str
    tasks: Mapping[Asked, dict[str, Any]]
    """By what each task asks."""


def push_parcels(
    ws: Workspace,
    store: Store,
    parcels: Sequence[Parcel],
    *,
    round: Round,
    url: str | None,
    api_key: str | None,
    dry_run: bool,
    advance: Advance,
    checked: bool = False,
) -> Pushed:
    """Check every parcel and bring it to its project. With `dry_run` all is checked, and nothing is sent.

    checked: `check_parcels` has passed these parcels.
    """
    if not checked:
        check_parcels(ws, store, parcels, round=round)
    if dry_run:
        return Pushed(tuple(Sent(parcel.assessor, len(parcel.tasks), 0, 0, 0, 0, "not sent") for parcel in parcels))
    with connect(ws, url=url, api_key=api_key) as gateway:
        return _send(ws, store, gateway, parcels, round=round, advance=advance)


def check_parcels(ws: Workspace, store: Store, parcels: Iterable[Parcel], *, round: Round) -> None:
    """Prove, before anything is sent, that no task carries what it must not and that predictions fit the screen."""
    with store.read() as session:
        everyone = people.read_assessors(session)
    private = {*ws.settings.pool.methods, *(person.assessor for person in everyone)}
    private |= {person.account for person in everyone if person.account is not None}
    for parcel in parcels:
        tasks = list(parcel.tasks.values())
        lint_tasks(tasks, screen=SCREENS[round], labels=ws.settings.labels.names, private=private)
        check_predictions(parcel.label_config, tasks)


def _send(
    ws: Workspace, store: Store, gateway: Gateway, parcels: Sequence[Parcel], *, round: Round, advance: Advance
) -> Pushed:
    """Bring every parcel to its project, each task once, and remember the server's ids.

    People without an account on the server are named and wait. Raises FindingError, before anything is sent, when
    nobody has one.
    """
    accounts, waiting = _accounts(store, gateway, [parcel.assessor for parcel in parcels], push=PUSHES[round])
    parcels = [parcel for parcel in parcels if parcel.assessor in accounts]
    server, version = gateway.identity(), gateway.version()
    more = counting(advance, total=sum(len(parcel.tasks) for parcel in parcels))
    sent: list[Sent] = []
    notes = list(waiting)
    for parcel in parcels:
        with store.begin() as session:
            project = projects.open_project(
                session,
                round=round,
                assessor=parcel.assessor,
                server=server,
                url=gateway.url,
                version=version,
                account_id=accounts[parcel.assessor],
                now=datetime.now(UTC).isoformat(timespec="seconds"),
            )
            own = own_tasks(session, round, parcel.assessor)
            answered = _answered(session, round, parcel.assessor)
            noted = projects.read_tasks(session, project.project)
        remote_id, twins = _project(store, gateway, _spec(ws, parcel, round), project, own)
        tasks = list(parcel.tasks.values())
        listed = gateway.tasks_of(remote_id)
        stale = _stale(round, listed, parcel, own, noted)
        delivery = deliver(gateway, remote_id, tasks, listed=listed, answered=answered, stale=stale, advance=more)
        ids = {asked: task_id for asked in parcel.tasks if (task_id := delivery.task_ids.get(pair_key(*asked)))}
        with store.begin() as session:
            projects.renew_tasks(session, project.project, parcel.tasks, ids)
            if round == "adjudicate":
                # All that are not there, not only these: a kill may have come between deleting and forgetting.
                staying = {task.key for task in listed} - {task.key for task in stale}
                ended = noted.keys() - parcel.tasks.keys()
                projects.forget_tasks(session, project.project, [one for one in ended if pair_key(*one) not in staying])
        address = gateway.labelling_url(remote_id)
        planned = len(parcel.tasks)
        withdrawn = len(stale) if round == "adjudicate" else 0
        # A dispute that others have opened anew is another one; a pair that moved in the order is the same.
        new, updated = delivery.sent, delivery.updated
        new, updated = (new, updated + delivery.renewed) if round == "judge" else (new + delivery.renewed, updated)
        there = planned - new - delivery.spared
        sent.append(Sent(parcel.assessor, planned, there, new, withdrawn, delivery.spared, address, updated))
        if delivery.spared:
            notes.append(
                f"{parcel.assessor}: {delivery.spared} task(s) that are not on the server are not sent: their answers "
                "are on record and count, and nobody is asked twice"
            )
        if delivery.removed:
            notes.append(
                f"{parcel.assessor}: {delivery.removed} of them stood on the server unanswered and are deleted there: "
                "the server has an earlier state than the record, as after a restore from a backup"
            )
        notes += twins.notes(parcel.assessor)
    return Pushed(tuple(sent), tuple(notes))


def _answered(session: Session, round: Round, assessor: str) -> dict[str, str]:
    """Of each task whose answer is on record and counts, by its key, when that was last changed."""
    lines = list(ANSWERS[round].lines(session, person=assessor)) if round in ANSWERS else []
    lines += trials.read_lines(session, "hidden-gold" if round == "judge" else round, assessor)
    return {
        pair_key(*line.stands.record.asked): line.stands.changed_at or line.stands.record.judged_at or ""
        for line in lines
        if line.counts
    }


def counting(advance: Advance, *, total: int) -> Callable[[int], None]:
    """A progress that is told how many more are done."""
    done = 0

    def more(count: int) -> None:
        nonlocal done
        done += count
        advance(done, total)

    return more


def own_tasks(session: Session, round: Round, assessor: str) -> dict[str, Asked]:
    """What may stand in a person's project, by its key on the server.

    For an assessor that is also every pair that was ever returned to them, taken back or not. For an adjudicator it is
    every planned pair: a dispute may end, and its task stays where it has an answer.
    """
    if round == "judge":
        asked = {assignment.asked for assignment in people.read_assignments(session, assessor)}
        asked |= {returned.asked for returned in read_returned(session) if returned.assessor == assessor}
        asked |= {Asked(*pair) for pair in read_hidden(session).get(assessor, ())}
    elif round == "adjudicate":
        asked = {Asked(assignment.query_id, assignment.doc_id) for assignment in people.read_assignments(session)}
    else:
        asked = {assignment.asked for assignment in trials.read_assignments(session, round, assessor)}
    return {pair_key(*pair): pair for pair in asked}


def _accounts(
    store: Store, gateway: Gateway, names: Sequence[str], *, push: str
) -> tuple[dict[str, int], tuple[str, ...]]:
    """The server's id of the account of each person who has one, and a note on each who has not.

    Raises FindingError naming them when nobody has one.
    """
    with store.read() as session:
        accounts = {person.assessor: person.account for person in people.read_assessors(session)}
    by_address = gateway.user_ids()
    found = {}
    faults = []
    for name in names:
        address = accounts.get(name)
        if address is None:
            faults.append(f"{name}: has no account; give one with `annot assessor add {name} --account EMAIL`")
        elif address.lower() not in by_address:
            faults.append(f"{name}: the server has no such account; let the person sign up at {gateway.url}")
        else:
            found[name] = by_address[address.lower()]
    if faults and not found:
        raise FindingError(f"{len(faults)} person(s) cannot open {gateway.url}", faults=faults)
    return found, tuple(f"{fault}, then run `{push}` again" for fault in faults)


def _spec(ws: Workspace, parcel: Parcel, round: Round) -> ProjectSpec:
    name = ws.settings.collection.name
    title = f"{name} · {TITLES[round]} · {parcel.assessor}"
    if len(title) > TITLE_LONGEST:
        title = f"{TITLES[round]} · {parcel.assessor}"
    return ProjectSpec(
        marker=marker_of(name, round, parcel.assessor),
        title=title,
        description=f"{ws.settings.collection.title}. For {parcel.assessor} alone.",
        label_config=parcel.label_config,
        instructions=parcel.instructions,
        color=COLORS[round],
    )


def _project(
    store: Store, gateway: Gateway, spec: ProjectSpec, known: Project, own: Mapping[str, Asked]
) -> tuple[int, Twins]:
    """The id of the project as `spec` says, brought up to date or made; and the twins that it had."""
    found = locate(gateway, known, marker=spec.marker, own=own)
    if found is None:
        found = gateway.project(gateway.create_project(spec))
        assert found is not None
    else:
        gateway.update_project(found.project_id, spec)
    with store.begin() as session:
        projects.set_remote_project(session, known.project, found.project_id, created=found.created)
    return found.project_id, remove_twins(gateway, found.project_id, marker=spec.marker)


def _stale(
    round: Round,
    listed: Sequence[StudioTask],
    parcel: Parcel,
    own: Mapping[str, Asked],
    noted: Collection[Asked],
) -> list[StudioTask]:
    """Unanswered tasks that have to go, and where they are still asked, to be sent again.

    Of judging those that stand before what comes earlier; of disputes those that are none any more, and those whose
    opinions have changed.
    """
    if round == "judge":
        new = {pair_key(*asked) for asked in parcel.tasks if asked not in noted}
        return behind(listed, list(parcel.tasks.values()), new=new)
    if round != "adjudicate":
        return []
    shown = {pair_key(*asked): opinions_in(task["data"]) for asked, task in parcel.tasks.items()}
    return [
        task
        for task in listed
        if task.key in own and not task.annotations and shown.get(task.key or "") != opinions_in(task.data)
    ]
