"""Does it matter who judged? The ranking of all runs under each assessor's grades, the final ones, and mixtures.

Voorhees 1998 and 2000, Variations in Relevance Judgments and the Measurement of Retrieval Effectiveness: where each
pair's grade comes from one of its assessors, taken at random, how far does the ranking of runs move from the one under
the final grades (Kendall's tau-b), and is there a pair of runs whose order is significant under one grading and
reversed under the other? All gradings cover the same pairs: those with a final grade and a grade of an assessor.
"""

from __future__ import annotations

from annot.assessor_effect.effect import does_it_matter
from annot.assessor_effect.results import (
    Comparison,
    DoesItMatter,
    GradingRanking,
    Mattering,
    Mixtures,
    MixtureSwap,
    Swap,
)

__all__ = [
    "Comparison",
    "DoesItMatter",
    "GradingRanking",
    "Mattering",
    "MixtureSwap",
    "Mixtures",
    "Swap",
    "does_it_matter",
]
