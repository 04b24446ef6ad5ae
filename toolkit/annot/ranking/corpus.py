"""The corpus as it is ranked: tokens, shards, and statistics of each field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from annot.base.array_files import as_arrays, as_strings, numbers, places_of, strings_of
from annot.base.errors import InputError
from annot.base.libraries import pc, pyarrow
from annot.base.parallel import in_threads
from annot.formats.paper_text import terms_in

# ----------------------------------------------------------------------------------------------------------------------
# One pass over the text of a shard: pieces as integer ids, from which the tokens of every rule follow.
#
# A piece is a run of the lower-cased text between two ASCII characters that are neither letter, digit, underscore nor
# apostrophe. No token of any rule reaches over the edge of a piece, so each rule is applied once to each distinct
# piece, not to each occurrence: the text is read once and all rules share one stream.
#
# Pieces and tokens are numbered in the order of their characters. A sum over the tokens of a document, taken in the
# order of their numbers, is therefore the same number whichever shard the document is in.
#
# Counts are sparse matrices, documents by tokens, of one field under one rule, built a block at a time.
# ----------------------------------------------------------------------------------------------------------------------


Rule = Literal["terms", "words"]
Field = Literal["title", "abstract"]
Strings = Any
"""pyarrow's StringArray, which carries no types."""

RULES: dict[Rule, re.Pattern[str]] = {
    "terms": re.compile(r"(?u)\b\w\w+\b"),
    "words": re.compile(r"[a-z0-9]+(?:'[a-z]+)?"),
}
"""Patterns of tokens in a lower-cased English text: `terms` is scikit-learn's default, for tf-idf; `words` is for BM25
and word vectors. CSFCube's published baselines need both. In any other language both rules give the same tokens, those
of `terms_in`."""
UNICODE = "unicode-1"
"""Name of these tokens on record, and of the array by which shards that have them are told."""

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
    titles, abstracts = _Builder(), _Builder()
    for batch in batches:
        title, sentences = batch.column("title"), batch.column("sentences")
        titles.add(title, np.ones(len(title), dtype=np.int64))
        abstracts.add(sentences.flatten(), numbers(sentences.value_lengths()))
    chunks = titles.encoded + abstracts.encoded
    encoded = pyarrow.chunked_array(chunks, pyarrow.dictionary(pyarrow.int32(), pyarrow.string())).unify_dictionaries()
    pieces, number_of = in_order(encoded.chunk(0).dictionary if chunks else strings_of(()))
    ids = [number_of[numbers(chunk.indices)] for chunk in encoded.chunks]
    cut = len(titles.encoded)
    return pieces, {"title": titles.stream(ids[:cut]), "abstract": abstracts.stream(ids[cut:])}


def cutter(rule: Rule, *, english: bool) -> Callable[[str], list[str]]:
    """Function that gives the tokens of a lower-cased text."""
    return RULES[rule].findall if english else terms_in


def vocabulary(pieces: Strings, rule: Rule, *, english: bool = True) -> Vocabulary:
    """The tokens that these pieces give under `rule`."""
    find = cutter(rule, english=english)
    plain = pc.match_substring_regex(pieces, _ONE_TOKEN)
    tokens_of_pieces = [find(piece) for piece in pieces.filter(pc.invert(plain)).to_pylist()]
    is_plain = np.zeros(len(pieces), dtype=np.bool_)
    is_plain[numbers(pc.indices_nonzero(plain))] = True
    widths = np.ones(len(pieces), dtype=np.int64)
    widths[~is_plain] = [len(tokens) for tokens in tokens_of_pieces]
    occurrences = pyarrow.concat_arrays([pieces.filter(plain), strings_of(chain.from_iterable(tokens_of_pieces))])
    of_piece = np.concatenate([np.flatnonzero(is_plain), np.repeat(np.flatnonzero(~is_plain), widths[~is_plain])])
    encoded = occurrences.dictionary_encode()
    tokens, number_of = in_order(encoded.dictionary)
    ids = number_of[numbers(encoded.indices)][np.argsort(of_piece, kind="stable")]
    return Vocabulary(tokens, np.concatenate(([0], np.cumsum(widths))), ids)


def in_order(strings: Strings) -> tuple[Strings, NDArray[np.int32]]:
    """Distinct strings in the order of their characters, and the new number of each."""
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
    joined = inner[within[inner] & within[inner - 1]]
    if len(joined):
        edges = np.sort(np.concatenate((edges, joined, joined)))
    starts, ends = edges[::2], edges[1::2]
    offsets = np.concatenate(([0], np.cumsum(ends - starts))).astype(np.int32)
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(np.frombuffer(text, dtype=np.uint8)[within])]
    encoded = pyarrow.Array.from_buffers(pyarrow.string(), len(starts), buffers).dictionary_encode()
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


