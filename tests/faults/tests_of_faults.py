"""Which files of tests reach a module, and running them beside each other until one fails or the time is over."""

import ast
import collections
import contextlib
import importlib
import itertools
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from drawn_faults import PACKAGE

REAL = "not studio and not browser and not postgres and not long"
PASSED, FAILED, NOT_IMPORTED, INTERNAL, NO_SUCH_TEST, NOTHING_SELECTED = 0, 1, 2, 3, 4, 5
"""Exit codes of pytest."""
LINES = 2
"""Processes that run tests side by side."""
TOGETHER = 6
"""Files of tests that a process runs: to start one takes longer than most of them."""
NEVER_LOADED = ("torch", "transformers", "sentence_transformers", "huggingface_hub", "ot", "distributed", "dask")
"""Libraries that the parent of the tests does not import: those of encoders, and those that start threads."""


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


def distances(checkout: Path, folders: Sequence[str]) -> dict[Path, dict[Path, int]]:
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
    for test in tests_of(checkout, folders):
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


def tests_of(checkout: Path, folders: Sequence[str]) -> list[Path]:
    """The files with tests that need no real server, and none of encoders."""
    command = ["-q", "--collect-only", "--ignore", "tests/neural", "-p", "no:cacheprovider", "-m", REAL, *folders]
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
        first = name.partition(".")[0]
        if first not in ours and first not in NEVER_LOADED and not first.startswith("annot_"):
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
    # 4 as well, since files that are named whole are there: what the tests share could not be loaded.
    found = dict.fromkeys((FAILED, NOT_IMPORTED, NO_SUCH_TEST), "found")
    said = ({PASSED: "lived"} | found).get(code, f"the tests ended with {code}")
    return said, seconds, done[2].ru_utime + done[2].ru_stime


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.killpg(group, signal.SIGKILL)
        os.waitpid(group, 0)


def _test_all(checkout: Path, tests: Sequence[Chosen]) -> None:
    """Run files of tests, silently, in two lines side by side; end with the exit code of the first that fails."""
    be_silent(checkout)
    for line in range(LINES):
        if os.fork() == 0:
            _test_line(tests[line::LINES])
    for _ in range(LINES):
        if code := os.waitstatus_to_exitcode(os.wait()[1]):
            os._exit(code if code > 0 else 128 - code)
    os._exit(PASSED)


def _test_line(tests: Sequence[Chosen]) -> NoReturn:
    """Run files of tests, some at a time in a process of their own; end with the exit code of the first that fails.

    Our modules that a file imports are imported here first, once for all files. A file whose tests have other names
    than on record is run whole.
    """
    for some in _batches(tests):
        for name in sorted({name for test, _ in some for name in imports(test) if name.startswith("annot.")}):
            with contextlib.suppress(Exception):  # the test itself will fail, or name is no module
                importlib.import_module(name)
        code = _in_own_process(
            [f"{test}::{name}" if name else str(test) for test, names in some for name in names or ("",)]
        )
        if code == NO_SUCH_TEST:
            code = _in_own_process([str(test) for test, _ in some])
        if code not in (PASSED, NOTHING_SELECTED):
            os._exit(code if code > 0 else 128 - code)
    os._exit(PASSED)


def _batches(tests: Sequence[Chosen]) -> Iterator[Sequence[Chosen]]:
    """Some files at a time, in order. A file may come by its tests first and whole later: never both to one pytest,
    which would put the whole file in the place of its tests."""
    for _, of_kind in itertools.groupby(tests, key=lambda chosen: bool(chosen[1])):
        alike = list(of_kind)
        yield from (alike[at : at + TOGETHER] for at in range(0, len(alike), TOGETHER))


def _in_own_process(tests: Sequence[str]) -> int:
    """The exit code of pytest with these tests, in this order."""
    child = os.fork()
    if child == 0:
        run_pytest("-x", *tests, plugins=[InOrder()])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class InOrder:
    """A plugin of pytest that keeps the order in which the tests were named."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        places = {id(item): place for place, item in enumerate(items)}
        yield
        items.sort(key=lambda item: places[id(item)])


def be_silent(checkout: Path) -> None:
    """What a child process does first: a group of its own, nothing printed, at home in the copy."""
    os.setsid()
    sink = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(sink, stream)
    os.chdir(checkout)


def run_pytest(*arguments: str, plugins: Sequence[object] = ()) -> NoReturn:
    """Run pytest and end with its exit code."""
    code = INTERNAL
    try:
        chosen = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", REAL]
        chosen += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # plugins are loaded already
        code = int(pytest.main([*chosen, *arguments], plugins=plugins))
    finally:
        os._exit(code)
