"""Texts through an encoder, with transformers or sentence-transformers: the one place that loads weights.

Lengths: a sentence or a title with its abstract is cut at the model's own limit, 512 tokens at most; Aspire's input at
500 tokens and the two special ones, as in its authors' example code. Batches hold texts of like length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from annot.errors import InputError, MissingInput
from annot.records import Paper
from annot.systems.sentence_vectors import Matrix
from annot.systems.weights import INSTALL, Reading

LONGEST = 512
LONGEST_IN_CONTEXT = 500
BATCH = 32

Advance = Callable[[int, int | None], None]


class Loaded(NamedTuple):
    """A model with its tokeniser, ready to read."""

    model: Any
    tokenizer: Any
    device: Any
    longest: int
    batch: int
    """Texts that are read at once."""


def encode_sentences(folder: Path, reading: Reading, texts: Sequence[str], *, advance: Advance) -> Matrix:
    """A vector for each text, read by itself: shape (texts, dimensions)."""
    if reading == "own":
        return _with_sentence_transformers(folder, texts, advance=advance)
    return _pooled(load_encoder(folder), reading, texts, advance=advance)


def encode_documents(folder: Path, papers: Sequence[Paper], *, advance: Advance) -> Matrix:
    """A vector for each paper: the first token's state of title, separator and abstract: shape (papers, dimensions).

    The three are joined without spaces, as SPECTER's and SciNCL's model cards do.
    """
    return document_vectors(load_encoder(folder), papers, advance=advance)


def document_vectors(loaded: Loaded, papers: Sequence[Paper], *, advance: Advance) -> Matrix:
    """The same by a model that is loaded."""
    texts = [paper.title + loaded.tokenizer.sep_token + " ".join(paper.sentences) for paper in papers]
    return _pooled(loaded, "cls", texts, advance=advance)


def encode_in_context(folder: Path, papers: Sequence[Paper], *, advance: Advance) -> list[Matrix]:
    """For each paper the vectors of its sentences, each the mean of its tokens' states in the whole abstract.

    Sentences beyond the last token that is read have no vector; one without a token has a vector of zeros.
    """
    import torch

    loaded = load_encoder(folder)
    inputs = [_in_context(loaded, paper) for paper in papers]
    found: list[Matrix] = [np.zeros((0, 0), dtype=np.float32)] * len(papers)
    for batch in _batches([len(tokens) for tokens, _ in inputs], loaded.batch, advance):
        states = _states(loaded, [inputs[at][0] for at in batch]).last_hidden_state
        for at, rows in zip(batch, states, strict=True):
            means = [
                rows[span.start : span.stop].mean(dim=0) if len(span) else torch.zeros_like(rows[0])
                for span in inputs[at][1]
            ]
            found[at] = _numpy(torch.stack(means)) if means else np.zeros((0, rows.shape[1]), dtype=np.float32)
    return found


def _in_context(loaded: Loaded, paper: Paper) -> tuple[list[int], list[range]]:
    """The tokens of title, separator and abstract, and where each sentence stands in them."""
    tokenizer = loaded.tokenizer
    longest = min(LONGEST_IN_CONTEXT, loaded.longest - 2)
    tokens: list[int] = [tokenizer.cls_token_id, *_plain(tokenizer, f"{paper.title} {tokenizer.sep_token} ")[:longest]]
    spans: list[range] = []
    for sentence in paper.sentences:
        own = _plain(tokenizer, sentence)
        room = longest + 1 - len(tokens)
        if own and room <= 0:
            break
        spans.append(range(len(tokens), len(tokens) + min(len(own), room)))
        tokens += own[:room]
    return [*tokens, tokenizer.sep_token_id], spans


def _plain(tokenizer: Any, text: str) -> list[int]:
    tokens: list[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return tokens


def _pooled(loaded: Loaded, reading: Reading, texts: Sequence[str], *, advance: Advance) -> Matrix:
    encoded = loaded.tokenizer(list(texts), truncation=True, max_length=loaded.longest)["input_ids"] if texts else []
    rows: list[Matrix] = [np.zeros(0, dtype=np.float32)] * len(texts)
    for batch in _batches([len(tokens) for tokens in encoded], loaded.batch, advance):
        lengths = [len(encoded[at]) for at in batch]
        states = _states(loaded, [encoded[at] for at in batch])
        if reading == "pooler":
            pooled = states.pooler_output
        elif reading == "cls":
            pooled = states.last_hidden_state[:, 0]
        else:
            import torch

            parts = zip(states.last_hidden_state, lengths, strict=True)
            pooled = torch.stack([part[:length].mean(dim=0) for part, length in parts])
        for at, row in zip(batch, _numpy(pooled), strict=True):
            rows[at] = row
    return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)


def _states(loaded: Loaded, batch: Sequence[Sequence[int]]) -> Any:
    import torch

    widest = max(map(len, batch))
    tokens = torch.full((len(batch), widest), loaded.tokenizer.pad_token_id or 0)
    mask = torch.zeros((len(batch), widest), dtype=torch.long)
    for at, one in enumerate(batch):
        tokens[at, : len(one)] = torch.tensor(one)
        mask[at, : len(one)] = 1
    with torch.inference_mode():
        return loaded.model(input_ids=tokens.to(loaded.device), attention_mask=mask.to(loaded.device))


def _batches(lengths: Sequence[int], size: int, advance: Advance) -> Iterator[list[int]]:
    order = sorted(range(len(lengths)), key=lambda at: (lengths[at], at))
    for start in range(0, len(order), size):
        yield order[start : start + size]
        advance(min(start + size, len(order)), len(order))


def load_encoder(folder: Path, *, device: str | None = None, half: bool = False, batch: int = BATCH) -> Loaded:
    """Load weights and tokeniser of a folder.

    device: as torch names it; None is a GPU where there is one. half: compute in half precision. Raises MissingInput
    where the libraries are not installed, InputError where they cannot read the folder or use the device.
    """
    quiet(folder)
    import torch
    from transformers import AutoModel, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: not readable as weights of an encoder: {error}") from None
    place = usable_device(device)
    # Of positions a tokeniser without a limit says a number beyond every model.
    limits = (LONGEST, tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", LONGEST))
    model = model.to(place, dtype=torch.float16) if half else model.to(place)
    return Loaded(model, tokenizer, place, min(limits), batch)


def usable_device(name: str | None) -> Any:
    """The torch device of this name; None is a GPU where there is one. Raises InputError where it cannot be used."""
    import torch

    try:
        found = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.zeros(1, device=found)
    except (RuntimeError, AssertionError) as error:
        there = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        expected = " or ".join(["cpu", *there])
        raise InputError(f"--device {name}: {str(error).splitlines()[0]}; expected {expected}") from None
    return found


def quiet(folder: Path) -> None:
    """Progress is ours to show. Raises MissingInput where the libraries are not installed."""
    try:
        import sentence_transformers  # noqa: F401
        from transformers.utils import logging
    except ImportError:
        raise MissingInput(f"{folder}: the libraries for encoders are not installed", hint=INSTALL) from None
    logging.disable_progress_bar()
    logging.set_verbosity_error()


def _with_sentence_transformers(folder: Path, texts: Sequence[str], *, advance: Advance) -> Matrix:
    quiet(folder)
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(str(folder), local_files_only=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: not readable as a sentence-transformers model: {error}") from None
    parts: list[Matrix] = []
    for start in range(0, len(texts), BATCH * BATCH):
        some = list(texts[start : start + BATCH * BATCH])
        parts.append(np.asarray(model.encode(some, batch_size=BATCH, show_progress_bar=False), dtype=np.float32))
        advance(start + len(some), len(texts))
    return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)


def _numpy(tensor: Any) -> Matrix:
    return np.asarray(tensor.float().cpu().numpy(), dtype=np.float32)
