"""A chapter of the report, a fact and a file of a release."""

from __future__ import annotations

from collections.abc import Iterator

from annot.publishing.release.released_files import ReleasedPart, ReleasedStudy
from annot.publishing.report.sections.whole import ReportSections
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Chapter, Fact


def chapters(study: Study) -> Iterator[Chapter]:
    """A chapter with the number of pools."""
    yield Chapter("example-pools", "Pools counted", (f"The example counts {len(study.snapshot.pools)} pools.",))


LENGTHS = ReportSections(appendix=chapters)


def funding(_study: Study) -> Iterator[Fact]:
    """Who paid."""
    yield Fact("Funding", "the example fund")


def triples(released: ReleasedStudy) -> ReleasedPart:
    """Final grades as lines of three columns."""
    qrels = released.study.outcome.qrels
    lines = [f"{qrel.query_id} {qrel.doc_id} {qrel.relevance}\n" for qrel in qrels]
    return ReleasedPart({"example/triples.txt": "".join(lines).encode()})
