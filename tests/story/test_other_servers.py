"""A server that stops and comes back, another server, and an account that is gone."""

from pathlib import Path

import pytest
from annot.base.errors import MissingInput, StudioError
from annot.base.records import Assessor
from annot.store import people
from annot.store.database import open_store
from complete_study import http
from fixtures_studio import Studio
from memory_studio import studio_at_a_socket
from studies import PEOPLE, Study, add_people, address_of, make_study
from test_changes import exported, fetch, people_ids, row, send


@pytest.mark.studio
def test_a_deleted_user_takes_no_answer_along(studio: Studio, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", studio, name="deleted-user", per_method=1)
    with open_store(study.workspace.database_url) as store, store.begin() as session:
        people.put_assessors(session, [Assessor("a2", address_of("leaver"), False)])
    with study.as_person("leaver"):
        pass  # they have signed up
    send(study)
    tasks = {task["data"]["pair_id"]: task["id"] for task in study.on_server("a2")}
    for grade, pair in enumerate(study.planned()["a2"][:2]):
        study.answer("leaver", tasks["/".join(pair)], grade)
    fetch(study)
    held = exported(study)
    assert len(held) == 2
    http(study, "DELETE", f"/api/users/{people_ids(study)['a2']}/")
    for _ in range(2):
        fetch(study)
        assert exported(study) == held
        send(study)


def test_a_study_goes_on_after_its_server_was_stopped_and_came_back_at_another_port(tmp_path: Path) -> None:
    with studio_at_a_socket(made_folder(tmp_path / "server")) as own_server:
        study = make_study(tmp_path / "study", own_server, name="restarted", per_method=3)
        send(study)
        pairs = study.planned()["a1"]
        study.judge("a1", {pairs[0]: 1, pairs[1]: 2})
        fetch(study)
        held = exported(study)
        before = own_server.url
        with own_server.stopped(port=0):
            with pytest.raises(StudioError, match="no Label Studio is running here") as raised:
                fetch(study)
            assert raised.value.exit_code == 3
            with pytest.raises(StudioError):
                send(study)
            assert exported(study) == held

        assert own_server.url != before
        assert row(fetch(study), "a1").judged == 2
        assert exported(study) == held
        assert [(one.there, one.sent) for one in send(study).projects] == [(len(pairs), 0), (len(pairs), 0)]
        study.judge("a1", dict.fromkeys(pairs[2:4], 3))
        pulled = row(fetch(study), "a1")
        assert (pulled.judged, pulled.new, pulled.changed, pulled.flagged) == (4, 2, 0, 0)
        assert len(exported(study)) == 4
        assert exported(study).items() >= held.items()


def test_a_study_that_moves_to_another_server_keeps_what_was_judged_on_the_first(
    at_a_socket: Studio, tmp_path: Path
) -> None:
    with studio_at_a_socket(made_folder(tmp_path / "other")) as other:
        moves(at_a_socket, other, tmp_path)


def made_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def moves(first: Studio, other: Studio, tmp_path: Path) -> None:
    pushed = make_study(tmp_path / "study", first, name="moving", per_method=3)
    send(pushed)
    pairs = pushed.planned()["a1"]
    pushed.judge("a1", {pairs[0]: 1, pairs[1]: 2})
    fetch(pushed)
    held = exported(pushed)
    link = pushed.workspace.cache / "studio"
    link.unlink()
    link.symlink_to(other.folder)
    moved = Study(pushed.folder, other)
    with pytest.raises(MissingInput, match="nothing was sent"):
        fetch(moved)
    add_people(moved.workspace, PEOPLE)
    # What is answered on the first server is not asked again on the second.
    assert {one.assessor: one.sent for one in send(moved).projects} == {"a1": len(pairs) - 2, "a2": len(pairs)}
    assert row(fetch(moved), "a1").changed == 0
    assert exported(moved) == held
    moved.judge("a1", {pairs[2]: 3})
    fetch(moved)
    assert exported(moved).items() >= held.items()
    assert exported(moved)[(*pairs[2], "a1")]["grade"] == 3
    # Back on the first one, its answers are the same ones still.
    link.unlink()
    link.symlink_to(pushed.studio.folder)
    assert (row(fetch(pushed), "a1").new, row(fetch(pushed), "a1").changed) == (0, 0)
