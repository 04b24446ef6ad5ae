"""HTML of Markdown that others wrote, which runs nothing and loads nothing from other servers."""

from __future__ import annotations

from html import unescape
from typing import Any

LEADS_TO = ("https://", "http://", "mailto:", "#")
"""Beginnings of the address of a link: a web page, a mailbox or a place on the same page."""
PICTURES = ("image_link", "image_reference", "short_image_ref")


def converter(**settings: Any) -> Any:
    """Converter of the library Markdown, with these settings of it.

    HTML stays visible as text. A picture, which the reader's browser would fetch from its server, becomes a link. A
    link that leads elsewhere, such as to a script, loses its address.
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

    markdown: Any = Markdown(**settings)
    markdown.preprocessors.deregister("html_block")
    markdown.inlinePatterns.deregister("html")
    for name in PICTURES:
        markdown.inlinePatterns.deregister(name)
    markdown.treeprocessors.register(Links(markdown), "links", priority=5)
    return markdown
