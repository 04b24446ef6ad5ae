"""A study gives the same files on every machine: with other linear algebra kernels, threads and vector instructions.

Child processes make the judged study of the packaged corpus and write its report. Where all sums have the same last
bits nothing is proved, and the test says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from study_stages import files_of

TESTS = Path(__file__).resolve().parent
QUERY_PAPERS = 3
KERNELS = {"Haswell": "AVX2", "Prescott": "SSE3"}
"""What OpenBLAS calls them, and what the processor must have for each."""
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


def machines() -> dict[str, dict[str, str]]:
    """Environments in which this processor counts like another one, on one thread instead of two."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    has = {name for name, there in __cpu_features__.items() if there}
    one_thread = {"OPENBLAS_NUM_THREADS": "1"}
    found = {kernel: {"OPENBLAS_CORETYPE": kernel, **one_thread} for kernel, needed in KERNELS.items() if needed in has}
    oldest = found.setdefault("Prescott", dict(one_thread))
    oldest["NPY_DISABLE_CPU_FEATURES"] = " ".join(name for name in __cpu_dispatch__ if name in has)
    return found


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


def test_every_machine_writes_the_same_bytes(tmp_path: Path) -> None:
    expected, bits = made(tmp_path / "here", {"OPENBLAS_NUM_THREADS": "2"})
    assert {f"exports/{name}" for name in WRITTEN} <= expected.keys()
    different, sums = {}, {bits}
    for machine, environment in machines().items():
        files, bits = made(tmp_path / machine.replace(" ", "-"), environment)
        sums.add(bits)
        assert files.keys() == expected.keys(), machine
        if names := [name for name in expected if files[name] != expected[name]]:
            different[machine] = names
    assert different == {}
    if len(sums) == 1:
        pytest.skip("no kernel of this processor's linear algebra sums differently")
