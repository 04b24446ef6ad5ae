"""What is wrong with a run that somebody hands in, and the ranking that is left by stated rules: nothing in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annot.base.ordering import ranked, round_score
from annot.base.records import Ranking, ScoredDoc

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as a run of these pools is."""

    what: str
    """`missing queries`, `missing candidates`, `foreign queries`, `foreign candidates`, `duplicates` or `ties`."""
    count: int
    queries: int
    examples: tuple[str, ...]


class Rules(NamedTuple):
    """What is done with each."""

    foreign: str | None
    """`drop` or `keep` (unjudged candidates: not relevant); None: the run is refused."""
    duplicates: str | None
    """`best`: the better score counts; None: the run is refused."""
    missing: str
    """`out`: left out, as in both conventions; `last`: ranked below all others, by id."""


def look(
    documents: Mapping[str, Sequence[ScoredDoc]], candidates: Mapping[str, Collection[str]]
) -> tuple[Finding, ...]:
    """What is found in the run. candidates: by query, the documents that were to be ranked.

    Ties are of scores as they are kept, at six significant digits.
    """
    missing, foreign, double, tied = [], [], [], []
    for query_id in sorted(documents.keys() & candidates.keys()):
        docs, wanted = documents[query_id], set(candidates[query_id])
        ids = [doc.doc_id for doc in docs]
        missing += [(query_id, doc_id) for doc_id in sorted(wanted - set(ids))]
        foreign += [(query_id, doc_id) for doc_id in sorted(set(ids) - wanted)]
        double += [(query_id, doc_id) for doc_id, times in sorted(Counter(ids).items()) if times > 1]
        by_score: dict[float, list[str]] = {}
        for doc_id, score in docs:
            by_score.setdefault(round_score(score), []).append(doc_id)
        tied += [(query_id, doc_id) for of in by_score.values() if len(set(of)) > 1 for doc_id in sorted(set(of))]
    found = {
        "missing queries": [(query_id, "") for query_id in sorted(candidates.keys() - documents.keys())],
        "foreign queries": [(query_id, "") for query_id in sorted(documents.keys() - candidates.keys())],
        "missing candidates": missing,
        "foreign candidates": foreign,
        "duplicates": double,
        "ties": tied,
    }
    return findings_of(found)


def findings_of(found: Mapping[str, Sequence[tuple[str, str]]]) -> tuple[Finding, ...]:
    """What was found: by its kind the (query, document) of each place, the document empty where none is meant."""
    return tuple(
        Finding(
            what,
            len(pairs),
            len({query for query, _ in pairs}),
            tuple(" ".join(one).strip() for one in pairs[:EXAMPLES]),
        )
        for what, pairs in found.items()
        if pairs
    )


def refused(findings: Sequence[Finding], rules: Rules) -> tuple[Finding, ...]:
    """The findings for which the rules have no answer."""
    answered = {"foreign queries": rules.foreign, "foreign candidates": rules.foreign, "duplicates": rules.duplicates}
    return tuple(one for one in findings if answered.get(one.what, "told") is None)


def settled(
    documents: Mapping[str, Sequence[ScoredDoc]], candidates: Mapping[str, Collection[str]], rules: Rules
) -> dict[str, Ranking]:
    """The rankings that the rules leave, of the queries that are known."""
    return {
        query_id: _settled(documents[query_id], candidates[query_id], rules)
        for query_id in sorted(documents.keys() & candidates.keys())
    }


def _settled(docs: Sequence[ScoredDoc], wanted: Collection[str], rules: Rules) -> Ranking:
    scores: dict[str, float] = {}
    for doc_id, score in docs:
        if rules.foreign == "keep" or doc_id in wanted:
            scores[doc_id] = max(score, scores.get(doc_id, score))
    if rules.missing == "last":
        last = min((round_score(score) for score in scores.values()), default=0.0)
        # As far below as a score of six digits shows.
        below = last - max(1.0, abs(last))
        scores |= dict.fromkeys(set(wanted) - scores.keys(), below)
    return ranked(ScoredDoc(doc_id, score) for doc_id, score in scores.items())
