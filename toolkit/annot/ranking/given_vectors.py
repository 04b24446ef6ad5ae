"""Vectors that the study has, and vectors in files that were made elsewhere."""

from __future__ import annotations

import difflib
import json
import struct
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from annot.base.array_files import integers_of, mapped, write_header
from annot.base.errors import FULL, InputError, MissingInput
from annot.base.names import check_name, sha256_of
from annot.base.plugins import PluginNames
from annot.base.records import CITED, Advance
from annot.base.settings import FileName, PoolSettings
from annot.formats import input_files
from annot.formats.vector_files import (
    Block,
    RowCounts,
    Words,
    read_npy,
    read_parquet,
    read_s2_vectors,
    read_word2vec_binary,
    read_word2vec_text,
)
from annot.ranking import methods, submission, systems, vectors, word_vectors
from annot.ranking.corpus import FIELDS, UNICODE, Corpus, cutter
from annot.ranking.search import Metric
from annot.ranking.vectors import Precision, Vectors
from annot.study.workspace import Workspace, given_text

# ----------------------------------------------------------------------------------------------------------------------
# The vectors that a study has: of words, imported or trained, and sets of vectors of its papers.
# ----------------------------------------------------------------------------------------------------------------------


def imported_word_vectors(ws: Workspace) -> word_vectors.WordVectors | None:
    """Word vectors that `annot vectors add --words` imported; None if there are none."""
    return word_vectors.load(ws.word_vectors) if ws.word_vectors.is_dir() else None


_FILE_NAME: TypeAdapter[str] = TypeAdapter(FileName)


def vectors_of(ws: Workspace, name: str) -> Vectors:
    """Vectors in `corpus/vectors/NAME`, to be searched. Raises MissingInput with how to add them."""
    folder = ws.vectors / name
    if not folder.is_dir():
        near = difflib.get_close_matches(name, methods.known_methods(ws.settings.plugins.names))
        raise MissingInput(
            f"{name}: no vectors at {folder}" + (f"; did you mean {near[0]!r}?" if near else ""),
            hint=f"make them with `annot vectors add {name} --encoder {name}`, or from files with `annot vectors add "
            f"{name} FILES`; import a run of that engine with `annot pool import`; or leave the method out with "
            f"--without {name}; or name the plug-in that has this method under [plugins] in annot.toml",
        )
    return vectors.load(
        folder, hint=f"correct the files in {folder}, or leave the method out with --without {name}", unread=True
    )


def check_set_name(name: str, plugins: PluginNames = ()) -> None:
    """Raise InputError when a set of vectors cannot be called so: it names a folder, a method and a system at once."""
    try:
        _FILE_NAME.validate_python(name)
    except ValidationError:
        raise InputError(f"{name!r}: expected letters, digits, and _ . + - within") from None
    system = systems.known_systems(plugins).get(name)
    if (system and system.family != "abstracts") or name in (*methods.known_methods(plugins), CITED):
        raise InputError(
            f"{name}: the name of a method that has no vectors", hint="give the vectors a name of their own"
        )


def check_replaceable(ws: Workspace, name: str, space: str, *, encoded: bool) -> None:
    """Raise InputError when the set of this name holds vectors of another space, or of another origin, and if a run
    of another engine draws pools under it.

    encoded: True if an encoder makes the new ones, False if they are imported.
    """
    if name in submission.imported_methods(ws):
        raise InputError(f"{name}: the name of an imported run", hint="give the vectors a name of their own")
    folder = ws.vectors / name
    about = _set_description(folder)
    if not about:
        return
    hint = "give the new vectors another name, or remove the folder first"
    if about.get("space") != space:
        raise InputError(
            f"{folder}: vectors of {about.get('space')}, found {space}: vectors of two spaces must not be mixed",
            hint=hint,
        )
    if ("weights_sha256" in about) != encoded:
        origin = "were not encoded here" if encoded else "an encoder made"
        raise InputError(f"{folder}: contains vectors that {origin}; they would be lost", hint=hint)


