"""The faults that can be planted in the package, and some of them drawn by a seed."""

import ast
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path("toolkit") / "annot"
SWAPPED = {
    **{ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="},
    **{ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"},
}


@dataclass(frozen=True)
class Fault:
    """One change of the source: what is at a place, and what is put there."""

    path: Path
    line: int
    start: int
    end: int
    """Places in the text of the module, in characters."""
    was: str
    put: str
    kind: str


def places_of(text: str) -> list[int]:
    """Where each line begins."""
    starts, at = [], 0
    for line in text.splitlines(keepends=True):
        starts.append(at)
        at += len(line)
    return starts


def faults_of(path: Path, text: str) -> Iterator[Fault]:
    """Every fault that can be planted in a module."""
    tree = ast.parse(text)
    lines, starts = text.splitlines(keepends=True), places_of(text)

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def fault(node: ast.expr, put: str, kind: str) -> Fault:
        start = place(node.lineno, node.col_offset)
        end = place(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return Fault(path, node.lineno, start, end, text[start:end], put, kind)

    silent = {
        id(below)
        for node in ast.walk(tree)
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None), *_guards(node))
        if part is not None
        for below in ast.walk(part)
    }
    defaults = {
        id(default)
        for node in ast.walk(tree)
        if isinstance(node, ast.arguments)
        for default in (*node.defaults, *node.kw_defaults)
        if default is not None
    }
    ends = {
        id(edge)
        for node in ast.walk(tree)
        if isinstance(node, ast.Slice)
        for edge in (node.lower, node.upper)
        if edge is not None
    }
    for node in ast.walk(tree):
        if id(node) in silent or isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = (ast.unparse(side) for side in (node.left, node.comparators[0]))
            yield fault(node, f"({left} {SWAPPED[type(node.ops[0])]} {right})", "comparison")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield fault(node, str(not node.value), "default" if id(node) in defaults else "constant")
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            kind = "default" if id(node) in defaults else "boundary" if id(node) in ends else "constant"
            yield fault(node, f"({ast.unparse(node)} + 1)", kind)
        elif id(node) in ends and isinstance(node, ast.expr) and not isinstance(node, ast.UnaryOp):
            yield fault(node, f"({ast.get_source_segment(text, node)}) - 1", "boundary")
        elif isinstance(node, ast.Name) and node.id in ("min", "max") and isinstance(node.ctx, ast.Load):
            yield fault(node, "max" if node.id == "min" else "min", "boundary")


def _guards(node: ast.AST) -> list[ast.expr]:
    """`@dataclass(frozen=True, slots=True)`, `zip(..., strict=True)`: what would only forbid less changes nothing."""
    marks = node.decorator_list if isinstance(node, ast.ClassDef) else []
    found: list[ast.expr] = [
        mark for mark in marks if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "dataclass"
    ]
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "zip":
        found += [keyword.value for keyword in node.keywords if keyword.arg == "strict"]
    return found


def drawn(checkout: Path, *, seed: int, number: int, only: Collection[str], at: Collection[str]) -> list[Fault]:
    """Faults by a seed: a module is drawn by its lines, then one of its faults.

    at: `module.py:line`, of which all faults are wanted instead.
    """
    if at:
        places = [place.rpartition(":") for place in at]
        modules = sorted({checkout / PACKAGE / path for path, _, _ in places})
        every = [fault for path in modules for fault in faults_of(path, path.read_text(encoding="utf-8"))]
        return [one for one in every if f"{one.path.relative_to(checkout / PACKAGE)}:{one.line}" in at]
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((checkout / PACKAGE).rglob("*.py"))}
    if only:
        texts = {path: text for path, text in texts.items() if path.relative_to(checkout / PACKAGE).parts[0] in only}
    possible = {path: found for path, text in texts.items() if (found := list(faults_of(path, text)))}
    chance = random.Random(seed)
    paths = list(possible)
    weights = [len(texts[path].splitlines()) for path in paths]
    chosen: dict[tuple[Path, int], Fault] = {}
    while len(chosen) < number:
        (path,) = chance.choices(paths, weights)
        fault = chance.choice(possible[path])
        chosen.setdefault((path, fault.start), fault)
    return list(chosen.values())
