"""Handing on what somebody has not answered: the plan stays sound when a person leaves.

Answered pairs stay with who answered them. Nobody gets a pair that they have already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from annot.base.records import Asked, Assignment, grouped
from annot.judging.planning.drawing import FEWEST_BETWEEN

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PlanHandedOn:
    """The plan without a person's open pairs in their hands."""

    plan: tuple[Assignment, ...]
    given_up: tuple[Assignment, ...]
    """What the person had and has no more."""
    moved: dict[Pair, str | None]
    """Who has each open pair now, in the person's order; None if nobody could take it."""
    repeats_gone: int
    """Hidden repeats that nobody could take, or that would come too soon after their pair."""


def hand_on(
    plan: Iterable[Assignment],
    *,
    leaver: str,
    answered: Collection[Asked],
    successor: str | None,
    others: Sequence[str],
    together: bool,
    open_loads: Mapping[str, int],
    shares: Mapping[str, float],
    barred: Mapping[Pair, Collection[str]],
) -> PlanHandedOn:
    """Give the leaver's open pairs to the successor where they can take them, else to the others, as evenly as can be.

    answered: what the leaver has answered; it stays. together: all open pairs of a query go to one person where one can
    take them all. open_loads: the unanswered pairs of each person, which break ties. shares: the hours of people
    relative to each other, 1 for those not named. barred: by pair, who must not get it, besides those who have it.
    """
    plan = tuple(plan)
    mine = sorted((one for one in plan if one.assessor == leaver), key=attrgetter("position"))
    open_pairs = [one.pair for one in mine if one.occasion == 1 and one.asked not in answered]
    holders = grouped((one.pair, one.assessor) for one in plan)

    def can_take(name: str, pairs: Iterable[Pair]) -> bool:
        return not any(name in holders[pair] or name in barred.get(pair, ()) for pair in pairs)

    received: Counter[str] = Counter()

    def lightest(pairs: Sequence[Pair]) -> str | None:
        free = [name for name in others if name != leaver and can_take(name, pairs)]

        def cost(name: str) -> tuple[float, float, str]:
            share = shares.get(name, 1.0)
            return (received[name] + len(pairs)) / share, open_loads.get(name, 0) / share, name

        return min(free, key=cost, default=None)

    receiver: dict[Pair, str | None] = {}
    left_over = []
    for pair in open_pairs:
        if successor is not None and can_take(successor, [pair]):
            receiver[pair] = successor
        else:
            left_over.append(pair)
    for group in _groups(left_over, together=together):
        whole = lightest(group)
        for pair in group:
            name = whole or lightest([pair])
            receiver[pair] = name
            if name is not None:
                received[name] += 1

    staying = [one for one in mine if one.asked in answered]
    given_up = tuple(one for one in mine if one.asked not in answered)
    new, gone = _sequences(plan, given_up, receiver)
    remaining = [one for one in plan if one.assessor != leaver]
    moved = {pair: receiver[pair] for pair in open_pairs}
    return PlanHandedOn(renumbered([*remaining, *staying, *new]), given_up, moved, gone)


def give_back(
    plan: Iterable[Assignment],
    *,
    assessor: str,
    answered: Collection[Asked],
    per_pair: int,
    bound: Collection[tuple[str, Asked]],
) -> tuple[tuple[Assignment, ...], tuple[Asked, ...]]:
    """The plan in which the assessor has again what they answered after it had been handed on; and what that is.

    bound: (assessor, what was asked) that was sent or answered; nobody loses that, so a pair of which all is bound
    stays where it is.
    """
    plan = list(plan)
    behind = len(plan)
    returned = []
    for asked in sorted(answered, key=lambda one: (one.occasion, one)):
        if any((one.assessor, one.asked) == (assessor, asked) for one in plan):
            continue
        holders = [one for one in plan if one.asked == Asked(*asked.pair)]
        if asked.occasion == 1 and len(holders) >= per_pair:
            free = [one for one in holders if (one.assessor, one.asked) not in bound]
            if not free:
                continue
            giver = max(free, key=attrgetter("position")).assessor
            plan = [one for one in plan if one.assessor != giver or one.pair != asked.pair]
        plan.append(Assignment(*asked.pair, assessor, behind, asked.occasion))
        returned.append(asked)
    return renumbered(plan), tuple(returned)


def renumbered(plan: Iterable[Assignment]) -> tuple[Assignment, ...]:
    """The plan by assessor and position, positions counted from 1 without gaps."""
    found: list[Assignment] = []
    places: Counter[str] = Counter()
    for one in sorted(plan, key=attrgetter("assessor", "position")):
        places[one.assessor] += 1
        found.append(replace(one, position=places[one.assessor]))
    return tuple(found)


def _groups(pairs: Sequence[Pair], *, together: bool) -> list[list[Pair]]:
    if not together:
        return [[pair] for pair in pairs]
    return sorted(grouped((pair[0], pair) for pair in pairs).values(), key=len, reverse=True)


def _sequences(
    plan: Sequence[Assignment], given_up: Sequence[Assignment], receiver: Mapping[Pair, str | None]
) -> tuple[list[Assignment], int]:
    """What the receivers get behind what they have, in the leaver's order; and how many repeats went."""
    last: Counter[str] = Counter()
    for one in plan:
        last[one.assessor] = max(last[one.assessor], one.position)
    new: list[Assignment] = []
    place_of: dict[Asked, int] = {}
    gone = 0
    for one in given_up:
        name = receiver.get(one.pair)
        if one.occasion > 1:
            first = place_of.get(Asked(*one.pair))
            if name is None or first is None or last[name] - first < FEWEST_BETWEEN:
                gone += 1
                continue
        if name is None:
            continue
        last[name] += 1
        place_of[one.asked] = last[name]
        new.append(replace(one, assessor=name, position=last[name]))
    return new, gone
