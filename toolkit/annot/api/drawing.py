"""Pools drawn from rankings in memory or in files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from annot.api import tidy
from annot.api.displaying import Displayed, Headline
from annot.api.given import runs_in
from annot.base.records import Pool
from annot.base.settings import Settings
from annot.base.settings.sections import DrawMode
from annot.pools.pooling import draw
from annot.publishing.report.words import sentences

if TYPE_CHECKING:
    from annot.publishing.report.document import Table
    from annot.publishing.report.plain_figure import PlainFigure

_DEFAULT = Settings()


@dataclass(frozen=True, eq=False, repr=False)
class DrawnPools(Displayed):
    """The pool of each query, as `annot.draw_pool` returns them.

    Attributes
    ----------
    pools : dict of str to annot.base.records.Pool
        By query: the documents in the order drawn, and how they were drawn.
    """

    pools: dict[str, Pool]
    notes = ()
    _hint = "pools_hint"

    def to_frame(self) -> pd.DataFrame:
        """Every document of the pools as a row of a table.

        Returns
        -------
        pandas.DataFrame
            One row for each query and document, in the order drawn, with the columns ``query_id``, ``doc_id``,
            ``turn`` (from 1), ``method`` (who drew it), ``rank`` and ``score`` (in that method's ranking) and
            ``also_had_by`` (the other methods that have it, each with its rank: ``bm25:3 tfidf:7``).
        """
        frames = [tidy.pool(pool) for pool in self.pools.values()]
        return pd.concat(frames, ignore_index=True).rename(columns={"query_paper": "query_id"})

    @property
    def headline(self) -> Headline:
        """The size of each pool, and how many of its documents each method added; first all pools together.

        Its ``to_frame()`` has the counts of each query, with the columns ``query_id``, ``documents`` and one for each
        method.
        """
        found = self._shown()
        return Headline(found, tidy.frame([found]).iloc[1:].reset_index(drop=True))

    def plot(self) -> PlainFigure:
        """Draw the size of each pool by the method that added its documents, as in the report.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it to a file.
        """
        from annot.publishing.report.sections.collection import drawing

        return drawing(self.pools).svg.figure()

    def _said(self) -> tuple[str, ...]:
        added = Counter(entry.drawn.method for pool in self.pools.values() for entry in pool.entries)
        first = next(iter(self.pools.values()))
        return sentences(
            "library.pools",
            sizes=sorted(len(pool.entries) for pool in self.pools.values()),
            mode=first.mode,
            per_method=first.per_method,
            added=[f"{method} ({n:,})" for method, n in added.most_common()],
        )

    def _shown(self) -> Table:
        # It loads the store, which drawing does without.
        from annot.publishing.report.sections.collection import sizes

        return sizes(self.pools)


def draw_pool(
    rankings: Any,
    *,
    per_method: int = _DEFAULT.pool.per_method,
    seed: int = _DEFAULT.seed,
    mode: DrawMode = _DEFAULT.pool.mode,
    ranking_depth: int = _DEFAULT.pool.ranking_depth,
    cited: Mapping[str, Iterable[str]] | None = None,
    excluded: Mapping[str, Iterable[str]] | None = None,
) -> DrawnPools:
    """Draw, for each query, the documents to be judged from the rankings of several methods, as `annot pool` does.

    Parameters
    ----------
    rankings : dict, list, pandas.DataFrame or path
        The ranking of each method: ``{method: ranking}``, where a ranking is a TREC run file, a table with the columns
        ``query_id``, ``doc_id`` and ``score``, ``{query: {document: score}}``, or ``{query: [documents, best first]}``.
        Or a list of TREC run files, whose tags name the methods; or one table with a column ``method``. Higher scores
        are better; ties go by id. A list has no scores: as scores, places are counted from its end, the last as 1.
    per_method : int
        How many new documents each method adds. If a document is already in the pool, it is skipped and the method
        moves on to its next rank. In mode `depth`: the depth of the pool.
    seed : int
        Seed of the order in which methods draw, which differs between queries. The pool of a query does not depend on
        other queries.
    mode : {"round-robin", "blocks", "depth"}
        Turn by turn, each method one document; or each method its whole quota before the next begins (as CSFCube); or
        the union of every method's best `per_method` (depth-k pooling, as TREC).
    ranking_depth : int
        How many documents of each ranking are considered.
    cited : dict of str to list of str, optional
        By query, documents that enter first and without a quota.
    excluded : dict of str to list of str, optional
        By query, documents that never enter. A document with the id of its query is the query itself and never does.

    Returns
    -------
    DrawnPools
        A notebook shows its ``headline``; its ``to_frame()`` lists which method drew each document, at which rank, and
        which others have it.

    Raises
    ------
    InputError
        With every fault in the input: missing columns, scores that are not numbers, repeated documents, a quota
        below 1.

    Notes
    -----
    Round robin is team-draft multileaving used for pooling; blocks is the procedure of Mysore et al. (2021), CSFCube.

    Examples
    --------
    >>> import annot
    >>> bm25 = {"q1": {"d1": 9.5, "d2": 7.0, "d3": 1.5}}
    >>> tfidf = {"q1": {"d2": 0.9, "d1": 0.8, "d4": 0.1}}
    >>> pool = annot.draw_pool({"bm25": bm25, "tfidf": tfidf}, per_method=2, seed=1).to_frame()
    >>> pool[["doc_id", "turn", "method", "rank", "also_had_by"]]
      doc_id  turn method  rank also_had_by
    0     d2     1  tfidf     1      bm25:2
    1     d1     2   bm25     1     tfidf:2
    2     d4     3  tfidf     3
    3     d3     4   bm25     3
    """
    by_method = runs_in(rankings, name="rankings")
    queries = sorted({query for ranking in by_method.values() for query in ranking})
    return DrawnPools(
        {
            query: draw(
                {method: ranking.get(query, ()) for method, ranking in by_method.items()},
                topic_id=query,
                cited=None if cited is None else cited.get(query, ()),
                cited_outside=None,
                mode=mode,
                per_method=per_method,
                ranking_depth=ranking_depth,
                seed=seed,
                without=(),
                excluded=(query, *(excluded or {}).get(query, ())),
            )
            for query in queries
        }
    )
