"""Reusability on made studies whose truth is known, and against plain loops."""

import random
from collections.abc import Mapping, Sequence

import pytest
from annot.base.records import Addition, Draw, Pool, PoolEntry, Qrel, ScoredDoc, ranked
from annot.measuring.reusability import Loss, certify, finds_of, losses, verdict_of
from annot.pools.pooling import draw, extend
from annot.publishing.report.single_pages import terminal

Runs = dict[str, dict[str, tuple[ScoredDoc, ...]]]


def pool(paper: str, found: Mapping[str, Mapping[str, int]]) -> Pool:
    """found: by document, the rank at which each method had it."""
    entries = []
    for doc_id, ranks in found.items():
        draws = [Draw(method, rank, 1.0 / rank, None) for method, rank in ranks.items()]
        entries.append(PoolEntry(doc_id, draws[0], tuple(draws[1:])))
    methods = tuple(sorted({method for ranks in found.values() for method in ranks}))
    return Pool(paper, "blocks", None, None, 1, methods, (), (), None, tuple(entries))


def precision(qrels: Sequence[Qrel]):
    """Precision at 5, by plain loops."""
    relevant = {(one.query_id, one.doc_id) for one in qrels if one.relevance >= 2}
    queries = {one.query_id for one in qrels}

    def of(runs: Runs) -> dict[str, dict[str, float]]:
        return {
            tag: {
                query: sum((query, doc.doc_id) in relevant for doc in run.get(query, ())[:5]) / 5 for query in queries
            }
            for tag, run in runs.items()
        }

    return of


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


def rankings_of(pools: Mapping[str, Pool]) -> dict[str, Runs]:
    """What each method had, in its order."""
    found: dict[str, dict[str, list[tuple[int, str]]]] = {}
    for paper, one in pools.items():
        for entry in one.entries:
            for drawn in (entry.drawn, *entry.also):
                found.setdefault(drawn.method, {}).setdefault(paper, []).append((drawn.rank, entry.doc_id))
    return {
        method: run_of({paper: [doc for _, doc in sorted(docs)] for paper, docs in own.items()})
        for method, own in found.items()
    }


def lost(alone: int, **rankings: Runs) -> dict[str, Loss]:
    """rankings: other ones than those on record, by method."""
    _, qrels, pools, papers = study(alone=alone)
    of_methods = rankings_of(pools) | rankings
    how = {"relevant_from": 2, "tolerance": 0.05, "level": 0.95}
    return {one.method: one for one in losses(finds_of(pools), of_methods, qrels, papers, precision(qrels), **how)}


def test_a_method_loses_its_own_finds_and_nothing_else() -> None:
    found = lost(3)
    late, early = found["late"], found["early"]
    # Its five best are the relevant ones, of which it alone found three.
    assert (late.alone, late.alone_relevant, late.score, late.without) == (36, 36, 1.0, pytest.approx(0.4))
    assert (late.loss, late.rank, late.rank_without) == (pytest.approx(0.6), 1, 1)
    assert (early.alone, early.loss, early.place) == (0, 0.0, "below")


def test_a_method_that_loses_its_finds_falls_behind_others() -> None:
    better = run_of({f"p{at}": [f"p{at}r{n}" for n in (3, 4, 0)] for at in range(12)})
    found = lost(3, early=better)
    # Three of five against its two that others have, too.
    assert (found["late"].rank, found["late"].rank_without) == (1, 2)
    assert (found["early"].rank, found["early"].rank_without) == (2, 2)


def test_a_method_without_a_ranking_is_measured_by_the_best_order() -> None:
    _, qrels, pools, papers = study(alone=2)
    found = losses(finds_of(pools), {}, qrels, papers, precision(qrels), relevant_from=2, tolerance=0.05, level=0.95)
    late = next(one for one in found if one.method == "late")
    assert (late.ranked, late.rank, late.score, late.without) == (False, None, 1.0, pytest.approx(0.6))


def made_pool(seed: int, mode: str, methods: int = 4) -> tuple[Pool, dict[str, tuple[ScoredDoc, ...]]]:
    chance = random.Random(seed)
    docs = [f"d{at:02}" for at in range(40)]
    rankings = {
        f"m{at}": ranked(ScoredDoc(doc, chance.random() + (place < 12)) for place, doc in enumerate(docs))[:30]
        for at in range(methods)
    }
    return drawn_from(rankings, mode=mode, cited=["d01", "d30", "d39"]), rankings


def drawn_from(rankings: Mapping[str, tuple[ScoredDoc, ...]], *, mode: str, cited: Sequence[str] | None) -> Pool:
    return draw(
        rankings,
        topic_id="p",
        cited=cited,
        cited_outside=None if cited is None else 0,
        mode=mode,
        per_method=4,
        ranking_depth=30,
        seed=5,
        without=(),
        excluded=(),
    )


