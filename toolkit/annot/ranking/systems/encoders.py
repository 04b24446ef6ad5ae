"""Many texts or papers through an encoder, with transformers or sentence-transformers.

Batches hold texts of like length.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from annot.base.errors import InputError
from annot.base.records import Advance, Paper
from annot.base.stats.arrays import Matrix
from annot.ranking.dense import Metric
from annot.ranking.systems.reading import (
    Loaded,
    first_line,
    load,
    more_than_numbers,
    pooled,
    prepare_libraries,
    sentence_means,
    text_tokens,
    tokens_in_context,
    usable_device,
)
from annot.ranking.systems.weights import Reading

BATCH = 32
MODULES, OWN, SETTINGS = "modules.json", "sentence_transformers.", "config_sentence_transformers.json"
"""The file that names the parts of a sentence-transformers model, how the names of the library's own begin, and the
file of its settings."""

TextEncoder = Callable[[Sequence[str], Advance], Matrix]
"""A vector for each text, read by itself: shape (texts, dimensions)."""
PaperReading = Literal["own", "document"]
PaperEncoder = Callable[[Sequence[Paper], Advance], Matrix]
"""A vector for each paper: float32, shape (papers, dimensions)."""


def open_text_encoder(folder: Path, reading: Reading, *, device: str | None) -> TextEncoder:
    """Load the weights in `folder`, to read texts one by one. device: of torch; None is the GPU if there is one."""
    return _opened(folder, reading, device=device, half=False, batch=BATCH)[0]


def open_topic_encoder(
    folder: Path, reading: PaperReading, *, device: str | None, half: bool, batch: int
) -> TextEncoder:
    """Load the weights in `folder`, to read topics that are texts: a sentence-transformers model as it reads queries.

    half: compute in half precision. batch: texts read at once.
    """
    return _opened(folder, reading, device=device, half=half, batch=batch, side="encode_query")[0]


Side = Literal["encode", "encode_query", "encode_document"]
"""Method of a sentence-transformers model that reads: a model may have a prompt, or even an encoder, for each side."""


def _opened(
    folder: Path, reading: Reading, *, device: str | None, half: bool, batch: int, side: Side = "encode"
) -> tuple[TextEncoder, str]:
    """Encoder of texts, and the separator of title and abstract."""
    if reading != "own":
        loaded, pooling = load(folder, device, half=half), "cls" if reading == "document" else reading
        return partial(_pooled, loaded, pooling, batch=batch), loaded.tokenizer.sep_token
    model = _sentence_transformer(folder, device, half=half)
    encode_batch = getattr(model, side)

    def encode(texts: Sequence[str], advance: Advance) -> Matrix:
        parts: list[Matrix] = []
        for start in range(0, len(texts), BATCH * BATCH):
            some = list(texts[start : start + BATCH * BATCH])
            parts.append(np.asarray(encode_batch(some, batch_size=batch, show_progress_bar=False), dtype=np.float32))
            advance(start + len(some), len(texts))
        return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)

    return encode, getattr(model.tokenizer, "sep_token", None) or " "


def reading_of(folder: Path) -> PaperReading:
    """Reading of the weights: a sentence-transformers model by its `own` pooling, any other as SPECTER."""
    return "own" if (folder / MODULES).is_file() else "document"


def metric_of(folder: Path, reading: PaperReading) -> Metric:
    """Metric of the vectors: distance, as SPECTER's, or the one that the sentence-transformers model names."""
    if reading == "document":
        return "l2"
    path = folder / SETTINGS
    says = json.loads(path.read_text(encoding="utf-8")).get("similarity_fn_name") if path.is_file() else None
    return "l2" if says == "euclidean" else "cosine"


def open_paper_encoder(
    folder: Path, reading: PaperReading, *, device: str | None, half: bool, batch: int
) -> PaperEncoder:
    """Load the weights in `folder`, to read papers as wholes: title, separator and abstract without spaces between.

    A `document` is read as its first token's state. half: compute in half precision. batch: papers read at once.
    """
    encode, separator = _opened(folder, reading, device=device, half=half, batch=batch, side="encode_document")
    return lambda papers, advance: encode(
        [paper.title + separator + " ".join(paper.sentences) for paper in papers], advance
    )


def encode_in_context(folder: Path, papers: Sequence[Paper], *, advance: Advance) -> list[Matrix]:
    """Vectors of each paper's sentences, each the mean of its tokens' states in the whole abstract.

    Sentences beyond the last token that is read have no vector; one without a token has a vector of zeros.
    """
    loaded = load(folder)
    inputs = [tokens_in_context(loaded, paper) for paper in papers]
    lengths = [len(paper.tokens) for paper in inputs]
    return _in_batches(
        lengths, BATCH, lambda some: map(_numpy, sentence_means(loaded, [inputs[place] for place in some])), advance
    )


def _pooled(loaded: Loaded, reading: Reading, texts: Sequence[str], advance: Advance, *, batch: int) -> Matrix:
    tokens = text_tokens(loaded, texts)
    lengths = [len(text) for text in tokens]
    rows = _in_batches(
        lengths, batch, lambda some: _numpy(pooled(loaded, [tokens[place] for place in some], reading)), advance
    )
    return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)


def _in_batches(
    lengths: Sequence[int], size: int, read: Callable[[Sequence[int]], Iterable[Matrix]], advance: Advance
) -> list[Matrix]:
    """Results of `read` for each place; texts of like length are read together."""
    import torch

    order = sorted(range(len(lengths)), key=lambda place: (lengths[place], place))
    vectors: dict[int, Matrix] = {}
    for start in range(0, len(order), size):
        some = order[start : start + size]
        with torch.inference_mode():
            vectors |= zip(some, read(some), strict=True)
        advance(len(vectors), len(order))
    return [vectors[place] for place in range(len(lengths))]


def _sentence_transformer(folder: Path, device: str | None, *, half: bool) -> Any:
    """The sentence-transformers model in the folder. Raises InputError if there is none, and for modules that are
    not the library's own: their code would come with the weights."""
    prepare_libraries(folder)
    from sentence_transformers import SentenceTransformer

    _refuse_code(folder)
    place = str(usable_device(device))
    try:
        model = SentenceTransformer(str(folder), device=place, local_files_only=True, trust_remote_code=False)
    except pickle.UnpicklingError:
        raise more_than_numbers(folder) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: not readable as a sentence-transformers model: {first_line(error)}") from None
    return model.half() if half else model


def _refuse_code(folder: Path) -> None:
    try:
        modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
        types = [module["type"] for module in modules]
    except FileNotFoundError:
        return
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{folder / MODULES}: not a list of modules, each with its type") from None
    foreign = [name for name in types if not str(name).startswith(OWN)]
    if foreign:
        raise InputError(
            f"{folder / MODULES}: found module {foreign[0]}, expected modules of sentence-transformers alone",
            hint="weights are read, but programs that come with them are never run",
        )


def _numpy(tensor: Any) -> Matrix:
    return np.asarray(tensor.float().cpu().numpy(), dtype=np.float32)
