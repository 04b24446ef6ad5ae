"""How large the house is, and how it hangs together: `python benchmarks/house.py [CHECKOUT]`.

A code line is a line of Python that holds a token of code: no blank line, no comment, no docstring and no docstring of
an attribute. Tokens are those of such lines, without line ends and indents. Rooms are the names at the top of the
package. A record is a class of values: a NamedTuple, a dataclass, a TypedDict or a model of pydantic. Complexity is
McCabe's as radon counts it, with closures. A circle of modules counts imports in functions and under TYPE_CHECKING.
The core is the package `annot`; the packages beside it are its wings.
"""

import ast
import io
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from command import Command

SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
SMALL, LARGE = 40, 600
COMPLEX, TOO_COMPLEX = 20, 25
FRAGMENT = ("What", "Whether", "How", "Of", "By", "With", "Which", "That", "Where", "When")
"""First words of docstrings that are no sentence and no noun."""
DIALECT = ("what", "stand", "stands", "beside", "nobody", "somebody", "told", "said")
RECORD_BASES = {"NamedTuple", "BaseModel", "TypedDict", "StrictModel", "Section"}


@cache
def parsed(text: str) -> ast.Module:
    """Syntax tree of a module, which must not be changed."""
    return ast.parse(text)


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
    silent = docstring_lines(parsed(text))
    lines: set[int] = set()
    tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in SILENT or token.start[0] in silent:
            continue
        tokens += 1
        lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines), tokens


def is_ours(dotted: str) -> bool:
    """True for a module of the core or of a wing."""
    first = dotted.partition(".")[0]
    return first == "annot" or first.startswith("annot_")


def imports_of(tree: ast.Module) -> Iterator[str]:
    """The dotted names of ours that a module imports, in functions and under TYPE_CHECKING too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and is_ours(node.module):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if is_ours(alias.name))


def room(dotted: str) -> str:
    """The name at the top of the core that a dotted name is in, or its wing."""
    first, _, rest = dotted.partition(".")
    return rest.partition(".")[0] if first == "annot" else first


def import_lines(tree: ast.Module) -> int:
    """Number of lines that imports take."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def records(tree: ast.Module) -> Iterator[int]:
    """Numbers of fields of the records that a module declares."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names = {
                part.id
                for part in ast.walk(ast.Tuple([*node.bases, *node.decorator_list]))
                if isinstance(part, ast.Name)
            }
            if names & {*RECORD_BASES, "dataclass"}:
                yield sum(isinstance(line, ast.AnnAssign) for line in node.body)


def bound_names(tree: ast.Module) -> Iterator[str]:
    """Names that functions bind: arguments, assignments and loops."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from (argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (
                name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            )


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Every string that is a statement of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


class Function(NamedTuple):
    """A function or a method, and its cyclomatic complexity."""

    complexity: int
    name: str


def functions(text: str) -> Iterator[Function]:
    """Functions and methods of a module, with their complexity as radon counts it."""
    from radon.visitors import ComplexityVisitor

    visitor = ComplexityVisitor.from_ast(parsed(text))
    for function in visitor.functions:
        yield Function(function.complexity, function.name)
    for record in visitor.classes:
        yield from (Function(method.complexity, f"{record.name}.{method.name}") for method in record.methods)


def circle(trees: Mapping[Path, ast.Module], toolkit: Path) -> list[str]:
    """Modules that import each other in a circle, in functions and under TYPE_CHECKING too; empty without any."""
    modules = {_dotted(path, toolkit): tree for path, tree in trees.items()}
    edges = {
        module: {other for name in imports_of(tree) if (other := _module_of(name, modules)) and other != module}
        for module, tree in modules.items()
    }
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _dotted(path: Path, toolkit: Path) -> str:
    return ".".join(path.relative_to(toolkit).with_suffix("").parts).removesuffix(".__init__")


def _module_of(name: str, modules: Collection[str]) -> str:
    """The module that an imported name is or is in; empty for the package itself, which imports nothing at once."""
    module = name if name in modules else name.rpartition(".")[0]
    return "" if module == "annot" else module


