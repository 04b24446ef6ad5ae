"""A collection with pairs that nobody can judge is complete, and says how many there are and where."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import annot as library
import command_line
import pandas as pd
import pytest
from annot.store.answers import ADJUDICATIONS
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import Result
from small_study import Small
from study_stages import copied

REASON = "text missing or broken"


@pytest.fixture
def given_up(ws: Workspace) -> Counter[str]:
    """Three pairs that the adjudicator finds they cannot judge after all, by query."""
    with open_store(ws.database_url) as store, store.begin() as session:
        rulings = ADJUDICATIONS.read(session)
        first, last = rulings[:2], rulings[-1:]
        later = [
            one._replace(record=replace(one.record, grade=None, reason=None, cannot_judge=REASON))
            for one in (*first, *last)
        ]
        assert ADJUDICATIONS.record(session, later, recorded_at="2030-01-02T00:00:00+00:00").revised == 3
    return Counter(one.record.query_id for one in later)


def test_a_release_with_pairs_that_nobody_can_judge_is_complete_and_tells_them(
    ws: Workspace, annot: Callable[..., Result], given_up: Counter[str], tmp_path: Path
) -> None:
    before = json.loads((ws.exports / "qrels.manifest.json").read_text(encoding="utf-8"))
    written = annot("qrels", "--json").data
    assert (written["unjudgeable"], written["open"], written["incomplete"]) == (3, 0, 0)
    assert written["pairs"] == before["pairs"] - 3
    manifest = json.loads((ws.exports / "qrels.manifest.json").read_text(encoding="utf-8"))
    assert (manifest["pairs"], manifest["unjudgeable"]) == (before["pairs"] - 3, 3)

    agreement = annot("agreement")
    assert "3 pairs that could not be judged are left out" in " ".join(agreement.stdout.split())
    measured = json.loads((ws.exports / "agreement.json").read_text(encoding="utf-8"))
    assert {one["query_id"]: one["n_unjudgeable"] for one in measured["queries"] if one["n_unjudgeable"]} == given_up
    together = measured["groups"][-1]
    assert together["not_settled"] is None
    assert isinstance(together["after"]["alpha_ordinal"]["pooled"], float)
    assert together["overruled"]["pooled"]["of"] == together["n_pairs"] - 3
    # Figures after adjudication, and the share overruled, are shown with the pairs that they rest on.
    assert together["after"]["alpha_ordinal"]["n_pairs_pooled"] == together["n_pairs"] - 3
    assert together["before"]["alpha_ordinal"]["n_pairs_pooled"] == together["n_pairs"]

    annot("run")
    released = annot("release", tmp_path / "release")
    assert released.exit_code == 0, released.stderr
    page = (tmp_path / "release" / "report.md").read_text(encoding="utf-8")
    with open_store(ws.database_url) as store, store.read() as session:
        disputed = {one.record.pair for one in ADJUDICATIONS.read(session)}
    assert f"an adjudicator settled {len(disputed) - 3} pairs, 3 could not be judged." in page
    assert "3 pairs could not be judged by any adjudicator who was asked. They were closed without a grade" in page
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if "| together |" in line]
    pairs_of = {row[1]: int(row[3]) for row in rows if row[1] in ("before", "after") and row[2].isdigit()}
    assert pairs_of == {"before": together["n_pairs"], "after": together["n_pairs"] - 3}
    (graded_twice,) = {row[4] for row in rows if len(row) == 9 and row[1].isdigit() and "%" in row[6]}
    assert graded_twice == str(together["n_pairs"] - 3)
    plan = (ws.pools / "plan.jsonl").read_text(encoding="utf-8")
    total = Counter(json.loads(line)["query_id"] for line in plan.splitlines())
    for file in ("README.md", "DATASHEET.md"):
        text = (tmp_path / "release" / file).read_text(encoding="utf-8")
        assert "3 pairs were closed without a final grade, because no adjudicator who was asked could judge" in text
        for query_id, n in given_up.items():
            pairs = total[query_id] // 2
            assert f"{query_id} {n} of {pairs} ({100 * n / pairs:.1f}%)" in text
        assert "unsettled" not in text
    # Who has the release alone computes the same.
    ended = [json.loads(line) for line in (tmp_path / "release" / "decisions.jsonl").read_text("utf-8").splitlines()]
    pairs = [(one["query_id"], one["doc_id"]) for one in ended if one["origin"] == "nobody can judge"]
    assert Counter(query_id for query_id, _ in pairs) == given_up
    assert {one["reason"] for one in ended if one["grade"] is None} == {REASON}
    frame = library.measure_agreement(
        pd.read_json(tmp_path / "release" / "judgements.jsonl", lines=True),
        final=tmp_path / "release" / "qrels.txt",
        unjudgeable=pairs,
        level=None,
    ).to_frame()
    (alpha,) = frame[
        (frame["adjudication"] == "after")
        & (frame["coefficient"] == "alpha_ordinal")
        & (frame["statistic"] == "pooled")
    ]["value"]
    assert alpha == pytest.approx(together["after"]["alpha_ordinal"]["pooled"])
    assert annot("status", "--json").data["unjudgeable"] == 3


def test_pairs_that_nobody_can_judge_come_into_another_study_as_such(
    ws: Workspace, annot: Callable[..., Result], given_up: Counter[str], tmp_path: Path
) -> None:
    assert annot("qrels").exit_code == 0
    assert annot("release", tmp_path / "release", "--draft", "--ids-only").exit_code == 0
    again = copied(Small(), "made", tmp_path / "again")
    shutil.copy(ws.settings_file, again.settings_file)
    for name in ("judgements.jsonl", "decisions.jsonl"):
        command_line.annot_done("import", tmp_path / "release" / name, folder=again.root)
    written = command_line.annot_done("qrels", "--json", folder=again.root).data
    assert (written["unjudgeable"], written["open"]) == (given_up.total(), 0)
    assert (again.exports / "qrels.txt").read_bytes() == (ws.exports / "qrels.txt").read_bytes()
    assert (again.exports / "decisions.jsonl").read_bytes() == (ws.exports / "decisions.jsonl").read_bytes()
