"""Back-ups are whole or none, a restore is whole or none, migrations are asked for, and changes are found."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from annot.steps import restore
from annot.store.database import open_store
from annot.store.judgements import JUDGEMENTS
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace, sha256_of
from command_line import annot, annot_done, difference, snapshot
from usual import USUAL

FROZEN = Path(__file__).resolve().parents[1] / "store" / "frozen"
Study = Callable[[str], Path]


def older(folder: Path) -> Path:
    """A study whose database is of the first version."""
    (folder / "annot.db").unlink()
    with closing(sqlite3.connect(folder / "annot.db")) as connection:
        connection.executescript((FROZEN / "version-1.sqlite.sql").read_text(encoding="utf-8"))
    return folder


def study_files(folder: Path) -> dict[str, object]:
    """A snapshot without what the program keeps beside the study, and without empty folders."""
    made_again = ("backups", ".annot/corpus.json", ".annot/near-duplicates")
    found = {name: there for name, there in snapshot(folder).items() if not name.startswith(made_again)}
    _, tables = found.pop("annot.db")
    rows = {name: sorted(rows, key=repr) for name, rows in tables.items()}
    return {**{name: there for name, there in found.items() if there is not None}, "annot.db": rows}


@pytest.fixture
def backup(study: Study, tmp_path: Path) -> Path:
    """A backup of a study that is settled, with a file of the lead's own; the study is there still."""
    folder = study("settled")
    (folder / "notes").mkdir()
    (folder / "notes" / "meeting.txt").write_text("what we agreed on", encoding="utf-8")
    annot_done("backup", tmp_path / "kept.tar.gz", folder=folder)
    return tmp_path / "kept.tar.gz"


def test_what_is_restored_is_what_was_there(backup: Path, tmp_path: Path) -> None:
    annot_done("restore", backup, tmp_path / "again", folder=tmp_path)
    assert not difference(study_files(tmp_path / "study"), study_files(tmp_path / "again"))
    assert (tmp_path / "again" / "annot.db").stat().st_mode & 0o777 == 0o600
    assert (
        annot_done("status", "--json", folder=tmp_path / "again").data
        == annot_done("status", "--json", folder=tmp_path / "study").data
    )


