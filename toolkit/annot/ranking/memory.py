"""What work that cannot be cut into shards takes in memory, so that it can be refused before it begins."""

from __future__ import annotations

import math

GIGABYTE = 2**30
OVERHEAD = int(0.4 * GIGABYTE)
"""Bytes of a process at such work beside what grows with the words: libraries, a block of papers (measured: 0.3)."""


def gigabytes(size: int) -> str:
    """Bytes as `--memory` takes them, rounded up.

    >>> gigabytes(3 * 2**30), gigabytes(int(3.01 * 2**30))
    ('3G', '3.1G')
    """
    return f"{math.ceil(10 * size / GIGABYTE) / 10:g}G"
