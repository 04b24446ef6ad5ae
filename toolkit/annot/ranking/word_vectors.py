"""Word vectors trained on the corpus, averages of them, and latent semantic analysis."""

from __future__ import annotations

import hashlib
import logging
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from io import BufferedRandom
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base import array_files
from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.parallel import in_threads
from annot.ranking import search
from annot.ranking.corpus import BLOCK as ROWS_PER_BLOCK
from annot.ranking.corpus import Corpus, Sparse, Strings, sparse, with_data

# ----------------------------------------------------------------------------------------------------------------------
# Word vectors trained on the corpus's own abstracts, and documents as averages of them.
#
# gensim's continuous bag of words (Mikolov et al. 2013) over the `words` tokens of each sentence. With one worker,
# and a vocabulary ordered by count and word before training, one seed gives one result whatever the hash seed. The
# last digits still depend on the linear algebra library's kernel, which is recorded. Several workers write into one
# matrix without locks: that is faster, and no two trainings agree. Either way: train once, store, rank from what was
# stored.
# ----------------------------------------------------------------------------------------------------------------------


GIGABYTE = 2**30
OVERHEAD = int(0.4 * GIGABYTE)
"""Bytes of a process at such work besides the part that grows with the words: libraries, a block of papers (measured:
0.3)."""


LOGGER = logging.getLogger("annot")


def gigabytes(size: int) -> str:
    """Bytes as `--memory` takes them, rounded up.

    >>> gigabytes(3 * 2**30), gigabytes(int(3.01 * 2**30))
    ('3G', '3.1G')
    """
    return f"{math.ceil(10 * size / GIGABYTE) / 10:g}G"


KIND = "annot-word-vectors-1"
UNFINISHED = "unfinished-words"
"""Folder of the state of an unfinished training."""
NAMELESS = Path("/proc/self/fd")
"""Folder where Linux lists the open files of a process, also those without a name."""

OF_A_NUMBER = 1.25e-8
"""Seconds of training for each running word, number of its vector and pass (measured: 0.95 to 1.4)."""
OF_A_WORD = 500
"""Bytes that gensim keeps for each word besides its two rows of numbers (`Word2Vec.estimate_memory`)."""

TRAINED_WORDS, MOST_EPOCHS = 300_000_000, 20
"""Running words that a training reads in all, and the most passes: 20 passes up to 15 million running words (about
100,000 abstracts), 3 over 120 million (800,000). A larger corpus needs fewer passes: CBOW gains as much from twice the
text as from three passes over it (Mikolov et al. 2013, arXiv:1301.3781, Table 5)."""


@dataclass(frozen=True)
class WordVectors:
    """words: in the order of the rows. matrix: float32, shape (words, dimensions). facts: how they were trained."""

    words: tuple[str, ...]
    matrix: NDArray[np.float32]
    facts: Mapping[str, Any]

    def rows(self, tokens: Strings) -> NDArray[np.int32]:
        """The row of each token, -1 where it has no vector: shape (tokens,)."""
        return array_files.places_of(tokens, self._strings)

    @cached_property
    def _strings(self) -> Strings:
        return array_files.strings_of(self.words)


