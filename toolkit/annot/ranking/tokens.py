"""One pass over the text of a shard: pieces as integer ids, from which the tokens of every rule follow.

A piece is a run of the lower-cased text between two ASCII characters that are neither letter, digit, underscore nor
apostrophe. No token of any rule reaches over the edge of a piece, so each rule is applied once to each distinct piece,
not to each occurrence: the text is read once and all rules share one stream.

Pieces and tokens are numbered in the order of their characters. A sum over the tokens of a document, taken in the order
of their numbers, is therefore the same number whichever shard the document is in.

Counts are sparse matrices, documents by tokens, of one field under one rule, built a block at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from annot.base.arrow_arrays import numbers, strings_of

Rule = Literal["terms", "words"]
Field = Literal["title", "abstract"]
Strings = Any
"""pyarrow's StringArray, which carries no types."""

RULES: dict[Rule, re.Pattern[str]] = {
    "terms": re.compile(r"(?u)\b\w\w+\b"),
    "words": re.compile(r"[a-z0-9]+(?:'[a-z]+)?"),
}
"""Patterns of tokens in a lower-cased text: `terms` is scikit-learn's default, for tf-idf; `words` is for BM25 and word
vectors. CSFCube's published baselines need both."""

_WITHIN_PIECE = bytes(code >= 128 or bool(re.match(r"[\w']", chr(code))) for code in range(256))
"""Flag for each byte of UTF-8: true if it belongs to a piece. The rules decide about characters beyond ASCII."""
_ONE_TOKEN = "^[a-z0-9]{2,}$"
"""Pieces that are one token under every rule: nearly all."""


@dataclass(frozen=True)
class Stream:
    """The pieces of one field of all papers. Sentence s is `ids[sentences[s]:sentences[s + 1]]`; document d has the
    sentences `documents[d]` to `documents[d + 1] - 1`."""

    ids: NDArray[np.int32]
    sentences: NDArray[np.int64]
    documents: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.documents) - 1

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Start of each document in `ids`, and the end of the last: shape (documents + 1,)."""
        return np.asarray(self.sentences[self.documents])


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of one rule, and which of them each piece gives: `ids[indptr[p]:indptr[p + 1]]`, in order."""

    strings: Strings
    indptr: NDArray[np.int64]
    ids: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.strings)

    @cached_property
    def matrix(self) -> Any:
        """Occurrences of each token in each piece: a csr_matrix, shape (pieces, tokens)."""
        return sparse(np.ones(len(self.ids), dtype=np.int32), self.ids, self.indptr, len(self))

    def expand(self, pieces: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tokens of a run of pieces, and how many each piece gave."""
        starts = self.indptr[pieces]
        widths = self.indptr[pieces + 1] - starts
        places = np.arange(widths.sum())
        return self.ids[np.repeat(starts - np.cumsum(widths) + widths, widths) + places], widths


def tokenise(batches: Iterable[Any]) -> tuple[Strings, dict[Field, Stream]]:
    """Pieces and the streams of all papers, each read once. batches: record batches with the columns `title` and
    `sentences`."""
    import pyarrow as pa

    titles, abstracts = _Builder(), _Builder()
    for batch in batches:
        title, sentences = batch.column("title"), batch.column("sentences")
        titles.add(title, np.ones(len(title), dtype=np.int64))
        abstracts.add(sentences.flatten(), numbers(sentences.value_lengths()))
    chunks = titles.encoded + abstracts.encoded
    encoded = pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string())).unify_dictionaries()
    pieces, number_of = in_order(encoded.chunk(0).dictionary if chunks else strings_of(()))
    ids = [number_of[numbers(chunk.indices)] for chunk in encoded.chunks]
    cut = len(titles.encoded)
    return pieces, {"title": titles.stream(ids[:cut]), "abstract": abstracts.stream(ids[cut:])}


def vocabulary(pieces: Strings, rule: Rule) -> Vocabulary:
    """The tokens that these pieces give under `rule`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    find: Callable[[str], list[str]] = RULES[rule].findall
    plain = pc.match_substring_regex(pieces, _ONE_TOKEN)
    tokens_of_pieces = [find(piece) for piece in pieces.filter(pc.invert(plain)).to_pylist()]
    is_plain = np.zeros(len(pieces), dtype=np.bool_)
    is_plain[numbers(pc.indices_nonzero(plain))] = True
    widths = np.ones(len(pieces), dtype=np.int64)
    widths[~is_plain] = [len(tokens) for tokens in tokens_of_pieces]
    occurrences = pa.concat_arrays([pieces.filter(plain), strings_of(chain.from_iterable(tokens_of_pieces))])
    of_piece = np.concatenate([np.flatnonzero(is_plain), np.repeat(np.flatnonzero(~is_plain), widths[~is_plain])])
    encoded = occurrences.dictionary_encode()
    tokens, number_of = in_order(encoded.dictionary)
    ids = number_of[numbers(encoded.indices)][np.argsort(of_piece, kind="stable")]
    return Vocabulary(tokens, np.concatenate(([0], np.cumsum(widths))), ids)


def in_order(strings: Strings) -> tuple[Strings, NDArray[np.int32]]:
    """Distinct strings in the order of their characters, and the new number of each."""
    import pyarrow.compute as pc

    order = pc.array_sort_indices(strings)
    number_of = np.empty(len(strings), dtype=np.int32)
    number_of[numbers(order)] = np.arange(len(strings), dtype=np.int32)
    return strings.take(order), number_of


class _Builder:
    """Gathers the pieces of one field, a batch at a time."""

    def __init__(self) -> None:
        self.encoded: list[Any] = []
        self._widths: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
        self._lengths: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]

    def add(self, texts: Strings, lengths: NDArray[np.int64]) -> None:
        """Cut `texts` into pieces. lengths: number of texts of each document."""
        encoded, widths = _pieces(texts)
        self.encoded.append(encoded)
        self._widths.append(widths)
        self._lengths.append(lengths)

    def stream(self, ids: list[NDArray[np.int32]]) -> Stream:
        sentences, documents = (np.cumsum(np.concatenate(parts)) for parts in (self._widths, self._lengths))
        return Stream(np.concatenate([np.zeros(0, dtype=np.int32), *ids]), sentences, documents)


