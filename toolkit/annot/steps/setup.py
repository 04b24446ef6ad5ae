"""A new study, and its local Label Studio."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import tomlkit

from annot.base.errors import InputError, MissingInput, StudioError
from annot.base.names import counted
from annot.base.records import Assessor
from annot.base.settings import CONTROL, Kind, Settings, settings_of
from annot.base.templating import render
from annot.base.words import FOLDER as WORDS
from annot.judging.exchange import servers
from annot.labelstudio import front, server
from annot.labelstudio.front import Front
from annot.store import database, people, projects
from annot.study.backups import BACKUPS, missing_part
from annot.study.workspace import CACHE, SETTINGS_FILE, Workspace, write_file, write_setting

# ----------------------------------------------------------------------------------------------------------------------
# New studies: the settings file with every section explained, the folders, the empty store.
# ----------------------------------------------------------------------------------------------------------------------


IGNORE_FILE = ".gitignore"
FOLDERS = ("corpus", "templates", "guidelines", "pools", "exports")


def init(root: Path, *, name: str | None, kind: Kind | None = None, dry_run: bool) -> tuple[list[str], tuple[str, ...]]:
    """Make a study at `root`, or complete one; returns its new files, and notes. Existing settings never change.

    kind: None makes a study of facets, or keeps the kind of an existing one. Raises MissingInput if the database of an
    existing study is missing: a new one would be empty, and so would the next backup.
    """
    if root.exists() and not root.is_dir():
        raise InputError(f"{root}: a file, expected a folder or nothing")
    _refuse_inside_study(root)
    settings_file = root / SETTINGS_FILE
    existing = settings_file.is_file()
    new_name, new_kind = name or root.resolve().name or "my-collection", kind or "facets"
    ws = Workspace.open(root) if existing else Workspace(root, settings_of(new_kind))
    if existing:
        _keeps(settings_file, ws.settings, name=name, kind=kind)
    elif CONTROL.search(new_name):
        raise InputError(f"{root}: the name {new_name!r} cannot be printed", hint="give one by --name")
    new = [] if existing else [SETTINGS_FILE, *new_words(root, new_kind)]
    new += [f"{folder}/" for folder in FOLDERS if not (root / folder).is_dir()]
    new += [] if (root / IGNORE_FILE).exists() else [IGNORE_FILE]
    missing = missing_part(ws) if existing or (root / BACKUPS).is_dir() else None
    if missing is not None and ws.database_file is not None:
        raise MissingInput(missing.message, hint=f"{missing.hint}; to begin another study, use another folder")
    if not dry_run:
        _write_study(root, new, name=new_name, kind=new_kind)
    notes = () if missing is None else (f"{missing.message}; {missing.hint}",)
    return new, notes


def _write_study(root: Path, new: Collection[str], *, name: str, kind: Kind) -> None:
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    if SETTINGS_FILE in new:
        write_words(root, kind)
        write_file(root / SETTINGS_FILE, settings_text(name, kind))
    if IGNORE_FILE in new:
        write_file(root / IGNORE_FILE, render("gitignore.txt.j2", {"backups": BACKUPS}, overrides=None))
    url = Workspace.open(root).database_url
    try:
        # Commands that change the study migrate an older database, after a backup.
        database.open_store(url, create=False).close()
    except MissingInput:
        database.open_store(url).close()


def new_words(root: Path, kind: Kind) -> dict[str, str]:
    """Files of words, by path, that a new study of this kind has in place of the program's words, but for those that
    the folder has already."""
    folder = files("annot.templates") / WORDS / kind
    paths = sorted(folder.iterdir(), key=str) if folder.is_dir() else ()
    names = {f"templates/{WORDS}/{path.name}": path for path in paths if path.name.endswith(".toml")}
    return {name: path.read_text(encoding="utf-8") for name, path in names.items() if not (root / name).exists()}


def write_words(root: Path, kind: Kind) -> None:
    """Write the words of this kind into a new study; a file that is in the folder stays as it is.

    The words go on record with the first push, so studies of earlier releases keep the words that they were sent with.
    """
    for name, text in new_words(root, kind).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(root / name, text)


def _refuse_inside_study(root: Path) -> None:
    place = root.resolve()
    for study in place.parents:
        if (study / SETTINGS_FILE).is_file() and place.relative_to(study).parts[0] in (*FOLDERS, CACHE):
            raise InputError(f"{root}: inside the study {study}", hint="create the new study outside it")


def _keeps(file: Path, settings: Settings, *, name: str | None, kind: Kind | None) -> None:
    """Raise InputError if the existing study has another name or another kind."""
    if name not in (None, settings.collection.name):
        raise InputError(
            f"{file}: already exists, for {settings.collection.name!r}", hint="to rename it, edit name in that file"
        )
    if kind not in (None, settings.kind):
        raise InputError(f"{file}: already exists, for {settings.kind}, found {kind}", hint="use another folder")


def settings_text(name: str, kind: Kind = "facets") -> str:
    """Text of `annot.toml` for a new study of this kind, from the template."""
    values = {"settings": settings_of(kind), "name": tomlkit.string(name).as_string()}
    return render("annot.toml.j2", values, overrides=None)


# ----------------------------------------------------------------------------------------------------------------------
# The local Label Studio of a study, or in mode `server` of each person: up, down, status.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class State:
    """A server as it is now, without passwords."""

    running: bool
    healthy: bool
    installed: bool
    url: str
    """Empty when it does not run."""
    data: Path
    administrator: Path
    """The private file with the administrator's account."""
    passwords: Path
    """The private file with the assessors' accounts."""
    assessor: str | None
    """The person whose server it is; None if it is for all."""
    here: bool
    """True if this study starts it; of a server elsewhere only the address is known."""


