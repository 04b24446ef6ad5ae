"""The version of its texts on which each pair is judged, if its topic or document was corrected.

A pair without an answer is judged on the newest version. Of a pair with answers the lead decides: it stays with the
version that people saw, or all its answers are asked for again on the newest. Until then it waits. An answer on
another version is set aside: it stays on record and does not count, so that no pair is judged on two.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from annot.base.records import PairKey, PairReturn, grouped
from annot.store import people
from annot.store import shown as stored
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAnswer, TextRuling, read_returned, read_rulings
from annot.store.models import Session, StoredRound
from annot.store.pools import read_queries, read_topics
from annot.store.projects import read_projects

Pair = tuple[str, str]
"""(query_id, doc_id)."""
TextState = Literal["newest", "waits", "stays", "again"]
"""`newest`: no answer is on an earlier version; `waits`: for the lead's decision."""


class TextAnswer(NamedTuple):
    """One answer that is on record, with the version of each text that it was given on."""

    person: str
    pair_key: PairKey
    moment: str
    """Time of the last change; empty if that is not known."""
    texts: Mapping[str, str]
    """SHA-256 by id, of the texts that were corrected."""
    display: stored.Display
    """Display of its task; empty if that is not on record."""
    is_ours: bool
    """True if it was given on a server of the study, so that the pair can go back to the person."""


@dataclass(frozen=True, slots=True)
class JudgedTexts:
    """An answered pair with a corrected text."""

    query_id: str
    doc_id: str
    state: TextState
    required: Mapping[str, str]
    """SHA-256, by id, of the version that its tasks show, of the texts that were corrected."""
    to_decide: tuple[str, ...]
    """Corrected texts that wait for a decision, because answers show an earlier version."""
    kept: Mapping[str, stored.Display]
    """Display of a task with the required version, by text, if that is not the newest."""
    answers: tuple[TextAnswer, ...]
    """The assessors' answers in force, one a person: an answer to a returned pair takes the place of the first."""
    set_aside: frozenset[tuple[str, PairKey]]
    """Assessor and question of the answers on another version."""
    rulings_aside: frozenset[str]
    """Adjudicators whose decision is on another version."""

    @property
    def pair(self) -> Pair:
        """(query_id, doc_id)."""
        return self.query_id, self.doc_id

    @property
    def to_return(self) -> tuple[TextAnswer, ...]:
        """The answers that have to be asked for again, once the lead has decided."""
        if self.state == "waits":
            return ()
        return tuple(answer for answer in self.answers if (answer.person, answer.pair_key) in self.set_aside)


def judged_texts(session: Session) -> dict[Pair, JudgedTexts]:
    """Answered pairs with a corrected text."""
    histories = _corrected(session)
    if not histories:
        return {}
    topics = paper_topics(session)
    returned = [entry for entry in read_returned(session) if entry.withdrawn_at is None]
    teams = grouped((assignment.pair, assignment.assessor) for assignment in people.read_assignments(session))
    answers_of = _read(session, JUDGEMENTS, topics, histories)
    settled = _read(session, ADJUDICATIONS, topics, histories)
    rulings = grouped(((ruling.query_id, ruling.doc_id), ruling) for ruling in read_rulings(session))
    back = grouped((entry.pair, entry) for entry in returned)
    texts_of_pairs = {}
    for pair in sorted({*answers_of, *settled}):
        answers = answers_of.get(pair, []), settled.get(pair, []), back.get(pair, []), rulings.get(pair, [])
        texts_of_pairs[pair] = _judged_texts_of_pair(pair, *answers, histories, team={*teams.get(pair, ())})
    return {
        pair: texts
        for pair, texts in texts_of_pairs.items()
        if texts.state != "newest" or texts.set_aside or texts.rulings_aside
    }


def tasks_on_other_texts(
    session: Session, round: StoredRound, pairs: Mapping[Pair, JudgedTexts]
) -> dict[str, set[PairKey]]:
    """Tasks of a round, by person, that were sent with a wrong version of a text.

    pairs: of `judged_texts`. Answered tasks are among them: they stay unchanged.
    """
    corrected = _corrected(session)
    if not corrected:
        return {}
    earlier = {sha256 for history in corrected.values() for _, sha256 in history if sha256 != history[-1][1]}
    tasks_of: dict[str, set[PairKey]] = {}
    for project in read_projects(session, round=round):
        histories = stored.read_shown(session, project.project).by_task
        last = {key: history[-1][1] for key, history in histories.items() if history}
        displays = stored.display_parts(session, last.values())
        for key, sha256 in last.items():
            shown = {displays[sha256].get(part) for part in ("topic", "document")}
            judged = pairs.get(key.pair)
            expected = set() if judged is None else {*judged.required.values()}
            if earlier & shown - expected or (expected and expected - shown):
                tasks_of.setdefault(project.assessor, set()).add(key)
    return tasks_of


def _corrected(session: Session) -> dict[str, stored.History]:
    """The histories of the papers that were corrected, by id."""
    return {
        text_id: history
        for (part, text_id), history in stored.read_histories(session).items()
        if part == "text" and len(history) > 1
    }


