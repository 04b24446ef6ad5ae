"""People, their plan, their notices, and their tasks: each change touches its own rows."""

from dataclasses import replace

import pytest
from annot.base.errors import InputError, StoreError
from annot.base.records import Assessor, Assignment, Judgement, PairKey, PairReturn
from annot.store import people, projects, runs, trials
from annot.store.answers import (
    JUDGEMENTS,
    TRIALS,
    SourcedAnswer,
    add_returned,
    is_judged,
    last_opinions,
    note_opinions,
    progress_by_assessor,
    read_returned,
    withdraw_returned,
)
from annot.store.database import Store
from annot.store.models import How, ImportedSource, Notice, Project, Session, StoredRound
from annot.store.projects import open_project, record_tasks
from annot.study.provenance import read_states
from stored import NOW, PLAN, judge

PAIR = ("p1-method", "d1")


def project_of(session: Session, assessor: str, round: StoredRound = "judge") -> int:
    made = open_project(
        session, round=round, assessor=assessor, server="s", url="http://s", version="1", account_id=ord(assessor[0])
    )
    return made.project


def accounts_on_servers(session: Session) -> dict[str, int | None]:
    return {one.assessor: one.account_id for one in projects.read_projects(session)}


def test_a_changed_account_forgets_the_servers_id_of_that_person_alone(study: Store) -> None:
    with study.begin() as session:
        for name in ("a1", "a2", "z1"):
            project_of(session, name)
        people.put_assessors(
            session, [Assessor("a1", "new@example.org", True), Assessor("a2", "two@example.org", True)]
        )
        assert accounts_on_servers(session) == {"a1": None, "a2": ord("a"), "z1": ord("z")}
        found = {one.assessor: (one.account, one.adjudicator) for one in people.read_assessors(session)}
    assert found == {"a1": ("new@example.org", True), "a2": ("two@example.org", True), "z1": (None, True)}


def test_two_people_can_swap_accounts_and_not_share_one(study: Store) -> None:
    swapped = [Assessor("a1", "two@example.org", False), Assessor("a2", "one@example.org", False)]
    with study.begin() as session:
        people.put_assessors(session, [Assessor("a3", "three@example.org", False)])
        people.put_assessors(session, swapped)
        assert people.read_assessors(session)[2].account == "three@example.org"
        people.put_assessors(session, [Assessor("z2", None, True)])  # as z1, without an account
        assert [one.account for one in people.read_assessors(session)][:2] == ["two@example.org", "one@example.org"]
    with pytest.raises(StoreError, match="refused the change"), study.begin() as session:
        people.put_assessors(session, [Assessor("z1", "one@example.org", True)])


def test_leaving_and_shares_are_of_the_people_named(study: Store) -> None:
    with study.begin() as session:
        people.set_left(session, "a1", NOW)
        people.set_shares(session, {"a2": 0.5})
        assert people.people_who_left(session) == {"a1"}
        assert {one.assessor: one.share for one in people.read_assessors(session)} == {
            "a1": None,
            "a2": 0.5,
            "z1": None,
        }
        people.set_left(session, "a1", None)
        assert people.people_who_left(session) == set()


def test_the_same_plan_again_keeps_its_moment_and_another_does_not(study: Store) -> None:
    one, two = Assignment(*PAIR, "a1", 1), Assignment(*PAIR, "a2", 1)
    later = PLAN._replace(created="2025")
    with study.begin() as session:
        people.replace_plan(session, [one, two], plan=PLAN)
        people.replace_plan(session, [two, one], plan=later)
        assert people.read_plan(session) == PLAN
        assert people.read_assignments(session) == (one, two)
        assert people.read_assignments(session, "a2") == (two,)
        people.replace_plan(session, [one], plan=later)
        assert (people.read_plan(session), people.read_assignments(session)) == (later, (one,))
        other = later._replace(sha256="other", created="2026", vacant=(("p1-method", "d9"),))
        people.replace_plan(session, [one], plan=other)
        assert people.read_plan(session) == other


