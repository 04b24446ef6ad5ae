"""Whether everything on disk and on record is what was once written there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annot.errors import FindingError, InputError
from annot.formats.irds import dataset_id
from annot.release.release_folder import check_folder
from annot.report.terminal import told
from annot.store.database import open_store
from annot.store.dump import row_counts
from annot.study.chain import LINKS, broken_links
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
        findings += _release_faults(release, dataset_id(ws.settings.collection.name))
    manifests = sum((ws.root / name).is_file() for name, _ in LINKS)
    return Verified(manifests, counts["judgement"] + counts["adjudication"], tuple(findings))


def describe(verified: Verified) -> str:
    """The findings, or what there was to look at."""
    return told("verified", verified=verified)


def finding(verified: Verified) -> FindingError | None:
    """What ends the command where something was found."""
    if not verified.findings:
        return None
    return FindingError(
        f"{len(verified.findings)} thing(s) are not as they were written",
        hint="make each again with the command that is named, or take it from a backup with `annot restore`",
    )


def _release_faults(folder: Path, name: str) -> tuple[str, ...]:
    if not folder.is_dir():
        return (f"{folder}: no such folder, expected a release",)
    try:
        check_folder(folder, name=name)
    except InputError as error:
        return tuple(f"{folder}/{fault}" for fault in error.faults) or (error.message,)
    return ()
