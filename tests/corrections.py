"""What a lead does about a text that was wrong: the corrected record is added, and pairs are decided on."""

import json
from pathlib import Path
from typing import Any

from annot.steps import corpus
from annot.steps.corpus import CorrectedPair
from annot.store import facet_labels, papers
from annot.study.workspace import Workspace
from small_study import LABELS
from study_stages import quietly, set_in
from worlds import Pair, World

WHY = "erratum of 3 March"


def sentences(name: str, word: str) -> list[str]:
    return [f"{kind} {name} is {word} here." for kind in ("Why", "How", "What")]


def correct(made: World, name: str, word: str = "corrected", **others: Any) -> corpus.AddedPapers:
    """The lead adds the corrected record of a paper, which comes with its labels."""
    record = {"paper_id": name, "title": f"Title of {name}", "abstract": sentences(name, word), "year": 2001}
    file = made.folder / f"{name}-{word}.jsonl"
    file.write_text(json.dumps(record | {"labels": LABELS} | others) + "\n", encoding="utf-8")
    added = corpus.add(made.ws, [file], form=None, dry_run=False, advance=quietly, corrected=WHY)
    label(made.ws)
    return added


def label(ws: Workspace) -> None:
    """What `annot facets` does for papers that come with their labels."""
    with ws.writing() as session:
        own = [
            facet_labels.FacetLabels(paper.paper_id, paper.labels or LABELS, "carried")
            for paper in papers.read_papers(ws.corpus)
        ]
        facet_labels.replace_labels(session, own)


def listed(made: World) -> dict[Pair, CorrectedPair]:
    return {(one.query_id, one.doc_id): one for one in corpus.listing(made.ws)}


def decide(made: World, pair: Pair | None, ruling: Any, *, every: bool = False) -> corpus.TextDecisionResult:
    return corpus.rule(made.ws, pair, of_text=None, every=every, ruling=ruling, why="so be it", dry_run=False)


def fill_again(made: World) -> Path:
    """The lead empties the corpus and adds all papers again, d00 with a corrected text; the file."""
    ws = made.ws
    records = [
        {"paper_id": paper.paper_id, "title": paper.title, "year": 2001, "labels": LABELS}
        | {"abstract": sentences(paper.paper_id, "corrected") if paper.paper_id == "d00" else list(paper.sentences)}
        for paper in papers.read_papers(ws.corpus)
    ]
    for path in ws.corpus.glob("*"):
        path.unlink()
    set_in(ws.root, {"corpus": {"min_sentence_tokens": 1}})
    file = ws.root / "all.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    corpus.add(made.ws, [file], form=None, dry_run=False, advance=quietly)
    label(made.ws)
    return file
