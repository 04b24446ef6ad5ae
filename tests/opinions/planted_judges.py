"""Judges of a known kind on collections that were judged whole, and the people whom they are compared with.

CSFCube's people are its own two assessors of each pair; Cranfield's are two of three simulated ones, who miss its grade
by one in a quarter of the pairs. The judges:

- `people's final` repeats the final grade, `always 1` does not judge.
- `favours` makes fewer errors than `noisy` and gives one grade more to seven in ten of the first 20 documents of one
  run: the run of the worse half that the others are least like. Right is whoever names it.
- All others are fair. `noisy`: errors depend on the final grade alone. `lenient`: the same, mostly upwards. `by topic`:
  strict on one topic, lenient on another. `by likeness`: what it likes in a topic, it likes in all documents that are
  alike (a random direction of their LSA vectors). `by length`, `by shortness`: errors, upwards, on long or on short
  documents. `finer`: sees within a grade what all runs together see. `one of them`: one of the assessors, at random.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
from annot.base.array_files import Array
from annot.base.records import Decision, Judgement
from annot.base.stats.inference import generator
from annot.base.stats.values import Undefined
from annot.measuring.agreement.estimates import ratings_of
from annot.measuring.evaluation.measures import family_of
from annot.pools.pooling import FrozenRank, SampleRule, drawn, probabilities
from annot_opinions.label_quality import JudgedRuns, OpinionVerdict, Scale, Worth, worth
from annot_opinions.self_preference import LEAST, FavourRule, OpinedPair, RankedPairs, means_of_like
from judged_whole import JudgedWhole, of_cranfield, of_csfcube

GRADES = (0, 1, 2, 3)
MISSED = 0.25
"""Of the pairs of each simulated assessor of Cranfield."""
NOISY = np.array([[0.6, 0.25, 0.1, 0.05], [0.38, 0.32, 0.2, 0.1], [0.25, 0.3, 0.3, 0.15], [0.15, 0.25, 0.3, 0.3]])
LENIENT = np.array([[0.4, 0.35, 0.2, 0.05], [0.1, 0.4, 0.38, 0.12], [0.05, 0.2, 0.45, 0.3], [0.02, 0.08, 0.3, 0.6]])
MILD = np.array([[0.85, 0.1, 0.04, 0.01], [0.3, 0.5, 0.15, 0.05], [0.1, 0.25, 0.5, 0.15], [0.02, 0.08, 0.3, 0.6]])
STRICT = np.array([[0.95, 0.04, 0.01, 0.0], [0.7, 0.25, 0.04, 0.01], [0.4, 0.35, 0.2, 0.05], [0.2, 0.25, 0.3, 0.25]])
"""By final grade (rows), how often each grade is given."""
TOLERANCE = 0.1
"""The favour that must be visible, as annot.toml has it."""
LIKED, LIFTED = 20, 0.7
"""How many of the first documents of its run a biased judge lifts by one grade, and how often."""
Pair = tuple[str, str]


class Planted:
    """A collection with its people, its runs and what judges can see of a pair."""

    def __init__(self, whole: JudgedWhole, lengths: Mapping[str, int], vectors: Mapping[str, Array]) -> None:
        self.whole, self.pairs = whole, [(query, doc) for query, of in whole.grades.items() for doc in of]
        self.final = np.array([whole.grades[query][doc] for query, doc in self.pairs])
        queries = [*whole.grades]
        self.query = np.array([queries.index(query) for query, _ in self.pairs])
        self.given = self._people()
        convention, measure = whole.measures[0]
        family = family_of(convention, measure)
        assert family is not None
        self.judged = JudgedRuns(
            queries=ratings_of(
                [
                    Judgement(*pair, assessor, grade)
                    for pair, of in self.given.items()
                    for assessor, grade in of.items()
                ],
                [
                    Decision(*pair, grade, "adjudicated")
                    for pair, grade in zip(self.pairs, self.final.tolist(), strict=True)
                ],
                {query: query.rpartition("-")[2] if whole.name == "CSFCube" else "whole" for query in queries},
                grades=GRADES,
            ),
            runs=whole.rankings,
            lengths=lengths,
            scale=Scale(GRADES, relevant_from=whole.relevant_from, level=0.95, topics=whole.topics),
            rule=FavourRule(measure, *family, least=LEAST, tolerance=TOLERANCE, level=0.95, permutations=2000, seed=13),
            epsilon=0.2,
        )
        opined = [
            OpinedPair(*pair, int(grade), 0, 1.0, lengths.get(pair[1], 0))
            for pair, grade in zip(self.pairs, self.final, strict=True)
        ]
        self.ranked = RankedPairs(opined, whole.rankings, self.judged.rule, topics=whole.topics)
        by_people = self.ranked.favour(self.final.astype(np.float64), self.judged.rule)
        assert not isinstance(by_people, Undefined)
        worse = [one.run for one in by_people.runs[len(by_people.runs) // 2 :]]
        self.favoured = min(worse, key=lambda tag: (self._shared(tag), tag))
        self.liked = np.array([doc in whole.rankings[self.favoured][query][:LIKED] for query, doc in self.pairs])
        z = self.ranked.length - self.ranked.length.mean()
        self.long = 1 / (1 + np.exp(-2 * z / z.std()))
        self.vectors = np.stack([vectors[doc] for _, doc in self.pairs])

    def _shared(self, tag: str) -> int:
        """How many of a run's first documents are among the first in the fusion of the other runs."""
        row = self.ranked.tags.index(tag)
        others, total = self.ranked.fused - self.ranked.own[row], 0
        for query in range(len(self.ranked.topics)):
            own = np.flatnonzero(self.ranked.query == query)
            first, of_others = (own[np.argsort(-score[own])[:LIKED]] for score in (self.ranked.own[row], others))
            total += len({*first.tolist()} & {*of_others.tolist()})
        return total

    def _people(self) -> dict[Pair, dict[str, int | None]]:
        """Of each pair, the grades of its two assessors."""
        found: dict[Pair, dict[str, int | None]] = {pair: {} for pair in self.pairs}
        for one in self.whole.judgements:
            found[one.query_id, one.doc_id][one.assessor] = one.grade
        if not self.whole.judgements:
            rng = generator(0, "people")
            for (pair, of), query, grade in zip(found.items(), self.query, self.final, strict=True):
                for assessor in ("abc"[query % 3], "abc"[(query + 1) % 3]):
                    off = rng.choice((-1, 1)) if rng.random() < MISSED else 0
                    of[assessor] = int(np.clip(grade + off, 0, 3))
                found[pair] = of
        return found

    def sampled(self, share: float, seed: int) -> tuple[Array, RankedPairs]:
        """A sample of the pairs as `annot plan --sample` draws it, and where they are in all pairs."""
        frozen = {}
        for query_id, of_query in groupby(zip(self.pairs, self.ranked.fused, strict=True), key=lambda one: one[0][0]):
            order = sorted((-fused, doc_id) for (_, doc_id), fused in of_query)
            frozen[query_id] = {doc_id: FrozenRank(rank) for rank, (_, doc_id) in enumerate(order, 1)}
        pi = probabilities(frozen, share=share, rule=SampleRule(seed, "query", 0.05, 1.0))
        chosen = {(query_id, doc_id) for query_id, own in drawn(pi, seed=seed).items() for doc_id in own}
        at = [place for place, pair in enumerate(self.pairs) if pair in chosen]
        opined = [
            OpinedPair(query_id, doc_id, int(grade), 0, 1 / pi[query_id][doc_id], self.judged.lengths.get(doc_id, 0))
            for (query_id, doc_id), grade in zip([self.pairs[one] for one in at], self.final[at], strict=True)
        ]
        return np.array(at), RankedPairs(opined, self.judged.runs, self.judged.rule, topics=self.whole.topics)

    def held(self, opinion: Array, name: str, *, topics: frozenset[str] | None = None) -> Worth:
        """The judge against people. topics: those of a small study; None takes all."""
        whole = self.whole.topics
        queries = [query for query in self.judged.queries if topics is None or whole[query.query_id] in topics]
        answers = {
            (query_id, doc_id): [int(grade)]
            for (query_id, doc_id), grade in zip(self.pairs, opinion, strict=True)
            if topics is None or whole[query_id] in topics
        }
        return worth(name, "planted", answers, replace(self.judged, queries=queries))

    def some_topics(self, n: int, seed: int) -> frozenset[str]:
        """The topics of a small study."""
        return frozenset(generator(seed, "few").choice(sorted({*self.ranked.topics}), n, replace=False).tolist())

    def redrawn(self, opinion: Array) -> bool:
        """Whether the plain rule names a run: what it gains beyond opinions redrawn within each final grade."""
        favour = _PlainRule(self.ranked).favour(opinion.astype(np.float64), replace(self.judged.rule, least=0.0))
        assert not isinstance(favour, Undefined)
        return bool(favour.gaining)


