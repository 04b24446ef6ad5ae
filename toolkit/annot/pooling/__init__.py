"""Pools: drawn from rankings, and added to later, by hand or from the ranking of a method that came later."""

from annot.pooling.additions import Version, as_of, came_in, extended, versions_of
from annot.pooling.drawing import MethodShare, draw, method_order, shares
from annot.records import CITED, MANUAL

__all__ = [
    "CITED",
    "MANUAL",
    "MethodShare",
    "Version",
    "as_of",
    "came_in",
    "draw",
    "extended",
    "method_order",
    "shares",
    "versions_of",
]
