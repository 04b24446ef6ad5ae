"""The format of CSFCube in a release."""

from __future__ import annotations

from dataclasses import replace

from annot.base.names import counted, verb
from annot.publishing.release.released_files import ReleasedPart, ReleasedStudy

from annot_csfcube.files import Material, misfits, write_csfcube

FOLDER = "csfcube/"


def csfcube_files(released: ReleasedStudy) -> ReleasedPart:
    """Files of the release in CSFCube's format, with the pooled papers only, or why the format cannot hold it."""
    study = released.study
    if study.texts:
        texts = f"{counted(len(study.texts), 'topic')} {verb(len(study.texts), 'is a text', 'are texts')}"
        return ReleasedPart(notes=(f"CSFCube's format is left out: it asks with papers, and {texts} here",))
    if study.samples:
        note = "CSFCube's format is left out: it has no place for pairs of the pools that were not drawn"
        return ReleasedPart(notes=(note,))
    pooled = study.pooled
    material = Material(
        papers=tuple(
            replace(paper, labels=released.labels.get(paper.paper_id), citations=released.citations[paper.paper_id])
            for paper in released.corpus
            if paper.paper_id in pooled
        ),
        queries=study.queries,
        pools=tuple(study.pools.values()),
        judgements=tuple(judgement for judgement in study.outcome.judgements if not judgement.flags),
        decisions=study.outcome.decisions,
        splits=study.splits,
        facet_labels=study.ws.settings.facets,
    )
    faults = misfits(material)
    if faults:
        and_more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        note = f"CSFCube's format is left out, because it cannot hold this study: {faults[0]}{and_more}"
        return ReleasedPart(notes=(note,))
    return ReleasedPart(write_csfcube(material, folder=FOLDER, with_text=released.report.terms.with_text))
