"""OpenAlex's works: its snapshot as JSON Lines, pages of its API, lists of works, and single ones.

https://docs.openalex.org/api-entities/works/work-object. An abstract comes as an inverted index, each word with its
positions. Releases differ in where: `abstract_inverted_index`, `abstract_inverted_index_v3`, and at first Microsoft
Academic Graph's form with `InvertedIndex` below, or as a JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Format

DELETED = "W4285719527"
"""Deleted works became this one, with the title `Deleted Work`; other works still cite it."""
_ENTITY = re.compile(r"(?:https?://(?:api\.)?openalex\.org/)?(?:works/)?([A-Z])(\d+)", re.IGNORECASE)
_ADDRESS = "https://openalex.org/"
_ADDRESSES = re.compile(rf"{re.escape(_ADDRESS)}W[0-9]+(?:\n{re.escape(_ADDRESS)}W[0-9]+)*")
_ABSTRACTS = ("abstract_inverted_index", "abstract_inverted_index_v3")
_MISSING = 100
"""So many positions may have no word, and besides as many as there are words."""


def paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The work's fields, or those of a record with its id that a person made.

    Raises InputError for what is no work, or has an abstract that is none.
    """
    ids = record["ids"] if isinstance(record.get("ids"), dict) else {}
    given = record.get("id") or ids.get("openalex")
    work = _work(given)
    if work is None and given is not None:
        raise InputError("no work", faults=(f"id: found {given!r:.60}, expected a work, such as W2741809807",))
    if work == DELETED:
        raise InputError("a deleted work", faults=(f"id: found {DELETED}, which OpenAlex gave to all deleted works",))
    cited = record.get("referenced_works")
    works = _works(cited) if isinstance(cited, list) else []
    return {
        "openalex": work,
        "doi": record.get("doi") or ids.get("doi"),
        "pmid": ids.get("pmid"),
        "title": record.get("title") or record.get("display_name"),
        "abstract": _abstract(record),
        "year": record.get("publication_year") or str(record.get("publication_date") or "")[:4] or record.get("year"),
        **({"retracted": True} if record.get("is_retracted") is True else {}),
        "cited": [("openalex", one) for one in works if one is not None and one != DELETED],
    }


def _works(cited: list[Any]) -> Sequence[str | None]:
    """The id of each work. Nearly all lists have nothing but addresses of works, which one search finds."""
    try:
        text = "\n".join(cited)
    except TypeError:
        text = ""
    if _ADDRESSES.fullmatch(text) and text.count("\n") == len(cited) - 1:
        return text.replace(_ADDRESS, "").split("\n")
    return [_work(one) for one in cited]


def _work(given: object) -> str | None:
    """The id of a work without the address before it; None for anything else."""
    found = _ENTITY.fullmatch(given) if isinstance(given, str) else None
    return f"W{found[2]}" if found and found[1] in "Ww" else None


def _abstract(record: Mapping[str, Any]) -> str | None:
    for name in _ABSTRACTS:
        if index := record.get(name):
            return turned_back(index, name=name)
    return record.get("abstract") or record.get("text") or None


def turned_back(index: object, *, name: str) -> str | None:
    """The text of an inverted index: its words in the order of their positions.

    Positions without a word are passed over; of two words at one position the first stays. Raises InputError, with the
    name of the field, for what is no index, and where most of the positions have no word.

    >>> turned_back({"to": [0, 4], "be": [1, 5], "or": [2], "not": [3]}, name="abstract")
    'to be or not to be'
    """
    try:
        found = json.loads(index) if isinstance(index, str) else index
    except (ValueError, RecursionError):
        raise _unusable(name, "text that is not JSON") from None
    if isinstance(found, dict) and isinstance(found.get("InvertedIndex"), dict):
        found = found["InvertedIndex"]
    if not isinstance(found, dict):
        raise _unusable(name, f"{found!r:.40}")
    if (text := _plain_text(found)) is not None:
        return text
    words: dict[int, str] = {}
    for word, places in found.items():
        for place in places if isinstance(places, list) else [places]:
            if type(place) is not int or place < 0:
                raise _unusable(name, f"{word!r:.40} at position {place!r:.40}")
            words.setdefault(place, word)
    if words and (last := max(words)) >= 2 * len(words) + _MISSING:
        raise _unusable(name, f"position {last!r:.40} for {len(words)} words")
    return " ".join(words[place] for place in sorted(words)) or None


def _plain_text(index: Mapping[str, Any]) -> str | None:
    """The text of an index that has every position from 0 to the last once; None for any other."""
    if {*map(type, index.values())} != {list}:
        return None
    try:
        words = {place: word for word, of in index.items() for place in of}
    except TypeError:
        return None
    count = len(words)
    if {*map(type, words)} != {int} or count != sum(map(len, index.values())):
        return None
    try:
        return " ".join(map(words.__getitem__, range(count)))
    except KeyError:
        return None


def _unusable(name: str, found: str) -> InputError:
    return InputError(f"{name} cannot be used", faults=(f"{name}: found {found}, expected words with positions",))


def _fits(record: Mapping[str, Any]) -> bool:
    given = record.get("id")
    return (isinstance(given, str) and "openalex.org/" in given) or any(name in record for name in _ABSTRACTS)


OPENALEX = Format("openalex", paper=paper, fits=_fits, bibliographic=True)
