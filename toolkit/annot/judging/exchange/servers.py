"""Kinds of projects on a server, servers of the study and connections to them, and each person's project."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from annot.base.errors import FindingError, InputError, MissingInput, StudioError
from annot.base.names import counted, moment_now
from annot.base.records import PairKey
from annot.labelstudio import server
from annot.labelstudio.studio_records import IN_WORDS, ProjectSpec, Screen, StudioProject
from annot.labelstudio.tasks import LABELS_SHOWN, TaskKeys, pair_key
from annot.store import people, projects, trials
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, TRIALS, read_returned
from annot.store.models import Project, Session, StoredRound
from annot.store.pools import read_queries
from annot.study.backups import NIGHT_FILE
from annot.study.workspace import Workspace, allow, write_file

if TYPE_CHECKING:
    from annot.labelstudio.gateway import Gateway

# ----------------------------------------------------------------------------------------------------------------------
# Kinds of projects on a server: their names and commands, their tasks, and their answers on record.
# ----------------------------------------------------------------------------------------------------------------------


RoundName = Literal["judging", "adjudication", "training", "substudy", "labels"]


class RoundPart(NamedTuple):
    """One kind of project. Training has two, and so has the sub-study; the other rounds have one."""

    stored: StoredRound
    """Name in the database and in the markers of its projects."""
    round: RoundName
    title: str
    color: str
    screen: Screen
    """The screen, which sets the form of its tasks."""
    columns: tuple[str, str, str]
    """The heading for its tasks in the tables of a push and of a pull, and the heading for those with an answer."""
    graded: bool = True
    """True if its answers are grades; looking at gold grades is not counted as work or news."""

    @property
    def push(self) -> str:
        """The command that sends its tasks."""
        view = f" --view {self.stored.removeprefix('substudy-')}" if self.round == "substudy" else ""
        return f"annot push {self.round}{view}".removesuffix(" judging")

    @property
    def pull(self) -> str:
        """The command that fetches its answers."""
        return f"annot pull {self.round}".removesuffix(" judging")


_PAIRS = ("pairs", "pairs", "answered")
PARTS: dict[StoredRound, RoundPart] = {
    part.stored: part
    for part in (
        RoundPart("judge", "judging", "judging", "#617ADA", "judge", ("planned", "assigned", "judged")),
        RoundPart(
            "adjudicate", "adjudication", "adjudication", "#B5651D", "adjudicate", ("disputes", "disputes", "settled")
        ),
        RoundPart("train", "training", "training", "#2E7D32", "judge", ("to judge", "gold pairs", "answered")),
        RoundPart(
            stored="train-feedback",
            round="training",
            title="training, gold grades",
            color="#2E7D32",
            screen="feedback",
            columns=("with gold grades", "gold pairs", "answered"),
            graded=False,
        ),
        RoundPart("substudy-abstract", "substudy", "sub-study, abstracts", "#6A4C93", "judge", _PAIRS),
        RoundPart("substudy-full", "substudy", "sub-study, full texts", "#6A4C93", "full-text", _PAIRS),
        RoundPart("labels", "labels", "labels", "#3B7A57", "facets", ("abstracts", "abstracts", "corrected")),
    )
}
"""Every kind of project, by name in the database."""
ANSWERS: dict[StoredRound, Any] = {"judge": JUDGEMENTS, "adjudicate": ADJUDICATIONS}
"""Tables of answers, of the rounds that make the collection."""


def own_tasks(session: Session, round: StoredRound, assessor: str) -> dict[str, PairKey]:
    """Questions that a person's project may ask, by the key of the task on the server.

    A person who corrects labels may have any query paper. An assessor may also have every pair that was ever returned
    to them, taken back or not. An adjudicator may have every planned pair, again after each time it was returned to an
    assessor: a dispute may end, and its task stays where it has an answer.
    """
    if round == "judge":
        questions = {assignment.pair_key for assignment in people.read_assignments(session, assessor)}
        questions |= {returned.pair_key for returned in read_returned(session) if returned.assessor == assessor}
        questions |= {PairKey(*pair) for pair in projects.read_hidden(session).get(assessor, ())}
    elif round == "adjudicate":
        planned = people.planned_pairs(session)
        # A pair comes again at most once for each time that it was returned to an assessor.
        times = Counter(returned.pair for returned in read_returned(session))
        return {pair_key(*pair, occasion): PairKey(*pair) for pair in planned for occasion in range(1, times[pair] + 2)}
    elif round == "labels":
        questions = {PairKey(query.topic_id, LABELS_SHOWN) for query in read_queries(session)}
    else:
        questions = {assignment.pair_key for assignment in trials.read_assignments(session, round, assessor)}
    return {pair_key(*question): question for question in questions}


def answered_tasks(session: Session, round: StoredRound, assessor: str) -> dict[str, str]:
    """Moment of the last change of each answer on record that counts, by the key of its task."""
    lines = list(ANSWERS[round].lines(session, person=assessor)) if round in ANSWERS else []
    lines += trials.read_lines(session, "hidden-gold" if round == "judge" else round, assessor)
    return {
        pair_key(*line.record.pair_key): line.current.changed_at or line.record.judged_at or ""
        for line in lines
        if line.counts
    }


# ----------------------------------------------------------------------------------------------------------------------
# Servers, and connections to them: one server for all, or in mode `server` one for each person.
#
# A server elsewhere is known by its address and a token. Both are in a file that only its owner can read, in a folder
# that is in no backup, release or repository.
# ----------------------------------------------------------------------------------------------------------------------


SECRET_BYTES = 32
CLOSED = "closed"
IDENTITY = "identity"
HINT = "start one here with `annot studio up`, or name one with `annot assessor change {person} --server ADDRESS`"


@dataclass(frozen=True, slots=True, repr=False)
class Place:
    """A server and how to talk to it."""

    url: str
    token: str
    local: bool
    """True if this study has started it, on this machine."""
    address: str = ""
    """Address at which people reach it, if that is another one."""


class Unreachable(NamedTuple):
    """A person whose server could not be reached, or failed before the end."""

    assessor: str
    why: str
    left: bool
    """True if they have left the study, so that the study does not wait for their server."""


def isolated(ws: Workspace) -> bool:
    """True if each person has a server of their own."""
    return ws.settings.judging.isolation == "server"


def studio_folder(ws: Workspace, person: str | None = None) -> Path:
    """Folder of the data of a server that this study starts: that of a person, or the one for all."""
    return ws.cache / "studio" if person is None else ws.cache / "studios" / person


def studio_folders(ws: Workspace) -> tuple[Path, ...]:
    """Folders of the data of all servers that this study starts, the one for all people included."""
    everyone = (studio_folder(ws, person) for person in people_with_servers(ws))
    return tuple(folder for folder in (studio_folder(ws), *everyone) if folder.is_dir())


def people_with_servers(ws: Workspace) -> tuple[str, ...]:
    """People with a server of their own, here or elsewhere, according to the folders."""
    return tuple(sorted(folder.name for folder in (ws.cache / "studios").glob("*") if folder.is_dir()))


def open_servers(ws: Workspace) -> tuple[str | None, ...]:
    """People whose own server is in use, here or elsewhere; None for the one that all share."""
    return tuple(name for name in people_with_servers(ws) if not is_closed(ws, name)) if isolated(ws) else (None,)


def refuse_changed_mode(ws: Workspace) -> None:
    """Raise InputError if `isolation` was changed after tasks were sent, and no server of the new mode is known yet."""
    one_per_person, with_servers = isolated(ws), bool(people_with_servers(ws))
    if with_servers if one_per_person else not with_servers or studio_folder(ws).is_dir() or ws.studio_url is not None:
        return
    sent = {(project.server, project.assessor): project.url for project in ws.read(projects.sent_projects)}
    is_shared = len(sent) > len({server for server, _ in sent})
    if sent and is_shared is one_per_person:
        mode, where = ("project", "one server for all") if one_per_person else ("server", "a server for each person")
        raise InputError(
            f'isolation = "{ws.settings.judging.isolation}" in annot.toml, but tasks were sent to {where}: '
            f"{', '.join(sorted(set(sent.values())))}",
            hint=f'set isolation = "{mode}" in annot.toml again',
        )


def owners_here(ws: Workspace) -> tuple[str | None, ...]:
    """The same without those whose server is elsewhere."""
    return tuple(name for name in open_servers(ws) if name is None or not is_elsewhere(ws, name))


def front_folder(ws: Workspace) -> Path:
    """Folder of the Caddy in front of the servers that this study starts."""
    return ws.cache / "front"


def has_domain(ws: Workspace) -> bool:
    """True if people elsewhere use the servers that this study starts, by names and https."""
    return (front_folder(ws) / "front.json").is_file()


def domain_on_record(ws: Workspace, sent: Iterable[Project]) -> str:
    """Domain below which people had their servers, if the study has come from another machine; else empty."""
    if has_domain(ws) or not isolated(ws):
        return ""
    hosts = (urlsplit(project.url) for project in sent if not is_elsewhere(ws, project.assessor))
    return next((host.hostname.partition(".")[2] for host in hosts if host.scheme == "https" and host.hostname), "")


def serverless(ws: Workspace, names: Sequence[str], *, is_new: bool) -> str:
    """Reason why these people cannot work on a server that this study starts; empty if they can, as far as is known.

    is_new: nothing was sent or judged so far.
    """
    if not isolated(ws):
        is_down = has_domain(ws) and not server.is_running(studio_folder(ws))
        if is_down or (is_new and not studio_folder(ws).exists()):
            return "no Label Studio is running here; with --domain DOMAIN, people elsewhere each get one by https"
        return ""
    without = [name for name in names if not (is_elsewhere(ws, name) or server.is_running(studio_folder(ws, name)))]
    return f"no server is running for {', '.join(without)}" if without else ""


def without_their_tasks(ws: Workspace, names: Iterable[str], sent: Iterable[Project]) -> set[str]:
    """People whose server here is a new one, on which nothing of theirs is: the study has come from another machine."""
    places = {(project.assessor, project.server) for project in sent}
    one_per_person = isolated(ws)
    people = [name for name in names if (not is_elsewhere(ws, name) if one_per_person else has_domain(ws))]
    noted = {name: studio_folder(ws, name if one_per_person else None) / IDENTITY for name in people}
    return {
        name
        for name, path in noted.items()
        if path.is_file() and (name, path.read_text(encoding="utf-8")) not in places
    }


def awaits_first_night(ws: Workspace) -> bool:
    """True if the servers have a domain, and neither a night's work was done nor a timer written for it."""
    is_ready = (ws.cache / NIGHT_FILE).is_file() or any(front_folder(ws).glob("*.timer"))
    return has_domain(ws) and not is_ready


