"""Judge a third of collections that were judged whole, again and again, and compare with the whole.

    python benchmarks/sampled_judging.py CRANFIELD CSFCUBE [--redraws 200] [--shares 0.15 0.33 0.5] [--only Cranfield]

Each time topics are drawn with replacement (40 of Cranfield's questions, CSFCube's 28 papers), pairs are sampled again,
and predictions are fitted again. A bias is against full judging of the same topics; intervals have to contain the mean
over all topics. A line for each design, share and measure:

- `level`: largest bias of a system's mean. `apart`: largest bias of a difference between two systems.
- `draw`: how many of 100 intervals of a difference over draws alone (1.96 design standard errors) held full judging.
- `means`, `diffs`: how many of 100 whole intervals (Student's t over topics) held; next to it those of full judging.
- `wider`: by how many percent intervals of differences are wider than under full judging. `1.96s`: the half width over
  draws alone. `same`: of 100 differences that full judging finds, those with the same sign; `kept`: those that the
  sample finds, too. `rev.`: largest number of 100 redraws in which one is reversed. `floor`: of 100 queries, those
  whose ideal was raised to what was found.
- `misses`: bars that the design misses. L: levels within .03 (at half .015). A: differences within .015. M, D: 92 to 98
  of 100 intervals of means and of differences hold. R: 1 reversal in 100.

Designs: `sample` is `annot plan --sample`. `f at 1` takes predictions at full weight, `f = 0` takes none. `uniform`
draws all pairs with one probability and predicts nothing. `best first` judges the best of the fused ranking, `bandit`
follows MaxMean (Losada, Parapar and Barreiro 2016, Feeling Lucky? Multi-armed Bandits for Ordering Judgements in
Pooling-based Evaluation, SAC); both count other pairs as 0. Then each family of systems is left out of pool, order and
model: the error of its systems less the mean error of all, and how many places its best system falls. Then agreement of
CSFCube's two assessors: bias of pooled figure, mean and median over draws, and their standard deviation in brackets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from annot.base.array_files import Array
from annot.base.records import Judgement
from annot.base.stats.inference import generator
from annot.measuring.agreement.estimates import agreement_table
from annot.measuring.sampled.grades import PoolGrades
from annot.pools.pooling import drawn, probabilities
from command import Command
from judged_whole import FAMILIES, JudgedWhole
from sampled_collections import HIGHEST, RULE, TOPICS, Collection, Sample, Topics, half_widths, named

SHARES = [0.15, 0.33, 0.5]
BARS = {0.33: 0.03, 0.5: 0.015}
Draw = Callable[[Collection, Topics, float, int], dict[str, PoolGrades]]
"""Grades of a sample: of these topics, this share, by a seed."""


def sampled(collection: Collection, topics: Topics, share: float, seed: int) -> Sample:
    """What `annot plan --sample` draws."""
    frozen = {name: collection.frozen[query_id] for name, query_id in topics.query.items()}
    return Sample(collection, topics.query, probabilities(frozen, share=share, rule=RULE), seed)


def uniform(collection: Collection, topics: Topics, share: float, seed: int) -> dict[str, PoolGrades]:
    """Every pair with the same probability."""
    pi = {name: dict.fromkeys(collection.frozen[query_id], round(share, 6)) for name, query_id in topics.query.items()}
    return Sample(collection, topics.query, pi, seed).grades("none")


def best_first(collection: Collection, topics: Topics, share: float, seed: int) -> dict[str, PoolGrades]:
    """The best of the fused ranking."""
    found = {}
    for name, query_id in topics.query.items():
        grades = collection.whole.grades[query_id]
        order = sorted(grades, key=lambda doc_id: (collection.frozen[query_id][doc_id].rank or 10**6, doc_id))
        found[name] = collection.known(
            query_id, {doc_id: grades[doc_id] for doc_id in order[: round(share * len(grades))]}
        )
    return found


def bandit(collection: Collection, topics: Topics, share: float, seed: int) -> dict[str, PoolGrades]:
    """MaxMean: the next document of the method whose judged documents were relevant most often."""
    found = {}
    for name, query_id in topics.query.items():
        grades, rng = collection.whole.grades[query_id], generator(seed, "bandit", name)
        left = {
            method: [doc_id for doc_id in ranks if doc_id in grades]
            for method, ranks in collection.ranks[query_id].items()
        }
        won, tried = dict.fromkeys(left, 1.0), dict.fromkeys(left, 2.0)
        judged: dict[str, int] = {}
        while len(judged) < round(share * len(grades)):
            left = {
                method: rest for method, docs in left.items() if (rest := [doc for doc in docs if doc not in judged])
            }
            if not left:
                break
            best = max(won[method] / tried[method] for method in left)
            tied = [method for method in left if won[method] / tried[method] == best]
            method = tied[int(rng.integers(len(tied)))]
            doc_id = left[method][0]
            judged[doc_id] = grades[doc_id]
            won[method] += grades[doc_id] >= collection.whole.relevant_from
            tried[method] += 1
        found[name] = collection.known(query_id, judged)
    return found


DESIGNS: dict[str, Draw] = {
    "sample": lambda *words: sampled(*words).grades("tuned"),
    "f at 1": lambda *words: sampled(*words).grades("full"),
    "f = 0": lambda *words: sampled(*words).grades("none"),
    "uniform": uniform,
    "best first": best_first,
    "bandit": bandit,
}


class Redraw(NamedTuple):
    """Figures of one redraw, for M measures, S systems and P pairs of systems; or of many, with an axis more in front.

    error, shape (M, S): the mean less that of full judging of the same topics. held, shape (M, S + P): whether whole
    intervals held the truth. Of the others, shape (M, P): drawn is whether the interval over draws alone held full
    judging's difference, half is half the whole interval, design the design standard error, way is 1 or -1 for the sign
    of the difference, sign the same where the interval excludes 0. `full` names full judging's own.
    """

    error: Array
    held: Array
    held_full: Array
    drawn: Array
    half: Array
    half_full: Array
    design: Array
    way: Array
    sign: Array
    sign_full: Array
    floored: Array

    def means(self, part: str, row: int) -> tuple[float, float]:
        """How many of 100 intervals held, of means and of differences, for a measure."""
        share = 100 * getattr(self, part)[:, row].mean(axis=0)
        systems = self.error.shape[-1]
        return share[:systems].mean(), share[systems:].mean()

    def bias(self, row: int) -> tuple[float, float]:
        """Largest bias of a system's mean, and of a difference, for a measure."""
        bias = self.error[:, row].mean(axis=0)
        return abs(bias).max(), np.ptp(bias)

    def missed(self, row: int, share: float) -> dict[str, bool]:
        """Bars, and whether the figures of a measure miss them."""
        (level, apart), (means, differences) = self.bias(row), self.means("held", row)
        return {
            "L": level > BARS.get(share, 0.03),
            "A": apart > 0.015,
            "M": not 92 <= means <= 98,
            "D": not 92 <= differences <= 98,
        }


