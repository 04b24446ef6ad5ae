"""The version of its texts on which each pair is judged, if its topic or document was corrected.

A pair without an answer is judged on the newest version. Of a pair with answers the lead decides: it stays with the
version that people saw, or all its answers are asked for again on the newest. Until then it waits. An answer on
another version is set aside: it stays on record and does not count, so that no pair is judged on two.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlmodel import Session

from annot.base.records import Asked, Judgement, Returned, grouped
from annot.store import people
from annot.store.adjudications import ADJUDICATIONS
from annot.store.judgements import JUDGEMENTS, read_returned
from annot.store.judging_models import ModelCall
from annot.store.projects import StoredRound, read_projects
from annot.store.queries import read_queries, read_topics
from annot.store.revisions import Sourced
from annot.store.shown import (
    Display,
    History,
    ShownVersion,
    display_parts,
    in_force,
    read_histories,
    read_shown,
    read_versions,
)
from annot.store.text_rulings import TextRuling, read_rulings

Pair = tuple[str, str]
"""(query_id, doc_id)."""
TextState = Literal["newest", "waits", "stays", "again"]
"""`newest`: no answer is on an earlier version; `waits`: for the lead's decision."""


class Answered(NamedTuple):
    """One answer that is on record, with the version of each text that it was given on."""

    person: str
    asked: Asked
    moment: str
    """When it was last changed; empty if that is not known."""
    texts: Mapping[str, str]
    """SHA-256 by id, of the texts that were corrected."""
    display: Display
    """What its task showed; empty if that is not on record."""
    is_ours: bool
    """Whether it was given on a server of the study, so that the pair can go back to the person."""


@dataclass(frozen=True, slots=True)
class JudgedTexts:
    """One answered pair of which a text was corrected."""

    query_id: str
    doc_id: str
    state: TextState
    required: Mapping[str, str]
    """SHA-256, by id, of the version that its tasks show, of the texts that were corrected."""
    to_decide: tuple[str, ...]
    """The corrected texts of which answers show an earlier version and that wait for a decision."""
    kept: Mapping[str, Display]
    """By text, what a task showed with the required version, if that is not the newest."""
    answers: tuple[Answered, ...]
    """The assessors' answers in force, one a person: an answer to a returned pair takes the place of the first."""
    set_aside: frozenset[tuple[str, Asked]]
    """(assessor, what was asked) of the answers on another version."""
    rulings_aside: frozenset[str]
    """The adjudicators whose decision is on another version."""

    @property
    def pair(self) -> Pair:
        """(query_id, doc_id)."""
        return self.query_id, self.doc_id

    @property
    def to_return(self) -> tuple[Answered, ...]:
        """The answers that have to be asked for again, once the lead has decided."""
        if self.state == "waits":
            return ()
        return tuple(one for one in self.answers if (one.person, one.asked) in self.set_aside)


def judged_texts(session: Session) -> dict[Pair, JudgedTexts]:
    """The answered pairs of which a text was corrected, by pair."""
    histories = _corrected(session)
    if not histories:
        return {}
    topics = paper_topics(session)
    returned = [one for one in read_returned(session) if one.withdrawn_at is None]
    teams = grouped((one.pair, one.assessor) for one in people.read_assignments(session))
    given = _read(session, JUDGEMENTS, topics, histories)
    settled = _read(session, ADJUDICATIONS, topics, histories)
    rulings = grouped(((one.query_id, one.doc_id), one) for one in read_rulings(session))
    back = grouped((one.pair, one) for one in returned)
    found = {}
    for pair in sorted({*given, *settled}):
        answers = given.get(pair, []), settled.get(pair, []), back.get(pair, []), rulings.get(pair, [])
        found[pair] = _of_pair(pair, *answers, histories, team={*teams.get(pair, ())})
    return {pair: one for pair, one in found.items() if one.state != "newest" or one.set_aside or one.rulings_aside}


