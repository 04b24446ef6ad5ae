"""Signs on a server that a study was not judged blind: the kinds of problems, and those of one project.

Pure functions over what was read from the server and what is on record. Each finding names a person by pseudonym, says
how many and which, and what the lead can do; none accuses anyone of cheating.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlmodel import Session

from annot.base.names import counted
from annot.base.records import Asked, grouped
from annot.labelstudio.annotations import id_of
from annot.labelstudio.studio_records import Payload, PulledTask
from annot.study.outcome import Outcome
from annot.study.rushed import rushed_pairs

FAST_ANSWERS = 3
"""So many answers of one person that came too fast are no slip any more."""
SHOWN = 3
"""Pairs that a finding names."""


class Kind(NamedTuple):
    """A kind of finding."""

    what: str
    do: str
    """What the lead can do. `{push}` is the command that sends the tasks of the project."""
    noun: str = ""
    """What is counted, in the singular."""

    def of(self, person: str, count: int, more: str = "") -> str:
        """The problem in words. more: what follows."""
        return f"{person}: {counted(count, self.noun)} {self.what}{more}"


ANSWERS: dict[str, Kind] = {
    "other account": Kind(
        "by another account", "these answers do not count; ask, then delete them in Label Studio", "answer"
    ),
    "edited by another": Kind(
        "last changed by an account other than the author's", "the author's own answer counts; ask both", "answer"
    ),
    "answered twice": Kind("with more than one answer", "the person's latest counts; ask why there are more", "task"),
    "answer gone": Kind(
        "on record but missing from the server", "they still count; the next pull asks you to decide", "answer"
    ),
    "after adjudication": Kind(
        "given or changed after the pair was settled", "look at the pairs with `annot trace`", "answer"
    ),
}
"""What the answers to a task may show."""
BY_OTHERS = {"other account": "completed_by", "edited by another": "updated_by"}
"""The field of an annotation that holds the account; these findings name its owner."""
TASKS: dict[str, Kind] = {
    "task changed": Kind(
        "showing content that was never sent",
        "ask who changed them; delete those without an answer in Label Studio, and `{push}` sends them again",
        "task",
    ),
    "task twice": Kind("present twice", "in Label Studio, delete {which}", "task"),
    "task gone": Kind(
        "missing from the server",
        "`{push}` sends those without an answer again; Label Studio's free edition does not record who deleted them",
        "task",
    ),
}
STRANGE_TASKS = Kind("not sent by this study", "delete them in Label Studio", "task")
PROJECT_CHANGED = Kind("changed on the server by hand", "`{push}` changes it back")
SET_BACK = Kind(
    "was changed on the server by hand, and a push has changed it back",
    "ask who changed it; answers given before that day may follow the changed version",
)
PROJECT_GONE = Kind(
    "their project is missing from the server",
    "`{push}` creates it again with its open tasks; answers still count, and the next pull asks you to decide; "
    "Label Studio's free edition does not record who deleted it",
)
TOO_FAST = Kind("faster than anyone can read", "look at the pairs with the person", "answer")
VERSION = Kind("", "look at a task of each screen, then run `{push}`")
STRANGE_ACCOUNT = Kind("is on their server", "delete it there, and reset the invitation link under Organization")
STRANGE_PROJECT = Kind("on their server", "pull its answers, then delete it there", "project")
UNKNOWN_GUIDELINES = Kind(
    "by guidelines that are not on record", "look at the pairs with `annot trace`, and ask who changed them", "answer"
)
EARLIER_GUIDELINES = Kind(
    "with older guidelines than were sent last", "`annot push` shows the current ones next to them", "open task"
)
NOT_LOOKED_AT = Kind("their server could not be reached", "run `annot check server` again when it answers")


@dataclass(frozen=True, slots=True)
class AuditFinding:
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


def rushed_of(session: Session, outcome: Outcome) -> tuple[AuditFinding, ...]:
    """Everyone's answers and decisions that came too fast, by pseudonym."""
    limit, projects = rushed_pairs(session, outcome)
    fast = grouped((name, " ".join(pair)) for (name, _), pairs in projects.items() for pair in pairs)
    more = f" (under {limit:.1f} s; they count)"
    return tuple(
        AuditFinding("too fast", TOO_FAST.of(name, len(pairs), more), len(pairs), TOO_FAST.do, tuple(pairs))
        for name, pairs in fast.items()
    )


