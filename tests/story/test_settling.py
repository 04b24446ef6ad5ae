"""Disputes on their way to the adjudicator and back: who sees what, who settles it, what changes underneath."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.judging.exchange.collecting import PullResult
from annot.judging.exchange.sending import PushResult
from annot.labelstudio.studio_records import write_result
from annot.publishing.report.study_tables import PROGRESS
from annot.publishing.report.terminal import rendered
from annot.steps import exchange, qrels, status, trace
from annot.steps import people as assessors
from annot.store.answers import ADJUDICATIONS
from annot.store.database import open_store
from fixtures_studio import Studio
from studies import Pair, Study, address_of, make_study
from study_stages import quietly

COMMENT = "Seen from the side."
WHY = "another aspect of the facet"


@pytest.fixture(scope="module")
def judged(memory: Studio, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Every pair judged by both and pulled. By place in the plan, modulo 3: agreed, and in dispute either way.

    The second pair is one that the first assessor could not judge, the third one that nobody could.
    """
    study = make_study(tmp_path_factory.mktemp("settling") / "judged", memory, name="settling", per_method=5)
    exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly)
    pairs = sorted(study.planned()["a1"])
    first: dict[Pair, int | None] = {pair: (0, 1, 2)[at % 3] for at, pair in enumerate(pairs)}
    second: dict[Pair, int | None] = {pair: (0, 2, 0)[at % 3] for at, pair in enumerate(pairs)}
    first[pairs[1]] = first[pairs[2]] = second[pairs[2]] = None
    study.judge("a1", first, comment=COMMENT)
    study.judge("a2", second)
    fetch_judgements(study)
    return study


@pytest.fixture
def disputed(judged: Study, tmp_path: Path, request: pytest.FixtureRequest) -> Study:
    """The study with an adjudication of this test alone, its disputes sent."""
    study = judged.copy(tmp_path / "study", request.node.name.removeprefix("test_")[:40])
    send(study)
    return study


def fetch_judgements(study: Study) -> PullResult:
    return exchange.pull(study.workspace, round="judging", advance=quietly)


def send(study: Study) -> PushResult:
    return exchange.push(study.workspace, round="adjudication", dry_run=False, advance=quietly)


def fetch(study: Study) -> PullResult:
    return exchange.pull(study.workspace, round="adjudication", advance=quietly)


def in_dispute(study: Study) -> list[Pair]:
    return [pair for at, pair in enumerate(sorted(study.planned()["a1"])) if at % 3]


def tasks_of(study: Study) -> dict[Pair, dict[str, Any]]:
    found = {}
    for task in study.on_server("j1", "adjudicate"):
        query_id, doc_id = task["data"]["pair_id"].split("/")
        assert (query_id, doc_id) not in found
        found[query_id, doc_id] = task
    return found


def decided(study: Study) -> dict[Pair, dict[str, Any]]:
    lines = (study.folder / "exports" / "decisions.jsonl").read_text(encoding="utf-8").splitlines()
    return {(one["query_id"], one["doc_id"]): one for one in map(json.loads, lines)}


def test_what_differs_or_could_not_be_judged_goes_to_the_adjudicator_and_nothing_else(disputed: Study) -> None:
    tasks = tasks_of(disputed)
    assert sorted(tasks) == in_dispute(disputed)
    one_could_not, nobody_could = in_dispute(disputed)[:2]
    shown = {tasks[one_could_not]["data"]["rating_a"], tasks[one_could_not]["data"]["rating_b"]}
    assert shown == {"Could not judge: outside my field", "2 Similar"}
    assert tasks[nobody_could]["data"]["rating_a"] == tasks[nobody_could]["data"]["rating_b"]


