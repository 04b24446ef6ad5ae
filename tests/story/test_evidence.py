"""What ordinary events do to a complete study: the same answers count after the next push and pull, or there is a list.

Every event is done to judgements and decisions on a real Label Studio of this module's own, which is set back to the
complete study before each; what counts is read afterwards from the store, as every figure is.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from annot.labelstudio import server
from annot.steps import adjudicate, pull, push
from annot.store import projects as projects_on_record
from annot.store.database import open_store
from annot.study.outcome import outcome_of
from command_line import Result, annot, annot_done
from fixtures_studio import Studio, template_folder
from studies import Pair, Study, address_of, make_study, quietly

pytestmark = pytest.mark.studio

Counting = dict[tuple[str, ...], int | None]
"""The grade of each answer that counts, by pair and person."""


class Complete(NamedTuple):
    """A complete study, what counts in it, and two states of its server."""

    study: Study
    counting: Counting
    last_night: Path
    """The server's database when the second assessor had judged the first half of their pairs."""
    now: Path


@pytest.fixture(scope="module")
def complete(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Complete]:
    """Everything judged, every dispute settled, all of it pulled; on a Label Studio that may be set back."""
    kept = tmp_path_factory.mktemp("evidence")
    folder = Path(tempfile.mkdtemp(prefix="annot-evidence-"))
    shutil.copytree(template_folder(), folder, dirs_exist_ok=True)
    try:
        own = Studio(up(folder).url, server.credentials(folder).token, folder)
        study = make_study(kept / "study", own, name="evidence", per_method=1)
        push.push(study.workspace, url=None, api_key=None, dry_run=False, advance=quietly)
        pairs = study.planned()["a1"]
        half = len(pairs) // 2
        study.judge("a1", {pair: at % 4 for at, pair in enumerate(pairs)})
        study.judge("a2", dict.fromkeys(pairs[:half], 1))
        last_night = copied(folder, kept / "last-night.sqlite3")
        study.judge("a2", dict.fromkeys(pairs[half:], 1))
        pull.pull(study.workspace, url=None, api_key=None, advance=quietly)
        adjudicate.push(study.workspace, url=None, api_key=None, dry_run=False, advance=quietly)
        study.judge("j1", dict.fromkeys(in_dispute(study), 2), "adjudicate")
        adjudicate.pull(study.workspace, url=None, api_key=None, advance=quietly)
        found = counting(study)
        assert len(found) == 2 * len(pairs) + len(in_dispute(study))
        yield Complete(study, found, last_night, copied(folder, kept / "now.sqlite3"))
    finally:
        server.down(folder)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def study(complete: Complete, tmp_path: Path) -> Study:
    """The complete study in a folder of this test's own, and its server as it was then."""
    shutil.copytree(complete.study.folder, tmp_path / "study", symlinks=True)
    with closing(sqlite3.connect(complete.now)) as source, closing(sqlite3.connect(database(complete.study))) as live:
        source.backup(live)
    return Study(tmp_path / "study", complete.study.studio)


def up(folder: Path, port: int | None = None) -> server.Server:
    return server.up(folder, environ=os.environ, port=port, say=lambda text: None)


def database(study: Study) -> Path:
    (found,) = (study.studio.folder / "data").glob("*.sqlite3")
    return found


def copied(folder: Path, to: Path) -> Path:
    (found,) = (folder / "data").glob("*.sqlite3")
    with closing(sqlite3.connect(found)) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)
    return to


def in_dispute(study: Study) -> list[Pair]:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        return [(one.query_id, one.doc_id) for one in outcome_of(session).settlement.disputed]


def counting(study: Study) -> Counting:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        outcome = outcome_of(session)
    judged: Counting = {(one.query_id, one.doc_id, one.assessor): one.grade for one in outcome.judgements if one.counts}
    return judged | {(*pair, one.adjudicator): one.grade for pair, one in outcome.adjudications.items()}


def http(study: Study, method: str, path: str, **more: Any) -> Any:
    """What an administrator does in Label Studio's pages, by its interface."""
    headers = {"Authorization": f"Token {study.studio.token}"}
    with httpx.Client(base_url=study.studio.url, headers=headers, timeout=60.0, trust_env=False) as client:
        answer = client.request(method, path, **more)
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


def the_project(study: Study, name: str, round: str = "judge") -> int:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        (found,) = [
            one
            for one in projects_on_record.read_projects(session)
            if (one.round, one.assessor) == (round, name) and one.remote_id is not None
        ]
    assert found.remote_id is not None
    return found.remote_id


def account_id(study: Study, name: str) -> int:
    return next(int(user["id"]) for user in http(study, "GET", "/api/users/") if user["email"] == address_of(name))


def annotations_of(study: Study, name: str, round: str = "judge") -> dict[Pair, dict[str, Any]]:
    tasks = http(study, "GET", f"/api/projects/{the_project(study, name, round)}/export", params={"exportType": "JSON"})
    return {tuple(task["data"]["pair_id"].split("/")): task["annotations"][0] for task in tasks}


# -- the events: what somebody does, and what the next commands have to say ------------------------------------------


