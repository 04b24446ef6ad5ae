"""The lead's decisions on answered pairs of which a text was corrected, and what follows from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import counted, verb
from annot.base.records import Returned
from annot.store import people
from annot.store.judgements import add_returned, read_judgements, read_returned
from annot.store.shown import read_versions
from annot.store.text_rulings import Ruling, TextRuling, add_rulings
from annot.study.judged_texts import JudgedTexts, Pair, judged_texts

WHY_AGAIN = "The text of this pair was corrected after you judged it."
"""What the assessor reads above a pair that goes back."""


class CorrectedText(NamedTuple):
    """One text that was corrected after the study had it."""

    text_id: str
    why: str
    since: str
    """ISO 8601, UTC."""
    sha256: str
    versions: int


def corrected_texts(session: Session) -> tuple[CorrectedText, ...]:
    """Every corrected text with its last correction, by id."""
    return tuple(
        CorrectedText(text_id, versions[-1].why or "", versions[-1].since, versions[-1].sha256, len(versions))
        for (_, text_id), versions in sorted(read_versions(session, "text").items())
        if len(versions) > 1
    )


def decide(
    session: Session, pairs: Collection[Pair], ruling: Ruling, *, why: str, now: str
) -> tuple[tuple[JudgedTexts, ...], tuple[Returned, ...]]:
    """Note down the decision on these pairs; those that were decided so before stay as they are.

    Returns the pairs that are new, and the answers that go back. Raises InputError, with every pair that cannot be
    decided so: one that does not wait, that was decided otherwise, or whose answers cannot be asked for again.
    """
    before = judged_texts(session)
    new, faults = [], []
    for pair in pairs:
        known = before.get(pair)
        if known is not None and known.state == "waits":
            new.append(known)
        elif known is None or known.state == "newest":
            faults.append(f"{' '.join(pair)}: does not wait for a decision")
        elif known.state != ruling:
            faults.append(f"{' '.join(pair)}: already decided, {known.state}")
    if ruling == "again":
        faults += _not_to_return(session, new)
    if faults:
        raise InputError(
            f"{counted(len(faults), 'pair')} cannot be decided so",
            faults=faults,
            hint="nothing was changed; `annot corpus corrected` lists the pairs",
        )
    newest = {one.text_id: one for one in corrected_texts(session)}
    add_rulings(
        session,
        (
            # Whatever the machine's clock says, the decision comes after the correction.
            TextRuling(*one.pair, text_id, text.sha256, ruling, why, max(now, text.since, key=datetime.fromisoformat))
            for one in new
            for text_id in one.to_decide
            for text in (newest[text_id],)
        ),
    )
    return tuple(new), send_back(session, now=now)


def _not_to_return(session: Session, pairs: Sequence[JudgedTexts]) -> Iterator[str]:
    """The pairs with answers that nobody can be asked for again."""
    left = people.who_left(session)
    for pair in pairs:
        for one in pair.answers:
            if not one.is_ours:
                yield f"{' '.join(pair.pair)}: was judged with another tool, so it can only stay"
            elif one.person in left:
                yield f"{' '.join(pair.pair)}: {one.person} has left the study, so it can only stay"


def send_back(session: Session, *, now: str) -> tuple[Returned, ...]:
    """Put every pair before its assessor again whose answer is on another version than was decided.

    Answers may come in after the decision, to tasks that were open when it was made.
    """
    left = people.who_left(session)
    returned = list(read_returned(session))
    taken = {(*one.pair, one.assessor, one.occasion) for one in returned}
    taken |= {(*one.pair, one.assessor, one.occasion) for one in read_judgements(session)}
    taken |= {(*one.pair, one.assessor, one.occasion) for one in people.read_assignments(session)}
    new = []
    for pair in judged_texts(session).values():
        for one in pair.to_return:
            mine = [back for back in returned if (back.pair, back.assessor) == (pair.pair, one.person)]
            waiting = any(back.withdrawn_at is None and back.occasion > one.asked.occasion for back in mine)
            if one.person in left or not one.is_ours or waiting:
                continue
            occasion = 1 + max(key[-1] for key in taken if key[:-1] == (*pair.pair, one.person))
            new.append(Returned(*pair.pair, one.person, occasion, WHY_AGAIN, now))
    for back in new:
        add_returned(session, back)
    return tuple(new)


def waiting_pairs(session: Session) -> frozenset[Pair]:
    """The pairs that wait for the lead's decision on a corrected text."""
    return frozenset(pair for pair, one in judged_texts(session).items() if one.state == "waits")


def waiting_in_words(session: Session) -> tuple[str, ...]:
    """How many wait, in a sentence; none if there are none."""
    if waiting := waiting_pairs(session):
        pairs = f"{counted(len(waiting), 'pair')} {verb(len(waiting), 'waits', 'wait')}"
        return (f"{pairs} for your decision: a text was corrected; see `annot corpus corrected`",)
    return ()
