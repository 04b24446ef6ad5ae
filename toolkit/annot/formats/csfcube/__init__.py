"""A CSFCube release folder as one record: papers, queries, pools, double ratings, grades, splits, runs.

Mysore, O'Gorman, McCallum, Zamani: CSFCube, NeurIPS 2021 Datasets and Benchmarks, https://github.com/iesl/CSFCube.
"""

from __future__ import annotations

from annot.formats.csfcube.contents import is_release_file
from annot.formats.csfcube.fitting import CsfcubeFacts, Material, Release, misfits, read_release, write_csfcube

ADJUDICATOR = "adjudicator"
"""The person who settled the differences: the release gives no name."""

__all__ = [
    "ADJUDICATOR",
    "CsfcubeFacts",
    "Material",
    "Release",
    "is_release_file",
    "misfits",
    "read_release",
    "write_csfcube",
]
