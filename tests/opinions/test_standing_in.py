"""The alternative annotator test: the published procedure written out with scipy, and what must hold of ours."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from annot.measuring.agreement.estimates import QueryRatings
from annot_opinions.label_quality import StandingIn, standing_in
from scipy.stats import false_discovery_control, ttest_1samp

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


@pytest.mark.parametrize("seed", range(5))
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


def test_with_each_pair_a_topic_of_its_own_ours_is_the_plain_one() -> None:
    queries, opinion = study(1, people=3, gaps=0.2, model_off=0.35)
    single = [
        QueryRatings(
            *(f"{query.query_id}{doc_id}", "whole", query.assessors, ("d",)),
            ratings=query.ratings[:, [at]],
            asked=query.asked[:, [at]],
            final=query.final[[at]],
            ended=query.ended[[at]],
            weights=np.ones(1),
        )
        for query in queries
        for at, doc_id in enumerate(query.doc_ids)
    ]
    apart = {(f"{query_id}{doc_id}", "d"): grade for (query_id, doc_id), grade in opinion.items()}
    ours = standing_in(single, apart, epsilon=0.2, level=0.95, topics=None)
    published = plain(queries, opinion, epsilon=0.2, level=0.95)
    assert [one.p for one in ours.against] == pytest.approx([one.p for one in published.against])
    assert ours.omega == published.omega


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
