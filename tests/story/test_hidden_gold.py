"""Settled pairs hidden in the stream of somebody who does not know them, on a real Label Studio."""

from __future__ import annotations

from pathlib import Path

import pytest
from annot.errors import MissingInput
from annot.steps import plan, pull, push, query, train
from annot.store import people
from annot.store.database import open_store
from annot.study.snapshot import read_snapshot
from fixtures_studio import Studio
from settled_study import settled_study
from studies import Pair, Study, add_people, draw_pools, quietly

pytestmark = pytest.mark.studio


def planned(study: Study, name: str) -> set[Pair]:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        return {one.asked.pair for one in people.read_assignments(session, name)}


def test_hidden_gold_is_judged_like_any_pair_and_counts_for_the_assessor_alone(studio: Studio, tmp_path: Path) -> None:
    study, final = settled_study(tmp_path / "study", studio, name="hidden-gold", per_method=5)
    ws = study.workspace
    with pytest.raises(MissingInput, match="nobody is in training"):
        train.report(ws)
    # A third assessor comes with a third query, which one of the others shares.
    add_people(ws, [("a3", False)])
    query.add(ws, "fic0704", facet="background", sentences=None, dry_run=False)
    draw_pools(ws, per_method=5)
    plan.make(ws, queries=(), shares={}, seed=None, grow=True, dry_run=False)
    own = planned(study, "a3")
    assert own
    assert not own & final.keys()

    promised = train.hide(ws, share=0.5, dry_run=True)
    hidden = {one.assessor: one for one in train.hide(ws, share=0.5, dry_run=False)}
    assert {one.assessor: one for one in promised} == hidden
    wanted = round(0.5 * len(own))
    assert (hidden["a3"].pairs, hidden["a3"].hidden, hidden["a3"].added) == (len(own), wanted, wanted)
    # Who has all settled pairs in the plan knows them all.
    assert {hidden["a1"].added, hidden["a2"].added} == {0}
    assert [one.added for one in train.hide(ws, share=0.5, dry_run=False)] == [0, 0, 0]

    sent = {one.assessor: one for one in push.push(ws, url=None, api_key=None, dry_run=False, advance=quietly).projects}
    assert sent["a3"].sent == len(own) + wanted
    tasks = study.on_server("a3")
    stream = [tuple(task["data"]["pair_id"].split("/")) for task in tasks]
    gold = [pair for pair in stream if pair not in own]
    assert len(gold) == wanted
    assert set(gold) <= final.keys()
    assert stream[0] in own
    # Nothing tells them apart: the same fields, and one count through all.
    assert len({frozenset(task["data"]) for task in tasks}) == 1
    places = [task["data"]["progress"].split(" ·")[0] for task in tasks]
    assert places == [f"{at} of {len(stream)}" for at in range(1, len(stream) + 1)]

    study.judge("a3", {pair: final.get(pair, 1) for pair in stream})
    for _ in range(2):
        pulled = pull.pull(ws, url=None, api_key=None, advance=quietly)
        (mine,) = [one for one in pulled.assessors if one.assessor == "a3"]
        assert (mine.assigned, mine.judged) == (len(own), len(own))
    (found,) = train.report(ws).hidden
    assert (found.assessor, found.hidden, found.answered, found.agreement.n_pairs) == ("a3", wanted, wanted, wanted)
    assert found.agreement.figures["percent"].value == 100.0
    assert "gold hidden among the pairs" in train.describe(train.report(ws))

    snapshot = read_snapshot(ws)
    noted = snapshot.trials["hidden-gold/a3"]
    assert (noted["pairs"], noted["value"]) == (wanted, 1.0)
    judged = {(one.query_id, one.doc_id) for one in snapshot.outcome.judgements if one.assessor == "a3"}
    assert judged == own
    assert {(one.query_id, one.doc_id): one.grade for one in snapshot.outcome.decisions} == final
    lines = (study.folder / "exports" / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum('"a3"' in line for line in lines) == len(own)
    assert push.push(ws, url=None, api_key=None, dry_run=False, advance=quietly).projects[-1].sent == 0
