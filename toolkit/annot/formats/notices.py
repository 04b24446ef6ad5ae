"""Notices that databases and publishers add to abstracts, cut by the rules in `notices.toml`, each with its source.

A rule cuts a text of its own kind. Most notices are at the end of an abstract, some before its first word.
Retracted and withdrawn papers are known by what their records, their titles and their abstracts say.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any, NamedTuple

from annot.base.records import Paper


class NoticeRule(NamedTuple):
    """A kind of notice."""

    name: str
    """The words in which counts name it."""
    source: str
    """The databases or publishers that write it, and when."""
    pattern: re.Pattern[str]


def _rules() -> Iterator[NoticeRule]:
    read = tomllib.loads(resources.files(__package__).joinpath("notices.toml").read_text("utf-8"))
    parts = {f"<{name}>": "".join(pieces) for name, pieces in read["parts"].items()}
    for rule in read["rules"]:
        pattern = "".join(rule["pattern"])
        # A part may have those before it in the file.
        for name, part in reversed(parts.items()):
            pattern = pattern.replace(name, part)
        flags = re.IGNORECASE if rule.get("any_case") else 0
        yield NoticeRule(f"a notice: {rule['name']}", rule["source"], re.compile(pattern, flags))


RULES = tuple(_rules())
"""All rules, in the order in which they are tried."""
_MARKS = ("opyright", "©", "(C)", "(c)", "atabase Record", "see fulltext")
"""Signs of notices that may be anywhere in an abstract."""
_LAST = 450
_MARKS_AT_THE_END = (
    "bstract)", "BSTRACT", "reserved", "presented]", "(Contains", "source document", "upplementary material",
    "pen access", "pen-access", "icensed under", "(As Provided", "by permission", "Published by",
    "responsibility of", "TRUNCATED",
)  # fmt: skip
"""Signs of those among so many last characters."""
_PLACE = re.compile(r"\d[.\]]{0,3}\s*\Z")
_LONGEST = 20_000
"""Characters of an abstract; a longer text is none."""
_MOST = 10
"""Notices of an abstract: no more are looked for."""
_LISTED = (("(b)", "(c)"), ("(B)", "(C)"))


def without_notices(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text without notices, and what was cut, as (name of the rule, notice).

    >>> without_notices("Copyright is a right. (c) 2015 Elsevier Ltd. All rights reserved.")
    ('Copyright is a right.', (('a notice: copyright', '(c) 2015 Elsevier Ltd. All rights reserved.'),))
    """
    end = text[-_LAST:]
    may_have = any(mark in text for mark in _MARKS) or any(mark in end for mark in _MARKS_AT_THE_END)
    if not (may_have or _PLACE.search(end[-9:])) or len(text) > _LONGEST:
        return text, ()
    cut: list[tuple[str, str]] = []
    earlier = None
    while text != earlier and len(cut) < _MOST:
        earlier = text
        for rule in RULES:
            while len(cut) < _MOST and (notice := rule.pattern.search(text)) and not _is_listed(notice[0], text):
                cut.append((rule.name, notice[0].strip()))
                text = f"{text[: notice.start()].rstrip()} {text[notice.end() :].lstrip()}".strip()
    return text, tuple(cut)


def _is_listed(notice: str, text: str) -> bool:
    """Tell whether the sign of copyright is the third letter of a list: (a), (b), (c)."""
    return any(notice.lstrip().startswith(third) and second in text for second, third in _LISTED)


_KIND = r"(?:\s+(?:article|chapter|notice|note|paper))?"
_TITLE = re.compile(
    rf"\A\W*(?:(?i:(?:retracted|retraction){_KIND})|WITHDRAWN(?i:{_KIND}))\s*[:\])—–]"
    rf"|(?i:[\[(](?:retracted|withdrawn){_KIND}\b[^\[\]]{{0,200}}[\])]\.?\Z)"
)
"""Elsevier has `RETRACTED: ...`, Springer `Retracted Article: ...`, the Web of Science `... (Retracted article. See
vol. 3)`."""
_ABSTRACT = re.compile(
    r"\s*(?:This|The) (?:paper|article|submission|manuscript|work|preprint) (?:has been|is|was)"
    r" (?:withdrawn|retracted)\b"
)
"""The sentence in place of an abstract, such as arXiv's."""


def is_retracted(record: Mapping[str, Any], paper: Paper) -> bool:
    """Tell whether the paper was retracted or withdrawn. record: what its source says is in `retracted`."""
    title = paper.title.lower()
    named = ("retract" in title or "withdrawn" in title) and _TITLE.search(paper.title)
    return bool(record.get("retracted") or named or (paper.sentences and _ABSTRACT.match(paper.sentences[0])))
