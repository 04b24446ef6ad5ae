"""What is measured on a study: which judgements, repeats, versions and top-ups count, on records made here."""

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Addition, Draw, Judgement, Pool, PoolEntry, Qrel, Query, ScoredDoc, Source
from annot.measuring import measured
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