@pytest.mark.parametrize(("seed", "mode"), [(0, "round-robin"), (1, "blocks"), (2, "depth"), (3, "round-robin")])
def test_what_a_method_alone_brought_is_what_the_pool_drawn_without_it_lacks(seed: int, mode: str) -> None:
    drawn, rankings = made_pool(seed, mode)
    later, known = Addition(2, "late", 3, (), None, None, None), {"late": made_pool(seed + 99, mode)[1]["m0"]}
    pool = extend(drawn, later, known, excluded=())
    found = finds_of({"p": pool})
    for method in (*rankings, "cited"):
        left = {name: ranking for name, ranking in rankings.items() if name != method}
        without = drawn_from(left, mode=mode, cited=None if method == "cited" else ["d01", "d30", "d39"])
        without = extend(without, later, known, excluded=())
        lacking = {one.doc_id for one in pool.entries} - {one.doc_id for one in without.entries}
        assert found[method] == {("p", doc_id) for doc_id in lacking}
    assert found["late"] == {("p", doc_id) for addition in pool.additions for doc_id in addition.documents}


GIVEN = {**{"measure": "P@5", "loss_measure": "P@5", "relevant_from": 2, "tolerance": 0.05, "level": 0.95}}


def loss(method: str, of_papers: Sequence[float], *, methods: int = 2, tolerance: float = 0.05) -> Loss:
    """Of a method that has this loss on each paper, one query a paper."""
    qrels = [Qrel(f"p{at}-method", "d", 3) for at in range(len(of_papers))]
    finds = {
        name: frozenset((f"p{at}", "d") for at in range(len(of_papers))) for name in [method, *"xyz"[: methods - 1]]
    }
    values = {f"p{at}-method": value for at, value in enumerate(of_papers)}

    def score(runs):
        return {run: {query: (0.0 if run.endswith("unjudged") else values[query]) for query in values} for run in runs}

    papers = {query: query.partition("-")[0] for query in values}
    how = {"relevant_from": 2, "tolerance": tolerance, "level": 0.95}
    return next(one for one in losses(finds, {}, qrels, papers, score, **how) if one.method == method)


def test_a_loss_is_care_only_where_its_whole_interval_is_above_the_tolerance() -> None:
    above = loss("a", [0.2, 0.22, 0.18, 0.21, 0.19, 0.2])
    below = loss("b", [0.01, 0.02, 0.0, 0.01, 0.02, 0.0])
    unsure = loss("c", [0.3, 0.0, 0.0, 0.2, 0.0, 0.0])
    assert [one.place for one in (above, below, unsure)] == ["above", "below", "open"]
    assert verdict_of([above, unsure, below], tolerance=0.05) == ("care", None)
    assert verdict_of([below, below], tolerance=0.05) == ("fair", None)
    assert verdict_of([unsure, below], tolerance=0.05) == ("unknown", unsure.papers_needed)
    assert verdict_of([below], tolerance=0.05)[0] == "unknown"


def test_three_papers_tell_nothing() -> None:
    assert loss("a", [0.4, 0.5, 0.45]).place == "open"
    assert loss("a", [0.0, 0.0, 0.0]).place == "open"
    assert loss("a", [0.0, 0.0, 0.0, 0.0]).place == "below"


def test_where_one_method_found_it_alone_the_verdict_names_it() -> None:
    runs, qrels, pools, papers = study(alone=3)
    # One find less in the first four papers, so that the losses differ.
    qrels = [one._replace(relevance=0) if one.doc_id in {"p0r0", "p1r0", "p2r1", "p3r2"} else one for one in qrels]
    found = certify(*(runs, qrels, pools, rankings_of(pools), papers, *[precision(qrels)] * 2), **GIVEN)
    told = terminal(found)[0]
    assert found.verdict == "care"
    assert "only with care: the papers that late alone found would be missed" in told.splitlines()[0]
    assert "A loss of 5 points of 100 is tolerated" in told


def test_a_run_that_is_hardly_judged_is_named_and_lies_between_its_bounds() -> None:
    runs, qrels, pools, papers = study(alone=0)
    runs["new"] = run_of(
        {query: [f"{query}u0", f"{papers[query]}r0", f"{query}u1", f"{papers[query]}r1"] for query in papers}
    )
    found = certify(*(runs, qrels, pools, rankings_of(pools), papers, *[precision(qrels)] * 2), **GIVEN)
    new = next(run for run in found.runs if run.run == "new")
    assert (new.judged_at_20, new.as_it_is, new.condensed) == (0.5, 0.4, 0.4)
    assert not new.pooled
    assert "Less than 95% of the first 20 papers of new are judged" in terminal(found)[0]