def is_closed(ws: Workspace, person: str) -> bool:
    """True if the person has left and their server was closed."""
    return (studio_folder(ws, person) / CLOSED).is_file()


def passwords_file(ws: Workspace, person: str | None = None) -> Path:
    """File with the accounts and passwords of a server that this study starts; only its owner can read it."""
    return studio_folder(ws, person) / "passwords.tsv"


def address_file(ws: Workspace, person: str) -> Path:
    """File with address and token of a person's server elsewhere."""
    return studio_folder(ws, person) / "elsewhere.json"


def keep_address(ws: Workspace, person: str, *, url: str, token: str) -> None:
    """Remember the address of a person's server, which the lead has named, in place of an earlier one."""
    allow(ws.root, url)
    studio_folder(ws, person).mkdir(mode=0o700, parents=True, exist_ok=True)
    write_file(address_file(ws, person), json.dumps({"url": url, "token": token}), private=True)


def is_elsewhere(ws: Workspace, person: str) -> bool:
    """True if the person's server is not one that this study starts."""
    return address_file(ws, person).is_file()


def place_of(ws: Workspace, person: str | None) -> Place:
    """The server of this person, or the one for all, that this study knows. Raises StudioError if it knows none."""
    if person is not None and is_elsewhere(ws, person):
        path = address_file(ws, person)
        try:
            recorded = json.loads(path.read_text(encoding="utf-8"))
            return Place(str(recorded["url"]), str(recorded["token"]), local=False)
        except (ValueError, KeyError, TypeError):
            raise StudioError(
                f"{path}: cannot be read",
                hint=f"set the server again with `annot assessor change {person} --server ADDRESS`",
            ) from None
    folder = studio_folder(ws, person)
    running = server.status(folder)
    if running is not None:
        return Place(running.url, server.credentials(folder).token, local=True, address=server.address_of(folder))
    if person is None:
        raise StudioError(
            "no Label Studio is running here, and no address of one is set",
            hint="`annot studio up`, or set LABEL_STUDIO_URL",
        )
    problem = "the server of {person} is not running" if folder.is_dir() else "no server is known for {person}"
    raise StudioError(problem.format(person=person), hint=HINT.format(person=person))


