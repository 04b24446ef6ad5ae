"""What is unsafe or in the way on this machine, in this study and on its server, and how to mend each."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from annot import __version__
from annot.base.errors import AnnotError, StudioError
from annot.judging.exchange.servers import connect, isolated, people_with_servers, studio_folder, studio_folders
from annot.labelstudio import exposure, installing, server
from annot.labelstudio.door import is_loopback
from annot.study.archive import BACKUPS
from annot.study.backups import database_files
from annot.study.workspace import Workspace

FREE_BYTES = 2 * 10**9
CLOCK_SECONDS = 30.0
"""More than a slow answer takes, and less than judging a pair."""
PACKAGES = ("label-studio-sdk", "numpy", "pandas", "scipy", "scikit-learn", "pyarrow", "sqlmodel", "gensim", "psycopg")
SDK = "2.1."
"""The client library that the gateway was made for: others answer otherwise."""
NETWORK_FILE_SYSTEMS = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "fuse.sshfs", "9p", "ceph", "glusterfs")
MOUNTS = Path("/proc/mounts")
SECRET_FILES = ("passwords.tsv", "admin.json", "elsewhere.json")
"""Of a server's folder."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it should be."""

    what: str
    mend: str


@dataclass(frozen=True, slots=True)
class Examined:
    """What `annot doctor` looked at, and found."""

    python: str
    packages: dict[str, str]
    server: str | None
    """Address and release of the server, or of everyone's; None if none was looked at."""
    findings: tuple[Problem, ...]
    notes: tuple[str, ...]


def examine(ws: Workspace | None) -> Examined:
    """Look at the machine, the study where there is one, and its server where one is named or runs here."""
    packages = _packages()
    findings = [*_machine(ws.root if ws else Path()), *_client(packages)]
    notes: list[str] = []
    seen: list[str] = []
    if ws is None:
        notes.append("no study here, so none was checked")
    else:
        findings += [*_study(ws), *_private(ws)]
        people = people_with_servers(ws) if isolated(ws) else (None,)
        if people == (None,) and ws.studio_url is None and server.status(studio_folder(ws)) is None:
            people = ()
        if not people:
            notes.append("no server was checked: none is named and no local one is running")
        for person in people:
            try:
                place, about = _server(replace(ws, studio_url=None) if person else ws, person)
                seen.append(place)
                findings += about
            except StudioError as error:
                findings.append(Problem(error.message, error.hint or "see the documentation of Label Studio"))
    return Examined(platform.python_version(), packages, "; ".join(seen) or None, tuple(findings), tuple(notes))


def _machine(folder: Path) -> Iterator[Problem]:
    free = shutil.disk_usage(folder.absolute()).free
    if free < FREE_BYTES:
        yield Problem(
            f"{free / 10**9:.1f} GB of disk are free, expected {FREE_BYTES / 10**9:.0f} GB or more",
            "free some space; with a full disk, no answers can be pulled",
        )
    if sys.version_info[:2] not in ((3, 11), (3, 12), (3, 13)):
        yield Problem(
            f"Python {platform.python_version()}, expected 3.11, 3.12 or 3.13", "install the program in one of these"
        )


def _packages() -> dict[str, str]:
    """What figures and the exchange with the server depend on, in the versions that are installed."""
    found = {"annot": __version__}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _client(packages: dict[str, str]) -> Iterator[Problem]:
    found = packages.get("label-studio-sdk", "none")
    if not found.startswith(SDK):
        yield Problem(f"label-studio-sdk {found}, expected {SDK}x", f"pip install 'label-studio-sdk=={SDK}*'")


def _study(ws: Workspace) -> Iterator[Problem]:
    try:
        # Closed at once: files that SQLite has beside an open database are no findings.
        with replace(ws, held=None).store():
            pass
    except AnnotError as error:
        yield Problem(error.message, error.hint or "restore a backup with `annot restore`")
    if ws.database_file is not None:
        kind = _file_system(ws.database_file.resolve())
        if kind in NETWORK_FILE_SYSTEMS:
            yield Problem(
                f"{ws.database_file}: on a network file system ({kind}), where SQLite and locks are not reliable",
                "move the study to a local disk, or use PostgreSQL: `annot backup`, then `annot restore`",
            )


