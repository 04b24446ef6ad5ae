"""Make the frozen studies of a release: `python tests/frozen/make.py COMMIT` writes `tests/frozen/MAJOR.MINOR/`.

The commit is checked out into a folder of its own and installed in a fresh environment, so that nothing of the present
tree takes part. Run it once for each release, at its commit; it needs the package index, PostgreSQL and some minutes.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
MOST = 2_000_000
"""Bytes of all frozen studies of a release."""


def main(commit: str) -> None:
    """Write the studies of the release at this commit, in place of earlier ones of the same release."""
    with tempfile.TemporaryDirectory(prefix="annot-frozen-") as place:
        tree, environment, made = (Path(place) / name for name in ("tree", "environment", "made"))
        subprocess.run(["git", "worktree", "add", "--detach", tree, commit], cwd=CHECKOUT, check=True)
        try:
            subprocess.run([sys.executable, "-m", "venv", environment], check=True)
            install = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "-c", "constraints.txt"]
            subprocess.run([*install, "--editable", ".[dev]"], cwd=tree, check=True)
            paths = os.pathsep.join(str(tree / "tests" / name) for name in ("", "story", "opinions"))
            story = [environment / "bin" / "python", tree / "tests" / "frozen" / "story.py", made]
            subprocess.run(story, cwd=tree, env={**os.environ, "PYTHONPATH": paths}, check=True)
            version = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=CHECKOUT, check=True)
        size = sum(path.stat().st_size for path in made.rglob("*") if path.is_file())
        if size > MOST:
            sys.exit(f"{size:,} bytes, expected at most {MOST:,}")
        target = HERE / version.rpartition(".")[0]
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(made, target)
        print(f"{target}: {size:,} bytes, made by {version} at {commit}")


if __name__ == "__main__":
    main(sys.argv[1])
