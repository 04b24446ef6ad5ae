"""What can be read of a server's answer, and of a model's text in it; other forms have no text and no grade."""

import json

import pytest
from annot_opinions.prompts import LONGEST_REASON, Completion, completion_of, read_answer


@pytest.mark.parametrize(
    "body",
    [
        *("", "no JSON", "[" * 100_000, "[]", "7", "{}", '{"choices": []}', '{"choices": {"0": {}}}'),
        *('{"choices": ["x"]}', '{"choices": [{}]}', '{"choices": [{"message": "x"}]}'),
        '{"choices": [{"message": {"content": [1]}}], "usage": [], "model": 7, "system_fingerprint": ""}',
    ],
)
def test_an_answer_of_another_form_has_no_text(body: str) -> None:
    assert completion_of(body) == Completion(None, None, None, None, None)


def test_names_and_counts_are_taken_only_if_they_are_such() -> None:
    def whole(**usage: object) -> str:
        message = {"message": {"content": None}}
        return json.dumps({"choices": [message], "model": "m" * 300, "system_fingerprint": "f", "usage": usage})

    assert completion_of(whole(prompt_tokens=0, completion_tokens=5)) == Completion("", "m" * 200, "f", 0, 5)
    for odd in (-1, True, 1.5, "7", 10**9):
        assert completion_of(whole(prompt_tokens=odd, completion_tokens=5)).tokens_in is None


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ('{{"grade": 1, "reason": "x"}}', 1),
        ('{"a": 1} {"grade": 1, "reason": "x"}', 1),
        ('<think>{"grade": 0, "reason": "y"}</think>{"grade": 1, "reason": "x"}', 1),
        ('{"grade": 1, "reason": "x"} {"grade": 1, "reason": "x"}', None),
        ('{"grade": 1, "grade": 2, "reason": "x"}', None),
        ('{"grade": 1, "reason": 7}', None),
        ('{"grade": 4, "reason": "x"}', None),
        ('{"grade": true, "reason": "x"}', None),
        ('{"grade": 1.0, "reason": "x"}', None),
        *((text, None) for text in ("", None, '{"grade": 1')),
    ],
)
def test_one_object_with_a_grade_of_the_scale_is_read(text: str | None, grade: int | None) -> None:
    assert read_answer(text, range(4)) == (None if grade is None else (grade, "x"))


def test_a_long_reason_is_cut() -> None:
    found = read_answer(json.dumps({"grade": 1, "reason": "x" * 3000}), range(4))
    assert found == (1, "x" * LONGEST_REASON)
    assert LONGEST_REASON == 2000