def test_a_pair_that_was_sent_may_change_hands_and_not_leave(study: Store) -> None:
    one, two = Assignment(*PAIR, "a1", 1), Assignment("p1-method", "d2", "a1", 2)
    with study.begin() as session:
        people.replace_plan(session, [one, two], plan=PLAN)
        record_tasks(session, project_of(session, "a1"), {PairKey(*PAIR): 7})
    with study.begin() as session:
        people.replace_plan(session, [Assignment(*PAIR, "a2", 1)], plan=PLAN._replace(sha256="x"))
        assert [one.assessor for one in people.read_assignments(session)] == ["a2"]
    message = "1 pair would leave the plan, with 1 pushed task"
    with pytest.raises(InputError, match=message) as error, study.begin() as session:
        people.replace_plan(session, [two], plan=PLAN)
    assert error.value.faults == ("p1-method d1: 1 pushed task",)
    with study.begin() as session:
        people.replace_plan(session, [two], plan=PLAN, handed_on=[Assignment(*PAIR, "a2", 1)])
        assert people.withdraw_plan(session) == 1
        assert people.read_plan(session) is None


def test_a_judged_assignment_does_not_leave_the_plan(study: Store) -> None:
    with study.begin() as session:
        people.replace_plan(session, [Assignment(*PAIR, "a1", 1), Assignment(*PAIR, "a2", 1)], plan=PLAN)
    assert not _reads(study, is_judged)
    judge(study, *PAIR, "a1")
    assert _reads(study, is_judged)
    with study.begin() as session:
        people.replace_plan(session, [Assignment(*PAIR, "a1", 1)], plan=PLAN)
    with pytest.raises(InputError, match="1 pair would leave the plan, with 1 judgement"), study.begin() as session:
        people.withdraw_plan(session)


def _reads(store: Store, look: object) -> object:
    with store.read() as session:
        return look(session)  # type: ignore[operator]


def test_a_notice_is_noted_if_it_says_something_new(study: Store) -> None:
    def notice(at: str, published: bool, how: How = "screen", words: str = "") -> Notice:
        return Notice("a1", "comments", how, at, published, words)

    with study.begin() as session:
        for one in (
            notice("1", False),  # not published is what everyone assumes
            notice("2", True),
            notice("3", True),
            notice("4", True, "letter"),
            notice("5", False),
            notice("6", False),
            notice("7", True, "consent", "by mail"),
            notice("8", True, "consent", "by mail"),
            Notice("a2", "comments", "screen", "9", True),
        ):
            people.record_notices(session, [one])
        assert [one.at for one in people.read_notices(session)] == ["2", "4", "5", "7", "8", "9"]


def test_a_returned_pair_is_taken_back_by_itself(study: Store) -> None:
    first = PairReturn(*PAIR, "a1", 2, "Look again.", NOW)
    others = [replace(first, occasion=3), replace(first, assessor="a2"), replace(first, doc_id="d2")]
    others.append(replace(first, query_id="p2-method"))
    with study.begin() as session:
        for one in (first, *others):
            add_returned(session, one)
        withdraw_returned(session, first, withdrawn_at="2025")
        found = read_returned(session)
        assert [one for one in found if one.withdrawn_at is not None] == [replace(first, withdrawn_at="2025")]
        assert len(found) == 5
        withdraw_returned(session, others[0], withdrawn_at="2025", contested=True)
        assert [one.occasion for one in read_returned(session) if one.contested] == [3]


def said(assessor: str, grade: int | None) -> Judgement:
    return Judgement(*PAIR, assessor, grade, cannot_judge=None if grade is not None else "no abstract", comment="why")


def test_what_a_task_showed_is_noted_where_it_changes(study: Store) -> None:
    shown = [said("a1", 0), said("a2", None)]
    with study.begin() as session:
        people.put_assessors(session, [Assessor("z2", None, True)])
        for at, who, judgements in (
            ("2024-05-01T12:00:00+00:00", "z1", shown),
            ("2024-05-02T12:00:00+00:00", "z1", shown),
            ("2024-05-03T12:00:00+00:00", "z2", shown),
            ("2024-05-04T12:00:00+00:00", "z1", shown[::-1]),
        ):
            note_opinions(session, who, {PairKey(*PAIR): judgements}, sent_at=at)
        note_opinions(session, "z1", {PairKey("p1-method", "d2"): shown}, sent_at="2024-05-01T12:00:00Z")
        note_opinions(session, "z1", {PairKey("p2-method", "d1"): shown}, sent_at="2024-05-01T12:00:00Z")
        last = last_opinions(session)
    opinions = (("a1", 0, None, "why"), ("a2", None, "no abstract", "why"))
    assert last["z1", PAIR] == opinions[::-1]
    assert last["z2", PAIR] == opinions


