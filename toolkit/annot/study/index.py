"""What the ranking methods need of a corpus: token ids and word vectors, made once and kept by content."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from annot.ranking import lsa, tokens, vectors
from annot.ranking.methods import LSA, METHODS, Bench
from annot.store import papers
from annot.store.papers import corpus_sha256
from annot.study.paper_vectors import vectors_of
from annot.study.word_vectors import word_vectors_of
from annot.study.workspace import Workspace

LSA_SETTINGS = {"dimensions": 200, "iterations": 7, "seed": 1}

Advance = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Index:
    """The bench of a corpus and the hash of the corpus it was made from."""

    bench: Bench
    corpus_sha256: str


def open_index(ws: Workspace, *, methods: Iterable[str], advance: Advance, scratch: Path | None = None) -> Index:
    """The index with all that `methods` need; what is missing is made and kept, what stands is used.

    scratch: make what is missing there instead, and keep nothing; it has to last as long as the index.
    Raises MissingInput when a method needs vectors that are not there, with what to put where.
    """
    methods = tuple(methods)
    digest = corpus_sha256(ws.corpus)
    folder = ws.cache / "index" / digest[:16]
    given = {name: vectors_of(ws, name) for name in methods if name not in METHODS and name != LSA}

    def place(name: str) -> Path:
        return folder / name if scratch is None or (folder / name).exists() else scratch / name

    if not place("tokens").is_dir():
        tokens.save(tokens.tokenise(papers.read_papers(ws.corpus, columns=("title", "sentences"))), place("tokens"))
    bench = Bench(tokens.load(place("tokens")), word_vectors=None, vectors=given)
    if any("cbow" in name for name in methods):
        counts, vocabulary = bench.counts("abstract", "words"), bench.vocabulary("words")
        bench.word_vectors = word_vectors_of(ws, bench.corpus, counts, vocabulary, kept_in=place, advance=advance)
    if LSA in methods:
        bench.vectors[LSA] = _lsa(bench, place(LSA))
    return Index(bench, digest)


def _lsa(bench: Bench, place: Path) -> vectors.Vectors:
    if not (place / vectors.ABOUT).is_file():
        made = lsa.fit(bench.tfidf("abstract"), bench.corpus.paper_ids, **LSA_SETTINGS)
        vectors.save(made, place)
    return vectors.load(place, hint=f"remove {place} and run the command again")