def test_both_grades_are_shown_without_names_and_neither_place_is_a_person(disputed: Study) -> None:
    places = []
    for pair, task in tasks_of(disputed).items():
        data = task["data"]
        shown = (data["rating_a"], data["rating_b"])
        if pair in in_dispute(disputed)[2:]:
            # The first assessor gave 1 where the second gave 2, and 2 where the second gave 0; and wrote a comment.
            own = ("1 Related", "2 Similar") if "1 Related" in shown else ("2 Similar", "0 Irrelevant")
            assert sorted(shown) == sorted(own)
            places.append(shown.index(own[0]))
            assert data[("comment_a", "comment_b")[places[-1]]] == COMMENT
            assert data[("comment_b", "comment_a")[places[-1]]] == "no comment"
        text = json.dumps(task["data"])
        assert not re.search(r"\b(a1|a2|j1)\b", text)
        assert not any(address_of(name) in text for name in ("a1", "a2", "j1"))
    assert len(places) >= 8
    assert set(places) == {0, 1}


def test_with_ratings_hidden_the_adjudicator_gets_a_plain_task(judged: Study, tmp_path: Path) -> None:
    study = judged.copy(tmp_path / "study", "hidden")
    settings = study.folder / "annot.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + '\n[adjudication]\nratings = "hidden"\n')
    send(study)
    tasks = tasks_of(study)
    assert sorted(tasks) == in_dispute(study)
    plain = judged.on_server("a1")[0]["data"].keys()
    assert all(task["data"].keys() == plain for task in tasks.values())
    (project,) = [one for one in study.listed_projects() if "[annot:hidden/adjudicate/" in one["description"]]
    assert "rating_a" not in project["label_config"]
    assert [(one.sent, one.withdrawn) for one in send(study).projects] == [(0, 0)]


def test_a_decision_may_overrule_both_and_agreed_pairs_are_settled_without_a_person(disputed: Study) -> None:
    rulings: dict[Pair, int | None] = dict.fromkeys(in_dispute(disputed), 3)
    disputed.judge("j1", rulings, "adjudicate", settled_by=WHY)
    pulled = fetch(disputed)
    assert [(one.assigned, one.judged, one.new) for one in pulled.assessors] == [(len(rulings),) * 3]
    qrels.write(disputed.workspace, partial=False)
    decisions = decided(disputed)
    assert decisions.keys() == set(disputed.planned()["a1"])
    for pair, decision in decisions.items():
        settled = ("adjudicated", "j1", 3, WHY) if pair in rulings else ("agreed", None, 0, None)
        assert (decision["origin"], decision["adjudicator"], decision["grade"], decision["reason"]) == settled


def test_sending_twice_adds_nothing_to_what_is_there(disputed: Study) -> None:
    first, last = in_dispute(disputed)[0], in_dispute(disputed)[-1]
    disputed.judge("j1", {first: 1}, "adjudicate")
    before = disputed.on_server("j1", "adjudicate")
    again = send(disputed)
    assert [(one.planned, one.there, one.sent, one.withdrawn) for one in again.projects] == [
        (len(before),) * 2 + (0, 0)
    ]
    assert disputed.on_server("j1", "adjudicate") == before
    # Also when some are settled already.
    fetch(disputed)
    disputed.judge("j1", {last: 0}, "adjudicate")
    assert [(one.sent, one.withdrawn) for one in send(disputed).projects] == [(0, 0)]
    assert len(disputed.on_server("j1", "adjudicate")) == len(before)