def test_what_was_sent_is_found_by_round_and_person_without_hidden_gold(study: Store) -> None:
    with study.begin() as session:
        trials.replace_assignments(session, "hidden-gold", [Assignment("p2-method", "g", "a1", 1)])
        record_tasks(session, project_of(session, "a1", "train"), {PairKey(*PAIR): 5})
        assert not projects.was_sent(session)
        numbers = {PairKey(*PAIR): 7, PairKey(*PAIR, 2): 8, PairKey("p2-method", "g"): 9}
        record_tasks(session, project_of(session, "a1"), numbers)
        record_tasks(session, project_of(session, "a2"), {PairKey("p2-method", "g"): 9})
        assert projects.was_sent(session)
        assert projects.read_sent(session) == {
            "a1": {PairKey(*PAIR), PairKey(*PAIR, 2)},
            "a2": {PairKey("p2-method", "g")},
        }


def test_an_adjudication_that_was_sent_counts_as_sent(study: Store) -> None:
    with study.begin() as session:
        project_of(session, "z1", "adjudicate")
        assert not projects.was_sent(session)
        record_tasks(session, project_of(session, "z1", "adjudicate"), {PairKey(*PAIR): 7})
        assert projects.was_sent(session)


def test_what_a_push_found_changed_is_kept_with_its_project(study: Store) -> None:
    with study.begin() as session:
        one, other = project_of(session, "a1"), project_of(session, "a2")
        projects.note_shows(session, one, {"title": "A"}, changed={}, now="1")
        projects.note_shows(session, one, {"title": "B"}, changed={"title": "C"}, now="2")
        projects.note_shows(session, one, {"title": "B"}, changed={"title": "D"}, now="3")
        found = {own.project: (own.shows, list(own.set_back)) for own in projects.read_projects(session)}
    assert found[one][0] == {"title": "B"}
    assert [list(back) for back in found[one][1]] == [["2", {"title": "C"}], ["3", {"title": "D"}]]
    assert found[other] == (None, [])


def test_the_first_secret_is_kept(study: Store) -> None:
    with study.begin() as session:
        assert projects.read_secret(session) is None
        assert projects.keep_secret(session, "ab") == "ab"
        assert projects.keep_secret(session, "cd") == "ab"
        assert projects.read_secret(session) == "ab"


def test_answers_of_trials_are_found_by_source_and_person(study: Store) -> None:
    with study.begin() as session:
        given = [
            SourcedAnswer(said(who, 1), source, f"{who}{source}", {})
            for who in ("a1", "a2")
            for source in ("train", "substudy-full")
        ]
        TRIALS.record(session, given, recorded_at=NOW)
        lines = trials.read_lines(session, "train", "a1")
        assert [(line.current.source, line.record.assessor) for line in lines] == [("train", "a1")]
        assert [(one.source, one.record.assessor) for one in trials.read_every_answer(session, "a2")] == [
            ("train", "a2"),
            ("substudy-full", "a2"),
        ]
        assert [one.record.assessor for one in trials.read_answers(session, "train")] == ["a1", "a2"]
        trials.add_assignments(session, "train", [Assignment("p1-method", "d7", "a1", 1)])
        assert trials.read_pairs(session) == {("p1-method", "d7")}


@pytest.mark.parametrize(("what", "elsewhere"), [("csfcube", True), ("judgements-file", True), ("runs", False)])
def test_judgements_made_elsewhere_are_known_by_their_import(study: Store, what: str, elsewhere: bool) -> None:
    with study.begin() as session:
        assert not runs.judgements_imported(session)
        runs.put_import(session, ImportedSource(what, "1" * 64, {}))
        assert runs.judgements_imported(session) is elsewhere


def test_an_account_is_in_no_hash_of_the_study(study: Store) -> None:
    with study.begin() as session:
        before = read_states(session)
        people.put_assessors(session, [Assessor("a1", "other@example.org", False)])
        assert read_states(session) == before
        people.put_assessors(session, [Assessor("a1", "other@example.org", True)])
        assert [part for part, of in read_states(session).items() if of != before[part]] == ["people"]


