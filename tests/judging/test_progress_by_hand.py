"""How far a small study is, by person, query and day: every number counted by hand."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import MissingInput
from annot.base.records import Judgement
from annot.judging import comments
from annot.judging.progress import by_day, progress_of, running_agreement
from annot.store.answers import JUDGEMENTS
from annot.store.models import Notice
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from small_study import NOW, RECORDED, FirstPairs, Small, sourced
from study_stages import DEMO, copied


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Two queries and a half are judged by both; j1 has settled the two disputes of the first."""
    return copied(Small(answers=FirstPairs(25)), "settled", tmp_path / "study")


def test_people_and_queries_are_counted_with_the_pairs_that_all_have_answered(ws: Workspace) -> None:
    with ws.writing() as session:
        more = [
            Judgement("p4-method", "d00", "a2", None, cannot_judge="outside my field"),
            Judgement("p4-method", "d01", "a2", 1, occasion=2),
            Judgement("p4-method", "d02", "a2", 1, flags=("skipped",)),
        ]
        JUDGEMENTS.record(session, sourced(more), recorded_at=RECORDED)
    found = progress_of(read_snapshot(ws), now=NOW, agreement=lambda snapshot: None)
    assert (found.at, found.planned, found.judged, found.agreement) == ("2031-03-14T18:00:00+00:00", 80, 51, None)
    assert [(one.assessor, one.assigned, one.judged, one.cannot_judge) for one in found.assessors] == [
        ("a1", 40, 25, 0), ("a2", 40, 26, 1),
    ]  # fmt: skip
    # a1: (document + query) modulo 4 on eight documents, 0 and 1 on the last two; five documents of the third query.
    grades = [
        *((at + query) % 4 for query in (1, 2) for at in range(8)),
        0,
        1,
        0,
        1,
        *((at + 3) % 4 for at in range(5)),
    ]
    assert found.assessors[0].grades == {grade: grades.count(grade) for grade in range(4)}
    assert [(one.query_id, one.pairs, one.complete) for one in found.queries] == [
        ("p1-method", 10, 10), ("p2-method", 10, 10), ("p3-method", 10, 5), ("p4-method", 10, 0),
    ]  # fmt: skip
    assert found.queries[2].by_assessor == {"a1": (5, 10), "a2": (5, 10)}
    assert found.queries[3].by_assessor == {"a1": (0, 10), "a2": (1, 10)}
    assert (found.settling.disputed, found.settling.unjudgeable, found.settling.open) == (4, 0, 2)


def test_the_running_agreement_is_of_the_pairs_that_all_have_answered(ws: Workspace) -> None:
    found = running_agreement(read_snapshot(ws))
    assert found is not None
    assert (found.n_pairs, found.n_queries, found.n_papers) == (25, 3, 3)


def test_the_running_agreement_is_of_all_facets_together(tmp_path: Path) -> None:
    snapshot = read_snapshot(copied(DEMO, "judged", tmp_path / "study"))
    pairs = {(judgement.query_id, judgement.doc_id) for judgement in snapshot.outcome.of_answered_pairs}
    assert len({snapshot.facets[query_id] for query_id, _ in pairs}) > 1
    running = running_agreement(snapshot)
    assert running is not None
    assert running.n_queries == len({query_id for query_id, _ in pairs})


def test_without_a_complete_pair_there_is_no_agreement_and_without_a_plan_no_progress(tmp_path: Path) -> None:
    assert running_agreement(read_snapshot(copied(Small(), "planned", tmp_path / "planned"))) is None
    with pytest.raises(MissingInput, match="nothing is planned"):
        progress_of(read_snapshot(copied(Small(), "pooled", tmp_path / "pooled")), now=NOW)


def days(*moments: str | None, zone: Any = UTC) -> Any:
    """The days of one assessor who answered at these moments."""
    answers = [Judgement("q", f"d{at}", "a1", 1, judged_at=moment) for at, moment in enumerate(moments)]
    outcome = SimpleNamespace(everything=answers, rulings=())
    snapshot: Any = SimpleNamespace(outcome=outcome)
    return by_day(snapshot, now=NOW, zone=zone)


def test_the_last_fourteen_days_are_shown_and_all_answers_are_counted() -> None:
    moments = [(NOW - timedelta(days=back)).isoformat() for back in (0, 13, 13, 14)]
    found = days(*moments, None)
    mine = found.assessors["a1"]
    assert (len(found.days), found.days[-1], found.undated) == (14, NOW.date(), 1)
    assert (mine.given, mine.n) == ((2, *[0] * 12, 1), 5)
    assert mine.last == NOW


def test_the_last_answer_is_named_by_the_clock_of_the_lead() -> None:
    east = timezone(timedelta(hours=12))
    first, last = NOW - timedelta(days=2), NOW - timedelta(days=1)
    mine = days(last.isoformat(), first.isoformat(), zone=east).assessors["a1"]
    assert (mine.last, mine.last.utcoffset()) == (last, timedelta(hours=12))
    assert days(None).assessors["a1"].last is None


def agreeing(*moments: str, people: tuple[str, ...] = (), decided: str = "published") -> tuple[Notice, ...]:
    """What is noted if all who wrote at these moments agree; a1, a2, ... each once."""
    wrote = [
        Judgement("q", f"d{at}", f"a{at}", 1, comment="So.", judged_at=moment)
        for at, moment in enumerate(moments, start=1)
    ]
    settings = SimpleNamespace(release=SimpleNamespace(comments=decided, reasons=decided))
    outcome = SimpleNamespace(everything=wrote, adjudications={}, unjudgeable={})
    study: Any = SimpleNamespace(
        outcome=outcome,
        ws=SimpleNamespace(settings=settings),
        notices=(),
        people=[SimpleNamespace(assessor=one.assessor) for one in wrote],
    )
    return comments.consent(study, how="by mail", people=people)


def test_consent_reaches_to_all_that_is_on_record_even_of_a_clock_that_is_ahead() -> None:
    ahead = "2199-01-01T00:00:00+00:00"
    first, second = agreeing(RECORDED, ahead)
    assert (first.assessor, second.assessor, first.at, first.published, first.words) == (
        "a1", "a2", ahead, True, "by mail",
    )  # fmt: skip
    before = datetime.now(UTC)
    (one,) = agreeing("2001-01-01T00:00:00+00:00")
    assert before <= datetime.fromisoformat(one.at) <= datetime.now(UTC)
    assert [one.assessor for one in agreeing(RECORDED, RECORDED, people=("a2",))] == ["a2"]


def words(published: str | None, given: int, early: dict[str, int]) -> comments.WordsOfKind:
    return comments.WordsOfKind("comments", "assessors", published, given, early, ())


@pytest.mark.parametrize(
    ("decided", "published"), [("published", 7 - 3), ("left out", 0), (None, 0)], ids=["published", "out", "undecided"]
)
def test_of_what_is_published_that_of_people_who_did_not_know_stays_out(decided: str | None, published: int) -> None:
    one = words(decided, 7, {"a1": 1, "a2": 2})
    everything = object.__new__(comments.PublishedWords)
    everything.kinds = (one,)
    assert one.published == published
    assert [note.partition(" left out")[0] for note in everything.notes] == (
        ["1 of the comments by a1", "2 of the comments by a2"] if decided == "published" else []
    )
    assert bool(everything.undecided) is (decided is None)
