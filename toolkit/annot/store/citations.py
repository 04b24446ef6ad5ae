"""Beside the papers of the corpus: the citations that were added, and the other ids by which papers are known.

A cited id with its kind (`doi:10.1/x`; of one work there may be several, with blanks between them) is looked up among
those ids when it is read, so that the paper is found whether it came before or after.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annot.base.arrow_arrays import strings_of
from annot.base.errors import InputError
from annot.base.names import counted
from annot.store.papers import known_ids, rows_with

FOLDER = "citations"
"""Below the corpus; in it a folder for each file, named by the file's hash."""
MANIFEST = f"{FOLDER}/manifest.json"
ABOUT = "about.json"
"""In the folder of a file: what it brought."""
IDS = "ids"
"""Below the corpus: Parquet files with `paper_id` and `id`, an id with its kind, one for each `annot corpus add`."""
IDS_MANIFEST = f"{IDS}/manifest.json"
KINDS = ("doi:", "pmid:", "openalex:")


@dataclass(frozen=True, slots=True)
class AddedFile:
    """A file of citations that was added, by its name without a folder, or the files of one `annot corpus add`."""

    name: str
    sha256: str | None
    """None of citations that came with papers, whose files `annot corpus show` lists."""
    kept: int
    """Its citations by papers of the corpus."""


def added_files(corpus: Path) -> tuple[AddedFile, ...]:
    """The files that were added, by name. Raises InputError if it cannot be read what one brought."""
    found = []
    for path in (corpus / FOLDER).glob(f"*/{ABOUT}"):
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            kept = int(about["kept"])
            if "files" in about:
                found.append(AddedFile(and_others(sorted(map(str, about["files"]))), None, kept))
            else:
                found.append(AddedFile(Path(about["file"]).name, str(about["sha256"]), kept))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            hint = "delete its folder, and add the papers or the file of citations again"
            raise InputError(f"{path}: not written by annot: {error!r}", hint=hint) from None
    return tuple(sorted(found, key=lambda one: (one.name, one.sha256 or "")))


def and_others(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    return names[0] + (f" and {counted(len(names) - 1, 'other file')}" if len(names) > 1 else "")


def citation_files(corpus: Path) -> list[Path]:
    """Every file of citations, in order."""
    return sorted((corpus / FOLDER).glob("*/*.parquet"))


def cited_by(corpus: Path, paper_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What each of these papers cites by the files that were added; in the order of those, each id once."""
    wanted, columns = strings_of(sorted(set(paper_ids))), ["citing", "cited"]
    found: dict[str, dict[str, None]] = {}
    for path in citation_files(corpus):
        for table in rows_with(_opened(path), "citing", wanted, columns):
            for citing, cited in zip(*(table[name].to_pylist() for name in columns), strict=True):
                found.setdefault(citing, {})[cited] = None
    works = {one: one.split(" ") if one.startswith(KINDS) else [one] for cited in found.values() for one in cited}
    known = papers_known_by(corpus, {one for ids in works.values() for one in ids if one.startswith(KINDS)})
    papers = {work: next((known[one] for one in ids if one in known), ids[0]) for work, ids in works.items()}
    return {citing: tuple(dict.fromkeys(papers[one] for one in cited)) for citing, cited in found.items()}


def id_files(corpus: Path) -> list[Path]:
    """Every file of other ids, in order."""
    return sorted((corpus / IDS).glob("*.parquet"))


def read_ids(path: Path) -> Any:
    """One of them as a pyarrow table."""
    return _opened(path).read(columns=["paper_id", "id"])


def papers_known_by(corpus: Path, ids: Collection[str]) -> dict[str, str]:
    """The papers that these ids, with their kinds, are of; an id that no file names is left out."""
    files = id_files(corpus) if ids else []
    several: dict[str, dict[str, None]] = {}
    for path in files:
        for table in rows_with(_opened(path), "id", strings_of(sorted(ids)), ["paper_id", "id"]):
            for paper_id, one in zip(table["paper_id"].to_pylist(), table["id"].to_pylist(), strict=True):
                several.setdefault(one, {})[paper_id] = None
    # A paper that was taken out of the corpus and came back from another file may be there under another id.
    doubtful = {paper_id for one in several.values() if len(one) > 1 for paper_id in one}
    there = known_ids(corpus, doubtful) if doubtful else frozenset()
    return {one: next((name for name in names if name in there), next(iter(names))) for one, names in several.items()}


def rows_of(files: Iterable[Path], column: str, wanted: Any) -> Iterator[Any]:
    """The rows of ids or of citations whose `column` has one of the values, as tables of two columns of strings."""
    for path in files:
        file = _opened(path)
        yield from rows_with(file, column, wanted, file.schema_arrow.names)


def _opened(path: Path) -> Any:
    import pyarrow
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        hint = "delete it, and add the file that it came from again"
        raise InputError(f"{path}: not a Parquet file: {error}", hint=hint) from None
