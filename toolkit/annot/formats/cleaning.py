"""Clean text of titles and abstracts: leftovers of extraction, markup, notices of databases, retractions, and records
of one work.
"""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, NamedTuple, get_args
from urllib.parse import unquote
from xml.etree import ElementTree

from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings import IdKind
from annot.formats.input_files import packaged_table

# ----------------------------------------------------------------------------------------------------------------------
# Markup that means something, as characters: superscripts and subscripts of HTML and JATS, and MathML.
#
# >>> in_unicode("10<sup>5</sup> cells, H<sub>2</sub>O, log<sub>2</sub>10") '10⁵ cells, H2O, log₂10'
# ----------------------------------------------------------------------------------------------------------------------


_TO_SUPERSCRIPT = str.maketrans("0123456789+-−–=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ")
_TO_SUBSCRIPT = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_SUPERSCRIPTS = re.compile(r"[0-9+\-−–=()ni]+")
_ENDINGS = ("st", "nd", "rd", "th")
_SCRIPT = re.compile(r"<(?:\w+:)?(su[pb])\b[^<>]*>((?:[^<]|<(?!/?(?:\w+:)?su[pb]\b))*+)</(?:\w+:)?\1\s*>")
_TAG = re.compile(r"<(/?)(?:\w+:)?(\w+)[^<>]*?(/?)>")
_WITHIN = r"((?:[^<]|<(?!(?:\w+:)?(?:tex-)?math\b))*?)"
_MATHML = re.compile(rf"<((?:\w+:)?math)\b[^<>]*>{_WITHIN}</\1\s*>")
_TEX_TWICE = re.compile(rf"<((?:\w+:)?tex-math)\b[^<>]*>{_WITHIN}</\1\s*>(?=\s*<(?:\w+:)?math\b)")
_TEX = re.compile(rf"<((?:\w+:)?tex-math)\b[^<>]*>{_WITHIN}</\1\s*>")


def superscript(text: str) -> str:
    """An exponent or a mark above the line: `⁵`, `²⁺`, or with a caret before it."""
    text = text.strip()
    if _SUPERSCRIPTS.fullmatch(text):
        return text.translate(_TO_SUPERSCRIPT)
    if text == "TM" or text in _ENDINGS or not any(map(str.isalnum, text)):
        return "™" if text == "TM" else text
    return f"^{text}" if text.isalnum() else f"^({text})"


def subscript(text: str) -> str:
    """An index: `₂`, or with an underscore before it."""
    text = text.strip()
    if not text or re.fullmatch(r"[0-9+\-−–=()]+", text):
        return text.translate(_TO_SUBSCRIPT)
    return f"_{text}" if text.isalnum() else f"_({text})"


def in_unicode(text: str) -> str:
    """The text with superscripts, subscripts and MathML as Unicode characters; other tags stay.

    A subscript has characters of its own only next to a digit, so that `CO2` is the same word however it was written.
    """
    if "math" in text:
        text = _TEX.sub(lambda formula: f"${formula[2].strip().strip('$')}$", _TEX_TWICE.sub("", text))
        text = _MATHML.sub(lambda formula: _math_of(formula[0]), text)
    return _SCRIPT.sub(_script, text)


def _script(script: re.Match[str]) -> str:
    inner = _TAG.sub("", script[2])
    if script[1] == "sup":
        return superscript(inner)
    text, start, end = script.string, script.start(), script.end()
    by_a_digit = (start and text[start - 1].isdigit()) or text[end : end + 1].isdigit()
    return subscript(inner) if by_a_digit else inner


def _math_of(markup: str) -> str:
    try:
        return math_text(ElementTree.fromstring(_TAG.sub(r"<\1\2\3>", markup)))
    except (ElementTree.ParseError, RecursionError):
        return _TAG.sub(" ", markup)


def math_text(element: ElementTree.Element) -> str:
    """A formula of MathML on one line."""
    name = element.tag.rpartition("}")[2]
    parts = [math_text(child) for child in element]
    if not parts:
        return "" if name.startswith("annotation") else (element.text or "").strip()
    first, *following = parts
    match name:
        case "semantics":
            return first
        case "msup":
            return first + "".join(map(superscript, following))
        case "msub":
            return first + "".join(map(subscript, following))
        case "msubsup" if len(parts) == 3:
            return first + subscript(parts[1]) + superscript(parts[2])
        case "mfrac" if len(parts) == 2:
            return "/".join(part if len(part) < 2 or part.isalnum() else f"({part})" for part in parts)
        case "msqrt":
            text = "".join(parts)
            return f"√{text}" if len(text) == 1 else f"√({text})"
    return "".join(parts)


