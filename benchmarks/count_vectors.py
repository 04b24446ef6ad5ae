"""Word vectors by counting beside gensim's CBOW: how well averages of them rank, what pools find, how little is enough.

    python benchmarks/count_vectors.py CSFCUBE CRANFIELD [--table settings pools few] [--seeds 3]

`settings`: processor seconds of the training; NDCG%20 of CSFCube's 33 queries (the system `fabs_`, its own paper left
out) and nDCG@20 of Cranfield's 225 questions over all documents, plain and weighted by idf; the difference from CBOW,
with an interval of 95% over query papers.

`pools`: relevant documents (grade 1 or higher) in pools of 96 documents of Cranfield's questions, by set of methods,
with the difference from the first set of as many methods; mean over orders of the methods.

`few`: NDCG%20 above that of a random order, with word vectors of some of CSFCube's abstracts.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from annot.base import array_files
from annot.base.array_files import Array
from annot.base.records import Paper, Ranking
from annot.base.settings import Settings, WordVectorSettings
from annot.base.stats.inference import generator, mean_interval
from annot.base.stats.values import Interval
from annot.measuring.evaluation.measures import MeasureSelection, family_of, measured_by_query
from annot.pools.pooling import draw
from annot.ranking import count_vectors, word_vectors
from annot.ranking.corpus import Corpus, Field
from annot.ranking.methods import RankingInputs, WordSource, rank_all
from annot.ranking.word_vectors import WordVectors
from annot_csfcube.contents import is_release_file
from annot_csfcube.files import read_release
from command import Command
from indexed import corpus_of, decomposed, inputs_of, rank_pool
from judged_whole import read_cranfield

SIZE = 96
"""Documents of a pool: 96, 48, 32 or 24 for each method."""
CBOW = WordVectorSettings()
USUAL = count_vectors.SETTINGS
TRIED = {
    "CBOW": None,
    **{
        f"window {window}, {contexts:,} contexts, {iterations} iterations": replace(
            USUAL, window=window, contexts=contexts, iterations=iterations
        )
        for window, contexts, iterations in (
            *((window, 5_000, 3) for window in (2, 5, 10, 20)),
            *((window, contexts, 3) for contexts in (1_500, 20_000) for window in (5, 10)),
            *((10, 5_000, iterations) for iterations in (0, 1, 7)),
        )
    },
}
SETS = {
    "tfidf": ("abs_tfidf",),
    "bm25": ("abs_bm25",),
    "lsa": ("lsa",),
    **{name: (f"abs_{name}",) for name in ("cbow200", "tfidfcbow200", "ppmi200", "tfidfppmi200")},
    "bm25 tfidf lsa": ("abs_bm25", "abs_tfidf", "lsa"),
    **{
        f"bm25 tfidf lsa {name}": ("abs_bm25", "abs_tfidf", "lsa", f"abs_{name}")
        for name in ("tfidfcbow200", "cbow200", "ppmi200", "tfidfppmi200")
    },
}
SIZES = (15, 60, 250, 1000, 2000, 3368)


class Release(NamedTuple):
    """CSFCube's papers, queries and grades."""

    papers: Sequence[Paper]
    topics: Mapping[str, str]
    sentences: Mapping[str, Sequence[int]]
    grades: Mapping[str, Mapping[str, int]]


def read_csfcube(folder: Path) -> Release:
    """The release; a query's own paper is not in its pool."""
    settings = Settings()
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    release = read_release(
        {name: path.read_bytes() for name, path in paths.items() if is_release_file(name)},
        name=str(folder),
        known_labels=settings.labels.names,
        facet_labels=settings.facets,
    )
    topics = {query.query_id: query.topic_id for query in release.queries}
    grades: dict[str, dict[str, int]] = {query_id: {} for query_id in topics}
    for decision in release.decisions:
        if decision.doc_id != topics[decision.query_id]:
            grades[decision.query_id][decision.doc_id] = decision.grade
    sentences = {query.query_id: query.sentences for query in release.queries}
    return Release(list(release.papers), topics, sentences, grades)


def trained(corpus: Corpus, seed: int) -> WordVectors:
    """Vectors by gensim's CBOW."""
    with TemporaryDirectory() as folder:
        return word_vectors.train(
            corpus,
            **CBOW.of_training | {"seed": seed},
            memory=2**33,
            scratch=Path(folder),
            after_epoch=lambda done, total: None,
        )


