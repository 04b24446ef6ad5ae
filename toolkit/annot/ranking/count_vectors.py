"""Word vectors by counting: pointwise mutual information of words and their neighbours, decomposed.

Levy, Goldberg and Dagan (TACL 2015): counts of each word with each context in a window within a sentence; positive
pointwise mutual information, in which the counts of the contexts are raised to the power .75; U S^.5 of the matrix's
truncated singular value decomposition.

Counts are whole numbers, so their sums do not depend on an order. All that follows is computed over parts of the matrix
that are the same on every machine. They are on disk: the memory holds a few of them, however large the corpus is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annot.base import array_files
from annot.base.errors import InputError
from annot.base.parallel import in_threads
from annot.base.records import Advance
from annot.ranking import word_vectors
from annot.ranking.corpus import Arrays, Corpus, Shard, Sparse, sparse

SMOOTHING, POWER = 0.75, 0.5
"""Exponents of the contexts' counts and of the singular values."""
NEIGHBOURS = 4_000_000
"""Neighbours that are counted at once; it changes memory and speed, no result."""
OF_A_PART = 5_000_000
"""Neighbours of the words of a part of the matrix, which has fewer cells; the last digits depend on it."""
LEAST = 1e-5
"""Share of the largest singular value below which another is rounding alone."""
SENTENCES = 20_000
"""Sentences that are cut into words at once; it changes memory and speed, no result."""


@dataclass(frozen=True)
class CountSettings:
    """Settings with which word vectors are made of counts."""

    dimensions: int = 200
    window: int = 10
    """Words on each side, within a sentence."""
    contexts: int = 5_000
    """Number of words, the most frequent, that count as contexts."""
    min_count: int = 2
    """Occurrences in the abstracts that a word needs for a vector."""
    iterations: int = 3
    """Passes over the matrix that bring the range finder nearer to the largest singular values."""
    seed: int = 1


SETTINGS = CountSettings()


