"""The pages of `docs/` as tests use them: their blocks, and a shell to type them into."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
sys.path.insert(0, str(DOCS))

import references  # noqa: E402  # it lies beside the pages

__all__ = ["DOCS", "references", "runnable", "typed"]


def runnable(page: str) -> list[references.Block]:
    """The blocks of a page that are typed into a shell, in order."""
    return [block for block in references.blocks(DOCS / page) if block.language == "sh" and not block.not_run]


def typed(code: str, folder: Path) -> None:
    """Type the block into a shell that stops at the first command that fails; it has to succeed."""
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
