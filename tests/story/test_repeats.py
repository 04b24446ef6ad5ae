"""Hidden repeats: asked again unannounced, pulled back, told apart from the judgements."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from annot.base.names import OF_PAPERS
from annot.judging.planning import FEWEST_BETWEEN
from annot.judging.rounds import judging
from annot.labelstudio.gateway import Gateway
from annot.steps import agreement, exchange, qrels
from annot.store import people
from annot.store.database import open_store
from annot.study.outcome import outcome_of
from fixtures_studio import Studio
from sqlalchemy import text
from studies import make_study
from study_stages import quietly


def test_a_pair_asked_again_tells_of_the_assessor_and_nothing_of_the_pair(memory: Studio, tmp_path: Path) -> None:
    study = make_study(
        tmp_path / "study", memory, name="repeats", per_method=12, more_settings="\n[judging]\nrepeats = 0.2\n"
    )
    ws = study.workspace
    with open_store(ws.database_url) as store, store.read() as session:
        plan = people.read_assignments(session)
    repeats = {
        name: [one.pair_key for one in plan if one.assessor == name and one.occasion == 2] for name in ("a1", "a2")
    }
    assert all(repeats.values())
    sent = exchange.push(ws, round="judging", dry_run=False, advance=quietly)
    assert {one.assessor: one.sent for one in sent.projects} == Counter(one.assessor for one in plan)

    # What the person sees of a repeat is what they saw the first time, but for its place in the sequence.
    there = {task["data"]["pair_id"]: task for task in study.on_server("a1")}
    order = [task["data"]["pair_id"] for task in study.on_server("a1")]
    for asked in repeats["a1"]:
        first, again = "/".join(asked.pair), "/".join((*asked.pair, "2"))
        own = ("pair_id", "progress")
        shown = [{name: text for name, text in there[key]["data"].items() if name not in own} for key in (first, again)]
        assert shown[0] == shown[1]
        assert order.index(again) - order.index(first) > FEWEST_BETWEEN
        assert order.index(first) < len(order) / 2 <= order.index(again)

    # Nor does anything else that an account on the server can see tell which pairs come twice, or are another's too.
    exported = {name: [task["data"]["pair_id"] for task in study.as_exported(name)] for name in ("a1", "a2")}
    assert all(re.fullmatch("[0-9a-f]{24}", key) for keys in exported.values() for key in keys)
    assert len({*exported["a1"], *exported["a2"]}) == len(plan)
    for task in study.as_exported("a1"):
        assert not task["meta"]

    # Everybody gives 2 to everything, and a1 takes it back when asked again.
    for name in ("a1", "a2"):
        study.judge(name, {one.pair_key.pair: 2 for one in plan if one.assessor == name and one.occasion == 1})
        study.judge(name, {(*asked.pair, "2"): 0 if name == "a1" else 2 for asked in repeats[name]})
    pulled = exchange.pull(ws, round="judging", advance=quietly)
    assert {one.assessor: (one.assigned, one.judged) for one in pulled.assessors} == {
        one.assessor: (one.planned, one.planned) for one in sent.projects
    }
    assert exchange.pull(ws, round="judging", advance=quietly).assessors[0].new == 0

    with open_store(ws.database_url) as store, store.read() as session:
        outcome = outcome_of(session, ws.settings)
    assert not outcome.disputed
    assert {one.grade for one in outcome.decisions} == {2}
    assert judging.adjudication_outgoing_of(ws) == []
    assert qrels.write(ws, partial=False).pairs == len({one.pair_key.pair for one in plan})
    table = agreement.measure(ws, missing=None, binarised_at=None, tell=print)
    assert {group.n_pairs for group in table.groups if group.name == "together"} == {
        len({one.pair_key.pair for one in plan})
    }

    found = {one.assessor: one for one in agreement.by_assessor(ws, queries=()).diagnosed.self_consistency}
    assert (found["a1"].same.count, found["a1"].same.of) == (0, len(repeats["a1"]))
    assert (found["a2"].same.count, found["a2"].same.of) == (len(repeats["a2"]), len(repeats["a2"]))
    assert found["a1"].change.value == -2.0
    assert found[None].same.of == sum(map(len, repeats.values()))
    looked = agreement.by_assessor(ws, queries=())
    shown = agreement.describe_assessors(looked, agreement.assessor_tables(looked, OF_PAPERS, queries=()), OF_PAPERS)
    assert "Same grade again" in shown

    lines = [json.loads(line) for line in (ws.exports / "judgements.jsonl").read_text(encoding="utf-8").splitlines()]
    assert Counter(one["occasion"] for one in lines) == Counter(one.occasion for one in plan)


def test_tasks_that_were_sent_under_plain_keys_are_known_again(
    memory: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(tmp_path / "study", memory, name="plain-keys", per_method=3)
    ws, pairs = study.workspace, study.planned()["a1"]
    with monkeypatch.context() as earlier:
        earlier.setattr(
            "annot.labelstudio.gateway.Gateway", lambda url, api_key, keys, **options: Gateway(url, api_key, **options)
        )
        exchange.push(ws, round="judging", dry_run=False, advance=quietly)
    plain = ["/".join(pair) for pair in pairs]
    assert [task["data"]["pair_id"] for task in study.as_exported("a1")] == plain
    study.judge("a1", {pairs[0]: 2})

    # Deleted, a task is sent again, under a key that says nothing; no other is sent twice.
    with memory.gateway() as gateway:
        gateway.delete_task(study.in_store("a1")[plain[1]])
    sent = exchange.push(ws, round="judging", dry_run=False, advance=quietly)
    assert {one.assessor: one.sent for one in sent.projects} == {"a1": 1, "a2": 0}
    assert [task["data"]["pair_id"] in plain for task in study.as_exported("a1")] == [True] * (len(pairs) - 1) + [False]
    study.judge("a1", {pairs[1]: 0})
    pulled = {one.assessor: one.judged for one in exchange.pull(ws, round="judging", advance=quietly).assessors}
    assert pulled == {"a1": 2, "a2": 0}
    with open_store(ws.database_url) as store, store.read() as session:
        assert {one.pair_key.pair: one.grade for one in outcome_of(session, ws.settings).judgements} == {
            pairs[0]: 2,
            pairs[1]: 0,
        }


def test_a_database_made_anew_still_reads_the_keys_that_were_sent(memory: Studio, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", memory, name="new-secret", per_method=3)
    exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly)
    with open_store(study.workspace.database_url) as store, store.begin() as session:
        session.connection().execute(text("UPDATE task_secret SET secret = '00ff'"))
    sent = exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly)
    assert [one.sent for one in sent.projects] == [0, 0]
    assert (study.folder / ".annot" / "task-keys").stat().st_mode & 0o077 == 0
