"""What tasks are made of: texts, sentence labels, queries and guidelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annot.labelstudio.screens import instructions_html
from annot.labelstudio.tasks import Place, Text, judge_task
from annot.records import Asked, Paper, Query
from annot.store.database import Store
from annot.store.queries import read_queries
from annot.study import guidelines
from annot.study.corpus_facts import labels_of, papers_of
from annot.study.workspace import Workspace

LABELS_FROM = "sentence-labels"
"""Named as the predictions' model: one word for every origin, since the origin is none of the assessor's business."""


@dataclass(frozen=True, slots=True)
class TaskMaterial:
    """What tasks are made of: papers, labels and queries of the planned pairs, and the guidelines of their facets."""

    queries: Mapping[str, Query]
    papers: Mapping[str, Paper]
    labels: Mapping[str, tuple[str, ...]]
    guidelines: Mapping[str, guidelines.Guidelines]


def material_of(ws: Workspace, store: Store, pairs: set[tuple[str, str]]) -> TaskMaterial:
    """The texts, labels and guidelines for these pairs. Raises MissingInput for papers that are not in the corpus."""
    with store.read() as session:
        queries = {query.query_id: query for query in read_queries(session)}
        ids = {queries[query_id].paper_id for query_id, _ in pairs} | {doc_id for _, doc_id in pairs}
        found = papers_of(ws, ids)
        labels = labels_of(session, ids)
    facets = sorted({queries[query_id].facet for query_id, _ in pairs})
    return TaskMaterial(queries, found, labels, {facet: guidelines.read(ws, facet) for facet in facets})


def task_of(ws: Workspace, material: TaskMaterial, asked: Asked, place: Place) -> dict[str, Any]:
    """The judging task of one pair."""
    query = material.queries[asked.query_id]
    return judge_task(
        asked=asked,
        facet=query.facet,
        facet_help=material.guidelines[query.facet].definition,
        facet_labels=ws.settings.facets[query.facet],
        place=place,
        query=_text(material, query.paper_id),
        candidate=_text(material, asked.doc_id),
        query_sentences=query.sentences,
        model_version=LABELS_FROM,
    )


def places(sequence: list[Asked]) -> list[Place]:
    """Where each task of a person's sequence stands: in all, and in its query."""
    sizes = Counter(asked.query_id for asked in sequence)
    numbers: dict[str, int] = {}
    seen: Counter[str] = Counter()
    found = []
    for position, asked in enumerate(sequence, start=1):
        query_id = asked.query_id
        seen[query_id] += 1
        number = numbers.setdefault(query_id, len(numbers) + 1)
        found.append(Place(position, len(sequence), number, seen[query_id], sizes[query_id]))
    return found


def instructions_of(ws: Workspace, material: TaskMaterial, *, adjudication: bool) -> str:
    """The guidelines of every facet there is, and the keys, as the project's instructions."""
    pages = [guidelines.general(ws), *(guideline.text for guideline in material.guidelines.values())]
    return instructions_html(pages, scale_names=ws.settings.scale.names, adjudication=adjudication)


def _text(material: TaskMaterial, paper_id: str) -> Text:
    paper = material.papers[paper_id]
    return Text(paper.title, paper.sentences, material.labels[paper_id])
