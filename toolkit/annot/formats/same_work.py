"""The signs by which two records of one paper are recognised: titles as they are compared, and ids.

A DOI, a PMID and an OpenAlex id are the same paper's everywhere, and are written down with their kind: `doi:10.1/x`,
`pmid:123`, `openalex:W1`. A citation key is one file's own: it may be the id of a paper, but never says of two records
that they are one paper's. DOIs: https://www.doi.org/doi-handbook/HTML/ (case does not matter); PMIDs:
https://www.nlm.nih.gov/bsd/mms/medlineelements.html#pmid; OpenAlex: https://docs.openalex.org/how-to-use-the-api.
"""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, get_args
from urllib.parse import unquote

from annot.base.errors import InputError
from annot.base.settings.sections import IdKind
from annot.formats.cleaning import clean

_NOT_ASCII_WORD = {code: None for code in range(128) if not chr(code).isalnum()}
TELLING = 30
"""Letters of a title that is one work's: `Introduction to the special issue` has 29, and many journals one a year."""


def work_text(title: str, year: object, abstract: str) -> str:
    """What two records of one paper have in common: title and year, and for a short title the abstract too, as
    editorials and book reviews share titles; "" without a title. A sign of Chinese, Japanese or Korean says as much as
    three letters.
    """
    name = normalised_title(title)
    if not name:
        return ""
    letters = len(name) if name.isascii() else sum(3 if char > "\u2e7f" else 1 for char in name)
    return "\0".join((name, str(year), *([] if letters >= TELLING else [normalised_title(abstract)])))


def folded_id(name: str) -> str:
    """An id without what people do not see: case, Unicode form, ligatures.

    >>> folded_id("De\ufb01ne-\xe9") == folded_id("define-E\u0301")
    True
    """
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


@lru_cache(maxsize=1 << 11)
def normalised_title(title: str) -> str:
    """`title` without what differs between two records of one paper: case, form of characters, all but letters and
    digits. Empty for a title without any; such titles are never taken for the same.

    >>> normalised_title('All You Need is"Love"') == normalised_title("All you need is “love”.")
    True
    """
    if title.isascii():
        return title.lower().translate(_NOT_ASCII_WORD)
    return "".join(char for char in folded_id(title) if char.isalnum())


ID_KINDS: tuple[IdKind, ...] = get_args(IdKind)
"""A paper takes its id from the first of these kinds that it has, unless the settings state another order."""
GLOBAL: tuple[IdKind, ...] = ("doi", "pmid", "openalex")
_IN_PLACE = {*ID_KINDS, "cited"}
"""The fields of a record in whose place its paper has an id."""
MADE = "made-"
"""The beginning of an id that was made from a title and a year."""
LONGEST = 500
_PLAIN_DOI = re.compile(r"(?:https://doi\.org/)?(10\.[0-9]{4,9}/[a-z0-9./_-]*[a-z0-9])")
"""The usual form, which is found in a quarter of the time."""
_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/\S+")
_URL = re.compile("https?://", re.IGNORECASE)
_PLAIN_WORK = re.compile("W([1-9][0-9]{0,14})")
_PMID = re.compile(r"(?:.*\bpmid\W{0,3}|https?://\S*/|med:)?0*([1-9][0-9]{0,8})(?:\.[0-9]+)?/?(?:\W.*)?", re.I | re.S)
_OPENALEX = re.compile(r"(?:.*[/:\s])?W([1-9][0-9]{0,14})/?", re.IGNORECASE | re.DOTALL)
_PAIRS = {")": "(", "]": "[", ">": "<", "}": "{"}


class Identified(NamedTuple):
    """A record with the id of its paper."""

    record: dict[str, Any]
    """In the fields that `paper_lines.read_papers` knows."""
    ids: tuple[str, ...]
    """With their kinds, in the order of `GLOBAL`; a citation key is none of them."""
    cites: tuple[str, ...]
    """The cited works, each once: an id with its kind, or several ids of one work with blanks between them."""
    made: bool
    """Whether the id of the paper was made."""


