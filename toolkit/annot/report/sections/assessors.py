"""The assessors: against each other, the final grades and themselves, how they work, and why they disagree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from annot.diagnosis import AgainstFinal, Diagnosed, Drift, Looked, order_of_hard
from annot.diagnosis.dawid_skene import MAX_STEPS
from annot.report.cells import (
    COEFFICIENT,
    GRADES,
    MEAN,
    NONE,
    PERCENT,
    SECONDS,
    SHARE,
    Kind,
    Number,
    number,
    p_value,
)
from annot.report.document import Section, Table
from annot.report.words import sentence, sentences
from annot.stats.values import Share, Undefined

COMMAND = "annot agreement assessors"
MOST_PAIRS, MOST_HARD, MOST_DEPARTURES, MOST_ROWS = 10, 20, 10, 200
"""So many pairs of assessors with their matrices, candidates, departures, and rows of any other table are shown; JSON
has all."""
UNIT = {"agreement": "share of partners with the same grade", "severity": "grades", "speed": "seconds a pair"}
DISTANCE = Kind(2, 2, 0)
CHANGE = {"agreement": Kind(0, 0, scale=100), "severity": Kind(2, 2), "speed": Kind(2, 2)}
"""How a change that could have been found is printed."""


def appendix(looked: Looked) -> Section:
    """How each assessor judges, and what their disagreement is made of."""
    return Section("assessors", "Assessors, and why they disagree", told(looked), tuple(tables(looked)))


def told(looked: Looked) -> tuple[str, ...]:
    """The findings, and what else is said in sentences."""
    found = looked.diagnosed
    return (*findings(looked), *changes(looked), *_model_told(found), *_missing(found))


def tables(looked: Looked, queries: Collection[str] = ()) -> Iterator[Table]:
    """Everything that is measured of assessors. queries: show hard candidates of these only, and all of them."""
    found = looked.diagnosed
    yield from _between(found)
    yield from _against_final(found)
    yield from _repeats(found)
    yield from _parts(found)
    yield from _hardest(found, queries)
    yield from _model(found)
    yield from _pace(looked)
    yield _streaks(looked)
    yield from _changes(looked)


def findings(looked: Looked) -> tuple[str, ...]:
    """What was found of single assessors and of the guidelines; that nothing was is said too."""
    found = looked.diagnosed.diagnosis
    return sentences("assessors.findings", diagnosis=found, power=looked.power, undefined=isinstance(found, Undefined))


def changes(looked: Looked) -> tuple[str, ...]:
    """Changes and runs of one grade in words; where there is no change, how large one would have to be."""
    changed = [drift for drift in looked.drifts if drift.changed]
    never = sorted({drift.assessor for drift in looked.drifts if drift.axis == "position" and _beyond(drift)})
    return sentences(
        "assessors.changes",
        changes=[(one, [(level, number(level.mean, _kind(one))) for level in one.levels]) for one in changed],
        runs=[(streak.assessor, run) for streak in looked.streaks for run in streak.flagged],
        power=looked.power,
        detectable=_detectable_range(looked),
        never=never,
    )


def _model_told(found: Diagnosed) -> tuple[str, ...]:
    fitted = found.dawid_skene
    return sentences(
        "assessors.model",
        fitted=fitted,
        prevalence=[(grade, number(share, PERCENT)) for grade, share in fitted.prevalence.items()],
        same=_share(fitted.same),
        baseline=number(fitted.baseline.value, PERCENT),
        by_facet=[(name, _share(one)) for name, one in fitted.by_facet.items()],
        reason=fitted.same.value.reason if isinstance(fitted.same.value, Undefined) else "",
        steps=f"{MAX_STEPS:,}",
    )


def _missing(found: Diagnosed) -> tuple[str, ...]:
    some = [one for one in found.missing if one.asked > one.graded]
    return sentences("assessors.missing", policy=found.policy, some=some)


def _between(found: Diagnosed) -> Iterator[Table]:
    """Every two assessors: the figures, and who gave which grade where the other gave which."""
    met = found.matrix
    if not met:
        return
    yield _table(
        "between",
        ("Assessor", "Compared with", "Pairs", "Equal grades", "Kappa", "Difference"),
        (
            (
                one.first,
                one.second,
                one.same.of,
                _share(one.same),
                number(one.coefficient, COEFFICIENT, one.coefficient_interval),
                number(one.difference.value, GRADES, one.difference.interval),
            )
            for one in met
        ),
        notes=_reasons((f"{one.first} and {one.second}", one.coefficient) for one in met),
        numeric_from=2,
    )
    yield _table(
        "between-grades",
        ("Assessor", "Compared with", "Grade", *map(str, found.scale)),
        (
            (one.first, one.second, grade, *row)
            for one in met[:MOST_PAIRS]
            for grade, row in zip(found.scale, one.table, strict=True)
        ),
        notes=_cut(MOST_PAIRS, len(met), "pairs of assessors"),
        numeric_from=2,
    )


def _against_final(found: Diagnosed) -> Iterator[Table]:
    """Each assessor against the final grades, as a whole and grade by grade."""
    severity = {one.assessor: one.severity for one in found.severities}
    yield _table(
        "against-final",
        ("Assessor", "Pairs", "Equal to final grade", "Bias", "Severity", "Adjudicated", "Upheld"),
        (
            (
                figures.assessor,
                figures.same.of,
                _share(figures.same),
                number(figures.bias.value, GRADES, figures.bias.interval),
                number(severity[figures.assessor].value, GRADES, severity[figures.assessor].interval),
                figures.upheld.of,
                _share(figures.upheld),
            )
            for figures in found.against_final
        ),
        notes=_reasons(("", figures.same.value) for figures in found.against_final),
    )
    known = [figures for figures in found.against_final if not isinstance(figures.table, Undefined)]
    if known:
        yield _table(
            "against-final-grades",
            ("Assessor", "Final grade", "Pairs", *(f"Gave {grade}" for grade in found.scale), "Equal"),
            (row for one in known for row in _by_grade(one, found.scale)),
        )


def _by_grade(one: AgainstFinal, scale: Sequence[int]) -> Iterator[tuple[object, ...]]:
    assert not isinstance(one.table, Undefined)
    for grade, row in zip(scale, one.table, strict=True):
        yield one.assessor, grade, sum(row), *row, _share(one.by_grade[grade])


def _repeats(found: Diagnosed) -> Iterator[Table]:
    """Each assessor against themselves, then all together; nothing where nothing was asked twice."""
    if found.self_consistency:
        yield _table(
            "repeats",
            ("Assessor", "Repeats", "Same grade again", "Within one grade", "Change"),
            (
                (
                    "together" if one.assessor is None else one.assessor,
                    one.same.of,
                    _share(one.same),
                    _share(one.within_one),
                    number(one.change.value, GRADES, one.change.interval),
                )
                for one in found.self_consistency
            ),
        )


def _parts(found: Diagnosed) -> Iterator[Table]:
    """What the distance of every two assessors is made of."""
    if found.matrix:
        yield _table(
            "parts",
            ("Assessor", "Compared with", "Pairs", "Different grades", "Distance", "Severity", "Threshold", "Noise"),
            (
                (
                    one.first,
                    one.second,
                    one.same.of,
                    one.same.of - one.same.count,
                    *(number(value, DISTANCE) for value in (one.distance, *one.parts.values())),
                )
                for one in found.matrix[:MOST_PAIRS]
            ),
            notes=_cut(MOST_PAIRS, len(found.matrix), "pairs of assessors"),
            numeric_from=2,
        )


def _hardest(found: Diagnosed, queries: Collection[str]) -> Iterator[Table]:
    """The hardest candidates of all, or all that are known of some queries."""
    if isinstance(found.diagnosis, Undefined):
        return
    hard = [one for one in found.diagnosis.hardest if not queries or one.query_id in queries]
    hard.sort(key=order_of_hard)
    shown = hard if queries else hard[:MOST_HARD]
    if shown:
        yield _table(
            "hardest",
            ("Query", "Facet", "Document", "Grades", "Distance", "Share"),
            (
                (
                    one.query_id,
                    one.facet,
                    one.doc_id,
                    ", ".join(f"{name} {grade}" for name, grade in sorted(one.grades.items())),
                    one.spread,
                    number(one.share, PERCENT),
                )
                for one in shown
            ),
            notes=_cut(len(shown), len(hard), "candidates (the hardest of each query)", "--query QUERY or "),
            numeric_from=4,
        )


def _model(found: Diagnosed) -> Iterator[Table]:
    """What Dawid and Skene's model says of each assessor, and where it departs from the final grades."""
    fitted = found.dawid_skene
    doubt = "" if fitted.converged else sentence("assessors.provisional", steps=f"{MAX_STEPS:,}")
    yield _table(
        "dawid-skene",
        ("Assessor", "Grade in the model", *map(str, found.scale)),
        (
            (name, grade, *(number(rate, PERCENT) for rate in row))
            for name, rates in list(fitted.errors.items())[:MOST_PAIRS]
            for grade, row in zip(found.scale, rates, strict=True)
        ),
        notes=(*_cut(MOST_PAIRS, len(fitted.errors), "assessors"), *filter(None, [doubt])),
    )
    if fitted.departures and not isinstance(fitted.same.value, Undefined):
        yield _table(
            "departures",
            ("Query", "Document", "Final grade", "Grade in the model", "Probability"),
            (
                (one.query_id, one.doc_id, one.final, one.model, number(one.probability, Kind(2, 2)))
                for one in fitted.departures[:MOST_DEPARTURES]
            ),
            notes=(*_cut(MOST_DEPARTURES, len(fitted.departures), "pairs"), *filter(None, [doubt])),
            numeric_from=2,
        )


