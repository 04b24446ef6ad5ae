"""The figures at the top of the page."""

from __future__ import annotations

from collections.abc import Iterable

from annot.agreement import TOGETHER
from annot.report.document import Fact, share
from annot.report.study import Study, group_named, value


def facts(study: Study) -> Iterable[Fact]:
    together = group_named(study.agreement, TOGETHER)
    alpha, rho = together.before["alpha_ordinal"], together.before["spearman_rho"]
    counted = sum(not one.flags and one.grade is not None for one in study.judgements)
    if study.papers:
        yield Fact("Papers in the corpus", f"{study.papers:,}")
    yield Fact("Queries", str(len(study.queries)), f"{len({one.paper_id for one in study.queries})} query papers")
    yield Fact("Pairs judged", f"{study.pairs:,}", f"{counted:,} grades")
    yield Fact(
        "Spearman's rho", value("spearman_rho", rho.median), f"before adjudication; median of {rho.n_queries} queries"
    )
    yield Fact(
        "Krippendorff's alpha", value("alpha_ordinal", alpha.median), f"ordinal; median of {alpha.n_queries} queries"
    )
    disputed = together.disputed.pooled
    yield Fact("Needed adjudication", share(disputed.count, disputed.of), f"{disputed.count} of {disputed.of} pairs")
