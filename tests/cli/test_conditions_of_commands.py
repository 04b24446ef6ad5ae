"""What the functions of commands hand on to their step, and print, by what was typed."""

from datetime import date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import FindingError
from annot.base.names import OF_PAPERS
from annot.cli import measure, people
from annot.measuring import measured
from annot.publishing.report import tables
from annot.steps import evaluate
from annot.steps import people as invite

STUDY: Any = SimpleNamespace(replaced=lambda *_, **__: STUDY, sheet=Path("queries.csv"), vocabulary=OF_PAPERS)


@pytest.mark.parametrize(("until", "day"), [(None, None), (datetime(2031, 3, 14), date(2031, 3, 14))])
def test_a_letter_names_the_day_that_was_typed(
    monkeypatch: pytest.MonkeyPatch, until: datetime | None, day: date | None
) -> None:
    monkeypatch.setattr(invite, "invite", lambda ws, names, *, contact, days, out: (names, days["judge"]))
    monkeypatch.setattr(invite, "describe", str)
    monkeypatch.setattr(tables, "sentences", lambda *_, **__: ())
    assert people.invite(STUDY, until=until).data == ((), day)


@pytest.mark.parametrize(
    ("differing", "same", "finding"),
    [(0, True, None), (1, True, "1 figure other than the paper's"), (5, False, None)],
)
def test_figures_other_than_the_papers_end_the_comparison_if_it_is_the_same_collection(
    monkeypatch: pytest.MonkeyPatch, differing: int, same: bool, finding: str | None
) -> None:
    found = SimpleNamespace(differing=differing, same_collection=same)
    monkeypatch.setattr(evaluate, "against", lambda *_, **__: found)
    monkeypatch.setattr(evaluate, "beside_paper", lambda *_: "table")
    monkeypatch.setattr(evaluate, "describe_against", lambda *_: "text")
    ended = measure.evaluate(STUDY, against=Path("paper.csv")).finding
    assert (None if ended is None else ended.message) == finding
    assert ended is None or isinstance(ended, FindingError)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, (False, False)),
        ({"measure": ["ndcg"]}, (False, False)),
        ({"measure": ["ndcg", "map"]}, (True, False)),
        ({"every": True}, (True, True)),
    ],
)
def test_several_measures_are_shown_below_each_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: dict[str, Any], shown: tuple[bool, bool]
) -> None:

    asked: list[bool] = []

    def evaluated(*_: object, at_least_two: bool, **__: object) -> Any:
        asked.append(at_least_two)
        return SimpleNamespace(notes=("noted",))

    monkeypatch.setattr(evaluate, "evaluate", evaluated)
    monkeypatch.setattr(evaluate, "describe", lambda _, *, per_query, measured, paired: f"{measured} {paired}")
    monkeypatch.setattr(evaluate, "write", lambda _, out: [out / "figures.csv"])
    monkeypatch.setattr(measured, "evaluation_data", lambda _: None)
    found = measure.evaluate(STUDY, **given)
    assert (found.text, found.notes) == (f"{shown[0]} {shown[1]}", ["noted"])
    written = measure.evaluate(STUDY, out=tmp_path, **given)
    assert written.notes == ["noted", str(tmp_path / "figures.csv")]
    # A comparison that is written to files needs two runs.
    assert asked == [False, True]
