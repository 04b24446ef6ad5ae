"""The six rankings as one would write them first, with scikit-learn, gensim and NumPy: what `annot pool` has to beat.

    python benchmarks/obvious_pools.py CORPUS.jsonl [--queries 34]

Prints one JSON line for each stage: its name, wall and processor seconds, and the peak of resident memory in MB so far.
"""

import json
import resource
import time

import numpy as np
from command import Command
from gensim.models import KeyedVectors, Word2Vec
from sklearn.feature_extraction.text import TfidfVectorizer

DEPTH = 1000
SETTINGS = {"vector_size": 200, "workers": 2, "min_count": 5, "epochs": 5}


class Stages:
    """Tells what passed since the stage before."""

    def __init__(self) -> None:
        self._wall, self._used = time.perf_counter(), time.process_time()

    def done(self, name: str) -> None:
        wall, used = time.perf_counter(), time.process_time()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        took = {"stage": name, "wall": wall - self._wall, "processor": used - self._used, "peak_mb": peak}
        print(json.dumps(took), flush=True)
        self._wall, self._used = time.perf_counter(), time.process_time()


COMMAND = Command(
    __doc__,
    paths=("corpus",),
    options={"queries": 34, "word-vectors": None},
    smallest="CORPUS --queries 2",
    seconds=lambda options: 2 + 150 * options.corpus.stat().st_size / 1e8,
)
"""`--word-vectors` names a file in word2vec's binary format; none are trained then."""


def main() -> None:
    options = COMMAND.read()
    stages = Stages()
    fields: dict[str, list[str]] = {"title": [], "abstract": []}
    with options.corpus.open(encoding="utf-8") as file:
        for paper in map(json.loads, file):
            fields["title"].append(paper["title"])
            fields["abstract"].append(" ".join(paper["abstract"]))
    stages.done("read")
    queries = np.random.default_rng(0).choice(len(fields["title"]), options.queries, replace=False)
    idf = {}
    for name, texts in fields.items():
        vectorizer = TfidfVectorizer()
        matrix = vectorizer.fit_transform(texts)
        np.argsort(-(matrix @ matrix[queries].T).toarray(), axis=0)[:DEPTH]
        idf[name] = dict(zip(vectorizer.get_feature_names_out(), vectorizer.idf_, strict=True))
        del matrix
        stages.done(f"{name} tf-idf")
    sentences = [text.lower().replace(".", "").split() for text in fields["abstract"]]
    stages.done("tokenise")
    given = options.word_vectors
    vectors = KeyedVectors.load_word2vec_format(given, binary=True) if given else Word2Vec(sentences, **SETTINGS).wv
    stages.done("word2vec")
    for name, texts in fields.items():
        for weighted in (False, True):
            averages = np.zeros((len(texts), SETTINGS["vector_size"]), dtype=np.float32)
            for row, text in enumerate(texts):
                known = [word for word in text.lower().replace(".", "").split() if word in vectors]
                if known:
                    weights = np.array([idf[name].get(word, 1.0) for word in known]) if weighted else None
                    averages[row] = np.average(vectors[known], axis=0, weights=weights)
            for query in queries:
                np.argsort(np.linalg.norm(averages - averages[query], axis=1))[:DEPTH]
            stages.done(f"{name} {'weighted ' if weighted else ''}averages")


if __name__ == "__main__":
    main()
