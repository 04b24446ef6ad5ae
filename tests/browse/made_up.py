"""A collection of made-up papers of realistic length, as large as is asked for, without a store."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from annot.base.names import OF_PAPERS
from annot.base.records import (
    Adjudication,
    Assignment,
    Draw,
    Judgement,
    Paper,
    Pool,
    PoolEntry,
    Query,
    ScoredDoc,
    ranked,
)
from annot.base.settings import CollectionSettings, Settings
from annot.formats.trec import Match
from annot.measuring.evaluation.comparisons import error_cases
from annot.publishing.browse_page import BrowsedRun, page, page_data
from annot.store.answers import SourcedAdjudication
from annot.study.outcome import outcome_from
from annot.study.snapshot import Snapshot
from annot.study.workspace import Workspace

CHARACTERS, SPREAD = 1073, 424
"""Of an abstract: mean and standard deviation over the 3,368 of CSFCube, which have 7 sentences on average."""
SENTENCES = 7
SYLLABLES = [
    "an",
    "be",
    "cor",
    "dis",
    "el",
    "fer",
    "gra",
    "hin",
    "il",
    "jo",
    "ka",
    "lem",
    "mo",
    "no",
    "or",
    "pre",
    "ti",
]
LABELS = ("background", "objective", "method", "result")


@cache
def made_up_words() -> np.ndarray:
    """Twenty thousand words, the same each time."""
    rng = np.random.default_rng(1)
    return np.array(["".join(rng.choice(SYLLABLES, rng.integers(1, 5))) for _ in range(20_000)])


def made_up_papers(n: int, rng: np.random.Generator) -> dict[str, Paper]:
    """Papers whose words repeat as little as real ones do."""
    words, found = made_up_words(), {}
    for at in range(n):
        text = " ".join(words[rng.integers(len(words), size=400)])[: int(max(300, rng.normal(CHARACTERS, SPREAD)))]
        length = len(text) // SENTENCES
        sentences = tuple(text[start : start + length].strip() + "." for start in range(0, length * SENTENCES, length))
        found[f"p{at:05}"] = Paper(f"p{at:05}", " ".join(words[rng.integers(len(words), size=9)]), sentences, 2000)
    return found


def made_up_page(
    *, queries: int, pairs: int, systems: int, graded: bool = True, texts: dict[str, tuple[str, str]] | None = None
) -> str:
    """The page of so many queries, each with a pool of its own, and systems that rank it at random.

    The first system has matches. Every fourth pair is disputed and adjudicated. texts: (title, first sentence) of
    papers, in place of made-up ones.
    """
    rng = np.random.default_rng(1)
    papers = made_up_papers(queries * (pairs + 1), rng)
    for paper_id, (title, sentence) in (texts or {}).items():
        papers[paper_id] = Paper(paper_id, title, (sentence, *papers[paper_id].sentences[1:]), 2001)
    ids = list(papers)
    facets = [("background", "method")[at % 2] for at in range(queries)]
    asked = [Query(f"{ids[at]}-{facet}", ids[at], facet, (2, 3)) for at, facet in enumerate(facets)]
    pooled = {query.topic_id: ids[queries + at * pairs : queries + (at + 1) * pairs] for at, query in enumerate(asked)}
    plan, judgements, settled = [], [], []
    for query in asked:
        for at, doc_id in enumerate(pooled[query.topic_id]):
            plan.append(Assignment(query.query_id, doc_id, "ada", at + 1))
            grade = int(rng.integers(4))
            judgements.append(Judgement(query.query_id, doc_id, "ada", grade))
            if at % 4 == 3:
                plan.append(Assignment(query.query_id, doc_id, "bob", at + 1))
                judgements.append(Judgement(query.query_id, doc_id, "bob", 3 - grade))
                ruling = Adjudication(query.query_id, doc_id, "eve", grade, "shown", ())
                settled.append(SourcedAdjudication(ruling, "label-studio", "7", {}))
    snapshot = _snapshot(
        asked,
        {paper_id: _pool(paper_id, doc_ids) for paper_id, doc_ids in pooled.items()},
        outcome_from(tuple(plan), judgements, settled, (), asked=1),
    )
    runs = {
        f"system-{number}": {
            query.query_id: ranked(ScoredDoc(doc_id, float(rng.random())) for doc_id in pooled[query.topic_id])
            for query in asked
        }
        for number in range(systems)
    }
    matches = {
        (query.query_id, doc_id): [Match(2, int(rng.integers(SENTENCES)), 0.5), Match(3, 1, 0.25)]
        for query in asked
        for doc_id in pooled[query.topic_id]
    }
    data = page_data(
        snapshot,
        [
            BrowsedRun(tag, rankings, matches if tag == "system-0" else {}, dict.fromkeys(snapshot.facets, 0.5))
            for tag, rankings in runs.items()
        ],
        papers=papers,
        labels={paper_id: [LABELS[at % 4] for at in range(SENTENCES)] for paper_id in papers},
        measure="NDCG%20",
        cases=error_cases(runs, snapshot.outcome.qrels, relevant_from=2) if graded else None,
        kinds={},
    )
    return page(
        data,
        words=OF_PAPERS,
        overrides=None,
        collection=CollectionSettings(title="A made-up collection"),
        notice=None,
        waiting=(),
        graded=graded,
        measure="NDCG%20",
        errors=("irrelevant near the top", "relevant far down"),
        relevant_from=2,
    )


def _pool(paper_id: str, doc_ids: list[str]) -> Pool:
    entries = tuple(
        PoolEntry(doc_id, Draw("abs_tfidf", 1, 0.5, at), (Draw("specter", 3, 0.5, None),))
        for at, doc_id in enumerate(doc_ids, start=1)
    )
    return Pool(paper_id, "round-robin", 13, 500, 1, ("abs_tfidf", "specter"), (), (), None, entries)


def _snapshot(queries: list[Query], pools: dict[str, Pool], outcome: Any) -> Snapshot:
    empty: dict[str, Any] = {
        **{name: {} for name in ("label_origins", "rankings_sha256", "splits")},
        **dict.fromkeys(("people", "assignments", "sources", "projects", "runs", "imports"), ()),
    }
    ws = Workspace(Path(), Settings())
    return Snapshot(ws=ws, queries=tuple(queries), pools=pools, plan=None, outcome=outcome, **empty)