def owners_of(ws: Workspace, url: str, names: Iterable[str]) -> list[str]:
    """People, among these, whose server has this address."""
    return [person for person in names if _address(ws, person) == url.rstrip("/")]


def people_at(ws: Workspace, url: str, names: Iterable[str]) -> list[str]:
    """People, among these, whose server has this address. Raises InputError if no person's server has it.

    In mode `server`, tasks of everyone would go to an address that is not known as one person's.
    """
    everyone = [*dict.fromkeys((*names, *people_with_servers(ws)))]
    owners = owners_of(ws, url, everyone)
    if not owners:
        raise InputError(
            f"{url} does not belong to anyone in this study; each person has their own server",
            hint="leave out --url and LABEL_STUDIO_URL, or set the right one with `annot assessor change NAME --server "
            "ADDRESS`",
        )
    return [person for person in owners if person in names]


def _address(ws: Workspace, person: str) -> str | None:
    try:
        return place_of(ws, person).url
    except StudioError:
        return None


def runs_here(ws: Workspace, url: str, person: str) -> bool:
    """True if this study has started the server with this address, on which the person has their project."""
    running = server.status(studio_folder(ws, person if isolated(ws) else None))
    return running is not None and running.url == url


@contextmanager
def connect(ws: Workspace, *, person: str | None = None) -> Iterator[Gateway]:
    """A gateway to the server, its token checked, for as long as the context lasts.

    Where no server is named with the workspace, the local one is taken. In mode `server` it is the server of `person`,
    and one that is named must be theirs. Raises StudioError when there is none, or it refuses.
    """
    from annot.labelstudio.gateway import Gateway

    if isolated(ws):
        assert person is not None
        if ws.studio_url is not None and person not in people_at(ws, ws.studio_url, [person]):
            raise InputError(f"{ws.studio_url}: not the server of {person}", hint="leave out --url or LABEL_STUDIO_URL")
        place = place_of(ws, person)
        if not place.local:
            ws.check_door(place.url, f"{address_file(ws, person).relative_to(ws.root)}")
    elif ws.studio_url is None:
        # A key in the environment is for the server named there, not for the local one.
        place = place_of(ws, None)
    else:
        place = Place(ws.studio_url, ws.studio_token or "", local=False)
    if not place.token:
        raise StudioError(
            f"no token for {place.url}", hint="set LABEL_STUDIO_API_KEY to a token of your account on that server"
        )
    with Gateway(place.url, place.token, keys=partial(task_keys, ws), address=place.address) as gateway:
        gateway.whoami()
        yield gateway


