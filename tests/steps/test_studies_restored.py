"""A study back from its backup: what is in the way, what is moved, and where its database may be."""

import errno
import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError, StudioError
from annot.base.records import Judgement, PairKey
from annot.judging.exchange.servers import Unreachable
from annot.steps import backup
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.models import StoredRound
from annot.study.backups import BACKUPS, keep_backup
from annot.study.workspace import CACHE, SETTINGS_FILE, Workspace
from small_study import RECORDED, FirstPairs, Small, sent_to
from study_stages import copied, files_of, quietly


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path_factory.mktemp("restore") / "study")


@pytest.fixture(scope="module")
def kept(ws: Workspace) -> Path:
    path = ws.root.parent / "study.zip"
    backup.backup(ws, path, dry_run=False, advance=quietly)
    return path


def restored(path: Path, root: Path, *, replaced: bool = False, dry_run: bool = False) -> backup.RestoredStudy:
    return backup.restore(path, root, replace=replaced, wait_seconds=1, dry_run=dry_run)


def rows(found: backup.RestoredStudy) -> tuple[int, int]:
    return found.rows["judgement"], found.rows["adjudication"]


def test_a_dry_backup_counts_what_a_real_one_holds(ws: Workspace, kept: Path, tmp_path: Path) -> None:
    dry = backup.backup(ws, tmp_path / "dry.zip", dry_run=True, advance=quietly)
    assert (dry.size, dry.projects, dry.rows["judgement"]) == (None, 0, 20)
    assert not dry.path.exists()
    with pytest.raises(InputError, match="already exists"):
        backup.backup(ws, kept, dry_run=True, advance=quietly)


def test_a_study_comes_back_into_a_new_folder_below_others(ws: Workspace, kept: Path, tmp_path: Path) -> None:
    root = tmp_path / "some" / "where"
    found = restored(kept, root)
    assert (rows(found), found.replaced, found.projects) == ((20, 2), None, 0)
    assert (root / SETTINGS_FILE).read_bytes() == ws.settings_file.read_bytes()
    assert not (root / CACHE).exists()


def test_a_dry_run_leaves_no_trace(kept: Path, tmp_path: Path) -> None:
    assert rows(restored(kept, tmp_path / "new", dry_run=True)) == (20, 2)
    assert list(tmp_path.iterdir()) == []


