"""The plan by its steps: what a share may be, who has too many hours, what is planned, and what can be taken back."""

from pathlib import Path

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Assessor, Assignment
from annot.judging.pool_samples import documents_to_plan
from annot.steps import plan
from annot.steps.plan import Load, PlanSummary
from annot.store import people
from annot.study.workspace import Workspace, read_manifest
from small_study import RECORDED, FirstPairs, Small, sent_to
from study_stages import copied


def test_a_share_is_a_person_and_a_number_above_zero() -> None:
    assert plan.shares_of(["a1=2", "a2=0.5", "a1=3"]) == {"a1": 3.0, "a2": 0.5}
    wrong = ["a1", "a1=", "=2", "a1=0", "a1=-1", "a1=inf", "a1=nan", "a1=two"]
    with pytest.raises(InputError) as error:
        plan.shares_of([*wrong, "a2=1"])
    assert [fault.removeprefix("--share ").partition(": ")[0] for fault in error.value.faults] == wrong


def test_loads_count_pairs_once_and_repeats_apart() -> None:
    given = (
        Assignment("q1", "d1", "a1", 1),
        Assignment("q1", "d2", "a1", 2),
        Assignment("q2", "d1", "a1", 3),
        Assignment("q1", "d1", "a1", 4, 2),
        Assignment("q1", "d1", "a2", 1),
    )
    assert plan._loads(given, ["a3", "a1", "a2"]) == (Load("a1", 2, 3, 1), Load("a2", 1, 1, 0), Load("a3", 0, 0, 0))


def make(ws: Workspace, *, shares: dict[str, float] | None = None, seed: int | None = None, **of: bool) -> PlanSummary:
    wanted = {"grow": False, "dry_run": False} | of
    return plan.make(ws, queries=(), shares=shares or {}, seed=seed, **wanted)


def study(folder: Path, stage: str, *, judged: int = 0) -> Workspace:
    return copied(Small(answers=FirstPairs(judged)), stage, folder / "study")


def with_people(ws: Workspace, **left: str) -> Workspace:
    """a1, a2 and a3, who judge, and j1, who settles."""
    with ws.writing() as session:
        people.put_assessors(session, [Assessor(name, None, name == "j1") for name in ("a1", "a2", "a3", "j1")])
        for name, at in left.items():
            people.set_left(session, name, at)
    return ws


def assigned(ws: Workspace) -> dict[str, int]:
    with ws.reading() as session:
        return {
            name: sum(one.assessor == name for one in people.read_assignments(session))
            for name in ("a1", "a2", "a3", "j1")
        }


def test_two_of_those_who_are_there_judge_each_pair(tmp_path: Path) -> None:
    ws = with_people(study(tmp_path, "pooled"), a3=RECORDED).replaced("judging", repeats=0.0)
    dry = make(ws, dry_run=True)
    assert (dry.pairs, dry.assignments, dry.new) == (40, 80, 80)
    assert sum(assigned(ws).values()) == 0
    made = make(ws)
    assert (made.sha256, made.loads) == (dry.sha256, (Load("a1", 4, 40, 0), Load("a2", 4, 40, 0)))
    assert assigned(ws) == {"a1": 40, "a2": 40, "a3": 0, "j1": 0}
    again = make(ws)
    assert (again.new, again.sha256) == (0, made.sha256)
    file = ws.pools / plan.plan_on_record.PLAN_FILE
    written = file.read_bytes()
    for text in (None, "spoilt"):
        file.unlink()
        if text is not None:
            file.write_text(text, encoding="utf-8")
        make(ws)
        assert file.read_bytes() == written


def test_an_adjudicator_has_pairs_only_if_they_may(tmp_path: Path) -> None:
    ws = with_people(study(tmp_path, "pooled"), a2=RECORDED, a3=RECORDED).replaced("judging", repeats=0.0)
    make(ws.replaced("adjudication", adjudicator_may_assess=True))
    assert assigned(ws) == {"a1": 40, "a2": 0, "a3": 0, "j1": 40}


def test_an_assessor_who_becomes_adjudicator_keeps_their_pairs_and_gets_no_new_ones(tmp_path: Path) -> None:
    ws = with_people(study(tmp_path, "pooled"), a3=RECORDED).replaced("judging", repeats=0.0, per_pair=1)
    make(ws)
    before = assigned(ws)["a1"]
    assert 0 < before < 40
    with ws.writing() as session:
        people.put_assessors(session, [Assessor("a1", None, adjudicator=True)])
        people.set_left(session, "a3", None)
    make(ws.replaced("judging", per_pair=2))
    assert assigned(ws)["a1"] == before
    assert sum(assigned(ws).values()) == 80
    assert plan.plan_on_record.check(ws).faults == ()


