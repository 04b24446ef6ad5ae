"""The corpus as Parquet files in `corpus/`, read in a stream, here or by workers on other machines."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from annot.base.array_files import integers_of, lists_of, mask_of, numbers, strings_of, truths
from annot.base.errors import InputError, MissingInput
from annot.base.libraries import pc, pq, pyarrow
from annot.base.names import counted, sha256_of
from annot.base.parallel import in_threads
from annot.base.records import Paper
from annot.formats.input_files import open_parquet

# ----------------------------------------------------------------------------------------------------------------------
# Files at a URL, for workers on other machines that do not see the study's folder.
#
# Each has the SHA-256 of its bytes as its name: a file there is never out of date, and never sent twice.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FolderAtUrl:
    """A folder (`annot.base.array_files.Folder`) whose files are read in place here, and at URLs in other processes."""

    path: Path | None
    """Path here; None in a process to which it was sent."""
    urls: Mapping[str, str]
    """URLs by file name."""

    def __truediv__(self, name: str) -> Path:
        return local_copy(self.urls[name]) if self.path is None else self.path / name

    def __getstate__(self) -> dict[str, Any]:
        return {"path": None, "urls": self.urls}


def put_files(files: Mapping[Path, str], url: str) -> dict[Path, str]:
    """Put missing files at the URL, and return the URL of each file. files: the SHA-256 by path.

    Raises InputError if that cannot be done, or a file has another hash.
    """
    names = {path: f"{sha256}{path.suffix}" for path, sha256 in files.items()}
    with _errors_in_words(url):
        system, root = _opened(url)
        system.makedirs(root, exist_ok=True)
        existing = {name.rpartition("/")[2] for name in system.find(root, maxdepth=1)}
        for path, name in names.items():
            if name not in existing:
                if not path.is_file() or sha256_of(path) != files[path]:
                    raise InputError(f"{path}: changed since it was written", hint="run `annot index --repair`")
                unfinished = f"{root}/{name}.{uuid4().hex}"
                system.put_file(str(path), unfinished)
                system.mv(unfinished, f"{root}/{name}")
                existing.add(name)
    return {path: f"{url.rstrip('/')}/{name}" for path, name in names.items()}


def local_copy(url: str) -> Path:
    """The file at this URL, fetched once to this machine's temporary folder; its name is the hash it must have.

    Raises InputError if it cannot be read or is another file.
    """
    place = Path(tempfile.gettempdir()) / f"annot-fetched-{os.getuid()}" / url.rpartition("/")[2]
    if not place.exists():
        place.parent.mkdir(mode=0o700, exist_ok=True)
        unfinished = place.with_name(f"{place.name}.part")
        with unfinished.open("ab") as copy:
            # One of the workers of this machine fetches it, and the others wait.
            fcntl.flock(copy, fcntl.LOCK_EX)
            if not place.exists():
                fetch_file(url, unfinished)
                unfinished.replace(place)
    return place


def fetch_file(url: str, path: Path) -> None:
    """Fetch the file at this URL to a path; its name there must be its hash.

    Raises InputError if it cannot be read or is another file.
    """
    with _errors_in_words(url):
        system, name = _opened(url)
        with system.open(name, "rb") as source, path.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    if sha256_of(path) != Path(name).stem:
        raise InputError(f"{url}: its bytes do not have the hash in its name", hint="delete it there and try again")


@contextmanager
def _errors_in_words(url: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, ImportError, NotImplementedError) as error:
        raise InputError(f"{url}: {str(error) or type(error).__name__}", hint="check `shards` in annot.toml") from None


def _opened(url: str) -> tuple[Any, str]:
    """File system of a URL, without its cached listings from before others put files there, and the path in it."""
    from fsspec.core import url_to_fs

    files, path = url_to_fs(url)
    files.invalidate_cache()
    return files, str(path).rstrip("/")


# ----------------------------------------------------------------------------------------------------------------------
# The corpus as Parquet files in `corpus/`, read in a stream.
#
# The order of the papers is the order of the file names, then of the rows.
# ----------------------------------------------------------------------------------------------------------------------


COLUMNS = ("paper_id", "title", "sentences", "year", "labels", "citations")
"""The columns of every file."""
PART_OF = "part_of"
OPTIONAL = (PART_OF, "language")
"""The columns of a file in which a paper has such a value."""
ROWS_IN_GROUP = 5_000
_HINT = "add papers with `annot corpus add`"
_NOT_READ: dict[str, Any] = {"title": "", "sentences": ()}


def read_papers(folder: Path, columns: Sequence[str] | None = None) -> Iterator[Paper]:
    """The papers one by one, in order; a few thousand are in memory at a time.

    columns: the columns to read, `paper_id` always; the rest is left empty. None reads all.

    Raises MissingInput when the corpus is empty, InputError when a file was not written by annot.
    """
    chosen = [name for name in (*COLUMNS, *OPTIONAL) if columns is None or name == "paper_id" or name in columns]
    for path in files_of(folder):
        yield from papers_in(open_papers(path).iter_batches(batch_size=ROWS_IN_GROUP, columns=chosen))


def paper_ids(folder: Path) -> tuple[str, ...]:
    """The ids of all papers, in order."""
    return tuple(paper_id for batch in _id_batches(folder) for paper_id in batch.column(0).to_pylist())


def texts_of_papers(folder: Path) -> Any:
    """Every paper with its abstract as one text, in order: paper_id, title, year, sentences (how many), abstract, and
    part_of if there are passages."""
    passages = [PART_OF] if count_passages(folder) else []
    names = ["paper_id", "title", "year", "sentences", *passages]
    tables = (open_papers(path).read(columns=names) for path in files_of(folder))
    texts = pyarrow.concat_tables([with_columns(table, names) for table in tables]).select(names)
    sentences = texts["sentences"]
    counted = texts.set_column(3, "sentences", pc.list_value_length(sentences))
    with_text = counted.append_column("abstract", pc.binary_join(sentences, " "))
    return with_text.select([*names[:4], "abstract", *passages])


def ids_after(folder: Path, name: str | None) -> Iterator[str]:
    """The ids of the papers in the files that come after the one of this name, in order; none come after None.

    Raises InputError if there is no such file.
    """
    files = files_of(folder) if name else []
    if name and name not in {path.name for path in files}:
        raise InputError(
            f"{folder / name}: missing, but a version of the corpus begins after it",
            hint="restore the corpus from a backup",
        )
    for path in files:
        if path.name > (name or ""):
            yield from open_papers(path).read(columns=["paper_id"]).column(0).to_pylist()


def count_papers(folder: Path) -> int:
    """Number of papers of the corpus; reads only the files' footers."""
    return sum(open_papers(path).metadata.num_rows for path in files_of(folder))