def test_a_backup_that_is_damaged_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"nothing")
    with pytest.raises(InputError):
        restored(tmp_path / "bad.zip", tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.zip"]


def test_five_of_the_files_in_the_way_are_named(kept: Path, tmp_path: Path) -> None:
    root = tmp_path / "full"
    root.mkdir()
    names = [f"file{at}" for at in range(6)]
    for name in names:
        (root / name).write_text("mine", encoding="utf-8")
    before = files_of(root)
    with pytest.raises(InputError) as error:
        restored(kept, root)
    assert error.value.message == f"{root}: not empty, found {', '.join(names[:5])}"
    assert files_of(root) == before
    found = restored(kept, root, replaced=True)
    assert found.replaced is not None
    assert found.replaced.parent == root / BACKUPS
    assert files_of(found.replaced).keys() == set(names)


def test_part_of_a_study_goes_into_its_folder(ws: Workspace, tmp_path: Path) -> None:
    """A backup that a command takes by itself has no corpus: files that are the same stay where they are."""
    root = tmp_path / "study"
    shutil.copytree(ws.root, root)
    own = Workspace.open(root)
    (root / "pools").mkdir(exist_ok=True)
    path = keep_backup(own, "before a test")
    assert path is not None
    settings = root / SETTINGS_FILE
    found = restored(path, root, replaced=True)
    assert rows(found) == (20, 2)
    moved = files_of(found.replaced) if found.replaced else {}
    assert SETTINGS_FILE not in moved
    settings.write_text(settings.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    found = restored(path, root, replaced=True)
    assert found.replaced is not None
    assert SETTINGS_FILE in files_of(found.replaced)
    assert "# changed" not in settings.read_text(encoding="utf-8")


# -- moves -------------------------------------------------------------------------------------------------------------


def test_what_was_moved_goes_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a", encoding="utf-8")
    (tmp_path / "b").write_text("b", encoding="utf-8")
    with ExitStack() as undo:
        backup._move(undo, tmp_path / "a", tmp_path / "new" / "deep" / "a")
        backup._move(undo, tmp_path / "b", tmp_path / "new" / "deep" / "b")
        backup._move(undo, tmp_path / "new" / "deep" / "b", tmp_path / "c")
        with pytest.raises(FileExistsError):
            backup._move(undo, tmp_path / "c", tmp_path / "new" / "deep" / "a")
    assert files_of(tmp_path) == {"a": b"a", "b": b"b"}


def test_a_move_to_another_disk_copies_and_any_other_error_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = errno.EXDEV

    def rename(_path: Path, _target: Path) -> Path:
        raise OSError(number, "no")

    monkeypatch.setattr(Path, "rename", rename)
    copies: list[tuple[str, str]] = []
    monkeypatch.setattr(shutil, "move", lambda source, target: copies.append((source.name, target.name)))
    undo = ExitStack()
    backup._move(undo, tmp_path / "a", tmp_path / "b")
    assert copies == [("a", "b")]
    number = errno.EACCES
    with pytest.raises(PermissionError):
        backup._move(undo, tmp_path / "a", tmp_path / "b")


def test_the_settings_move_in_last(tmp_path: Path) -> None:
    for name in ("old/annot.toml", "old/notes", "elsewhere/annot.db", "new/annot.toml", "new/notes"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    old, new, aside = tmp_path / "old", tmp_path / "new", tmp_path / "aside"
    outgoing = [old / "annot.toml", old / "notes", old / "annot.toml", tmp_path / "elsewhere" / "annot.db"]
    study: Any = SimpleNamespace(root=new)
    backup._exchange(ExitStack(), outgoing, [new / "annot.toml", new / "notes"], aside, study, old)
    assert {name: path.decode() for name, path in files_of(tmp_path).items()} == {
        "old/notes": "new/notes",
        "new/annot.toml": "new/annot.toml",
        "aside/annot.toml": "old/annot.toml",
        "aside/notes": "old/notes",
        "aside/annot.db": "elsewhere/annot.db",
    }


# -- the database ------------------------------------------------------------------------------------------------------


def holding(*files: str) -> Any:
    return SimpleNamespace(files=[PurePosixPath(name) for name in files])


def test_the_database_is_a_file_of_the_study_and_not_in_the_backup(ws: Workspace) -> None:
    backup._check_database(ws, holding("annot.toml"))
    with pytest.raises(InputError, match=r"annot\.db in the backup: found a file"):
        backup._check_database(ws, holding("annot.db", "annot.toml"))
    inside = ws.replaced("store", database=f"{BACKUPS}/annot.db")
    with pytest.raises(InputError, match="expected a file in the folder of the study"):
        backup._check_database(inside, holding())


def test_a_database_that_the_environment_names_may_be_anywhere(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOT_DATABASE", "elsewhere.db")
    backup._check_database(ws, holding("annot.db"))


def test_a_database_on_a_server_is_no_file(ws: Workspace) -> None:
    away: Any = SimpleNamespace(root=ws.root, database_file=None, settings=ws.settings)
    backup._check_database(away, holding("annot.db"))
    outside: Any = SimpleNamespace(root=ws.root, database_file=ws.root.parent / "o.db", settings=ws.settings)
    backup._check_database(outside, holding("annot.db"))


# -- a backup copies the projects of the study on its servers ----------------------------------------------------------


NINE, TEN, ELEVEN = (f"2031-03-14T{hour:02}:00:00.000000Z" for hour in (9, 10, 11))


@pytest.fixture
def planned(tmp_path: Path) -> Workspace:
    return copied(Small(), "planned", tmp_path / "study")


class Server:
    """A server with the copies of its projects."""

    url = "http://here"

    def __init__(
        self, patch: pytest.MonkeyPatch, *, away: Sequence[Unreachable] = (), gone: Sequence[int] = ()
    ) -> None:
        self.away, self.gone = tuple(away), gone
        self.asked: list[str] = []
        self.answers: list[dict[str, Any]] = []
        patch.setattr(backup.servers, "on_servers", self._on_servers)

    def _on_servers(self, _ws: object, names: Sequence[str], work: Callable[..., None]) -> tuple[Unreachable, ...]:
        self.asked = list(names)
        work(self, names)
        return self.away

    def identity(self) -> str:
        return "here"

    def snapshot(self, number: int) -> dict[str, Any]:
        if number in self.gone:
            raise StudioError("no such project")
        return {"title": "Größe", "tasks": [{"annotations": self.answers}]}


def taken(planned: Workspace, folder: Path) -> tuple[list[str], list[str], list[tuple[int, int | None]]]:
    """The files, the notes, and the progress."""
    folder.mkdir()
    notes: list[str] = []
    told: list[tuple[int, int | None]] = []
    backup._take_snapshots(planned, folder, notes, advance=lambda done, total: told.append((done, total)))
    return sorted(path.name for path in folder.iterdir()), notes, told


def test_each_project_on_the_server_is_copied_and_those_elsewhere_are_counted(
    planned: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(monkeypatch, away=[Unreachable("j1", "it is off", False)])
    assert taken(planned, tmp_path / "none") == ([], [], [])
    sent_to(planned, "a1", remote=7)
    sent_to(planned, "a2", remote=8)
    sent_to(planned, "a1", remote=9, round="train")
    sent_to(planned, "a2", remote=None, round="train")
    sent_to(planned, "a1", remote=4, server="elsewhere")
    sent_to(planned, "j1", remote=5, server="theirs")
    files, notes, told = taken(planned, tmp_path / "some")
    assert files == ["judge-a1-7.json", "judge-a2-8.json", "train-a1-9.json"]
    assert notes == [
        "no copies of the projects of j1: it is off",
        "no copies of 1 project on servers other than http://here",
    ]
    assert server.asked == ["a1", "a2", "j1"]
    assert told == [(1, 5), (2, 5), (3, 5)]
    text = (tmp_path / "some" / "judge-a1-7.json").read_text(encoding="utf-8")
    assert (json.loads(text)["title"], "Größe" in text) == ("Größe", True)


def test_a_project_that_cannot_be_read_is_noted(
    planned: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Server(monkeypatch, gone=[7])
    sent_to(planned, "a1", remote=7)
    assert taken(planned, tmp_path / "copies")[:2] == ([], ["no copy of project 7 of a1: no such project"])


def test_without_a_server_the_backup_says_why_there_is_no_copy(
    planned: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_servers(*_: object) -> None:
        raise StudioError("no server", faults=["a1: off"])

    monkeypatch.setattr(backup.servers, "on_servers", on_servers)
    sent_to(planned, "a1", remote=7)
    assert taken(planned, tmp_path / "copies")[1] == ["no copies of 1 project on Label Studio: no server; a1: off"]


def answer(number: int, changed: str) -> dict[str, Any]:
    return {"id": number, "updated_at": changed}


@pytest.mark.parametrize(
    ("round", "answers", "unpulled"),
    [
        ("judge", [answer(1, TEN)], 0),
        ("judge", [answer(1, NINE)], 0),
        ("judge", [answer(1, ELEVEN)], 1),
        ("judge", [answer(1, TEN), answer(2, NINE), answer(3, NINE)], 2),
        ("labels", [answer(2, NINE)], 0),
    ],
)
def test_answers_that_are_newer_than_what_was_pulled_are_counted(
    planned: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    round: StoredRound,
    answers: list[dict[str, Any]],
    unpulled: int,
) -> None:
    """Answer 1 was given at nine and changed at ten."""
    asked = PairKey("p1-method", "d00")
    given = SourcedJudgement(
        Judgement(*asked.pair, "a1", 1, judged_at=NINE), "label-studio", "1", {}, server="here", changed_at=TEN
    )
    with planned.writing() as session:
        JUDGEMENTS.record(session, [given], recorded_at=RECORDED)
    server = Server(monkeypatch)
    server.answers = answers
    sent_to(planned, "a1", remote=7, round=round)
    notes = taken(planned, tmp_path / "copies")[1]
    said = {0: [], 1: ["a1: 1 answer not pulled"], 2: ["a1: 2 answers not pulled"]}[unpulled]
    assert [note.partition(";")[0] for note in notes] == said
