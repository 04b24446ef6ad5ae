"""The corpus as it is ranked: shards, the places of papers and tokens in them, and each field's statistics.

A shard is a run of papers, tokenised and counted, that depends on no other papers: a set of arrays by name, in memory
or memory-mapped. Tokens have the shard's own numbers; the corpus knows which of its tokens each is.

Nothing in the corpus depends on how it is cut into shards: tokens are numbered in the order of their characters, papers
in the order of the corpus, and every sum runs in the order of these numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from annot.base.arrow_arrays import as_arrays, as_strings, numbers, strings_of
from annot.base.cores import in_threads
from annot.base.errors import InputError
from annot.ranking.tokens import (
    RULES,
    Field,
    Rule,
    Sparse,
    Stream,
    Strings,
    Vocabulary,
    count_tokens,
    counted,
    in_order,
    lengths,
    sparse,
    tokenise,
    vocabulary,
)

FIELDS: tuple[Field, ...] = get_args(Field)
PER_RULE: tuple[Rule, ...] = get_args(Rule)
Arrays = Mapping[str, NDArray[Any]]


def make_shard(batches: Iterable[Any]) -> dict[str, NDArray[Any]]:
    """The arrays of a shard. batches: record batches with the columns `paper_id`, `title` and `sentences`."""
    import pyarrow as pa

    ids: list[Any] = []

    def noting_ids() -> Iterable[Any]:
        for batch in batches:
            ids.append(batch.column("paper_id"))
            yield batch

    pieces, streams = tokenise(noting_ids())
    arrays = as_arrays("paper_ids", pa.concat_arrays(ids) if ids else strings_of(()))
    arrays |= as_arrays("pieces", pieces)
    for field, stream in streams.items():
        arrays |= {f"{field}_ids": stream.ids, f"{field}_sentences": stream.sentences}
        arrays |= {f"{field}_documents": stream.documents}
    counts_of = {field: counted(stream.ids, stream.starts, len(pieces)) for field, stream in streams.items()}
    for rule in PER_RULE:
        words = vocabulary(pieces, rule)
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
    import pyarrow as pa

    ids = pa.chunked_array([shard.paper_ids for shard in shards], pa.string())
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

    def __reduce__(self) -> tuple[type[Corpus], tuple[Any, ...]]:
        # Without what was looked up: a worker that is sent a corpus on disk opens it there.
        return Corpus, (self.shards, self._arrays)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def paper_ids(self) -> Strings:
        """Id of each row, read from the disk when it is asked for."""
        import pyarrow as pa

        return pa.chunked_array([shard.paper_ids for shard in self.shards], pa.string())

    def rows(self, paper_ids: Sequence[str]) -> Rows:
        """The row of each paper. Raises InputError that names every paper outside the corpus."""
        import pyarrow.compute as pc

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

    def sentence_count(self, paper_id: str) -> int:
        """Number of sentences of a paper's abstract."""
        shard, row = self._at(paper_id)
        documents = self.shards[shard].stream("abstract").documents
        return int(documents[row + 1] - documents[row])

    def sentences(self, paper_id: str, positions: Iterable[int], rule: Rule) -> Sparse:
        """The counts of the named sentences (positions from 0) of a paper's abstract together: one row.

        Raises InputError naming every position that the abstract does not have.
        """
        number, row = self._at(paper_id)
        shard = self.shards[number]
        stream = shard.stream("abstract")
        start, end = (int(value) for value in stream.documents[row : row + 2])
        chosen = tuple(positions)
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
        import pyarrow.compute as pc

        tokens = [RULES[rule].findall(text.lower()) for text in texts]
        numbers_in_corpus = pc.fill_null(
            pc.index_in(strings_of(chain.from_iterable(tokens)), value_set=self.tokens(rule)), -1
        )
        ids, ends = numbers(numbers_in_corpus), np.cumsum([0, *map(len, tokens)])
        in_corpus = np.flatnonzero(ids >= 0)
        return counted(ids[in_corpus], np.searchsorted(in_corpus, ends), self._width(rule))

    def _width(self, rule: Rule) -> int:
        return len(self._arrays[f"{rule}_tokens_offsets"]) - 1

    def _at(self, paper_id: str) -> tuple[int, int]:
        (row,) = self.rows([paper_id])
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return number, int(row - self.starts[number])


def _merged(shards: Sequence[Shard], rule: Rule) -> dict[str, NDArray[Any]]:
    """The tokens of all shards in order, and the place of each shard's tokens among them, shard after shard."""
    import pyarrow as pa

    tokens_of_shards = [shard.tokens(rule) for shard in shards]
    encoded = pa.concat_arrays(tokens_of_shards).dictionary_encode()
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
