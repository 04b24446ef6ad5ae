"""The files of a CSFCube release folder by their names, each read by itself, faults of all of them together."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from annot.errors import InputError, MissingInput
from annot.formats.csfcube import pieces
from annot.formats.csfcube.pieces import QueryKey
from annot.formats.csfcube.readable import RatedPair, ReadableFile, read_readable
from annot.formats.faults import Faults
from annot.formats.paper_lines import read_papers
from annot.records import Paper

PAPERS_FILE = "abstracts-csfcube-preds.jsonl"
POOLS_FILE = "test-pid2pool-csfcube.json"
QUERIES_FILE = "queries-release.csv"
SPLITS_FILE = "evaluation_splits.json"
READABLE_FOLDER = "readable_annotations"
_RATINGS_FILE = re.compile(r"test-pid2anns-csfcube-([^-/]+)\.json")
_READABLE_FILE = re.compile(r"readable_annotations/([^/]+)-([^-/]+)-adju\.txt")
_RANKED_FILE = re.compile(r"eval_scripts/sample_ranked_pools/test-pid2pool-csfcube-(.+)-([^-/]+)-ranked\.json")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Files:
    """The content of each file; None, or empty where several may be there, when there is no such file."""

    papers: dict[str, Paper] | None
    ratings: dict[str, dict[str, tuple[RatedPair, ...]]]
    """By facet and query paper."""
    readable: dict[QueryKey, ReadableFile]
    pools: dict[str, dict[str, tuple[str, ...]]] | None
    queries: dict[QueryKey, str] | None
    splits: dict[str, dict[str, tuple[QueryKey, ...]]]
    runs: dict[tuple[str, str], dict[str, list[tuple[str, float]]]]
    """By tag and facet, then query paper: (candidate, distance) in the file's order."""


def ratings_name(facet: str) -> str:
    return f"test-pid2anns-csfcube-{facet}.json"


def readable_name(key: QueryKey) -> str:
    return f"{READABLE_FOLDER}/{key[0]}-{key[1]}-adju.txt"


def ranked_name(tag: str, facet: str) -> str:
    return f"eval_scripts/sample_ranked_pools/test-pid2pool-csfcube-{tag}-{facet}-ranked.json"


def is_release_file(path: str) -> bool:
    """Whether a file of this path (relative to the release folder, with `/`) is one that is read."""
    return path in (PAPERS_FILE, POOLS_FILE, QUERIES_FILE, SPLITS_FILE) or any(
        pattern.fullmatch(path) for pattern in (_RATINGS_FILE, _READABLE_FILE, _RANKED_FILE)
    )


def read_files(files: Mapping[str, bytes], *, name: str, clean_text: bool) -> Files:
    """Every file of the release in `files`; others are passed over.

    Raises MissingInput when no file carries ratings, else InputError with the faults of all files.
    """
    if not any(_RATINGS_FILE.fullmatch(path) or _READABLE_FILE.fullmatch(path) for path in files):
        raise MissingInput(
            f"{name}: no ratings of a CSFCube release in it",
            hint=f"expected {ratings_name('<facet>')} or {readable_name(('<query>', '<facet>'))} there",
        )
    found: list[str] = []

    def single(path: str, read: Callable[[bytes, Faults], T]) -> T | None:
        if path not in files:
            return None
        faults = Faults(f"{name}/{path}")
        try:
            return read(files[path], faults)
        except InputError as error:
            # Only the reading of papers, and a file with very many faults, raise by themselves.
            faults.found = list(dict.fromkeys([*faults.found, *error.faults]))
            return None
        finally:
            found.extend(faults.found)

    def several(pattern: re.Pattern[str], read: Callable[[bytes, Faults], T | None]) -> dict[tuple[str, ...], T]:
        matches = [match for path in sorted(files) if (match := pattern.fullmatch(path))]
        contents = {match.groups(): single(match[0], read) for match in matches}
        return {key: content for key, content in contents.items() if content is not None}

    def papers(content: bytes, faults: Faults) -> dict[str, Paper]:
        by_id: dict[str, Paper] = {}
        lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
        for paper in read_papers(lines, name=faults.name, clean_text=clean_text):
            if paper.paper_id in by_id:
                faults.add(f"paper {paper.paper_id} is there twice")
            by_id[paper.paper_id] = paper
        return by_id

    def readable(content: bytes, faults: Faults) -> ReadableFile | None:
        lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
        return read_readable(lines, faults=faults, clean_text=clean_text)

    read = Files(
        papers=single(PAPERS_FILE, papers),
        ratings={facet: content for (facet,), content in several(_RATINGS_FILE, pieces.read_ratings).items()},
        readable={(query, facet): text for (query, facet), text in several(_READABLE_FILE, readable).items()},
        pools=single(POOLS_FILE, pieces.read_pools),
        queries=single(QUERIES_FILE, pieces.read_query_list),
        splits=single(SPLITS_FILE, pieces.read_splits) or {},
        runs={(tag, facet): rows for (tag, facet), rows in several(_RANKED_FILE, pieces.read_ranked_pools).items()},
    )
    if found:
        raise InputError(f"{name}: {len(found)} fault(s)", faults=found)
    return read
