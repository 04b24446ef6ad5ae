"""Random generators, one for every key, so that draws for one query never move with another."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator


def generator(seed: int, *key: str) -> Generator:
    """Local generator that follows from `seed` and `key` alone, on every machine and in every process."""
    from numpy.random import default_rng

    digest = hashlib.sha256("\x1f".join([str(seed), *key]).encode()).digest()
    return default_rng(int.from_bytes(digest[:16], "big"))