# ----------------------------------------------------------------------------------------------------------------------
# Notices that databases and publishers add to abstracts, cut by the rules in `notices.toml`, each with its source.
#
# A rule cuts a text of its own kind. Most notices are at the end of an abstract, some before its first word.
# Retracted and withdrawn papers are known by what their records, their titles and their abstracts say.
# ----------------------------------------------------------------------------------------------------------------------


@cache
def notice_rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Patterns of notices, each with the words in which counts name it, in the order in which they are tried."""
    read = packaged_table("notices.toml")
    parts = {f"<{name}>": "".join(pieces) for name, pieces in read["parts"].items()}
    rules = []
    for rule in read["rules"]:
        pattern = "".join(rule["pattern"])
        # A part may have those before it in the file.
        for name, part in reversed(parts.items()):
            pattern = pattern.replace(name, part)
        flags = re.IGNORECASE if rule.get("any_case") else 0
        rules.append((f"a notice: {rule['name']}", re.compile(pattern, flags)))
    return tuple(rules)


_MARKS = ("opyright", "©", "(C)", "(c)", "atabase Record", "see fulltext")
"""Signs of notices that may be anywhere in an abstract."""
_LAST = 450
_MARKS_AT_THE_END = (
    "bstract)", "BSTRACT", "reserved", "presented]", "(Contains", "source document", "upplementary material",
    "pen access", "pen-access", "icensed under", "(As Provided", "by permission", "Published by",
    "responsibility of", "TRUNCATED",
)  # fmt: skip
"""Marks of notices at the end of a text, looked for among its last `_LAST` characters."""
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
    may_have = any(map(text.__contains__, _MARKS)) or any(map(end.__contains__, _MARKS_AT_THE_END))
    if not (may_have or _PLACE.search(end[-9:])) or len(text) > _LONGEST:
        return text, ()
    cut: list[tuple[str, str]] = []
    earlier = None
    # The last rule is that of places, which many abstracts end like; all rules take fifty times as long.
    rules = notice_rules() if may_have else notice_rules()[-1:]
    while text != earlier and len(cut) < _MOST:
        earlier = text
        for name, pattern in rules:
            while len(cut) < _MOST and (notice := pattern.search(text)) and not _is_listed(notice[0], text):
                cut.append((name, notice[0].strip()))
                text = f"{text[: notice.start()].rstrip()} {text[notice.end() :].lstrip()}".strip()
        rules = notice_rules()
    return text, tuple(cut)


def _is_listed(notice: str, text: str) -> bool:
    """Tell whether the copyright sign is the third letter of a list: (a), (b), (c)."""
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
    """Test whether the paper was retracted or withdrawn. record: its field `retracted` comes from the source."""
    title = paper.title.lower()
    named = ("retract" in title or "withdrawn" in title) and _TITLE.search(paper.title)
    return bool(record.get("retracted") or named or (paper.sentences and _ABSTRACT.match(paper.sentences[0])))


# ----------------------------------------------------------------------------------------------------------------------
# Cleaning the text of titles and abstracts of what extraction left in it, and what was cleaned of one paper.
# ----------------------------------------------------------------------------------------------------------------------


_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_AMPERSANDS = re.compile("&(?:amp;)+")
DEEPEST = 10
"""Rounds of taking entities and tags out of one another; deeper ones are in no real text, and each round costs as much.
"""
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
_LIGATURE = re.compile("[\ufb00-\ufb06]")
# Soft hyphen, zero-width space, invisible operators, byte order mark, and marks and overrides of direction. The
# zero-width joiners stay: in Persian and in the scripts of India they are spelling.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufffd]")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# The categories Cc, Co and Cs, whose characters are the same in every version of Unicode.
_UNPRINTABLE = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")

# A set comes first: strings are searched for that many times as fast.
_BEYOND_LATIN = re.compile("[\u0300-\U0010ffff][\u0300-\U0010ffff]{30,}")
MOST_MARKS = 30
"""Combining marks kept in a row: more are in no language, and putting them in order costs the square of their number
(Unicode Standard Annex #15, section 13, Stream-Safe Text Format)."""


_PRINTABLE = bytes(range(0x20, 0x7F))
_PLAIN = _PRINTABLE.translate(None, b"&<$\\")


def clean(text: str) -> str:
    """`text` as a person should read it, on one line.

    Repeated until nothing changes (so that cleaning twice is cleaning once), in this order:

    1. HTML entities that end in a semicolon become their character; unknown ones (`&epsis;`) stay. A text that was
       escaped twice shows each character once: journals export `(p &amp;lt; 0.05)`, and markup as `&lt;i&gt;`.
       Abstracts that are about entities themselves are so much rarer that they are read in the same way.
    2. Control characters U+0080 to U+009F: where they are UTF-8 read as Latin-1 they are read again, else as
       Windows-1252 (as HTML does), else removed.
    3. Superscripts, subscripts and MathML become characters (`in_unicode`); names of control characters in double
       angles (`<<ETX>>`) and block tags (`<p dir="ltr">`) become a space; inline tags (`<i>`, JATS) go. Other angles
       (`<P1,...,Pm>`) are text and stay.
    4. Ligatures U+FB00 to U+FB06 become letters.
    5. U+FFFD, soft hyphens, zero-width and direction characters, other control characters, private-use characters
       and lone surrogates go.
    6. White space of any kind is folded to one space, none at the ends.
    7. Of more than 30 combining marks in a row the first 30 stay. Unicode normal form C.

    Characters that begin an entity or a tag and are still there after ten times become spaces.

    Not mended, because it cannot be distinguished from what was meant: lost spaces around quotation marks, LaTeX.

    >>> clean("The&#32;<i>ﬁrst</i> case\u0092s\\n  end.<<ETX>>")
    'The first case’s end.'
    """
    if is_plain(text):
        return text
    passes, previous = 0, None
    while text != previous:
        previous = text
        for _, step in _STEPS:
            text = step(text)
        passes += text != previous
        if passes == DEEPEST and text != previous:
            text = re.sub("[&<]", " ", text)
    return text


def is_plain(text: str) -> bool:
    """True for printable ASCII with single spaces and without a character that begins an entity, a tag or maths."""
    return _is_printable(text, _PLAIN) and "  " not in text and text[:1] != " " and text[-1:] != " "


def _is_printable(text: str, characters: bytes = _PRINTABLE) -> bool:
    """True if the text has only these characters of ASCII."""
    # Bytes are many times as fast as `isprintable` or a regular expression.
    return text.isascii() and not text.encode().translate(None, characters)


def without_direction(text: str) -> str:
    """`text` without the characters that turn its direction, which can make it read as something else."""
    return _DIRECTION.sub("", text)


class Way(StrEnum):
    """Ways in which a text was cleaned, in the words of messages."""

    TAGS = "tags"
    ENTITIES = "entities"
    MATHS = "formulas"
    SPACES = "spaces"
    HEADING = 'a leading "Abstract."'
    CHARACTERS = "other characters"


def ways(text: str) -> frozenset[Way]:
    """Ways in which `clean` changes `text`; white space to the left of a tag or an entity is not one of them."""
    used = {Way.SPACES} if text != " ".join(text.split()) else set()
    for _ in range(DEEPEST):
        previous = text
        for way, step in _STEPS:
            if (after := step(text)) != text and way != Way.SPACES:
                used.add(way)
            text = after
        if text == previous:
            break
    return frozenset(used)


def _without_entities(text: str) -> str:
    if "&" not in text:
        return text
    return _ENTITY.sub(lambda match: html.unescape(match[0]), _AMPERSANDS.sub("&", text))


def _without_tags(text: str) -> str:
    if "<" not in text:
        return text
    return _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", _CONTROL_NAME.sub(" ", in_unicode(text))))


def _read_as_meant(text: str) -> str:
    if text.isascii() or not _C1.search(text):
        return text
    return _C1.sub(_windows_1252_character, _MISREAD_UTF8.sub(_read_again, text))


def _visible(text: str) -> str:
    if text.isascii():
        return text
    return _INVISIBLE.sub("", _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text))