def identified(record: Mapping[str, Any], order: Sequence[IdKind]) -> Identified:
    """The record with the id of the first kind that it has, of the kinds in `order` and then the others.

    A record without any id gets one made from its title and year (and abstract, if the title is short), the same on
    every machine. Raises InputError for one without a title, too.
    """
    found: dict[IdKind, str] = {}
    for kind in ID_KINDS:
        if (raw := record.get(kind)) is not None and (one := normalised_id(kind, raw)):
            found[kind] = one
    paper_id = next((found[kind] for kind in (*order, *ID_KINDS) if kind in found), None)
    made = paper_id is None
    if paper_id is None:
        paper_id = _made_id(record)
    fields = {name: value for name, value in record.items() if name not in _IN_PLACE}
    cited = map(_cited, record.get("cited") or ())
    ids = tuple([f"{kind}:{found[kind]}" for kind in GLOBAL if kind in found])
    return Identified({"paper_id": paper_id} | fields, ids, tuple(dict.fromkeys(filter(None, cited))), made)


def _cited(given: Any) -> str:
    """One cited work: `(kind, raw)`, or several of these if it has several ids."""
    if isinstance(given[0], str):
        return typed(*given) or ""
    return " ".join(dict.fromkeys(filter(None, (typed(kind, raw) for kind, raw in given))))


def typed(kind: IdKind, raw: object) -> str | None:
    """An id with its kind; None if it is none of the kind.

    >>> typed("doi", "https://doi.org/10.1145/3397271.3401075."), typed("pmid", "PMC123")
    ('doi:10.1145/3397271.3401075', None)
    """
    # A work may cite hundreds of others, whose ids are nearly all so.
    if kind == "openalex" and isinstance(raw, str) and _PLAIN_WORK.fullmatch(raw):
        return f"openalex:{raw}"
    one = normalised_id(kind, raw)
    return one and f"{kind}:{one}"


def normalised_id(kind: IdKind, raw: object) -> str | None:
    """The form of the id that is the same for all its spellings; None if it is none of the kind."""
    if raw is None or isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return None
    text = str(raw).strip()
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " if char.isspace() else "" for char in text).strip()
    one = _NORMAL[kind](text) if text and len(text) <= 4 * LONGEST else None
    return one if one and len(one) <= LONGEST else None


def _doi(text: str) -> str | None:
    if found := _PLAIN_DOI.fullmatch(text):
        return found.group(1)
    text = html.unescape(text)
    if _URL.match(text):
        text = text.partition("?")[0].partition("#")[0]
    if "%" in text:
        text = unquote(text)
    found = _DOI.search(text.replace("\\", ""))
    if found is None:
        return None
    doi = found.group().lower()
    while (last := doi[-1]) in ".,;:'\"" or (last in _PAIRS and doi.count(last) > doi.count(_PAIRS[last])):
        doi = doi[:-1]
    return "".join(char for char in doi if char.isprintable() and not char.isspace()) if "/" in doi[:-1] else None


def _pmid(text: str) -> str | None:
    found = _PMID.fullmatch(text)
    return found and found.group(1)


def _openalex(text: str) -> str | None:
    found = _PLAIN_WORK.fullmatch(text) or _OPENALEX.fullmatch(text)
    return found and f"W{found.group(1)}"


def _key(text: str) -> str | None:
    """A number is no key: it counts the records of a file, and every file has a first one."""
    return None if text.isdecimal() else "_".join(text.split())


_NORMAL: dict[IdKind, Callable[[str], str | None]] = {"doi": _doi, "pmid": _pmid, "openalex": _openalex, "key": _key}


def _made_id(record: Mapping[str, Any]) -> str:
    parts = [part[2] for part in record.get("sections") or ()] or [record.get("abstract") or ""]
    title = record.get("title")
    work = work_text(clean(title) if isinstance(title, str) else "", record.get("year"), " ".join(map(str, parts)))
    if not work:
        raise InputError("no id", faults=("found no id and no title, expected one of them",))
    return MADE + hashlib.sha256(work.encode("utf-8", "surrogatepass")).hexdigest()[:12]
