"""The figures at the top of the page."""

from __future__ import annotations

from collections.abc import Iterable

from annot.agreement import TOGETHER, AgreementTable, Summary, Undefined
from annot.report.agreed import interval, value
from annot.report.document import Fact, share
from annot.report.study import Study, group_named


def facts(study: Study) -> Iterable[Fact]:
    """Size, agreement before adjudication, and how much of it was needed; each with its n."""
    together = group_named(study.agreement, TOGETHER)
    counted = sum(not one.flags and one.grade is not None for one in study.judgements)
    if study.papers:
        yield Fact("Papers in the corpus", f"{study.papers:,}")
    yield Fact("Queries", str(len(study.queries)), f"{len({one.paper_id for one in study.queries})} query papers")
    yield Fact("Pairs judged", f"{study.pairs:,}", f"{counted:,} grades")
    rho, alpha = together.before["spearman_rho"], together.before["alpha_ordinal"]
    yield _agreement("Spearman's rho", "spearman_rho", rho, "before adjudication", study.agreement)
    yield _agreement("Krippendorff's alpha", "alpha_ordinal", alpha, "ordinal, before adjudication", study.agreement)
    disputed = together.disputed
    found = interval((disputed.intervals or {}).get("pooled"), percent=True)
    yield Fact(
        "Needed adjudication",
        share(disputed.pooled.count, disputed.pooled.of),
        f"{disputed.pooled.count} of {disputed.pooled.of} pairs given to two or more{_with(found, study.agreement)}",
    )


def _agreement(title: str, name: str, summary: Summary, what: str, table: AgreementTable) -> Fact:
    if isinstance(summary.median, Undefined):
        return Fact(title, "undefined", f"{what}: {summary.median.reason}")
    of = f"{summary.n_queries} of {summary.n_queries + summary.n_undefined} queries, {summary.n_pairs:,} pairs"
    found = interval((summary.intervals or {}).get("median"))
    return Fact(title, value(name, summary.median), f"{what}; median of {of}{_with(found, table)}")


def _with(found: str, table: AgreementTable) -> str:
    if not found or table.level is None:
        return ""
    return "; no interval" if found == "[none]" else f"; {100 * table.level:g}% interval {found}"
