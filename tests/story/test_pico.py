"""A study with labels of its own: a made-up PICO corpus from the first paper to the release, on a server in memory."""

import json
from pathlib import Path
from typing import Any

import pytest
from annot.labelstudio import studio_records
from annot.publishing.release.prose import answer_sheet, questions
from annot.steps import corpus, exchange, facets, plan, publish, qrels, query
from annot.steps.setup import init
from annot.store import facet_labels
from annot.store.database import open_store
from annot.store.models import StoredRound
from annot.study.workspace import Workspace, write_file
from annot_csfcube.contents import is_release_file
from annot_csfcube.files import read_release
from memory_studio import StudioOfMemory
from studies import PEOPLE, Pair, Study, add_people, draw_pools
from study_stages import quietly

PICO = ("population", "intervention", "comparison", "outcome")
SETTINGS = """
[collection]
name = "made-up-pico"
title = "Made-up trials"
description = "Twenty made-up trials."
creators = ["Somebody"]
licence = "CC0-1.0"
text_licence = "CC0-1.0"
url = "https://example.org/pico"

[labels]
names = ["population", "intervention", "comparison", "outcome"]

[facets]
people = ["population"]
treatment = ["intervention", "comparison"]
outcome = ["outcome"]

[corpus]
min_sentences = 3

[pool]
methods = ["title_tfidf", "abs_tfidf"]
"""
ILLNESSES = ("hiccups", "snoring", "yawning", "blushing", "sneezing")
CURES = ("peppermint tea", "slow waltzes", "cold porridge", "woollen socks")
PAGES = {
    "general": "How similar are the two trials in the facet?",
    "people": "Who was treated.",
    "treatment": "What was given, and to the others instead.",
    "outcome": "What was measured afterwards.",
}
QUERIES = (("trial01", "people"), ("trial07", "treatment"))


def abstract(number: int) -> list[tuple[str, str]]:
    """The labelled sentences of a trial, in one of three orders."""
    ill, cure, other = ILLNESSES[number % 5], CURES[number % 4], CURES[(number + 1 + number % 3) % 4]
    said = [
        ("population", f"We enrolled {40 + number} adults with chronic {ill} from {2 + number % 4} villages."),
        ("population", f"Participants were aged 18 to {50 + number} years and had {ill} every week."),
        ("intervention", f"The treatment group received {cure} twice daily for {4 + number % 5} weeks."),
        ("comparison", f"Controls received {other}, as usual care, instead of {cure}."),
        ("outcome", f"The primary endpoint, episodes of {ill} per week, fell by {10 + number} percent."),
        ("outcome", f"No adverse events were seen, and the difference in {ill} was significant."),
    ]
    return (said, said[:1] + said[2:], said[:5])[number % 3]