def only_space(ws: Workspace, name: str) -> str | None:
    """The space of vectors that are imported under this name, if the name alone determines it: the name itself.

    None if it does not: an encoder of several versions has this name, or the set holds vectors of another space.
    """
    recorded = _set_description(ws.vectors / name).get("space", name)
    return name if recorded == name and name not in systems.known_systems(ws.settings.plugins.names) else None


def _set_description(folder: Path) -> dict[str, Any]:
    """Description of a set; empty if there is no set."""
    path = folder / vectors.ABOUT
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def absent_by_default(ws: Workspace) -> tuple[str, ...]:
    """Methods that a new study lists by default and whose vectors are missing."""
    listed = [name for name in PoolSettings().methods if name not in (*methods.METHODS, CITED)]
    brought = submission.imported_methods(ws)
    return tuple(name for name in listed if not (ws.vectors / name).is_dir() and name not in brought)


def recorded_files(ws: Workspace) -> Iterator[tuple[Path, str, str]]:
    """Files of the sets that were written here, each with its SHA-256 and the record that has it."""
    for about in sorted(ws.vectors.glob(f"*/{vectors.ABOUT}")):
        for name, sha256 in json.loads(about.read_text(encoding="utf-8")).get("files", {}).items():
            yield about.parent / name, sha256, str(about.relative_to(ws.root))


# ----------------------------------------------------------------------------------------------------------------------
# Vectors in files that were made elsewhere, of papers and of words, and how much of a corpus's text these cover.
# ----------------------------------------------------------------------------------------------------------------------


FORM_OF = {".npy": "npy", ".parquet": "parquet"}
"""Format by the end of a file's name; files with any other are Semantic Scholar's."""
SEMANTIC_SCHOLAR = "semantic-scholar"
"""Format whose files hold one of two versions of SPECTER, and do not all name it."""
FORMATS = (SEMANTIC_SCHOLAR, *FORM_OF.values())


class Form(NamedTuple):
    """Format of the files, and the columns to read."""

    name: str | None
    """One of `FORMATS`; None: as the names of the files say."""
    ids: Path | None
    id_column: str | None
    vector_column: str | None

    def of(self, path: Path) -> str:
        """The format of a file."""
        return self.name or FORM_OF.get(path.suffix, SEMANTIC_SCHOLAR)


@dataclass(slots=True)
class ImportedVectors:
    """A set of vectors, with counts of the rows of its files."""

    name: str
    space: str = ""
    metric: Metric = "l2"
    precision: Precision = "float32"
    dimensions: int = 0
    kept: int = 0
    zero: int = 0
    """Number of vectors of zeros, which never rank."""
    missing: int = 0
    """Papers of the corpus without a vector."""
    foreign: int = 0
    """Rows of papers that are not in the corpus."""
    duplicate: int = 0
    """Repeated rows of a paper; the first is kept."""
    differing: int = 0
    """Number of vectors with other numbers."""
    not_finite: int = 0
    broken: int = 0
    """Lines that hold no vector."""
    notes: tuple[str, ...] = ()


@dataclass(eq=False)
class KeptRows:
    """Rows that are kept, one for each paper; the others are counted."""

    ws: Workspace
    counts: ImportedVectors
    tally: RowCounts
    asked_space: str | None
    own_space: str | None
    ids: dict[str, int] = field(default_factory=dict)
    """The papers that have a vector, each with a checksum of it."""
    first: str = ""
    """Place of the first row, for messages."""

    def take(self, block: Block) -> tuple[list[str], NDArray[Any]]:
        """The rows of a block that are to be written. Raises InputError if width or space is another."""
        self._check_space(block.where)
        counts, width = self.counts, int(block.matrix.shape[1])
        if not counts.dimensions:
            counts.dimensions, self.first = width, block.where
        if width != counts.dimensions:
            raise InputError(
                f"{block.where}: found {width} numbers, expected {counts.dimensions} as in {self.first}",
                hint="never mix vectors of two spaces: add each under its own name",
            )
        with np.errstate(over="ignore"):
            rows = block.matrix.astype(counts.precision)
        finite = np.asarray(np.isfinite(rows).all(axis=1))
        counts.not_finite += int((~finite).sum())
        keep = []
        for row in np.flatnonzero(finite).tolist():
            checksum = zlib.crc32(rows[row].tobytes())
            if block.ids[row] in self.ids:
                counts.duplicate += 1
                counts.differing += checksum != self.ids[block.ids[row]]
                continue
            self.ids[block.ids[row]] = checksum
            keep.append(row)
        counts.zero += int((~rows[keep].any(axis=1)).sum())
        return [block.ids[row] for row in keep], rows[keep]

    def _check_space(self, where: str) -> None:
        named, space_asked = next(iter(self.tally.spaces), None), self.asked_space
        if space_asked and named and space_asked != named:
            raise InputError(f"{where}: found vectors of {named}, expected {space_asked} as --space says")
        space = space_asked or named or self.own_space
        if space is None:
            raise InputError(
                f"{where}: the space of the vectors is not known: {self.counts.name} can be one of several",
                hint="name the space, such as --space allenai/specter2; `annot vectors list` prints those of the study",
            )
        if not self.counts.space:
            check_replaceable(self.ws, self.counts.name, space, encoded=False)
        self.counts.space = space


