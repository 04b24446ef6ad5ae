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
"""What stands for the lead's word where none is on record; `annot check guidelines` finds it."""


def page_with_examples(ws: Workspace, facet: str) -> tuple[str, tuple[Pair, ...]]:
    """The page of a facet with one pair of the study below each grade, and which of the pairs are gold.

    A gold pair that was sent to nobody comes first, with its reason; then a pair that is settled, and that nobody is
    still to judge. Nothing is written. Raises MissingInput if there is neither.
    """
    text, snapshot = guidelines.without_examples(guidelines.read(ws, facet, examples=False).text), read_snapshot(ws)
    with ws.reading() as session:
        sent, known = trials.read_pairs(session), {query.query_id: query for query in snapshot.queries}
        gold = [one for one in trials.read_gold(session) if one.pair not in sent]
        pairs = {one.final: (one.pair, "") for one in chosen(Study(snapshot), facet)}
        pairs |= {one.grade: (one.pair, one.why) for one in reversed(gold) if known[one.query_id].facet == facet}
        if not pairs:
            raise MissingInput(
                f"no pair of {facet} is settled, and none is gold",
                hint="grade some pairs yourself (`annot train gold FILE`), or wait until people have judged some",
            )
        names = {name for pair, _ in pairs.values() for name in (known[pair[0]].topic_id, pair[1])}
        papers = papers_of(ws, names - snapshot.texts.keys())
        labels = labels_where_asked(ws, session, papers)
    for grade, (pair, why) in pairs.items():
        query, document = known[pair[0]], papers[pair[1]]
        marked = [at for at, label in enumerate(labels[pair[1]]) if label in ws.settings.facets.get(facet, ())]
        topic = snapshot.texts.get(query.topic_id)
        asked = f"Asked: {topic.title}" if topic else _quoted("Query", papers[query.topic_id], query.sentences)
        lines = ("### For example", asked, _quoted("Candidate", document, marked), why or TO_WRITE)
        text = re.sub(rf"(?ms)^##+ {grade}\b.*?(?=^##+ |\Z)", partial(_with_lines, lines=lines), text)
    return text.rstrip() + "\n", tuple(one.pair for one in gold if (one.pair, one.why) in pairs.values())


def _with_lines(section: re.Match[str], lines: Sequence[str]) -> str:
    return "\n\n".join((section[0].rstrip(), *lines)) + "\n\n"


def _quoted(name: str, paper: Paper, marked: Sequence[int]) -> str:
    """The first marked sentences that follow each other, or all if none is marked, as a quotation with its paper."""
    run = [at for place, at in enumerate(marked) if at == marked[0] + place] or range(len(paper.sentences))
    return f"> **{name}** ({paper.paper_id}): {' '.join(paper.sentences[at] for at in run)}"
