"""Agreement before and after adjudication, printed and written to `exports/agreement.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annot.agreement import (
    TOGETHER,
    AgreementTable,
    Bootstrap,
    Interval,
    Summary,
    Undefined,
    agreement_table,
    to_json,
)
from annot.agreement.missing import POLICIES
from annot.errors import MissingInput
from annot.records import Judgement
from annot.report.study import interval, value
from annot.report.text import text_table
from annot.steps.names import check_name
from annot.steps.outcome import Outcome, outcome_of
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.workspace import Workspace, write_file

SHOWN = ("spearman_rho", "alpha_ordinal", "kappa", "percent")
"""The coefficients of CSFCube's Table 2, in its order."""


def measure(ws: Workspace, *, missing: str | None, binarised_at: int | None) -> AgreementTable:
    """The agreement as `compute` has it; what annot.toml says, on grades as they are, is written too."""
    table = compute(ws, missing=missing, binarised_at=binarised_at)
    if table.missing == ws.settings.judging.missing and binarised_at is None:
        write_file(*file_of(ws, table))
    return table


def file_of(ws: Workspace, table: AgreementTable) -> tuple[Path, str]:
    """`exports/agreement.json` and what it holds."""
    return ws.exports / "agreement.json", json.dumps(as_data(table), indent=2, ensure_ascii=False) + "\n"


def compute(ws: Workspace, *, missing: str | None, binarised_at: int | None) -> AgreementTable:
    """All coefficients with their intervals; `missing` None takes the policy of annot.toml.

    binarised_at: compare "this grade or higher" instead of grades.
    """
    if missing is not None:
        check_name(missing, tuple(POLICIES), what="--missing")
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session)
        facets = {query.query_id: query.facet for query in read_queries(session)}
    return table_of(ws, outcome, facets, missing=missing or ws.settings.judging.missing, binarised_at=binarised_at)


def table_of(
    ws: Workspace, outcome: Outcome, facets: dict[str, str], *, missing: str, binarised_at: int | None
) -> AgreementTable:
    """The agreement of one state of the study. Raises MissingInput when nothing is judged."""
    if not outcome.judgements:
        raise MissingInput("no judgements", hint="bring them in with `annot pull` or `annot import judgements`")
    return agreement_table(
        with_what_was_asked(outcome),
        outcome.decisions,
        facets,
        grades=ws.settings.scale.grades,
        missing=missing,
        binarised_at=binarised_at,
        bootstrap=Bootstrap(ws.settings.agreement.resamples, ws.settings.agreement.level, ws.settings.seed),
    )


def with_what_was_asked(outcome: Outcome) -> tuple[Judgement, ...]:
    """The judgements of the pairs that all planned assessors have answered: a study under way has no missing ones."""
    incomplete = set(outcome.incomplete)
    return tuple(one for one in outcome.judgements if (one.query_id, one.doc_id) not in incomplete)


def as_data(table: AgreementTable) -> Any:
    """The table as JSON can carry it."""
    return to_json(table)


def describe(table: AgreementTable, *, per_query: bool, every: bool) -> str:
    """The table as text: a line for each facet, before and after; on request each query, each coefficient."""
    scale = "" if table.binarised_at is None else f"; grade {table.binarised_at} or higher against lower"
    parts = [f"missing judgements: {table.missing}{scale}; median over queries, {_interval_kind(table)}"]
    names = [table.titles[name] for name in SHOWN]
    rows: list[list[object]] = []
    for group in table.groups:
        for when in ("before", "after"):
            summaries = getattr(group, when)
            figures = [f"{value(name, summaries[name].median)} {interval(summaries[name], 'median')}" for name in SHOWN]
            rows.append([group.name, when, *figures, group.n_queries, group.n_pairs])
    parts.append(text_table(["facet", "adjudication", *names, "queries", "pairs"], rows))
    if every:
        parts.append(_every_coefficient(table))
    shares = [
        [
            group.name,
            _share(group.disputed.pooled.value),
            _share(group.overruled.pooled.value),
            _share(group.overruled.mean),
        ]
        for group in table.groups
    ]
    headings = ["facet", "needed adjudication", "over-ruled", "over-ruled, mean per query"]
    parts.append(text_table(headings, shares))
    parts += _explanations(table)
    if per_query:
        lines = [
            [one.query_id, when, *(value(name, getattr(one, when)[name]) for name in SHOWN), one.n_pairs]
            for one in table.queries
            for when in ("before", "after")
        ]
        parts.append(text_table(["query", "adjudication", *names, "pairs"], lines))
    return "\n\n".join(parts)


def _explanations(table: AgreementTable) -> list[str]:
    """Why a coefficient has no value on a query, each reason once with its queries."""
    reasons: dict[str, list[str]] = {}
    for group in table.groups:
        if group.name != TOGETHER:
            continue
        for when in ("before", "after"):
            for name in SHOWN:
                summary: Summary = getattr(group, when)[name]
                for query_id, reason in summary.undefined.items():
                    reasons.setdefault(f"{table.titles[name]} {when} adjudication: {reason}", []).append(query_id)
    return [f"undefined, and left out: {reason}\n  {', '.join(names)}" for reason, names in reasons.items()]


def _interval_kind(table: AgreementTable) -> str:
    for group in table.groups:
        for summary in group.before.values():
            if summary.intervals and isinstance(found := summary.intervals["median"].bca, Interval):
                return f"{100 * found.level:g}% intervals from {found.resamples} resamples of whole queries (BCa)"
    return "no intervals: too few queries"


def _every_coefficient(table: AgreementTable) -> str:
    rows = [
        [
            group.name,
            when,
            table.titles[name],
            value(name, summary.median),
            interval(summary, "median"),
            value(name, summary.mean),
            interval(summary, "mean"),
            value(name, summary.q1),
            value(name, summary.q3),
            value(name, summary.pooled),
            interval(summary, "pooled"),
            summary.n_queries,
            summary.n_pairs,
        ]
        for group in table.groups
        for when in ("before", "after")
        for name, summary in getattr(group, when).items()
    ]
    headings = ["facet", "adjudication", "coefficient", "median", "", "mean", "", "Q1", "Q3", "pooled", ""]
    return text_table([*headings, "queries", "pairs"], rows)


def _share(fraction: float | Undefined) -> str:
    return "-" if isinstance(fraction, Undefined) else f"{100 * fraction:.2f}%"
