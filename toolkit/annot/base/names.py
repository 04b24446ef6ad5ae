"""Names that people type, checked or refused with the nearest known one. Names of files; moments; counts; words without
ids.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from annot.base.errors import InputError

if TYPE_CHECKING:
    from annot.base.records import Query

_SHOWN = 10
"""Number of names that a message lists if there are many."""
LONGEST_FILE_NAME = 200
"""Longest quoted name. File systems end at 255 bytes; the ending, and the name of a file that is being written, come on
top.
"""


def file_name(name: str, ending: str) -> str:
    """File name of an id: its letters as in a URL; a long id is cut, and its SHA-256 distinguishes it from others.

    >>> file_name("10.1/x", ".jsonl")
    '10.1%2Fx.jsonl'
    """
    quoted = quote(name, safe="")
    if len(quoted) > LONGEST_FILE_NAME:
        # No quoted name holds a plus sign.
        quoted = f"{quoted[:100]}+{hashlib.sha256(name.encode()).hexdigest()}"
    return quoted + ending


def sha256_of(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_ORDERS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys: control characters but tab and line feed, and those that turn the direction."""


def shown(text: str) -> str:
    r"""Make `text` safe for a terminal: characters that it would obey are replaced by their numbers.

    >>> shown("a comment\x1b]0;title\x07")
    'a comment\\u001b]0;title\\u0007'
    """
    return _ORDERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def near(found: str, known: Iterable[str], *, others: str = "expected one of") -> str:
    """Suggestion in place of `found`: the known name most like it, or some known names, behind `others`.

    >>> near("x", "abc"), near("x", map(str, range(800_000)), others="found"), near("x", "")
    ('expected one of a, b, c', 'found 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 799,990 more', 'there is none')
    """
    names = list(known)
    shown = few(names, None if len(names) <= 2 * _SHOWN else _SHOWN)
    none = "there is none" if others.startswith("expected") else f"{others} nothing"
    return close_to(found, names) or (f"{others} {shown}" if shown else none)


def few(names: Sequence[object], most: int | None) -> str:
    """First names of a list, and how many there are more; `most` None takes all. In templates a filter.

    >>> few(["d1", "d2", "d3"], 2)
    'd1, d2 and 1 more'
    """
    rest = 0 if most is None else len(names) - most
    return ", ".join(map(str, names[:most])) + (f" and {rest:,} more" if rest > 0 else "")


def plain_heading(heading: str) -> str:
    """Part of the heading of a section that counts.

    >>> plain_heading("Materials  and methods:")
    'MATERIALS AND METHODS'
    """
    return " ".join(heading.split()).rstrip(": ").upper()


def close_to(found: str, known: Iterable[str]) -> str:
    """Question that suggests the known name most like `found`; "" if none is like it."""
    close = difflib.get_close_matches(found, list(known), 1)
    return f"did you mean {close[0]!r}?" if close else ""


def check_name(name: str, known: Sequence[str], *, what: str) -> None:
    """Raise InputError if `name` is not among `known`, with the near name or all of them."""
    if name not in known:
        raise InputError(f"{what} {name!r}: not known; " + (near(name, known) if known else "there is none yet"))


def known_query(known: Mapping[str, Query], name: str) -> Query:
    """Query of that id. Raises InputError with the near id."""
    if name in known:
        return known[name]
    close = close_to(name, known)
    raise InputError(
        f"query {name!r}: not in this study{close and f'; {close}'}", hint="`annot query list` shows the queries"
    )


def moment_now(precision: str = "seconds") -> str:
    """Present moment in ISO 8601, UTC, to the second, or to `milliseconds`."""
    return datetime.now(UTC).isoformat(timespec=precision)


def moment_of(text: str | None) -> datetime | None:
    """Parse a day or a moment in ISO 8601, UTC if it has no zone; None for anything else.

    >>> moment_of("2031-03-14").isoformat()
    '2031-03-14T00:00:00+00:00'
    """
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment_given(text: str, *, option: str) -> datetime:
    """Parse the value of an option. Raises InputError if it is no moment."""
    moment = moment_of(text)
    if moment is None:
        raise InputError(f"{option} {text!r}: not a date, expected ISO 8601", hint="for example 2031-03-14")
    return moment


