"""The paper of each query, where what is handed in names it: intervals and tests take it for the unit of chance."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from annot.base.errors import InputError
from annot.base.templating import counted
from annot.formats.query_papers import QUERY_PAPERS_FILE, read_query_papers
from annot.study.given_files import given_text

PAPER_COLUMN = "query_paper"
SOURCE = "query_papers"
"""Where a table remembers which file its papers are from, in `attrs`."""


class GivenPapers(NamedTuple):
    """The paper of each query, and where that comes from."""

    of: dict[str, str]
    source: str

    def note(self, queries: Collection[str]) -> str:
        """What the figures of these queries rest on."""
        papers = counted(len({self.of[query] for query in queries}), "paper")
        return f"query papers are the units of chance: {counted(len(queries), 'query')} on {papers}, by {self.source}"


INDEPENDENT = (
    "queries are taken as independent, as no paper is known for them: if several ask facets of one paper, intervals "
    f"are too narrow; name the column of the paper with `clusters`, or put {QUERY_PAPERS_FILE} next to the qrels"
)


def papers_of(queries: Collection[str], *given: GivenPapers | None) -> tuple[dict[str, str] | None, str]:
    """The paper of each of these queries by the first source that knows all of them, and a note; None without one."""
    for known in given:
        if known is not None and known.of.keys() >= set(queries):
            return {query: known.of[query] for query in queries}, known.note(queries)
    return None, INDEPENDENT


def papers_beside(path: Path, queries: Collection[str]) -> GivenPapers | None:
    """What `query_papers.tsv` beside a file of qrels says; None where there is none.

    Raises InputError where it does not have all of these queries.
    """
    beside = path.parent / QUERY_PAPERS_FILE
    if not beside.is_file():
        return None
    lines = given_text(beside, expected="the paper of each query").splitlines()
    papers = read_query_papers(lines, name=str(beside))
    unknown = sorted(set(queries) - papers.keys())
    if unknown:
        raise InputError(
            f"{beside}: {len(unknown)} queries of {path.name} are not in it",
            faults=[f"{query}: no line, expected its paper" for query in unknown],
            hint="add them, or move the file away if it is of another collection",
        )
    return GivenPapers(papers, str(beside))


def by_column(papers: dict[str, str], column: str | None, frame: pd.DataFrame) -> GivenPapers | None:
    """What a column of a table says, `query_paper` if none is named; None where there is no such column."""
    if not papers:
        return None
    named = None if column else frame.attrs.get(SOURCE)
    return GivenPapers(papers, named or f"the column {column or PAPER_COLUMN!r}")
