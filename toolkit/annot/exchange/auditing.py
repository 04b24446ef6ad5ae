"""What a server shows that a blind study does not: who answered what, when, how fast, and what was changed by hand.

Pure functions over what was read from the server and what is on record. Each finding names a person by pseudonym and
says how many and which; none says that somebody cheated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from annot.labelstudio.annotations import id_of
from annot.labelstudio.studio_records import Payload, PulledTask
from annot.records import Asked

FASTEST_SECONDS = 2.0
"""Nobody reads the marked sentences of two abstracts and presses two keys in less."""
FAST_ANSWERS = 3
"""So many answers faster than that are no slip any more."""
SHOWN = 3
"""Pairs that a finding names."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that needs a person. `what` begins with the pseudonym where it is about one."""

    kind: str
    what: str
    count: int
    pairs: tuple[str, ...] = ()
    """All of them, as `query document`."""

    def __str__(self) -> str:
        more = f", and {len(self.pairs) - SHOWN} more" if len(self.pairs) > SHOWN else ""
        shown = f": {'; '.join(self.pairs[:SHOWN])}{more}" if self.pairs else ""
        return f"{self.what}{shown}"


class Audited(NamedTuple):
    """One person's project as it was met."""

    person: str
    accounts: Collection[int]
    """The server's ids of the accounts that are the person's, now or when they answered."""
    counted: Collection[str]
    """The ids of the annotations whose answers count: the server forgets whose they were when it removes an account."""
    tasks: Sequence[PulledTask]
    own: Mapping[str, Asked]
    """What may stand in the project, by key."""
    planned: frozenset[str]
    """The keys of what was sent."""
    settings: Mapping[str, Any]
    expected_settings: Mapping[str, Any]


def of_project(met: Audited, adjudicated: Mapping[tuple[str, str], str]) -> Iterator[Finding]:
    """What is wrong with one project. adjudicated: the moment at which a pair was settled (ISO 8601, the server's)."""
    changed = sorted(name for name, value in met.expected_settings.items() if met.settings.get(name) != value)
    if changed:
        yield Finding(
            "project changed", f"{met.person}: changed on the server by hand: {', '.join(changed)}", len(changed)
        )
    copies = Counter(task.key for task in met.tasks)
    strangers = sum(count for key, count in copies.items() if key not in met.own)
    if strangers:
        yield Finding("strange tasks", f"{met.person}: {strangers} task(s) that this study did not send", strangers)
    yield from _told("task twice", met, "task(s) are there twice", [key for key in copies if copies[key] > 1])
    yield from _told("task gone", met, "task(s) are gone from the server", met.planned - copies.keys())
    found: dict[str, list[str]] = {}
    for task in met.tasks:
        if task.key is not None and task.key in met.own:
            asked = met.own[task.key]
            # A hidden repeat settles nothing, and may come after its pair was settled.
            settled = adjudicated.get(asked.pair) if asked.occasion == 1 else None
            for kind in _of_task(task.annotations, met, settled):
                found.setdefault(kind, []).append(task.key)
    for kind, what in KINDS.items():
        if len(found.get(kind, ())) >= (FAST_ANSWERS if kind == "too fast" else 1):
            yield from _told(kind, met, what, found[kind])


KINDS = {
    "other account": "answer(s) by another account",
    "edited by another": "answer(s) last changed by another account than their author's",
    "answered twice": "task(s) with more than one answer",
    "after adjudication": "answer(s) given or changed after their pair was settled",
    "too fast": f"answer(s) given in less than {FASTEST_SECONDS:g} s",
}
"""What a task's answers may show, and in what words."""


def _of_task(annotations: Sequence[Payload], met: Audited, settled: str | None) -> set[str]:
    """Which of `KINDS` the answers to one task show."""
    kinds = set()
    given = [annotation for annotation in annotations if not annotation.get("was_cancelled")]
    if len(given) > 1:
        kinds.add("answered twice")
    for annotation in given:
        author, editor = id_of(annotation.get("completed_by")), id_of(annotation.get("updated_by"))
        if author not in met.accounts and not (author is None and str(annotation["id"]) in met.counted):
            kinds.add("other account")
        elif editor not in (None, author, *met.accounts):
            kinds.add("edited by another")
        if settled is not None and str(annotation.get("updated_at") or "") > settled:
            kinds.add("after adjudication")
        seconds = annotation.get("lead_time")
        if isinstance(seconds, int | float) and seconds < FASTEST_SECONDS:
            kinds.add("too fast")
    return kinds


def _told(kind: str, met: Audited, what: str, keys: Iterable[str | None]) -> Iterator[Finding]:
    pairs = tuple(sorted(" ".join(met.own[key].pair) for key in keys if key is not None and key in met.own))
    if pairs:
        yield Finding(kind, f"{met.person}: {len(pairs)} {what}", len(pairs), pairs)
