"""Agreement of the assessors: by facet, by assessor, by version of the guidelines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from annot.base.names import check_name, known_query
from annot.measuring.agreement.per_query import POLICIES, in_words
from annot.measuring.agreement.summaries import AgreementTable
from annot.measuring.diagnosis.overview import Looked
from annot.measuring.measured import ByGuidelines, agreement_by_guidelines, agreement_of, assessors_of
from annot.measuring.results import AGREEMENT_FILE, as_text, keep
from annot.publishing.report.document import Table
from annot.publishing.report.notices import tell_untrue
from annot.publishing.report.sections import assessors
from annot.publishing.report.sections.agreement import terminal
from annot.publishing.report.terminal import table_text, wrapped
from annot.publishing.report.words import sentences
from annot.study.made import note
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace

ASSESSOR, GUIDELINES = "assessor", "guidelines"


def measure(
    ws: Workspace, *, missing: str | None, binarised_at: int | None, tell: Callable[[str], None]
) -> AgreementTable:
    """All coefficients with their intervals; `missing` None takes the policy of annot.toml.

    binarised_at: compare "this grade or higher" instead of grades. What annot.toml says, on grades as they are, is
    written to `exports/agreement.json` too; `tell` says if that cannot be, and what is not true of the study.
    """
    if missing is not None:
        check_name(missing, tuple(POLICIES), what="--missing")
    snapshot = read_snapshot(ws)
    table = agreement_of(snapshot, missing=missing, binarised_at=binarised_at)
    tell_untrue(ws, snapshot.states, "agreement", tell=tell)
    if table.missing == ws.settings.judging.missing and binarised_at is None:
        keep(ws, AGREEMENT_FILE, as_text(table), tell=tell)
        note(ws, "agreement", snapshot.states)
    return table


def describe(table: AgreementTable, *, per_query: bool, every: bool) -> str:
    """The tables as text: a line for each facet, before and after; on request each query, each coefficient."""
    tables = terminal(table, per_query=per_query, every=every)
    how = {"policy": in_words(table.missing, binary=table.binary), "bracketed": any(one.bracketed for one in tables)}
    method = sentences("agreement.terminal", table=table, **how)
    return "\n\n".join([*map(table_text, tables), *map(wrapped, method)])


def by_assessor(ws: Workspace, *, queries: Collection[str]) -> Looked:
    """How each assessor judges, whether they change, why they disagree.

    Raises MissingInput without judgements, InputError for an unknown query.
    """
    snapshot = read_snapshot(ws)
    known = {query.query_id: query for query in snapshot.queries}
    for name in queries:
        known_query(known, name)
    return assessors_of(snapshot)


def assessor_tables(looked: Looked, *, queries: Collection[str]) -> tuple[Table, ...]:
    """The tables of the report's section. queries: show hard candidates of these only, and all of them."""
    return tuple(assessors.tables(looked, queries))


def describe_assessors(looked: Looked, tables: Iterable[Table]) -> str:
    """What the report's section has, as text."""
    first, last = ("\n".join(map(wrapped, of)) for of in (assessors.told(looked), assessors.method(looked)))
    return "\n\n".join(part for part in (first, *map(table_text, tables), last) if part)


def by_guidelines(ws: Workspace) -> tuple[ByGuidelines, ...]:
    """Agreement by each version of the guidelines; empty if no facet has several."""
    return agreement_by_guidelines(read_snapshot(ws))
