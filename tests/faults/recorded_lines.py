"""Which test runs which line of the package, recorded once under `coverage`, and the tests that a fault meets first."""

import ast
import collections
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from drawn_faults import PACKAGE, Fault
from tests_of_faults import Chosen, be_silent, run_pytest


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
            be_silent(checkout)
            own = Coverage(data_file=str(folder / f"lines.{os.getpid()}"), source=[str(checkout / PACKAGE)])
            own.start()
            run_pytest(str(test), plugins=[Recorder(own, seconds)])
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
        """The tests that run the lines on which the fault acts: first those of files that import the module themselves,
        the quickest file first.

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
        if not names:  # of lines that run only when the module is loaded
            direct = {str(test.relative_to(self._checkout)) for test, of in reach.items() if of.get(fault.path) == 1}
            for name in self._seconds:
                if (file := name.partition("::")[0]) in direct:
                    names[file].add(name)
        chosen: list[tuple[bool, float, str, list[str]]] = []
        if self._at_import(fault):  # which no test runs as its own: each that imports the module may ask for it
            for test, reached in reach.items():
                file = str(test.relative_to(self._checkout))
                cost = sum(seconds for name, seconds in self._seconds.items() if name.startswith(f"{file}::"))
                if reached.get(fault.path) == 1 and file in recorded and cost < 3.0:
                    names.pop(file, None)
                    chosen.append((False, cost, file, []))
        for file, own in names.items():
            if not (self._checkout / file).is_file():  # removed since
                continue
            if file in whole:
                own = own | {name for name in self._seconds if name.startswith(f"{file}::")}
            quickest = sorted(own, key=lambda name: (self._seconds[name], name))
            budget = 3.0
            taken: list[str] = []
            for name in quickest:
                budget -= self._seconds[name]
                if taken and budget < 0:
                    break
                taken.append(name)
            cost = self._prepared[file] + sum(self._seconds[name] for name in taken)
            further = reach[self._checkout / file].get(fault.path) != 1
            chosen.append((further, cost, file, [name.partition("::")[2] for name in taken]))
        return [*younger, *((self._checkout / file, taken) for *_, file, taken in sorted(chosen))]

    @staticmethod
    def _at_import(fault: Fault) -> bool:
        """Whether it is in no body of a function: in a decorator, a default, a class or a constant."""
        tree = ast.parse(fault.path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        return not any(one.body[0].lineno <= fault.line <= (one.end_lineno or 0) for one in functions)

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
            body = getattr(inner, "body", None)
            end = body[0].lineno - 1 if isinstance(body, list) and body else None
            return {(fault.path, line) for line in range(inner.lineno, (end or inner.end_lineno or 0) + 1)}
        if functions:
            own = functions[-1]
            return {(fault.path, line) for line in range(own.body[0].lineno, (own.end_lineno or 0) + 1)}
        targets = [inner.target] if isinstance(inner, ast.AnnAssign) else getattr(inner, "targets", [])
        names = {below.id for target in targets for below in ast.walk(target) if isinstance(below, ast.Name)}
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
    marks: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(node.lineno, *(mark.lineno for mark in marks)) if marks else node.lineno
