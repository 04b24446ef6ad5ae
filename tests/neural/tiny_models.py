"""Encoders with a handful of random weights and a vocabulary of whole words, as folders that the libraries read."""

from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast

WORDS = (
    *("we", "a", "the", "model", "of", "text", "parses", "learn", "graphs", "show", "results", "better"),
    *("than", "before", "it", "helps", "with", "data", "and", "words"),
)


def bert(folder: Path, *, seed: int = 0, positions: int = 40, spread: float = 0.5) -> Path:
    """A BERT of two layers and 16 dimensions, written to `folder`. spread: of its random weights."""
    torch.manual_seed(seed)
    folder.mkdir(parents=True)
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *WORDS,
        *(f"##{letter}" for letter in "abcdefg"),
        ".",
        ",",
    ]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=positions)
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=positions,
        initializer_range=spread,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def sentence_transformer(folder: Path, *, seed: int = 0) -> Path:
    """The same with mean pooling, as a sentence-transformers folder."""
    plain = bert(folder.parent / f"{folder.name}-plain", seed=seed)
    inner = Transformer(str(plain), max_seq_length=12)
    SentenceTransformer(modules=[inner, Pooling(16, pooling_mode="mean")], device="cpu").save(str(folder))
    return folder