CountedWords = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Row and column of each token of the corpus in the matrix, -1 if it has none: shape (tokens,) each."""


def counted_words(corpus: Corpus, settings: CountSettings) -> CountedWords:
    """Words that are frequent enough, in the order of their characters. The contexts are the most frequent of them, in
    the order of their counts; of equal counts, in the order of their characters.

    Raises InputError if no word is frequent enough.
    """
    totals = corpus.totals("abstract", "words")
    frequent = np.flatnonzero(totals >= settings.min_count)
    if not len(frequent):
        raise InputError(
            f"word vectors: no word occurs {settings.min_count} times in the abstracts",
            hint="leave the methods whose names end in ppmi200 out of `[pool] methods`",
        )
    contexts = frequent[np.argsort(-totals[frequent], kind="stable")][: settings.contexts]
    rows, columns = (np.full(len(totals), -1, dtype=np.int32) for _ in range(2))
    rows[frequent], columns[contexts] = np.arange(len(frequent)), np.arange(len(contexts))
    return rows, columns


def _shape(counted: CountedWords) -> tuple[int, int]:
    """Shape of the matrix."""
    rows, columns = counted
    return int(rows.max()) + 1, int(columns.max()) + 1


def count_pairs(
    shard: Shard, place: NDArray[np.int32], counted: CountedWords, *, window: int
) -> dict[str, array_files.Array | array_files.Blocks]:
    """Occurrences of each context near each word in the abstracts of a shard, as arrays of a sparse matrix.

    place: corpus numbers of the shard's tokens.
    """
    height, width = _shape(counted)
    tokens, places = _running_words(shard, place, gap=window)
    rows, columns_of = counted[0][tokens], counted[1][tokens]
    # Places between sentences, and words that are no contexts, have a column of their own, which is left out.
    columns = np.full(int(places.max(initial=0)) + 2 * window + 1, width, dtype=np.int32)
    columns[places + window] = np.where(columns_of >= 0, columns_of, width)
    del tokens, columns_of
    order, starts = _positions_by_word(rows, height)
    before = np.lib.stride_tricks.sliding_window_view(columns, window)
    sums: list[Sparse] = []
    for first, end in _runs(starts, NEIGHBOURS // (2 * window)):
        chosen = places[order[starts[first] : starts[end]]]
        neighbours = np.concatenate((before[chosen], before[chosen + window + 1]), axis=1).ravel()
        bounds = np.arange(0, len(neighbours) + 1, 2 * window)
        of_places = sparse(np.ones(len(neighbours), dtype=np.int32), neighbours, bounds, width + 1)
        sums.append(_grouped(of_places, starts[first : end + 1] - starts[first])[:, :width])
    cells = sum(part.nnz for part in sums)
    kind = "<u2" if width <= 2**16 else "<i4"
    return {
        "bounds": np.cumsum(np.concatenate([[0], *(np.diff(part.indptr) for part in sums)]), dtype=np.int64),
        "columns": array_files.Blocks((cells,), [part.indices.astype(kind) for part in sums], kind),
        "counts": array_files.Blocks((cells,), [part.data for part in sums], "<i4"),
        "contexts": sum((np.asarray(part.sum(axis=0)).ravel() for part in sums), np.zeros(width, dtype=np.int64)),
    }


def _running_words(shard: Shard, place: NDArray[np.int32], *, gap: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Corpus numbers of the words of all abstracts, and the place of each: `gap` places are free before a sentence."""
    stream, vocabulary = shard.stream("abstract"), shard.vocabulary("words")
    nothing: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
    tokens, gaps = [nothing], [nothing]
    for start in range(0, len(stream.sentences) - 1, SENTENCES):
        bounds = stream.sentences[start : start + SENTENCES + 1]
        ids, widths = vocabulary.expand(stream.ids[bounds[0] : bounds[-1]])
        ends = np.concatenate(([0], np.cumsum(widths)))[bounds - bounds[0]]
        tokens.append(place[ids])
        numbers = np.arange(start, start + len(bounds) - 1, dtype=np.int32)
        gaps.append(np.repeat(gap * numbers, np.diff(ends)))
    places = np.concatenate(gaps)
    return np.concatenate(tokens), places + np.arange(len(places), dtype=np.int32)


