"""Backups that a stranger has changed: each packed so that everything else of it is as it should be."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit

MANIFEST = "annot-backup.json"
TOML = "files/annot.toml"


@dataclass
class Backup:
    """What is in a backup, to be changed."""

    manifest: dict[str, Any]
    files: dict[str, bytes]
    more: list[tarfile.TarInfo] = field(default_factory=list)
    """Entries without content, which come last."""

    @classmethod
    def read(cls, path: Path) -> Backup:
        with tarfile.open(path) as tar:
            files = {entry.name: tar.extractfile(entry).read() for entry in tar}  # type: ignore[union-attr]
        return cls(json.loads(files.pop(MANIFEST)), files)

    def put(self, name: str, content: bytes | str) -> None:
        """A file that the manifest names as well."""
        self.files[name] = content.encode() if isinstance(content, str) else content
        self.manifest["entries"][name] = said_of(self.files[name])

    def rows(self, table: str, change: Callable[[dict[str, Any]], Any]) -> None:
        """Change the first row of a table."""
        name = f"database/{table}.jsonl"
        first, *others = self.files[name].decode().splitlines()
        row = json.loads(first)
        self.put(name, "\n".join([json.dumps(change(row) or row), *others, ""]))

    def write(self, path: Path) -> None:
        with tarfile.open(path, "w:gz", compresslevel=1) as tar:
            for name, content in {MANIFEST: json.dumps(self.manifest).encode(), **self.files}.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
            for entry in self.more:
                tar.addfile(entry)


def said_of(content: bytes) -> list[Any]:
    return [len(content), hashlib.sha256(content).hexdigest()]


class Hostile(NamedTuple):
    """A change, and what has to be in the one sentence that refuses it."""

    change: Callable[[Backup, Path], None]
    words: str


def database(place: str) -> Callable[[Backup, Path], None]:
    """A database where `place` says; `{}` is the folder of somebody else's files."""

    def change(backup: Backup, foreign: Path) -> None:
        settings = tomlkit.parse(backup.files[TOML])
        settings["store"] = {"database": place.format(foreign)}
        backup.put(TOML, tomlkit.dumps(settings))

    return change


def file(name: str, content: bytes | str = "mine") -> Callable[[Backup, Path], None]:
    return lambda backup, _: backup.put(name, content)


def entry(**given: Any) -> Callable[[Backup, Path], None]:
    """An entry of another kind in place of a file that the manifest names."""

    def change(backup: Backup, foreign: Path) -> None:
        info = tarfile.TarInfo("files/notes.txt")
        backup.manifest["entries"]["files/notes.txt"] = said_of(b"")
        for name, value in given.items():
            setattr(info, name, value.format(foreign) if isinstance(value, str) else value)
        backup.more.append(info)

    return change


def says(*keys: str, value: Any) -> Callable[[Backup, Path], None]:
    """The manifest says something else; `first` is its first key at that depth."""

    def change(backup: Backup, _: Path) -> None:
        place = backup.manifest
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1] if keys[-1] != "first" else next(iter(place))] = value

    return change


def statements(backup: Backup, foreign: Path) -> None:
    attach = [f"ATTACH DATABASE '{foreign / 'made.db'}' AS x", "CREATE TABLE x.y (z)"]
    backup.manifest["database"]["statements"] = {"sqlite": attach, "postgresql": attach}


def unknown_table(backup: Backup, _: Path) -> None:
    backup.put("database/sqlite_master.jsonl", '{"sql": "x"}\n')
    backup.manifest["database"]["rows"]["sqlite_master"] = 1


def missing_table(backup: Backup, _: Path) -> None:
    del backup.manifest["database"]["rows"]["judgement"]


def row(change: Callable[[dict[str, Any]], Any], table: str = "facet_labels") -> Callable[[Backup, Path], None]:
    return lambda backup, _: backup.rows(table, change)


def bomb(backup: Backup, _: Path) -> None:
    """The manifest says ten bytes; the archive has 64 MB."""
    backup.put("files/notes.txt", bytes(64 << 20))
    backup.manifest["entries"]["files/notes.txt"][0] = 10


def honest_bomb(backup: Backup, _: Path) -> None:
    backup.put("files/notes.txt", bytes(64 << 20))