# ----------------------------------------------------------------------------------------------------------------------
# The corpus as it is ranked: shards, the places of papers and tokens in them, and each field's statistics.
#
# A shard is a run of papers, tokenised and counted, that depends on no other papers: a set of arrays by name, in
# memory or memory-mapped. Tokens have the shard's own numbers; the corpus knows which of its tokens each is.
#
# Nothing in the corpus depends on how it is cut into shards: tokens are numbered in the order of their characters,
# papers in the order of the corpus, and every sum runs in the order of these numbers.
# ----------------------------------------------------------------------------------------------------------------------


FIELDS: tuple[Field, ...] = get_args(Field)
PER_RULE: tuple[Rule, ...] = get_args(Rule)
Arrays = Mapping[str, NDArray[Any]]


def make_shard(batches: Iterable[Any], *, english: bool = True) -> dict[str, NDArray[Any]]:
    """The arrays of a shard. batches: record batches with the columns `paper_id`, `title` and `sentences`. english:
    cut tokens by the rules of English."""
    batches = list(batches)
    ids = [batch.column("paper_id") for batch in batches]
    pieces, streams = tokenise(batches)
    arrays = as_arrays("paper_ids", pyarrow.concat_arrays(ids) if ids else strings_of(()))
    arrays |= as_arrays("pieces", pieces) | ({} if english else {UNICODE: np.ones(1, np.int8)})
    for field, stream in streams.items():
        arrays |= {f"{field}_ids": stream.ids, f"{field}_sentences": stream.sentences}
        arrays |= {f"{field}_documents": stream.documents}
    counts_of = {field: counted(stream.ids, stream.starts, len(pieces)) for field, stream in streams.items()}
    for rule in PER_RULE:
        words = vocabulary(pieces, rule, english=english)
        arrays |= as_arrays(f"{rule}_tokens", words.strings)
        arrays |= {f"{rule}_indptr": words.indptr, f"{rule}_ids": words.ids}
        for field, counts_of_pieces in counts_of.items():
            counts = count_tokens(counts_of_pieces, words)
            smallest = np.min_scalar_type(int(counts.data.max(initial=0)))
            name = f"{field}_{rule}"
            arrays |= {f"{name}_counts": counts.data.astype(smallest), f"{name}_columns": counts.indices}
            frequency = np.bincount(counts.indices, minlength=len(words))
            arrays |= {f"{name}_rows": counts.indptr, f"{name}_frequency": frequency}
    return arrays


