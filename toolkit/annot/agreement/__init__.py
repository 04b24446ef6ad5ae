"""Agreement between assessors: coefficients, intervals and tables."""

from __future__ import annotations

from annot.agreement.bootstrap import Bootstrap
from annot.agreement.coefficients import COEFFICIENTS, PERCENTAGES, TITLES
from annot.agreement.missing import POLICIES
from annot.agreement.results import (
    AgreementTable,
    GroupAgreement,
    Interval,
    Intervals,
    QueryAgreement,
    Share,
    ShareSummary,
    Summary,
)
from annot.agreement.tables import TOGETHER, agreement_table
from annot.undefined import Undefined, Value, to_json

__all__ = [
    "COEFFICIENTS",
    "PERCENTAGES",
    "POLICIES",
    "TITLES",
    "TOGETHER",
    "AgreementTable",
    "Bootstrap",
    "GroupAgreement",
    "Interval",
    "Intervals",
    "QueryAgreement",
    "Share",
    "ShareSummary",
    "Summary",
    "Undefined",
    "Value",
    "agreement_table",
    "to_json",
]
