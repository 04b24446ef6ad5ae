"""Pools: drawn from rankings, and added to later, by hand or from the ranking of a method that came later."""

from annot.pooling.additions import MANUAL, Version, as_of, came_in, extended, versions_of
from annot.pooling.drawing import CITED, MethodShare, draw, method_order, shares

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
