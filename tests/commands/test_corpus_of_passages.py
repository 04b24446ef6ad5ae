"""A corpus of documents and their passages, where no facet is judged: added, shown, pooled, traced and released."""

import json
from pathlib import Path

import pytest
from annot.store.runs import read_imports
from annot.study.workspace import Workspace
from command_line import annot_done

WORDS = ("bees", "dance", "hive", "nectar", "pollen", "queen", "wax", "comb", "honey", "sting", "swarm", "drone")


def text(number: int) -> str:
    return " ".join(WORDS[(number * step + step // 3) % len(WORDS)] for step in range(1, 9)).capitalize() + "."


RECORDS = [
    {"id": "d1-1", "text": text(1), "part_of": "d1", "title": "On bees"},
    {"id": "d1-2", "text": f"{text(2)} {text(3)}", "part_of": "d1", "title": "On bees"},
    {"id": "d1-3", "text": text(4), "part_of": "d1", "title": "On bees"},
    {"id": "d2-1", "text": text(5), "document_id": "d2"},
    {"id": "d3", "text": f"{text(6)} {text(7)}"},
    {"id": "d4", "text": ""},
    {"id": "d5", "text": "Bees."},
]
SETTINGS = """
kind = "topics"

[corpus]
require_title = false
min_sentences = {least}
min_sentence_tokens = 2

[pool]
methods = ["title_tfidf", "abs_tfidf"]
"""


def settings(folder: Path, *, least: int) -> None:
    (folder / "annot.toml").write_text(SETTINGS.format(least=least))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    annot_done("init", folder, "--kind", "topics", folder=tmp_path)
    settings(folder, least=2)
    (folder / "passages.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return folder


def left_out(folder: Path) -> dict[str, object]:
    with Workspace.open(folder).reading() as session:
        (imported,) = read_imports(session)
    return {name: imported.facts[name] for name in ("read", "kept", "rejected")}


def test_what_is_left_out_is_said_with_the_setting_and_comes_in_once_that_has_changed(study: Path) -> None:
    told = annot_done("corpus", "add", "passages.jsonl", folder=study)
    assert told.stdout.splitlines() == [
        "7 documents read, 2 kept; the corpus now has 2",
        "  passages.jsonl (annot): 7 records, 2 kept, 1 without a text",
        "  1 left out: no text",
        "  4 left out: too few sentences (min_sentences = 2)",
        "  limits are in [corpus] of annot.toml; to keep more, change them and add the same file again",
        "  all ids of these lists: corpus/lists-f42e6c911ffe.csv",
    ]
    assert "annot query add --file FILE" in told.stderr
    assert "annot facets" not in told.stderr
    first = {"read": 7, "kept": 2, "rejected": {"no text": 1, "too few sentences": 4}}
    assert left_out(study) == first
    annot_done("corpus", "add", "passages.jsonl", folder=study)
    assert left_out(study) == first
    settings(study, least=1)
    again = annot_done("corpus", "add", "passages.jsonl", folder=study)
    assert again.stdout.splitlines()[:4] == [
        "7 documents read, 3 kept; the corpus now has 5",
        "  passages.jsonl (annot): 7 records, 3 kept, 1 without a text",
        "  1 left out: all sentences too short (min_sentence_tokens = 2)",
        "  2 left out: id seen before, same content",
    ]
    assert left_out(study) == {"read": 7, "kept": 5, "rejected": {"all sentences too short": 1, "no text": 1}}


def test_passages_of_one_document_are_pooled_and_it_is_named_wherever_they_are_shown(study: Path) -> None:
    settings(study, least=1)
    annot_done("corpus", "add", "passages.jsonl", folder=study)
    assert annot_done("corpus", "show", folder=study).stdout.splitlines() == [
        "5 documents (4 of them passages)",
        "  passages.jsonl (annot): 7 records, 5 kept, 1 without a text",
        "no near-duplicates",
    ]
    annot_done("query", "add", "--text", "bees dance in the hive", "--id", "T1", folder=study)
    annot_done("pool", folder=study)
    shown = annot_done("pool", "show", "T1", folder=study).stdout
    assert {"d1-1", "d1-2", "d1-3"} < set(shown.split())
    assert "On bees" in shown
    # A document without a title is shown by how its text begins.
    assert text(5)[:40] in shown
    assert "passage of d1" in annot_done("trace", "T1", "d1-2", folder=study).stdout
