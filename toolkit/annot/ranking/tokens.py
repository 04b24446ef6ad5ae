"""One pass over the text of a corpus: pieces as integer ids, from which the tokens of every rule follow.

A piece is what stands between two ASCII characters that are neither letter, digit, underscore nor apostrophe, in the
lower-cased text. No token of any rule reaches over the edge of a piece, so each rule is applied once to each distinct
piece, not to each occurrence: the text is read once and all rules share one stream.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from annot.errors import InputError
from annot.ranking import storage
from annot.records import Paper

Rule = Literal["terms", "words"]
Field = Literal["title", "abstract"]

RULES: dict[Rule, re.Pattern[str]] = {
    "terms": re.compile(r"(?u)\b\w\w+\b"),
    "words": re.compile(r"[a-z0-9]+(?:'[a-z]+)?"),
}
"""How a lower-cased text falls into tokens: `terms` is scikit-learn's default, for tf-idf; `words` is for BM25 and
word vectors. CSFCube's published baselines need both."""

KIND = "annot-tokens-1"
_WITHIN_PIECE = np.array([code >= 128 or bool(re.match(r"[\w']", chr(code))) for code in range(256)])
"""For each byte of UTF-8, whether it belongs to a piece; what lies above ASCII is left to the rules."""
_BATCH = 4_000_000
"""Characters that are cut into pieces at once."""


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
        """Where each document begins in `ids`, and the end of the last: shape (documents + 1,)."""
        return np.asarray(self.sentences[self.documents])


@dataclass(frozen=True)
class TokenisedCorpus:
    """The corpus as ids: one vocabulary of pieces, one stream a field, in the order in which the papers came."""

    paper_ids: tuple[str, ...]
    pieces: tuple[str, ...]
    titles: Stream
    abstracts: Stream

    @cached_property
    def rows(self) -> dict[str, int]:
        """The position of each paper."""
        return {paper_id: row for row, paper_id in enumerate(self.paper_ids)}

    def stream(self, field: Field) -> Stream:
        return self.titles if field == "title" else self.abstracts

    def sentence_count(self, paper_id: str) -> int:
        """How many sentences a paper's abstract has."""
        row = self.rows[paper_id]
        return int(self.abstracts.documents[row + 1] - self.abstracts.documents[row])

    def sentence_ids(self, paper_id: str, sentences: Iterable[int]) -> NDArray[np.int32]:
        """The pieces of the named sentences (positions from 0) of a paper's abstract, one after the other.

        Raises InputError naming every position that the abstract does not have.
        """
        row = self.rows[paper_id]
        first, end = (int(value) for value in self.abstracts.documents[row : row + 2])
        wanted = tuple(sentences)
        faults = [
            f"{paper_id}: no sentence {position}; expected 0 to {end - first - 1}"
            for position in wanted
            if not 0 <= position < end - first
        ]
        if faults:
            raise InputError(f"{paper_id}: the abstract has {end - first} sentences", faults=faults)
        bounds = self.abstracts.sentences
        parts = [self.abstracts.ids[bounds[first + position] : bounds[first + position + 1]] for position in wanted]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of one rule, and which of them each piece gives: `ids[indptr[p]:indptr[p + 1]]`, in order."""

    tokens: tuple[str, ...]
    indptr: NDArray[np.int64]
    ids: NDArray[np.int32]

    def expand(self, pieces: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tokens of a run of pieces, and how many each piece gave."""
        starts = self.indptr[pieces]
        widths = self.indptr[pieces + 1] - starts
        ends = np.cumsum(widths)
        total = int(ends[-1]) if len(ends) else 0
        return self.ids[np.repeat(starts - ends + widths, widths) + np.arange(total)], widths


def tokenise(papers: Iterable[Paper]) -> TokenisedCorpus:
    """Read the title and the sentences of every paper, once. Raises InputError when two papers share an id."""
    known: dict[bytes, int] = {}
    titles, abstracts = _Builder(known), _Builder(known)
    paper_ids: list[str] = []
    for paper in papers:
        paper_ids.append(paper.paper_id)
        titles.add((paper.title,))
        abstracts.add(paper.sentences)
    doubled = [paper_id for paper_id, count in Counter(paper_ids).items() if count > 1]
    if doubled:
        raise InputError("the corpus has a paper id more than once", faults=[f"{name}: again" for name in doubled])
    streams = titles.stream(), abstracts.stream()
    return TokenisedCorpus(tuple(paper_ids), tuple(piece.decode() for piece in known), *streams)


