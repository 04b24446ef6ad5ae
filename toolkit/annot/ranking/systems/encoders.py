"""Texts through an encoder, a batch at a time, with transformers or sentence-transformers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from annot.base.errors import InputError
from annot.base.libraries import torch
from annot.base.records import Advance, Paper
from annot.base.stats.arrays import Matrix
from annot.ranking.search import Metric
from annot.ranking.systems.system import Reading, require_libraries

# ----------------------------------------------------------------------------------------------------------------------
# Texts through a model that is loaded, a batch at a time: the same for running an encoder and for training it.
#
# Lengths: a sentence or a title with its abstract is cut at the model's own limit, 512 tokens at most; Aspire's input
# at 500 tokens and the two special ones, as in its authors' example code.
# ----------------------------------------------------------------------------------------------------------------------


LONGEST = 512
LONGEST_IN_CONTEXT = 500
MIXED = "model_cur_best.pt"
"""File name of Aspire's checkpoint of SPECTER-CoCite with its mix of layers (`bert_layer_weights`)."""


class LoadedModel(NamedTuple):
    """A model with its tokeniser, ready to read."""

    model: Any
    tokenizer: Any
    device: Any
    longest: int
    mix: Any = None
    """The weight of each layer's states, the lowest first, shape (layers + 1,); None reads the last layer's."""


InContext = tuple[list[int], list[range]]
"""The tokens of title, separator and abstract, and the place of each sentence among them."""


