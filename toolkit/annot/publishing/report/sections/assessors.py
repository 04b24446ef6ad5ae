"""Assessors: how they judge, and what that does to the comparison of runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from annot.base.names import called
from annot.base.stats.values import Undefined
from annot.measuring.assessor_effect import FINAL, AssessorEffect
from annot.measuring.diagnosis.findings import Drift, order_of_hard, papers_needed_for_drift
from annot.measuring.diagnosis.matrices import AssessorAnalysis, AssessorComparison
from annot.publishing.report import figures
from annot.publishing.report.cells import (
    COEFFICIENT,
    DISTANCE,
    GRADES,
    MEAN,
    MEASURE,
    NONE,
    PERCENT,
    SECONDS,
    SHARE,
    TAU,
    Number,
    P,
    Quantity,
    measured,
)
from annot.publishing.report.study import Study
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Figure,
    Row,
    Table,
    each,
    of_facet,
    sentence,
    sentences,
    table,
)
from annot.publishing.report.verdict import order_changes, robustness, tau

# ----------------------------------------------------------------------------------------------------------------------
# The assessors: against each other, the final grades and themselves, how they work, and why they disagree.
# ----------------------------------------------------------------------------------------------------------------------


COMMAND = "annot agreement --by assessor"
MOST_PAIRS, MOST_HARD, MOST_ROWS = 10, 20, 200
"""So many pairs of assessors with their matrices, candidates, and rows of any other table are shown; JSON has all."""
UNIT = {"agreement": "share of partners with the same grade", "severity": "grades", "speed": "seconds per pair"}
CHANGE = {"agreement": Quantity(0, 0, scale=100), "severity": Quantity(2, 2), "speed": Quantity(2, 2)}
"""How a change that could have been found is printed."""


def appendix(looked: AssessorAnalysis) -> Chapter:
    """How each assessor judges, and what their disagreement is made of."""
    return Chapter("assessors", "Assessors, and why they disagree", told(looked), tuple(tables(looked)), method(looked))


def told(looked: AssessorAnalysis) -> tuple[str, ...]:
    """The findings."""
    return (*findings(looked), *changes(looked))


def method(looked: AssessorAnalysis) -> tuple[str, ...]:
    """What else is to know of the tables."""
    found = looked.diagnosed
    some = [one for one in found.missing if one.asked > one.graded]
    return sentences("assessors.missing", policy=found.policy, some=some)


def tables(looked: AssessorAnalysis, queries: Collection[str] = ()) -> Iterator[Table]:
    """Everything that is measured of assessors. queries: show hard candidates of these only, and all of them.

    What was not asked, or not timed, has no table.
    """
    found = looked.diagnosed
    for one in (*_grades(found), *_why(found, queries), *_work(looked)):
        if one.rows:
            cut = _cut(MOST_ROWS, len(one.rows), "rows")
            yield replace(one, rows=one.rows[:MOST_ROWS], notes=(*one.notes, *cut))


def findings(looked: AssessorAnalysis) -> tuple[str, ...]:
    """What was found of single assessors and of the guidelines; that nothing was is said too."""
    found = looked.diagnosed.diagnosis
    return sentences("assessors.findings", diagnosis=found, power=looked.power, undefined=isinstance(found, Undefined))


def changes(looked: AssessorAnalysis) -> tuple[str, ...]:
    """Changes and runs of one grade in words; where there is no change, how large one would have to be."""
    changed = [drift for drift in looked.drifts if drift.changed]
    beyond = [drift for drift in looked.drifts if _beyond(drift)]
    needed = papers_needed_for_drift(sum(bool(drift.levels) for drift in looked.drifts) or len(looked.drifts))
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


def _grades(found: AssessorComparison) -> Iterator[Table]:
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


def _why(found: AssessorComparison, queries: Collection[str]) -> Iterator[Table]:
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


def _work(looked: AssessorAnalysis) -> Iterator[Table]:
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


def _detectable_range(looked: AssessorAnalysis) -> list[tuple[str, str]]:
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


# ----------------------------------------------------------------------------------------------------------------------
# The effect of the assessor: how each one grades, and whether the comparison of runs depends on who judged.
# ----------------------------------------------------------------------------------------------------------------------


def body(study: Study) -> Chapter:
    """Who is strict or lenient, and what that does to the runs."""
    blocks: list[Table | Figure] = []
    diagnosed = study.diagnosed.diagnosed
    severity = {one.assessor: one.severity for one in diagnosed.severities}
    drawn = {name: measured(one, GRADES) for name, one in severity.items()}
    several = len(study.queries) > 1
    if several and sum(one.value is not None for one in drawn.values()) > 1:
        blocks.append(
            Figure(
                sentence("effect.severity_figure", bracketed=any(one.ends for one in drawn.values())),
                figures.forest(drawn, unit="severity, in grades"),
                sentence("effect.severity_drawn", severity=drawn),
            )
        )
    found = study.effect
    if isinstance(found, Undefined):
        told = sentences("effect.unknown", reason=found.reason)
    else:
        marks = {grading(one.name): one.means for one in found.rankings[:3]}
        spans = {tag: found.random_assessors.means.get(tag) for tag in found.rankings[0].means}
        if several:
            blocks.append(
                Figure(
                    sentence("effect.figure", effect=found, marks=list(marks)),
                    figures.ranges(
                        marks,
                        spans,
                        spanned=f"random assessor per {called().topic}, middle 95%",
                        unit=f"{found.settings.measure}, %",
                    ),
                    sentence("effect.drawn", marks=marks, spans=spans),
                )
            )
        blocks.append(ranges(found))
        judged_twice = study.agreement.groups[-1].n_pairs
        known = robustness(found, study.evaluated, judged_twice=judged_twice) != "unknown"
        told = sentences("effect.body", known=known, **of_order(found))
    return Chapter("effect", "Effect of the assessor", (*findings(study.diagnosed), *told), tuple(blocks))


def effect_appendix(study: Study) -> Iterator[Chapter]:
    """The runs under each grading, and how their orders compare."""
    found = study.effect
    if not isinstance(found, Undefined):
        yield Chapter(
            "orders", "Effect of the assessor on the order of the runs", effect_method(found), tuple(orders(found))
        )


def effect_method(found: AssessorEffect) -> tuple[str, ...]:
    """Whose grades are whose, what is compared, and what changes."""
    return sentences("effect.method", **of_order(found))


def of_order(found: AssessorEffect) -> dict[str, object]:
    """What the sentences on the order of the runs may name."""
    return {"effect": found, "tau": tau(found), "changes": order_changes(found)}


def terminal(found: AssessorEffect) -> list[Table]:
    """What `annot assessor-effect` prints."""
    return [ranges(found), *orders(found)]


def ranges(found: AssessorEffect) -> Table:
    """Each run under the final grades, the two assessors of each pair, and a random one of them."""
    whole = {ranking.name: ranking.means for ranking in found.rankings if len(ranking.queries) == len(found.queries)}
    spans = found.random_assessors.means

    def span(tag: str) -> str | None:
        ends = spans.get(tag)
        return None if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"

    return table(
        "ranges",
        whole[FINAL],
        [Column[str]("Run", str)],
        [
            *each(whole, lambda tag, name: Number(whole[name][tag], MEASURE), grading),
            Column("random assessor", lambda tag: span(tag) or NONE, ""),
            Column("", lambda tag: spans[tag][0] if tag in spans else None, "random_low"),
            Column("", lambda tag: spans[tag][1] if tag in spans else None, "random_high"),
        ],
        caption="effect.ranges",
        command=_command(found),
        effect=found,
    )


def grading(name: str) -> str:
    """Whose grades these are."""
    return f"{name} grades" if name == FINAL else f"assessor {name}"


def orders(found: AssessorEffect) -> Iterator[Table]:
    """The runs in order under each grading, and each comparison of two gradings."""
    yield table(
        "orders",
        ranking_rows(found),
        [
            Column("Grades of", lambda one: one.grades_of),
            Column("Queries", lambda one: one.queries),
            Column("Pairs", lambda one: one.pairs),
            Column("No grade", lambda one: one.no_grade),
            Column("Runs, best first", lambda one: one.order),
        ],
        caption="effect.orders",
        command=_command(found),
        effect=found,
    )
    yield table(
        "tau",
        found.comparisons,
        [Column("Grades of", lambda one: one.first), Column("Compared with", lambda one: one.second)],
        [
            Column("Tau", lambda one: Number(one.tau, TAU)),
            Column("Reversed pairs", lambda one: f"{one.reversed_pairs} of {one.n_run_pairs}", ""),
            Column("", lambda one: one.reversed_pairs, "reversed_pairs"),
            Column("", lambda one: one.n_run_pairs, "pairs_of_runs"),
            Column("Significant reversals", lambda one: len(one.swaps)),
            Column("Queries", lambda one: one.n_queries),
        ],
        caption="effect.tau",
        command=_command(found),
        effect=found,
    )


def _command(found: AssessorEffect) -> str:
    return f"annot assessor-effect --convention {found.settings.convention} --measure {found.settings.measure}"


class Order(NamedTuple):
    """The runs under one grading."""

    grades_of: str
    queries: int
    pairs: int
    no_grade: int
    order: str
    """Best first, with their means in percent."""


def ranking_rows(found: AssessorEffect) -> list[Order]:
    """The runs in order under each grading, with their means in percent; where a grading covers some of the queries
    only, below it the final grades on the same."""
    against_final = {comparison.first: comparison for comparison in found.comparisons if comparison.second == FINAL}
    rows: list[Order] = []
    for one in found.rankings:
        rows.append(Order(one.name, len(one.queries), one.n_pairs, one.n_ungraded, _order(one.means)))
        if len(one.queries) < len(found.queries):
            same = against_final[one.name].means[FINAL]
            rows.append(Order(f"{FINAL}, queries of {one.name}", len(one.queries), one.n_pairs, 0, _order(same)))
    return rows


def _order(means: Mapping[str, float]) -> str:
    """`b 61.20, a 58.03 = c 58.03`."""
    text, last = "", None
    for tag, mean in means.items():
        text += ("" if last is None else " = " if mean == last else ", ") + f"{tag} {100 * mean:.2f}"
        last = mean
    return text