def find_papers(folder: Path, ids: Iterable[str]) -> dict[str, Paper]:
    """The papers with these ids, in the order of the corpus; unknown ids are left out.

    Only the ids of the corpus are read, and the groups of rows with one of these papers.
    """
    wanted_ids = strings_of(dict.fromkeys(ids))

    def found_in(path: Path) -> list[Paper]:
        return [
            paper
            for table in rows_with(open_papers(path), "paper_id", wanted_ids, [*COLUMNS, *OPTIONAL])
            for paper in papers_in(table.to_batches())
        ]

    papers: dict[str, Paper] = {}
    for some in in_threads(found_in, files_of(folder)):
        for paper in some:
            papers.setdefault(paper.paper_id, paper)
    return papers


def headings(folder: Path, ids: Iterable[str]) -> dict[str, str]:
    """Headings of these papers: the title, or the beginning of the text of a paper without a title."""
    papers = find_papers(folder, ids)
    return {paper_id: paper.title or " ".join(paper.sentences[:1]) for paper_id, paper in papers.items()}


def rows_with(file: Any, column: str, values: Any, columns: list[str]) -> Iterator[Any]:
    """Rows of a Parquet file whose `column` has one of the values: a table from each group of rows."""
    for group in range(file.num_row_groups):
        matches = pc.is_in(file.read_row_group(group, columns=[column]).column(0), value_set=values)
        if pc.any(matches).as_py():
            yield file.read_row_group(group, columns=columns).filter(matches)


def corpus_sha256(folder: Path, last: str | None = None) -> str:
    """A hash of the papers in their order, independent of files, row groups and compression.

    Each column is hashed as its lengths, its validity and its values, over all papers; an optional one only if there
    are any. last: name of the last file that counts; None takes all.
    """
    (*_, (digest, _papers)) = beginnings(folder, last=last)
    return digest


def beginnings(folder: Path, instead: Any = None, *, last: str | None = None) -> Iterator[tuple[str, int]]:
    """The corpus as it was after each of its files: its `corpus_sha256`, and its number of papers.

    instead: a table with rows that take the places of those with their ids, such as records before a correction. last:
    name of the last file; None takes all.
    """
    hashes: ColumnHashes = {}
    values, papers = Counter[str](), 0
    for path in files_of(folder, last):
        file = open_papers(path)
        papers += file.metadata.num_rows
        values.update({name: _values(file, name) for name in OPTIONAL})
        names = [name for name in (*COLUMNS, *OPTIONAL) if name in file.schema_arrow.names]
        for batch in file.iter_batches(batch_size=ROWS_IN_GROUP, columns=names):
            for rows in _replaced(with_columns(batch, (*COLUMNS, *OPTIONAL)), instead):
                _hash_columns(hashes, rows)
        counted_hashes = {key: digest for key, digest in hashes.items() if key[0] in COLUMNS or values[key[0]]}
        yield _hash_of_all(counted_hashes), papers


