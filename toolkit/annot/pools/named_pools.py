"""Pools as people name them: by a query, or by the paper whose queries share the pool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annot.base.names import known_query
from annot.base.records import Query


def papers_named(queries: Sequence[Query], names: Iterable[str]) -> set[str]:
    """The query papers of these query ids or ids of query papers. Raises InputError, with the near name, for others."""
    known = {query.query_id: query for query in queries}
    papers = {query.paper_id for query in queries}
    return {name if name in papers and name not in known else known_query(known, name).paper_id for name in names}
