"""TREC's files as tables, runs measured against final grades, and pools drawn from rankings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from os import PathLike
from typing import TYPE_CHECKING, Any

import pandas as pd

from annot.api.displaying import Headline, NotebookResult
from annot.base.names import check_name
from annot.base.records import Pool, Qrel
from annot.base.settings import RELEVANT_FROM, Convention, DrawMode, Settings, Ties
from annot.measuring.evaluation.evaluated import EvaluatedRuns, evaluate_runs
from annot.measuring.evaluation.measures import CONVENTIONS, TIES, JudgedWhole, conventions_for
from annot.pools.pooling import draw
from annot.publishing.report import tidy
from annot.publishing.report.sections.runs import by_measure, drawing
from annot.publishing.report.tables import sentences
from annot.publishing.report.verdict import Best, best
from annot.steps.inputs import OF_A_SAMPLE, SAMPLED, SOURCE, check_level, qrels_in, ratings_in, runs_in, topics_of

if TYPE_CHECKING:
    from annot.publishing.report.plain_figure import PlainFigure
    from annot.publishing.report.tables import Table


# ----------------------------------------------------------------------------------------------------------------------
# TREC's files as tables, and runs measured against final grades, in memory or in files.
# ----------------------------------------------------------------------------------------------------------------------


_DEFAULT = Settings()


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredRuns(NotebookResult):
    """Measures of runs with their intervals, as `annot.evaluate` returns them.

    Attributes
    ----------
    relevant_from : int
        The smallest grade that counted as relevant in the binary measures.
    notes : tuple of str
        What a reader of the figures must know: what the sampling units are and which file or column they come from,
        documents that were not judged, queries that were left out.
    """

    relevant_from: int
    notes: tuple[str, ...]
    _evaluated: EvaluatedRuns

    def to_frame(self) -> pd.DataFrame:
        """Every measure as a row of a table, with rows for chance and one assessor.

        Returns
        -------
        pandas.DataFrame
            One row for each convention, facet, run and measure, with the columns ``convention``, ``facet``
            (``"together"`` for all queries), ``run`` (``"chance"`` is a random order of all documents that the runs
            rank, as long as the longest run; ``"one assessor"`` the ranking by one assessor's grades), ``measure``,
            ``value`` (a fraction, 0..1), ``low``, ``high``, ``interval`` (its method, over query papers), ``queries``
            and ``average`` (over what the mean is taken).
        """
        return self._figures.copy()

    def comparisons(self) -> pd.DataFrame:
        """Significance of the differences between runs.

        Returns
        -------
        pandas.DataFrame
            One row for each facet and two runs, with the columns ``convention``, ``facet``, ``run`` (the better one),
            ``against``, ``measure``, ``value`` (the difference), ``low``, ``high``, ``interval``, ``p_value`` (paired
            randomisation test, two-sided), ``p_corrected`` (step-down maximum of t over the pairs of the facet; it
            decides), ``p_holm`` (``p_value`` by Holm's method), ``p_tukey`` (randomised Tukey HSD; if runs differ in
            spread, its error rate is twice the nominal one), ``p_t`` (paired t test, not corrected), ``effect`` (the
            difference in standard deviations of the query papers' differences) and ``holds``; empty for one run.
        """
        return self._comparisons.copy()

    def per_query(self) -> pd.DataFrame:
        """The measures of each query.

        Returns
        -------
        pandas.DataFrame
            One row for each convention, run, query and measure.
        """
        return self._by_query.copy()

    @property
    def headline(self) -> Headline:
        """The runs by the measure on which they are compared, best first, with intervals; then chance.

        Letters after a figure name the runs that it beats significantly, and ° a run that is not shown to be better
        than chance. Its ``to_frame()`` has these rows of ``to_frame()``, with all columns.
        """
        frame, by = self._figures, self._evaluated
        selected = (frame["convention"] == by.convention) & (frame["measure"] == by.measure)
        return Headline(self._shown(), frame[selected].reset_index(drop=True))

    def plot(self) -> PlainFigure:
        """Draw the runs with their intervals, and which differences between them are significant, as in the report.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it to a file.
        """
        return drawing(self._evaluated).svg.figure()

    @cached_property
    def _figures(self) -> pd.DataFrame:
        return tidy.evaluation(self._evaluated)

    @cached_property
    def _comparisons(self) -> pd.DataFrame:
        return tidy.comparisons(self._evaluated)

    @cached_property
    def _by_query(self) -> pd.DataFrame:
        return tidy.evaluation_by_query(self._evaluated)

    @property
    def _best(self) -> Best:
        leader = best(self._evaluated)
        assert leader is not None, "there is at least one run"
        return leader

    def _said(self) -> tuple[str, ...]:
        evaluations = self._evaluated.evaluations
        queries = {query.query_id for by in evaluations.values() for query in by[self._evaluated.convention].queries}
        return sentences(
            "library.runs", runs=len(evaluations), queries=len(queries), best=self._best, evaluated=self._evaluated
        )

    def _shown(self) -> Table:
        return by_measure(self._evaluated, self._best)


def read_qrels(path: str | PathLike[str]) -> pd.DataFrame:
    """Read final grades from a TREC qrels file, with the paper or topic of each query if a file next to it has them.

    Parameters
    ----------
    path : str or path
        A file of lines ``query_id 0 doc_id relevance``. A release has ``query_papers.tsv`` next to it, a line
        ``query_id`` and ``query_paper`` for each query; if topics are texts, ``query_topics.tsv`` with ``topic_id``.

    Returns
    -------
    pandas.DataFrame
        Columns ``query_id``, ``doc_id`` (text) and ``relevance`` (int), in the order of the file, and ``query_paper``
        or ``topic_id`` if such a file exists. The first three are the names that ir_measures uses, too. The notes of
        `annot.evaluate` say which file these are from.

    Raises
    ------
    InputError
        For every fault in the files: file, line, what was found and what was expected.

    Examples
    --------
    >>> from pathlib import Path
    >>> import annot
    >>> _ = Path("qrels.txt").write_text("q1 0 d1 3\\nq1 0 d2 0\\n")
    >>> annot.read_qrels("qrels.txt")
      query_id doc_id  relevance
    0       q1     d1          3
    1       q1     d2          0
    """
    table = qrels_in(path)
    frame = pd.DataFrame({name: list(map(attrgetter(name), table.rows)) for name in Qrel._fields})
    if table.topics is not None:
        frame[table.topics.column] = frame["query_id"].map(table.topics.of)
        frame.attrs[SOURCE] = table.topics.source
    return frame


def read_run(path: str | PathLike[str]) -> pd.DataFrame:
    """Read a run from a TREC run file.

    Parameters
    ----------
    path : str or path
        A file of lines ``query_id Q0 doc_id rank score tag``. Its ranks and the order of its lines are ignored, as
        trec_eval does: documents are ordered by score, then by id.

    Returns
    -------
    pandas.DataFrame
        Columns ``query_id``, ``doc_id`` (text), ``rank`` (int, from 1), ``score`` (float) and ``run`` (the tag).

    Raises
    ------
    InputError
        For every fault in the file: file, line, what was found and what was expected.

    Examples
    --------
    >>> from pathlib import Path
    >>> import annot
    >>> _ = Path("bm25.run").write_text("q1 Q0 d1 1 2.5 bm25\\nq1 Q0 d2 2 7.5 bm25\\n")
    >>> annot.read_run("bm25.run")
      query_id doc_id  rank  score   run
    0       q1     d2     1    7.5  bm25
    1       q1     d1     2    2.5  bm25
    """
    return tidy.rankings(runs_in(path, name="run"))


def evaluate(
    run: Any,
    qrels: Any,
    *,
    convention: Convention | None = None,
    measure: str | Sequence[str] | None = None,
    ties: Ties = "order",
    judgements: Any = None,
    clusters: str | None = None,
    relevant_from: int | None = None,
    level: float = _DEFAULT.agreement.level,
    seed: int = _DEFAULT.seed,
) -> MeasuredRuns:
    """Measure runs against final grades, with intervals, as `annot evaluate` does for a study.

    Parameters
    ----------
    run : path, pandas.DataFrame, dict or list
        A TREC run file; a table with the columns ``query_id``, ``doc_id``, ``score`` and, for several runs, ``run``;
        ``{query: {document: score}}`` or ``{query: [documents, best first]}``; a list of these; or
        ``{name: any of these}``. Higher scores are better.
    qrels : path, pandas.DataFrame or dict
        A TREC qrels file; a table with the columns ``query_id``, ``doc_id`` and ``relevance``; or
        ``{query: {document: grade}}``. A table may have two more columns: ``facet``, a group of queries with
        its own figures, and ``query_paper`` (or ``topic_id``): queries of one paper share its pool, and intervals and
        tests take it as the sampling unit. For a file, the papers are read from ``query_papers.tsv`` (or the topics
        from ``query_topics.tsv``) next to it, as in a release.
        If no paper is known, queries are taken as independent; ``notes`` says which.
    convention : {"csfcube", "trec"}, optional
        Whose definitions of the measures: those of CSFCube's release or those of trec_eval (through ir_measures).
        By default both, side by side. ``help("annot.measuring.evaluation.measures")`` explains how they differ.
    measure : str or sequence of str, optional
        A measure, or several, to show next to the others: any k, and in the `trec` convention any name of ir_measures
        (``"nDCG@10"``). Runs are compared with each other by the first, in the first convention that knows it; one is
        better than many, as each further one is another chance to find a difference that is none. By default runs are
        compared by nDCG, in the `csfcube` convention by NDCG%20.
    ties : {"order", "expected"}
        `order`: tied documents keep the order of the run (`csfcube`) or of their ids (`trec`). `expected`: the mean
        over all orders of tied documents.
    judgements : optional
        The judgements behind the final grades, as a long table that `annot.measure_agreement` takes; then the ranking
        by one assessor's grades is measured as well.
    clusters : str, optional
        The column of ``qrels`` with the query paper or topic, if it is not named ``query_paper`` or ``topic_id``.
    relevant_from : int, optional
        The smallest grade that counts as relevant in binary measures. By default 2, or 1 if no grade is higher.
    level : float
        Confidence level of the intervals, between 0 and 1.
    seed : int
        Seed of the tests between runs, used if there are too many query papers to try every arrangement of signs.

    Returns
    -------
    MeasuredRuns
        A notebook shows its ``headline``; its ``to_frame()`` has every figure. A document without a grade counts as not
        relevant; `notes` says how many there are.

    Raises
    ------
    InputError
        With every fault in the input: missing columns, grades that are not whole numbers, scores that are not numbers,
        repeated documents, no query of a run in the qrels.

    Examples
    --------
    >>> import annot
    >>> qrels = {"q1": {"d1": 3, "d2": 0, "d3": 2}, "q2": {"d1": 0, "d2": 2}}
    >>> run = {"q1": {"d1": 9.1, "d2": 7.0, "d3": 5.5}, "q2": {"d1": 4.0, "d2": 3.0}}
    >>> frame = annot.evaluate(run, qrels, convention="trec").to_frame()
    >>> frame.loc[frame["measure"] == "AP", ["run", "measure", "value", "queries"]].round(4)
          run measure   value  queries
    4     run      AP  0.6667        2
    9  chance      AP  0.7778        2
    """
    if convention is not None:
        check_name(convention, CONVENTIONS, what="convention")
    conventions = CONVENTIONS if convention is None else (convention,)
    measures = (measure,) if isinstance(measure, str) else tuple(measure or ())
    conventions = conventions_for(measures, conventions)
    check_name(ties, TIES, what="ties")
    check_level(level)
    table = qrels_in(qrels, clusters=clusters)
    if relevant_from is None:
        highest = max((qrel.relevance for qrel in table.rows), default=RELEVANT_FROM)
        relevant_from = max(1, min(RELEVANT_FROM, highest))
    units = topics_of(table.facets, table.topics)
    evaluated = evaluate_runs(
        runs_in(run, name="run"),
        JudgedWhole(table.rows, () if judgements is None else ratings_in(judgements, name="judgements").rows),
        facets=table.facets,
        topics=units.of or None,
        splits={},
        systems={},
        left_out={},
        conventions=conventions,
        measures=measures,
        ties=ties,
        average="plain",
        relevant_from=relevant_from,
        level=level,
        seed=seed,
        words=units.words,
    )
    sampled = (SAMPLED,) if getattr(qrels, "attrs", {}).get(OF_A_SAMPLE) else ()
    notes = (*filter(None, [evaluated.warning]), *sampled, units.note, *evaluated.notes)
    return MeasuredRuns(relevant_from, notes, evaluated)


# ----------------------------------------------------------------------------------------------------------------------
# Pools drawn from rankings in memory or in files.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class DrawnPools(NotebookResult):
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
        pools_table = self._shown()
        return Headline(pools_table, tidy.frame([pools_table]).iloc[1:].reset_index(drop=True))

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
