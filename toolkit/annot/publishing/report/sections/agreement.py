"""Agreement between the assessors, before and after adjudication: the tables, for the report and the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from annot.base.names import called, counted
from annot.base.stats.values import Undefined, Value
from annot.measuring.agreement.estimates import (
    AgreementTable,
    GroupAgreement,
    QueryAgreement,
    ShareSummary,
    Summary,
    in_words,
)
from annot.publishing.report import figures
from annot.publishing.report.cells import COEFFICIENT, MEAN_SHARE, SHARE, Number, coefficient
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Columns,
    Figure,
    Row,
    Table,
    each,
    of_facet,
    sentence,
    sentences,
    table,
)
from annot.publishing.report.verdict import RELIABLE, TENTATIVE

if TYPE_CHECKING:
    from annot.measuring.measured import ByGuidelines
    from annot.publishing.report.study import Study


class _Coefficient(NamedTuple):
    group: GroupAgreement
    stage: str
    of: Mapping[str, Summary]
    name: str
    summary: Summary


class _OfQuery(NamedTuple):
    query: QueryAgreement
    stage: str
    values: Mapping[str, Value]


def body(study: Study) -> Chapter:
    """Before and after adjudication, query by query, in one drawing."""
    found = study.agreement
    blocks: tuple[Table | Figure, ...] = (*drawing(found), glance(found))
    return Chapter("agreement", "Agreement", sentences("agreement.body", study=study, **_counts(study)), blocks)


def drawing(found: AgreementTable) -> Iterator[Figure]:
    """Alpha on each query before and after adjudication; none unless it has a value on two queries."""
    points: dict[str, list[tuple[float | None, float | None]]] = {}
    for one in sorted(found.queries, key=lambda query: (query.facet, query.query_id)):
        before, after = (Number(values["alpha_ordinal"], COEFFICIENT).value for values in (one.before, one.after))
        if before is not None or after is not None:
            points.setdefault(one.facet if called().faceted else "", []).append((before, after))
    drawn = sum(map(len, points.values()))
    if drawn > 1:
        yield Figure(
            sentence("agreement.figure"),
            figures.before_and_after(points, limits=(TENTATIVE, RELIABLE), unit="Krippendorff's alpha"),
            sentence("agreement.drawn", points=points, drawn=drawn, of=len(found.queries)),
        )


def appendix(study: Study) -> Iterator[Chapter]:
    """Every coefficient; the scale in two; every query; what adjudication had to do."""
    found = study.agreement
    told = sentences("agreement.method", policy=in_words(found.missing, binary=found.binary), missing=found.missing)
    yield Chapter("coefficients", "Agreement: every coefficient", (), tuple(tables(found, every=True)), told)
    if study.binarised:
        told = sentences("agreement.binarised_method")
        blocks = tuple(block for one in study.binarised for block in tables(one, every=False))
        yield Chapter("binarised", "Agreement with the scale split in two", (), blocks, told)
    if versions := study.by_guidelines:
        told = sentences("agreement.guidelines_method")
        yield Chapter("guidelines", "Agreement by version of the guidelines", (), (by_guidelines(versions),), told)
    yield Chapter("agreement-queries", "Agreement on each query", (), (by_query(found),))
    told = sentences("agreement.adjudication", study=study, **_counts(study))
    yield Chapter("adjudication", "Adjudication", told, (adjudicated(found), *differences(study)))


def differences(study: Study) -> Iterator[Table]:
    """Why the adjudicator decided as they did, where they said so."""
    found = Counter(one.reason for one in study.decisions if one.origin == "adjudicated" and one.reason)
    if found:
        rows = sorted(found.items(), key=lambda ground: (-ground[1], ground[0]))
        yield table(
            "differences",
            rows,
            [Column("Reason", lambda one: one[0])],
            [Column("Pairs", lambda one: one[1])],
            caption="agreement.differences",
        )


def tables(found: AgreementTable, *, every: bool) -> Iterator[Table]:
    """The tables of one scale: the headline coefficients, or all."""
    if found.binarised_at is None or not every:
        yield headline(found)
    if every:
        yield all_coefficients(found)


def _with_care(found: AgreementTable, names: Iterable[str]) -> tuple[str, ...]:
    """Which coefficients of which queries say less than they seem to, and why."""
    told: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for query in found.queries:
        for caveats in (query.caveats_before, query.caveats_after):
            for name in names:
                for caveat in caveats.get(name, ()):
                    figures, queries = told.setdefault(caveat, ({}, {}))
                    figures[found.titles[name]] = queries[query.query_id] = None
    return sentences("agreement.with_care", told=told)


class CoefficientSummary(NamedTuple):
    """The coefficients of a group at one stage of adjudication, by name."""

    group: GroupAgreement
    stage: str
    of: Mapping[str, Summary]


def summaries_of(groups: Iterable[GroupAgreement]) -> Iterator[CoefficientSummary]:
    """The summaries of each group, before and after."""
    for group in groups:
        yield CoefficientSummary(group, "before", group.before)
        yield CoefficientSummary(group, "after", group.after)


def glance(found: AgreementTable) -> Table:
    """Alpha and equal grades before and after, and how many pairs were adjudicated: a row a facet."""

    def figure(name: str, stage: str) -> Callable[[GroupAgreement], Number]:
        return lambda group: _figure(name, getattr(group, stage), found.best, group=group)

    return _table(
        "agreement",
        found,
        shown_of(found),
        [of_facet(lambda group: group.name)],
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


def headline(found: AgreementTable, *, stages: Sequence[str] = ("before", "after")) -> Table:
    """Medians over queries of the headline coefficients, a row a facet, before and after."""
    return _table(
        "coefficients",
        found,
        [one for one in summaries_of(shown_of(found)) if one.stage in stages],
        [of_facet(lambda one: one.group.name), Column("Adjudication", lambda one: one.stage)],
        [
            Column("Queries", lambda one: one.group.n_queries),
            Column("Pairs", lambda one: one.group.n_pairs),
            *each(
                found.headline,
                lambda one, name: _figure(name, one.of, found.best, group=one.group),
                found.titles.__getitem__,
            ),
        ],
        caption="agreement.headline",
        notes=(*_with_care(found, found.headline), *sentences("agreement.of_a_sample", table=found)),
    )


def all_coefficients(found: AgreementTable, groups: Sequence[GroupAgreement] | None = None) -> Table:
    """Every statistic of the groups that are shown and the coefficients that differ; or of these groups, and of all."""
    shown, names = (shown_of(found), found.distinct) if groups is None else (groups, found.titles)
    rows = [_Coefficient(*one, name, one.of[name]) for one in summaries_of(shown) for name in names]
    return _table(
        "all-coefficients",
        found,
        rows,
        [
            of_facet(lambda one: one.group.name),
            Column("Adjudication", lambda one: one.stage),
            Column("Coefficient", lambda one: found.titles[one.name], ""),
            Column("", lambda one: one.name, "coefficient"),
        ],
        [
            Column("Median", lambda one: _statistic(one, "median")),
            Column("Mean", lambda one: _statistic(one, "mean")),
            Column("Q1", lambda one: _statistic(one, "q1")),
            Column("Q3", lambda one: _statistic(one, "q3")),
            Column("Queries", lambda one: _of_all(one.summary), ""),
            Column("Pairs", lambda one: one.summary.n_pairs, ""),
            Column("Pooled", lambda one: _statistic(one, "pooled")),
            Column("Pooled pairs", lambda one: one.summary.n_pairs_pooled, ""),
        ],
        caption="agreement.every",
        options=" --all",
        notes=(*_with_care(found, found.distinct), *sentences("agreement.of_a_sample", table=found)),
    )


def _statistic(one: _Coefficient, statistic: str) -> Number:
    whole = statistic == "pooled"
    queries = one.group.n_queries if whole else one.summary.n_queries
    pairs = one.summary.n_pairs_pooled if whole else one.summary.n_pairs
    return replace(_figure(one.name, one.of, statistic), rests_on=(("queries", queries), ("pairs", pairs)))


def _of_all(one: Summary) -> str:
    return f"{one.n_queries}/{one.n_queries + one.n_undefined}"


def by_query(found: AgreementTable) -> Table:
    """The headline coefficients of each query, before and after."""
    rows = [_OfQuery(one, *of) for one in found.queries for of in (("before", one.before), ("after", one.after))]
    return _table(
        "queries-agreement",
        found,
        rows,
        [
            Column("", lambda one: one.query.facet, "facet"),
            Column("Query", lambda one: one.query.query_id, "query_id"),
            Column("Adjudication", lambda one: one.stage),
        ],
        [
            *each(
                found.queries[0].before if found.queries else (),
                lambda one, name: Number(one.values[name], coefficient(name)),
                lambda name: found.titles[name] if name in found.headline else "",
            ),
            Column("Pairs", lambda one: one.query.n_pairs),
        ],
        caption="agreement.by_query",
        options=" --per-query",
    )


def shares(found: AgreementTable) -> Table:
    """The shares of pairs adjudicated, as data beside those of `all_coefficients`: a row for each facet and share."""
    columns = Columns[tuple[GroupAgreement, str, ShareSummary]](
        [
            Column("facet", lambda one: one[0].name),
            Column("adjudication", lambda one: ""),
            Column("coefficient", lambda one: one[1]),
        ],
        each(_STATISTICS, lambda one, statistic: _share(one[2], statistic)),
    )
    rows = [
        (group, name, share)
        for group in found.groups
        for name, share in (("disputed_share", group.disputed), ("overruled_share", group.overruled))
    ]
    return columns.of(rows)


def adjudicated(found: AgreementTable) -> Table:
    """What adjudication had to do, a row a facet."""
    together = found.groups[-1].agreed_by_policy if found.groups else 0
    return _table(
        "adjudicated",
        found,
        shown_of(found),
        [of_facet(lambda group: group.name)],
        [
            Column("Pairs asked twice", lambda group: group.disputed.pooled.of),
            Column("Disputed", lambda group: group.disputed.pooled.count),
            Column("Share disputed", lambda group: _share(group.disputed)),
            Column("Pairs graded twice", lambda group: group.n_pairs),
            Column("Overruled", lambda group: None if group.not_settled else group.overruled.pooled.count),
            Column("Share overruled", lambda group: _share(group.overruled)),
            Column("Mean over queries", lambda group: _share(group.overruled, "mean")),
            Column("Queries", lambda group: group.overruled.n_queries),
        ],
        caption="agreement.adjudicated",
        notes=sentences("agreement.by_policy", pairs=together) if together else (),
    )


def by_guidelines(versions: Sequence[ByGuidelines]) -> Table:
    """Alpha and equal grades by each version of the guidelines that assessors judged by."""

    def figure(name: str, one: ByGuidelines) -> Number:
        if one.table is None:
            return Number(None, coefficient(name))
        return _figure(name, one.table.groups[-1].before, one.table.best)

    return table(
        "guidelines",
        versions,
        [
            of_facet(lambda one: one.facet),
            Column("Version", lambda one: one.number),
            Column("Sent", lambda one: one.sent_at[:10]),
            Column("Why it was changed", lambda one: one.why or ""),
        ],
        [
            Column("Queries", lambda one: one.table.groups[-1].n_queries if one.table else 0),
            Column("Pairs", lambda one: one.table.groups[-1].n_pairs if one.table else 0),
            Column("Alpha", lambda one: figure("alpha_ordinal", one)),
            Column("Equal grades, %", lambda one: figure("percent", one)),
            Column("Pairs judged by several", lambda one: one.mixed),
        ],
        caption="agreement.guidelines",
        pooled=any(one.table is not None and one.table.best == "pooled" for one in versions),
        command="annot agreement --by guidelines",
    )


def alpha(found: AgreementTable, *, after: bool = False) -> Number:
    """The alpha that the verdict rests on: ordinal, the median over all queries; before adjudication, or after it."""
    together = found.groups[-1]
    return _figure("alpha_ordinal", together.after if after else together.before, found.best)


def disputed(found: AgreementTable) -> Number:
    """The share of all pairs on which the assessors differed."""
    return _share(found.groups[-1].disputed)


def _table(
    name: str,
    found: AgreementTable,
    rows: Iterable[Row],
    names: Sequence[Column[Row]],
    numbers: Sequence[Column[Row]] = (),
    *,
    caption: str,
    options: str = "",
    notes: tuple[str, ...] = (),
) -> Table:
    """A table of one scale; one that is split in two has names and commands of its own."""
    at = found.binarised_at
    return table(
        name if at is None else f"{name}-{at}",
        rows,
        names,
        numbers,
        caption=caption,
        command=f"annot agreement{options}" + ("" if at is None else f" --binarised-at {at}"),
        notes=notes,
        table=found,
    )


def _figure(
    name: str, summaries: Mapping[str, Summary], statistic: str = "median", *, group: GroupAgreement | None = None
) -> Number:
    """A statistic with its interval; of a group with what it rests on, where that is not the whole group."""
    summary = summaries[name]
    value = getattr(summary, statistic)
    after = ""
    of_queries = group is not None and statistic != "pooled" and not isinstance(value, Undefined)
    if group is not None and of_queries and summary.n_queries < group.n_queries:
        after = f"({summary.n_queries} of {counted(group.n_queries, 'query')}, {counted(summary.n_pairs, 'pair')})"
    return Number(value, coefficient(name), (summary.intervals or {}).get(statistic), after=after)


def shown_of(found: AgreementTable) -> tuple[GroupAgreement, ...]:
    """The facets and all together; a single facet is all there is."""
    return found.groups if len(found.groups) > 2 else found.groups[-1:]


_Statistic = Literal["pooled", "mean"]
_STATISTICS: tuple[_Statistic, ...] = ("pooled", "mean")


def _share(summary: ShareSummary, statistic: _Statistic = "pooled") -> Number:
    value, kind = (summary.pooled.value, SHARE) if statistic == "pooled" else (summary.mean, MEAN_SHARE)
    found = Number(value, kind, (summary.intervals or {}).get(statistic))
    return replace(found, rests_on=(("queries", summary.n_queries), ("pairs", summary.pooled.of)))


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


def terminal(found: AgreementTable, *, per_query: bool, every: bool) -> Sequence[Table]:
    """What `annot agreement` prints."""
    last = [by_query(found)] if per_query else []
    return [glance(found), *tables(found, every=every), adjudicated(found), *last]
