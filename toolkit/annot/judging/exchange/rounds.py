"""What differs between the rounds: how their projects look, which command sends them, and what may stand in them."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.records import Asked
from annot.labelstudio.controls import Screen
from annot.labelstudio.tasks import LABELS_SHOWN, pair_key
from annot.store import people, trials
from annot.store.adjudications import ADJUDICATIONS
from annot.store.judgements import JUDGEMENTS, read_returned
from annot.store.projects import Round, read_hidden
from annot.store.queries import read_queries


class Manner(NamedTuple):
    """How a round is sent."""

    title: str
    color: str
    push: str
    """The command that sends its tasks."""
    screen: Screen
    """Which form its tasks must have."""


ROUNDS: dict[Round, Manner] = {
    "judge": Manner("judging", "#617ADA", "annot push", "judge"),
    "adjudicate": Manner("adjudication", "#B5651D", "annot adjudicate push", "adjudicate"),
    "train": Manner("training", "#2E7D32", "annot train push", "judge"),
    "train-feedback": Manner("training, gold grades", "#2E7D32", "annot train push", "feedback"),
    "substudy-abstract": Manner("sub-study, abstracts", "#6A4C93", "annot substudy push --view abstract", "judge"),
    "substudy-full": Manner("sub-study, full texts", "#6A4C93", "annot substudy push --view full", "full-text"),
    "hidden-gold": Manner("judging", "#617ADA", "annot push", "judge"),
    "labels": Manner("labels", "#3B7A57", "annot facets push", "facets"),
}
ANSWERS: dict[Round, Any] = {"judge": JUDGEMENTS, "adjudicate": ADJUDICATIONS}
"""Where the answers of the rounds that make the collection are on record."""


def own_tasks(session: Session, round: Round, assessor: str) -> dict[str, Asked]:
    """What may stand in a person's project, by its key on the server.

    Whoever corrects labels may have any query paper. For an assessor that is also every pair that was ever returned to
    them, taken back or not. For an adjudicator it is every planned pair, again after it was returned to an assessor: a
    dispute may end, and its task stays where it has an answer.
    """
    if round == "judge":
        asked = {assignment.asked for assignment in people.read_assignments(session, assessor)}
        asked |= {returned.asked for returned in read_returned(session) if returned.assessor == assessor}
        asked |= {Asked(*pair) for pair in read_hidden(session).get(assessor, ())}
    elif round == "adjudicate":
        planned = {assignment.pair for assignment in people.read_assignments(session)}
        # At most as often again as the pair was put before an assessor.
        times = Counter(returned.pair for returned in read_returned(session))
        return {pair_key(*pair, at): Asked(*pair) for pair in planned for at in range(1, times[pair] + 2)}
    elif round == "labels":
        asked = {Asked(query.paper_id, LABELS_SHOWN) for query in read_queries(session)}
    else:
        asked = {assignment.asked for assignment in trials.read_assignments(session, round, assessor)}
    return {pair_key(*pair): pair for pair in asked}


def answered_tasks(session: Session, round: Round, assessor: str) -> dict[str, str]:
    """Of each task whose answer is on record and counts, by its key, when that was last changed."""
    lines = list(ANSWERS[round].lines(session, person=assessor)) if round in ANSWERS else []
    lines += trials.read_lines(session, "hidden-gold" if round == "judge" else round, assessor)
    return {
        pair_key(*line.stands.record.asked): line.stands.changed_at or line.stands.record.judged_at or ""
        for line in lines
        if line.counts
    }
