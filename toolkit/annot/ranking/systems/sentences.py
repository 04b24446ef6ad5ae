"""Systems of sentences: each is encoded by itself, and the most similar pair of query and candidate decides.

CSFCube compares by cosine, Aspire by Euclidean distance; each system has the one of the paper that it comes from, and
`[systems] similarity` in annot.toml gives all of them the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from annot.ranking.systems.alignment import Similarity
from annot.ranking.systems.system import ASPIRE, CSFCUBE, EACH_SENTENCE, FACET, SCISEARCH, System
from annot.ranking.systems.weights import Reading, Weights


@dataclass(frozen=True, slots=True)
class SentenceSystem(System):
    """`similarity` is that of its paper."""

    weights: Weights
    similarity: Similarity


def system(name: str, source: str, similarity: Similarity, hub: str | None, reading: Reading) -> SentenceSystem:
    """A system of sentences around an encoder."""
    weights = Weights(name, hub, reading)
    return SentenceSystem(name, "sentences", source, FACET, EACH_SENTENCE, weights.needs, weights, similarity)


SYSTEMS = (
    system("sentbert-pp", CSFCUBE, "cosine", "sentence-transformers/paraphrase-TinyBERT-L6-v2", "own"),
    system("sentbert-nli", CSFCUBE, "cosine", "sentence-transformers/nli-roberta-base-v2", "own"),
    system("unsimcse", CSFCUBE, "cosine", "princeton-nlp/unsup-simcse-bert-base-uncased", "cls"),
    system("susimcse", CSFCUBE, "cosine", "princeton-nlp/sup-simcse-bert-base-uncased", "pooler"),
    system("mpnet-1b", ASPIRE, "l2", "sentence-transformers/all-mpnet-base-v2", "own"),
    system("cosentbert", ASPIRE, "l2", "allenai/aspire-sentence-embedder", "cls"),
    system("ictsentbert", ASPIRE, "l2", None, "cls"),
    system("scibert-cased", SCISEARCH, "cosine", "allenai/scibert_scivocab_cased", "mean"),
    system("scibert-uncased", SCISEARCH, "cosine", "allenai/scibert_scivocab_uncased", "mean"),
)
"""The pooling of SimCSE is that of its authors: the first token's state without the pooler where it was trained without
supervision, with it where it was trained with. SciBERT was not trained to put a sentence into one vector: the mean of
its tokens' states is what sentence-transformers takes of such models; SciSearch does not say what it took."""


def own_system(name: str) -> SentenceSystem:
    """The system of a sentence-transformers folder that a user brings."""
    return system(name, "your own", "cosine", None, "own")
