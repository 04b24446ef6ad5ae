"""What may be in a person's project, which accounts are theirs, and when the running agreement is measured again."""

from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Assignment, Judgement, PairReturn
from annot.judging import progress
from annot.judging.exchange.collecting import accounts_of
from annot.judging.exchange.servers import own_tasks
from annot.store import people, trials
from annot.store.answers import add_returned, read_returned, withdraw_returned
from annot.study.workspace import Workspace
from small_study import RECORDED, Small
from study_stages import copied

P1, P2 = "p1-method", "p2-method"


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """d00 of the first query was put before a1 twice, once taken back."""
    ws = copied(Small(), "planned", tmp_path_factory.mktemp("own") / "study")
    with ws.writing() as session:
        for occasion in (3, 4):
            add_returned(session, PairReturn(P1, "d00", "a1", occasion, "Look again.", RECORDED))
        withdraw_returned(session, read_returned(session)[0], withdrawn_at=RECORDED)
        trials.add_assignments(session, "hidden-gold", [Assignment(P2, "d99", "a1", 1)])
        trials.add_assignments(session, "train", [Assignment(P2, "d01", "a2", 1)])
    return ws


def asked(ws: Workspace, round: Any, person: str) -> set[tuple[str, str, int]]:
    with ws.reading() as session:
        return {tuple(one) for one in own_tasks(session, round, person).values()}


def test_an_assessor_has_the_plan_and_what_was_returned_and_hidden_gold(ws: Workspace) -> None:
    with ws.reading() as session:
        plan = {tuple(one.pair_key) for one in people.read_assignments(session, "a1")}
    assert len(plan) == 40
    assert asked(ws, "judge", "a1") == plan | {(P1, "d00", 3), (P1, "d00", 4), (P2, "d99", 1)}
    assert asked(ws, "judge", "a2") == plan


def test_an_adjudicator_may_have_a_pair_once_more_for_each_time_it_was_returned(ws: Workspace) -> None:
    with ws.reading() as session:
        keys = own_tasks(session, "adjudicate", "j1")
    assert len(keys) == 40 + 2
    assert {one.occasion for one in keys.values()} == {1}
    assert sum(one.pair == (P1, "d00") for one in keys.values()) == 3


def test_other_rounds_have_their_own_pairs(ws: Workspace) -> None:
    assert asked(ws, "train", "a2") == {(P2, "d01", 1)}
    assert asked(ws, "train", "a1") == set()
    assert {one[0] for one in asked(ws, "labels", "j1")} == {"p1", "p2", "p3", "p4"}


@pytest.mark.parametrize(
    ("lines", "present", "others", "accounts"),
    [
        ([], None, set(), []),
        ([], 7, set(), [7]),
        ([(5, True)], 7, set(), [5, 7]),
        ([(5, True)], None, set(), [5]),
        ([(5, False)], 7, set(), [7]),
        ([(5, True), (None, True)], 7, {5}, [7]),
    ],
    ids=["none", "present", "former", "former alone", "does not count", "another's now"],
)
def test_the_accounts_of_a_person(
    lines: list[tuple[int | None, bool]], present: int | None, others: set[int | None], accounts: list[int]
) -> None:
    on_record: Any = {
        at: SimpleNamespace(current=SimpleNamespace(account=account), counts=counts)
        for at, (account, counts) in enumerate(lines)
    }
    assert accounts_of(on_record, present, others) == accounts


def test_agreement_is_measured_from_enough_papers_on_and_again_only_when_answers_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[Any] = []
    monkeypatch.setattr(progress, "running_agreement", lambda snapshot: measured.append(snapshot) or len(measured))

    def seen(*papers: str) -> Any:
        answers = [Judgement(paper, "d1", "a1", 1) for paper in papers]
        outcome = SimpleNamespace(of_answered_pairs=answers, decisions=(), unjudgeable=())
        return SimpleNamespace(outcome=outcome, queries=(), topics={paper: paper for paper in papers})

    so_far: Any = progress.AgreementSoFar(least_papers=2)
    assert [so_far(seen("p1")), so_far(seen("p1", "p2")), so_far(seen("p1", "p2"))] == [None, 1, 1]
    assert [so_far(seen("p1", "p2", "p3")), so_far(seen("p1", "p2", "p3"))] == [2, 2]
    assert so_far(seen("p1")) is None
