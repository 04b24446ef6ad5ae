"""Card, datasheet and report count the same pairs as overruled, and say which."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from command_line import Result

MEANS = "Overruled: pairs with at least two grades whose final grade was given by none of their assessors."


def test_overruled_is_one_number_on_every_page(ws: Workspace, annot: Callable[..., Result], tmp_path: Path) -> None:
    """Of a pair with one grade, which the other could not judge, the adjudicator takes another grade: it is none."""
    with open_store(ws.database_url) as store, store.begin() as session:
        outcome = outcome_of(session, ws.settings)
        pair, ruling = next(
            (pair, one)
            for pair, one in sorted(outcome.adjudications.items())
            if one.grade in {answer.grade for answer in outcome.judgements if answer.pair == pair}
        )
        now = "2030-02-01T00:00:00+00:00"
        for line in JUDGEMENTS.lines(session, payload=True):
            answer = line.current.record
            if answer.pair == pair and answer.grade == ruling.grade:
                changed = line.current._replace(
                    record=replace(answer, grade=None, cannot_judge="not readable"), changed_at=now
                )
                JUDGEMENTS.record(session, [changed], recorded_at=now)
        after = outcome_of(session, ws.settings)
    given = {
        one: [answer.grade for answer in after.judgements if answer.pair == one and answer.grade is not None]
        for one in after.planned
    }
    decided = {decision.pair: decision.grade for decision in after.decisions}
    assert len(given[pair]) < 2
    assert decided[pair] not in given[pair]
    wanted = sum(len(grades) > 1 and decided[one] not in grades for one, grades in given.items() if one in decided)
    doubly = sum(len(grades) > 1 for one, grades in given.items() if one in decided)
    assert wanted

    assert annot("qrels").exit_code == 0
    folder = tmp_path / "release"
    assert annot("release", str(folder), "--draft").exit_code == 0
    readme, datasheet, report = (
        (folder / name).read_text(encoding="utf-8") for name in ("README.md", "DATASHEET.md", "report.md")
    )
    for page in (readme, datasheet, report):
        assert MEANS in page
    for page in (readme, datasheet):
        grades = page[page.index("| facet | queries | pairs | judgements |") : page.index(MEANS)]
        rows = re.findall(r"(?m)\| ([0-9,]+) \|$", grades)
        assert sum(map(int, rows)) == wanted
    assert f"{wanted} of {doubly} pairs with at least two grades" in " ".join(datasheet.split())
    together = re.search(r"(?m)^\| Facet \| Pairs asked twice .*\n\|[-: |]+\n(?:\|.*\n)*", report)
    assert together is not None
    head, _, *rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in together[0].splitlines()]
    assert [int(rows[-1][head.index(name)]) for name in ("Pairs graded twice", "Overruled")] == [doubly, wanted]
