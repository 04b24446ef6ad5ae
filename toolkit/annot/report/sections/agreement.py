"""Agreement between the assessors, and what adjudication had to do."""

from __future__ import annotations

from collections import Counter

from annot.agreement import TOGETHER, Undefined
from annot.report import figures
from annot.report.document import Figure, Section, Table, rows_of, share
from annot.report.study import Study, interval, plain, value


def agreement(study: Study) -> Section:
    table = study.agreement
    policy = {
        "drop": "A pair with a missing judgement is left out.",
        "zero": "A missing judgement counts as grade 0.",
    }[table.missing]
    rows = []
    for group in table.groups:
        for when in ("before", "after"):
            for name, summary in getattr(group, when).items():
                rows.append(
                    [
                        group.name,
                        when,
                        table.titles[name],
                        value(summary.median),
                        interval(summary, "median"),
                        value(summary.mean),
                        interval(summary, "mean"),
                        value(summary.q1),
                        value(summary.q3),
                        summary.n_queries,
                        summary.n_pairs,
                    ]
                )
    undefined = sorted(
        {
            f"{table.titles[name]} {when} adjudication has no value on {query_id}: {reason}."
            for group in table.groups
            if group.name == TOGETHER
            for when in ("before", "after")
            for name, summary in getattr(group, when).items()
            for query_id, reason in summary.undefined.items()
        }
    )
    dots = {
        one.query_id: (plain(one.before["spearman_rho"]), plain(one.after["spearman_rho"])) for one in table.queries
    }
    return Section(
        "agreement",
        "Agreement",
        (
            f"Per query, then summarised over queries. Before adjudication between the assessors; after it the mean "
            f"of each assessor with the final grade. Missing judgements: {table.missing}. {policy}",
        ),
        (
            Figure(
                "Spearman's rho on each query, before and after adjudication.",
                figures.paired_dots(dots, names=("before adjudication", "after adjudication"), unit="Spearman's rho"),
                f"Dots for {len(dots)} queries; the table below has the medians.",
            ),
            Table(
                "Agreement by facet.",
                (
                    *("Facet", "Adjudication", "Coefficient", "Median", "Interval", "Mean", "Interval"),
                    *("Q1", "Q3", "Queries", "Pairs"),
                ),
                rows_of(rows),
                f"annot agreement --missing {table.missing}",
                tuple(undefined),
                numeric_from=3,
            ),
        ),
    )


def adjudication(study: Study) -> Section:
    rows = []
    for group in study.agreement.groups:
        disputed, over_ruled = group.disputed.pooled, group.overruled.pooled
        rows.append(
            [
                group.name,
                group.n_pairs,
                disputed.count,
                share(disputed.count, disputed.of),
                over_ruled.count,
                share(over_ruled.count, over_ruled.of),
                "–" if isinstance(group.overruled.mean, Undefined) else f"{100 * group.overruled.mean:.2f}%",
            ]
        )
    reasons = Counter(one.reason for one in study.decisions if one.origin == "adjudicated" and one.reason)
    blocks: list[Table | Figure] = [
        Table(
            "Pairs that needed adjudication, and pairs whose final grade is none of the assessors'.",
            ("Facet", "Pairs", "Needed it", "Share", "Over-ruled", "Share", "Mean per query"),
            rows_of(rows),
            "annot adjudicate status",
        )
    ]
    if reasons:
        blocks.append(
            Table(
                "Grounds that the adjudicator gave.",
                ("Ground", "Pairs"),
                rows_of([[reason, count] for reason, count in sorted(reasons.items(), key=lambda o: (-o[1], o[0]))]),
                "annot adjudicate status",
            )
        )
    return Section(
        "adjudication",
        "Adjudication",
        (
            f"{study.agreed} pairs were agreed and settled without a person, "
            f"{study.adjudicated} by an adjudicator; {study.open} are open.",
        ),
        tuple(blocks),
    )
