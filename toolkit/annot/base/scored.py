"""Orders of documents whose scores come from outside.

Such scores keep all their digits. trec_eval reads them in single precision, and puts the larger id first if they tie;
its measures are taken in that order (`as_trec_eval`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from annot.base.records import ScoredDoc


def in_order(scored: Iterable[tuple[str, float]]) -> tuple[ScoredDoc, ...]:
    """Order the documents with all digits of their scores, best first: score descending, then `doc_id` ascending."""
    # Tuples compare faster than a key is made for each document.
    falling = sorted([(-score, doc_id) for doc_id, score in scored])
    return tuple([ScoredDoc(doc_id, -negated) for negated, doc_id in falling])


def single_precision(scores: Iterable[float]) -> list[float]:
    """Convert scores as trec_eval reads them: 16777217 becomes 16777216, and 1e39 infinite."""
    return array("f", scores).tolist()


def as_trec_eval(scored: Iterable[ScoredDoc]) -> tuple[ScoredDoc, ...]:
    """Order the documents as trec_eval orders those of a run file, whatever ranks it has.

    Scores tie if they are equal in single precision; ties go by `doc_id` descending (`form_res_rels.c`).
    """
    documents = sorted(scored, key=lambda doc: doc.doc_id, reverse=True)
    scores = single_precision(doc.score for doc in documents)
    order = sorted(range(len(documents)), key=lambda position: -scores[position])
    return tuple([documents[position] for position in order])
