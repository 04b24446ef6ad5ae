"""The one tie rule: higher score first, then smaller id.

Scores are compared as they are written: rounded to `SCORE_DIGITS` significant digits, so that a ranking read back from
its file has the order it had in memory. Ids are compared as strings. trec_eval has its own: of documents that tie, the
larger id first; its measures are taken in that order (`as_trec_eval`).
"""

from __future__ import annotations

from collections.abc import Iterable

from annot.records import ScoredDoc

SCORE_DIGITS = 6


def round_score(score: float) -> float:
    """`score` at `SCORE_DIGITS` significant digits, the precision of every file that carries scores."""
    return float(f"{score:.{SCORE_DIGITS}g}")


def ranked(scored: Iterable[ScoredDoc]) -> tuple[ScoredDoc, ...]:
    """The documents best first: rounded score descending, then `doc_id` ascending."""
    rounded = (ScoredDoc(doc.doc_id, round_score(doc.score)) for doc in scored)
    return tuple(sorted(rounded, key=lambda doc: (-doc.score, doc.doc_id)))


def as_trec_eval(scored: Iterable[ScoredDoc]) -> tuple[ScoredDoc, ...]:
    """The documents as trec_eval orders those of a run file, whatever ranks it has: ties by `doc_id` descending."""
    largest_id_first = ranked(scored)[::-1]
    return tuple(sorted(largest_id_first, key=lambda doc: -doc.score))
