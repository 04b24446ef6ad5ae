"""Which runs a model favours: every exchange of like opinions counted, figures of ir_measures, and rules by hand."""

from dataclasses import replace
from itertools import permutations, product

import ir_measures
import numpy as np
import pytest
from annot.base.stats.values import Undefined
from annot.measuring.evaluation.measures import family_of
from annot_opinions import self_preference as module
from annot_opinions.self_preference import Favour, FavourRule, OpinedPair, RankedPairs, RunUnderOpinion, favour
from scipy import stats

FAMILY = family_of("trec", "nDCG")
assert FAMILY is not None
RULE = FavourRule("nDCG", *FAMILY, least=0.0, tolerance=0.1, level=0.95, permutations=200, seed=1)


def small(seed: int, *, queries: int = 6, documents: int = 9, runs: int = 2):
    """Pairs, and runs that rank all documents of each query."""
    rng = np.random.default_rng(seed)
    names = [f"d{at}" for at in range(documents)]
    pairs = [
        OpinedPair(f"q{query}", name, int(rng.integers(3)), int(rng.integers(4)), 1.0, int(rng.integers(50, 300)))
        for query in range(queries)
        for name in names
    ]
    ranked = {
        f"r{run}": {f"q{query}": tuple(rng.permutation(names).tolist()) for query in range(queries)}
        for run in range(runs)
    }
    return pairs, ranked


def ndcg(run: dict[str, tuple[str, ...]], grades: dict[tuple[str, str], int], measure: str) -> dict[str, float]:
    scored = [
        ir_measures.ScoredDoc(query, doc, float(len(docs) - at))
        for query, docs in run.items()
        for at, doc in enumerate(docs)
    ]
    qrels = [ir_measures.Qrel(*pair, grade) for pair, grade in grades.items()]
    return {
        one.query_id: one.value for one in ir_measures.iter_calc([ir_measures.parse_measure(measure)], qrels, scored)
    }


@pytest.mark.parametrize("measure", ["nDCG@5"])
def test_plain_means_are_those_of_ir_measures(measure: str) -> None:
    pairs, runs = small(1, runs=4)
    runs["r3"] = {query: docs[4:] for query, docs in runs["r3"].items()}
    family = family_of("trec", measure)
    assert family is not None
    found = favour(
        pairs,
        runs,
        FavourRule(measure, *family, least=0.0, tolerance=0.1, level=0.95, permutations=9, seed=1),
        topics=None,
    )
    assert isinstance(found, Favour)
    for one in found.runs:
        for mean, grades in (
            (one.by_people, {pair[:2]: pair.final for pair in pairs}),
            (one.by_model, {pair[:2]: pair.opinion for pair in pairs}),
        ):
            assert mean == pytest.approx(np.mean([*ndcg(runs[one.run], grades, measure).values()]))
        assert one.gain == pytest.approx(one.explained + one.beyond)
    assert [one.by_people for one in found.runs] == sorted((one.by_people for one in found.runs), reverse=True)


