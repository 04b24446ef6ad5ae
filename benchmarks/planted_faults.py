"""Which planted faults the unit tests find: `python benchmarks/planted_faults.py [--seed 23] [--only ROOM ...]`.

Draws faults from all comparisons, constants, defaults and boundaries (ends of slices, smallest and largest) of the
package, so that a long room gets more of them, and plants them one at a time in a copy. Then the tests whose imports
reach the changed module run, nearest first, without a real server, browser or PostgreSQL. A fault is found if one of
them fails within the limit; a test that hangs has found nothing unless its own limit ends it. Prints a line a fault
and, at the end, those that nobody found.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import importlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = Path("toolkit") / "annot"
REAL = "not studio and not browser and not postgres and not long"
SWAPPED = {
    **{ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="},
    **{ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"},
}
PASSED, FAILED, NOT_IMPORTED, NOTHING_SELECTED = 0, 1, 2, 5
"""Exit codes of pytest."""
NEVER_LOADED = ("torch", "transformers", "sentence_transformers", "huggingface_hub", "ot", "distributed", "dask")
"""Libraries that the parent of the tests does not import: those of encoders, and those that start threads."""


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
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None), *_dataclass(node))
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


def _dataclass(node: ast.AST) -> list[ast.expr]:
    """`@dataclass(frozen=True, slots=True)`: what would only forbid less changes nothing."""
    marks = node.decorator_list if isinstance(node, ast.ClassDef) else []
    return [mark for mark in marks if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "dataclass"]


def drawn(checkout: Path, *, seed: int, number: int, only: Collection[str]) -> list[Fault]:
    """Faults by a seed: a module is drawn by its lines, then one of its faults."""
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


def imports(path: Path) -> set[str]:
    """The dotted names that a file imports, in functions too; a name from a package may be a module of it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def distances(checkout: Path) -> dict[Path, dict[Path, int]]:
    """How many imports lead from each test file to each module of the package that it reaches."""
    modules = {
        ".".join(path.relative_to(checkout / "toolkit").with_suffix("").parts).removesuffix(".__init__"): path
        for path in (checkout / PACKAGE).rglob("*.py")
    }
    helpers = {path.stem: path for path in (checkout / "tests").rglob("*.py") if not path.name.startswith("test_")}
    known = modules | helpers
    graph = {path: {known[name] for name in imports(path) if name in known} for path in known.values()}
    front = checkout / PACKAGE / "cli"
    graph[front / "main.py"] |= set(front.glob("*.py"))  # it loads them by name
    found: dict[Path, dict[Path, int]] = {}
    for test in tests_of(checkout):
        reached = {known[name]: 1 for name in imports(test) if name in known}
        for folder in test.parents[: len(test.relative_to(checkout).parts) - 2]:
            if (fixtures := folder / "conftest.py").is_file():
                reached = {known[name]: 2 for name in imports(fixtures) if name in known} | reached
        waiting = collections.deque(sorted(reached, key=lambda path: (reached[path], path)))
        while waiting:
            at = waiting.popleft()
            for below in graph[at]:
                if reached[at] + 1 < reached.get(below, 99):
                    reached[below] = reached[at] + 1
                    waiting.append(below)
        found[test] = reached
    return found


def tests_of(checkout: Path) -> list[Path]:
    """The files with tests that need no real server, and none of encoders."""
    command = ["-q", "--collect-only", "--ignore", "tests/neural", "-p", "no:cacheprovider", "-m", REAL, "tests"]
    said = subprocess.run([sys.executable, "-m", "pytest", *command], cwd=checkout, capture_output=True, text=True)
    return [checkout / name for name in sorted(set(re.findall(r"^(tests/.+?\.py)::", said.stdout, re.MULTILINE)))]


