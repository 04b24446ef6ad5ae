"""Whether the guidelines fit the study."""

from __future__ import annotations

from annot.base.errors import FindingError
from annot.corpus.corpus_facts import has_corpus
from annot.judging import guideline_faults
from annot.judging.guideline_faults import CheckedGuidelines
from annot.store import papers
from annot.study.made import note, states_of
from annot.study.workspace import Workspace


def check(ws: Workspace) -> CheckedGuidelines:
    """Compare the pages with the facets, the scale and the corpus. Raises FindingError with every misfit."""
    states = states_of(ws)
    pages, faults = guideline_faults.read_pages(ws)
    quoted = guideline_faults.quoted_papers(pages)
    found = papers.find_papers(ws.corpus, sorted(quoted)) if quoted and has_corpus(ws) else {}
    checked = guideline_faults.check(ws, pages, faults, found)
    if checked.findings:
        raise FindingError(
            f"{len(checked.findings)} place(s) in the guidelines do not fit the study",
            faults=checked.findings,
            hint=f"correct the pages in {ws.root / 'guidelines'}; `annot guidelines FACET` prints what is used",
        )
    note(ws, "guidelines", states)
    return checked


def describe(checked: CheckedGuidelines) -> str:
    """What was looked at, in words."""
    text = f"{', '.join(f'{page}.md' for page in checked.pages)}: fit the study; {checked.examples} quotations found"
    if checked.of_package:
        text += f"; {checked.of_package} on annot's own pages quote its demonstration, which is not in this corpus"
    return text
