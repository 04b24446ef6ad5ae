"""Agreement of judgements in memory: one coefficient, or all of them with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
import pandas as pd

from annot.api.displaying import Headline, NotebookResult
from annot.base.errors import InputError, UndefinedStatistic
from annot.base.names import StudyVocabulary, check_name
from annot.base.records import Decision, Judgement
from annot.base.settings import AlphaLevel, MissingPolicy, Settings
from annot.base.stats.arrays import Array
from annot.base.stats.values import Interval
from annot.measuring.agreement.coefficients import (
    COEFFICIENTS,
    HEADLINE,
    TITLES,
    count,
    interval_of,
    pooled_between,
    tables_between,
)
from annot.measuring.agreement.estimates import POLICIES, agreement_table
from annot.publishing.report.cells import Number, coefficient
from annot.steps.inputs import GivenRows, check_level, qrels_in, ratings_in, scale_of, topics_of

if TYPE_CHECKING:
    from annot.measuring.agreement.estimates import AgreementTable
    from annot.publishing.report.plain_figure import PlainFigure
    from annot.publishing.report.tables import Table

LEVELS = get_args(AlphaLevel)
OF_ITEMS = "items are the sampling units of the intervals"
_DEFAULT = Settings()


class ItemAgreement(NamedTuple):
    """Agreement on items that belong to no query."""

    figures: dict[str, Number]
    """Figures by the name of the coefficient."""
    items: int
    """Number of items with two grades or more."""
    level: float | None


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredAgreement(NotebookResult):
    """Agreement coefficients with their intervals, as `annot.measure_agreement` returns them.

    Attributes
    ----------
    scale : tuple of int
        The grades that the coefficients were computed on, lowest first.
    missing : str
        What a missing judgement counted as: ``"drop"`` or ``"zero"``.
    notes : tuple of str
        What a reader of the figures must know: what the sampling units of the intervals are, and where they come from.
    """

    scale: tuple[int, ...]
    missing: str
    notes: tuple[str, ...]
    _found: AgreementTable | ItemAgreement
    _settled: bool
    """True if final grades were given, so that there is agreement after adjudication."""
    _words: StudyVocabulary

    def to_frame(self) -> pd.DataFrame:
        """Every figure as a row of a table.

        Returns
        -------
        pandas.DataFrame
            One row for each facet, stage of adjudication, coefficient and statistic, with the columns ``facet``
            (``"together"`` for all queries), ``adjudication`` (``"before"``, ``"after"``), ``coefficient``,
            ``statistic`` (``"median"``, ``"mean"``, ``"q1"``, ``"q3"`` over the queries, ``"pooled"`` over all pairs),
            ``value``, ``low``, ``high``, ``interval`` (how it was made), ``queries``, ``pairs`` and ``undefined`` (the
            reason, if there is no value).
        """
        return self._figures.copy()

    def per_query(self) -> pd.DataFrame:
        """The coefficients of each query.

        Returns
        -------
        pandas.DataFrame
            One row for each query, stage of adjudication and coefficient; empty for a matrix of items.
        """
        return self._by_query.copy()

    @property
    def headline(self) -> Headline:
        """The figures that one reports: rho, ordinal alpha, kappa and the percentage of equal grades.

        For queries these are the medians over queries, by facet and together, before adjudication and, if there are
        final grades, after it; for a matrix, the figures over all items. If none of these coefficients was computed,
        those that were. Its ``to_frame()`` has these rows of ``to_frame()``, with all columns.
        """
        frame, statistic = self._figures, "pooled" if isinstance(self._found, ItemAgreement) else "median"
        selected = (frame["statistic"] == statistic) & frame["coefficient"].isin(self._names)
        return Headline(self._shown(), frame[selected].reset_index(drop=True))

    def plot(self) -> PlainFigure:
        """Draw alpha on each query before and after adjudication, as in the report.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it to a file.

        Raises
        ------
        UndefinedStatistic
            For a matrix, which has no queries, and if ordinal alpha was not computed or has a value on fewer than two
            queries.
        """
        from annot.publishing.report.sections.agreement import drawing

        if isinstance(self._found, ItemAgreement):
            raise UndefinedStatistic("there are no queries to draw: a matrix has only items")
        if "alpha_ordinal" not in self._found.titles:
            raise UndefinedStatistic("the drawing shows alpha_ordinal, which is not among the coefficients")
        for figure in drawing(self._found, self._words):
            return figure.svg.figure()
        raise UndefinedStatistic("ordinal alpha has a value on fewer than two queries")

    @cached_property
    def _figures(self) -> pd.DataFrame:
        from annot.publishing.report import tidy  # The tables of the report load what alpha alone does without.

        if isinstance(self._found, ItemAgreement):
            return tidy.agreement_of_items(self._found.figures, pairs=self._found.items)
        frame = tidy.agreement(self._found, self._words)
        if not self._settled:
            frame = frame[(frame["adjudication"] != "after") & (frame["coefficient"] != "overruled_share")]
        return frame.reset_index(drop=True)

    @cached_property
    def _by_query(self) -> pd.DataFrame:
        from annot.publishing.report import tidy

        if isinstance(self._found, ItemAgreement):
            return pd.DataFrame()
        frame = tidy.agreement_by_query(self._found, self._words)
        return (frame if self._settled else frame[frame["adjudication"] != "after"]).reset_index(drop=True)

    @property
    def _names(self) -> tuple[str, ...]:
        """The coefficients of the headline."""
        if not isinstance(self._found, ItemAgreement):
            return self._found.headline
        return tuple(name for name in HEADLINE if name in self._found.figures) or tuple(self._found.figures)

    def _said(self) -> tuple[str, ...]:
        from annot.publishing.report.tables import sentences

        agreement, name = self._found, "alpha_ordinal" if "alpha_ordinal" in self._names else self._names[0]
        queries: int | None
        figures: list[Any]
        pooled = not isinstance(agreement, ItemAgreement) and agreement.best == "pooled"
        if isinstance(agreement, ItemAgreement):
            queries, pairs, figures = None, agreement.items, [agreement.figures[name]]
        else:
            together = agreement.groups[-1]
            queries, pairs = together.n_queries, together.n_pairs
            first, *after = (row[name] for row in self._shown().records if row["facet"] == together.name)
            figures = [first, *(number for number in after if isinstance(number, Number) and number.value is not None)]
        values = {"queries": queries, "pairs": pairs, "title": TITLES[name], "figures": figures, "pooled": pooled}
        return sentences("library.agreement", words=self._words, scale=self.scale, missing=self.missing, **values)

    def _shown(self) -> Table:
        from annot.publishing.report.sections import agreement

        if isinstance(self._found, ItemAgreement):
            figures = {name: self._found.figures[name] for name in self._names}
            return _table_of_items(figures, level=self._found.level)
        return agreement.headline(
            self._found, self._words, stages=("before", "after") if self._settled else ("before",)
        )


def _table_of_items(figures: Mapping[str, Number], *, level: float | None) -> Table:
    from annot.publishing.report.tables import Column, table

    return table(
        "items",
        figures.items(),
        [Column("Coefficient", lambda row: TITLES[row[0]])],
        [Column("All items", lambda row: row[1])],
        caption="library.items",
        command="",
        level=level,
    )


def measure_agreement(
    ratings: Any,
    *,
    final: Any = None,
    scale: Sequence[int] | None = None,
    missing: MissingPolicy = _DEFAULT.judging.missing,
    binarised_at: int | None = None,
    clusters: str | None = None,
    coefficients: Sequence[str] = tuple(COEFFICIENTS),
    level: float | None = _DEFAULT.agreement.level,
    unjudgeable: Iterable[tuple[str, str]] = (),
) -> MeasuredAgreement:
    """Measure how well assessors agree, with intervals, as `annot agreement` does for a study.

    Parameters
    ----------
    ratings : pandas.DataFrame, array or list
        Either a long table, one row per judgement, with the columns ``query``, ``document``, ``assessor`` and ``grade``
        (or dicts with these keys, or rows of these four, at least one of the ids a text). A column ``facet`` names
        groups of queries that get figures of their own, a column ``query_paper`` (or ``topic_id``) the paper (or topic)
        of each query. Rows with ``occasion`` 2 (hidden repeats) or with ``flags``, as in annot's own files, do not
        count.
        Or a matrix of shape (items, assessors). Grades are whole numbers; nan, None or an empty cell is a judgement
        that was requested and not given.
    final : optional
        The final grades, in any form that `annot.evaluate` takes as ``qrels``; then agreement after adjudication is
        measured too: the mean over the assessors of the coefficient between each and the final grades.
    scale : sequence of int, optional
        All grades that could be given, lowest first. By default from the lowest to the highest grade that was given;
        Gwet's coefficients also count unused grades, so give the scale if some grades were not used.
    missing : {"drop", "zero"}
        How a missing judgement counts: it is left out, or it counts as grade 0 (as in CSFCube's published figures).
    binarised_at : int, optional
        Compare this grade or higher against lower ones instead of the grades themselves.
    clusters : str, optional
        The column of the query paper or topic, if it is not named ``query_paper`` or ``topic_id``. Queries on facets of
        one paper share its documents and its assessors, so intervals take whole papers as the sampling units.
    coefficients : sequence of str
        The coefficients to compute, by their names in `annot agreement --json`; by default all.
    level : float, optional
        Confidence level of the intervals, between 0 and 1; None for no intervals.
    unjudgeable : iterable of (query, document)
        Pairs that no one could judge: they have no final grade, and agreement after adjudication leaves them out. In
        `decisions.jsonl` their origin is "nobody can judge". Any other pair without a final grade counts as still
        open, and then there is no figure after adjudication.

    Returns
    -------
    MeasuredAgreement
        A notebook shows its ``headline``; its ``to_frame()`` has every figure. From a long table, figures are
        summarised over queries, and whole query papers are the sampling units of the intervals. The paper of each query
        is that of the column, else what ``final`` says of it (a table with the column, or a file with
        ``query_papers.tsv`` or ``query_topics.tsv`` next to it); if no paper is known, queries are taken as
        independent. ``notes`` says which. From a matrix, figures are over all items (``"pooled"``), and items are the
        units.

    Raises
    ------
    InputError
        With every fault in the input: missing columns (a matrix has none for ``clusters``), grades that are not whole
        numbers or are outside the scale, two grades by one assessor for one pair, no judgement at all.

    Notes
    -----
    Intervals of medians use order statistics, or the inverted sign test over papers; those of means and pooled figures
    use a jackknife with Student's t. ``help("annot.base.stats.values")`` gives their coverage. The
    sources of the coefficients, and what each is tested against, are listed in ``help("annot.measuring.agreement")``.

    Examples
    --------
    Two assessors, two queries (real studies have more, and useful intervals):

    >>> import annot
    >>> grades = {"a1": [3, 2, 1, 0, 0, 2, 0, 1], "a2": [3, 1, 1, 0, 1, 2, 0, 0]}
    >>> judgements = [(f"q{at // 4 + 1}", f"d{at}", who, row[at]) for who, row in grades.items() for at in range(8)]
    >>> frame = annot.measure_agreement(judgements, coefficients=["alpha_ordinal"]).to_frame()
    >>> frame.loc[frame["statistic"] == "median", ["coefficient", "value", "queries", "pairs"]].round(3)
         coefficient  value  queries  pairs
    0  alpha_ordinal  0.736        2      8
    """
    rated = ratings_in(ratings, name="ratings", clusters=clusters)
    grades = scale_of(rated.rows, scale)
    check_name(missing, tuple(POLICIES), what="missing")
    if not coefficients:
        raise InputError("coefficients: expected at least one")
    for name in coefficients:
        check_name(name, tuple(COEFFICIENTS), what="coefficient")
    if level is not None:
        check_level(level)
    if not rated.by_query:
        if final is not None or binarised_at is not None:
            raise InputError("final, binarised_at: expected a long table, with the columns query, document, ...")
        of_items = _measured_items(rated, grades, missing=missing, coefficients=coefficients, level=level)
        return MeasuredAgreement(grades, missing, (OF_ITEMS,), of_items, False, StudyVocabulary())
    settled = None if final is None else qrels_in(final)
    units = topics_of(rated.facets, rated.topics, None if settled is None else settled.topics)
    table = agreement_table(
        rated.rows,
        # Where a final grade comes from makes no difference to agreement.
        () if settled is None else tuple(Decision(*qrel, "adjudicated") for qrel in settled.rows),
        rated.facets,
        grades=grades,
        missing=missing,
        binarised_at=binarised_at,
        level=level,
        topics=units.of or None,
        coefficients=coefficients,
        unjudgeable={(str(query), str(document)) for query, document in unjudgeable},
    )
    return MeasuredAgreement(table.grades, missing, (units.note,), table, final is not None, units.words)


def alpha(ratings: Any, level: AlphaLevel = "ordinal") -> float:
    """Krippendorff's alpha of all judgements together.

    Parameters
    ----------
    ratings : pandas.DataFrame, array or list
        A matrix of shape (items, assessors), or a long table, one row per judgement, as `annot.measure_agreement`
        takes it. Grades are whole numbers; nan or None if an assessor did not judge the item.
        (The package `krippendorff` takes the transpose: assessors x items.)
    level : {"ordinal", "nominal", "interval"}
        Level of measurement: how far apart two grades are.

    Returns
    -------
    float
        1 for perfect agreement, 0 for what chance gives, below 0 for less.

    Raises
    ------
    InputError
        With every fault in the input.
    UndefinedStatistic
        If alpha has no value, with the reason: no item was judged twice, or all grades are equal.

    Notes
    -----
    K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. The example is the one of its section D.

    Examples
    --------
    Four observers, twelve units, gaps:

    >>> import annot
    >>> n = None
    >>> observers = [
    ...     [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
    ...     [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
    ...     [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
    ...     [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
    ... ]
    >>> units = list(zip(*observers))
    >>> round(annot.alpha(units), 3), round(annot.alpha(units, level="nominal"), 3)
    (0.815, 0.743)
    """
    check_name(level, LEVELS, what="level")
    table = ratings_in(ratings, name="ratings")
    grades = scale_of(table.rows, None)
    return COEFFICIENTS[f"alpha_{level}"](_matrix(table.rows), grades)


def _matrix(judgements: Sequence[Judgement]) -> Array:
    """Shape (assessors, pairs), nan where there is no grade."""
    frame = pd.DataFrame([(row.query_id, row.doc_id, row.assessor, row.grade) for row in judgements])
    pairs = pd.MultiIndex.from_frame(frame[[0, 1]].drop_duplicates())
    matrix = frame.astype({3: float}).pivot(index=2, columns=[0, 1], values=3)
    return matrix.reindex(columns=pairs).to_numpy()


def _measured_items(
    table: GivenRows[Judgement],
    grades: Sequence[int],
    *,
    missing: str,
    coefficients: Sequence[str],
    level: float | None,
) -> ItemAgreement:
    """The figures of a matrix of items, which are the sampling units of their intervals."""
    matrix = _matrix(table.rows)
    matrix = POLICIES[missing](matrix, np.ones(matrix.shape, dtype=np.bool_))
    items = [matrix[:, [column]] for column in range(matrix.shape[1])]
    met, tables = zip(*[tables_between(item, grades) for item in items], strict=True)
    pooled = pooled_between([count(item, grades) for item in items], met, tables, topics=None)
    figures: dict[str, Number] = {}
    for name in coefficients:
        value = pooled.value(name, grades)
        interval = None if level is None else interval_of(pooled, value, name, grades, level=level)
        if isinstance(interval, Interval):
            interval = replace(interval, method=interval.method.replace(" queries", " items"))
        figures[name] = Number(value, coefficient(name), interval)
    judged_twice = int(np.count_nonzero(np.count_nonzero(~np.isnan(matrix), axis=0) >= 2))
    return ItemAgreement(figures, judged_twice, level)
