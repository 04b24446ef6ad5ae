"""The pairs that a model is asked about: all pooled ones, the planned ones, or those that a file names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import Faults, MissingInput, numbered
from annot.base.names import counted, known_query
from annot.store import people, pools
from annot.store.queries import read_queries
from annot.study.adjudication import Pair
from annot.study.workspace import Workspace, given_text


@dataclass(frozen=True, slots=True)
class Selection:
    """The pairs that a model is asked about: all pooled ones, the planned ones, or those that a file names."""

    planned: bool = False
    queries: tuple[str, ...] = ()
    file: Path | None = None


def selected_pairs(ws: Workspace, selection: Selection) -> list[Pair]:
    """The pairs of a selection, in order. Raises InputError for unknown queries, and MissingInput if it has no pair."""
    with ws.reading() as session:
        known = {query.query_id: query for query in read_queries(session)}
        pooled = pools.documents_by_query(session)
        planned = {one.pair for one in people.read_assignments(session)} if selection.planned else set()
    if selection.file is not None:
        pairs = _named(selection.file, known)
    else:
        pairs = [(query_id, doc_id) for query_id, doc_ids in pooled.items() for doc_id in doc_ids]
        pairs = [pair for pair in pairs if not selection.planned or pair in planned]
    for query_id in selection.queries:
        known_query(known, query_id)
    chosen = [pair for pair in pairs if not selection.queries or pair[0] in selection.queries]
    if not chosen:
        raise MissingInput(
            f"no {'planned' if selection.planned else 'pooled'} pairs to ask about",
            hint="plan them with `annot plan`" if selection.planned else "draw pools with `annot pool`",
        )
    return chosen


def _named(path: Path, known: Iterable[str]) -> list[Pair]:
    """The pairs of a file: a query and a document in each line, or TREC qrels, whose grades are not read."""
    faults, pairs = Faults(str(path)), dict[Pair, None]()
    queries = set(known)
    for line, text in numbered(
        given_text(path, expected="a query id and a document id in each line").splitlines(), faults
    ):
        columns = text.split()
        if len(columns) not in (2, 4):
            faults.add(
                f"{counted(len(columns), 'column')}, expected a query id and a document id, or TREC qrels", line=line
            )
        elif columns[0] not in queries:
            faults.add(f"query {columns[0]!r}: not in this study", line=line)
        else:
            pairs[columns[0], columns[1 if len(columns) == 2 else 2]] = None
    faults.raise_if_any(hint="`annot query list` shows the queries", found=pairs, nothing="no pairs")
    return [*pairs]