def blocks_of(
    files: Sequence[Path], form: Form, paper_ids: Collection[str], tally: RowCounts, advance: Advance
) -> Iterator[Block]:
    done = 0
    for path in files:
        kind = form.of(path)
        check_name(kind, FORMATS, what="--format")
        for block in _read(path, kind, form, paper_ids, tally):
            done += len(block.ids)
            advance(done, len(paper_ids))
            yield block


def _read(path: Path, kind: str, form: Form, paper_ids: Collection[str], tally: RowCounts) -> Iterator[Block]:
    if kind == SEMANTIC_SCHOLAR:
        return read_s2_vectors(path, paper_ids, tally)
    if kind == "parquet":
        return read_parquet(path, paper_ids, tally, id_column=form.id_column, vector_column=form.vector_column)
    if form.ids is None:
        raise InputError(f"{path}: its rows have no ids", hint="name a file with one id per line: --ids FILE")
    ids = [line.strip() for line in given_text(form.ids, expected="one id per line").removesuffix("\n").split("\n")]
    return read_npy(path, ids, paper_ids, tally)


WordsForm = Literal["word2vec text", "word2vec binary", "fastText binary"]

FASTTEXT_MAGIC = (793_712_314).to_bytes(4, "little")
INCOMPLETE = "the file may be incomplete; download it again"
UNREADABLE = (
    *(ValueError, EOFError, MemoryError, OSError, NotImplementedError, AssertionError),
    *(struct.error, zlib.error),
)
"""Errors of the readers for a file that is not as its beginning says."""
HEAD = 1 << 16
"""Bytes that are looked at to find the format; no line of numbers is longer."""


@dataclass(frozen=True, slots=True)
class ImportedWordVectors:
    """A file of word vectors in figures."""

    form: WordsForm
    dimensions: int
    kept: int
    unusable: int
    """Words that no text has once it is lower-cased and cut into words: capitals, phrases, signs."""
    not_finite: int
    sha256: str
    coverage: Coverage | None = None
    """Coverage of the corpus's text; None if there is no corpus yet."""


