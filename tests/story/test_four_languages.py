"""A study whose papers, topics and people are not English, from papers to the report, on a real Label Studio.

ANNOT_PICTURES=FOLDER does it in four languages, and keeps pictures of the pages.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from abstracts_in_languages import SUBJECTS, records
from annot.base.words import read_words
from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from command_line import annot_done
from fixtures_studio import Studio
from studies import PEOPLE, Study, address_of

pytestmark = [pytest.mark.studio, pytest.mark.long]

PICTURES = os.environ.get("ANNOT_PICTURES")
SPOKEN = {"zh": "zh", "ar": "de", "hi": "es", "de": "de"}
"""The language of the people, by that of the papers: a2 reads English."""
DIRECTION = "selector => getComputedStyle(document.querySelector(selector)).direction"


def judged_study(folder: Path, studio: Studio, language: str) -> Study:
    """A study of two topics, judged by a1 in the language of the people and by a2 in English, and settled by j1."""
    annot_done("init", "study", "--kind", "topics", folder=folder)
    root = folder / "study"
    file = root / "annot.toml"
    text = file.read_text("utf-8").replace('language = "en"', f'language = "{language}"')
    name = next(line for line in text.splitlines() if line.startswith("name = "))
    text = text.replace(name, f'name = "four-{language}"')
    text = text.replace("[judging]\n", f'[judging]\nlanguage = "{SPOKEN[language]}"\n')
    file.write_text(text, encoding="utf-8")
    papers = root / "papers.jsonl"
    papers.write_text(
        "".join(json.dumps(paper, ensure_ascii=False) + "\n" for paper in records(language)), encoding="utf-8"
    )
    (root / ".annot").mkdir(exist_ok=True)
    (root / ".annot" / "studio").symlink_to(studio.folder)
    annot_done("corpus", "add", papers, folder=root)
    for number, topic in enumerate(SUBJECTS[language][:2]):
        annot_done("query", "add", "--id", f"t{number}", "--text", topic, folder=root)
    annot_done("pool", "--per-method", "3", "--method", "title_tfidf", "--method", "abs_bm25", folder=root)
    for person, adjudicates in PEOPLE:
        annot_done(
            *("assessor", "add", person, "--account", address_of(person)),
            *(["--adjudicator"] if adjudicates else []),
            folder=root,
        )
    annot_done("assessor", "change", "a2", "--language", "en", folder=root)
    annot_done("plan", folder=root)
    annot_done("push", folder=root)
    study = Study(root, studio)
    pairs = study.planned()["a1"]
    study.judge("a1", {pair: 1 if at else None for at, pair in enumerate(pairs)})
    study.judge("a2", {pair: 1 if at > 1 else 2 for at, pair in enumerate(pairs)})
    annot_done("pull", folder=root)
    annot_done("push", "adjudication", folder=root)
    disputed = [tuple(task["data"]["pair_id"].split("/")[:2]) for task in study.on_server("j1", "adjudicate")]
    study.judge("j1", dict.fromkeys(disputed, 2), "adjudicate", comment=SUBJECTS[language][0])
    annot_done("pull", "adjudication", folder=root)
    return study


@pytest.mark.parametrize("language", SPOKEN if PICTURES else ["ar"])
def test_a_study_in_another_language_goes_the_whole_way(
    tmp_path: Path, studio: Studio, chromium: Any, language: str
) -> None:
    study = judged_study(tmp_path, studio, language)
    words, root = read_words(SPOKEN[language], overrides=None), study.folder
    with open_store(study.workspace.database_url) as store, store.read() as session:
        answers = [answer.record for answer in JUDGEMENTS.current(session)]
    assert all(answer.counts for answer in answers)
    assert {answer.cannot_judge for answer in answers} == {None, "outside my field"}
    task = study.on_server("a1")[0]["data"]
    assert words("task.topic") in task["pair_html"]
    assert f'lang="{language}"' in task["pair_html"]
    disputes = [shown_task["data"] for shown_task in study.on_server("j1", "adjudicate")]
    shown = {value for data in disputes for name, value in data.items() if name.startswith("rating_")}
    assert words("task.could_not", reason=words.choice("outside my field")) in shown
    assert (
        "0 findings" in annot_done("check", "server", folder=root).stdout
        or not json.loads((root / "exports" / "audit.json").read_text("utf-8"))["findings"]
    )
    letters = {letter["assessor"]: letter["text"] for letter in annot_done("invite", "--json", folder=root).data}
    assert words("letter.thanks") in letters["a1"]
    assert "Thank you for taking part." in letters["a2"]
    annot_done("qrels", folder=root)
    annot_done("report", folder=root)
    annot_done("run", "whole_bm25", folder=root)
    annot_done("browse", folder=root)
    report = (root / "exports" / "report.md").read_text("utf-8")
    assert f"| a1 | {SPOKEN[language]} |" in report
    assert "| a2 | en |" in report
    pages = {
        "report": root / "exports" / "report.html",
        "browse": root / "exports" / "browse.html",
        "grades": root / ".annot" / "people" / "a1" / "grades.html",
    }
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    for name, path in pages.items():
        page = context.new_page()
        page.goto(path.as_uri())
        if name == "browse":
            page.wait_for_selector("p.abstract")
            right_to_left = page.evaluate(DIRECTION, "p.abstract")
            assert right_to_left == ("rtl" if language == "ar" else "ltr")
        if name == "grades":
            assert words("page.grade") in page.content()
        if PICTURES:
            page.screenshot(path=str(Path(PICTURES) / f"{name}-{language}.png"))
        page.close()
    context.close()
    if PICTURES:
        (Path(PICTURES) / f"letter-{language}.txt").write_text(letters["a1"], encoding="utf-8")
