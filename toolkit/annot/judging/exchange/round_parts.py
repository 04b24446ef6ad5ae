"""Kinds of projects on a server: their names and commands, their tasks, and their answers on record."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, NamedTuple

from sqlmodel import Session

from annot.base.records import PairKey
from annot.labelstudio.studio_records import Screen
from annot.labelstudio.tasks import LABELS_SHOWN, pair_key
from annot.store import people, trials
from annot.store.adjudications import ADJUDICATIONS
from annot.store.judgements import JUDGEMENTS, read_returned
from annot.store.pools import read_queries
from annot.store.projects import StoredRound, read_hidden

RoundName = Literal["judging", "adjudication", "training", "substudy", "labels"]


class RoundPart(NamedTuple):
    """One kind of project. Training has two, and so has the sub-study; the other rounds have one."""

    stored: StoredRound
    """Name in the database and in the markers of its projects."""
    round: RoundName
    title: str
    color: str
    screen: Screen
    """The screen, which sets the form of its tasks."""
    columns: tuple[str, str, str]
    """The heading for its tasks in the tables of a push and of a pull, and the heading for those with an answer."""
    graded: bool = True
    """True if its answers are grades; looking at gold grades is not counted as work or news."""

    @property
    def push(self) -> str:
        """The command that sends its tasks."""
        view = f" --view {self.stored.removeprefix('substudy-')}" if self.round == "substudy" else ""
        return f"annot push {self.round}{view}".removesuffix(" judging")

    @property
    def pull(self) -> str:
        """The command that fetches its answers."""
        return f"annot pull {self.round}".removesuffix(" judging")


_PAIRS = ("pairs", "pairs", "answered")
PARTS: dict[StoredRound, RoundPart] = {
    part.stored: part
    for part in (
        RoundPart("judge", "judging", "judging", "#617ADA", "judge", ("planned", "assigned", "judged")),
        RoundPart(
            "adjudicate", "adjudication", "adjudication", "#B5651D", "adjudicate", ("disputes", "disputes", "settled")
        ),
        RoundPart("train", "training", "training", "#2E7D32", "judge", ("to judge", "gold pairs", "answered")),
        RoundPart(
            stored="train-feedback",
            round="training",
            title="training, gold grades",
            color="#2E7D32",
            screen="feedback",
            columns=("with gold grades", "gold pairs", "answered"),
            graded=False,
        ),
        RoundPart("substudy-abstract", "substudy", "sub-study, abstracts", "#6A4C93", "judge", _PAIRS),
        RoundPart("substudy-full", "substudy", "sub-study, full texts", "#6A4C93", "full-text", _PAIRS),
        RoundPart("labels", "labels", "labels", "#3B7A57", "facets", ("abstracts", "abstracts", "corrected")),
    )
}
"""Every kind of project, by name in the database."""
ANSWERS: dict[StoredRound, Any] = {"judge": JUDGEMENTS, "adjudicate": ADJUDICATIONS}
"""Tables of answers, of the rounds that make the collection."""


def own_tasks(session: Session, round: StoredRound, assessor: str) -> dict[str, PairKey]:
    """Questions that a person's project may ask, by the key of the task on the server.

    A person who corrects labels may have any query paper. An assessor may also have every pair that was ever returned
    to them, taken back or not. An adjudicator may have every planned pair, again after each time it was returned to an
    assessor: a dispute may end, and its task stays where it has an answer.
    """
    if round == "judge":
        questions = {assignment.asked for assignment in people.read_assignments(session, assessor)}
        questions |= {returned.asked for returned in read_returned(session) if returned.assessor == assessor}
        questions |= {PairKey(*pair) for pair in read_hidden(session).get(assessor, ())}
    elif round == "adjudicate":
        planned = {assignment.pair for assignment in people.read_assignments(session)}
        # A pair comes again at most once for each time that it was returned to an assessor.
        times = Counter(returned.pair for returned in read_returned(session))
        return {pair_key(*pair, occasion): PairKey(*pair) for pair in planned for occasion in range(1, times[pair] + 2)}
    elif round == "labels":
        questions = {PairKey(query.topic_id, LABELS_SHOWN) for query in read_queries(session)}
    else:
        questions = {assignment.asked for assignment in trials.read_assignments(session, round, assessor)}
    return {pair_key(*question): question for question in questions}


def answered_tasks(session: Session, round: StoredRound, assessor: str) -> dict[str, str]:
    """Moment of the last change of each answer on record that counts, by the key of its task."""
    lines = list(ANSWERS[round].lines(session, person=assessor)) if round in ANSWERS else []
    lines += trials.read_lines(session, "hidden-gold" if round == "judge" else round, assessor)
    return {
        pair_key(*line.record.asked): line.current.changed_at or line.record.judged_at or ""
        for line in lines
        if line.counts
    }
