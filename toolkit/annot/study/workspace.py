"""A study's folder: its files and settings, the paths outside it that are allowed, and files written whole."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import tomlkit

from annot import __version__
from annot.base.errors import AnnotError, InputError, MissingInput, SettingsError, StoreError
from annot.base.names import OF_PAPERS, OF_TEXTS, StudyVocabulary, counted, sha256_of
from annot.base.records import WHOLE, Query
from annot.base.settings import MachineSettings, Settings, read_settings
from annot.formats.input_files import SHEET, content_of, read_error_sheet, unicode_of_start

if TYPE_CHECKING:
    from annot.store.database import Store
    from annot.store.models import Session

P = ParamSpec("P")
T = TypeVar("T")

# ----------------------------------------------------------------------------------------------------------------------
# Doors: places outside its folder that a study's files name, and the permission of the owner of this machine.
#
# A study may come from someone else. So an address, or a place outside the folder, that one of its files names is
# followed only if the owner has allowed it for this study: once by the environment, which a file of theirs remembers,
# or by naming the address on the command line. The list of doors is in docs/explanation/trust.md.
# ----------------------------------------------------------------------------------------------------------------------


VARIABLE = "ANNOT_ALLOW"
"""Environment variable with the addresses that the owner allows, separated by spaces."""
NO_LINKS = (*("annot.toml", "datasheet.toml"), *("templates", "guidelines", "training", "pools", "exports", "substudy"))
"""Files and folders of a study in which no link is followed: their content reaches pages, releases and servers."""
PRIVATE_FOLDER = ".annot"
"""The folder of replaceable files and of local servers. It and its content may be elsewhere; that is a door."""


def check_door(root: Path, address: str, *, asked_by: str) -> None:
    """Raise InputError unless the owner allows this study to use `address`.

    asked_by: the file, and the setting in it, that names the address.
    """
    shown = without_password(address)
    if not shown.isprintable():
        raise InputError(f"{asked_by}: the address {shown!r} has characters that cannot be printed")
    named = os.environ.get(VARIABLE, "")
    if shown in (named, *named.split()):
        with suppress(OSError):
            allow(root, address)
    elif shown not in _allowed().get(str(root.resolve()), ()):
        raise InputError(
            f"{asked_by} asks for {shown}, which is outside this study",
            hint=f"if you trust it, run the command once with {VARIABLE}={shlex.quote(shown)} before it; "
            f"{allowed_file()} remembers it for this study",
        )


def allow(root: Path, address: str) -> None:
    """Remember that the owner allows this study to name `address`."""
    allowed, study, shown = _allowed(), str(root.resolve()), without_password(address)
    if shown not in allowed.setdefault(study, []):
        allowed[study].append(shown)
        allowed_file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(allowed_file(), tomlkit.dumps(allowed))


def allowed_file() -> Path:
    """The owner's own file, outside every study: the addresses that each study may name, by the study's folder."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "annot" / "allowed.toml"


def without_password(address: str) -> str:
    """The address as it is shown and remembered: without any password."""
    return re.sub(r"(password=)[^&]*", r"\1***", re.sub(r"(//[^/@:?#]*):[^/@?#]*@", r"\1@", address))


def is_inside(path: Path, root: Path) -> bool:
    """True if the path, with every link followed, is below the study's folder."""
    return path.resolve().is_relative_to(root.resolve())


def is_named_inside(path: Path, root: Path) -> bool:
    """True if the path is below the folder by its name, wherever the links in it lead."""
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(root))  # noqa: PTH100 - links stay links