def of_accounts(
    person: str, there: Mapping[str, int], *, own: Collection[int], people: Mapping[str, str]
) -> Iterator[AuditFinding]:
    """Who can sign in to a person's own server beside that person and the lead.

    there: the server's id of each account, by address. own: the ids that may be. people: whose an address is.
    """
    for address, number in sorted(there.items(), key=lambda one: one[1]):
        if number not in own:
            # An address is an identity: the finding goes into a file.
            whose = (
                f"an account of {people[address]}" if address in people else f"account {number} of an unknown person"
            )
            yield AuditFinding("strange account", f"{person}: {whose} {STRANGE_ACCOUNT.what}", 1, STRANGE_ACCOUNT.do)


def of_markers(person: str, markers: Iterable[str]) -> Iterator[AuditFinding]:
    """Projects of others on a person's own server. markers: those of all projects of this program there."""
    others = Counter(name for marker in markers if (name := marker.rpartition("/")[2]) != person)
    for name, count in sorted(others.items()):
        what = f"{person}: {counted(count, 'project')} of {name} {STRANGE_PROJECT.what}"
        yield AuditFinding("strange project", what, count, STRANGE_PROJECT.do)


class Audited(NamedTuple):
    """One person's project as it was found."""

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
    settings: Collection[str] = ()
    """What was changed of the project itself, in words."""
    set_back: Mapping[str, str] = {}
    """By what was changed of it and set back by a push, in words, the day of the last time."""
    people: Mapping[int, str] = {}
    """Whose each account of the server is, in words, as far as it is known."""


def of_project(audited: Audited, adjudicated: Mapping[tuple[str, str], str]) -> Iterator[AuditFinding]:
    """What is wrong with one project. adjudicated: the moment at which a pair was settled (ISO 8601, the server's)."""
    if audited.settings:
        what = f"{audited.person}: {PROJECT_CHANGED.what}: {', '.join(audited.settings)}"
        yield AuditFinding("project changed", what, len(audited.settings), PROJECT_CHANGED.do.format(push=audited.push))
    if audited.set_back:
        what = f"{audited.person}: {SET_BACK.what}: {', '.join(audited.set_back)}"
        yield AuditFinding(
            "project set back", what, len(audited.set_back), SET_BACK.do, last=max(audited.set_back.values())
        )
    copies = grouped((task.key, task) for task in audited.tasks)
    strangers = sum(len(of_key) for key, of_key in copies.items() if key not in audited.own)
    if strangers:
        yield AuditFinding("strange tasks", STRANGE_TASKS.of(audited.person, strangers), strangers, STRANGE_TASKS.do)
    yield from _findings("task changed", TASKS["task changed"], audited, dict.fromkeys(audited.changed, ""))
    twice = {key: of_key for key, of_key in copies.items() if key in audited.own and len(of_key) > 1}
    which = "; ".join(_which(of_key) for of_key in twice.values())
    yield from _findings("task twice", TASKS["task twice"], audited, dict.fromkeys(twice, ""), which=which)
    yield from _findings("task gone", TASKS["task gone"], audited, dict.fromkeys(audited.planned - copies.keys(), ""))
    answers: dict[str, dict[str | None, str]] = {}
    for key, of_key in copies.items():
        if key is not None and key in audited.own:
            asked = audited.own[key]
            # A hidden repeat settles nothing, and may come after its pair was settled.
            settled = adjudicated.get(asked.pair) if asked.occasion == 1 else None
            for kind, day in _of_copies(key, of_key, audited, settled).items():
                answers.setdefault(kind, {})[key] = day
    for kind, of_kind in ANSWERS.items():
        yield from _findings(kind, of_kind, audited, answers.get(kind, {}))