def _private(ws: Workspace) -> Iterator[Problem]:
    """What others on this machine can read, or would find in a repository."""
    studios = [folder / name for folder in studio_folders(ws) for name in SECRET_FILES]
    secret = (*database_files(ws), *studios, *(ws.root / BACKUPS).glob("*"))
    for path in secret:
        if path.exists() and path.stat().st_mode & (0o007 if path.is_file() else 0o002):
            yield Problem(f"{path}: other accounts of this machine can read it", f"chmod o-rwx {path}")
    in_repository = any((folder / ".git").exists() for folder in (ws.root.absolute(), *ws.root.absolute().parents))
    ignored = ws.root / ".gitignore"
    known = ignored.read_text(encoding="utf-8", errors="replace") if ignored.is_file() else ""
    if in_repository and ws.database_file is not None and ws.database_file.name not in known:
        yield Problem(
            f"{ignored}: does not list {ws.database_file.name}, which contains the names of the assessors",
            "add `annot.db*`, `.annot/` and `backups/` to it; if there is none, `annot init` writes one",
        )


def _server(ws: Workspace, person: str | None) -> tuple[str, list[Problem]]:
    with connect(ws, person=person) as gateway:
        release, address = gateway.version(), gateway.url
    asked = datetime.now(UTC)
    seen = exposure.look(address)
    answered = datetime.now(UTC)
    return f"{address}, Label Studio {release}", [
        *_release(release),
        *_open(address, seen),
        *_clock(address, seen, asked, answered),
    ]


def _release(release: str) -> Iterator[Problem]:
    if exposure.is_older(release, installing.VERSION):
        yield Problem(
            f"Label Studio {release} is older than {installing.VERSION}, the version that the screens were made for",
            f"update it to {installing.VERSION} before the study starts",
        )
    elif release != installing.VERSION:
        yield Problem(
            f"Label Studio {release} is newer than {installing.VERSION}, the version that the screens were made for",
            "judge a pair of each facet yourself before people start, and check that every key works",
        )


def _open(address: str, seen: exposure.Exposure) -> Iterator[Problem]:
    if seen.sign_up:
        yield Problem(
            f"{address}: anyone can sign up, and everyone with an account can open every project",
            "start it with LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK=true, and invite people with its link",
        )
    if address.startswith("http://") and not is_loopback(address):
        yield Problem(
            f"{address}: passwords, tokens and judgements are sent unencrypted",
            "put it behind https, for example with a reverse proxy",
        )
    if not seen.forms:
        yield Problem(
            f"{address}: people cannot sign in or sign up, because the server accepts no forms from this address",
            f"start it with CSRF_TRUSTED_ORIGINS={address}",
        )


def _clock(address: str, seen: exposure.Exposure, asked: datetime, answered: datetime) -> Iterator[Problem]:
    """Whether the server's clock tells a moment from before it was asked, or after its answer was there."""
    if seen.clock is None:
        return
    apart = (seen.clock - min(max(seen.clock, asked), answered)).total_seconds()
    if abs(apart) > CLOCK_SECONDS:
        which = "ahead of" if apart > 0 else "behind"
        yield Problem(
            f"{address}: its clock is {abs(apart):.0f} s {which} this machine's, so the order of events is uncertain",
            "synchronise both clocks with NTP (`timedatectl set-ntp true`)",
        )


def _file_system(path: Path) -> str:
    """The kind of file system a path is on; empty if that is not to be seen."""
    if not MOUNTS.is_file():
        return ""
    found = ("", "")
    for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
        _, place, kind, *_ = line.split(" ")
        place = place.replace("\\040", " ")
        if path.is_relative_to(place) and len(place) >= len(found[0]):
            found = place, kind
    return found[1]