def on_servers(
    ws: Workspace, names: Sequence[str], work: Callable[[Gateway, Sequence[str]], None]
) -> tuple[Unreachable, ...]:
    """Do `work` on the one server for all these people, or in mode `server` on each person's server for them alone.

    In that mode a server that is away or refuses does not stop the others; it is among the servers returned. Raises
    StudioError if none could be reached. If a server is named, only that one is used.
    """
    refuse_changed_mode(ws)
    if not isolated(ws):
        with connect(ws) as gateway:
            work(gateway, names)
        return ()
    asked_people = list(names) if ws.studio_url is None else people_at(ws, ws.studio_url, names)
    left = ws.read(people.people_who_left)
    asked_people = [person for person in asked_people if not (person in left and is_closed(ws, person))]
    owners: dict[str, str] = {}
    unreachable = []
    for person in asked_people:
        try:
            with connect(ws, person=person) as gateway:
                refuse_shared(ws, gateway, person, owners)
                work(gateway, [person])
        except (StudioError, MissingInput) as error:
            unreachable.append(
                Unreachable(person, f"{error.message}; {error.hint}" if error.hint else error.message, person in left)
            )
    waited_for = [server for server in unreachable if not server.left]
    if waited_for and len(unreachable) == len(asked_people):
        raise StudioError(
            f"none of {counted(len(asked_people), 'server')} could be reached", faults=_faults(waited_for)
        )
    return tuple(unreachable)


def unreachable_finding(unreachable: Sequence[Unreachable], command: str) -> FindingError | None:
    """The finding that ends a command if some servers could not be reached."""
    waited_for = [server for server in unreachable if not server.left]
    if not waited_for:
        return None
    return FindingError(
        f"could not reach {counted(len(waited_for), 'server')}; the work on the others is done",
        faults=_faults(waited_for),
        hint=f"nothing is lost: run `{command}` again later",
    )