class Shard:
    """The papers, tokens and counts in the arrays of a shard; each is opened when it is asked for."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self.english = UNICODE not in [*arrays]

    @property
    def paper_ids(self) -> Strings:
        """The ids of the papers, in order."""
        return as_strings(self._arrays, "paper_ids")

    def stream(self, field: Field) -> Stream:
        """The pieces of a field."""
        return Stream(*(self._arrays[f"{field}_{part}"] for part in ("ids", "sentences", "documents")))

    def vocabulary(self, rule: Rule) -> Vocabulary:
        """The tokens of a rule, under the numbers that they have in this shard."""
        return Vocabulary(self.tokens(rule), self._arrays[f"{rule}_indptr"], self._arrays[f"{rule}_ids"])

    def tokens(self, rule: Rule) -> Strings:
        """The tokens of a rule, in the order of their numbers in this shard."""
        return as_strings(self._arrays, f"{rule}_tokens")

    def counts(self, field: Field, rule: Rule) -> Sparse:
        """The counts of a field under a rule, in the smallest type that holds them."""
        data, columns, bounds = (self._arrays[f"{field}_{rule}_{part}"] for part in ("counts", "columns", "rows"))
        return sparse(data, columns, bounds, len(self.frequency(field, rule)))

    def frequency(self, field: Field, rule: Rule) -> NDArray[np.int64]:
        """Number of documents of the shard in which each of its tokens occurs: shape (tokens,)."""
        return self._arrays[f"{field}_{rule}_frequency"]


Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Statistics:
    """Statistics of one field under one rule. documents: the number of papers; frequency: the number of documents with
    each token, shape (tokens,); running: the number of tokens in all."""

    documents: int
    frequency: NDArray[np.int64]
    running: int

    @cached_property
    def smooth_idf(self) -> NDArray[np.float64]:
        """ln((1 + N) / (1 + df)) + 1 for each token: shape (tokens,)."""
        return np.asarray(np.log((1 + self.documents) / (1 + self.frequency)) + 1)


def gather(shards: Sequence[Shard]) -> dict[str, NDArray[Any]]:
    """Arrays that a `Corpus` keeps of all its shards together. Raises InputError when two papers share an id."""
    ids = pyarrow.chunked_array([shard.paper_ids for shard in shards], pyarrow.string())
    distinct = ids.unique()
    if len(distinct) < len(ids):
        doubled = [entry["values"] for entry in ids.value_counts().to_pylist() if entry["counts"] > 1]
        faults = [f"{name}: more than one paper has this id" for name in doubled]
        raise InputError("the corpus has ids that are not unique", faults=faults)
    arrays = {"papers": np.array([len(shard.paper_ids) for shard in shards], dtype=np.int64)}
    for rule in PER_RULE:
        arrays |= _merged(shards, rule)
        places = _cut(arrays, rule)
        for field in FIELDS:
            frequency = np.zeros(len(arrays[f"{rule}_tokens_offsets"]) - 1, dtype=np.int64)
            running = 0
            for shard, place in zip(shards, places, strict=True):
                frequency[place] += shard.frequency(field, rule)
                running += int(shard.counts(field, rule).data.sum(dtype=np.int64))
            arrays |= {f"{field}_{rule}_frequency": frequency, f"{field}_{rule}_running": np.array([running])}
    corpus = Corpus(shards, arrays)
    return arrays | {f"{field}_norms": _norms(corpus, field) for field in FIELDS}


class Corpus:
    """Shards in the order of the corpus, with the arrays of `gather`."""

    def __init__(self, shards: Sequence[Shard], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.shards = tuple(shards)
        self._arrays = arrays
        self.starts = np.concatenate(([0], np.cumsum(arrays["papers"])))
        self._row_of: dict[str, int] = {}
        self.english = all(shard.english for shard in self.shards)

    def __reduce__(self) -> tuple[type[Corpus], tuple[Any, ...]]:
        # Without what was looked up: a worker that is sent a corpus on disk opens it there.
        return Corpus, (self.shards, self._arrays)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def paper_ids(self) -> Strings:
        """Id of each row, read from the disk when it is asked for."""
        return pyarrow.chunked_array([shard.paper_ids for shard in self.shards], pyarrow.string())

    def rows(self, paper_ids: Sequence[str]) -> Rows:
        """The row of each paper. Raises InputError that names every paper outside the corpus."""
        unknown = [paper_id for paper_id in dict.fromkeys(paper_ids) if paper_id not in self._row_of]
        unknown_ids = strings_of(unknown)
        for start, shard in zip(self.starts.tolist(), self.shards if unknown else (), strict=False):
            shard_ids = shard.paper_ids
            matches = pc.indices_nonzero(pc.is_in(shard_ids, value_set=unknown_ids))
            self._row_of |= zip(shard_ids.take(matches).to_pylist(), (numbers(matches) + start).tolist(), strict=True)
        absent = [f"{paper_id}: not in the corpus" for paper_id in unknown if paper_id not in self._row_of]
        if absent:
            raise InputError("papers are missing from the corpus", faults=absent)
        return np.array([self._row_of[paper_id] for paper_id in paper_ids], dtype=np.int64)

    def places(self, rule: Rule) -> list[NDArray[np.int32]]:
        """Corpus numbers of each shard's tokens, ascending."""
        return _cut(self._arrays, rule)

    def tokens(self, rule: Rule) -> Strings:
        """The tokens of a rule, in the order of their characters."""
        return as_strings(self._arrays, f"{rule}_tokens")

    def statistics(self, field: Field, rule: Rule) -> Statistics:
        """The statistics of a field under a rule."""
        running = int(self._arrays[f"{field}_{rule}_running"][0])
        return Statistics(len(self), np.asarray(self._arrays[f"{field}_{rule}_frequency"]), running)

    def rule_on_record(self, rule: Rule) -> str:
        """Name of this rule's tokens in this corpus."""
        return rule if self.english else UNICODE

    def filled(self, field: Field, rule: Rule) -> int:
        """Number of papers with a token of this rule in the field."""
        return sum(np.count_nonzero(np.diff(shard.counts(field, rule).indptr)) for shard in self.shards)

    def norms(self, field: Field) -> NDArray[np.float64]:
        """The length of each paper's tf-idf vector before it is made 1; 0 if the field is empty: shape (papers,)."""
        return self._arrays[f"{field}_norms"]

    def counts(self, field: Field, rule: Rule, rows: Rows) -> Sparse:
        """The counts of these papers, under the numbers that tokens have in the corpus."""
        from scipy.sparse import vstack

        shard_of = np.searchsorted(self.starts, rows, side="right") - 1
        width = self._width(rule)
        nothing = np.zeros(0, dtype=np.int32)
        parts = [sparse(nothing, nothing, np.zeros(1, dtype=np.int32), width)]
        for number in np.unique(shard_of).tolist():
            counts = self.shards[number].counts(field, rule)[rows[shard_of == number] - self.starts[number]]
            columns = self.places(rule)[number][counts.indices]
            parts.append(sparse(counts.data.astype(np.int32), columns, counts.indptr, width))
        order = np.argsort(np.argsort(shard_of, kind="stable"), kind="stable")
        return vstack(parts, format="csr")[order]

    def totals(self, field: Field, rule: Rule, rows: Rows | None = None) -> NDArray[np.int64]:
        """Occurrences of each token in a field of all papers, or of those in these rows: shape (tokens,)."""
        totals = np.zeros(self._width(rule), dtype=np.int64)
        for shard, place, start in zip(self.shards, self.places(rule), self.starts.tolist(), strict=False):
            counts = shard.counts(field, rule)
            if rows is not None:
                counts = counts[rows[(rows >= start) & (rows < start + counts.shape[0])] - start]
            totals[place] += np.asarray(counts.sum(axis=0, dtype=np.int64)).ravel()
        return totals

    def sentences(self, paper_id: str, positions: Iterable[int] | None, rule: Rule) -> Sparse:
        """The counts of the named sentences (positions from 0) of a paper's abstract together: one row. None names all.

        Raises InputError naming every position that the abstract does not have.
        """
        (corpus_row,) = self.rows([paper_id])
        number = int(np.searchsorted(self.starts, corpus_row, side="right")) - 1
        shard, row = self.shards[number], int(corpus_row - self.starts[number])
        stream = shard.stream("abstract")
        start, end = (int(value) for value in stream.documents[row : row + 2])
        chosen = tuple(range(end - start) if positions is None else positions)
        faults = [
            f"{paper_id}: no sentence {position}, expected 0 to {end - start - 1}"
            for position in chosen
            if not 0 <= position < end - start
        ]
        if faults:
            raise InputError(f"{paper_id}: the abstract has no such sentences", faults=faults)
        bounds = stream.sentences
        parts = [stream.ids[bounds[start + position] : bounds[start + position + 1]] for position in chosen]
        pieces = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
        vocabulary = shard.vocabulary(rule)
        tokens, _widths = vocabulary.expand(pieces)
        counts = counted(tokens, np.array([0, len(tokens)]), len(vocabulary))
        columns = self.places(rule)[number][counts.indices]
        return sparse(counts.data, columns, counts.indptr, self._width(rule))

    def texts(self, texts: Sequence[str], rule: Rule) -> Sparse:
        """The counts of texts that are not in the corpus, a row each; tokens that no paper has are left out."""
        cut = cutter(rule, english=self.english)
        tokens = [cut(text.lower()) for text in texts]
        ids = places_of(strings_of(chain.from_iterable(tokens)), self.tokens(rule))
        ends = np.cumsum([0, *map(len, tokens)])
        in_corpus = np.flatnonzero(ids >= 0)
        return counted(ids[in_corpus], np.searchsorted(in_corpus, ends), self._width(rule))

    def _width(self, rule: Rule) -> int:
        return len(self._arrays[f"{rule}_tokens_offsets"]) - 1


