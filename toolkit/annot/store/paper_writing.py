"""Papers written to Parquet files, several processes at a time: each file is complete or absent."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

import numpy

from annot.base.array_files import integers_of, lists_of, mask_of, strings_of, truths
from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import Paper
from annot.store.papers import (
    PART_OF,
    ROWS_IN_GROUP,
    files_of,
    open_papers,
    paper_schema,
    with_columns,
    with_rows_replaced,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHARACTERS_IN_GROUP = 1 << 28
"""Arrow counts the bytes of a column in 31 bits."""
_ARRAYS: dict[str, Callable[[list[Any]], Any]] = {
    "paper_id": strings_of,
    "title": strings_of,
    "sentences": lists_of,
    "year": partial(integers_of, kind=numpy.int32),
    "labels": lists_of,
    "citations": lists_of,
    PART_OF: strings_of,
}
"""Constructors of Arrow arrays from the values of a column."""


def table_of(papers: Sequence[Paper], *, passages: bool) -> Any:
    """These papers with the columns of the corpus; passages: with that of their documents."""
    import pyarrow

    schema = paper_schema(passages=passages)
    columns = {name: [getattr(paper, name) for paper in papers] for name in schema.names}
    return pyarrow.Table.from_arrays([_ARRAYS[name](values) for name, values in columns.items()], schema=schema)


class PaperWriter:
    """Writes papers to one Parquet file in `folder`, which is complete after the `with`, or absent.

    name: the file's name; None takes the next free `part-00001.parquet`. An existing file of the name is replaced at
    the end. Nothing is written when no paper was added. Two writers of one file refuse each other.
    """

    def __init__(self, folder: Path, *, name: str | None = None) -> None:
        self.path = folder / (name or _next_name(folder))
        self.count = 0
        self._temporary = folder / f".{self.path.name}.tmp"
        self._pending: list[Paper] = []
        self._characters = 0
        self._file: IO[bytes] | None = None
        self._writer: Any = None
        self._passages = False

    def __enter__(self) -> PaperWriter:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._open(self._temporary)
        return self

    def _open(self, path: Path) -> None:
        import pyarrow.parquet

        self._file = _locked(path)
        schema = paper_schema(passages=self._passages)
        self._writer = pyarrow.parquet.ParquetWriter(self._file, schema, compression="zstd")

    def add(self, paper: Paper) -> None:
        """Write one paper. Raises InputError when it has another number of labels than of sentences."""
        if paper.labels is not None and len(paper.labels) != len(paper.sentences):
            labels, sentences = counted(len(paper.labels), "label"), counted(len(paper.sentences), "sentence")
            raise InputError(f"paper {paper.paper_id}: {labels} for {sentences}")
        self._pending.append(paper)
        self.count += 1
        self._characters += sum(map(len, paper.sentences))
        if len(self._pending) == ROWS_IN_GROUP or self._characters >= _CHARACTERS_IN_GROUP:
            self._flush()

    def _flush(self) -> None:
        if not self._passages and any(paper.part_of is not None for paper in self._pending):
            self._begin_again_for_passages()
        table = table_of(self._pending, passages=self._passages)
        self._writer.write_table(table, row_group_size=ROWS_IN_GROUP)
        self._pending, self._characters = [], 0

    def _begin_again_for_passages(self) -> None:
        """Copy the file so far to another one, which has the column of passages, and continue there."""
        import pyarrow

        old_file, copy = self._file, self._temporary.with_suffix(".passages")
        assert old_file is not None
        self._writer.close()
        old_file.flush()
        old_papers = open_papers(self._temporary)
        self._passages = True
        self._open(copy)
        for group in range(old_papers.num_row_groups):
            table = old_papers.read_row_group(group)
            self._writer.write_table(table.append_column(PART_OF, pyarrow.nulls(len(table), pyarrow.string())))
        copy.replace(self._temporary)
        old_file.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._file is not None
        try:
            if kind is None and self._pending:
                self._flush()
            self._writer.close()
            if kind is None and self.count:
                self._file.flush()
                os.fsync(self._file.fileno())
                self._temporary.replace(self.path)
            else:
                self._temporary.unlink(missing_ok=True)
        except BaseException:
            self._temporary.unlink(missing_ok=True)
            raise
        finally:
            self._file.close()


def keep_rows(path: Path, is_kept: NDArray[numpy.bool_]) -> None:
    """Rewrite the file with the rows to keep, group by group; is_kept: one value a row.

    Killed half-way it leaves the file unchanged.
    """
    import pyarrow.parquet

    part = path.with_suffix(".kept")
    file = open_papers(path)
    start = 0
    with pyarrow.parquet.ParquetWriter(part, file.schema_arrow, compression="zstd") as writer:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            if (mask := is_kept[start : start + len(table)]).any():
                writer.write_table(table.filter(mask_of(mask)))
            start += len(table)
    part.replace(path)


def remove_papers(folder: Path, ids: Iterable[str]) -> None:
    """Rewrite the files of the corpus that have these papers, without them; a file without papers is removed."""
    import pyarrow.compute

    removed = strings_of(dict.fromkeys(ids))
    for path in files_of(folder):
        ids_in_file = open_papers(path).read(columns=["paper_id"]).column(0)
        is_kept = ~truths(pyarrow.compute.is_in(ids_in_file, value_set=removed))
        if not is_kept.any():
            path.unlink()
        elif not is_kept.all():
            keep_rows(path, is_kept)


def replace_papers(folder: Path, rows: Any) -> None:
    """Rewrite the files of the corpus that have papers with these ids, with these rows in their places.

    rows: a table with the columns of the corpus, each id once. Killed half-way it leaves complete files, some of them
    unchanged; running it again finishes.
    """
    import pyarrow.compute
    import pyarrow.parquet

    ids = rows.column("paper_id").combine_chunks()
    for path in files_of(folder):
        file = open_papers(path)
        if not truths(pyarrow.compute.is_in(file.read(columns=["paper_id"]).column(0), value_set=ids)).any():
            continue
        schema = paper_schema(passages=PART_OF in {*rows.schema.names, *file.schema_arrow.names})
        new, part = _in_columns(rows, schema), path.with_suffix(".corrected")
        with pyarrow.parquet.ParquetWriter(part, schema, compression="zstd") as writer:
            for group in range(file.num_row_groups):
                table = _in_columns(file.read_row_group(group), schema)
                writer.write_table(with_rows_replaced(table, new))
        part.replace(path)


def _in_columns(table: Any, schema: Any) -> Any:
    """The table with the columns of this schema; a column that it lacks is empty."""
    return with_columns(table, schema.names).select(schema.names).cast(schema)


def append_parts(folder: Path, parts: Iterable[Path]) -> None:
    """Make these Parquet files, written outside the corpus, its next parts, in order.

    Killed half-way it leaves the first of them; adding the same papers again brings the others, in the same order.
    """
    for part in parts:
        part.replace(folder / _next_name(folder))


def _next_name(folder: Path) -> str:
    numbers_used = [path.stem.removeprefix("part-") for path in folder.glob("part-*.parquet")]
    return f"part-{max((int(number) for number in numbers_used if number.isdigit()), default=0) + 1:05d}.parquet"


def _locked(path: Path) -> IO[bytes]:
    """File at `path`, emptied and locked to this process; the remains of a killed process are taken over."""
    file = open(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")  # noqa: SIM115, PTH123
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between opening and locking, its writer may have moved it to its final name: then it is not ours to empty.
        if not path.exists() or path.stat().st_ino != os.fstat(file.fileno()).st_ino:
            raise BlockingIOError
    except BlockingIOError:
        file.close()
        raise InputError(f"{path.parent}: another process is adding papers", hint="wait, then run it again") from None
    file.truncate(0)
    return file
