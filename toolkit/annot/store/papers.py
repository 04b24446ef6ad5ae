"""The corpus as Parquet files in `corpus/`: written in a stream, read in a stream.

The order of the papers is the order of the file names, then of the rows.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from annot.errors import InputError, MissingInput
from annot.ranking.storage import strings_of
from annot.records import Paper

if TYPE_CHECKING:
    import numpy
    import pyarrow
    from numpy.typing import NDArray

COLUMNS = ("paper_id", "title", "sentences", "year", "labels", "citations")
ROWS_IN_GROUP = 5_000
_HINT = "put papers in with `annot corpus add`"
_NOT_READ: dict[str, Any] = {"title": "", "sentences": ()}


class PaperWriter:
    """Writes papers to one Parquet file in `folder`, which is there whole after the `with`, or not at all.

    name: the file's name; None stands for the next free `part-00001.parquet`. An existing file of the name is
    replaced at the end. Nothing is written when no paper was added. Two writers of one file refuse each other.
    """

    def __init__(self, folder: Path, *, name: str | None = None) -> None:
        self.path = folder / (name or _next_name(folder))
        self.count = 0
        self._temporary = folder / f".{self.path.name}.tmp"
        self._pending: list[Paper] = []
        self._file: IO[bytes] | None = None
        self._writer: Any = None

    def __enter__(self) -> PaperWriter:
        import pyarrow.parquet

        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _locked(self._temporary)
        self._writer = pyarrow.parquet.ParquetWriter(self._file, _schema(), compression="zstd")
        return self

    def add(self, paper: Paper) -> None:
        """Write one paper. Raises InputError when it has another number of labels than of sentences."""
        if paper.labels is not None and len(paper.labels) != len(paper.sentences):
            raise InputError(f"paper {paper.paper_id}: {len(paper.labels)} labels, {len(paper.sentences)} sentences")
        self._pending.append(paper)
        self.count += 1
        if len(self._pending) == ROWS_IN_GROUP:
            self._flush()

    def _flush(self) -> None:
        import pyarrow

        columns = {name: [getattr(paper, name) for paper in self._pending] for name in COLUMNS}
        self._writer.write_table(pyarrow.Table.from_pydict(columns, _schema()), row_group_size=ROWS_IN_GROUP)
        self._pending = []

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


def read_papers(folder: Path, columns: Sequence[str] | None = None) -> Iterator[Paper]:
    """The papers one by one, in order; a few thousand are in memory at a time.

    columns: what to read of them, `paper_id` always; the rest is left empty. None stands for everything.

    Raises MissingInput when the corpus is empty, InputError when a file is not one of ours.
    """
    wanted = COLUMNS if columns is None else tuple(name for name in COLUMNS if name == "paper_id" or name in columns)
    for path in _files(folder):
        for batch in _open(path).iter_batches(batch_size=ROWS_IN_GROUP, columns=list(wanted)):
            yield from _papers(batch)


def paper_ids(folder: Path) -> tuple[str, ...]:
    """The ids of all papers, in order."""
    return tuple(
        paper_id
        for path in _files(folder)
        for batch in _open(path).iter_batches(columns=["paper_id"])
        for paper_id in batch.column(0).to_pylist()
    )


def count_papers(folder: Path) -> int:
    """How many papers the corpus has; reads only the files' footers."""
    return sum(_open(path).metadata.num_rows for path in _files(folder))


def find_papers(folder: Path, ids: Iterable[str]) -> dict[str, Paper]:
    """The papers with these ids, in the order of the corpus; an id that is not there is left out.

    Only the ids of the corpus are read, and the groups of rows that hold a paper that is wanted.
    """
    import pyarrow.compute

    wanted = strings_of(dict.fromkeys(ids))
    found: dict[str, Paper] = {}
    for path in _files(folder):
        file = _open(path)
        for group in range(file.num_row_groups):
            there = pyarrow.compute.is_in(file.read_row_group(group, columns=["paper_id"]).column(0), value_set=wanted)
            if pyarrow.compute.any(there).as_py():
                for batch in file.read_row_group(group, columns=list(COLUMNS)).filter(there).to_batches():
                    for paper in _papers(batch):
                        found.setdefault(paper.paper_id, paper)
    return found


def each_group(folder: Path) -> list[tuple[Path, int]]:
    """Every group of rows of the corpus, as file and number, in order; none where there are no papers."""
    if not any(folder.glob("*.parquet")):
        return []
    return [(path, group) for path in _files(folder) for group in range(_open(path).metadata.num_row_groups)]


def read_group(path: Path, group: int, columns: Iterable[str]) -> Iterator[Paper]:
    """The papers of one group of rows, with these columns; the rest is left empty."""
    for batch in group_table(path, group, (*columns, "paper_id")).to_batches():
        yield from _papers(batch)


def group_table(path: Path, group: int, columns: Collection[str]) -> pyarrow.Table:
    """These columns of one group of rows."""
    return _open(path).read_row_group(group, columns=[name for name in COLUMNS if name in columns])


