"""Archive of a backup: packed files come back byte for byte, and files outside its manifest are refused."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import AnnotError, InputError
from annot.store.database import DumpFacts
from annot.store.models import TABLES
from annot.store.schema import MIGRATIONS
from annot.study import backups
from annot.study.backups import BackupManifest, entry_of, is_archive, is_kept, manifest_of, unpack, write_archive

SETTINGS = "files/annot.toml"


def packed(folder: Path, files: Mapping[str, bytes], **changed: Any) -> tuple[Path, BackupManifest]:
    """A backup of these files, and its manifest."""
    sources = {}
    for at, (name, content) in enumerate(files.items()):
        sources[name] = folder / f"source{at}"
        sources[name].write_bytes(content)
    dumped = DumpFacts(len(MIGRATIONS), dict.fromkeys(TABLES.tables, 0))
    entries = {name: entry_of(source) for name, source in sources.items()}
    contents = replace(BackupManifest("0.1", "2031-01-01T00:00:00Z", "a study", dumped, entries, (), True), **changed)
    write_archive(folder / "deep" / "kept" / "here.tar.gz", contents, sources)
    return folder / "deep" / "kept" / "here.tar.gz", contents


def by_hand(path: Path, manifest: object, *entries: tuple[tarfile.TarInfo, bytes]) -> Path:
    """An archive with this manifest and these entries, consistent or not."""
    text = json.dumps(manifest).encode()
    first = tarfile.TarInfo("annot-backup.json")
    with tarfile.open(path, "w:gz") as tar:
        for entry, content in ((first, text), *entries):
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return path


def manifest(entries: Mapping[str, bytes], **changed: Any) -> dict[str, Any]:
    sums = {name: [len(content), hashlib.sha256(content).hexdigest()] for name, content in entries.items()}
    rows = dict.fromkeys(TABLES.tables, 0)
    said = {"annot": "0.1", "made": "2031", "collection": "a study", "entries": sums, "notes": [], "whole": True}
    return {**said, "database": {"version": len(MIGRATIONS), "rows": rows}, **changed}


def named(name: str, **given: Any) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    for key, value in given.items():
        setattr(entry, key, value)
    return entry


def test_what_is_packed_comes_back_byte_for_byte(tmp_path: Path) -> None:
    files = {SETTINGS: b"seed = 1\n", "files/a/b/one.txt": b"1", "files/a/b/two.txt": b"", "server/7.json": b"{}"}
    path, contents = packed(tmp_path, files)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["here.tar.gz"]
    (tmp_path / "new").mkdir()
    assert unpack(path, tmp_path / "new") == contents == manifest_of(path)
    found = {one.relative_to(tmp_path / "new").as_posix(): one for one in (tmp_path / "new").rglob("*.*")}
    assert {name: one.read_bytes() for name, one in found.items()} == files
    assert (contents.size, contents.projects) == (9 + 1 + 0 + 2, 1)
    assert [one.as_posix() for one in contents.files] == ["annot.toml", "a/b/one.txt", "a/b/two.txt"]


def test_an_archive_says_nothing_of_the_account_that_made_it(tmp_path: Path) -> None:
    path, _ = packed(tmp_path, {SETTINGS: b""})
    with tarfile.open(path) as tar:
        assert [(one.uid, one.gid, one.uname, one.gname) for one in tar] == [(0, 0, "", "")] * 2


def test_nothing_is_written_over_and_a_file_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    path, contents = packed(tmp_path, {SETTINGS: b"1"})
    with pytest.raises(InputError, match="already exists"):
        write_archive(path, contents, {})
    (tmp_path / "source0").write_bytes(b"2")
    other = path.with_name("other.tar.gz")
    with pytest.raises(InputError, match="source0: changed while it was copied"):
        write_archive(other, contents, {SETTINGS: tmp_path / "source0"})
    assert [one.name for one in path.parent.iterdir()] == ["here.tar.gz"]


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("annot.toml", True),
        ("pools/queries/p1.jsonl", True),
        (".annot/studio/x", False),
        ("notes/.annot", True),
        ("backups/auto.tar.gz", False),
        ("notes/backups", True),
        (".git/config", False),
        ("notes/.GIT", False),
        ("notes/.gitignore", True),
    ],
)
def test_what_can_be_made_again_and_what_is_of_git_is_not_kept(path: str, kept: bool) -> None:
    assert is_kept(PurePosixPath(path)) is kept


def test_a_backup_is_known_by_its_first_entry(tmp_path: Path) -> None:
    path, _ = packed(tmp_path, {SETTINGS: b""})
    assert is_archive(path)
    assert is_archive(path.rename(path.with_name("here.tgz")))
    path = path.with_name("here.tgz").rename(path.with_name("here.tar"))
    assert not is_archive(path)
    link = path.with_name("link.tar.gz")
    link.symlink_to(path)
    assert not is_archive(link)
    for name, members in (("other.tar.gz", [tarfile.TarInfo("notes.txt")]), ("empty.tar.gz", [])):
        with tarfile.open(tmp_path / name, "w:gz") as tar:
            for member in members:
                tar.addfile(member)
        assert not is_archive(tmp_path / name)
        with pytest.raises(InputError, match=r"not a backup: it does not begin with annot-backup\.json"):
            manifest_of(tmp_path / name)
    (tmp_path / "broken.tar.gz").write_bytes(b"not packed")
    assert not is_archive(tmp_path / "broken.tar.gz")
    with pytest.raises(InputError, match="not a complete backup"):
        unpack(tmp_path / "broken.tar.gz", tmp_path)
    with pytest.raises(InputError, match="no such file, expected a backup"):
        unpack(tmp_path / "none.tar.gz", tmp_path)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"entries": {SETTINGS: ["0", "0" * 64]}}, "cannot be read: entries.files/annot.toml.0: Input should be a"),
        ({"entries": {SETTINGS: [0, "x"]}}, "cannot be read: entries.files/annot.toml.1: String should match"),
        ({"more": 1}, "its manifest cannot be read: more"),
        ({"database": {"version": 99, "rows": {}}}, "made by annot 0.1, this is"),
    ],
)
def test_a_manifest_of_another_form_is_refused(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    path = by_hand(tmp_path / "x.tar.gz", manifest({SETTINGS: b""}) | changed)
    with pytest.raises(AnnotError, match=words):
        manifest_of(path)


ROWS = dict.fromkeys(TABLES.tables, 0)


@pytest.mark.parametrize(
    ("names", "changed", "faults"),
    [
        (["database/run.jsonl", "server/a.json", "files/a", "files/b/c", "files/b/d"], {}, []),
        (["files/../x"], {}, ["'files/../x': does not belong in a backup"]),
        (["/etc/annot"], {}, ["'/etc/annot': does not belong in a backup"]),
        (["files//x"], {}, ["'files//x': does not belong in a backup"]),
        (["files/a\0b"], {}, ["'files/a\\x00b': does not belong in a backup"]),
        (["key", "server", "."], {}, [f"{name!r}: does not belong in a backup" for name in ("key", "server", ".")]),
        # The settings are below a folder, which cannot be a file as well.
        (["files"], {}, [f"{name!r}: does not belong in a backup" for name in ("files", SETTINGS)]),
        (["database/other.jsonl"], {}, ["'database/other.jsonl': does not belong in a backup"]),
        (["server/a/b.json"], {}, ["'server/a/b.json': does not belong in a backup"]),
        (["files/.git/config"], {}, ["'files/.git/config': does not belong in a backup"]),
        (["files/a", "files/a/b"], {}, ["'files/a/b': does not belong in a backup"]),
        (["files/a", "files/a/b/c"], {}, ["'files/a/b/c': does not belong in a backup"]),
        (["files/HEAD", "files/objects/x"], {}, []),
        (
            ["files/HEAD", "files/objects/x", "files/refs/x"],
            {},
            ["HEAD, objects and refs: a git folder, which does not belong in a backup"],
        ),
        (
            [],
            {"database": {"version": len(MIGRATIONS), "rows": dict.fromkeys({*ROWS, "x"} - {"run"}, 0)}},
            ["run: a table missing", "x: no table of that version"],
        ),
    ],
)
def test_a_manifest_names_only_what_belongs_in_a_backup(
    tmp_path: Path, names: list[str], changed: dict[str, Any], faults: list[str]
) -> None:
    path = by_hand(tmp_path / "x.tar.gz", manifest(dict.fromkeys([SETTINGS, *names], b""), **changed))
    if not faults:
        assert [*manifest_of(path).entries] == [SETTINGS, *names]
        return
    with pytest.raises(InputError, match="names files that do not belong in a backup") as error:
        manifest_of(path)
    assert sorted(error.value.faults) == sorted(faults)


def test_a_whole_backup_has_settings_and_a_git_folder_is_known_without_them(tmp_path: Path) -> None:
    path = by_hand(
        tmp_path / "x.tar.gz", manifest(dict.fromkeys(("files/HEAD", "files/objects/x", "files/refs/x"), b""))
    )
    with pytest.raises(InputError) as error:
        manifest_of(path)
    assert [fault.partition(":")[0] for fault in error.value.faults] == ["HEAD, objects and refs", "annot.toml"]
    assert manifest_of(by_hand(path, manifest({}, whole=False))).files == ()


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([(named("files/other"), b"")], "'files/other': not in its manifest"),
        ([(named(SETTINGS), b"ab"), (named(SETTINGS), b"ab")], "'files/annot.toml': twice in it"),
        ([(named(SETTINGS, type=tarfile.SYMTYPE, linkname="key"), b"")], "not a file of 2 bytes"),
        ([(named(SETTINGS), b"abc")], "not a file of 2 bytes"),
    ],
)
def test_an_entry_is_the_file_that_the_manifest_names(
    tmp_path: Path, entries: list[tuple[tarfile.TarInfo, bytes]], words: str
) -> None:
    path = by_hand(tmp_path / "x.tar.gz", manifest({SETTINGS: b"ab"}), *entries)
    with pytest.raises(InputError, match=words):
        unpack(path, tmp_path)


def test_what_is_missing_and_what_has_another_hash_is_named(tmp_path: Path) -> None:
    said = manifest({SETTINGS: b"ab", "files/gone": b""})
    path = by_hand(tmp_path / "x.tar.gz", said, (named(SETTINGS), b"ba"))
    with pytest.raises(InputError, match="2 files in it differ from its manifest") as error:
        unpack(path, tmp_path)
    # The SHA-256 of "ba" and of "ab", as `sha256sum` prints them.
    expected = "files/annot.toml: found SHA-256 970f519c2cad, expected fb8e20fc2e4c"
    assert error.value.faults == (expected, "files/gone: missing")


@pytest.mark.parametrize(("mode", "found"), [(0o400, 0o600), (0o4755, 0o755), (0o040, 0o640), (0o111, 0o711)])
def test_a_file_keeps_its_rights_and_its_owner_can_change_it(tmp_path: Path, mode: int, found: int) -> None:
    unpack(by_hand(tmp_path / "x.tar.gz", manifest({SETTINGS: b""}), (named(SETTINGS, mode=mode), b"")), tmp_path)
    assert (tmp_path / SETTINGS).stat().st_mode & 0o7777 == found


def test_what_is_unpacked_is_at_most_a_hundred_times_what_was_packed(tmp_path: Path) -> None:
    many = {SETTINGS: bytes(400_000)}
    path = by_hand(tmp_path / "x.tar.gz", manifest(many), (named(SETTINGS), many[SETTINGS]))
    written = path.read_bytes()
    assert len(written) < 4_000
    (tmp_path / "new").mkdir()
    path.write_bytes(written.ljust(3_999, b"\0"))  # zeros after the end are skipped
    with pytest.raises(InputError, match="3999 bytes for 400000 bytes of files, expected at most 100 times as many"):
        unpack(path, tmp_path / "new")
    path.write_bytes(written.ljust(4_000, b"\0"))
    unpack(path, tmp_path / "new")


def test_it_has_to_fit_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = packed(tmp_path, {SETTINGS: b"12345"})
    monkeypatch.setattr(backups.shutil, "disk_usage", lambda _: SimpleNamespace(free=4))
    with pytest.raises(InputError, match="needs 5 bytes, found 4 free on the disk"):
        unpack(path, tmp_path)
    monkeypatch.setattr(backups.shutil, "disk_usage", lambda _: SimpleNamespace(free=5))
    unpack(path, tmp_path)


def test_a_manifest_of_64_megabytes_is_read_and_none_beyond(tmp_path: Path) -> None:
    for size in (64 << 20, (64 << 20) + (16 << 10)):
        text = json.dumps(manifest({SETTINGS: b""})).encode().ljust(size)
        entry = named("annot-backup.json", size=size)
        with tarfile.open(tmp_path / f"{size}.tar.gz", "w:gz", compresslevel=1) as tar:
            tar.addfile(entry, io.BytesIO(text))
    assert manifest_of(tmp_path / f"{64 << 20}.tar.gz").whole
    with pytest.raises(InputError, match="it holds more than its manifest says"):
        manifest_of(tmp_path / f"{size}.tar.gz")
