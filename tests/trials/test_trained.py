"""Training, hidden gold and the sub-study from the records of a small study, counted by hand."""

from pathlib import Path

import pytest
from annot.base.records import Assignment, Gold, Judgement
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.judging.trial_answers import (
    figure_from_record,
    figure_on_record,
    hidden_gold_of,
    recorded_against_gold,
    recorded_substudy,
    substudy_of,
    substudy_on_record,
    training_of,
)
from annot.store import trials
from annot.store.answers import TRIALS, SourcedJudgement
from annot.study.workspace import Workspace
from small_study import RECORDED, FirstPairs, Small
from study_stages import copied

Q1, Q2 = "p1-method", "p2-method"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(answers=FirstPairs(40)), "judged", tmp_path / "study")


def answered(ws: Workspace, source: str, *given: Judgement, prefix: str = "") -> None:
    rows = [SourcedJudgement(one, source, f"{prefix}{source}{at}", {}) for at, one in enumerate(given)]
    with ws.writing() as session:
        TRIALS.record(session, rows, recorded_at=RECORDED)


def assigned(ws: Workspace, round: str, person: str, *pairs: tuple[str, str]) -> None:
    with ws.writing() as session:
        rows = [Assignment(*pair, person, at) for at, pair in enumerate(pairs, start=1)]
        trials.add_assignments(session, round, rows)  # type: ignore[arg-type]


def test_an_assessor_in_training_is_held_against_the_gold_grades(ws: Workspace) -> None:
    gold = {(Q1, "d00"): 0, (Q1, "d01"): 1, (Q1, "d02"): 2, (Q2, "d03"): 3, (Q2, "d04"): 3}
    with ws.writing() as session:
        trials.replace_gold(
            session, [Gold(*pair, grade, "So.", at) for at, (pair, grade) in enumerate(gold.items(), 1)]
        )
    assigned(ws, "train", "a2", *gold, (Q2, "d05"))
    answered(
        ws,
        "train",
        Judgement(Q1, "d00", "a2", 0),
        Judgement(Q1, "d01", "a2", 3),
        Judgement(Q1, "d02", "a2", 1),
        Judgement(Q2, "d03", "a2", None, cannot_judge="outside my field"),
        Judgement(Q2, "d04", "a2", 2, flags=("skipped",)),
        Judgement(Q2, "d05", "a2", 0),
    )
    answered(
        ws,
        "train-feedback",
        Judgement(Q1, "d00", "a2", None, flags=("no grade",)),
        Judgement(Q1, "d01", "a2", None, comment="I see.", flags=("no grade",)),
        Judgement(Q1, "d02", "a2", None, flags=("skipped",)),
    )
    answered(ws, "train-after-feedback", Judgement(Q1, "d01", "a2", 1))
    with ws.writing() as session:
        trials.put_trial(session, "train-feedback/a2", {"pairs": [[Q1, "d00"], [Q1, "x99"]]})
        (found,) = training_of(ws, session)
    assert (found.assessor, found.gold, found.batches, found.answered, found.cannot_judge) == ("a2", 5, 1, 4, 1)
    assert found.agreement.n_pairs == 3
    assert [(one.doc_id, one.grade, one.gold, one.why) for one in found.furthest] == [
        ("d01", 3, 1, "So."),
        ("d02", 1, 2, "So."),
    ]
    assert (found.looked_at, found.remarks, found.changed_too_late) == (2, ("I see.",), 1)
    assert (found.verdict, found.planned_too) == ("not finished", (f"{Q1} d00",))


def test_hidden_gold_is_held_against_the_final_grades_of_others(ws: Workspace) -> None:
    """In the first query document d01 has the grade 2 and d02 the grade 3, by both of its assessors."""
    with ws.reading() as session:
        assert hidden_gold_of(ws, session) == ()
    assigned(ws, "hidden-gold", "j1", (Q1, "d01"), (Q1, "d02"), (Q1, "d03"))
    answered(
        ws, "hidden-gold", Judgement(Q1, "d01", "j1", 2), Judgement(Q1, "d02", "j1", 1), Judgement(Q1, "d04", "j1", 1)
    )
    with ws.reading() as session:
        (found,) = hidden_gold_of(ws, session)
    assert (found.assessor, found.hidden, found.answered, found.agreement.n_pairs) == ("j1", 3, 2, 2)
    assert [(one.doc_id, one.grade, one.gold, one.why) for one in found.furthest] == [("d02", 1, 3, "the final grade")]


def test_a_substudy_compares_what_was_graded_twice(ws: Workspace) -> None:
    pairs = [(Q1, "d00"), (Q1, "d01"), (Q1, "d02"), (Q2, "d00")]
    with ws.writing() as session:
        trials.put_trial(session, "substudy", {"assessor": "a1"})
    for view, grades in (("abstract", (1, 2, None, 0)), ("full", (1, 3, 2, None))):
        assigned(ws, f"substudy-{view}", "a1", *pairs)
        given = [
            Judgement(*pair, "a1", grade, cannot_judge=None if grade is not None else "not readable", lead_time=seconds)
            for pair, grade, seconds in zip(pairs, grades, (10.0, 20.0, 30.0, None), strict=True)
        ]
        answered(ws, f"substudy-{view}", *given, prefix=view)
    with ws.reading() as session:
        found = substudy_of(ws, session)
    assert (found.assessor, found.changes, found.judged_before) == ("a1", {0: 1, 1: 1}, 4)
    assert [(one.answered, one.graded, one.pairs) for one in found.views] == [(4, 3, 4), (4, 3, 4)]
    assert found.compared[0].agreement.n_pairs == 2
    assert [one.seconds.value for one in found.views] == [20.0, 20.0]
    assert recorded_substudy({}) is None
    kept = recorded_substudy({"substudy-figures": substudy_on_record(found)})
    assert kept is not None
    assert len(kept["compared"]) == 3


# -- figures on record, read back as they were -------------------------------------------------------------------------

WHY = Undefined("one grade only")


@pytest.mark.parametrize(
    ("figure", "facts"),
    [
        (
            Estimate(0.5, Interval(0.25, 0.75, 0.95, "bootstrap")),
            {"value": 0.5, "low": 0.25, "high": 0.75, "level": 0.95},
        ),
        (Estimate(0.0, Interval(0.0, 0.0, 0.9, "")), {"value": 0.0, "low": 0.0, "high": 0.0, "level": 0.9}),
        (Estimate(0.5, WHY), {"value": 0.5, "low": None, "high": None, "level": None}),
        (Estimate(WHY, WHY), {"value": None, "low": None, "high": None, "level": None}),
    ],
    ids=["both", "zero is a value", "no interval", "undefined"],
)
def test_a_figure_comes_back_from_the_record(figure: Estimate, facts: dict[str, float | None]) -> None:
    assert figure_on_record(figure) == facts
    back = figure_from_record(facts)
    assert figure_on_record(back) == facts
    assert isinstance(back.value, Undefined) == isinstance(figure.value, Undefined)
    assert isinstance(back.interval, Undefined) == isinstance(figure.interval, Undefined)


def test_only_who_has_pairs_with_both_grades_in_this_round_is_on_record() -> None:
    figure = {"value": 0.5, "low": None, "high": None, "level": None}
    known = {
        "train/a1": {**figure, "pairs": 4},
        "train/a2": {**figure, "pairs": 0},
        "train-feedback/a3": {**figure, "pairs": 4},
        "train/a4": {},
    }
    found = list(recorded_against_gold(known, "train"))
    assert [(one["assessor"], one["pairs"], one["kappa"].value) for one in found] == [("a1", 4, 0.5)]