def _read(
    session: Session, table: Any, topics: Mapping[str, str], histories: Mapping[str, stored.History]
) -> dict[Pair, list[TextAnswer]]:
    """Answers that count, for pairs with a corrected text."""
    rows: list[SourcedAnswer[Any]] = [
        row
        for row in table.current(session)
        if row.record.counts and not histories.keys().isdisjoint(texts_of_pair(row.record.pair, topics))
    ]
    displays = stored.display_parts(session, (row.shown_sha256 for row in rows))
    answers: dict[tuple[str, PairKey], TextAnswer] = {}
    for row in rows:
        moment = row.changed_at or row.record.judged_at or row.recorded_at or ""
        display = displays.get(row.shown_sha256 or "", {})
        texts = {
            text_id: display.get(part) or stored.in_force(histories[text_id], moment or None) or ""
            for text_id, part in texts_of_pair(row.record.pair, topics).items()
            if text_id in histories
        }
        person = table.person_of(row.record)
        # A later annotation of the same question comes last, and counts.
        answers[person, row.record.pair_key] = TextAnswer(
            person, row.record.pair_key, moment, texts, display, bool(row.server)
        )
    return grouped((answer.pair_key.pair, answer) for answer in answers.values())


def paper_topics(session: Session) -> dict[str, str]:
    """The topic of each query that asks with a paper: a topic that is a text may have the id of a paper."""
    texts = read_topics(session)
    return {query.query_id: query.topic_id for query in read_queries(session) if query.topic_id not in texts}


def texts_of_pair(pair: Pair, topics: Mapping[str, str]) -> dict[str, str]:
    """The papers of a pair, each with its part in a display."""
    query_id, doc_id = pair
    return ({topics[query_id]: "topic"} if query_id in topics else {}) | {doc_id: "document"}


def _judged_texts_of_pair(
    pair: Pair,
    answers: Collection[TextAnswer],
    settled: Collection[TextAnswer],
    returned: Collection[PairReturn],
    rulings: Collection[TextRuling],
    histories: Mapping[str, stored.History],
    *,
    team: Collection[str],
) -> JudgedTexts:
    counting = _counting(answers, returned)
    # An answer of a person who no longer has the pair settles nothing.
    last = {answer.person: answer for answer in counting if answer.person in team}
    current = [*last.values(), *(decision for decision in settled if not _is_reopened(decision, returned))]
    required, displays, waiting, decided = {}, {}, [], set()
    for text_id in dict.fromkeys(text_id for answer in (*answers, *settled) for text_id in answer.texts):
        newest_since, newest = histories[text_id][-1]
        earlier = [answer for answer in current if answer.texts[text_id] != newest]
        required[text_id] = newest
        if not earlier:
            continue
        ruling = _ruling_on(text_id, newest, newest_since, rulings)
        if ruling is None:
            waiting.append(text_id)
        else:
            decided.add(ruling)
        if ruling != "again":
            latest = max(earlier, key=lambda answer: answer.moment)
            required[text_id], displays[text_id] = latest.texts[text_id], latest.display
    state: TextState = "waits" if waiting else "again" if "again" in decided else "stays" if decided else "newest"
    return JudgedTexts(
        *pair,
        state=state,
        required=required,
        to_decide=tuple(waiting),
        kept=displays,
        answers=tuple(last[name] for name in sorted(last)),
        set_aside=_answers_on_other_versions(answers, counting, required),
        rulings_aside=frozenset(decision.person for decision in settled if decision.texts != required),
    )


def _counting(answers: Iterable[TextAnswer], returned: Iterable[PairReturn]) -> list[TextAnswer]:
    """The answers by occasion, without those to hidden repeats: they settle nothing, so nothing rests on their text."""
    asked_again = {(entry.assessor, entry.occasion) for entry in returned}
    first_or_again = (
        answer
        for answer in answers
        if answer.pair_key.occasion == 1 or (answer.person, answer.pair_key.occasion) in asked_again
    )
    return sorted(first_or_again, key=lambda answer: answer.pair_key.occasion)


def _answers_on_other_versions(
    answers: Collection[TextAnswer], counting: Sequence[TextAnswer], required: Mapping[str, str]
) -> frozenset[tuple[str, PairKey]]:
    """Assessor and question of the answers on another version than the required one, and of hidden repeats on another
    version than the first answer, with which they are compared. counting: by occasion."""
    first = {answer.person: answer for answer in answers if answer.pair_key.occasion == 1}
    # An answer that was asked for again takes the place of a first one on another text.
    first |= {answer.person: answer for answer in reversed(counting) if answer.texts == required}
    return frozenset(
        (answer.person, answer.pair_key)
        for answer in answers
        if answer.texts != (required if answer in counting else first.get(answer.person, answer).texts)
    )


def _ruling_on(text_id: str, sha256: str, since: str, rulings: Iterable[TextRuling]) -> str | None:
    """Decision on this version. A text that was corrected, reverted and corrected again needs a new decision."""
    decisions = [
        ruling.ruling
        for ruling in rulings
        if (ruling.text_id, ruling.sha256) == (text_id, sha256)
        and datetime.fromisoformat(ruling.ruled_at) >= datetime.fromisoformat(since)
    ]
    return decisions[-1] if decisions else None


def _is_reopened(decision: TextAnswer, returned: Iterable[PairReturn]) -> bool:
    """True if the pair was returned to an assessor after the adjudicator had decided."""
    if not decision.moment:
        return False
    moment = datetime.fromisoformat(decision.moment)
    return any(datetime.fromisoformat(entry.returned_at) > moment for entry in returned)


def corrected_versions(session: Session) -> dict[str, tuple[stored.ShownVersion, ...]]:
    """The versions of the papers that were corrected, by id, the oldest first."""
    return {text_id: several for (_, text_id), several in stored.read_versions(session, "text").items() if several[1:]}


def set_aside_of(session: Session) -> set[tuple[str, PairKey]]:
    """Assessor and question of the answers on another version of a text than their pair is judged on."""
    return {key for pair in judged_texts(session).values() for key in pair.set_aside}
