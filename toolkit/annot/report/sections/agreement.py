"""Agreement between the assessors, and what adjudication had to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from annot.agreement import TOGETHER, AgreementTable, Undefined
from annot.report import figures
from annot.report.document import Figure, Section, Table, rows_of, share
from annot.report.study import Study, interval, no_interval, plain, value

HEADLINE = ("spearman_rho", "alpha_ordinal", "kappa", "percent")
"""The coefficients of CSFCube's Table 2, in its order."""

POLICY = {
    "drop": "A pair with a missing judgement is left out.",
    "zero": "A missing judgement counts as grade 0.",
}


def agreement(study: Study) -> Section:
    """Every coefficient per facet and together, before and after adjudication, with intervals over whole queries."""
    table = study.agreement
    dots = {
        one.query_id: (plain(one.before["spearman_rho"]), plain(one.after["spearman_rho"])) for one in table.queries
    }
    return Section(
        "agreement",
        "Agreement",
        (
            "Per query, then summarised over queries. Before adjudication between the assessors; after it the mean "
            f"of each assessor with the final grade. Missing judgements: {table.missing}. {POLICY[table.missing]}",
            f"Intervals: {100 * study.settings.agreement.level:g}%, from {study.settings.agreement.resamples} "
            "resamples of whole queries (BCa; percentile where BCa has no value).",
        ),
        (
            _headline(study),
            Figure(
                "Spearman's rho on each query, before and after adjudication.",
                figures.paired_dots(dots, names=("before adjudication", "after adjudication"), unit="Spearman's rho"),
                f"Dots for {_with_a_dot(dots)} queries; the tables have the medians.",
            ),
            _details(study),
        ),
    )


def _with_a_dot(dots: Mapping[str, tuple[float | None, float | None]]) -> str:
    """How many queries have a value to draw."""
    drawn = sum(pair != (None, None) for pair in dots.values())
    return str(drawn) if drawn == len(dots) else f"{drawn} of {len(dots)}"


def _headline(study: Study) -> Table:
    table = study.agreement
    rows = [
        [
            group.name,
            when,
            *(
                f"{value(name, summaries[name].median)} {interval(summaries[name], 'median')}".strip()
                for name in HEADLINE
            ),
            group.n_queries,
            group.n_pairs,
        ]
        for group in table.groups
        for when, summaries in (("before", group.before), ("after", group.after))
    ]
    return Table(
        "Median over queries, with its interval.",
        ("Facet", "Adjudication", *(table.titles[name] for name in HEADLINE), "Queries", "Pairs"),
        rows_of(rows),
        f"annot agreement --missing {table.missing}",
        numeric_from=2,
    )


def _details(study: Study) -> Table:
    table = study.agreement
    rows = [
        [
            group.name,
            when,
            table.titles[name],
            value(name, summary.median),
            interval(summary, "median") or "–",
            value(name, summary.mean),
            interval(summary, "mean") or "–",
            value(name, summary.q1),
            value(name, summary.q3),
            summary.n_queries,
            summary.n_pairs,
        ]
        for group in table.groups
        for when, summaries in (("before", group.before), ("after", group.after))
        for name, summary in summaries.items()
    ]
    headings = ("Facet", "Adjudication", "Coefficient", "Median", "Interval", "Mean", "Interval", "Q1", "Q3")
    return Table(
        "Every coefficient.",
        (*headings, "Queries", "Pairs"),
        rows_of(rows),
        f"annot agreement --all --missing {table.missing}",
        (*_undefined(table), *_without_interval(table)),
        numeric_from=3,
    )


def _undefined(table: AgreementTable) -> list[str]:
    """What has no value on which queries and why, coefficients and queries of one reason in one sentence."""
    names: dict[tuple[str, str, str], list[str]] = {}
    for group in table.groups:
        if group.name == TOGETHER:
            for when, summaries in (("before", group.before), ("after", group.after)):
                for name, summary in summaries.items():
                    for query_id, reason in summary.undefined.items():
                        names.setdefault((when, reason, query_id), []).append(table.titles[name])
    queries: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (when, reason, query_id), titles in sorted(names.items()):
        queries.setdefault((when, reason, tuple(titles)), []).append(query_id)
    return sorted(
        f"{'; '.join(titles)} {when} adjudication {'has' if len(titles) == 1 else 'have'} no value on "
        f"{', '.join(query_ids)}: {reason}."
        for (when, reason, titles), query_ids in queries.items()
    )


def _without_interval(table: AgreementTable) -> list[str]:
    """Why values stand without an interval, one sentence a reason and facet."""
    groups: dict[str, list[str]] = {}
    for group in table.groups:
        for summaries in (group.before, group.after):
            for summary in summaries.values():
                reason = no_interval(summary, "median")
                if reason is not None and not isinstance(summary.median, Undefined):
                    groups.setdefault(reason, []).append(group.name)
    return [f"No interval for {', '.join(dict.fromkeys(names))}: {reason}." for reason, names in sorted(groups.items())]


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
            f"{study.adjudicated} by an adjudicator; {study.open} are open."
            + (f" Of the agreed, {study.single} had one assessor only: that grade is final." if study.single else ""),
        ),
        tuple(blocks),
    )
