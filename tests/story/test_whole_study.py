"""A whole study with every event that it may meet: the store has what people said.

It is `benchmarks/whole_study.py` at its smallest size, with a server in memory.
"""

import importlib
import sys
from pathlib import Path

import pytest
from memory_studio import studio_at_a_socket
from simulated_log import Plan, differences, final_grades, qrels_differences
from simulated_study import Found, WholeStudy

pytestmark = pytest.mark.benchmark


def test_the_store_has_what_people_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = importlib.import_module("whole_study")
    home = tmp_path / "whole-study"
    (home / ".annot" / "studio").mkdir(parents=True)
    words = script.COMMAND.smallest.replace("FOLDER", str(home)).split()
    monkeypatch.setattr(sys, "argv", ["whole_study", *words])
    ended: list[tuple[WholeStudy, Found]] = []
    with studio_at_a_socket(home / ".annot" / "studio") as studio:

        class InMemory(WholeStudy):
            def run(self) -> Found:
                ended.append((self, super().run()))
                return ended[0][1]

        monkeypatch.setattr(script, "WholeStudy", lambda *given: InMemory(*given, studio.switch))
        with pytest.raises(SystemExit) as end:
            script.main()
    ((study, found),) = ended
    assert (end.value.code, found.differences) == (0, ())
    assert capsys.readouterr().err.startswith("This takes about ")
    assert found.counts["pairs"] == 100
    assert found.counts["kills"] == 2
    # No event passed without a trace.
    assert {what for what, count in found.counts.items() if not count} == set()
    every_difference_is_seen(study, found)


def every_difference_is_seen(study: WholeStudy, found: Found) -> None:
    """An answer more, less or other in the log than in the store, and another final grade, are differences."""
    database, qrels = study.folder / "annot.db", study.folder / "exports" / "qrels.txt"
    plan = Plan.read(study.folder)
    for round in ("judge", "adjudicate", "train"):
        key = min(key for key in study.log.lines if key.round == round)
        line = study.log.lines.pop(key)
        assert len([*differences(study.log, plan, database)]) == 1
        study.log.lines[key] = line
        line.pulled.append(line.pulled[-1])
        assert len([*differences(study.log, plan, database)]) == 1
        line.pulled.pop()
    text = qrels.read_text(encoding="utf-8")
    first, *others = text.splitlines(keepends=True)
    qrels.write_text("".join(others), encoding="utf-8")
    assert len([*qrels_differences(study.log, plan, qrels)]) == 1
    other = f"{first[:-2]}{(int(first[-2]) + 1) % 4}\n"
    qrels.write_text("".join([other, *others]), encoding="utf-8")
    assert len([*qrels_differences(study.log, plan, qrels)]) == 1
    qrels.write_text(text, encoding="utf-8")
    assert len(final_grades(study.log, plan)) == len(text.splitlines())
