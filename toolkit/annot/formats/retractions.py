"""Retracted and withdrawn papers, by what their records, their titles and their abstracts say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from annot.base.records import Paper

_OF_WHAT = r"(?:\s+(?:article|chapter|notice|note|paper))?"
_TITLE = re.compile(
    rf"\A\W*(?:(?i:(?:retracted|retraction){_OF_WHAT})|WITHDRAWN(?i:{_OF_WHAT}))\s*[:\])—–]"
    rf"|(?i:[\[(](?:retracted|withdrawn){_OF_WHAT}\b[^\[\]]{{0,200}}[\])]\.?\Z)"
)
"""Elsevier has `RETRACTED: ...`, Springer `Retracted Article: ...`, the Web of Science `... (Retracted article. See
vol. 3)`."""
_ABSTRACT = re.compile(
    r"\s*(?:This|The) (?:paper|article|submission|manuscript|work|preprint) (?:has been|is|was)"
    r" (?:withdrawn|retracted)\b"
)
"""The sentence in place of an abstract, such as arXiv's."""


def is_retracted(record: Mapping[str, Any], paper: Paper) -> bool:
    """Whether the paper was retracted or withdrawn. record: its `retracted` is what the source says, if anything."""
    title = paper.title.lower()
    named = ("retract" in title or "withdrawn" in title) and _TITLE.search(paper.title)
    return bool(record.get("retracted") or named or (paper.sentences and _ABSTRACT.match(paper.sentences[0])))
