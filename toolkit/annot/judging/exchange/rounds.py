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
    """Options of a push or a pull; each is for some rounds only."""

    changed: str | None = None
    """Reason for changed names of grades, facets, guidelines, templates or [screen]; without it, a push stops if they
    have changed."""
    new_screen: bool = False
    """Send the screens of this version of the program, not those that were sent before."""
    assessor: tuple[str, ...] = ()
    """People to train, or people who correct labels."""
    view: str | None = None
    """Texts on which the pairs of the sub-study are judged."""
    texts: Path | None = None
    """Table of the addresses of full texts; None takes the one that the draw has written."""
    accept_deletions: bool = False
    """Withdraw the answers that the server no longer has."""
    dry_run: bool = False
    """Record nothing in a pull."""


NO_OPTIONS = RoundOptions()


class PreparedPush(NamedTuple):
    """Everything that a push of a round is about to send, and the tasks already withdrawn for it."""

    outgoing: Sequence[OutgoingProject]
    notes: Sequence[str] = ()
    unreachable: tuple[Unreachable, ...] = ()
    checked: bool = False
    """True if all of it has passed `check_outgoing`."""
    new_versions: Sequence[ShownVersion] = ()
    """Versions to put on record as in force from now on, before anything is sent."""
    before: Sequence[SentProject] = ()
    """A row for each project from which tasks were withdrawn already."""
    is_made: bool = True
    """True if this push, once it has succeeded, counts as one of the study as it is now."""


class PullOutcome(NamedTuple):
    """Notes and open answers after a pull."""

    notes: Sequence[str] = ()
    """Notes for the lead."""
    open: int | None = None
    """Number of answers still to come; None if the study does not wait for any."""


class Round(ABC):
    """One of the five exchanges with people: the tasks that it sends, and the records that answers become."""

    name: RoundName
    parts: tuple[RoundPart, ...]
    person = "assessor"
    """The word for one of its people."""
    answer = "answer"
    """The word for one of its answers."""
    wishes: frozenset[str] = frozenset()
    """Fields of `RoundOptions` that apply to it."""
    hint: str
    """Advice for a pull before any of its tasks were sent."""
    makes_collection = False
    """True if it sends what annot.toml says and puts each change on record; other rounds send what is on record."""
    noted_as = ""
    """Name under which a push is noted as made; empty if it is not noted."""

    @abstractmethod
    def prepare(self, ws: Workspace, wishes: RoundOptions, *, dry_run: bool) -> PreparedPush:
        """Make the tasks of everyone in the round."""

    def before_sending(self, session: Session, outgoing: Sequence[OutgoingProject]) -> None:
        """Put on record whatever must be there before these tasks can be seen. outgoing: projects of one part."""
        return

    @abstractmethod
    def record(self, ws: Workspace, collected: CollectedProject, wishes: RoundOptions) -> RecordedProject:
        """Store the answers of one project as records."""

    def after_pull(self, ws: Workspace) -> PullOutcome:
        """Put on record whatever follows from the answers."""
        return PullOutcome()


def pull_round(
    ws: Workspace, round: Round, wishes: RoundOptions, *, advance: Advance, seen: dict[int, PullCursor] | None = None
) -> PullResult:
    """Fetch and record each project of the round, server by server. seen: as `collect` takes it."""
    stored = {part.stored for part in round.parts}
    with ws.reading() as session:
        sent = [project for project in projects.read_projects(session) if project.round in stored]
    names = sorted({project.assessor for project in sent if project.remote_id is not None})
    if not names and isolated(ws):
        raise MissingInput("nothing was sent", hint=round.hint)
    recorded: list[RecordedProject] = []
    keep = not wishes.dry_run

    def record_each(gateway: Gateway, _names: Sequence[str]) -> None:
        for collected in collect(ws, gateway, round.parts, hint=round.hint, advance=advance, seen=seen, keep=keep):
            project = round.record(ws, collected, wishes)
            if PARTS[collected.project.round].graded:
                recorded.append(project)

    unreachable = on_servers(ws, names, record_each)
    notes = (*(note for project in recorded for note in project.notes), *unreachable_notes(unreachable))
    lost = tuple(answer for project in recorded for answer in project.lost)
    return PullResult(tuple(project.row for project in recorded), notes, lost, wishes.accept_deletions, unreachable)