def _merged(shards: Sequence[Shard], rule: Rule) -> dict[str, NDArray[Any]]:
    """The tokens of all shards in order, and the place of each shard's tokens among them, shard after shard."""
    tokens_of_shards = [shard.tokens(rule) for shard in shards]
    encoded = pyarrow.concat_arrays(tokens_of_shards).dictionary_encode()
    tokens, number_of = in_order(encoded.dictionary)
    return as_arrays(f"{rule}_tokens", tokens) | {
        f"{rule}_places": number_of[numbers(encoded.indices)],
        f"{rule}_ends": np.cumsum([0, *map(len, tokens_of_shards)], dtype=np.int64),
    }


def _cut(arrays: Mapping[str, NDArray[Any]], rule: Rule) -> list[NDArray[np.int32]]:
    places, ends = arrays[f"{rule}_places"], arrays[f"{rule}_ends"].tolist()
    return [places[start:end] for start, end in pairwise(ends)]


def _norms(corpus: Corpus, field: Field) -> NDArray[np.float64]:
    idf = corpus.statistics(field, "terms").smooth_idf

    shards = zip(corpus.shards, corpus.places("terms"), strict=True)
    parts = in_threads(lambda part: lengths(part[0].counts(field, "terms"), idf[part[1]]), shards)
    return np.concatenate([np.zeros(0), *parts])
