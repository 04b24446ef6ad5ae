"""Agreement before and after adjudication, printed and written to `exports/agreement.json`."""

from __future__ import annotations

from typing import Any

from annot.agreement import HEADLINE, AgreementTable, to_json
from annot.agreement.missing import IN_WORDS, POLICIES
from annot.names import check_name
from annot.report.agreed import (
    EVERY_HEADINGS,
    KEY,
    every_rows,
    headline_rows,
    intervals_in_words,
    policy_in_words,
    query_rows,
    share,
)
from annot.report.reasons import STATISTICS, lines, reasons
from annot.report.text import text_table
from annot.study.measured import agreement_of
from annot.study.results import agreement_file
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file


def measure(ws: Workspace, *, missing: str | None, binarised_at: int | None) -> AgreementTable:
    """All coefficients with their intervals; `missing` None takes the policy of annot.toml.

    binarised_at: compare "this grade or higher" instead of grades. What annot.toml says, on grades as they are, is
    written to `exports/agreement.json` too.
    """
    if missing is not None:
        check_name(missing, tuple(POLICIES), what="--missing")
    table = agreement_of(read_snapshot(ws), missing=missing, binarised_at=binarised_at)
    if table.missing == ws.settings.judging.missing and binarised_at is None:
        write_file(*agreement_file(ws, table))
    return table


def as_data(table: AgreementTable) -> Any:
    """The table as JSON can carry it."""
    return to_json(table)


def describe(table: AgreementTable, *, per_query: bool, every: bool) -> str:
    """The table as text: a line for each facet, before and after; on request each query, each coefficient."""
    titles = [table.titles[name] for name in HEADLINE]
    scale = "" if table.binarised_at is None else f"; grade {table.binarised_at} or higher against lower"
    parts = [
        f"missing judgements: {table.missing}{scale}\n{IN_WORDS[table.missing]}",
        f"Median over queries. {intervals_in_words(table)}\n{KEY}",
        text_table(["facet", "adjudication", *titles], headline_rows(table)),
    ]
    if every:
        parts.append(text_table([one.lower() for one in EVERY_HEADINGS], every_rows(table)))
    parts.append(_shares(table))
    names, statistics = (tuple(table.titles), STATISTICS) if every else (HEADLINE, ("median",))
    parts += lines(reasons(table, names=names, statistics=statistics))
    if per_query:
        parts.append(text_table(["query", "adjudication", *titles, "pairs"], query_rows(table)))
    return "\n\n".join(parts)


def _shares(table: AgreementTable) -> str:
    rows = [
        [
            group.name,
            share(group.disputed, "pooled", digits=2),
            f"{group.disputed.pooled.count}/{group.disputed.pooled.of}",
            share(group.overruled, "pooled", digits=2),
            "undefined" if group.not_settled else f"{group.overruled.pooled.count}/{group.overruled.pooled.of}",
            share(group.overruled, "mean", digits=2),
            group.overruled.n_queries,
        ]
        for group in table.groups
    ]
    headings = ["facet", "needed adjudication", "given to two or more", "over-ruled", "with two grades or more"]
    told = [text_table([*headings, "over-ruled, mean per query", "queries"], rows), policy_in_words(table)]
    return "\n".join(one for one in told if one)