def _folded(text: str) -> str:
    # Most texts are folded already, which is found out in a fifth of the time.
    is_folded = _is_printable(text) and "  " not in text and text[:1] != " " and text[-1:] != " "
    return text if is_folded else " ".join(text.split())


def _composed(text: str) -> str:
    if _is_printable(text):
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
    parts, marks = [], 0
    for char in match[0]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= MOST_MARKS:
            parts.append(char)
    return "".join(parts)


def _read_again(match: re.Match[str]) -> str:
    if not _C1.search(match[0]):
        return match[0]
    try:
        return match[0].encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return match[0]


def _windows_1252_character(match: re.Match[str]) -> str:
    try:
        return match[0].encode("latin-1").decode("cp1252")
    except UnicodeDecodeError:
        # Not `isspace`: NEL (U+0085) is the ellipsis in Windows-1252, so white space never comes here.
        return ""


class CleanedPaper(NamedTuple):
    """A paper with a text that differs from its source."""

    paper_id: str
    ways: tuple[str, ...]
    """`cleaning.Way`, in its order."""
    before: Mapping[str, Any]
    """`title`, and `abstract` as it came: a list of sentences or one string; only those that changed."""
    after: Mapping[str, Any]
    """The same, the abstract as a list of sentences."""
    notices: tuple[tuple[str, str], ...] = ()
    """Notices that were cut from the abstract, as (name of the rule, notice)."""

    @property
    def other_number(self) -> bool:
        """True if the abstract came as sentences and their number has changed."""
        abstract = self.before.get("abstract", "")
        return not isinstance(abstract, str) and len(abstract) != len(self.after["abstract"])


PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
"""An empty line, where a paragraph ends."""
_HEADING = re.compile(r"(?:Abstract|ABSTRACT|abstract)(?:\s*(?:[.:—–]|-(?=[\sA-Z]))+\s*|$)")


def without_heading(text: str) -> tuple[bool, str]:
    """True and the text without its heading; False and the text if it has none."""
    heading = _HEADING.match(text)
    return (True, text[heading.end() :]) if heading else (False, text)


def cleaned(
    paper: Paper,
    title: str,
    abstract: str | Sequence[str],
    *,
    also: Collection[Way] = (),
    notices: tuple[tuple[str, str], ...] = (),
) -> CleanedPaper | None:
    """Changes to the texts of a paper, whose title and abstract came so; None if there are none.

    An abstract that came as one string is cut into sentences: line ends and white space between these are no change.
    also: ways that the texts do not show by themselves. notices: those that were cut.
    """
    sentences = list(paper.sentences)
    if isinstance(abstract, str):
        raw, first = list(filter(None, map(str.strip, abstract.splitlines()))), PARAGRAPH.split(abstract)[0]
        changed = " ".join(raw) != " ".join(sentences)
    else:
        raw, first = list(abstract), "".join(abstract[:1])
        changed = raw != sentences
    used = set(also)
    for text in raw if changed else ():
        used |= ways(text)
    if changed and without_heading(clean(first))[0]:
        used.add(Way.HEADING)
    if title != paper.title:
        used |= ways(title)
    if not used and not notices:
        return None
    before: dict[str, Any] = {"title": title} if title != paper.title else {}
    after: dict[str, Any] = {"title": paper.title} if before else {}
    if changed:
        before["abstract"], after["abstract"] = abstract, sentences
    rules = dict.fromkeys(rule for rule, _ in notices)
    return CleanedPaper(paper.paper_id, (*(way.value for way in Way if way in used), *rules), before, after, notices)


PAPERS, TITLES, ABSTRACTS, OTHER_NUMBER = "papers", "titles", "abstracts", "other number of sentences"


@dataclass(frozen=True, slots=True)
class CleanedCounts:
    """Number of papers that were cleaned."""

    papers: int
    titles: int
    abstracts: int
    other_number: int
    """Papers that have another number of sentences than their source."""
    ways: tuple[tuple[str, int], ...]
    """Number of papers by kind of change, or by the rule that cut a notice."""


def counts_of(counted: Mapping[str, int]) -> CleanedCounts:
    """The counts, of how many papers are counted under each of `kinds`."""
    papers, titles, abstracts, other = (counted.get(name, 0) for name in (PAPERS, TITLES, ABSTRACTS, OTHER_NUMBER))
    rules = sorted(counted.keys() - {PAPERS, TITLES, ABSTRACTS, OTHER_NUMBER, *Way})
    ways_found = tuple((str(way), counted[way]) for way in (*Way, *rules) if counted.get(way))
    return CleanedCounts(papers, titles, abstracts, other, ways_found)


