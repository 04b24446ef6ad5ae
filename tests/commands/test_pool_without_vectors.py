"""A new study lists specter and has no vectors: its pools are drawn without it, on record, and one is told once."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from annot.store import pools
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import Result
from pooled_corpus import made, paper


def left_out(ws: Workspace) -> set[tuple[str, ...]]:
    """What is on record as left out, of all pools."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        return {pool.without for pool in pools.read_pools(session).values()}


@pytest.fixture
def listing_specter(ws: Workspace, annot: Callable[..., Result]) -> Workspace:
    """A study of sixty papers whose annot.toml lists specter."""
    made(ws, annot, [paper(number) for number in range(60)])
    text = ws.settings_file.read_text(encoding="utf-8")
    ws.settings_file.write_text(text.replace('"abs_tfidf", "cited"', '"abs_tfidf", "specter", "cited"'))
    return ws


def test_with_vectors_it_draws_again_and_is_never_dropped_from_pools_that_it_drew(
    listing_specter: Workspace, annot: Callable[..., Result]
) -> None:
    ws = listing_specter
    assert annot("pool", "--per-method", "3").exit_code == 0
    lines = [json.loads(line) for line in (ws.root / "papers.jsonl").read_text(encoding="utf-8").splitlines()]
    np.save(ws.root / "m.npy", np.random.default_rng(1).normal(size=(len(lines), 4)).astype(np.float32))
    (ws.root / "ids.txt").write_text("".join(f"{one['paper_id']}\n" for one in lines))
    typed = (str(ws.root / "m.npy"), "--ids", str(ws.root / "ids.txt"), "--space", "allenai/specter")
    assert annot("vectors", "add", "specter", *typed).exit_code == 0
    assert "when pools were drawn: specter" in annot("pool").stderr
    assert annot("pool", "--redraw").exit_code == 0
    assert left_out(ws) == {()}
    for path in (ws.vectors / "specter").iterdir():
        path.unlink()
    (ws.vectors / "specter").rmdir()
    refused = annot("pool")
    assert refused.exit_code == 2
    assert "specter: no vectors at" in refused.stderr
    assert left_out(ws) == {()}
