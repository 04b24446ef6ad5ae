"""Notices that databases and publishers add to abstracts, cut by rules; each rule names its source.

A rule cuts a text of its own kind, and only where it begins as a sentence does: `copyright` occurs in papers on law.
Most notices are at the end of an abstract, some before its first word.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class NoticeRule(NamedTuple):
    """A kind of notice."""

    name: str
    """The words in which counts name it."""
    source: str
    """The databases or publishers that write it, and when."""
    pattern: re.Pattern[str]


_YEAR = r"(?:1[89]|20)\d\d\b"
_PUBLISHER = (
    r"(?:Elsevier|Springer|Wiley|Blackwell|Informa|Taylor|Sage|SAGE|IEEE|ACM|MDPI|Kluwer|Lippincott|Karger|Thieme|Emerald"
    r"|Mosby|Saunders|Pergamon|Academic|BMJ|Oxford|Cambridge|\S+ Press|Publish\w+|APA\b|Ltd|Limited|Inc\b|LLC|GmbH"
    r"|B\.V|Verlag|Societ\w+|Association|College|Academy|Institute|The Authors?\b|Authors?\b)"
)
_SIGN = (
    r"(?:(?:Crown )?Copyright,?\s*(?:©|\([cC]\))|©\s*(?:Copyright,?)?"
    rf"|(?<=[.!?)\]”]\s)\([cC]\)(?:\s*Copyright)?|\([cC]\)(?=\s*{_YEAR}[\s,]+{_PUBLISHER}))"
)
_HOLDER = (
    # A name or a number, or one of the small words between names; any other word begins a sentence of the abstract.
    r"(?:[A-Z0-9À-Þ&(][^\s]*|[&|/©–-]|(?:and|or|of|the|for|on|behalf|by|under|in|an?|de|la|le|les|du|des|der|die|das|del|di"
    r"|et|al|e|y|und|f[auü]r|van|von|voor|trading|as|published|publish(?:ing|ers?)|part|licensee|licensor|licen[cs]e[ed]?"
    r"|exclusive|to|all|rights?|reserved|authors?|author\(s\)|its|other|with|from|is|article|open|access|their"
    r"|affiliations|holders?)(?!\w)[.,;:)]*)"
)
_END = r"\s*\Z"


def _rule(name: str, source: str, pattern: str, flags: int = 0) -> NoticeRule:
    return NoticeRule(f"a notice: {name}", source, re.compile(pattern, flags))


RULES = (
    _rule(
        "database record of APA",
        "APA PsycInfo through Ovid, EBSCO, ProQuest and PsycNET, 2002 to today",
        r"\s*[\[(]\s*PsycINFO Database Record,?\s+(?:Copyright\s+)?\(c\)\s+\d{4}[^()\[\]]{0,80}[)\]]+\.?"
        r"(?:\s*\((?:Source: )?journal abstract\)\.?)?"
        r"|\s*(?:Copyright )?PsycINFO Database Record \(c\) \d{4} APA, all rights reserved\.?\s*\Z",
        re.IGNORECASE,
    ),
    _rule(
        "property of the publisher",
        "EBSCO in all of its databases, 2003 to today; six sentences",
        r"\s*Copyright of [^\n]{2,300}? (?:is|are) the property of [^\n]{2,300}? content may not be copied.*\Z",
        re.DOTALL,
    ),
    _rule(
        "origin of the abstract",
        "EBSCO; ProQuest's Sociological Abstracts, ASSIA and IBSS; ERIC; 1990 to today",
        r"\s*(?:[\[(](?:(?:PUBLICATION|AUTHOR|JOURNAL) ABSTRACT|ABSTRACT FROM (?:THE )?(?:AUTHOR|PUBLISHER|JOURNAL)S?"
        r"|(?:original|author|journal) abstract|as provided|reprinted by permission[^\]\n]{0,200}"
        r"|copyright [^\])\n]{1,120}|contains \d+ (?:tables?|figures?|(?:foot|end)?notes?)[^)\n]{0,80})[\])]\.?"
        r"|(?<=[.!?]\s)Adapted from the source document\.?)(?=\s*(?:[\[(]|Copyright|\Z))",
        re.IGNORECASE,
    ),
    _rule(
        "truncation",
        "MEDLINE, 1976 to 2000 (https://www.nlm.nih.gov/bsd/mms/medlineelements.html#ab)",
        r"\s*\(ABSTRACT TRUNCATED(?: AT \d+ WORDS)?\)" + _END,
    ),
    _rule(
        "protected by copyright",
        "Wiley, Wolters Kluwer, Elsevier's proceedings and U.S. offices in PubMed and Scopus, 2009 to today",
        r"(?:\A|(?<=[.!?)\]])\s*)(?:This article is protected by copyright\.(?:\s*All rights reserved\.?)?"
        r"|Unauthorized reproduction of this article is prohibited\.?"
        r"|Selection and(?:/or)? peer[- ]review under responsibility of[^\n]{0,150}"
        r"|(?:©[\s\d,]{0,8})?This is a U\.?S\.? Government work and not under copyright[^\n]{0,90})" + _END,
    ),
    _rule(
        "open access",
        "Hindawi, PLOS, BMC, MDPI and other publishers of open access in Scopus and PubMed, 2003 to today",
        r"(?<=[.!?)\]]\s)(?:This is an open[- ]access article, free of all copyright[^\n]{0,400}\Z"
        r"|(?:This (?:is an|article is an|work is) open[- ]access"
        r"|This article is (?:distributed|licensed)"
        r" under|This work is licensed under|Licensed under)[^\n]{0,160}(?:Creative ?Commons|CC[- ]BY)[^\n]{0,300})"
        + _END,
        re.IGNORECASE,
    ),
    _rule(
        "figure or supplement",
        "Springer Nature in Scopus and PubMed, Elsevier in Embase, 2009 to today",
        r"\s*(?:(?:Graphical? abstract:?\s*)?\[(?:Figure|MediaObject) not available: see fulltext\.?\]\.?"
        r"|\[(?:figure|formula|table) presented\]\.?"
        r"|(?:(?:Electronic s|S)upplementary material:?\s+)?The online version (?:of this article )?"
        r"(?:\([^()\n]{5,90}\) )?contains supplementary material[^\n]{0,90}?(?:authorized users|at 10\.\S+|\Z)\.?"
        r"|(?<=[.!?]\s)Supplementary materials? (?:accompanying this paper|for this article)[^\n]{0,200}\Z)",
        re.IGNORECASE,
    ),
    _rule(
        "copyright",
        "publishers in Scopus, Web of Science, ScienceDirect, Ovid and IEEE Xplore, 1990 to today",
        rf"\s*(?:{_SIGN}(?:\s*{_YEAR})?(?:[\s,;:]+{_HOLDER}){{0,60}}+{_END}"
        rf"|{_SIGN}\s*{_YEAR}[^\n]{{0,250}}?\bAll rights? reserved\.?{_END}"
        rf"|(?:(?<=[.!?)\]]\s)|\A)(?:Copyright,?\s+(?:{_YEAR}|{_PUBLISHER})"
        rf"|Published by (?:\S+ ){{0,5}}?{_PUBLISHER}|All rights? reserved)"
        rf"(?:[\s,;:.]+{_HOLDER}){{0,60}}+[.\s]*\Z)",
    ),
    _rule(
        "copyright before or within the abstract",
        "Scopus and IEEE Xplore until about 2016; journals with two abstracts in Web of Science",
        rf"(?:\A|(?<=[.!?)\]])\s)\s*(?:{_SIGN}\s*{_YEAR}(?:[\s,;:]+{_HOLDER}){{0,25}}(?<=\.)"
        r"|(?<!.)All rights? reserved\.)\s*(?=[A-Z\"“])",
    ),
    _rule(
        "place of the article",
        "journals of SETAC, Wiley, SLACK and others in Web of Science, Embase and PubMed, 1990 to 2022",
        r"(?<=[.!?)\]]\s)\[?(?:[A-Z][A-Za-z.]+\s){1,6}(?:(?:19|20)\d\d;\s?\d+(?:\(\d+\))?:\s?\w+(?:[–-]\w+)?|\d+:\s?\d+[–-]\d+,"
        r"\s(?:19|20)\d\d)\.?\]?\.?" + _END,
    ),
)
"""In the order in which they are tried."""
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
    before = None
    while text != before and len(cut) < _MOST:
        before = text
        for rule in RULES:
            while len(cut) < _MOST and (found := rule.pattern.search(text)) and not _is_listed(found[0], text):
                cut.append((rule.name, found[0].strip()))
                text = f"{text[: found.start()].rstrip()} {text[found.end() :].lstrip()}".strip()
    return text, tuple(cut)


def _is_listed(notice: str, text: str) -> bool:
    """Whether the sign of copyright is the third letter of a list: (a), (b), (c)."""
    return any(notice.lstrip().startswith(third) and second in text for second, third in _LISTED)
