"""A CSFCube release folder as one record: papers, queries, pools, double ratings, grades, splits, runs."""

from __future__ import annotations

from annot_csfcube.contents import is_release_file
from annot_csfcube.fitting import CsfcubeFacts, Material, Release, misfits, read_release, write_csfcube

__all__ = [
    "CsfcubeFacts",
    "Material",
    "Release",
    "is_release_file",
    "misfits",
    "read_release",
    "write_csfcube",
]
