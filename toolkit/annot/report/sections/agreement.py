"""Agreement between the assessors, before and after adjudication: the tables, for the report and the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from annot.agreement import AgreementTable, GroupAgreement, ShareSummary, Summary, Undefined
from annot.agreement.ratings import IN_WORDS
from annot.report import figures
from annot.report.cells import MEAN_SHARE, SHARE, Number, coefficient, number
from annot.report.document import Figure, Section, Table
from annot.report.reasons import HEADINGS, STATISTICS, reasons, summaries_of
from annot.report.study import Study, plain
from annot.report.verdict import RELIABLE, TENTATIVE
from annot.report.words import sentence, sentences


def body(study: Study) -> Section:
    """Before and after adjudication, query by query, in one drawing."""
    table = study.agreement
    points: dict[str, list[tuple[float | None, float | None]]] = {}
    for one in sorted(table.queries, key=lambda query: (query.facet, query.query_id)):
        pair = plain(one.before["alpha_ordinal"]), plain(one.after["alpha_ordinal"])
        if pair != (None, None):
            points.setdefault(one.facet, []).append(pair)
    blocks: list[Table | Figure] = [glance(table)]
    if points:
        drawn = sum(map(len, points.values()))
        blocks.insert(
            0,
            Figure(
                sentence("agreement.figure"),
                figures.before_and_after(points, limits=(TENTATIVE, RELIABLE), unit="Krippendorff's alpha"),
                sentence("agreement.drawn", drawn=drawn, of=len(table.queries)),
            ),
        )
    return Section("agreement", "Agreement", sentences("agreement.body", study=study, **_counts(study)), tuple(blocks))


def appendix(study: Study) -> Iterator[Section]:
    """Every coefficient; the scale in two; every query; what adjudication had to do."""
    table = study.agreement
    told = sentences("agreement.method", policy=IN_WORDS[table.missing], missing=table.missing)
    yield Section("coefficients", "Agreement: every coefficient", told, tuple(tables(table, every=True)))
    if study.binarised:
        told = sentences("agreement.binarised_method")
        blocks = tuple(block for one in study.binarised for block in tables(one, every=False))
        yield Section("binarised", "Agreement on a grade or higher", told, blocks)
    yield Section("agreement-queries", "Agreement on each query", (), (by_query(table),))
    told = sentences("agreement.adjudication", study=study, **_counts(study))
    yield Section("adjudication", "Adjudication", told, (adjudicated(table), *grounds(study)))


def grounds(study: Study) -> Iterator[Table]:
    """Why the adjudicator decided as they did, where they said so."""
    counted = Counter(
        decision.reason for decision in study.decisions if decision.origin == "adjudicated" and decision.reason
    )
    if counted:
        rows = tuple(sorted(counted.items(), key=lambda ground: (-ground[1], ground[0])))
        command = "annot report --table grounds"
        yield Table("grounds", sentence("agreement.grounds"), ("Ground", "Pairs"), rows, command)


def tables(table: AgreementTable, *, every: bool) -> Iterator[Table]:
    """The tables of one scale: the headline coefficients, or all; and why a figure is missing."""
    if table.binarised_at is None:
        yield headline(table)
    if every:
        yield all_coefficients(table)
    elif table.binarised_at is not None:
        yield headline(table)
    names, statistics = (tuple(table.titles), STATISTICS) if every else (table.headline, ("median",))
    found = reasons(table, names=names, statistics=statistics)
    if found:
        yield Table(
            f"reasons{_suffix(table)}",
            sentence("agreement.reasons", table=table),
            HEADINGS,
            tuple(map(tuple, found)),
            _command(table, "--all" if every else ""),
            numeric_from=len(HEADINGS),
        )


def glance(table: AgreementTable) -> Table:
    """Alpha and equal grades before and after, and how many pairs were adjudicated: a row a facet."""
    rows = tuple(
        (
            group.name,
            group.n_queries,
            group.n_pairs,
            *(
                _figure(name, summaries[name], "median", group)
                for name in ("alpha_ordinal", "percent")
                for summaries in (group.before, group.after)
            ),
            _share(group.disputed, "pooled"),
        )
        for group in _shown(table)
    )
    of = "Alpha before", "Alpha after", "Equal grades before, %", "Equal grades after, %"
    headings = ("Facet", "Queries", "Pairs", *of, "Disputed pairs")
    return Table(f"agreement{_suffix(table)}", sentence("agreement.glance"), headings, rows, _command(table))


def headline(table: AgreementTable) -> Table:
    """Medians over queries of the headline coefficients, a row a facet, before and after."""
    rows = tuple(
        (
            group.name,
            stage,
            group.n_queries,
            group.n_pairs,
            *(_figure(name, summaries[name], "median", group) for name in table.headline),
        )
        for group, stage, summaries in summaries_of(_shown(table))
    )
    return Table(
        f"coefficients{_suffix(table)}",
        sentence("agreement.headline", table=table),
        ("Facet", "Adjudication", "Queries", "Pairs", *(table.titles[name] for name in table.headline)),
        rows,
        _command(table),
        numeric_from=2,
    )


def all_coefficients(table: AgreementTable) -> Table:
    """Every statistic of every coefficient, a row each."""
    rows = tuple(
        (
            group.name,
            stage,
            table.titles[name],
            _figure(name, summary, "median"),
            _figure(name, summary, "mean"),
            number(summary.q1, coefficient(name)),
            number(summary.q3, coefficient(name)),
            f"{summary.n_queries}/{summary.n_queries + summary.n_undefined}",
            summary.n_pairs,
            _figure(name, summary, "pooled"),
            summary.n_pairs_pooled,
        )
        for group, stage, summaries in summaries_of(_shown(table))
        for name, summary in summaries.items()
    )
    of = "Median", "Mean", "Q1", "Q3", "Queries", "Pairs", "Pooled", "Pooled pairs"
    return Table(
        f"all-coefficients{_suffix(table)}",
        sentence("agreement.every"),
        ("Facet", "Adjudication", "Coefficient", *of),
        rows,
        _command(table, "--all"),
        numeric_from=3,
    )


def by_query(table: AgreementTable) -> Table:
    """The headline coefficients of each query, before and after."""
    rows = tuple(
        (query.query_id, stage, *(number(values[name], coefficient(name)) for name in table.headline), query.n_pairs)
        for query in table.queries
        for stage, values in (("before", query.before), ("after", query.after))
    )
    return Table(
        f"queries-agreement{_suffix(table)}",
        sentence("agreement.by_query"),
        ("Query", "Adjudication", *(table.titles[name] for name in table.headline), "Pairs"),
        rows,
        _command(table, "--per-query"),
        numeric_from=2,
    )


def adjudicated(table: AgreementTable) -> Table:
    """What adjudication had to do, a row a facet."""
    rows = tuple(
        (
            group.name,
            group.disputed.pooled.of,
            group.disputed.pooled.count,
            _share(group.disputed, "pooled"),
            group.n_pairs,
            None if group.not_settled else group.overruled.pooled.count,
            _share(group.overruled, "pooled"),
            _share(group.overruled, "mean"),
            group.overruled.n_queries,
        )
        for group in _shown(table)
    )
    of = "Pairs asked twice", "Disputed", "Share disputed", "Pairs graded twice", "Overruled", "Share overruled"
    together = table.groups[-1].agreed_by_policy if table.groups else 0
    return Table(
        f"adjudicated{_suffix(table)}",
        sentence("agreement.adjudicated"),
        ("Facet", *of, "Mean over queries", "Queries"),
        rows,
        _command(table),
        notes=sentences("agreement.by_policy", pairs=together) if together else (),
    )


def alpha(table: AgreementTable, *, after: bool = False) -> Number:
    """The alpha that the verdict rests on: ordinal, the median over all queries; before adjudication, or after it."""
    together = table.groups[-1]
    return _figure("alpha_ordinal", (together.after if after else together.before)["alpha_ordinal"], "median")


def disputed(table: AgreementTable) -> Number:
    """The share of all pairs on which the assessors differed."""
    return _share(table.groups[-1].disputed, "pooled")


def _figure(name: str, summary: Summary, statistic: str, group: GroupAgreement | None = None) -> Number:
    """A statistic with its interval; of a group with what it rests on, where that is not the whole group."""
    value = getattr(summary, statistic)
    after = ""
    if group is not None and not isinstance(value, Undefined) and summary.n_queries < group.n_queries:
        after = f"({summary.n_queries} of {group.n_queries} queries, {summary.n_pairs} pairs)"
    return number(value, coefficient(name), (summary.intervals or {}).get(statistic), after=after)


def _shown(table: AgreementTable) -> tuple[GroupAgreement, ...]:
    """The facets and all together; a single facet is all there is."""
    return table.groups if len(table.groups) > 2 else table.groups[-1:]


def _share(summary: ShareSummary, statistic: Literal["pooled", "mean"]) -> Number:
    value, kind = (summary.pooled.value, SHARE) if statistic == "pooled" else (summary.mean, MEAN_SHARE)
    return number(value, kind, (summary.intervals or {}).get(statistic))


def _counts(study: Study) -> dict[str, object]:
    together = study.agreement.groups[-1]
    needed = together.disputed.pooled.count
    by_person = study.adjudicated + study.open
    return {
        "asked_twice": together.disputed.pooled.of,
        "disputed": disputed(study.agreement),
        "needed": needed,
        "by_policy": together.agreed_by_policy,
        "by_person": by_person,
        # A person has or had these, and they are not among the disputed.
        "others": by_person - needed - together.agreed_by_policy,
    }


def _suffix(table: AgreementTable) -> str:
    return "" if table.binarised_at is None else f"-{table.binarised_at}"


def _command(table: AgreementTable, *options: str) -> str:
    at = "" if table.binarised_at is None else f"--binarised-at {table.binarised_at}"
    return " ".join(part for part in ("annot agreement", *options, at) if part)


def terminal(table: AgreementTable, *, per_query: bool, every: bool) -> Sequence[Table]:
    """What `annot agreement` prints."""
    last = [by_query(table)] if per_query else []
    return [glance(table), *tables(table, every=every), adjudicated(table), *last]