def counted(corpus: Corpus, settings: count_vectors.CountSettings) -> WordVectors:
    """Vectors by counting."""
    words = count_vectors.counted_words(corpus, settings)
    with TemporaryDirectory() as scratch:
        counts = []
        for number, (shard, place) in enumerate(zip(corpus.shards, corpus.places("words"), strict=True)):
            arrays = count_vectors.count_pairs(shard, place, words, window=settings.window)
            array_files.save(Path(scratch) / str(number), kind="counts", arrays=arrays, texts={}, facts={})
            counts.append(array_files.load(Path(scratch) / str(number), kind="counts").arrays)
        folder = Path(scratch) / "words"
        count_vectors.train(corpus, counts, words, settings, folder=folder, advance=lambda done, total: None)
        stored = word_vectors.load(folder)
        return WordVectors(stored.words, np.array(stored.matrix), stored.facts)


def csfcube_values(release: Release, inputs: RankingInputs, baseline: str) -> Array:
    """NDCG%20 of each query, in points."""
    run: dict[str, Ranking] = {
        query_id: rank_pool(
            inputs, baseline=baseline, paper_id=release.topics[query_id], sentences=sentences,
            doc_ids=sorted(release.grades[query_id]),
        )
        for query_id, sentences in release.sentences.items()
    }  # fmt: skip
    selection = MeasureSelection("csfcube", ["NDCG%20"], 2)
    values = measured_by_query(run, release.grades, selection, ties="order")
    return 100 * np.array([values[query_id]["NDCG%20"] for query_id in release.sentences])


class Questions(NamedTuple):
    """Cranfield's documents, questions and grades; without the two documents that are empty."""

    papers: Sequence[Paper]
    texts: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]


def read_questions(folder: Path) -> Questions:
    """The collection. Its texts are one sentence each, as `annot corpus add` reads them."""
    cranfield = read_cranfield(folder)
    documents = map(json.loads, cranfield.documents.read_text(encoding="utf-8").splitlines())
    papers = [
        Paper(str(document["paper_id"]), document["title"], (document["abstract"],))
        for document in documents
        if document["abstract"].strip()
    ]
    grades: dict[str, dict[str, int]] = {question: {} for question in cranfield.questions}
    for (question, document), grade in cranfield.grades.items():
        grades[question][document] = grade
    return Questions(papers, cranfield.questions, grades)


def cranfield_values(questions: Questions, inputs: RankingInputs, method: str) -> Array:
    """nDCG@20 of each question, in points."""
    rankings = ranked_by(questions, inputs, [method])[method]
    selection = MeasureSelection("trec", ["nDCG@20"], 1)
    values = measured_by_query(rankings, questions.grades, selection, ties="order")
    return 100 * np.array([values[question]["nDCG@20"] for question in questions.texts])


def ranked_by(questions: Questions, inputs: RankingInputs, methods: Sequence[str]) -> dict[str, dict[str, Ranking]]:
    """Rankings of all documents by each method, for each question."""
    texts: dict[str, dict[Field, str]] = {
        name: {"title": text, "abstract": text} for name, text in questions.texts.items()
    }
    return rank_all(
        inputs, methods=methods, paper_ids=[], texts=texts, excluded={}, ranking_depth=SIZE,
        advance=lambda done, total: None,
    )  # fmt: skip


def with_interval(values: Array, topics: Sequence[str] | None = None) -> str:
    """Mean with its interval."""
    interval = mean_interval(values, level=0.95, least=-100, most=100, topics=topics)
    return f"{values.mean():+.1f} [{interval.low:+.1f}, {interval.high:+.1f}]" if isinstance(interval, Interval) else ""


def settings_lines(release: Release, questions: Questions, seeds: range) -> Iterator[str]:
    """A line for each way to make word vectors on each collection: means over seeds."""
    yield f"{'':55}{'seconds':>8}{'plain':>7}{'idf':>7}{'spread':>8}  {'plain - CBOW':20} idf - CBOW"
    for name, papers, topics, measure in (
        ("CSFCube", release.papers, list(release.topics.values()), partial(csfcube_values, release)),
        ("Cranfield", questions.papers, None, partial(cranfield_values, questions)),
    ):
        corpus, of_cbow = corpus_of(papers), None
        for tried, settings in TRIED.items():
            seconds, values = [], []
            for seed in seeds:
                began = time.process_time()
                made = trained(corpus, seed) if settings is None else counted(corpus, replace(settings, seed=seed))
                seconds.append(time.process_time() - began)
                source: WordSource = "cbow" if settings is None else "ppmi"
                inputs = inputs_of(corpus, word_vectors={source: made})
                kind = "fabs" if name == "CSFCube" else "abs"
                values.append([measure(inputs, f"{kind}_{weights}{source}200") for weights in ("", "tfidf")])
            means, spread = np.mean(values, axis=0), np.std(np.mean(values, axis=2), axis=0).max()
            of_cbow = means if of_cbow is None else of_cbow
            plain, weighted = (with_interval(row, topics) for row in means - of_cbow)
            figures = f"{np.mean(seconds):8.2f}{means[0].mean():7.1f}{means[1].mean():7.1f}{spread:8.2f}"
            yield f"{name + ', ' + tried:55}{figures}  {plain:20} {weighted}"


