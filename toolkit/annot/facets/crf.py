"""A linear-chain conditional random field over the sentences of an abstract: training it, and labelling with it.

The model family of Lafferty, McCallum and Pereira (ICML 2001), as CRFsuite implements it. The library is imported
when a model is trained or first used.
"""

from __future__ import annotations

import hashlib
import lzma
import tempfile
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from annot.errors import InputError
from annot.facets.features import FEATURE_SET, features
from annot.facets.training import LabelledAbstract

SHIPPED_MODEL = "csabstruct.crfsuite.xz"
"""The model in this package; `MODEL.md` beside it says where it comes from."""

_XZ_MAGIC = b"\xfd7zXZ\x00"
_CRF_MAGIC = b"lCRF"


SETTINGS = {"c1": 0.0, "c2": 16.0, "feature.minfreq": 1, "feature.possible_transitions": True, "max_iterations": 1000}
"""What decides a training besides the data: the weights of the L1 and the L2 penalty, how often a feature (attribute
and label) must be seen, and when L-BFGS stops that has not converged long before. The shipped model was trained so."""


def train(abstracts: Iterable[LabelledAbstract]) -> bytes:
    """A model file (xz) trained on `abstracts`; the same abstracts in the same order give the same bytes.

    CRFsuite writes a model to a path only, so a private temporary file stands in between.
    Raises InputError when there is nothing to learn from.
    """
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(SETTINGS)
    seen: set[str] = set()
    for abstract in abstracts:
        trainer.append(features(abstract.sentences), abstract.labels)
        seen.update(abstract.labels)
    if len(seen) < 2:
        raise InputError(
            f"nothing to learn from: found {len(seen)} label(s) in the training abstracts, expected at least 2",
            hint="every sentence has one of the labels of the study, and they differ",
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        trainer.train(str(path))
        return lzma.compress(path.read_bytes(), format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, preset=9)


class Labeller:
    """Labels the sentences of abstracts with one model."""

    sha256: str
    """SHA-256 of the model file's bytes, in hexadecimal."""
    labels: frozenset[str]
    """The labels that it gives: those of the abstracts it was trained on."""

    def __init__(self, model: bytes, *, name: str) -> None:
        """The labeller of the model file `model` (as `train` gives it, or as CRFsuite wrote it, uncompressed).

        `name` stands in messages. Raises InputError when it is not a model, or not one of these features.
        """
        self.name = name
        self.sha256 = hashlib.sha256(model).hexdigest()
        # CRFsuite reads from these bytes as long as it tags: they must live as long as the tagger.
        self._raw = _uncompressed(model, name)
        self._tagger = _tagger(self._raw, name)
        self.labels = frozenset(self._tagger.labels())

    @classmethod
    def load(cls) -> Labeller:
        """The labeller of the model shipped with the package."""
        return cls(files("annot.facets").joinpath(SHIPPED_MODEL).read_bytes(), name=SHIPPED_MODEL)

    def label(self, sentences: Sequence[str]) -> tuple[str, ...]:
        """The most probable sequence of labels: one for each sentence of one whole abstract, in order."""
        if not sentences:
            return ()
        return tuple(self._tagger.tag(features(sentences)))


def _uncompressed(model: bytes, name: str) -> bytes:
    if not model.startswith(_XZ_MAGIC):
        return model
    try:
        return lzma.decompress(model, format=lzma.FORMAT_XZ)
    except lzma.LZMAError as error:
        raise InputError(f"{name}: the model file is damaged: {error}", hint="rebuild it") from None


def _tagger(raw: bytes, name: str) -> Any:
    """CRFsuite's tagger over `raw`. What it would crash on is looked at before it gets to see it."""
    import pycrfsuite

    if not raw.startswith(_CRF_MAGIC):
        raise InputError(f"{name}: not a CRFsuite model: found {raw[:4]!r} at the start, expected {_CRF_MAGIC!r}")
    stated = int.from_bytes(raw[4:8], "little")
    if stated != len(raw):
        raise InputError(f"{name}: the model is cut short: found {len(raw)} bytes, expected {stated}")
    if FEATURE_SET.encode() + b"\0" not in raw:
        raise InputError(
            f"{name}: the model was trained on other features than {FEATURE_SET!r}, which this program computes",
            hint="train it again with `annot facets train FILE`",
        )
    tagger = pycrfsuite.Tagger()
    try:
        tagger.open_inmemory(raw)
    except ValueError as error:
        raise InputError(f"{name}: not a CRFsuite model: {error}") from None
    return tagger
