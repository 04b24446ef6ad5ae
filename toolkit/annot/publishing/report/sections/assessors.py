"""The assessors: against each other, the final grades and themselves, how they work, and why they disagree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from annot.base.stats.values import Undefined
from annot.measuring.diagnosis.drift import Drift, papers_needed
from annot.measuring.diagnosis.overview import Diagnosed, Looked
from annot.measuring.diagnosis.pairs import order_of_hard
from annot.publishing.report.cells import (
    COEFFICIENT,
    DISTANCE,
    GRADES,
    MEAN,
    NONE,
    PERCENT,
    SECONDS,
    SHARE,
    Number,
    P,
    Quantity,
    measured,
)
from annot.publishing.report.document import Chapter, Table
from annot.publishing.report.tables import Column, Row, each, of_facet, table
from annot.publishing.report.words import sentences

COMMAND = "annot agreement --by assessor"
MOST_PAIRS, MOST_HARD, MOST_ROWS = 10, 20, 200
"""So many pairs of assessors with their matrices, candidates, and rows of any other table are shown; JSON has all."""
UNIT = {"agreement": "share of partners with the same grade", "severity": "grades", "speed": "seconds per pair"}
CHANGE = {"agreement": Quantity(0, 0, scale=100), "severity": Quantity(2, 2), "speed": Quantity(2, 2)}
"""How a change that could have been found is printed."""


def appendix(looked: Looked) -> Chapter:
    """How each assessor judges, and what their disagreement is made of."""
    return Chapter("assessors", "Assessors, and why they disagree", told(looked), tuple(tables(looked)), method(looked))


def told(looked: Looked) -> tuple[str, ...]:
    """The findings."""
    return (*findings(looked), *changes(looked))


def method(looked: Looked) -> tuple[str, ...]:
    """What else is to know of the tables."""
    found = looked.diagnosed
    some = [one for one in found.missing if one.asked > one.graded]
    return sentences("assessors.missing", policy=found.policy, some=some)


def tables(looked: Looked, queries: Collection[str] = ()) -> Iterator[Table]:
    """Everything that is measured of assessors. queries: show hard candidates of these only, and all of them.

    What was not asked, or not timed, has no table.
    """
    found = looked.diagnosed
    for one in (*_grades(found), *_why(found, queries), *_work(looked)):
        if one.rows:
            cut = _cut(MOST_ROWS, len(one.rows), "rows")
            yield replace(one, rows=one.rows[:MOST_ROWS], notes=(*one.notes, *cut))


def findings(looked: Looked) -> tuple[str, ...]:
    """What was found of single assessors and of the guidelines; that nothing was is said too."""
    found = looked.diagnosed.diagnosis
    return sentences("assessors.findings", diagnosis=found, power=looked.power, undefined=isinstance(found, Undefined))


def changes(looked: Looked) -> tuple[str, ...]:
    """Changes and runs of one grade in words; where there is no change, how large one would have to be."""
    changed = [drift for drift in looked.drifts if drift.changed]
    beyond = [drift for drift in looked.drifts if _beyond(drift)]
    needed = papers_needed(sum(bool(drift.levels) for drift in looked.drifts) or len(looked.drifts))
    return sentences(
        "assessors.changes",
        changes=[(one, _kind(one)) for one in changed],
        runs=[(streak.assessor, run) for streak in looked.streaks for run in streak.flagged],
        power=looked.power,
        detectable=_detectable_range(looked),
        never=sorted({drift.assessor for drift in beyond}),
        needed=needed,
        short=any(drift.queries < needed for drift in beyond),
    )


def _grades(found: Diagnosed) -> Iterator[Table]:
    """The assessors against each other, the final grades and themselves; as a whole and grade by grade."""
    met = found.matrix
    yield _table(
        "between",
        met,
        [Column("Assessor", lambda one: one.first), Column("Compared with", lambda one: one.second)],
        [
            Column("Pairs", lambda one: one.same.of),
            Column("Equal grades", lambda one: measured(one.same, SHARE)),
            Column("Kappa", lambda one: Number(one.coefficient, COEFFICIENT, one.coefficient_interval)),
            Column("Difference", lambda one: measured(one.difference, GRADES)),
        ],
    )
    yield _table(
        "between-grades",
        [(pair, *row) for pair in met[:MOST_PAIRS] for row in zip(found.scale, pair.table, strict=True)],
        [Column("Assessor", lambda one: one[0].first), Column("Compared with", lambda one: one[0].second)],
        [Column("Grade", lambda one: one[1]), *each(found.scale, lambda one, grade: one[2][found.scale.index(grade)])],
        notes=_cut(MOST_PAIRS, len(met), "pairs of assessors"),
    )
    severity = {one.assessor: one.severity for one in found.severities}
    yield _table(
        "against-final",
        found.against_final,
        [Column("Assessor", lambda one: one.assessor)],
        [
            Column("Pairs", lambda one: one.same.of),
            Column("Equal to final grade", lambda one: measured(one.same, SHARE)),
            Column("Bias", lambda one: measured(one.bias, GRADES)),
            Column("Severity", lambda one: measured(severity[one.assessor], GRADES)),
            Column("Adjudicated", lambda one: one.upheld.of),
            Column("Upheld", lambda one: measured(one.upheld, SHARE)),
        ],
    )
    yield _table(
        "against-final-grades",
        [
            (one, *row)
            for one in found.against_final
            if not isinstance(one.table, Undefined)
            for row in zip(found.scale, one.table, strict=True)
        ],
        [Column("Assessor", lambda one: one[0].assessor)],
        [
            Column("Final grade", lambda one: one[1]),
            Column("Pairs", lambda one: sum(one[2])),
            *each(found.scale, lambda one, grade: one[2][found.scale.index(grade)], lambda grade: f"Gave {grade}"),
            Column("Equal", lambda one: measured(one[0].by_grade[one[1]], SHARE)),
        ],
    )
    yield _table(
        "repeats",
        found.self_consistency,
        [Column("Assessor", lambda one: "together" if one.assessor is None else one.assessor)],
        [
            Column("Repeats", lambda one: one.same.of),
            Column("Same grade again", lambda one: measured(one.same, SHARE)),
            Column("Within one grade", lambda one: measured(one.within_one, SHARE)),
            Column("Change", lambda one: measured(one.change, GRADES)),
        ],
    )


def _why(found: Diagnosed, queries: Collection[str]) -> Iterator[Table]:
    """What disagreement is made of, and the hardest candidates: of all, or all that are known of some queries."""
    notes = _cut(MOST_PAIRS, len(found.matrix), "pairs of assessors")
    yield _table(
        "parts",
        found.matrix[:MOST_PAIRS],
        [Column("Assessor", lambda one: one.first), Column("Compared with", lambda one: one.second)],
        [
            Column("Pairs", lambda one: one.same.of),
            Column("Different grades", lambda one: one.same.of - one.same.count),
            Column("Distance", lambda one: Number(one.distance, DISTANCE)),
            *each(
                ("severity", "threshold", "noise"), lambda one, part: Number(one.parts[part], DISTANCE), str.capitalize
            ),
        ],
        notes=notes,
    )
    if isinstance(found.diagnosis, Undefined):
        return
    hard = [one for one in found.diagnosis.hardest if not queries or one.query_id in queries]
    hard.sort(key=order_of_hard)
    shown = hard if queries else hard[:MOST_HARD]
    cut = _cut(len(shown), len(hard), "candidates (the hardest of each query)", "--query QUERY")
    yield _table(
        "hardest",
        shown,
        [
            Column("Query", lambda one: one.query_id),
            of_facet(lambda one: one.facet),
            Column("Document", lambda one: one.doc_id),
            Column("Grades", lambda one: ", ".join(f"{name} {grade}" for name, grade in sorted(one.grades.items()))),
        ],
        [
            Column("Distance", lambda one: one.spread),
            Column("Share", lambda one: Number(one.share, PERCENT)),
        ],
        notes=cut,
    )


def _work(looked: Looked) -> Iterator[Table]:
    """How long a pair takes, the longest run of one grade, and each assessor in both halves of the queries."""
    timed = [pace for pace in looked.paces if pace.n]
    if timed:
        yield _table(
            "pace",
            timed,
            [Column("Assessor", lambda one: one.assessor)],
            [
                Column("Timed", lambda one: one.n),
                Column("Median", lambda one: Number(one.median, SECONDS, one.median_interval)),
                Column("Q1", lambda one: Number(one.q1, SECONDS)),
                Column("Q3", lambda one: Number(one.q3, SECONDS)),
                Column("Mean", lambda one: Number(one.winsorised, SECONDS)),
                Column("Idle", lambda one: one.n_slow),
                Column("Too fast", lambda one: len(one.too_fast)),
            ],
            fence=looked.fence,
            limit=looked.reading_limit,
        )
    yield _table(
        "streaks",
        looked.streaks,
        [Column("Assessor", lambda one: one.assessor)],
        [
            Column("Judgements", lambda one: one.n),
            Column("Longest run", lambda one: one.longest and one.longest.length),
            Column("Grade", lambda one: one.longest and one.longest.grade),
            Column("First judgement", lambda one: one.longest and one.longest.start),
            Column("Expected", lambda one: Number(one.expected, MEAN)),
            Column("p", lambda one: Number(one.p_value, P)),
        ],
        order=looked.order,
    )
    drifts = [drift for drift in looked.drifts if drift.levels]
    yield _table(
        "change-sizes",
        drifts,
        [
            Column("Assessor", lambda one: one.assessor),
            Column("Measure", lambda one: f"{one.measure} ({UNIT[one.measure]})"),
        ],
        [
            Column("Queries", lambda one: one.queries),
            Column("First half", lambda one: Number(one.levels[0].mean, _kind(one))),
            Column("Second half", lambda one: Number(one.levels[1].mean, _kind(one))),
            Column("p", lambda one: Number(one.p_value, P)),
            Column("Detectable change", _detectable),
        ],
        order=looked.order,
        power=looked.power,
    )


def _table(
    name: str,
    rows: Iterable[Row],
    names: Sequence[Column[Row]],
    numbers: Sequence[Column[Row]],
    *,
    notes: tuple[str, ...] = (),
    **values: object,
) -> Table:
    caption = f"assessors.{name.replace('-', '_')}"
    return table(name, rows, names, numbers, caption=caption, command=COMMAND, notes=notes, **values)


def _detectable_range(looked: Looked) -> list[tuple[str, str]]:
    """By measure, the least and the largest change that could have been found."""
    found = []
    for measure in ("severity", "agreement", "speed"):
        sizes = sorted(
            (drift for drift in looked.drifts if drift.measure == measure and isinstance(drift.detectable, float)),
            key=lambda one: (one.detectable, one.assessor),
        )
        if sizes:
            ends = dict.fromkeys((_detectable(sizes[0]), _detectable(sizes[-1])))
            found.append((measure, " to ".join(ends)))
    return found


def _beyond(one: Drift) -> bool:
    """Whether it was tested, but no change of any size could have been found."""
    return bool(one.levels) and isinstance(one.detectable, Undefined)


def _detectable(one: Drift) -> str:
    if isinstance(one.detectable, Undefined):
        return NONE
    unit = {"speed": "times as long", "agreement": "points", "severity": "grades"}[one.measure]
    return f"{Number(one.detectable, CHANGE[one.measure])} {unit}"


def _kind(one: Drift) -> Quantity:
    return SECONDS if one.measure == "speed" else Quantity(2, 2)


def _cut(most: int, of: int, what: str, *options: str) -> tuple[str, ...]:
    """That not all rows are shown, and which options show more."""
    commands = [f"`{COMMAND} {option}`" for option in (*options, "--json")]
    return sentences("assessors.cut", shown=most, of=of, what=what, commands=commands) if most < of else ()