def pool_lines(questions: Questions, seeds: range) -> Iterator[str]:
    """A line for each set of methods."""
    corpus = corpus_of(questions.papers)
    inputs = inputs_of(
        corpus,
        word_vectors={"cbow": trained(corpus, seeds[0]), "ppmi": counted(corpus, USUAL)},
        vectors={"lsa": decomposed(corpus, dimensions=200, iterations=7)},
    )
    rankings = ranked_by(questions, inputs, sorted({method for methods in SETS.values() for method in methods}))
    yield f"{'':36}{'pairs':>7}{'relevant':>9}{'per 100 pairs':>15}  difference"
    firsts: dict[int, Array] = {}
    for name, methods in SETS.items():
        found, pairs = np.zeros(len(questions.texts)), 0.0
        for seed in seeds:
            for row, question in enumerate(questions.texts):
                pool = draw(
                    {method: rankings[method][question] for method in methods}, topic_id=question, cited=None,
                    cited_outside=None, mode="round-robin", per_method=SIZE // len(methods), ranking_depth=SIZE,
                    seed=seed, without=(), excluded=(),
                )  # fmt: skip
                pairs += len(pool.entries) / len(seeds)
                relevant = questions.grades[question].keys() & {entry.doc_id for entry in pool.entries}
                found[row] += len(relevant) / len(seeds)
        first = firsts.setdefault(len(methods), found)
        difference = with_interval(100 * (found - first) / SIZE) if found is not first else ""
        yield f"{name:36}{pairs:7.0f}{found.sum():9.1f}{100 * found.sum() / pairs:15.2f}  {difference}"


def few_lines(release: Release, seeds: range) -> Iterator[str]:
    """A line for each number of abstracts."""
    corpus, topics = corpus_of(release.papers), list(release.topics.values())
    chance = np.array([chance_of([*grades.values()]) for grades in release.grades.values()])
    names = ("cbow200", "tfidfcbow200", "ppmi200", "tfidfppmi200")
    yield f"{'abstracts':>9}" + "".join(f"{f'fabs_{name}':>24}" for name in names)
    for size in SIZES:
        values: dict[str, list[Array]] = {name: [] for name in names}
        for seed in seeds:
            rows = generator(seed, "papers").choice(len(release.papers), size, replace=False)
            some = corpus_of([release.papers[row] for row in sorted(rows)])
            inputs = inputs_of(corpus, word_vectors={"cbow": trained(some, seed), "ppmi": counted(some, USUAL)})
            for name in names:
                values[name].append(csfcube_values(release, inputs, f"fabs_{name}") - chance)
        yield f"{size:9}" + "".join(f"{with_interval(np.mean(values[name], axis=0), topics):>24}" for name in names)


def chance_of(grades: Sequence[int]) -> float:
    """NDCG%20 of a random order: every rank has the mean grade."""
    orders = np.full((1, len(grades)), np.mean(grades))
    family = family_of("csfcube", "NDCG%20")
    assert family is not None
    discounts = family[0].discount(family[0].cut(len(grades), 20))
    best = np.sort(grades)[::-1][: len(discounts)] @ discounts
    return float(100 * (orders[0, : len(discounts)] @ discounts) / best) if best else 0.0


COMMAND = Command(
    __doc__,
    paths=("csfcube", "cranfield"),
    options={"table": ["settings", "pools", "few"], "seeds": 3},
    choices={"table": ["settings", "pools", "few"]},
    smallest="CSFCUBE CRANFIELD --table pools --seeds 1",
    seconds=lambda options: options.seeds * (100 * ("settings" in options.table) + 60 * ("few" in options.table)) + 15,
)


def main() -> None:
    options = COMMAND.read()
    release, questions, seeds = (
        read_csfcube(options.csfcube),
        read_questions(options.cranfield),
        range(1, options.seeds + 1),
    )
    tables = {
        "settings": partial(settings_lines, release, questions, seeds),
        "pools": partial(pool_lines, questions, seeds),
        "few": partial(few_lines, release, seeds),
    }
    for name in options.table:
        for line in tables[name]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
