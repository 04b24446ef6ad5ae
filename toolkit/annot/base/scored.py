"""Documents with their scores, and the orders in which they are ranked.

Scored documents are in order of score, highest first, then of id, smallest first (`in_order`). The program's own
scores are rounded to `SCORE_DIGITS` significant digits first (`ranked`): their last digits depend on the linear algebra
library. Scores that come from outside keep their digits. trec_eval reads scores in single precision and puts the larger
id first where they tie; its measures are taken in that order (`as_trec_eval`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple


class ScoredDoc(NamedTuple):
    """A document and its score; higher is better."""

    doc_id: str
    score: float


Ranking = tuple[ScoredDoc, ...]
"""Documents best first, as `in_order` has them."""

SCORE_DIGITS = 6
WRITTEN = f".{SCORE_DIGITS}g"
"""The format of the program's own scores in files."""


def round_score(score: float) -> float:
    """`score` at `SCORE_DIGITS` significant digits, the precision of the program's own scores."""
    return float(format(score, WRITTEN))


def ranked(scored: Iterable[ScoredDoc]) -> tuple[ScoredDoc, ...]:
    """The documents with rounded scores, best first: score descending, then `doc_id` ascending."""
    return in_order((doc_id, round_score(score)) for doc_id, score in scored)


def in_order(scored: Iterable[tuple[str, float]]) -> tuple[ScoredDoc, ...]:
    """The documents with all digits of their scores, best first: score descending, then `doc_id` ascending."""
    # Tuples compare faster than a key is made for each document.
    falling = sorted([(-score, doc_id) for doc_id, score in scored])
    return tuple([ScoredDoc(doc_id, -negated) for negated, doc_id in falling])


def single_precision(scores: Iterable[float]) -> list[float]:
    """The scores as trec_eval reads them: 16777217 is 16777216, and 1e39 is infinite."""
    return array("f", scores).tolist()


def as_trec_eval(scored: Iterable[ScoredDoc]) -> tuple[ScoredDoc, ...]:
    """The documents as trec_eval orders those of a run file, whatever ranks it has.

    Scores tie where they are equal in single precision; ties go by `doc_id` descending (`form_res_rels.c`).
    """
    documents = sorted(scored, key=lambda doc: doc.doc_id, reverse=True)
    scores = single_precision(doc.score for doc in documents)
    return tuple([documents[at] for at in sorted(range(len(documents)), key=lambda at: -scores[at])])
