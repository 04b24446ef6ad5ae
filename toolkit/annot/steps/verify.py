"""Whether everything on disk and on record is what was once written there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import InputError
from annot.formats.irds import dataset_id
from annot.pools.chain import LINKS, broken_links
from annot.publishing.release.released_files import SUMS_FILE, check_folder
from annot.store.database import open_store
from annot.store.dump import row_counts
from annot.study.doors import is_named_inside
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Verified:
    """What `annot verify` looked at, and found."""

    manifests: int
    revisions: int
    """Rows of judgements and adjudications."""
    findings: tuple[str, ...]


def verify(ws: Workspace, *, release: Path | None) -> Verified:
    """Hold files and records against their hashes, from the corpus to the qrels, and a release against its own."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        findings = list(broken_links(ws, session))
        counts = row_counts(session.connection())
    if release is not None:
        findings += _release_faults(ws, release)
    manifests = sum((ws.root / name).is_file() for name, _ in LINKS)
    return Verified(manifests, counts["judgement"] + counts["adjudication"], tuple(findings))


def _release_faults(ws: Workspace, folder: Path) -> Iterator[str]:
    if not folder.is_dir():
        yield f"{folder}: {'a file' if folder.exists() else 'no such folder'}, expected the folder of a release"
        return
    try:
        check_folder(folder, name=dataset_id(ws.settings.collection.name))
    except InputError as error:
        yield from (f"{folder}/{fault}" for fault in error.faults)
        if not error.faults:
            yield error.message
    sums = folder / SUMS_FILE
    listed = sums.read_text(encoding="utf-8", errors="replace").splitlines() if sums.is_file() else []
    for name in (line.partition("  ")[2] for line in listed):
        path, source = folder / name, ws.exports / name
        if not is_named_inside(path, folder) or not path.is_file():
            yield f"{folder}/{name}: gone"
        elif (
            (name == "qrels.txt" or name.endswith(".run"))
            and source.is_file()
            and path.read_bytes() != source.read_bytes()
        ):
            yield f"{folder}/{name}: not {source.relative_to(ws.root)} as it is now; `annot release` takes it up"