class _PlainRule(RankedPairs):
    """Alike are all pairs of one query and one final grade."""

    def __init__(self, ranked: RankedPairs) -> None:
        self.__dict__.update(ranked.__dict__)

    def alike(self, row: int, opinion: Array) -> Array:
        return self.same


def _said(rng: np.random.Generator, final: Array, table: Array) -> Array:
    return np.asarray((rng.random(len(final))[:, None] > table.cumsum(axis=1)[final]).sum(axis=1).clip(0, 3))


def noisy(of: Planted, rng: np.random.Generator) -> Array:
    return _said(rng, of.final, NOISY)


def lenient(of: Planted, rng: np.random.Generator) -> Array:
    return _said(rng, of.final, LENIENT)


def by_topic(of: Planted, rng: np.random.Generator) -> Array:
    mood = rng.random(of.query.max() + 1)[of.query]
    return np.where(rng.random(len(mood)) < mood, _said(rng, of.final, STRICT), _said(rng, of.final, LENIENT))


def by_likeness(of: Planted, rng: np.random.Generator) -> Array:
    taste = rng.standard_normal((of.query.max() + 1, of.vectors.shape[1]))[of.query]
    liked = (of.vectors * taste).sum(axis=1)
    liked -= means_of_like(liked, of.query)
    liked /= np.sqrt(means_of_like(liked**2, of.query))
    seen = of.final + 0.7 * liked + 0.7 * rng.standard_normal(len(liked))
    return np.asarray(np.clip(np.round(seen), 0, 3).astype(int))


