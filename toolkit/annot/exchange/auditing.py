"""What a server shows that a blind study does not: who answered what, when, how fast, and what was changed by hand.

Pure functions over what was read from the server and what is on record. Each finding names a person by pseudonym, says
how many and which, and what the lead can do; none says that somebody cheated.
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


class Kind(NamedTuple):
    """A kind of finding."""

    what: str
    """In words, behind a number where it is of tasks or answers."""
    do: str
    """What the lead can do. `{push}` is the command that sends the tasks of the project."""


ANSWERS: dict[str, Kind] = {
    "other account": Kind("answer(s) by another account", "none of them counts; ask, then delete them in Label Studio"),
    "edited by another": Kind(
        "answer(s) last changed by another account than their author's", "the author's own answer counts; ask both"
    ),
    "answered twice": Kind("task(s) with more than one answer", "the person's latest counts; ask why there are more"),
    "answer gone": Kind(
        "answer(s) on record are gone from the server", "they count on; the command that pulls lets you decide"
    ),
    "after adjudication": Kind(
        "answer(s) given or changed after their pair was settled", "look at the pairs with `annot trace`"
    ),
    "too fast": Kind(f"answer(s) given in less than {FASTEST_SECONDS:g} s", "look at the pairs with the person"),
}
"""What the answers to a task may show."""
TASKS: dict[str, Kind] = {
    "task changed": Kind(
        "task(s) show what was never sent",
        "ask who has changed them; delete those without an answer in Label Studio, and `{push}` sends them again",
    ),
    "task twice": Kind("task(s) are there twice", "delete one of each in Label Studio"),
    "task gone": Kind("task(s) are gone from the server", "`{push}` sends those without an answer again"),
}
STRANGE_TASKS = Kind("task(s) that this study did not send", "delete them in Label Studio")
PROJECT_CHANGED = Kind("changed on the server by hand", "`{push}` sets it back")
PROJECT_GONE = Kind("their project is gone from the server", "`{push}` makes it again, with its open tasks")
VERSION = Kind("", "look at a task of each screen, then run `{push}`")
STRANGE_ACCOUNT = Kind("is on their server", "delete it there, and renew the invitation link under Organization")
STRANGE_PROJECT = Kind("on their server", "delete it there, once its answers are pulled")
UNKNOWN_GUIDELINES = Kind(
    "answer(s) by guidelines that are not on record", "look at the pairs with `annot trace`, and ask who changed them"
)
EARLIER_GUIDELINES = Kind(
    "open task(s) with earlier guidelines than were sent last", "`annot push` puts the present ones beside them"
)
NOT_LOOKED_AT = Kind("their server could not be asked", "run `annot audit` again when it answers")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that needs a person. `what` begins with the pseudonym where it is about one."""

    kind: str
    what: str
    count: int
    do: str
    pairs: tuple[str, ...] = ()
    """All of them, as `query document`."""
    last: str | None = None
    """The day of the last answer that shows it; for the lead alone, since a release carries no dates."""

    def __str__(self) -> str:
        more = f", and {len(self.pairs) - SHOWN} more" if len(self.pairs) > SHOWN else ""
        shown = f": {'; '.join(self.pairs[:SHOWN])}{more}" if self.pairs else ""
        return f"{self.what}{shown}{f' (last on {self.last})' if self.last else ''}"


class Audited(NamedTuple):
    """One person's project as it was met."""

    person: str
    """With what the project is for, where that is neither judging nor adjudication: `a1 (training)`."""
    push: str
    """The command that sends its tasks."""
    accounts: Collection[int]
    """The server's ids of the accounts that are the person's, now or when they answered."""
    counted: Mapping[str, frozenset[str]]
    """By key, the ids of the annotations whose answers count: the server forgets whose they were when it removes an
    account."""
    kept: frozenset[str]
    """The keys whose answers the lead has kept although they are gone."""
    tasks: Sequence[PulledTask]
    own: Mapping[str, Asked]
    """What may stand in the project, by key."""
    planned: frozenset[str]
    """The keys of what was sent."""
    changed: Collection[str | None]
    """The keys of the tasks that show something else than they were sent with."""
    graded: bool
    """Whether its answers are grades: to look at gold grades takes no time."""
    settings: Mapping[str, Any]
    expected_settings: Mapping[str, Any]