def vocabulary(corpus: TokenisedCorpus, rule: Rule) -> Vocabulary:
    """The tokens that the pieces of `corpus` give under `rule`, numbered in the order of the pieces."""
    tokens: defaultdict[str, int] = defaultdict()
    tokens.default_factory = tokens.__len__
    find: Callable[[str], list[str]] = RULES[rule].findall
    ids, ends = array("i"), array("q", [0])
    for piece in corpus.pieces:
        ids.extend(map(tokens.__getitem__, find(piece)))
        ends.append(len(ids))
    return Vocabulary(tuple(tokens), _int64(ends), _int32(ids))


_PARTS = ("ids", "sentences", "documents")


def save(corpus: TokenisedCorpus, folder: Path) -> None:
    """Write the streams to `folder`."""
    fields = {"title": corpus.titles, "abstract": corpus.abstracts}
    arrays = {f"{field}_{part}": getattr(stream, part) for field, stream in fields.items() for part in _PARTS}
    texts = {"paper_ids": corpus.paper_ids, "pieces": corpus.pieces}
    storage.save(folder, kind=KIND, arrays=arrays, texts=texts, facts={})


def load(folder: Path) -> TokenisedCorpus:
    """What `save` wrote, memory-mapped. Raises MissingInput or InputError (`storage.load`)."""
    stored = storage.load(folder, kind=KIND)
    titles, abstracts = (
        Stream(*(stored.arrays[f"{field}_{part}"] for part in _PARTS)) for field in ("title", "abstract")
    )
    return TokenisedCorpus(stored.texts["paper_ids"], stored.texts["pieces"], titles, abstracts)


class _Builder:
    """Gathers the texts of one field and turns them into ids, a batch at a time."""

    def __init__(self, known: dict[bytes, int]) -> None:
        self._known = known
        self._waiting: list[str] = []
        self._size = 0
        self._ids: list[NDArray[np.int32]] = []
        self._widths: list[NDArray[np.int64]] = []
        self._documents = array("q", [0])

    def add(self, sentences: tuple[str, ...]) -> None:
        self._waiting.extend(sentences)
        self._documents.append(self._documents[-1] + len(sentences))
        self._size += sum(map(len, sentences))
        if self._size >= _BATCH:
            self._flush()

    def stream(self) -> Stream:
        self._flush()
        ids = np.concatenate([np.zeros(0, dtype=np.int32), *self._ids])
        sentences = np.concatenate([np.zeros(1, dtype=np.int64), *self._widths])
        return Stream(ids, np.cumsum(sentences), _int64(self._documents))

    def _flush(self) -> None:
        if self._waiting:
            ids, widths = _pieces(self._waiting, self._known)
            self._ids.append(ids)
            self._widths.append(widths)
            self._waiting, self._size = [], 0


def _pieces(texts: list[str], known: dict[bytes, int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The ids of the pieces of all `texts`, and how many each text has; new pieces enter `known`."""
    import pyarrow as pa

    joined = "\0".join(texts)
    if joined.count("\0") >= len(texts):
        joined = "\0".join(text.replace("\0", " ") for text in texts)
    # A lone surrogate is no word character; it becomes "?", which is none either.
    buffer = np.frombuffer(joined.lower().encode("utf-8", "replace"), dtype=np.uint8)
    within = _WITHIN_PIECE[buffer]
    edges = np.flatnonzero(np.diff(within, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    offsets = np.concatenate(([0], np.cumsum(ends - starts))).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(buffer[within])]
    encoded = pa.Array.from_buffers(pa.binary(), len(starts), buffers).dictionary_encode()
    id_of = np.fromiter((known.setdefault(piece, len(known)) for piece in encoded.dictionary.to_pylist()), np.int32)
    gaps = np.concatenate(([0], np.flatnonzero(buffer == 0), [len(buffer)]))
    # Read from the buffer: `to_numpy` would import pandas.
    indices = np.frombuffer(encoded.indices.buffers()[1], dtype=np.int32, count=len(starts))
    return id_of[indices], np.diff(np.searchsorted(starts, gaps))


def _int32(values: array[int]) -> NDArray[np.int32]:
    return np.frombuffer(values, dtype=np.int32) if len(values) else np.zeros(0, dtype=np.int32)


def _int64(values: array[int]) -> NDArray[np.int64]:
    return np.frombuffer(values, dtype=np.int64)
