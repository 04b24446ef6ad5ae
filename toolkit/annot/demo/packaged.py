"""The packaged files of the demonstration: papers, what is simulated about them, and the query papers."""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, cast

from annot.base.errors import InputError
from annot.study.workspace import write_file


class Latent(NamedTuple):
    """What a paper of the demo corpus is about."""

    problem: str
    subproblem: str
    method: str
    """The family of the method."""
    submethod: str
    claim: str
    """The question that its result speaks to."""
    polarity: int
    """1 if the paper supports the claim, -1 if it finds the opposite, 0 if it makes no claim."""


class QueryPaper(NamedTuple):
    """A paper of the demo corpus that is used as query, and the facets under which it is used."""

    paper_id: str
    facets: tuple[str, ...]


def corpus_text() -> str:
    """The corpus as plain JSON lines, the way it would lie on a person's disk."""
    return _read("corpus.jsonl")


def write_corpus(path: Path) -> int:
    """Write the corpus to a file, and return how many papers it has. Raises InputError where another file is there."""
    text = corpus_text()
    if path.is_dir():
        raise InputError(f"{path}: a folder, expected the file to write", hint=f"name one: {path / 'papers.jsonl'}")
    if path.exists() and path.read_bytes() != text.encode("utf-8"):
        raise InputError(f"{path}: another file is there, and stays as it is", hint="name one that is not there yet")
    write_file(path, text)
    return len(text.splitlines())


def latents() -> dict[str, Latent]:
    """What each paper is about, by `paper_id`. Only the simulation may know it."""
    return {paper_id: Latent(**traits) for paper_id, traits in json.loads(_read("latent.json")).items()}


def likeness() -> dict[str, list[list[str]]]:
    """What is alike: `related_problems`, `related_methods`, and `areas`, the problems of each area of the field.

    A problem is two digits; with a letter it is one of its sub-problems.
    """
    return cast("dict[str, list[list[str]]]", json.loads(_read("likeness.json")))


def remarks() -> dict[str, list[Any]]:
    """What simulated people write: `grades`, a list for each grade; `over_ruled`, `lower` and `higher` of decisions."""
    return cast("dict[str, list[Any]]", json.loads(_read("remarks.json")))


def query_papers() -> tuple[QueryPaper, ...]:
    """The query papers of the demonstration, oldest first."""
    return tuple(QueryPaper(paper["paper_id"], tuple(paper["facets"])) for paper in json.loads(_read("queries.json")))


def settings() -> dict[str, dict[str, Any]]:
    """What the demonstration's `annot.toml` says besides the defaults, by table."""
    return tomllib.loads(_read("settings.toml"))


def datasheet_text() -> str:
    """What people would have to tell about the collection, answered, as a study's `datasheet.toml`."""
    return _read("datasheet.toml")


def frozen_rankings() -> dict[str, str]:
    """The rankings from which the demonstration draws its pools, and their manifest, by file name."""
    return _files("annot.demo.frozen_rankings")


def frozen_runs() -> dict[str, str]:
    """The baseline runs of the demonstration and their metadata, by file name."""
    return _files("annot.demo.frozen_runs")


def _files(package: str) -> dict[str, str]:
    folder = resources.files(package)
    return {
        file.name: file.read_text(encoding="utf-8")
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith((".run", ".json"))
    }


def _read(name: str) -> str:
    return resources.files("annot.demo").joinpath(name).read_text(encoding="utf-8")
