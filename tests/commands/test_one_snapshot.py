"""Judgements are revised while a command reads: all that it prints and writes is of one moment of the study."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from annot.base.records import Assignment, Judgement
from annot.steps.setup import init
from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from annot.study import workspace
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, QUERIES, build, judgement, sourced, write_runs
from sqlalchemy import Engine, event
from study_stages import COLLECTION, answered

Run = Callable[..., Any]
HIGHEST = 3
GIVEN, FINAL = 16, 10
"""Judgements of the highest grade in the small study, and pairs whose final grade it is."""


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def ws(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """The small study on either database, ready to be released; six disputes are open."""
    root = tmp_path / "study"
    init(root, name="small", dry_run=False)
    settings = tomlkit.parse((root / "annot.toml").read_text(encoding="utf-8"))
    settings["collection"].update(COLLECTION)
    if request.param == "postgres":
        settings["store"]["database"] = request.getfixturevalue("postgres_url")
        workspace.allow(root, settings["store"]["database"])
    (root / "annot.toml").write_text(tomlkit.dumps(settings), encoding="utf-8")
    (root / "datasheet.toml").write_text(answered(), encoding="utf-8")
    ws = Workspace.open(root)
    build(ws, judged=40)
    write_runs(ws)
    return ws


class Reviser:
    """Commits the next revisions from another connection, just before each SELECT of anybody who only reads."""

    def __init__(self, ws: Workspace, revisions: Iterable[list[Judgement]]) -> None:
        self.url = ws.database_url
        self.revisions = iter(revisions)
        self.commits = 0
        self._writing = False

    def __call__(self, _connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if self._writing or not statement.startswith("SELECT") or (given := next(self.revisions, None)) is None:
            return
        self._writing = True
        with open_store(self.url) as store, store.begin() as session:
            JUDGEMENTS.record(session, sourced(given), recorded_at=f"2031-03-15T09:{self.commits:02}")
        self.commits += 1
        self._writing = False


@pytest.fixture
def revising() -> Iterator[Callable[[Reviser], None]]:
    """Lets a reviser work until the test ends."""
    begun: list[Reviser] = []

    def begin(reviser: Reviser) -> None:
        event.listen(Engine, "before_cursor_execute", reviser)
        begun.append(reviser)

    yield begin
    for reviser in begun:
        event.remove(Engine, "before_cursor_execute", reviser)


def raised_pairs() -> Iterator[list[Judgement]]:
    """Of each agreed pair below the highest grade, both judgements at the highest."""
    for query in QUERIES:
        for doc_id in DOCUMENTS[:-2]:
            both = [judgement(Assignment(query.query_id, doc_id, name, 1)) for name in ("a1", "a2")]
            if both[0].grade != HIGHEST:
                yield [replace(answer, grade=HIGHEST) for answer in both]


def cells(page: str, row: str) -> list[str]:
    """The cells of the one table row that begins so."""
    (line,) = (line for line in page.splitlines() if line.startswith(f"| {row} |"))
    return [cell.strip() for cell in line.strip("| ").split("|")]


def counted(share: str, *, of: int) -> int:
    """The count behind a share such as `29.4% [25.0, 36.8]`."""
    return round(float(re.sub("%.*", "", share)) * of / 100)


def test_the_sections_of_a_report_agree(ws: Workspace, annot: Run, revising: Callable[[Reviser], None]) -> None:
    reviser = Reviser(ws, raised_pairs())
    revising(reviser)
    assert annot("report").exit_code == 0
    page = (ws.exports / "report.md").read_text(encoding="utf-8")
    (together,) = (group for group in agreement(ws.exports / "agreement.json") if group["name"] == "together")
    given = sum(counted(cells(page, f"{name} | 4 | 40")[6], of=40) for name in ("a1", "a2"))
    raised = {
        "agreement": (together["prevalence"]["3"] - GIVEN) / 2,
        "judgements of each assessor": (given - GIVEN) / 2,
        "final grades": counted(cells(page, "method | 3 or higher")[5], of=34) - FINAL,
    }
    assert len(set(raised.values())) == 1, raised
    assert reviser.commits > next(iter(raised.values())) + 5


def test_the_files_of_a_release_agree(
    ws: Workspace, annot: Run, revising: Callable[[Reviser], None], tmp_path: Path
) -> None:
    reviser = Reviser(ws, raised_pairs())
    revising(reviser)
    folder = tmp_path / "release"
    done = annot("release", folder, "--draft")
    assert done.exit_code == 0, done.stderr
    (together,) = (group for group in agreement(folder / "agreement.json") if group["name"] == "together")
    qrels = Counter(line.split()[-1] for line in (folder / "qrels.txt").read_text().splitlines())
    beir = Counter(line.split()[-1] for line in (folder / "beir/qrels/test.tsv").read_text().splitlines()[1:])
    raised = {
        "judgements": (highest(folder / "judgements.jsonl") - GIVEN) / 2,
        "decisions": highest(folder / "decisions.jsonl") - FINAL,
        "qrels": qrels["3"] - FINAL,
        "qrels for BEIR": beir["3"] - FINAL,
        "agreement": (together["prevalence"]["3"] - GIVEN) / 2,
        "card": int(cells((folder / "README.md").read_text(), "method | 4")[7]) - FINAL,
        "datasheet": int(cells((folder / "DATASHEET.md").read_text(), "method | 4")[7]) - FINAL,
    }
    assert len(set(raised.values())) == 1, raised
    assert reviser.commits > raised["qrels"] + 5


def agreement(path: Path) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["groups"]
    return groups


def highest(path: Path) -> int:
    """Lines with the highest grade."""
    return sum(json.loads(line)["grade"] == HIGHEST for line in path.read_text(encoding="utf-8").splitlines())