def redraw(collection: Collection, topics: Topics, grades: Mapping[str, PoolGrades]) -> Redraw:
    """Figures of these topics with the grades of a sample."""
    at = [collection.queries.index(topics.query[name]) for name in topics.names]
    first, second = np.triu_indices(len(collection.systems), 1)
    found = [collection.measured(topics.query[name], grades[name]) for name in topics.names]
    values, full = np.stack([one[0] for one in found], axis=-1), collection.full[:, :, at]
    n, truth = len(at), collection.full.mean(axis=-1)
    variance = np.zeros((len(values), len(first)))
    for _, effects, _ in found:
        for row, of in enumerate(effects):
            square, inner = (of**2).sum(axis=1), of @ of.T
            # Two lists with the same effects differ by rounding.
            variance[row] += np.maximum(0.0, square[first] + square[second] - 2 * inner[first, second]) / n**2
    both, both_full = (np.concatenate([of, of[:, first] - of[:, second]], axis=1) for of in (values, full))
    true = np.concatenate([truth, truth[:, first] - truth[:, second]], axis=1)
    half, half_full = (half_widths(of, topics.cluster) for of in (both, both_full))
    mean, mean_full, s = both.mean(axis=-1), both_full.mean(axis=-1), len(collection.systems)
    return Redraw(
        error=(mean - mean_full)[:, :s],
        held=abs(mean - true) <= half,
        held_full=abs(mean_full - true) <= half_full,
        drawn=abs(mean - mean_full)[:, s:] <= 1.96 * np.sqrt(variance) + 1e-12,
        half=half[:, s:],
        half_full=half_full[:, s:],
        design=np.sqrt(variance),
        way=np.sign(mean[:, s:]),
        sign=_signs(mean, half)[:, s:],
        sign_full=_signs(mean_full, half_full)[:, s:],
        floored=np.asarray(np.mean([one[2] for one in found])),
    )


