"""Papers in the newest version that was judged, if their text was corrected while people judged."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annot.base.records import Judgement, Paper, Query
from annot.store.shown import Display, ShownVersion
from annot.study.shown_contents import with_text
from annot.study.shown_versions import by_part, numbered, version_record
from annot.study.snapshot import Snapshot

SIDES = {"topic": "topic_labels", "document": "document_labels"}
"""The parts of a display that are texts, and where it has their labels."""


@dataclass(frozen=True, slots=True)
class JudgedVersion:
    """The newest version of a corrected text on which a judgement rests."""

    version: ShownVersion
    labels: tuple[str, ...]
    """Of its sentences, as a task showed them; empty if they are not on record."""
    sentences: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By query on it, the sentences that were asked."""


def judged_versions(study: Snapshot) -> dict[str, JudgedVersion]:
    """The version in which each corrected paper is published, by id; of papers that nobody has judged, none.

    A pair that stays with an earlier version has its text in the file of versions.
    """
    given = {one for one in study.outcome.current if one.counts}
    shown = [(one, study.displays[one]) for one in given if one in study.displays]
    found = {}
    for text_id, versions in study.text_versions.items():
        for version in reversed(versions):
            matches = list(_showing(text_id, version.sha256, shown, study.topics))
            if matches:
                found[text_id] = _judged(version, matches)
                break
    return found


def _showing(
    text_id: str, sha256: str, shown: Iterable[tuple[Judgement, Display]], topics: Mapping[str, str]
) -> Iterator[tuple[Judgement, Display, str]]:
    for one, display in shown:
        ids = {"topic": topics[one.query_id], "document": one.doc_id}
        for part in SIDES:
            if ids[part] == text_id and display.get(part) == sha256:
                yield one, display, part


def _judged(version: ShownVersion, matches: list[tuple[Judgement, Display, str]]) -> JudgedVersion:
    labels = next((tuple(display[SIDES[part]]) for _, display, part in matches if SIDES[part] in display), ())
    sentences = {
        one.query_id: tuple(display["query_sentences"])
        for one, display, part in matches
        if part == "topic" and "query_sentences" in display
    }
    return JudgedVersion(version, labels, sentences)


def with_judged_texts(papers: Iterable[Paper], judged: Mapping[str, JudgedVersion]) -> Iterator[Paper]:
    """The papers, each in the version that was judged."""
    for paper in papers:
        if paper.paper_id in judged:
            paper = with_text(paper, judged[paper.paper_id].version.body, paper.labels)
        yield paper


def with_judged_sentences(queries: Iterable[Query], judged: Mapping[str, JudgedVersion]) -> tuple[Query, ...]:
    """The queries, with their sentences in the version of their topic that was judged."""
    return tuple(
        replace(query, sentences=judged[query.topic_id].sentences.get(query.query_id, query.sentences))
        if query.topic_id in judged
        else query
        for query in queries
    )


def version_records(
    study: Snapshot, judged: Mapping[str, JudgedVersion], *, of_models: Collection[str], with_text: bool
) -> list[dict[str, Any]]:
    """Every version of the corrected papers that people judged or a model read, as the file of versions has it.

    of_models: SHA-256 of the texts that models read whose opinions are released.
    """
    return [
        version_record(version)
        | ({"in_force": version.sha256 == judged[version.subject].version.sha256} if version.subject in judged else {})
        | ({"content": json.loads(version.body)} if with_text else {})
        for version in numbered(by_part(study.text_versions))
        if version.subject in judged or any(one.sha256 in of_models for one in study.text_versions[version.subject])
    ]
