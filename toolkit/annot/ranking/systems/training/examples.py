"""Training examples of encoders, and how they are made: a folder with `train.jsonl` and `dev.jsonl`, one example per
line.

An example is a query with a positive, both papers (`paper_id`, `title`, `abstract` as a list of sentences) or both
texts. In `dev.jsonl`, and for triplets in `train.jsonl`, it has a negative of its own. `papers` are the ids it is
about: an example that shares none of them gives the negative within a batch. `contexts` are sentences that cite both.

Examples are made of a corpus: triplets of citations, pairs of co-cited papers or of contexts, and the inverse cloze
task. Each paper and each set of papers has a generator of its own.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from annot.base.errors import Faults, InputError, MissingInput
from annot.base.records import Paper
from annot.base.stats.seeding import generator
from annot.formats.json_lines import Strict, read_models
from annot.ranking.systems.training.cocitations import CitationContext, Papers
from annot.ranking.systems.training.recipes import Recipe

TRAIN, DEV = "train.jsonl", "dev.jsonl"
Side = Paper | str
"""A paper, or a text."""
MOST_CONTEXTS = 10
"""Most contexts of a set of papers in an example, as in the code of Aspire's authors."""


class Example(NamedTuple):
    """One example; `negative` is None if another example of the batch gives it."""

    query: Side
    positive: Side
    negative: Side | None
    papers: tuple[str, ...]
    contexts: tuple[str, ...] = ()


def as_record(example: Example) -> dict[str, Any]:
    """The example as a line of the file holds it."""
    sides = {"query": example.query, "positive": example.positive, "negative": example.negative}
    record: dict[str, Any] = {name: _side(side) for name, side in sides.items() if side is not None}
    record["papers"] = list(example.papers)
    return {**record, "contexts": list(example.contexts)} if example.contexts else record


class Examples:
    """The examples of one file, read when they are asked for: the memory holds only the start of each line.

    Raises MissingInput without the file, InputError if it is empty.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise MissingInput(
                f"{path}: no such file", hint="make it with `annot encoder examples SYSTEM --out FOLDER`"
            )
        self.path = path
        with path.open("rb") as file:
            starts = [0, *(file.tell() for _ in iter(file.readline, b""))]
        self._starts: NDArray[np.int64] = np.array(starts, dtype=np.int64)
        if not len(self):
            raise InputError(
                f"{path}: found no example", hint="`annot encoder examples` prints what it left out, and why"
            )

    def __len__(self) -> int:
        return len(self._starts) - 1

    def read(self, places: Iterable[int]) -> list[Example]:
        """The examples at these places, from 0."""
        with self.path.open("rb") as file:
            examples = []
            for place in places:
                file.seek(int(self._starts[place]))
                examples.append(_Line.model_validate_json(file.readline()).example())
        return examples

    def check(self, recipe: Recipe, *, dev: bool) -> None:
        """Raise InputError with every line that is not an example for this recipe, to train on or of the dev file."""
        faults = Faults(str(self.path))
        with self.path.open(encoding="utf-8") as lines:
            for number, line in read_models(lines, faults, _Line):
                if problem := _problem(line.example(), recipe, dev=dev):
                    faults.add(problem, line=number)
        faults.raise_if_any(hint=f"make examples for {recipe.system} with `annot encoder examples {recipe.system}`")


def _problem(example: Example, recipe: Recipe, *, dev: bool) -> str:
    """Reason why an example is of no use; "" if it is."""
    kinds = ("papers", "texts") if recipe.reads != "sentence" else ("texts", "papers")
    sides = [side for side in (example.query, example.positive, example.negative) if side is not None]
    if any(isinstance(side, Paper) != (recipe.reads != "sentence") for side in sides):
        return f"found {kinds[1]}, expected {kinds[0]}"
    needs_negative = dev or recipe.of == "triplets"
    if needs_negative != (example.negative is not None):
        return (
            "found no negative, expected one of its own"
            if needs_negative
            else "found a negative, expected none: others of its batch give it"
        )
    if not dev and "context aligned" in recipe.distances and not example.contexts:
        return "found no contexts, expected sentences that cite both papers"
    return ""


def _side(side: Side) -> Any:
    if isinstance(side, str):
        return side
    return {"paper_id": side.paper_id, "title": side.title, "abstract": list(side.sentences)}


class _Paper(Strict):
    paper_id: str
    title: str
    abstract: Annotated[list[str], Field(min_length=1)]


class _Line(Strict):
    query: _Paper | str
    positive: _Paper | str
    negative: _Paper | str | None = None
    papers: list[str]
    contexts: list[str] = Field([])

    def example(self) -> Example:
        negative = None if self.negative is None else _as_side(self.negative)
        return Example(
            _as_side(self.query), _as_side(self.positive), negative, tuple(self.papers), tuple(self.contexts)
        )


def _as_side(side: _Paper | str) -> Side:
    return side if isinstance(side, str) else Paper(side.paper_id, side.title, tuple(side.abstract))


class Triplet(NamedTuple):
    """Ids of one triplet before its texts are read."""

    query: str
    positive: str
    negative: str


def split(names: Sequence[str], *, dev_share: float, seed: int) -> tuple[list[str], list[str]]:
    """Names to train on and names to hold out, each in a drawn order; a name's side depends on itself alone."""
    keys = {name: float(generator(seed, "split", name).random()) for name in names}
    order = sorted(keys, key=lambda name: (float(generator(seed, "order", name).random()), name))
    return [name for name in order if keys[name] >= dev_share], [name for name in order if keys[name] < dev_share]


