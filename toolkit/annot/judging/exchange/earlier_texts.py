"""What the tasks of a pair show that stays with an earlier version of its topic or its document."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.records import Paper, Query, Topic
from annot.corpus.correcting import corrections
from annot.store.shown import Display, content
from annot.study.judged_texts import JudgedTexts, Pair, judged_texts
from annot.study.shown_contents import with_text


class ShownPair(NamedTuple):
    """The two sides of a pair as a task shows them, and the sentences that are asked."""

    query: Query
    topic: Paper | Topic
    document: Paper


def earlier_texts(
    session: Session, newest: Mapping[Pair, ShownPair], *, labelled: Collection[Pair]
) -> dict[Pair, ShownPair]:
    """The pairs among these that people judge on an earlier version, as they are to see them.

    newest: the same with the newest texts. labelled: the pairs whose sentences have labels. Raises InputError if the
    labels of an earlier text are on record nowhere.
    """
    pairs = [one for pair, one in judged_texts(session).items() if one.kept and pair in newest]
    bodies = content(session, {one.required[text_id] for one in pairs for text_id in one.kept})
    marks = _Marks(session)
    found, faults = {}, []
    for one in pairs:
        query, topic, document = newest[one.pair]
        if isinstance(topic, Paper) and topic.paper_id in one.kept:
            topic = _text(topic, one, bodies, marks.labels(topic.paper_id, one, "topic"))
            query = replace(query, sentences=marks.sentences(query, one))
        if document.paper_id in one.kept:
            document = _text(document, one, bodies, marks.labels(document.paper_id, one, "document"))
        found[one.pair] = ShownPair(query, topic, document)
        if one.pair in labelled:
            sides = (side for side in (topic, document) if isinstance(side, Paper))
            faults += [side.paper_id for side in sides if len(side.labels or ()) != len(side.sentences)]
    if faults:
        raise InputError(
            "earlier texts have no sentence labels on record",
            faults=[f"{paper_id}: the text before its correction has no labels" for paper_id in sorted({*faults})],
            hint='have these pairs judged again: `annot corpus corrected --of ID --again "WHY"`',
        )
    return found


def _text(paper: Paper, pair: JudgedTexts, bodies: Mapping[str, str], labels: Sequence[str] | None) -> Paper:
    return with_text(paper, bodies[pair.required[paper.paper_id]], labels)


class _Marks:
    """The labels of earlier texts and the sentences of queries on them."""

    def __init__(self, session: Session) -> None:
        self._labels: dict[tuple[str, str], tuple[str, ...]] = {}
        self._sentences: dict[tuple[str, str], tuple[int, ...]] = {}
        for past in corrections(session):
            for text_id, sha256 in past.texts.items():
                if text_id in past.labels:
                    self._labels[text_id, sha256] = past.labels[text_id]
                self._sentences |= {(query_id, sha256): places for query_id, places in past.sentences.items()}

    def labels(self, text_id: str, pair: JudgedTexts, part: str) -> Sequence[str] | None:
        """As the task of an answer had them; else as they were when the text was corrected."""
        shown: Display = pair.kept[text_id]
        return shown.get(f"{part}_labels") or self._labels.get((text_id, pair.required[text_id]))

    def sentences(self, query: Query, pair: JudgedTexts) -> tuple[int, ...]:
        """The same of the sentences that are asked."""
        shown = pair.kept[query.topic_id].get("query_sentences")
        known = self._sentences.get((query.query_id, pair.required[query.topic_id]), query.sentences)
        return known if shown is None else tuple(shown)