def kinds(paper: CleanedPaper) -> tuple[str, ...]:
    """Kinds under which a changed paper is counted."""
    texts = [name for name, key in ((TITLES, "title"), (ABSTRACTS, "abstract")) if key in paper.before]
    return (PAPERS, *texts, *paper.ways, *([OTHER_NUMBER] if paper.other_number else []))


# ----------------------------------------------------------------------------------------------------------------------
# The marks by which two records of one paper are recognised: titles as they are compared, and ids.
#
# A DOI, a PMID and an OpenAlex id are the same paper's everywhere, and are written down with their kind:
# `doi:10.1/x`, `pmid:123`, `openalex:W1`. A citation key is one file's own: it may be the id of a paper, but never
# says of two records that they are one paper's. DOIs: https://www.doi.org/doi-handbook/HTML/ (case does not matter);
# PMIDs: https://www.nlm.nih.gov/bsd/mms/medlineelements.html#pmid; OpenAlex:
# https://docs.openalex.org/how-to-use-the-api.
# ----------------------------------------------------------------------------------------------------------------------


_NOT_ASCII_WORD = bytes(code for code in range(128) if not chr(code).isalnum())
ENOUGH_LETTERS = 30
"""Letters of a title that is one work's: `Introduction to the special issue` has 29, and many journals one a year."""


def work_text(title: str, year: object, abstract: str) -> str:
    """Key that two records of one paper share: title and year; for a short title, as editorials and book reviews share,
    the abstract too; "" without a title. A character of Chinese, Japanese or Korean counts as three letters."""
    name = normalised_title(title)
    if not name:
        return ""
    letters = len(name) if name.isascii() else sum(3 if char > "\u2e7f" else 1 for char in name)
    return "\0".join((name, str(year), *([] if letters >= ENOUGH_LETTERS else [normalised_title(abstract)])))


def folded_id(name: str) -> str:
    """An id without invisible differences: case, Unicode form, ligatures.

    >>> folded_id("De\ufb01ne-\xe9") == folded_id("define-E\u0301")
    True
    """
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


@lru_cache(maxsize=1 << 11)
def normalised_title(title: str) -> str:
    """`title` without differences between two records of one paper: case, form of characters, all but letters and
    digits. Empty for a title without any; such titles are never taken for the same.

    >>> normalised_title('All You Need is"Love"') == normalised_title("All you need is “love”.")
    True
    """
    if title.isascii():
        return title.lower().encode().translate(None, _NOT_ASCII_WORD).decode()
    return "".join(char for char in folded_id(title) if char.isalnum())


ID_KINDS: tuple[IdKind, ...] = get_args(IdKind)
"""A paper takes its id from the first of these kinds that it has, unless the settings state another order."""
GLOBAL: tuple[IdKind, ...] = ("doi", "pmid", "openalex")
_IN_PLACE = {*ID_KINDS, "cited"}
"""The fields of a record in whose place its paper has an id."""
MADE = "made-"
"""The beginning of an id that was made from a title and a year."""
LONGEST = 500
_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/\S+")
_URL = re.compile("https?://", re.IGNORECASE)
_PMID = re.compile(r"(?:.*\bpmid\W{0,3}|https?://\S*/|med:)?0*([1-9][0-9]{0,8})(?:\.[0-9]+)?/?(?:\W.*)?", re.I | re.S)
_OPENALEX = re.compile(r"(?:.*[/:\s])?W([1-9][0-9]{0,14})/?", re.IGNORECASE | re.DOTALL)
_PAIRS = {")": "(", "]": "[", ">": "<", "}": "{"}

MISSING = frozenset(("", "-", "na", "n/a", "#n/a", "nan", "none", "null"))
"""Spellings of an empty cell, in any case, by R, pandas, Python and spreadsheets."""
NO_ABSTRACT = re.compile(rf"{'|'.join(map(re.escape, MISSING))}|\[?no abstract (?:is )?available\.?\]?", re.IGNORECASE)
"""Text that programs and databases write in place of an abstract."""


class IdentifiedRecord(NamedTuple):
    """A record with the id of its paper."""

    record: dict[str, Any]
    """Record with the fields that `paper_records.read_papers` knows."""
    ids: tuple[str, ...]
    """Ids with their kinds, in the order of `GLOBAL`; a citation key is none of them."""
    cites: tuple[str, ...]
    """The cited works, each once: an id with its kind, or several ids of one work with spaces between them."""
    made: bool
    """True if the id of the paper was made."""


