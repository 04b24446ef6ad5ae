"""A round is one exchange with people through Label Studio, out and back. The five rounds are in `judging.rounds`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sqlmodel import Session

from annot.base.errors import MissingInput
from annot.base.records import Advance
from annot.judging.exchange.collecting import CollectedProject, PullCursor, PullResult, RecordedProject, collect
from annot.judging.exchange.outgoing import OutgoingProject
from annot.judging.exchange.round_parts import PARTS, RoundName, RoundPart
from annot.judging.exchange.sending import SentProject
from annot.judging.exchange.servers import Unreachable, isolated, on_servers, unreachable_notes
from annot.labelstudio.gateway import Gateway
from annot.store import projects
from annot.store.shown import ShownVersion
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOptions:
    """What somebody wants of a push or a pull; each is for some rounds only."""

    changed: str | None = None
    """Why names of grades, facets, guidelines, templates or [screen] have changed; without it, a push stops if they
    have."""
    new_screen: bool = False
    """Send the screens of this version of the program, not those that were sent."""
    assessor: tuple[str, ...] = ()
    """Whom to train, or who corrects labels."""
    view: str | None = None
    """What the pairs of the sub-study are judged on."""
    texts: Path | None = None
    """The table that says where the full texts are; None takes the one that the draw has written."""
    accept_deletions: bool = False
    """Withdraw the answers that the server no longer has."""
    dry_run: bool = False
    """Of a pull: record nothing."""


NO_OPTIONS = RoundOptions()


class PreparedPush(NamedTuple):
    """What a push of a round is about to send, and what was done for it already."""

    outgoing: Sequence[OutgoingProject]
    notes: Sequence[str] = ()
    unreachable: tuple[Unreachable, ...] = ()
    checked: bool = False
    """Whether `check_outgoing` has passed all of it."""
    new_versions: Sequence[ShownVersion] = ()
    """To be noted down as in force from now on, before anything is sent."""
    before: Sequence[SentProject] = ()
    """What of each project was withdrawn already."""
    is_made: bool = True
    """Whether this push, once it has succeeded, counts as one of the study as it is now."""


class PullOutcome(NamedTuple):
    """What is known after a pull."""

    notes: Sequence[str] = ()
    """What a person should know."""
    open: int | None = None
    """How many answers are to come; None if nobody waits for them."""


class Round(ABC):
    """One of the five exchanges: what it is called, whom it asks what, what becomes of an answer, what is noted."""

    name: RoundName
    parts: tuple[RoundPart, ...]
    person = "assessor"
    """What its people are called."""
    answer = "answer"
    """What one of its answers is called."""
    wishes: frozenset[str] = frozenset()
    """The fields of `RoundOptions` that it knows."""
    hint: str
    """How its tasks are sent, for when none were."""
    makes_collection = False
    """Whether what it sends is as annot.toml has it, each change put on record; others send what is on record."""
    noted_as = ""
    """Under which name a push is noted as made; empty if it is not."""

    @abstractmethod
    def prepare(self, ws: Workspace, wishes: RoundOptions, *, dry_run: bool) -> PreparedPush:
        """What each of its people is to find in their project."""

    def before_sending(self, session: Session, outgoing: Sequence[OutgoingProject]) -> None:
        """Note down what has to be known before these tasks can be seen. outgoing: of one part."""
        return

    @abstractmethod
    def record(self, ws: Workspace, collected: CollectedProject, wishes: RoundOptions) -> RecordedProject:
        """Read the answers of one project into records, and keep them."""

    def after_pull(self, ws: Workspace) -> PullOutcome:
        """Note down what follows from the answers."""
        return PullOutcome()


def pull_round(
    ws: Workspace, round: Round, wishes: RoundOptions, *, advance: Advance, seen: dict[int, PullCursor] | None = None
) -> PullResult:
    """Record each project of the round, server by server."""
    wanted = {part.stored for part in round.parts}
    with ws.reading() as session:
        sent = [project for project in projects.read_projects(session) if project.round in wanted]
    names = sorted({project.assessor for project in sent if project.remote_id is not None})
    if not names and isolated(ws):
        raise MissingInput("nothing was sent", hint=round.hint)
    recorded: list[RecordedProject] = []
    keep = not wishes.dry_run

    def record_each(gateway: Gateway, _names: Sequence[str]) -> None:
        for collected in collect(ws, gateway, round.parts, hint=round.hint, advance=advance, seen=seen, keep=keep):
            done = round.record(ws, collected, wishes)
            if PARTS[collected.project.round].graded:
                recorded.append(done)

    unreachable = on_servers(ws, names, record_each)
    notes = (*(note for one in recorded for note in one.notes), *unreachable_notes(unreachable))
    lost = tuple(answer for one in recorded for answer in one.lost)
    return PullResult(tuple(one.row for one in recorded), notes, lost, wishes.accept_deletions, unreachable)
