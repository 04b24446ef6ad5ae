"""Word vectors that were trained elsewhere: the formats of word2vec and fastText, read by gensim.

Which format a file has is seen from its content; `.gz` is read as it is:

- word2vec text, and fastText's `.vec`: a line `words dimensions`, then a word and its numbers on each line;
- word2vec binary: the same first line, then each word, a space and its numbers as float32;
- fastText `.bin`: the magic number 793712314 first (fastText, `fasttext.cc`). Of it the vectors of whole words are
  taken, which hold their parts already; words that are not in it get none.
"""

from __future__ import annotations

import gzip
import hashlib
import struct
import zlib
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast

import numpy as np

from annot.base.errors import InputError
from annot.ranking.tokens import RULES
from annot.ranking.wordvectors import WordVectors, hashed

Form = Literal["word2vec text", "word2vec binary", "fastText binary"]

FASTTEXT_MAGIC = (793_712_314).to_bytes(4, "little")
HEAD = 1 << 16
"""Bytes that are looked at to tell the format; no line of numbers is longer."""


class Read(NamedTuple):
    """The vectors of the words that texts can have, and what was left out of the file."""

    vectors: WordVectors
    form: Form
    unusable: int
    """Words that no text has once it is lower-cased and cut: capitals, phrases, signs."""
    not_finite: int


def read_word_vectors(path: Path) -> Read:
    """The vectors of a file, in its order. Raises InputError when it is in none of the formats, or broken off."""
    form = _form(path)
    try:
        keyed = _load(path, form)
    except (ValueError, EOFError, OSError, NotImplementedError, AssertionError, struct.error, zlib.error) as error:
        raise InputError(
            f"{path}: not readable as {form}: {error}", hint="is the file whole? fetch it once more"
        ) from None
    words = list(keyed.index_to_key)
    matrix = np.asarray(keyed.vectors[: len(words)], dtype=np.float32)
    usable = np.fromiter((RULES["words"].fullmatch(word) is not None for word in words), np.bool_, len(words))
    finite = np.isfinite(matrix).all(axis=1)
    rows = np.flatnonzero(usable & finite)
    if not len(rows):
        raise InputError(
            f"{path}: none of its {len(words)} words can stand in a text", hint="texts are read in lower case"
        )
    with path.open("rb") as file:
        source = hashlib.file_digest(file, "sha256").hexdigest()
    facts = {
        "imported": form, "file": path.name, "file_sha256": source, "dimensions": int(matrix.shape[1]),
        "words": len(rows), "tokens": "words",
    }  # fmt: skip
    vectors = hashed([words[row] for row in rows], matrix[rows], facts)
    return Read(vectors, form, int((~usable).sum()), int((usable & ~finite).sum()))


def _load(path: Path, form: Form) -> Any:
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    if form == "fastText binary":
        return load_facebook_vectors(str(path))
    return KeyedVectors.load_word2vec_format(str(path), binary=form == "word2vec binary", unicode_errors="replace")


def _form(path: Path) -> Form:
    try:
        with _opened(path) as file:
            head = file.read(HEAD)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: not readable: {error}", hint="is the file whole? fetch it once more") from None
    if head.startswith(FASTTEXT_MAGIC):
        return "fastText binary"
    first, _, rest = head.partition(b"\n")
    sizes = first.split()
    if len(sizes) != 2 or not all(size.isdigit() for size in sizes):
        raise InputError(
            f"{path}:1: found {first[:40]!r}, expected the number of words and of dimensions",
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


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
