"""Under which name a run may be imported, and which two runs may be of one system."""

from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import ScoredDoc
from annot.formats.trec import write_run
from annot.ranking.methods import BASELINES
from annot.ranking.submission import SubmissionRules
from annot.steps.run import ImportedRun, import_files
from annot.store import runs
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, QUERIES, Small
from study_stages import copied


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "planned", tmp_path / "study")


def imported(ws: Workspace, tag: str, *, first: int = 0, replace: bool = False, **of: object) -> ImportedRun:
    """A run that begins with the document at `first`."""
    order = [*DOCUMENTS[first:], *DOCUMENTS[:first]]
    ranking = [ScoredDoc(doc_id, 1 - at / 10) for at, doc_id in enumerate(order)]
    file = ws.root / f"{first}.txt"
    file.write_text(write_run({query.query_id: ranking for query in QUERIES}, tag="x"), encoding="utf-8")
    rules = SubmissionRules(None, None, "out")
    wanted: Any = {"system": None, "seed": None, **of}
    return import_files(
        ws, [file], tag=tag, meta=None, facet=None, rules=rules, distances=False, replace=replace,
        dry_run=False, **wanted,
    )  # fmt: skip


def test_the_name_of_a_run_made_here_is_taken_only_if_it_is_to_be_replaced(ws: Workspace) -> None:
    baseline = min(BASELINES)
    with pytest.raises(InputError, match="a run made here"):
        imported(ws, baseline)
    imported(ws, "own")
    imported(ws, "own", first=1)
    with ws.writing() as session:
        (known,) = runs.read_runs(session)
        runs.put_runs(session, [known._replace(kind="ranking")])
    with pytest.raises(InputError, match="a run made here"):
        imported(ws, "own", first=2)
    imported(ws, "own", first=2, replace=True)


def test_two_runs_of_one_system_have_different_seeds_and_files(ws: Workspace) -> None:
    imported(ws, "s-1", system="s", seed=1)
    imported(ws, "s-1", system="s", seed=1)
    with pytest.raises(InputError, match="already has this run, or one with the same seed: s-1"):
        imported(ws, "s-2", first=1, system="s", seed=1)
    with pytest.raises(InputError, match="already has this run"):
        imported(ws, "s-2", system="s", seed=2)
    imported(ws, "s-2", first=1, system="s", seed=2)
    imported(ws, "t-1", system="t", seed=1)
    with ws.reading() as session:
        assert {(run.tag, run.system, run.seed) for run in runs.read_runs(session)} == {
            ("s-1", "s", 1),
            ("s-2", "s", 2),
            ("t-1", "t", 1),
        }