def load_libraries(checkout: Path) -> None:
    """Import what the package and its tests import of others, so that no test's time is that of an import."""
    paths = [*(checkout / PACKAGE).rglob("*.py"), *(checkout / "tests").rglob("*.py")]
    ours = {
        "annot",
        *(path.stem for path in [*paths, *(checkout / "docs").glob("*.py"), *(checkout / "benchmarks").glob("*.py")]),
    }
    names = {name for path in paths if "neural" not in path.parts for name in imports(path)}
    warnings.simplefilter("ignore")
    for name in sorted(names):
        module, _, member = name.rpartition(".")
        if not {name.partition(".")[0]} & {*ours, *NEVER_LOADED}:
            with contextlib.suppress(ImportError):
                getattr(importlib.import_module(module or member), member, None)  # some load their members when asked
    assert not [name for name in sys.modules if name.partition(".")[0] in ("annot", "conftest")], "our modules change"


def run_tests(checkout: Path, tests: list[Path], limit: float) -> tuple[str, float, float]:
    """What the tests said of the fault, file by file until one fails, after how many seconds and how many of work."""
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        _test_all(checkout, tests)
    while (done := os.wait4(child, os.WNOHANG))[0] == 0:
        if time.monotonic() - begun > limit:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "not found within the limit", limit, limit
        time.sleep(0.01)
    seconds, code = time.monotonic() - begun, os.waitstatus_to_exitcode(done[1])
    said = {PASSED: "lived", FAILED: "found", NOT_IMPORTED: "found"}.get(code, f"the tests ended with {code}")
    return said, seconds, done[2].ru_utime + done[2].ru_stime


def _test_all(checkout: Path, tests: list[Path]) -> None:
    """Run files of tests, silently and each in a process of its own; end with the exit code of the first that fails.

    Our modules that a file imports are imported here first, once for all files.
    """
    os.setsid()
    sink = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(sink, stream)
    os.chdir(checkout)
    for test in tests:
        for name in sorted(name for name in imports(test) if name.startswith("annot.")):
            with contextlib.suppress(Exception):  # the test itself will fail, or name is no module
                importlib.import_module(name)
        child = os.fork()
        if child == 0:
            import pytest

            code = 3
            try:
                chosen = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", REAL]
                chosen += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # plugins are loaded already
                code = int(pytest.main([*chosen, str(test)]))
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code not in (PASSED, NOTHING_SELECTED):
            os._exit(code if code > 0 else 128 - code)
    os._exit(PASSED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--only", nargs="*", default=(), metavar="ROOM", help="some rooms")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds in which a fault has to be found")
    parser.add_argument("--list", action="store_true", help="print the faults and plant none")
    given = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="planted-"))
    try:
        for name in ("toolkit", "tests", "templates", "guidelines", "docs", "pools", "exports", "benchmarks"):
            shutil.copytree(
                CHECKOUT / name, scratch / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        for path in CHECKOUT.iterdir():
            if path.is_file():
                shutil.copy(path, scratch / path.name)
        sys.path.insert(0, str(scratch / "toolkit"))
        os.environ["PYTHONPATH"] = str(scratch / "toolkit")
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        os.environ.setdefault("ANNOT_SHARED", str((CHECKOUT / ".." / "shared").resolve()))
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(scratch / "tests"))
        load_libraries(scratch)
        reach = distances(scratch)
        living: list[str] = []
        for fault in drawn(scratch, seed=given.seed, number=given.faults, only=given.only):
            place = f"{fault.path.relative_to(scratch / PACKAGE)}:{fault.line}"
            said = f"{place}: {' '.join(fault.was.split())!r} -> {' '.join(fault.put.split())!r} ({fault.kind})"
            if given.list:
                print(said)
                continue
            tests = sorted(
                (test for test, reached in reach.items() if fault.path in reached),
                key=lambda test: (reach[test][fault.path], len(reach[test])),
            )
            text = fault.path.read_text(encoding="utf-8")
            fault.path.write_text(text[: fault.start] + fault.put + text[fault.end :], encoding="utf-8")
            verdict, seconds, worked = (
                run_tests(scratch, tests, given.limit) if tests else ("lived: no test reaches it", 0.0, 0.0)
            )
            fault.path.write_text(text, encoding="utf-8")
            print(f"{verdict:<27} {seconds:5.1f} s ({worked:4.1f} of work)  {said}", flush=True)
            if verdict != "found":
                living.append(said)
        if not given.list:
            print(f"{given.faults - len(living)} of {given.faults} found within {given.limit:g} s; the others:")
            print("\n".join(living))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
