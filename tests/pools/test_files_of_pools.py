"""Files of pools: one for each, stale ones are removed, and the manifest has their common facts."""

import json
from pathlib import Path
from typing import Any

import pytest
from annot.base.names import sha256_of
from annot.base.records import Draw, Pool, PoolEntry
from annot.base.settings import Settings
from annot.pools.admission import Admission, write_admissions
from annot.pools.drawn_pools import write_pools
from annot.store.citations import MANIFEST as CITATIONS
from annot.study.workspace import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, Settings())


def pool(paper_id: str, per_method: int) -> Pool:
    entry = PoolEntry("d", Draw("bm25", 1, 0.5, 1))
    return Pool(paper_id, "blocks", per_method, 50, 7, ("bm25",), (), (), None, (entry,))


def manifest(ws: Workspace) -> dict[str, Any]:
    return dict(json.loads((ws.pools / "manifest.json").read_text()))


def test_each_pool_has_a_file_and_those_of_other_pools_go(ws: Workspace) -> None:
    write_pools(ws, [pool("p1", 2), pool("10.1/x", 2)])
    assert sorted(path.name for path in ws.query_pools.iterdir()) == ["10.1%2Fx.jsonl", "p1.jsonl"]
    write_pools(ws, [pool("p1", 2)])
    assert [path.name for path in ws.query_pools.iterdir()] == ["p1.jsonl"]
    written = manifest(ws)
    assert written["files"] == {"queries/p1.jsonl": sha256_of(ws.query_pools / "p1.jsonl")}
    assert written["inputs"] == {}


def test_what_all_pools_have_in_common_is_said_once(ws: Workspace) -> None:
    write_pools(ws, [pool("p1", 2), pool("p2", 3), pool("p3", 2)])
    facts = manifest(ws)
    assert (facts["mode"], facts["ranking_depth"], facts["seed"]) == ("blocks", 50, 7)
    assert facts["per_method"] == [2, 3]


@pytest.mark.parametrize(
    ("recorded", "named"), [(["now"], "now"), (["now", "older"], "older"), (["b", "now", "a"], "a"), ([None], None)]
)
def test_pools_from_before_citations_were_added_name_the_older_manifest(
    ws: Workspace, recorded: list[str | None], named: str | None
) -> None:
    path = ws.corpus / CITATIONS
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    now = sha256_of(path)
    told = [now if one == "now" else one for one in recorded]
    write_admissions(ws, {f"p{at}": Admission((), (), one, {1: {}}) for at, one in enumerate(told)})
    write_pools(ws, [pool("p0", 2)])
    expected = now if named == "now" else named
    assert manifest(ws)["inputs"] == ({f"corpus/{CITATIONS}": expected} if expected else {})
    assert "admission.jsonl" in manifest(ws)["files"]
