"""Added citations of the corpus, and other ids of its papers.

A cited id with its kind (`doi:10.1/x`; of one work there may be several, with spaces between them) is looked up among
those ids when it is read, so that the paper is found whether it came before or after.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.base.names import counted
from annot.formats.input_files import open_parquet
from annot.store.papers import known_ids, rows_with

FOLDER = "citations"
"""Below the corpus; in it a folder for each file, named by the file's hash."""
MANIFEST = f"{FOLDER}/manifest.json"
ABOUT = "about.json"
"""Name of the file that describes an added file, in the folder of that file."""
IDS = "ids"
"""Below the corpus: Parquet files with `paper_id` and `id`, an id with its kind, one for each `annot corpus add`."""
IDS_MANIFEST = f"{IDS}/manifest.json"
KINDS = ("doi:", "pmid:", "openalex:")


@dataclass(frozen=True, slots=True)
class AddedFile:
    """A file of citations that was added, by its name without a folder, or the files of one `annot corpus add`."""

    name: str
    sha256: str | None
    """Hash of the file; None for citations that came with papers, whose files `annot corpus show` lists."""
    kept: int
    """Number of its citations by papers of the corpus."""


def added_files(corpus: Path) -> tuple[AddedFile, ...]:
    """Files that were added, by name. Raises InputError if a description cannot be read."""
    files = []
    for path in (corpus / FOLDER).glob(f"*/{ABOUT}"):
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            citations_kept = int(about["kept"])
            if "files" in about:
                files.append(AddedFile(and_others(sorted(map(str, about["files"]))), None, citations_kept))
            else:
                files.append(AddedFile(Path(about["file"]).name, str(about["sha256"]), citations_kept))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            hint = "delete its folder, and add the papers or the file of citations again"
            raise InputError(f"{path}: not written by annot: {error!r}", hint=hint) from None
    return tuple(sorted(files, key=lambda file: (file.name, file.sha256 or "")))


def and_others(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    return names[0] + (f" and {counted(len(names) - 1, 'other file')}" if len(names) > 1 else "")


def citation_files(corpus: Path) -> list[Path]:
    """Every file of citations, in order."""
    return sorted((corpus / FOLDER).glob("*/*.parquet"))


def cited_by(corpus: Path, paper_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Citations of each of these papers in the files that were added; in the order of those, each id once."""
    citing_ids, columns = strings_of(sorted(set(paper_ids))), ["citing", "cited"]
    cited_ids_by: dict[str, dict[str, None]] = {}
    for path in citation_files(corpus):
        for table in rows_with(_opened(path), "citing", citing_ids, columns):
            for citing, cited in zip(*(table[name].to_pylist() for name in columns), strict=True):
                cited_ids_by.setdefault(citing, {})[cited] = None
    works = {work: work.split(" ") for cited in cited_ids_by.values() for work in cited if work.startswith(KINDS)}
    paper_of = papers_known_by(corpus, {part for parts in works.values() for part in parts if part.startswith(KINDS)})
    papers = {
        work: next((paper_of[part] for part in parts if part in paper_of), parts[0]) for work, parts in works.items()
    }
    return {
        citing: tuple(dict.fromkeys(papers.get(work, work) for work in cited)) for citing, cited in cited_ids_by.items()
    }


def id_files(corpus: Path) -> list[Path]:
    """Every file of other ids, in order."""
    return sorted((corpus / IDS).glob("*.parquet"))


def read_ids(path: Path) -> Any:
    """A file of other ids as a pyarrow table."""
    return _opened(path).read(columns=["paper_id", "id"])


def papers_known_by(corpus: Path, ids: Collection[str]) -> dict[str, str]:
    """The papers that these ids, with their kinds, are of; an id that no file names is left out."""
    files = id_files(corpus) if ids else []
    several: dict[str, dict[str, None]] = {}
    for path in files:
        for table in rows_with(_opened(path), "id", strings_of(sorted(ids)), ["paper_id", "id"]):
            for paper_id, other_id in zip(table["paper_id"].to_pylist(), table["id"].to_pylist(), strict=True):
                several.setdefault(other_id, {})[paper_id] = None
    # A paper that was taken out of the corpus and came back from another file may be there under another id.
    doubtful = {paper_id for paper_ids in several.values() if len(paper_ids) > 1 for paper_id in paper_ids}
    in_corpus = known_ids(corpus, doubtful) if doubtful else frozenset()
    return {
        other_id: next((name for name in names if name in in_corpus), next(iter(names)))
        for other_id, names in several.items()
    }


def rows_of(files: Iterable[Path], column: str, values: Any) -> Iterator[Any]:
    """Rows of ids or of citations whose `column` has one of the values, as tables of two columns of strings."""
    for path in files:
        file = _opened(path)
        yield from rows_with(file, column, values, file.schema_arrow.names)


def _opened(path: Path) -> Any:
    return open_parquet(path, hint="delete it, and add the file that it came from again")
