"""The plan in the database and its file: recorded, written, and compared."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.errors import MissingInput
from annot.base.records import Assignment, PairKey
from annot.judging.plan_on_record import check, plan_sha256, record_plan, write_plan
from annot.store import people
from annot.study.workspace import Workspace
from small_study import RECORDED, Small, sent_to
from study_stages import copied

LACKING = ("p1-method", "d09")


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Planned, with the file of the plan."""
    ws = copied(Small(), "planned", tmp_path / "study")
    kept(ws, assignments(ws))
    return ws


def assignments(ws: Workspace) -> tuple[Assignment, ...]:
    with ws.reading() as session:
        return people.read_assignments(session)


def kept(ws: Workspace, plan: tuple[Assignment, ...]) -> None:
    with ws.writing() as session:
        record_plan(ws, session, plan)
    write_plan(ws, plan)


def test_a_sound_plan_has_no_faults_and_is_counted(ws: Workspace) -> None:
    found = check(ws)
    assert (found.pairs, found.assignments, found.unplanned, found.to_withdraw) == (40, 80, 0, 0)
    assert (found.faults, [(one.first, one.second, one.pairs) for one in found.overlaps]) == ((), [("a1", "a2", 40)])
    assert found.sha256 == plan_sha256(assignments(ws))


def test_without_a_plan_there_is_nothing_to_check(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="nothing is planned"):
        check(copied(Small(), "pooled", tmp_path / "study"))


def test_pairs_outside_the_plan_and_tasks_of_nobody_are_counted(ws: Workspace) -> None:
    plan = tuple(one for one in assignments(ws) if one.pair != LACKING and one.query_id != "p4-method")
    sent_to(ws, "a1", PairKey(*LACKING), PairKey("p1-method", "d01"))
    gone = [one for one in assignments(ws) if one.pair == LACKING]
    with ws.writing() as session:
        record_plan(ws, session, plan, handed_on=gone)
    write_plan(ws, plan)
    found = check(ws)
    assert (found.pairs, found.unplanned, found.to_withdraw) == (29, 11, 1)


def test_who_left_with_open_pairs_is_a_fault(ws: Workspace) -> None:
    with ws.writing() as session:
        people.set_left(session, "a2", RECORDED)
    assert [fault.partition(";")[0] for fault in check(ws).faults] == ["a2: has left, with 40 unanswered pairs"]


def test_a_file_that_is_gone_or_changed_is_a_fault_with_twelve_letters_of_the_hash_on_record(ws: Workspace) -> None:
    path, sha256 = ws.pools / "plan.jsonl", plan_sha256(assignments(ws))
    text = path.read_text(encoding="utf-8")
    path.write_text(text[1:], encoding="utf-8")
    again = "of the plan on record; write it again with `annot plan`"
    fault = f"{path}: missing, or without the hash {sha256[:12]} {again}"
    assert check(ws).faults == (fault,)
    path.unlink()
    assert check(ws).faults == (fault,)
    path.write_text(text, encoding="utf-8")
    with ws.writing() as session:
        known = people.read_plan(session)
        assert known is not None
        people.replace_plan(session, assignments(ws), plan=known._replace(sha256="f" * 64))
    assert check(ws).faults == (
        f"the plan in the database has the hash {sha256[:12]}, expected {'f' * 12}; write it again with `annot plan`",
    )


def test_how_many_judge_a_pair_stays_on_record_unless_it_is_said_anew(ws: Workspace) -> None:
    plan = assignments(ws)
    for given, expected in ((None, 2), (3, 3), (None, 3)):
        with ws.writing() as session:
            assert record_plan(ws, session, plan, per_pair=given) == plan_sha256(plan)
            known = people.read_plan(session)
        assert known is not None
        assert (known.per_pair, known.vacant, known.sha256) == (expected, (), plan_sha256(plan))


def test_pairs_that_nobody_took_are_still_to_be_judged_unless_they_are_dropped(ws: Workspace) -> None:
    given_up = [one for one in assignments(ws) if one.doc_id in ("d08", "d09") and one.query_id == "p1-method"]
    left = tuple(one for one in assignments(ws) if one not in given_up)
    for dropped, vacant in (((), [("p1-method", "d08"), LACKING]), ([LACKING], [("p1-method", "d08")])):
        with ws.writing() as session:
            record_plan(ws, session, left, handed_on=given_up, dropped=dropped)
            known = people.read_plan(session)
        assert known is not None
        assert list(known.vacant) == vacant
    with ws.writing() as session:
        record_plan(ws, session, [*left, replace(given_up[0], position=99)])
        known = people.read_plan(session)
    assert known is not None
    assert known.vacant == ()


def test_an_empty_plan_has_no_file(ws: Workspace) -> None:
    manifest = ws.pools / "plan.manifest.json"
    facts = json.loads(manifest.read_text(encoding="utf-8"))
    assert "plan.jsonl" in str(facts)
    write_plan(ws, ())
    assert not manifest.exists()
    assert not (ws.pools / "plan.jsonl").exists()
    write_plan(ws, ())
