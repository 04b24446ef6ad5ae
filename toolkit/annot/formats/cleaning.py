"""Cleaning the text of titles and abstracts of what extraction left in it, and what was cleaned of one paper."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from annot.formats.markup import signs_of

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_AMPERSANDS = re.compile("&(?:amp;)+")
DEEPEST = 10
"""Entities and tags are taken out of one another so many times; deeper ones are nobody's text, and cost as much again
for each time."""
_MISREAD_UTF8 = re.compile("[\u00c2-\u00f4][\u0080-\u00bf]{1,3}")
_C1 = re.compile("[\u0080-\u009f]")
_CONTROL_NAME = re.compile(
    r"<<(?:NUL|SOH|STX|ETX|EOT|ENQ|ACK|BEL|BS|HT|LF|VT|FF|CR|SO|SI|DLE|DC[1-4]|NAK|SYN|ETB|CAN|EM|SUB|ESC|[FGRU]S|DEL)>>"
)
_ATTRIBUTES = r"(?:\s+[a-zA-Z:-]+=(?:\"[^\"<>]*\"|'[^'<>]*'))*\s*/?>"
_BLOCK_TAG = re.compile(
    r"</?(?:p|br|hr|div|li|ul|ol|h[1-6]|title|sec|list|list-item|jats:(?:p|title|sec|list|list-item))" + _ATTRIBUTES
)
_INLINE_TAG = re.compile(
    r"</?(?:i|b|u|em|sup|sub|tt|sc|bold|italic|strong|underline|monospace|small|font|span|inline-formula|tex-math|a|ext-link"
    r"|xref|jats:[a-z-]+|mml:[a-z-]+)" + _ATTRIBUTES
)
_MARKUP = re.compile("&[#A-Za-z]|<[/a-z<]")
"""How an entity or a tag begins: `p < 0.05` and `A & B` have neither."""
_LIGATURE = re.compile("[\ufb00-\ufb06]")
# Soft hyphen, zero-width space, invisible operators, byte order mark, and marks and overrides of direction. The
# zero-width joiners stay: in Persian and in the scripts of India they are spelling.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufffd]")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# The categories Cc, Co and Cs, whose characters are the same in every version of Unicode.
_UNPRINTABLE = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")

# A set comes first: strings are searched for that many times as fast.
_BEYOND_LATIN = re.compile("[\u0300-\U0010ffff][\u0300-\U0010ffff]{30,}")
_PRINTABLE_FAULTS = "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06\ufffd"
MOST_MARKS = 30
"""Combining marks kept in a row: more are in no language, and putting them in order costs the square of their number
(Unicode Standard Annex #15, section 13, Stream-Safe Text Format)."""


def clean(text: str) -> str:
    """`text` as a person should read it, on one line.

    Repeated until nothing changes (so that cleaning twice is cleaning once), in this order:

    1. HTML entities that end in a semicolon become their character; unknown ones (`&epsis;`) stay. A text that was
       escaped twice shows each sign once: journals export `(p &amp;lt; 0.05)`, and markup as `&lt;i&gt;`. Abstracts
       that are about entities themselves are so much rarer that they are read in the same way.
    2. Control characters U+0080 to U+009F: where they are UTF-8 read as Latin-1 they are read again, else as
       Windows-1252 (as HTML does), else removed.
    3. Raised and lowered text and MathML become signs (`markup.signs_of`); names of control characters in double angles
       (`<<ETX>>`) and block tags (`<p dir="ltr">`) become a space; inline tags (`<i>`, JATS) go. Other angles
       (`<P1,...,Pm>`) are text and stay.
    4. Ligatures U+FB00 to U+FB06 become letters.
    5. U+FFFD, soft hyphens, zero-width and direction characters, other control characters, private-use characters
       and lone surrogates go.
    6. White space of any kind is folded to one space, none at the ends.
    7. Of more than 30 combining marks in a row the first 30 stay. Unicode normal form C.

    Signs that begin an entity or a tag and are still there after ten times become spaces.

    Not mended, because it cannot be told from what was meant: lost spaces around quotation marks, LaTeX.

    >>> clean("The&#32;<i>ﬁrst</i> case\u0092s\\n  end.<<ETX>>")
    'The first case’s end.'
    """
    passes, before = 0, None
    while text != before and not _is_plain(text):
        before = text
        for _, step in _STEPS:
            text = step(text)
        passes += text != before
        if passes == DEEPEST and text != before:
            text = re.sub("[&<]", " ", text)
    return text.strip(" ")


def clean_all(texts: Sequence[str]) -> list[str]:
    """`clean` of each; several times as fast where none needs it, as most abstracts do not."""
    if _is_plain("|".join(texts)):
        return [text.strip(" ") for text in texts]
    return [clean(text) for text in texts]


def _is_plain(text: str) -> bool:
    """Whether nothing but the white space at the ends can need cleaning."""
    if not text.isprintable() or "  " in text or _may_have(text, "&") or _may_have(text, "<"):
        return False
    if text.isascii():
        return True
    # Each character beyond Latin has two bytes or more: few texts have enough of them for a long row of marks.
    if len(text.encode()) - len(text) > MOST_MARKS and _BEYOND_LATIN.search(text):
        return False
    return unicodedata.is_normalized("NFC", text) and not any(char in text for char in _PRINTABLE_FAULTS)


def _may_have(text: str, sign: str) -> bool:
    """Whether an entity or a tag may begin at one of these signs, which few texts have."""
    at = text.find(sign)
    while at >= 0:
        if _MARKUP.match(text, at):
            return True
        at = text.find(sign, at + 1)
    return False


def without_direction(text: str) -> str:
    """`text` without the characters that turn its direction, which can make it read as something else."""
    return _DIRECTION.sub("", text)


class Way(StrEnum):
    """What was wrong with a text, as people are told."""

    TAGS = "tags"
    ENTITIES = "entities"
    MATHS = "formulas"
    SPACES = "spaces"
    HEADING = 'a leading "Abstract."'
    CHARACTERS = "other characters"


def ways(text: str) -> frozenset[Way]:
    """In which ways `clean` changes `text`; white space that is left of a tag or an entity is not one of them."""
    found = {Way.SPACES} if text != " ".join(text.split()) else set()
    for _ in range(DEEPEST):
        before = text
        for way, step in _STEPS:
            if (after := step(text)) != text and way != Way.SPACES:
                found.add(way)
            text = after
        if text == before:
            break
    return frozenset(found)


def _without_entities(text: str) -> str:
    if "&" not in text:
        return text
    return _ENTITY.sub(lambda match: html.unescape(match[0]), _AMPERSANDS.sub("&", text))


def _without_tags(text: str) -> str:
    if "<" not in text:
        return text
    return _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", _CONTROL_NAME.sub(" ", signs_of(text))))


def _read_as_meant(text: str) -> str:
    if text.isascii() or not _C1.search(text):
        return text
    return _C1.sub(_from_windows_1252, _MISREAD_UTF8.sub(_read_again, text))


def _visible(text: str) -> str:
    if text.isascii():
        return text
    return _INVISIBLE.sub("", _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text))


