"""A complete study on a server in memory, which can be set back to how it was, and what counts in it."""

from pathlib import Path
from typing import Any, NamedTuple

import httpx
from annot.base.records import Assessor
from annot.judging.exchange.servers import task_keys
from annot.steps import exchange
from annot.store import people
from annot.store import projects as projects_on_record
from annot.store.database import open_store
from annot.study.outcome import outcome_of
from fixtures_studio import GUARD
from memory_studio import StudioOfMemory
from studies import Pair, Study, make_study
from study_stages import quietly

Counting = dict[tuple[str, ...], int | None]
"""The grade of each answer that counts, by pair and person."""


CHANGED = 4
"""The place of the pair whose grade the first assessor changed this morning."""


class Complete(NamedTuple):
    """A complete study, what counts in it, and two states of its server."""

    study: Study
    counting: Counting
    last_night: dict[str, Any]
    """The server when the first assessor had judged all, the second one half of their pairs."""
    now: dict[str, Any]


def complete_study(folder: Path, memory: StudioOfMemory) -> Complete:
    """Everything judged, every dispute settled, all of it pulled."""
    study = make_study(folder, memory, name="evidence", per_method=1)
    exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly)
    pairs = study.planned()["a1"]
    half = len(pairs) // 2
    first = study.judge("a1", {pair: at % 4 for at, pair in enumerate(pairs)})
    study.judge("a2", dict.fromkeys(pairs[:half], 1))
    last_night = memory.server.kept()
    study.judge("a2", dict.fromkeys(pairs[half:], 1))
    with study.as_person("a1") as person:
        person.change_annotation(first[pairs[CHANGED]], rating("3"))
    exchange.pull(study.workspace, round="judging", advance=quietly)
    exchange.push(study.workspace, round="adjudication", dry_run=False, advance=quietly)
    study.judge("j1", dict.fromkeys(in_dispute(study), 2), "adjudicate")
    exchange.pull(study.workspace, round="adjudication", advance=quietly)
    found = counting(study)
    assert len(found) == 2 * len(pairs) + len(in_dispute(study))
    return Complete(study, found, last_night, memory.server.kept())


def in_dispute(study: Study) -> list[Pair]:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        return [one[0].pair for one in outcome_of(session, study.workspace.settings).disputed]


def counting(study: Study) -> Counting:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        outcome = outcome_of(session, study.workspace.settings)
    judged: Counting = {(one.query_id, one.doc_id, one.assessor): one.grade for one in outcome.judgements if one.counts}
    return judged | {(*pair, one.adjudicator): one.grade for pair, one in outcome.adjudications.items()}


def http(study: Study, method: str, path: str, **more: Any) -> Any:
    """What an administrator does in Label Studio's pages, by its interface."""
    headers = {"Authorization": f"Token {study.studio.token}"}
    with httpx.Client(base_url=study.studio.url, headers=headers, timeout=GUARD, trust_env=False) as client:
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


def annotations_of(study: Study, name: str, round: str = "judge") -> dict[Pair, dict[str, Any]]:
    project, keys = the_project(study, name, round), task_keys(study.workspace)
    tasks = http(study, "GET", f"/api/projects/{project}/export", params={"exportType": "JSON"})
    opened = ((str(keys.opened(project, task["data"]["pair_id"])), task) for task in tasks)
    return {tuple(key.split("/")): task["annotations"][0] for key, task in opened}


def give_another_account(study: Study, name: str) -> None:
    """The person has another account from now on, which the server knows."""
    account = study.studio.account(f"{name}-another")
    with open_store(study.workspace.database_url) as store, store.begin() as session:
        people.put_assessors(session, [Assessor(name, account.email, False)])


def rating(value: str) -> list[dict[str, Any]]:
    return [{"from_name": "rating", "to_name": "pair", "type": "choices", "value": {"choices": [value]}}]
