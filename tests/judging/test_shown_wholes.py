"""What a task of a pair judged whole may show otherwise than today: what the lead has set since, and nothing else."""

from pathlib import Path
from typing import Any

import pytest
from annot.base.records import PairKey
from annot.base.words import ENGLISH
from annot.judging.exchange.displayed_content import changed_tasks
from annot.judging.exchange.outgoing import TaskMaterial, form_of, tasks_of
from annot.judging.exchange.servers import PARTS
from annot.labelstudio.studio_records import PulledTask
from annot.labelstudio.tasks import pair_key
from annot.store.models import Project
from annot.study.workspace import Workspace
from study_stages import copied
from topic_study import OfTopics

ASKED = PairKey("T1", "d01")
PROJECT = Project(1, "judge", "a1", "one", "http://studio.example", "1.23.2", 7, 1, None)
REST = '<details class="a-rest"><summary accesskey="m">The rest of the document: 2 words</summary>'


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return copied(OfTopics(), "planned", tmp_path_factory.mktemp("wholes") / "study")


def task_of(ws: Workspace) -> dict[str, Any]:
    return tasks_of(ws, TaskMaterial(ws, {ASKED.pair}), [ASKED], words=ENGLISH)[ASKED]


def as_sent(ws: Workspace, html: str) -> bool:
    key = pair_key(*ASKED)
    data = {**task_of(ws)["data"], "pair_html": html}
    return not changed_tasks(ws, PROJECT, [PulledTask(key, (), data=data, task_id=1)], {key: ASKED})


@pytest.mark.parametrize(
    ("old", "new", "passes"),
    [
        ("", "", True),
        (" open>", ">", True),
        ("How d01.", "How <mark>d01</mark>.", True),
        ('<p class="a-s">What d01.</p>', f'{REST}<p class="a-s">What d01.</p></details>', True),
        (
            '<p class="a-s">What d01.</p>',
            f'{REST.replace("2 words", "bm25")}<p class="a-s">What d01.</p></details>',
            False,
        ),
        ("How d01.", "How d02.", False),
        ("How d01.", '<mark title="3">How</mark> d01.', False),
        ("sleep and memory", "sleep", False),
        ("Studies of dreams alone do not.", "Studies of dreams alone do.", False),
        ('<p class="a-s">What d01.</p>', "", False),
    ],
)
def test_marks_and_folds_come_and_go_and_no_word_does(ws: Workspace, old: str, new: str, passes: bool) -> None:
    html = task_of(ws)["data"]["pair_html"]
    assert old in html
    assert as_sent(ws, html.replace(old, new) if old else html) is passes


def test_the_settings_of_the_screen_are_those_of_annot_toml(ws: Workspace) -> None:
    changed = ws.replaced("screen", mark_terms=True, fold_after=1)
    html = task_of(changed)["data"]["pair_html"]
    assert html.count("The rest of the document: 4 words") == 1
    assert "<mark>" not in html, "no document has a word of the topic"
    assert as_sent(ws, html)
    told = form_of(changed, PARTS["judge"], TaskMaterial(changed, {ASKED.pair}), ENGLISH).instructions
    assert "longer than 1 words" in told
    assert "Alt+N" in told
    assert "label the clicked sentence" not in told
    assert "the column of the topic or of the document" in told


def test_the_screen_of_a_study_without_facets_has_no_labels(ws: Workspace, tmp_path: Path) -> None:
    mixed = copied(OfTopics(mixed=True), "planned", tmp_path / "study")
    for study, labels in ((ws, False), (mixed, True)):
        form = form_of(study, PARTS["judge"], TaskMaterial(study, {ASKED.pair}), ENGLISH)
        assert ("<Labels" in form.label_config) is labels
        assert ("label the clicked sentence" in form.instructions) is labels
        assert "Alt+M" in form.instructions
    assert (
        "Alt+M" not in form_of(mixed, PARTS["judge"], TaskMaterial(mixed, {("p4-method", "d01")}), ENGLISH).instructions
    )
