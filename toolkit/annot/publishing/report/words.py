"""The sentences and tables of the report and of the commands that print its tables, from `templates/report/`.

A template holds named blocks; each is rendered alone, with the values it asks for. A line of `--` parts paragraphs.
`tables.toml` declares the columns of each table.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment

from annot.base.stats.values import Undefined
from annot.base.templating import environment
from annot.publishing.report import cells
from annot.publishing.report.cells import p_value
from annot.publishing.report.document import Table


def sentences(block: str, **values: object) -> tuple[str, ...]:
    """The paragraphs of a block, `file.block`; each on one line."""
    name, _, part = block.partition(".")
    template = _templates().get_template(f"report/{name}.j2")
    text = "".join(template.blocks[part](template.new_context(values)))
    return tuple(" ".join(paragraph.split()) for paragraph in re.split(r"(?m)^\s*--\s*$", text) if paragraph.strip())


def sentence(block: str, **values: object) -> str:
    """The block as one paragraph."""
    return " ".join(sentences(block, **values))


def table(
    block: str, rows: Iterable[object], /, *, notes: Iterable[str] = (), explained: bool = False, **values: object
) -> Table:
    """The table that `tables.toml` declares as `section.key`, with a row for each of `rows`.

    values: what its columns, its caption, its name and its command ask for; the caption knows as `bracketed` whether
    a figure has an interval. explained: another table says why figures have none; else a note does, once.
    """
    section, _, key = block.partition(".")
    of_section = _tables()[section]
    declared = {"caption": block.replace("-", "_"), "name": key, **of_section, **of_section[key]}
    values["name"] = _filled(declared["name"], values)
    names, numbers = dict(declared["names"]), dict(declared.get("numbers", {}))
    made = tuple(tuple(_cells({**names, **numbers}, {**values, "one": row})) for row in rows)
    figures = [cell for row in made for cell in row if isinstance(cell, cells.Number)]
    values["bracketed"] = any(figure.ends for figure in figures)
    return Table(
        name=str(values["name"]),
        caption=sentence(declared["caption"], **values) if declared["caption"] else "",
        headings=(*_headings(names, values), *_headings(numbers, values)),
        rows=made,
        command=_filled(declared.get("command", ""), values),
        notes=(
            *notes,
            *(
                ()
                if explained
                else without(
                    ("interval", one.interval)
                    for one in figures
                    if one.value is not None and isinstance(one.interval, Undefined)
                )
            ),
        ),
        numeric_from=len(_headings(names, values)),
    )


def without(lacking: Iterable[tuple[str, Undefined]]) -> tuple[str, ...]:
    """Why figures have no `value` or no `interval`, each reason once: with this data's counts where they are the same.

    lacking: for each of these figures what it lacks, and why.
    """
    exactly: dict[tuple[str, str], list[str]] = {}
    for what, why in lacking:
        exactly.setdefault((what, why.kind), []).append(why.reason)
    told = [(len(of), what, kind if len({*of}) > 1 else of[0]) for (what, kind), of in exactly.items()]
    return sentences("commands.without", told=told)


def listed(names: Sequence[object], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *others, end = map(str, names)
    return f"{', '.join(others)} {last} {end}" if others else end


def with_p(value: float | Undefined) -> str:
    """`p = 0.012`, `p < 0.001`."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def capitalised(text: str) -> str:
    """`text` with a capital; a pseudonym or a run such as `a1`, or a path, keeps its small letter.

    >>> capitalised("nobody changes"), capitalised("a1 changes")
    ('Nobody changes', 'a1 changes')
    """
    return text if re.match("[a-z]+[0-9_/]", text) else text[:1].upper() + text[1:]


def _headings(columns: dict[str, str], values: dict[str, Any]) -> list[str]:
    return [
        str(heading)
        for column in columns
        for heading in (values[column.removeprefix("*")] if column.startswith("*") else [column])
    ]


def _cells(columns: dict[str, str], values: dict[str, Any]) -> Iterator[object]:
    for column, expression in columns.items():
        found = _expression(expression)(values)
        yield from found if column.startswith("*") else [found]


def _filled(text: str, values: dict[str, Any]) -> str:
    return _templates().from_string(text).render(values)


@cache
def _expression(text: str) -> Callable[[dict[str, Any]], Any]:
    return _templates().compile_expression(text, undefined_to_none=False)


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads((files("annot.templates") / "report" / "tables.toml").read_text(encoding="utf-8"))


@cache
def _templates() -> Environment:
    # Blanks and ends of lines are one blank in the end; none may vanish between two sentences.
    found = environment(overrides=None).overlay(trim_blocks=False)
    found.filters.update(listed=listed, with_p=with_p, capitalised=capitalised, measured=cells.measured)
    found.globals.update({name: kind for name, kind in vars(cells).items() if isinstance(kind, cells.Quantity)})
    found.globals.update(NONE=cells.NONE, number=cells.number, coefficient=cells.coefficient, p_value=p_value)
    return found
