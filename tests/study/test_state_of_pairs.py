"""States of a pair: who settles it, when a decision still counts, and the files about it."""

import json
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Adjudication, Assessor, Assignment, Judgement, PairReturn, Query
from annot.base.settings import Settings
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.database import open_store
from annot.store.models import Plan
from annot.store.people import put_assessors
from annot.store.pools import put_queries
from annot.study.outcome import Dispute, Outcome, assign_adjudicators, changed_after_adjudication, gap_of, outcome_from
from annot.study.snapshot import export_qrels, refuse_unfinished, too_few, unfinished
from annot.study.workspace import Workspace

TEAM = ("a1", "a2")
PLAN = Plan("1", 13, "2031", 2)


def judgement(doc: str, who: str, grade: int | None, **more: Any) -> Judgement:
    return Judgement("q1", doc, who, grade, **more)


def both(doc: str, one: int, other: int) -> list[Judgement]:
    return [judgement(doc, "a1", one), judgement(doc, "a2", other)]


def ruling(doc: str, at: str, grade: int | None = 2, who: str = "j1") -> SourcedAdjudication:
    reason = None if grade is not None else "no abstract"
    said = Adjudication("q1", doc, who, grade, "shown", TEAM, cannot_judge=reason, judged_at=at)
    return SourcedAdjudication(said, "label-studio", at, {}, changed_at=at)


def returned(doc: str, who: str, occasion: int, at: str, **more: Any) -> PairReturn:
    return PairReturn("q1", doc, who, occasion, "Look again.", at, **more)


def outcome(docs: str, given: list[Judgement], *settled: SourcedAdjudication, **more: Any) -> Outcome:
    plan = tuple(Assignment("q1", doc, name, 1) for doc in docs.split() for name in TEAM)
    return outcome_from(plan, given, settled, more.pop("returned", ()), asked=1, drawn=PLAN, **more)


def dispute(query: str, doc: str, *grades: int | None) -> Dispute:
    return tuple(Judgement(query, doc, f"a{at}", one) for at, one in enumerate(grades))


def test_the_gap_of_a_dispute_is_between_its_grades_and_none_without_any() -> None:
    gaps = {(0, 3, 1): 3, (2, None): 0, (None, None): 0, (1, None, 0): 1}
    assert {grades: gap_of(dispute("q", "d", *grades)) for grades in gaps} == gaps


@pytest.mark.parametrize("seed", range(4))
def test_adjudicators_have_whole_queries_and_as_many_pairs_as_each_other(seed: int) -> None:
    pairs = [dispute(query, f"d{at}", 0, 3) for query in ("q1", "q2", "q3", "q4") for at in range(4)]
    given = assign_adjudicators(pairs, ["j1", "j2"], may_assess=False, seed=seed, current={}, passed_on={})
    people = [{given[query, f"d{at}"] for at in range(4)} for query in ("q1", "q2", "q3", "q4")]
    assert all(len(one) == 1 for one in people)
    assert sorted(given.values()) == ["j1"] * 8 + ["j2"] * 8


@pytest.mark.parametrize(
    ("decided", "sent_back", "grades", "times"),
    [
        (["09:00"], [], [2], {}),
        (["09:00"], ["10:00"], [], {"d": 1}),
        (["10:00"], ["10:00"], [2], {}),
        (["09:00", "10:30"], ["10:00"], [2], {"d": 1}),
        (["09:00", "10:30"], ["10:00", "11:00"], [], {"d": 2}),
        (["09:00", "09:30"], ["10:00"], [], {"d": 1}),
    ],
)
def test_a_decision_stands_until_the_pair_is_returned_after_it(
    decided: list[str], sent_back: list[str], grades: list[int], times: dict[str, int]
) -> None:
    day = "2031-01-01T{}:00Z".format
    again = [returned("d", "a1", 2 + at, day(one)) for at, one in enumerate(sent_back)]
    found = outcome("d", both("d", 0, 3), *(ruling("d", day(at)) for at in decided), returned=again)
    assert [one.grade for one in found.decisions] == grades
    assert {doc: n for (_, doc), n in found.reopened.items()} == times


