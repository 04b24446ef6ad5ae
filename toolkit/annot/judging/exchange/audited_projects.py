"""What the projects of a study show when they are held against what was planned and sent: who answered what, and how.

Pure functions over what was read from the server and what is on record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from annot.base.records import Asked
from annot.judging.exchange.auditing import (
    ANSWERS,
    BY_OTHERS,
    FAST_ANSWERS,
    FASTEST_SECONDS,
    PROJECT_CHANGED,
    SET_BACK,
    STRANGE_TASKS,
    TASKS,
    TOO_FAST,
    Finding,
    Kind,
)
from annot.labelstudio.annotations import id_of
from annot.labelstudio.studio_records import Payload, PulledTask


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
    settings: Collection[str] = ()
    """What was changed of the project itself, in words."""
    set_back: Mapping[str, str] = {}
    """By what was changed of it and set back by a push, in words, the day of the last time."""
    people: Mapping[int, str] = {}
    """Whose each account of the server is, in words, as far as it is known."""


def of_project(met: Audited, adjudicated: Mapping[tuple[str, str], str]) -> Iterator[Finding]:
    """What is wrong with one project. adjudicated: the moment at which a pair was settled (ISO 8601, the server's)."""
    if met.settings:
        what = f"{met.person}: {PROJECT_CHANGED.what}: {', '.join(met.settings)}"
        yield Finding("project changed", what, len(met.settings), PROJECT_CHANGED.do.format(push=met.push))
    if met.set_back:
        what = f"{met.person}: {SET_BACK.what}: {', '.join(met.set_back)}"
        yield Finding("project set back", what, len(met.set_back), SET_BACK.do, last=max(met.set_back.values()))
    copies: defaultdict[str | None, list[PulledTask]] = defaultdict(list)
    for task in met.tasks:
        copies[task.key].append(task)
    strangers = sum(len(of_key) for key, of_key in copies.items() if key not in met.own)
    if strangers:
        yield Finding("strange tasks", f"{met.person}: {strangers} {STRANGE_TASKS.what}", strangers, STRANGE_TASKS.do)
    yield from _told("task changed", TASKS["task changed"], met, dict.fromkeys(met.changed, ""))
    twice = {key: of_key for key, of_key in copies.items() if key in met.own and len(of_key) > 1}
    which = "; ".join(_which(of_key) for of_key in twice.values())
    yield from _told("task twice", TASKS["task twice"], met, dict.fromkeys(twice, ""), which=which)
    yield from _told("task gone", TASKS["task gone"], met, dict.fromkeys(met.planned - copies.keys(), ""))
    answers: dict[str, dict[str | None, str]] = {}
    for key, of_key in copies.items():
        if key is not None and key in met.own:
            asked = met.own[key]
            # A hidden repeat settles nothing, and may come after its pair was settled.
            settled = adjudicated.get(asked.pair) if asked.occasion == 1 else None
            for kind, day in _of_copies(key, of_key, met, settled).items():
                answers.setdefault(kind, {})[key] = day
    for kind, of_kind in ANSWERS.items():
        yield from _told(kind, of_kind, met, answers.get(kind, {}))


def fast_answers(met: Audited) -> dict[tuple[str, str], str]:
    """The day of each answer that was given faster than anybody reads, by pair."""
    found: dict[tuple[str, str], str] = {}
    for task in met.tasks if met.graded else ():
        for annotation in _given(task):
            seconds = annotation.get("lead_time")
            fast = isinstance(seconds, int | float) and seconds < FASTEST_SECONDS
            if fast and task.key is not None and task.key in met.own:
                pair = met.own[task.key].pair
                found[pair] = max(found.get(pair, ""), _day(annotation))
    return found


def of_fast(person: str, fast: Mapping[tuple[str, str], str]) -> Iterator[Finding]:
    """One person's answers of `fast_answers`, in all their projects, where they are more than a slip."""
    if len(fast) >= FAST_ANSWERS:
        pairs = tuple(sorted(map(" ".join, fast)))
        what = f"{person}: {len(fast)} {TOO_FAST.what}"
        yield Finding("too fast", what, len(fast), TOO_FAST.do, pairs, max(fast.values()) or None)


def _given(task: PulledTask) -> list[Payload]:
    return [annotation for annotation in task.annotations if not annotation.get("was_cancelled")]


def _which(copies: Sequence[PulledTask]) -> str:
    """Which of the tasks of one pair to delete: an answer stays, and where there is none, the task that was first."""
    in_order = sorted(copies, key=lambda task: task.task_id or 0)
    answered = [task for task in in_order if _given(task)]
    if len(answered) > 1:
        numbers = " and ".join(str(task.task_id) for task in answered)
        return f"one of {numbers}, which both have an answer, once the person has said which holds (the latest counts)"
    stays = (answered or in_order)[0]
    others = ", ".join(str(task.task_id) for task in in_order if task is not stays)
    return f"task {others} (task {stays.task_id} has the answer)" if answered else f"task {others} (none has an answer)"


def _of_copies(key: str, copies: Sequence[PulledTask], met: Audited, settled: str | None) -> dict[str, str]:
    """Which of `ANSWERS` the tasks of one pair show, and the day of the last answer that shows it."""
    kinds: dict[str, str] = {}
    counted = met.counted.get(key, frozenset())
    given = [_given(task) for task in copies]
    if counted and not any(given) and key not in met.kept:
        kinds["answer gone"] = ""
    for of_task in given:
        if len(of_task) > 1:
            kinds["answered twice"] = max(map(_day, of_task))
    for annotation in (one for of_task in given for one in of_task):
        shows = []
        if kind := _by_another(annotation, met, counted):
            shows.append(kind)
        if settled is not None and str(annotation.get("updated_at") or "") > settled:
            shows.append("after adjudication")
        for kind in shows:
            kinds[kind] = max(kinds.get(kind, ""), _day(annotation))
    return kinds


def _by_another(annotation: Payload, met: Audited, counted: Collection[str]) -> str | None:
    """Whether somebody else gave the answer, or changed it last."""
    author, editor = id_of(annotation.get("completed_by")), id_of(annotation.get("updated_by"))
    if author not in met.accounts and not (author is None and str(annotation["id"]) in counted):
        return "other account"
    return "edited by another" if editor not in (None, author, *met.accounts) else None


def _others(kind: str, met: Audited) -> str:
    """Who gave these answers, or changed them last, in words."""
    field = BY_OTHERS[kind]
    accounts = {
        id_of(annotation.get(field))
        for task in met.tasks
        if task.key is not None and task.key in met.own
        for annotation in _given(task)
        if _by_another(annotation, met, met.counted.get(task.key, frozenset())) == kind
    }
    whose = {met.people.get(one or 0, f"account {one}" if one else "an account that is gone") for one in accounts}
    return f" (by {', '.join(sorted(whose))})"


def _day(annotation: Payload) -> str:
    return str(annotation.get("updated_at") or "")[:10]


def _told(
    kind: str, of_kind: Kind, met: Audited, days: Mapping[str | None, str], *, which: str = ""
) -> Iterator[Finding]:
    """days: by key, the day of what shows it; empty where none is known."""
    known = {key: day for key, day in days.items() if key is not None and key in met.own}
    pairs = tuple(sorted(" ".join(met.own[key].pair) for key in known))
    if pairs:
        whose = _others(kind, met) if kind in BY_OTHERS else ""
        what = f"{met.person}: {len(pairs)} {of_kind.what}{whose}"
        do = of_kind.do.format(push=met.push, which=which)
        yield Finding(kind, what, len(pairs), do, pairs, max(known.values()) or None)