def test_shares_are_remembered_and_have_to_be_of_people_of_the_study(tmp_path: Path) -> None:
    ws = with_people(study(tmp_path, "pooled")).replaced("judging", repeats=0.0)
    with pytest.raises(InputError, match="--share"):
        make(ws, shares={"a9": 1.0})
    make(ws, shares={"a1": 2.0})
    found = assigned(ws)
    assert sum(found.values()) == 80
    assert found["a1"] > found["a2"] > 0
    with ws.reading() as session:
        shares = {one.assessor: one.share for one in people.read_assessors(session)}
    assert (shares["a1"], shares["a2"]) == (2.0, None)


def unheeded(ws: Workspace, shares: dict[str, float]) -> list[str]:
    with ws.reading() as session:
        before = people.read_plan(session)
    assert before is not None
    return list(plan._unheeded(ws, before, shares, {"a1": 2.0}))


def test_what_a_plan_on_record_does_not_heed_is_named(tmp_path: Path) -> None:
    ws = with_people(study(tmp_path, "pooled")).replaced("judging", repeats=0.0)
    make(ws, seed=7)
    seven = ws.replaced(seed=7)
    assert unheeded(seven, {"a1": 2.0, "a2": 1.0}) == []
    assert unheeded(seven, {"a1": 1.0, "a2": 3.0}) == ["share a1=1", "share a2=3"]
    assert unheeded(ws.replaced(seed=8), {}) == ["seed 8"]
    assert unheeded(seven.replaced("judging", repeats=0.1), {}) == ["repeats 0.1"]


def test_without_queries_or_pools_there_is_nothing_to_plan(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="no queries"):
        documents_to_plan({}, {}, (), ())
    ws = study(tmp_path, "queried")
    with pytest.raises(MissingInput, match="no pool for p1-method, p2-method, p3-method, p4-method"):
        make(ws)


def sent(ws: Workspace, queries: set[str]) -> None:
    with ws.reading() as session:
        asked = [one.pair_key for one in people.read_assignments(session, "a1") if one.query_id in queries]
    sent_to(ws, "a1", *asked)


def test_what_was_neither_sent_nor_judged_is_taken_back(tmp_path: Path) -> None:
    ws = study(tmp_path, "judged", judged=10)
    sent(ws, {"p2-method"})

    def withdraw(*queries: str, sent: bool = False, dry_run: bool = False) -> int:
        return plan.withdraw(ws, queries=queries, sent=sent, dry_run=dry_run)

    with pytest.raises(InputError, match="found no --query"):
        withdraw(sent=True)
    with pytest.raises(InputError, match="p1-method: already judged"):
        withdraw("p1-method", sent=True)
    with pytest.raises(InputError, match="every planned pair of p2-method was sent or judged; tasks were sent to a1"):
        withdraw("p2-method")
    assert withdraw("p3-method", dry_run=True) == 20
    assert withdraw("p3-method") == 20
    with ws.reading() as session:
        places = [one.position for one in people.read_assignments(session, "a1")]
    assert sorted(places) == list(range(1, 31))
    assert withdraw() == 20
    assert withdraw("p2-method", sent=True) == 20
    with pytest.raises(InputError, match="every planned pair was sent or judged"):
        withdraw()


def test_a_plan_that_is_taken_back_whole_is_gone(tmp_path: Path) -> None:
    ws = study(tmp_path, "planned")
    assert plan.withdraw(ws, queries=(), sent=False, dry_run=False) == 80
    with ws.reading() as session:
        assert people.read_plan(session) is None
    with pytest.raises(MissingInput, match="nothing is planned"):
        plan.withdraw(ws, queries=(), sent=False, dry_run=False)


def test_what_comes_too_late_is_noted_and_the_plan_keeps_its_seed(tmp_path: Path) -> None:
    ws = with_people(study(tmp_path, "pooled")).replaced("judging", repeats=0.1)
    make(ws, seed=7)
    assert not any("nothing changed" in note for note in make(ws).notes)
    (ws.pools / plan.plan_on_record.PLAN_FILE).unlink()
    late = make(ws, seed=8)
    assert any("nothing changed: the 40 pairs are already planned" in note for note in late.notes)
    assert any("seed 8 applies only" in note for note in late.notes)
    assert read_manifest(ws.pools / plan.plan_on_record.MANIFEST_FILE, hint="")["seed"] == 7
