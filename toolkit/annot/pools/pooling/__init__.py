"""Pools: drawn from rankings, and added to later, by hand or from the ranking of a method that came later."""

from annot.base.records import CITED, MANUAL
from annot.pools.pooling.additions import Version, as_of, came_in, extended, versions_of
from annot.pools.pooling.drawing import MethodShare, draw, method_order, shares

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
