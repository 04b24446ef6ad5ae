"""Which planted faults the unit tests find: `python benchmarks/planted_faults.py [--seed 23] [--only ROOM ...]`.

`--record FILE` first: it runs the unit tests once under `coverage` (`pip install coverage`) and keeps which test runs
which line, and in how many seconds; a quarter of an hour. With `--by FILE` a fault then meets first the tests that run
its line: those that import the module themselves, then the others, the quickest first. Without it the tests whose
imports lead to the module come, nearest first.

Draws faults from all comparisons, constants, defaults and boundaries (ends of slices, smallest and largest) of the
package, so that a long room gets more of them, and plants them one at a time in a copy. Then the tests whose imports
reach the changed module run, without a real server, browser or PostgreSQL. A fault is found if one of them fails
within the limit; a test that hangs has found nothing unless its own limit ends it. Prints a line for each fault and,
at the end, those that were not found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from drawn_faults import PACKAGE, drawn
from recorded_lines import Record, record
from tests_of_faults import Chosen, distances, load_libraries, run_tests

CHECKOUT = Path(__file__).resolve().parent.parent


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