def check_links(root: Path) -> None:
    """Raise InputError that lists the links if a study may have none, and for those that the owner has not allowed.

    Links in `corpus/`, in `weights/` and in unknown folders may lead anywhere.
    """
    links = [link for name in NO_LINKS for link in _links(root / name)]
    if links:
        raise InputError(
            f"{counted(len(links), 'link')} in the study, expected files",
            faults=[f"{path.relative_to(root)}: a link to {path.readlink()}" for path in links],
            hint="replace each link with a copy of the file; only corpus/ and weights/ may hold links",
        )
    cache = root / PRIVATE_FOLDER
    patterns = ("*", "people/*", "studios/*", "studios/*/*")
    paths = [cache, *(path for pattern in patterns for path in cache.glob(pattern))]
    for link in filter(Path.is_symlink, paths):
        if not is_inside(link, root):
            check_door(root, str(link.resolve()), asked_by=f"{link.relative_to(root)}, a link,")


def _links(path: Path) -> Iterator[Path]:
    """The path if it is a link, or the links below it."""
    if path.is_symlink():
        yield path
    elif path.is_dir():
        for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
            if entry.is_symlink() or entry.is_dir():
                yield from _links(Path(entry.path))


def _allowed() -> dict[str, list[str]]:
    path = allowed_file()
    try:
        addresses_of = tomlkit.parse(path.read_text(encoding="utf-8")).unwrap()
        if any(not isinstance(addresses, list) for addresses in addresses_of.values()):
            raise ValueError("expected a list of addresses for each folder")
        return addresses_of
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}", hint="correct it or remove it") from None


# ----------------------------------------------------------------------------------------------------------------------
# A study's folder: the paths of its files, its settings, and atomic writing of files.
# ----------------------------------------------------------------------------------------------------------------------


SETTINGS_FILE = "annot.toml"
CACHE = ".annot"
STAGE = "stage-"
"""Beginning of the name of a stage, which is in `.annot/`."""
DATABASE_VARIABLE = "ANNOT_DATABASE"