def tasks_on_other_texts(
    session: Session, round: StoredRound, pairs: Mapping[Pair, JudgedTexts]
) -> dict[str, set[Asked]]:
    """By person, the tasks of a round that were sent with another version of a text than they are to show.

    pairs: of `judged_texts`. Answered tasks are among them: they stay as they are.
    """
    corrected = _corrected(session)
    if not corrected:
        return {}
    earlier = {sha256 for history in corrected.values() for _, sha256 in history if sha256 != history[-1][1]}
    found: dict[str, set[Asked]] = {}
    for project in read_projects(session, round=round):
        histories = read_shown(session, project.project).by_task
        last = {asked: history[-1][1] for asked, history in histories.items() if history}
        displays = display_parts(session, last.values())
        for asked, sha256 in last.items():
            shown = {displays[sha256].get(part) for part in ("topic", "document")}
            known = pairs.get(asked.pair)
            expected = set() if known is None else {*known.required.values()}
            if earlier & shown - expected or (expected and expected - shown):
                found.setdefault(project.assessor, set()).add(asked)
    return found


def on_judged_texts(session: Session, calls: Iterable[ModelCall]) -> tuple[list[ModelCall], list[ModelCall]]:
    """The requests to a model that showed the texts that their pairs are judged on, and those that showed others.

    If it is not on record what a request showed, it showed what was in force when it was sent.
    """
    calls = list(calls)
    histories = {text_id: history for (part, text_id), history in read_histories(session).items() if part == "text"}
    pairs, topics = judged_texts(session), paper_topics(session)
    displays = display_parts(session, (call.shown_sha256 for call in calls))

    def is_judged(call: ModelCall) -> bool:
        required = pairs[call.pair].required if call.pair in pairs else {}
        shown = displays.get(call.shown_sha256 or "", {})
        return all(
            (shown.get(part) or in_force(histories[text_id], call.sent_at))
            == required.get(text_id, histories[text_id][-1][1])
            for text_id, part in _texts_of(call.pair, topics).items()
            if text_id in histories
        )

    sides: tuple[list[ModelCall], list[ModelCall]] = ([], [])
    for call in calls:
        sides[not is_judged(call)].append(call)
    return sides


def _corrected(session: Session) -> dict[str, History]:
    """The histories of the papers that were corrected, by id."""
    return {
        text_id: history
        for (part, text_id), history in read_histories(session).items()
        if part == "text" and len(history) > 1
    }


def _read(
    session: Session, table: Any, topics: Mapping[str, str], histories: Mapping[str, History]
) -> dict[Pair, list[Answered]]:
    """The answers that count to pairs of which a text was corrected."""
    rows: list[Sourced[Any]] = [
        one
        for one in table.current(session)
        if one.record.counts and not histories.keys().isdisjoint(_texts_of(one.record.pair, topics))
    ]
    displays = display_parts(session, (one.shown_sha256 for one in rows))
    found: dict[tuple[str, Asked], Answered] = {}
    for one in rows:
        moment = one.changed_at or one.record.judged_at or one.recorded_at or ""
        display = displays.get(one.shown_sha256 or "", {})
        texts = {
            text_id: display.get(part) or in_force(histories[text_id], moment or None) or ""
            for text_id, part in _texts_of(one.record.pair, topics).items()
            if text_id in histories
        }
        person = table.person_of(one.record)
        # A later annotation of the same question comes last, and counts.
        found[person, one.record.asked] = Answered(person, one.record.asked, moment, texts, display, bool(one.server))
    return grouped((one.asked.pair, one) for one in found.values())


def paper_topics(session: Session) -> dict[str, str]:
    """The topic of each query that asks with a paper: a topic that is a text may have the id of a paper."""
    texts = read_topics(session)
    return {query.query_id: query.topic_id for query in read_queries(session) if query.topic_id not in texts}


def _texts_of(pair: Pair, topics: Mapping[str, str]) -> dict[str, str]:
    """The papers of a pair, each with its part in a display."""
    query_id, doc_id = pair
    return ({topics[query_id]: "topic"} if query_id in topics else {}) | {doc_id: "document"}


