"""The same story against a real server: accounts, projects, tasks, annotations, kills."""

import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from annot.base.records import PairKey
from annot.labelstudio import gateway as gateway_module
from annot.labelstudio.gateway import deliver
from annot.labelstudio.screens import screen_of
from annot.labelstudio.studio_records import read_task, write_result
from fixtures_studio import GUARD, Studio
from labelling_texts import LABELS, SCALE, task

pytestmark = pytest.mark.studio

SCREEN = screen_of("judge", scale_names=SCALE, labels=LABELS, language="en", overrides=None)
TASKS = [task(number) for number in range(1, 13)]
PAIRS = [made["data"]["pair_id"] for made in TASKS]


def test_accounts_are_made_once_and_their_passwords_are_private(studio: Studio) -> None:
    first, second = studio.account("once"), studio.account("once")
    assert first == second
    assert stat.S_IMODE(studio.passwords.stat().st_mode) == 0o600
    with studio.gateway(first.token) as gateway:
        assert gateway.whoami() == first.user_id
    with studio.gateway() as gateway:
        assert gateway.user_ids()["once@example.org"] == first.user_id


@pytest.mark.filterwarnings("ignore:The `parse_obj` method:DeprecationWarning")  # the client library's own
def test_a_personal_token_works_like_a_legacy_one(studio: Studio) -> None:
    account = studio.account("personal")
    with httpx.Client(base_url=studio.url, trust_env=False, timeout=GUARD) as http:
        http.get("/user/login/")
        form = {
            "email": account.email,
            "password": studio.password("personal"),
            "csrfmiddlewaretoken": http.cookies["csrftoken"],
        }
        http.post("/user/login/", data=form, headers={"Referer": f"{studio.url}/user/login/"})
        made = http.post("/api/token/", headers={"X-CSRFToken": http.cookies["csrftoken"], "Referer": studio.url})
    with studio.gateway(made.json()["token"]) as gateway:
        assert gateway.whoami() == account.user_id


def test_annotations_come_back_complete_with_skips_revisions_and_deletions(studio: Studio) -> None:
    ann, bob = studio.account("ann"), studio.account("bob")
    with studio.gateway() as gateway, studio.gateway(ann.token) as as_ann, studio.gateway(bob.token) as as_bob:
        project = studio.project(gateway, SCREEN, TASKS)
        ids = [listed.task_id for listed in gateway.tasks_of(project)]
        first = as_ann.annotate(ids[0], write_result(TASKS[0], grade=3, comment="close"), lead_time=12.5)
        as_ann.annotate(ids[1], write_result(TASKS[1], cannot_judge="not in English"))
        as_ann.skip(ids[2], [])
        others = as_bob.annotate(ids[3], write_result(TASKS[3], grade=1))
        as_bob.annotate(ids[0], write_result(TASKS[0], grade=0))

        pulled = gateway.pull(project)
        assert sum(len(pulled_task.annotations) for pulled_task in pulled) == 5
        assert [pulled_task.key for pulled_task in pulled] == PAIRS
        readings = [
            read_task(t.annotations, pair_key=PairKey("q", "d"), grades=range(4), accounts=[ann.user_id])
            for t in pulled
        ]
        kept = [reading for on_task in readings for reading in on_task if not reading.flags]
        assert [(r.grade, r.cannot_judge, r.comment, r.lead_time) for r in kept] == [
            (3, None, "close", 12.5),
            (None, "not in English", None, None),
        ]
        labels = {item["id"]: item["value"]["labels"] for item in kept[0].payload["result"] if item["type"] == "labels"}
        assert labels["cand-1"] == ["method"]
        assert readings[2][0].flags[0] == "skipped"
        assert readings[3][0].flags == (f"by account {bob.user_id}, which is not this person's",)

        as_ann.change_annotation(first, write_result(TASKS[0], grade=2))
        gateway.delete_annotation(others)
        later = {pulled_task.key: pulled_task for pulled_task in gateway.pull(project)}
        assert list(later) == PAIRS
        revised = read_task(
            later[PAIRS[0]].annotations, pair_key=PairKey("q", "d"), grades=range(4), accounts=[ann.user_id]
        )
        assert [r.grade for r in revised if not r.flags] == [2]
        assert later[PAIRS[3]].annotations == ()
        assert gateway.counts(project)[1] >= 3


def test_an_answer_that_the_server_has_not_counted_comes_too(studio: Studio) -> None:
    """Ended between an answer and its count, a server has the one without the other for ever."""
    with studio.gateway() as gateway:
        project = studio.project(gateway, SCREEN, TASKS[:2])
        first, second = gateway.tasks_of(project)
        given = gateway.annotate(first.task_id, write_result({}, grade=2))
        (database,) = (studio.folder / "data").glob("*.sqlite3")
        with closing(sqlite3.connect(database, timeout=GUARD)) as live, live:
            live.execute("UPDATE task SET total_annotations = 0, is_labeled = 0 WHERE id = ?", (first.task_id,))
        assert gateway.tasks_of(project)[0].annotations == 0
        pulled = {one.key: [annotation["id"] for annotation in one.annotations] for one in gateway.pull(project)}
        assert pulled == {first.key: [given], second.key: []}
        # Nor is its task deleted as one that nobody has answered.
        gateway.delete_unanswered(project, [first.task_id])
        known = {first.key: "2100-01-01T00:00:00Z"}
        assert deliver(gateway, project, TASKS[:2], answered=known).removed == 0
        assert [one.task_id for one in gateway.tasks_of(project)] == [first.task_id, second.task_id]


KILLED_PUSH = """
import json, sys
sys.path[:0] = sys.argv[4:]
from labelling_texts import task
from annot.labelstudio.gateway import deliver
from annot.labelstudio.gateway import Gateway
with Gateway(sys.argv[1], sys.stdin.read()) as gateway:
    print("ready", flush=True)
    deliver(gateway, int(sys.argv[2]), [task(n) for n in range(1, int(sys.argv[3]) + 1)], batch_size=20)
"""


def test_an_import_killed_at_random_moments_leaves_each_task_once(studio: Studio) -> None:
    count = 240
    paths = [str(Path(gateway_module.__file__).parents[2]), str(Path(__file__).parent)]
    rng = random.Random(7)
    with studio.gateway() as gateway:
        project = studio.project(gateway, SCREEN, [])
        for _ in range(2):
            command = [sys.executable, "-c", KILLED_PUSH, studio.url, str(project), str(count), *paths]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as push:
                assert push.stdin is not None
                assert push.stdout is not None
                push.stdin.write(studio.token)
                push.stdin.close()
                push.stdout.readline()
                time.sleep(rng.uniform(0.0, 0.6))
                push.send_signal(signal.SIGKILL)
        studio.end_what_was_abandoned()
        deliver(gateway, project, [task(number) for number in range(1, count + 1)], batch_size=20)
        keys = Counter(listed.key for listed in gateway.tasks_of(project))
    assert set(keys.values()) == {1}
    assert len(keys) == count