def redrawn(collection: Collection, draw: Draw, share: float, redraws: int) -> Redraw:
    """Topics and pairs drawn so many times."""
    found = []
    for seed in range(redraws):
        topics = collection.drawn_topics(seed)
        found.append(redraw(collection, topics, draw(collection, topics, share, seed)))
    return together(found)


def together(redraws: Sequence[Redraw]) -> Redraw:
    """Figures of many redraws."""
    return Redraw(*(np.array(part) for part in zip(*redraws, strict=True)))


def _signs(mean: Array, half: Array) -> Array:
    return np.sign(mean) * (abs(mean) > half)


def found_by_full_judging(collection: Collection) -> Array:
    """Of each pair of systems, 1 or -1 where full judging of all topics finds a difference: shape (M, P)."""
    first, second = np.triu_indices(len(collection.systems), 1)
    _, cluster = np.unique([collection.whole.topics[one] for one in collection.queries], return_inverse=True)
    differences = collection.full[:, first] - collection.full[:, second]
    return _signs(differences.mean(axis=-1), half_widths(differences, cluster))


def lines(collection: Collection, design: str, share: float, redraws: int) -> Iterator[str]:
    """What the redraws of one design and share show, a line a measure."""
    found, sure = redrawn(collection, DESIGNS[design], share, redraws), found_by_full_judging(collection)
    for row, (_, name) in enumerate(collection.whole.measures):
        (level, apart), (means, differences) = found.bias(row), found.means("held", row)
        full_means, full_differences = found.means("held_full", row)
        sign, full = found.sign[:, row], found.sign_full[:, row]
        reversed_ = 100 * (sign * sure[row] < 0).mean(axis=0).max()
        same, kept = (100 * (of == full)[full != 0].mean() for of in (found.way[:, row], sign))
        missed = found.missed(row, share) | {"R": reversed_ > 1}
        yield (
            f"{collection.whole.name:<10}{design:<11}{share:5.2f} {name:<9}"
            f"{level:7.3f}{apart:7.3f}{100 * found.drawn[:, row].mean():6.0f}"
            f"{means:8.1f} /{full_means:5.1f}{differences:8.1f} /{full_differences:5.1f}"
            f"{100 * (found.half[:, row].mean() / found.half_full[:, row].mean() - 1):6.0f}"
            f"{1.96 * found.design[:, row].mean():7.3f}{same:6.0f}{kept:6.0f}{reversed_:6.1f}"
            f"{100 * found.floored.mean():6.1f}  {''.join(bar for bar in missed if missed[bar]) or '-'}"
        )


def left_out_lines(whole: JudgedWhole, share: float, redraws: int) -> Iterator[str]:
    """Each family left out of pool, order and model: what its systems then get too little, by design."""
    errors: dict[str, list[float]] = {}
    falls: dict[str, list[int]] = {}
    for systems in FAMILIES.values():
        methods = tuple(name for name in whole.methods if name not in systems)
        pools = {
            query_id: {doc_id for name in methods for doc_id in whole.rankings[name][query_id]} & of.keys()
            for query_id, of in whole.grades.items()
        }
        grades = {query_id: {doc_id: of[doc_id] for doc_id in pools[query_id]} for query_id, of in whole.grades.items()}
        collection = Collection(replace(whole, methods=methods, grades=grades))
        own = [collection.systems.index(name) for name in systems]
        best = max(own, key=lambda at: collection.full[0, at].mean())
        for design, draw in DESIGNS.items():
            error = redrawn(collection, draw, share, redraws).error[:, 0].mean(axis=0)
            errors.setdefault(design, []).extend((error[own] - error.mean()).tolist())
            truth = collection.full[0].mean(axis=-1)
            before, after = (int((of > of[best]).sum()) for of in (truth, truth + error))
            falls.setdefault(design, []).append(after - before)
    for design, of in errors.items():
        yield (
            f"{whole.name:<10}{design:<11}{share:5.2f} {min(of):+7.3f} to {max(of):+.3f}"
            f"   falls by up to {max(falls[design])} of {len(whole.rankings)} places"
        )


