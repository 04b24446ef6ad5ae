"""Commands killed with SIGKILL at random moments and run again: no task doubled, none missing, nothing half-written."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from annot.judging.exchange.collecting import RoundOptions
from annot.steps import exchange
from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from annot.store.models import StoredRound
from annot.study.workspace import Workspace
from fixtures_studio import Studio
from studies import KILLED, Pair, Study, command, make_study
from study_stages import quietly

PUSH_KILLS, PULL_KILLS = 2, 1
"""A push writes most, in most steps. On the server in memory (`tests/rounds`) each request is one at which it dies."""
TRIES = 2.5
"""Runs for each kill, at most. A kill that comes after the end is none, and is drawn again: times vary."""


@pytest.fixture(scope="module")
def planned(at_a_socket: Studio, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Two assessors with about 25 tasks each, nothing sent."""
    return make_study(tmp_path_factory.mktemp("killed") / "planned", at_a_socket, name="planned", per_method=8)


@pytest.fixture(scope="module")
def judged(planned: Study, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Pushed, 12 pairs judged by both and pulled; then 5 more, 4 changed, 2 deleted, none of which is pulled."""
    study = planned.copy(tmp_path_factory.mktemp("judged") / "judged", "judged")
    exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly)
    pairs = study.planned()["a1"]
    ids = {name: study.judge(name, grades_of(name, pairs[:12])) for name in ("a1", "a2")}
    exchange.pull(study.workspace, round="judging", advance=quietly)
    for name in ("a1", "a2"):
        study.judge(name, grades_of(name, pairs[12:17]))
        with study.as_person(name) as person:
            tasks = {task["data"]["pair_id"]: task for task in study.on_server(name)}
            for pair in pairs[:2]:
                task = tasks["/".join(pair)]
                result = [item for item in task["annotations"][0]["result"] if item["from_name"] != "rating"]
                rating = next(item for item in task["annotations"][0]["result"] if item["from_name"] == "rating")
                other = str((int(rating["value"]["choices"][0]) + 1) % 4)
                person.change_annotation(ids[name][pair], [*result, {**rating, "value": {"choices": [other]}}])
            person.delete_annotation(ids[name][pairs[5]])
    return study


def grades_of(name: str, pairs: list[Pair]) -> dict[Pair, int | None]:
    """Grades in which the two agree about half the time."""
    return {pair: (at if name == "a1" or at % 2 else at + 1) % 4 for at, pair in enumerate(pairs)}


def killed(study: Study, folder: Path, arguments: list[str], *, batch_size: int, kills: int) -> Iterator[Study]:
    """Copies of the study in each of which the command was killed at another moment, spread over its run.

    The first copy is one in which the command ran to its end: that run is the measure.
    """
    name = "-".join(arguments)
    whole = study.copy(folder / "whole", f"{name}-whole")
    seconds, code = command([*arguments, "-C", str(whole.folder)], batch_size=batch_size, kill_after=None)
    assert code == 0
    yield whole
    drawn = random.Random(20261121)
    done = 0
    for number in range(int(TRIES * kills)):
        copy = study.copy(folder / str(number), f"{name}-{number}")
        moment = seconds * (done + drawn.random()) / kills
        ran, code = command([*arguments, "-C", str(copy.folder)], batch_size=batch_size, kill_after=moment)
        done += code == KILLED
        if code == 0:
            seconds = min(seconds, ran)
        copy.studio.end_what_was_abandoned()
        yield copy
        if done == kills:
            return
    pytest.fail(f"{done} of {int(TRIES * kills)} runs were killed, expected {kills}")


def assert_each_task_once(study: Study, round: StoredRound, expected: dict[str, list[Pair]]) -> None:
    projects = study.projects(round)
    assert projects.keys() == expected.keys()
    for name, pairs in expected.items():
        assert len(projects[name]) == 1, f"{name} has projects {projects[name]}"
        there = study.on_server(name, round)
        keys = [task["data"]["pair_id"] for task in there]
        assert Counter(keys) == Counter("/".join(pair) for pair in pairs)
        assert study.in_store(name, round) == {task["data"]["pair_id"]: task["id"] for task in there}


def test_a_push_killed_at_any_moment_sends_each_task_once(planned: Study, tmp_path: Path) -> None:
    expected = planned.planned()
    for study in killed(planned, tmp_path, ["push"], batch_size=8, kills=PUSH_KILLS):
        again = exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly)
        assert [one.planned for one in again.projects] == [len(pairs) for pairs in expected.values()]
        assert_each_task_once(study, "judge", expected)


def test_a_pull_killed_at_any_moment_takes_each_judgement_once(judged: Study, tmp_path: Path) -> None:
    old, before = exported(judged), history(judged.workspace)
    studies = killed(judged, tmp_path, ["pull", "--accept-deletions"], batch_size=8, kills=PULL_KILLS)
    whole = next(studies)
    new, expected = exported(whole), history(whole.workspace)
    # 10 new judgements, 4 changed and 2 deleted ones, which are told and withdrawn.
    assert len(expected) - len(before) == 10 + 4 + 2 * 2
    assert new != old
    for study in studies:
        assert exported(study) in (old, new)
        exchange.pull(study.workspace, round="judging", options=RoundOptions(accept_deletions=True), advance=quietly)
        assert exported(study) == new
        assert history(study.workspace) == expected


def exported(study: Study) -> bytes:
    return (study.folder / "exports" / "judgements.jsonl").read_bytes()


def history(ws: Workspace) -> list[object]:
    """Every revision of every judgement, without the moment it was recorded."""
    with open_store(ws.database_url) as store, store.read() as session:
        pairs = sorted({(one.query_id, one.doc_id) for one in JUDGEMENTS.records(session)})
        found = [one for pair in pairs for one in JUDGEMENTS.history(session, *pair)]
    # Two assessors' projects are recorded one after the other; a kill in between does not change the order in each.
    return sorted(
        (
            one.record.query_id,
            one.record.doc_id,
            one.record.assessor,
            one.annotation,
            one.record.revision,
            repr(one._replace(recorded_at=None)),
        )
        for one in found
    )
