"""Agreement before and after adjudication, printed and written to `exports/agreement.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annot.agreement import COEFFICIENTS, AgreementTable, Bootstrap, agreement_table, to_json
from annot.agreement.missing import IN_WORDS, POLICIES
from annot.errors import MissingInput
from annot.names import check_name
from annot.records import Judgement
from annot.report.agreed import (
    EVERY_HEADINGS,
    HEADLINE,
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
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.study.outcome import Outcome, outcome_of
from annot.study.workspace import Workspace, write_file

SHOWN = HEADLINE


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
    outcome, facets = _judged(ws)
    return table_of(ws, outcome, facets, missing=missing or ws.settings.judging.missing, binarised_at=binarised_at)


def at_each_grade(ws: Workspace) -> tuple[AgreementTable, ...]:
    """The headline coefficients, "this grade or higher" against lower, at each grade but the lowest.

    None on a scale of two grades, which is binary as it is.
    """
    outcome, facets = _judged(ws)
    missing, grades = ws.settings.judging.missing, ws.settings.scale.grades
    return tuple(
        table_of(ws, outcome, facets, missing=missing, binarised_at=grade, coefficients=HEADLINE)
        for grade in (grades[1:] if len(grades) > 2 else ())
    )


def _judged(ws: Workspace) -> tuple[Outcome, dict[str, str]]:
    """The outcome, and the facet of each query."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        return outcome_of(session), {query.query_id: query.facet for query in read_queries(session)}


def table_of(
    ws: Workspace,
    outcome: Outcome,
    facets: dict[str, str],
    *,
    missing: str,
    binarised_at: int | None,
    coefficients: Sequence[str] = tuple(COEFFICIENTS),
) -> AgreementTable:
    """The agreement of one state of the study. Raises MissingInput when nothing is judged."""
    if not outcome.judgements:
        raise MissingInput(
            "no judgements",
            hint="bring them in with `annot pull`, or from a file with `annot import judgements FILE`",
        )
    return agreement_table(
        with_what_was_asked(outcome),
        outcome.decisions,
        facets,
        grades=ws.settings.scale.grades,
        missing=missing,
        binarised_at=binarised_at,
        bootstrap=Bootstrap(ws.settings.agreement.resamples, ws.settings.agreement.level, ws.settings.seed),
        coefficients=coefficients,
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
