"""What report and datasheet tell of near-duplicates and of added citations, and where they tell nothing."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable

import pytest
from annot.base.records import Judgement
from annot.store import people
from annot.study.workspace import Workspace
from command_line import Result
from pooled_corpus import made, paper
from study_answers import record
from study_stages import Recipe, advance

ALIKE = "20 papers of the corpus have nearly the same abstract as another, in 10 groups."
ANN_AND_BOB = Recipe(people=(("ann", "ann@example.org"), ("bob", "bob@example.org")))
EDGES = "p5,p20\np5,elsewhere\np999,p5\n"


def judged(ws: Workspace, annot: Callable[..., Result], lines: list[str]) -> None:
    """Pools of these papers, judged by two."""
    made(ws, annot, lines)
    drawn(ws, annot)


def drawn(ws: Workspace, annot: Callable[..., Result]) -> None:
    done("pool", "--per-method", "60", by=annot)
    advance(ANN_AND_BOB, ws.root, after="pooled", to="planned")
    with ws.reading() as session:
        plan = people.read_assignments(session)
    record(ws, (Judgement(*one.asked.pair, one.assessor, 1, occasion=one.occasion) for one in plan))


def done(*words: str, by: Callable[..., Result]) -> Result:
    result = by(*words)
    assert result.exit_code == 0, result.stderr
    return result


def pages(ws: Workspace, annot: Callable[..., Result]) -> dict[str, str]:
    """The report's words on pools, and the datasheet's answer on how the data was collected."""
    done("report", by=annot)
    done("datasheet", by=annot)
    report = (ws.exports / "report.md").read_text(encoding="utf-8")
    datasheet = (ws.exports / "datasheet.md").read_text(encoding="utf-8")
    return {
        "report": re.split(r"\n#+ ", re.split(r"\n#+ Pools\n", report)[1])[0],
        "datasheet": datasheet.split("### How was the data collected")[1].split("\n### ")[0],
    }


@pytest.fixture
def twice() -> list[str]:
    """Sixty papers; ten of them come again under another id."""
    again = [paper(number, f"twice{number}") for number in range(10, 20)]
    return [*(paper(number) for number in range(60)), *again]


def test_both_pages_tell_what_was_found_and_how_often_it_was_passed_over(
    ws: Workspace, annot: Callable[..., Result], twice: list[str]
) -> None:
    judged(ws, annot, twice)
    passed = done("pool", "show", "--json", by=annot).data["passed_over"]
    assert passed > 1
    for text in pages(ws, annot).values():
        assert (
            f"{ALIKE} While the pools were drawn, a near-duplicate of a pooled paper was skipped {passed} times" in text
        )
        assert "Citations" not in text
    # A cache that is gone is no reason to tell anything else, nor is a cluster that does not run.
    shutil.rmtree(ws.root / ".annot" / "near-duplicates")
    settings = ws.root / "annot.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('cluster = ""', 'cluster = "tcp://127.0.0.1:9"'), encoding="utf-8")
    assert all(f"was skipped {passed} times" in text for text in pages(ws, annot).values())
    assert not (ws.root / ".annot" / "near-duplicates").exists()


def test_where_the_rankings_are_gone_the_report_says_what_is_not_on_record(
    ws: Workspace, annot: Callable[..., Result], twice: list[str]
) -> None:
    judged(ws, annot, twice)
    (ws.rankings / "abs_tfidf.run").unlink()
    for text in pages(ws, annot).values():
        assert f"{ALIKE} How often a near-duplicate of a pooled paper was skipped is not on record here." in text


def test_both_pages_name_the_files_of_citations(ws: Workspace, annot: Callable[..., Result], twice: list[str]) -> None:
    made(ws, annot, twice[:60])
    (ws.root / "sent").mkdir()
    for name, lines in (("sent/edges_of_s2.csv", EDGES), ("later.csv", "p12,p30\n")):
        (ws.root / name).write_text(lines, encoding="utf-8")
    hashes = [hashlib.sha256(lines.encode()).hexdigest()[:12] for lines in (EDGES, "p12,p30\n")]
    done("import", "--as", "citations", str(ws.root / "sent" / "edges_of_s2.csv"), by=annot)
    drawn(ws, annot)
    first = f"`edges_of_s2.csv` (2 citations by papers of the corpus, SHA-256 {hashes[0]}…)"
    begin = "Further citations, besides those that came with the papers, were added from"
    for text in pages(ws, annot).values():
        assert f"{begin} {first}." in text
        assert "nearly the same" not in text
        assert "before the last" not in text
    done("import", "--as", "citations", "later.csv", by=annot)
    for text in pages(ws, annot).values():
        later = f"`later.csv` (1 citation by papers of the corpus, SHA-256 {hashes[1]}…)"
        assert f"{begin} {first}; {later}. 2 pools were drawn before the last of these were added." in text
    datasheet = (ws.exports / "datasheet.md").read_text(encoding="utf-8")
    assert "`annot import --as citations`" in datasheet
    assert str(ws.root) not in datasheet


def test_where_there_is_neither_nothing_is_told(ws: Workspace, annot: Callable[..., Result], twice: list[str]) -> None:
    judged(ws, annot, [json.dumps(json.loads(line) | {"citations": ["p3"]}) for line in twice[:60]])
    for text in pages(ws, annot).values():
        assert "nearly the same" not in text
        assert "itations" not in text
