"""Which planted faults the unit tests find: `python benchmarks/planted_faults.py [--seed 23] [--only ROOM ...]`.

Draws faults from all comparisons, constants, defaults and boundaries (ends of slices, smallest and largest) of the
package, a long room gets more of them, and plants them one at a time in a copy. Tests whose imports reach the changed
module run, nearest first, without a real server, browser or PostgreSQL. A fault is found if one fails within the limit.
`--record FILE` runs the unit tests once under `coverage` (`pip install coverage`) and keeps which test runs which line,
and in how many seconds; with `--by FILE` a fault then meets first the tests that run its line, the quickest first.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from command import Command
from drawn_faults import PACKAGE, Fault, drawn
from recorded_lines import Record, record
from tests_of_faults import Chosen, distances, load_libraries, run_tests

CHECKOUT = Path(__file__).resolve().parent.parent


COMMAND = Command(
    __doc__,
    options={"seed": 23, "faults": 60, "limit": 10.0, "list": False, "record": None, "by": None, "tests": ["tests"]},
    smallest="--faults 1 --only base --tests tests/base",
    seconds=lambda options: 5 if options.list else 1800 if options.record else 25 + 5 * options.faults,
)
"""`--limit`: seconds in which one of `--tests` has to find a fault. `--list` prints the faults and plants none."""
COMMAND.parser.add_argument("--only", nargs="*", default=(), metavar="ROOM", help="some rooms")
COMMAND.parser.add_argument("--at", nargs="*", default=(), metavar="MODULE:LINE", help="all faults of these lines")


def main() -> None:
    options = COMMAND.read()
    scratch = Path(tempfile.mkdtemp(prefix="planted-"))
    try:
        copy_checkout(scratch)
        faults = drawn(scratch, seed=options.seed, number=options.faults, only=options.only, at=options.at)
        if options.list:
            print("\n".join(described(fault, scratch) for fault in faults))
            return
        load_libraries(scratch)
        reach = distances(scratch, options.tests)
        if options.record:
            record(scratch, list(reach), options.record)
            return
        # The tests were compiled above, when they were listed; of a module with a fault nothing is kept.
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True
        recorded = Record(scratch, options.by) if options.by else None
        living: list[str] = []
        for fault in faults:
            tests: list[Chosen] = recorded.tests_for(fault, reach) if recorded else []
            tests += sorted(
                ((test, ()) for test, reached in reach.items() if fault.path in reached),
                key=lambda chosen: (reach[chosen[0]][fault.path], len(reach[chosen[0]])),
            )
            text = fault.path.read_text(encoding="utf-8")
            fault.path.write_text(text[: fault.start] + fault.put + text[fault.end :], encoding="utf-8")
            verdict, seconds, worked = (
                run_tests(scratch, tests, options.limit) if tests else ("lived: no test reaches it", 0.0, 0.0)
            )
            fault.path.write_text(text, encoding="utf-8")
            print(f"{verdict:<27} {seconds:5.1f} s ({worked:4.1f} of work)  {described(fault, scratch)}", flush=True)
            if verdict != "found":
                living.append(described(fault, scratch))
        print(f"{len(faults) - len(living)} of {len(faults)} found within {options.limit:g} s; the others:")
        print("\n".join(living))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def copy_checkout(scratch: Path) -> None:
    """Copy what the tests need, and let Python import the package from the copy."""
    for name in ("toolkit", "tests", "templates", "guidelines", "docs", "pools", "exports", "benchmarks"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(CHECKOUT / name, scratch / name, symlinks=True, ignore=ignore)
    for path in CHECKOUT.iterdir():
        if path.is_file():
            shutil.copy(path, scratch / path.name)
    sys.path[:0] = [str(scratch / "tests"), str(scratch / "toolkit")]
    os.environ["PYTHONPATH"] = str(scratch / "toolkit")
    os.environ.setdefault("ANNOT_SHARED", str((CHECKOUT / ".." / "shared").resolve()))


def described(fault: Fault, scratch: Path) -> str:
    """Place of a fault, and the change."""
    place = f"{fault.path.relative_to(scratch / PACKAGE)}:{fault.line}"
    return f"{place}: {' '.join(fault.was.split())!r} -> {' '.join(fault.put.split())!r} ({fault.kind})"


if __name__ == "__main__":
    main()
