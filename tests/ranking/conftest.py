"""Corpora for the tests of the ranking room: random small ones, and the release's papers."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from annot.base.records import Paper
from annot.ranking.corpus import Corpus
from annot.ranking.methods import RankingInputs
from indexed import corpus_of, inputs_of

WORDS = [
    f"{stem}{ending}"
    for stem in ("pars", "tag", "train", "lab", "model", "don't-", "naïve", "x_", "b")
    for ending in "abcdefg"
]


def random_papers(count: int, *, seed: int) -> list[Paper]:
    """Papers of Zipf-like words; every seventh has an empty abstract, every fifth an empty title."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, len(WORDS) + 1)
    chance /= chance.sum()

    def sentence() -> str:
        return (
            " ".join(WORDS[place] for place in rng.choice(len(WORDS), rng.integers(1, 12), p=chance)).capitalize() + "."
        )

    return [
        Paper(
            paper_id=f"p{number:03}",
            title="" if number % 5 == 4 else sentence(),
            sentences=() if number % 7 == 6 else tuple(sentence() for _ in range(rng.integers(1, 6))),
        )
        for number in range(count)
    ]


@pytest.fixture(scope="session")
def papers() -> list[Paper]:
    return random_papers(120, seed=5)


@pytest.fixture(scope="session", params=[10_000, 17], ids=["one shard", "eight shards"])
def corpus(papers: list[Paper], request: pytest.FixtureRequest) -> Corpus:
    """The papers in one shard, and in several: no result may show which."""
    return corpus_of(papers, shard=request.param)


@pytest.fixture
def inputs(corpus: Corpus) -> RankingInputs:
    return inputs_of(corpus)


@pytest.fixture(scope="session")
def abstracts_of() -> Callable[[Sequence[Paper]], list[str]]:
    return lambda papers: [" ".join(paper.sentences) for paper in papers]


@pytest.fixture(scope="session")
def release_papers(shared: Path) -> list[Paper]:
    """The 3,368 papers of the release, with the labels of their sentences."""
    found = []
    with (shared / "csfcube" / "abstracts-csfcube-preds.jsonl").open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            labels = tuple(label.removesuffix("_label") for label in record["pred_labels"])
            found.append(Paper(record["paper_id"], record["title"], tuple(record["abstract"]), labels=labels))
    return found


@pytest.fixture(scope="session")
def release_inputs(release_papers: list[Paper]) -> RankingInputs:
    return inputs_of(release_papers)
