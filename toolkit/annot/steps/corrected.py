"""The pairs that were judged before their topic or document was corrected, and the lead's decisions on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from annot.base.errors import InputError
from annot.base.names import known_query
from annot.judging.text_decisions import corrected_texts, decide
from annot.publishing.report.tables import Column, Columns
from annot.publishing.report.words import sentences
from annot.store.queries import read_queries
from annot.store.text_rulings import Ruling, read_rulings
from annot.study.exports import export_judgements
from annot.study.judged_texts import JudgedTexts, Pair, judged_texts, paper_topics
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace

STATES = {
    "waits": "waits for your decision",
    "stays": "stays with the earlier text",
    "again": "judged again on the corrected text",
    "newest": "judged again on the corrected text",
}


@dataclass(frozen=True, slots=True)
class CorrectedPair:
    """An answered pair of which a text was corrected."""

    query_id: str
    doc_id: str
    corrected: tuple[str, ...]
    """Ids of its corrected texts."""
    why: tuple[str, ...]
    """Why they were corrected, the last time."""
    answers: int
    """Answers on an earlier version that are in force: of assessors."""
    state: str
    decision: str | None
    """Why it was decided so."""


PAIRS = Columns[CorrectedPair](
    [
        Column("query", lambda one: one.query_id, "query_id"),
        Column("document", lambda one: one.doc_id, "doc_id"),
        Column("corrected", lambda one: ", ".join(one.corrected)),
        Column("why", lambda one: "; ".join(one.why)),
        Column("answers", lambda one: one.answers),
        Column("state", lambda one: one.state),
        Column("reason for the decision", lambda one: one.decision or "", "decision"),
    ]
)


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of a decision."""

    ruling: Ruling
    pairs: tuple[Pair, ...]
    """Pairs that had waited for it."""
    returned: int
    """Answers that go back to their assessors."""


def listing(ws: Workspace) -> tuple[CorrectedPair, ...]:
    """Every answered pair of which a text was corrected, those that wait first."""
    with ws.reading() as session:
        texts = {one.text_id: one for one in corrected_texts(session)}
        topics = paper_topics(session)
        pairs = judged_texts(session).values()
        reasons = {(one.query_id, one.doc_id): one.why for one in read_rulings(session)}

    def described(pair: JudgedTexts) -> CorrectedPair:
        ids = [text_id for text_id in (topics.get(pair.query_id, ""), pair.doc_id) if text_id in texts]
        return CorrectedPair(
            *pair.pair,
            corrected=tuple(ids),
            why=tuple(texts[text_id].why for text_id in ids),
            answers=len(pair.answers),
            state=STATES[pair.state],
            decision=None if pair.state == "waits" else reasons.get(pair.pair),
        )

    return tuple(map(described, sorted(pairs, key=lambda pair: (pair.state != "waits", pair.pair))))


def rule(
    ws: Workspace,
    pair: Pair | None,
    *,
    of_text: str | None,
    every: bool,
    ruling: Ruling,
    why: str,
    dry_run: bool,
) -> Decided:
    """Decide on one pair, on those that wait because of one corrected text, or on all that wait.

    Raises InputError for a pair or a text that waits for no decision, and without a reason.
    """
    if [pair is not None, of_text is not None, every].count(True) != 1:
        raise InputError(
            "expected QUERY DOC, --of ID or --all", hint="`annot corpus corrected` lists the pairs that wait"
        )
    why = " ".join(why.split())
    if not why:
        raise InputError(f"--{ruling}: empty, expected why you decide so")
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    with ws.writing() as session:
        waiting = [one for one in judged_texts(session).values() if one.state == "waits"]
        if pair is not None:
            known_query({query.query_id: query for query in read_queries(session)}, pair[0])
            chosen: Sequence[Pair] = [pair]
        else:
            chosen = [one.pair for one in waiting if every or of_text in one.to_decide]
        if of_text is not None and not chosen:
            raise InputError(
                f"--of {of_text}: no pair waits because of it", hint="`annot corpus corrected` lists the pairs"
            )
        new, returned = decide(session, chosen, ruling, why=why, now=now)
        outcome = outcome_of(session, ws.settings)
        if dry_run:
            session.rollback()
    if not dry_run:
        export_judgements(ws, outcome)
    return Decided(ruling, tuple(one.pair for one in new), len(returned))


def describe(decided: Decided) -> str:
    """What was done, in words."""
    return "\n".join(sentences("commands.text_decided", decided=decided))
