"""What both rounds share: a project for each person, its tasks sent and remembered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from annot.errors import InputError, StudioError
from annot.exchange.connection import connect
from annot.labelstudio.delivery import deliver
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.screens import check_predictions
from annot.labelstudio.studio_records import ProjectSpec
from annot.labelstudio.task_lint import Screen, lint_tasks
from annot.labelstudio.tasks import opinions_in, pair_key
from annot.records import Asked
from annot.store import people, projects, trials
from annot.store.database import Store
from annot.store.projects import Project, Round
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
    address: str
    """The link to give to the person."""


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
) -> tuple[Sent, ...]:
    """Check every parcel and bring it to its project. With `dry_run` all is checked, and nothing is sent."""
    _check(ws, store, parcels, screen=SCREENS[round])
    if dry_run:
        return tuple(Sent(parcel.assessor, len(parcel.tasks), 0, 0, 0, "not sent") for parcel in parcels)
    with connect(ws, url=url, api_key=api_key) as gateway:
        return _send(ws, store, gateway, parcels, round=round, advance=advance)


def _check(ws: Workspace, store: Store, parcels: Iterable[Parcel], *, screen: Screen) -> None:
    """Prove, before anything is sent, that no task carries what it must not and that predictions fit the screen."""
    with store.read() as session:
        everyone = people.read_assessors(session)
    private = {*ws.settings.pool.methods, *(person.assessor for person in everyone)}
    private |= {person.account for person in everyone if person.account is not None}
    for parcel in parcels:
        tasks = list(parcel.tasks.values())
        lint_tasks(tasks, screen=screen, labels=ws.settings.labels.names, private=private)
        check_predictions(parcel.label_config, tasks)


def _send(
    ws: Workspace, store: Store, gateway: Gateway, parcels: Sequence[Parcel], *, round: Round, advance: Advance
) -> tuple[Sent, ...]:
    """Bring every parcel to its project, each task once, and remember the server's ids.

    Raises InputError, before anything is sent, for people without an account on the server.
    """
    accounts = _accounts(store, gateway, [parcel.assessor for parcel in parcels])
    server, version = gateway.identity(), gateway.version()
    more = counting(advance, total=sum(len(parcel.tasks) for parcel in parcels))
    sent = []
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
            )
            own = own_tasks(session, round, parcel.assessor)
        remote_id = _project(gateway, _spec(ws, parcel, round), project, own)
        with store.begin() as session:
            projects.set_remote_project(session, project.project, remote_id)
        withdrawn = _withdraw(store, gateway, project, remote_id, parcel, own) if round == "adjudicate" else 0
        delivery = deliver(gateway, remote_id, list(parcel.tasks.values()), advance=more)
        ids = {asked: delivery.task_ids[pair_key(*asked)] for asked in parcel.tasks}
        with store.begin() as session:
            projects.record_tasks(session, project.project, ids)
        address = gateway.labelling_url(remote_id)
        planned = len(parcel.tasks)
        sent.append(Sent(parcel.assessor, planned, planned - delivery.sent, delivery.sent, withdrawn, address))
    return tuple(sent)


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

    For an adjudicator that is every planned pair: a dispute may end, and its task stays where it has an answer.
    """
    if round == "judge":
        asked = {assignment.asked for assignment in people.read_assignments(session, assessor)}
        asked |= {Asked(*pair) for pair in trials.hidden_gold(session, assessor)}
    elif round == "adjudicate":
        asked = {Asked(assignment.query_id, assignment.doc_id) for assignment in people.read_assignments(session)}
    else:
        asked = {assignment.asked for assignment in trials.read_assignments(session, round, assessor)}
    return {pair_key(*pair): pair for pair in asked}


def _accounts(store: Store, gateway: Gateway, names: Iterable[str]) -> dict[str, int]:
    """The server's id of each person's account. Raises InputError naming those without an account."""
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
    if faults:
        raise InputError(f"{len(faults)} person(s) cannot open {gateway.url}", faults=faults)
    return found


def _spec(ws: Workspace, parcel: Parcel, round: Round) -> ProjectSpec:
    name = ws.settings.collection.name
    title = f"{name} · {TITLES[round]} · {parcel.assessor}"
    if len(title) > TITLE_LONGEST:
        title = f"{TITLES[round]} · {parcel.assessor}"
    return ProjectSpec(
        marker=f"{_word(name)}/{round}/{parcel.assessor}",
        title=title,
        description=f"{ws.settings.collection.title}. For {parcel.assessor} alone.",
        label_config=parcel.label_config,
        instructions=parcel.instructions,
        color=COLORS[round],
    )


def _word(name: str) -> str:
    """The collection's name as one word; where letters had to go, a hash keeps two names apart."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _project(gateway: Gateway, spec: ProjectSpec, known: Project, own: Mapping[str, Asked]) -> int:
    """The id of the project as `spec` says: found by its marker and brought up to date, or made.

    A project of our marker that this study does not know holds our tasks, or is another study's of that name: that one
    is left as it is. Raises StudioError then.
    """
    found = gateway.find_project(spec.marker)
    if found is None:
        return gateway.create_project(spec)
    if found != known.remote_id:
        strangers = [task.key for task in gateway.tasks_of(found) if task.key not in own]
        if strangers:
            raise StudioError(
                f"project {found} on {gateway.url} carries this collection's name and {len(strangers)} "
                "task(s) that are not in its plan",
                hint="another study has that name: change collection.name in annot.toml, or delete that project",
            )
    gateway.update_project(found, spec)
    return found


def _withdraw(
    store: Store, gateway: Gateway, project: Project, remote_id: int, parcel: Parcel, own: Mapping[str, Asked]
) -> int:
    """Delete unanswered tasks of pairs that are settled by now, and of those whose opinions have changed since."""
    shown = {pair_key(*asked): opinions_in(task["data"]) for asked, task in parcel.tasks.items()}
    stale, staying = [], set()
    for task in gateway.tasks_of(remote_id):
        changed = shown.get(task.key or "") != opinions_in(task.data)
        if task.key in own and not task.annotations and changed:
            stale.append(task.task_id)
        else:
            staying.add(task.key)
    for task_id in stale:
        gateway.delete_task(task_id)
    with store.begin() as session:
        # All that are not there, not only these: a kill may have come between deleting and forgetting.
        gone = [asked for asked in projects.read_tasks(session, project.project) if pair_key(*asked) not in staying]
        projects.forget_tasks(session, project.project, gone)
    return len(stale)
