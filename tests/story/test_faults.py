"""One request of a command goes wrong, whichever it is: run again, the command ends in exactly the planned state.

A matrix of faults and commands against a server in memory, behind a proxy. Each fault hits one request, drawn from
those that the command makes.
"""

import json
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.errors import StudioError
from annot.labelstudio import gateway, http_client
from annot.steps import exchange
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS
from annot.store.database import open_store
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from complete_study import http
from faulty_proxy import WRITES, Kind, faulty_proxy, impatient_client
from fixtures_studio import Studio
from studies import Study, make_study
from study_stages import quietly
from test_killed import assert_each_task_once, grades_of


def on(ws: Workspace, url: str, key: str) -> Workspace:
    return replace(ws, studio_url=url, studio_token=key)


Step = Callable[[Workspace, str, str], object]
STEPS: dict[str, Step] = {
    "push": lambda ws, url, key: exchange.push(on(ws, url, key), round="judging", dry_run=False, advance=quietly),
    "pull": lambda ws, url, key: exchange.pull(on(ws, url, key), round="judging", advance=quietly),
    "push adjudication": lambda ws, url, key: exchange.push(
        on(ws, url, key), round="adjudication", dry_run=False, advance=quietly
    ),
    "pull adjudication": lambda ws, url, key: exchange.pull(on(ws, url, key), round="adjudication", advance=quietly),
}


HITS: dict[str, tuple[Kind, ...]] = {
    "push": ("dropped before", "dropped after", "429", "500 after", "401", "truncated", "late", "twice"),
    "pull": ("500", "truncated", "late"),
    "push adjudication": ("dropped after", "404"),
    "pull adjudication": ("502", "truncated"),
}
"""A push may lose or double what it writes, a pull what it reads; a round of adjudication is sent the same way."""
MOST_MORE = 40
"""Requests that a fault may cost: what is asked again, looks for what may have arrived, copies deleted."""
CLEAN: dict[str, tuple[list[str] | None, tuple[str, ...]]] = {}
"""By command what `planned_state` found."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pages and batches, and no long waits, so that a small study meets what a large one does."""
    monkeypatch.setattr(gateway, "_WAITS", (0.05, 0.1, 0.2))
    monkeypatch.setattr(gateway, "PAGE_SIZE", 8)
    assert gateway.deliver.__kwdefaults__ is not None
    monkeypatch.setitem(gateway.deliver.__kwdefaults__, "batch_size", 8)


@pytest.fixture(scope="module")
def stages(at_a_socket: Studio, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Study]:
    """A small study at the moment before each command; the last three are one study on the server."""
    folder = tmp_path_factory.mktemp("faults")
    planned = make_study(folder / "planned", at_a_socket, name="faults", per_method=2)
    judged = planned.copy(folder / "judged", "faults-judged")
    STEPS["push"](judged.workspace, at_a_socket.url, at_a_socket.token)
    for person in ("a1", "a2"):
        judged.judge(person, grades_of(person, judged.planned()[person]))
    pulled = judged.copy(folder / "pulled", judged.name)
    STEPS["pull"](pulled.workspace, at_a_socket.url, at_a_socket.token)
    settled = pulled.copy(folder / "settled", judged.name)
    STEPS["push adjudication"](settled.workspace, at_a_socket.url, at_a_socket.token)
    disputed = [tuple(task["data"]["pair_id"].split("/")) for task in settled.on_server("j1", "adjudicate")]
    settled.judge("j1", dict.fromkeys(disputed, 2), "adjudicate")
    return dict(zip(STEPS, (planned, judged, pulled, settled), strict=True))


def copied(study: Study, command: str, folder: Path) -> Study:
    """A study of its own to send from; what is pulled is the same on the server for all."""
    return study.copy(folder, f"faults-{folder.name}" if command.startswith("push") else study.name)


def show_instructions(study: Study, command: str) -> None:
    """As before the first answer: a pull that finds answers has them shown no longer, which is all that it writes."""
    if command.startswith("pull"):
        for project in study.projects("adjudicate" if command.endswith("adjudication") else "judge").values():
            http(study, "PATCH", f"/api/projects/{project[0]}/", json={"show_instruction": True})


def record(ws: Workspace) -> list[str]:
    """What the store holds of every answer, whenever it was recorded."""
    with open_store(ws.database_url) as store, store.read() as session:
        rows = [*JUDGEMENTS.read(session), *ADJUDICATIONS.read(session)]
    return sorted(json.dumps([str(row.record), row.source, row.annotation, row.server]) for row in rows)


@pytest.mark.parametrize(("command", "kind"), [(command, kind) for command in STEPS for kind in HITS[command]])
def test_run_again_it_ends_in_the_planned_state(
    stages: dict[str, Study],
    at_a_socket: Studio,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    kind: Kind,
) -> None:
    stage, step = stages[command], STEPS[command]
    expected, requests = planned_state(stage, command, at_a_socket, tmp_path)
    writes = [at for at, method in enumerate(requests) if method in WRITES]
    # A push is hit where it writes; what it reads, a pull reads too.
    at = random.Random(f"{command} {kind}").choice(writes or range(len(requests)))
    study = copied(stage, command, tmp_path / f"{command.replace(' ', '-')}-{kind.replace(' ', '-')}")
    show_instructions(study, command)
    with faulty_proxy(at_a_socket.url, kind, at) as (url, plan):
        with monkeypatch.context() as patch, suppress(StudioError):
            if kind == "late":
                patch.setattr(http_client, "PatientClient", impatient_client(plan))
            step(study.workspace, url, at_a_socket.token)
        assert at < len(plan.seen) <= len(requests) + MOST_MORE
    if expected is not None:
        assert set(record(study.workspace)) <= set(expected)
    step(study.workspace, at_a_socket.url, at_a_socket.token)
    if expected is not None:
        assert record(study.workspace) == expected
    elif command == "push":
        assert_each_task_once(study, "judge", study.planned())
    else:
        assert_each_task_once(study, "adjudicate", {"j1": disputes(study)})


def planned_state(stage: Study, command: str, studio: Studio, folder: Path) -> tuple[list[str] | None, tuple[str, ...]]:
    """What is on record after the command where nothing goes wrong (of a pull), and the requests that it makes."""
    if command not in CLEAN:
        study = copied(stage, command, folder / f"{command.replace(' ', '-')}-clean")
        show_instructions(study, command)
        with faulty_proxy(studio.url) as (url, plan):
            STEPS[command](study.workspace, url, studio.token)
        CLEAN[command] = None if command.startswith("push") else record(study.workspace), tuple(plan.seen)
    return CLEAN[command]


def disputes(study: Study) -> list[tuple[str, str]]:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        return [one[0].pair for one in outcome_of(session, study.workspace.settings).disputed]
