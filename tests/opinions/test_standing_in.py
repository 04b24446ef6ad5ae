"""Agreement of an opinion, and the alternative annotator test: against other libraries and the published procedure."""

from collections import defaultdict
from dataclasses import replace

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
    StandingIn,
    agreements,
    behind_people,
    standing_in,
    with_itself,
)
from scipy.stats import false_discovery_control, ttest_1samp
from sklearn.metrics import cohen_kappa_score

Pair = tuple[str, str]


def study(seed: int, *, people: int, gaps: float, model_off: float, queries: int = 12, documents: int = 20):
    """Queries in which each of so many people sees a hidden grade with noise, and leaves some pairs out."""
    rng = np.random.default_rng(seed)
    found, opinion = [], {}
    for at in range(queries):
        hidden = rng.choice(4, size=documents, p=[0.4, 0.3, 0.2, 0.1])

        def seen(off: float, hidden: np.ndarray = hidden) -> np.ndarray:
            moved = rng.random(documents) < off
            return np.clip(hidden + moved * rng.choice([-1, 1], size=documents), 0, 3).astype(float)

        ratings = np.stack([seen(0.3) for _ in range(people)])
        ratings[rng.random(ratings.shape) < gaps] = np.nan
        documents_of = tuple(f"d{place:02}" for place in range(documents))
        found.append(
            QueryRatings(
                *(f"q{at:02}", "whole", tuple(f"a{one}" for one in range(people)), documents_of),
                ratings=ratings,
                asked=np.ones(ratings.shape, dtype=bool),
                final=hidden.astype(float),
                ended=np.zeros(documents, dtype=bool),
                weights=np.ones(documents),
            )
        )
        opinion |= {
            (f"q{at:02}", doc_id): int(grade) for doc_id, grade in zip(documents_of, seen(model_off), strict=True)
        }
    return found, opinion


def plain(queries: list[QueryRatings], opinion: dict[Pair, int], *, epsilon: float, level: float) -> StandingIn:
    """The published test: each pair is a sampling unit of its own."""
    alone = [
        replace(
            query,
            query_id=f"{query.query_id} {doc_id}",
            doc_ids=(doc_id,),
            ratings=query.ratings[:, [column]],
            asked=query.asked[:, [column]],
            final=query.final[[column]],
            ended=query.ended[[column]],
            weights=query.weights[[column]],
        )
        for query in queries
        for column, doc_id in enumerate(query.doc_ids)
    ]
    by_pair = {(f"{query_id} {doc_id}", doc_id): grade for (query_id, doc_id), grade in opinion.items()}
    return standing_in(alone, by_pair, epsilon=epsilon, level=level, topics=None)


def as_published(queries: list[QueryRatings], opinion: dict[Pair, int], *, epsilon: float):
    """Algorithm of section 3 of the paper with dictionaries, scipy's t test and scipy's Benjamini-Yekutieli."""
    given: dict[str, dict[Pair, float]] = defaultdict(dict)
    for query in queries:
        for assessor, row in zip(query.assessors, query.ratings, strict=True):
            for doc_id, grade in zip(query.doc_ids, row, strict=True):
                if not np.isnan(grade):
                    given[assessor][query.query_id, doc_id] = grade

    def score(grade: float, others: list[float]) -> float:
        return -np.sqrt(np.mean([(grade - other) ** 2 for other in others]))

    p_values, rhos, names = [], [], []
    for person in sorted(given):
        differences, as_near = [], []
        for pair, grade in given[person].items():
            others = [of[pair] for name, of in given.items() if name != person and pair in of]
            if not others or pair not in opinion:
                continue
            of_model, of_person = score(opinion[pair], others), score(grade, others)
            as_near.append(of_model >= of_person)
            differences.append(float(of_person >= of_model) - float(of_model >= of_person))
        if len(differences) >= 30:
            names.append(person)
            rhos.append(np.mean(as_near))
            p_values.append(ttest_1samp(differences, epsilon, alternative="less").pvalue)
    rejected = false_discovery_control(p_values, method="by") <= 0.05
    return dict(zip(names, zip(p_values, rejected.tolist(), strict=True), strict=True)), rejected.mean(), np.mean(rhos)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("people", "gaps"), [(2, 0.0), (3, 0.0), (4, 0.4)])
def test_the_plain_test_is_the_published_procedure(seed: int, people: int, gaps: float) -> None:
    queries, opinion = study(seed, people=people, gaps=gaps, model_off=0.35)
    for pair in [*opinion][::17]:
        del opinion[pair]
    for epsilon in (0.1, 0.2):
        found = plain(queries, opinion, epsilon=epsilon, level=0.95)
        expected, omega, rho = as_published(queries, opinion, epsilon=epsilon)
        assert {one.assessor: one.p for one in found.against} == pytest.approx({k: p for k, (p, _) in expected.items()})
        assert {one.assessor: one.wins for one in found.against} == {k: wins for k, (_, wins) in expected.items()}
        assert (found.omega, found.rho) == pytest.approx((omega, rho))


