"""Which planted faults the unit tests find: `python benchmarks/planted_faults.py [--seed 23] [--only ROOM ...]`.

`--record FILE` first: it runs the unit tests once under `coverage` (`pip install coverage`) and keeps which test runs
which line, and in how many seconds; a quarter of an hour. With `--by FILE` a fault then meets first the tests that run
its line, the quickest first. Without it the tests whose imports lead to the module come, nearest first.

Draws faults from all comparisons, constants, defaults and boundaries (ends of slices, smallest and largest) of the
package, so that a long room gets more of them, and plants them one at a time in a copy. Then the tests whose imports
reach the changed module run, without a real server, browser or PostgreSQL. A fault is found if one of them fails
within the limit; a test that hangs has found nothing unless its own limit ends it. Prints a line for each fault and,
at the end, those that were not found.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import hashlib
import importlib
import json
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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = Path("toolkit") / "annot"
REAL = "not studio and not browser and not postgres and not long"
SWAPPED = {
    **{ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="},
    **{ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"},
}
PASSED, FAILED, NOT_IMPORTED, INTERNAL, NO_SUCH_TEST, NOTHING_SELECTED = 0, 1, 2, 3, 4, 5
"""Exit codes of pytest."""
LINES = 2
"""Processes that run tests side by side."""
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


Chosen = tuple[Path, Sequence[str]]
"""A file of tests, and the names of those to run; none for all."""


def run_tests(checkout: Path, tests: Sequence[Chosen], limit: float) -> tuple[str, float, float]:
    """What the tests said of the fault, file by file until one fails, after how many seconds and how many of work."""
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            _test_all(checkout, tests)
        finally:  # an error here must not reach our caller's clean-up: the copy is the parent's
            os._exit(INTERNAL)
    while (done := os.wait4(child, os.WNOHANG))[0] == 0:
        if time.monotonic() - begun > limit:
            _end(child)
            return "not found within the limit", limit, limit
        time.sleep(0.01)
    _end(child)
    seconds, code = time.monotonic() - begun, os.waitstatus_to_exitcode(done[1])
    said = {PASSED: "lived", FAILED: "found", NOT_IMPORTED: "found"}.get(code, f"the tests ended with {code}")
    return said, seconds, done[2].ru_utime + done[2].ru_stime


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.killpg(group, signal.SIGKILL)
        os.waitpid(group, 0)


def _test_all(checkout: Path, tests: Sequence[Chosen]) -> None:
    """Run files of tests, silently, in two lines side by side; end with the exit code of the first that fails."""
    _be_silent(checkout)
    for line in range(LINES):
        if os.fork() == 0:
            _test_line(tests[line::LINES])
    for _ in range(LINES):
        if code := os.waitstatus_to_exitcode(os.wait()[1]):
            os._exit(code if code > 0 else 128 - code)
    os._exit(PASSED)


def _test_line(tests: Sequence[Chosen]) -> NoReturn:
    """Run files of tests, each in a process of its own; end with the exit code of the first that fails.

    Our modules that a file imports are imported here first, once for all files. A file whose tests have other names
    than on record is run whole.
    """
    for test, names in tests:
        for name in sorted(name for name in imports(test) if name.startswith("annot.")):
            with contextlib.suppress(Exception):  # the test itself will fail, or name is no module
                importlib.import_module(name)
        code = _in_own_process("-x", *(f"{test}::{name}" for name in names) if names else (str(test),))
        if code == NO_SUCH_TEST:
            code = _in_own_process("-x", str(test))
        if code not in (PASSED, NOTHING_SELECTED):
            os._exit(code if code > 0 else 128 - code)
    os._exit(PASSED)


def _in_own_process(*arguments: str) -> int:
    """The exit code of pytest with these arguments."""
    child = os.fork()
    if child == 0:
        _test(*arguments)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _be_silent(checkout: Path) -> None:
    """What a child process does first: a group of its own, nothing printed, at home in the copy."""
    os.setsid()
    sink = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(sink, stream)
    os.chdir(checkout)


def _test(*arguments: str, plugins: Sequence[object] = ()) -> NoReturn:
    """Run pytest and end with its exit code."""
    import pytest

    code = INTERNAL
    try:
        chosen = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", REAL]
        chosen += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # plugins are loaded already
        code = int(pytest.main([*chosen, *arguments], plugins=plugins))
    finally:
        os._exit(code)


class Recorder:
    """A plugin of pytest that tells `coverage` which test runs, and writes how long each took."""

    def __init__(self, coverage: Any, seconds: Path) -> None:
        self._coverage = coverage
        self._seconds = seconds

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._coverage.switch_context(f"setup|{nodeid}")

    def pytest_runtest_call(self, item: Any) -> None:
        self._coverage.switch_context(f"call|{item.nodeid}")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when != "teardown":
            with self._seconds.open("a", encoding="utf-8") as out:
                out.write(json.dumps([report.nodeid, report.when, report.duration]) + "\n")

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()


def record(checkout: Path, tests: Sequence[Path], out: Path) -> None:
    """Run each file of tests in a process of its own, two at once, and write which lines each test runs."""
    from coverage import Coverage

    folder = checkout / "recorded"
    folder.mkdir()
    seconds = folder / "seconds.jsonl"
    waiting, running = list(tests), 0
    while waiting or running:
        if not waiting or running == 2:
            os.wait()
            running -= 1
            continue
        test = waiting.pop()
        running += 1
        if os.fork() == 0:
            _be_silent(checkout)
            own = Coverage(data_file=str(folder / f"lines.{os.getpid()}"), source=[str(checkout / PACKAGE)])
            own.start()
            _test(str(test), plugins=[Recorder(own, seconds)])
    both = Coverage(data_file=str(folder / "lines"))
    both.combine([str(path) for path in folder.glob("lines.*")])
    both.save()
    took: dict[str, float] = collections.defaultdict(float)
    prepared: dict[str, float] = collections.defaultdict(float)
    for line in seconds.read_text(encoding="utf-8").splitlines():
        name, when, duration = json.loads(line)
        took[name] += duration
        if when == "setup":
            file = name.partition("::")[0]
            prepared[file] = max(prepared[file], duration)
    data = both.get_data()
    lines = {
        str(Path(file).relative_to(checkout)): data.contexts_by_lineno(file) for file in sorted(data.measured_files())
    }
    out.write_text(
        json.dumps({"digests": digests_of(checkout), "seconds": took, "prepared": prepared, "lines": lines}),
        encoding="utf-8",
    )


def digests_of(checkout: Path) -> dict[str, str]:
    """Say which state of each module was recorded."""
    modules = sorted((checkout / PACKAGE).rglob("*.py"))
    return {str(path.relative_to(checkout)): hashlib.sha256(path.read_bytes()).hexdigest() for path in modules}


class Record:
    """Which test runs which line, as `--record` wrote it."""

    def __init__(self, checkout: Path, file: Path) -> None:
        read = json.loads(file.read_text(encoding="utf-8"))
        self._checkout = checkout
        self._seconds: dict[str, float] = read["seconds"]
        self._prepared: dict[str, float] = read["prepared"]
        self._lines: dict[str, dict[str, list[str]]] = read["lines"]
        now = digests_of(checkout)
        self._changed = {name for name, digest in read["digests"].items() if now.get(name) != digest}
        """Modules that were another text then: each of their lines may be run by any test that ran one."""

    def tests_for(self, fault: Fault, reach: Mapping[Path, Mapping[Path, int]]) -> list[Chosen]:
        """The tests that run the lines on which the fault acts, the quickest file first.

        Before them come the files that import the module and are younger than the record. reach: from `distances`.
        """
        recorded = {name.partition("::")[0] for name in self._seconds}
        younger = [
            (test, ())
            for test, reached in reach.items()
            if reached.get(fault.path) == 1 and str(test.relative_to(self._checkout)) not in recorded
        ]
        names: dict[str, set[str]] = collections.defaultdict(set)
        whole: set[str] = set()
        for path, line in self._acts_on(fault):
            for context in self._run_at(path, line):
                when, _, name = context.partition("|")
                if name:
                    names[name.partition("::")[0]].add(name)
                    if when == "setup":  # of a fixture that may serve all tests of the file
                        whole.add(name.partition("::")[0])
        chosen = []
        for file, own in names.items():
            if not (self._checkout / file).is_file():  # removed since
                continue
            if file in whole:
                own = own | {name for name in self._seconds if name.startswith(f"{file}::")}
            quickest = sorted(own, key=lambda name: (self._seconds[name], name))
            budget, taken = 3.0, []
            for name in quickest:
                budget -= self._seconds[name]
                if taken and budget < 0:
                    break
                taken.append(name)
            cost = self._prepared[file] + sum(self._seconds[name] for name in taken)
            chosen.append((cost, file, [name.partition("::")[2] for name in taken]))
        return [*younger, *((self._checkout / file, taken) for _, file, taken in sorted(chosen))]

    def _run_at(self, path: Path, line: int) -> Iterable[str]:
        name = str(path.relative_to(self._checkout))
        lines = self._lines.get(name, {})
        if name in self._changed:
            return {context for contexts in lines.values() for context in contexts}
        return lines.get(str(line), ())

    def _acts_on(self, fault: Fault) -> set[tuple[Path, int]]:
        """The lines that run differently: those of the statement, of the function whose default it is, or of the
        functions that use the constant; all of the module where that is not known."""
        tree = ast.parse(fault.path.read_text(encoding="utf-8"))
        around = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt) and _first_line(node) <= fault.line <= (node.end_lineno or 0)
        ]
        inner = around[-1]
        functions = [node for node in around if isinstance(node, ast.FunctionDef)]
        if functions and inner is not functions[-1]:
            end = inner.body[0].lineno - 1 if isinstance(body := getattr(inner, "body", None), list) and body else None
            return {(fault.path, line) for line in range(inner.lineno, (end or inner.end_lineno or 0) + 1)}
        if functions:
            own = functions[-1]
            return {(fault.path, line) for line in range(own.body[0].lineno, (own.end_lineno or 0) + 1)}
        targets = [inner.target] if isinstance(inner, ast.AnnAssign) else getattr(inner, "targets", [])
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        used = {
            (path, node.lineno)
            for path in (self._checkout / PACKAGE).rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names)
            or (isinstance(node, ast.Attribute) and node.attr in names)
        }
        return used or {(fault.path, line) for line in range(1, len(fault.path.read_text().splitlines()) + 1)}


def _first_line(node: ast.stmt) -> int:
    """Where a statement begins, its decorators counted in."""
    return min(below.lineno for below in (node, *getattr(node, "decorator_list", ())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--only", nargs="*", default=(), metavar="ROOM", help="some rooms")
    parser.add_argument("--at", nargs="*", default=(), metavar="MODULE:LINE", help="all faults of these lines instead")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds in which a fault has to be found")
    parser.add_argument("--list", action="store_true", help="print the faults and plant none")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write which test runs which line, and plant none")
    parser.add_argument("--by", type=Path, metavar="FILE", help="what --record wrote")
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
        os.environ.setdefault("ANNOT_SHARED", str((CHECKOUT / ".." / "shared").resolve()))
        sys.path.insert(0, str(scratch / "tests"))
        load_libraries(scratch)
        reach = distances(scratch)
        if given.record:
            record(scratch, list(reach), given.record)
            return
        # The tests were compiled above, when they were listed; of a module with a fault nothing is kept.
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True
        recorded = Record(scratch, given.by) if given.by else None
        living: list[str] = []
        faults = drawn(scratch, seed=given.seed, number=given.faults, only=given.only, at=given.at)
        for fault in faults:
            place = f"{fault.path.relative_to(scratch / PACKAGE)}:{fault.line}"
            said = f"{place}: {' '.join(fault.was.split())!r} -> {' '.join(fault.put.split())!r} ({fault.kind})"
            if given.list:
                print(said)
                continue
            tests: list[Chosen] = recorded.tests_for(fault, reach) if recorded else []
            tests += sorted(
                ((test, ()) for test, reached in reach.items() if fault.path in reached),
                key=lambda chosen: (reach[chosen[0]][fault.path], len(reach[chosen[0]])),
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
            print(f"{len(faults) - len(living)} of {len(faults)} found within {given.limit:g} s; the others:")
            print("\n".join(living))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
