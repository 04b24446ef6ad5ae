"""The one tie rule: higher score first, then smaller id.

Scores are compared as they are written: rounded to `SCORE_DIGITS` significant digits, so that a ranking read back from
its file has the order it had in memory. Ids are compared as strings. trec_eval has its own: of documents that tie, the
larger id first; its measures are taken in that order (`as_trec_eval`).
"""

from __future__ import annotations

from collections.abc import Iterable

from annot.base.records import ScoredDoc

SCORE_DIGITS = 6
WRITTEN = f".{SCORE_DIGITS}g"
"""The format of a score in every file that carries scores."""


def round_score(score: float) -> float:
    """`score` at `SCORE_DIGITS` significant digits, the precision of every file that carries scores."""
    return float(format(score, WRITTEN))


def ranked(scored: Iterable[ScoredDoc]) -> tuple[ScoredDoc, ...]:
    """The documents best first: rounded score descending, then `doc_id` ascending."""
    # Tuples compare faster than a key is made for each document.
    falling = sorted([(-round_score(score), doc_id) for doc_id, score in scored])
    return tuple([ScoredDoc(doc_id, -negated) for negated, doc_id in falling])


def as_trec_eval(scored: Iterable[ScoredDoc]) -> tuple[ScoredDoc, ...]:
    """The documents as trec_eval orders those of a run file, whatever ranks it has: ties by `doc_id` descending."""
    largest_id_first = ranked(scored)[::-1]
    return tuple(sorted(largest_id_first, key=lambda doc: -doc.score))