def test_repeats_and_answers_given_again_are_told_from_each_other() -> None:
    repeat, again = judgement("d", "a1", 1, occasion=2), judgement("d", "a2", 0, occasion=2)
    found = outcome("d", [*both("d", 0, 3), repeat, again], returned=[returned("d", "a2", 2, "2031-01-01T10:00:00Z")])
    assert (found.repeats, found.again, found.judgements) == ((repeat,), (again,), tuple(both("d", 0, 3)))
    assert found.current == (judgement("d", "a1", 0), again)
    assert [one.grade for one in found.decisions] == [0]
    assert found.everything == (judgement("d", "a1", 0), repeat, judgement("d", "a2", 3), again)


def test_only_pairs_that_are_planned_for_fewer_are_accepted_as_such() -> None:
    plan = (Assignment("q1", "one", "a1", 1), *(Assignment("q1", "two", name, 2) for name in TEAM))
    accepted = {("q1", "one"): "a2 left", ("q1", "two"): "why", ("q1", "gone"): "why"}
    given = [judgement("one", "a1", 1), judgement("two", "a1", 1)]
    found = outcome_from(plan, given, [], [], asked=1, drawn=PLAN, accepted=accepted)
    assert found.accepted == {("q1", "one"): "a2 left"}
    assert [one.doc_id for one in found.decisions] == ["one"]
    without = outcome_from(plan, given, [], [], asked=1, drawn=PLAN)
    assert (without.short, without.incomplete) == ((("q1", "one"),), (("q1", "one"), ("q1", "two")))
    assert without.of_answered_pairs == ()
    assert found.of_answered_pairs == (given[0],)
    settled = outcome_from(plan, given, [ruling("one", "2031-01-01T10:00:00Z")], [], asked=1, drawn=PLAN)
    assert (settled.short, settled.incomplete) == ((), (("q1", "two"),))
    imported = outcome_from(plan, given, [], [], asked=1, accepted=accepted)
    assert (imported.accepted, imported.per_pair) == ({}, None)


@pytest.mark.parametrize(("recorded_at", "told"), [("2031-01-01T11:00:00Z", 1), ("2031-01-01T09:30:00Z", 0)])
def test_a_change_without_a_moment_was_made_when_it_was_recorded(tmp_path: Path, recorded_at: str, told: int) -> None:
    with open_store(f"sqlite:///{tmp_path / 'annot.db'}") as store, store.begin() as session:
        put_queries(session, [Query("q1", "p1", "method", (0,))])
        put_assessors(session, [Assessor("a2", None, False), Assessor("j1", None, True)])
        for grade, at in ((3, "2031-01-01T23:00:00Z"), (0, recorded_at)):
            said = judgement("d1", "a2", grade, judged_at="2031-01-01T09:00:00Z")
            JUDGEMENTS.record(session, [SourcedJudgement(said, "label-studio", "7", {"at": at})], recorded_at=at)
        ADJUDICATIONS.record(session, [ruling("d1", "2031-01-01T10:00:00Z")], recorded_at="2031-01-01T10:00:00Z")
        changes = changed_after_adjudication(session)
        assert [(before.grade, after.grade) for before, after in changes] == [(3, 0)] * told


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_topics_of_queries_are_beside_the_qrels_under_one_name_also_once_a_text_was_added(tmp_path: Path) -> None:
    ws = Workspace(tmp_path, Settings())
    found = outcome("same", both("same", 1, 1))
    of_paper, of_text = Query("q1", "p1", "method", (0,)), Query("T1", "T1", "whole", ())
    for queries, texts, name in (
        ([of_paper], (), "query_papers.tsv"),
        ([of_paper, of_text], ["T1"], "query_topics.tsv"),
        ([of_paper], (), "query_papers.tsv"),
    ):
        export_qrels(ws, found, queries, texts)
        assert [path.name for path in ws.exports.glob("query_*")] == [name]
        assert name in json.loads((ws.exports / "qrels.manifest.json").read_text())["files"]