Weights = Mapping[tuple[str, str], float] | None
AGREEMENT = ("alpha_ordinal", "kappa", "percent", "spearman_rho")


def agreement_lines(collection: Collection, share: float, draws: int) -> Iterator[str]:
    """How far agreement from a sample is off that of the whole pool, over draws: weighted by 1 / pi, and plain."""
    whole = collection.whole
    facets = {one: one for one in collection.queries}
    pi = probabilities(collection.frozen, share=share, rule=RULE)
    truth = _agreement(whole.judgements, facets, None)
    found: dict[str, list[Array]] = {"weighted": [], "plain": []}
    for seed in range(draws):
        there = {(query_id, doc_id) for query_id, of in drawn(pi, seed=seed).items() for doc_id in of}
        judged = [one for one in whole.judgements if one.pair in there]
        weights = {(query_id, doc_id): 1 / pi[query_id][doc_id] for query_id, doc_id in there}
        found["weighted"].append(_agreement(judged, facets, weights) - truth)
        found["plain"].append(_agreement(judged, facets, None) - truth)
    for name, errors in found.items():
        bias, spread = np.mean(errors, axis=0), np.std(errors, axis=0)
        for row, coefficient in enumerate(AGREEMENT):
            parts = " ".join(f"{b:+8.3f} ({e:.3f})" for b, e in zip(bias[row], spread[row], strict=True))
            yield f"{whole.name:<10}{name:<11}{share:5.2f} {coefficient:<14}{parts}"


def _agreement(judgements: Sequence[Judgement], facets: dict[str, str], weights: Weights) -> Array:
    """Shape (coefficients, 3): pooled, mean and median over queries; percentages as shares."""
    table = agreement_table(
        judgements, (), facets, grades=range(HIGHEST + 1), missing="drop", binarised_at=None, level=None, topics=None,
        coefficients=AGREEMENT, weights=weights,
    )  # fmt: skip
    summaries = [table.groups[-1].before[name] for name in AGREEMENT]
    values = np.array([(summary.pooled, summary.mean, summary.median) for summary in summaries], dtype=float)
    return np.asarray(values / np.where(np.array(AGREEMENT) == "percent", 100, 1)[:, None])


HEAD = (
    f"{'':<10}{'design':<11}share {'measure':<9}  level  apart  draw  means / full  diffs / full wider  1.96s"
    "  same  kept  rev. floor  misses"
)
COMMAND = Command(
    __doc__,
    paths=("cranfield", "csfcube"),
    options={"redraws": 200, "left-out": 20, "draws": 200, "shares": SHARES, "designs": [*DESIGNS], "only": None},
    choices={"designs": [*DESIGNS], "only": [*TOPICS]},
    smallest="CRANFIELD CSFCUBE --redraws 1 --left-out 0 --draws 1 --shares 0.33 --designs bandit --only CSFCube",
    seconds=lambda options: (
        (20 if options.only else 60)
        + len(options.shares)
        * (0.5 * options.redraws * len(options.designs) + 15 * options.left_out + 0.2 * options.draws)
        * (1 if options.only else 2)
    ),
)
"""`--left-out`: redraws with each family left out. `--draws`: draws for agreement. 0 leaves them out."""


def main() -> None:
    options = COMMAND.read()
    print(HEAD, flush=True)
    for name in (options.only,) if options.only else TOPICS:
        collection = Collection(named(name, options))
        for design in options.designs:
            for share in options.shares:
                for line in lines(collection, design, share, options.redraws):
                    print(line, flush=True)
        for share in options.shares if options.left_out else ():
            for line in left_out_lines(collection.whole, share, options.left_out):
                print(line, flush=True)
        for share in options.shares if options.draws and collection.whole.judgements else ():
            for line in agreement_lines(collection, share, options.draws):
                print(line, flush=True)


if __name__ == "__main__":
    main()
