"""Agreement between the assessors, before and after adjudication: the tables, for the report and the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from annot.base.names import OF_PAPERS, StudyVocabulary, counted
from annot.base.stats.values import Undefined
from annot.measuring.agreement import estimates
from annot.publishing.report import figures
from annot.publishing.report.cells import COEFFICIENT, MEAN_SHARE, SHARE, Number, coefficient
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Columns,
    Figure,
    Row,
    Table,
    columns_for,
    facet_column,
    picture,
    sentences,
    table,
)
from annot.publishing.report.verdict import RELIABLE, TENTATIVE

if TYPE_CHECKING:
    from annot.measuring.measured import ByGuidelines
    from annot.publishing.report.study import Study


def body(study: Study) -> Chapter:
    """Before and after adjudication, query by query, in one drawing."""
    agreement = study.agreement
    blocks: tuple[Table | Figure, ...] = (*drawing(agreement, study.words), glance(agreement, study.words))
    return Chapter(
        "agreement", "Agreement", sentences("agreement.body", study=study, words=study.words, **_counts(study)), blocks
    )


def drawing(agreement: estimates.AgreementTable, words: StudyVocabulary = OF_PAPERS) -> Iterator[Figure]:
    """Alpha on each query before and after adjudication; none unless it has a value on two queries."""
    points: dict[str, list[tuple[str, float | None, float | None]]] = {}
    for row in sorted(agreement.queries, key=lambda row: (row.facet, row.query_id)):
        first, after = (Number(values["alpha_ordinal"], COEFFICIENT).value for values in (row.before, row.after))
        if first is not None or after is not None:
            points.setdefault(row.facet if words.faceted else "", []).append((row.query_id, first, after))
    drawn = sum(map(len, points.values()))
    if drawn > 1:
        limits, unit = (TENTATIVE, RELIABLE), "Krippendorff's alpha"
        panels = figures.before_and_after(points, limits=limits, unit=unit, query=words.query)
        of = len(agreement.queries)
        yield picture("agreement", panels, "agreement.", words=words, points=points, drawn=drawn, of=of)


def appendix(study: Study) -> Iterator[Chapter]:
    """Tables of every coefficient, of the scale in two, of every query, and of adjudication."""
    agreement, words = study.agreement, study.words
    method = sentences(
        "agreement.method",
        words=words,
        policy=estimates.in_words(agreement.missing, binary=agreement.binary),
        missing=agreement.missing,
    )
    yield Chapter(
        "coefficients", "Agreement: every coefficient", (), tuple(tables(agreement, words, all_statistics=True)), method
    )
    if study.binarised:
        method = sentences("agreement.binarised_method")
        blocks = tuple(
            block for binarised in study.binarised for block in tables(binarised, words, all_statistics=False)
        )
        yield Chapter("binarised", "Agreement with the scale split in two", (), blocks, method)
    if versions := study.by_guidelines:
        method = sentences("agreement.guidelines_method", words=words)
        yield Chapter(
            "guidelines", "Agreement by version of the guidelines", (), (by_guidelines(versions, words),), method
        )
    yield Chapter("agreement-queries", "Agreement on each query", (), (by_query(agreement, words),))
    method = sentences("agreement.adjudication", study=study, words=words, **_counts(study))
    yield Chapter("adjudication", "Adjudication", method, (adjudicated(agreement, words), *differences(study)))


def differences(study: Study) -> Iterator[Table]:
    """Reasons that adjudicators gave for their decisions."""
    reasons = Counter(
        decision.reason for decision in study.decisions if decision.origin == "adjudicated" and decision.reason
    )
    if reasons:
        rows = sorted(reasons.items(), key=lambda ground: (-ground[1], ground[0]))
        yield table(
            "differences",
            rows,
            [Column("Reason", lambda row: row[0])],
            [Column("Pairs", lambda row: row[1])],
            caption="agreement.differences",
        )


def tables(
    agreement: estimates.AgreementTable, words: StudyVocabulary = OF_PAPERS, *, all_statistics: bool
) -> Iterator[Table]:
    """The tables of one scale: the headline coefficients, or all."""
    if agreement.binarised_at is None or not all_statistics:
        yield headline(agreement, words)
    if all_statistics:
        yield all_coefficients(agreement, words)


def _needing_care(agreement: estimates.AgreementTable, names: Iterable[str]) -> tuple[str, ...]:
    """Coefficients and queries that need care, and why."""
    cautions: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for query in agreement.queries:
        for caveats in (query.caveats_before, query.caveats_after):
            for name in names:
                for caveat in caveats.get(name, ()):
                    figures, queries = cautions.setdefault(caveat, ({}, {}))
                    figures[agreement.titles[name]] = queries[query.query_id] = None
    return sentences("agreement.with_care", told=cautions)


def stages_of(groups: Iterable[estimates.GroupAgreement]) -> list[tuple[estimates.GroupAgreement, str]]:
    """Each group before adjudication, and after it."""
    return [(group, stage) for group in groups for stage in ("before", "after")]


def summaries_at(group: estimates.GroupAgreement, stage: str) -> Mapping[str, estimates.Summary]:
    """The coefficients of the group at a stage of adjudication, by name."""
    return group.before if stage == "before" else group.after


def _pairs_at(measured: estimates.GroupAgreement | estimates.QueryAgreement, stage: str) -> int:
    """Pairs behind the figures of a group or a query at a stage of adjudication."""
    return measured.n_pairs if stage == "before" else measured.n_pairs_after


def glance(agreement: estimates.AgreementTable, words: StudyVocabulary = OF_PAPERS) -> Table:
    """Alpha and equal grades before and after, and how many pairs were adjudicated: a row a facet."""

    def figure(name: str, stage: str) -> Callable[[estimates.GroupAgreement], Number]:
        return lambda group: figure_of(name, getattr(group, stage), agreement.best, group=group)

    return _table(
        "agreement",
        agreement,
        words,
        reported_groups(agreement),
        [facet_column(lambda group: group.name, words)],
        [
            Column("Queries", lambda group: group.n_queries),
            Column("Pairs", lambda group: group.n_pairs),
            Column("Alpha before", figure("alpha_ordinal", "before")),
            Column("Alpha after", figure("alpha_ordinal", "after")),
            Column("Equal grades before, %", figure("percent", "before"), "equal_before"),
            Column("Equal grades after, %", figure("percent", "after"), "equal_after"),
            Column("Disputed pairs", lambda group: _share(group.disputed), "disputed"),
        ],
        caption="agreement.glance",
    )


def headline(
    agreement: estimates.AgreementTable,
    words: StudyVocabulary = OF_PAPERS,
    *,
    stages: Sequence[str] = ("before", "after"),
) -> Table:
    """Medians over queries of the headline coefficients, a row a facet, before and after."""
    return _table(
        "coefficients",
        agreement,
        words,
        [row for row in stages_of(reported_groups(agreement)) if row[1] in stages],
        [facet_column(lambda row: row[0].name, words), Column("Adjudication", lambda row: row[1])],
        [
            Column("Queries", lambda row: row[0].n_queries),
            Column("Pairs", lambda row: _pairs_at(*row)),
            *columns_for(
                agreement.headline,
                lambda row, name: figure_of(name, summaries_at(*row), agreement.best, group=row[0]),
                agreement.titles.__getitem__,
            ),
        ],
        caption="agreement.headline",
        notes=(*_needing_care(agreement, agreement.headline), *sentences("agreement.of_a_sample", table=agreement)),
    )


def all_coefficients(
    agreement: estimates.AgreementTable,
    words: StudyVocabulary = OF_PAPERS,
    groups: Sequence[estimates.GroupAgreement] | None = None,
) -> Table:
    """Every statistic of the groups that are shown and the coefficients that differ; or of these groups, and of all."""
    shown, names = (reported_groups(agreement), agreement.distinct) if groups is None else (groups, agreement.titles)
    return _table(
        "all-coefficients",
        agreement,
        words,
        [(*row, name) for row in stages_of(shown) for name in names],
        [
            facet_column(lambda row: row[0].name, words),
            Column("Adjudication", lambda row: row[1]),
            Column("Coefficient", lambda row: agreement.titles[row[2]], ""),
            Column("", lambda row: row[2], "coefficient"),
        ],
        [
            *columns_for(("median", "mean", "q1", "q3"), lambda row, name: _statistic(row, name), str.capitalize),
            Column("Queries", lambda row: _of_all(_summary(row)), ""),
            Column("Pairs", lambda row: _summary(row).n_pairs, ""),
            Column("Pooled", lambda row: _statistic(row, "pooled")),
            Column("Pooled pairs", lambda row: _summary(row).n_pairs_pooled, ""),
        ],
        caption="agreement.every",
        options=" --all",
        notes=(*_needing_care(agreement, agreement.distinct), *sentences("agreement.of_a_sample", table=agreement)),
    )


def _summary(row: tuple[estimates.GroupAgreement, str, str]) -> estimates.Summary:
    group, stage, name = row
    return summaries_at(group, stage)[name]


def _statistic(row: tuple[estimates.GroupAgreement, str, str], statistic: str) -> Number:
    group, stage, name = row
    summary, pooled = _summary(row), statistic == "pooled"
    queries = group.n_queries if pooled else summary.n_queries
    pairs = summary.n_pairs_pooled if pooled else summary.n_pairs
    return replace(
        figure_of(name, summaries_at(group, stage), statistic), rests_on=(("queries", queries), ("pairs", pairs))
    )


def _of_all(summary: estimates.Summary) -> str:
    return f"{summary.n_queries}/{summary.n_queries + summary.n_undefined}"


def by_query(agreement: estimates.AgreementTable, words: StudyVocabulary = OF_PAPERS) -> Table:
    """The headline coefficients of each query, before and after."""
    rows = [(query, stage) for query in agreement.queries for stage in ("before", "after")]
    return _table(
        "queries-agreement",
        agreement,
        words,
        rows,
        [
            Column("", lambda row: row[0].facet, "facet"),
            Column("Query", lambda row: row[0].query_id, "query_id"),
            Column("Adjudication", lambda row: row[1]),
        ],
        [
            *columns_for(
                agreement.queries[0].before if agreement.queries else (),
                lambda row, name: Number(getattr(row[0], row[1])[name], coefficient(name)),
                lambda name: agreement.titles[name] if name in agreement.headline else "",
            ),
            Column("Pairs", lambda row: _pairs_at(*row)),
        ],
        caption="agreement.by_query",
        options=" --per-query",
    )


def shares(agreement: estimates.AgreementTable, words: StudyVocabulary = OF_PAPERS) -> Table:
    """Shares of pairs adjudicated, as data next to those of `all_coefficients`: a row for each facet and share."""
    columns = Columns[tuple[estimates.GroupAgreement, str, estimates.ShareSummary]](
        [
            Column("facet", lambda row: row[0].name),
            Column("adjudication", lambda row: ""),
            Column("coefficient", lambda row: row[1]),
        ],
        columns_for(_STATISTICS, lambda row, statistic: _share(row[2], statistic)),
    )
    rows = [
        (group, name, share)
        for group in agreement.groups
        for name, share in (("disputed_share", group.disputed), ("overruled_share", group.overruled))
    ]
    return columns.of(rows, words=words)


def adjudicated(agreement: estimates.AgreementTable, words: StudyVocabulary = OF_PAPERS) -> Table:
    """Work of adjudication, a row for each facet."""
    together = agreement.groups[-1].agreed_by_policy if agreement.groups else 0
    return _table(
        "adjudicated",
        agreement,
        words,
        reported_groups(agreement),
        [facet_column(lambda group: group.name, words)],
        [
            Column("Pairs asked twice", lambda group: group.disputed.pooled.of),
            Column("Disputed", lambda group: group.disputed.pooled.count),
            Column("Share disputed", lambda group: _share(group.disputed)),
            Column("Pairs graded twice", lambda group: group.n_pairs_after),
            Column("Overruled", lambda group: None if group.not_settled else group.overruled.pooled.count),
            Column("Share overruled", lambda group: _share(group.overruled)),
            Column("Mean over queries", lambda group: _share(group.overruled, "mean")),
            Column("Queries", lambda group: group.overruled.n_queries),
        ],
        caption="agreement.adjudicated",
        notes=sentences("agreement.by_policy", pairs=together) if together else (),
    )


def by_guidelines(versions: Sequence[ByGuidelines], words: StudyVocabulary = OF_PAPERS) -> Table:
    """Alpha and equal grades by each version of the guidelines that assessors judged by."""

    def figure(name: str, row: ByGuidelines) -> Number:
        if row.table is None:
            return Number(None, coefficient(name))
        return figure_of(name, row.table.groups[-1].before, row.table.best)

    return table(
        "guidelines",
        versions,
        [
            facet_column(lambda row: row.facet, words),
            Column("Version", lambda row: row.number),
            Column("Sent", lambda row: row.sent_at[:10]),
            Column("Why it was changed", lambda row: row.why or ""),
        ],
        [
            Column("Queries", lambda row: row.table.groups[-1].n_queries if row.table else 0),
            Column("Pairs", lambda row: row.table.groups[-1].n_pairs if row.table else 0),
            Column("Alpha", lambda row: figure("alpha_ordinal", row)),
            Column("Equal grades, %", lambda row: figure("percent", row)),
            Column("Pairs judged by several", lambda row: row.mixed),
        ],
        caption="agreement.guidelines",
        words=words,
        pooled=any(version.table is not None and version.table.best == "pooled" for version in versions),
        command="annot agreement --by guidelines",
    )


def alpha(agreement: estimates.AgreementTable, *, after: bool = False) -> Number:
    """The alpha that the verdict rests on: ordinal, the median over all queries; before adjudication, or after it."""
    together = agreement.groups[-1]
    return figure_of("alpha_ordinal", together.after if after else together.before, agreement.best)


def disputed(agreement: estimates.AgreementTable) -> Number:
    """The share of all pairs on which the assessors differed."""
    return _share(agreement.groups[-1].disputed)


def _table(
    name: str,
    agreement: estimates.AgreementTable,
    words: StudyVocabulary,
    rows: Iterable[Row],
    names: Sequence[Column[Row]],
    numbers: Sequence[Column[Row]] = (),
    *,
    caption: str,
    options: str = "",
    notes: tuple[str, ...] = (),
) -> Table:
    """A table of one scale; one that is split in two has names and commands of its own."""
    threshold = agreement.binarised_at
    return table(
        name if threshold is None else f"{name}-{threshold}",
        rows,
        names,
        numbers,
        caption=caption,
        command=f"annot agreement{options}" + ("" if threshold is None else f" --binarised-at {threshold}"),
        notes=notes,
        words=words,
        table=agreement,
    )


def figure_of(
    name: str,
    summaries: Mapping[str, estimates.Summary],
    statistic: str = "median",
    *,
    group: estimates.GroupAgreement | None = None,
) -> Number:
    """A statistic with its interval; for a group with its basis, if that is not the whole group."""
    summary = summaries[name]
    value = getattr(summary, statistic)
    after = ""
    of_queries = group is not None and statistic != "pooled" and not isinstance(value, Undefined)
    if group is not None and of_queries and summary.n_queries < group.n_queries:
        after = f"({summary.n_queries} of {counted(group.n_queries, 'query')}, {counted(summary.n_pairs, 'pair')})"
    return Number(value, coefficient(name), (summary.intervals or {}).get(statistic), after=after)


def reported_groups(agreement: estimates.AgreementTable) -> tuple[estimates.GroupAgreement, ...]:
    """The facets and all together; a single facet is all there is."""
    return agreement.groups if len(agreement.groups) > 2 else agreement.groups[-1:]


_Statistic = Literal["pooled", "mean"]
_STATISTICS: tuple[_Statistic, ...] = ("pooled", "mean")


def _share(summary: estimates.ShareSummary, statistic: _Statistic = "pooled") -> Number:
    value, kind = (summary.pooled.value, SHARE) if statistic == "pooled" else (summary.mean, MEAN_SHARE)
    number = Number(value, kind, (summary.intervals or {}).get(statistic))
    return replace(number, rests_on=(("queries", summary.n_queries), ("pairs", summary.pooled.of)))


def _counts(study: Study) -> dict[str, object]:
    together = study.agreement.groups[-1]
    needed = together.disputed.pooled.count
    by_person = len(study.outcome.adjudications) + study.unjudgeable + study.open
    return {
        "asked_twice": together.disputed.pooled.of,
        "disputed": disputed(study.agreement),
        "needed": needed,
        "by_policy": together.agreed_by_policy,
        "by_person": by_person,
        # A person has or had these, and they are not among the disputed.
        "others": by_person - needed - together.agreed_by_policy,
    }


def terminal(
    agreement: estimates.AgreementTable, words: StudyVocabulary = OF_PAPERS, *, per_query: bool, all_statistics: bool
) -> Sequence[Table]:
    """Tables that `annot agreement` prints."""
    last = [by_query(agreement, words)] if per_query else []
    shown = tables(agreement, words, all_statistics=all_statistics)
    return [glance(agreement, words), *shown, adjudicated(agreement, words), *last]
