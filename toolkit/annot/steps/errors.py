"""The sheet of error cases: what systems get wrong, for the lead to say what kind of error it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annot.base.records import grouped
from annot.formats.spreadsheet import SHEET, ErrorRow, write_error_sheet
from annot.measuring.evaluation.analyses import FAR_DOWN, NEAR_TOP, ErrorCase, error_cases
from annot.measuring.measured import read_run_files
from annot.store import papers
from annot.store.pools import read_sample
from annot.study.exports import read_entered, refuse_unfinished
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file


@dataclass(frozen=True, slots=True)
class WrittenSheet:
    """The path of the sheet, and how many rows have a kind."""

    path: Path
    pairs: int
    with_kind: int


def write(ws: Workspace) -> WrittenSheet:
    """Write `errors.csv`: the pairs that most systems get wrong first; what was entered stays.

    Raises InputError while a pair has no final grade.
    """
    snapshot = read_snapshot(ws)
    refuse_unfinished(snapshot.outcome, partial=False)
    entered = read_entered(ws)
    relevant_from = ws.settings.evaluation.relevant_from
    found = error_cases(read_run_files(ws), snapshot.outcome.qrels, relevant_from=relevant_from)
    cases = grouped(((case.query_id, case.doc_id), case) for case in found)
    pairs = sorted(entered.keys() | cases.keys(), key=lambda pair: (-len(cases.get(pair, ())), pair))
    titles = papers.headings(ws.corpus, {doc_id for _, doc_id in pairs}) if ws.has_corpus else {}
    rows = [
        ErrorRow(
            *pair,
            *entered.get(pair, ("", "")),
            facet=snapshot.facets.get(pair[0], ""),
            grade=cases[pair][0].grade if pair in cases else None,
            irrelevant_near_the_top=_systems(cases.get(pair, ()), NEAR_TOP),
            relevant_far_down=_systems(cases.get(pair, ()), FAR_DOWN),
            title=titles.get(pair[1], ""),
        )
        for pair in pairs
    ]
    path = ws.root / SHEET
    write_file(path, write_error_sheet(rows, faceted=snapshot.faceted))
    return WrittenSheet(path, len(rows), sum(bool(row.kind) for row in rows))


def notes(ws: Workspace) -> Iterator[str]:
    """A note that only drawn pairs can be in the sheet, if a sample of the pools is judged."""
    with ws.reading() as session:
        sample = read_sample(session)
    if sample is not None:
        drawn = sum(one.drawn for one in sample.pairs.values())
        yield (
            f"only the {drawn:,} drawn pairs of the {len(sample.pairs):,} in the pools can be in it: what systems get "
            "wrong on the others is not known"
        )


def _systems(cases: list[ErrorCase] | tuple[()], error: str) -> str:
    """`fabs_bm25 (3), specter (left out)`."""
    return ", ".join(f"{case.run} ({case.rank or 'left out'})" for case in cases if case.error == error)
