"""A study gives the same files on every machine: with other linear algebra kernels, threads and vector instructions.

Child processes make the judged study of the packaged corpus and write its report. Where all sums have the same last
bits nothing is proved, and the test says so.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from study_stages import files_of

TESTS = Path(__file__).resolve().parent
QUERY_PAPERS = 3
KERNEL, NEEDED = "Prescott", "SSE3"
"""The oldest kernel of OpenBLAS, and what the processor must have for it."""
WRITTEN = (
    "agreement.json",
    "assessor-effect.json",
    "assessors.json",
    "evaluation.json",
    "report.html",
    "report.md",
    "report.tex",
)

PROGRAM = """
import json, sys
from pathlib import Path
import numpy as np
from annot.base.stats.values import to_json
from annot.steps import agreement, publish
from study_stages import advance, published

ws = advance(published(int(sys.argv[2])), Path(sys.argv[1]), after=None, to="measured")
publish.write_report(ws)
looked = agreement.by_assessor(ws, queries=())
(ws.exports / "assessors.json").write_text(json.dumps(to_json(looked), indent=1))
numbers = np.random.default_rng(1).random((60, 500))
print((numbers @ numbers.T).tobytes().hex())
"""


def oldest_machine() -> dict[str, str]:
    """Environment in which this processor counts like the oldest one, on one thread instead of two."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    has = {name for name, there in __cpu_features__.items() if there}
    one_thread = {"OPENBLAS_NUM_THREADS": "1"}
    kernel = {"OPENBLAS_CORETYPE": KERNEL} if NEEDED in has else {}
    return {**one_thread, **kernel, "NPY_DISABLE_CPU_FEATURES": " ".join(sorted(has & {*__cpu_dispatch__}))}


def made(folder: Path, environment: dict[str, str]) -> tuple[dict[str, bytes], str]:
    """The files of a study made in another process, and the last bits of its sums."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), str(QUERY_PAPERS)],
        env={**os.environ, "PYTHONPATH": str(TESTS), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files = {
        f"{kind}/{name}": content for kind in ("pools", "exports") for name, content in files_of(folder / kind).items()
    }
    return files, done.stdout


def test_an_old_machine_writes_the_same_bytes(tmp_path: Path) -> None:
    expected, bits = made(tmp_path / "here", {"OPENBLAS_NUM_THREADS": "2"})
    assert {f"exports/{name}" for name in WRITTEN} <= expected.keys()
    files, other_bits = made(tmp_path / "old", oldest_machine())
    assert files.keys() == expected.keys()
    assert [name for name in expected if files[name] != expected[name]] == []
    if bits == other_bits:
        pytest.skip("no kernel of this processor's linear algebra sums differently")
