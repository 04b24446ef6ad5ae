"""Two processes at one study in the same second: each task is sent once, and both are told the truth."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

from fixtures_studio import GUARD, Studio
from studies import Study, make_study


def started(study: Study, *words: str) -> subprocess.Popen[str]:
    program = [sys.executable, "-c", "from annot.cli.main import run; run()"]
    return subprocess.Popen(
        [*program, *words, "-C", str(study.folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def assert_each_task_once(study: Study) -> None:
    expected = study.planned()
    assert {name: len(ids) for name, ids in study.projects().items()} == dict.fromkeys(expected, 1)
    for name, pairs in expected.items():
        there = Counter(task["data"]["pair_id"] for task in study.on_server(name))
        assert there == Counter("/".join(pair) for pair in pairs)
        assert set(study.in_store(name)) == set(there)


def test_two_pushes_within_a_second_send_each_task_once(at_a_socket: Studio, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", at_a_socket, name="at-once", per_method=4)
    both = [started(study, "push"), started(study, "push")]
    told = [process.communicate(timeout=GUARD) for process in both]
    codes = sorted(process.returncode for process in both)
    # The second is refused, or comes when the first is over, and then finds everything sent.
    assert codes in ([0, 1], [0, 0])
    for process, (out, err) in zip(both, told, strict=True):
        assert ("is changing this study" in err) == (process.returncode == 1)
        assert bool(out) == (process.returncode == 0)
    assert_each_task_once(study)
