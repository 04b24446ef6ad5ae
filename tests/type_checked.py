"""What mypy says of a program, with this project's settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def complaints(program: str, folder: Path) -> list[str]:
    """The errors in `program`, which is written to `folder`, a line each."""
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(path)],
        cwd=CHECKOUT, capture_output=True, text=True,
    )  # fmt: skip
    return [line for line in checked.stdout.splitlines() if f"{path.name}:" in line and ": error: " in line]