def test_a_backup_takes_no_other_backup_and_nothing_that_can_be_made_again(backup: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    (folder / ".annot" / "studio").mkdir(parents=True)
    (folder / ".annot" / "studio" / "passwords.tsv").write_text("a1\tsecret\n")
    (folder / "far").symlink_to(tmp_path, target_is_directory=True)
    shutil.copy(backup, folder / "earlier.tar.gz")
    (folder / "corpus" / "mine.tar.gz").write_bytes(gzip.compress(b"no backup"))
    taken = annot_done("backup", "second.tar.gz", folder=folder)
    assert "far: left out, a link to " in taken.stderr
    with tarfile.open(folder / "second.tar.gz") as tar:
        names = [name for name in tar.getnames() if name.startswith("files/")]
    assert "files/corpus/mine.tar.gz" in names
    assert "files/notes/meeting.txt" in names
    assert not [name for name in names if "studio" in name or "earlier" in name or "annot.db" in name or "far" in name]


def test_a_study_is_not_restored_over_another_unasked(backup: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    (folder / "annot.toml").write_text('[collection]\nname = "changed-since"\n', encoding="utf-8")
    before = snapshot(folder)
    refused = annot("restore", backup, folder=folder)
    assert refused.exit_code == 2
    assert "not empty, found " in refused.stderr
    assert "--replace" in refused.stderr
    assert not difference(before, snapshot(folder))
    done = annot_done("restore", backup, "--replace", "--json", folder=folder)
    annot_done("status", folder=folder)
    assert "changed-since" not in (folder / "annot.toml").read_text(encoding="utf-8")
    aside = Path(folder / done.data["replaced"])
    assert "changed-since" in (aside / "annot.toml").read_text(encoding="utf-8")
    assert (aside / "annot.db").is_file()
    annot_done("restore", backup, tmp_path / "fresh", folder=tmp_path)
    assert not difference(study_files(tmp_path / "fresh"), study_files(folder))


def damaged(backup: Path, how: str) -> None:
    content = backup.read_bytes()
    if how == "cut off":
        backup.write_bytes(content[: len(content) // 2])
    elif how == "a byte is another":
        middle = len(content) // 2
        backup.write_bytes(content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :])
    elif how == "no archive":
        backup.write_text("my notes\n")
    else:
        repacked(backup, how)


def repacked(backup: Path, how: str) -> None:
    """Somebody unpacked it, changed something, and packed it again."""
    folder = backup.parent / "unpacked"
    with tarfile.open(backup) as tar:
        tar.extractall(folder, filter="data")
        names = tar.getnames()
    if how == "a grade is another":
        path = folder / "database" / "judgement.jsonl"
        path.write_text(path.read_text("utf-8").replace('"grade": 1', '"grade": 3', 1), encoding="utf-8")
    elif how == "a file is gone":
        names.remove("files/notes/meeting.txt")
    elif how == "a file is new":
        (folder / "files" / "new.txt").write_text("new")
        names.insert(1, "files/new.txt")
    elif how == "no manifest":
        names.remove("annot-backup.json")
    with tarfile.open(backup, "w:gz") as tar:
        for name in names:
            tar.add(folder / name, arcname=f"../{name}" if how == "out of the folder" else name)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("cut off", "not a whole backup"),
        ("a byte is another", "backup"),
        ("no archive", "not a whole backup"),
        ("a grade is another", "database/judgement.jsonl: found SHA-256"),
        ("a file is gone", "files/notes/meeting.txt: not in it"),
        ("a file is new", "'files/new.txt': not in its manifest"),
        ("no manifest", "no annot-backup.json at its beginning"),
        ("out of the folder", "no annot-backup.json at its beginning"),
    ],
)
def test_a_damaged_backup_is_refused_and_leaves_nothing(how: str, words: str, backup: Path, tmp_path: Path) -> None:
    damaged(backup, how)
    target = tmp_path / "target"
    for arguments in (["--dry-run"], []):
        refused = annot("restore", backup, target, *arguments, folder=tmp_path)
        assert refused.exit_code == 2
        assert words in refused.message()
        assert not target.exists()
    before = snapshot(tmp_path / "study")
    assert annot("restore", backup, "--replace", folder=tmp_path / "study").exit_code == 2
    assert not difference(before, snapshot(tmp_path / "study"))


def test_a_restore_that_fails_half_way_leaves_the_study_as_it_was(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "study"
    (folder / "notes" / "later.txt").write_text("later")
    before = snapshot(folder)
    move = restore._Moves.move
    steps = 0

    def fails(self: restore._Moves, source: Path, target: Path) -> None:
        nonlocal steps
        steps += 1
        if steps == last:
            raise OSError(28, "No space left on device", str(target))
        move(self, source, target)

    monkeypatch.setattr(restore._Moves, "move", fails)
    for last in (1, 2, 9, 14):
        steps = 0
        failed = annot("restore", backup, "--replace", folder=folder)
        assert failed.exit_code == 2
        assert "No space left" in failed.stderr
        shutil.rmtree(folder / "backups", ignore_errors=True)
        assert not difference(before, snapshot(folder)), last


DIES = """
import os, signal, sys
from annot.steps import restore
from annot.store.database import open_store
from annot.store.judgements import JUDGEMENTS
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
move, left = restore._Moves.move, int(sys.argv.pop(1))
def dies(self, source, target):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    move(self, source, target)
restore._Moves.move = dies
from annot.cli.main import run
run()
"""


@pytest.mark.parametrize("moves", [0, 5, 12])
def test_a_restore_killed_half_way_is_no_study_or_a_whole_one(moves: int, backup: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    before, status = study_files(folder), annot_done("status", "--json", folder=folder).data
    words = [sys.executable, "-c", DIES, str(moves), "restore", str(backup), "--replace"]
    killed = subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert killed.returncode == -signal.SIGKILL
    looked = annot("status", "--json", folder=folder)
    if moves == 0:
        assert looked.data == status
    else:
        assert "not a study (no annot.toml)" in looked.stderr
    annot_done("restore", backup, "--replace", folder=folder)
    assert annot_done("status", "--json", folder=folder).data == status
    left = {name for name in study_files(folder) if not name.startswith(".annot-restore")}
    assert left == set(before)


@pytest.mark.parametrize("command", ["status", "verify", "plan", "corpus", "guidelines show method"])
def test_a_database_that_is_gone_from_beside_its_study_is_told_with_the_newest_backup(
    command: str, study: Study
) -> None:
    folder = study("planned")
    for name in ("older", "newer"):
        annot_done("backup", folder / "backups" / f"{name}.tar.gz", folder=folder)
    os.utime(folder / "backups" / "older.tar.gz", (1_700_000_000, 1_700_000_000))
    (folder / "annot.db").unlink()
    told = annot(*command.split(), folder=folder)
    assert "annot.db: no database there, but corpus/ and pools/ and 2 backup(s) of a study" in told.message()
    assert "annot restore backups/newer.tar.gz --replace" in told.message()
    assert "make the study with" not in told.message()
    assert not (folder / "annot.db").exists()
    made = annot_done("init", folder=folder)
    assert "annot restore backups/newer.tar.gz --replace" in made.stderr
    annot_done("restore", "backups/newer.tar.gz", "--replace", folder=folder)
    assert "annot restore" not in annot_done(*command.split(), folder=folder).stderr


@pytest.mark.postgres
def test_in_a_second_folder_on_the_same_server_the_folders_to_share_are_named(
    study: Study, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, second = study("planned"), tmp_path / "second"
    annot_done("backup", tmp_path / "study.tar.gz", folder=folder)
    monkeypatch.setenv("ANNOT_DATABASE", postgres_url)
    annot_done("restore", tmp_path / "study.tar.gz", tmp_path / "first", folder=tmp_path)
    annot_done("init", second, "--name", "annot-demo", folder=tmp_path)
    for command in ("pool", "corpus", "run fabs_tfidf"):
        told = annot(*command.split(), folder=second)
        assert "holds a study whose corpus/ and pools/ are not in this folder" in told.message()
        assert "share it with everyone who leads the study" in told.message()
        assert "corpus add" not in told.message()
        assert told.exit_code == 2
    status = annot_done("status", folder=second)
    assert "whose corpus/ and pools/ are not in this folder" in status.stderr
    assert annot_done("status", folder=tmp_path / "first").stderr == ""


@pytest.mark.postgres
def test_a_study_on_postgres_is_replaced_whole_or_not_at_all(
    backup: Path, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNOT_DATABASE", postgres_url)
    folder = tmp_path / "shared"
    annot_done("restore", backup, folder, folder=tmp_path)
    status = annot_done("status", "--json", folder=folder).data
    annot_done("assessor", "add", "a9", "--account", "a9@example.org", folder=folder)
    assert "a study in its database" in annot("restore", backup, tmp_path / "other", folder=tmp_path).stderr
    assert not (tmp_path / "other").exists()

    def people() -> int:
        return len(annot_done("assessor", "list", "--json", folder=folder).data)

    move = restore._Moves.move

    def fails(self: restore._Moves, source: Path, target: Path) -> None:
        if source.name == "pools" and restore.ASIDE in str(source):
            raise OSError(28, "No space left on device", str(target))
        move(self, source, target)

    with monkeypatch.context() as patch:
        patch.setattr(restore._Moves, "move", fails)
        assert annot("restore", backup, "--replace", folder=folder).exit_code == 2
    assert people() == 6
    annot_done("verify", folder=folder)
    aside = annot_done("restore", backup, "--replace", "--json", folder=folder).data["replaced"]
    assert people() == 5
    assert annot_done("status", "--json", folder=folder).data == status
    # What was replaced comes back, too: the database alone.
    annot_done("restore", folder / aside / "database.tar.gz", "--replace", folder=folder)
    assert people() == 6
    annot_done("verify", folder=folder)


def test_an_older_database_is_left_alone_by_every_command_but_one(study: Study, tmp_path: Path) -> None:
    folder = older(study("made"))
    before = snapshot(folder)
    for words in ("status", "agreement", "pool", "plan", "init .", "push --dry-run", "verify", "backup ../b.tar.gz"):
        refused = annot(*words.split(), folder=folder)
        assert refused.exit_code == 2, words
        assert "version 1 of an earlier annot" in refused.stderr
        assert "`annot migrate`" in refused.stderr
        assert not difference(before, snapshot(folder)), words
    annot_done("migrate", "--dry-run", folder=folder)
    assert not difference(before, snapshot(folder))
    done = annot_done("migrate", "--json", folder=folder).data
    backup = folder / done["backup"]
    assert (done["before"], backup.parent) == (1, folder / "backups")
    assert backup.stat().st_mode & 0o777 == 0o600
    assert [one["judged"] for one in annot_done("status", "--json", folder=folder).data["assessors"]] == [4, 2]
    annot_done("migrate", folder=folder)
    assert [path.name for path in (folder / "backups").iterdir()] == [backup.name]

    # And back with the annot that it was taken with; this one refuses it.
    before = snapshot(folder)
    refused = annot("restore", backup, "--replace", folder=folder)
    assert "holds a database of version 1, expected " in refused.stderr
    assert not difference(before, snapshot(folder))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pools/plan.jsonl", "pools/plan.jsonl: changed; the database says"),
        ("pools/rankings/abs_tfidf.run", "pools/rankings/abs_tfidf.run: changed; pools/rankings/manifest.json says"),
        ("exports/qrels.txt", "exports/qrels.txt: changed; exports/qrels.manifest.json says"),
        ("exports/runs/fabs_bm25.run", "exports/runs/fabs_bm25.run: changed; the database says"),
        ("pools/rankings/manifest.json", "pools/manifest.json: its input rankings/manifest.json was made anew since"),
    ],
)
def test_what_was_changed_is_found(name: str, said: str, study: Study) -> None:
    folder = study("measured")
    whole = annot_done("verify", "--json", folder=folder).data
    assert whole["manifests"] >= 4
    assert whole["revisions"] > 100
    path = folder / name
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    found = annot("verify", "--json", folder=folder)
    assert found.exit_code == 1
    assert [finding for finding in json.loads(found.stdout)["data"]["findings"] if finding.startswith(said)]
    path.unlink()
    if not name.endswith("manifest.json"):
        assert f"{name}: gone" in annot("verify", folder=folder).stdout


@pytest.mark.parametrize("changed", ["a pool", "a ranking", "a pool that is gone"])
def test_a_file_that_was_changed_with_its_hash_is_not_what_the_database_has(changed: str, study: Study) -> None:
    folder = study("pooled")
    annot_done("verify", folder=folder)
    folder_of = folder / "pools" / ("rankings" if changed == "a ranking" else "")
    manifest = folder_of / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    name = next(name for name in sorted(told["files"]) if name.startswith(("queries/", "abs_tfidf")))
    path = folder_of / name
    text = path.read_text(encoding="utf-8")
    if changed == "a pool that is gone":
        path.unlink()
        del told["files"][name]
    else:
        # Another score of the last document changes no rank, so the pools that are drawn are the same.
        *lines, last = text.splitlines()
        columns = last.split()
        columns[-2] = f"{float(columns[-2]) / 2}" if changed == "a ranking" else f" {columns[-2]}"
        path.write_text("\n".join([*lines, " ".join(columns), ""]), encoding="utf-8")
        told["files"][name] = sha256_of(path)
    manifest.write_text(json.dumps(told), encoding="utf-8")
    if changed == "a ranking":
        above = folder / "pools" / "manifest.json"
        chained = json.loads(above.read_text(encoding="utf-8"))
        chained["inputs"]["rankings/manifest.json"] = sha256_of(manifest)
        above.write_text(json.dumps(chained), encoding="utf-8")
    said = {
        "a pool": "not the pool that the database has",
        "a ranking": "pools/rankings/ is not what its pool was drawn from",
        "a pool that is gone": "gone; the database has this pool",
    }[changed]
    verified = annot("verify", "--json", folder=folder)
    assert verified.exit_code == 1
    (finding,) = verified.data["findings"]
    assert said in finding
    replayed = annot("pool", "replay", folder=folder)
    assert replayed.exit_code == 1
    assert said in replayed.stdout


@pytest.mark.parametrize("name", ["import csfcube", "import grades", "import judgements"])
def test_nothing_is_found_in_an_imported_study(name: str, study: Study) -> None:
    folder = study("made")
    USUAL[name].prepare(folder)
    annot_done(*name.split(), *USUAL[name].typed.split(), folder=folder)
    assert annot_done("verify", "--json", folder=folder).data["revisions"] >= 10


def test_a_judgement_that_was_changed_and_a_release_that_was_are_found(study: Study, tmp_path: Path) -> None:
    folder = study("measured")
    annot_done("release", "out", "--draft", "--licence", "CC0-1.0", folder=folder)
    annot_done("verify", "--release", "out", folder=folder)
    with closing(sqlite3.connect(folder / "annot.db")) as connection:
        connection.execute("DROP TRIGGER judgement_no_update")
        connection.execute("UPDATE judgement SET grade = (grade + 1) % 4 WHERE id = 7")
        connection.commit()
    (folder / "out" / "README.md").write_text("another")
    found = annot("verify", "--release", "out", folder=folder)
    assert found.exit_code == 1
    assert "judgement 7 (" in found.stdout
    assert "out/README.md: changed since" in found.stdout
    assert "exports/qrels.txt: not what the judgements on record give" in found.stdout
    assert len(found.stdout.splitlines()) == 3


@pytest.mark.parametrize(
    ("deleted", "said"),
    [
        ("id = 7", "judgement 8 ("),
        ("id = (SELECT MAX(id) FROM judgement)", "judgement: found"),
        ("id IN (1, 2)", "judgement 3 ("),
    ],
)
def test_a_row_that_was_deleted_by_hand_is_found_for_ever(deleted: str, said: str, study: Study) -> None:
    folder = study("judged")
    annot_done("verify", folder=folder)
    with closing(sqlite3.connect(folder / "annot.db")) as connection:
        connection.execute("DROP TRIGGER judgement_no_delete")
        connection.execute(f"DELETE FROM judgement WHERE {deleted}")
        connection.commit()
    before = annot("verify", "--json", folder=folder)
    assert before.exit_code == 1
    assert [one for one in before.data["findings"] if one.startswith(said)]
    # What is recorded afterwards hides nothing.
    ws = Workspace.open(folder)
    with open_store(ws.database_url) as store, store.begin() as session:
        line = JUDGEMENTS.lines(session)[0]
        JUDGEMENTS.withdraw(session, [(line.stands, "a test")], recorded_at="2031-01-01T00:00:00Z")
    after = annot("verify", "--json", folder=folder).data["findings"]
    assert [one for one in after if "behind" in one]


def test_grades_that_are_older_than_the_judgements_are_found_down_to_the_release(study: Study) -> None:
    folder = study("measured")
    annot_done("release", "out", "--draft", "--licence", "CC0-1.0", folder=folder)
    pair, assessor = accepted(folder)
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        (line,) = [one for one in JUDGEMENTS.lines(session, person=assessor) if one.stands.record.asked.pair == pair]
        JUDGEMENTS.withdraw(session, [(line.stands, "a test")], recorded_at="2031-01-01T00:00:00Z")
    (found,) = annot("verify", "--release", "out", folder=folder).stdout.splitlines()
    assert found.startswith("exports/qrels.txt: not what the judgements on record give; `annot qrels`")
    annot_done("qrels", "--partial", folder=folder)
    (found,) = annot("verify", "--release", "out", folder=folder).stdout.splitlines()
    assert found.startswith("out/qrels.txt: not exports/qrels.txt as it is now; `annot release`")
    (folder / "out" / "DATASHEET.md").unlink()
    assert "out/DATASHEET.md: gone" in annot("verify", "--release", "out", folder=folder).stdout


def accepted(folder: Path) -> tuple[tuple[str, str], str]:
    """A pair whose assessors agree, and one of them."""
    with open_store(Workspace.open(folder).database_url) as store, store.read() as session:
        outcome = outcome_of(session, Workspace.open(folder).settings)
    (first, *_) = [one for one in outcome.decisions if one.origin == "agreed"]
    pair = (first.query_id, first.doc_id)
    return pair, outcome.planned[pair][0]


def test_the_database_and_what_lies_beside_it_are_private(tmp_path: Path) -> None:
    annot_done("init", "study", folder=tmp_path)
    folder = tmp_path / "study"
    assert (folder / "annot.db").stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(folder / "annot.db")) as connection:
        connection.execute("CREATE TEMP TABLE x (y)")
        connection.execute("UPDATE annot_schema SET version = version")
        beside = {path.name: path.stat().st_mode & 0o777 for path in folder.glob("annot.db-*")}
    assert beside
    assert set(beside.values()) == {0o600}
    ignored = (folder / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/annot.db*", "/.annot/", "/backups/"} <= set(ignored)
    (folder / ".gitignore").write_text("# mine\n")
    annot_done("init", folder=folder)
    assert (folder / ".gitignore").read_text() == "# mine\n"
