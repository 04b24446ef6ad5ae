"""What a check says of each part, and what a release lacks."""

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Paper
from annot.publishing.release.leaks import secrets_of
from annot.publishing.release.released_files import SUMS_FILE
from annot.steps import check, publish
from annot.steps.check import CheckedPart, CheckResult
from annot.study.snapshot import read_for_release
from annot.study.workspace import Workspace
from small_study import QUERIES, FirstPairs, Small
from study_stages import copied, quietly

# -- checks ------------------------------------------------------------------------------------------------------------

GOOD = CheckedPart((), "all is well\n", 0, "nothing")
BAD = CheckedPart((), "first\nsecond\n", 2, "2 pools differ", "draw them again")
WORSE = CheckedPart((), "third", 3, "3 files changed")


def test_the_finding_of_one_part_is_its_own_and_of_several_their_numbers() -> None:
    assert CheckResult({"plan": GOOD}).finding is None
    one = CheckResult({"plan": GOOD, "pools": BAD}).finding
    assert one is not None
    assert (one.message, one.hint) == ("2 pools differ", "draw them again")
    several = CheckResult({"plan": GOOD, "pools": BAD, "files": WORSE}).finding
    assert several is not None
    assert several.message == "5 problems found: pools 2, files 3"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")


def test_a_release_is_compared_by_the_check_of_the_files_alone(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[tuple[str, Path | None]] = []

    def part(_study: object, name: str, folder: Path | None, _advance: object) -> CheckedPart:
        looked.append((name, folder))
        if name == "index":
            raise MissingInput("no index")
        if name == "pools":
            raise InputError("cannot be read")
        if name == "server":
            raise InputError("cannot be read", faults=["a", "b", "c"])
        return GOOD

    monkeypatch.setattr(check, "_checked", part)
    folder = ws.root / "release"
    with pytest.raises(InputError, match="can only be used with `annot check files`"):
        check.check(ws, "plan", release=folder, advance=quietly)
    assert check.check(ws, "files", release=folder, advance=quietly).parts == {"files": GOOD}
    assert check.check(ws, "plan", release=None, advance=quietly).parts == {"plan": GOOD}
    assert looked == [("files", folder), ("plan", None)]
    found = check.check(ws, None, release=folder, advance=quietly)
    assert found.unchecked == {"index": "no index"}
    assert {name: part.findings for name, part in found.parts.items()} == {
        "plan": 0, "pools": 1, "guidelines": 0, "sent": 0, "files": 0, "server": 3
    }  # fmt: skip


def test_files_of_a_release_are_compared_with_those_of_the_study(ws: Workspace) -> None:
    folder = ws.root / "release"
    assert list(check._release_faults(ws, folder)) == [f"{folder}: no such folder, expected the folder of a release"]
    (folder / "runs").mkdir(parents=True)
    contents = {
        "qrels.txt": b"q 0 d 2\n", "runs/a.run": b"q Q0 d 1 1 a\n", "runs/b.run": b"same", "note.txt": b"mine",
        "runs/new.run": b"x",
    }  # fmt: skip
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in contents.items()]
    (folder / SUMS_FILE).write_text("".join(lines) + f"{'0' * 64}  gone  away.txt\n", encoding="utf-8")
    other = {"qrels.txt": b"q 0 d 3\n", "runs/a.run": b"other", "runs/b.run": b"same", "note.txt": b"another"}
    (ws.exports / "runs").mkdir(parents=True, exist_ok=True)
    for name, content in other.items():
        (ws.exports / name).write_bytes(content)
    found = list(check._release_faults(ws, folder))
    assert [one.partition("; ")[0] for one in found if "differs from" in one] == [
        f"{folder}/qrels.txt: differs from exports/qrels.txt", f"{folder}/runs/a.run: differs from exports/runs/a.run"
    ]  # fmt: skip
    assert f"{folder}/gone  away.txt: missing" in found


def test_files_are_sound_without_a_release(ws: Workspace) -> None:
    (ws.exports / "qrels.txt").unlink(missing_ok=True)
    alone, beside = (
        check.check(ws, "files", release=folder, advance=quietly).parts["files"]
        for folder in (None, ws.root / "nowhere")
    )
    assert beside.findings == alone.findings + 1


# -- releases ----------------------------------------------------------------------------------------------------------


def test_a_query_needs_a_pool_or_pairs() -> None:
    study: Any = SimpleNamespace(
        queries=QUERIES,
        outcome=SimpleNamespace(planned={("p1-method", "d00"), ("p2-method", "d00")}),
        pools={"p1": 0},
        texts={},
    )
    study.pools["p3"] = 0
    (missing,) = publish._pools_missing(study)
    assert missing.startswith("query p4-method: its paper has no pool")


def made(ws: Workspace, *, consented: str | None, consenting: tuple[str, ...] = ()) -> None:
    publish.release(
        ws,
        ws.root / "out",
        with_text=None,
        licence=None,
        published=None,
        allowed=(),
        draft=False,
        dry_run=True,
        consented=consented,
        consenting=consenting,
    )


@pytest.mark.parametrize(("consented", "consenting"), [(None, ("a1",)), ("", ()), ("  ", ("a1",))])
def test_consent_says_how_people_agreed(ws: Workspace, consented: str | None, consenting: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="expected how people agreed"):
        made(ws, consented=consented, consenting=consenting)


def test_addresses_that_papers_print_may_be_released(ws: Workspace) -> None:
    study, records = read_for_release(ws, None)
    secrets = secrets_of(study, records, environ={}, allowed=())
    printed = [Paper("x", "Write to the authors", ("We thank carla@example.net.",))]
    files = {"corpus.jsonl": b"We thank carla@example.net.\n"}
    assert list(publish._revealing(study, secrets, printed, files, {}, ())) == []
    (found,) = publish._revealing(study, secrets, (), files, {}, ())
    assert found.startswith("corpus.jsonl:1: ")
