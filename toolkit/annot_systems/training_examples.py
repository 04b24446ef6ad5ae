"""Training examples of encoders from citations and co-citations, and the recipes of the papers."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from annot.base.errors import Faults, InputError, MissingInput
from annot.base.names import check_name
from annot.base.records import Paper
from annot.base.stats.inference import generator
from annot.formats.input_files import Strict, in_words, read_models
from annot.formats.paper_text import count_words
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from annot_systems.citing_texts import CitingText

# ----------------------------------------------------------------------------------------------------------------------
# Recipes of the trained systems: the loss, the examples and the settings that each paper states.
#
# Sources: Cohan et al. 2020 (SPECTER), section 4; Mysore et al. 2022 (Aspire), sections 3.1 to 3.2 and appendices C
# to F; details that Aspire leaves open (sizes of batches that are read at once, the two encoders of sentences) are as
# in the settings that its authors published (github.com/allenai/aspire, `config/models_config`).
# ----------------------------------------------------------------------------------------------------------------------


Of = Literal["triplets", "cocited papers", "cocited contexts", "cloze"]
"""Source of the examples."""
Reads = Literal["document", "sentence", "context"]
"""A paper as one vector, a text as one vector, or a paper as the vectors of its sentences."""
Loss = Literal["triplet", "softmax"]
"""max(d(q, p) - d(q, n) + margin, 0); or the cross entropy of the dot products of a query with all positives."""
Distance = Literal["vector", "context aligned", "abstract aligned", "single", "transport", "attention"]
"""L2 of two vectors; of two sentences that another encoder aligned, by the contexts or by themselves; of the nearest
two; the minimum of transport, entropy and all; <D, A> over attention weights."""

MOST = 10**9
"""Largest number that a setting may have, so that a training ends."""
Count = Annotated[int, Field(ge=1, le=MOST)]
Share = Annotated[float, Field(ge=0, le=MOST)]
Above = Annotated[float, Field(ge=1e-6, le=MOST)]


@dataclass(frozen=True, slots=True)
class RecipeSettings:
    """Settings of a training."""

    batch: Count
    """Examples of one step of the optimiser."""
    at_once: Count
    """Examples that are read at once; negatives within a batch are from these."""
    learning_rate: Share
    warm_up: Share
    """Steps until the learning rate is at its height; below 1, as a share of all steps."""
    epochs: Count
    loss: Loss
    margin: Share = 1.0
    check_every: Annotated[int, Field(ge=0, le=MOST)] = 0
    """Steps between two looks at the dev examples, when the state is saved too; 0: ten looks an epoch."""
    patience: Count = 5
    """Looks without a lower dev loss after which the training ends."""
    temperature: Above = 0.5
    """Temperature of Aspire's weights of sentences."""
    entropy: Above = 20.0
    """Lambda of Aspire's transport."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Recipe:
    """Recipe for training one system."""

    system: str
    of: Of
    reads: Reads
    distances: tuple[Distance, ...]
    """Distances whose losses are summed."""
    ranks_by: Distance
    """Distance for dev examples: the one that the system ranks with."""
    start: str
    """System whose weights it starts from."""
    settings: RecipeSettings
    examples: int | None = None
    """Number of examples that are drawn; None: all."""
    two_towers: bool = False
    """True if queries and positives have an encoder each; that of the queries is kept."""

    @property
    def aligned(self) -> bool:
        """True if it needs another encoder, of sentences, to align by."""
        return bool({"context aligned", "abstract aligned"} & set(self.distances))


def _aspire(system: str, *distances: Distance, ranks_by: Distance, learning_rate: float = 2e-5) -> Recipe:
    settings = RecipeSettings(batch=30, at_once=10, learning_rate=learning_rate, warm_up=2000, epochs=1, loss="triplet")
    return Recipe(system, "cocited papers", "context", distances, ranks_by, "specter", settings, 1_300_000)


_SPECTER = RecipeSettings(batch=32, at_once=4, learning_rate=2e-5, warm_up=0.1, epochs=2, loss="triplet")
_COCITE = RecipeSettings(batch=30, at_once=3, learning_rate=2e-5, warm_up=2000, epochs=1, loss="triplet")
_COSENT = RecipeSettings(batch=48, at_once=48, learning_rate=2e-5, warm_up=300, epochs=2, loss="triplet")
_CLOZE = RecipeSettings(batch=60, at_once=10, learning_rate=2e-5, warm_up=12_000, epochs=1, loss="softmax")
_V: tuple[Distance, ...] = ("vector",)

RECIPES = {
    recipe.system: recipe
    for recipe in (
        Recipe("specter-id", "triplets", "document", _V, "vector", "scibert-uncased", _SPECTER, 660_000),
        Recipe("specter-cocite", "cocited papers", "document", _V, "vector", "specter", _COCITE, 1_300_000),
        Recipe("cosentbert", "cocited contexts", "sentence", _V, "vector", "scibert-uncased", _COSENT),
        Recipe("ictsentbert", "cloze", "sentence", _V, "vector", "scibert-uncased", _CLOZE, two_towers=True),
        _aspire("ts-aspire", "context aligned", ranks_by="single"),
        _aspire("abs-aspire", "abstract aligned", ranks_by="single"),
        _aspire("max-aspire", "single", ranks_by="single"),
        _aspire("ot-aspire", "transport", ranks_by="transport"),
        _aspire("ts+ot-aspire", "context aligned", "transport", ranks_by="transport", learning_rate=1e-5),
        _aspire("att-aspire", "attention", ranks_by="attention"),
    )
}
"""SPECTER-ID has the number of triples of CSFCube, SPECTER's own was 684,000. Aspire's mix of layers is not trained:
SPECTER-CoCite is read from the last one."""


_SETTINGS = TypeAdapter(RecipeSettings)


def recipe_of(system: str, **changes: object) -> Recipe:
    """Recipe of a system with these settings instead of its own, as numbers or as they are typed.

    Raises InputError with the near name, or when a value is not allowed or settings contradict each other.
    """
    check_name(system, tuple(RECIPES), what="system to train")
    recipe = RECIPES[system]
    defaults = asdict(recipe.settings)
    for name in changes:
        check_name(name, tuple(defaults), what="setting")
    try:
        settings = _SETTINGS.validate_python({**defaults, **changes})
    except ValidationError as error:
        raise InputError(f"{system}: cannot be trained with these settings", faults=in_words(error)) from None
    if settings.loss == "softmax" and (recipe.reads == "context" or recipe.of == "triplets"):
        raise InputError(f"loss: found softmax, expected triplet: {system} is trained on distances of triplets")
    if settings.at_once > settings.batch:
        settings = replace(settings, at_once=settings.batch)
    if settings.at_once < 2 and recipe.of != "triplets":
        raise InputError("at_once: found 1, expected 2 or more: negatives come from the examples read at once")
    return replace(recipe, settings=settings)


# ----------------------------------------------------------------------------------------------------------------------
# Co-citations: sets of papers that one sentence cites together, with all such sentences, filtered as Aspire does.
#
# Mysore et al. 2022 (Aspire), appendix A: abstracts that pass the filters of CSFCube, sets of 2 or 3 papers to train
# on abstracts, of 2 or more for the encoder of sentences. Details that the paper leaves open are as in its authors'
# code (github.com/allenai/aspire, `pre_proc_cocits.py`): contexts of 5 to 60 words with a bracket in them; copies
# that differ in digits only count once, and so do several of one citing paper.
# ----------------------------------------------------------------------------------------------------------------------


Papers = tuple[str, ...]
"""Ids of papers that were cited together, sorted."""


class Exclusion(StrEnum):
    """Reasons to leave a context out, in the order in which they are checked: the first one counts."""

    FIELD = "of another field"
    ALONE = "cites fewer than two papers of the corpus"
    SHORT = "too few words"
    LONG = "too many words"
    UNMARKED = "no bracket around a citation"
    SAME_PAPER = "the citing paper already has a context for these papers"
    COPY = "same words as in another paper"


class CitationContext(NamedTuple):
    """Sentence in which a paper cites several papers together."""

    citing: str
    text: str


@dataclass(slots=True)
class Cocitations:
    """Contexts of full texts, by their fate."""

    path: Path | None = None
    """File of the contexts."""
    texts: int = 0
    """Full texts read."""
    read: int = 0
    """Contexts read: places that cite something."""
    kept: int = 0
    left_out: Counter[Exclusion] = field(default_factory=Counter)
    unlinked: int = 0
    """Citations without a known paper; the others of their sentence count."""
    not_in_corpus: int = 0
    """Citations of papers that the corpus does not have."""
    sets_by_size: Mapping[int, int] = field(default_factory=dict)
    """Sets of papers that are cited together, by how many they are."""
    paraphrased: int = 0
    """Sets with two contexts or more, which teach the encoder of sentences."""


def gather(
    texts: Iterable[CitingText], corpus: Collection[str], *, words: tuple[int, int], fields: Collection[str]
) -> tuple[dict[Papers, list[CitationContext]], Cocitations]:
    """Contexts of each set of papers of the corpus, and their counts; sets are in the order of their ids, contexts in
    that of the texts.

    corpus: the ids of papers whose abstract is known and passes the filters. words: of a context, at least and at most.
    fields: of the citing paper, one is enough; none are all.
    """
    counts = Cocitations()
    contexts_of: dict[Papers, list[CitationContext]] = {}
    texts_cited: dict[Papers, set[str]] = {}
    citing: set[tuple[Papers, str]] = set()
    for text in texts:
        counts.texts += 1
        for context in text.contexts:
            counts.read += 1
            counts.unlinked += context.unlinked
            papers = tuple(paper_id for paper_id in context.cited if paper_id in corpus)
            counts.not_in_corpus += len(context.cited) - len(papers)
            without_digits = re.sub(r"\d", "", context.text)
            reason = _reason(text, context.text, papers, words, fields)
            if reason is None and (papers, text.paper_id) in citing:
                reason = Exclusion.SAME_PAPER
            if reason is None and without_digits in texts_cited.setdefault(papers, set()):
                reason = Exclusion.COPY
            if reason is not None:
                counts.left_out[reason] += 1
                continue
            texts_cited[papers].add(without_digits)
            citing.add((papers, text.paper_id))
            contexts_of.setdefault(papers, []).append(CitationContext(text.paper_id, context.text))
            counts.kept += 1
    counts.left_out = Counter(dict(sorted(counts.left_out.items())))
    counts.sets_by_size = dict(sorted(Counter(map(len, contexts_of)).items()))
    counts.paraphrased = sum(len(contexts) > 1 for contexts in contexts_of.values())
    return dict(sorted(contexts_of.items())), counts


def _reason(
    text: CitingText, sentence: str, papers: Papers, words: tuple[int, int], fields: Collection[str]
) -> Exclusion | None:
    length = count_words(sentence)
    if fields and not set(fields) & set(text.mag_field_of_study):
        return Exclusion.FIELD
    if len(papers) < 2:
        return Exclusion.ALONE
    if length < words[0]:
        return Exclusion.SHORT
    if length > words[1]:
        return Exclusion.LONG
    return None if re.search(r"[()\[\]]", sentence) else Exclusion.UNMARKED


def context_record(cited_together: tuple[Papers, Sequence[CitationContext]]) -> dict[str, object]:
    """A set of papers with its contexts, as in a line of the file."""
    papers, contexts = cited_together
    return {"papers": papers, "contexts": [context._asdict() for context in contexts]}


def read_contexts(path: Path) -> dict[Papers, list[CitationContext]]:
    """The contexts of each set of papers in a file. Raises InputError with every fault."""
    if not path.is_file():
        problem = "a folder, expected a file" if path.is_dir() else "no such file"
        raise MissingInput(f"{path}: {problem}", hint="make it with `annot encoder contexts`")
    faults = Faults(str(path))
    contexts_of: dict[Papers, list[CitationContext]] = {}
    with path.open(encoding="utf-8") as lines:
        for _, line in read_models(lines, faults, _ContextLine):
            contexts_of[tuple(line.papers)] = line.contexts
    faults.raise_if_any(hint="expected what `annot encoder contexts` writes")
    if not contexts_of:
        raise InputError(f"{path}: no context", hint="`annot encoder contexts` prints what it left out, and why")
    return contexts_of


class _ContextLine(Strict):
    papers: list[str]
    contexts: list[CitationContext]


# ----------------------------------------------------------------------------------------------------------------------
# Training examples of encoders, and how they are made: a folder with `train.jsonl` and `dev.jsonl`, one example per
# line.
#
# An example is a query with a positive, both papers (`paper_id`, `title`, `abstract` as a list of sentences) or both
# texts. In `dev.jsonl`, and for triplets in `train.jsonl`, it has a negative of its own. `papers` are the ids it is
# about: an example that shares none of them gives the negative within a batch. `contexts` are sentences that cite
# both.
#
# Examples are made of a corpus: triplets of citations, pairs of co-cited papers or of contexts, and the inverse cloze
# task. Each paper and each set of papers has a generator of its own.
# ----------------------------------------------------------------------------------------------------------------------


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
    """The example as in a line of the file."""
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
    """Reason why an example cannot be used; "" if it can."""
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


def split(names: Sequence[str], *, dev_share: float, seed: int) -> tuple[list[str], list[str]]:
    """Names to train on and names to hold out, each in a drawn order; a name's side depends on itself alone."""
    keys = {name: float(generator(seed, "split", name).random()) for name in names}
    order = sorted(keys, key=lambda name: (float(generator(seed, "order", name).random()), name))
    return [name for name in order if keys[name] >= dev_share], [name for name in order if keys[name] < dev_share]


def triplets(
    paper_id: str, citations: Mapping[str, Sequence[str]], corpus: Sequence[str], *, easy: int, hard: int, seed: int
) -> tuple[list[tuple[str, str]], str]:
    """Positive and negative of each triplet of one query paper, and the reason if there are fewer than wanted, else "".

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
    return [(cited[int(random.integers(len(cited)))], negative) for negative in negatives], short


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
