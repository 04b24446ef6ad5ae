"""What records of libraries say besides their papers: other ids, and what is cited; kept beside the corpus.

While files are read, the rows of each lot are in scratch files. When all are read, they are written under the ids of
the papers that are kept, those of records left out as repeating a paper under that paper's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.corpus.corpus_filters import Tally, hashes_of
from annot.formats.corpora.identified import Identified
from annot.store import citations
from annot.study.workspace import read_manifest, sha256_of, write_file, write_manifest

Known = Identified | None
"""How a record is known; None of one that is no library's."""


class RowsAside(NamedTuple):
    """Scratch files of one lot, with `at`, the position of the record, and `id`; None without rows."""

    ids: Path | None
    cited: Path | None


class RowWriter:
    """Writes the scratch files of a lot; without a folder, none."""

    def __init__(self, folder: Path | None, name: str) -> None:
        self._paths = [folder and folder / f"{name}.{kind}" for kind in ("ids", "cited")]
        self._writers: list[Any] = [None, None]
        self._open = ExitStack()
        self._at = 0

    def __enter__(self) -> RowWriter:
        return self

    def add(self, known: Sequence[Known]) -> None:
        """Write the rows of the next records."""
        import pyarrow
        import pyarrow.parquet

        for which, path in enumerate(self._paths):
            rows = [
                (at, value)
                for at, one in enumerate(known, start=self._at)
                if one is not None
                for value in (one.ids, one.cites)[which]
            ]
            if not rows or path is None:
                continue
            at, values = zip(*rows, strict=True)
            table = pyarrow.table({"at": pyarrow.array(at, pyarrow.int64()), "id": pyarrow.array(values)})
            if self._writers[which] is None:
                writer = pyarrow.parquet.ParquetWriter(path, table.schema, compression="zstd")
                self._writers[which] = self._open.enter_context(writer)
            self._writers[which].write_table(table)
        self._at += len(known)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @property
    def written(self) -> RowsAside:
        """Where they are."""
        return RowsAside(*(path if writer else None for path, writer in zip(self._paths, self._writers, strict=True)))


def know_ids(tally: Tally, corpus: Path) -> None:
    """Tell the tally, which remembers the papers of the corpus, the ids by which they are known."""
    for path in citations.id_files(corpus):
        table = citations.read_ids(path)
        tally.know(table["paper_id"], hashes_of(table["id"].to_pylist()))


@dataclass
class BesidePapers:
    """The rows of all lots, until the papers that are kept are known."""

    tally: Tally
    _lots: list[tuple[NDArray[np.uint64], RowsAside]] = field(default_factory=list)

    def take(self, works: NDArray[np.uint64], rows: RowsAside) -> None:
        """Remember the rows of a lot; works: of its records."""
        if rows != (None, None):
            self._lots.append((works, rows))

    def write_ids(self, corpus: Path, content: str, scratch: Path) -> None:
        """Write the ids by which the papers are known, in a file named after the hash of what was read.

        This comes before the papers: a command that was killed and runs again finds by them what it had added.
        """
        tables = [self._of_papers(works, rows.ids) for works, rows in self._lots if rows.ids]
        if not tables:
            return
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.concat_tables(tables).group_by(["paper_id", "id"], use_threads=False).aggregate([])
        part = scratch / "ids.parquet"
        pyarrow.parquet.write_table(table, part, compression="zstd")
        _replace(part, corpus / citations.IDS / f"{content[:16]}.parquet")
        write_manifest(corpus / citations.IDS_MANIFEST, files=citations.id_files(corpus), inputs={}, facts={})

    def write_citations(self, corpus: Path, content: str, names: Sequence[str], digest: str, scratch: Path) -> int:
        """Write what the papers cite where `annot import --as citations` puts it; how many citations there are.

        names: of the files that were read. digest: the hash of the corpus.
        """
        import pyarrow.parquet

        part, kept, writer = scratch / "cited.parquet", 0, None
        with ExitStack() as stack:
            for table in self._cited():
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(part, table.schema, compression="zstd")
                    stack.enter_context(writer)
                writer.write_table(table)
                kept += len(table)
        if kept:
            place = corpus / citations.FOLDER / content[:16]
            _replace(part, place / "cited.parquet")
            name = Path(names[0]).name + (f" and {len(names) - 1} more" if len(names) > 1 else "")
            about = {"file": name, "sha256": content, "citations": kept, "kept": kept, "rejected": {}}
            write_file(place / citations.ABOUT, json.dumps(about, indent=2, ensure_ascii=False) + "\n")
        if self._lots:
            write_citations_manifest(corpus, digest)
        return kept

    def _cited(self) -> Iterator[Any]:
        for works, rows in self._lots:
            if rows.cited:
                table = self._of_papers(works, rows.cited).rename_columns(["citing", "cited"])
                table = table.group_by(["citing", "cited"], use_threads=False).aggregate([])
                if len(table):
                    yield table

    def _of_papers(self, works: NDArray[np.uint64], path: Path) -> Any:
        """The rows with the papers that they belong to in place of their records; rows of none are left out."""
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(path)
        owners = self.tally.owners(works)[table["at"].to_numpy()]
        table = table.filter(pyarrow.array(owners >= 0))
        ids = self.tally.ids_at(owners[owners >= 0])
        return pyarrow.table({"paper_id": ids, "id": table["id"]})


def write_citations_manifest(corpus: Path, digest: str) -> None:
    """Write the manifest of all citations; one that names these very files stays as it is, with its papers' hash.

    digest: the hash of the corpus.
    """
    manifest, ids = corpus / citations.MANIFEST, corpus / citations.IDS_MANIFEST
    files = citations.citation_files(corpus)
    inputs = {f"corpus/{citations.IDS_MANIFEST}": sha256_of(ids)} if ids.is_file() else {}
    if manifest.is_file():
        found = {file.relative_to(manifest.parent).as_posix(): sha256_of(file) for file in files}
        written = read_manifest(manifest, hint="add the citations again")
        if (written.get("files"), written.get("inputs")) == (found, inputs):
            return
    if files:
        write_manifest(manifest, files=files, inputs=inputs, facts={"corpus_sha256": digest})


def _replace(part: Path, path: Path) -> None:
    """Put the file there, unless one of the same bytes is: what is known of that one, as its times, stays so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or sha256_of(path) != sha256_of(part):
        part.replace(path)
