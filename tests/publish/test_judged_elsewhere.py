"""Report, datasheet and release of a study that was judged with another tool: nothing is told that is not on record."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judged_elsewhere import DOCUMENTS, JUDGE, QUERIES, judgements_csv, made_public, papers_jsonl
from study_stages import files_of

Run = Callable[..., Any]
NEVER = ("Label Studio", "planned", "plan.jsonl", "annot pull", "audit", "unknown", "0 pools", "0 papers", "| None")
"""What such a study has not: the datasheet may not speak of it."""


@pytest.fixture
def study(annot: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace that is ready to be published; `annot` runs in it."""
    root = tmp_path / "elsewhere"
    assert annot("init", root).exit_code == 0
    made_public(root)
    (tmp_path / "judged.csv").write_text(judgements_csv(), encoding="utf-8")
    (tmp_path / "papers.jsonl").write_text(papers_jsonl(), encoding="utf-8")
    monkeypatch.setenv("ANNOT_WORKSPACE", str(root))
    return root


def judged(annot: Run, study: Path, *options: str) -> None:
    done = annot("import", "--as", "judgements", study.parent / "judged.csv", "--adjudicator", JUDGE, *options)
    assert done.exit_code == 0, done.stderr


def papers(annot: Run, study: Path) -> None:
    assert annot("corpus", "add", study.parent / "papers.jsonl").exit_code == 0
    assert annot("facets").exit_code == 0


def sheet(study: Path) -> str:
    return (study / "exports" / "datasheet.md").read_text(encoding="utf-8")


def test_the_datasheet_tells_what_the_file_says_and_nothing_else(annot: Run, study: Path) -> None:
    judged(annot, study)
    assert annot("datasheet").exit_code == 0
    text = sheet(study)
    # The questions may use these words; the answers may not.
    answers = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert [word for word in NEVER if word in answers.replace("were not audited", "")] == []
    for command in ("annot corpus", "annot facets", "annot pool"):
        assert command not in answers
    assert "3 assessors and 1 adjudicator. 8 of 32 judged pairs have 3 judgements, 23 have 2, 1 has 1." in text
    assert "An adjudicator settled 8 of 31 pairs" in text
    assert "It is not on record here whether the adjudicator saw the assessors' ratings" in text


def test_without_a_corpus_the_release_says_so_first_and_names_the_remedy(annot: Run, study: Path) -> None:
    judged(annot, study)
    (study / "datasheet.toml").unlink()
    ran = annot("release", study.parent / "release")
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert "no corpus: " in ran.stderr
    assert "`annot corpus add`" in ran.stderr
    assert not list(study.parent.glob("*release*"))
    drafted = annot("release", study.parent / "release", "--draft")
    assert drafted.exit_code == 0, drafted.stderr
    found = files_of(study.parent / "release")
    assert "no corpus" in found["MISSING.md"].decode()
    assert len(found["qrels.txt"].splitlines()) == 31
    assert found["beir/corpus-ids.jsonl"] == b""


def test_with_its_papers_it_is_released_and_what_was_judged_is_to_be_ranked(annot: Run, study: Path) -> None:
    papers(annot, study)
    judged(annot, study)
    assert annot("release", study.parent / "release").exit_code == 1
    (study / "exports" / "runs").mkdir()
    (study / "exports" / "runs" / "own.run").write_text("p1-method Q0 d1 1 1 own\n", encoding="utf-8")
    done = annot("release", study.parent / "release", "--draft")
    assert done.exit_code == 0, done.stderr
    assert "own.run: not on record; import it with `annot run import`" in done.stderr
    released = files_of(study.parent / "release")
    assert released["runs/own.run"] == b"p1-method Q0 d1 1 1 own\n"
    assert json.loads(released["runs/own.json"])["kind"] == "imported"
    ranked = [json.loads(line) for line in released["beir/top_ranked/test.jsonl"].decode().splitlines()]
    assert ranked == [
        {"query-id": query, "corpus-ids": [f"d{at}" for at in range(DOCUMENTS)]} for query in sorted(QUERIES)
    ]
    card = released["README.md"].decode()
    counted = "8 of 32 judged pairs have 3 judgements, 23 have 2, 1 has 1"
    assert "31 pairs with a final grade, " in card
    assert f"**Judging:** {counted}. In 9 pairs the grades differ" in card
    assert "an adjudicator settled 8 of them, 1 is still open" in card
    assert "Rank the judged papers" in card
    assert "the papers judged for each query" in card
    assert 'annotations_creators:\n- "found"' in card
    metadata = json.loads(released["croissant.json"])
    assert metadata["rai:annotationsPerItem"] == "8 pairs have 3, 23 pairs have 2, 1 pair has 1"
    assert "independently" not in metadata["rai:dataAnnotationProtocol"]
    assert "1 judged pair has no final grade" in metadata["rai:dataAnnotationProtocol"]
    everything = b"\n".join(released.values()).decode()
    assert not any(name in everything for name in ("Quill", "Byron", "Ivo Judge"))
    assert annot("release", study.parent / "again", "--draft").exit_code == 0
    assert files_of(study.parent / "again") == released
