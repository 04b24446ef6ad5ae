"""Choosing query papers: a random sample per period, a sheet that the lead fills in, and an even choice from it."""

from annot.selection.choosing import Choice, Chosen, ChosenShare, Distribution, choose
from annot.selection.sampling import PeriodSample, Sample, sample
from annot.selection.sheet import COLUMNS, PAPER_TYPES, SheetRow, read_sheet, write_sheet

__all__ = [
    "COLUMNS",
    "PAPER_TYPES",
    "Choice",
    "Chosen",
    "ChosenShare",
    "Distribution",
    "PeriodSample",
    "Sample",
    "SheetRow",
    "choose",
    "read_sheet",
    "sample",
    "write_sheet",
]
