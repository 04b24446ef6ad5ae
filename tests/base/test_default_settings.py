"""What a study has that sets nothing, and where the rules for its settings end."""

from typing import Any

import pytest
from annot.base.settings import MOST, MOST_LETTERS, AdjudicationSettings, MachineSettings, Settings
from pydantic import ValidationError

NUMBERS = {
    # CSFCube: abstracts of 3 to 20 sentences, two assessors a pair; 13 new documents a method give pools of about 100.
    "seed": 13,
    "corpus": {
        "require_title": True,
        "min_sentences": 3,
        "max_sentences": 20,
        "max_sentence_tokens": 80,
        "min_sentence_tokens": 4,
    },
    "queries": {"per_period": 20, "min_rating": 3, "two_facet_share": 0.5},
    "pool": {"per_method": 13, "ranking_depth": 500},
    # 200 dimensions, as the names of the methods say.
    "word_vectors": {"dimensions": 200, "window": 5, "min_count": 2, "seed": 1, "workers": 1, "sample": 0},
    "judging": {"per_pair": 2, "repeats": 0.0},
    "sample": {"floor": 0.05, "unranked": 1.0},
    "training": {"per_facet": 10, "threshold": 0.6, "furthest": 5},
    "agreement": {"level": 0.95, "epsilon": 0.2, "tolerated_favour": 0.1},
    "forecast": {"window_days": 28, "fence": 3.0, "level": 0.95, "draws": 1000, "simulations": 200},
    "watch": {"every": 60},
    "adjudication": {"adjudicator_may_assess": False},
    # "Similar" is the lowest of the four grades that counts as relevant.
    "evaluation": {"relevant_from": 2, "tolerated_loss": 0.05},
    "screen": {"mark_terms": False, "fold_after": 500},
    # Aspire's code: temperatures 0.5 and 5000, lambda 20.
    "systems": {"temperature": 0.5, "whole_temperature": 5000.0, "entropy": 20.0},
}


