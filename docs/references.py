"""The reference pages, made from the program: every command, every setting, and the blocks that no test runs."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import typer
from annot.base.settings import Settings
from annot.cli.commands import COMMANDS
from annot.cli.main import app
from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from typer.cli import get_docs_for_click

COMMANDS_HEAD = """# Commands

Every command has `--help`, and `-C FOLDER` for a study that is not the current folder. Results go to stdout, everything
else to stderr. Exit codes: 0 done; 1 a problem was found, or another command is using the study; 2 wrong input; 3 Label
Studio, or the server of a model, cannot be reached or refused; 130 interrupted.

"""
SETTINGS_HEAD = """# Settings

The settings of a study are in its `annot.toml`, which `annot init` writes with every default. An unknown key is
refused, with the nearest known one.

"""

NOT_RUN_HEAD = """# Blocks that no test runs

A test runs every block of these pages in order, except the {} below. Their commands and options are checked against the
program.
"""


def write(folder: Path) -> None:
    """Write `commands.md`, its pages, `settings.md` and `not-run.md` into `folder`, which is among the pages."""
    folder.mkdir(exist_ok=True)
    for name, text in commands().items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "settings.md").write_text(SETTINGS_HEAD + "\n".join(settings()), encoding="utf-8")
    (folder / "not-run.md").write_text(not_run(folder.parent), encoding="utf-8")


def commands() -> dict[str, str]:
    """Pages of the commands by file name: an overview, and a page for each stage with usage, arguments and options."""
    tree = typer.main.get_command(app)
    context = tree.context_class(tree, info_name="annot")
    text = get_docs_for_click(obj=tree, ctx=context, name="annot", title="`annot`", indent=1)
    head, *sections = re.split(r"(?m)^(?=### )", text.replace("```console", "```text"))
    section_of_word = {section.split("`")[1].split()[1]: re.sub(r"(?m)^#(?=##)", "", section) for section in sections}
    pages, listed = {}, []
    for stage, entries in COMMANDS.items():
        words = [word for word in dict.fromkeys(entry.split()[0] for entry in entries) if word in section_of_word]
        name = f"commands-{stage.lower()}.md"
        pages[name] = f"# Commands: {stage.lower()}\n\n" + "".join(map(section_of_word.pop, words))
        listed.append(f"| [{stage}]({name}) | {', '.join(f'`{entry}`' for entry in entries)} |")
    assert not section_of_word, "a command without a stage"
    usage = head.split("**Commands**")[0].partition("\n")[2]
    table = "\n".join(["| Stage | Commands |", "| --- | --- |", *listed])
    tree_of_pages = "\n".join(["```{toctree}", ":hidden:", "", *(name.removesuffix(".md") for name in pages), "```"])
    return {"commands.md": f"{COMMANDS_HEAD}{table}\n\n{usage.strip()}\n\n{tree_of_pages}\n"} | pages


def settings() -> Iterator[str]:
    """A table for each section of `annot.toml`: key, default, what it decides."""
    for section, model in sections(Settings):
        told = docstrings(model)
        yield f"## `[{section}]`" if section else "## At the top of the file"
        doc = re.sub(r"\s+", " ", (model.__doc__ or "").strip()) if section and model.__doc__ else ""
        if doc:
            yield f"\n{doc}"
        yield "\n| Key | Default | What it decides |\n| --- | --- | --- |"
        for name, field in model.model_fields.items():
            if section_of(name, field.annotation):
                continue
            default = json.dumps(to_jsonable_python(field.get_default(call_default_factory=True)), ensure_ascii=False)
            shown = "none" if default == "null" else f"`{default}`"
            yield f"| `{name}` | {shown} | {told[name]} |"
        yield ""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: str
    language: str
    code: str
    people: str
    """What people do in Label Studio before the block: `judge`, `settle`, or nothing."""
    not_run: str
    """Why no test runs it; empty if one does."""
    output: str = ""
    """What the page shows below it as its output, if anything."""


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page in order, each with the comment above it (`% people: ...`, `% not run: ...`) and the
    block `% output` below it."""
    fenced = re.compile(
        r"^(?:% (people|not run): ([^\n]*)\n)?```(\w+)\n(.*?)^```$(?:\s+% output\n```text\n(.*?)^```$)?",
        re.MULTILINE | re.DOTALL,
    )
    for kind, said, language, code, output in fenced.findall(page.read_text(encoding="utf-8")):
        yield Block(
            page.name,
            language,
            code,
            people=said if kind == "people" else "",
            not_run=said if kind == "not run" else "",
            output=output,
        )


def pages(folder: Path) -> list[Path]:
    """Every page that is written by hand, in the order of their paths."""
    made = re.compile(r"(commands.*|settings|not-run|rooms)\.md")
    return [
        page for page in sorted(folder.rglob("*.md")) if not made.fullmatch(page.name) and "_build" not in page.parts
    ]


def not_run(folder: Path) -> str:
    """The page that counts the blocks no test runs, each with its reason."""
    left_out = [block for page in pages(folder) for block in blocks(page) if block.not_run]
    rows = [f"| {block.page} | `{block.code.strip().splitlines()[0]}` | {block.not_run} |" for block in left_out]
    return "\n".join(
        [NOT_RUN_HEAD.format(len(left_out)), "| Page | Begins with | Why |", "| --- | --- | --- |", *rows, ""]
    )


def docstrings(model: type[BaseModel]) -> dict[str, str]:
    """What stands below each field of a model in the source, as one line."""
    (body,) = ast.parse(inspect.getsource(model)).body
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: " ".join(below.value.value.split())
        for field, below in itertools.pairwise(body.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


def sections(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The model itself without a name, then each of its sections with its name."""
    yield "", model
    for name, field in model.model_fields.items():
        if found := section_of(name, field.annotation):
            yield found


def section_of(name: str, annotation: Any) -> tuple[str, type[BaseModel]] | None:
    """The heading and the model of a field that is a section, or holds sections by names that the study chooses."""
    if get_origin(annotation) is dict:
        name, annotation = f"{name}.NAME", get_args(annotation)[1]
    return (name, annotation) if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