def up(
    ws: Workspace,
    *,
    port: int | None,
    tell: Callable[[str], None],
    domain: Front | None = None,
    shared: bool = False,
    database: str | None = None,
) -> tuple[State, ...]:
    """Install Label Studio if it is missing, start it if it is down, and make the accounts of everyone in the study.

    In mode `server`, start one server for each person whose server is not elsewhere, with their account alone; the
    server of someone who has left is closed once all its answers are pulled. domain: give each server a name below it
    and https, with Caddy; it is remembered, and so is `database`, the PostgreSQL database of a server for all. Raises
    InputError if the memory is too small for them, or the options do not fit the mode.
    """
    variables = None if database is None else server.database_variables(database)
    mode, folder = ws.settings.judging.isolation, servers.front_folder(ws)
    if domain is not None and shared is servers.isolated(ws):
        _refuse_once_sent(ws, shared=shared)
        ws = ws.replaced("judging", isolation="project" if shared else "server")
    servers.refuse_changed_mode(ws)
    domain = domain or front.kept(folder)
    owners = _owners(ws, port)
    if domain is not None:
        _check_domain(ws, domain, [*owners], tell=tell)
    if None not in owners:
        _check_memory([servers.studio_folder(ws, name) for name in owners])
    server.installed(os.environ)
    # Everything has been checked; from here on the study and its servers change.
    if ws.settings.judging.isolation != mode:
        _keep_isolation(ws, tell=tell)
    if domain is not None:
        front.keep(folder, domain)
    if variables is not None:
        write_file(servers.studio_folder(ws) / server.DATABASE, variables, private=True)

    def start(name: str | None) -> None:
        server_folder = servers.studio_folder(ws, name)
        (server_folder / servers.CLOSED).unlink(missing_ok=True)
        say = tell if name is None else lambda text: tell(f"{name}: {text}")
        address = domain.url(name) if domain else ""
        server.up(server_folder, environ=os.environ, port=port, say=say, address=address)
        if accounts := {owner.assessor: owner.account for owner in owners[name] if owner.account}:
            with servers.connect(ws, person=name) as gateway:
                servers.open_accounts(ws, gateway, accounts, person=name)

    # A first start keeps a core busy for a minute.
    with ThreadPoolExecutor(max_workers=max(1, (os.cpu_count() or 1) // 2)) as pool:
        list(pool.map(start, owners))
    remaining = [
        name for name, people in owners.items() if name is None or not _close_if_pulled(ws, people[0], tell=tell)
    ]
    if domain is not None:
        ports = {name: server.kept_port(servers.studio_folder(ws, name)) for name in remaining}
        front.up(folder, domain, {name: number for name, number in ports.items() if number})
    return status(ws)


def _owners(ws: Workspace, port: int | None) -> dict[str | None, Sequence[Assessor]]:
    """People with an account on each server that this study starts; None is the one for all.

    In mode `server`, someone who has left is among them as long as their server is there.
    """
    in_use = servers.open_servers(ws)
    assessors = ws.read(people.read_assessors)
    everyone = [person for person in assessors if person.left_on is None or person.assessor in in_use]
    if not servers.isolated(ws):
        return {None: everyone}
    if port is not None:
        raise InputError("--port cannot be used if each person has a server", hint="leave it out")
    if not everyone:
        raise MissingInput("no assessors yet, so no servers to start", hint="add people with `annot assessor add`")
    return {person.assessor: [person] for person in everyone if not servers.is_elsewhere(ws, person.assessor)}


def _close_if_pulled(ws: Workspace, person: Assessor, *, tell: Callable[[str], None]) -> bool:
    """True if the person has left, so that their server was closed now, as all their answers are pulled."""
    if person.left_on is None or not _is_pulled(ws, person.assessor):
        return False
    folder = servers.studio_folder(ws, person.assessor)
    (folder / servers.CLOSED).touch()  # first, so that nothing starts it again
    server.down(folder)
    tell(f"{person.assessor} has left and all answers are pulled, so their server is closed; its data are kept")
    return True


def _refuse_once_sent(ws: Workspace, *, shared: bool) -> None:
    """Raise InputError if tasks were sent, since the mode cannot change any more."""
    with ws.reading() as session:
        if projects.sent_projects(session):
            raise InputError(
                f'isolation = "{ws.settings.judging.isolation}" in annot.toml, and tasks were sent',
                hint="leave out --shared" if shared else "use --shared: the people of this study share one server",
            )


def _keep_isolation(ws: Workspace, *, tell: Callable[[str], None]) -> None:
    """Write the mode of the study to annot.toml."""
    path, mode = ws.root / SETTINGS_FILE, ws.settings.judging.isolation
    write_setting(path, "judging", "isolation", mode)
    tell(f'annot.toml: isolation = "{mode}" now')


def _check_domain(ws: Workspace, domain: Front, names: Sequence[str | None], *, tell: Callable[[str], None]) -> None:
    """Raise an error if the domain is none, Caddy is missing, its port is taken, or a name does not lead here."""
    front.checked(domain, names)
    front.program()
    is_open = front.running(servers.front_folder(ws)) is not None
    if not is_open:
        front.may_use(domain.port)
    tell(f"the domain needs one record: {domain.record(names)}")
    for name in map(domain.name, names):
        # While Caddy has the port, the record has been checked.
        if front.addresses_of(name) if is_open else front.leads_here(name, domain.port):
            continue
        problem = f"{name} does not lead to this machine"
        if not domain.internal:
            raise StudioError(
                f"{problem}, so no certificate is asked for",
                hint="make the record, wait until it is known, and run the same command again",
            )
        tell(problem)


def _is_pulled(ws: Workspace, person: str) -> bool:
    """True if the person's server has no answers that are not on record."""
    sent = [project for project in ws.read(projects.sent_projects) if project.assessor == person]
    with servers.connect(ws, person=person) as gateway:
        identity = gateway.identity()
        return not any(
            servers.count_unpulled(ws, project, gateway.snapshot(project.number)["tasks"])
            for project in sent
            if project.server == identity and gateway.project(project.number) is not None
        )


def down(ws: Workspace) -> tuple[State, ...]:
    """Stop every server that this study started; their data stay."""
    front.down(servers.front_folder(ws))
    for folder in servers.studio_folders(ws):
        server.down(folder)
    return status(ws)


def status(ws: Workspace) -> tuple[State, ...]:
    """State of the server, or in mode `server` of each person's."""
    return tuple(_state(ws, person) for person in servers.open_servers(ws))


def _state(ws: Workspace, person: str | None) -> State:
    folder = servers.studio_folder(ws, person)
    elsewhere = person is not None and servers.is_elsewhere(ws, person)
    running = None if elsewhere else server.status(folder)
    address = "" if running is None else server.address_of(folder) or running.url
    return State(
        running=running is not None,
        healthy=running is not None and running.healthy,
        installed=server.installed(os.environ) is not None,
        url=servers.place_of(ws, person).url if elsewhere else address,
        data=folder / "data",
        administrator=folder / "admin.json",
        passwords=servers.passwords_file(ws, person),
        assessor=person,
        here=not elsewhere,
    )


def _check_memory(folders: Sequence[Path]) -> None:
    """Raise InputError if the memory for the servers of these folders is not free."""
    count = sum(server.status(folder) is None for folder in folders)
    needed, free = count * server.SERVER_BYTES, server.free_bytes()
    if count and free is not None and needed > free:
        raise InputError(
            f"{counted(count, 'server')} need {needed / 10**9:.1f} GB of memory; {free / 10**9:.1f} GB are free",
            hint="start some on another machine and name them with `annot assessor change NAME --server ADDRESS`",
        )