def _pace(looked: Looked) -> Iterator[Table]:
    """How long a pair takes; nothing where no judgement has a time."""
    timed = [pace for pace in looked.paces if pace.n]
    if timed:
        yield _table(
            "pace",
            ("Assessor", "Timed", "Median", "Q1", "Q3", "Mean", "Idle", "Too fast", "Share too fast"),
            (
                (
                    one.assessor,
                    one.n,
                    number(one.median, SECONDS, one.median_interval),
                    *(number(value, SECONDS) for value in (one.q1, one.q3, one.winsorised)),
                    one.n_slow,
                    one.too_fast.count,
                    _share(one.too_fast),
                )
                for one in timed
            ),
            fence=looked.fence,
            rule=timed[0].rule,
        )


def _streaks(looked: Looked) -> Table:
    """The longest run of one grade of each assessor."""
    return _table(
        "streaks",
        ("Assessor", "Judgements", "Longest run", "Grade", "First judgement", "Expected", "p"),
        (
            (
                streak.assessor,
                streak.n,
                streak.longest.length,
                streak.longest.grade,
                streak.longest.start,
                number(streak.expected, MEAN),
                p_value(streak.p_value),
            )
            for streak in looked.streaks
        ),
        order=looked.order,
    )


def _changes(looked: Looked) -> Iterator[Table]:
    """Each assessor and measure in both halves of the queries, and what change could have been found."""
    rows = [drift for drift in looked.drifts if drift.axis == "position" and drift.levels]
    if rows:
        yield _table(
            "change-sizes",
            ("Assessor", "Measure", "Queries", "First half", "Second half", "p", "Detectable change"),
            (
                (
                    row.assessor,
                    f"{row.measure} ({UNIT[row.measure]})",
                    row.queries,
                    *(number(level.mean, _kind(row)) for level in row.levels),
                    p_value(row.p_value),
                    _detectable(row),
                )
                for row in rows
            ),
            order=looked.order,
            power=looked.power,
            numeric_from=2,
        )


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
    return f"{number(one.detectable, CHANGE[one.measure])} {unit}"


def _kind(one: Drift) -> Kind:
    return SECONDS if one.measure == "speed" else Kind(2, 2)


def _share(one: Share) -> Number:
    return number(one.value, SHARE, one.interval)


def _table(
    name: str,
    headings: tuple[str, ...],
    rows: Iterable[tuple[object, ...]],
    *,
    notes: tuple[str, ...] = (),
    numeric_from: int = 1,
    **values: object,
) -> Table:
    """A table with the caption that the words have for its name."""
    caption = sentence(f"assessors.{name.replace('-', '_')}", **values)
    rows = tuple(rows)
    notes += _cut(MOST_ROWS, len(rows), "rows")
    return Table(name, caption, headings, rows[:MOST_ROWS], COMMAND, notes, numeric_from)


def _cut(most: int, of: int, what: str, before: str = "") -> tuple[str, ...]:
    return (
        sentences("assessors.cut", shown=most, of=of, what=what, command=f"{COMMAND} {before}--json")
        if most < of
        else ()
    )


def _reasons(values: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Why figures have no value, one sentence each."""
    return tuple(
        sentence("assessors.undefined", who=who, reason=value.reason)
        for who, value in values
        if isinstance(value, Undefined)
    )