def load(folder: Path, device: str | None = None, *, half: bool = False) -> LoadedModel:
    """The model in a folder, on a device of torch; None takes the GPU where there is one. half: in half precision.

    Raises MissingInput without the libraries, InputError if the folder or the device is not usable.
    """
    prepare_libraries(folder)
    from transformers import AutoModel, AutoTokenizer

    place = usable_device(device)
    with _readable(folder, "weights of an encoder"):
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        model = AutoModel.from_pretrained(folder, local_files_only=True, trust_remote_code=False).eval()
    # Of positions a tokeniser without a limit says a number beyond every model.
    limits = (LONGEST, tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", LONGEST))
    mix = _mixed(folder / MIXED, model) if (folder / MIXED).is_file() else None
    model = model.to(place, dtype=torch.float16) if half else model.to(place)
    return LoadedModel(model, tokenizer, place, min(limits), None if mix is None else mix.to(place, dtype=model.dtype))


def usable_device(name: str | None) -> Any:
    """The torch device of this name; None is a GPU where there is one. Raises InputError if it cannot be used."""
    try:
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        expected = " or ".join(["cpu", *gpus])
        raise InputError(f"--device {name}: {first_line(error)}; expected {expected}") from None
    return device


def prepare_libraries(folder: Path) -> None:
    """Progress is ours to show. Raises MissingInput if the libraries are not installed."""
    require_libraries(folder, "sentence_transformers", "transformers")
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()


@contextmanager
def _readable(folder: Path, kind: str) -> Iterator[None]:
    """Raise InputError if a library cannot read the folder, also for a pickle with more than tensors: the remedy that
    torch advises would run its code."""
    try:
        yield
    except pickle.UnpicklingError:
        raise InputError(
            f"{folder}: the file contains more than weights, so it is not opened",
            hint="use weights in model.safetensors",
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: not readable as {kind}: {first_line(error)}") from None


def first_line(error: Exception) -> str:
    """First line of a library's message, without its advice."""
    return str(error).partition("\n")[0]


def document_text(loaded: LoadedModel, paper: Paper) -> str:
    """Title, separator and abstract, joined without spaces as in SPECTER's and SciNCL's model cards."""
    return f"{paper.title}{loaded.tokenizer.sep_token}{' '.join(paper.sentences)}"


def text_tokens(loaded: LoadedModel, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, special ones among them, cut at the model's limit."""
    token_ids: list[list[int]] = (
        loaded.tokenizer(list(texts), truncation=True, max_length=loaded.longest)["input_ids"] if texts else []
    )
    return token_ids


def tokens_in_context(loaded: LoadedModel, paper: Paper) -> InContext:
    """A paper's tokens as Aspire reads them; sentences beyond the last token that is read have no place."""
    tokenizer = loaded.tokenizer
    longest = min(LONGEST_IN_CONTEXT, loaded.longest - 2)
    tokens: list[int] = [tokenizer.cls_token_id, *_plain(tokenizer, f"{paper.title} {tokenizer.sep_token} ")[:longest]]
    spans: list[range] = []
    for sentence in paper.sentences:
        sentence_tokens = _plain(tokenizer, sentence)
        room = longest + 1 - len(tokens)
        if sentence_tokens and room <= 0:
            break
        spans.append(range(len(tokens), len(tokens) + min(len(sentence_tokens), room)))
        tokens += sentence_tokens[:room]
    return [*tokens, tokenizer.sep_token_id], spans


def pooled(loaded: LoadedModel, batch: Sequence[Sequence[int]], reading: Reading) -> Any:
    """A vector for each list of tokens, a tensor of shape (batch, dimensions): `cls`, `pooler` or `mean`."""
    states = _states(loaded, batch)
    if reading == "pooler":
        return states.pooler_output
    if reading == "cls":
        if loaded.mix is None:
            return states.last_hidden_state[:, 0]
        return torch.stack([layer[:, 0] for layer in states.hidden_states], dim=-1) @ loaded.mix
    parts = zip(states.last_hidden_state, map(len, batch), strict=True)
    return torch.stack([part[:length].mean(dim=0) for part, length in parts])


def sentence_means(loaded: LoadedModel, batch: Sequence[InContext]) -> list[Any]:
    """Means of the states of each sentence's tokens: for each paper a tensor of shape (sentences, dimensions).

    A sentence without a token has zeros.
    """
    means_of_papers = []
    for rows, (_, spans) in zip(_states(loaded, [tokens for tokens, _ in batch]).last_hidden_state, batch, strict=True):
        means = [rows[span.start : span.stop].mean(dim=0) if len(span) else torch.zeros_like(rows[0]) for span in spans]
        means_of_papers.append(torch.stack(means) if means else rows[:0])
    return means_of_papers


def _plain(tokenizer: Any, text: str) -> list[int]:
    tokens: list[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return tokens


def _states(loaded: LoadedModel, batch: Sequence[Sequence[int]]) -> Any:
    widest = max(map(len, batch))
    tokens = torch.full((len(batch), widest), loaded.tokenizer.pad_token_id or 0)
    mask = torch.zeros((len(batch), widest), dtype=torch.long)
    for row, text in enumerate(batch):
        tokens[row, : len(text)] = torch.tensor(text)
        mask[row, : len(text)] = 1
    inputs = {"input_ids": tokens.to(loaded.device), "attention_mask": mask.to(loaded.device)}
    return loaded.model(**inputs, output_hidden_states=loaded.mix is not None)


def _mixed(path: Path, model: Any) -> Any:
    """Put the weights of the checkpoint into the model; returns the softmax of its mix of layers."""
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
        mix = torch.softmax(stored.pop("bert_layer_weights.weight"), dim=1)[0]
        # An index of positions that earlier versions of transformers stored with the weights.
        weights = {name.removeprefix("bert_encoder."): value for name, value in stored.items()}
        weights.pop("embeddings.position_ids", None)
        model.load_state_dict(weights)
    except (OSError, RuntimeError, KeyError, AttributeError, pickle.UnpicklingError) as error:
        raise InputError(f"{path}: not a checkpoint of Aspire's bi-encoder over this config.json: {error}") from None
    return mix


# ----------------------------------------------------------------------------------------------------------------------
# Many texts or papers through an encoder, with transformers or sentence-transformers.
#
# Batches hold texts of like length.
# ----------------------------------------------------------------------------------------------------------------------


BATCH = 32
MODULES, LIBRARY_PREFIX, SETTINGS = "modules.json", "sentence_transformers.", "config_sentence_transformers.json"
"""The file that names the parts of a sentence-transformers model, how the names of the library's own begin, and the
file of its settings."""

TextEncoder = Callable[[Sequence[str], Advance], Matrix]
"""A vector for each text, read by itself: shape (texts, dimensions)."""
PaperReading = Literal["own", "document"]
PaperEncoder = Callable[[Sequence[Paper], Advance], Matrix]
"""A vector for each paper: float32, shape (papers, dimensions)."""


def open_text_encoder(
    folder: Path,
    reading: Reading,
    *,
    device: str | None,
    half: bool = False,
    batch: int = BATCH,
    topics: bool = False,
) -> TextEncoder:
    """Load the weights in `folder`, to read texts one by one.

    device: of torch; None is the GPU if there is one. half: compute in half precision. batch: texts read at once.
    topics: read them as a sentence-transformers model reads queries.
    """
    side: Side = "encode_query" if topics else "encode"
    return _opened(folder, reading, device=device, half=half, batch=batch, side=side)[0]


Side = Literal["encode", "encode_query", "encode_document"]
"""Method of a sentence-transformers model that reads: a model may have a prompt, or even an encoder, for each side."""


def _opened(
    folder: Path, reading: Reading, *, device: str | None, half: bool, batch: int, side: Side
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
    """Reading of the weights: `own` for a sentence-transformers model, else `document`: read as SPECTER is."""
    return "own" if (folder / MODULES).is_file() else "document"


def metric_of(folder: Path, reading: PaperReading) -> Metric:
    """Metric of the vectors: the one named by a sentence-transformers model, else distance, as for SPECTER."""
    if reading == "document":
        return "l2"
    path = folder / SETTINGS
    similarity = json.loads(path.read_text(encoding="utf-8")).get("similarity_fn_name") if path.is_file() else None
    return "l2" if similarity == "euclidean" else "cosine"


def open_paper_encoder(
    folder: Path, reading: PaperReading, *, device: str | None, half: bool = False, batch: int = BATCH
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
    lengths = [len(tokens) for tokens, _ in inputs]
    return _read_in_batches(
        lengths, BATCH, lambda some: map(_numpy, sentence_means(loaded, [inputs[place] for place in some])), advance
    )


def _pooled(loaded: LoadedModel, reading: Reading, texts: Sequence[str], advance: Advance, *, batch: int) -> Matrix:
    tokens = text_tokens(loaded, texts)
    lengths = [len(text) for text in tokens]
    rows = _read_in_batches(
        lengths, batch, lambda some: _numpy(pooled(loaded, [tokens[place] for place in some], reading)), advance
    )
    return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)


def _read_in_batches(
    lengths: Sequence[int], size: int, read: Callable[[Sequence[int]], Iterable[Matrix]], advance: Advance
) -> list[Matrix]:
    """Results of `read` for each place; texts of like length are read together."""
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
    with _readable(folder, "a sentence-transformers model"):
        model = SentenceTransformer(str(folder), device=place, local_files_only=True, trust_remote_code=False)
    return model.half() if half else model


def _refuse_code(folder: Path) -> None:
    try:
        modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
        types = [module["type"] for module in modules]
    except FileNotFoundError:
        return
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{folder / MODULES}: not a list of modules, each with its type") from None
    foreign = [name for name in types if not str(name).startswith(LIBRARY_PREFIX)]
    if foreign:
        raise InputError(
            f"{folder / MODULES}: found module {foreign[0]}, expected modules of sentence-transformers alone"
        )


def _numpy(tensor: Any) -> Matrix:
    return np.asarray(tensor.float().cpu().numpy(), dtype=np.float32)
