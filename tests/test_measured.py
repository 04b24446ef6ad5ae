"""What is measured on a study and kept of it: which judgements, repeats, versions and top-ups count, on records made
here; the files that hold the figures, and their digits."""

import errno
import json
import math
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.names import sha256_of
from annot.base.records import Addition, Draw, Judgement, Pool, PoolEntry, Qrel, Query, ScoredDoc, Source
from annot.base.settings import settings_of
from annot.base.stats.values import Interval, Undefined, rounded
from annot.formats.trec import Match
from annot.measuring import measured
from annot.measuring.agreement.estimates import _reason_no_summary
from annot.measuring.diagnosis.findings import JudgementCount
from annot.measuring.diagnosis.panel import Repeat
from annot.study.outcome import NONE_RUSHED, Outcome


def outcome(**changes: Any) -> Any:
    empty = dict.fromkeys((field.name for field in fields(Outcome)), ())
    return Outcome(**(empty | {"planned": {}} | changes))


def judged(doc: str, who: str, grade: int | None, **more: Any) -> Judgement:
    return Judgement("q1", doc, who, grade, **more)


def test_who_was_asked_and_who_gave_a_grade_are_counted() -> None:
    found = outcome(planned={("q1", "d1"): ("a1", "a2"), ("q1", "d2"): ("a1",)})
    answers = [judged("d1", "a1", 1), judged("d1", "a3", 2), judged("d2", "a3", 0)]
    assert measured._judgement_counts(found, answers) == (
        JudgementCount("a1", 2, 1),
        JudgementCount("a2", 1, 0),
        JudgementCount("a3", 2, 2),
    )


def test_a_repeat_counts_if_both_answers_have_a_grade_that_counts() -> None:
    first = (
        judged("d1", "a1", 2),
        judged("d2", "a1", None),
        judged("d3", "a1", 1, flags=("late",)),
        judged("d4", "a1", 3),
    )
    grades = {"d1": 0, "d2": 0, "d3": 0, "d4": None}
    again = tuple(judged(doc, "a1", grade, occasion=2) for doc, grade in grades.items())
    found = outcome(judgements=(*first, judged("d1", "a2", 3)), repeats=again)
    assert measured.repeats_of(found) == (Repeat("a1", "q1", "d1", 2, 0),)


def pool(paper_id: str, *additions: Addition) -> Pool:
    entries = tuple(PoolEntry(f"d{at}", Draw("bm25", at, 1.0, None)) for at in range(1, 6))
    return Pool(paper_id, "blocks", 2, 10, 1, ("bm25",), (), (), 0, entries, additions)


def added(version: int, depth: int | None, *documents: str) -> Addition:
    return Addition(version, f"m{version}", depth, documents, None, None, None)


def grown() -> Any:
    """A pool that a person added to, and that two systems topped up; a second one that the last did."""
    pools = {
        "p1": pool("p1", added(2, None, "d2"), added(3, 5, "d3"), added(4, 5, "d4")),
        "p2": pool("p2", added(4, 5, "d5")),
    }
    queries = [Query("p1-aim", "p1", "aim", ()), Query("p2-aim", "p2", "aim", ())]
    return SimpleNamespace(pools=pools, queries=queries)


def test_a_top_up_has_what_came_with_it_and_later() -> None:
    qrels = [Qrel("p1-aim", doc, 1) for doc in ("d1", "d2", "d3")] + [Qrel("p2-aim", "d5", 1)]
    (third, since_third), (fourth, since_fourth) = measured.topups(grown(), qrels)
    assert (third.version, fourth.version) == (3, 4)
    assert since_third == {("p1-aim", "d3"), ("p1-aim", "d4"), ("p2-aim", "d5")}
    assert since_fourth == {("p1-aim", "d4"), ("p2-aim", "d5")}
    assert (third.pairs, fourth.pairs) == (2, 1)


def test_a_top_up_of_which_nothing_is_judged_is_none() -> None:
    qrels = [Qrel("p1-aim", "d1", 1), Qrel("p1-aim", "d4", 1)]
    assert [topup.version for topup, _ in measured.topups(grown(), qrels)] == [4]
    assert measured.topups(SimpleNamespace(pools={"p1": pool("p1")}, queries=[]), qrels) == []  # type: ignore[arg-type]


def test_runs_of_the_pools_lose_what_came_later_and_whole_ones_keep_it() -> None:
    def run(tag: str, kind: str, foreign: str | None = None) -> Any:
        return SimpleNamespace(tag=tag, kind=kind, facts={} if foreign is None else {"rules": {"foreign": foreign}})

    snapshot: Any = SimpleNamespace(
        runs=[
            run("own", Source.BASELINE, "keep"),
            run("whole", Source.IMPORTED, "keep"),
            run("cut", Source.IMPORTED, "drop"),
            run("bare", Source.IMPORTED),
        ]
    )
    docs = (ScoredDoc("d1", 2.0), ScoredDoc("d3", 1.0))
    runs = {tag: {"p1-aim": docs} for tag in ("own", "whole", "cut", "bare", "unknown")}
    found = measured._earlier_rankings(snapshot, runs, {("p1-aim", "d3")})
    assert {tag: len(of["p1-aim"]) for tag, of in found.items()} == {
        **{"own": 1, "whole": 2, "cut": 1, "bare": 1, "unknown": 2}
    }