def keep_rows(path: Path, kept: NDArray[numpy.bool_]) -> None:
    """Write the file anew with the rows that are to be kept, group by group; kept: one value a row."""
    import pyarrow.parquet

    whole = path.with_suffix(".whole")
    path.replace(whole)
    file = _open(whole)
    first = 0
    with pyarrow.parquet.ParquetWriter(path, file.schema_arrow, compression="zstd") as writer:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            if (mask := kept[first : first + len(table)]).any():
                writer.write_table(table.filter(pyarrow.array(mask)))
            first += len(table)
    whole.unlink()


def append_parts(folder: Path, parts: Iterable[Path]) -> None:
    """Make these Parquet files, written beside the corpus, its next parts, in order.

    Killed half-way it leaves the first of them; adding the same papers again brings the others, in the same order.
    """
    for part in parts:
        part.replace(folder / _next_name(folder))


def corpus_sha256(folder: Path) -> str:
    """A hash of the papers in their order; the same however they lie in files, row groups or compression.

    Each column is hashed as its lengths, its validity and its values, over all papers.
    """
    files = (_open(path) for path in _files(folder))
    return columns_sha256(
        batch for file in files for batch in file.iter_batches(batch_size=ROWS_IN_GROUP, columns=list(COLUMNS))
    )


def columns_sha256(batches: Iterable[Any]) -> str:
    """A hash of what stands in the columns of record batches, however they are cut."""
    hashes: dict[tuple[str, str], Any] = {}
    for batch in batches:
        for name in batch.schema.names:
            for part, content in _buffers(batch.column(name)):
                hashes.setdefault((name, part), hashlib.sha256()).update(content)
    whole = hashlib.sha256()
    for (name, part), digest in sorted(hashes.items()):
        whole.update(f"{name} {part} {digest.hexdigest()}\n".encode())
    return whole.hexdigest()


def _buffers(column: Any, prefix: str = "") -> Iterator[tuple[str, bytes | memoryview]]:
    import numpy
    import pyarrow
    import pyarrow.compute

    valid = column.is_valid().to_numpy(zero_copy_only=False)
    yield f"{prefix}valid", valid.astype(numpy.uint8).tobytes()
    if pyarrow.types.is_list(column.type):
        lengths = pyarrow.compute.fill_null(pyarrow.compute.list_value_length(column), 0)
        yield f"{prefix}lengths", lengths.to_numpy(zero_copy_only=False).astype("<i8").tobytes()
        yield from _buffers(column.flatten(), f"{prefix}items ")
    elif pyarrow.types.is_string(column.type):
        filled = pyarrow.compute.fill_null(column, "")
        yield f"{prefix}lengths", pyarrow.compute.binary_length(filled).to_numpy().astype("<i8").tobytes()
        yield f"{prefix}values", _text_bytes(filled)
    else:
        numbers = pyarrow.compute.fill_null(column, 0)
        yield f"{prefix}values", numbers.to_numpy(zero_copy_only=False).astype("<i8").tobytes()


def _text_bytes(column: Any) -> memoryview:
    """The texts of an array without nulls one after the other, as they lie in its memory: a slice of one buffer."""
    import numpy

    _validity, offsets, values = column.buffers()
    if len(column) == 0 or values is None:
        return memoryview(b"")
    bounds = numpy.frombuffer(offsets, numpy.int32, len(column) + 1, column.offset * 4)
    return memoryview(values)[int(bounds[0]) : int(bounds[-1])]


def _papers(batch: Any) -> Iterator[Paper]:
    for row in batch.to_pylist():
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
        yield Paper(**_NOT_READ | given)


def _schema() -> pyarrow.Schema:
    import pyarrow

    text, texts = pyarrow.string(), pyarrow.list_(pyarrow.string())
    types = (text, text, texts, pyarrow.int32(), texts, texts)
    optional = ("year", "labels")
    return pyarrow.schema(
        pyarrow.field(name, kind, nullable=name in optional) for name, kind in zip(COLUMNS, types, strict=True)
    )


def _files(folder: Path) -> list[Path]:
    # A name that begins with a dot is a file being written.
    files = sorted(path for path in folder.glob("*.parquet") if not path.name.startswith("."))
    if not files:
        raise MissingInput(f"{folder}: no papers", hint=_HINT)
    return files


def _open(path: Path) -> Any:
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: not a Parquet file: {error}", hint=_HINT) from None
    found, expected = file.schema_arrow, _schema()
    types = {field.name: field.type for field in found}
    faults = [
        f"{path.name}: column {field.name}: found {types.get(field.name, 'none')}, expected {field.type}"
        for field in expected
        if types.get(field.name) != field.type
    ]
    if faults:
        raise InputError(f"{path}: not written by annot", faults=faults, hint=_HINT)
    return file


def _next_name(folder: Path) -> str:
    taken = [path.stem.removeprefix("part-") for path in folder.glob("part-*.parquet")]
    return f"part-{max((int(number) for number in taken if number.isdigit()), default=0) + 1:05d}.parquet"


def _locked(path: Path) -> IO[bytes]:
    """The file at `path`, emptied and locked to this process; what a killed process left there is taken over."""
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


def opened(folder: Path) -> Iterator[tuple[Path, Any]]:
    """Every file of the corpus with its ParquetFile, in order; raises as `read_papers` does."""
    for path in _files(folder):
        yield path, _open(path)
