"""Citations that were added beside the papers, as Parquet: who cites whom, in a folder for each file they came from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import InputError
from annot.base.storage import strings_of

FOLDER = "citations"
"""Below the corpus; in it a folder for each file, named by the file's hash."""
MANIFEST = f"{FOLDER}/manifest.json"
ABOUT = "about.json"
"""In the folder of a file: what it brought."""


@dataclass(frozen=True, slots=True)
class AddedFile:
    """A file of citations that was added, by its name without a folder."""

    name: str
    sha256: str
    kept: int
    """Its citations by papers of the corpus."""


def added_files(corpus: Path) -> tuple[AddedFile, ...]:
    """The files that were added, by name. Raises InputError where it cannot be read what one brought."""
    found = []
    for path in (corpus / FOLDER).glob(f"*/{ABOUT}"):
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            found.append(AddedFile(Path(about["file"]).name, str(about["sha256"]), int(about["kept"])))
        except (ValueError, KeyError, TypeError) as error:
            hint = "add the file of citations again with `annot import --as citations`"
            raise InputError(f"{path}: not what `annot import --as citations` writes: {error!r}", hint=hint) from None
    return tuple(sorted(found, key=lambda one: (one.name, one.sha256)))


def cited_by(corpus: Path, paper_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What each of these papers cites by the files that were added; in the order of those, each id once."""
    import pyarrow.compute
    import pyarrow.parquet

    wanted = strings_of(sorted(set(paper_ids)))
    found: dict[str, dict[str, None]] = {}
    for path in sorted((corpus / FOLDER).glob("*/*.parquet")):
        file = pyarrow.parquet.ParquetFile(path)
        for group in range(file.num_row_groups):
            there = pyarrow.compute.is_in(file.read_row_group(group, columns=["citing"]).column(0), value_set=wanted)
            if pyarrow.compute.any(there).as_py():
                table = file.read_row_group(group).filter(there)
                for citing, cited in zip(*(table[name].to_pylist() for name in ("citing", "cited")), strict=True):
                    found.setdefault(citing, {})[cited] = None
    return {citing: tuple(cited) for citing, cited in found.items()}