def counted(n: int, name: str, plural: str = "") -> str:
    """Number and noun; `plural` if it is irregular. In templates a filter and a function.

    >>> counted(1, "query"), counted(2000, "query"), counted(0, "day"), counted(2, "batch", "batches")
    ('1 query', '2,000 queries', '0 days', '2 batches')
    """
    return f"{whole(n)} {name if n == 1 else plural or plural_of(name)}"


def whole(cell: Any) -> Any:
    """Number of things as every page and message has it, `1,498`; anything else as it is."""
    return f"{cell:,}" if isinstance(cell, int) and abs(cell) >= 1000 else cell


def percent(share: float, digits: int | None = None) -> str:
    """Share in percent as every page and message has it, with so many decimals, or those of a round figure.

    >>> percent(0.95), percent(0.975), percent(2 / 3, 0)
    ('95%', '97.5%', '67%')
    """
    return f"{100 * share:g}%" if digits is None else f"{100 * share:.{digits}f}%"


def lasting(seconds: float) -> str:
    """Duration in seconds, minutes or hours.

    >>> lasting(12.3), lasting(340), lasting(9000)
    ('12 s', '6 min', '2.5 h')
    """
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 60 else f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def plural_of(name: str) -> str:
    """Regular plural of a noun."""
    return f"{name[:-1]}ies" if re.search("[^aeiou]y$", name) else f"{name}s"


def verb(n: int, singular: str, many: str) -> str:
    """Verb that follows a number of things: `{{ n | counted("pair") }} {{ n | verb("lacks", "lack") }} a grade`."""
    return singular if n == 1 else many


_UNIT = re.compile(
    r"`[^`]*`|(?<!\w)'[^'\n]*'(?!\w)|\[\w+\]|(?<![\w./-])(?:query paper|topic|query|querie)(?=s?(?![\w/-]|\.\w))",
    re.IGNORECASE,
)
"""A unit of the study in a text of ours, or what one types, quotes or sets, in which nothing is a word."""


class StudyVocabulary(NamedTuple):
    """Vocabulary of a study: words for its topics, queries and documents, with its facets and grades."""

    topic: str = "query paper"
    document: str = "paper"
    faceted: bool = True
    binary: bool = False
    """True if the scale has two grades, on which a difference of one grade is a disagreement."""
    query: str = "query"
    """Unit of judging: a topic of its own, unless a topic is judged in facets."""

    @property
    def queries(self) -> str:
        """Units of judging."""
        return plural_of(self.query)

    @property
    def topics(self) -> str:
        """Topics of the study."""
        return plural_of(self.topic)

    @property
    def nested(self) -> bool:
        """True if a topic may have several queries, such as a query paper on its facets."""
        return self.topic != self.query

    @property
    def unit(self) -> str:
        """Short name of a sampling unit."""
        return self.topic.removeprefix("query ")

    @property
    def units(self) -> str:
        """Short name of sampling units."""
        return plural_of(self.unit)

    @property
    def alpha(self) -> str:
        """Name of Krippendorff's alpha, which on two grades does not depend on their distance."""
        return f"Krippendorff's {'' if self.binary else 'ordinal '}alpha"

    def said(self, text: str) -> str:
        """A sentence or heading of this program in these words; it is written in those of queries on facets of papers.

        >>> OF_TEXTS.said("Queries: six query papers; `annot query list`, query-1")
        'Topics: six topics; `annot query list`, query-1'
        """
        return _UNIT.sub(self._noun, text)

    def _noun(self, match: re.Match[str]) -> str:
        found = match[0]
        if found[0] in "`'[":
            return found
        noun = self.topic if found.lower() in ("query paper", "topic") else self.query
        noun = noun[:-1] + "ie" if found.lower() == "querie" and noun.endswith("y") else noun
        return noun.capitalize() if found[0].isupper() else noun


OF_PAPERS, OF_TEXTS = StudyVocabulary(), StudyVocabulary("topic", "document", query="topic")
"""Vocabularies of queries on facets of papers, and of topics that are texts."""

WITHOUT_IDS = (
    (r"^by (?:an )?account .*", "by another account than the planned one"),
    (r"\baccount \S+,", "another account,"),
    (r"\bannotation \d+", "a later annotation"),
)


def without_ids(flag: str) -> str:
    """Flag without the server's ids of accounts and annotations, which stay in the database."""
    for pattern, words in WITHOUT_IDS:
        flag = re.sub(pattern, words, flag)
    return flag
