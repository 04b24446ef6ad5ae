"""Word vectors that were trained elsewhere, brought in for use in place of trained ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annot.ranking import wordvectors
from annot.ranking.given_word_vectors import Form, read_word_vectors
from annot.study.given_files import check_files
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ImportedWordVectors:
    """A file of word vectors in figures."""

    form: Form
    dimensions: int
    kept: int
    unusable: int
    """Words that no text has once it is lower-cased and cut into words."""
    not_finite: int
    sha256: str


def bring_in(ws: Workspace, file: Path, *, dry_run: bool) -> ImportedWordVectors:
    """Keep the word vectors of a file, in place of those that were imported before; none are trained from then on."""
    check_files([file])
    read = read_word_vectors(file)
    if not dry_run:
        wordvectors.save(read.vectors, ws.word_vectors)
    rows, dimensions = read.vectors.matrix.shape
    return ImportedWordVectors(
        read.form, dimensions, rows, read.unusable, read.not_finite, str(read.vectors.facts["sha256"])
    )


def counts(imported: ImportedWordVectors) -> tuple[tuple[str, int], ...]:
    """The figures, named for the terminal."""
    return (
        ("words kept", imported.kept),
        ("words that no text has", imported.unusable),
        ("not finite", imported.not_finite),
        ("dimensions", imported.dimensions),
    )
