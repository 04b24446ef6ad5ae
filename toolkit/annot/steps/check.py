"""Checks of a study, and of unsafe places on this machine."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from annot import __version__
from annot.base.errors import AnnotError, FindingError, InputError, MissingInput, StudioError
from annot.base.names import counted, verb
from annot.base.plugins import versions_of
from annot.base.records import Advance
from annot.formats.beir import dataset_id
from annot.judging.exchange import audit, servers
from annot.judging.guideline_faults import note_as_read
from annot.judging.states import STATES, Examination, lines_of_state
from annot.labelstudio import front, http_client, server
from annot.labelstudio.accounts import PASSWORDS, SECRET_KEYS, read_passwords
from annot.pools.chain import LINKS
from annot.pools.one_version import read_version
from annot.publishing.release import parts, released_files
from annot.publishing.report import tables, terminal
from annot.store import database, shown
from annot.study import backups, snapshot
from annot.study.workspace import Workspace, is_named_inside

# ----------------------------------------------------------------------------------------------------------------------
# Whether a study is sound: its plan, pools, guidelines, index and files, what was sent, and what is on the server.
# ----------------------------------------------------------------------------------------------------------------------


class CheckedPart(NamedTuple):
    """Result of one check of one part of a study."""

    record: object
    """Subject of the check, for --json."""
    text: str
    """Text that people read, with every finding."""
    findings: int
    found: str = ""
    """Finding in words."""
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of `annot check`."""

    parts: dict[str, CheckedPart] = field(default_factory=dict)
    unchecked: dict[str, str] = field(default_factory=dict)
    """Parts that the study does not have yet, or that could not be looked at, and why."""

    @property
    def text(self) -> str:
        """Findings, by part if several were checked."""
        texts = {name: part.text for name, part in self.parts.items()}
        texts |= {name: f"not checked: {why}" for name, why in self.unchecked.items()}
        if len(texts) == 1:
            return "".join(texts.values())
        shown = {name: text.rstrip("\n").replace("\n", "\n  ") for name, text in texts.items()}
        return "\n".join(f"{name}\n  {shown[name]}" for name in PARTS if name in shown)

    @property
    def finding(self) -> FindingError | None:
        """Error that ends the command if there are findings."""
        bad = {name: part for name, part in self.parts.items() if part.findings}
        if not bad:
            return None
        if len(bad) == 1:
            (part,) = bad.values()
            return FindingError(part.found, hint=part.remedy)
        counts = ", ".join(f"{name} {part.findings}" for name, part in bad.items())
        return FindingError(f"{counted(sum(part.findings for part in bad.values()), 'problem')} found: {counts}")


@dataclass(frozen=True, slots=True)
class VerifiedHashes:
    """The files and records that were compared with their hashes."""

    manifests: int
    revisions: int
    """Rows of judgements and adjudications."""
    findings: tuple[str, ...]
    lasting: tuple[str, ...]
    """Changes that stay and need no remedy."""


PARTS = ("plan", "pools", "guidelines", "sent", "index", "files", "server")
"""Names of the parts of a study."""


def check(ws: Workspace, part: str | None, *, release: Path | None, advance: Advance) -> CheckResult:
    """Check one part of the study, or all parts it has: then the error that refuses one part is a finding of that part.

    release: a folder that is compared with its own hashes and with the study's files.
    """
    if release is not None and part not in (None, "files"):
        raise InputError(f"--release can only be used with `annot check files`, found {part!r}")
    study = Examination(ws, advance=advance)
    if part is not None:
        return CheckResult({part: _checked(study, part, release, advance)})
    with ws.store():
        pass  # Without a database nothing can be looked at.
    checked = CheckResult()
    for name in PARTS:
        try:
            checked.parts[name] = _checked(study, name, release, advance)
        except (MissingInput, StudioError) as error:
            checked.unchecked[name] = "; ".join([error.message, *error.faults])
        except InputError as error:
            faults = (error.message, *error.faults)
            checked.parts[name] = CheckedPart(
                faults, "\n".join(faults), max(1, len(error.faults)), error.message, error.hint
            )
    return checked


