"""Who judges what, in which order: drawing the plan, handing it on when people change, and proving that it is sound."""

from annot.planning.checking import faults_of, overlaps
from annot.planning.drawing import draw_plan, plan_lines
from annot.planning.handing_on import HandedOn, give_back, hand_on, renumbered

__all__ = [
    "HandedOn",
    "draw_plan",
    "faults_of",
    "give_back",
    "hand_on",
    "overlaps",
    "plan_lines",
    "renumbered",
]
