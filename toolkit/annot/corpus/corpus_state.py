"""The hash of the corpus as it is now, worked out once for files that have not changed since."""

from __future__ import annotations

import json

from annot.base.errors import AnnotError
from annot.corpus.corpus_facts import MANIFEST
from annot.store import papers
from annot.study.workspace import Workspace, read_manifest, sha256_of, write_file


def current_sha256(ws: Workspace, *, keep: bool) -> str:
    """The hash that `annot.store.papers.corpus_sha256` gives. Raises MissingInput when the corpus is empty.

    keep: write down what was found.

    A file is taken for unchanged while its size, its times and its number in the file system are: whoever exchanges a
    file, even under its old date, changes one of them.
    """
    remembered = ws.cache / "corpus.json"
    files = _files(ws)
    try:
        known = json.loads(remembered.read_text("utf-8"))
        if known["files"] == files:
            return str(known["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    digest = _from_manifest(ws, list(files)) or papers.corpus_sha256(ws.corpus)
    if keep:
        write_file(remembered, json.dumps({"files": files, "sha256": digest}))
    return digest


def _files(ws: Workspace) -> dict[str, list[int]]:
    found = {path.name: path.stat() for path in sorted(ws.corpus.glob("*.parquet")) if not path.name.startswith(".")}
    return {name: [at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino] for name, at in found.items()}


def _from_manifest(ws: Workspace, names: list[str]) -> str | None:
    """What the corpus's manifest says, if its files are the very ones that are there."""
    try:
        manifest = read_manifest(ws.corpus / MANIFEST, hint="")
    except AnnotError:
        return None
    found = {name: sha256_of(ws.corpus / name) for name in names}
    digest = manifest.get("content_sha256")
    return digest if found and manifest.get("files") == found and isinstance(digest, str) else None
