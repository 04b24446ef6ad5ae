"""Chance: a generator of its own for every key, so that what is drawn for one query never moves with another."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *key: str) -> np.random.Generator:
    """A local generator that follows from `seed` and `key` alone, on every machine and in every process."""
    digest = hashlib.sha256("\x1f".join([str(seed), *key]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))
