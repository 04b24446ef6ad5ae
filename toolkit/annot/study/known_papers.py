"""Papers and their sentence labels, all of those asked for or an error that names what is missing and the remedy."""

from __future__ import annotations

from collections.abc import Iterable

from sqlmodel import Session

from annot.errors import MissingInput
from annot.records import Paper
from annot.store import facet_labels, papers
from annot.study.workspace import Workspace


def papers_of(ws: Workspace, paper_ids: Iterable[str]) -> dict[str, Paper]:
    """The papers by id. Raises MissingInput with every one that is not in the corpus."""
    wanted = sorted(set(paper_ids))
    found = papers.find_papers(ws.corpus, wanted) if wanted else {}
    if absent := [paper_id for paper_id in wanted if paper_id not in found]:
        raise MissingInput(
            f"{len(absent)} paper(s) are not in the corpus",
            faults=[f"{paper_id}: not in the corpus" for paper_id in absent],
            hint="add them with `annot corpus add`",
        )
    return {paper_id: found[paper_id] for paper_id in wanted}


def labels_of(session: Session, paper_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The label of each sentence by paper. Raises MissingInput when a paper has none."""
    wanted = set(paper_ids)
    labels = {labelled.paper_id: labelled.labels for labelled in facet_labels.read_labels(session, sorted(wanted))}
    if absent := sorted(wanted - labels.keys()):
        hint = "label them with `annot facets`"
        raise MissingInput(f"{len(absent)} paper(s) have no sentence labels, {absent[0]} among them", hint=hint)
    return labels
