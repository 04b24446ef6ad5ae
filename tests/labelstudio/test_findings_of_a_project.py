"""What in one project is a sign that it was not judged blind: each kind at its boundary, and the words for it."""

from typing import Any

import pytest
from annot.base.records import PairKey
from annot.judging.exchange.audit import Audit, AuditFinding, described
from annot.labelstudio.studio_records import PulledTask
from made_up_projects import A1, A2, answer, found, met, task

EARLY, LATE = "2031-01-02T10:00:00Z", "2031-01-03T10:00:00Z"


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ((), "what"),
        (("q d1", "q d2", "q d3"), "what: q d1; q d2; q d3"),
        (("q d1", "q d2", "q d3", "q d4"), "what: q d1; q d2; q d3, and 1 more"),
        (("q d1", "q d2", "q d3", "q d4", "q d5"), "what: q d1; q d2; q d3, and 2 more"),
    ],
)
def test_a_finding_names_three_pairs_and_counts_the_others(pairs: tuple[str, ...], said: str) -> None:
    assert str(AuditFinding("kind", "what", len(pairs), "do", pairs)) == said
    assert str(AuditFinding("kind", "what", len(pairs), "do", pairs, "2031-01-02")) == f"{said} (last on 2031-01-02)"


def test_what_was_changed_of_the_project_is_named_with_the_day_of_the_last_time() -> None:
    project = met()._replace(
        settings=["the screen", "the title"], set_back={"the screen": "2031-01-05", "the title": "2031-01-04"}
    )
    kinds = found(project)
    assert kinds["project changed"].what.endswith(": the screen, the title")
    assert (kinds["project changed"].count, kinds["project changed"].last) == (2, None)
    assert kinds["project changed"].do == "`annot push` changes it back"
    assert (kinds["project set back"].count, kinds["project set back"].last) == (2, "2031-01-05")
    assert found(met()) == {}


def test_tasks_that_the_study_did_not_send_are_counted_with_and_without_a_key() -> None:
    kinds = found(met(task(1, "q/d1"), task(2, None), task(3, None, answer(3, by=A2)), task(4, "who/knows")))
    assert kinds.keys() == {"strange tasks"}
    assert kinds["strange tasks"].what == "a1: 3 tasks not sent by this study"
    assert kinds["strange tasks"].count == 3


def test_a_task_that_was_changed_is_named_if_the_study_sent_it() -> None:
    project = met(task(1, "q/d1"), task(2, "q/d2"))._replace(changed=["q/d2", None, "who/knows"])
    kinds = found(project)
    assert kinds.keys() == {"task changed"}
    assert (kinds["task changed"].pairs, kinds["task changed"].last) == (("q d2",), None)
    assert kinds["task changed"].what == "a1: 1 task showing content that was never sent"


@pytest.mark.parametrize(
    ("given", "counted", "kept", "kinds"),
    [
        ([answer(5)], {"5"}, False, set()),
        ([], {"5"}, False, {"answer gone"}),
        ([], {"5"}, True, set()),
        ([], set(), False, set()),
        ([{**answer(5), "was_cancelled": True}], {"5"}, False, {"answer gone"}),
        ([answer(5), answer(6)], {"5"}, False, {"answered twice"}),
        ([answer(5), {**answer(6), "was_cancelled": True}], {"5"}, False, set()),
        ([answer(5, by=A2)], {"5"}, False, {"other account"}),
        ([answer(5, by=None)], {"5"}, False, set()),
        ([answer(5, by=None)], {"6"}, False, {"other account"}),
        ([answer(5, changed_by=A2)], {"5"}, False, {"edited by another"}),
        ([answer(5, by=None, changed_by=A1)], {"5"}, False, set()),
    ],
)
def test_each_kind_of_answer_is_told_apart(
    given: list[dict[str, Any]], counted: set[str], kept: bool, kinds: set[str]
) -> None:
    project = met(task(1, "q/d1", *given), counted={"q/d1": frozenset(counted)} if counted else {})
    assert found(project._replace(kept=frozenset({"q/d1"} if kept else ()))).keys() == kinds


def test_of_copies_without_a_number_the_first_is_kept() -> None:
    copies = [PulledTask("q/d1", (), task_id=number) for number in (1, None)]
    assert found(met(*copies))["task twice"].do == "in Label Studio, delete task 1 (none has an answer)"


def test_the_day_of_a_finding_is_that_of_the_last_answer_that_shows_it() -> None:
    twice = found(met(task(1, "q/d1", answer(1, at=LATE), answer(2, at=EARLY))))["answered twice"]
    assert twice.last == "2031-01-03"
    others = met(task(1, "q/d1", answer(1, by=A2, at=EARLY)), task(2, "q/d2", answer(2, by=A2, at=LATE)))
    assert found(others)["other account"].last == "2031-01-03"
    copies = met(task(1, "q/d1", answer(1, by=A2, at=LATE)), task(2, "q/d1", answer(2, by=A2, at=EARLY)))
    assert found(copies)["other account"].last == "2031-01-03"
    assert found(met(task(1, "q/d1", answer(1, by=A2, at=None))))["other account"].last is None


@pytest.mark.parametrize(
    ("at", "occasion", "is_found"), [(EARLY, 1, False), ("2031-01-02T10:00:01Z", 1, True), (LATE, 2, False)]
)
def test_only_an_answer_after_the_pair_was_settled_came_after_it(at: str, occasion: int, is_found: bool) -> None:
    project = met(task(1, "q/d1", answer(1, at=at)))
    project = project._replace(questions={"q/d1": PairKey("q", "d1", occasion)})
    assert ("after adjudication" in found(project, {("q", "d1"): EARLY})) is is_found
    assert found(project) == {}


def test_who_gave_the_answers_of_others_is_named_each_once_and_a_deleted_account_too() -> None:
    tasks = [task(1, "q/d1", answer(1, by=None)), task(2, "q/d2", answer(2, by=99)), task(3, "q/d3", answer(3, by=A2))]
    tasks += [task(4, "q/d4", answer(4, by=A2)), task(5, "q/d5", answer(5)), task(6, "who/knows", answer(6, by=55))]
    kinds = found(met(*tasks, task(7, "q/d6", {**answer(7, by=44), "was_cancelled": True}), task(8, None)))
    assert kinds["other account"].what == "a1: 4 answers by another account (by a deleted account, a2, account 99)"


def test_an_audit_in_words_counts_what_was_looked_at_and_says_what_to_do() -> None:
    finding = AuditFinding("kind", "a1: 1 answer gone", 1, "ask")
    assert described(
        Audit("", 2, 1, 3, (finding,), (AuditFinding("too fast", "a1: 1 answer faster", 1, "look", ("q d",)),))
    ) == ("checked: 2 projects, 1 task and 3 answers\na1: 1 answer faster: q d\na1: 1 answer gone\n    to do: ask")
    assert described(Audit("", 0, 0, 0, (), ())).splitlines()[1:] == ["no problems found"]