def by_length(of: Planted, rng: np.random.Generator) -> Array:
    return np.where(rng.random(len(of.final)) < of.long, _said(rng, of.final, LENIENT), _said(rng, of.final, NOISY))


def by_shortness(of: Planted, rng: np.random.Generator) -> Array:
    return np.where(rng.random(len(of.final)) > of.long, _said(rng, of.final, LENIENT), _said(rng, of.final, NOISY))


def finer(of: Planted, rng: np.random.Generator) -> Array:
    seen = np.log(of.ranked.fused + 1e-4)
    seen -= means_of_like(seen, of.ranked.same)
    seen /= np.sqrt(means_of_like(seen**2, of.ranked.same)).clip(1e-9)
    seen = of.final + 0.6 * seen + 0.8 * rng.standard_normal(len(seen))
    return np.asarray(np.clip(np.round(seen), 0, 3).astype(int))


def one_of_them(of: Planted, rng: np.random.Generator) -> Array:
    said = [[grade for grade in given.values() if grade is not None] for given in of.given.values()]
    return np.array([given[int(rng.integers(len(given)))] for given in said])


def favours(of: Planted, rng: np.random.Generator) -> Array:
    lifted = of.liked & (rng.random(len(of.final)) < LIFTED)
    return np.asarray(np.minimum(3, _said(rng, of.final, MILD) + lifted))


def good(of: Planted, rng: np.random.Generator) -> Array:
    return _said(rng, of.final, MILD)


Judge = Callable[[Planted, np.random.Generator], Array]
_FAIR = (OpinionVerdict.NOISY_BUT_FAIR, OpinionVerdict.AS_PEOPLE)
"""Of two collections, people agree little in one, so that some fair judges agree as they do."""
KINDS: dict[str, tuple[Judge, tuple[OpinionVerdict, ...]]] = {
    "people's final": (lambda of, rng: of.final, (OpinionVerdict.AS_PEOPLE,)),
    "always 1": (lambda of, rng: np.ones(len(of.final), dtype=int), (OpinionVerdict.DOES_NOT_JUDGE,)),
    "favours": (favours, (OpinionVerdict.FAVOURS,)),
    "noisy": (noisy, (OpinionVerdict.NOISY_BUT_FAIR,)),
    "lenient": (lenient, _FAIR),
    "by topic": (by_topic, _FAIR),
    "by likeness": (by_likeness, _FAIR),
    "by length": (by_length, _FAIR),
    "by shortness": (by_shortness, _FAIR),
    "finer": (finer, _FAIR),
    "one of them": (one_of_them, (OpinionVerdict.AS_PEOPLE,)),
}
"""Each judge with the sentences that are right."""
QUESTIONS = 50
"""Of Cranfield, where nothing else is said."""


def planted_on(name: str, folder: Path, *, questions: int = QUESTIONS) -> Planted:
    """The collection, which takes a minute to rank; of Cranfield so many questions, spread over the file."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    path = folder / ("documents.jsonl" if name == "Cranfield" else "abstracts-csfcube-preds.jsonl")
    texts = {}
    for one in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        abstract = one["abstract"] if isinstance(one["abstract"], str) else " ".join(one["abstract"])
        texts[str(one["paper_id"])] = f"{one['title']} {abstract}"
    matrix = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2).fit_transform(texts.values())
    vectors = TruncatedSVD(20, random_state=0).fit_transform(matrix)
    whole = of_cranfield(folder) if name == "Cranfield" else of_csfcube(folder)
    if name == "Cranfield":
        whole = replace(
            whole,
            grades={
                one: whole.grades[one] for one in [*whole.grades][:: max(1, len(whole.grades) // questions)][:questions]
            },
        )
    return Planted(whole, {key: len(text) for key, text in texts.items()}, dict(zip(texts, vectors, strict=True)))
