"""Agreement between the assessors, before and after adjudication: the tables, for the report and the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from annot.base.stats.values import Undefined
from annot.base.templating import counted
from annot.measuring.agreement.ratings import IN_WORDS
from annot.measuring.agreement.summaries import AgreementTable, GroupAgreement, ShareSummary, Summary
from annot.measuring.measured import ByGuidelines, agreement_by_guidelines
from annot.publishing.report import figures
from annot.publishing.report.cells import COEFFICIENT, MEAN_SHARE, SHARE, Number, coefficient, number
from annot.publishing.report.document import Figure, Section, Table
from annot.publishing.report.reasons import STATISTICS, reasons, summaries_of
from annot.publishing.report.study import Study
from annot.publishing.report.verdict import RELIABLE, TENTATIVE
from annot.publishing.report.words import sentence, sentences, table


def body(study: Study) -> Section:
    """Before and after adjudication, query by query, in one drawing."""
    found = study.agreement
    points: dict[str, list[tuple[float | None, float | None]]] = {}
    for one in sorted(found.queries, key=lambda query: (query.facet, query.query_id)):
        before, after = (number(values["alpha_ordinal"], COEFFICIENT).value for values in (one.before, one.after))
        if before is not None or after is not None:
            points.setdefault(one.facet, []).append((before, after))
    blocks: list[Table | Figure] = [glance(found)]
    if points:
        drawn = sum(map(len, points.values()))
        blocks.insert(
            0,
            Figure(
                sentence("agreement.figure"),
                figures.before_and_after(points, limits=(TENTATIVE, RELIABLE), unit="Krippendorff's alpha"),
                sentence("agreement.drawn", drawn=drawn, of=len(found.queries)),
            ),
        )
    return Section("agreement", "Agreement", sentences("agreement.body", study=study, **_counts(study)), tuple(blocks))


def appendix(study: Study) -> Iterator[Section]:
    """Every coefficient; the scale in two; every query; what adjudication had to do."""
    found = study.agreement
    told = sentences("agreement.method", policy=IN_WORDS[found.missing], missing=found.missing)
    yield Section("coefficients", "Agreement: every coefficient", (), tuple(tables(found, every=True)), told)
    if study.binarised:
        told = sentences("agreement.binarised_method")
        blocks = tuple(block for one in study.binarised for block in tables(one, every=False))
        yield Section("binarised", "Agreement on a grade or higher", (), blocks, told)
    if versions := agreement_by_guidelines(study.snapshot):
        told = sentences("agreement.guidelines_method")
        yield Section("guidelines", "Agreement by version of the guidelines", (), (by_guidelines(versions),), told)
    yield Section("agreement-queries", "Agreement on each query", (), (by_query(found),))
    told = sentences("agreement.adjudication", study=study, **_counts(study))
    yield Section("adjudication", "Adjudication", told, (adjudicated(found), *differences(study)))


def differences(study: Study) -> Iterator[Table]:
    """Why the adjudicator decided as they did, where they said so."""
    counted = Counter(
        decision.reason for decision in study.decisions if decision.origin == "adjudicated" and decision.reason
    )
    if counted:
        rows = sorted(counted.items(), key=lambda ground: (-ground[1], ground[0]))
        yield table("agreement.differences", rows)


def tables(found: AgreementTable, *, every: bool) -> Iterator[Table]:
    """The tables of one scale: the headline coefficients, or all; and why a figure is missing."""
    if found.binarised_at is None or not every:
        yield headline(found)
    if every:
        yield all_coefficients(found)
    names, statistics = (tuple(found.titles), STATISTICS) if every else (found.headline, ("median",))
    why = reasons(found, names=names, statistics=statistics)
    if why:
        yield _table("reasons", why, found, every=every)


def glance(found: AgreementTable) -> Table:
    """Alpha and equal grades before and after, and how many pairs were adjudicated: a row a facet."""
    return _table("agreement", _shown(found), found)


def headline(found: AgreementTable) -> Table:
    """Medians over queries of the headline coefficients, a row a facet, before and after."""
    rows = [
        {"group": group, "stage": stage, "figures": [_figure(name, summaries, group=group) for name in found.headline]}
        for group, stage, summaries in summaries_of(_shown(found))
    ]
    return _table("coefficients", rows, found)


def all_coefficients(found: AgreementTable) -> Table:
    """Every statistic of every coefficient, a row each."""
    rows = [
        {"group": group, "stage": stage, "name": name, "of": summaries}
        for group, stage, summaries in summaries_of(_shown(found))
        for name in summaries
    ]
    return _table("all-coefficients", rows, found)


def by_query(found: AgreementTable) -> Table:
    """The headline coefficients of each query, before and after."""
    rows = [
        {
            "query": query,
            "stage": stage,
            "figures": [number(values[name], coefficient(name)) for name in found.headline],
        }
        for query in found.queries
        for stage, values in (("before", query.before), ("after", query.after))
    ]
    return _table("queries-agreement", rows, found)


def adjudicated(found: AgreementTable) -> Table:
    """What adjudication had to do, a row a facet."""
    together = found.groups[-1].agreed_by_policy if found.groups else 0
    notes = sentences("agreement.by_policy", pairs=together) if together else ()
    return _table("adjudicated", _shown(found), found, notes=notes)


def by_guidelines(versions: Sequence[ByGuidelines]) -> Table:
    """Alpha and equal grades by each version of the guidelines that assessors judged by."""
    rows = [
        {
            "version": version,
            "group": None if version.table is None else version.table.groups[-1],
            "mixed": version.mixed,
        }
        for version in versions
    ]
    return table("agreement.guidelines", rows, figure=_figure)


def alpha(found: AgreementTable, *, after: bool = False) -> Number:
    """The alpha that the verdict rests on: ordinal, the median over all queries; before adjudication, or after it."""
    together = found.groups[-1]
    return _figure("alpha_ordinal", together.after if after else together.before)


def disputed(found: AgreementTable) -> Number:
    """The share of all pairs on which the assessors differed."""
    return _share(found.groups[-1].disputed)


def _table(
    key: str, rows: Iterable[object], found: AgreementTable, *, notes: tuple[str, ...] = (), every: bool = False
) -> Table:
    """A table of one scale; one that is split in two has names and commands of its own."""
    return table(
        f"agreement.{key}",
        rows,
        notes=notes,
        explained=True,
        table=found,
        every=every,
        titles=[found.titles[name] for name in found.headline],
        figure=_figure,
        share=_share,
        suffix="" if found.binarised_at is None else f"-{found.binarised_at}",
        at="" if found.binarised_at is None else f" --binarised-at {found.binarised_at}",
    )


def _figure(
    name: str, summaries: Mapping[str, Summary], statistic: str = "median", *, group: GroupAgreement | None = None
) -> Number:
    """A statistic with its interval; of a group with what it rests on, where that is not the whole group."""
    summary = summaries[name]
    value = getattr(summary, statistic)
    after = ""
    if group is not None and not isinstance(value, Undefined) and summary.n_queries < group.n_queries:
        after = f"({summary.n_queries} of {counted(group.n_queries, 'query')}, {counted(summary.n_pairs, 'pair')})"
    return number(value, coefficient(name), (summary.intervals or {}).get(statistic), after=after)


def _shown(found: AgreementTable) -> tuple[GroupAgreement, ...]:
    """The facets and all together; a single facet is all there is."""
    return found.groups if len(found.groups) > 2 else found.groups[-1:]


def _share(summary: ShareSummary, statistic: Literal["pooled", "mean"] = "pooled") -> Number:
    value, kind = (summary.pooled.value, SHARE) if statistic == "pooled" else (summary.mean, MEAN_SHARE)
    return number(value, kind, (summary.intervals or {}).get(statistic))


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