def test_what_the_adjudicator_cannot_judge_has_ended_without_a_grade(disputed: Study) -> None:
    left, changed, *others = in_dispute(disputed)
    ids = disputed.judge("j1", {left: None, changed: None, **dict.fromkeys(others, 1)}, "adjudicate")
    assert [(one.assigned, one.judged) for one in fetch(disputed).assessors] == [(len(ids),) * 2]
    pairs = len(disputed.planned()["a1"])
    written = qrels.write(disputed.workspace, partial=False)
    assert (written.pairs, written.unjudgeable, written.open, written.incomplete) == (pairs - 2, 2, 0, 0)
    assert written.notes == ("2 pairs left out, because not even the adjudicator could judge them",)
    ended = decided(disputed)[left]
    assert [ended[name] for name in ("grade", "origin", "adjudicator", "reason")] == [
        *(None, "nobody can judge", "j1", "outside my field")
    ]
    found = status.status(disputed.workspace)
    assert (found.unjudgeable, found.open, found.settled) == (2, 0, len(others))
    assert "2 that cannot be judged" in rendered("status", found=found, progress=PROGRESS)
    assert found.next_command == "annot agreement"
    rows = status.adjudication(disputed.workspace)
    assert sum(row.unjudgeable for row in rows) == 2
    assert all(row.settled + row.unjudgeable + row.open == row.disputed for row in rows)
    traced = trace.trace(disputed.workspace, *left)
    assert (traced.standing, traced.decision) == ("nobody can judge", None)
    assert [said.counts for said in traced.answers] == [True] * 3
    assert "decision: nobody can judge" in trace.describe(traced)
    # The same again, and nothing is sent; a person who thinks again settles it after all.
    assert [(one.sent, one.withdrawn) for one in send(disputed).projects] == [(0, 0)]
    with disputed.as_person("j1") as person:
        person.change_annotation(ids[changed], write_result({}, grade=2))
    fetch(disputed)
    assert qrels.write(disputed.workspace, partial=False).unjudgeable == 1
    assert decided(disputed)[changed]["grade"] == 2


def test_a_second_adjudicator_is_asked_where_the_study_says_so(disputed: Study) -> None:
    settings = disputed.folder / "annot.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + '\n[adjudication]\ncannot_judge = "second"\n')
    left, rescued, *others = in_dispute(disputed)
    disputed.judge("j1", {left: None, rescued: None, **dict.fromkeys(others, 1)}, "adjudicate")
    fetch(disputed)
    with pytest.raises(InputError) as raised:
        qrels.write(disputed.workspace, partial=False)
    assert [fault.split(": ", 1)[1] for fault in raised.value.faults] == [
        "in dispute, one adjudicator could not judge it, a second is needed"
    ] * 2
    # Nobody else is there yet; the first is not asked again.
    again = send(disputed)
    assert [(one.assessor, one.sent) for one in again.projects] == [("j1", 0)]
    assert any(
        note.startswith("waiting for another adjudicator, because one could not judge: 2 pairs") for note in again.notes
    )
    assessors.add(
        disputed.workspace,
        "j2",
        account=address_of("j2"),
        adjudicator=True,
        dry_run=False,
    )
    sent = {one.assessor: one for one in send(disputed).projects}
    assert {name: one.sent for name, one in sent.items()} == {"j1": 0, "j2": 2}
    disputed.judge("j2", {left: None, rescued: 3}, "adjudicate")
    fetch(disputed)
    written = qrels.write(disputed.workspace, partial=False)
    assert (written.unjudgeable, written.open) == (1, 0)
    assert (decided(disputed)[rescued]["grade"], decided(disputed)[rescued]["adjudicator"]) == (3, "j2")
    assert [(one.sent, one.withdrawn) for one in send(disputed).projects] == [(0, 0), (0, 0)]


def test_a_changed_decision_is_a_second_revision(disputed: Study) -> None:
    pair = in_dispute(disputed)[0]
    ids = disputed.judge("j1", {pair: 1}, "adjudicate")
    fetch(disputed)
    with disputed.as_person("j1") as person:
        rating = {"from_name": "rating", "to_name": "pair", "type": "choices", "value": {"choices": ["2"]}}
        person.change_annotation(ids[pair], [rating])
    assert [(one.new, one.changed) for one in fetch(disputed).assessors] == [(0, 1)]
    with open_store(disputed.workspace.database_url) as store, store.read() as session:
        history = [one.record for one in ADJUDICATIONS.history(session, *pair)]
    assert [(one.revision, one.grade) for one in history] == [(1, 1), (2, 2)]
    first, second = (one.at for one in trace.trace(disputed.workspace, *pair).answers if one.ratings)
    assert first is not None
    assert second is not None
    assert first < second
    qrels.write(disputed.workspace, partial=True)
    assert decided(disputed)[pair]["grade"] == 2