class Averages:
    """Documents as averages of their words' vectors: a source for `annot.ranking.search.search`.

    Plain: sum(tf v) / sum(tf). Weighted: sum(tf idf v) / sum(tf idf). Both over the words that have a vector; a
    document without any is a row of zeros.

    rows: the row of each token's vector (`WordVectors.rows`); idf: of each token, shape (tokens,).
    """

    def __init__(
        self, counts: Sparse, rows: NDArray[np.int32], vectors: WordVectors, *, idf: NDArray[np.float64] | None
    ) -> None:
        self._counts = counts
        self._matrix = np.asarray(vectors.matrix, dtype=np.float32)
        # A token without a vector takes that of the first word, with no weight.
        self._rows = np.maximum(rows, 0)
        self._weights = np.where(rows >= 0, 1.0 if idf is None else idf, 0).astype(np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        return self._counts.shape[0], self._matrix.shape[1]

    def __getitem__(self, rows: Any) -> NDArray[np.float32]:
        return self.average(self._counts[rows])

    def average(self, rows: Sparse) -> NDArray[np.float32]:
        """The averages of rows of counts: shape (rows, dimensions)."""
        weights = rows.data * self._weights[rows.indices].astype(np.float64)
        sums = with_data(rows, weights) @ np.ones(rows.shape[1])
        shares = (weights / np.repeat(np.where(sums > 0, sums, 1), np.diff(rows.indptr))).astype(np.float32)
        return np.asarray(sparse(shares, self._rows[rows.indices], rows.indptr, len(self._matrix)) @ self._matrix)


def epochs_for(running_words: int) -> int:
    """Number of passes that "auto" takes over a corpus of this many running words.

    >>> [epochs_for(words) for words in (200_000, 15_000_000, 120_000_000, 12_000_000_000)]
    [20, 20, 3, 1]
    """
    return min(MOST_EPOCHS, math.ceil(TRAINED_WORDS / max(running_words, 1)))


def train(
    corpus: Corpus,
    *,
    dimensions: int,
    window: int,
    min_count: int,
    epochs: int | Literal["auto"],
    seed: int,
    workers: int | Literal["all"],
    sample: int,
    memory: int,
    scratch: Path,
    after_epoch: Callable[[int, int], None],
) -> WordVectors:
    """Train on the abstracts, a sentence at a time. Memory grows with the words, not with the papers.

    epochs: passes; "auto" is `epochs_for`. workers: threads, of which only one gives the same vectors again; "all" is
    one a core. sample: abstracts that are read, drawn by the seed; 0 stands for all. memory: bytes that it may take.
    scratch: a folder for the file of sentences, which is gone with the process, even a killed one, and for
    `UNFINISHED`, from which a killed training goes on, and which the caller removes in the end.
    after_epoch: called with (epochs done, epochs in all). Raises InputError when no word is frequent enough, or when
    more memory is needed.
    """
    from gensim import __version__ as gensim_version
    from joblib import cpu_count

    from annot.ranking.unfinished import Resumable

    chosen_rows = _drawn(len(corpus), sample, seed)
    tokens, totals = corpus.tokens("words"), corpus.totals("abstract", "words", chosen_rows)
    rows = np.flatnonzero(totals >= min_count)
    if not len(rows):
        raise InputError(
            f"word vectors: no word occurs {min_count} times in the abstracts",
            hint="lower `[word_vectors] min_count` in annot.toml",
        )
    _refuse_too_many(totals, dimensions=dimensions, min_count=min_count, memory=memory)
    frequent = list(zip(tokens.take(rows).to_pylist(), totals[rows].tolist(), strict=True))
    frequent.sort(key=lambda entry: (-entry[1], entry[0]))
    running_words = int(totals.sum())
    passes = epochs_for(running_words) if epochs == "auto" else epochs
    threads = int(cpu_count()) if workers == "all" else workers
    seconds = passes * running_words * dimensions * OF_A_NUMBER / threads
    if seconds >= 60:
        minutes = counted(round(seconds / 60), "minute")
        read = f"{counted(passes, 'pass', 'passes')} over {running_words:,} words"
        LOGGER.warning("training word vectors: %s, about %s", read, minutes)
    model = Resumable(
        vector_size=dimensions, window=window, min_count=min_count, epochs=passes, seed=seed, workers=threads,
        hashfxn=_stable_hash, sorted_vocab=0,
    )  # fmt: skip
    facts = {
        "algorithm": "cbow", "dimensions": dimensions, "window": window, "min_count": min_count, "epochs": passes,
        "seed": seed, "workers": threads, "negative": int(model.negative), "tokens": corpus.rule_on_record("words"),
        "trained_on": "abstracts", "abstracts": len(corpus) if chosen_rows is None else len(chosen_rows),
        "running_words": running_words, "gensim": gensim_version, "kernels": kernels(),
    }  # fmt: skip
    model.keep_in(scratch / UNFINISHED, facts, after_epoch=lambda done: after_epoch(done, passes))
    # A file without a name, where it can be opened all the same; elsewhere a killed training leaves one.
    nameless = NAMELESS.is_dir()
    with TemporaryFile(dir=scratch) if nameless else NamedTemporaryFile(dir=scratch, prefix=".training.") as file:
        sentences = _write_sentences(corpus, tokens, file, chosen_rows)
        file.flush()
        model.build_vocab_from_freq(dict(frequent), corpus_count=sentences)
        model.train(
            corpus_file=str(NAMELESS / str(file.fileno())) if nameless else file.name, total_words=running_words,
            total_examples=sentences, epochs=passes,
        )  # fmt: skip
    return hashed(model.wv.index_to_key, np.asarray(model.wv.vectors, dtype=np.float32), facts)


def hashed(words: Sequence[str], matrix: NDArray[np.float32], facts: Mapping[str, Any]) -> WordVectors:
    """Word vectors whose facts include the SHA-256 of words and numbers."""
    return WordVectors(tuple(words), matrix, {**facts, "sha256": sha256_of(words, matrix)})


def sha256_of(words: Sequence[str], matrix: NDArray[np.float32] | BufferedRandom) -> str:
    """SHA-256 of the words, a line each, and then of the numbers row by row, little-endian.

    matrix: or a file, from whose place on its bytes are these numbers.
    """
    digest = hashlib.sha256("".join(f"{word}\n" for word in words).encode())
    if not isinstance(matrix, np.ndarray):
        return hashlib.file_digest(matrix, lambda: digest).hexdigest()
    for start in range(0, len(matrix), ROWS_PER_BLOCK):
        digest.update(np.ascontiguousarray(matrix[start : start + ROWS_PER_BLOCK], "<f4").reshape(-1).data)
    return digest.hexdigest()


def save(vectors: WordVectors, folder: Path, *, matrix: Path | None = None) -> None:
    """Write the vectors with their settings. matrix: file of their numbers on the same disk, which is moved there."""
    arrays = {"vectors": matrix or vectors.matrix}
    array_files.save(folder, kind=KIND, arrays=arrays, texts={"words": vectors.words}, facts=vectors.facts)


def load(folder: array_files.Folder) -> WordVectors:
    """Word vectors that `save` wrote. Raises MissingInput or InputError (`annot.base.array_files.load`)."""
    stored = array_files.load(folder, kind=KIND)
    return WordVectors(stored.texts["words"], stored.arrays["vectors"], stored.facts)


def _drawn(count: int, sample: int, seed: int) -> NDArray[np.int64] | None:
    """The rows of the abstracts to read, ascending; None if all are."""
    if not 0 < sample < count:
        return None
    return np.sort(np.random.default_rng(seed).choice(count, sample, replace=False))


def _refuse_too_many(totals: NDArray[np.int64], *, dimensions: int, min_count: int, memory: int) -> None:
    """Raise InputError if the words do not fit into the memory, with a setting under which they would."""
    bytes_per_word = OF_A_WORD + 2 * 4 * dimensions
    words = int((totals >= min_count).sum())
    if OVERHEAD + bytes_per_word * words <= memory:
        return
    words_that_fit = max(0, memory - OVERHEAD) // bytes_per_word
    rarer = int(np.sort(totals)[::-1][words_that_fit]) + 1
    raise InputError(
        f"word vectors: {words} words of {dimensions} numbers need {gigabytes(OVERHEAD + bytes_per_word * words)}, "
        f"found {math.floor(10 * memory / GIGABYTE) / 10:g}G",
        hint=f"give --memory {gigabytes(OVERHEAD + bytes_per_word * words)} to `annot index`, or set min_count = "
        f"{rarer} in [word_vectors] of annot.toml",
    )


def _write_sentences(corpus: Corpus, tokens: Strings, file: IO[bytes], rows: NDArray[np.int64] | None) -> int:
    """Write the sentences of the abstracts, or of these rows of them, one a line; returns how many."""
    words = np.array([*tokens.to_pylist(), "\n"], dtype=object)
    is_chosen = np.ones(len(corpus), dtype=np.bool_) if rows is None else np.isin(np.arange(len(corpus)), rows)
    sentences = 0
    for shard, place, start in zip(corpus.shards, corpus.places("words"), corpus.starts.tolist(), strict=False):
        stream, vocabulary = shard.stream("abstract"), shard.vocabulary("words")
        of_sentence = np.repeat(is_chosen[start : start + len(stream)], np.diff(stream.documents))
        for start_of_block in range(0, len(of_sentence), ROWS_PER_BLOCK):
            bounds = stream.sentences[start_of_block : start_of_block + ROWS_PER_BLOCK + 1]
            chosen, lengths = of_sentence[start_of_block : start_of_block + ROWS_PER_BLOCK], np.diff(bounds)
            ids, widths = vocabulary.expand(stream.ids[bounds[0] : bounds[-1]][np.repeat(chosen, lengths)])
            ends = np.concatenate(([0], np.cumsum(widths)))[np.cumsum(lengths[chosen])]
            file.write(" ".join(words[np.insert(place[ids], ends, len(words) - 1)].tolist()).encode())
        sentences += int(of_sentence.sum())
    return sentences


def _stable_hash(text: str) -> int:
    return zlib.crc32(text.encode())


def kernels() -> list[str]:
    """Linear algebra kernels in use, as `library version architecture`: the last digits depend on them."""
    from threadpoolctl import threadpool_info

    loaded = threadpool_info()
    names = {
        f"{e['internal_api']} {e.get('version')} {e.get('architecture')}" for e in loaded if e["user_api"] == "blas"
    }
    return sorted(names)


FEWEST_ABSTRACTS = {"cbow": 2000, "ppmi": 15}
"""Number of abstracts, by algorithm, from which on word vectors rank better than chance. On CSFCube's judged pools,
made of a part of the release's 3,368 abstracts, NDCG%20 above that of a random order (points of 100, interval over
query papers, mean of 3 draws; `benchmarks/count_vectors.py --table few`):

    abstracts          fabs_cbow200    fabs_tfidfcbow200          fabs_ppmi200     fabs_tfidfppmi200
           15                                               +4.9 [+0.7, +9.2]    +8.2 [+4.2, +12.1]
          125     +1.6 [-0.1, +3.3]    +0.9 [-0.6, +2.5]   +9.6 [+4.7, +14.4]   +12.6 [+8.2, +16.8]
          500     +2.0 [-1.5, +5.5]    +4.0 [-0.2, +8.1]  +14.0 [+9.1, +18.7]  +16.7 [+11.4, +21.9]
        1,000     +4.1 [-0.8, +8.9]   +7.0 [+2.0, +11.9]  +17.0 [+12.0, +21.8]  +18.8 [+14.0, +23.4]
        2,000    +6.9 [+0.9, +12.8]  +10.7 [+5.4, +16.0]  +17.6 [+11.8, +23.4]  +18.7 [+13.0, +24.3]
        3,368    +9.1 [+3.0, +15.1]  +13.4 [+7.4, +19.2]  +20.9 [+15.0, +26.7]  +21.7 [+15.4, +27.8]
"""


class FewAbstracts(NamedTuple):
    """Methods or runs that rank by such word vectors."""

    names: tuple[str, ...]
    abstracts: int
    """Number of abstracts of which these were made; the fewest if there are several."""
    enough: int


def trained_on_few(settings: Mapping[str, Mapping[str, Any]]) -> tuple[FewAbstracts, ...]:
    """Entries of `settings`, by method or run, whose word vectors read fewer than `FEWEST_ABSTRACTS`, by algorithm.

    Imported word vectors do not record how many they read.
    """
    few: dict[int, dict[str, int]] = {}
    for name, facts in sorted(settings.items()):
        words = facts.get("word_vectors", {})
        enough = FEWEST_ABSTRACTS[words.get("algorithm", "cbow")]
        if words.get("abstracts", enough) < enough:
            few.setdefault(enough, {})[name] = words["abstracts"]
    return tuple(FewAbstracts(tuple(counts), min(counts.values()), enough) for enough, counts in few.items())


# ----------------------------------------------------------------------------------------------------------------------
# Latent semantic analysis: a truncated singular value decomposition of the abstracts' tf-idf vectors.
#
# Deerwester et al., JASIS 1990. Documents are the rows of U S = X V, compared by cosine; queries are folded in as q V
# (their equation 3, in the scale of U S), so that a whole document as a query has the vector of that document.
#
# Solved as scikit-learn's `TruncatedSVD` does, by randomised subspace iteration (Halko, Martinsson and Tropp, SIAM
# Review 2011, algorithm 4.4) from the same random start, but over blocks of documents: the memory holds two matrices
# of tokens by dimensions. The last digits depend on the linear algebra library, so a decomposition is stored and
# ranked from, not made twice.
# ----------------------------------------------------------------------------------------------------------------------


DOCUMENTS = 5
"""Documents for each dimension."""
OVERSAMPLES = 10
"""Dimensions that are worked on beyond those that are kept: scikit-learn's default."""
BLOCK = 10_000
"""Documents, or tokens, that are worked on at once; it changes memory and speed, and the last digits."""
SLICES = 8
"""Runs of dimensions that cores work on by themselves; it changes speed, no result."""
NOISE = 1e-12
"""The share of the largest eigenvalue below which another is rounding alone."""

Matrix = NDArray[np.float32]
Columns = NDArray[np.int64] | slice
MatrixBlocks = Callable[[], Iterator[tuple[Sparse, Columns]]]
"""Rows of a sparse matrix, block by block, cut to the columns that they use, and the numbers of these."""


def fit(
    corpus: Corpus, *, dimensions: int, iterations: int, seed: int, memory: int, advance: Callable[[int, int], None]
) -> tuple[Matrix, dict[str, Any]]:
    """The basis V for the abstracts, shape (tokens, dimensions), and the space it spans, with how it was found.

    A corpus with fewer than `DOCUMENTS` for each of the `dimensions` gets fewer: with
    as many as it has documents, the cosine would be that of tf-idf itself.

    memory: bytes that it may take. advance: called with (passes over the corpus done, passes in all).

    Raises InputError when no document has a token, or when more memory is needed.
    """
    frequency = corpus.statistics("abstract", "terms").frequency
    rank = min(dimensions, -(-len(corpus) // DOCUMENTS), np.count_nonzero(frequency))
    if rank < 1:
        raise InputError(
            f"lsa: no word in the {len(corpus)} abstracts of the corpus, expected some text",
            hint="leave lsa out of the methods",
        )
    size = rank + OVERSAMPLES
    needed = OVERHEAD + 2 * 4 * size * len(frequency)
    if needed > memory:
        raise InputError(
            f"lsa: {len(frequency):,} terms need {gigabytes(needed)} of memory, the limit is {gigabytes(memory)}",
            hint=f"run `annot index --memory {gigabytes(needed)}`, or leave lsa out of the methods",
        )
    blocks = partial(_blocks, corpus)
    matrix, _values = principal_axes(
        blocks, width=len(frequency), rank=rank, iterations=iterations, seed=seed, advance=advance
    )
    facts = {"iterations": iterations, "seed": seed, "input": "tf-idf of abstracts", "asked_dimensions": dimensions}
    return matrix, {"space": f"lsa-{rank}-{iterations}-{seed}", "facts": facts}


def documents(corpus: Corpus, basis: Matrix) -> array_files.Blocks:
    """The vectors of the abstracts, U S: shape (documents, dimensions). An empty document's is zero."""
    return array_files.Blocks((len(corpus), basis.shape[1]), rows_of_product(partial(_blocks, corpus), basis))


def fold_in(query: Sparse, idf: NDArray[np.float64], basis: Matrix) -> Matrix:
    """A query of one row of counts in the space of `basis`: shape (dimensions,)."""
    weights = search.unit(query, idf)
    return np.asarray(weights.data @ np.asarray(basis[weights.indices], dtype=np.float64), dtype=np.float32)


def principal_axes(
    blocks: MatrixBlocks,
    *,
    width: int,
    rank: int,
    iterations: int,
    seed: int,
    advance: Callable[[int, int], None],
) -> tuple[Matrix, NDArray[np.float64]]:
    """The `rank` largest singular values of a sparse matrix X, descending, and its right singular vectors, shape
    (width, rank).

    blocks: the rows of X, block by block, once at each call. advance: called with (passes over X done, passes in all).
    """
    from threadpoolctl import threadpool_limits

    size = rank + OVERSAMPLES
    random = np.random.RandomState(seed)

    def random_rows(block: Sparse, _columns: object) -> Matrix:
        return random.normal(size=(block.shape[0], size)).astype(np.float32)

    # One thread a product: how many there are must not show in the last digits.
    with threadpool_limits(1):
        matrix = _summed(blocks, width, size, random_rows)
        for done in range(1, iterations + 1):
            advance(done, iterations + 1)
            _make_orthonormal(matrix)
            matrix = _summed(blocks, width, size, partial(_product, matrix))
        advance(iterations + 1, iterations + 1)
        for _twice in range(2):
            _make_orthonormal(matrix)
        # Eigenvectors come in the order of ascending eigenvalues.
        values, turn = np.linalg.eigh(_gram(rows_of_product(blocks, matrix)))
        turn = turn[:, ::-1][:, :rank]
        for cut in _cuts(matrix):
            matrix[cut, :rank] = matrix[cut] @ turn
    return matrix[:, :rank], np.sqrt(np.maximum(values[::-1][:rank], 0))


def _summed(blocks: MatrixBlocks, height: int, width: int, rows_of: Callable[[Sparse, Columns], Matrix]) -> Matrix:
    """X^T Y: shape (height, width). rows_of: the rows of Y for some rows of X, cut to the columns of these numbers."""
    sums = np.zeros((height, width), dtype=np.float32)
    for block, columns_used in blocks():
        rows = rows_of(block, columns_used)

        def add(
            columns: slice, block: Sparse = block, columns_used: Columns = columns_used, rows: Matrix = rows
        ) -> None:
            sums[columns_used, columns] += block.T @ rows[:, columns]

        _do(add, width)
    return sums


def rows_of_product(blocks: MatrixBlocks, matrix: Matrix) -> Iterator[Matrix]:
    """X times the matrix, block by block."""
    return (_product(matrix, block, columns_used) for block, columns_used in blocks())


def _product(matrix: Matrix, block: Sparse, columns_used: Columns) -> Matrix:
    """The block times the rows of the matrix that it uses: shape (documents, columns of the matrix)."""
    product = np.empty((block.shape[0], matrix.shape[1]), dtype=np.float32)

    def multiply(columns: slice) -> None:
        product[:, columns] = block @ matrix[columns_used, columns]

    _do(multiply, matrix.shape[1])
    return product


def _do(work: Callable[[slice], None], width: int) -> None:
    bounds = np.linspace(0, width, SLICES + 1).astype(int).tolist()
    for _done in in_threads(work, (slice(*pair) for pair in pairwise(bounds))):
        pass


def _blocks(corpus: Corpus) -> Iterator[tuple[Sparse, Columns]]:
    """Rows of X cut to the columns that they use, and the numbers of these."""
    for block in search.blocks(corpus, "abstract", size=BLOCK):
        is_used = np.zeros(block.shape[1], dtype=np.bool_)
        is_used[block.indices] = True
        columns_used = np.flatnonzero(is_used)
        columns = (np.cumsum(is_used, dtype=np.int32) - 1)[block.indices]
        yield sparse(block.data, columns, block.indptr, len(columns_used)), columns_used


def _make_orthonormal(matrix: Matrix) -> None:
    """Turn the columns, in place, into an orthonormal basis of their span; if that has fewer dimensions, some become
    zero."""
    values, vectors = np.linalg.eigh(_gram(matrix[cut] for cut in _cuts(matrix)))
    is_kept = values > NOISE * values[-1]
    turn = vectors * np.where(is_kept, 1 / np.sqrt(np.where(is_kept, values, 1)), 0)
    for cut in _cuts(matrix):
        matrix[cut] = matrix[cut] @ turn


def _gram(parts: Iterable[Matrix]) -> NDArray[np.float64]:
    """The products of every two columns, over the rows of all parts."""
    doubles = (part.astype(np.float64) for part in parts)
    return np.asarray(sum(part.T @ part for part in doubles))


def _cuts(matrix: Matrix) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, len(matrix), BLOCK))
