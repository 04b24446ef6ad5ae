"""Plant judges of a known kind on collections that were judged whole: is the first sentence of `annot opinion` right?

    python benchmarks/opinion_judges.py CRANFIELD CSFCUBE [--seeds 20] [--fair 100] [--only CSFCube]
    python benchmarks/opinion_judges.py CRANFIELD CSFCUBE --share 0.33 [--only CSFCube]
    python benchmarks/opinion_judges.py CRANFIELD CSFCUBE --topics 4 6 8 10 14 20 [--seeds 60]
    python benchmarks/opinion_judges.py CRANFIELD CSFCUBE --cases

Both collections have 17 runs of five families (`judged_whole.py`). CSFCube's people are its own two assessors of each
pair; Cranfield's are two of three simulated ones, who miss its grade by one in a quarter of the pairs. Of each judge it
prints how often the first sentence is the right one, how often the plain rule would name a favoured run (`drawn anew`:
the gain beyond opinions redrawn among all pairs of one query and final grade), both over 20 seeds, and how often a run
is named as favoured and as losing, over 100 seeds of fair judges.

The judges. `people's final`: repeats the final grade. `always 1`. `favours`: a judge who errs
less than `noisy` and gives one grade more to seven in ten of the first 20 documents of one run; it is the run of the
worse half that the others are least like. Right is whoever names it. All others are fair:
right is "noisy but fair", or, as people agree little with each other in CSFCube, for some "agrees as people do":

- `noisy`: its errors depend on the final grade alone. `lenient`: the same, mostly upwards.
- `by topic`: strict on one topic, lenient on another. `by likeness`: what it likes in a topic, it likes in all
  documents that are alike (a random direction of their LSA vectors for each query).
- `by length`: it errs, upwards, on long documents. `by shortness`: on short ones.
- `finer`: it sees within a grade what all runs together see.
- `one of them`: what one of the two assessors said, at random.

Measured, of 100:

    of 100                      right  drawn anew  favoured  losing
    CSFCube   people's final      100           0         0       0
    CSFCube   always 1            100           0         0       0
    CSFCube   favours             100         100       100      60
    CSFCube   noisy               100           0         0       0
    CSFCube   lenient             100           0         0       0
    CSFCube   by topic            100           0         0       0
    CSFCube   by likeness         100           0         0       0
    CSFCube   by length           100          25         1       0
    CSFCube   by shortness        100          20         1       0
    CSFCube   finer               100         100         0       0
    CSFCube   one of them         100          30         0       0
    Cranfield people's final      100           0         0       0
    Cranfield always 1            100           0         0       0
    Cranfield favours             100         100       100      80
    Cranfield noisy               100          10         0       0
    Cranfield lenient             100           5         0       0
    Cranfield by topic            100           0         0       0
    Cranfield by likeness         100          15         0       0
    Cranfield by length           100         100         0       0
    Cranfield by shortness        100          20         0       0
    Cranfield finer               100         100         0       0
    Cranfield one of them         100           0         0       0

Small studies of so many topics, drawn for each seed (`--topics 4 6 8 10 14 --seeds 40`, seeds 0 to 39): of 100, how
often each sentence is said; the median favour that is visible, in points, and the median number of topics needed.
Before a favour had to be visible, of 30 studies with the planted favourite 12 (CSFCube) and 17 (Cranfield) of 4 topics,
and 21 and 19 of 6 topics, were called "agrees as people do".

    of 100                 topics   agrees     fair    noisy  favours no judge  too few  visible  needed
    CSFCube   favours           4        0        0        0        0        0      100      inf      10
    CSFCube   favours           6        0        0        0       20        0       80     14.5      12
    CSFCube   favours           8        0        0        0       70        0       30     10.2      16
    CSFCube   favours          10        0        0        0       95        0        5      8.9      17
    CSFCube   favours          14        0        0        0      100        0        0      7.1       9
    CSFCube   good              4        0        0        0        0        0      100      inf       9
    CSFCube   good              6        2        0        0        0        0       98     12.0       8
    CSFCube   good              8       78        0        0        0        0       22      9.2       8
    CSFCube   good             10       98        0        0        0        0        2      8.1       8
    CSFCube   good             14       98        0        0        0        0        2      6.6       8
    CSFCube   noisy             4        0        0       42        0        2       55      inf      10
    CSFCube   noisy             6        0        5       72        0        0       22     14.1      10
    CSFCube   noisy             8        0       40       35        0        0       25     10.4       9
    CSFCube   noisy            10        0       78       18        2        0        2      9.1       9
    CSFCube   noisy            14        0       98        2        0        0        0      7.4       9
    CSFCube   by length         4        0        0       50        0        8       42      inf       8
    CSFCube   by length         6        0        5       78        0        0       18     13.8       9
    CSFCube   by length         8        0       55       35        0        0       10      9.8       8
    CSFCube   by length        10        0       92        2        2        0        2      8.8       9
    CSFCube   by length        14        0       98        2        0        0        0      7.0       9
    CSFCube   by likeness       4        0        0       10        0       10       80      inf      10
    CSFCube   by likeness       6        2        0       15        0        0       82     14.4      10
    CSFCube   by likeness       8       18       18       15        0        0       50     10.4       9
    CSFCube   by likeness      10       45       30        5        0        0       20      9.1      10
    CSFCube   by likeness      14       68       32        0        0        0        0      7.2       9
    CSFCube   finer             4        0        0        5        0        0       95      inf       9
    CSFCube   finer             6        2        2        5        0        0       90     12.5       8
    CSFCube   finer             8       35       40        0        0        0       25      9.4       8
    CSFCube   finer            10       78       20        0        0        0        2      8.4       8
    CSFCube   finer            14       92        8        0        0        0        0      6.9       8
    Cranfield favours           4        0        0       12        0        2       85      inf       9
    Cranfield favours           6        2        0       10       25        0       62     11.4      13
    Cranfield favours           8        0        0       15       70        0       15      8.2      14
    Cranfield favours          10        0        0        2       88        0       10      7.1       8
    Cranfield favours          14        0        0        0      100        0        0      5.9       7
    Cranfield good              4        0        0        5        0        5       90      inf       8
    Cranfield good              6       20        2        2        0        0       75     11.5       7
    Cranfield good              8       75        2        0        0        0       22      8.9       8
    Cranfield good             10       78       20        0        0        0        2      7.7       8
    Cranfield good             14       78       22        0        0        0        0      6.3       8
    Cranfield noisy             4        0        0       62        0       32        5      inf       6
    Cranfield noisy             6        0       42       52        0        5        0     10.1       7
    Cranfield noisy             8        0       92        2        0        5        0      7.7       6
    Cranfield noisy            10        0       98        0        0        2        0      6.7       7
    Cranfield noisy            14        0      100        0        0        0        0      5.4       6
    Cranfield by length         4        0        0       62        0       38        0      inf       6
    Cranfield by length         6        0       62       28        0       10        0      8.4       6
    Cranfield by length         8        0      100        0        0        0        0      6.8       6
    Cranfield by length        10        0      100        0        0        0        0      6.0       6
    Cranfield by length        14        0      100        0        0        0        0      5.0       6
    Cranfield by likeness       4        0        0       25        0       18       58      inf       8
    Cranfield by likeness       6        2        2       60        0        0       35     13.3       9
    Cranfield by likeness       8        0       42       48        0        0       10     10.0       9
    Cranfield by likeness      10        2       82       15        0        0        0      8.4       8
    Cranfield by likeness      14        0       98        2        0        0        0      7.0       9
    Cranfield finer             4        0        0       35        0       10       55      inf       6
    Cranfield finer             6       12       48       30        0        0       10      9.2       6
    Cranfield finer             8        0       98        2        0        0        0      7.3       6
    Cranfield finer            10        0      100        0        0        0        0      6.5       6
    Cranfield finer            14        0      100        0        0        0        0      5.2       6
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
from annot.base.records import Decision, Judgement
from annot.base.stats.inference import generator
from annot.base.stats.values import Undefined
from annot.measuring.agreement.estimates import ratings_of
from annot.measuring.evaluation.measures import family_of
from annot.measuring.opinions.label_quality import EACH, FINAL, PEOPLE, JudgedRuns, OpinionVerdict, Scale, Worth, worth
from annot.measuring.opinions.self_preference import LEAST, FavourRule, OpinedPair, RankedPairs, means_of_like
from annot.pools.pooling import FrozenRank, SampleRule, drawn, probabilities
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

    def __init__(self, whole: JudgedWhole, lengths: Mapping[str, int], vectors: Mapping[str, np.ndarray]) -> None:
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

    def sampled(self, share: float, seed: int) -> tuple[np.ndarray, RankedPairs]:
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

    def held(self, opinion: np.ndarray, name: str, *, topics: frozenset[str] | None = None) -> Worth:
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

    def redrawn(self, opinion: np.ndarray) -> bool:
        """Whether the plain rule names a run: what it gains beyond opinions redrawn within each final grade."""
        return bool(
            _PlainRule(self.ranked).favour(opinion.astype(np.float64), replace(self.judged.rule, least=0.0)).gaining
        )


class _PlainRule(RankedPairs):
    """Alike are all pairs of one query and one final grade."""

    def __init__(self, ranked: RankedPairs) -> None:
        self.__dict__.update(ranked.__dict__)

    def alike(self, row: int, opinion: np.ndarray) -> np.ndarray:
        return self.same


def _said(rng: np.random.Generator, final: np.ndarray, table: np.ndarray) -> np.ndarray:
    return (rng.random(len(final))[:, None] > table.cumsum(axis=1)[final]).sum(axis=1).clip(0, 3)


def noisy(of: Planted, rng: np.random.Generator) -> np.ndarray:
    return _said(rng, of.final, NOISY)


def lenient(of: Planted, rng: np.random.Generator) -> np.ndarray:
    return _said(rng, of.final, LENIENT)


def by_topic(of: Planted, rng: np.random.Generator) -> np.ndarray:
    mood = rng.random(of.query.max() + 1)[of.query]
    return np.where(rng.random(len(mood)) < mood, _said(rng, of.final, STRICT), _said(rng, of.final, LENIENT))


def by_likeness(of: Planted, rng: np.random.Generator) -> np.ndarray:
    taste = rng.standard_normal((of.query.max() + 1, of.vectors.shape[1]))[of.query]
    liked = (of.vectors * taste).sum(axis=1)
    liked -= means_of_like(liked, of.query)
    liked /= np.sqrt(means_of_like(liked**2, of.query))
    return np.clip(np.round(of.final + 0.7 * liked + 0.7 * rng.standard_normal(len(liked))), 0, 3).astype(int)


def by_length(of: Planted, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(len(of.final)) < of.long, _said(rng, of.final, LENIENT), _said(rng, of.final, NOISY))


def by_shortness(of: Planted, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(len(of.final)) > of.long, _said(rng, of.final, LENIENT), _said(rng, of.final, NOISY))


def finer(of: Planted, rng: np.random.Generator) -> np.ndarray:
    seen = np.log(of.ranked.fused + 1e-4)
    seen -= means_of_like(seen, of.ranked.same)
    seen /= np.sqrt(means_of_like(seen**2, of.ranked.same)).clip(1e-9)
    return np.clip(np.round(of.final + 0.6 * seen + 0.8 * rng.standard_normal(len(seen))), 0, 3).astype(int)


def one_of_them(of: Planted, rng: np.random.Generator) -> np.ndarray:
    said = [[grade for grade in given.values() if grade is not None] for given in of.given.values()]
    return np.array([given[int(rng.integers(len(given)))] for given in said])


def favours(of: Planted, rng: np.random.Generator) -> np.ndarray:
    lifted = of.liked & (rng.random(len(of.final)) < LIFTED)
    return np.minimum(3, _said(rng, of.final, MILD) + lifted)


def good(of: Planted, rng: np.random.Generator) -> np.ndarray:
    return _said(rng, of.final, MILD)


Judge = Callable[[Planted, np.random.Generator], np.ndarray]
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
CASES: dict[str, Judge] = {"good": good, "biased": favours, "lazy": KINDS["always 1"][0]}
"""The worked cases of `docs/explanation/model.md`."""
QUESTIONS = 50
"""Of Cranfield, where nothing else is said."""


def sentences(planted: Planted, kind: str, seeds: int) -> Counter[str]:
    """How often each sentence is said, how often the right one, and how often the plain rule names a run."""
    judge, right_ones = KINDS[kind]
    found: Counter[str] = Counter()
    for seed in range(seeds):
        opinion = judge(planted, generator(seed, kind))
        one = planted.held(opinion, kind)
        named = () if isinstance(one.favour, Undefined) else one.favour.gaining
        found[one.verdict] += 1
        found["right"] += one.verdict in right_ones and (
            one.verdict is not OpinionVerdict.FAVOURS or planted.favoured in named
        )
        found["plain"] += planted.redrawn(opinion)
    return found


def named(planted: Planted, kind: str, seeds: int, *, share: float) -> Counter[str]:
    """How often a run is named as favoured, and as losing, and how often the favourite is named first.

    share: of the pairs that people judged; below 1 a sample is drawn for each seed.
    """
    found: Counter[str] = Counter()
    for seed in range(seeds):
        opinion = KINDS[kind][0](planted, generator(seed, kind)).astype(np.float64)
        at, ranked = planted.sampled(share, seed) if share < 1 else (np.arange(len(opinion)), planted.ranked)
        one = ranked.favour(opinion[at], planted.judged.rule)
        assert not isinstance(one, Undefined)
        first = one.gaining[:1] == (planted.favoured,)
        found.update(gaining=bool(one.gaining), losing=bool(one.losing), favourite=first)
    return found


SMALL: dict[str, Judge] = {
    "favours": favours,
    "good": good,
    **{kind: KINDS[kind][0] for kind in ("noisy", "by length", "by likeness", "finer")},
}
"""Judges of small studies."""


def small_studies(planted: Planted, numbers: Sequence[int], seeds: int) -> Iterator[str]:
    """A line for each judge and number of topics: how often each sentence is said, and the favour that is visible."""
    for kind, judge in SMALL.items():
        for n in numbers:
            studies = [
                planted.held(judge(planted, generator(seed, kind)), kind, topics=planted.some_topics(n, seed))
                for seed in range(seeds)
            ]
            verdicts = Counter(study.verdict for study in studies)
            known = [study.favour for study in studies if not isinstance(study.favour, Undefined)]
            visible = np.median([np.inf if favour.visible is None else favour.visible for favour in known])
            needed = np.median([np.inf if favour.topics_needed is None else favour.topics_needed for favour in known])
            counts = "".join(f"{100 * verdicts[verdict] / seeds:9.0f}" for verdict in SHOWN_VERDICTS)
            yield f"{planted.whole.name:10}{kind:12}{n:7}{counts}{100 * visible:9.1f}{needed:8.0f}"


SHOWN_VERDICTS = (
    OpinionVerdict.AS_PEOPLE,
    OpinionVerdict.NOISY_BUT_FAIR,
    OpinionVerdict.NOISY,
    OpinionVerdict.FAVOURS,
    OpinionVerdict.DOES_NOT_JUDGE,
    OpinionVerdict.TOO_FEW,
)


def cases(planted: Planted) -> Iterator[str]:
    """The worked cases: the first sentence, and what the page tells of each."""
    for name, judge in CASES.items():
        one = planted.held(judge(planted, generator(1, name)), name)
        alphas = {
            row.whom: f"{float(row.between.figures['alpha_ordinal'].value):.2f}"  # type: ignore[arg-type]
            for row in one.agreement
            if row.facet == one.agreement[-1].facet and row.binarised_at is None
        }
        yield one.sentence
        yield "  ordinal alpha: " + ", ".join(f"{whom} {alphas[whom]}" for whom in (FINAL, EACH, PEOPLE))
        yield f"  replaces one assessor: {one.standing_in.may}, wins {one.standing_in.omega}"
        assert not isinstance(one.favour, Undefined)
        runs = sorted(one.favour.runs, key=lambda run: -run.by_model)
        for place, run in enumerate(one.favour.runs, start=1):
            if run.run in (*one.favour.gaining, planted.favoured, one.favour.runs[0].run):
                yield (
                    f"  {run.run}: place {place} by people, {runs.index(run) + 1} by the model; gain "
                    f"{100 * run.gain:+.1f}, beyond {100 * run.beyond:+.1f}, p {run.p_gains:.3f}"
                )


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cranfield", type=Path)
    parser.add_argument("csfcube", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--fair", type=int, default=100, help="seeds of fair judges")
    parser.add_argument("--only", choices=("Cranfield", "CSFCube"))
    parser.add_argument("--share", type=float, default=1.0, help="of the pairs that people judged; only favours then")
    parser.add_argument("--topics", type=int, nargs="+", help="instead, small studies of so many topics each")
    parser.add_argument("--cases", action="store_true", help="the worked cases of the page on models, on CSFCube")
    given = parser.parse_args()
    if given.cases:
        print("\n".join(cases(planted_on("CSFCube", given.csfcube))))
        return
    if given.topics:
        heads = "".join(f"{head:>9}" for head in ("agrees", "fair", "noisy", "favours", "no judge", "too few"))
        print(f"{'of 100':22}{'topics':>7}{heads}{'visible':>9}{'needed':>8}")
        for name in (given.only,) if given.only else ("CSFCube", "Cranfield"):
            planted = planted_on(name, given.csfcube if name == "CSFCube" else given.cranfield)
            for line in small_studies(planted, given.topics, given.seeds):
                print(line, flush=True)
        return
    print(f"{'of 100':27}{'right':>6}{'drawn anew':>12}{'favoured':>10}{'losing':>8}")
    for name in (given.only,) if given.only else ("CSFCube", "Cranfield"):
        planted = planted_on(name, given.csfcube if name == "CSFCube" else given.cranfield)
        for kind, (_, right) in KINDS.items():
            if given.share < 1:
                of = named(planted, kind, given.fair, share=given.share)
                favourite = f"{of['favourite']} times first" if kind == "favours" else ""
                print(f"{name:10}{kind:35}{of['gaining']:10.0f}{of['losing']:8.0f}  {favourite}", flush=True)
                continue
            said = sentences(planted, kind, given.seeds)
            seeds = given.fair if OpinionVerdict.NOISY_BUT_FAIR in right else given.seeds
            runs = named(planted, kind, seeds, share=1.0)
            shares = [100 * said[key] / given.seeds for key in ("right", "plain")]
            shares += [100 * runs[key] / seeds for key in ("gaining", "losing")]
            other = {str(key): n for key, n in said.items() if isinstance(key, OpinionVerdict) and key not in right}
            print(
                f"{name:10}{kind:17}{shares[0]:6.0f}{shares[1]:12.0f}{shares[2]:10.0f}{shares[3]:8.0f}  {other or ''}",
                flush=True,
            )


if __name__ == "__main__":
    main()
