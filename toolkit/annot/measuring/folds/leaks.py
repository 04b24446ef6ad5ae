"""What two sides of a split share: papers, candidates, pairs, and texts that are nearly the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annot.base.errors import LeakError
from annot.base.records import Paper, Query

NEAR = 0.6
"""The share of word 5-grams in common (Jaccard) from which two texts are near-duplicates."""
WORDS = 5


@dataclass(frozen=True, slots=True)
class Leaks:
    """What the two sides share; a judged pair, a query paper or a near-copy of one on both sides makes a figure void.

    Candidates on both sides are common where queries are close, and are reported: a system could learn them by heart.
    So are pairs the other way round: two query papers, each judged for the other.
    """

    query_papers: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    candidates: tuple[str, ...]
    other_way_round: tuple[tuple[str, str], ...]
    """Query papers, of which the first side judged the second's for the first's, and the second side the reverse."""
    near_duplicates: tuple[tuple[str, str, float], ...]
    """A query paper of each side, and how much of their texts is the same."""


def find_leaks(
    train: Sequence[Query], test: Sequence[Query], *, pools: Mapping[str, Iterable[str]], papers: Mapping[str, Paper]
) -> Leaks:
    """Compare two sides. pools: the documents of each query. papers: the query papers at least, by id."""
    sides, judged = [], []
    for queries in (train, test):
        judged.append({(query.paper_id, doc_id) for query in queries for doc_id in pools.get(query.query_id, ())})
        pairs = {(query.query_id, doc_id) for query in queries for doc_id in pools.get(query.query_id, ())}
        sides.append(({query.paper_id for query in queries}, pairs, {doc_id for _, doc_id in pairs}))
    (own, pairs, candidates), (theirs, other_pairs, other_candidates) = sides
    return Leaks(
        tuple(sorted(own & theirs)),
        tuple(sorted(pairs & other_pairs)),
        tuple(sorted(candidates & other_candidates)),
        tuple(sorted(judged[0] & {(doc_id, paper_id) for paper_id, doc_id in judged[1]})),
        tuple(_near_duplicates(own - theirs, theirs - own, papers)),
    )


def refuse_leaks(leaks: Leaks, *, where: str) -> None:
    """Raise LeakError, with every fault, where a figure would be void."""
    faults = [f"{paper_id}: a query paper of both sides" for paper_id in leaks.query_papers]
    faults += [f"{query_id} {doc_id}: a judged pair of both sides" for query_id, doc_id in leaks.pairs]
    faults += [f"{one} and {two}: {100 * share:.0f}% the same text" for one, two, share in leaks.near_duplicates]
    if faults:
        hint = "`annot query folds --redraw` draws folds that keep papers and their near-copies together"
        raise LeakError(f"{where}: training and test are not apart", faults=faults, hint=hint)


def near_copies(papers: Iterable[Paper]) -> tuple[tuple[str, str], ...]:
    """Every two of these papers whose texts are nearly the same."""
    by_id = {paper.paper_id: paper for paper in papers}
    return tuple((one, two) for one, two, _ in _near_duplicates(by_id, by_id, by_id) if one < two)


def _near_duplicates(
    left: Iterable[str], right: Iterable[str], papers: Mapping[str, Paper]
) -> Iterable[tuple[str, str, float]]:
    theirs = {paper_id: _pieces(papers[paper_id]) for paper_id in sorted(right) if paper_id in papers}
    holding: dict[tuple[str, ...], list[str]] = {}
    for two, pieces in theirs.items():
        for piece in pieces:
            holding.setdefault(piece, []).append(two)
    for one in sorted(left):
        own = _pieces(papers[one]) if one in papers else frozenset()
        common = Counter(two for piece in own for two in holding.get(piece, ()))
        for two in sorted(common):
            share = common[two] / (len(own) + len(theirs[two]) - common[two])
            if share >= NEAR:
                yield one, two, share


def _pieces(paper: Paper) -> frozenset[tuple[str, ...]]:
    words = " ".join((paper.title, *paper.sentences)).lower().split()
    return frozenset(zip(*(words[start:] for start in range(WORDS)), strict=False))