def read_word_vectors(
    path: Path, *, english: bool, matrix: Path
) -> tuple[word_vectors.WordVectors, ImportedWordVectors]:
    """The vectors of the words of a file, in its order, and figures of the file.

    matrix: the array file that the numbers are written to, block by block, and from which they are mapped.

    The content shows its format; `.gz` files are read directly:

    - word2vec text, and fastText's `.vec`: a line `words dimensions`, then a word and its numbers on each line;
    - word2vec binary: the same first line, then each word, a space and its numbers as float32;
    - fastText `.bin`: the magic number 793712314 first (fastText, `fasttext.cc`). Of it the vectors of whole words are
      taken, which hold their parts already; words that are not in it get none. gensim reads it.

    Raises InputError when it is in none of the formats, or broken off.
    """
    form = _form(path)
    input_files.check_unpacked(path)
    known_words: set[str] = set()
    words: list[str] = []
    usable = 0
    cut = cutter("words", english=english)
    try:
        with _words_of(path, form) as (shape, blocks), matrix.open("w+b") as file:
            write_header(file, shape, "<f4")
            begin = file.tell()
            for words_of_block, rows in blocks:
                kept = []
                for row, word in enumerate(words_of_block):
                    # The first vector of a word counts.
                    if word not in known_words:
                        known_words.add(word)
                        if cut(word) == [word]:
                            kept.append(row)
                usable += len(kept)
                finite = np.asarray(np.isfinite(rows).all(axis=1))
                kept = kept if finite.all() else [row for row in kept if finite[row]]
                file.write(np.ascontiguousarray(rows if len(kept) == len(rows) else rows[kept], "<f4").data)
                words += [words_of_block[row] for row in kept]
            file.seek(0)
            write_header(file, (len(words), shape[1]), "<f4")
            file.seek(begin)
            sha256 = word_vectors.sha256_of(words, file)
    except UNREADABLE as error:
        if getattr(error, "errno", None) in FULL:
            raise
        raise InputError(f"{path}: not readable as {form}: {error}", hint=INCOMPLETE) from None
    if not words:
        raise InputError(
            f"{path}: none of its {len(known_words):,} words can occur in a text", hint="expected words in lower case"
        )
    dimensions = shape[1]
    facts = {
        "imported": form, "file": path.name, "file_sha256": sha256_of(path), "dimensions": dimensions,
        "words": len(words), "tokens": "words" if english else UNICODE, "sha256": sha256,
    }  # fmt: skip
    unusable, not_finite = len(known_words) - usable, usable - len(words)
    figures = ImportedWordVectors(form, dimensions, len(words), unusable, not_finite, sha256)
    return word_vectors.WordVectors(tuple(words), mapped(matrix), facts), figures


@contextmanager
def _words_of(path: Path, form: WordsForm) -> Iterator[tuple[tuple[int, int], Words]]:
    """Numbers of words and of dimensions of a file, and its words with their vectors."""
    if form == "fastText binary":
        from gensim.models.fasttext import load_facebook_vectors

        keyed = load_facebook_vectors(str(path))
        words = list(keyed.index_to_key)
        yield (len(words), keyed.vector_size), iter([(words, keyed.vectors[: len(words)])])
        return
    with input_files.opened(path) as file:
        count, dimensions = map(int, file.readline().split())
        read = read_word2vec_binary if form == "word2vec binary" else read_word2vec_text
        yield (count, dimensions), read(file, count, dimensions)


def _form(path: Path) -> WordsForm:
    with input_files.opened(path) as file:
        head = file.read(HEAD)
    if head.startswith(FASTTEXT_MAGIC):
        return "fastText binary"
    head_line, _, rest = head.partition(b"\n")
    sizes = head_line.split()
    if len(sizes) != 2 or not all(size.isdigit() for size in sizes):
        raise InputError(
            f"{path}:1: found {head_line[:40]!r}, expected the number of words and of dimensions",
            hint="word vectors come as word2vec text or binary, or as fastText .vec or .bin",
        )
    line, complete, _ = rest.partition(b"\n")
    numbers = line.split()[-int(sizes[1]) :]
    return "word2vec text" if complete and all(map(_is_number, numbers)) else "word2vec binary"


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Coverage:
    """Share of the words of titles and abstracts that have a vector."""

    running: float
    """The share of running words that have a vector, 0..1."""
    distinct: float
    """The share of distinct words that have one, 0..1."""
    lacking: tuple[tuple[str, int], ...]
    """The most frequent words without one, and how often each occurs."""


def coverage_of(corpus: Corpus, vectors: word_vectors.WordVectors, *, most: int) -> Coverage | None:
    """Coverage of the corpus, with at most `most` words that lack a vector; None if the corpus has no word."""
    words = corpus.tokens("words")
    totals = np.sum([corpus.totals(field, "words") for field in FIELDS], axis=0)
    if not totals.any():
        return None
    has_vector = vectors.rows(words) >= 0
    lacking = np.flatnonzero(~has_vector & (totals > 0))
    chosen = lacking[np.argsort(-totals[lacking], kind="stable")][:most]
    return Coverage(
        running=float(totals[has_vector].sum() / totals.sum()),
        distinct=float(has_vector[totals > 0].mean()),
        lacking=tuple(zip(words.take(integers_of(chosen)).to_pylist(), totals[chosen].tolist(), strict=True)),
    )
