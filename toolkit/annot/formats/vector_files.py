"""Vectors of papers: `.npy` with a text file of ids, Parquet, and Semantic Scholar's files."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.array_files import numbers as numbers_of
from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.base.libraries import pc, pyarrow
from annot.base.names import counted, near
from annot.formats.input_files import parquet_file

ROWS = 2_000
"""The most rows of a block."""
EXAMPLES = 5


class Block(NamedTuple):
    """Rows of wanted papers, all of one width."""

    ids: Sequence[str]
    matrix: NDArray[Any]
    """Floating-point numbers, shape (ids, dimensions)."""
    where: str
    """The place of its first row."""


@dataclass
class RowCounts:
    """Counts of a reading in addition to the rows that it gave."""

    foreign: int = 0
    """Rows of papers that were not requested."""
    broken: int = 0
    """Rows that are none."""
    examples: list[str] = field(default_factory=list)
    """The first broken rows, with their places."""
    spaces: dict[str, str] = field(default_factory=dict)
    """The space that the files name, and where."""

    def note(self, fault: str) -> None:
        """Count a broken row."""
        self.broken += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(fault)

    def name_space(self, space: str, where: str) -> None:
        """Note that `where` names this space. Raises InputError when another place named another."""
        self.spaces.setdefault(space, where)
        if len(self.spaces) > 1:
            raise InputError(
                "the files contain vectors of two spaces",
                faults=[f"{source}: {space}" for space, source in self.spaces.items()],
                hint="import each of them separately",
            )


ID_COLUMNS = ("paper_id", "corpusid", "corpus_id", "doc_id", "id", "_id")
VECTOR_COLUMNS = ("vector", "embedding", "vectors", "embeddings")
"""The columns that are looked for where none is named."""


def read_npy(path: Path, ids: Sequence[str], papers: Collection[str], tally: RowCounts) -> Iterator[Block]:
    """The rows of these papers. ids: of the rows. Raises InputError when it is no such matrix, or of another length."""
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"{path}: not a .npy file: {error}") from None
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype.kind != "f":
        matrix_file = (
            f"{matrix.dtype} in {counted(matrix.ndim, 'dimension')}" if isinstance(matrix, np.ndarray) else "an archive"
        )
        raise InputError(f"{path}: found {matrix_file}, expected floating-point numbers in 2")
    if len(matrix) != len(ids):
        raise InputError(f"{path}: {len(matrix)} rows, expected {len(ids)}, one for each id")
    for start in range(0, len(matrix), ROWS):
        some = ids[start : start + ROWS]
        keep = [row for row, paper_id in enumerate(some) if paper_id in papers]
        tally.foreign += len(some) - len(keep)
        if keep:
            yield Block(
                [some[row] for row in keep], np.asarray(matrix[start : start + ROWS])[keep], f"{path}: row {start + 1}"
            )


def read_parquet(
    path: Path, papers: Collection[str], tally: RowCounts, *, id_column: str | None, vector_column: str | None
) -> Iterator[Block]:
    """The rows of these papers. A column that is None is found by its usual name.

    Raises InputError when a column is not there or of another type, or when rows differ in width.
    """
    file = parquet_file(path)
    names = file.schema_arrow.names
    id_column = _column(path, names, id_column, ID_COLUMNS, "--id-column")
    vector_column = _column(path, names, vector_column, VECTOR_COLUMNS, "--vector-column")
    kind = file.schema_arrow.field(vector_column).type
    types = pyarrow.types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    if not (is_list and types.is_floating(kind.value_type)):
        raise InputError(f"{path}: column {vector_column}: found {kind}, expected lists of floating-point numbers")
    start = 0
    for batch in file.iter_batches(batch_size=ROWS, columns=[id_column, vector_column]):
        where = f"{path}: row {start + 1}"
        start += len(batch)
        ids = batch.column(id_column).cast(pyarrow.string()).to_pylist()
        keep = [row for row, paper_id in enumerate(ids) if paper_id in papers]
        tally.foreign += len(ids) - len(keep)
        lists = batch.column(vector_column).take(pyarrow.array(keep, pyarrow.int64()))
        for row in np.flatnonzero(lists.is_null().to_numpy(zero_copy_only=False))[::-1]:
            tally.note(f"{where}: {ids[keep[row]]}: no vector")
            del keep[row]
        lists = lists.drop_null()
        widths = set(pc.list_value_length(lists).to_pylist())
        if len(widths) > 1:
            raise InputError(f"{where} and after: rows of {' and '.join(map(str, sorted(widths)))} numbers")
        if keep:
            numbers = lists.flatten().to_numpy(zero_copy_only=False)
            yield Block([ids[row] for row in keep], numbers.reshape(len(keep), -1), where)


def _column(path: Path, names: Sequence[str], chosen: str | None, usual: Sequence[str], option: str) -> str:
    if chosen is not None and chosen not in names:
        raise InputError(f"{path}: column {chosen!r}: not found; {near(chosen, names)}")
    column = chosen or next((name for name in usual if name in names), None)
    if column is None:
        raise InputError(f"{path}: found columns {', '.join(names)}, expected {usual[0]!r}", hint=f"name it: {option}")
    return column


SPACES = {"1": "semantic-scholar/specter_v1", "2": "allenai/specter2"}
"""The space of each version of SPECTER."""

_CORPUS_ID = re.compile(rb'"corpusid"\s*:\s*"?(\d+)"?\s*[,}]')
_DATASET = re.compile(r"embeddings-specter_v([12])")


def read_s2_vectors(path: Path, papers: Collection[str], tally: RowCounts) -> Iterator[Block]:
    """The rows of these papers; a line of another paper is passed over unparsed.

    Raises InputError when the file is broken off, or names another space than one read before.
    """
    # Most commands know this module, and few read such a file.
    from annot.formats.corpora.pieces import Piece, read_lines

    if dataset := _DATASET.search(str(path)):
        tally.name_space(SPACES[dataset[1]], str(path))
    ids: list[str] = []
    rows: list[NDArray[np.float64]] = []
    start = 0
    for number, line in read_lines(Piece(str(path), "", 0, None)):
        named = _CORPUS_ID.search(line)
        if not line.strip():
            continue
        if named is not None and named[1].decode() not in papers:
            tally.foreign += 1
            continue
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
            paper_id, vector = str(record["corpusid"]), record["vector"]
            row = np.asarray(json.loads(vector) if isinstance(vector, str) else vector, dtype=np.float64)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            tally.note(f"{where}: not a line of an embedding dataset: {type(error).__name__}: {error}")
            continue
        if row.ndim != 1 or paper_id not in papers:
            tally.note(f"{where}: corpusid {paper_id}, vector {str(vector)[:40]}: expected a paper and its numbers")
            continue
        if isinstance(model := record.get("model"), str):
            tally.name_space(_space_of(model), where)
        # A block has one width, so that a row of another begins one, whose place is named.
        if rows and (len(row) != len(rows[0]) or len(rows) == ROWS):
            yield Block(ids, np.stack(rows), f"{path}:{start}")
            ids, rows = [], []
        start = start if rows else number
        ids.append(paper_id)
        rows.append(row)
    if rows:
        yield Block(ids, np.stack(rows), f"{path}:{start}")


def _space_of(model: str) -> str:
    """The space of a model by its name there: `specter@v0.1.1` is the first SPECTER, `specter_v2` its successor."""
    name = model.lower()
    if not name.startswith("specter"):
        return f"semantic-scholar/{model}"
    return SPACES["2" if re.match("specter_?v?2", name) else "1"]


WORD_BLOCK = 1 << 20
"""Bytes of a file of word vectors that are read at a time, and the most bytes of one word."""
Words = Iterator[tuple[Sequence[str], NDArray[np.float32]]]
"""Words and their vectors, shape (words, dimensions), block by block."""


def read_word2vec_binary(file: IO[bytes], count: int, dimensions: int) -> Words:
    """The words after the first line: each with a space after it, then its numbers.

    Raises ValueError if they are not `count`.
    """
    width = 4 * dimensions
    data = b""
    while count > 0:
        piece = file.read(WORD_BLOCK + width)
        if not piece:
            raise ValueError(f"{count:,} words are missing")
        data += piece
        words: list[bytes] = []
        starts: list[int] = []
        place, last = 0, len(data) - width
        while len(words) < count and 0 < (start := data.find(b" ", place) + 1) <= last:
            words.append(data[place : start - 1].lstrip(b"\n"))
            starts.append(start)
            place = start + width
        if words:
            rows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, np.uint8), width)[starts]
            yield b" ".join(words).decode(errors="replace").split(" "), rows.view("<f4")
        elif len(data) > 2 * (WORD_BLOCK + width):
            raise ValueError(f"found a word of more than {WORD_BLOCK:,} bytes")
        data = data[place:]
        count -= len(words)


def read_word2vec_text(file: IO[bytes], count: int, dimensions: int) -> Words:
    """The words after the first line: on each line a word and its numbers.

    Raises ValueError if they are not `count`.
    """
    while count > 0:
        lines = [line.rstrip() for line in file.readlines(WORD_BLOCK)[:count]]
        if not lines:
            raise ValueError(f"{count:,} words are missing")
        if odd := next((line for line in lines if line.count(b" ") != dimensions), None):
            raise ValueError(f"found {odd.count(b' ')} numbers, expected {dimensions}: {odd[:40]!r}")
        words, _, numbers = zip(*(line.partition(b" ") for line in lines), strict=True)
        # Arrow reads numbers four times as fast as NumPy; its error is a ValueError, too.
        texts = pc.split_pattern(strings_of([b" ".join(numbers).decode()]), " ").flatten()
        with np.errstate(over="ignore"):
            matrix = numbers_of(texts.cast(pyarrow.float64())).astype(np.float32)
        yield [word.decode(errors="replace") for word in words], matrix.reshape(len(lines), dimensions)
        count -= len(lines)
