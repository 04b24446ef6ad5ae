"""Units for the servers of a study, checked by systemd itself, and the work of a night."""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from annot.base.errors import FindingError, InputError, MissingInput, StudioError
from annot.judging.exchange.servers import front_folder, studio_folder
from annot.labelstudio import front, server
from annot.labelstudio.front import Front
from annot.steps import service, setup
from annot.steps.status import status
from annot.study.workspace import Workspace
from command_line import annot
from needs import unavailable
from small_study import Small
from study_stages import copied

NIGHT = datetime(2031, 3, 14, 3, 15, tzinfo=UTC)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "planned", tmp_path / "a 100% study")


def verified(files: list[Path], folder: Path) -> None:
    """Refuse units that systemd would; the names of files end the lines that it prints."""
    for file in files:
        # In its own folder, since only there are the units of a timer found.
        (folder / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    try:
        command = ["systemd-analyze", "verify", "--man=no", *(str(folder / file.name) for file in files)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        unavailable("no systemd-analyze; on Debian: apt-get install systemd")
    assert [line for line in done.stderr.splitlines() if str(folder) in line or "annot" in line] == []
    assert done.returncode == 0, done.stderr


def test_the_unit_keeps_the_servers_up_and_may_use_the_port_of_https(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingInput, match="no domain yet"):
        service.write_service(ws)
    front.keep(front_folder(ws), Front("study.example.org"))
    monkeypatch.setenv("ANNOT_STUDIO_VENV", '/opt/a "label" studio')
    (file,), lines = service.write_service(ws)
    text = file.read_text(encoding="utf-8")
    assert "AmbientCapabilities=CAP_NET_BIND_SERVICE" in text
    assert "User=" in text
    assert "Restart=on-failure" in text
    assert text.count("100%% study") >= 1
    assert [line.split()[:2] for line in lines] == [["sudo", "cp"], ["sudo", "systemctl"]]
    assert lines[1].endswith(file.name)
    verified([file], tmp_path)


def test_the_timer_runs_every_night_and_no_unit_has_a_password(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNOT_DATABASE", "postgresql://annot:5ecre7@db.example.org/study")
    files, _ = service.write_nightly(ws, "03:15")
    assert [file.suffix for file in files] == [".service", ".timer"]
    assert "OnCalendar=*-*-* 03:15:00" in files[1].read_text(encoding="utf-8")
    verified(files, tmp_path)
    assert not any("5ecre7" in file.read_text(encoding="utf-8") for file in files)
    private = front_folder(ws) / "environment"
    assert "5ecre7" in private.read_text(encoding="utf-8")
    assert private.stat().st_mode & 0o077 == 0
    for wrong in ("3", "24:00", "03:15:00", "noon"):
        with pytest.raises(InputError, match="expected a time such as 03:15"):
            service.write_nightly(ws, wrong)


def test_fourteen_nights_are_kept_and_a_failure_is_told_with_its_day(ws: Workspace) -> None:
    findings: list[FindingError | None] = [None]

    def write(path: Path) -> Iterator[FindingError | None]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
        yield findings[-1]

    (ws.root / "backups").mkdir(exist_ok=True)
    for day in range(16):
        done = service.nightly(ws, {"backup": write}, now=NIGHT + timedelta(days=day))
    kept = sorted(path.name for path in (ws.root / "backups" / "nightly").iterdir())
    assert len(kept) == 14
    assert kept[-1].startswith("2031-03-29")
    assert done.finding is None
    findings.append(FindingError("1 problem found: plan 1", faults=["a1 lacks a pair"]))
    failed = service.nightly(ws, {"check": write}, now=datetime.now(UTC))
    assert failed.finding is not None
    assert failed.finding.exit_code == 1
    (line,) = status(ws).night
    assert f"{datetime.now(UTC):%Y-%m-%d}" in line
    assert "a1 lacks a pair" in line
    assert "a1 lacks a pair" in annot("status", folder=ws.root).stdout


def test_a_part_that_fails_does_not_stop_the_others(ws: Workspace) -> None:
    done: list[str] = []

    def fail(_: Path) -> Iterator[FindingError | None]:
        raise StudioError("no server")

    def go_on(_: Path) -> Iterator[FindingError | None]:
        done.append("check")
        yield None

    night = service.nightly(ws, {"pull": fail, "check": go_on}, now=NIGHT)
    assert night.failures == ("pull: no server",)
    assert night.backup is None
    assert done == ["check"]


def test_a_night_before_the_first_push_has_nothing_to_fetch(ws: Workspace) -> None:
    setup._keep_isolation(ws.replaced("judging", isolation="server"), tell=print)
    result = annot("studio", "nightly", folder=ws.root)
    assert "pull:" not in result.stderr
    assert len([*(ws.root / "backups" / "nightly").iterdir()]) == 1


def test_a_night_that_did_not_come_is_told(ws: Workspace) -> None:
    assert status(ws).night == ()
    record = ws.cache / "night.json"
    record.parent.mkdir(exist_ok=True)
    for hours, missed in ((30, False), (40, True)):
        at = datetime.now(UTC) - timedelta(hours=hours)
        record.write_text(json.dumps({"at": at.isoformat(), "failures": []}), encoding="utf-8")
        assert [f"since {at:%Y-%m-%d}" in line for line in status(ws).night] == [True] * missed
    record.write_text("[", encoding="utf-8")
    assert "cannot be read" in status(ws).night[0]


def test_servers_are_started_again_until_they_are_stopped(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Path] = []
    marker = front_folder(ws) / front.UP
    marker.parent.mkdir(parents=True)
    studio_folder(ws).mkdir(parents=True)
    marker.touch()
    running = iter([True, False, True])
    monkeypatch.setattr(server, "is_running", lambda _folder: next(running))
    monkeypatch.setattr(front, "running", lambda _folder: 77)
    looks: list[float] = []

    def wait(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            marker.unlink()

    monkeypatch.setattr(service.time, "sleep", wait)
    service.stay(ws.root, start=lambda ws: started.append(ws.root), tell=print)
    assert len(looks) == 3
    assert started == [ws.root], "once, for the look at which it had died"
