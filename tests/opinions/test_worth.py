"""The first sentence of an opinion: each by its rule, and planted judges on CSFCube with ten runs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import judged_whole
import numpy as np
import opinion_judges
import pytest
from annot.base.stats.inference import generator
from annot.base.stats.values import Undefined
from annot.measuring.agreement.estimates import QueryRatings
from annot.measuring.evaluation.measures import family_of
from annot_opinions.label_quality import JudgedRuns, OpinionVerdict, Scale, worth
from annot_opinions.self_preference import Favour, FavourRule, OpinedPair, favour
from needs import unavailable
from planted_judges import KINDS, Planted, planted_on

SCALE = Scale((0, 1, 2, 3), relevant_from=2, level=0.95, topics=None)
FAMILY = family_of("trec", "nDCG")
assert FAMILY is not None
RULE = FavourRule("nDCG", *FAMILY, least=0.015, tolerance=0.1, level=0.95, permutations=500, seed=1)


def study(seed: int, *, queries: int = 12, documents: int = 20) -> JudgedRuns:
    """Three people who judge everything, and four runs of which each is worse than the one before it."""
    rng = np.random.default_rng(seed)
    found, runs = [], {f"r{at}": {} for at in range(4)}
    names = tuple(f"d{at:02}" for at in range(documents))
    for at in range(queries):
        final = rng.choice(4, documents, p=[0.5, 0.25, 0.15, 0.1]).astype(float)
        seen = [np.clip(final + (rng.random(documents) < 0.3) * rng.choice((-1, 1), documents), 0, 3) for _ in "abc"]
        ratings = np.stack(seen)
        found.append(
            QueryRatings(
                *(f"q{at:02}", "whole", ("a", "b", "c"), names, ratings, np.ones(ratings.shape, dtype=bool), final),
                ended=np.zeros(documents, dtype=bool),
                weights=np.ones(documents),
            )
        )
        for place, run in enumerate(runs.values()):
            order = np.argsort(-final + (place + 1) * rng.standard_normal(documents))
            run[f"q{at:02}"] = tuple(names[one] for one in order)
    return JudgedRuns(found, runs, dict.fromkeys(names, 100), SCALE, RULE, epsilon=0.2)


def said(judged: JudgedRuns, of: str | int, seed: int = 0) -> dict[tuple[str, str], list[int | None]]:
    """A judge's answers: `final`, `guessed`, `unreadable`, or one grade always."""
    rng = np.random.default_rng(seed)
    return {
        (query.query_id, doc): [
            {"final": int(grade), "guessed": int(rng.integers(4)), "unreadable": None if rng.random() < 0.6 else 1}.get(
                of, of
            )
        ]
        for query in judged.queries
        for doc, grade in zip(query.doc_ids, query.final, strict=True)
    }


def test_the_sentences_of_enough_topics() -> None:
    judged = study(1)
    found = {of: worth("m", "org/some-model", said(judged, of), judged) for of in ("final", "guessed", "unreadable", 1)}
    assert found["final"].verdict is OpinionVerdict.AS_PEOPLE
    for part in (
        "m agrees as people do",
        "3 of 3 assessors",
        "no run gains more",
        "(12 topics",
        "1.5 points",
        "80% power",
    ):
        assert part in found["final"].sentence
    assert "m does not judge" in found[1].sentence
    assert "grade 1 to 100.0%" in found[1].sentence
    assert found["unreadable"].verdict is OpinionVerdict.DOES_NOT_JUDGE
    share = 100 * found["unreadable"].n_unreadable / found["unreadable"].n_pairs
    assert f"{share:.0f}% of its answers cannot be read, 0% " in found["unreadable"].sentence
    assert found["guessed"].verdict is OpinionVerdict.DOES_NOT_JUDGE
    assert "(Spearman's rho" in found["guessed"].sentence


def test_one_grade_nearly_always_is_no_judging_unless_people_gave_it_as_often() -> None:
    judged = study(2)
    nearly = said(judged, 0)
    pairs = [*nearly]
    nearly |= {pair: [3] for pair in pairs[:2]}
    assert "it gives grade 0 to 99.2%" in worth("m", "x", nearly, judged).sentence
    for query in judged.queries:
        query.final[:] = 0
        query.ratings[:] = 0
    for pair in pairs[:1]:
        judged.queries[0].final[judged.queries[0].doc_ids.index(pair[1])] = 3
    found = worth("m", "x", nearly, judged)
    assert "it gives grade" not in found.sentence


def test_favour_is_of_the_pairs_with_a_final_grade_their_weights_and_lengths() -> None:
    rng = np.random.default_rng(9)
    judged = study(9)
    lengths = {doc: int(rng.integers(50, 900)) for doc in judged.lengths}
    queries = [replace(query, weights=rng.choice((1.0, 3.0), len(query.doc_ids))) for query in judged.queries]
    queries[0].final[0] = np.nan
    answers = {
        pair: [int(np.clip(grade + rng.integers(-1, 2), 0, 3))] for pair, (grade,) in said(study(9), "final").items()
    }
    for given in (judged.queries, queries):
        found = worth("m", "x", answers, replace(judged, queries=given, lengths=lengths))
        pairs = [
            OpinedPair(
                *(query.query_id, doc, int(final), answers[query.query_id, doc][0]),
                *(1.0 if query.weights is None else float(query.weights[at]), lengths[doc]),
            )
            for query in given
            for at, (doc, final) in enumerate(zip(query.doc_ids, query.final, strict=True))
            if not np.isnan(final)
        ]
        assert found.n_compared == len(pairs) == len(answers) - 1
        expected = favour(pairs, judged.runs, RULE, topics=None)
        assert isinstance(found.favour, Favour)
        assert isinstance(expected, Favour)
        for one, by_hand in zip(found.favour.runs, expected.runs, strict=True):
            assert (one.by_people, one.by_model, one.beyond) == pytest.approx(
                (by_hand.by_people, by_hand.by_model, by_hand.beyond)
            )


