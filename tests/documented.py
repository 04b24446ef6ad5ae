"""The pages of `docs/` as tests use them: their blocks, and a shell to type them into."""

import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
DOCS = CHECKOUT / "docs"
sys.path.insert(0, str(DOCS))

import references  # noqa: E402  # it is beside the pages

__all__ = ["CHECKOUT", "DOCS", "references", "runnable", "shows", "typed"]


def runnable(page: Path) -> list[references.Block]:
    """The blocks of a page that are typed into a shell, in order."""
    return [block for block in references.blocks(page) if block.language == "sh" and not block.not_run]


def typed(code: str, folder: Path) -> str:
    """Type the block into a shell that stops at the first command that fails; it has to succeed. Returns its stdout."""
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=folder,
        env={**os.environ, "PATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def shows(printed: str, expected: str) -> bool:
    """Whether the expected lines are in what was printed, one after the other; a line `...` stands for any lines, and
    `...` at the end of a line for any rest of it."""
    lines = [line.rstrip() for line in printed.splitlines()]
    at, anywhere = 0, True
    for line in map(str.rstrip, expected.splitlines()):
        if line.strip() == "...":
            anywhere = True
            continue
        found = [n for n in range(at, len(lines)) if _is(lines[n], line) and (anywhere or n == at)]
        if not found:
            return False
        at, anywhere = found[0] + 1, False
    return True


def _is(line: str, expected: str) -> bool:
    begins, rest = expected.removesuffix("..."), expected.endswith("...")
    return line.startswith(begins) if rest else line == expected
