"""Made-up abstracts with the lengths and the vocabulary of abstracts in computer science, as JSON lines.

Words follow a Zipf-Mandelbrot law over 200,000 of them; each paper has one of 300 topics, from whose 400 words 18% of
its running words come; 3 to 20 sentences (mean 7.2) of 5 to 60 words (mean 21), so about 154 words each. The same
number of papers and the same seed give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WORDS, TOPICS, WORDS_OF_TOPIC, ON_TOPIC = 200_000, 300, 400, 0.18
TITLE, AT_ONCE = 10, 10_000
WORD = np.array([f"w{number:05x}" for number in range(WORDS)], dtype=object)


def write(path: Path, *, papers: int, seed: int) -> None:
    """Write the corpus; the ids are the numbers from 0."""
    with path.open("w", encoding="utf-8") as file:
        for number, (title, abstract) in enumerate(texts(papers, seed)):
            file.write(json.dumps({"paper_id": str(number), "title": title, "abstract": abstract}) + "\n")


def write_word_vectors(path: Path, *, dimensions: int) -> None:
    """Write numbers drawn at random for every word, in word2vec's binary format: they cost what trained ones cost."""
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        file.write(f"{WORDS} {dimensions}\n".encode())
        for word in WORD:
            file.write(word.encode() + b" " + rng.standard_normal(dimensions, dtype=np.float32).tobytes() + b"\n")


def texts(papers: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Title and sentences of each paper."""
    rng = np.random.default_rng(seed)
    share = shares(WORDS)
    topics = rng.integers(300, 60_000, size=(TOPICS, WORDS_OF_TOPIC))
    for start in range(0, papers, AT_ONCE):
        count = min(AT_ONCE, papers - start)
        sentences = np.clip(rng.normal(7.2, 2.2, count).round(), 3, 20).astype(int)
        lengths = np.clip(rng.normal(21, 7, sentences.sum()).round(), 5, 60).astype(int)
        ends = np.cumsum(sentences)
        running = np.add.reduceat(lengths, ends - sentences) + TITLE
        drawn = np.minimum(np.searchsorted(share, rng.random(running.sum())), WORDS - 1)
        topic = np.repeat(rng.integers(0, TOPICS, count), running)
        on = rng.random(len(drawn)) < ON_TOPIC
        drawn[on] = topics[topic[on], rng.integers(0, WORDS_OF_TOPIC, int(on.sum()))]
        texts_of = WORD[drawn]
        at = 0
        for own in np.split(lengths, ends[:-1]):
            title = " ".join(texts_of[at : at + TITLE])
            at += TITLE
            abstract = []
            for length in own.tolist():
                abstract.append(" ".join(texts_of[at : at + length]) + ".")
                at += length
            yield title, abstract


def shares(words: int) -> NDArray[np.float64]:
    """The share of running words that are the first, one of the first two, and so on: shape (words,)."""
    weights = 1.0 / (np.arange(1, words + 1) + 2.7) ** 1.07
    return np.cumsum(weights / weights.sum())
