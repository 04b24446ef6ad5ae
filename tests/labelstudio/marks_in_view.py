"""Marked sentences of CSFCube's pairs that are out of view when a pair opens: every pair of the release, in Chromium.

A pair is out of view if some sentence of the facet, in either column, is not wholly inside its column.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.records import PairKey, Query
from annot.base.settings import Settings
from annot.labelstudio.tasks import judge_task
from annot_csfcube.contents import is_release_file
from annot_csfcube.files import read_release

HELP = "What is asked of each pair stands here, in a line of about the length that a definition of a facet has in use."

OUT_OF_VIEW = """pairs => {
    const frame = document.querySelector('.annot .a-pair').parentElement;
    const before = frame.innerHTML;
    const hidden = column => {
        const box = column.getBoundingClientRect();
        return [...column.querySelectorAll('.a-hit')].some(sentence => {
            const own = sentence.getBoundingClientRect();
            return own.top < box.top - 1 || own.bottom > box.bottom + 1;
        });
    };
    const counted = [];
    for (const pair of pairs) {
        frame.innerHTML = pair;
        const columns = [...frame.querySelectorAll('.a-text')];
        frame.getBoundingClientRect();
        const opened = columns.some(hidden);
        columns.forEach(column => column.scrollTo(0, 0));
        counted.push([opened, columns.some(hidden)]);
    }
    frame.innerHTML = before;
    return counted;
}"""
"""For each pair's HTML: is a marked sentence out of view as the pair opens, and would one be without scrolling."""


class Opened(NamedTuple):
    """The pairs of one facet in one window."""

    pairs: int
    out_of_view: int
    unscrolled: int
    """Out of view when nothing had scrolled."""


def release_tasks(folder: Path) -> list[dict[str, Any]]:
    """The judging task of every pooled pair of a CSFCube release, in every facet of ours.

    The release's queries keep their own sentences; a facet that it did not ask of a paper has those labelled so.
    """
    settings = Settings()
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    release = read_release(
        {name: path.read_bytes() for name, path in paths.items() if is_release_file(name)},
        name=str(folder),
        known_labels=settings.labels.names,
        facet_labels=settings.facets,
    )
    papers = {paper.paper_id: paper for paper in release.papers}
    queries = {query.query_id: query for query in release.queries}
    tasks = []
    for pool in release.pools:
        documents = [entry.doc_id for entry in pool.entries]
        for facet, labels in settings.facets.items():
            query_id, paper = f"{pool.topic_id}-{facet}", papers[pool.topic_id]
            by_label = tuple(index for index, label in enumerate(paper.labels or ()) if label in labels)
            for place, doc_id in enumerate(documents, start=1):
                tasks.append(
                    judge_task(
                        question=PairKey(query_id, doc_id),
                        query=queries.get(query_id) or Query(query_id, pool.topic_id, facet, by_label),
                        topic=paper,
                        document=papers[doc_id],
                        facet_help=HELP,
                        facet_labels=labels,
                        progress=f"37 of 300 · query 4, candidate {place} of {len(documents)}",
                        first=False,
                        fold_after=500,
                        mark_terms=False,
                    )
                )
    return tasks


def opened(page: Any, tasks: Sequence[dict[str, Any]]) -> dict[str, Opened]:
    """What is out of view, by facet and `all` together; `page` shows a task of the judging screen."""
    found = page.evaluate(OUT_OF_VIEW, [task["data"]["pair_html"] for task in tasks])
    by_facet: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for task, (out, unscrolled) in zip(tasks, found, strict=True):
        for name in (task["data"]["facet"], "all"):
            by_facet[name].append((out, unscrolled))
    return {
        name: Opened(len(each), sum(out for out, _ in each), sum(before for _, before in each))
        for name, each in by_facet.items()
    }