def unreachable_notes(unreachable: Sequence[Unreachable]) -> tuple[str, ...]:
    """Notes on unreachable servers of people who have left."""
    return tuple(
        f"{server.assessor} has left, and their server could not be reached: {server.why}"
        for server in unreachable
        if server.left
    )


def open_accounts(
    ws: Workspace, gateway: Gateway, accounts: Mapping[str, str], *, person: str | None = None
) -> tuple[str, ...]:
    """Accounts on a server of the study's own, made where they are missing; the token of each. Notes its identity.

    accounts: the address of each pseudonym.
    """
    from annot.labelstudio.accounts import make_accounts

    # The unit that keeps the servers running makes accounts, too, and of two sign-ups at once one fails.
    with server.locked(studio_folder(ws, person) / "accounts.lock"):
        write_file(studio_folder(ws, person) / IDENTITY, gateway.identity())
        return make_accounts(gateway.url, accounts, invitation=gateway.invitation, passwords=passwords_file(ws, person))


def refuse_shared(ws: Workspace, gateway: Gateway, person: str, owners: dict[str, str]) -> None:
    """Raise StudioError if this is also another person's server. owners: the first person met on each server."""
    identity = gateway.identity()
    others = {project.assessor for project in ws.read(projects.read_projects) if project.server == identity}
    others |= {owners.setdefault(identity, person)}
    if others - {person}:
        raise StudioError(
            f"{gateway.url} is also the server of {', '.join(sorted(others - {person}))}, expected one that "
            f"only {person} uses",
            hint=f"name another with `annot assessor change {person} --server ADDRESS`; a copy of a server's data "
            "counts as the same server",
        )


def _faults(unreachable: Sequence[Unreachable]) -> list[str]:
    return [f"{server.assessor}: {server.why}" for server in unreachable]


def count_unpulled(ws: Workspace, project: Project, tasks: Iterable[Mapping[str, Any]]) -> int:
    """Number of answers in the project's copy that are new or changed since the last pull."""
    known: dict[str, str] = {}
    with ws.reading() as session:
        for revisions in (JUDGEMENTS, ADJUDICATIONS, TRIALS):
            for line in revisions.lines(session, server=project.server, person=project.assessor):
                changes = (line.current.changed_at, line.latest.changed_at, line.record.judged_at)
                known[line.current.annotation] = max(moment or "" for moment in changes)
    answers = (annotation for task in tasks for annotation in task["annotations"])
    return sum(answer["updated_at"] > known.get(str(answer["id"]), "") for answer in answers)


def task_keys(ws: Workspace) -> TaskKeys:
    """Keys of the tasks of this study. The secret is made at first use and kept in the database.

    A copy is in the folder of the study, in case the database is made again.
    """
    with ws.reading() as session:
        secret = projects.read_secret(session)
        pairs = people.planned_pairs(session)
        pairs |= trials.read_pairs(session)
        pairs |= {(query.topic_id, LABELS_SHOWN) for query in read_queries(session)}
        pairs |= {question.pair for _, question in projects.read_asked(session)}
    if secret is None:
        secret = ws.write(projects.keep_secret, secrets.token_hex(SECRET_BYTES))
    return TaskKeys(_all_secrets(ws, secret), sorted(pairs))


def _all_secrets(ws: Workspace, secret: str) -> list[str]:
    """Secrets of the database, and of databases before it."""
    path = ws.cache / "task-keys"
    earlier = path.read_text(encoding="ascii").split() if path.is_file() else []
    if secret not in earlier:
        path.parent.mkdir(exist_ok=True)
        path.touch(mode=0o600)
        with path.open("a", encoding="ascii") as file:
            file.write(f"{secret}\n")
    return list(dict.fromkeys([secret, *earlier]))


# ----------------------------------------------------------------------------------------------------------------------
# A person's project on the server: found, made, or brought up to date.
#
# The project on record comes first, the one with our marker second.
# ----------------------------------------------------------------------------------------------------------------------


def marker_of(collection: str, round: StoredRound, assessor: str) -> str:
    """Marker in the description of this person's project."""
    return f"{_word(collection)}/{round}/{assessor}"