def edits_the_collections_name(study: Study) -> None:
    path = study.folder / "annot.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('name = "evidence"', 'name = "renamed"'))


def edits_the_description(study: Study) -> None:
    for name, round in (("a1", "judge"), ("j1", "adjudicate")):
        http(study, "PATCH", f"/api/projects/{the_project(study, name, round)}/", json={"description": "Mine now."})


def deletes_a_project(study: Study) -> None:
    http(study, "DELETE", f"/api/projects/{the_project(study, 'a1')}/")


def deletes_the_adjudicators_project(study: Study) -> None:
    http(study, "DELETE", f"/api/projects/{the_project(study, 'j1', 'adjudicate')}/")


def deletes_two_tasks(study: Study) -> None:
    for pair in study.planned()["a1"][:2]:
        http(study, "DELETE", f"/api/tasks/{annotations_of(study, 'a1')[pair]['task']}/")


def deletes_an_annotation_of_their_own(study: Study) -> None:
    with study.as_person("a1") as person:
        person.delete_annotation(annotations_of(study, "a1")[study.planned()["a1"][0]]["id"])


def cancels_an_annotation(study: Study) -> None:
    mine = annotations_of(study, "a1")[study.planned()["a1"][0]]
    http(study, "PATCH", f"/api/annotations/{mine['id']}/", json={"was_cancelled": True})


def removes_a_leavers_account(study: Study) -> None:
    http(study, "DELETE", f"/api/organizations/1/memberships/{account_id(study, 'a1')}/")


def deletes_a_leavers_user(study: Study) -> None:
    http(study, "DELETE", f"/api/users/{account_id(study, 'a1')}/")


def gives_an_assessor_another_account(study: Study) -> None:
    new = "a1-new@story.example.org"
    annot_done("assessor", "add", "a1", "--account", new, folder=study.folder)


def edits_a_colleagues_answer(study: Study) -> None:
    rating = {"from_name": "rating", "to_name": "pair", "type": "choices", "value": {"choices": ["0"]}}
    pair = study.planned()["a1"][3]
    with study.as_person("a2") as colleague:
        colleague.change_annotation(annotations_of(study, "a1")[pair]["id"], [rating])
        decided = annotations_of(study, "j1", "adjudicate")
        colleague.change_annotation(decided[in_dispute(study)[0]]["id"], [rating])


class Event(NamedTuple):
    """What somebody does to a project of one round, and what has to be said of it."""

    done: Callable[[Study], None]
    round: str = ""
    """The command before `push` and `pull`: "" or adjudicate."""
    lost: int | None = 0
    """Answers that are listed by every pull, which then ends with exit 1; None: all of the person."""
    why: str = ""
    push: int = 0
    """The exit code of `annot push`."""
    told: str = ""
    """What the first pull says beside."""


EDITED = "1 answer(s) were changed by somebody else; the person's own answers count"
EVENTS = [
    Event(edits_the_collections_name),
    Event(edits_the_collections_name, "adjudicate"),
    Event(edits_the_description),
    Event(edits_the_description, "adjudicate"),
    Event(deletes_a_project, "", None, "its project was deleted", told="the project is gone from the server"),
    Event(deletes_the_adjudicators_project, "adjudicate", None, "its project was deleted"),
    Event(deletes_two_tasks, "", 2, "its task was deleted", told="a1: 2 task(s) are gone from the server"),
    Event(deletes_an_annotation_of_their_own, "", 1, "its annotation was deleted"),
    Event(cancels_an_annotation, "", 1, "skipped; last changed by another account, not by its author"),
    Event(removes_a_leavers_account, push=2),
    Event(deletes_a_leavers_user, push=2),
    Event(gives_an_assessor_another_account),
    Event(edits_a_colleagues_answer, told=f"a1: {EDITED}"),
    Event(edits_a_colleagues_answer, "adjudicate", told=f"j1: {EDITED}"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: f"{event.done.__name__} {event.round}".strip())
def test_an_ordinary_event_leaves_the_same_answers_counting(complete: Complete, study: Study, event: Event) -> None:
    person, everything = ("j1", in_dispute(study)) if event.round else ("a1", study.planned()["a1"])
    before = len(study.listed_projects())
    event.done(study)
    lost = len(everything) if event.lost is None else event.lost

    def command(verb: str) -> Result:
        return annot(*event.round.split(), verb, folder=study.folder)

    def fetched() -> str:
        result = command("pull")
        assert result.exit_code == bool(lost), result.stderr
        if lost:
            assert f"annot: {lost} answer(s) that counted are not on the server as they were" in result.stderr
            assert f"{person}: {lost} answer(s), {event.why}: fic" in result.stderr
            assert "--accept-deletions" in result.stderr
        assert counting(study) == complete.counting
        return result.stderr

    assert event.told in fetched()
    sent = command("push")
    assert sent.exit_code == event.push, sent.stderr
    assert counting(study) == complete.counting
    # The next pull: the same is told, and the same counts.
    fetched()
    status = annot_done("status", "--json", folder=study.folder).data
    assert (status["lost"], status["withdrawn"]) == (lost or int(EDITED in event.told), 0)
    assert len(study.listed_projects()) == before
