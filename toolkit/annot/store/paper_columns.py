"""The corpus by columns, for work that has no time to make a record of each paper."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.storage import strings_of
from annot.store.files_at_url import local_copy, put_files, sha256_of
from annot.store.papers import ROWS_IN_GROUP, files_of, open_papers


class RowGroups(NamedTuple):
    """A run of row groups of one file: the first, the one after the last, and the papers in them."""

    path: Path
    first: int
    stop: int
    papers: int
    url: str = ""
    """Where a worker fetches the file (`annot.store.files_at_url`); empty where it sees the path."""

    @property
    def file(self) -> Path:
        """The file as this process reads it."""
        return local_copy(self.url) if self.url else self.path


def groups_of(folder: Path) -> list[RowGroups]:
    """Every row group of the corpus by itself, in order, under absolute paths; reads only the files' footers."""
    return [
        RowGroups(path.resolve(), group, group + 1, about.row_group(group).num_rows)
        for path in files_of(folder)
        for about in (open_papers(path).metadata,)
        for group in range(about.num_row_groups)
    ]


def groups_for(folder: Path, url: str) -> list[RowGroups]:
    """The same, as workers read them: at the URL, where the files are put first, or, where it is empty, in place."""
    groups = groups_of(folder)
    if not url:
        return groups
    urls = put_files({path: sha256_of(path) for path in dict.fromkeys(group.path for group in groups)}, url)
    return [group._replace(url=urls[group.path]) for group in groups]


def read_columns(groups: Iterable[RowGroups], columns: Sequence[str]) -> Iterator[Any]:
    """These columns as record batches of a few thousand papers, in order."""
    from pyarrow.parquet import ParquetFile

    for run in groups:
        with ParquetFile(run.file) as file:
            yield from file.iter_batches(
                batch_size=ROWS_IN_GROUP,
                row_groups=list(range(run.first, run.stop)),
                columns=list(columns),
                use_threads=False,
            )


def ids_at(folder: Path, places: Sequence[int]) -> dict[int, str]:
    """The ids of the papers at these places of the corpus, counted from 0."""
    import numpy as np
    import pyarrow as pa

    wanted = np.unique(np.array(places, np.int64))
    found: dict[int, str] = {}
    start = 0
    for batch in _batches(folder, "paper_id"):
        here = wanted[slice(*np.searchsorted(wanted, [start, start + len(batch)]))]
        found |= zip(here.tolist(), batch.column(0).take(pa.array(here - start)).to_pylist(), strict=True)
        start += len(batch)
    return found


def known_ids(folder: Path, wanted: Collection[str]) -> frozenset[str]:
    """Which of these ids papers of the corpus have."""
    import pyarrow.compute as pc

    asked = strings_of(wanted)
    found: set[str] = set()
    for batch in _batches(folder, "paper_id"):
        ids = batch.column("paper_id")
        found.update(ids.filter(pc.is_in(ids, value_set=asked)).to_pylist())
    return frozenset(found)


def _batches(folder: Path, *columns: str) -> Iterator[Any]:
    for path in files_of(folder):
        yield from open_papers(path).iter_batches(batch_size=10 * ROWS_IN_GROUP, columns=list(columns))
