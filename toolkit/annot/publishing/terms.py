"""Terms of publication of a collection, names of licences, and the citation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from annot.base.errors import InputError
from annot.base.settings import CollectionSettings

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


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of publication of the collection."""

    with_text: bool
    """True if titles and abstracts are part of the release, False if their ids only."""
    licence: str
    """Licence of the judgements: an SPDX identifier or a URL; empty while none is chosen."""
    text_licence: str
    """Licence of titles and abstracts: an SPDX identifier, a URL, or words; empty if they are not released."""
    topic_licence: str
    """Licence of topics that are texts: an SPDX identifier, a URL, or words; empty if it is that of the judgements."""
    published: str
    """ISO 8601 date; empty if none is given: a release carries no other."""


class Licence(NamedTuple):
    """A licence as each place wants it."""

    name: str
    """The SPDX identifier, or the URL given."""
    url: str
    hub: str


def licence_named(name: str) -> Licence:
    """The licence of an SPDX identifier (in any case of letters) or a URL.

    >>> licence_named("cc-by-4.0")
    Licence(name='CC-BY-4.0', url='https://creativecommons.org/licenses/by/4.0/', hub='cc-by-4.0')
    """
    if re.fullmatch(r"https?://\S+", name):
        return Licence(name, name, "other")
    spdx = next((hub_name for hub_name in HUB_NAMES if hub_name.lower() == name.lower()), name)
    if not re.fullmatch(r"[A-Za-z0-9.+-]+", spdx):
        raise InputError(f"licence {name!r}: expected an SPDX identifier such as CC-BY-4.0 (https://spdx.org) or a URL")
    if spdx == "CC0-1.0":
        url = "https://creativecommons.org/publicdomain/zero/1.0/"
    elif match := _CREATIVE_COMMONS.fullmatch(spdx):
        url = f"https://creativecommons.org/licenses/{match[1].lower()}/{match[2]}/"
    else:
        url = f"https://spdx.org/licenses/{spdx}.html"
    return Licence(spdx, url, HUB_NAMES.get(spdx, "other"))


NEEDED = {
    "creators": "the names of its makers, as they want to be named in public",
    "description": "two or three sentences",
    "url": "the address where the collection can be found",
}
"""Entries of `[collection]` that a release needs."""


def terms_of(
    collection: CollectionSettings, *, with_text: bool | None, licence: str | None, published: date | None
) -> tuple[Terms, tuple[str, ...]]:
    """Terms as far as they are given, and the missing entries of `[collection]` for a release."""
    faults = []
    with_text = bool(collection.text_licence) if with_text is None else with_text
    name = licence or collection.licence
    if not name:
        faults.append('collection.licence: empty, expected an SPDX identifier such as "CC-BY-4.0" or a URL (--licence)')
    else:
        try:
            licence_named(name)
        except InputError as error:
            faults.append(error.message)
            name = ""
    faults += [
        f"collection.{key}: empty, expected {expected}"
        for key, expected in NEEDED.items()
        if not getattr(collection, key)
    ]
    if with_text and not collection.text_licence:
        faults.append("collection.text_licence: empty, expected the licence of the texts; or release with --ids-only")
        with_text = False
    day = published or collection.published
    when = day.isoformat() if day else ""
    return Terms(with_text, name, collection.text_licence, collection.topic_licence, when), tuple(faults)


def known_licence(words: str) -> Licence | None:
    """The licence that `words` name by a known identifier or a URL; None if they are words about one.

    >>> known_licence("with the publishers") is None
    True
    """
    named = any(words.lower() == name.lower() for name in HUB_NAMES)
    if named or _CREATIVE_COMMONS.fullmatch(words) or re.fullmatch(r"https?://\S+", words):
        return licence_named(words)
    return None


def citation_of(collection: CollectionSettings, terms: Terms) -> str:
    """The BibTeX given, or authors, year, title, version and address."""
    if collection.citation:
        return collection.citation
    year = f" ({terms.published[:4]})" if terms.published else ""
    makers = ", ".join(collection.creators)
    return f"{makers}{year}. {collection.title}. Version {collection.version}. {collection.url}".rstrip()
