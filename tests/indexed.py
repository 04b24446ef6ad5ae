"""An index in memory, of papers that a test makes up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pyarrow
from annot.base.records import Paper, Ranking
from annot.ranking import word_vectors
from annot.ranking.corpus import Corpus, Shard, gather, make_shard
from annot.ranking.methods import RankingInputs, WordSource, rank_candidates
from annot.ranking.vectors import Precision, Vectors, VectorsWriter
from annot.ranking.word_vectors import WordVectors

SCHEMA = pyarrow.schema(
    {"paper_id": pyarrow.string(), "title": pyarrow.string(), "sentences": pyarrow.list_(pyarrow.string())}
)


def batches(papers: Sequence[Paper], *, size: int = 1000) -> Iterator[Any]:
    """The papers as the corpus gives them."""
    for start in range(0, len(papers), size):
        columns = {name: [getattr(paper, name) for paper in papers[start : start + size]] for name in SCHEMA.names}
        yield pyarrow.RecordBatch.from_pydict(columns, SCHEMA)


def corpus_of(papers: Iterable[Paper], *, shard: int = 10_000) -> Corpus:
    """The corpus of these papers, so many to a shard."""
    known = list(papers)
    shards = [Shard(make_shard(batches(known[start : start + shard]))) for start in range(0, max(len(known), 1), shard)]
    return Corpus(shards, gather(shards))


def inputs_of(
    papers: Iterable[Paper] | Corpus,
    *,
    word_vectors: Mapping[WordSource, WordVectors] | None = None,
    vectors: Mapping[str, Vectors] | None = None,
) -> RankingInputs:
    """What the methods need of these papers."""
    corpus = papers if isinstance(papers, Corpus) else corpus_of(papers)
    return RankingInputs(corpus, word_vectors=dict(word_vectors or {}), vectors=dict(vectors or {}), averages={})


def write_vectors(vectors: Vectors, folder: Path) -> None:
    """A set of vectors on disk."""
    precision: Precision = "float16" if vectors.matrix.dtype == numpy.float16 else "float32"
    with VectorsWriter(folder, most=len(vectors.ids), precision=precision) as writer:
        writer.add(vectors.ids.to_pylist(), vectors.matrix)
        writer.about = vectors.description


def decomposed(corpus: Corpus, *, dimensions: int, iterations: int) -> Vectors:
    """The latent semantic analysis of the corpus, in memory."""
    basis, found = word_vectors.fit(
        corpus, dimensions=dimensions, iterations=iterations, seed=1, memory=2**31, advance=lambda done, total: None
    )
    rows = numpy.concatenate(list(word_vectors.documents(corpus, basis).blocks))
    ids = corpus.paper_ids.combine_chunks()
    return Vectors(ids, rows, "lsa", found["space"], "cosine", found["facts"], basis=basis)


def rank_pool(
    inputs: RankingInputs, *, baseline: str, paper_id: str, sentences: Sequence[int], doc_ids: Sequence[str]
) -> Ranking:
    """The documents of a pool in the baseline's order. sentences: positions in the query paper's abstract."""
    inputs.corpus.rows([paper_id, *doc_ids])
    query = partial(inputs.corpus.sentences, paper_id, sentences)
    return rank_candidates(inputs, baseline=baseline, query=query, doc_ids=doc_ids)