def _replaced(batch: Any, instead: Any) -> list[Any]:
    """The batch as record batches, with these rows in the places of those with their ids."""
    if instead is None:
        return [batch]
    table = pyarrow.Table.from_batches([batch])
    rows = instead.select(table.schema.names).cast(table.schema)
    batches: list[Any] = with_rows_replaced(table, rows).combine_chunks().to_batches()
    return batches


def with_rows_replaced(table: Any, rows: Any) -> Any:
    """The table with these rows, which have its columns, in the places of those with their ids."""
    places = pc.index_in(table.column("paper_id"), value_set=rows.column("paper_id").combine_chunks())
    order, is_replaced = np.arange(len(table)), truths(places.is_valid())
    order[is_replaced] = len(table) + numbers(places.drop_null())
    return pyarrow.concat_tables([table, rows]).take(integers_of(order))


def count_passages(folder: Path) -> int:
    """Number of papers that are passages of a document; reads only the files' footers."""
    return sum(_values(open_papers(path), PART_OF) for path in files_of(folder))


def _values(file: Any, name: str) -> int:
    """Number of papers of a file that have a value in this column."""
    about = file.metadata
    if name not in about.schema.names:
        return 0
    column = about.schema.names.index(name)
    groups = [about.row_group(group) for group in range(about.num_row_groups)]
    return sum(group.num_rows - group.column(column).statistics.null_count for group in groups)


def with_columns(batch: Any, names: Sequence[str]) -> Any:
    """The batch with a column of each name; a missing column is added empty."""
    for name in names:
        if name not in batch.schema.names:
            batch = batch.append_column(name, pyarrow.nulls(len(batch), pyarrow.string()))
    return batch


ColumnHashes = dict[tuple[str, str], Any]
"""Hash of each part of each column, updated with every batch."""


def columns_sha256(batches: Iterable[Any]) -> str:
    """A hash of the values in the columns of record batches, however these are cut."""
    hashes: ColumnHashes = {}
    for batch in batches:
        _hash_columns(hashes, batch)
    return _hash_of_all(hashes)


def _hash_columns(hashes: ColumnHashes, batch: Any) -> None:
    for name in batch.schema.names:
        for part, content in _buffers(batch.column(name)):
            hashes.setdefault((name, part), hashlib.sha256()).update(content)


def _hash_of_all(hashes: ColumnHashes) -> str:
    digest_of_all = hashlib.sha256()
    for (name, part), digest in sorted(hashes.items()):
        digest_of_all.update(f"{name} {part} {digest.hexdigest()}\n".encode())
    return digest_of_all.hexdigest()


def _buffers(column: Any, prefix: str = "") -> Iterator[tuple[str, bytes | memoryview]]:
    valid = truths(column.is_valid())
    yield f"{prefix}valid", valid.astype(np.uint8).tobytes()
    if pyarrow.types.is_list(column.type):
        lengths = _filled(pc.list_value_length(column))
        yield f"{prefix}lengths", numbers(lengths).astype("<i8").tobytes()
        yield from _buffers(column.flatten(), f"{prefix}items ")
    elif pyarrow.types.is_string(column.type):
        filled = pc.fill_null(column, strings_of([""])[0])
        yield f"{prefix}lengths", numbers(pc.binary_length(filled)).astype("<i8").tobytes()
        yield f"{prefix}values", _text_bytes(filled)
    else:
        yield f"{prefix}values", numbers(_filled(column)).astype("<i8").tobytes()


def _filled(integers: Any) -> Any:
    """The array, with 0 in place of nulls."""
    return pc.fill_null(integers, integers_of(np.zeros(1, str(integers.type)))[0])


def _text_bytes(column: Any) -> memoryview:
    """The texts of an array without nulls one after the other, as in its memory: a slice of one buffer."""
    _validity, offsets, values = column.buffers()
    if len(column) == 0 or values is None:
        return memoryview(b"")
    bounds = np.frombuffer(offsets, np.int32, len(column) + 1, column.offset * 4)
    return memoryview(values)[int(bounds[0]) : int(bounds[-1])]


