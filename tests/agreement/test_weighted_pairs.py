"""Agreement of a pool of which a sample was judged: each pair stands for 1 / pi pairs."""

import itertools

import numpy as np
import pytest
from annot.base.records import Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.agreement.coefficients import COEFFICIENTS, count, tables_between, tables_with, value_between
from annot.measuring.agreement.estimates import AgreementTable, agreement_table, effective_pairs

GRADES = (0, 1, 2, 3)
NAN = float("nan")
Pairs = dict[tuple[str, str], float]


def study(pairs: int = 30) -> tuple[list[Judgement], list[Decision], dict[str, str]]:
    rng = np.random.default_rng(4)
    judgements, decisions = [], []
    for query in ("p-aim", "p-means", "q-aim", "r-means", "s-aim"):
        for at in range(pairs):
            first = int(rng.integers(0, 4))
            second = first if rng.random() < 0.6 else int(rng.integers(0, 4))
            people = ("a1", "a2") if at % 5 else ("a1", "a3")
            graded = zip(people, (first, second), strict=True)
            judgements += [Judgement(query, f"d{at}", person, grade) for person, grade in graded]
            decisions.append(Decision(query, f"d{at}", first, "agreed" if first == second else "adjudicated"))
    return (
        judgements,
        decisions,
        {name: name.split("-")[1] for name in ("p-aim", "p-means", "q-aim", "r-means", "s-aim")},
    )


def table_of(weights: Pairs | None, pairs: int = 30) -> AgreementTable:
    judgements, decisions, facets = study(pairs)
    topics = {query_id: query_id.split("-")[0] for query_id in facets}
    return agreement_table(
        judgements, decisions, facets,
        grades=GRADES, missing="drop", binarised_at=None, level=0.95, topics=topics, weights=weights,
    )  # fmt: skip


def test_weights_of_one_change_nothing() -> None:
    whole = table_of(None)
    assert whole == table_of({(query.query_id, f"d{at}"): 1.0 for query in whole.queries for at in range(30)})


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("people", [2, 3])
def test_a_pair_of_weight_three_counts_as_three_pairs_of_the_same_grades(name: str, people: int) -> None:
    rng = np.random.default_rng(people)
    ratings = rng.integers(0, 4, (people, 24)).astype(np.float64)
    ratings[-1] = np.where(rng.random(24) < 0.6, ratings[0], ratings[-1])
    if people == 3:
        ratings[0, :6], ratings[1, 6:9] = NAN, NAN
    times = rng.integers(1, 4, 24)
    repeated = np.repeat(ratings, times, axis=1)
    weights = times.astype(np.float64)
    found, met = count(ratings, GRADES, weights), tables_between(ratings, GRADES, weights)[1]
    expected = value_between(name, count(repeated, GRADES), tables_between(repeated, GRADES)[1], GRADES)
    assert isinstance(expected, float)
    assert value_between(name, found, met, GRADES) == pytest.approx(expected, abs=1e-12)
    # A weight need not be a whole number.
    halves = value_between(
        name, count(ratings, GRADES, weights + 0.5), tables_between(ratings, GRADES, weights + 0.5)[1], GRADES
    )
    assert isinstance(halves, float)
    assert halves != expected


def test_over_all_draws_the_weighted_counts_are_those_of_the_pool() -> None:
    ratings = np.array([[0.0, 1, 2, 3, 0, 1], [0, 2, 2, NAN, 1, 1], [NAN, 1, 3, 3, 0, 0]])
    final, pi = np.array([0.0, 1, 2, 3, 0, 1]), np.array([1.0, 0.9, 0.5, 0.4, 0.3, 0.2])
    counts = [np.zeros_like(part) for part in count(ratings, GRADES)]
    with_final = np.zeros((3, 4, 4))
    for there in itertools.product((True, False), repeat=6):
        at = np.array(there)
        chance = np.prod(np.where(at, pi, 1 - pi))
        drawn = count(ratings[:, at], GRADES, 1 / pi[at])
        counts = [total + chance * part for total, part in zip(counts, drawn, strict=True)]
        with_final += chance * tables_with(ratings[:, at], final[at], GRADES, 1 / pi[at])
    for total, part in zip(counts, count(ratings, GRADES), strict=True):
        assert total == pytest.approx(part, abs=1e-12)
    assert with_final == pytest.approx(tables_with(ratings, final, GRADES), abs=1e-12)


def test_a_query_whose_pairs_are_worth_too_few_counts_in_the_pooled_figure_only() -> None:
    weights = {(query.query_id, f"d{at}"): 2.0 for query in table_of(None).queries for at in range(30)}
    weights |= {("q-aim", f"d{at}"): 40.0 if at == 3 else 1.0 for at in range(30)}
    assert effective_pairs(np.array([40.0] + 29 * [1.0])) == pytest.approx(69**2 / 1629)
    found = table_of(weights)
    thin = next(query for query in found.queries if query.query_id == "q-aim")
    for value in (thin.before["kappa"], thin.after["kappa"]):
        assert isinstance(value, Undefined)
        assert "its 30 sampled pairs are worth 3" in value.reason
    together = found.groups[-1].before["kappa"]
    assert (together.n_queries, together.n_undefined, together.n_pairs_pooled) == (4, 1, 150)
    assert found.too_thin == 1
    without = {pair: weight for pair, weight in weights.items() if pair[0] != "q-aim"} | {
        ("q-aim", f"d{at}"): 1e-9 for at in range(30)
    }
    assert table_of(without).groups[-1].before["kappa"].pooled != pytest.approx(together.pooled, abs=1e-3)
