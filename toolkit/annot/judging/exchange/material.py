"""What tasks are made of: texts, sentence labels, queries and guidelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annot.base.errors import InputError
from annot.base.records import Asked, Paper, Query
from annot.corpus.corpus_facts import labels_of, papers_of
from annot.labelstudio.controls import Screen
from annot.labelstudio.screens import instructions_html
from annot.labelstudio.tasks import LAST_FOR_NOW, judge_task
from annot.store.database import Store
from annot.store.queries import read_queries
from annot.study import guidelines
from annot.study.workspace import Workspace

FIRST: dict[Screen, str] = {"adjudicate": "adjudication", "feedback": "training", "full-text": "full-text"}
"""The page that comes before the general one on these screens."""


@dataclass(frozen=True, slots=True)
class TaskMaterial:
    """What tasks are made of: queries, labelled papers of the planned pairs, and the guidelines of their facets."""

    queries: Mapping[str, Query]
    papers: Mapping[str, Paper]
    guidelines: Mapping[str, guidelines.Guidelines]


def material_of(ws: Workspace, store: Store, pairs: set[tuple[str, str]]) -> TaskMaterial:
    """The texts, labels and guidelines for these pairs. Raises MissingInput for papers that are not in the corpus,
    and InputError for labels that are not those of the study."""
    with store.read() as session:
        queries = {query.query_id: query for query in read_queries(session)}
        ids = {queries[query_id].paper_id for query_id, _ in pairs} | {doc_id for _, doc_id in pairs}
        found = papers_of(ws, ids)
        labels = labels_of(session, ids)
    check_labels(ws, labels)
    papers = {paper_id: replace(paper, labels=labels[paper_id]) for paper_id, paper in found.items()}
    facets = sorted({queries[query_id].facet for query_id, _ in pairs})
    return TaskMaterial(queries, papers, {facet: guidelines.read(ws, facet) for facet in facets})


def check_labels(ws: Workspace, labels: Mapping[str, Sequence[str]]) -> None:
    """Raise InputError when sentences have labels that are not those of the study. labels: by paper."""
    if others := sorted({label for own in labels.values() for label in own}.difference(ws.settings.labels.names)):
        raise InputError(
            f"sentences are labelled {', '.join(others)}, but the labels of the study are "
            f"{', '.join(ws.settings.labels.names)}",
            hint="label the corpus again with `annot facets`, or change [labels] in annot.toml",
        )


def tasks_of(
    ws: Workspace, material: TaskMaterial, sequence: Sequence[Asked], *, more: bool = False
) -> dict[Asked, dict[str, Any]]:
    """The judging tasks of a person's sequence, in its order; each tells where it stands, in all and in its query.

    The last says that it is the last for now, unless others follow that are counted apart (`more`).
    """
    sizes = Counter(asked.query_id for asked in sequence)
    numbers = {query_id: number for number, query_id in enumerate(sizes, start=1)}
    seen: Counter[str] = Counter()
    tasks = {}
    # In the order of the labels, whatever order the facet names them in.
    facet_labels = {
        facet: [label for label in ws.settings.labels.names if label in (own or (label,))]
        for facet, own in ws.settings.facets.items()
    }
    for position, asked in enumerate(sequence, start=1):
        query = material.queries[asked.query_id]
        seen[query.query_id] += 1
        within = f"candidate {seen[query.query_id]} of {sizes[query.query_id]}"
        place = f"{position} of {len(sequence)}" + (LAST_FOR_NOW if position == len(sequence) and not more else "")
        tasks[asked] = judge_task(
            asked=asked,
            query=query,
            query_paper=material.papers[query.paper_id],
            candidate=material.papers[asked.doc_id],
            facet_help=material.guidelines[query.facet].definition,
            facet_labels=facet_labels[query.facet],
            progress=f"{place} · query {numbers[query.query_id]}, {within}",
        )
    return tasks


def instructions_of(ws: Workspace, material: TaskMaterial, *, screen: Screen) -> str:
    """The task, the guidelines of every facet there is, and the keys, as the project's instructions."""
    names = [FIRST[screen], "general"] if screen in FIRST else ["general"]
    pages = [guidelines.page(ws, name) for name in names] + [one.text for one in material.guidelines.values()]
    return instructions_html(
        pages,
        scale_names=ws.settings.scale.names,
        labels=ws.settings.labels.names,
        language=ws.settings.collection.language,
        screen=screen,
    )
