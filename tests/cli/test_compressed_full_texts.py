"""`annot encoder contexts` reads full texts as S2ORC gives them out, compressed."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import usual
from command_line import annot, annot_done


def test_compressed_full_texts_give_the_same_contexts(study: Callable[[str], Path]) -> None:
    folder = study("pooled")
    usual.full_texts(folder)
    compressed = gzip.compress((folder / "full.jsonl").read_bytes())
    (folder / "full.gz").write_bytes(compressed)
    (folder / "cut.gz").write_bytes(compressed[: len(compressed) // 2])
    for name in ("full.jsonl", "full.gz"):
        annot_done("encoder", "contexts", name, "--out", f"{name}.contexts", folder=folder)
    assert (folder / "full.gz.contexts").read_bytes() == (folder / "full.jsonl.contexts").read_bytes() != b""
    refused = annot("encoder", "contexts", "cut.gz", "--out", "cut.contexts", folder=folder)
    assert "cut.gz: cannot be decompressed" in refused.message()
    assert not (folder / "cut.contexts").exists()