def of_project(met: Audited, adjudicated: Mapping[tuple[str, str], str]) -> Iterator[Finding]:
    """What is wrong with one project. adjudicated: the moment at which a pair was settled (ISO 8601, the server's)."""
    changed = sorted(name for name, value in met.expected_settings.items() if met.settings.get(name) != value)
    if changed:
        what = f"{met.person}: {PROJECT_CHANGED.what}: {', '.join(changed)}"
        yield Finding("project changed", what, len(changed), PROJECT_CHANGED.do.format(push=met.push))
    copies = Counter(task.key for task in met.tasks)
    strangers = sum(count for key, count in copies.items() if key not in met.own)
    if strangers:
        yield Finding("strange tasks", f"{met.person}: {strangers} {STRANGE_TASKS.what}", strangers, STRANGE_TASKS.do)
    found: dict[str, Collection[str | None]] = {
        "task changed": met.changed,
        "task twice": [key for key in copies if copies[key] > 1],
        "task gone": met.planned - copies.keys(),
    }
    for kind, keys in found.items():
        yield from _told(kind, TASKS[kind], met, dict.fromkeys(keys, ""))
    answers: dict[str, dict[str | None, str]] = {}
    for task in met.tasks:
        if task.key is not None and task.key in met.own:
            asked = met.own[task.key]
            # A hidden repeat settles nothing, and may come after its pair was settled.
            settled = adjudicated.get(asked.pair) if asked.occasion == 1 else None
            for kind, day in _of_task(task, met, settled).items():
                answers.setdefault(kind, {})[task.key] = day
    for kind, of_kind in ANSWERS.items():
        if len(answers.get(kind, ())) >= (FAST_ANSWERS if kind == "too fast" else 1):
            yield from _told(kind, of_kind, met, answers[kind])


def _of_task(task: PulledTask, met: Audited, settled: str | None) -> dict[str, str]:
    """Which of `ANSWERS` the answers to one task show, and the day of the last answer that shows it."""
    kinds: dict[str, str] = {}
    given = [annotation for annotation in task.annotations if not annotation.get("was_cancelled")]
    counted = met.counted.get(task.key or "", frozenset())
    if counted and not given and task.key not in met.kept:
        kinds["answer gone"] = ""
    if len(given) > 1:
        kinds["answered twice"] = max(map(_day, given))
    for annotation in given:
        author, editor = id_of(annotation.get("completed_by")), id_of(annotation.get("updated_by"))
        shows = []
        if author not in met.accounts and not (author is None and str(annotation["id"]) in counted):
            shows.append("other account")
        elif editor not in (None, author, *met.accounts):
            shows.append("edited by another")
        if settled is not None and str(annotation.get("updated_at") or "") > settled:
            shows.append("after adjudication")
        seconds = annotation.get("lead_time")
        if met.graded and isinstance(seconds, int | float) and seconds < FASTEST_SECONDS:
            shows.append("too fast")
        for kind in shows:
            kinds[kind] = max(kinds.get(kind, ""), _day(annotation))
    return kinds


def _day(annotation: Payload) -> str:
    return str(annotation.get("updated_at") or "")[:10]


def _told(kind: str, of_kind: Kind, met: Audited, days: Mapping[str | None, str]) -> Iterator[Finding]:
    """days: by key, the day of what shows it; empty where none is known."""
    known = {key: day for key, day in days.items() if key is not None and key in met.own}
    pairs = tuple(sorted(" ".join(met.own[key].pair) for key in known))
    if pairs:
        what = f"{met.person}: {len(pairs)} {of_kind.what}"
        yield Finding(kind, what, len(pairs), of_kind.do.format(push=met.push), pairs, max(known.values()) or None)


def of_accounts(
    person: str, there: Mapping[str, int], *, own: Collection[int], people: Mapping[str, str]
) -> Iterator[Finding]:
    """Who can sign in to a person's own server beside that person and the lead.

    there: the server's id of each account, by address. own: the ids that may be. people: whose an address is.
    """
    for address, number in sorted(there.items(), key=lambda one: one[1]):
        if number not in own:
            # An address is an identity: the finding goes into a file.
            whose = f"an account of {people[address]}" if address in people else f"account {number} of nobody known"
            yield Finding("strange account", f"{person}: {whose} {STRANGE_ACCOUNT.what}", 1, STRANGE_ACCOUNT.do)


def of_markers(person: str, markers: Iterable[str]) -> Iterator[Finding]:
    """Projects of others on a person's own server. markers: those of all projects of this program there."""
    others = Counter(name for marker in markers if (name := marker.rpartition("/")[2]) != person)
    for name, count in sorted(others.items()):
        what = f"{person}: {count} project(s) of {name} {STRANGE_PROJECT.what}"
        yield Finding("strange project", what, count, STRANGE_PROJECT.do)
