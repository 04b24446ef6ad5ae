"""`query_papers.tsv`: the paper of each query. Queries on facets of one paper are no independent evidence."""

from __future__ import annotations

from collections.abc import Iterable

from annot.base.records import Query
from annot.formats.faults import Faults, numbered

QUERY_PAPERS_FILE = "query_papers.tsv"
HEADER = "query_id\tquery_paper"


def write_query_papers(queries: Iterable[Query]) -> str:
    """The text of the file, ordered by query id."""
    lines = sorted(f"{query.query_id}\t{query.paper_id}\n" for query in queries)
    return "".join((f"{HEADER}\n", *lines))


def read_query_papers(lines: Iterable[str], *, name: str) -> dict[str, str]:
    """The paper of each query, by its id. Raises InputError with every fault, with `name` and line."""
    faults = Faults(name)
    papers: dict[str, str] = {}
    for number, line in numbered(lines, faults):
        cells = line.split("\t")
        if number == 1:
            if line != HEADER:
                faults.add(f"found {line!r}, expected the header {HEADER!r}", line=number)
        elif len(cells) != 2 or not all(cells):
            faults.add("expected a query and its paper, with a tab between", line=number)
        elif papers.setdefault(cells[0], cells[1]) != cells[1]:
            faults.add(f"paper {cells[1]!r} of query {cells[0]}, expected {papers[cells[0]]!r} as above", line=number)
    faults.raise_if_any()
    return papers
