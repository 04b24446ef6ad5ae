"""Attributes of sentences: their steps, what the labeller sees, and the same read as the numbers of a model."""

import random
from collections import Counter

import numpy as np
import pytest
from annot.corpus import labelling
from annot.corpus.labelling import FEATURE_SET, AttributeReader, features, words


@pytest.mark.parametrize(
    ("words", "step"), [(0, 0), (4, 0), (5, 1), (9, 1), (10, 2), (49, 9), (50, 10), (54, 10), (55, 10), (90, 10)]
)
def test_the_length_has_steps_of_five_words_up_to_ten(words: int, step: int) -> None:
    (row,) = features([" ".join(["a"] * words)])
    assert [part for part in row if part.startswith("l:")] == [f"l:{step}"]


@pytest.mark.parametrize(
    ("count", "fifths"), [(1, [0]), (3, [0, 1, 3]), (5, [0, 1, 2, 3, 4]), (10, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4])]
)
def test_the_place_is_also_given_in_fifths(count: int, fifths: list[int]) -> None:
    rows = features(["A b."] * count)
    assert [[part for part in row if part.startswith("r:")] for row in rows] == [[f"r:{fifth}"] for fifth in fifths]


@pytest.mark.parametrize(
    ("sentence", "starts"),
    [
        ("", []),
        ("One.", ["f1:one"]),
        ("One two.", ["f1:one", "f2:one two"]),
        ("One two three.", ["f1:one", "f2:one two", "f3:one two three"]),
        ("One two three four.", ["f1:one", "f2:one two", "f3:one two three"]),
    ],
)
def test_a_sentence_has_as_many_first_words_as_it_has_words_up_to_three(sentence: str, starts: list[str]) -> None:
    (row,) = features([sentence])
    assert [part for part in row if part.startswith("f")] == starts


def test_a_word_that_no_attribute_has_is_no_word_of_the_model() -> None:
    reader = AttributeReader({"w:model": 4, "f1:model": 5})
    for sentence in ("7", "unknown", "7 unknown 8"):
        assert reader.read([sentence], np.array([1]))[1].tolist() == []
    assert reader.read(["Model 7"], np.array([1]))[1].tolist() == [4, 5]


def test_a_cue_is_before_or_after_in_the_same_abstract_alone() -> None:
    places = labelling._Places(np.array([3, 2, 1]))
    assert (places.at.tolist(), places.count.tolist()) == ([0, 1, 2, 0, 1, 0], [3, 3, 3, 2, 2, 1])

    def of(*found: int) -> tuple[list[int], list[int]]:
        here = np.array(found, dtype=np.bool_)
        return places.any_before(here).astype(int).tolist(), places.any_after(here).astype(int).tolist()

    assert of(1, 0, 0, 0, 0, 0) == ([0, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0])
    assert of(0, 0, 1, 0, 0, 0) == ([0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0])
    assert of(0, 1, 0, 1, 0, 1) == ([0, 0, 1, 0, 1, 0], [1, 0, 0, 0, 0, 0])
    assert of(0, 0, 0, 0, 1, 0) == ([0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0])


VOCABULARY = (
    *("we", "propose", "show", "that", "results", "the", "aim", "study", "2", "7", "3.5", "model", "of", "found"),
    *("evaluation", "data", "É", "don't", "x1"),
)


def abstracts(chance: random.Random) -> list[list[str]]:
    return [
        [" ".join(chance.choices(VOCABULARY, k=chance.choice((0, 1, 2, 3, 7, 30, 60)))) for _ in range(size)]
        for size in (1, 2, 5, 7, 11)
    ]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_numbers_are_those_of_the_attributes_that_the_model_has(seed: int, share: float) -> None:
    chance = random.Random(seed)
    seen, read = abstracts(chance), abstracts(chance)
    every = dict.fromkeys(
        part for one in (*seen, *(read if share == 1 else ())) for row in features(one) for part in row
    )
    model = {part: at for at, part in enumerate(part for part in every if chance.random() < share)}
    sentences = [sentence for one in read for sentence in one]
    found = AttributeReader(model).read(sentences, np.array([len(one) for one in read]))
    expected = [[model[part] for part in row if part in model] for one in read for row in features(one)]
    numbers: list[list[int]] = [[] for _ in sentences]
    for sentence, attribute in zip(*(column.tolist() for column in found), strict=True):
        numbers[sentence].append(attribute)
    assert [Counter(row) for row in numbers] == [Counter(row) for row in expected]


ABSTRACT = (
    "Parsing noisy text is hard.",
    "In this paper we propose 2 new parsers, and 1,000 rules.",
    "Results show that both improve by 3.5 points.",
)


def test_words_are_lower_case_numbers_are_0_and_punctuation_is_gone() -> None:
    assert words("We don't use 1,000 rules -- 3.5% of É. Müller's!") == [
        *("we", "don't", "use", "0", "rules", "0", "of", "é", "müller's")
    ]


def test_every_sentence_has_its_place_from_both_ends() -> None:
    rows = features(ABSTRACT)
    assert [{"p:0", "e:2", "n:3"} <= set(rows[0]), {"p:1", "e:1"} <= set(rows[1]), {"p:2", "e:0"} <= set(rows[2])] == [
        True,
        True,
        True,
    ]
    assert all(FEATURE_SET in row for row in rows)


def test_a_sentence_sees_its_words_pairs_first_words_and_length() -> None:
    first = features(ABSTRACT)[0]
    assert {"w:noisy", "2:noisy text", "f1:parsing", "f2:parsing noisy", "f3:parsing noisy text", "l:1"} <= set(first)


def test_a_sentence_sees_the_words_of_both_neighbours_and_none_further() -> None:
    rows = features(ABSTRACT)
    assert {"-w:parsing", "+w:results"} <= set(rows[1])
    assert not any(part.startswith("-w:") for part in rows[0])
    assert not any(part.startswith("+w:") for part in rows[2])
    assert "+w:results" not in rows[0]


def test_a_sentence_knows_whether_the_turn_to_the_own_work_and_to_the_outcome_lies_before_or_after_it() -> None:
    rows = features(ABSTRACT)
    assert [next(part for part in row if len(part) == 5 and part.startswith("a:")) for row in rows] == [
        *("a:001", "a:100", "a:010")
    ]
    assert {"c:h0", "c:b0", "c:n1"} <= set(rows[0])
    assert {"c:h1", "c:b0", "c:n0"} <= set(rows[2])