def test_a_judge_who_lifts_one_run_is_called_by_that_run() -> None:
    judged = study(3, queries=20, documents=40)
    rng = np.random.default_rng(3)
    answers = {}
    for query in judged.queries:
        top = judged.runs["r3"][query.query_id][:12]
        for doc, grade in zip(query.doc_ids, query.final, strict=True):
            noise = int(rng.choice((-1, 0, 1), p=(0.2, 0.6, 0.2)))
            answers[query.query_id, doc] = [int(np.clip(grade + noise + (doc in top), 0, 3))]
    found = worth("m", "x", answers, judged)
    assert found.verdict is OpinionVerdict.FAVOURS
    assert found.sentence.startswith("m favours r3: r3 gains 0.")


def test_more_noise_than_people_have_is_noisy_and_without_runs_nobody_says_fair() -> None:
    judged = study(4)
    rng = np.random.default_rng(4)
    answers = {
        pair: [given if rng.random() < 0.5 else int(rng.integers(4))]
        for pair, (given,) in said(judged, "final").items()
    }
    found = worth("m", "x", answers, judged)
    assert found.verdict is OpinionVerdict.NOISY_BUT_FAIR
    assert found.sentence.startswith("m is noisy but fair: ")
    without = JudgedRuns(judged.queries, {}, judged.lengths, SCALE, RULE, epsilon=0.2)
    found = worth("m", "x", answers, without)
    assert found.verdict is OpinionVerdict.NOISY
    assert "there are no runs" in found.sentence


def test_the_middle_of_the_repeats_counts() -> None:
    judged = study(6)
    first = said(judged, "final")
    answers = {pair: [grade, None, grade, 3] for pair, (grade,) in first.items()}
    found = worth("m", "x", answers, judged)
    assert found.confusion == worth("m", "x", first, judged).confusion
    assert found.itself is not None
    assert found.itself.n_pairs == len(answers)
    two = {pair: [0, 3] for pair in first}
    assert worth("m", "x", two, judged).given == {0: len(first), 1: 0, 2: 0, 3: 0}


def test_pairs_that_it_cannot_judge_count_as_not_answered() -> None:
    """Every figure is the one without these pairs, and none of them is called unreadable."""
    judged = study(9)
    answers = said(judged, "final")
    declined = {pair for at, pair in enumerate(sorted(answers)) if at % 3 == 0}
    without = worth("m", "x", {pair: given for pair, given in answers.items() if pair not in declined}, judged)
    found = worth("m", "x", {**answers, **{key: [None] for key in declined}}, judged, declined=declined)
    assert (found.n_pairs, found.n_declined, found.n_unreadable) == (len(answers), len(declined), 0)
    assert replace(found, n_pairs=without.n_pairs, n_declined=0) == without


def ten_runs(asked: Mapping[str, str], texts: Mapping[str, tuple[str, str]]) -> dict[str, np.ndarray]:
    """Ten of unequal quality, from one matrix of words: whole, in fewer dimensions, with noise, and by length."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=3, max_features=4000)
    matrix = words.fit_transform(f"{title} {text}" for title, text in texts.values())
    queries = words.transform(asked.values())
    found = {"words": (queries @ matrix.T).toarray()}
    dense = TruncatedSVD(80, random_state=0).fit(matrix)
    left, right = dense.transform(queries), dense.transform(matrix)
    for size in (5, 20, 40, 80):
        found[f"lsa{size}"] = judged_whole.cosine(left[:, :size], right[:, :size])
    titles = words.transform(title for title, _ in texts.values())
    found["titles"] = (queries @ titles.T).toarray()
    rng = np.random.default_rng(0)
    for noise in (0.5, 1.0, 2.0):
        of = found["words"]
        found[f"noise{noise}"] = of + noise * of.std() * rng.standard_normal(of.shape)
    found["long"] = found["words"] * np.array([len(text) for _, text in texts.values()]) ** 0.3
    return found


@pytest.fixture(scope="module")
def planted(shared: Path) -> Planted:
    if not (shared / "csfcube").is_dir():
        unavailable(f"no csfcube/ in {shared}")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(judged_whole, "system_scores", ten_runs)
        return planted_on("CSFCube", shared / "csfcube")


@pytest.mark.parametrize("kind", KINDS)
def test_planted_judges_are_called_what_they_are(planted: Planted, kind: str) -> None:
    """Two seeds; `benchmarks/opinion_judges.py` counts twenty and a hundred, on Cranfield too."""
    judge, right = KINDS[kind]
    for seed in range(2):
        found = planted.held(judge(planted, generator(seed, kind)), kind)
        assert found.verdict in right, found.sentence
        if found.verdict is OpinionVerdict.FAVOURS:
            assert not isinstance(found.favour, Undefined)
            assert planted.favoured in found.favour.gaining


def test_on_a_sample_a_fair_judge_favours_no_run_and_a_planted_favourite_is_named_first(planted: Planted) -> None:
    """A third of the pairs, drawn anew for each seed; the benchmark counts a hundred (`--share 0.33`)."""
    for kind in ("noisy", "by length", "finer"):
        assert opinion_judges.named(planted, kind, 3, share=0.33)["gaining"] == 0
    assert opinion_judges.named(planted, "favours", 5, share=0.33)["favourite"] == 5
