"""Vectors of papers that were made elsewhere, brought in as a pooling method and a system of their name."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.errors import InputError
from annot.base.names import check_name
from annot.formats.s2_vectors import Spaces, read_s2_vectors
from annot.formats.vector_blocks import Block, Tally
from annot.formats.vector_files import read_npy, read_parquet, read_safetensors
from annot.ranking.dense import Metric
from annot.ranking.index import Advance
from annot.ranking.paper_vectors import check_replaceable, check_set_name, only_space
from annot.ranking.vectors import Precision, VectorsWriter
from annot.store.papers import paper_ids
from annot.study.workspace import Workspace, check_files, sha256_of

FORM_OF = {".npy": "npy", ".parquet": "parquet", ".safetensors": "safetensors"}
"""By the end of the file's name; any other is Semantic Scholar's."""
SEMANTIC_SCHOLAR = "semantic-scholar"
"""The format whose files hold one of two versions of SPECTER, and do not all tell which."""
FORMATS = (SEMANTIC_SCHOLAR, *FORM_OF.values())
WITH_IDS = ("npy", "safetensors")
"""Formats whose ids stand in a file of their own."""


class Form(NamedTuple):
    """How the files are to be read."""

    name: str | None
    """One of `FORMATS`; None tells it by the names of the files."""
    ids: Path | None
    id_column: str | None
    vector_column: str | None

    def of(self, path: Path) -> str:
        """The format of a file."""
        return self.name or FORM_OF.get(path.suffix, SEMANTIC_SCHOLAR)


@dataclass(frozen=True, slots=True)
class ImportedVectors:
    """A set of vectors, and what became of the rows of its files."""

    name: str
    space: str
    metric: Metric
    precision: Precision
    dimensions: int
    kept: int
    zero: int
    """Of these, the vectors of zeros, which never rank."""
    missing: int
    """Papers of the corpus without a vector."""
    foreign: int
    """Rows of papers that are not in the corpus."""
    duplicate: int
    """Rows of a paper that had one before; the first stands."""
    differing: int
    """Of these, the ones with other numbers."""
    not_finite: int
    broken: int
    """Lines that hold no vector."""
    notes: tuple[str, ...]


def bring_in(
    ws: Workspace,
    name: str,
    files: Sequence[Path],
    *,
    form: Form,
    space: str | None,
    model: str | None,
    metric: str,
    half: bool,
    dry_run: bool,
    advance: Advance,
) -> ImportedVectors:
    """Keep the vectors of the corpus's papers under this name, in place of those of the same space that it had.

    space: the one the vectors lie in; None where the files or the name of the set tell it. half: keep half precision.
    Raises InputError when the files are not of the format, differ in width or space, or hold no paper of the corpus.
    """
    check_set_name(name)
    check_name(metric, ("l2", "cosine"), what="--metric")
    check_files([*files, *filter(None, [form.ids])])
    if form.ids is not None and len(files) > 1:
        raise InputError(f"--ids: found {len(files)} files beside it, expected one")
    wanted = frozenset(paper_ids(ws.corpus))
    tally = Tally()
    own_space = None if SEMANTIC_SCHOLAR in map(form.of, files) else only_space(ws, name)
    precision: Precision = "float16" if half else "float32"
    kept = _Kept(ws, name, tally, asked_space=space, own_space=own_space, precision=precision)
    writer = VectorsWriter(ws.vectors / name, most=len(wanted), precision=kept.precision)
    with nullcontext() if dry_run else writer:
        for block in _blocks(files, form, wanted, tally, advance):
            ids, rows = kept.take(block)
            if ids and not dry_run:
                writer.add(ids, rows)
        if not kept.ids:
            raise InputError(
                f"{name}: no vector of a paper of the corpus in {len(files)} file(s), {tally.foreign} of other papers, "
                f"{kept.not_finite} not finite in {kept.precision}",
                faults=tally.examples,
                hint="are the ids those of the corpus? numbers beyond 65,504 are not finite in half precision",
            )
        if not dry_run:
            sources = {path.name: sha256_of(path) for path in files}
            writer.about = {"model": model or kept.space, "space": kept.space, "metric": metric, "sources": sources}
    return ImportedVectors(
        name,
        kept.space,
        "cosine" if metric == "cosine" else "l2",
        kept.precision,
        kept.dimensions,
        kept=len(kept.ids),
        zero=kept.zero,
        missing=len(wanted) - len(kept.ids),
        foreign=tally.foreign,
        duplicate=kept.duplicate,
        differing=kept.differing,
        not_finite=kept.not_finite,
        broken=tally.broken,
        notes=tuple(tally.examples),
    )


def counts(imported: ImportedVectors) -> tuple[tuple[str, int], ...]:
    """The figures, named for the terminal."""
    return (
        ("papers with a vector", imported.kept),
        ("of these zero, never ranked", imported.zero),
        ("papers without", imported.missing),
        ("rows of other papers", imported.foreign),
        ("rows again", imported.duplicate),
        ("of these with other numbers", imported.differing),
        ("not finite", imported.not_finite),
        ("broken", imported.broken),
        ("dimensions", imported.dimensions),
    )


class _Kept:
    """What is kept of the rows, one for each paper, and the counts of the others."""

    def __init__(
        self,
        ws: Workspace,
        name: str,
        tally: Tally,
        *,
        asked_space: str | None,
        own_space: str | None,
        precision: Precision,
    ) -> None:
        self._ws = ws
        self._name = name
        self._tally = tally
        self._asked = asked_space
        self._own = own_space
        self._first = ""
        self.precision = precision
        self.space = ""
        self.dimensions = 0
        self.ids: dict[str, int] = {}
        """The papers that have a vector, each with a checksum of it."""
        self.zero = self.duplicate = self.differing = self.not_finite = 0

    def take(self, block: Block) -> tuple[list[str], NDArray[Any]]:
        """The rows of a block that are to be written. Raises InputError where width or space is another."""
        self._check_space(block.where)
        width = int(block.matrix.shape[1])
        if not self.dimensions:
            self.dimensions, self._first = width, block.where
        if width != self.dimensions:
            raise InputError(
                f"{block.where}: found {width} numbers, expected {self.dimensions} as in {self._first}",
                hint="two spaces must never be mixed; import each under a name of its own",
            )
        with np.errstate(over="ignore"):
            rows = block.matrix.astype(self.precision)
        finite = np.isfinite(rows).all(axis=1)
        self.not_finite += int((~finite).sum())
        keep = []
        for at in np.flatnonzero(finite).tolist():
            checksum = zlib.crc32(rows[at].tobytes())
            if block.ids[at] in self.ids:
                self.duplicate += 1
                self.differing += checksum != self.ids[block.ids[at]]
                continue
            self.ids[block.ids[at]] = checksum
            keep.append(at)
        self.zero += int((~rows[keep].any(axis=1)).sum())
        return [block.ids[at] for at in keep], rows[keep]

    def _check_space(self, where: str) -> None:
        told = self._tally.space
        if self._asked and told and self._asked != told:
            raise InputError(f"{where}: vectors of {told}, expected {self._asked} as --space says")
        found = self._asked or told or self._own
        if found is None:
            raise InputError(
                f"{where}: does not name the space of its vectors, and {self._name} can be one of several",
                hint="name it, so that two are never mixed, such as --space allenai/specter2 (`annot vectors list` "
                "shows those on record)",
            )
        if not self.space:
            check_replaceable(self._ws, self._name, found, encoded=False)
        self.space = found


def _blocks(
    files: Sequence[Path], form: Form, wanted: Collection[str], tally: Tally, advance: Advance
) -> Iterator[Block]:
    spaces = Spaces()
    done = 0
    for path in files:
        kind = form.of(path)
        check_name(kind, FORMATS, what="--format")
        for block in _read(path, kind, form, wanted, tally, spaces):
            done += len(block.ids)
            advance(done, len(wanted))
            yield block


def _read(path: Path, kind: str, form: Form, wanted: Collection[str], tally: Tally, spaces: Spaces) -> Iterator[Block]:
    if kind == SEMANTIC_SCHOLAR:
        return read_s2_vectors(path, wanted, tally, spaces)
    if kind == "parquet":
        return read_parquet(path, wanted, tally, id_column=form.id_column, vector_column=form.vector_column)
    if form.ids is None:
        raise InputError(f"{path}: found no --ids, expected the file with the id of each row, one a line")
    ids = [line.strip() for line in form.ids.read_text(encoding="utf-8").removesuffix("\n").split("\n")]
    if kind == "npy":
        return read_npy(path, ids, wanted, tally)
    return read_safetensors(path, ids, wanted, tally, tensor=form.vector_column)
