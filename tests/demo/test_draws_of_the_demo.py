"""The demonstration's pools hold the documents that they always held, in the same order and by the same draws."""

import hashlib
from pathlib import Path

POOLS = Path(__file__).parents[2] / "pools" / "demo" / "queries"
SHA256 = "ca7d2b698ae4b5e028031f2c65f41f2ae381f0d7fc7fff4d425cc45b8a21b9ee"
"""Of all files together as they were when a pool named its `paper_id`."""


def test_pools_name_their_topic_and_nothing_else_of_them_changed() -> None:
    found = [path.read_text(encoding="utf-8") for path in sorted(POOLS.glob("*.jsonl"))]
    assert all(text.startswith('{"topic_id": ') for text in found)
    as_before = "".join(text.replace('{"topic_id": ', '{"paper_id": ', 1) for text in found)
    assert hashlib.sha256(as_before.encode()).hexdigest() == SHA256