def _folded(text: str) -> str:
    return " ".join(text.split())


def _composed(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return unicodedata.normalize("NFC", _BEYOND_LATIN.sub(_with_few_marks, _UNPRINTABLE.sub("", text)))


_STEPS: tuple[tuple[Way, Callable[[str], str]], ...] = (
    (Way.ENTITIES, _without_entities),
    (Way.CHARACTERS, _read_as_meant),
    (Way.TAGS, _without_tags),
    (Way.CHARACTERS, _visible),
    (Way.SPACES, _folded),
    (Way.CHARACTERS, _composed),
)


def _with_few_marks(match: re.Match[str]) -> str:
    kept, marks = [], 0
    for char in match[0]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= MOST_MARKS:
            kept.append(char)
    return "".join(kept)


def _read_again(match: re.Match[str]) -> str:
    if not _C1.search(match[0]):
        return match[0]
    try:
        return match[0].encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return match[0]


def _from_windows_1252(match: re.Match[str]) -> str:
    try:
        return match[0].encode("latin-1").decode("cp1252")
    except UnicodeDecodeError:
        # Not `isspace`: NEL (U+0085) is the ellipsis in Windows-1252, so white space never comes here.
        return ""


class Cleaned(NamedTuple):
    """A paper of which a text is not what its source has."""

    paper_id: str
    ways: tuple[str, ...]
    """`cleaning.Way`, in its order."""
    before: Mapping[str, Any]
    """`title`, and `abstract` as it came: a list of sentences or one string; only those that changed."""
    after: Mapping[str, Any]
    """The same, the abstract as a list of sentences."""
    notices: tuple[tuple[str, str], ...] = ()
    """What was cut of the abstract, as (name of the rule, notice)."""

    @property
    def other_number(self) -> bool:
        """Whether the abstract came as sentences, and has another number of them now."""
        given = self.before.get("abstract", "")
        return not isinstance(given, str) and len(given) != len(self.after["abstract"])


def cleaned(
    paper_id: str,
    title: tuple[str, str],
    abstract: tuple[str | Sequence[str], Sequence[str]],
    *,
    also: Collection[Way],
    notices: tuple[tuple[str, str], ...] = (),
) -> Cleaned | None:
    """What was changed of a paper, each text given as it came and as it is now; None if nothing was.

    An abstract that came as one string is cut into sentences: line ends and white space between these are no change.
    also: ways that the texts do not show by themselves. notices: those that were cut.
    """
    came, sentences = abstract
    whole = isinstance(came, str)
    raw = [line.strip() for line in came.splitlines() if line.strip()] if isinstance(came, str) else list(came)
    changed = " ".join(raw) != " ".join(sentences) if whole else raw != list(sentences)
    found = set(also)
    for text in raw if changed else ():
        found |= ways(text)
    if title[0] != title[1]:
        found |= ways(title[0])
    if not found and not notices:
        return None
    before: dict[str, Any] = {"title": title[0]} if title[0] != title[1] else {}
    after: dict[str, Any] = {"title": title[1]} if before else {}
    if changed:
        before["abstract"], after["abstract"] = came, list(sentences)
    rules = dict.fromkeys(rule for rule, _ in notices)
    return Cleaned(paper_id, (*(way.value for way in Way if way in found), *rules), before, after, notices)


PAPERS, TITLES, ABSTRACTS, OTHER_NUMBER = "papers", "titles", "abstracts", "other number of sentences"


@dataclass(frozen=True, slots=True)
class CleanedCounts:
    """How many papers were cleaned."""

    papers: int
    titles: int
    abstracts: int
    other_number: int
    """Papers that have another number of sentences than their source."""
    ways: tuple[tuple[str, int], ...]
    """What was wrong, or by which rule a notice was cut, and in how many papers."""


def counts_of(counted: Mapping[str, int]) -> CleanedCounts:
    """The counts, of how many papers are counted under each of `kinds`."""
    papers, titles, abstracts, other = (counted.get(name, 0) for name in (PAPERS, TITLES, ABSTRACTS, OTHER_NUMBER))
    rules = sorted(counted.keys() - {PAPERS, TITLES, ABSTRACTS, OTHER_NUMBER, *Way})
    ways_found = tuple((str(way), counted[way]) for way in (*Way, *rules) if counted.get(way))
    return CleanedCounts(papers, titles, abstracts, other, ways_found)


def kinds(one: Cleaned) -> tuple[str, ...]:
    """What a changed paper is counted under."""
    texts = [name for name, key in ((TITLES, "title"), (ABSTRACTS, "abstract")) if key in one.before]
    return (PAPERS, *texts, *one.ways, *([OTHER_NUMBER] if one.other_number else []))
