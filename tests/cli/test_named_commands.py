"""Every command that a message, a hint, a page or a template names can be typed so."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import wrong_in

CHECKOUT = Path(__file__).resolve().parents[2]
MENTION = re.compile(r"(?<![\w./@-])annot [a-z-][^`'\"<>|;:,.()\n]*")
PROSE = {"a", "for", "has", "on", "were"}
"""Words that follow the program's name in a sentence about the program."""


def literals(path: Path) -> Iterator[str]:
    """Every string of a module; what an f-string fills in is X."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def texts() -> Iterator[tuple[Path, str]]:
    for path in sorted((CHECKOUT / "toolkit").rglob("*.py")):
        yield from ((path, text) for text in literals(path))
    for folder in ("templates", "guidelines", "toolkit"):
        for path in sorted((CHECKOUT / folder).rglob("*")):
            if path.suffix in (".j2", ".md", ".toml"):
                text = path.read_text(encoding="utf-8")
                yield path, re.sub(r"\{\{.*?\}\}", " X", text, flags=re.DOTALL)


def mentions(text: str) -> list[str]:
    found = [" ".join(mention.split()) for mention in MENTION.findall(re.sub(r"\s+", " ", text))]
    return [mention for mention in found if mention.split()[1] not in PROSE]


def test_every_command_that_is_named_can_be_typed() -> None:
    wrong = [
        f"{path.relative_to(CHECKOUT)}: {mention}: {fault}"
        for path, text in texts()
        for mention in mentions(text)
        if (fault := wrong_in(mention))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "text",
    [
        "make it with `annot tokens`",
        "say it with annot plan --simulate",
        "run `annot adjudicate fetch` first",
        "`annot agreement --mising zero`",
    ],
)
def test_a_command_that_is_not_there_is_found(text: str) -> None:
    assert [mention for mention in mentions(text) if wrong_in(mention)]
