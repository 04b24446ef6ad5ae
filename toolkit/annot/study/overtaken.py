"""Answers that changed after their pair was adjudicated; the adjudication stands, and the lead is told."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from annot.store.adjudications import ADJUDICATIONS
from annot.store.judgements import JUDGEMENTS
from annot.store.revisions import RESTORED, Sourced
from annot.study.adjudication import Pair

SHOWN = 3


@dataclass(frozen=True, slots=True)
class Overtaken:
    """An assessor's answer as it was when the pair was adjudicated, and as it is now; None is `cannot judge`."""

    query_id: str
    doc_id: str
    assessor: str
    before: int | None
    after: int | None


def overtaken_of(session: Session) -> tuple[Overtaken, ...]:
    """Every answer of the first occasion that changed after the decision that counts, by pair and assessor."""
    decided: dict[Pair, str] = {
        line.stands.record.pair: _moment(line.stands)
        for line in ADJUDICATIONS.lines(session)
        if line.counts and _moment(line.stands)
    }
    given: defaultdict[tuple[str, str, str], list[Sourced[Any]]] = defaultdict(list)
    for answer in JUDGEMENTS.answers(session):
        record = answer.record
        if answer.ruling != RESTORED and record.occasion == 1 and record.pair in decided:
            given[(*record.pair, record.assessor)].append(answer)
    found = []
    for (query_id, doc_id, assessor), answers in sorted(given.items()):
        at = decided[query_id, doc_id]
        before = [answer.record for answer in answers if _moment(answer) <= at]
        after = [answer.record for answer in answers if _moment(answer) > at]
        if before and after and _said(before[-1]) != _said(after[-1]):
            found.append(Overtaken(query_id, doc_id, assessor, before[-1].grade, after[-1].grade))
    return tuple(found)


def told_overtaken(found: tuple[Overtaken, ...]) -> str:
    """The answers in one sentence, with the first pairs; empty where there are none."""
    if not found:
        return ""
    pairs = list(dict.fromkeys((one.query_id, one.doc_id) for one in found))
    shown = ", ".join(" ".join(pair) for pair in pairs[:SHOWN]) + (", ..." if len(pairs) > SHOWN else "")
    return f"{len(found)} answer(s) changed after their pair was adjudicated, which stands: {shown}"


def _said(record: Any) -> tuple[int | None, str | None]:
    return record.grade, record.cannot_judge


def _moment(answer: Sourced[Any]) -> str:
    """When it was said; older records know of a change only when it was recorded."""
    first = answer.record.judged_at if answer.record.revision == 1 else answer.recorded_at
    return answer.changed_at or first or ""