def _given(task: PulledTask) -> list[Payload]:
    return [annotation for annotation in task.annotations if not annotation.get("was_cancelled")]


def _which(copies: Sequence[PulledTask]) -> str:
    """Which of the tasks of one pair to delete: an answer stays, and where there is none, the task that was first."""
    in_order = sorted(copies, key=lambda task: task.task_id or 0)
    answered = [task for task in in_order if _given(task)]
    if len(answered) > 1:
        numbers = " and ".join(str(task.task_id) for task in answered)
        return f"one of {numbers}, once the person has said which answer is right (the latest counts)"
    stays = (answered or in_order)[0]
    others = ", ".join(str(task.task_id) for task in in_order if task is not stays)
    return f"task {others} (task {stays.task_id} has the answer)" if answered else f"task {others} (none has an answer)"


def _of_copies(key: str, copies: Sequence[PulledTask], audited: Audited, settled: str | None) -> dict[str, str]:
    """Which of `ANSWERS` the tasks of one pair show, and the day of the last answer that shows it."""
    kinds: dict[str, str] = {}
    counted = audited.counted.get(key, frozenset())
    given = [_given(task) for task in copies]
    if counted and not any(given) and key not in audited.kept:
        kinds["answer gone"] = ""
    for of_task in given:
        if len(of_task) > 1:
            kinds["answered twice"] = max(map(_day, of_task))
    for annotation in (one for of_task in given for one in of_task):
        shows = []
        if kind := _by_another(annotation, audited, counted):
            shows.append(kind)
        if settled is not None and str(annotation.get("updated_at") or "") > settled:
            shows.append("after adjudication")
        for kind in shows:
            kinds[kind] = max(kinds.get(kind, ""), _day(annotation))
    return kinds


def _by_another(annotation: Payload, audited: Audited, counted: Collection[str]) -> str | None:
    """Whether somebody else gave the answer, or changed it last."""
    author, editor = id_of(annotation.get("completed_by")), id_of(annotation.get("updated_by"))
    if author not in audited.accounts and not (author is None and str(annotation["id"]) in counted):
        return "other account"
    return "edited by another" if editor not in (None, author, *audited.accounts) else None


def _others(kind: str, audited: Audited) -> str:
    """Who gave these answers, or changed them last, in words."""
    field = BY_OTHERS[kind]
    accounts = {
        id_of(annotation.get(field))
        for task in audited.tasks
        if task.key is not None and task.key in audited.own
        for annotation in _given(task)
        if _by_another(annotation, audited, audited.counted.get(task.key, frozenset())) == kind
    }
    whose = {audited.people.get(one or 0, f"account {one}" if one else "a deleted account") for one in accounts}
    return f" (by {', '.join(sorted(whose))})"


def _day(annotation: Payload) -> str:
    return str(annotation.get("updated_at") or "")[:10]


def _findings(
    kind: str, of_kind: Kind, audited: Audited, days: Mapping[str | None, str], *, which: str = ""
) -> Iterator[AuditFinding]:
    """days: by key, the day of what shows it; empty if none is known."""
    known = {key: day for key, day in days.items() if key is not None and key in audited.own}
    pairs = tuple(sorted(" ".join(audited.own[key].pair) for key in known))
    if pairs:
        whose = _others(kind, audited) if kind in BY_OTHERS else ""
        what = of_kind.of(audited.person, len(pairs), whose)
        do = of_kind.do.format(push=audited.push, which=which)
        yield AuditFinding(kind, what, len(pairs), do, pairs, max(known.values()) or None)