def test_what_is_beyond_is_the_difference_to_the_mean_over_all_exchanges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query on its own, each group of like pairs in every order: NDCG by ir_measures, its mean taken by a loop."""
    monkeypatch.setattr(module, "ALIKE", 3)
    pairs, runs = small(2)
    found = favour(pairs, runs, RULE, topics=None)
    ranked = RankedPairs(pairs, runs, RULE, topics=None)
    opinion = np.array([pair.opinion for pair in pairs], dtype=float)
    left = {}
    for row, (tag, run) in enumerate(runs.items()):
        alike = ranked.alike(row, opinion)
        of_queries = []
        for query in run:
            own = [at for at, pair in enumerate(pairs) if pair.query_id == query]
            groups = [[at for at in own if alike[at] == group] for group in sorted({alike[at] for at in own})]
            assert max(map(len, groups)) > 1
            values = []
            for orders in product(*(permutations(group) for group in groups)):
                exchanged = {
                    pairs[to][:2]: pairs[at].opinion
                    for group, order in zip(groups, orders, strict=True)
                    for to, at in zip(group, order, strict=True)
                }
                values.append(_value(run[query], {doc: grade for (_, doc), grade in exchanged.items()}))
            observed = _value(run[query], {pairs[at].doc_id: pairs[at].opinion for at in own})
            of_queries.append(observed - np.mean(values))
        left[tag] = np.mean(of_queries)
    assert isinstance(found, Favour)
    beyond = {one.run: one.beyond for one in found.runs}
    assert beyond["r0"] == pytest.approx(left["r0"] - left["r1"])
    assert beyond["r1"] == pytest.approx(left["r1"] - left["r0"])


def _value(docs: tuple[str, ...], grades: dict[str, int]) -> float:
    def dcg(of: list[int]) -> float:
        return sum(grade / np.log2(rank + 1) for rank, grade in enumerate(of, start=1))

    return dcg([grades[doc] for doc in docs]) / dcg(sorted(grades.values(), reverse=True))


def test_only_pairs_of_one_query_and_one_final_grade_are_alike() -> None:
    pairs, runs = small(3, queries=8, documents=60, runs=3)
    ranked = RankedPairs(pairs, runs, RULE, topics=None)
    groups = ranked.alike(0, np.array([pair.opinion for pair in pairs], dtype=float))
    members: dict[int, list[OpinedPair]] = {}
    for pair, group in zip(pairs, groups.tolist(), strict=True):
        members.setdefault(group, []).append(pair)
    for own in members.values():
        assert len({(pair.query_id, pair.final) for pair in own}) == 1
    assert 5 <= np.median([len(own) for own in members.values()]) <= 11


def test_what_is_expected_bends_with_the_square_of_the_distance_to_the_mean() -> None:
    assert [of.tolist() for of in module._curved(np.array([1.0, 2.0, 6.0]))] == [[1, 2, 6], [4, 1, 9]]


def test_a_run_does_not_say_which_pairs_are_alike_for_it() -> None:
    """Its own order moves nothing in its groups, so that what it shares with the judge cannot be taken out."""
    pairs, runs = small(4, runs=3, documents=40)
    turned = runs | {"r0": {query: docs[::-1] for query, docs in runs["r0"].items()}}
    opinion = np.array([pair.opinion for pair in pairs], dtype=float)
    first, second = (RankedPairs(pairs, of, RULE, topics=None) for of in (runs, turned))
    assert first.alike(0, opinion).tolist() == second.alike(0, opinion).tolist()
    assert first.alike(1, opinion).tolist() != second.alike(1, opinion).tolist()


def test_a_weighted_pair_takes_as_many_ranks_of_the_ideal_as_it_stands_for() -> None:
    """Two pairs of weight 2: the ideal has grade 2 at ranks 1 and 2 and grade 1 at ranks 3 and 4."""
    pairs = [
        OpinedPair(f"q{at}", doc, grade, grade, 2.0, 100) for at in range(6) for doc, grade in (("a", 1), ("b", 2))
    ]
    runs = {
        "good": {f"q{at}": ("b", "x", "a", "y") for at in range(6)},
        "bad": {f"q{at}": ("a", "b") for at in range(6)},
    }
    found = favour(pairs, runs, RULE, topics=None)
    assert isinstance(found, Favour)
    discount = [1 / np.log2(rank + 1) for rank in range(1, 5)]
    ideal = 2 * discount[0] + 2 * discount[1] + discount[2] + discount[3]
    assert {one.run: one.by_people for one in found.runs} == pytest.approx(
        {"good": 2 * (2 * discount[0] + discount[2]) / ideal, "bad": 2 * (discount[0] + 2 * discount[1]) / ideal}
    )


def test_a_gain_has_to_be_shown_to_be_above_the_least() -> None:
    """Run a has the liked documents on top in each of twelve queries, with the same final grades as the others."""
    rng = np.random.default_rng(6)
    names = [f"d{at:02}" for at in range(24)]
    pairs, runs = [], {tag: {} for tag in ("a", "b", "c")}
    for at in range(12):
        liked = {*rng.choice(names, 6, replace=False).tolist()}
        pairs += [OpinedPair(f"q{at}", name, 1, 1 + (name in liked), 1.0, 100) for name in names]
        for tag, run in runs.items():
            order = rng.permutation(names).tolist()
            run[f"q{at}"] = tuple(sorted(order, key=lambda name: name not in liked) if tag == "a" else order)
    gain = {}
    for least in (0.0, 0.02, 0.5):
        found = favour(pairs, runs, replace(RULE, least=least), topics=None)
        assert isinstance(found, Favour)
        gain[least] = found.gaining, {one.run: one.beyond for one in found.runs}["a"]
    assert gain[0.0][0] == gain[0.02][0] == ("a",)
    assert gain[0.5][0] == ()
    assert 0.02 < gain[0.0][1] < 0.5


def test_the_runs_that_gain_or_lose_most_are_named_first() -> None:
    def run(name: str, beyond: float) -> RunUnderOpinion:
        verdicts = {"gains": beyond > 0.1, "suspected": beyond == 0.1, "loses": beyond < -0.1}
        return RunUnderOpinion(*(name, 0.5, 0.5, beyond, Undefined("made up"), 0.0, 0.0), **verdicts)

    sizes = {"a": 0.2, "b": 0.0, "c": 0.3, "d": -0.2, "e": -0.4, "f": 0.1}
    found = Favour("nDCG", 0.0, 0.1, 6, 0.05, 6, tuple(run(*of) for of in sizes.items()))
    assert found.gaining == ("c", "a")
    assert found.suspected == ("f",)
    assert found.losing == ("e", "d")
    assert not found.none
    assert replace(found, runs=found.runs[1:2]).none
    assert not replace(found, runs=found.runs[1:2], visible=0.11).none
    assert not replace(found, runs=found.runs[-1:]).none


def test_fewer_than_six_topics_show_no_favour_of_any_size_and_say_how_many_would() -> None:
    pairs, runs = small(7)
    found = favour(pairs, runs, replace(RULE, tolerance=0.5), topics={f"q{at}": f"t{at // 2}" for at in range(6)})
    assert isinstance(found, Favour)
    assert found.n_topics == 3
    assert found.visible is None
    assert not found.none
    assert found.topics_needed is not None
    assert found.topics_needed >= 6


def test_a_favour_of_the_size_called_visible_is_found_in_80_of_100_studies() -> None:
    """Normal rests of runs with unequal spread: the favour is given to each run in turn, and counted how often found.

    The critical t is that of the noncentral formula's own premise: independent of the study's signs.
    """
    spreads, n, level, rng = np.array([0.03, 0.05, 0.08]), 15, 0.95, np.random.default_rng(5)
    critical = float(stats.t.ppf(1 - (1 - level) / 6, n - 1))
    runs = [RunUnderOpinion(f"r{at}", 0, 0, 0, Undefined(""), 1, 1, False, False, False) for at in range(3)]
    rule = replace(RULE, least=0.015, tolerance=0.06)
    visible, _ = module._visible(runs, spreads, n, critical, rule)
    assert visible is not None
    hits = []
    for spread in spreads:
        rests = visible - rule.least + spread * rng.standard_normal((20_000, n))
        t = rests.mean(axis=1) / rests.std(axis=1, ddof=1) * np.sqrt(n)
        hits.append((t > critical).mean())
    assert np.mean(hits) == pytest.approx(0.8, abs=0.01)
    assert hits[0] > 0.95
    # And the number of topics at which that favour is visible is the number there is.
    assert module._visible(runs, spreads, n, critical, replace(rule, tolerance=visible))[1] == n
    assert module._visible(runs, spreads, n, critical, replace(rule, tolerance=visible - 0.002))[1] > n
