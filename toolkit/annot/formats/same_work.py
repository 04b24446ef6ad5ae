"""How two records of one paper are recognised: the title as it is compared, and what records of one work share."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

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
