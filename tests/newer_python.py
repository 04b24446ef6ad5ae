"""Prints a note once the index has a release of label-studio-sdk that lets numpy go, and so Python 3.14.

It asks for an opencv that holds numpy below 2.3, which has no wheel for that Python. The day it does not, the bound on
Python in pyproject.toml can go. Without an index, or with a slow one, nothing is printed; this never fails.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from packaging.requirements import Requirement

WANTED = "2.3.2"
"""First release of numpy with wheels for Python 3.14."""
WAIT_SECONDS = 20
Ask = Callable[[str], Sequence[str]]
"""Returns what the newest release that fits a requirement asks for. Raises ValueError or OSError."""


def of_index(requirement: str) -> Sequence[str]:
    """The requirements of the newest release on the index."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ]
    command += ["--ignore-installed", "--retries", "0", "--timeout", "5", "--report", "-", requirement]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=WAIT_SECONDS)
    report: dict[str, Any] = json.loads(done.stdout)
    return report["install"][0]["metadata"].get("requires_dist", ())


def lets_go(ask: Ask, package: str = "label-studio-sdk") -> bool:
    """True if neither the newest release of the package nor the opencv that it asks for holds numpy back."""
    for requirement in map(Requirement, ask(package)):
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        plain = f"{requirement.name}{requirement.specifier}"
        if requirement.name == "numpy" and not requirement.specifier.contains(WANTED):
            return False
        if requirement.name.startswith("opencv") and not lets_go(ask, plain):
            return False
    return True


if __name__ == "__main__":
    try:
        if lets_go(of_index):
            print("note: label-studio-sdk lets numpy go; see whether `requires-python` in pyproject.toml can be raised")
    except (OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError):
        pass