def _positions_by_word(words: NDArray[np.int32], height: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Positions of each word, ascending, and where those of each begin: shape (height + 1,)."""
    positions = np.flatnonzero(words >= 0).astype(np.int32)
    positions = positions[np.argsort(words[positions], kind="stable")]
    return positions, np.concatenate(([0], np.cumsum(np.bincount(words[positions], minlength=height))))


def _runs(starts: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Runs of rows, each as first row and row after the last, with at most this many entries, or of one row."""
    first, rows = 0, len(starts) - 1
    while first < rows:
        end = max(int(np.searchsorted(starts, starts[first] + most, side="right")) - 1, first + 1)
        yield first, end
        first = end


def _grouped(matrix: Sparse, bounds: NDArray[np.int64]) -> Sparse:
    """Sums of runs of rows, from each bound to the next."""
    height = matrix.shape[0]
    return sparse(np.ones(height, dtype=matrix.dtype), np.arange(height), bounds, height) @ matrix


def train(
    corpus: Corpus,
    counts: Sequence[Arrays],
    counted: CountedWords,
    settings: CountSettings,
    *,
    folder: Path,
    advance: Advance,
) -> None:
    """Make the vectors of the words and write them to `folder`. counts: arrays of `count_pairs` of each shard.

    advance: called with (passes over the matrix done, passes in all). Raises InputError if no word has a neighbour.
    """
    totals = corpus.totals("abstract", "words")
    is_counted = counted[0] >= 0
    height, width = _shape(counted)
    # However the corpus is cut into shards, the parts are the same.
    starts = np.concatenate(([0], np.cumsum(2 * settings.window * totals[is_counted])))
    rank = min(settings.dimensions, height, width)
    with array_files.scratch_for(folder) as scratch:
        parts = list(_write_parts(counts, _runs(starts, OF_A_PART), width, scratch))
        blocks = partial(_parts, array_files.ArrayFolder(scratch, ()), parts, width)
        axes, values = word_vectors.principal_axes(
            blocks, width=width, rank=rank, iterations=settings.iterations, seed=settings.seed, advance=advance
        )
        kept = int((values > LEAST * values[0]).sum())
        if not kept:
            raise InputError(
                "word vectors: no two words are in one sentence of an abstract",
                hint="leave the methods whose names end in ppmi200 out of `[pool] methods`",
            )
        turned = axes[:, :kept] * (values[:kept] ** (POWER - 1)).astype(np.float32)
        rows = array_files.Blocks((height, kept), word_vectors.rows_of_product(blocks, turned))
        array_files.save_array(scratch / "vectors.npy", rows)
        matrix = array_files.mapped(scratch / "vectors.npy")
        words = corpus.tokens("words").take(np.flatnonzero(is_counted)).to_pylist()
        facts = {
            "algorithm": "ppmi", **asdict(settings), "dimensions": kept, "contexts": width, "smoothing": SMOOTHING,
            "power": POWER, "tokens": "words", "trained_on": "abstracts", "abstracts": len(corpus),
            "running_words": int(totals.sum()), "kernels": word_vectors.kernels(),
        }  # fmt: skip
        word_vectors.save(word_vectors.hashed(words, matrix, facts), folder)


def _write_parts(counts: Sequence[Arrays], runs: Iterable[tuple[int, int]], width: int, folder: Path) -> Iterator[int]:
    """Write the positive pointwise mutual information of runs of rows; yield the first row of each."""
    smooth = np.sum([shard["contexts"] for shard in counts], axis=0) ** SMOOTHING
    shares = smooth / max(smooth.sum(), 1)

    def write(run: tuple[int, int]) -> int:
        matrix = _sum([_rows(shard, run, width) for shard in counts])
        of_words = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
        expected = np.repeat(of_words, np.diff(matrix.indptr)) * shares[matrix.indices]
        information = np.log(matrix.data / expected)
        is_positive = information > 0
        arrays = {
            "values": information[is_positive].astype(np.float32),
            "columns": matrix.indices[is_positive].astype(np.min_scalar_type(width)),
            "bounds": np.concatenate(([0], np.cumsum(is_positive)))[matrix.indptr],
        }
        for name, array in arrays.items():
            array_files.save_array(folder / f"{name}-{run[0]}.npy", array)
        return run[0]

    return in_threads(write, runs)


def _rows(shard: Arrays, run: tuple[int, int], width: int) -> Sparse:
    bounds = shard["bounds"][run[0] : run[1] + 1]
    cells = slice(bounds[0], bounds[-1])
    return sparse(
        shard["counts"][cells].astype(np.int64), shard["columns"][cells].astype(np.int32), bounds - bounds[0], width
    )


def _sum(matrices: Sequence[Sparse]) -> Sparse:
    """Sum of matrices of one shape, the cells of each row in the order of the columns."""
    from scipy.sparse import vstack

    height, count = matrices[0].shape[0], len(matrices)
    rows = np.arange(height * count).reshape(count, height).T.ravel()
    ones = np.ones(len(rows), dtype=np.int64)
    total = sparse(ones, rows, np.arange(0, len(rows) + 1, count), len(rows)) @ vstack(matrices, format="csr")
    return total.tocsc().tocsr()


def _parts(arrays: Arrays, firsts: Sequence[int], width: int) -> Iterator[tuple[Sparse, slice]]:
    """The parts that `_write_parts` wrote."""
    for first in firsts:
        values, columns, bounds = (arrays[f"{name}-{first}"] for name in ("values", "columns", "bounds"))
        yield sparse(values, columns.astype(np.int32), bounds, width), slice(None)