def numbers_of(values: dict[str, Any]) -> dict[str, Any]:
    found = {
        key: numbers_of(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if isinstance(value, int | float | dict)
    }
    return {key: value for key, value in found.items() if value != {}}


def test_the_numbers_of_a_study_that_sets_nothing() -> None:
    assert numbers_of(Settings().model_dump()) == NUMBERS


def faults_of(**given: Any) -> list[str]:
    try:
        Settings.model_validate(given)
    except ValidationError as error:
        return [fault["msg"] for fault in error.errors()]
    return []


@pytest.mark.parametrize(
    ("section", "key", "fits", "too_many"),
    [
        ("scale", "names", [list("ab"), list("abcdefghij")], [["a"], list("abcdefghijk"), ["a", "a"]]),
        (
            "labels",
            "names",
            [["ab", "cd"], [f"x{at:02}" for at in range(16)]],
            [["ab"], [f"x{at:02}" for at in range(17)]],
        ),
        ("queries", "types", [["a"]], [[], ["Survey", "survey"]]),
        ("word_vectors", "epochs", [1, "auto"], [0, True, "all", 1.5]),
        ("word_vectors", "workers", [1, "all"], [0, True, "auto"]),
        ("store", "database", ["annot.db", "x/annot.db", "postgresql://"], ["", "..", "x/.."]),
        ("word_vectors", "seed", [MOST, -MOST], [MOST + 1, -MOST - 1]),
        (
            "collection",
            "title",
            ["x" * MOST_LETTERS, "tab\tand\nline"],
            ["x" * (MOST_LETTERS + 1), "a\0b", "a\u202eb", "a\x7f"],
        ),
    ],
)
def test_a_setting_is_taken_up_to_its_limits(section: str, key: str, fits: list[Any], too_many: list[Any]) -> None:
    own: dict[str, Any] = {"facets": {"all": []}} if section == "labels" else {}
    for value in fits:
        assert faults_of(**own, **{section: {key: value}}) == []
    for value in too_many:
        assert len(faults_of(**own, **{section: {key: value}})) == 1


def test_a_method_has_a_hundred_letters_at_most() -> None:
    assert faults_of(pool={"methods": ["x" * 100]}) == []
    assert faults_of(pool={"methods": ["x" * 101]}) == ["String should have at most 100 characters"]


def test_what_a_person_did_not_mean_is_refused_in_words() -> None:
    assert faults_of(collection={"title": "a\x07b"}) == [
        "Value error, found the control character U+0007, expected text"
    ]
    assert faults_of(word_vectors={"seed": 10**9}) == []
    assert faults_of(word_vectors={"seed": 10**9 + 1}) == ["Value error, found 1e+09, expected at most 1000000000"]
    assert faults_of(collection={"creators": ["x" * 100_000]}) == []
    assert faults_of(collection={"creators": ["x" * 100_001]}) == [
        "Value error, found 100001 characters, expected at most 100000"
    ]


@pytest.mark.parametrize("names", [["method", "Method"], ["method", "my-method"], ["my-method", "method"]])
def test_no_label_ends_with_another(names: list[str]) -> None:
    (fault,) = faults_of(facets={"all": []}, labels={"names": names})
    assert "the screen would confuse them" in fault


def test_a_label_belongs_to_one_facet() -> None:
    assert faults_of(facets={"a": ["method"], "b": ["result"], "c": []}) == []
    (twice,) = faults_of(facets={"a": ["method"], "b": ["method"]})
    assert twice.endswith("facets.b: label 'method' already belongs to 'a'")
    (unknown,) = faults_of(facets={"a": ["methods"]})
    assert unknown.endswith("facets.a: unknown label 'methods'; did you mean 'method'?")
    assert Settings().facet_of("objective") == "background"
    assert Settings().facet_of("other") is None


def test_the_highest_grade_may_be_the_only_relevant_one() -> None:
    assert faults_of(evaluation={"relevant_from": 3}) == []
    assert faults_of(evaluation={"relevant_from": 4}) != []


@pytest.mark.parametrize(("grades", "lowest"), [(2, 1), (3, 2), (5, 2)])
def test_the_lowest_relevant_grade_is_of_the_scale_if_it_is_not_set(grades: int, lowest: int) -> None:
    scale = {"names": [f"g{grade}" for grade in range(grades)]}
    for given in ({}, {"tolerated_loss": 0.1}):
        found = Settings.model_validate({"scale": scale, "evaluation": given}).evaluation
        assert found.relevant_from == lowest
        assert found.tolerated_loss == given.get("tolerated_loss", 0.05)
    assert Settings.model_validate({"kind": "questions", "scale": scale}).evaluation.relevant_from == lowest
    assert Settings.model_validate({"scale": scale, "evaluation": {"relevant_from": 1}}).evaluation.relevant_from == 1


def test_a_relevant_grade_that_is_set_above_the_scale_is_refused_with_the_remedy() -> None:
    (fault,) = faults_of(scale={"names": ["No", "Yes"]}, evaluation={"relevant_from": 2})
    assert "evaluation.relevant_from: found 2, expected at most 1, the highest grade of scale.names" in fault
    assert fault.endswith("correct the line, or delete it")


def test_who_is_asked_and_where_work_is_done_follow_from_other_settings() -> None:
    assert AdjudicationSettings().asked == 1
    assert AdjudicationSettings(cannot_judge="second").asked == 2
    assert MachineSettings(shards="s3://x").url == ""
    assert MachineSettings(shards="s3://x", cluster="tcp://y").url == "s3://x"


def test_grades_count_from_zero_and_settings_cannot_change() -> None:
    assert Settings().scale.grades == (0, 1, 2, 3)
    with pytest.raises(ValidationError):
        Settings().seed = 1  # type: ignore[misc]
