"""The instructions of a project: guidelines in Markdown, and the keys of the screen, as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from annot.labelstudio import controls
from annot.templating import render


def instructions_html(pages: Sequence[str], *, scale_names: Sequence[str], adjudication: bool) -> str:
    """The guideline `pages` (Markdown, general first) with a table of keys before them.

    HTML inside the Markdown is shown as text: the page is for reading, not for scripts.
    """
    import markdown

    converter = markdown.Markdown(extensions=["tables", "sane_lists"], output_format="html")
    converter.preprocessors.deregister("html_block")
    converter.inlinePatterns.deregister("html")
    read = [converter.reset().convert(page) for page in pages]
    values = {"scale_names": scale_names, "adjudication": adjudication, "controls": controls}
    return "\n".join([render("keys.html.j2", values, overrides=None).strip(), *read])
