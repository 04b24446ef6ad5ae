"""Licences by their SPDX identifiers: what a hub calls them, and where their text is."""

from __future__ import annotations

import re
from typing import NamedTuple

from annot.base.errors import InputError

_IN_SMALL_LETTERS = (
    *("CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "CC-BY-NC-ND-4.0"),
    *("MIT", "Apache-2.0"),
)
HUB_NAMES = {name: name.lower() for name in _IN_SMALL_LETTERS} | {
    "ODC-By-1.0": "odc-by",
    "ODbL-1.0": "odbl",
    "PDDL-1.0": "pddl",
    "GPL-3.0-or-later": "gpl-3.0",
}
"""The Hugging Face hub's list, by SPDX identifier; others are `other` there, with name and link."""

_CREATIVE_COMMONS = re.compile(r"CC-(BY(?:-NC)?(?:-SA|-ND)?)-(\d\.\d)")


class Licence(NamedTuple):
    """A licence as each place wants it."""

    name: str
    """The SPDX identifier, or the URL given."""
    url: str
    hub: str


def licence(name: str) -> Licence:
    """The licence of an SPDX identifier (in any case of letters) or a URL.

    >>> licence("cc-by-4.0")
    Licence(name='CC-BY-4.0', url='https://creativecommons.org/licenses/by/4.0/', hub='cc-by-4.0')
    """
    if re.fullmatch(r"https?://\S+", name):
        return Licence(name, name, "other")
    spdx = next((known for known in HUB_NAMES if known.lower() == name.lower()), name)
    if not re.fullmatch(r"[A-Za-z0-9.+-]+", spdx):
        raise InputError(f"licence {name!r}: expected an SPDX identifier such as CC-BY-4.0 (https://spdx.org) or a URL")
    if spdx == "CC0-1.0":
        url = "https://creativecommons.org/publicdomain/zero/1.0/"
    elif match := _CREATIVE_COMMONS.fullmatch(spdx):
        url = f"https://creativecommons.org/licenses/{match[1].lower()}/{match[2]}/"
    else:
        url = f"https://spdx.org/licenses/{spdx}.html"
    return Licence(spdx, url, HUB_NAMES.get(spdx, "other"))


def known_licence(words: str) -> Licence | None:
    """The licence that `words` name by a known identifier or a URL; None where they are words about one.

    >>> known_licence("with the publishers") is None
    True
    """
    known = any(words.lower() == name.lower() for name in HUB_NAMES)
    if known or _CREATIVE_COMMONS.fullmatch(words) or re.fullmatch(r"https?://\S+", words):
        return licence(words)
    return None
