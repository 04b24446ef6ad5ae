"""Papers of a pair side by side, as their assessors saw them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annot.base.names import StudyVocabulary
from annot.base.records import Judgement, Paper, Query, Topic
from annot.base.settings import CollectionSettings
from annot.base.words import ENGLISH, Words
from annot.judging.guideline_faults import criteria_of, read_pages
from annot.labelstudio.tasks import IN_ENGLISH, spoken
from annot.publishing.report.cells import TextCell
from annot.publishing.report.tables import Abstract, SideBySide
from annot.store.facet_labels import read_labels
from annot.store.shown import Display, ShownVersion
from annot.study.outcome import Pair
from annot.study.shown_versions import by_part, numbered, version_record, with_text
from annot.study.snapshot import Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# Papers in the newest version that was judged, if their text was corrected while people judged.
# ----------------------------------------------------------------------------------------------------------------------


SIDES = {"topic": "topic_labels", "document": "document_labels"}
"""The parts of a display that are texts, and where it has their labels."""


class JudgedVersion:
    """The newest version of a corrected text on which a judgement rests. matches: these judgements, with what they
    showed and the part of it that is the text."""

    def __init__(self, version: ShownVersion, matches: list[tuple[Judgement, Display, str]]) -> None:
        self.version = version
        self.labels = next((tuple(display[SIDES[part]]) for _, display, part in matches if SIDES[part] in display), ())
        """Sentences of the query, as a task showed them; empty if they are not on record."""
        self.sentences = {
            answer.query_id: tuple(display["query_sentences"])
            for answer, display, part in matches
            if part == "topic" and "query_sentences" in display
        }
        """Sentences that were judged, by query on the text."""


def judged_versions(study: Snapshot) -> dict[str, JudgedVersion]:
    """Version in which each corrected paper is published, by id; papers that are not judged are left out.

    A pair that stays with an earlier version has its text in the file of versions.
    """
    counting = {answer for answer in study.outcome.current if answer.counts}
    shown = [(answer, study.displays[answer]) for answer in counting if answer in study.displays]
    version_of = {}
    for text_id, versions in study.text_versions.items():
        for version in reversed(versions):
            matches = list(_showing(text_id, version.sha256, shown, study.topics))
            if matches:
                version_of[text_id] = JudgedVersion(version, matches)
                break
    return version_of


def _showing(
    text_id: str, sha256: str, shown: Iterable[tuple[Judgement, Display]], topics: Mapping[str, str]
) -> Iterator[tuple[Judgement, Display, str]]:
    for answer, display in shown:
        ids = {"topic": topics[answer.query_id], "document": answer.doc_id}
        for part in SIDES:
            if ids[part] == text_id and display.get(part) == sha256:
                yield answer, display, part


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
    study: Snapshot, judged: Mapping[str, JudgedVersion], *, others: Collection[str], with_text: bool
) -> list[dict[str, Any]]:
    """Every version of the corrected papers that people judged, as in the file of versions.

    others: SHA-256 of further texts, whose versions are included.
    """
    return [
        version_record(version)
        | ({"in_force": version.sha256 == judged[version.subject].version.sha256} if version.subject in judged else {})
        | ({"content": json.loads(version.body)} if with_text else {})
        for version in numbered(by_part(study.text_versions))
        if version.subject in judged
        or any(text_version.sha256 in others for text_version in study.text_versions[version.subject])
    ]


# ----------------------------------------------------------------------------------------------------------------------
# The two papers of a pair side by side, as its assessors saw them, and what the guidelines say of the grades.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Screens:
    """Marks and criteria that the screens and the guidelines show with the pairs."""

    query_marks: Mapping[str, Collection[int]]
    """The sentences of each query, from 0."""
    labels: Mapping[str, tuple[str, ...]]
    """Labels of the sentences of each paper."""
    facets: Mapping[str, tuple[str, ...]]
    """The labels that make each facet."""
    scale: tuple[str, ...]
    criteria: Mapping[str, Mapping[int, str]]
    """Criteria of each grade on the facet's page, by facet."""
    collection: CollectionSettings = IN_ENGLISH


def screens_of(
    snapshot: Snapshot, paper_ids: Collection[str], facets: Collection[str], say: Words = ENGLISH
) -> Screens:
    """Marks of the screens on these papers, and criteria of the guidelines for these facets, in that language."""
    ws = snapshot.ws
    pages, _ = read_pages(ws, say) if facets else ({}, [])
    with ws.reading() as session:
        labels = {labelled.paper_id: labelled.labels for labelled in read_labels(session, sorted(paper_ids))}
    judged = judged_versions(snapshot)
    labels |= {text_id: text.labels for text_id, text in judged.items() if text_id in paper_ids}
    return Screens(
        query_marks={query.query_id: query.sentences for query in with_judged_sentences(snapshot.queries, judged)},
        labels=labels,
        facets=ws.settings.facets,
        scale=tuple(map(say.name, ws.settings.scale.names)),
        criteria={facet: criteria_of(pages[facet]) for facet in facets if facet in pages},
        collection=ws.settings.collection,
    )


def side_by_side(
    pair: Pair,
    facet: str,
    grades: Iterable[int],
    query: Paper | Topic | None,
    candidate: Paper | Topic | None,
    screens: Screens,
    words: StudyVocabulary,
    *,
    summary: str,
    introduction: str = "",
    say: Words = ENGLISH,
) -> SideBySide:
    """The pair, folded under `summary`, with the texts that are here. introduction: a sentence above them."""
    query_id, doc_id = pair
    of_facet = screens.facets.get(facet, ())
    by_label = [i for i, label in enumerate(screens.labels.get(doc_id, ())) if label in of_facet]
    topic, document = heads(words, say)
    sides = ((topic, query, screens.query_marks.get(query_id, ())), (document, candidate, by_label))
    of_grade = screens.criteria.get(facet, {})
    return SideBySide(
        summary,
        tuple(
            Abstract(name, text_cell(text.title, text, screens.collection, say), _sentences(text), frozenset(marks))
            for name, text, marks in sides
            if text
        ),
        tuple((f"{grade} {screens.scale[grade]}", of_grade[grade]) for grade in grades if of_grade.get(grade)),
        introduction,
    )


def text_cell(shown: str, text: Paper | Topic, collection: CollectionSettings, say: Words = ENGLISH) -> TextCell:
    """A text of the study as a page shows it. say: the words of the page."""
    cell, language = TextCell(shown), spoken(text, collection)
    cell.language = None if language == say.language else language
    return cell


def heads(words: StudyVocabulary, say: Words) -> tuple[str, str]:
    """Headings of the two texts of a pair."""
    first, second = ("query", "candidate") if words.document == "paper" else ("topic", "document")
    return say(f"task.{first}"), say(f"task.{second}")


def _sentences(text: Paper | Topic) -> tuple[str, ...]:
    """Text in addition to the title."""
    return text.sentences if isinstance(text, Paper) else tuple(filter(None, (text.description, text.narrative)))
