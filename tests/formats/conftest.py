"""The CSFCube release as files and as read: whole, from its readable files alone, and two queries of it."""

import json
from pathlib import Path

import pytest
from annot_csfcube.contents import is_release_file
from annot_csfcube.files import Release
from csfcube_files import PAPERS, POOLS, RANKED, RATINGS, read


@pytest.fixture(scope="session")
def files(shared: Path) -> dict[str, bytes]:
    folder = shared / "csfcube"
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in paths.items() if is_release_file(name)}


@pytest.fixture(scope="session")
def release(files: dict[str, bytes]) -> Release:
    return read(files)


@pytest.fixture(scope="session")
def small(files: dict[str, bytes]) -> dict[str, bytes]:
    """Two queries of one facet, with every kind of file."""
    kept = {"1791179", "1198964"}
    cut = {name: files[name] for name in (f"readable_annotations/{query}-method-adju.txt" for query in kept)}
    for name in (RATINGS, POOLS, RANKED):
        cut[name] = json.dumps({q: entry for q, entry in json.loads(files[name]).items() if q in kept}).encode()
    folds = {
        fold: [key for key in keys if key.split("_")[0] in kept]
        for fold, keys in json.loads(files["evaluation_splits.json"])["method"].items()
    }
    cut["evaluation_splits.json"] = json.dumps({"method": folds}).encode()
    rows = files["queries-release.csv"].split(b"\r\n")
    rows = [rows[0], *(row for row in rows if row.startswith((b"1791179,method", b"1198964,method"))), b""]
    cut["queries-release.csv"] = b"\r\n".join(rows)
    rated = {doc_id for entry in json.loads(cut[RATINGS]).values() for doc_id in entry["cands"]} | kept
    lines = [line for line in files[PAPERS].splitlines() if json.loads(line)["paper_id"] in rated]
    cut[PAPERS] = b"\n".join(lines)
    return cut
