"""What report and datasheet tell of near-duplicates and of added citations, and where they tell nothing."""

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


def judged(ws: Workspace, annot: Callable[..., Result], lines: list[str]) -> None:
    """Pools of these papers, judged by two."""
    made(ws, annot, lines)
    drawn(ws, annot)


def drawn(ws: Workspace, annot: Callable[..., Result]) -> None:
    done("pool", "--per-method", "60", by=annot)
    advance(ANN_AND_BOB, ws.root, after="pooled", to="planned")
    with ws.reading() as session:
        plan = people.read_assignments(session)
    record(ws, (Judgement(*one.pair_key.pair, one.assessor, 1, occasion=one.occasion) for one in plan))


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
