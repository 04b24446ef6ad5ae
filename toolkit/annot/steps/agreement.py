"""Agreement before and after adjudication, printed and written to `exports/agreement.json`."""

from __future__ import annotations

import json
from typing import Any

from annot.agreement import TOGETHER, AgreementTable, GroupAgreement, Summary, Undefined, agreement_table, to_json
from annot.errors import MissingInput
from annot.records import Judgement
from annot.report.text import text_table
from annot.steps.outcome import Outcome, outcome_of
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.workspace import Workspace, write_file

SHOWN = ("spearman_rho", "alpha_ordinal", "kappa", "percent")
"""The coefficients of CSFCube's Table 2, in its order."""


def measure(ws: Workspace, *, missing: str | None) -> AgreementTable:
    """Compute all coefficients and write them; `missing` None takes the policy of annot.toml."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session)
        facets = {query.query_id: query.facet for query in read_queries(session)}
    table = table_of(ws, outcome, facets, missing=missing or ws.settings.judging.missing)
    write_file(ws.exports / "agreement.json", json.dumps(as_data(table), indent=2, ensure_ascii=False) + "\n")
    return table


def table_of(ws: Workspace, outcome: Outcome, facets: dict[str, str], *, missing: str) -> AgreementTable:
    """The agreement of one state of the study. Raises MissingInput when nothing is judged."""
    if not outcome.judgements:
        raise MissingInput("no judgements", hint="bring them in with `annot pull`")
    return agreement_table(
        with_what_was_asked(outcome),
        outcome.decisions,
        facets,
        grades=ws.settings.scale.grades,
        missing=missing,
        binarised_at=None,
        bootstrap=None,
    )


def with_what_was_asked(outcome: Outcome) -> tuple[Judgement, ...]:
    """The judgements of the pairs that all planned assessors have answered: a study under way has no missing ones."""
    incomplete = set(outcome.incomplete)
    return tuple(one for one in outcome.judgements if (one.query_id, one.doc_id) not in incomplete)


def as_data(table: AgreementTable) -> Any:
    """The table as JSON can carry it."""
    return to_json(table)


def describe(table: AgreementTable, *, per_query: bool) -> str:
    """The table as text: a line for each facet, before and after; on request a line for each query."""
    parts = [f"missing judgements: {table.missing}; median over queries"]
    names = [table.titles[name] for name in SHOWN]
    rows: list[list[object]] = []
    for group in table.groups:
        for when in ("before", "after"):
            summaries = getattr(group, when)
            figures = [_number(summaries[name].median, name) for name in SHOWN]
            rows.append([group.name, when, *figures, group.n_queries, group.n_pairs])
    parts.append(text_table(["facet", "adjudication", *names, "queries", "pairs"], rows))
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
            [one.query_id, when, *(_number(getattr(one, when)[name], name) for name in SHOWN), one.n_pairs]
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


def group_named(table: AgreementTable, name: str) -> GroupAgreement:
    """One facet's group, or the one of all together."""
    return next(group for group in table.groups if group.name == name)


def _number(value: float | Undefined, name: str) -> str:
    if isinstance(value, Undefined):
        return "undefined"
    return f"{value:.2f}" if name == "percent" else f"{value:.4f}"


def _share(value: float | Undefined) -> str:
    return "-" if isinstance(value, Undefined) else f"{100 * value:.2f}%"
