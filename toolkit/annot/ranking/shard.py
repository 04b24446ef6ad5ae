"""A shard: a run of papers of the corpus, tokenised and counted, that depends on no other papers.

It is a set of arrays by name, in memory or memory-mapped; what they mean is known here alone. Tokens have the shard's
own numbers; `annot.ranking.corpus` knows which token of the corpus each is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from annot.base.storage import as_arrays, as_strings, strings_of
from annot.ranking.counts import Sparse, count_pieces, count_tokens, document_frequency
from annot.ranking.tokens import Field, Rule, Stream, Strings, TokenisedCorpus, Vocabulary, tokenise, vocabulary

FIELDS: tuple[Field, ...] = get_args(Field)
PER_RULE: tuple[Rule, ...] = get_args(Rule)
Arrays = Mapping[str, NDArray[Any]]


def make(batches: Iterable[Any]) -> dict[str, NDArray[Any]]:
    """The arrays of a shard. batches: record batches with the columns `paper_id`, `title` and `sentences`."""
    import pyarrow as pa

    ids: list[Any] = []

    def read() -> Iterable[Any]:
        for batch in batches:
            ids.append(batch.column("paper_id"))
            yield batch

    corpus = tokenise(read())
    arrays = as_arrays("paper_ids", pa.concat_arrays(ids) if ids else strings_of(()))
    arrays |= as_arrays("pieces", corpus.pieces)
    streams: dict[Field, Stream] = {"title": corpus.titles, "abstract": corpus.abstracts}
    for field, stream in streams.items():
        arrays |= {f"{field}_ids": stream.ids, f"{field}_sentences": stream.sentences}
        arrays |= {f"{field}_documents": stream.documents}
    pieces = {field: count_pieces(stream, len(corpus.pieces)) for field, stream in streams.items()}
    for rule in PER_RULE:
        words = vocabulary(corpus.pieces, rule)
        arrays |= as_arrays(f"{rule}_tokens", words.strings)
        arrays |= {f"{rule}_indptr": words.indptr, f"{rule}_ids": words.ids}
        for field, of_pieces in pieces.items():
            counts = count_tokens(of_pieces, words)
            name = f"{field}_{rule}"
            arrays |= {f"{name}_counts": _smallest(counts.data), f"{name}_columns": counts.indices}
            arrays |= {f"{name}_rows": counts.indptr, f"{name}_frequency": document_frequency(counts)}
    return arrays


class Shard:
    """The papers, tokens and counts in the arrays of a shard; each is opened when it is asked for."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    @property
    def paper_ids(self) -> Strings:
        """The ids of the papers, in order."""
        return as_strings(self._arrays, "paper_ids")

    @property
    def corpus(self) -> TokenisedCorpus:
        """The pieces and the streams of both fields."""
        return TokenisedCorpus(as_strings(self._arrays, "pieces"), self.stream("title"), self.stream("abstract"))

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
        from scipy.sparse import csr_matrix

        parts = tuple(self._arrays[f"{field}_{rule}_{part}"] for part in ("counts", "columns", "rows"))
        shape = (len(parts[2]) - 1, len(self._arrays[f"{field}_{rule}_frequency"]))
        return csr_matrix(parts, shape=shape, copy=False)

    def frequency(self, field: Field, rule: Rule) -> NDArray[np.int64]:
        """In how many documents of the shard each of its tokens stands: shape (tokens,)."""
        return self._arrays[f"{field}_{rule}_frequency"]


def _smallest(counts: NDArray[Any]) -> NDArray[Any]:
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
