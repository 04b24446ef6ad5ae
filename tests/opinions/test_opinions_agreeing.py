"""Agreement of an opinion: scikit-learn and the krippendorff package, weights as copies, the jackknife by hand."""

import krippendorff
import numpy as np
import pytest
from annot.base.stats.inference import jackknife_interval
from annot.measuring.agreement.estimates import QueryRatings
from annot_opinions.label_quality import (
    EACH,
    FINAL,
    PEOPLE,
    Scale,
    agreements,
    behind_people,
    with_itself,
)
from sklearn.metrics import cohen_kappa_score

SCALE = Scale((0, 1, 2, 3), relevant_from=2, level=0.95, topics=None)
FACETS = ("method", "result")


def study(seed: int, *, weights: bool = False) -> tuple[list[QueryRatings], dict[tuple[str, str], int]]:
    """Ten queries of two facets; of three people two judge each query; some grades are missing."""
    rng = np.random.default_rng(seed)
    queries, opinion = [], {}
    for at in range(10):
        hidden = rng.choice(4, size=16, p=[0.4, 0.3, 0.2, 0.1]).astype(float)
        ratings = np.stack([np.clip(hidden + rng.integers(-1, 2, size=16), 0, 3) for _ in range(2)])
        ratings[rng.random(ratings.shape) < 0.1] = np.nan
        documents = tuple(f"d{place:02}" for place in range(16))
        queries.append(
            QueryRatings(
                *(f"q{at}", FACETS[at % 2], (("a", "b"), ("b", "c"), ("a", "c"))[at % 3], documents),
                ratings=ratings,
                asked=np.ones(ratings.shape, dtype=bool),
                final=np.where(rng.random(16) < 0.1, np.nan, hidden),
                ended=np.zeros(16, dtype=bool),
                weights=np.where(weights & (np.arange(16) % 4 == 0), 3.0, 1.0),
            )
        )
        said = np.clip(hidden + rng.integers(-1, 2, size=16), 0, 3)
        opinion |= {
            (f"q{at}", doc_id): int(grade) for doc_id, grade in zip(documents, said, strict=True) if rng.random() < 0.95
        }
    return queries, opinion


def both(queries, opinion, whom: str, facet: str | None = None) -> np.ndarray:
    """The grades of one row and of the opinion on the pairs that both graded, by plain loops."""
    found = []
    for query in queries:
        if facet not in (None, query.facet):
            continue
        given = {FINAL: query.final} | dict(zip(query.assessors, query.ratings, strict=True))
        for place, doc_id in enumerate(query.doc_ids):
            if whom in given and not np.isnan(given[whom][place]) and (query.query_id, doc_id) in opinion:
                found.append((given[whom][place], opinion[query.query_id, doc_id]))
    return np.array(found).T


def rows_of(queries, opinion, scale: Scale = SCALE):
    return {(one.whom, one.facet, one.binarised_at): one.between for one in agreements(queries, opinion, scale)}


@pytest.mark.parametrize("whom", [FINAL, "a", "b", "c"])
def test_figures_are_those_of_other_libraries(whom: str) -> None:
    queries, opinion = study(1)
    rows = rows_of(queries, opinion)
    for facet in (*FACETS, None):
        first, second = both(queries, opinion, whom, facet)
        found = rows[whom, facet or "together", None]
        assert found.n_pairs == len(first)
        figures = {name: one.value for name, one in found.figures.items()}
        assert figures == pytest.approx(
            {
                "percent": 100 * float((first == second).mean()),
                "kappa": cohen_kappa_score(first, second),
                "kappa_linear": cohen_kappa_score(first, second, weights="linear"),
                "alpha_ordinal": krippendorff.alpha(
                    [first, second], value_domain=SCALE.grades, level_of_measurement="ordinal"
                ),
            }
        )
        in_two = rows[whom, facet or "together", 2].figures
        assert in_two.keys() == {"percent", "kappa", "alpha_ordinal"}
        assert in_two["kappa"].value == pytest.approx(cohen_kappa_score(first >= 2, second >= 2))