def papers_in(batches: Iterable[Any]) -> Iterator[Paper]:
    """The papers of record batches with columns of the corpus; the rest is left empty."""
    for batch in batches:
        for row in batch.to_pylist():
            values = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
            yield Paper(**_NOT_READ | values)


def paper_schema(optional: Collection[str] = OPTIONAL) -> Any:
    """The columns of a file that has these optional ones."""
    text, texts = pyarrow.string(), pyarrow.list_(pyarrow.string())
    types = (text, text, texts, pyarrow.int32(), texts, texts, text, text)
    may_be_empty = ("year", "labels", *OPTIONAL)
    return pyarrow.schema(
        pyarrow.field(name, kind, nullable=name in may_be_empty)
        for name, kind in zip((*COLUMNS, *OPTIONAL), types, strict=True)
        if name in COLUMNS or name in optional
    )


def files_of(folder: Path, last: str | None = None) -> list[Path]:
    """Files of the corpus, in order. Raises MissingInput if there is none.

    last: name of the last file to take; None takes all.
    """
    # A name that begins with a dot is a file being written.
    files = sorted(path for path in folder.glob("*.parquet") if not path.name.startswith("."))
    if not files:
        raise MissingInput(f"{folder}: no papers", hint=_HINT)
    return [path for path in files if last is None or path.name <= last]


def open_papers(path: Path) -> Any:
    """A file of the corpus. Raises InputError if it was not written by annot."""
    file = open_parquet(path, hint=_HINT)
    types = {field.name: field.type for field in file.schema_arrow}
    faults = [
        f"{path.name}: column {field.name}: found {types.get(field.name, 'none')}, expected {field.type}"
        for field in paper_schema()
        if types.get(field.name) != field.type and (field.name in types or field.name not in OPTIONAL)
    ]
    if faults:
        raise InputError(f"{path}: not written by annot", faults=faults, hint=_HINT)
    return file


class RowGroups(NamedTuple):
    """A run of row groups of one file: the first, the one after the last, and the papers in them."""

    path: Path
    first: int
    stop: int
    papers: int
    url: str = ""
    """Address from which a worker fetches the file (`annot.store.papers`); empty if it sees the path."""

    @property
    def file(self) -> Path:
        """The file as this process reads it."""
        return local_copy(self.url) if self.url else self.path


def groups_of(folder: Path, last: str | None = None) -> list[RowGroups]:
    """Row groups of the corpus one by one, in order, under absolute paths; reads only the files' footers.

    last: name of the last file to take; None takes all.
    """
    return [
        RowGroups(path.resolve(), group, group + 1, about.row_group(group).num_rows)
        for path in files_of(folder, last)
        for about in (open_papers(path).metadata,)
        for group in range(about.num_row_groups)
    ]


def groups_for(folder: Path, url: str, last: str | None = None) -> list[RowGroups]:
    """Row groups as `groups_of` returns them, as workers read them: at the URL, where the files are put first, or in
    place if the URL is empty."""
    groups = groups_of(folder, last)
    if not url:
        return groups
    urls = put_files({path: sha256_of(path) for path in dict.fromkeys(group.path for group in groups)}, url)
    return [group._replace(url=urls[group.path]) for group in groups]


def read_columns(groups: Iterable[RowGroups], columns: Sequence[str]) -> Iterator[Any]:
    """Record batches of a few thousand papers with these columns, in order."""
    for run in groups:
        with pq.ParquetFile(run.file) as file:
            yield from file.iter_batches(
                batch_size=ROWS_IN_GROUP,
                row_groups=list(range(run.first, run.stop)),
                columns=list(columns),
                use_threads=False,
            )


def ids_at(folder: Path, places: Sequence[int]) -> dict[int, str]:
    """The ids of the papers at these places of the corpus, counted from 0."""
    distinct = np.unique(np.array(places, np.int64))
    id_of_place: dict[int, str] = {}
    start = 0
    for batch in _id_batches(folder):
        inside = distinct[slice(*np.searchsorted(distinct, [start, start + len(batch)]))]
        ids = batch.column(0).take(integers_of(inside - start)).to_pylist()
        id_of_place |= zip(inside.tolist(), ids, strict=True)
        start += len(batch)
    return id_of_place


def known_ids(folder: Path, candidates: Collection[str]) -> frozenset[str]:
    """Ids that papers of the corpus have, among these."""
    values = strings_of(candidates)
    in_corpus: set[str] = set()
    for batch in _id_batches(folder):
        ids = batch.column("paper_id")
        in_corpus.update(ids.filter(pc.is_in(ids, value_set=values)).to_pylist())
    return frozenset(in_corpus)


