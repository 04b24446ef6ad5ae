"""The files of a CSFCube release folder by their names, each read by itself, faults of all of them together."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar

from annot.base.errors import InputError, MissingInput
from annot.base.records import Paper, Ranking
from annot.formats.cleaned import Cleaned
from annot.formats.csfcube import pieces
from annot.formats.csfcube.readable import RatedPair, ReadableFile, read_readable
from annot.formats.faults import Faults
from annot.formats.paper_lines import read_papers

PAPERS_FILE = "abstracts-csfcube-preds.jsonl"
POOLS_FILE = "test-pid2pool-csfcube.json"
QUERIES_FILE = "queries-release.csv"
SPLITS_FILE = "evaluation_splits.json"
READABLE_FOLDER = "readable_annotations"
_RATINGS_FILE = re.compile(r"test-pid2anns-csfcube-([^-/]+)\.json")
_READABLE_FILE = re.compile(r"readable_annotations/([^/]+-[^-/]+)-adju\.txt")
_RANKED_FILE = re.compile(r"eval_scripts/sample_ranked_pools/test-pid2pool-csfcube-([^/]+)-([^-/]+)-ranked\.json")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Files:
    """The content of each file; None, or empty where several may be there, when there is no such file."""

    papers: dict[str, Paper] | None
    ratings: dict[str, dict[str, tuple[RatedPair, ...]]]
    """By facet and query paper."""
    readable: dict[str, ReadableFile]
    """By query id."""
    pools: dict[str, dict[str, tuple[str, ...]]] | None
    paper_types: dict[str, str] | None
    """By query id."""
    splits: dict[str, dict[str, tuple[str, ...]]]
    runs: dict[tuple[str, str], dict[str, Ranking]]
    """By tag and facet, then query paper."""
    changed: dict[str, Cleaned]
    """By id, the papers whose text was cleaned, of the file from which papers come."""

    @property
    def facets(self) -> tuple[str, ...]:
        """Those with ratings."""
        return tuple(sorted({*self.ratings, *map(facet_of, self.readable)}))

    @property
    def papers_from(self) -> str:
        return READABLE_FOLDER if self.papers is None else PAPERS_FILE

    @property
    def listed(self) -> set[str]:
        """The ids of the queries of the list, the splits and the runs."""
        listed = {query_id for folds in self.splits.values() for query_ids in folds.values() for query_id in query_ids}
        listed |= {f"{query}-{facet}" for (_, facet), rankings in self.runs.items() for query in rankings}
        return listed | (self.paper_types or {}).keys()


def paper_and_facet(query_id: str) -> tuple[str, str]:
    paper_id, _, facet = query_id.rpartition("-")
    return paper_id, facet


def facet_of(query_id: str) -> str:
    return paper_and_facet(query_id)[1]


def ratings_name(facet: str) -> str:
    return f"test-pid2anns-csfcube-{facet}.json"


def readable_name(query_id: str) -> str:
    return f"{READABLE_FOLDER}/{query_id}-adju.txt"


def ranked_name(tag: str, facet: str) -> str:
    return f"eval_scripts/sample_ranked_pools/test-pid2pool-csfcube-{tag}-{facet}-ranked.json"


def is_release_file(path: str) -> bool:
    """Whether a file of this path (relative to the release folder, with `/`) is one that is read."""
    return path in (PAPERS_FILE, POOLS_FILE, QUERIES_FILE, SPLITS_FILE) or any(
        pattern.fullmatch(path) for pattern in (_RATINGS_FILE, _READABLE_FILE, _RANKED_FILE)
    )


def read_files(files: Mapping[str, bytes], *, name: str, known_labels: Collection[str], clean_text: bool) -> Files:
    """Every file of the release in `files`; others are passed over.

    Raises MissingInput when no file carries ratings, else InputError with the faults of all files.
    """
    if not any(_RATINGS_FILE.fullmatch(path) or _READABLE_FILE.fullmatch(path) for path in files):
        raise MissingInput(
            f"{name}: no ratings of a CSFCube release in it",
            hint=f"expected {ratings_name('<facet>')} or {readable_name('<query>-<facet>')} there",
        )
    found: list[str] = []
    in_papers: list[Cleaned] = []
    in_readable: list[Cleaned] = []

    def single(path: str, read: Callable[[str, Faults], T]) -> T | None:
        if path not in files:
            return None
        faults = Faults(f"{name}/{path}")
        try:
            return read(files[path].decode("utf-8-sig"), faults)
        except UnicodeDecodeError as error:
            faults.add(f"not UTF-8: {error.reason}", line=files[path].count(b"\n", 0, error.start) + 1)
        except InputError as error:
            # Only the reading of papers, and a file with very many faults, raise by themselves.
            faults.found = list(dict.fromkeys([*faults.found, *error.faults]))
        finally:
            found.extend(faults.found)
        return None

    def several(pattern: re.Pattern[str], read: Callable[[str, Faults], T | None]) -> dict[tuple[str, ...], T]:
        matches = [match for path in sorted(files) if (match := pattern.fullmatch(path))]
        contents = {match.groups(): single(match[0], read) for match in matches}
        return {key: content for key, content in contents.items() if content is not None}

    def papers(text: str, faults: Faults) -> dict[str, Paper]:
        by_id: dict[str, Paper] = {}
        lines = io.StringIO(text, newline=None)
        for paper in read_papers(
            lines, name=faults.name, known_labels=known_labels, clean_text=clean_text, changed=in_papers
        ):
            if paper.paper_id in by_id:
                faults.add(f"paper {paper.paper_id} is there twice")
            by_id[paper.paper_id] = paper
        return by_id

    def readable(text: str, faults: Faults) -> ReadableFile | None:
        lines = io.StringIO(text, newline=None)
        return read_readable(
            lines, faults=faults, known_labels=known_labels, clean_text=clean_text, changed=in_readable
        )

    read = Files(
        papers=single(PAPERS_FILE, papers),
        ratings={facet: pairs for (facet,), pairs in several(_RATINGS_FILE, pieces.read_ratings).items()},
        readable={query_id: told for (query_id,), told in several(_READABLE_FILE, readable).items()},
        pools=single(POOLS_FILE, pieces.read_pools),
        paper_types=single(QUERIES_FILE, pieces.read_paper_types),
        splits=single(SPLITS_FILE, pieces.read_splits) or {},
        runs={(tag, facet): rankings for (tag, facet), rankings in several(_RANKED_FILE, pieces.read_ranked).items()},
        changed={one.paper_id: one for one in (in_papers if PAPERS_FILE in files else in_readable)},
    )
    if found:
        raise InputError(f"{name}: {len(found)} fault(s)", faults=found)
    return read
