"""A pair that somebody has half answered in a browser when the lead changes what people see: what stays, what goes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from annot.labelstudio.accounts import read_passwords
from annot.store.papers import find_papers
from annot.study import guidelines
from command_line import annot_done
from fixtures_studio import Studio
from studies import Study, address_of, make_study

pytestmark = [pytest.mark.studio, pytest.mark.browser, pytest.mark.long]
CHOSEN = "[...document.querySelectorAll('.a-grades input')].map(grade => grade.checked).indexOf(true)"
MARKED = """[...document.querySelectorAll('.a-cand p')].filter(
    sentence => getComputedStyle(sentence).boxShadow !== 'none').map(sentence => sentence.textContent)"""


@pytest.fixture
def study(studio: Studio, tmp_path: Path) -> Study:
    """A study whose pairs were sent, and to which nobody has given a grade."""
    made = make_study(tmp_path / "study", studio, name="half-answered", per_method=3)
    annot_done("push", folder=made.folder)
    return made


@pytest.fixture
def page(study: Study, chromium: Any) -> Iterator[Any]:
    """A page on which a1 has signed in."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{study.studio.url}/user/login/")
    page.fill("input[name=email]", address_of("a1"))
    page.fill("input[name=password]", read_passwords(study.studio.passwords)[address_of("a1")])
    page.click("button[type=submit]")
    page.wait_for_url(lambda url: "/user/login" not in url)
    yield page
    context.close()


def read_pair(page: Any) -> None:
    """Wait for the pair and close the instructions, which open by themselves until somebody has answered."""
    page.wait_for_selector(".lsf-modal-ls__body")
    page.keyboard.press("Escape")
    page.wait_for_selector(".lsf-modal-ls__body", state="hidden")
    page.wait_for_selector(".a-cand p")


def test_a_half_answered_pair_outlives_new_guidelines_and_goes_with_its_text(study: Study, page: Any) -> None:
    (project,) = study.projects()["a1"]
    page.goto(f"{study.studio.url}/projects/{project}/data?labeling=1")
    read_pair(page)
    pair, sent = next(
        (task["data"]["pair_id"], task["id"]) for task in study.on_server("a1") if not task["annotations"]
    )
    with page.expect_response(lambda response: "/drafts" in response.url and response.request.method == "POST"):
        page.keyboard.press("2")

    facet = pair.split("/")[0].rpartition("-")[2]
    text = guidelines.read(study.workspace, facet)
    (study.folder / "guidelines").mkdir(exist_ok=True)
    (study.folder / "guidelines" / f"{facet}.md").write_text(f"{text}\nA baseline counts for nothing.\n")
    annot_done("push", "--changed", "baselines were graded", folder=study.folder)
    page.reload()
    page.wait_for_selector(".lsf-modal-ls__body:has-text('A baseline counts for nothing.')")
    read_pair(page)
    assert page.evaluate(CHOSEN) == 2

    # A corrected text takes the task with it. Whoever still has it open cannot answer another pair by what they see.
    (paper,) = find_papers(study.workspace.corpus, [pair.split("/")[1]]).values()
    record = {"paper_id": paper.paper_id, "title": paper.title, "year": paper.year, "labels": paper.labels}
    record |= {"abstract": [f"Corrected: {sentence}" for sentence in paper.sentences], "citations": paper.citations}
    (study.folder / "corrected.jsonl").write_text(json.dumps(record), encoding="utf-8")
    annot_done("corpus", "add", "corrected.jsonl", "--corrected", "an erratum", folder=study.folder)
    annot_done("facets", folder=study.folder)
    annot_done("push", folder=study.folder)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=Annotation is not saved")
    tasks = {task["data"]["pair_id"]: task for task in study.on_server("a1")}
    assert not any(task["annotations"] for task in tasks.values())
    assert tasks[pair]["id"] != sent
    page.goto(f"{study.studio.url}/projects/{project}/data?task={tasks[pair]['id']}")
    page.wait_for_selector(".a-cand p:has-text('Corrected: ')")
    assert page.evaluate(CHOSEN) == -1
    wanted = {"background": ("background", "objective")}.get(facet, (facet,))
    labelled = [
        f"Corrected: {sentence}"
        for sentence, label in zip(paper.sentences, paper.labels or (), strict=True)
        if label in wanted
    ]
    # The text is drawn before the style sheet that depends on the task, so the marks may come a moment later.
    page.wait_for_function(f"{MARKED}.length > 0")
    assert page.evaluate(MARKED) == labelled
