"""A sample that grows: pools topped up after the draw, and a sample drawn beside pairs that were planned whole."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import GROWN, Addition, Pool, Qrel, ScoredDoc
from annot.corpus.versions import VersionWanted, begin_version, withdraw
from annot.formats.trec import write_run
from annot.judging.plan_on_record import check
from annot.judging.pool_samples import sample_of
from annot.measuring.sampled.estimates import pools_of
from annot.pools.pooling import extend
from annot.publishing.release.parts import sample_files
from annot.steps import evaluate, plan, publish
from annot.steps.plan import PlanSummary
from annot.steps.query import remove
from annot.steps.status import status
from annot.store import people, pools
from annot.store.models import PoolSample, SampleDesign
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file
from measured_runs import estimates
from measured_runs import evaluate as plainly
from sampled_study import DOCUMENTS, WHOLE, grade_of, judged, pool_of, pooled, rankings
from small_study import QUERIES
from test_plan_made import sent
from test_sample_measured import measure, values
from test_sample_planned import drawn, make, on_record

LATE = tuple(f"e{at:02}" for at in range(30))
"""What a new system found."""
NEW = tuple(ScoredDoc(doc_id, float(-at)) for at, doc_id in enumerate((*LATE, *DOCUMENTS[:20])))
"""Its ranking: first what the pools lack."""
PAIRS = {(query.query_id, doc_id) for query in QUERIES for doc_id in LATE}


def topped_up(pool: Pool) -> Pool:
    addition = Addition(2, "new", 50, (), None, None, None)
    return extend(pool, addition, {"new": NEW}, excluded=())


def with_new_documents(pool: Pool) -> Pool:
    """The pool with the new documents of a version, of which both of its methods draw all."""
    addition = Addition(2, GROWN, 30, (), "snapshot of May", None, None, "2027")
    rankings_of = {f"2027/{method}": NEW[: len(LATE)] for method in ("abs_tfidf", "title_tfidf")}
    return extend(pool, addition, rankings_of, excluded=())


def top_up(ws: Workspace, *topic_ids: str) -> None:
    with ws.writing() as session:
        current = pools.read_pools(session)
        after = {name: topped_up(pool) if name in topic_ids else pool for name, pool in current.items()}
        pools.replace_pools(session, after.values(), rankings_sha256=dict.fromkeys(after, "abc"))


def grow(ws: Workspace, sample: float | None = None, *, only_new: bool = False, dry_run: bool = False) -> PlanSummary:
    return plan.make(ws, queries=(), shares={}, seed=None, grow=True, dry_run=dry_run, sample=sample, only_new=only_new)


TRUE_P20 = sum(grade_of(query.query_id, doc_id) >= 2 for query in QUERIES for doc_id in LATE[:20]) / 80
"""P@20 of the new system, if all were judged."""


def with_run(ws: Workspace) -> None:
    """A run that ranks what came later."""
    write_file(ws.runs / "new.run", write_run({query.query_id: NEW for query in QUERIES}, tag="new"))


def of_batch(sample: PoolSample, batch: int) -> set[tuple[str, str]]:
    return {pair for pair, one in sample.pairs.items() if one.batch == batch}


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return pooled(tmp_path)


@pytest.mark.parametrize(("whole", "later"), [(True, topped_up), (False, with_new_documents)])
def test_estimates_of_a_pool_that_grew_have_no_bias_over_redraws(whole: bool, later: Callable[[Pool], Pool]) -> None:
    """whole: the pools were judged whole, and of what came later a sample; later: by a top-up, or with a version of the
    corpus."""
    query = QUERIES[0]
    pool, topic = pool_of(query.topic_id), query.topic_id
    grades = {doc_id: grade_of(query.query_id, doc_id) for doc_id in (*DOCUMENTS, *LATE)}
    measures = ("P@5", "P@20", "P@100")
    kept = {(query.query_id, doc_id) for doc_id in DOCUMENTS} if whole else set()
    found, certain = [], set[str]()
    for seed in range(200):
        design = SampleDesign(0.33, "query", 0.05, 1.0, seed, "")
        before = None if whole else sample_of({topic: pool}, [query], design=design, before=None)
        after = sample_of({topic: later(pool)}, [query], design=design, before=before, whole=kept)
        pi = {doc_id: one.probability for (_, doc_id), one in after.pairs.items()}
        certain = {doc_id for doc_id in DOCUMENTS if pi[doc_id] == 1}
        known = {doc_id: grades[doc_id] for (_, doc_id), one in after.pairs.items() if one.drawn}
        judged_pools = pools_of({query.query_id: pi}, {query.query_id: known}, None, highest=3)
        (of_run,) = estimates(
            {"new": {query.query_id: NEW}},
            judged_pools,
            convention="trec",
            relevant_from=2,
            ties="order",
            measures=measures,
        ).values()
        found.append([of_run.mean[name] for name in measures])
    means, errors = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    qrels = [Qrel(query.query_id, doc_id, grade) for doc_id, grade in grades.items()]
    run = {query.query_id: NEW}
    of_whole = plainly(run, qrels, convention="trec", relevant_from=2, ties="order", measures=measures).mean
    assert (abs(means - [of_whole[name] for name in measures]) <= 4 * errors).all()
    assert (errors > 0).all()
    assert (errors < 0.03).all()
    assert (certain == set(DOCUMENTS)) is whole


def test_a_top_up_is_drawn_as_the_study_was_and_a_larger_share_only_adds_pairs(ws: Workspace) -> None:
    make(ws, 0.3)
    sent(ws, {query.query_id for query in QUERIES})
    before = on_record(ws).pairs
    top_up(ws, "p1", "p2", "p3", "p4")
    with pytest.raises(InputError, match="pairs would be added to a study that was sent"):
        make(ws)
    grow(ws)
    after = on_record(ws)
    assert {pair: after.pairs[pair] for pair in before} == before
    assert of_batch(after, 2) == PAIRS
    by_query = [sum(after.pairs[name, doc_id].probability for doc_id in LATE) for name in ("p1-method", "p4-method")]
    assert by_query == pytest.approx([9.0, 9.0], abs=1e-4)
    assert [after.pairs["p1-method", doc_id].rank for doc_id in LATE] == [*range(1, 31)]
    assert 0 < len(drawn(ws) & PAIRS) < len(PAIRS)
    # Every pair of the pools has a rank by the new method now; the draw is proved by the ranks that were frozen.
    assert check(ws).faults == ()
    assert grow(ws).new == 0
    third = drawn(ws)
    grow(ws, 0.5)
    assert third < drawn(ws)
    assert (of_batch(on_record(ws), 2), check(ws).faults) == (PAIRS, ())
    with pytest.raises(InputError, match=r"--sample 0.3: 0.5 of the pools are drawn already"):
        grow(ws, 0.3)


def test_what_is_made_of_a_study_after_a_top_up_has_its_estimates(ws: Workspace) -> None:
    judged(ws, share=0.5)
    with_run(ws)
    top_up(ws, "p1", "p2", "p3", "p4")
    judged(ws, share=0.5)
    of_new = values(measure(ws), "trec", "nDCG")["new"]
    assert publish.write_browse_page(ws, partial=False).graded
    publish.write_report(ws)
    assert f"| {100 * of_new:.2f} [" in (ws.exports / "report.md").read_text(encoding="utf-8")
    losses, _ = evaluate.certificate(ws, tell=print)
    (late,) = (one for one in losses.losses if one.method == "new")
    assert late.alone == len(PAIRS)
    rows = [line.split("\t") for line in sample_files(read_snapshot(ws))["sample.tsv"].splitlines()[1:]]
    assert len(rows) == len(WHOLE) + len(PAIRS)
    assert status(ws).not_drawn == sum(not row[2] for row in rows)


def test_beside_pairs_that_were_planned_whole_a_sample_is_drawn_only_if_asked(ws: Workspace) -> None:
    make(ws, None, "p1-method", "p2-method")
    pilot = _planned(ws)
    with pytest.raises(InputError, match="120 pairs of whole pools are planned already") as error:
        make(ws, 0.3)
    assert error.value.hint == "keep them and draw only from the 120 other pairs with --only-new"
    dry = grow(ws, 0.3, only_new=True, dry_run=True)
    made = grow(ws, 0.3, only_new=True)
    assert made.pairs == dry.pairs
    kept = "120 of these were planned before there was a sample and count as drawn for certain"
    assert any(kept in note for note in made.notes)
    sample = on_record(ws)
    assert of_batch(sample, 0) == pilot
    assert {sample.pairs[pair].probability for pair in pilot} == {1.0}
    others = [one.probability for pair, one in sample.pairs.items() if pair not in pilot]
    assert sum(others) == pytest.approx(0.3 * 120, abs=1e-3)
    assert pilot < drawn(ws) == _planned(ws)
    assert check(ws).faults == ()
    # Again, raised, lowered.
    assert (grow(ws, 0.3, only_new=True).new, grow(ws).new, on_record(ws)) == (0, 0, sample)
    grow(ws, 0.6)
    assert drawn(ws) > _drawn(sample)
    assert of_batch(on_record(ws), 0) == pilot
    with pytest.raises(InputError, match=r"0.6 of the pools are drawn already"):
        grow(ws, 0.3)


def test_a_study_judged_whole_gives_the_same_figures_with_nothing_but_a_new_systems_finds_estimated(
    ws: Workspace,
) -> None:
    judged(ws, share=None)
    with_run(ws)
    whole = measure(ws)
    top_up(ws, "p1", "p2", "p3", "p4")
    judged(ws, share=0.5, only_new=True)
    found = measure(ws)
    assert whole.sampled is None
    assert values(whole, "csfcube", "P@20")["new"] == 0
    assert values(found, "csfcube", "P@20")["new"] == pytest.approx(TRUE_P20, abs=0.06)
    assert found.sampled is not None
    # `forward` ranks nothing of what is new, and its first twenty were all judged.
    assert values(found, "csfcube", "P@20")["forward"] == pytest.approx(values(whole, "csfcube", "P@20")["forward"])


def test_no_pair_leaves_a_pool_under_a_sample_and_no_query_one_over_the_study(tmp_path: Path) -> None:
    ws = pooled(tmp_path).replaced("sample", across="study")
    make(ws, 0.3)
    left_out = min(on_record(ws).pairs.keys() - drawn(ws))
    with ws.reading() as session:
        current = pools.read_pools(session)
    topic = left_out[0].removesuffix("-method")
    kept = tuple(entry for entry in current[topic].entries if entry.doc_id != left_out[1])
    smaller = current | {topic: replace(current[topic], entries=kept)}
    with ws.writing() as session, pytest.raises(InputError, match="1 pair of the sample would leave the pool") as error:
        pools.replace_pools(session, smaller.values(), rankings_sha256=dict.fromkeys(smaller, ""))
    assert error.value.faults == (" ".join(left_out),)
    before = on_record(ws).pairs
    plan.withdraw(ws, queries=("p1-method",), sent=False, dry_run=False)
    assert make(ws, None, "p2-method").new == 0
    assert on_record(ws).pairs == before
    with pytest.raises(InputError, match="p1-method: under a sample whose share is of all pools together"):
        remove(ws, "p1-method", sent=False, dry_run=False)


def test_a_query_leaves_a_sample_by_query_and_the_others_stay_as_they_are(ws: Workspace) -> None:
    make(ws, 0.3)
    before = on_record(ws).pairs
    plan.withdraw(ws, queries=("p1-method",), sent=False, dry_run=False)
    remove(ws, "p1-method", sent=False, dry_run=False)
    assert on_record(ws).pairs == {pair: one for pair, one in before.items() if pair[0] != "p1-method"}
    assert make(ws).new == 0
    assert check(ws).faults == ()


def _planned(ws: Workspace) -> set[tuple[str, str]]:
    with ws.reading() as session:
        return {one.pair for one in people.read_assignments(session)}


def _drawn(sample: PoolSample) -> set[tuple[str, str]]:
    return {pair for pair, one in sample.pairs.items() if one.drawn}


def test_where_all_is_planned_whole_there_is_nothing_to_draw_until_the_pools_grow(ws: Workspace) -> None:
    make(ws)
    with pytest.raises(InputError, match="240 pairs of whole pools are planned already") as error:
        make(ws, 0.3)
    assert "annot plan --withdraw" in str(error.value.hint)
    with pytest.raises(InputError, match="--only-new: all pairs of the pools are planned already"):
        grow(ws, 0.3, only_new=True)
    top_up(ws, "p1")
    made = grow(ws, 0.33, only_new=True)
    sample = on_record(ws)
    assert (len(of_batch(sample, 0)), len(of_batch(sample, 1))) == (240, 30)
    assert sum(one.probability for one in sample.pairs.values()) == pytest.approx(240 + 9.9, abs=1e-3)
    assert made.pairs == len(drawn(ws)) < 270


def test_a_new_version_gets_probabilities_of_its_own_and_the_earlier_one_keeps_its_estimates(ws: Workspace) -> None:
    judged(ws, share=0.3)
    before, then = on_record(ws).pairs, measure(ws)
    assert then.sampled is not None
    begin_version(ws, VersionWanted("2027", "2026", "snapshot of May"), changed=1, dry_run=False)
    with ws.writing() as session:
        grown = [with_new_documents(pool) for pool in pools.read_pools(session).values()]
        pools.replace_pools(session, grown, rankings_sha256={pool.topic_id: "abc" for pool in grown})
    judged(ws, share=None)
    after = on_record(ws)
    assert {pair: after.pairs[pair] for pair in before} == before
    assert of_batch(after, 2) == PAIRS
    assert sum(after.pairs[pair].probability for pair in PAIRS) == pytest.approx(0.3 * len(PAIRS), abs=1e-3)
    assert check(ws).faults == ()
    for file in sorted(ws.runs.glob("*.run")):
        write_file(ws.runs / "2026" / file.name, file.read_text(encoding="utf-8"))
    again, now = measure(ws, corpus="2026"), measure(ws)
    assert (again.lines, again.sampled) == (then.lines, then.sampled)
    assert now.sampled is not None
    assert now.sampled.pairs == then.sampled.pairs + len(PAIRS)
    # By version, each score is the estimate of its version, and documents alone make the difference.
    lines = {
        (corpus, line.run, line.facet): line
        for corpus, found in (("2026", then), ("2027", now))
        for line in found.lines
        if line.convention == now.convention
    }
    assert {row.corpus for row in now.by_version} == {"2026", "2027"}
    for row in now.by_version:
        line = lines[row.corpus, row.run, row.facet]
        assert (row.value, row.interval) == (line.values[now.measure], line.intervals[now.measure])
        if row.corpus == "2027":
            assert row.difference is not None
            before_it = lines["2026", row.run, row.facet].values[now.measure]
            assert row.difference.value == pytest.approx(row.value - before_it)
            assert (row.by_documents, row.by_queries and row.by_queries.value) == (row.difference, 0)


def test_scores_by_version_of_a_sample_that_is_everything_are_those_of_whole_pools(ws: Workspace) -> None:
    """The truth of each version is measured without a sample, by another way, on all pairs of its documents."""
    judged(ws, share=1.0)
    begin_version(ws, VersionWanted("2027", "2026", "snapshot of May"), changed=1, dry_run=False)
    with ws.writing() as session:
        grown = [with_new_documents(pool) for pool in pools.read_pools(session).values()]
        pools.replace_pools(session, grown, rankings_sha256={pool.topic_id: "abc" for pool in grown})
    judged(ws, share=None)
    for file in sorted(ws.runs.glob("*.run")):
        write_file(ws.runs / "2026" / file.name, file.read_text(encoding="utf-8"))
    both = (*WHOLE, *(Qrel(*pair, grade_of(*pair)) for pair in sorted(PAIRS)))
    truth = {
        (corpus, tag): plainly(run, qrels, convention="trec", relevant_from=2, ties="order").mean["nDCG"]
        for corpus, qrels in (("2026", WHOLE), ("2027", both))
        for tag, run in rankings().items()
    }
    found = measure(ws, convention="trec")
    rows = {(row.corpus, row.run): row for row in found.by_version}
    assert {key: row.value for key, row in rows.items()} == pytest.approx(truth)
    for tag in rankings():
        row = rows["2027", tag]
        assert row.difference is not None
        assert row.difference.value == pytest.approx(truth["2027", tag] - truth["2026", tag])


def test_no_document_under_a_sample_is_withdrawn_and_none_that_was_withdrawn_comes_under_it(ws: Workspace) -> None:
    make(ws, 0.3)
    how = {"reason": "retracted", "version": VersionWanted("2027", "2026"), "dry_run": False}
    with pytest.raises(InputError, match="1 document under the sample") as refused:
        withdraw(ws, ["d00"], **how)
    assert "annot plan --withdraw" in (refused.value.hint or "")
    with ws.reading() as session:
        assert pools.read_corpus_versions(session) == ()
    plan.withdraw(ws, queries=(), sent=False, dry_run=False)
    withdraw(ws, ["d00"], **how)
    judged(ws, share=1.0)
    rest = [qrel for qrel in WHOLE if qrel.doc_id != "d00"]
    assert {*on_record(ws).pairs} == {(qrel.query_id, qrel.doc_id) for qrel in rest}
    found = measure(ws)
    assert found.sampled is not None
    assert (found.sampled.drawn, found.sampled.pairs) == (len(rest), len(rest))
    for tag, run in rankings().items():
        whole = plainly(run, rest, convention="trec", relevant_from=2, ties="order").mean
        assert values(found, "trec", "nDCG")[tag] == pytest.approx(whole["nDCG"])
