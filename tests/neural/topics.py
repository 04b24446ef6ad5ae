"""Papers and texts of four topics, with words of their own for queries and for what they find."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import tiny_models

TOPICS = 4
WORDS = [tiny_models.WORDS[at * 5 : at * 5 + 5] for at in range(TOPICS)]
"""Of each topic: two words that queries have, and three that what is found has. None is shared, so that nothing but
training brings a query near to its topic."""


def words(topic: int, count: int, rng: np.random.Generator, *, of_query: bool) -> str:
    return " ".join(rng.choice(WORDS[topic][:2] if of_query else WORDS[topic][2:], count))


def paper(paper_id: str, topic: int, rng: np.random.Generator, *, of_query: bool) -> dict[str, Any]:
    sentences = [words(topic, 6, rng, of_query=of_query) for _ in range(int(rng.integers(3, 6)))]
    return {"paper_id": paper_id, "title": words(topic, 3, rng, of_query=of_query), "abstract": sentences}


def example(at: int, rng: np.random.Generator, *, shuffled: bool, texts: bool) -> dict[str, Any]:
    """Query and positive of one topic, the negative of another; `shuffled`: all three of any topic."""
    topic = int(rng.integers(TOPICS))
    other = (topic + 1 + int(rng.integers(TOPICS - 1))) % TOPICS
    topics = [int(one) for one in rng.integers(TOPICS, size=3)] if shuffled else [topic, topic, other]
    record: dict[str, Any] = {"papers": [str(at)], "contexts": [words(topics[0], 7, rng, of_query=False)]}
    for name, one in zip(("query", "positive", "negative"), topics, strict=True):
        of_query = name == "query"
        made = words(one, 8, rng, of_query=of_query) if texts else paper(f"{at}{name}", one, rng, of_query=of_query)
        record[name] = made
    return record


def examples(
    folder: Path, *, own_negatives: bool, train: int = 160, dev: int = 60, shuffled: bool = False, texts: bool = False
) -> Path:
    """A folder of examples to train on. shuffled: labels say nothing, in the training and in the dev examples."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(int(shuffled))
    for name, count in (("train", train), ("dev", dev)):
        made = [example(at, rng, shuffled=shuffled, texts=texts) for at in range(count)]
        if name == "train" and not own_negatives:
            made = [{key: value for key, value in one.items() if key != "negative"} for one in made]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in made))
    return folder
