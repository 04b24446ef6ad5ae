"""Other ids and citations in records of libraries, kept next to the corpus.

While files are read, the rows of each lot are in scratch files. When all files are read, the rows are written under the
ids of the kept papers. A record that was left out as a repetition counts for the paper that it repeats.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.arrow_arrays import each_once, integers_of, mask_of, numbers, strings_of
from annot.corpus.corpus_filters import Tally, hashes_of
from annot.formats.same_work import Identified
from annot.store import citations
from annot.study.workspace import read_manifest, sha256_of, write_file, write_manifest

Known = Identified | None
"""The ids of a record; None if it is not from a library."""


class RowsAside(NamedTuple):
    """Scratch files of one lot, with `at`, the position of the record, and `id`; None without rows."""

    ids: Path | None
    cited: Path | None


class RowWriter(ExitStack):
    """Writes the scratch files of a lot; without a folder, none."""

    def __init__(self, folder: Path | None, name: str) -> None:
        super().__init__()
        self._paths = [folder and folder / f"{name}.{kind}" for kind in ("ids", "cited")]
        self._writers: list[Any] = [None, None]
        self._at = 0

    def add(self, known: Sequence[Known]) -> None:
        """Write the rows of the next records."""
        import pyarrow
        import pyarrow.parquet

        for which, path in enumerate(self._paths):
            rows = [() if one is None else (one.ids, one.cites)[which] for one in known]
            if not any(rows) or path is None:
                continue
            at = np.repeat(np.arange(self._at, self._at + len(rows)), [len(row) for row in rows])
            table = pyarrow.table({"at": integers_of(at), "id": strings_of(chain.from_iterable(rows))})
            if self._writers[which] is None:
                writer = pyarrow.parquet.ParquetWriter(path, table.schema, compression="zstd")
                self._writers[which] = self.enter_context(writer)
            self._writers[which].write_table(table)
        self._at += len(known)

    @property
    def written(self) -> RowsAside:
        """The paths of the scratch files."""
        return RowsAside(*(path if writer else None for path, writer in zip(self._paths, self._writers, strict=True)))


def know_ids(tally: Tally, corpus: Path) -> None:
    """Give the tally the other ids of the papers of the corpus, which it remembers."""
    for path in citations.id_files(corpus):
        table = citations.read_ids(path)
        tally.know(table["paper_id"], hashes_of(table["id"].to_pylist()))


@dataclass
class BesidePapers:
    """The rows of all lots, until the papers that are kept are known."""

    tally: Tally
    _lots: list[tuple[NDArray[np.uint64], RowsAside]] = field(default_factory=list)

    def take(self, works: NDArray[np.uint64], rows: RowsAside) -> None:
        """Remember the rows of a lot. works: the works of its records."""
        if rows != (None, None):
            self._lots.append((works, rows))

    def write_ids(self, corpus: Path, content: str, scratch: Path) -> None:
        """Write the other ids of papers that no file has yet, to one that is named after the hash of the files read.

        This comes before the papers: a command that was killed and runs again finds by them what it had added.
        """
        tables = [self._of_papers(works, rows.ids) for works, rows in self._lots if rows.ids]
        if not tables:
            return
        import pyarrow
        import pyarrow.parquet

        table = each_once(pyarrow.concat_tables(tables))
        table = _without(table, _hashed(citations.id_files(corpus), table["paper_id"]))
        if len(table):
            part = scratch / "ids.parquet"
            pyarrow.parquet.write_table(table, part, compression="zstd")
            _put(part, corpus / citations.IDS / content[:16])
        _vouch(corpus / citations.IDS_MANIFEST, citations.id_files(corpus), inputs={}, facts={})

    def write_citations(self, corpus: Path, content: str, names: Sequence[str], digest: str, scratch: Path) -> int:
        """Write the citations that no file has yet to where `annot import --as citations` puts them. Returns the number
        of citations, including known ones.

        names: of the files that were read. digest: the hash of the corpus.
        """
        import pyarrow
        import pyarrow.parquet

        part, found, writer = scratch / "cited.parquet", 0, None
        there = citations.citation_files(corpus)
        citing = [table["citing"].unique() for table in self._cited()] if there else []
        known = _hashed(there, pyarrow.chunked_array(citing, pyarrow.string()))
        with ExitStack() as stack:
            for table in self._cited():
                found += len(table)
                if not len(new := _without(table, known)):
                    continue
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(part, table.schema, compression="zstd")
                    stack.enter_context(writer)
                writer.write_table(new)
        place = corpus / citations.FOLDER / content[:16]
        if writer is not None:
            _put(part, place / "cited")
        if files := sorted(place.glob("*.parquet")):
            kept = sum(pyarrow.parquet.read_metadata(path).num_rows for path in files)
            of = sorted(Path(name).name for name in names)
            about = json.dumps({"files": of, "sha256": content, "kept": kept}, indent=2, ensure_ascii=False) + "\n"
            if not (path := place / citations.ABOUT).is_file() or path.read_text(encoding="utf-8") != about:
                write_file(path, about)
        if self._lots:
            write_citations_manifest(corpus, digest)
        return found

    def _cited(self) -> Iterator[Any]:
        for works, rows in self._lots:
            if rows.cited:
                table = each_once(self._of_papers(works, rows.cited).rename_columns(["citing", "cited"]))
                if len(table):
                    yield table

    def _of_papers(self, works: NDArray[np.uint64], path: Path) -> Any:
        """The rows with papers in place of records; rows that belong to no paper are left out."""
        import pyarrow
        import pyarrow.parquet

        # `read_table` imports pandas where that is installed.
        table = pyarrow.parquet.ParquetFile(path).read()
        owners = self.tally.owners(works)[numbers(table["at"])]
        table = table.filter(mask_of(owners >= 0))
        ids = self.tally.ids_at(owners[owners >= 0])
        return pyarrow.table({"paper_id": ids, "id": table["id"]})


def write_citations_manifest(corpus: Path, digest: str) -> None:
    """Write the manifest of all citations. digest: the hash of the corpus."""
    ids = corpus / citations.IDS_MANIFEST
    inputs = {f"corpus/{citations.IDS_MANIFEST}": sha256_of(ids)} if ids.is_file() else {}
    facts = {"corpus_sha256": digest}
    _vouch(corpus / citations.MANIFEST, citations.citation_files(corpus), inputs=inputs, facts=facts)


def _vouch(manifest: Path, files: Sequence[Path], *, inputs: Mapping[str, str], facts: Mapping[str, str]) -> None:
    """Write a manifest. One that names the same files and inputs stays as it is, with its facts."""
    if manifest.is_file():
        found = {file.relative_to(manifest.parent).as_posix(): sha256_of(file) for file in files}
        written = read_manifest(manifest, hint="add the papers or the citations again")
        if (written.get("files"), written.get("inputs")) == (found, inputs):
            return
    if files:
        write_manifest(manifest, files=files, inputs=inputs, facts=facts)


def _put(part: Path, path: Path) -> None:
    """Move the file there under that name, or with the next number if the name is taken."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = (f"{path.name}{f'-{number}' if number > 1 else ''}.parquet" for number in count(1))
    part.replace(next(place for name in names if not (place := path.with_name(name)).exists()))


def _hashed(files: Sequence[Path], first: Any) -> NDArray[np.uint64]:
    """The hashes of the rows of the files whose first column has one of the values of `first`, a pyarrow array."""
    if not files:
        return np.array([], np.uint64)
    wanted = first.unique()
    column = "paper_id" if files[0].parent.name == citations.IDS else "citing"
    return np.concatenate([np.array([], np.uint64), *map(_hashes, citations.rows_of(files, column, wanted))])


def _without(table: Any, known: NDArray[np.uint64]) -> Any:
    """The rows whose hashes are not among these."""
    return table.filter(mask_of(~np.isin(_hashes(table), known))) if len(known) else table


def _hashes(table: Any) -> NDArray[np.uint64]:
    one, other = (column.to_pylist() for column in table.columns)
    return hashes_of(f"{this}\0{that}" for this, that in zip(one, other, strict=True))
