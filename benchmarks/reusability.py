"""Count how often `annot reusability` says care, fair, or not known, where it is known what each method finds alone.

    python benchmarks/reusability.py [--studies 200] [--papers 6 12 25 50]

Each paper has two facets and one pool of eight methods, 13 papers a method in turns, from rankings of 60 of 300 papers.
10 to 60 of these are relevant (grade 2 or 3 in a facet), twice as many have grade 1; a method sees how relevant a paper
is, with noise of its own and noise that all share. What a method finds alone it ranks high, and others see nothing in
it. Collections: `fair`: all methods see everything. `copies`: the same, in pairs of near copies. `few papers`: each
method finds 15% alone, in one query paper of eight. `at the edge`: one method finds as much alone as the tolerance, so
that neither care nor fair is right. `one in ten`: one method finds 10% alone. `clumped`: the same in the mean, gamma
distributed over query papers with a standard deviation as large as the mean. Prints, of 100 studies, how many are
called care, fair, and not known; how often the method is named; and the mean loss of that method, or of all.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from annot.base.array_files import Array
from annot.base.records import Pool, Qrel, Ranking, ScoredDoc, ranked
from annot.measuring.reusability import Loss, Run, finds_of, losses, verdict_of
from annot.pools.pooling import draw
from command import Command
from numpy.random import Generator

METHODS = tuple(f"m{at}" for at in range(8))
TOLERANCE, LEVEL = 0.05, 0.95
DOCS, DEPTH, PER_METHOD, FACETS = 300, 60, 13, ("method", "result")
CLEAR = 2.0
"""How relevant a paper looks to the method that finds it alone; 1 is what others are to all."""
EDGE = 0.034
"""The share of the relevant papers whose loss is about the tolerance."""


class Kind(NamedTuple):
    """own: by method and query paper, the share of the relevant papers that it finds alone. copies: are methods so?"""

    own: Callable[[Generator, int], Array]
    copies: bool = False
    one: bool = False


def _of_first(share: Callable[[Generator, int], Array]) -> Callable[[Generator, int], Array]:
    def own(chance: Generator, papers: int) -> Array:
        found = np.zeros((len(METHODS), papers))
        found[0] = share(chance, papers)
        return found

    return own


KINDS = {
    "fair": Kind(lambda chance, papers: np.zeros((len(METHODS), papers))),
    "copies": Kind(lambda chance, papers: np.zeros((len(METHODS), papers)), copies=True),
    "few papers": Kind(lambda chance, papers: 0.15 * (chance.random((len(METHODS), papers)) < 1 / 8)),
    "at the edge": Kind(_of_first(lambda chance, papers: 2 * EDGE * (chance.random(papers) < 0.5)), one=True),
    "one in ten": Kind(_of_first(lambda chance, papers: np.full(papers, 0.1)), one=True),
    "clumped": Kind(_of_first(lambda chance, papers: np.minimum(0.5, chance.exponential(0.1, papers))), one=True),
}


COMMAND = Command(
    __doc__,
    options={"studies": 200, "papers": [6, 12, 25, 50], "kinds": [*KINDS]},
    choices={"kinds": [*KINDS]},
    smallest="--studies 2 --papers 6",
    seconds=lambda options: 1 + 0.014 * len(options.kinds) * options.studies * sum(options.papers),
)


def main() -> None:
    options = COMMAND.read()
    print(f"{'':12} {'papers':>6} {'care':>6} {'fair':>6} {'open':>6} {'named':>6} {'loss':>6}")
    for name in options.kinds:
        for papers in options.papers:
            said: Counter[str] = Counter()
            named, lost = 0, []
            for study in range(options.studies):
                found = certified(KINDS[name], papers, np.random.default_rng([papers, study]))
                verdict, _ = verdict_of(found, tolerance=TOLERANCE)
                said[verdict] += 1
                named += any(one.method == METHODS[0] and one.place == "above" for one in found)
                lost += [one.loss for one in found if not KINDS[name].one or one.method == METHODS[0]]
            shares = [100 * said[verdict] / options.studies for verdict in ("care", "fair", "unknown")]
            of_first = f"{100 * named / options.studies:6.1f}" if KINDS[name].one else f"{'':6}"
            told = " ".join(f"{share:6.1f}" for share in shares)
            print(f"{name:12} {papers:6} {told} {of_first} {np.mean(lost):6.3f}", flush=True)


def certified(kind: Kind, papers: int, chance: Generator) -> Sequence[Loss]:
    """The losses of one study."""
    own = kind.own(chance, papers)
    sight = chance.uniform(2.0, 3.0, len(METHODS))
    pools: dict[str, Pool] = {}
    rankings: dict[str, dict[str, Ranking]] = {method: {} for method in METHODS}
    qrels: list[Qrel] = []
    of: dict[str, str] = {}
    for at in range(papers):
        paper = f"p{at}"
        scores, grades = _scored(chance, own[:, at], sight, copies=kind.copies)
        for method, row in zip(METHODS, scores, strict=True):
            rankings[method][paper] = ranked(ScoredDoc(f"d{doc}", row[doc]) for doc in range(DOCS))[:DEPTH]
        pools[paper] = draw(
            {method: rankings[method][paper] for method in METHODS}, topic_id=paper, cited=None, cited_outside=None,
            mode="round-robin", per_method=PER_METHOD, ranking_depth=DEPTH, seed=at, without=(), excluded=(),
        )  # fmt: skip
        for facet, of_facet in zip(FACETS, grades, strict=True):
            of[f"{paper}-{facet}"] = paper
            pooled = (entry.doc_id for entry in pools[paper].entries)
            qrels += [Qrel(f"{paper}-{facet}", doc_id, int(of_facet[int(doc_id[1:])])) for doc_id in pooled]
    return losses(finds_of(pools), rankings, qrels, of, _ndcg(qrels), relevant_from=2, tolerance=TOLERANCE, level=LEVEL)


def _scored(chance: Generator, own: Array, sight: Array, *, copies: bool) -> tuple[Array, Array]:
    """What each method gives each document, and the grades by facet."""
    relevant = int(np.clip(chance.lognormal(3.2, 0.5), 10, 60))
    grades = np.zeros((len(FACETS), DOCS))
    grades[:, :relevant] = np.where(
        chance.random((len(FACETS), relevant)) < 0.7, chance.integers(2, 4, (len(FACETS), relevant)), 0
    )
    grades[:, relevant : 3 * relevant] = chance.random((len(FACETS), 2 * relevant)) < 0.5
    level = np.zeros(DOCS)
    level[:relevant], level[relevant : 3 * relevant] = 1.0, 0.4
    seen = np.tile(level, (len(METHODS), 1))
    # As many as the share says, rounded by chance.
    counts = np.floor(own * relevant + chance.random(len(METHODS))).astype(int)
    for doc, finder in zip(chance.permutation(relevant), np.repeat(np.arange(len(METHODS)), counts), strict=False):
        seen[:, doc] = 0
        seen[finder, doc] = CLEAR
    noise = chance.normal(0, 0.7, (len(METHODS), DOCS))
    if copies:
        noise[1::2] = noise[::2] + chance.normal(0, 0.15, noise[::2].shape)
    return sight[:, None] * seen + chance.normal(0, 0.5, DOCS) + noise, grades


def _ndcg(qrels: Sequence[Qrel]) -> Callable[[Mapping[str, Run]], dict[str, dict[str, float]]]:
    """nDCG as trec_eval has it."""
    graded: dict[str, dict[str, int]] = {}
    for query_id, doc_id, grade in qrels:
        graded.setdefault(query_id, {})[doc_id] = grade
    discount = 1 / np.log2(np.arange(2, DOCS + 2))
    ideal = {query: max(1e-9, np.sort([*of.values()])[::-1] @ discount[: len(of)]) for query, of in graded.items()}

    def gain(query: str, docs: Ranking) -> float:
        return float(np.array([graded[query].get(doc.doc_id, 0) for doc in docs]) @ discount[: len(docs)])

    return lambda runs: {
        run: {query: gain(query, of[query]) / ideal[query] for query in graded} for run, of in runs.items()
    }


if __name__ == "__main__":
    main()
