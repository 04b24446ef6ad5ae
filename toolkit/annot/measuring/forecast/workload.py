"""How much one person is asked to do, in the words of a letter: about so many pairs, about so many hours."""

from __future__ import annotations

from dataclasses import dataclass

from annot.measuring.forecast.hours import HOUR

UNTIMED_SECONDS = 60.0
"""What a pair is taken to take while none has a time."""
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Workload:
    """What one person has to do in one role."""

    pairs: int
    """Of them all, with those that are done."""
    done: int
    exact: bool
    """Whether these very pairs are given to the person; else it is about so many."""
    seconds: float | None
    """What a pair takes; None where that is not known."""
    timed: bool
    """Whether `seconds` is measured or set; else it is assumed."""

    @property
    def left(self) -> int:
        """Those still to do."""
        return self.pairs - self.done

    @property
    def about(self) -> int:
        """The number of pairs, of which two digits are told."""
        return round(float(f"{self.pairs:.2g}"))

    @property
    def time(self) -> str:
        """For those still to do: `40 minutes`, `1 hour`, `2.5 hours`; empty where it is not known."""
        return "" if self.seconds is None else spoken_time(self.left * self.seconds / HOUR)


def spoken_time(hours: float) -> str:
    """Hours as people say them: to five minutes, from three quarters of an hour on to half an hour.

    >>> spoken_time(0.03), spoken_time(0.6), spoken_time(1.1), spoken_time(2.6)
    ('5 minutes', '35 minutes', '1 hour', '2.5 hours')
    """
    if hours < HALF + HALF / 2:
        return f"{max(5, 5 * round(12 * hours))} minutes"
    halves = round(hours / HALF)
    return "1 hour" if halves == 2 else f"{halves * HALF:g} hours"
