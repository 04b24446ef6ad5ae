"""The six rankings as a good engineer writes them: each text is counted once, and averages are products of matrices.

    python benchmarks/sparse_pools.py CORPUS.jsonl [--queries 34] [--word-vectors WORDS.bin]

Prints one JSON line for each stage, as `obvious_pools.py` does. Records are read by a parser in Rust. Each field goes
through one CountVectorizer, whose counts give tf-idf and, times the matrix of word vectors, the averages.
"""

import numpy as np
from annot.base.array_files import Array
from command import Command
from gensim.models import KeyedVectors
from obvious_pools import DEPTH, Stages
from pydantic_core import from_json
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

COMMAND = Command(
    __doc__,
    paths=("corpus",),
    options={"queries": 34, "word-vectors": None},
    smallest="CORPUS --queries 2",
    seconds=lambda options: 3 + 25 * options.corpus.stat().st_size / 1.2e8,
)
"""`--word-vectors` names a file in word2vec's binary format; without it, every word has random numbers."""
DIMENSIONS = 200


def main() -> None:
    options = COMMAND.read()
    stages = Stages()
    fields: dict[str, list[str]] = {"title": [], "abstract": []}
    with options.corpus.open("rb") as file:
        for paper in map(from_json, file):
            fields["title"].append(paper["title"])
            fields["abstract"].append(" ".join(paper["abstract"]))
    stages.done("read")
    given = options.word_vectors
    vectors = KeyedVectors.load_word2vec_format(given, binary=True) if given else None
    stages.done("word2vec")
    queries = np.random.default_rng(0).choice(len(fields["title"]), options.queries, replace=False)
    for name, texts in fields.items():
        vectorizer = CountVectorizer(dtype=np.float32)
        counts = vectorizer.fit_transform(texts)
        stages.done(f"{name} counts")
        transformer = TfidfTransformer().fit(counts)
        tfidf = transformer.transform(counts)
        best((tfidf @ tfidf[queries].T).toarray().T)
        del tfidf
        stages.done(f"{name} tf-idf")
        words = vectorizer.get_feature_names_out()
        matrix = np.zeros((len(words), DIMENSIONS), np.float32)
        known = [row for row, word in enumerate(words) if vectors is None or word in vectors]
        matrix[known] = (
            np.random.default_rng(0).random((len(known), DIMENSIONS)) if vectors is None else vectors[words[known]]
        )
        is_known = np.isin(np.arange(len(words)), known).astype(np.float32)
        for weighted in (False, True):
            weights = csr_array(counts) * (transformer.idf_.astype(np.float32) if weighted else 1)
            averages = (weights @ matrix) / np.maximum(weights @ is_known, 1e-9)[:, None]
            # Of the squared distance, the part that all documents share decides nothing.
            best(2 * averages[queries] @ averages.T - (averages**2).sum(axis=1))
            stages.done(f"{name} {'weighted ' if weighted else ''}averages")


def best(scores: Array) -> Array:
    """Places of the highest scores of each query, the highest first."""
    top = np.argpartition(-scores, min(DEPTH, scores.shape[1] - 1), axis=1)[:, :DEPTH]
    return np.take_along_axis(top, np.argsort(-np.take_along_axis(scores, top, 1), axis=1), 1)


if __name__ == "__main__":
    main()