class _FilePlace:
    """A path below a study's folder."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __get__(self, ws: Workspace, owner: type[Workspace]) -> Path:
        return ws.root / self._path


def study_above(folder: Path) -> Path | None:
    """The nearest folder above this one that holds a study."""
    return next((above for above in folder.resolve().parents if (above / SETTINGS_FILE).is_file()), None)


def study_folder(folder: Path) -> Path:
    """The named folder; if it is the current one and holds no study, the nearest folder above that does."""
    is_named = folder != Path() or (folder / SETTINGS_FILE).is_file()
    return folder if is_named else study_above(folder) or folder


@dataclass(frozen=True)
class Workspace:
    """The folder of one study. Everything a step reads or writes on disk has its path here."""

    root: Path
    settings: Settings
    studio_url: str | None = None
    """Label Studio to use, if one is named; None is the one that the study knows."""
    studio_token: str | None = field(default=None, repr=False)
    written: Settings | None = field(default=None, repr=False, compare=False)
    """Settings of annot.toml, if the record has other names of grades or facets, which are in `settings`."""
    typed: frozenset[str] = frozenset()
    """Settings that were given on the command line: an address among them needs no other permission."""
    held: Callable[[], Store] | None = field(default=None, repr=False, compare=False)
    """Returns the working state while it is held open."""

    @classmethod
    def open(cls, root: Path) -> Workspace:
        """The workspace at `root`, with the names of the grades and the facets on record.

        Raises MissingInput when the folder has no settings file, InputError for links that lead out of it.
        """
        path = root / SETTINGS_FILE
        if not path.is_file():
            raise MissingInput(f"{root}: not a study (no {SETTINGS_FILE})", hint="make one with `annot init`")
        check_links(root)
        try:
            settings = read_settings(path)
        except SettingsError:
            _check_release(root)
            raise
        return cls(root, settings).as_recorded()

    settings_file = _FilePlace(SETTINGS_FILE)
    corpus = _FilePlace("corpus")
    vectors = _FilePlace("corpus/vectors")
    """Vectors of papers, each set a folder."""
    word_vectors = _FilePlace("corpus/word-vectors")
    """Imported word vectors, which are used instead of trained ones."""
    pools = _FilePlace("pools")
    query_pools = _FilePlace("pools/queries")
    """The pool of each query paper; all its facets share it."""
    rankings = _FilePlace("pools/rankings")
    imported_rankings = _FilePlace("pools/imported")
    """Rankings of other engines, which can draw as our own methods do."""
    substudy = _FilePlace("substudy")
    training = _FilePlace("training")
    exports = _FilePlace("exports")
    runs = _FilePlace("exports/runs")
    qrels = _FilePlace("exports/qrels.txt")
    sheet = _FilePlace("queries.csv")
    """Default rating sheet."""
    cache = _FilePlace(CACHE)
    """Files that can be made again: token ids, trained word vectors, a local Label Studio."""

    @property
    def vocabulary(self) -> StudyVocabulary:
        """Vocabulary of the study in texts, by its queries of now."""
        from annot.store.pools import read_queries, read_topics

        with self.reading() as session:
            return vocabulary(self, read_queries(session), read_topics(session))

    def replaced(self, section: str = "", **changes: Any) -> Workspace:
        """The study with these settings instead of those in annot.toml, of a section or of none; None changes nothing.

        The values are not checked.
        """
        values = {name: value for name, value in changes.items() if value is not None}
        named = self.typed | {value for value in values.values() if isinstance(value, str)}
        written_changed = None if self.written is None else _updated(self.written, section, values)
        return replace(self, settings=_updated(self.settings, section, values), written=written_changed, typed=named)

    @property
    def in_file(self) -> Settings:
        """The settings as annot.toml has them."""
        return self.written or self.settings

    def as_recorded(self) -> Workspace:
        """The study with the names of the grades and the facets that were sent, even if annot.toml has changed since.

        If no record can be read, annot.toml counts; the next read of the record raises the reason.
        """
        from annot.store.shown import facets_that_count, scale_that_counts

        in_file = self.in_file
        try:
            if self.database_file is not None and not self.database_file.exists():
                return self
            with self.reading() as session:
                names, recorded = scale_that_counts(session, in_file.scale.names), facets_that_count(session)
        except AnnotError:
            return self
        other_facets = {
            facet: labels
            for facet, labels in recorded.items()
            if facet != WHOLE and {*labels} != {*in_file.facets.get(facet, (None,))}
        }
        if names == in_file.scale.names and not other_facets:
            return self
        return replace(self, settings=in_file.with_record(names, in_file.facets | other_facets), written=in_file)

    def as_written(self) -> Workspace:
        """The study with the settings of annot.toml, for pushes: a facet that was removed keeps the labels on
        record."""
        facets = {**self.settings.facets, **self.in_file.facets}
        return replace(self, settings=self.in_file.model_copy(update={"facets": facets}), written=self.in_file)

    def qrels_of(self, version: str) -> Path:
        """File of the qrels of an earlier version of the corpus."""
        return self.inside(self.exports, f"qrels-{version}.txt")

    def run_file(self, tag: str) -> Path:
        """File of the run of this tag."""
        return self.inside(self.runs, f"{tag}.run")

    @property
    def database_url(self) -> str:
        """SQLAlchemy URL of the working state; `ANNOT_DATABASE` wins over the settings.

        Raises InputError if the settings name one outside the folder that the owner of this machine has not allowed.
        """
        from_environment = os.environ.get(DATABASE_VARIABLE)
        named = from_environment or self.settings.store.database
        address = named if "://" in named else str((self.root / named).resolve())
        if not from_environment and ("://" in named or not is_inside(self.root / named, self.root)):
            self.check_door(address, f"{SETTINGS_FILE}, [store] database")
        return address if "://" in named else f"sqlite:///{address}"

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The working state, open. Raises MissingInput if there is none."""
        from annot.store.database import open_store

        with nullcontext(self.held()) if self.held else open_store(self.database_url, create=False) as store:
            yield store

    @contextmanager
    def opened(self) -> Iterator[Workspace]:
        """The same study, whose working state stays open from its first use until the end."""
        from annot.store.database import open_store

        if self.held:
            yield self
            return
        with ExitStack() as stack:
            yield replace(self, held=cache(lambda: stack.enter_context(open_store(self.database_url, create=False))))

    def __getstate__(self) -> dict[str, Any]:
        # A connection cannot go to another process, which opens its own.
        return {**self.__dict__, "held": None}

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A transaction that reads the working state, and sees one moment of it."""
        with self.store() as store, store.read() as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that changes the working state: all of it is kept at the end, or nothing after an error."""
        with self.store() as store, store.begin() as session:
            yield session

    def read(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Result of a function that reads the working state, in a transaction of its own."""
        with self.reading() as session:
            return function(session, *args, **kwargs)

    def write(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Result of a function that changes the working state, in a transaction of its own."""
        with self.writing() as session:
            return function(session, *args, **kwargs)

    @property
    def machine(self) -> MachineSettings:
        """Settings of long work. Raises InputError as `database_url` does, for a cluster and for the place of its
        files."""
        machine = self.settings.machine
        if machine.cluster:
            self.check_door(machine.cluster, f"{SETTINGS_FILE}, [machine] cluster")
            if machine.shards:
                self.check_door(machine.shards, f"{SETTINGS_FILE}, [machine] shards")
        return machine

    def check_door(self, address: str, asked_by: str) -> None:
        """Raise InputError unless the owner of this machine lets a file of this study name `address`."""
        if address not in self.typed:
            check_door(self.root, address, asked_by=asked_by)

    def inside(self, folder: Path, name: str) -> Path:
        """The file that a record in `folder` calls `name`. Raises InputError for one outside the study."""
        path = folder / name
        if not is_named_inside(path, self.root):
            raise InputError(f"{name}: found in {folder}, expected the name of a file of this study")
        return path

    @property
    def database_file(self) -> Path | None:
        """The file of a SQLite database, absolute; None on PostgreSQL."""
        kind, _, path = self.database_url.partition(":///")
        return Path(path).absolute() if kind == "sqlite" else None

    @property
    def has_corpus(self) -> bool:
        """True if there are any papers."""
        return any(self.corpus.glob("*.parquet"))

    @property
    def stages(self) -> tuple[Path, ...]:
        """Folders in which commands work, or that killed commands left: see `annot.study.workspace`."""
        return tuple(self.cache.glob(f"{STAGE}*"))

    @property
    def looks_whole(self) -> bool:
        """True if the database is next to the files or, for a database on a server, if the files are here."""
        if self.database_file is not None:
            return self.database_file.exists()
        return all((folder / "manifest.json").is_file() for folder in (self.corpus, self.pools))


def _check_release(root: Path) -> None:
    """Raise StoreError if the study needs a later release, whose settings this one may not know."""
    from annot.store.database import connect_store
    from annot.store.schema import release_needed

    release = None
    with suppress(AnnotError, ValueError, OSError):
        document = tomllib.loads((root / SETTINGS_FILE).read_text(encoding="utf-8-sig"))
        ws = Workspace(root, Settings.model_validate({"store": document.get("store", {})}))
        with connect_store(ws.database_url, create=False) as store, store.read() as session:
            release = release_needed(session.connection())
    if release is not None:
        raise StoreError(
            f"{root}: the study needs annot {release} or later, this is {__version__}", hint="update annot"
        )


def _updated(settings: Settings, section: str, values: Mapping[str, Any]) -> Settings:
    """The settings with these values, of a section or of none."""
    named = {section: getattr(settings, section).model_copy(update=values)} if section else values
    return settings.model_copy(update=named)


def write_file(path: Path, content: str | bytes | bytearray, *, private: bool = False) -> None:
    """Write `content` to `path` so that a reader sees the old file or the new one, never a part.

    A file that already has this content stays unchanged. private: its owner alone can read it.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # which the system does not say of a full disk
        raise


def write_setting(path: Path, section: str, name: str, value: str | bool) -> None:
    """Change one setting in the annot.toml at `path`; all else in it, comments too, stays as it is."""
    document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    table: Any = document.setdefault(section, tomlkit.table())
    if table.get(name) != value:
        table[name] = value
        write_file(path, tomlkit.dumps(document))


def write_manifest(path: Path, *, files: Iterable[Path], inputs: Mapping[str, str], facts: Mapping[str, Any]) -> None:
    """Write the manifest of a step: its files with their SHA-256, its inputs' hashes, and its facts.

    `inputs` maps the name of each input to its SHA-256, so that manifests chain from the corpus to the measures.
    """
    record = {
        "files": {file.relative_to(path.parent).as_posix(): sha256_of(file) for file in sorted(files)},
        "inputs": dict(sorted(inputs.items())),
        **facts,
    }
    write_file(path, json.dumps(record, indent=2, ensure_ascii=False, sort_keys=True) + "\n")


def read_manifest(path: Path, *, hint: str) -> dict[str, Any]:
    """The manifest at `path`. Raises MissingInput (with `hint`) when it is not there."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingInput(f"{path}: missing", hint=hint) from None
    except ValueError as error:
        raise InputError(f"{path}: not a manifest: {error}", hint=hint) from None
    if not isinstance(record, dict):
        raise InputError(f"{path}: not a manifest: found {type(record).__name__}, expected an object", hint=hint)
    return record


def text_of(path: Path, manifest: Mapping[str, Any], *, told_by: Path, hint: str) -> str:
    """The text of a run file. Raises InputError if it is not the one that the manifest at `told_by` names."""
    recorded_hash = manifest.get("files", {}).get(path.relative_to(told_by.parent).as_posix())
    if (found_hash := sha256_of(path)) != recorded_hash:
        raise InputError(
            f"{path}: its SHA-256 is {found_hash[:12]}, expected {str(recorded_hash)[:12]} as in {told_by}",
            hint=f"take the file from a backup, or {hint}",
        )
    return path.read_text(encoding="utf-8")


def check_files(paths: Iterable[Path]) -> None:
    """Raise InputError with each path that is not a file."""
    absent = [
        f"{path}: {'a folder, expected a file' if path.is_dir() else 'no such file'}"
        for path in paths
        if not path.is_file()
    ]
    if absent:
        raise InputError(f"{counted(len(absent), 'file')} not found", faults=absent)


def read_entered(ws: Workspace) -> Mapping[tuple[str, str], tuple[str, str]]:
    """Kind and note of each pair for which the sheet of errors has either; none if there is no sheet."""
    path = ws.root / SHEET
    if not path.is_file():
        return {}
    return read_error_sheet(
        content_of(path, expected="a sheet of errors"), name=str(path), kinds=ws.settings.evaluation.error_kinds
    )


def read_kinds(ws: Workspace) -> dict[tuple[str, str], str]:
    """The kind of each pair that has one in the sheet of errors."""
    return {pair: kind for pair, (kind, _) in read_entered(ws).items() if kind}


def given_text(path: Path, *, expected: str) -> str:
    """The text of the file, in UTF-8 or the encoding of its byte order mark, which is left out.

    Raises InputError if there is no such file, or it is not in that encoding.
    """
    data = content_of(path, expected=expected)
    encoding = unicode_of_start(data)
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not {encoding.upper()} text at byte {error.start}, expected {expected}") from None


# ----------------------------------------------------------------------------------------------------------------------
# Stages: private folders in a study's `.annot/` in which a command works; those of killed commands go with the next.
#
# A folder outside the study, such as a release, is made in a stage too, and takes its place whole (`replacement`).
# ----------------------------------------------------------------------------------------------------------------------


PLACE_FILE = "place"
"""Name of the file of a stage with the folder elsewhere that is being replaced."""


@contextmanager
def stage(root: Path) -> Iterator[Path]:
    """A private folder in the study's `.annot/`, on the disk of the study and in no repository, to work in.

    It is removed at the end; if this process is killed, by the next command.
    """
    remove_dead_stages(root)
    cache = root / CACHE
    if not is_inside(cache, root):
        check_door(root, str(cache.resolve()), asked_by=f"{CACHE}, a link,")
    new = not cache.exists()
    cache.mkdir(parents=True, exist_ok=True)
    with ExitStack() as end:
        if new:
            end.callback(_remove_empty, cache)
        # Between making a stage and holding it, no other command may take it for a dead one.
        with held(cache, wait=True):
            folder = Path(tempfile.mkdtemp(dir=cache, prefix=STAGE))
            end.callback(_remove, folder)
            end.enter_context(held(folder))
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        yield folder


@contextmanager
def replacement(root: Path, folder: Path) -> Iterator[Path]:
    """An empty folder that replaces `folder` at the end, unless an error ends the block.

    Killed at any moment, `folder` is the old or the new one; leftovers next to it, which on the disk of the study exist
    only for an instant, are removed by the study's next command.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with stage(root) as staging:
        new_folder = staging / "made"
        new_folder.mkdir()
        yield new_folder
        (staging / PLACE_FILE).write_text(str(folder), encoding="utf-8")
        coming, leaving = _neighbours(folder, staging)
        # Across disks this copies; only next to the folder a move happens as a whole or not at all.
        shutil.move(new_folder, coming)
        with held(folder.parent, wait=True):
            if folder.exists():
                folder.rename(leaving)
            coming.rename(folder)


def remove_dead_stages(root: Path) -> None:
    """Remove the stages of processes that were killed."""
    remove_dead((root / CACHE).glob(f"{STAGE}*"))


def remove_dead(paths: Iterable[Path]) -> None:
    """Remove the files and folders that no process holds any more."""
    for path in paths:
        with suppress(OSError), held(path.parent), held(path):
            _remove(path)


@contextmanager
def held(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold a file or a folder for this process alone. Raises OSError if another holds it; wait: until the other
    releases it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


def _replaced_folder(staging: Path) -> Path | None:
    """Folder that is replaced from this stage, if there is one."""
    with suppress(OSError, ValueError):
        folder = Path((staging / PLACE_FILE).read_text(encoding="utf-8"))
        return folder if folder.name else None
    return None


def _neighbours(folder: Path, staging: Path) -> tuple[Path, Path]:
    """Paths next to the folder for the new and the old one, with names that no other process uses."""
    new, old = (folder.with_name(f".{folder.name}.{staging.name}.{end}") for end in ("new", "old"))
    return new, old


def _remove(path: Path) -> None:
    """Remove a stage or another dead file; a folder that was being replaced is put back first."""
    if not path.is_dir():
        path.unlink()
        return
    if folder := _replaced_folder(path):
        # The names are those of the stage, whatever the file contains.
        coming, leaving = _neighbours(folder, path)
        if leaving.is_dir() and not folder.exists():
            leaving.rename(folder)
        for neighbour in (coming, leaving):
            shutil.rmtree(neighbour, ignore_errors=True)
    shutil.rmtree(path, ignore_errors=True)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def faceted(ws: Workspace, queries: Sequence[Query]) -> bool:
    """True if facets are judged; without queries, the setting of annot.toml."""
    return any(query.facet != WHOLE for query in queries) if queries else ws.settings.faceted


def vocabulary(ws: Workspace, queries: Sequence[Query], texts: Collection[str]) -> StudyVocabulary:
    """Vocabulary of a study with these queries, and with these topics that are texts."""
    words, judged_by_facet = OF_TEXTS if texts else OF_PAPERS, faceted(ws, queries)
    if texts:
        topic = "question" if ws.settings.kind == "questions" else words.topic
        words = words._replace(topic=topic, query=OF_PAPERS.query if judged_by_facet else topic)
    elif len({query.topic_id for query in queries}) == len(queries) > 0:
        words = words._replace(topic=words.query)
    return words._replace(faceted=judged_by_facet, binary=len(ws.settings.scale.names) == 2)