def _checked(study: Examination, part: str, release: Path | None, advance: Advance) -> CheckedPart:
    """Check one part. Raises MissingInput if the study does not have it, InputError if it cannot be read."""
    if part == "server":
        audited = audit.audit(study.ws, advance=advance)
        count = len(audited.findings)
        return CheckedPart(audited, audit.described(audited), count, f"{counted(count, 'problem')} on the server")
    states = [(state, lines_of_state(state, study)) for state in STATES if state.part == part]
    words, lasting = (
        tuple(line for state, lines in states if state.lasting is stays for line in lines) for stays in (False, True)
    )
    remedies = dict.fromkeys(state.remedy for state, lines in states if lines and not state.lasting)
    if part == "sent":
        return _sent(study.ws, words, remedies)
    if part == "files":
        return _files(study.ws, words, lasting, release, remedies)
    return DESCRIBED[part](study, words)


def _plan(study: Examination, words: tuple[str, ...]) -> CheckedPart:
    plan, count = study.plan, len(words)
    return CheckedPart(plan, terminal.rendered("checked", found=plan), count, f"the plan has {counted(count, 'fault')}")


def _pools(study: Examination, words: tuple[str, ...]) -> CheckedPart:
    replayed, count = study.pools, len(words)
    why = "`annot check files` shows whether the corpus or a file has changed since"
    return CheckedPart(
        replayed,
        terminal.rendered("replayed", replayed=replayed),
        count,
        f"{counted(count, 'pool')} {verb(count, 'differs', 'differ')} from the record",
        why,
    )


def _guidelines(study: Examination, words: tuple[str, ...]) -> CheckedPart:
    ws, checked, count = study.ws, study.guidelines, len(words)
    note_as_read(ws, checked)
    pages = ", ".join(f"{page}.md" for page in checked.pages)
    fit = f"no problems found in {pages}"
    if checked.left_out:
        fit += "\n" + "\n".join(tables.sentences("commands.examples_left_out", pages=checked.left_out))
    lines = ["\n".join(words) or fit]
    if checked.without_criteria:
        silent = ", ".join(f"{page}.md" for page in checked.without_criteria)
        lines += [
            f"the screen does not say what the grades mean: no list (`- 2: ...`, a line for each grade) in {silent}"
        ]
    for language, missing in checked.missing_words.items():
        if missing:
            head = f"templates/words/{language}.toml lacks words, which are English on the screens; add these lines:"
            lines += [head, *(f"  {line}" for line in missing)]
    where = f"correct the pages in {ws.root / 'guidelines'}; `annot guidelines FACET` prints the page in use"
    finding = f"{counted(count, 'place')} in the guidelines {verb(count, 'does', 'do')} not fit the study"
    return CheckedPart(checked, "\n".join(lines), count, finding, where)


def _sent(ws: Workspace, words: tuple[str, ...], remedies: Iterable[str]) -> CheckedPart:
    sent = bool(ws.read(shown.read_histories))
    sound = "annot.toml, the guidelines and the templates are as people were sent them"
    text = "\n".join(words) or (sound if sent else "nothing was sent yet")
    return CheckedPart(
        words, text, len(words), f"{counted(len(words), 'finding')} about what was sent", "; ".join(remedies)
    )


def _index(_study: Examination, words: tuple[str, ...]) -> CheckedPart:
    count, sound = len(words), "no file of the index has changed since it was written"
    finding = f"index: {counted(count, 'file')} changed since {verb(count, 'it was', 'they were')} written"
    again = "make them again with `annot index --repair`"
    return CheckedPart(words, "\n".join(words) or sound, count, finding, again)


DESCRIBED: dict[str, Callable[[Examination, tuple[str, ...]], CheckedPart]] = {
    "plan": _plan,
    "pools": _pools,
    "guidelines": _guidelines,
    "index": _index,
}
"""Descriptions of parts of a study by their findings."""


def _files(
    ws: Workspace, words: tuple[str, ...], lasting: tuple[str, ...], release: Path | None, remedies: Iterable[str]
) -> CheckedPart:
    """release: a folder that is compared, too."""
    with ws.reading() as session:
        counts = database.row_counts(session.connection())
    findings = (*words, *(() if release is None else _release_faults(ws, release)))
    manifests = sum((ws.root / name).is_file() for name, _ in LINKS)
    verified = VerifiedHashes(manifests, counts["judgement"] + counts["adjudication"], findings, lasting)
    finding = f"{counted(len(findings), 'change')} since the files were written"
    again = "; ".join(remedies) or "write the release again with `annot release`"
    text = terminal.rendered("verified", verified=verified)
    return CheckedPart(verified, text, len(findings), finding, again)