def test_qrels_have_the_pairs_with_a_grade_and_decisions_those_that_nobody_can_judge_too(tmp_path: Path) -> None:
    ws = Workspace(tmp_path, Settings())
    given = [*both("same", 1, 1), *both("none", 0, 3), *both("open", 0, 3), judgement("half", "a1", 1)]
    found = outcome("same none open half", given, ruling("none", "2031-01-01T10:00:00Z", None))
    export_qrels(ws, found, [Query("q1", "p1", "method", (0,))], ())
    assert ws.qrels.read_text() == "q1 0 same 1\n"
    assert sorted(one["doc_id"] for one in written(ws.exports / "decisions.jsonl")) == ["none", "same"]
    manifest = json.loads((ws.exports / "qrels.manifest.json").read_text())
    assert {name: manifest[name] for name in ("pairs", "unjudgeable", "open", "incomplete")} == {
        "pairs": 1,
        "unjudgeable": 1,
        "open": 1,
        "incomplete": 1,
    }
    assert manifest["inputs"] == {}


def study(
    grades: dict[str, tuple[int | None, ...]],
    *,
    unable: tuple[str, ...] = (),
    asked: int = 2,
    returned: tuple[PairReturn, ...] = (),
) -> Outcome:
    """grades: of a1 and a2, by document; None where there is none. unable: pairs that j1 could not judge."""
    plan = tuple(Assignment("q1", doc, name, 1) for doc in grades for name in TEAM)
    given = [
        Judgement("q1", doc, name, grade)
        for doc, both in grades.items()
        for name, grade in zip(TEAM, both, strict=True)
        if grade is not None
    ]
    said = [
        Adjudication("q1", doc, "j1", None, "shown", TEAM, cannot_judge="no abstract", judged_at="2031-01-01T10:00:00Z")
        for doc in unable
    ]
    settled = [SourcedAdjudication(one, "label-studio", one.doc_id, {}) for one in said]
    return outcome_from(plan, given, settled, returned, asked=asked)


def test_each_reason_is_its_own() -> None:
    again = PairReturn("q1", "back", "a2", 3, "Look again.", "2031-01-01T09:00:00Z")
    grades = {"agreed": (1, 1), "open": (0, 3), "passed": (0, 3), "half": (1, None), "back": (0, 3)}
    found = unfinished(study(grades, unable=("passed",), returned=(again,)))
    assert sorted(found) == [
        "q1 back: returned to a2, who has not answered yet; `annot return q1 back --to a2 --undo` takes it back",
        "q1 half: not judged by all assessors yet",
        "q1 open: in dispute, not adjudicated",
        "q1 passed: in dispute, one adjudicator could not judge it, a second is needed",
    ]


def test_a_pair_that_every_adjudicator_asked_could_not_judge_is_closed() -> None:
    assert unfinished(study({"d1": (0, 3)}, unable=("d1",), asked=1)) == []


def test_a_study_with_a_pair_left_is_unfinished_unless_it_may_be() -> None:
    outcome = study({"d1": (1, 1), "d2": (0, 3)})
    with pytest.raises(InputError, match="1 pair without a final grade") as error:
        refuse_unfinished(outcome, partial=False)
    assert list(error.value.faults) == ["q1 d2: in dispute, not adjudicated"]
    assert "--partial" in str(error.value.hint)
    refuse_unfinished(outcome, partial=True)
    refuse_unfinished(study({"d1": (1, 1)}), partial=False)
    assert too_few(outcome) == []


def test_nothing_judged_and_nothing_settled_are_refused_even_as_a_part() -> None:
    for grades in ({"d1": (None, None)}, {"d1": (0, 3)}):
        with pytest.raises(MissingInput):
            refuse_unfinished(study(grades), partial=True)
