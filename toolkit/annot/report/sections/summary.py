"""The figures at the top of the page."""

from __future__ import annotations

from collections.abc import Iterable

from annot.agreement import TOGETHER, Summary
from annot.report.document import Fact, share
from annot.report.study import Study, group_named, interval, value


def facts(study: Study) -> Iterable[Fact]:
    together = group_named(study.agreement, TOGETHER)
    alpha, rho = together.before["alpha_ordinal"], together.before["spearman_rho"]
    counted = sum(not one.flags and one.grade is not None for one in study.judgements)
    if study.papers:
        yield Fact("Papers in the corpus", f"{study.papers:,}")
    yield Fact("Queries", str(len(study.queries)), f"{len({one.paper_id for one in study.queries})} query papers")
    yield Fact("Pairs judged", f"{study.pairs:,}", f"{counted:,} grades")
    yield Fact(
        "Spearman's rho",
        value("spearman_rho", rho.median),
        f"{_within(rho)}before adjudication; median of {_queries(rho)}",
    )
    yield Fact(
        "Krippendorff's alpha",
        value("alpha_ordinal", alpha.median),
        f"{_within(alpha)}ordinal; median of {_queries(alpha)}",
    )
    disputed = together.disputed.pooled
    yield Fact("Needed adjudication", share(disputed.count, disputed.of), f"{disputed.count} of {disputed.of} pairs")


def _within(summary: Summary) -> str:
    found = interval(summary, "median")
    return f"{found}; " if found else ""


def _queries(summary: Summary) -> str:
    return "1 query" if summary.n_queries == 1 else f"{summary.n_queries} queries"
