"""The sentences and tables of the report and of the commands that print its tables, from `templates/report/`.

A template holds named blocks; each is rendered alone, with the values it asks for. A line of `--` parts paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from jinja2 import Environment
from markupsafe import Markup, escape

from annot.base.stats.values import Undefined
from annot.base.templating import environment
from annot.publishing.report import cells
from annot.publishing.report.cells import p_value


def sentences(block: str, **values: object) -> tuple[str, ...]:
    """The paragraphs of a block, `file.block`; each on one line."""
    name, _, part = block.partition(".")
    template = _templates().get_template(f"report/{name}.j2")
    text = "".join(template.blocks[part](template.new_context(values)))
    return tuple(" ".join(paragraph.split()) for paragraph in re.split(r"(?m)^\s*--\s*$", text) if paragraph.strip())


def sentence(block: str, **values: object) -> str:
    """The block as one paragraph."""
    return " ".join(sentences(block, **values))


def inline(text: str) -> Markup:
    """A sentence in which what is between backticks is set as what one types."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def listed(names: Sequence[object], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *others, end = map(str, names)
    return f"{', '.join(others)} {last} {end}" if others else end


def with_p(value: float | Undefined) -> str:
    """`p = 0.012`, `p < 0.001`."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def capitalised(text: str) -> str:
    """`text` with a capital; a pseudonym, a path, or names before a colon keep their small letters.

    >>> capitalised("nobody changes"), capitalised("a1 changes"), capitalised("mine: no pair")
    ('Nobody changes', 'a1 changes', 'mine: no pair')
    """
    return text if re.match(r"[a-z]+[0-9_/]|(\S+, )*\S+: ", text) else text[:1].upper() + text[1:]


@cache
def _templates() -> Environment:
    # Blanks and ends of lines are one blank in the end; none may vanish between two sentences.
    found = environment(overrides=None).overlay(trim_blocks=False, bytecode_cache=None)
    found.filters.update(listed=listed, with_p=with_p, capitalised=capitalised, measured=cells.measured)
    found.globals.update({name: kind for name, kind in vars(cells).items() if isinstance(kind, cells.Quantity)})
    found.globals.update(NONE=cells.NONE, number=cells.Number, coefficient=cells.coefficient, p_value=p_value)
    return found
