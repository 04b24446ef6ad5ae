"""A real Label Studio for each person, started by one command: each at its own address, which it keeps."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from annot.judging.exchange.servers import studio_folder
from annot.labelstudio import server
from command_line import annot, annot_done
from fixtures_studio import Studio, template_folder
from studies import PEOPLE, ready
from test_server_each import ISOLATED

NAMES = tuple(name for name, _ in PEOPLE)


def meminfo(folder: Path, *, available: int) -> Path:
    """What Linux tells of a machine on which so many kB are free."""
    path = folder / "meminfo"
    path.write_text(f"MemTotal:  {2 * available} kB\nMemAvailable:  {available} kB\n")
    return path


def with_template(folder: Path, day: int) -> None:
    """An empty server's data that was made on a day of its own, which starts in seconds instead of a minute."""
    shutil.copytree(template_folder(), folder)
    with closing(sqlite3.connect(folder / "data" / "label_studio.sqlite3")) as connection, connection:
        connection.execute("UPDATE organization SET created_at = ?", (f"2031-01-{day:02} 00:00:00",))


@pytest.mark.studio
@pytest.mark.long
def test_each_person_gets_a_server_and_one_that_was_stopped_comes_back_where_it_was(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `studio` has made the template.
    monkeypatch.setattr(server, "MEMINFO", meminfo(tmp_path, available=16_000_000))
    ws = ready(tmp_path / "study", name="each", per_method=1, more_settings=ISOLATED)
    for day, name in enumerate(NAMES, start=1):
        with_template(studio_folder(ws, name), day)
    try:
        started = annot_done("studio", "up", "--json", folder=ws.root)
        addresses = {state["assessor"]: state["url"] for state in started.data}
        assert list(addresses) == list(NAMES)
        assert len({*addresses.values()}) == 3
        for name in NAMES:
            database = studio_folder(ws, name) / "data" / "label_studio.sqlite3"
            in_write_ahead_mode = database.read_bytes()[18:20] == b"\x02\x02"
            assert in_write_ahead_mode, "judging takes twice as long"
        assert server.down(studio_folder(ws, "a2"))
        away = annot("push", folder=ws.root)
        assert away.exit_code == 1
        assert "a2: the server of a2 is not running" in away.message()
        back = annot_done("studio", "up", "--json", folder=ws.root)
        assert {state["assessor"]: state["url"] for state in back.data} == addresses, "people keep their links"
        sent = annot_done("push", "--json", folder=ws.root).data["projects"]
        assert [row["assessor"] for row in sent] == ["a1", "a2"]
        assert all(row["address"].startswith(addresses[row["assessor"]]) for row in sent)
    finally:
        for name in NAMES:
            server.down(studio_folder(ws, name))


def test_memory_that_is_too_small_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(tmp_path / "study", name="small", per_method=1, more_settings=ISOLATED)
    monkeypatch.setattr(server, "MEMINFO", meminfo(tmp_path, available=1_000_000))
    refused = annot("studio", "up", folder=tmp_path / "study")
    assert refused.exit_code == 2
    assert "3 servers need 1.3 GB of memory" in refused.message()
    assert "1.0 GB are free" in refused.message()
    assert not list((tmp_path / "study" / ".annot").glob("studios/*"))
