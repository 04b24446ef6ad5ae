"""Settled pairs hidden in the stream of somebody who does not know them, on a real Label Studio."""

from pathlib import Path

import pytest
from annot.base.errors import MissingInput
from annot.base.names import OF_PAPERS
from annot.judging import plan_on_record
from annot.judging.exchange import audit
from annot.judging.exchange.servers import connect
from annot.publishing.report.terminal import rendered
from annot.steps import changes, exchange, plan, query, status
from annot.steps import training as gold_pairs
from annot.store import people
from annot.store.database import open_store
from annot.study.snapshot import read_snapshot
from fixtures_studio import Studio
from studies import Pair, Study, add_people, draw_pools, make_study
from study_answers import ByPlace
from study_stages import quietly


def planned(study: Study, name: str) -> set[Pair]:
    with open_store(study.workspace.database_url) as store, store.read() as session:
        return {one.pair_key.pair for one in people.read_assignments(session, name)}


def test_hidden_gold_is_judged_like_any_pair_and_counts_for_the_assessor_alone(memory: Studio, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", memory, name="hidden-gold", per_method=5, stage="settled")
    final = ByPlace.final(study.workspace)
    ws = study.workspace
    with pytest.raises(MissingInput, match="no one is in training"):
        gold_pairs.report(ws)
    # A third assessor comes with a third query, which one of the others shares.
    add_people(ws, [("a3", False)])
    query.add(ws, "fic0704", facet="background", sentences=None, dry_run=False)
    draw_pools(ws, per_method=5)
    plan.make(ws, queries=(), shares={}, seed=None, grow=True, dry_run=False)
    own = planned(study, "a3")
    assert own
    assert not own & final.keys()

    promised = gold_pairs.hide(ws, share=0.5, dry_run=True)
    hidden = {one.assessor: one for one in gold_pairs.hide(ws, share=0.5, dry_run=False)}
    assert {one.assessor: one for one in promised} == hidden
    wanted = round(0.5 * len(own))
    assert (hidden["a3"].pairs, hidden["a3"].hidden, hidden["a3"].added) == (len(own), wanted, wanted)
    # Who has all settled pairs in the plan knows them all.
    assert {hidden["a1"].added, hidden["a2"].added} == {0}
    assert [one.added for one in gold_pairs.hide(ws, share=0.5, dry_run=False)] == [0, 0, 0]

    sent = {one.assessor: one for one in exchange.push(ws, round="judging", dry_run=False, advance=quietly).projects}
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
    *before, last = [f"{at} of {len(stream)}" for at in range(1, len(stream) + 1)]
    assert places == [*before, f"{last}, the last for now"]

    # One hidden pair waits, all others are answered.
    *answered, waiting = gold
    study.judge("a3", {pair: final.get(pair, 1) for pair in stream if pair != waiting})
    for _ in range(2):
        pulled = exchange.pull(ws, round="judging", advance=quietly)
        (mine,) = [one for one in pulled.assessors if one.assessor == "a3"]
        assert (mine.assigned, mine.judged) == (len(own), len(own))
    in_the_record_beside_the_collection(study, own, final, answered=len(answered), wanted=wanted)
    again = exchange.push(ws, round="judging", dry_run=False, advance=quietly).projects[-1]
    assert (again.assessor, again.sent, again.withdrawn, again.updated) == ("a3", 0, 0, 0)

    assert {one.kind for one in audit.audit(ws, advance=quietly).findings} == set()
    assert status.status(ws).to_withdraw == plan_on_record.check(ws).to_withdraw == 0
    gone_from_the_server(study, answered[0])
    in_the_record_beside_the_collection(study, own, final, answered=len(answered), wanted=wanted)
    leaving_with_a_hidden_pair_open(study, own, {*answered[1:]})


def in_the_record_beside_the_collection(
    study: Study, own: set[Pair], final: dict[Pair, int], *, answered: int, wanted: int
) -> None:
    report = gold_pairs.report(study.workspace)
    (found,) = report.hidden
    counts = (found.assessor, found.hidden, found.answered, found.agreement.n_pairs)
    assert counts == ("a3", wanted, answered, answered)
    assert found.agreement.figures["percent"].value == 100.0
    assert "hidden gold pairs, compared" in rendered("training", words=OF_PAPERS, found=report)
    snapshot = read_snapshot(study.workspace)
    assert snapshot.trials["hidden-gold/a3"]["pairs"] == answered
    judged = {(one.query_id, one.doc_id) for one in snapshot.outcome.judgements if one.assessor == "a3"}
    assert judged == own
    assert {(one.query_id, one.doc_id): one.grade for one in snapshot.outcome.decisions} == final
    lines = (study.folder / "exports" / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum('"a3"' in line for line in lines) == len(own)


def gone_from_the_server(study: Study, pair: Pair) -> None:
    """Hidden gold whose task somebody deleted: no judgement is lost, and nobody is asked it twice."""
    ids = {task["data"]["pair_id"]: task["id"] for task in study.on_server("a3")}
    with connect(study.workspace) as gateway:
        gateway.delete_task(ids["/".join(pair)])
    pulled = exchange.pull(study.workspace, round="judging", advance=quietly)
    assert pulled.lost == ()
    again = exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly).projects[-1]
    assert (again.assessor, again.sent, again.known) == ("a3", 0, 1)


def leaving_with_a_hidden_pair_open(study: Study, own: set[Pair], answered: set[Pair]) -> None:
    """Hidden gold holds nobody who leaves, goes to nobody else, and stands in nobody's plan."""
    ws = study.workspace
    left = changes.leave(ws, "a3", successor=None, contest=False, offline=False, dry_run=False)
    assert (left.open, left.kept) == (0, len(own))
    for withdrawn in (1, 0):
        pushed = exchange.push(ws, round="judging", dry_run=False, advance=quietly)
        assert sum(one.withdrawn for one in pushed.projects) == withdrawn
        assert not [note for note in pushed.notes if note.startswith("a3")]
        there = {tuple(task["data"]["pair_id"].split("/")) for task in study.on_server("a3")}
        assert there == own | answered
    assert planned(study, "a3") == own
    assert status.status(ws).to_withdraw == 0
    assert [one.hidden for one in gold_pairs.hide(ws, share=0.5, dry_run=False) if one.assessor == "a3"] == []
