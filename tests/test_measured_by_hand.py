"""What a study hands to each measure: which judgements and settings, and the runs and qrels of before a top-up."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.settings import settings_of
from annot.measuring import measured
from annot.measuring.agreement.estimates import _reason_no_summary


def test_runs_are_compared_as_csfcube_does_or_for_topics_and_questions_as_trec_does() -> None:
    assert measured.primary_of(settings_of("facets")) == ("csfcube", "NDCG%20")
    for kind in ("topics", "questions"):
        assert measured.primary_of(settings_of(kind)) == ("trec", "nDCG")
        assert measured.conventions_of(settings_of(kind)) == ("trec", "csfcube")
    assert measured.conventions_of(settings_of("facets")) == ("csfcube", "trec")


def run_text(tag: str) -> str:
    return f"q1 Q0 d1 1 2.0 {tag}\nq1 Q0 d2 2 1.0 {tag}\n"


def test_runs_are_those_given_or_those_of_the_study(tmp_path: Path) -> None:
    ws: Any = SimpleNamespace(runs=tmp_path / "runs")
    ws.runs.mkdir()
    with pytest.raises(MissingInput, match="no runs"):
        measured.read_run_files(ws)
    for name in ("b", "a"):
        (ws.runs / f"{name}.run").write_text(run_text(name))
    assert list(measured.read_run_files(ws)) == ["a", "b"]
    other = tmp_path / "other.run"
    other.write_text(run_text("other"))
    found = measured.read_run_files(ws, [other])
    assert {tag: [doc.doc_id for doc in of["q1"]] for tag, of in found.items()} == {"other": ["d1", "d2"]}
    with pytest.raises(InputError, match="the tag 'a' is also in another file"):
        measured.read_run_files(ws, [ws.runs / "a.run", ws.runs / "a.run"])


@pytest.mark.parametrize(
    ("defined", "queries", "reason"),
    [
        (0, 3, "none of the queries has a value"),
        (1, 2, "only 1 of 2 queries has a value; a summary needs more than half"),
        (2, 4, "only 2 of 4 queries have a value; a summary needs more than half"),
        (2, 3, None),
        (1, 1, None),
    ],
)
def test_a_summary_needs_more_than_half_of_the_queries(defined: int, queries: int, reason: str | None) -> None:
    found = _reason_no_summary(defined, queries)
    assert (None if found is None else found.reason) == reason
