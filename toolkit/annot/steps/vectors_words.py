"""Word vectors that were trained elsewhere, brought in for use in place of trained ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from annot.ranking import wordvectors
from annot.ranking.coverage import Coverage, measure
from annot.ranking.given_word_vectors import Form, read_word_vectors
from annot.ranking.index import Advance, open_index
from annot.study.workspace import Workspace, check_files

LACKING = 10
"""Frequent words without a vector that are named."""
ENOUGH = 0.9
"""The share of running words with a vector below which the lead is warned: then every tenth word counts for nothing."""


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
    coverage: Coverage | None
    """Of the corpus's text; None where there is no corpus yet."""


def bring_in(ws: Workspace, file: Path, *, dry_run: bool, advance: Advance) -> ImportedWordVectors:
    """Keep the word vectors of a file, in place of those that were imported before; none are trained from then on.

    To tell how much of the corpus they cover, its index is made where it is missing.
    """
    check_files([file])
    read = read_word_vectors(file)
    coverage = None
    if any(ws.corpus.glob("*.parquet")):
        with TemporaryDirectory(prefix="annot-") as scratch:
            index = open_index(ws, methods=(), advance=advance, scratch=Path(scratch) if dry_run else None)
            coverage = measure(index.bench.corpus, read.vectors, most=LACKING)
    if not dry_run:
        wordvectors.save(read.vectors, ws.word_vectors)
    rows, dimensions = read.vectors.matrix.shape
    return ImportedWordVectors(
        read.form, dimensions, rows, read.unusable, read.not_finite, str(read.vectors.facts["sha256"]), coverage
    )


def counts(imported: ImportedWordVectors) -> tuple[tuple[str, int | str], ...]:
    """The figures, named for the terminal."""
    own = imported.coverage
    shares: tuple[tuple[str, str], ...] = ()
    if own is not None:
        shares = (
            ("running words of the corpus with a vector", f"{own.running:.1%}"),
            ("distinct words of the corpus with a vector", f"{own.distinct:.1%}"),
        )
    return (
        ("words kept", imported.kept),
        ("words that no text has", imported.unusable),
        ("not finite", imported.not_finite),
        ("dimensions", imported.dimensions),
        *shares,
    )


def notes(imported: ImportedWordVectors) -> tuple[str, ...]:
    """Which frequent words have no vector, and what to do where these are many."""
    own = imported.coverage
    if own is None:
        return ("no corpus yet; import the word vectors again after `annot corpus add`, to see how much they cover",)
    said = []
    if own.lacking:
        words = ", ".join(f"{word} ({count})" for word, count in own.lacking)
        said.append(f"frequent words without a vector, and how often they stand: {words}")
    if own.running < ENOUGH:
        said.append(
            f"warning: {own.running:.1%} of the running words have a vector, expected {ENOUGH:.0%} or more: the cbow "
            "methods do not see the others. Take vectors of more words or of this field, or remove corpus/word-vectors "
            "and vectors are trained on the corpus"
        )
    return tuple(said)
