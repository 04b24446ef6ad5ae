"""Markdown that others wrote, as HTML that runs nothing and asks no other server for anything."""

from __future__ import annotations

from html import unescape
from typing import Any

LEADS_TO = ("https://", "http://", "mailto:", "#")
"""How the address of a link begins: a web page, a mailbox or a place on the same page."""
PICTURES = ("image_link", "image_reference", "short_image_ref")


def converter(**settings: Any) -> Any:
    """A converter of the library Markdown, with these settings of it.

    HTML stays visible as text. A picture, which the reader's browser would fetch from the server that it is on, becomes
    a link. A link that leads elsewhere, such as to a script, loses its address.
    """
    from markdown import Markdown
    from markdown.treeprocessors import Treeprocessor
    from markdown.util import AMP_SUBSTITUTE

    class Links(Treeprocessor):
        def run(self, root: Any) -> None:
            for link in root.iter("a"):
                address = unescape(link.get("href", "").replace(AMP_SUBSTITUTE, "&"))
                if not address.lower().startswith(LEADS_TO):
                    link.attrib.pop("href", None)

    made: Any = Markdown(**settings)
    made.preprocessors.deregister("html_block")
    made.inlinePatterns.deregister("html")
    for name in PICTURES:
        made.inlinePatterns.deregister(name)
    made.treeprocessors.register(Links(made), "links", priority=5)
    return made