def test_agreement_by_guidelines_takes_the_pairs_that_all_judged_by_one_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[list[str]] = []

    def keep(snapshot: Any, *, judgements: Any, coefficients: Any) -> str:
        taken.append(sorted(f"{one.doc_id} {one.assessor}" for one in judgements))
        return "table"

    monkeypatch.setattr(measured, "agreement_of", keep)
    answers = [judged(doc, who, 1) for doc in ("d1", "d2", "d3") for who in ("a1", "a2")]
    by = dict(zip(answers, ["old", "old", "old", "new", None, None], strict=True))
    sent = [SimpleNamespace(sha256=one, since=f"at {one}", why=None) for one in ("old", "new", "old")]
    snapshot: Any = SimpleNamespace(
        shown={("guidelines", "aim"): sent, ("guidelines", "way"): sent[:1]},
        displays={answer: {"guidelines": sha256} for answer, sha256 in by.items()},
        facets={"q1": "aim"},
        outcome=SimpleNamespace(of_answered_pairs=answers),
    )
    first, second = measured.agreement_by_guidelines(snapshot)
    assert taken == [["d1 a1", "d1 a2"]]
    assert (first.facet, first.number, first.sent_at, first.table, first.mixed) == ("aim", 1, "at old", "table", 1)
    assert (second.number, second.table, second.mixed) == (2, None, 1)


def test_days_decide_whether_the_clock_is_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    by_clock: list[bool] = []

    def keep(*_: object, **values: Any) -> Any:
        by_clock.append(values["by_clock"])
        raise InterruptedError

    monkeypatch.setattr(measured, "panel_of", keep)
    for days, elsewhere in ((2, False), (3, False), (2, True)):
        answers = tuple(judged(f"d{at}", "a1", 1, judged_at=f"2031-01-0{at + 1}T10:00:00Z") for at in range(days))
        snapshot: Any = SimpleNamespace(
            outcome=outcome(judgements=answers),
            ws=SimpleNamespace(
                settings=SimpleNamespace(
                    scale=SimpleNamespace(grades=(0, 1)),
                    judging=SimpleNamespace(missing="drop"),
                    forecast=SimpleNamespace(fence=3.0),
                    agreement=SimpleNamespace(level=0.95),
                    seed=1,
                )
            ),
            **{"judged_elsewhere": elsewhere, "facets": {}, "topics": {}, "assignments": (), "sample": None},
            rushed=NONE_RUSHED,
        )
        with pytest.raises(InterruptedError):
            measured.assessors_of(snapshot)
    assert by_clock == [False, True, True]


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


# -- the files ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def ws(tmp_path: Path) -> Any:
    folders = SimpleNamespace(exports=tmp_path / "exports", runs=tmp_path / "runs")
    folders.exports.mkdir()
    folders.runs.mkdir()
    return folders


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_figures_of_a_study_that_can_only_be_read_are_only_printed(
    ws: Any, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def refuse(*_: object) -> None:
        raise OSError(number, "no way")

    monkeypatch.setattr(measured, "write_file", refuse)
    measured.keep(ws, "a.json", "", tell=told.append)
    assert told == [f"{ws.exports / 'a.json'}: cannot be written (no way); the figures are only printed here"]


def test_a_full_disk_is_an_error(ws: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(measured, "write_file", refuse)
    with pytest.raises(OSError, match="full"):
        measured.keep(ws, "a.json", "", tell=lambda text: None)


def test_an_audit_is_current_while_the_judgements_are_the_same(ws: Any) -> None:
    assert measured.read_audit(ws) is None
    assert measured.judgements_sha256(ws) == ""
    file = ws.exports / "judgements.jsonl"
    file.write_text("{}\n")
    assert measured.judgements_sha256(ws) == sha256_of(file)
    (ws.exports / "audit.json").write_text(json.dumps({"judgements_sha256": sha256_of(file), "faults": 1}))
    assert measured.read_audit(ws) == {"judgements_sha256": sha256_of(file), "faults": 1, "current": True}
    file.write_text("")
    assert (measured.read_audit(ws) or {})["current"] is False


def test_matches_of_a_run_go_with_a_run_that_has_none(ws: Any) -> None:
    measured.write_matches(ws, "bm25", None)
    assert measured.matches_of(ws, "bm25") == {}
    file = measured.matches_file(ws, "bm25")
    assert file.parent == ws.runs
    found = (Match(0, 2, 1.0),)
    measured.write_matches(ws, "bm25", {"q": {"d": found}})
    assert measured.matches_of(ws, "bm25") == {("q", "d"): found}
    measured.write_matches(ws, "bm25", None)
    assert not file.exists()


class Both(NamedTuple):
    low: float
    high: float


def test_what_differs_in_the_last_bits_is_the_same_afterwards() -> None:
    for value in (0.1 + 0.2, 100 / 3, 1e9 / 7, -2e-7 / 3, float(np.float64(20.125))):
        for neighbour in (math.nextafter(value, -math.inf), math.nextafter(value, math.inf)):
            assert rounded(neighbour) == rounded(value)
        assert math.isclose(rounded(value), value, rel_tol=1e-9)


def test_what_is_left_of_a_sum_that_cancels_out_is_nothing() -> None:
    assert str(rounded(0.1 + 0.2 - 0.3)) == str(rounded(-1e-16)) == "0.0"


def test_every_number_of_a_record_is_rounded_and_nothing_else_changes() -> None:
    third, cut = 1 / 3, 0.3333333333
    found = rounded(
        {"a": [Interval(third, 2.0, 0.95, "jackknife")], "b": (Both(third, 1), "1/3"), 3: Undefined("none")}
    )
    assert found == {"a": [Interval(cut, 2.0, 0.95, "jackknife")], "b": (Both(cut, 1), "1/3"), 3: Undefined("none")}
    assert isinstance(found["b"][0], Both)
    assert type(found["b"][0].high) is int
    assert math.isnan(rounded(math.nan))
