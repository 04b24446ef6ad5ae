"""Reusability on made studies whose truth is known, against plain loops, and on noise alone."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import mean

import pytest
from annot.records import Draw, Pool, PoolEntry, Qrel, ScoredDoc
from annot.reusability.certificate import certify
from annot.reusability.halves import BOUNDS, HALVINGS, split_halves
from annot.reusability.reductions import reductions
from annot.reusability.scoring import standing
from annot.stats.seeding import generator
from scipy.stats import kendalltau

Runs = dict[str, dict[str, tuple[ScoredDoc, ...]]]


def pool(paper: str, found: Mapping[str, Mapping[str, int]]) -> Pool:
    """found: by document, the rank at which each method had it."""
    entries = []
    for doc_id, ranks in found.items():
        draws = [Draw(method, rank, 1.0 / rank, None) for method, rank in ranks.items()]
        entries.append(PoolEntry(doc_id, draws[0], tuple(draws[1:])))
    methods = tuple(sorted({method for ranks in found.values() for method in ranks}))
    return Pool(paper, "blocks", None, None, 1, methods, (), (), None, tuple(entries))


def precision(runs: Runs):
    """Precision at 5, by plain loops."""

    def under(qrels: Sequence[Qrel]) -> dict[str, dict[str, float]]:
        relevant = {(one.query_id, one.doc_id) for one in qrels if one.relevance >= 2}
        queries = {one.query_id for one in qrels}
        return {
            tag: {
                query: sum((query, doc.doc_id) in relevant for doc in run.get(query, ())[:5]) / 5 for query in queries
            }
            for tag, run in runs.items()
        }

    return under


def run_of(order: Mapping[str, Sequence[str]]) -> dict[str, tuple[ScoredDoc, ...]]:
    return {query: tuple(ScoredDoc(doc, -at) for at, doc in enumerate(docs)) for query, docs in order.items()}


def study(*, alone: int, papers: int = 12) -> tuple[Runs, list[Qrel], dict[str, Pool], dict[str, str]]:
    """Three methods; `late` alone finds `alone` of five relevant papers of each query, and its run puts them first."""
    chance = random.Random(3)
    runs: dict[str, dict[str, list[str]]] = {name: {} for name in ("late", "early", "middling")}
    qrels, pools, of = [], {}, {}
    for paper in (f"p{at}" for at in range(papers)):
        query = f"{paper}-method"
        of[query] = paper
        relevant = [f"{paper}r{at}" for at in range(5)]
        others = [f"{paper}x{at}" for at in range(15)]
        found = {}
        for at, doc in enumerate([*relevant, *others], 1):
            found[doc] = {"late": at} if doc in relevant[:alone] else {"early": at, "late": at, "middling": at}
        pools[paper] = pool(paper, found)
        qrels += [Qrel(query, doc, 3 if doc in relevant else 0) for doc in found]
        runs["late"][query] = [*relevant, *others]
        chance.shuffle(others)
        runs["early"][query] = [*relevant[alone:], *others[:1], *relevant[:alone], *others[1:]]
        runs["middling"][query] = [
            *relevant[alone:][:2],
            *others[:6],
            *relevant[:alone],
            *relevant[alone:][2:],
            *others[6:],
        ]
    return {name: run_of(order) for name, order in runs.items()}, qrels, pools, of


def test_a_method_that_alone_found_what_counts_is_shown_to_be_needed() -> None:
    runs, qrels, pools, papers = study(alone=3)
    found = {one.name: one for one in reductions(pools, qrels, papers, precision(runs), relevant_from=2, seed=1)[0]}
    late = found["late"]
    assert (late.lost, late.lost_relevant) == (12 * 3, 12 * 3)
    before, after = (
        {tag: mean(values.values()) for tag, values in precision(runs)(left).items()}
        for left in (qrels, [one for one in qrels if int(one.doc_id[-1]) > 2 or "x" in one.doc_id])
    )
    assert {change.run: change.before for change in late.changes} == pytest.approx(before)
    assert {change.run: change.after for change in late.changes} == pytest.approx(after)
    assert {(change.run, change.rank_before, change.rank_after) for change in late.changes} >= {("late", 1, 1)}
    assert (found["early"].lost, found["early"].kept) == (0, found["early"].significant)


def certified(alone: int, **changed: object):
    runs, qrels, pools, papers = study(alone=alone)
    given = {"measure": "P@5", "relevant_from": 2, "assessor_tau": None, "seed": 1}
    return certify(runs, qrels, pools, papers, precision, **{**given, **changed})


def test_where_all_find_the_same_the_verdict_is_fair() -> None:
    found = certified(0)
    assert (found.verdict, found.reasons) == ("fair", ())
    assert {one.tau for one in found.methods} == {1.0}


def test_where_one_method_found_it_alone_the_verdict_is_care() -> None:
    assert certified(5).verdict == "care"
    assert "order" in certified(5).reasons


def test_a_run_that_is_hardly_judged_is_named_and_lies_between_its_bounds() -> None:
    runs, qrels, pools, papers = study(alone=0)
    runs["new"] = run_of(
        {query: [f"{query}u0", f"{papers[query]}r0", f"{query}u1", f"{papers[query]}r1"] for query in papers}
    )
    found = certify(runs, qrels, pools, papers, precision, measure="P@5", relevant_from=2, assessor_tau=None, seed=1)
    assert found.reasons == ("unjudged",)
    new = next(run for run in found.runs if run.run == "new")
    assert (new.judged_at_20, new.as_it_is, new.condensed) == (0.5, 0.4, 0.4)
    assert not new.pooled


def test_runs_that_do_not_differ_certify_nothing() -> None:
    runs, qrels, pools, papers = study(alone=0)
    same = dict.fromkeys(("one", "two", "three"), runs["early"])
    found = certify(same, qrels, pools, papers, precision, measure="P@5", relevant_from=2, assessor_tau=None, seed=1)
    assert found.verdict == "unknown"
    assert "no differences" in found.reasons


def test_two_runs_or_one_method_tell_nothing() -> None:
    runs, qrels, pools, papers = study(alone=0)
    del runs["late"]
    few = certify(runs, qrels, pools, papers, precision, measure="P@5", relevant_from=2, assessor_tau=None, seed=1)
    assert (few.verdict, few.reasons) == ("unknown", ("few runs",))


def test_depths_keep_what_some_method_has_high_enough() -> None:
    runs, qrels, pools, papers = study(alone=2)
    found = {one.name: one for one in reductions(pools, qrels, papers, precision(runs), relevant_from=2, seed=1)[1]}
    assert sorted(found, key=int) == ["5", "10", "15"]
    assert {name: one.lost for name, one in found.items()} == {"5": 12 * 15, "10": 12 * 10, "15": 12 * 5}
    assert {one.lost_relevant for one in found.values()} == {0}


def test_a_cited_paper_has_no_depth_and_stays() -> None:
    runs, qrels, pools, papers = study(alone=0)
    cited = {
        paper: replace(
            one, entries=tuple(PoolEntry(entry.doc_id, Draw("cited", None, None, 1)) for entry in one.entries)
        )
        for paper, one in pools.items()
    }
    assert not reductions(cited, qrels, papers, precision(runs), relevant_from=2, seed=1)[1]


def values(effects: Sequence[float], *, papers: int, noise: float, seed: int) -> dict[str, dict[str, float]]:
    chance = random.Random(seed)
    hard = [chance.uniform(0.2, 0.8) for _ in range(papers)]
    return {
        f"run{at}": {f"q{paper}": hard[paper] + effect + chance.gauss(0, noise) for paper in range(papers)}
        for at, effect in enumerate(effects)
    }


def test_halves_are_what_plain_loops_make_of_the_same_halvings() -> None:
    papers = {f"q{at}": f"p{at:02}" for at in range(11)}
    whole = standing(values((0.0, 0.02, 0.1), papers=11, noise=0.1, seed=4), papers)
    found = split_halves(whole, seed=9)
    assert found is not None
    draw = generator(9, "halves")
    taus, sizes = [], []
    for _ in range(HALVINGS):
        order = draw.permutation(11)
        first, second = ([mean(row[at] for at in half) for row in whole.by_paper] for half in (order[:5], order[5:10]))
        taus.append(kendalltau(first, second).statistic)
        sizes += [
            (abs(first[a] - first[b]), (first[a] - first[b]) * (second[a] - second[b]) < 0)
            for a, b in itertools.combinations(range(3), 2)
        ]
    assert found.papers == 5
    assert found.tau == pytest.approx(mean(taus))
    by_bin = {
        least: [turned for size, turned in sizes if least <= size < below]
        for least, below in itertools.pairwise(BOUNDS)
    }
    assert {one.least: (one.differences, one.swapped) for one in found.swaps} == {
        least: (len(turned), sum(turned)) for least, turned in by_bin.items() if turned
    }


def test_runs_that_do_not_differ_turn_round_half_of_the_time() -> None:
    """The null: a half's difference is the whole's plus or minus as much again, so half of them turn round.

    Ninety independent differences: three standard errors are 0.11.
    """
    swapped = differences = 0
    taus = []
    for seed in range(30):
        papers = {f"q{at}": f"p{at:02}" for at in range(20)}
        found = split_halves(standing(values((0.0,) * 4, papers=20, noise=0.1, seed=seed), papers), seed=seed)
        assert found is not None
        swapped += sum(one.swapped for one in found.swaps)
        differences += sum(one.differences for one in found.swaps)
        taus.append(found.tau)
    assert 0.39 < swapped / differences < 0.61
    assert abs(mean(taus)) < 0.22


def test_halves_need_four_papers_and_two_runs() -> None:
    papers = {f"q{at}": f"p{at}" for at in range(3)}
    assert split_halves(standing(values((0.0, 0.1), papers=3, noise=0.1, seed=1), papers), seed=1) is None
    papers = {f"q{at}": f"p{at}" for at in range(8)}
    assert split_halves(standing(values((0.0,), papers=8, noise=0.1, seed=1), papers), seed=1) is None


@pytest.mark.parametrize("seed", range(3))
def test_significant_differences_of_equal_runs_are_rare(seed: int) -> None:
    """Holm's correction keeps the chance of any finding among six pairs at 5%: of 60 studies at most 8 (p = 0.007)."""
    papers = {f"q{at}": f"p{at:02}" for at in range(14)}
    found = [
        standing(values((0.0,) * 4, papers=14, noise=0.1, seed=100 * seed + at), papers).better(seed=1)
        for at in range(60)
    ]
    assert sum(map(bool, found)) <= 8


def test_facets_of_one_paper_count_as_one() -> None:
    papers = {"a-method": "a", "a-result": "a", "b-method": "b"}
    one = standing({"r": {"a-method": 0.0, "a-result": 1.0, "b-method": 1.0}, "s": dict.fromkeys(papers, 0.5)}, papers)
    assert one.by_paper.shape == (2, 2)
    # As `annot evaluate` has it: the mean over the three queries.
    assert one.means.tolist() == pytest.approx([2 / 3, 0.5])
    # Better in one facet of a paper and worse in the other by as much: no difference of that paper.
    assert one.by_paper[0, 0] == pytest.approx(2 / 3)
