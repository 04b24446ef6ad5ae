"""The steps of the attributes of sentences, and the same attributes read as the numbers of a model."""

import random
from collections import Counter

import numpy as np
import pytest
from annot.corpus import labelling
from annot.corpus.labelling import AttributeReader, features


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


@pytest.mark.parametrize("seed", range(4))
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