def locate(gateway: Gateway, recorded: Project, *, marker: str, known_keys: Collection[str]) -> StudioProject | None:
    """The person's project on the server now; None if there is none.

    known_keys: keys of all tasks that may be in it. The names in annot.toml and on the server may have changed; the id
    on record counts, unless the server has given it to another project since. A project with our marker that this
    study does not know either holds our tasks, or belongs to another study of that name: then StudioError is raised and
    the project stays as it is.
    """
    if recorded.remote_id is not None:
        project = gateway.project(recorded.remote_id)
        if project is not None and _is_the_same(gateway, project, recorded, known_keys):
            return project
    marked = gateway.find_project(marker)
    if marked is not None:
        strangers = [task.key for task in gateway.tasks_of(marked.project_id) if task.key not in known_keys]
        if strangers:
            raise StudioError(
                f"project {marked.project_id} on {gateway.url} has this collection's name, but "
                f"{counted(len(strangers), 'task')} from outside its plan",
                hint="another study has the same name: change collection.name in annot.toml, or delete that project",
            )
    return marked


def changed_by_hand(current: StudioProject, recorded: Project) -> dict[str, Any]:
    """Settings and texts of the project that differ from those after the last push, by name.

    If an earlier version of this program sent it, only the settings that every project has.
    """
    from annot.labelstudio.gateway import PROJECT_SETTINGS

    expected = recorded.shows or PROJECT_SETTINGS
    return {name: current.settings.get(name) for name, value in expected.items() if current.settings.get(name) != value}


def remove_duplicates(gateway: Gateway, project_id: int, *, marker: str, person: str) -> list[str]:
    """Delete the other empty projects with the marker; notes on them, and on those with tasks, of which none is read.

    A server that found its database locked repeats a creation, and the duplicate stays, for an assessor to open.
    """
    duplicates = gateway.marked_projects(marker, but=project_id)
    empty = [duplicate for duplicate in duplicates if not (duplicate.tasks or duplicate.annotations)]
    for duplicate in empty:
        gateway.delete_project(duplicate.project_id)
    removed = f"{person}: removed {counted(len(empty), 'empty project')} that the server had created twice"
    return ([removed] if empty else []) + [
        f"{person}: project {duplicate.project_id} is a duplicate with {counted(duplicate.tasks, 'task')} and "
        "is never read: look at it, then delete it"
        for duplicate in duplicates
        if duplicate not in empty
    ]


def bring_project(
    ws: Workspace, gateway: Gateway, spec: ProjectSpec, recorded: Project, known_keys: Collection[str]
) -> tuple[int, list[str]]:
    """The id of the project as specified, made or brought up to date, and notes on changes by hand and duplicates."""
    current = locate(gateway, recorded, marker=spec.marker, known_keys=known_keys)
    by_hand = {} if current is None else changed_by_hand(current, recorded)
    if current is None:
        project_id = gateway.create_project(spec)
    else:
        project_id = current.project_id
        gateway.update_project(project_id, spec, opens=current.opens_instructions)
    now = gateway.project(project_id)
    assert now is not None
    if current is not None and current.settings["expert_instruction"] != now.settings["expert_instruction"]:
        # A person who has read the earlier ones and answered has not read these.
        gateway.open_instructions(project_id, True)
    # A value that is right was changed by a push that was killed before it could note that.
    changed = {name: value for name, value in by_hand.items() if now.settings.get(name) != value}
    with ws.writing() as session:
        projects.set_remote_project(session, recorded.project, project_id, created=now.created)
        moment = moment_now()
        projects.note_shows(session, recorded.project, now.settings, changed=changed, now=moment)
    notes = remove_duplicates(gateway, project_id, marker=spec.marker, person=recorded.assessor)
    if changed:
        changes = ", ".join(IN_WORDS.get(name, name) for name in changed)
        by_hand_note = f"changed on the server by hand, and changed back now: {changes}; see `annot check server`"
        notes.insert(0, f"{recorded.assessor}: {by_hand_note}")
    return project_id, notes


def _is_the_same(gateway: Gateway, current: StudioProject, recorded: Project, known_keys: Collection[str]) -> bool:
    """True if the project with the id on record is the one that was recorded."""
    if recorded.created is not None and current.created is not None:
        return recorded.created == current.created
    keys = {task.key for task in gateway.tasks_of(current.project_id)}
    return not keys or not keys.isdisjoint(known_keys)


def _word(name: str) -> str:
    """The collection's name as one word; where letters had to go, a hash keeps two names apart."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
