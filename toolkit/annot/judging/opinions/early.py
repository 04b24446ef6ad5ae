"""A model's opinion before people have judged: it may sway them, so the lead has to give a reason that is published."""

from __future__ import annotations

from typing import Literal

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import moment_now
from annot.store import judgements, opinions, projects
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace

What = Literal["asked", "shown"]
OPTION = "--before-judging"
_WHY: dict[What, str] = {
    "asked": "no pair has been sent to an assessor yet, so the model's opinion could influence the plan and the people",
    "shown": "people have not settled all pairs yet, so the model's opinion could influence them",
}


def is_early(ws: Workspace, session: Session, what: What) -> bool:
    """Whether it is too early for a model to be asked, or for its opinion to be shown.

    It may be asked once pairs were sent, or judged elsewhere, and shown once every planned pair is settled.
    """
    judged = bool(judgements.read_current(session))
    if what == "asked":
        return not judged and not projects.read_asked(session, round="judge")
    outcome = outcome_of(session, ws.settings)
    return not judged or bool(outcome.open or outcome.progress.unfinished)


def check_early(ws: Workspace, session: Session, what: What, *, why: str | None) -> str | None:
    """The reason to put on record, or None if it is not early. Raises InputError if it is and there is none."""
    if not is_early(ws, session, what):
        return None
    reason = " ".join((why or "").split())
    if not reason:
        raise InputError(_WHY[what], hint=f'wait, or give the reason: {OPTION} "why"; the datasheet repeats it')
    return reason


def note_early(session: Session, name: str, what: What, why: str) -> None:
    """Put the reason on record, once."""
    asked = opinions.read_asked_model(session, name)
    if (what, why) not in {(one[1], one[2]) for one in asked.early}:
        opinions.put_asked_model(session, asked._replace(early=(*asked.early, (moment_now(), what, why))))