def identified(record: Mapping[str, Any], order: Sequence[IdKind]) -> IdentifiedRecord:
    """The record with the id of the first kind that it has, of the kinds in `order` and then the others.

    A record without any id gets one made from its title and year (and abstract, if the title is short), the same on
    every machine. Raises InputError for one without a title, too.
    """
    ids_by_kind: dict[IdKind, str] = {}
    for kind in ID_KINDS:
        if (raw := record.get(kind)) is not None and (paper_id_of_kind := normalised_id(kind, raw)):
            ids_by_kind[kind] = paper_id_of_kind
    paper_id = next((ids_by_kind[kind] for kind in (*order, *ID_KINDS) if kind in ids_by_kind), None)
    no_id = paper_id is None
    if paper_id is None:
        paper_id = _made_id(record)
    fields = {name: value for name, value in record.items() if name not in _IN_PLACE}
    cited = map(_cited, record.get("cited") or ())
    ids = tuple([f"{kind}:{ids_by_kind[kind]}" for kind in GLOBAL if kind in ids_by_kind])
    if isinstance(abstract := fields.get("abstract"), str) and NO_ABSTRACT.fullmatch(abstract.strip()):
        fields["abstract"] = None
    return IdentifiedRecord({"paper_id": paper_id} | fields, ids, tuple(dict.fromkeys(filter(None, cited))), no_id)


def _cited(reference: Any) -> str:
    """One cited work: its id with its kind, `(kind, raw)`, or several of these if it has several ids."""
    if isinstance(reference, str):
        return reference
    if isinstance(reference[0], str):
        return typed(*reference) or ""
    return " ".join(dict.fromkeys(filter(None, (typed(kind, raw) for kind, raw in reference))))


def typed(kind: IdKind, raw: object) -> str | None:
    """An id with its kind; None if it is not of the kind.

    >>> typed("doi", "https://doi.org/10.1145/3397271.3401075."), typed("pmid", "PMC123")
    ('doi:10.1145/3397271.3401075', None)
    """
    text = normalised_id(kind, raw)
    return text and f"{kind}:{text}"


def normalised_id(kind: IdKind, raw: object) -> str | None:
    """The normal form of the id, the same for all spellings; None if it is not of the kind."""
    if raw is None or isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return None
    text = str(raw).strip()
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " if char.isspace() else "" for char in text).strip()
    normal = _NORMAL[kind](text) if text and len(text) <= 4 * LONGEST else None
    return normal if normal and len(normal) <= LONGEST else None


def _doi(text: str) -> str | None:
    text = html.unescape(text)
    if _URL.match(text):
        text = text.partition("?")[0].partition("#")[0]
    if "%" in text:
        text = unquote(text)
    match = _DOI.search(text.replace("\\", ""))
    if match is None:
        return None
    doi = match.group().lower()
    while (last := doi[-1]) in ".,;:'\"" or (last in _PAIRS and doi.count(last) > doi.count(_PAIRS[last])):
        doi = doi[:-1]
    return "".join(char for char in doi if char.isprintable() and not char.isspace()) if "/" in doi[:-1] else None


def _pmid(text: str) -> str | None:
    if len(text) < 10 and text[0] != "0" and text.isascii() and text.isdecimal():
        return text
    match = _PMID.fullmatch(text)
    return match and match.group(1)


def _openalex(text: str) -> str | None:
    match = _OPENALEX.fullmatch(text)
    return match and f"W{match.group(1)}"


def _key(text: str) -> str | None:
    """Key of a record; None for a number: it counts the records of a file, and every file has a first one."""
    return None if text.isdecimal() else "_".join(text.split())


_NORMAL: dict[IdKind, Callable[[str], str | None]] = {"doi": _doi, "pmid": _pmid, "openalex": _openalex, "key": _key}


def _made_id(record: Mapping[str, Any]) -> str:
    parts = [part[2] for part in record.get("sections") or ()] or [record.get("abstract") or ""]
    title = record.get("title")
    work = work_text(clean(title) if isinstance(title, str) else "", record.get("year"), " ".join(map(str, parts)))
    if not work:
        raise InputError("no id", faults=("found no id and no title, expected one of them",))
    return MADE + hashlib.sha256(work.encode("utf-8", "surrogatepass")).hexdigest()[:12]
