"""What the doctor says of disk, Python, server and files: each limit from both of its sides."""

from pathlib import Path

import pytest
from annot.judging.exchange.servers import front_folder, passwords_file
from annot.labelstudio import front, server
from annot.labelstudio.front import Front
from annot.steps import check
from annot.study.workspace import Workspace
from small_study import Small
from study_stages import copied


@pytest.mark.parametrize(("free", "found"), [(2 * 10**9 - 1, True), (2 * 10**9, False)])
def test_less_than_two_gigabytes_of_free_disk_are_too_few(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, found: bool
) -> None:
    monkeypatch.setattr(check.shutil, "disk_usage", lambda _: type("Usage", (), {"free": free}))
    said = [one.what for one in check._machine(tmp_path) if "disk" in one.what]
    assert said == (["2.0 GB of disk are free, expected 2 GB or more"] if found else [])


@pytest.mark.parametrize(
    ("version", "found"),
    [((3, 10), True), ((3, 11), False), ((3, 12), False), ((3, 13), False), ((3, 14), True), ((4, 11), True)],
)
def test_only_three_pythons_are_expected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: tuple[int, int], found: bool
) -> None:
    monkeypatch.setattr(check.sys, "version_info", (*version, 4))
    assert any(one.what.startswith("Python") for one in check._machine(tmp_path)) == found


def test_a_release_is_the_one_of_the_screens() -> None:
    address = "https://s.example.org"
    (problem,) = check._server_problems(address, "0.9")
    assert problem.what.startswith(f"Label Studio 0.9, expected {server.VERSION}")
    assert list(check._server_problems(address, server.VERSION)) == []


def test_the_file_system_is_that_of_the_innermost_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(check, "MOUNTS", mounts)
    assert check._file_system(Path("/data/study")) == ""
    lines = ["s:/x /data/study nfs4 rw 0 0", "a / ext4 rw 0 0", "b /data xfs rw 0 0", r"c /my\040disk cifs rw 0 0"]
    mounts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    kinds = {"/home/x": "ext4", "/data/other": "xfs", "/data/study/annot.db": "nfs4", "/my disk/annot.db": "cifs"}
    assert {path: check._file_system(Path(path)) for path in kinds} == kinds
    mounts.write_text("\n".join([*lines, "d /data btrfs rw 0 0"]) + "\n", encoding="utf-8")
    assert check._file_system(Path("/data/other")) == "btrfs"  # mounted over the other


@pytest.mark.parametrize(
    ("mode", "found"), [(0o600, False), (0o660, False), (0o601, True), (0o602, True), (0o604, True)]
)
def test_no_other_account_may_do_anything_with_the_database(tmp_path: Path, mode: int, found: bool) -> None:
    ws = copied(Small(), "made", tmp_path / "study")
    (ws.root / "annot.db").chmod(mode)
    assert [one.mend for one in check._private(ws)] == ([f"chmod o-rwx {ws.root / 'annot.db'}"] if found else [])


@pytest.mark.parametrize(("mode", "found"), [(0o700, False), (0o755, False), (0o702, True)])
def test_others_may_not_write_into_a_folder_of_backups(tmp_path: Path, mode: int, found: bool) -> None:
    ws = copied(Small(), "made", tmp_path / "study")
    folder = ws.root / check.backups.BACKUPS / "folder"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    assert [one.mend for one in check._private(ws)] == ([f"chmod o-rwx {folder}"] if found else [])


def test_a_repository_above_the_study_has_to_ignore_the_database(tmp_path: Path) -> None:
    ws = copied(Small(), "made", tmp_path / "study")
    ignored = ws.root / ".gitignore"
    ignored.write_text("", encoding="utf-8")
    assert list(check._private(ws)) == []
    (tmp_path / ".git").mkdir()
    assert [one.what.split(":")[0] for one in check._private(ws)] == [str(ignored)]
    ignored.write_text("annot.db*\n", encoding="utf-8")
    assert list(check._private(ws)) == []


def test_without_a_study_only_the_machine_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "FREE_BYTES", 0)
    found = check.examine(None)
    assert (found.server, found.notes) == (None, ("no study here, so none was checked",))
    assert found.packages["annot"] == check.__version__


def test_a_study_without_a_server_is_checked_by_itself(
    monkeypatch: pytest.MonkeyPatch, ws_of_nobody: Workspace
) -> None:
    monkeypatch.setattr(check, "FREE_BYTES", 0)
    found = check.examine(ws_of_nobody)
    assert (found.server, found.findings) == (None, ())
    assert found.notes == ("no server was checked: none is named and no local one is running",)


@pytest.fixture
def ws_of_nobody(tmp_path: Path) -> Workspace:
    return copied(Small(), "made", tmp_path / "study")


def test_a_server_is_tried_with_the_strangers_that_it_knows_or_with_the_next_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ws = copied(Small(), "planned", tmp_path / "study").replaced("judging", isolation="server")
    front.keep(front_folder(ws), Front("study.example.org"))
    for name in ("a1", "a2", "a3", "j1"):
        passwords_file(ws, name).parent.mkdir(parents=True)
        passwords_file(ws, name).write_text(f"{name}\t{name}@example.org\tof-{name}\n", encoding="utf-8")
    tried: dict[str | None, list[str]] = {}

    def seen(_folder: Path, _front: Front, strangers: dict[str | None, list[tuple[str, str]]]) -> tuple[()]:
        tried.update({name: [password for _, password in accounts] for name, accounts in strangers.items()})
        return ()

    monkeypatch.setattr(front, "seen_from_outside", seen)
    assert not [
        *check._problems_from_outside(ws, {"a1": {"a1@example.org", "a3@example.org", "j1@example.org"}, "a2": ()})
    ]
    assert tried == {"a1": ["of-a3", "of-j1"], "a2": ["of-a3"], "a3": ["of-j1"], "j1": ["of-a1"]}