def _release_faults(ws: Workspace, folder: Path) -> Iterator[str]:
    if not folder.is_dir():
        yield f"{folder}: {'a file' if folder.exists() else 'no such folder'}, expected the folder of a release"
        return
    study, name = snapshot.read_snapshot(ws), ws.settings.collection.name
    if of_versions := [folder / corpus for corpus in study.corpora if (folder / corpus).is_dir()]:
        for of_version in of_versions:
            yield from _release_faults(ws, of_version)
        return
    if folder.resolve().name in study.corpora:
        study = read_version(ws, folder.resolve().name)
    try:
        released_files.check_folder(folder, dataset_id(name), dataset_id(f"{name}-{folder.resolve().name}"))
    except InputError as error:
        yield from (f"{folder}/{fault}" for fault in error.faults)
        if not error.faults:
            yield error.message
    yield from _differing(folder, study)


def _differing(folder: Path, study: snapshot.Snapshot) -> Iterator[str]:
    """Files of a release that are missing, or are not those of the study."""
    sums = folder / released_files.SUMS_FILE
    listed = sums.read_text(encoding="utf-8", errors="replace").splitlines() if sums.is_file() else []
    sources = {"qrels.txt": study.qrels_file, **{f"runs/{path.name}": path for path in study.run_files}}
    earlier = study.version is not None and study.version.last is not None
    update = f"annot release {folder.parent} --corpus {study.corpora[-1]}" if earlier else "annot release"
    for name in (line.partition("  ")[2] for line in listed):
        path, source = folder / name, sources.get(name)
        if not is_named_inside(path, folder) or not path.is_file():
            yield f"{folder}/{name}: missing"
        elif name == parts.SAMPLE_FILE and path.read_text(encoding="utf-8") != parts.sample_files(study).get(name, ""):
            yield f"{folder}/{name}: differs from the sample on record; `{update}` updates it"
        elif source and source.is_file() and path.read_bytes() != source.read_bytes():
            yield f"{folder}/{name}: differs from {source.relative_to(study.ws.root)}; `{update}` updates it"


# ----------------------------------------------------------------------------------------------------------------------
# What is unsafe or in the way on this machine, in this study and on its server, and how to mend each.
# ----------------------------------------------------------------------------------------------------------------------


FREE_BYTES = 2 * 10**9
PACKAGES = (
    "label-studio-sdk",
    "numpy",
    "pandas",
    "scipy",
    "scikit-learn",
    "pyarrow",
    "sqlalchemy",
    "gensim",
    "psycopg",
)
"""Libraries that figures and the exchange with the server depend on."""
NETWORK_FILE_SYSTEMS = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "fuse.sshfs", "9p", "ceph", "glusterfs")
MOUNTS = Path("/proc/mounts")


@dataclass(frozen=True, slots=True)
class Problem:
    """Problem with the machine, the study or its server."""

    what: str
    mend: str


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Result of `annot doctor`."""

    python: str
    packages: dict[str, str]
    plugins: tuple[str, ...]
    """Distribution and version of each plug-in of the study."""
    server: str | None
    """Address and release of the server, or of everyone's; None if none was looked at."""
    findings: tuple[Problem, ...]
    notes: tuple[str, ...]


def examine(ws: Workspace | None) -> DoctorReport:
    """Look at the machine, the study where there is one, and its server where one is named or runs here."""
    packages, plugins = {"annot": __version__}, dict[str, str]()
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    findings = [*_machine(ws.root if ws else Path())]
    try:
        plugins = versions_of(ws.settings.plugins.names if ws else ())
    except InputError as error:
        findings.append(Problem(error.message, error.hint or ""))
    notes: list[str] = []
    addresses: list[str] = []
    if ws is None:
        notes.append("no study here, so none was checked")
    else:
        findings += [*_study(ws), *_private(ws)]
        people = servers.open_servers(ws)
        if people == (None,) and ws.studio_url is None and server.status(servers.studio_folder(ws)) is None:
            people = ()
        if not people:
            notes.append("no server was checked: none is named and no local one is running")
        known: dict[str | None, Collection[str]] = {}
        for person in people:
            try:
                with servers.connect(replace(ws, studio_url=None) if person else ws, person=person) as gateway:
                    release, address = gateway.version(), gateway.address
                    known[person] = gateway.user_ids().keys()
                addresses.append(f"{address}, Label Studio {release}")
                findings += _server_problems(address, release)
            except StudioError as error:
                findings.append(Problem(error.message, error.hint or "see the documentation of Label Studio"))
        findings += _problems_from_outside(ws, known)
    return DoctorReport(
        platform.python_version(),
        packages,
        tuple(plugins.values()),
        "; ".join(addresses) or None,
        tuple(findings),
        tuple(notes),
    )


