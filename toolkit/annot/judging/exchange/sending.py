"""What both rounds share: a project for each person, its tasks sent and remembered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from annot.base.errors import FindingError
from annot.base.records import Advance, Asked, Judgement
from annot.judging.exchange.connection import Away, away_finding, away_notes, on_servers
from annot.judging.exchange.locating import Twins, changed_by_hand, locate, remove_twins
from annot.judging.exchange.parcels import Parcel, check_parcels, spec_of
from annot.judging.exchange.rounds import ROUNDS, answered_tasks, own_tasks
from annot.labelstudio.controls import PUBLISHED
from annot.labelstudio.delivery import behind, deliver
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import IN_WORDS, ProjectSpec, StudioTask
from annot.labelstudio.tasks import opinions_in, pair_key
from annot.store import people, projects
from annot.store.database import Store
from annot.store.guidelines import SentGuidelines, note_shown, record_guidelines
from annot.store.projects import Project, Round
from annot.store.queries import read_queries
from annot.store.shown_opinions import note_opinions
from annot.store.told import Kind, Told, note_told
from annot.study.guideline_versions import hashes
from annot.study.workspace import Workspace


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
    away: tuple[Away, ...] = ()

    def finding(self, command: str) -> FindingError | None:
        """What ends the command where somebody's server could not be asked."""
        return away_finding(self.away, command)


def push_parcels(
    ws: Workspace,
    store: Store,
    parcels: Sequence[Parcel],
    *,
    round: Round,
    dry_run: bool,
    advance: Advance,
    checked: bool = False,
    new_guidelines: Sequence[SentGuidelines] = (),
) -> Pushed:
    """Check every parcel and bring it to its project. With `dry_run` all is checked, and nothing is sent.

    checked: `check_parcels` has passed these parcels. new_guidelines: to be noted down as sent from now on.
    """
    if not checked:
        check_parcels(ws, store, parcels, round=round)
    if dry_run:
        return Pushed(tuple(_promised(store, parcels, round)))
    rows: list[Sent] = []
    notes: list[str] = []
    waiting: list[str] = []
    places: list[str] = []
    unrecorded = list(new_guidelines)

    def send(gateway: Gateway, names: Sequence[str]) -> None:
        here = [parcel for parcel in parcels if parcel.assessor in names]
        places.append(gateway.url)
        accounts, faults = _accounts(store, gateway, [parcel.assessor for parcel in here])
        waiting.extend(faults)
        if not accounts:
            return
        sent, told = _send(ws, store, gateway, here, accounts, round=round, advance=advance, new_guidelines=unrecorded)
        unrecorded.clear()
        rows.extend(sent)
        notes.extend(told)

    away = on_servers(ws, store, [parcel.assessor for parcel in parcels], send)
    if waiting and not rows and not away:
        raise FindingError(f"{len(waiting)} person(s) cannot open {', '.join(places)}", faults=waiting)
    later = tuple(f"{fault}, then run `{ROUNDS[round].push}` again" for fault in waiting)
    return Pushed(tuple(rows), (*later, *notes, *away_notes(away)), away)


def _promised(store: Store, parcels: Sequence[Parcel], round: Round) -> Iterator[Sent]:
    """What a push would do by the records alone: no server is asked."""
    with store.read() as session:
        known = projects.read_projects(session, round=round)
        noted = [(project, projects.read_tasks(session, project.project)) for project in known]
    for parcel in parcels:
        there = {asked for project, tasks in noted if project.assessor == parcel.assessor for asked in tasks}
        there &= parcel.tasks.keys()
        where = [project.url for project in known if project.assessor == parcel.assessor]
        new = len(parcel.tasks) - len(there)
        yield Sent(parcel.assessor, len(parcel.tasks), len(there), new, 0, 0, where[-1] if where else "not sent")


