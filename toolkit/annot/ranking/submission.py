"""Runs that were made elsewhere: read from disk, what is wrong with them, and the ranking that stated rules leave."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.errors import FindingError
from annot.base.records import Ranking, ScoredDoc, ranked, round_score
from annot.base.templating import counted
from annot.formats.submitted_run import SubmittedRun, higher_is_better, read_metadata, read_submitted
from annot.study.workspace import given_bytes, given_text

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class SubmissionFinding:
    """Something that is not as a run of these pools is."""

    what: str
    """`missing queries`, `missing candidates`, `foreign queries`, `foreign candidates`, `duplicates` or `ties`; of the
    ranking of a pooling method also `missing query papers` and `foreign documents`."""
    count: int
    queries: int
    examples: tuple[str, ...]


class SubmissionRules(NamedTuple):
    """What is done with each."""

    foreign: str | None
    """`drop` or `keep` (unjudged candidates: not relevant); None: the run is refused."""
    duplicates: str | None
    """`best`: the better score counts; None: the run is refused."""
    missing: str
    """`out`: left out, as in both conventions; `last`: ranked below all others, by id."""


def look(
    documents: Mapping[str, Sequence[ScoredDoc]], candidates: Mapping[str, Collection[str]]
) -> tuple[SubmissionFinding, ...]:
    """What is found in the run. candidates: by query, the documents that were to be ranked.

    Ties are of scores as they are kept, at six significant digits.
    """
    missing, foreign, double, tied = [], [], [], []
    for query_id in sorted(documents.keys() & candidates.keys()):
        docs, wanted = documents[query_id], set(candidates[query_id])
        ids = {doc.doc_id for doc in docs}
        missing += [(query_id, doc_id) for doc_id in sorted(wanted - ids)]
        foreign += [(query_id, doc_id) for doc_id in sorted(ids - wanted)]
        double += [(query_id, doc_id) for doc_id in duplicates_in(docs)]
        tied += [(query_id, doc_id) for doc_id in ties_in(docs)]
    found = {
        "missing queries": [(query_id, "") for query_id in sorted(candidates.keys() - documents.keys())],
        "foreign queries": [(query_id, "") for query_id in sorted(documents.keys() - candidates.keys())],
        "missing candidates": missing,
        "foreign candidates": foreign,
        "duplicates": double,
        "ties": tied,
    }
    return findings_of(found)


def duplicates_in(docs: Sequence[ScoredDoc]) -> list[str]:
    """The documents that are there twice."""
    return [doc_id for doc_id, times in sorted(Counter(doc.doc_id for doc in docs).items()) if times > 1]


def ties_in(docs: Sequence[ScoredDoc]) -> list[str]:
    """The documents that have a score in common, score by score."""
    by_score: dict[float, set[str]] = {}
    for doc_id, score in docs:
        by_score.setdefault(round_score(score), set()).add(doc_id)
    return [doc_id for tied in by_score.values() if len(tied) > 1 for doc_id in sorted(tied)]


def by_best_score(docs: Sequence[ScoredDoc], kept: Collection[str] | None) -> Ranking:
    """The documents in order, each once with its best score; kept: of these documents, None of all."""
    scores: dict[str, float] = {}
    for doc_id, score in docs:
        if kept is None or doc_id in kept:
            scores[doc_id] = max(score, scores.get(doc_id, score))
    return ranked(ScoredDoc(doc_id, score) for doc_id, score in scores.items())


def findings_of(found: Mapping[str, Sequence[tuple[str, str]]]) -> tuple[SubmissionFinding, ...]:
    """What was found: by its kind the (query, document) of each place, the document empty where none is meant."""
    return tuple(
        SubmissionFinding(
            what,
            len(pairs),
            len({query for query, _ in pairs}),
            tuple(" ".join(one).strip() for one in pairs[:EXAMPLES]),
        )
        for what, pairs in found.items()
        if pairs
    )


def refused(findings: Sequence[SubmissionFinding], rules: SubmissionRules) -> tuple[SubmissionFinding, ...]:
    """The findings for which the rules have no answer."""
    rule_of = {"foreign": rules.foreign, "duplicates": rules.duplicates}
    return tuple(one for one in findings if rule_of.get(one.what.split()[0], "kept") is None)


def settled(
    documents: Mapping[str, Sequence[ScoredDoc]], candidates: Mapping[str, Collection[str]], rules: SubmissionRules
) -> dict[str, Ranking]:
    """The rankings that the rules leave, of the queries that are known."""
    return {
        query_id: _settled(documents[query_id], candidates[query_id], rules)
        for query_id in sorted(documents.keys() & candidates.keys())
    }


def _settled(docs: Sequence[ScoredDoc], wanted: Collection[str], rules: SubmissionRules) -> Ranking:
    ranking = by_best_score(docs, None if rules.foreign == "keep" else wanted)
    if rules.missing != "last":
        return ranking
    last = min((round_score(doc.score) for doc in ranking), default=0.0)
    # As far below as a score of six digits shows.
    below = last - max(1.0, abs(last))
    missing = set(wanted) - {doc.doc_id for doc in ranking}
    return ranked([*ranking, *(ScoredDoc(doc_id, below) for doc_id in missing)])


class SubmittedFile(NamedTuple):
    """A run, and the SHA-256 of its file."""

    run: SubmittedRun
    sha256: str


def read_run_file(path: Path, *, distances: bool) -> SubmittedFile:
    """The run in the file; distances: its scores are distances. Raises InputError where it is none."""
    data = given_bytes(path, expected="a TREC run, or CSFCube's ranked pools")
    run = higher_is_better(read_submitted(data, name=str(path)), name=str(path), distances=distances)
    return SubmittedFile(run, hashlib.sha256(data).hexdigest())


def read_metadata_file(path: Path | None) -> dict[str, Any]:
    """The metadata in the file; none where none is named. Raises InputError where it is not metadata."""
    if path is None:
        return {}
    return read_metadata(given_text(path, expected="metadata in YAML or JSON"), name=str(path))


def refuse_findings(findings: Sequence[SubmissionFinding], path: Path, remedies: Mapping[str, str]) -> None:
    """Raise FindingError with the findings, if there are any. remedies: by what was found, the option for it."""
    if findings:
        raise FindingError(
            f"{path}: not imported",
            faults=[
                f"{one.what}: {one.count} in {counted(one.queries, 'query')}: {', '.join(one.examples)}"
                for one in findings
            ],
            hint="correct the file, or say " + " and ".join(dict.fromkeys(remedies[one.what] for one in findings)),
        )