def test_a_grade_changed_after_the_push_withdraws_or_renews_what_is_not_settled(judged: Study, disputed: Study) -> None:
    answered, agreeing, differing, *_ = in_dispute(disputed)[2:]
    before = tasks_of(disputed)
    disputed.judge("j1", {answered: 3}, "adjudicate")
    given = {pair: json.loads(line) for pair, line in judgement_lines(disputed, "a2").items()}
    # The second assessor thinks again: two pairs are in agreement then, the third is a dispute over other grades.
    judged.judge("a1", {answered: given[answered]["grade"], agreeing: given[agreeing]["grade"], differing: 3})
    fetch_judgements(disputed)
    again = send(disputed)
    assert [(one.sent, one.withdrawn) for one in again.projects] == [(1, 2)]
    assert any("2 unanswered tasks withdrawn" in note for note in again.notes)
    after = tasks_of(disputed)
    assert before.keys() - after.keys() == {agreeing}
    assert after[answered]["id"] == before[answered]["id"]
    assert after[differing]["id"] != before[differing]["id"]
    assert "3 Near-identical" in (after[differing]["data"]["rating_a"], after[differing]["data"]["rating_b"])
    assert disputed.in_store("j1", "adjudicate") == {"/".join(pair): task["id"] for pair, task in after.items()}
    assert [(one.sent, one.withdrawn) for one in send(disputed).projects] == [(0, 0)]
    fetch(disputed)
    qrels.write(disputed.workspace, partial=True)
    # What a person has settled stands; what the assessors agree on now needs nobody.
    assert (decided(disputed)[answered]["origin"], decided(disputed)[answered]["grade"]) == ("adjudicated", 3)
    assert decided(disputed)[agreeing]["origin"] == "agreed"
    assert differing not in decided(disputed)
    # The record says what the task showed when it was answered, not what was answered since.
    assert seen_by_adjudicator(disputed, answered) == [shown_on(before[answered])]
    assert seen_by_adjudicator(disputed, differing) == []
    disputed.judge("j1", {differing: 0}, "adjudicate")
    fetch(disputed)
    assert seen_by_adjudicator(disputed, differing) == [shown_on(after[differing])]
    assert shown_on(after[differing]) != shown_on(before[differing])


def seen_by_adjudicator(study: Study, pair: Pair) -> list[list[str]]:
    views = [one for one in trace.trace(study.workspace, *pair).answers if one.ratings]
    assert all(one.on_record and one.at for one in views)
    return [[str(grade) for _, grade in one.grades] for one in views]


def shown_on(task: dict[str, Any]) -> list[str]:
    return [task["data"][place].split()[0] for place in ("rating_a", "rating_b")]


def judgement_lines(study: Study, name: str) -> dict[Pair, str]:
    lines = (study.folder / "exports" / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
    found = [(json.loads(line), line) for line in lines]
    return {(one["query_id"], one["doc_id"]): line for one, line in found if one["assessor"] == name}


def test_when_no_dispute_is_left_every_unanswered_task_is_withdrawn(judged: Study, disputed: Study) -> None:
    answered, *_ = pairs = in_dispute(disputed)
    disputed.judge("j1", {answered: 3}, "adjudicate")
    for name in ("a1", "a2"):
        judged.judge(name, dict.fromkeys(pairs, 1))
    fetch_judgements(disputed)
    again = send(disputed)
    assert "nothing is in dispute" in again.notes
    assert [(one.sent, one.withdrawn) for one in again.projects] == [(0, len(pairs) - 1)]
    assert tasks_of(disputed).keys() == {answered}
