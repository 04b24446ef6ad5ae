"""The pages of a collection that are side by side, and the links between them; each page also works by itself.

Separate commands write the pages, in any order. So each page is rendered with an empty place for links, and whatever
writes one fills the places of all that are beside it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from annot.base.templating import render
from annot.study.workspace import write_file

CARD_FILE = "README.md"
PAGES = {
    CARD_FILE: "README",
    "report.html": "Report",
    "browse.html": "Browse",
    "certificate.html": "Reusability",
    "datasheet.html": "Datasheet",
    "report.md": "Report",
    "certificate.md": "Reusability",
    "datasheet.md": "Datasheet",
    "DATASHEET.md": "Datasheet",
}
"""Titles by file. The page for a meeting is not among them: assessors see it, and must not see the others."""
_PLACES = {
    ".html": re.compile(rb'<nav class="pages".*?</nav>\n'),
    ".md": re.compile(rb"^\[//\]: # \(pages\)\n(?:.+\n)?", re.MULTILINE),
}
"""What `pages.html.j2` and `pages.md.j2` make."""


def linked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files, those of them that are pages with links to the others."""
    return {name: with_links(content, name, files) for name, content in files.items()}


def with_links(content: bytes, name: str, files: Collection[str], *, above: str = "") -> bytes:
    """The page `name` with links to the pages among `files`; none if there is no other.

    A web page leads to web pages and the card, Markdown to Markdown. above: the path to the others, with a slash.
    """
    kind = PurePosixPath(name).suffix
    place = _PLACES.get(kind)
    if place is None:
        return content
    shown = [(one, title) for one, title in PAGES.items() if one in files and (one.endswith(kind) or one == CARD_FILE)]
    values = {"page": name, "pages": shown if any(one != name for one, _ in shown) else (), "above": above}
    bar = render(f"pages{kind}.j2", values, overrides=None).encode()
    return place.sub(bar, content, count=1)


def pages_in(folder: Path) -> set[str]:
    """The pages in the folder, spelled as they are there."""
    return {path.name for path in folder.glob("*") if path.is_file()} & PAGES.keys()


def write_pages(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files, and bring the links of the pages beside them up to date; what holds already is not touched."""
    names = pages_in(folder) | files.keys()
    for name, text in files.items():
        write_file(folder / name, with_links(text.encode("utf-8"), name, names))
    for name in sorted(pages_in(folder)):
        write_file(folder / name, with_links((folder / name).read_bytes(), name, names))
