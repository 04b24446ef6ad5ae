"""Every text that a user reads, with its place: `python tests/docs/user_texts.py [CHECKOUT] [--draw 60 --seed 23]`.

Docs, README, guidelines and templates by paragraph or line; of the program every string of three words or more that is
not a docstring, and the docstrings of commands, which are their help. A line is `path:line: text`.
"""

import argparse
import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
MARKUP = re.compile(r"<style.*?</style>|<script.*?</script>|<[^>]+>", re.DOTALL)
CODE = re.compile(
    r"^(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|ALTER|DROP|WITH)\b|\(\?|^[\w.-]+/[\w./-]+$|[{}$\\]{2}|^[\"*]|^\[[\w.-]+\]$"
)
WORD = re.compile(r"^[^\w`'\"(\[*]*[`'\"(\[*]*[^\W\d_]+[a-z]*[^\w]*$")
NO_PROSE = (".css.j2", ".js.j2", ".py.j2", ".json.j2")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def worth(text: str) -> bool:
    """Whether it is a text: three words or more, and no code."""
    return sum(bool(WORD.match(word)) for word in text.split()) >= 3 and not CODE.search(text)


def blank(found: re.Match[str]) -> str:
    """What is left out, with its line ends, so that places stay."""
    return "\n" * found.group().count("\n")


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of Markdown without its code blocks; a row of a table and a point of a list are one each."""
    text = FENCED.sub(blank, text)
    at, held = 0, ""
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        begins = not line.strip() or re.match(r"\s*([-*|#>]|\d+\.)\s?", line)
        if begins and held:
            yield at, held
            held = ""
        if line.strip():
            at, held = (at, f"{held} {line.strip()}") if held else (number, line.strip())
    if held:
        yield at, held


def of_template(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a template that are not Jinja or markup."""
    text = JINJA.sub(lambda found: ("X" if found.group().startswith("{{") else "") + blank(found), text)
    for number, line in enumerate(MARKUP.sub(blank, text).splitlines(), start=1):
        yield number, line.strip()


def of_module(path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The strings of a module that are not docstrings; of a module of commands also the docstrings of its functions."""
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.add(id(node.value))
        has_help = path.parent.name == "cli" and isinstance(node, ast.FunctionDef) and node.decorator_list
        if has_help and (help_text := ast.get_docstring(node)):
            yield node.lineno, help_text
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield (
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings | within:
            yield node.lineno, node.value


def texts(checkout: Path) -> Iterator[str]:
    """Every text as `path:line: text`, in the order of paths and lines."""
    found: list[tuple[str, int, str]] = []
    for path in sorted((checkout / "toolkit").rglob("*.py")):
        found += [(str(path), *one) for one in of_module(path, ast.parse(path.read_text(encoding="utf-8")))]
    for folder in ("templates", "guidelines", "docs", "toolkit/annot/study/guideline_pages"):
        for path in sorted((checkout / folder).rglob("*")):
            if (
                path.suffix in (".j2", ".md", ".toml")
                and not path.name.endswith(NO_PROSE)
                and "_build" not in path.parts
            ):
                text = path.read_text(encoding="utf-8")
                found += [(str(path), *one) for one in (paragraphs if path.suffix == ".md" else of_template)(text)]
    found += [(str(checkout / "README.md"), *one) for one in paragraphs((checkout / "README.md").read_text("utf-8"))]
    for name, line, text in sorted(set(found)):
        if worth(text):
            yield f"{Path(name).relative_to(checkout)}:{line}: {' '.join(text.split())}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--draw", type=int, default=0, help="so many of them, drawn by the seed")
    parser.add_argument("--seed", type=int, default=23)
    given = parser.parse_args()
    lines = list(texts(given.checkout.resolve()))
    print(*(random.Random(given.seed).sample(lines, given.draw) if given.draw else lines), sep="\n")


if __name__ == "__main__":
    main()
