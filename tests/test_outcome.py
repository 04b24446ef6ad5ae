"""Of several answers of one assessor, which one counts, and what it makes of the pair's final grade."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.records import Judgement
from annot.store.database import open_store
from annot.store.judgements import SourcedJudgement, read_sourced, record_judgements
from annot.study.outcome import current_judgements, outcome_of
from annot.study.workspace import Workspace
from judged_study import judged_study

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


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return judged_study(tmp_path_factory.mktemp("outcome") / "study", query_papers=1)


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
            first = next(one for one in read_sourced(session) if one.record.asked[:2] == pair)
        assert first.record.grade == agreed.grade
        later = replace(
            first.record,
            grade=(agreed.grade + 1) % 4,
            flags=flags,
            judged_at="2031-01-01T00:00:00+00:00",
        )
        with store.begin() as session:
            record_judgements(
                session,
                [SourcedJudgement(later, first.source, f"9{first.annotation}", {"id": 9}, server=first.server)],
                recorded_at="2031-01-01T00:00:00+00:00",
            )
            outcome = outcome_of(session, judged.settings)
            session.rollback()
    decided = {(one.query_id, one.doc_id): (one.grade, one.origin) for one in outcome.decisions}
    assert decided.get(pair) == (None if final is None else (agreed.grade, final))
    assert (pair in outcome.open) == (final is None)