def after_the_end(backup: Backup, _: Path) -> None:
    """64 MB in the header of an entry that the manifest does not name."""
    info = tarfile.TarInfo("files/notes.txt")
    info.pax_headers = {"comment": "x" * (64 << 20)}
    backup.more.append(info)


def twice(backup: Backup, _: Path) -> None:
    backup.more.append(tarfile.TarInfo(TOML))


def bare_repository(backup: Backup, _: Path) -> None:
    for name in ("HEAD", "config", "objects/x", "refs/x"):
        backup.put(f"files/{name}", "x")


GIT_SETTINGS = "[core]\n\tfsmonitor = touch /tmp/ran\n"
LINK, HARD_LINK, DEVICE, SPARSE = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.GNUTYPE_SPARSE
BELONGS = "does not belong in a backup"
HOSTILE = {
    "statements in the manifest": Hostile(statements, "its manifest cannot be read: database.statements"),
    "a database elsewhere": Hostile(database("{}/key"), "asks for "),
    "a database at an address": Hostile(database("postgresql://u:secret@db.example/x"), "asks for "),
    "a database in place of git's settings": Hostile(database(".git/config"), "expected a file in the folder"),
    "a database in place of the settings": Hostile(database("annot.toml"), "found a file, expected a database made"),
    "a database that is a file": Hostile(file("files/annot.db"), "found a file, expected a database made"),
    "settings of git": Hostile(file("files/.git/config", GIT_SETTINGS), BELONGS),
    "settings of git in capitals": Hostile(file("files/.GIT/config", GIT_SETTINGS), BELONGS),
    "a folder that git takes for its own": Hostile(bare_repository, "a git folder"),
    "a server of the program's own": Hostile(file("files/.annot/studios/a1/elsewhere.json", "{}"), BELONGS),
    "backups in the backup": Hostile(file("files/backups/x.tar.gz"), BELONGS),
    "a file above the folder": Hostile(file("files/../../foreign/key"), BELONGS),
    "a file of a path from the root": Hostile(file("/etc/annot"), BELONGS),
    "a file below a file": Hostile(file(f"{TOML}/x"), BELONGS),
    "no settings": Hostile(
        lambda backup, _: (backup.files.pop(TOML), backup.manifest["entries"].pop(TOML))[0:0], "annot.toml: missing"
    ),  # type: ignore[arg-type, return-value]
    "a link": Hostile(entry(type=LINK, linkname="{}/key"), "not a file of 0 bytes"),
    "a hard link": Hostile(entry(type=HARD_LINK, linkname=TOML), "not a file of 0 bytes"),
    "a name that is empty": Hostile(entry(name=""), "not in its manifest"),
    "an empty name in the manifest": Hostile(says("entries", "", value=said_of(b"")), BELONGS),
    "a name with the end of a text": Hostile(says("entries", "files/a\0b", value=said_of(b"")), BELONGS),
    "hashes that are a list": Hostile(says("entries", value=[["a", "b"]]), "its manifest cannot be read: entries"),
    "a version that is a text": Hostile(says("database", "version", value="1"), "cannot be read: database.version"),
    "a later version": Hostile(says("database", "version", value=99), "which knows only earlier tables"),
    "a number of rows that is a text": Hostile(
        says("database", "rows", "judgement", value="x"), "database.rows.judgement"
    ),
    "a file twice": Hostile(twice, "twice in it"),
    "an unknown table": Hostile(unknown_table, "sqlite_master: no table of that version"),
    "a table is missing": Hostile(missing_table, "judgement: a table missing"),
    "an unknown column": Hostile(row(lambda row: row.update({"a) VALUES (1); --": 1})), "expected no such field"),
    "a row that is a list": Hostile(row(list), "facet_labels.jsonl:1: found ["),
    "half a letter": Hostile(row(lambda row: row.update(labels="\ud800")), "facet_labels.jsonl:1: labels: "),
    "no JSON where some is": Hostile(row(lambda row: row.update(sentences="[1"), "query"), "query.jsonl:1: sent"),
    "a number beyond all": Hostile(row(lambda row: row.update(seed=1 << 80), "pool"), "seed: found 12089"),
    "more than the manifest says": Hostile(bomb, "not a file of 10 bytes"),
    "a thousand times its size": Hostile(honest_bomb, "expected at most 100 times as many"),
    "more than it names": Hostile(after_the_end, "it holds more than its manifest says"),
}