def _of_pair(
    pair: Pair,
    given: Collection[Answered],
    settled: Collection[Answered],
    returned: Collection[Returned],
    rulings: Collection[TextRuling],
    histories: Mapping[str, History],
    *,
    team: Collection[str],
) -> JudgedTexts:
    asked_again = {(one.assessor, one.occasion): one for one in returned}
    # An answer to a hidden repeat settles nothing, so nothing rests on its text.
    own = [one for one in given if one.asked.occasion == 1 or (one.person, one.asked.occasion) in asked_again]
    repeats = [one for one in given if one not in own]
    # An answer of somebody who no longer has the pair settles nothing.
    last = {one.person: one for one in sorted(own, key=lambda one: one.asked.occasion) if one.person in team}
    standing = [one for one in settled if not _is_reopened(one, returned)]
    in_force_now = [*last.values(), *standing]
    required, waiting, decided = {}, [], set()
    for text_id in dict.fromkeys(text_id for one in (*given, *settled) for text_id in one.texts):
        since, newest = histories[text_id][-1]
        earlier = [one for one in in_force_now if one.texts[text_id] != newest]
        required[text_id] = newest
        if not earlier:
            continue
        ruling = _ruling_on(text_id, newest, since, rulings)
        if ruling is None:
            waiting.append(text_id)
        else:
            decided.add(ruling)
        if ruling != "again":
            required[text_id] = max(earlier, key=lambda one: one.moment).texts[text_id]
    kept = {
        text_id: max((one for one in in_force_now if one.texts[text_id] == sha256), key=lambda one: one.moment).display
        for text_id, sha256 in required.items()
        if sha256 != histories[text_id][-1][1]
    }
    first = {one.person: one for one in given if one.asked.occasion == 1}
    # An answer that was asked for again takes the place of a first one on another text.
    first |= {one.person: one for one in sorted(own, key=lambda one: -one.asked.occasion) if one.texts == required}
    state: TextState = "waits" if waiting else "again" if "again" in decided else "stays" if decided else "newest"
    return JudgedTexts(
        *pair,
        state=state,
        required=required,
        to_decide=tuple(waiting),
        kept=kept,
        answers=tuple(last[name] for name in sorted(last)),
        set_aside=frozenset(
            (one.person, one.asked)
            for one in (*own, *repeats)
            # What somebody answers twice is compared, if it was the same text.
            if one.texts != (required if one in own else first.get(one.person, one).texts)
        ),
        rulings_aside=frozenset(one.person for one in settled if one.texts != required),
    )


def _ruling_on(text_id: str, sha256: str, since: str, rulings: Iterable[TextRuling]) -> str | None:
    """The decision on this version. A text that was corrected, taken back and corrected once more is decided again."""
    made = [
        one.ruling
        for one in rulings
        if (one.text_id, one.sha256) == (text_id, sha256)
        and datetime.fromisoformat(one.ruled_at) >= datetime.fromisoformat(since)
    ]
    return made[-1] if made else None


def _is_reopened(decision: Answered, returned: Iterable[Returned]) -> bool:
    """Whether the pair was put before an assessor after the adjudicator had decided."""
    if not decision.moment:
        return False
    moment = datetime.fromisoformat(decision.moment)
    return any(datetime.fromisoformat(one.returned_at) > moment for one in returned)


def on_required_texts(
    latest: Iterable[Judgement], corrected: Iterable[JudgedTexts], returned: Iterable[Returned]
) -> tuple[tuple[Judgement, ...], tuple[Judgement, ...], tuple[Judgement, ...]]:
    """The answers on the version that their pair is judged on, the others, and the first of each pair and assessor.

    latest: one answer for each person and question. returned: those that were not taken back. Where the first answer is
    on another version, the first one that was given again takes its place.
    """
    others = {key for one in corrected for key in one.set_aside}
    answers = list(latest)
    kept = tuple(one for one in answers if (one.assessor, one.asked) not in others)
    set_aside = tuple(one for one in answers if (one.assessor, one.asked) in others)
    gone = {(one.pair, one.assessor) for one in set_aside if one.occasion == 1}
    sent_back = {(one.asked, one.assessor) for one in returned}
    first: dict[tuple[Pair, str], Judgement] = {}
    for one in kept:
        key = (one.pair, one.assessor)
        if one.occasion == 1 or (key in gone and one.counts and (one.asked, one.assessor) in sent_back):
            first.setdefault(key, one)
    return kept, set_aside, tuple(first.values())


def corrected_versions(session: Session) -> dict[str, tuple[ShownVersion, ...]]:
    """The versions of the papers that were corrected, by id, the oldest first."""
    return {text_id: several for (_, text_id), several in read_versions(session, "text").items() if several[1:]}


def set_aside_of(session: Session) -> set[tuple[str, Asked]]:
    """(assessor, what was asked) of the answers on another version of a text than their pair is judged on."""
    return {key for pair in judged_texts(session).values() for key in pair.set_aside}
