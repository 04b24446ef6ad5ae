"""Assessors looked at one by one and two by two: how they judge, whether they change, and why they disagree."""

from __future__ import annotations

from annot.diagnosis.drift import Drift
from annot.diagnosis.items import order_of_hard
from annot.diagnosis.matrices import AgainstFinal, Repeat
from annot.diagnosis.overview import AskedAndGraded, Diagnosed, Looked, look
from annot.diagnosis.panel import Panel, panel_of

__all__ = [
    "AgainstFinal",
    "AskedAndGraded",
    "Diagnosed",
    "Drift",
    "Looked",
    "Panel",
    "Repeat",
    "look",
    "order_of_hard",
    "panel_of",
]
