"""How large the house is, and how it hangs together: `python benchmarks/house.py [CHECKOUT]`.

A code line is a line of Python that holds a token of code: no blank line, no comment, no docstring and no docstring of
an attribute. Tokens are those of such lines, without line ends and indents. Rooms are the names at the top of the
package.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
SMALL, LARGE = 40, 400


def docstring_lines(tree: ast.Module) -> set[int]:
    """The lines of every string that stands by itself as a statement."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def code_of(text: str) -> tuple[int, int]:
    """How many lines of code a module has, and how many tokens."""
    silent = docstring_lines(ast.parse(text))
    lines: set[int] = set()
    tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in SILENT or token.start[0] in silent:
            continue
        tokens += 1
        lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines), tokens


def imports_of(tree: ast.Module) -> Iterator[str]:
    """The dotted names of ours that a module imports, in functions and under TYPE_CHECKING too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "annot":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "annot")


def room(dotted: str) -> str:
    """The name at the top of the package that a dotted name is in."""
    return dotted.split(".")[1] if "." in dotted else ""


def ties(package: Path, trees: dict[Path, ast.Module]) -> dict[tuple[str, str], int]:
    """How many imports run from one room to another."""
    rooms = {path.name.removesuffix(".py") for path in package.iterdir()}
    found: Counter[tuple[str, str]] = Counter()
    for path, tree in trees.items():
        own = path.relative_to(package).parts[0].removesuffix(".py")
        for other in {room(name) for name in imports_of(tree)} & rooms - {own}:
            found[own, other] += 1
    return dict(found)


def loaded_by(checkout: Path, *words: str) -> int:
    """How many modules of ours a command loads in a new study."""
    program = (
        "import sys\nfrom annot.cli.main import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(sum(name.split('.')[0] == 'annot' for name in sys.modules), file=sys.stderr)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        for call in (("init", folder), (*words, "-C", folder)):
            done = subprocess.run(
                [sys.executable, "-c", program, *call],
                cwd=folder, env={"PYTHONPATH": str(checkout / "toolkit"), "PATH": "/usr/bin:/bin"},
                capture_output=True, text=True, check=True,
            )  # fmt: skip
    return int(done.stderr.split()[-1])


def commands(checkout: Path) -> int:
    """How many words or pairs of words can be typed after `annot`."""
    program = (
        "import click, typer\nfrom annot.cli.main import app\n"
        "def leaves(command):\n"
        "    verbs = getattr(command, 'commands', {})\n"
        "    own = not verbs or (command.invoke_without_command and command.name)\n"
        "    return bool(own) + sum(map(leaves, verbs.values()))\n"
        "print(leaves(typer.main.get_command(app)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(checkout / "toolkit"), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(done.stdout)


def main() -> None:
    checkout = Path(sys.argv[1]).resolve() if sys.argv[1:] else Path(__file__).resolve().parent.parent
    package = checkout / "toolkit" / "annot"
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    counted = {path: code_of(text) for path, text in texts.items()}
    code, tokens = (sum(column) for column in zip(*counted.values(), strict=True))
    templates = sum(
        sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())
        for path in sorted((checkout / "templates").rglob("*"))
        if path.suffix in (".j2", ".toml")
    )
    modules = [path for path in texts if path.name != "__init__.py"]
    physical = {path: len(texts[path].splitlines()) for path in modules}
    classes: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(str(path.relative_to(package)))
    between = ties(package, trees)
    top = sorted(
        {
            path.name.removesuffix(".py")
            for path in package.iterdir()
            if path.name not in ("__init__.py", "__pycache__", "py.typed")
        }
    )
    print(f"code lines of Python     {code:>8,}")
    print(f"tokens                   {tokens:>8,}")
    print(f"with lines of templates  {code + templates:>8,}")
    print(f"modules                  {len(modules):>8,}")
    print(f"  below {SMALL} lines         {sum(lines < SMALL for lines in physical.values()):>8,}")
    print(f"  above {LARGE} lines        {sum(lines > LARGE for lines in physical.values()):>8,}")
    print(f"names at the top         {len(top):>8,}  {' '.join(top)}")
    twice = {name: places for name, places in classes.items() if len(places) > 1}
    print(f"class names in 2 modules {len(twice):>8,}")
    for name, places in sorted(twice.items()):
        print(f"  {name}: {', '.join(places)}")
    mutual = sorted(pair for pair in between if pair[0] < pair[1] and pair[::-1] in between)
    print(f"rooms importing each other {len(mutual):>6,}  {' '.join('-'.join(pair) for pair in mutual)}")
    print(f"commands                 {commands(checkout):>8,}")
    print(f"modules that status loads {loaded_by(checkout, 'status'):>7,}")


if __name__ == "__main__":
    main()