def _pieces(texts: Strings) -> tuple[Any, NDArray[np.int64]]:
    """The pieces of all `texts` one after the other, as Arrow encodes them, and how many each text has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    strange = pc.invert(pc.string_is_ascii(texts))
    if pc.any(strange, min_count=0).as_py():
        # What a letter becomes may depend on those around it, so these texts are lower-cased whole.
        lowered = [text.lower() for text in texts.filter(strange).to_pylist()]
        texts = pc.replace_with_mask(texts, strange, strings_of(lowered))
    bounds = np.concatenate(([0], np.cumsum(numbers(pc.binary_length(texts)), dtype=np.int64)))
    values = texts.buffers()[2]
    text = b""
    if values:
        (offset,) = np.frombuffer(texts.buffers()[1], np.int32, 1, texts.offset * 4).tolist()
        text = bytes(memoryview(values)[offset : offset + int(bounds[-1])]).lower()
    within = np.frombuffer(text.translate(_WITHIN_PIECE), dtype=np.bool_)
    edges = np.flatnonzero(np.diff(within, prepend=False, append=False))
    # Where a text ends within a piece and the next begins within one, one piece ends and another begins.
    inner = np.unique(bounds[(bounds > 0) & (bounds < len(text))])
    glued = inner[within[inner] & within[inner - 1]]
    if len(glued):
        edges = np.sort(np.concatenate((edges, glued, glued)))
    starts, ends = edges[::2], edges[1::2]
    offsets = np.concatenate(([0], np.cumsum(ends - starts))).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.frombuffer(text, dtype=np.uint8)[within])]
    encoded = pa.Array.from_buffers(pa.string(), len(starts), buffers).dictionary_encode()
    return encoded, np.diff(np.searchsorted(starts, bounds))


Sparse = Any
"""scipy's csr_matrix, which carries no types. Of counts: shape (documents, tokens of the rule), columns in order."""

BLOCK = 20_000
"""Documents that are worked on at once; changes memory and speed, no result."""


def sparse(data: NDArray[Any], columns: NDArray[Any], bounds: NDArray[Any], width: int) -> Sparse:
    """Matrix whose row i has `data[bounds[i]:bounds[i + 1]]` in these columns, without a copy: shape (rows, width).

    scipy is loaded at the first call.
    """
    from scipy.sparse import csr_matrix

    return csr_matrix((data, columns, bounds), shape=(len(bounds) - 1, width), copy=False)


def with_data(counts: Sparse, data: NDArray[Any]) -> Sparse:
    """Other numbers in the places of these counts."""
    return sparse(data, counts.indices, counts.indptr, counts.shape[1])


def count_tokens(pieces: Sparse, vocabulary: Vocabulary) -> Sparse:
    """The counts of tokens that counts of pieces come to."""
    counts = pieces @ vocabulary.matrix
    counts.sort_indices()
    return counts


def run_of(counts: Sparse, start: int, stop: int) -> Sparse:
    """The rows from `start` to `stop`, without a copy."""
    bounds = counts.indptr[start : stop + 1]
    inside = slice(int(bounds[0]), int(bounds[-1]))
    return sparse(counts.data[inside], counts.indices[inside], bounds - bounds[0], counts.shape[1])


def lengths(counts: Sparse, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The length of each row of counts x weights, summed in the order of the columns: shape (rows,)."""
    return np.asarray(np.sqrt(with_data(counts, counts.data.astype(np.float64) ** 2) @ weights**2))


def counted(ids: NDArray[np.int32], bounds: NDArray[np.int64], width: int) -> Sparse:
    """Occurrences of each id in each run `ids[bounds[i]:bounds[i + 1]]`: shape (runs, width)."""
    matrix = sparse(np.ones(len(ids), dtype=np.int32), ids.astype(np.int32), bounds, width)
    matrix.sum_duplicates()
    return matrix
