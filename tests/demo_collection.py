"""A small judged collection out of the packaged demo corpus, made without ranking, store or server."""

import math
import re
from collections.abc import Iterable
from dataclasses import replace

from annot.base.records import Decision, Draw, Judgement, Paper, Pool, PoolEntry, Qrel, Query
from annot.base.settings import Settings
from annot.formats.paper_records import read_papers
from annot_csfcube.files import Material
from annot_demo.simulated_people import ADJUDICATOR, CAST, corpus_text, latent_relevance, latents, query_papers

FACET_LABELS = Settings().facets
METHODS = ("abs_tfidf", "title_tfidf")
POOLED = 20
SEED = 7


def papers() -> tuple[Paper, ...]:
    """The packaged corpus."""
    return tuple(read_papers(corpus_text().splitlines(), name="corpus.jsonl", known_labels=Settings().labels.names))


def common_words(one: Iterable[str], other: Iterable[str]) -> float:
    """The words of five letters or more that two texts share, 0..1: over the geometric mean of their numbers."""
    words = [set(re.findall("[a-z]{5,}", " ".join(text).lower())) for text in (one, other)]
    return len(words[0] & words[1]) / math.sqrt(len(words[0]) * len(words[1])) if all(words) else 0.0


def demo_material() -> Material:
    """All query papers of the demo, pools of about 20, two simulated assessors a query, disputes settled."""
    corpus = {paper.paper_id: paper for paper in papers()}
    truth = latents()
    queries = tuple(
        Query(f"{paper_id}-{facet}", paper_id, facet, _sentences(corpus[paper_id].labels or (), facet))
        for paper_id, facets in query_papers().items()
        for facet in facets
    )
    pools = {paper_id: _pool(paper_id, tuple(corpus), corpus[paper_id].citations) for paper_id in query_papers()}
    judgements, decisions = [], []
    for place, query in enumerate(queries):
        for entry in pools[query.topic_id].entries:
            relevance = latent_relevance(query.topic_id, query.facet, entry.doc_id, truth)
            grades: list[int | None] = []
            for assessor in (CAST[place % 4], CAST[(place + 1) % 4]):
                answer = assessor.judge(
                    query.query_id, entry.doc_id, relevance=relevance, seed=SEED, reasons=("No such sentence.",)
                )
                grades.append(answer.grade)
                judgements.append(
                    Judgement(
                        query.query_id,
                        entry.doc_id,
                        assessor.name,
                        answer.grade,
                        cannot_judge=answer.cannot_judge,
                        comment=answer.comment,
                    )
                )
            if len(set(grades)) == 1 and grades[0] is not None:
                decisions.append(Decision(query.query_id, entry.doc_id, grades[0], "agreed"))
            else:
                ruling = ADJUDICATOR.settle(query.query_id, entry.doc_id, relevance=relevance, grades=grades, seed=SEED)
                decisions.append(
                    Decision(query.query_id, entry.doc_id, ruling.grade, "adjudicated", "j1", ruling.comment)
                )
    return Material(
        papers=tuple(corpus.values()),
        queries=tuple(replace(query, paper_type="empirical") for query in queries),
        pools=tuple(pools.values()),
        judgements=tuple(judgements),
        decisions=tuple(decisions),
        splits={"all": {"fold1_dev": (queries[0].query_id,), "fold2_dev": (queries[2].query_id,)}},
        facet_labels=FACET_LABELS,
    )


def demo_qrels(material: Material) -> tuple[Qrel, ...]:
    return tuple(Qrel(one.query_id, one.doc_id, one.grade) for one in material.decisions)


def _sentences(labels: tuple[str, ...], facet: str) -> tuple[int, ...]:
    return tuple(at for at, label in enumerate(labels) if label in FACET_LABELS[facet])


def _pool(paper_id: str, corpus: tuple[str, ...], citations: tuple[str, ...]) -> Pool:
    """Cited papers first, then the papers around the query paper: an order that is not that of the ids."""
    place = corpus.index(paper_id)
    cited = sorted(set(citations) & set(corpus))
    around = [corpus[(place + step * side) % len(corpus)] for step in range(1, POOLED) for side in (1, -1)]
    others = [doc_id for doc_id in dict.fromkeys(around) if doc_id not in {paper_id, *cited}][: POOLED - len(cited)]
    half = (len(others) + 1) // 2
    drawn = [*((doc_id, "cited") for doc_id in cited), *((d, METHODS[at >= half]) for at, d in enumerate(others))]
    entries = tuple(
        PoolEntry(
            doc_id,
            Draw(method, turn, None if method == "cited" else 1 / turn, turn),
            (Draw(METHODS[1], turn + 3, 0.01, None),) if method == METHODS[0] and turn % 2 else (),
        )
        for turn, (doc_id, method) in enumerate(drawn, 1)
    )
    return Pool(paper_id, "blocks", half, 500, SEED, ("cited", *METHODS), ("specter",), (), 0, entries)