def test_people_with_each_other_are_compared_on_the_pairs_that_have_an_opinion() -> None:
    queries, opinion = study(2)
    ratings = np.full((3, 0), np.nan)
    twos = []
    for query in queries:
        for place, doc_id in enumerate(query.doc_ids):
            column = np.full((3, 1), np.nan)
            for assessor, row in zip(query.assessors, query.ratings, strict=True):
                column["abc".index(assessor)] = row[place]
            if (query.query_id, doc_id) in opinion and not np.isnan(query.ratings[:, place]).any():
                ratings = np.concatenate([ratings, column], axis=1)
                twos += [(grade, opinion[query.query_id, doc_id]) for grade in query.ratings[:, place]]
    rows = rows_of(queries, opinion)
    assert rows[PEOPLE, "together", None].n_pairs == ratings.shape[1]
    people = krippendorff.alpha(ratings, value_domain=SCALE.grades, level_of_measurement="ordinal")
    each = krippendorff.alpha(np.array(twos).T, value_domain=SCALE.grades, level_of_measurement="ordinal")
    assert rows[PEOPLE, "together", None].figures["alpha_ordinal"].value == pytest.approx(people)
    assert rows[EACH, "together", None].figures["alpha_ordinal"].value == pytest.approx(each)
    assert behind_people(queries, opinion, SCALE).value == pytest.approx(each - people)


def test_the_interval_of_the_difference_leaves_out_whole_topics() -> None:
    queries, opinion = study(3)
    topics = {query.query_id: f"p{at // 2}" for at, query in enumerate(queries)}
    found = behind_people(queries, opinion, Scale((0, 1, 2, 3), relevant_from=2, level=0.9, topics=topics))
    without = [
        behind_people([one for one in queries if topics[one.query_id] != topic], opinion, SCALE).value
        for topic in sorted(set(topics.values()))
    ]
    by_hand = jackknife_interval(found.value, np.array(without), level=0.9, least=-2, most=2, unit="query paper")
    assert (found.interval.low, found.interval.high) == pytest.approx((by_hand.low, by_hand.high))
    assert found.interval.method == by_hand.method


def test_a_weighted_pair_counts_as_often_as_it_stands_for() -> None:
    queries, opinion = study(4, weights=True)
    copied, names = [], dict(opinion)
    for query in queries:
        more = np.repeat(np.flatnonzero(query.weights == 3), 2)
        again = tuple(f"{query.doc_ids[place]}-{at}" for at, place in enumerate(more))
        for doc_id, place in zip(again, more, strict=True):
            if (query.query_id, query.doc_ids[place]) in opinion:
                names[query.query_id, doc_id] = opinion[query.query_id, query.doc_ids[place]]
        copied.append(
            QueryRatings(
                *(query.query_id, query.facet, query.assessors, (*query.doc_ids, *again)),
                ratings=np.concatenate([query.ratings, query.ratings[:, more]], axis=1),
                asked=np.concatenate([query.asked, query.asked[:, more]], axis=1),
                final=np.concatenate([query.final, query.final[more]]),
                ended=np.concatenate([query.ended, query.ended[more]]),
                weights=np.ones(16 + len(more)),
            )
        )
    weighted, plain = rows_of(queries, opinion), rows_of(copied, names)
    for row, found in weighted.items():
        for name, one in found.figures.items():
            assert one.value == pytest.approx(plain[row].figures[name].value, abs=0.003), (row, name)
            if row[1] == "together":  # A facet of five queries is two or three of some assessors: no interval.
                assert one.interval.low == pytest.approx(plain[row].figures[name].interval.low, abs=0.01)


def test_repeats_agree_as_raters_of_one_pair_do() -> None:
    repeats = {("q1", "a"): [1, 1, 2], ("q1", "b"): [0, 0], ("q2", "a"): [3], ("q2", "b"): [2, 3, 3]}
    found = with_itself(repeats, SCALE)
    table = [[1, 0, 2], [1, 0, 3], [2, np.nan, 3]]
    assert (found.n_pairs, found.n_queries) == (3, 2)
    assert found.figures["alpha_ordinal"].value == pytest.approx(
        krippendorff.alpha(table, value_domain=SCALE.grades, level_of_measurement="ordinal")
    )
    alone = with_itself({("q", "a"): [1]}, SCALE)
    assert (alone.n_pairs, alone.n_queries) == (0, 0)
