"""What a person's answer makes of a paper's labels, and of its queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from annot.base.records import Paper, Query
from annot.base.templating import counted
from annot.corpus.facets.query_sentences import facet_sentences
from annot.labelstudio import controls
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person made of one paper."""

    paper: Paper
    """With the labels as corrected; without labels where the correction is not taken."""
    changed: int
    queries: tuple[Query, ...]
    """The queries of the paper that change, as they are to be."""
    notes: tuple[str, ...]
    made_at: str
    """By the server's clock."""


def correction_of(
    ws: Workspace, paper: Paper, answer: dict[str, Any], queries: dict[str, list[Query]], sent: set[str]
) -> Correction:
    """What the answer makes of the paper and of its queries.

    The sentences of a query follow the labels, unless a person had chosen them by number. What was sent to be judged
    stays as it was sent: assessors who see other sentences than their colleagues judge another query.
    """
    before = paper.labels or ()
    labels, without = _corrected(before, answer, ws.settings.labels.names)
    changed = sum(one != other for one, other in zip(before, labels, strict=True))
    if changed and paper.paper_id in sent:
        note = f"{paper.paper_id}: {counted(changed, 'correction')} not taken, since its queries had been sent already"
        return Correction(replace(paper, labels=None), 0, (), (note,), answer["updated_at"])
    follow, notes = [], []
    if gone := [at for at in without if paper.sentences[at].strip()]:
        kept = ", ".join(f"sentence {at + 1} ({before[at]})" for at in gone)
        what = f"the label of {counted(len(gone), 'sentence')} was taken away; the earlier one counts"
        notes.append(f"{paper.paper_id}: {what}: {kept}")
    for query in queries.get(paper.paper_id, ()):
        if query.facet not in ws.settings.facets:
            continue
        found = facet_sentences(labels, query.facet, facets=ws.settings.facets)
        if query.sentences == found or query.sentences != facet_sentences(
            before, query.facet, facets=ws.settings.facets
        ):
            continue
        if found:
            follow.append(replace(query, sentences=found))
        else:
            notes.append(f"{query.query_id}: no sentence has its facet now; its sentences stay as they were")
    return Correction(replace(paper, labels=labels), changed, tuple(follow), tuple(notes), answer["updated_at"])


def _corrected(
    before: Sequence[str], answer: dict[str, Any], known: Sequence[str]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The label of each sentence: as answered, or as it was if the answer has none; and the numbers of those without.

    A sentence that the answer gives a label which is not known is among those without.
    """
    labels, without = list(before), set(range(len(before)))
    for region in answer.get("result", ()):
        side, _, number = str(region.get("id", "")).partition("-")
        given = (region.get("value") or {}).get("labels") or []
        if region.get("from_name") != controls.SENTENCE_LABEL or side != "query" or not number.isdigit():
            continue
        if len(given) == 1 and given[0] in known and int(number) < len(labels):
            labels[int(number)] = given[0]
            without.discard(int(number))
    return tuple(labels), tuple(sorted(without))