def _send(
    ws: Workspace,
    store: Store,
    gateway: Gateway,
    parcels: Sequence[Parcel],
    accounts: Mapping[str, int],
    *,
    round: Round,
    advance: Advance,
    new_guidelines: Sequence[SentGuidelines],
) -> tuple[list[Sent], list[str]]:
    """Bring the parcel of everyone who has an account to its project, each task once, and remember the server's ids."""
    parcels = [parcel for parcel in parcels if parcel.assessor in accounts]
    server, version = gateway.identity(), gateway.version()
    with store.begin() as session:
        record_guidelines(session, new_guidelines)
        facets = {query.query_id: query.facet for query in read_queries(session)}
    guidelines = hashes(ws, {facets[asked.query_id] for parcel in parcels for asked in parcel.tasks})
    more = counting(advance, total=sum(len(parcel.tasks) for parcel in parcels))
    sent: list[Sent] = []
    notes: list[str] = []
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
            answered = answered_tasks(session, round, parcel.assessor)
            noted = projects.read_tasks(session, project.project)
        brought = bring_project(store, gateway, spec_of(ws, parcel, round), project, own)
        remote_id = brought.project_id
        since = datetime.now(UTC).isoformat(timespec="milliseconds")
        tasks = list(parcel.tasks.values())
        listed = gateway.tasks_of(remote_id)
        stale = _stale(round, listed, parcel, own, noted)
        delivery = deliver(gateway, remote_id, tasks, listed=listed, answered=answered, stale=stale, advance=more)
        ids = {asked: task_id for asked in parcel.tasks if (task_id := delivery.task_ids.get(pair_key(*asked)))}
        with store.begin() as session:
            projects.renew_tasks(session, project.project, parcel.tasks, ids)
            note_shown(session, project.project, guidelines, since=since)
            note_told(session, _told(parcel, round, since))
            note_opinions(session, parcel.assessor, _now_shown(parcel, listed, ids), sent_at=since)
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
                f"{parcel.assessor}: {delivery.spared} task(s) are not sent again: their answers are on record"
            )
        if delivery.removed:
            notes.append(f"{parcel.assessor}: {delivery.removed} of them stood there unanswered and are deleted")
        notes += brought.notes(parcel.assessor)
    return sent, notes


class Brought(NamedTuple):
    """A person's project after it was brought up to date or made."""

    project_id: int
    twins: Twins
    changed: Mapping[str, Any]
    """What had been changed on the server by hand and is set back, as it was found."""

    def notes(self, assessor: str) -> list[str]:
        """What a person should know of it."""
        found = ", ".join(IN_WORDS.get(name, name) for name in self.changed)
        on_record = "`annot check server` keeps it on record"
        told = f"{assessor}: changed on the server by hand, and set back now: {found}; {on_record}"
        return [*([told] if found else []), *self.twins.notes(assessor)]


def bring_project(store: Store, gateway: Gateway, spec: ProjectSpec, known: Project, own: Collection[str]) -> Brought:
    """The project as `spec` says, brought up to date or made; with the twins that it had, and what is set back."""
    found = locate(gateway, known, marker=spec.marker, own=own)
    changed = {} if found is None else changed_by_hand(found, known)
    if found is None:
        project_id = gateway.create_project(spec)
    else:
        project_id = found.project_id
        gateway.update_project(project_id, spec, opens=found.opens_instructions)
    now = gateway.project(project_id)
    assert now is not None
    if found is not None and found.settings["expert_instruction"] != now.settings["expert_instruction"]:
        # Who has read the earlier ones and answered has not read these.
        gateway.open_instructions(project_id, True)
    with store.begin() as session:
        projects.set_remote_project(session, known.project, project_id, created=now.created)
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        projects.note_shows(session, known.project, now.settings, changed=changed, now=moment)
    return Brought(project_id, remove_twins(gateway, project_id, marker=spec.marker), changed)


def counting(advance: Advance, *, total: int) -> Callable[[int], None]:
    """A progress that is told how many more are done."""
    done = 0

    def more(count: int) -> None:
        nonlocal done
        done += count
        advance(done, total)

    return more


def _accounts(store: Store, gateway: Gateway, names: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    """The server's id of the account of each person who has one, and a word on each who has not."""
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
            faults.append(
                f"{name}: the server has no such account; let them sign up, with the letter of `annot invite {name}`"
            )
        else:
            found[name] = by_address[address.lower()]
    return found, faults


def _told(parcel: Parcel, round: Round, since: str) -> list[Told]:
    """What the screen says of the publication of what is written on it."""
    kinds: dict[Round, Kind] = {"judge": "comments", "adjudicate": "reasons"}
    says = PUBLISHED in parcel.label_config
    return [Told(parcel.assessor, kinds[round], "screen", since, says)] if round in kinds else []


def _now_shown(
    parcel: Parcel, listed: Sequence[StudioTask], ids: Mapping[Asked, int]
) -> dict[Asked, Sequence[Judgement]]:
    """The parcel's opinions that are on the server now: a task that was answered keeps those that it had."""
    before = {task.task_id: opinions_in(task.data) for task in listed}
    return {
        asked: parcel.opinions[asked]
        for asked, task_id in ids.items()
        if asked in parcel.opinions and before.get(task_id) in (None, opinions_in(parcel.tasks[asked]["data"]))
    }


def _stale(
    round: Round, listed: Sequence[StudioTask], parcel: Parcel, own: Mapping[str, Asked], noted: Collection[Asked]
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
