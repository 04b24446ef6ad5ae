"""What the documentation says of commands and settings is so. (`make docs` builds it; a warning is an error there.)"""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from annot.base.settings import Settings
from command_line import commands, wrong_in
from documented import DOCS, references, runnable, typed

PAGES = references.pages(DOCS)
BLOCKS = [block for page in PAGES for block in references.blocks(page)]
COMMANDS = {command.words: command for command in commands()}


def lines_of(code: str) -> list[str]:
    """Every command of a block, comments cut off."""
    typed = [re.sub(r"(^|\s)#.*$", "", line) for line in code.splitlines()]
    return [part.strip() for line in typed for part in re.split(r"&&|\|\|", line) if part.strip()]


@pytest.mark.parametrize(
    "line",
    dict.fromkeys(
        line
        for block in BLOCKS
        if block.language == "sh"
        for line in lines_of(block.code)
        if re.match(r"annot [a-z]", line)
    ),
)
def test_a_command_of_a_block_can_be_typed_so(line: str) -> None:
    words = shlex.split(line)[1:]
    (length,) = [n for n in (2, 1) if tuple(words[:n]) in COMMANDS][:1]
    command = COMMANDS[tuple(words[:length])]
    command.click.make_context(command.name, words[length:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_command_in_the_prose_is_there(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    mentioned = re.findall(r"`(annot [^`]+)`", prose.replace("\n", " "))
    assert not [wrong for line in mentioned if (wrong := wrong_in(line))]


def test_every_command_and_setting_stands_in_its_reference() -> None:
    shown = "".join(references.commands().values())
    assert not [command.name for command in COMMANDS.values() if f"`annot {command.name}`" not in shown]
    listed = "\n".join(references.settings())
    for section, model in references.sections(Settings):
        assert not section or f"## `[{section}]`" in listed
        below = {name for name, _ in references.sections(model) if name}
        assert model.model_fields.keys() - below == references.docstrings(model).keys(), section


def test_every_block_has_a_language_that_a_test_knows() -> None:
    assert {block.language for block in BLOCKS if not block.not_run} <= {"sh", "python", "text", "toml"}


def test_settings_on_the_pages_are_settings() -> None:
    shown = [block.code for block in BLOCKS if block.language == "toml"]
    assert shown
    for code in shown:
        Settings.model_validate(tomllib.loads(code))


def test_pictures_and_pages_that_are_linked_are_there() -> None:
    named = {
        page.parent / name
        for page in PAGES
        for name in re.findall(r"\]\(([^)#:]+\.(?:png|md))[)#]", page.read_text(encoding="utf-8"))
    }
    assert named
    made = {DOCS / "reference" / name for name in ("commands.md", "settings.md", "not-run.md", "rooms.md")}
    assert not [str(path) for path in named if path.resolve() not in made and not path.is_file()]


@pytest.mark.parametrize("page", sorted((DOCS / "howto").glob("*.md")), ids=lambda page: page.stem)
def test_a_how_to_page_is_short_and_in_the_index(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").split()) <= 900
    index = (DOCS / "howto" / "index.md").read_text(encoding="utf-8")
    assert page.stem == "index" or (f"({page.name})" in index and f"\n{page.stem}\n" in index)


def test_the_blocks_that_need_no_study_run() -> None:
    for block in runnable(DOCS / "explanation" / "agreement.md"):
        typed(block.code, DOCS.parent)
    for page in PAGES:
        for block in references.blocks(page):
            # Those of `In a notebook` follow one another, and have a test of their own.
            if block.language == "python" and not block.not_run and page.stem != "notebook":
                typed(f"python - <<'END'\n{block.code}END", DOCS.parent)
