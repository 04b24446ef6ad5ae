"""Of several answers of one assessor, which one counts, and what it makes of the pair's final grade."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from annot.base.records import Adjudication, Assessor, Assignment, Judgement, PairReturn, Query
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.database import open_store
from annot.store.people import put_assessors
from annot.store.pools import put_queries
from annot.study.guidelines import screen
from annot.study.outcome import Outcome, changed_after_adjudication, current_judgements, outcome_from, outcome_of
from annot.study.workspace import Workspace
from study_stages import copied, published

SKIPPED = ("skipped",)
BY_ANOTHER = ("last changed by account 7, not by its author",)


def given(grade: int | None, *flags: str, assessor: str = "a1", occasion: int = 1) -> Judgement:
    return Judgement("q1", "d1", assessor, grade, flags=flags, occasion=occasion)


@pytest.mark.parametrize(
    ("answers", "counting"),
    [
        ([given(1), given(2)], given(2)),
        ([given(1), given(2, *SKIPPED)], given(1)),
        ([given(1), given(2, *BY_ANOTHER), given(3, *SKIPPED)], given(1)),
        ([given(1, *SKIPPED), given(2)], given(2)),
        ([given(1), given(2, *SKIPPED), given(3)], given(3)),
        ([given(1, *SKIPPED), given(2), given(3, *BY_ANOTHER)], given(2)),
        ([given(None, *SKIPPED), given(2, *BY_ANOTHER)], given(2, *BY_ANOTHER)),
        ([given(2, *BY_ANOTHER), given(None, *SKIPPED)], given(None, *SKIPPED)),
    ],
)
def test_the_latest_answer_that_counts_is_taken_and_where_none_counts_the_latest(
    answers: list[Judgement], counting: Judgement
) -> None:
    assert current_judgements(tuple(answers)) == (counting,)


def test_assessors_and_occasions_do_not_take_each_others_place() -> None:
    answers = (given(1), given(2, assessor="a2"), given(3, occasion=2), given(0, *SKIPPED, assessor="a2"))
    assert current_judgements(answers) == (given(1), given(3, occasion=2), given(2, assessor="a2"))


PAIR = ("q1", "d1")


def decision(at: str, grade: int | None = 2) -> SourcedAdjudication:
    said = Adjudication(*PAIR, "j1", grade, "shown", ("a1", "a2"), judged_at=at)
    return SourcedAdjudication(said, "label-studio", "70", {}, changed_at=at)


def returned_pair(*settled: SourcedAdjudication) -> Outcome:
    """a1 and a2 do not agree, and at ten the pair is returned to a1, who has not answered yet."""
    return outcome_from(
        tuple(Assignment(*PAIR, name, 1) for name in ("a1", "a2")),
        [given(1), given(3, assessor="a2")],
        settled,
        [PairReturn(*PAIR, "a1", 3, "Look again.", "2031-01-01T10:00:00+00:00")],
        asked=1,
    )


def test_a_returned_pair_that_is_settled_waits_for_nobody() -> None:
    found = returned_pair(decision("2031-01-01T10:00:01Z"))
    assert (found.waiting, found.open, found.incomplete, found.short) == ((), (), (), ())
    assert [one.grade for one in found.decisions] == [2]


def test_a_decision_from_before_the_return_does_not_settle_the_pair() -> None:
    found = returned_pair(decision("2031-01-01T09:59:59Z"))
    assert (found.waiting, found.decisions, found.reopened) == ((PAIR,), (), {PAIR: 1})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([], []),
        ([("10:00:00.000", 0)], []),
        ([("09:59:59.999", 0)], []),
        ([("10:00:00.001", 0)], [(3, 0)]),
        ([("10:00:00.000", 0), ("10:00:00.001", 1)], [(0, 1)]),
        ([("10:00:00.001", 0), ("10:00:00.002", 3)], []),
        ([("10:00:00.001", None)], [(3, None)]),
    ],
    ids=["unchanged", "at that moment", "just before", "just after", "at it and after it", "and back", "cannot judge"],
)
def test_an_answer_is_named_if_it_changed_after_the_decision_and_not_at_its_very_moment(
    tmp_path: Path, changes: list[tuple[str, int | None]], told: list[tuple[int | None, int | None]]
) -> None:
    day = "2031-01-01T{}Z".format
    answers = [("09:00:00.000", 3), *changes]
    with open_store(f"sqlite:///{tmp_path / 'annot.db'}") as store, store.begin() as session:
        put_queries(session, [Query("q1", "p1", "method", (0,))])
        put_assessors(session, [Assessor("a2", None, False), Assessor("j1", None, True)])
        for at, grade in answers:
            said = replace(given(grade, assessor="a2"), judged_at=day("09:00:00.000"))
            said = replace(said, cannot_judge="no abstract" if grade is None else None)
            JUDGEMENTS.record(
                session,
                [SourcedJudgement(said, "label-studio", "7", {"at": at}, changed_at=day(at))],
                recorded_at=day(at),
            )
        ADJUDICATIONS.record(session, [decision(day("10:00:00.000"))], recorded_at=day("10:00:00.000"))
        found = changed_after_adjudication(session)
    assert [(before.pair, after.assessor, before.grade, after.grade) for before, after in found] == [
        (PAIR, "a2", *grades) for grades in told
    ]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return copied(published(1), "measured", tmp_path_factory.mktemp("outcome") / "study")


@pytest.mark.parametrize(
    ("flags", "final"),
    [(SKIPPED, "agreed"), (BY_ANOTHER, "agreed"), ((), None)],
    ids=["skipped", "changed by another", "counts"],
)
def test_a_later_answer_moves_the_final_grade_only_if_it_counts(
    judged: Workspace, tmp_path: Path, flags: tuple[str, ...], final: str | None
) -> None:
    with open_store(judged.database_url) as store:
        with store.read() as session:
            agreed = next(one for one in outcome_of(session, judged.settings).decisions if one.origin == "agreed")
            pair = (agreed.query_id, agreed.doc_id)
            first = next(one for one in JUDGEMENTS.read(session) if one.record.pair_key[:2] == pair)
        assert first.record.grade == agreed.grade
        later = replace(first.record, grade=(agreed.grade + 1) % 4, flags=flags, judged_at="2031-01-01T00:00:00+00:00")
        with store.begin() as session:
            JUDGEMENTS.record(
                session,
                [SourcedJudgement(later, first.source, f"9{first.annotation}", {"id": 9}, server=first.server)],
                recorded_at="2031-01-01T00:00:00+00:00",
            )
            outcome = outcome_of(session, judged.settings)
            session.rollback()
    decided = {(one.query_id, one.doc_id): (one.grade, one.origin) for one in outcome.decisions}
    assert decided.get(pair) == (None if final is None else (agreed.grade, final))
    assert (pair in outcome.open) == (final is None)


@pytest.mark.parametrize(
    ("kind", "setting", "other"), [("judge", "comments", "reasons"), ("adjudicate", "reasons", "comments")]
)
def test_a_screen_says_whether_what_its_people_write_is_published(
    judged: Workspace, kind: Literal["judge", "adjudicate"], setting: str, other: str
) -> None:
    usual = screen(judged.replaced("release", comments="published", reasons="published"), kind)
    assert screen(judged.replaced("release", **{setting: "left out", other: "published"}), kind) != usual
    assert screen(judged.replaced("release", **{setting: "published", other: "left out"}), kind) == usual