def _machine(folder: Path) -> Iterator[Problem]:
    free = shutil.disk_usage(folder.absolute()).free
    if free < FREE_BYTES:
        yield Problem(
            f"{free / 10**9:.1f} GB of disk are free, expected {FREE_BYTES / 10**9:.0f} GB or more",
            "free some space; with a full disk, no answers can be pulled",
        )
    if sys.version_info[:2] not in ((3, 11), (3, 12), (3, 13)):
        yield Problem(
            f"Python {platform.python_version()}, expected 3.11, 3.12 or 3.13",
            "in the folder of annot, run `uv tool install --python 3.13 .`: uv brings a Python of its own",
        )


def _study(ws: Workspace) -> Iterator[Problem]:
    try:
        # Closed at once: files that SQLite keeps next to an open database are no findings.
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
    """Files that others on this machine can read, or would find in a repository."""
    studios = [folder / name for folder in servers.studio_folders(ws) for name in (PASSWORDS, *SECRET_KEYS)]
    secret = (*backups.database_files(ws), *studios, *(ws.root / backups.BACKUPS).glob("*"))
    for path in secret:
        if path.exists() and path.stat().st_mode & (0o007 if path.is_file() else 0o002):
            yield Problem(f"{path}: other accounts of this machine can read it", f"chmod o-rwx {path}")
    in_repository = any((folder / ".git").exists() for folder in (ws.root.absolute(), *ws.root.absolute().parents))
    ignored = ws.root / ".gitignore"
    ignored_lines = ignored.read_text(encoding="utf-8", errors="replace") if ignored.is_file() else ""
    if in_repository and ws.database_file is not None and ws.database_file.name not in ignored_lines:
        yield Problem(
            f"{ignored}: does not list {ws.database_file.name}, which contains the names of the assessors",
            "add `annot.db*`, `.annot/` and `backups/` to it; if there is none, `annot init` writes one",
        )


def _problems_from_outside(ws: Workspace, known: Mapping[str | None, Collection[str]]) -> Iterator[Problem]:
    """Problems of servers that have names and https, as people elsewhere see them.

    known: addresses of all accounts on each server. A server takes a third of a second for each password, so it is
    tried with those of others that it knows, or with that of the next person.
    """
    folder = servers.front_folder(ws)
    if (domain := front.kept(folder)) is None:
        return
    owners = servers.owners_here(ws)
    passwords = [read_passwords(servers.passwords_file(ws, name)) for name in owners]
    strangers = {}
    for place, name in enumerate(owners):
        others = [account for accounts in (*passwords[place + 1 :], *passwords[:place]) for account in accounts.items()]
        strangers[name] = [account for account in others if account[0].lower() in known.get(name, ())] or others[:1]
    yield from (Problem(*problem) for problem in front.seen_from_outside(folder, domain, strangers))


def _server_problems(address: str, release: str) -> Iterator[Problem]:
    if release != server.VERSION:
        yield Problem(
            f"Label Studio {release}, expected {server.VERSION}, the version that the screens were made for",
            f"use {server.VERSION}, or judge a pair of each facet yourself before people start, and check that every "
            "key works",
        )
    if address.startswith("http://") and not http_client.is_loopback(address):
        yield Problem(
            f"{address}: passwords, tokens and judgements are sent unencrypted",
            "put it behind https, for example with a reverse proxy",
        )


def _file_system(path: Path) -> str:
    """The kind of file system a path is on; empty if that cannot be determined."""
    if not MOUNTS.is_file():
        return ""
    mount = ("", "")
    for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
        _, place, kind, *_ = line.split(" ")
        place = place.replace("\\040", " ")
        if path.is_relative_to(place) and len(place) >= len(mount[0]):
            mount = place, kind
    return mount[1]