def test_progress_counts_assignments_with_an_answer_that_counts(study: Store) -> None:
    plan = [Assignment("p1-method", f"d{number}", "a1", number) for number in (1, 2, 3)]
    flagged = Judgement("p1-method", "d2", "a1", 1, flags=("another account",))
    unable = Judgement("p1-method", "d1", "a2", None, cannot_judge="not in English")
    unplanned = Judgement("p1-method", "d9", "a2", 2)
    judge(study, "p1-method", "d1")
    with study.begin() as session:
        people.replace_plan(session, [*plan, Assignment("p1-method", "d1", "a2", 1)], plan=PLAN)
        answers = [SourcedAnswer(record, "label-studio", "1", {}) for record in (flagged, unable, unplanned)]
        JUDGEMENTS.record(session, answers, recorded_at=NOW)
        assert progress_by_assessor(session) == {"a1": (3, 1), "a2": (1, 1)}
        # A later revision counts in place of the flagged one.
        again = SourcedAnswer(replace(flagged, flags=()), "label-studio", "1", {})
        JUDGEMENTS.record(session, [again], recorded_at=NOW)
        assert progress_by_assessor(session) == {"a1": (3, 2), "a2": (1, 1)}


# People and plan


def opened(
    session: Session, assessor: str = "a1", *, round: StoredRound = "judge", url: str = "http://one", account: int = 5
) -> Project:
    return projects.open_project(
        session, round=round, assessor=assessor, server="one", url=url, version="1.23.2", account_id=account
    )


# Projects and tasks


def test_projects_and_tasks_map_pairs_to_the_server(study: Store) -> None:
    first, second = PairKey("p1-method", "d1"), PairKey("p1-method", "d2")
    again = PairKey("p1-method", "d1", 2)
    with study.begin() as session:
        project = opened(session)
        assert opened(session) == project
        other = opened(session, "z1", round="adjudicate")
        projects.set_remote_project(session, project.project, 40)
        assert projects.read_projects(session, round="judge") == (project._replace(remote_id=40),)
        assert projects.read_projects(session) == (other, project._replace(remote_id=40))
        tasks = {first: 1, second: 2, again: 3}
        projects.record_tasks(session, project.project, tasks)
        projects.record_tasks(session, project.project, tasks)
        swapped = {first: 2, second: 1, again: 3}
        projects.record_tasks(session, project.project, swapped)
        assert projects.read_tasks(session, project.project) == swapped
        assert projects.read_tasks(session, other.project) == {}
        projects.forget_tasks(session, project.project, [first, PairKey("p1-method", "d9")])
        assert projects.read_tasks(session, project.project) == {second: 1, again: 3}


def test_a_server_at_another_address_is_the_same_server(study: Store) -> None:
    with study.begin() as session:
        project = opened(session)
        projects.set_remote_project(session, project.project, 40)
        moved = opened(session, url="http://two", account=6)
        assert moved == project._replace(url="http://two", account_id=6, remote_id=40)
        another = projects.open_project(
            session, round="judge", assessor="a1", server="two", url="http://two", version="1.24.0", account_id=6
        )
        assert another.project != project.project
        assert another.remote_id is None


def test_a_task_that_would_stand_for_two_pairs_is_refused(study: Store) -> None:
    with study.begin() as session:
        project = opened(session).project
        projects.record_tasks(session, project, {PairKey("p1-method", "d1"): 1})
    with pytest.raises(StoreError, match="refused the change"), study.begin() as session:
        projects.record_tasks(session, project, {PairKey("p1-method", "d2"): 1})


def test_an_id_that_a_restored_server_gives_again_is_another_project(study: Store) -> None:
    asked = PairKey("p1-method", "d1")
    with study.begin() as session:
        first, second = opened(session).project, opened(session, "a2").project
        for project, remote_id in ((first, 40), (second, 41)):
            projects.set_remote_project(session, project, remote_id, created="2031-01-01")
            projects.record_tasks(session, project, {asked: remote_id})
        projects.set_remote_project(session, first, 40)
        assert projects.read_tasks(session, first) == {asked: 40}
        projects.set_remote_project(session, first, 40, created="2031-02-02")
        assert projects.read_tasks(session, first) == {}
        # The first gets the number that the second had.
        projects.set_remote_project(session, first, 41, created="2031-02-03")
        assert projects.read_tasks(session, second) == {}
        found = {one.assessor: (one.remote_id, one.created) for one in projects.read_projects(session)}
        assert found == {"a1": (41, "2031-02-03"), "a2": (None, None)}


def test_another_project_on_the_server_forgets_the_tasks_of_the_old_one(study: Store) -> None:
    tasks = {PairKey("p1-method", "d1"): 1}
    with study.begin() as session:
        project = opened(session).project
        projects.set_remote_project(session, project, 40)
        projects.record_tasks(session, project, tasks)
        projects.set_remote_project(session, project, 40)
        assert projects.read_tasks(session, project) == tasks
        projects.set_remote_project(session, project, 41)
        assert projects.read_tasks(session, project) == {}


# Splits, runs, imports
