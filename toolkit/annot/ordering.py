"""The one tie rule: higher score first, then smaller id.

Scores are compared as they are written: rounded to `SCORE_DIGITS` significant digits, so that a ranking read back from
its file has the order it had in memory. Ids are compared as strings.
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
