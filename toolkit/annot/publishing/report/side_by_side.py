"""The two papers of a pair beside each other, as its assessors saw them, and what the guidelines say of the grades."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from annot.base.names import called
from annot.base.records import Paper, Topic
from annot.judging.guideline_faults import criteria_of, read_pages
from annot.publishing.judged_papers import judged_versions, with_judged_sentences
from annot.publishing.report.document import Abstract, SideBySide
from annot.store.facet_labels import read_labels
from annot.study.adjudication import Pair
from annot.study.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Screens:
    """What the screens and the guidelines have of the pairs."""

    query_marks: Mapping[str, Collection[int]]
    """The sentences of each query, from 0."""
    labels: Mapping[str, tuple[str, ...]]
    """Of the sentences of each paper."""
    facets: Mapping[str, tuple[str, ...]]
    """The labels that make each facet."""
    scale: tuple[str, ...]
    criteria: Mapping[str, Mapping[int, str]]
    """By facet, what its page says of each grade."""


def screens_of(snapshot: Snapshot, paper_ids: Collection[str], facets: Collection[str]) -> Screens:
    """What the screens mark of these papers, and the guidelines say of these facets."""
    ws = snapshot.ws
    pages, _ = read_pages(ws) if facets else ({}, [])
    with ws.reading() as session:
        labels = {one.paper_id: one.labels for one in read_labels(session, sorted(paper_ids))}
    judged = judged_versions(snapshot)
    labels |= {text_id: one.labels for text_id, one in judged.items() if text_id in paper_ids}
    return Screens(
        query_marks={query.query_id: query.sentences for query in with_judged_sentences(snapshot.queries, judged)},
        labels=labels,
        facets=ws.settings.facets,
        scale=ws.settings.scale.names,
        criteria={facet: criteria_of(pages[facet]) for facet in facets if facet in pages},
    )


def side_by_side(
    pair: Pair,
    facet: str,
    grades: Iterable[int],
    query: Paper | Topic | None,
    candidate: Paper | Topic | None,
    said: Screens,
    *,
    summary: str,
    told: str = "",
) -> SideBySide:
    """The pair, folded under `summary`, with the texts that are here. told: a sentence above them."""
    query_id, doc_id = pair
    of_facet = said.facets.get(facet, ())
    by_label = [i for i, label in enumerate(said.labels.get(doc_id, ())) if label in of_facet]
    heads = ("Query", "Candidate") if called().unit == "paper" else ("Topic", "Document")
    sides = ((heads[0], query, said.query_marks.get(query_id, ())), (heads[1], candidate, by_label))
    of_grade = said.criteria.get(facet, {})
    return SideBySide(
        summary,
        tuple(Abstract(name, one.title, _sentences(one), frozenset(marks)) for name, one, marks in sides if one),
        tuple((f"{grade} {said.scale[grade]}", of_grade[grade]) for grade in grades if of_grade.get(grade)),
        told,
    )


def _sentences(one: Paper | Topic) -> tuple[str, ...]:
    """What there is to read besides the title."""
    return one.sentences if isinstance(one, Paper) else tuple(filter(None, (one.description, one.narrative)))