def triplets(
    paper_id: str, citations: Mapping[str, Sequence[str]], corpus: Sequence[str], *, easy: int, hard: int, seed: int
) -> tuple[list[Triplet], str]:
    """The triplets of one query paper, and the reason if there are fewer than wanted, else "".

    Cohan et al. 2020 (SPECTER): a positive is cited; a hard negative is cited by a paper that is cited, and not by the
    query; an easy one is any other paper. citations: of each paper of the corpus, within the corpus.
    """
    cited = sorted(set(citations.get(paper_id, ())) - {paper_id})
    if not cited:
        return [], "cites no paper of the corpus"
    random = generator(seed, "triplets", paper_id)
    excluded = {paper_id, *cited}
    further = sorted({doc_id for middle in cited for doc_id in citations.get(middle, ())} - excluded)
    negatives = [further[place] for place in random.permutation(len(further))[:hard]]
    short = "fewer hard negatives than wanted" if len(negatives) < hard else ""
    if len(corpus) > len(excluded):
        while len(negatives) < min(hard, len(further)) + easy:
            candidate = corpus[int(random.integers(len(corpus)))]
            if candidate not in excluded:
                negatives.append(candidate)
    return [Triplet(paper_id, cited[int(random.integers(len(cited)))], negative) for negative in negatives], short


def contexts_of(papers: Papers, contexts: Sequence[CitationContext], *, seed: int) -> tuple[str, ...]:
    """Contexts of a set of papers, ten at most, drawn."""
    order = generator(seed, "contexts", *papers).permutation(len(contexts))[:MOST_CONTEXTS]
    return tuple(contexts[place].text for place in order)


def pairs_of_contexts(papers: Papers, contexts: Sequence[CitationContext]) -> Iterator[Example]:
    """Every two contexts that cite the same papers (CoSentBert: they say similar things)."""
    for first_context, second_context in itertools.combinations(contexts, 2):
        yield Example(first_context.text, second_context.text, None, papers)


def cloze(paper: Paper, *, sentences: int, removed: float, seed: int) -> Iterator[Example]:
    """Drawn sentences, each with the abstract it comes from (inverse cloze task, Lee et al. 2019).

    removed: how often the sentence is taken out of the abstract. A paper of one sentence gives nothing.
    """
    if len(paper.sentences) < 2:
        return
    random = generator(seed, "cloze", paper.paper_id)
    for chosen in random.permutation(len(paper.sentences))[:sentences]:
        remaining = [
            sentence for place, sentence in enumerate(paper.sentences) if place != chosen or random.random() >= removed
        ]
        yield Example(paper.sentences[chosen], " ".join(remaining), None, (paper.paper_id,))


def with_negatives(examples: Sequence[Example], *, seed: int) -> tuple[list[Example], Counter[str]]:
    """Examples, each with a permanent negative: the positive of a drawn example that shares no paper with it.

    Examples without one are left out and counted.
    """
    left_out = Counter[str]()
    completed = []
    for place, example in enumerate(examples):
        random = generator(seed, "negative", str(place), *example.papers)
        for candidate in random.permutation(len(examples)):
            if not set(examples[candidate].papers) & set(example.papers):
                completed.append(example._replace(negative=examples[candidate].positive))
                break
        else:
            left_out["no example to take a negative from"] += 1
    return completed, left_out
