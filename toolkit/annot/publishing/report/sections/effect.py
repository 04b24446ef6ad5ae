"""The effect of the assessor: how each one grades, and whether the comparison of runs depends on who judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from annot.base.names import called
from annot.base.stats.values import Undefined
from annot.measuring.assessor_effect.on_runs import FINAL
from annot.measuring.assessor_effect.rankings import AssessorEffect
from annot.publishing.report import figures
from annot.publishing.report.cells import GRADES, MEASURE, NONE, TAU, Number, measured
from annot.publishing.report.document import Chapter, Figure, Table
from annot.publishing.report.sections.assessors import findings
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, each, table
from annot.publishing.report.verdict import order_changes, robustness, tau
from annot.publishing.report.words import sentence, sentences


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


def appendix(study: Study) -> Iterator[Chapter]:
    """The runs under each grading, and how their orders compare."""
    found = study.effect
    if not isinstance(found, Undefined):
        yield Chapter("orders", "Effect of the assessor on the order of the runs", method(found), tuple(orders(found)))


def method(found: AssessorEffect) -> tuple[str, ...]:
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
