"""Numbers as they are printed: with as many digits as the interval justifies, or with the published ones.

Rule of the digits: the half width of the interval, in its first three digits, decides. From 100 to 354 it shows two
digits, from 355 to 999 one; the figure and both ends are printed to the same place (Particle Data Group 2022, Review of
Particle Physics, section 5.3). A difference whose interval does not contain 0 has more, if an end would read as 0
without them. Never more digits than were published; without an interval, those of its kind.

An interval that covers nearly all of its scale says nothing: people read that it is too wide. Data keep it, and a
drawing shows it from end to end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from annot.base.names import percent
from annot.base.stats.values import Estimate, Finish, Interval, Share, Undefined
from annot.base.words import ENGLISH, Words, is_english

NONE = "–"
WIDEST = 0.8
"""The share of its scale that an interval may cover and still say something."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """Kind of a figure: its printed form, and the ends between which it can lie (as printed)."""

    published: int
    """Decimals in the appendix and in CSV."""
    plain: int
    """Decimals elsewhere, where no interval says how many."""
    low: float = -math.inf
    high: float = math.inf
    scale: float = 1.0
    unit: str = ""
    signed: bool = False


COEFFICIENT = Quantity(4, 2, -1, 1)
PERCENTAGE = Quantity(2, 0, 0, 100)
"""A coefficient in percent."""
SHARE = Quantity(1, 0, 0, 100, scale=100, unit="%")
MEAN_SHARE = Quantity(2, 0, 0, 100, scale=100, unit="%")
"""The mean of the queries' shares."""
MEASURE = Quantity(2, 1, 0, 100, scale=100)
"""A measure of a run, a fraction that is printed in percent."""
POINTS = Quantity(2, 1, -100, 100, scale=100, signed=True)
"""A difference of two measures."""
LOSS = Quantity(2, 1, 0, 100, scale=100)
"""Loss of a measure, in points of 100."""
EFFECT = Quantity(2, 2, signed=True)
"""A difference in standard deviations."""
DETECTABLE = Quantity(1, 0, 0, 100, scale=100)
"""A difference of two measures that would be found, in points of 100."""
WIDER = Quantity(1, 0, -100, scale=100, unit="%")
"""Growth of an interval over another one, in percent; below 0 if it is narrower."""
PERCENT = Quantity(1, 1, scale=100)
"""A fraction in percent that has no interval; whole rows of them add up as printed."""
TAU = Quantity(2, 2, -1, 1)
DISTANCE = Quantity(2, 2, 0)
MEAN = Quantity(2, 1)
GRADES = Quantity(2, 2, signed=True)
"""A difference in grades."""
SECONDS = Quantity(1, 1, 0)
HOURS = Quantity(1, 1, 0)
COST = Quantity(2, 2, 0)
WHOLE = Quantity(0, 0, 0)
"""A number of things."""
ESTIMATED = Quantity(1, 0, 0)
"""An estimated number of things."""
P = Quantity(4, 4, 0, 1)
"""A p-value, with two digits that count."""


