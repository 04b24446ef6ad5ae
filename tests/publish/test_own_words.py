"""Comments and reasons in a release: decided by the lead, and of those who knew of publication or agreed later."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from annot.study.workspace import Workspace

DECIDED = 'comments = "published"\nreasons = "published"\n'


def run(ws: Workspace, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(ws.root / "annot.db")) as connection, connection:
        return connection.execute(statement).fetchall()


def words(folder: Path, name: str) -> list[tuple[str, str]]:
    """(whose, what) of every comment in a file of the release."""
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    found = [(one.get("assessor") or one.get("adjudicator"), one["comment"]) for one in map(json.loads, lines)]
    return [(name, text) for name, text in found if text]


def decide(ws: Workspace, text: str) -> None:
    settings = ws.settings_file.read_text(encoding="utf-8")
    assert DECIDED in settings
    ws.settings_file.write_text(settings.replace(DECIDED, text), encoding="utf-8")


def test_a_release_asks_whether_comments_and_reasons_are_published(
    ws: Workspace, annot: Callable, tmp_path: Path
) -> None:
    decide(ws, "")
    refused = annot("release", tmp_path / "release")
    assert refused.exit_code == 1
    for kind in ("comments", "reasons"):
        assert f"release.{kind}: not set, but " in refused.stderr
    assert 'set it to "published" or "left out" in annot.toml' in refused.stderr
    assert not (tmp_path / "release").exists()
    drafted = annot("release", tmp_path / "draft", "--draft")
    assert drafted.exit_code == 0, drafted.stderr
    assert words(tmp_path / "draft", "judgements.jsonl") == words(tmp_path / "draft", "decisions.jsonl") == []
    assert "is not decided yet" in (tmp_path / "draft" / "DATASHEET.md").read_text(encoding="utf-8")


def test_what_is_left_out_is_in_no_file_and_the_datasheet_says_so(
    ws: Workspace, annot: Callable, tmp_path: Path
) -> None:
    decide(ws, 'comments = "left out"\nreasons = "published"\n')
    done = annot("release", tmp_path / "release")
    assert done.exit_code == 0, done.stderr
    written = {text for (text,) in run(ws, "SELECT comment FROM judgement WHERE comment <> ''")}
    everything = b"\n".join(path.read_bytes() for path in (tmp_path / "release").rglob("*") if path.is_file()).decode()
    assert written
    assert not any(str(text) in everything for text in written)
    assert words(tmp_path / "release", "decisions.jsonl")
    sheet = (tmp_path / "release" / "DATASHEET.md").read_text(encoding="utf-8")
    assert "The comments that assessors wrote are not part of the release." in sheet
    assert "The reasons that adjudicators wrote are part of the release" in sheet


def test_words_from_before_anything_said_so_stay_out_until_each_person_agreed(
    ws: Workspace, annot: Callable, tmp_path: Path
) -> None:
    """Two assessors commented before any letter or screen told them; one of them agrees later."""
    run(ws, "DELETE FROM told WHERE assessor IN ('a1', 'a2')")
    rows = run(ws, "SELECT assessor, count(*) FROM judgement WHERE comment <> '' GROUP BY assessor")
    early = {str(name): int(str(n)) for name, n in rows}
    assert {"a1", "a2"} < early.keys()
    folder = tmp_path / "release"
    first = annot("release", folder)
    assert first.exit_code == 0, first.stderr
    assert f"{early['a1']} of the comments by a1 left out" in first.stderr
    assert {name for name, _ in words(folder, "judgements.jsonl")} == early.keys() - {"a1", "a2"}
    sheet = (folder / "DATASHEET.md").read_text(encoding="utf-8")
    inside, given = sum(early.values()) - early["a1"] - early["a2"], sum(early.values())
    assert f"{inside} of the {given} comments that assessors wrote are part of the release" in sheet

    assert annot("release", folder, "--consented", " ").exit_code == 2
    assert annot("release", folder, "--consented", "by mail", "--consented-by", "a9").exit_code == 2
    dry = annot("release", folder, "--consented", "by mail of 3 March", "--consented-by", "a1", "--dry-run")
    assert dry.exit_code == 0, dry.stderr
    assert run(ws, "SELECT count(*) FROM told WHERE how = 'consent'") == [(0,)]
    # A release that is refused puts nothing on record.
    qrels = ws.qrels.read_bytes()
    ws.qrels.write_bytes(qrels[:-2] + b"9\n")
    assert annot("release", folder, "--consented", "by mail of 3 March", "--consented-by", "a1").exit_code == 1
    assert run(ws, "SELECT count(*) FROM told WHERE how = 'consent'") == [(0,)]
    ws.qrels.write_bytes(qrels)
    agreed = annot("release", folder, "--consented", "by mail of 3 March", "--consented-by", "a1")
    assert agreed.exit_code == 0, agreed.stderr
    assert "comments by a1 left out" not in agreed.stderr
    assert "comments by a2 left out" in agreed.stderr
    assert {name for name, _ in words(folder, "judgements.jsonl")} == early.keys() - {"a2"}
    sheet = (folder / "DATASHEET.md").read_text(encoding="utf-8")
    assert "agreed to it later, according to the project lead: by mail of 3 March." in sheet
    assert run(ws, "SELECT count(*) FROM told WHERE how = 'consent'") == [(1,)]
