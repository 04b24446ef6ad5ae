"""What encoders are trained on: a folder with `train.jsonl` and `dev.jsonl`, an example a line.

An example is a query with a positive, both papers (`paper_id`, `title`, `abstract` as a list of sentences) or both
texts. In `dev.jsonl`, and for triplets in `train.jsonl`, it has a negative of its own. `papers` are the ids it is
about: an example that shares none of them gives the negative within a batch. `contexts` are sentences that cite both.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from annot.base.errors import InputError, MissingInput
from annot.base.records import Paper
from annot.formats.faults import Faults
from annot.formats.json_lines import in_words, read_objects
from annot.ranking.systems.training.recipes import Recipe

TRAIN, DEV = "train.jsonl", "dev.jsonl"
Side = Paper | str
"""A paper, or a text."""


class Example(NamedTuple):
    """One example; `negative` is None where another example of the batch gives it."""

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
    """The examples of one file, read where they are asked for: what is kept in memory is where each line begins.

    Raises MissingInput without the file, InputError where it is empty.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise MissingInput(f"{path}: not there", hint="make it with `annot encoder examples SYSTEM --out FOLDER`")
        self.path = path
        with path.open("rb") as file:
            starts = [0, *(file.tell() for _ in iter(file.readline, b""))]
        self._starts: NDArray[np.int64] = np.array(starts, dtype=np.int64)
        if not len(self):
            raise InputError(f"{path}: no example", hint="see what `annot encoder examples` left out, and why")

    def __len__(self) -> int:
        return len(self._starts) - 1

    def read(self, places: Iterable[int]) -> list[Example]:
        """The examples at these places, from 0."""
        with self.path.open("rb") as file:
            found = []
            for place in places:
                file.seek(int(self._starts[place]))
                found.append(_Line.model_validate_json(file.readline()).example())
        return found

    def check(self, recipe: Recipe, *, dev: bool) -> None:
        """Raise InputError with every line that is not an example for this recipe, to train on or of the dev file."""
        faults = Faults(str(self.path))
        with self.path.open(encoding="utf-8") as lines:
            for number, record in read_objects(lines, faults):
                try:
                    problem = _problem(_Line.model_validate(record).example(), recipe, dev=dev)
                except ValidationError as error:
                    problem = in_words(error)[0]
                if problem:
                    faults.add(problem, line=number)
        faults.raise_if_any(hint=f"make examples for {recipe.system} with `annot encoder examples {recipe.system}`")


def _problem(example: Example, recipe: Recipe, *, dev: bool) -> str:
    """What keeps an example from being of use; "" where nothing does."""
    kinds = ("papers", "texts") if recipe.reads != "sentence" else ("texts", "papers")
    sides = [side for side in (example.query, example.positive, example.negative) if side is not None]
    if any(isinstance(side, Paper) != (recipe.reads != "sentence") for side in sides):
        return f"found {kinds[1]}, expected {kinds[0]}"
    own = dev or recipe.of == "triplets"
    if own != (example.negative is not None):
        return (
            "found no negative, expected one" if own else "found a negative, expected none: others of its batch give it"
        )
    if not dev and "context aligned" in recipe.distances and not example.contexts:
        return "found no contexts, expected sentences that cite both papers"
    return ""


def _side(side: Side) -> Any:
    if isinstance(side, str):
        return side
    return {"paper_id": side.paper_id, "title": side.title, "abstract": list(side.sentences)}


class _Paper(BaseModel):
    model_config = ConfigDict(strict=True)
    paper_id: str
    title: str
    abstract: Annotated[list[str], Field(min_length=1)]


class _Line(BaseModel):
    model_config = ConfigDict(strict=True)
    query: _Paper | str
    positive: _Paper | str
    negative: _Paper | str | None = None
    papers: list[str]
    contexts: list[str] = []

    def example(self) -> Example:
        negative = None if self.negative is None else _as_side(self.negative)
        return Example(
            _as_side(self.query), _as_side(self.positive), negative, tuple(self.papers), tuple(self.contexts)
        )


def _as_side(read: _Paper | str) -> Side:
    return read if isinstance(read, str) else Paper(read.paper_id, read.title, tuple(read.abstract))