@dataclass(frozen=True, slots=True)
class Number:
    """A figure with its interval where it has one: raw in data, rounded on a page; in a sentence it is its own text."""

    raw: float | Undefined | None
    kind: Quantity
    interval: Interval | Undefined | None = None
    """The interval, or the reason why there is none; None if the figure never has one."""
    after: str = ""
    """Basis of the figure, where that differs from the rest of its row."""
    rests_on: tuple[tuple[str, int], ...] = ()
    """The basis in data: counts by name."""
    say: Words = ENGLISH
    """The language of the page that it is on."""

    def __str__(self) -> str:
        return self.text(precise=False)

    @property
    def value(self) -> float | None:
        """Value as printed, before it is rounded."""
        return None if self.raw is None or isinstance(self.raw, Undefined) else self.kind.scale * self.raw

    @property
    def ends(self) -> tuple[float, float] | None:
        """Ends of the interval as printed, kept within the possible range; an interval without width has none."""
        interval = self.interval
        if self.value is None or not isinstance(interval, Interval) or interval.low >= interval.high:
            return None
        low, high = (
            min(max(self.kind.scale * end, self.kind.low), self.kind.high) for end in (interval.low, interval.high)
        )
        return low, high

    @property
    def lacking(self) -> Undefined | None:
        """Reason why no interval is printed, if one was expected and the values differ."""
        if isinstance(self.interval, Undefined):
            return self.interval
        low, high = self.ends or (0.0, 0.0)
        if high - low <= WIDEST * (self.kind.high - self.kind.low):
            return None
        return Undefined(f"it would cover more than {percent(WIDEST)} of the scale")

    @property
    def bracketed(self) -> bool:
        """True if an interval is printed with it."""
        return self.ends is not None and self.lacking is None

    def text(self, *, precise: bool) -> str:
        """`0.65 [0.54, 0.71]`, or precisely `0.6551 [0.5382, 0.7136]`."""
        return " ".join(part for part in self.parts(precise=precise) if part)

    def parts(self, *, precise: bool) -> tuple[str, str]:
        """Figure, and the interval with the text after it; "" where there is none."""
        digits = self.kind.published if precise else self.digits
        bounds = bracket(self.ends, digits, self.say) if self.ends else ""
        if bounds and self.lacking:
            bounds = "(interval too wide)" if is_english(self.say.language) else f"[{NONE}]"
        return self._figure(digits), " ".join(part for part in (bounds, self.after) if part)

    @property
    def figure(self) -> str:
        """The figure alone."""
        return self._figure(self.digits)

    @property
    def digits(self) -> int:
        """Number of decimals that the interval justifies."""
        ends = self.ends
        if ends is None:
            return self.kind.plain
        digits = min(self.kind.published, decimals((ends[1] - ends[0]) / 2))
        if self.kind.signed and 0 not in ends and (ends[0] > 0) == (ends[1] > 0):
            while digits < self.kind.published and 0 in (round(end, digits) for end in ends):
                digits += 1
        return digits

    def _figure(self, digits: int) -> str:
        if self.value is None:
            return NONE
        if self.kind is P:
            return self.say.marked(p_value(self.value))
        text = f"{self.value:z,.{digits}f}"
        sign = "+" if self.kind.signed and not text.startswith("-") and text.strip("0.") else ""
        return f"{sign}{self.say.marked(text)}{self.kind.unit}"


class TextCell(str):
    """A text of the study."""

    language: str | None = None
    """Its language (BCP 47) if it is another than that of the page."""


def measured(figure: Estimate | Share, kind: Quantity) -> Number:
    """A figure that comes with its interval."""
    return Number(figure.value, kind, figure.interval)


def coefficient(name: str) -> Quantity:
    """The kind of an agreement coefficient, by its short name."""
    # It imports numpy, which `annot status` does without.
    from annot.measuring.agreement.coefficients import PERCENTAGES

    return PERCENTAGE if name in PERCENTAGES else COEFFICIENT


def decimals(half_width: float) -> int:
    """Number of decimals that an interval of this half width justifies.

    >>> [decimals(half) for half in (0.0121, 0.0354, 0.0355, 0.075, 0.3, 4.5, 25.0)]
    [3, 3, 2, 2, 2, 0, 0]
    """
    # The first three digits, so that nothing depends on the last bits.
    leading, exponent = f"{half_width:.2e}".split("e")
    return max(0, (1 if float(leading) < 3.55 else 0) - int(exponent))


def bracket(ends: Iterable[float], digits: int, say: Words = ENGLISH) -> str:
    """Interval as every page has it, `[0.54, 0.71]`; `[0,54; 0,71]` where the decimal mark is a comma."""
    between = "; " if say("numbers.decimal") == "," else ", "
    return f"[{between.join(say.marked(f'{end:z,.{digits}f}') for end in ends)}]"


def p_value(value: float | Undefined | None) -> str:
    """Two digits that count; never 0.

    >>> p_value(0.01234), p_value(0.00004)
    ('0.012', '< 0.001')
    """
    if value is None or isinstance(value, Undefined):
        return NONE
    return f"{value:.2g}" if value >= 0.001 else "< 0.001"


def text(cell: object, *, precise: bool) -> str:
    """A cell as it is printed."""
    if isinstance(cell, Number):
        return cell.text(precise=precise)
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return NONE if cell is None else str(cell)


def parts(cell: object, *, precise: bool) -> tuple[str, str]:
    """Cell as its figure, and its interval with the text after it."""
    return cell.parts(precise=precise) if isinstance(cell, Number) else (text(cell, precise=precise), "")


def estimate(figure: Estimate, kind: Quantity) -> str:
    """`12 [10, 15]`, or the reason why there is none. Reasons for a missing interval are below all figures, once."""
    return f"unknown: {figure.value.reason}" if isinstance(figure.value, Undefined) else str(measured(figure, kind))


def date(finish: Finish) -> str:
    """`2031-04-02 [2031-03-30, 2031-04-11]`, or why there is none."""
    if isinstance(finish.date, Undefined):
        return f"unknown: {finish.date.reason}"
    if isinstance(finish.interval, Undefined):
        return str(finish.date)
    return f"{finish.date} [{finish.interval[0]}, {finish.interval[1]}]"