def test_pairs_that_repeat_each_other_do_not_make_it_surer() -> None:
    """Ten copies of every pair tell nothing more: the published test takes them for evidence, whole topics do not."""
    queries, opinion = study(2, people=3, gaps=0.0, model_off=0.4)
    copies = [
        QueryRatings(
            *(
                query.query_id,
                "whole",
                query.assessors,
                tuple(f"{one}-{of}" for of in range(10) for one in query.doc_ids),
            ),
            ratings=np.tile(query.ratings, 10),
            asked=np.tile(query.asked, 10),
            final=np.tile(query.final, 10),
            ended=np.tile(query.ended, 10),
            weights=np.ones(10 * len(query.doc_ids)),
        )
        for query in queries
    ]
    copied = {(query_id, f"{doc_id}-{of}"): grade for (query_id, doc_id), grade in opinion.items() for of in range(10)}
    of_pairs, of_copies = (
        standing_in(*both, epsilon=0.2, level=0.95, topics=None).against
        for both in ((queries, opinion), (copies, copied))
    )
    assert [one.p for one in of_copies] == pytest.approx([one.p for one in of_pairs])
    assert (
        plain(copies, copied, epsilon=0.2, level=0.95).against[0].p
        < plain(queries, opinion, epsilon=0.2, level=0.95).against[0].p / 10
    )


def test_a_weighted_pair_counts_as_often_as_it_stands_for() -> None:
    queries, opinion = study(4, people=3, gaps=0.0, model_off=0.4)
    weighted, doubled, names = [], [], {}
    for query in queries:
        weights = np.where(np.arange(len(query.doc_ids)) % 3 == 0, 2.0, 1.0)
        again = np.flatnonzero(weights == 2)
        weighted.append(
            QueryRatings(
                *(query.query_id, "whole", query.assessors, query.doc_ids),
                *(query.ratings, query.asked, query.final, query.ended, weights),
            )
        )
        doubled.append(
            QueryRatings(
                *(query.query_id, "whole", query.assessors),
                (*query.doc_ids, *(f"{query.doc_ids[at]}-again" for at in again)),
                np.concatenate([query.ratings, query.ratings[:, again]], axis=1),
                np.concatenate([query.asked, query.asked[:, again]], axis=1),
                np.concatenate([query.final, query.final[again]]),
                np.concatenate([query.ended, query.ended[again]]),
                np.ones(len(query.ended) + len(again)),
            )
        )
    names = {(query_id, f"{doc_id}-again"): grade for (query_id, doc_id), grade in opinion.items()}
    first = standing_in(weighted, opinion, epsilon=0.2, level=0.95, topics=None)
    second = standing_in(doubled, opinion | names, epsilon=0.2, level=0.95, topics=None)
    assert [(one.behind, one.p) for one in first.against] == [
        pytest.approx((one.behind, one.p)) for one in second.against
    ]
    rows, longer = agreements(weighted, opinion, SCALE), agreements(doubled, opinion | names, SCALE)
    assert [(row.whom, row.between.figures["percent"].value) for row in rows] == [
        (row.whom, pytest.approx(row.between.figures["percent"].value)) for row in longer
    ]


def test_a_model_like_the_people_may_stand_in_and_one_that_guesses_may_not() -> None:
    queries, like_people = study(5, people=3, gaps=0.0, model_off=0.3)
    assert standing_in(queries, like_people, epsilon=0.2, level=0.95, topics=None).may is True
    rng = np.random.default_rng(5)
    guessed = {pair: int(rng.integers(4)) for pair in like_people}
    assert standing_in(queries, guessed, epsilon=0.2, level=0.95, topics=None).may is False


def test_with_few_pairs_or_few_topics_it_is_not_known() -> None:
    queries, opinion = study(7, people=2, gaps=0.0, model_off=0.3, queries=2, documents=14)
    found = standing_in(queries, opinion, epsilon=0.2, level=0.95, topics=None)
    assert found.may is None
    assert found.left_out == dict.fromkeys(("a0", "a1"), "28 pairs shared with others, expected 30 or more")
    queries, opinion = study(7, people=2, gaps=0.0, model_off=0.3, queries=3)
    found = standing_in(queries, opinion, epsilon=0.2, level=0.95, topics=None)
    assert found.may is None
    assert found.left_out["a0"] == "3 queries, expected 4 or more"
    queries, opinion = study(7, people=2, gaps=0.0, model_off=0.3, queries=4)
    assert not standing_in(queries, opinion, epsilon=0.2, level=0.95, topics=None).left_out


def test_without_variation_the_model_wins_if_it_is_nearer_than_the_handicap() -> None:
    queries, _ = study(8, people=3, gaps=0.0, model_off=0.0)
    same = {}
    for query in queries:
        query.ratings[:] = query.final
        same |= {(query.query_id, doc): int(grade) for doc, grade in zip(query.doc_ids, query.final, strict=True)}
    for epsilon, p, may in ((0.2, 0.0, True), (0.0, 1.0, False)):
        found = standing_in(queries, same, epsilon=epsilon, level=0.95, topics=None)
        assert ({one.p for one in found.against}, found.may) == ({p}, may)


SCALE = Scale((0, 1, 2, 3), relevant_from=2, level=0.95, topics=None)
FACETS = ("method", "result")


def rated(seed: int, *, weights: bool = False) -> tuple[list[QueryRatings], dict[tuple[str, str], int]]:
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


@pytest.mark.parametrize("whom", [FINAL, "b"])
def test_figures_are_those_of_other_libraries(whom: str) -> None:
    queries, opinion = rated(1)
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
    queries, opinion = rated(2)
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
    queries, opinion = rated(3)
    topics = {query.query_id: f"p{at // 2}" for at, query in enumerate(queries)}
    found = behind_people(queries, opinion, Scale((0, 1, 2, 3), relevant_from=2, level=0.9, topics=topics))
    without = [
        behind_people([one for one in queries if topics[one.query_id] != topic], opinion, SCALE).value
        for topic in sorted(set(topics.values()))
    ]
    by_hand = jackknife_interval(found.value, np.array(without), level=0.9, least=-2, most=2, unit="query paper")
    assert (found.interval.low, found.interval.high) == pytest.approx((by_hand.low, by_hand.high))
    assert found.interval.method == by_hand.method


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
