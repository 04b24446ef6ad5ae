"""The largest number that an option takes asks for all there is, and ends."""

from __future__ import annotations

from collections.abc import Callable

import pooled_corpus
from annot.study.workspace import Workspace
from command_line import Result


def test_pools_of_everything_end(ws: Workspace, annot: Callable[..., Result]) -> None:
    pooled_corpus.made(ws, annot, [pooled_corpus.paper(number) for number in range(30)])
    for mode in ("round-robin", "blocks", "depth"):
        found = annot("pool", "--mode", mode, "--per-method", 10**9, "--ranking-depth", 10**9, "--redraw")
        assert found.exit_code == 0, found.stderr
        assert {len(documents) for documents in pooled_corpus.drawn(ws).values()} == {29}
