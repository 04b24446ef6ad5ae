"""A whole study through a real server, with every event that a study may meet: the store has what people said."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fixtures_studio import Studio, template_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from simulated_log import Plan, differences, final_grades, qrels_differences
from whole_study import Found, Size, WholeStudy

pytestmark = pytest.mark.studio


@pytest.fixture
def folder(studio: Studio) -> Iterator[Path]:
    """A study's folder with a server of its own, which may be restarted, made from the template that `studio` keeps."""
    made = Path(tempfile.mkdtemp(prefix="annot-whole-study-"))
    shutil.copytree(template_folder(), made / ".annot" / "studio")
    yield made
    shutil.rmtree(made, ignore_errors=True)


def test_the_store_has_what_people_said(folder: Path) -> None:
    size = Size(query_facets=4, candidates=25, assessors=4, gold=4, kills=2, restarts=1, seed=1)
    study = WholeStudy(folder, size, print)
    try:
        found = study.run()
    finally:
        study.stop()
    assert found.differences == ()
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
