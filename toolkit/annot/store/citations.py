"""Citations that were added beside the papers, as Parquet: who cites whom, in a folder for each file they came from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from annot.ranking.storage import strings_of

FOLDER = "citations"
"""Below the corpus; in it a folder for each file, named by the file's hash."""
MANIFEST = f"{FOLDER}/manifest.json"


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