@pytest.fixture(scope="module")
def study(memory: StudioOfMemory, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Twenty unlabelled papers and fifteen labelled abstracts beside them."""
    folder = tmp_path_factory.mktemp("pico") / "study"
    write_file(folder / "annot.toml", SETTINGS)
    init(folder, name=None, dry_run=False)
    made = Study(folder, memory)
    made.workspace.cache.mkdir()
    (made.workspace.cache / "studio").symlink_to(memory.folder)
    papers = [
        {
            "paper_id": f"trial{number:02}",
            "title": f"Trial {number}: {CURES[number % 4]} for {ILLNESSES[number % 5]}",
            "abstract": [sentence for _, sentence in abstract(number)],
            "year": 2000 + number,
        }
        for number in range(20)
    ]
    labelled = [
        {"sentences": [text for _, text in abstract(number)], "labels": [label for label, _ in abstract(number)]}
        for number in range(20, 35)
    ]
    for name, lines in (("papers.jsonl", papers), ("labelled.jsonl", labelled)):
        write_file(folder / name, "".join(json.dumps(line) + "\n" for line in lines))
    corpus.add(made.workspace, [folder / "papers.jsonl"], form=None, dry_run=False, advance=quietly)
    return made


@pytest.fixture(scope="module")
def planned(study: Study) -> Study:
    """Labelled by a model of its own, two queries pooled and planned, with guidelines of its own."""
    ws = study.workspace
    model = study.folder / "pico.xz"
    facets.train(study.folder / "labelled.jsonl", out=model, held_out=None, ws=ws)
    facets.label(ws, model=model, dry_run=False, advance=quietly)
    for paper_id, facet in QUERIES:
        query.add(ws, paper_id, facet=facet, sentences=None, dry_run=False)
    draw_pools(ws, per_method=4)
    add_people(ws, PEOPLE)
    plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=False)
    return study


@pytest.fixture(scope="module")
def settled(planned: Study) -> Study:
    """Sent, judged by two, the disputes settled: every pair has its grade."""
    ws = planned.workspace
    grades = list(enumerate(ws.settings.scale.names))
    rows = "\n".join(f"| {grade} | {name} | as the page of the facet says |" for grade, name in grades)
    criteria = "\n\n".join(f"## {grade} {name}\n\nAs alike as that." for grade, name in grades)
    for page, says in PAGES.items():
        rest = f"Facets: people, treatment, outcome.\n\n{rows}" if page == "general" else criteria
        write_file(ws.root / "guidelines" / f"{page}.md", f"# {page}\n\n{says}\n\n{rest}\n")
    exchange.push(ws, round="judging", dry_run=False, advance=quietly)
    planned.judge("a1", {pair: at % 4 for at, pair in enumerate(pairs(planned))})
    planned.judge("a2", {pair: at % 4 if at % 3 else (at + 1) % 4 for at, pair in enumerate(pairs(planned))})
    exchange.pull(ws, round="judging", advance=quietly)
    exchange.push(ws, round="adjudication", dry_run=False, advance=quietly)
    disputed = [pair for at, pair in enumerate(pairs(planned)) if not at % 3]
    planned.judge("j1", dict.fromkeys(disputed, 2), "adjudicate")
    exchange.pull(ws, round="adjudication", advance=quietly)
    return planned


def pairs(study: Study) -> list[Pair]:
    return sorted(study.planned()["a1"])


def test_a_model_trained_on_the_labels_finds_them_in_the_corpus(planned: Study) -> None:
    with open_store(planned.workspace.database_url) as store, store.read() as session:
        found = {one.paper_id: one.labels for one in facet_labels.read_labels(session)}
    truth = {f"trial{number:02}": tuple(label for label, _ in abstract(number)) for number in range(20)}
    assert found == truth
    chosen = {one.query_id: one.sentences for one in query.listing(planned.workspace)}
    assert chosen == {"trial01-people": (1,), "trial07-treatment": (2, 3)}


def test_the_screens_offer_the_labels_and_the_tasks_carry_them(settled: Study) -> None:
    listed = {project["id"]: project for project in settled.listed_projects()}
    people: tuple[tuple[str, StoredRound], ...] = (("a1", "judge"), ("a2", "judge"), ("j1", "adjudicate"))
    for name, phase in people:
        (project,) = settled.projects(phase)[name]
        screen = listed[project]["label_config"]
        for keyed in studio_records.label_keys(PICO):
            assert f'<Label value="{keyed.value}" hotkey="{keyed.key}"' in screen
        assert "background" not in listed[project]["expert_instruction"]
    task = next(task for task in settled.on_server("a1") if task["data"]["facet"] == "treatment")
    assert "a-wants-intervention a-wants-comparison" in task["data"]["pair_html"]


def test_the_study_is_reported_and_released_and_the_release_read_back(settled: Study, tmp_path: Path) -> None:
    ws = settled.workspace
    assert qrels.write(ws, partial=False).pairs == len(pairs(settled))
    assert "population" in publish.write_report(ws).read_text(encoding="utf-8")
    write_file(ws.root / "datasheet.toml", answer_sheet({one.id: "Made up." for one in questions()}))
    made = released(ws, tmp_path / "release")
    lines = (made / "csfcube" / "abstracts-csfcube-preds.jsonl").read_text(encoding="utf-8").splitlines()
    assert {label for line in lines for label in json.loads(line)["pred_labels"]} == {f"{one}_label" for one in PICO}
    folder = made / "csfcube"
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found = read_release(
        {name: content for name, content in files.items() if is_release_file(name)},
        name="csfcube",
        known_labels=ws.settings.labels.names,
        facet_labels=ws.settings.facets,
    )
    assert [(one.topic_id, one.facet) for one in found.queries] == list(QUERIES)
    assert {(one.query_id, one.doc_id) for one in found.decisions} == set(pairs(settled))


def released(ws: Workspace, folder: Path, **options: Any) -> Path:
    given = {"with_text": None, "licence": None, "published": None, "allowed": (), "draft": False, "dry_run": False}
    return publish.release(ws, folder, **{**given, **options}).folder
