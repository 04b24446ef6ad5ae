"""What a server shows that a blind study does not: kinds of findings, and who else can be on a person's server.

Each finding names a person by pseudonym, says
how many and which, and what the lead can do; none says that somebody cheated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

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
}
"""What the answers to a task may show."""
BY_OTHERS = {"other account": "completed_by", "edited by another": "updated_by"}
"""Of these the person is named whose account it was: where an annotation has it."""
TASKS: dict[str, Kind] = {
    "task changed": Kind(
        "task(s) show what was never sent",
        "ask who has changed them; delete those without an answer in Label Studio, and `{push}` sends them again",
    ),
    "task twice": Kind("task(s) are there twice", "in Label Studio, delete {which}"),
    "task gone": Kind(
        "task(s) are gone from the server",
        "`{push}` sends those without an answer again; who deleted them, Label Studio's free edition does not tell",
    ),
}
STRANGE_TASKS = Kind("task(s) that this study did not send", "delete them in Label Studio")
PROJECT_CHANGED = Kind("changed on the server by hand", "`{push}` sets it back")
SET_BACK = Kind(
    "was changed on the server by hand, and a push has set it back",
    "ask who changed it; answers that were given before that day may follow what stood there",
)
PROJECT_GONE = Kind(
    "their project is gone from the server",
    "`{push}` makes it again, with its open tasks; what was answered counts on, and the command that pulls lets you "
    "decide; who deleted it, Label Studio's free edition does not tell",
)
TOO_FAST = Kind(f"answer(s) given in less than {FASTEST_SECONDS:g} s", "look at the pairs with the person")
VERSION = Kind("", "look at a task of each screen, then run `{push}`")
STRANGE_ACCOUNT = Kind("is on their server", "delete it there, and renew the invitation link under Organization")
STRANGE_PROJECT = Kind("on their server", "delete it there, once its answers are pulled")
UNKNOWN_GUIDELINES = Kind(
    "answer(s) by guidelines that are not on record", "look at the pairs with `annot trace`, and ask who changed them"
)
EARLIER_GUIDELINES = Kind(
    "open task(s) with earlier guidelines than were sent last", "`annot push` puts the present ones beside them"
)
NOT_LOOKED_AT = Kind("their server could not be asked", "run `annot check server` again when it answers")


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
