"""Cranfield's questions from corpus to release: topics that are texts, judged whole, whose ids are read back by others.

The server is one in memory.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from annot.study.workspace import Workspace
from cranfield_study import SYSTEMS, CranfieldStudy
from judged_whole import read_cranfield
from memory_studio import StudioOfMemory
from needs import unavailable

QUESTIONS, PER_METHOD = 8, 4
PAIRS = QUESTIONS * 4 * PER_METHOD


@pytest.fixture(scope="module")
def planned(shared: Path, memory: StudioOfMemory, tmp_path_factory: pytest.TempPathFactory) -> CranfieldStudy:
    """Eight questions, pooled, and given to two people."""
    if not (shared / "cranfield").is_dir():
        unavailable(f"no cranfield/ in {shared}")
    folder = tmp_path_factory.mktemp("cranfield")

    def start(ws: Workspace) -> None:
        ws.cache.mkdir(exist_ok=True)
        (ws.cache / "studio").symlink_to(memory.folder)

    study = CranfieldStudy(
        folder / "study",
        read_cranfield(shared / "cranfield"),
        asked=QUESTIONS,
        per_method=PER_METHOD,
        seed=13,
        start=start,
        tell=print,
    )
    study.begun()
    return study


@pytest.fixture(scope="module")
def study(planned: CranfieldStudy) -> CranfieldStudy:
    """The same, judged by two people who err, settled, evaluated, released."""
    planned.ended()
    return planned


def test_documents_without_a_text_are_counted_and_left_out(study: CranfieldStudy) -> None:
    # 471 and 995 of the 1,400 are empty.
    assert (study.found.counts["documents"], study.found.counts["without a text"]) == (1398, 2)


def test_every_pair_has_a_final_grade_and_both_people_judged_it(study: CranfieldStudy) -> None:
    counts = study.found.counts
    assert counts["pairs"] == PAIRS
    assert (counts["judgements"], counts["final grades"]) == (2 * PAIRS, PAIRS)
    assert 0 < counts["adjudicated"] < PAIRS
    assert 0.9 < study.found.right < 1


def test_the_figures_are_those_of_ir_measures(study: CranfieldStudy) -> None:
    lines = json.loads((study.folder / "exports" / "evaluation.json").read_text(encoding="utf-8"))["lines"]
    values = {line["run"]: line["values"] for line in lines if line["convention"] == "trec"}
    means = {one.system: one.study for one in study.found.biases if one.measure == "AP"}
    assert {system: values[system]["AP"] for system in SYSTEMS} == pytest.approx(means, abs=1e-9)


def test_the_release_holds_against_its_study_and_ir_datasets_reads_it(study: CranfieldStudy) -> None:
    assert study.found.problems == []
