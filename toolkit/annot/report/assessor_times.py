"""The tables of how assessors work: their pace, runs of one grade, and whether they change."""

from __future__ import annotations

from collections.abc import Iterator

from annot.diagnosis import Drift, Run, Undefined, Value
from annot.diagnosis.overview import Looked
from annot.report.assessor_cells import figure, fixed, number, p_value, share
from annot.report.assessor_tables import COMMAND
from annot.report.document import Table, rows_of

UNIT = {"agreement": "share of partners with the same grade", "severity": "grades", "speed": "seconds a pair"}


def pace(found: Looked) -> Iterator[Table]:
    """How long a pair takes; nothing where no judgement has a time."""
    timed = [one for one in found.paces if one.n]
    if timed:
        yield Table(
            f"Seconds a pair. Mean: winsorised, times beyond the fences pulled in to them. Idle: times beyond the "
            f"upper fence, {found.fence:g} robust widths above the median on a logarithmic scale. Too fast: "
            f"{timed[0].rule}.",
            ("Assessor", "Timed", "Median", "Q1", "Q3", "Mean", "Idle", "Too fast", "Share too fast"),
            rows_of(
                (
                    one.assessor,
                    one.n,
                    figure(one.median, one.median_interval, 1),
                    number(one.q1, 1),
                    number(one.q3, 1),
                    number(one.winsorised, 1),
                    one.n_slow,
                    one.too_fast.count,
                    share(one.too_fast),
                )
                for one in timed
            ),
            COMMAND,
        )


def streaks(found: Looked) -> Iterator[Table]:
    """The longest run of one grade of each assessor."""
    yield Table(
        f"The longest run of one grade, in {found.order}, beside what chance makes likely in each query.",
        ("Assessor", "Judgements", "Longest run", "Grade", "From judgement", "Expected", "p"),
        rows_of(
            (
                one.assessor,
                one.n,
                *((None,) * 3 if isinstance(one.longest, Undefined) else _run(one.longest)),
                number(one.expected, 1),
                p_value(one.p_value),
            )
            for one in found.streaks
        ),
        COMMAND,
    )


def _run(run: Run) -> tuple[object, ...]:
    return run.length, run.grade, run.start


def changes(found: Looked) -> Iterator[Table]:
    """Each assessor and measure: before and after its most likely change, and what could have been found."""
    rows = [one for one in found.drifts if one.axis == "position" and one.levels]
    if rows:
        yield Table(
            f"Change while judging, in {found.order}: the mean before and after the most likely change. Found from: a "
            f"change half-way that would be found with a chance of {found.power:.0%}.",
            ("Assessor", "Measure", "Judgements", "Before", "After", "p", "Found from"),
            rows_of(
                (
                    one.assessor,
                    f"{one.measure} ({UNIT[one.measure]})",
                    one.n,
                    *(fixed(level.mean, _digits(one)) for level in one.levels),
                    p_value(one.p_value),
                    _detectable(one),
                )
                for one in rows
            ),
            COMMAND,
            numeric_from=2,
        )


def change_lines(found: Looked) -> list[str]:
    """Changes and streaks in words; where there is none, how large one would have to be."""
    changed = [one for one in found.drifts if one.changed]
    lines = [_change(one) for one in changed]
    lines += [
        f"{one.assessor} gives grade {run.grade} {run.length} times in a row from judgement {run.start} on"
        for one in found.streaks
        for run in one.flagged
    ]
    if not changed:
        lines.append(_power(found))
    return lines


def _change(one: Drift) -> str:
    figures = ", ".join(f"{level.label} {fixed(level.mean, _digits(one))} (n {level.n})" for level in one.levels)
    if one.measure != "speed" and len(one.against) == 1:
        who = f"{one.assessor} and {one.against[0]} drift apart in {one.measure} (which of them changes cannot be told)"
    else:
        who = f"{one.assessor} changes in {one.measure}"
    where = "between days" if one.axis == "day" else f"after judgement {one.at}"
    return f"{who} {where}: {figures}, p = {p_value(one.p_value)}"


def _power(found: Looked) -> str:
    """What nothing found means."""
    largest: list[str] = []
    for measure in ("severity", "agreement", "speed"):
        sizes = [
            (one.detectable, one)
            for one in found.drifts
            if one.measure == measure and not isinstance(one.detectable, Undefined)
        ]
        if sizes:
            least, most = (pick(sizes, key=lambda one: one[0])[1] for pick in (min, max))
            span = _detectable(least) if least is most else f"{_detectable(least)} to {_detectable(most)}"
            largest.append(f"{measure} by {span}")
    if not largest:
        return "whether assessors change cannot be told: with so few judgements and queries no change could be found"
    never = sorted({one.assessor for one in found.drifts if one.axis == "position" and _beyond(one)})
    without = f"; a measure has a dash where no change could be found ({', '.join(never)})" if never else ""
    return (
        f"no assessor changes by more than chance; a change half-way would have been found with a chance of "
        f"{found.power:.0%} from these sizes on, by assessor: {'; '.join(largest)}{without}"
    )


def _beyond(one: Drift) -> bool:
    """Whether it was tested, but no change of any size could have been found."""
    return bool(one.levels) and isinstance(one.detectable, Undefined)


def _detectable(one: Drift) -> str:
    value: Value = one.detectable
    if isinstance(value, Undefined):
        return "–"
    if one.measure == "speed":
        return f"{fixed(value)} times as long"
    return f"{fixed(100 * value, 0)} points" if one.measure == "agreement" else f"{fixed(value)} grades"


def _digits(one: Drift) -> int:
    return 1 if one.measure == "speed" else 2
