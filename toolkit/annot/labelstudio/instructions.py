"""The instructions of a project: guidelines in Markdown, and the keys of the screen, as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

from annot.labelstudio import controls


def instructions_html(pages: Sequence[str], *, scale_names: Sequence[str], adjudication: bool) -> str:
    """The guideline `pages` (Markdown, general first) with a table of keys before them.

    HTML inside the Markdown is shown as text: the page is for reading, not for scripts.
    """
    import markdown

    converter = markdown.Markdown(extensions=["tables", "sane_lists"], output_format="html")
    converter.preprocessors.deregister("html_block")
    converter.inlinePatterns.deregister("html")
    read = [converter.reset().convert(page) for page in pages]
    return "\n".join([_keys(scale_names, adjudication), *read])


def _keys(scale_names: Sequence[str], adjudication: bool) -> str:
    rows = [(str(grade), name) for grade, name in enumerate(scale_names)]
    rows.append((controls.CANNOT_JUDGE_KEY, "Cannot judge, then the reason:"))
    rows += [(reason.key, f"... {reason.value}") for reason in controls.REASONS]
    if adjudication:
        rows += [(ground.key, f"Ground: {ground.value}") for ground in controls.GROUNDS]
    rows += [(label.key, f"The clicked sentence is {label.value}") for label in controls.LABEL_KEYS]
    rows += [("Enter", "In the comment: keep it"), ("Ctrl + Enter", "Submit, next pair")]
    cells = "".join(f"<tr><td><b>{html.escape(key)}</b></td><td>{html.escape(does)}</td></tr>" for key, does in rows)
    return f"<h2>Keys</h2><table>{cells}</table>"