def _id_batches(folder: Path) -> Iterator[Any]:
    for path in files_of(folder):
        yield from open_papers(path).iter_batches(batch_size=10 * ROWS_IN_GROUP, columns=["paper_id"])


# ----------------------------------------------------------------------------------------------------------------------
# Papers written to Parquet files, several processes at a time: each file is complete or absent.
# ----------------------------------------------------------------------------------------------------------------------


_CHARACTERS_IN_GROUP = 1 << 28
"""Arrow counts the bytes of a column in 31 bits."""
_ARRAYS: dict[str, Callable[[list[Any]], Any]] = {
    "paper_id": strings_of,
    "title": strings_of,
    "sentences": lists_of,
    "year": partial(integers_of, kind=np.int32),
    "labels": lists_of,
    "citations": lists_of,
    **dict.fromkeys(OPTIONAL, strings_of),
}
"""Constructors of Arrow arrays from the values of a column."""


def table_of(papers: Sequence[Paper]) -> Any:
    """These papers with the columns of the corpus."""
    schema = paper_schema()
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
        self._optional: set[str] = set()

    def __enter__(self) -> PaperWriter:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._open(self._temporary)
        return self

    def _open(self, path: Path) -> None:
        self._file = _locked(path)
        self._writer = pq.ParquetWriter(self._file, paper_schema(self._optional), compression="zstd")

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
        table = table_of(self._pending)
        if new := {name for name in OPTIONAL if table[name].null_count < len(table)} - self._optional:
            self._begin_again_with(new | self._optional)
        self._writer.write_table(table.select(self._writer.schema.names), row_group_size=ROWS_IN_GROUP)
        self._pending, self._characters = [], 0

    def _begin_again_with(self, optional: set[str]) -> None:
        """Copy the file so far to another one, which has these optional columns, and continue there."""
        old_file, copy = self._file, self._temporary.with_suffix(".columns")
        assert old_file is not None
        self._writer.close()
        old_file.flush()
        old_papers = open_papers(self._temporary)
        self._optional = optional
        self._open(copy)
        for group in range(old_papers.num_row_groups):
            self._writer.write_table(_in_columns(old_papers.read_row_group(group), self._writer.schema))
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


def rewrite(path: Path, changed: Callable[[Any], Any], *, schema: Any = None) -> None:
    """Rewrite the file with each of its groups of rows as the function returns it; killed half-way it leaves the file
    unchanged. schema: of the tables that the function returns; None: that of the file."""
    part, file = path.with_suffix(".rewritten"), open_papers(path)
    with pq.ParquetWriter(part, schema or file.schema_arrow, compression="zstd") as writer:
        for group in range(file.num_row_groups):
            if len(table := changed(file.read_row_group(group))):
                writer.write_table(table)
    part.replace(path)


def keep_rows(path: Path, is_kept: NDArray[np.bool_]) -> None:
    """Rewrite the file with the rows to keep; is_kept: one value a row. Killed half-way it leaves the file
    unchanged."""
    masks = iter(is_kept.tolist())
    rewrite(path, lambda table: table.filter(mask_of(np.fromiter(masks, bool, len(table)))))


def remove_papers(folder: Path, ids: Iterable[str]) -> None:
    """Rewrite the files of the corpus that have these papers, without them; a file without papers is removed."""
    removed = strings_of(dict.fromkeys(ids))
    for path in files_of(folder):
        is_kept = ~_has_id(path, removed)
        if not is_kept.any():
            path.unlink()
        elif not is_kept.all():
            keep_rows(path, is_kept)


def replace_papers(folder: Path, rows: Any) -> None:
    """Rewrite the files of the corpus that have papers with these ids, with these rows in their places.

    rows: a table with the columns of the corpus, each id once. Killed half-way it leaves complete files, some of them
    unchanged; running it again finishes.
    """
    ids = rows.column("paper_id").combine_chunks()
    for path in files_of(folder):
        if _has_id(path, ids).any():
            schema = paper_schema({*rows.schema.names, *open_papers(path).schema_arrow.names})
            rewrite(path, partial(_merged, new=_in_columns(rows, schema)), schema=schema)


def _merged(table: Any, new: Any) -> Any:
    """The table with these rows in the places of those with their ids, in their columns."""
    return with_rows_replaced(_in_columns(table, new.schema), new)


def _has_id(path: Path, ids: Any) -> NDArray[np.bool_]:
    """Mask of the papers of a file that have one of these ids, a pyarrow array."""
    return truths(pc.is_in(open_papers(path).read(columns=["paper_id"]).column(0), value_set=ids))


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