def ties(toolkit: Path, trees: dict[Path, ast.Module]) -> dict[tuple[str, str], int]:
    """How many imports run from one room or wing to another."""
    rooms = {room(_dotted(path, toolkit)) for path in trees} - {""}
    found: Counter[tuple[str, str]] = Counter()
    for path, tree in trees.items():
        own = room(_dotted(path, toolkit))
        for other in {room(name) for name in imports_of(tree)} & rooms - {own}:
            found[own, other] += 1
    return dict(found)


def loaded_by(checkout: Path, *words: str) -> int:
    """How many modules of ours a command loads in a new study."""
    program = (
        "import sys\nfrom annot.cli.main import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(sum(name.split('.')[0].startswith('annot') for name in sys.modules), file=sys.stderr)\n"
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


COMMAND = Command(__doc__, options={}, smallest="", seconds=lambda options: 8)
COMMAND.parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)


def main() -> None:
    checkout = COMMAND.read().checkout.resolve()
    toolkit = checkout / "toolkit"
    package = toolkit / "annot"
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(toolkit.rglob("*.py"))}
    trees = {path: parsed(text) for path, text in texts.items()}
    counted = {path: code_of(text) for path, text in texts.items()}
    code, tokens = (sum(column) for column in zip(*counted.values(), strict=True))
    core = sum(lines for path, (lines, _) in counted.items() if package in path.parents)
    templates = sum(
        sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())
        for path in sorted((checkout / "templates").rglob("*"))
        if path.suffix in (".j2", ".toml")
    )
    modules = [path for path in texts if path.name != "__init__.py"]
    lines_of = {path: counted[path][0] for path in modules}
    classes: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(str(path.relative_to(toolkit)))
    between = ties(toolkit, trees)
    top = sorted(
        {
            path.name.removesuffix(".py")
            for path in package.iterdir()
            if path.name not in ("__init__.py", "__pycache__", "py.typed")
        }
    )
    print(f"code lines of Python     {code:>8,}")
    print(f"  of the core            {core:>8,}")
    print(f"tokens                   {tokens:>8,}")
    print(f"with lines of templates  {code + templates:>8,}")
    print(f"modules                  {len(modules):>8,}")
    print(f"  below {SMALL} code lines    {sum(lines < SMALL for lines in lines_of.values()):>8,}")
    print(f"  above {LARGE} code lines   {sum(lines > LARGE for lines in lines_of.values()):>8,}")
    imported = sum(map(import_lines, trees.values()))
    print(f"lines of imports         {imported:>8,}  {imported / code:.1%}")
    fields = [count for tree in trees.values() for count in records(tree)]
    print(f"records                  {len(fields):>8,}  with {sum(fields):,} fields")
    complexities = sorted((function for text in texts.values() for function in functions(text)), reverse=True)
    print(f"functions above {COMPLEX}       {sum(function.complexity > COMPLEX for function in complexities):>8,}")
    too_complex = [function for function in complexities if function.complexity > TOO_COMPLEX]
    print(f"functions above {TOO_COMPLEX}       {len(too_complex):>8,}")
    for function in too_complex[:20]:
        print(f"  {function.complexity:>3} {function.name}")
    print(f"circle of modules        {' - '.join(circle(trees, toolkit)) or 'none':>8}")
    strings = [string.strip() for tree in trees.values() for string in docstrings(tree)]
    fragments = sum(string.split(None, 1)[0] in FRAGMENT for string in strings if string)
    print(f"docstrings               {len(strings):>8,}  of which {fragments:,} begin with {', '.join(FRAGMENT)}")
    words = Counter(word.strip(".,;:()`").lower() for string in strings for word in string.split())
    print(f"words in docstrings      {', '.join(f'{word} {words[word]:,}' for word in DIALECT)}")
    names = Counter(name for tree in trees.values() for name in bound_names(tree))
    print(f"commonest bound names    {', '.join(f'{name} {count:,}' for name, count in names.most_common(30))}")
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
