"""TREC's files as tables, and runs measured against final grades, in memory or in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import pandas as pd

from annot.api import tidy
from annot.api.displaying import Displayed, Headline, in_its_words
from annot.api.given import check_level, qrels_in, ratings_in, runs_in
from annot.api.given_tables import OF_A_SAMPLE, SAMPLED, SOURCE, topics_of
from annot.base.names import Called, check_name
from annot.base.settings import Settings
from annot.base.settings.sections import RELEVANT_FROM, Convention, Ties
from annot.measuring.evaluation.evaluated import Evaluated, of_runs
from annot.measuring.evaluation.graded_pools import JudgedWhole
from annot.measuring.evaluation.measures import CONVENTIONS, TIES, conventions_for
from annot.publishing.report.sections.runs import by_measure, drawing
from annot.publishing.report.verdict import Best, best
from annot.publishing.report.words import sentences

if TYPE_CHECKING:
    from annot.publishing.report.document import Table
    from annot.publishing.report.plain_figure import PlainFigure

_DEFAULT = Settings()


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredRuns(Displayed):
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
    _evaluated: Evaluated
    _called: Called

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
        """Which differences between runs are significant.

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
        kept = (frame["convention"] == by.convention) & (frame["measure"] == by.measure)
        return Headline(self._shown(), frame[kept].reset_index(drop=True))

    @in_its_words
    def plot(self) -> PlainFigure:
        """Draw the runs with their intervals, and which differences between them are significant, as in the report.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it to a file.
        """
        return drawing(self._evaluated).svg.figure()

    @cached_property
    @in_its_words
    def _figures(self) -> pd.DataFrame:
        return tidy.evaluation(self._evaluated)

    @cached_property
    @in_its_words
    def _comparisons(self) -> pd.DataFrame:
        return tidy.comparisons(self._evaluated)

    @cached_property
    def _by_query(self) -> pd.DataFrame:
        return tidy.evaluation_by_query(self._evaluated)

    @property
    def _best(self) -> Best:
        found = best(self._evaluated)
        assert found is not None, "there is at least one run"
        return found

    @in_its_words
    def _said(self) -> tuple[str, ...]:
        of = self._evaluated.evaluations
        queries = {query.query_id for by in of.values() for query in by[self._evaluated.convention].queries}
        return sentences("library.runs", runs=len(of), queries=len(queries), best=self._best, evaluated=self._evaluated)

    @in_its_words
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
    given = qrels_in(path)
    frame = pd.DataFrame(given.qrels, columns=["query_id", "doc_id", "relevance"])
    if given.topics is not None:
        frame[given.topics.column] = frame["query_id"].map(given.topics.of)
        frame.attrs[SOURCE] = given.topics.source
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
    given = qrels_in(qrels, clusters=clusters)
    if relevant_from is None:
        highest = max((qrel.relevance for qrel in given.qrels), default=RELEVANT_FROM)
        relevant_from = max(1, min(RELEVANT_FROM, highest))
    units = topics_of(given.facets, given.topics)
    evaluated = of_runs(
        runs_in(run, name="run"),
        JudgedWhole(given.qrels, () if judgements is None else ratings_in(judgements, name="judgements").judgements),
        facets=given.facets,
        topics=units.topics,
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
    )
    sampled = (SAMPLED,) if getattr(qrels, "attrs", {}).get(OF_A_SAMPLE) else ()
    notes = (*filter(None, [evaluated.warning]), *sampled, units.note, *evaluated.notes)
    return MeasuredRuns(relevant_from, notes, evaluated, units.called)
