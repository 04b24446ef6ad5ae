"""Examples for a page of guidelines from the study's own pairs, in place of those that come with annot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from annot.base.errors import MissingInput
from annot.base.records import Paper
from annot.corpus.corpus_facts import labels_where_asked, papers_of
from annot.publishing.report.sections.examples import chosen
from annot.publishing.report.study import Study
from annot.store import trials
from annot.study import guidelines
from annot.study.adjudication import Pair
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace

TO_WRITE = "WHY: one sentence on why this pair has this grade."
"""A line in place of the lead's reason if none is on record; `annot check guidelines` finds it."""


def page_with_examples(ws: Workspace, facet: str) -> tuple[str, tuple[Pair, ...]]:
    """The page of a facet with one pair of the study below each grade, and which of the pairs are gold.

    A gold pair that was never sent comes first, with its reason; then a pair that is settled and no longer in anybody's
    work. Nothing is written. Raises MissingInput if there is neither.
    """
    text, snapshot = guidelines.without_examples(guidelines.read(ws, facet, examples=False).text), read_snapshot(ws)
    with ws.reading() as session:
        sent, queries = trials.read_pairs(session), {query.query_id: query for query in snapshot.queries}
        gold = [row for row in trials.read_gold(session) if row.pair not in sent]
        pairs = {example.final: (example.pair, "") for example in chosen(Study(snapshot), facet)}
        pairs |= {row.grade: (row.pair, row.why) for row in reversed(gold) if queries[row.query_id].facet == facet}
        if not pairs:
            raise MissingInput(
                f"no pair of {facet} is settled, and none is gold",
                hint="grade some pairs yourself (`annot train gold FILE`), or wait until people have judged some",
            )
        names = {name for pair, _ in pairs.values() for name in (queries[pair[0]].topic_id, pair[1])}
        papers = papers_of(ws, names - snapshot.texts.keys())
        labels = labels_where_asked(ws, session, papers)
    for grade, (pair, why) in pairs.items():
        query, document = queries[pair[0]], papers[pair[1]]
        marked = [place for place, label in enumerate(labels[pair[1]]) if label in ws.settings.facets.get(facet, ())]
        topic = snapshot.texts.get(query.topic_id)
        question = f"Asked: {topic.title}" if topic else _quoted("Query", papers[query.topic_id], query.sentences)
        lines = ("### For example", question, _quoted("Candidate", document, marked), why or TO_WRITE)
        text = re.sub(rf"(?ms)^##+ {grade}\b.*?(?=^##+ |\Z)", partial(_with_lines, lines=lines), text)
    return text.rstrip() + "\n", tuple(row.pair for row in gold if (row.pair, row.why) in pairs.values())


def _with_lines(section: re.Match[str], lines: Sequence[str]) -> str:
    return "\n\n".join((section[0].rstrip(), *lines)) + "\n\n"


def _quoted(name: str, paper: Paper, marked: Sequence[int]) -> str:
    """The first marked sentences that follow each other, or all if none is marked, as a quotation with its paper."""
    run = [place for turn, place in enumerate(marked) if place == marked[0] + turn] or range(len(paper.sentences))
    return f"> **{name}** ({paper.paper_id}): {' '.join(paper.sentences[place] for place in run)}"
