"""People, the plan, projects, tasks, splits, runs and imports come back from both databases."""

import pytest
from annot.base.errors import StoreError
from annot.base.records import Assignment, PairKey
from annot.store import people, projects
from annot.store.database import Store
from annot.store.models import Project, Session, StoredRound
from stored import PLAN

# People and plan


def opened(
    session: Session,
    assessor: str = "a1",
    *,
    round: StoredRound = "judge",
    url: str = "http://one",
    account: int = 5,
) -> Project:
    return projects.open_project(
        session, round=round, assessor=assessor, server="one", url=url, version="1.23.2", account_id=account
    )


def test_the_plan_comes_back_and_keeps_the_day_it_was_made(study: Store) -> None:
    planned = [
        Assignment("p1-method", "d2", "a2", 1),
        Assignment("p1-method", "d1", "a1", 10),
        Assignment("p1-method", "d2", "a1", 9),
    ]
    with study.begin() as session:
        assert people.read_plan(session) is None
        people.replace_plan(session, planned, plan=PLAN)
        people.replace_plan(session, planned, plan=PLAN._replace(created="later"))
        assert people.read_plan(session) == PLAN
        assert people.read_assignments(session) == (planned[2], planned[1], planned[0])
        assert people.read_assignments(session, "a2") == (planned[0],)
        moved = [Assignment("p1-method", "d1", "a1", 9), Assignment("p1-method", "d2", "a1", 10)]
        people.replace_plan(session, moved, plan=PLAN._replace(sha256="new"))
        assert people.read_assignments(session) == tuple(moved)
        assert people.withdraw_plan(session) == 2
        assert people.read_plan(session) is None


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
