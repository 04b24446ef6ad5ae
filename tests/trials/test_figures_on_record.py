"""A figure on record is read back as it was; counts and order of the assessors are those of the record."""

import pytest
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.judging.trial_answers import (
    figure_from_record,
    figure_on_record,
    recorded_against_gold,
)

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
