"""The hashes by which near-duplicates are found, against plain Python, and who stays of those that are found."""

import re
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest
from annot.corpus import corpus_filters
from annot.corpus.corpus_filters import (
    BANDS,
    Sketches,
    candidates,
    groups,
    passed_over,
    resemblance,
    shingles,
    sketch,
    together,
)

BITS = 2**64


def mixed(value: int) -> int:
    """The finaliser of MurmurHash3, as its author wrote it."""
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD % BITS
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 % BITS
    return value ^ value >> 33


def hash_of(word: bytes) -> int:
    """A polynomial over FNV's prime; letters beyond the 256th share its power."""
    lowered = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in word)
    return mixed(sum(byte * 0x100000001B3 ** min(at, 256) for at, byte in enumerate(lowered, 1)) % BITS)


WORD = re.compile("[\u3000-\u9fff]|(?:[0-9A-Za-z]|[^\x00-\x7f\u3000-\u9fff])+")
"""A character of Chinese or Japanese, or letters and digits up to the next one."""


def shingles_of(sentences: list[str]) -> list[int]:
    words = [hash_of(word.encode()) for text in sentences for word in WORD.findall(text)]
    found = []
    for three in zip(words, words[1:], words[2:], strict=False):
        value = 0
        for word in three:
            value = mixed((value * 0x9E3779B97F4A7C15 + word) % BITS)
        found.append(value)
    return found


TEXTS = [
    ["One two three four", "five, SIX."],
    [],
    ["a b"],
    ["", "x9 Zwölf-Äpfel it's"],
    ["w" * 300 + " b c", "Az z{Z @`[ /0:"],
    ["a b c d", "a b c d"],
    ["À la carte, aÀb ÿ"],
    ["蜜蜂的舞蹈a1。x 用BERT", "模型é", "が"],
]


@pytest.mark.parametrize(("start", "count"), [(0, 8), (1, 5), (3, 2), (4, 1), (1, 1), (6, 1), (7, 1)])
def test_shingles_are_hashes_of_three_words_in_a_row(start: int, count: int) -> None:
    array = pa.array(TEXTS, pa.list_(pa.string())).slice(start, count)
    hashes, bounds = shingles(array)
    found = [hashes[low:high].tolist() for low, high in pairwise(bounds)]
    assert found == [shingles_of(sentences) for sentences in TEXTS[start : start + count]]


def test_a_sketch_is_the_least_of_each_of_its_hashes_in_bands() -> None:
    hashes, bounds = shingles(pa.array(TEXTS, pa.list_(pa.string())))
    factors = np.random.default_rng(1997).integers(1, 2**63, 32, dtype=np.uint64).tolist()
    expected = []
    for sentences in TEXTS:
        bands = [0] * 8
        for at, factor in enumerate(factors if shingles_of(sentences) else ()):
            least = min(mixed(one * (2 * factor + 1) % BITS) for one in shingles_of(sentences))
            bands[at // 4] = mixed((bands[at // 4] * 0x9E3779B97F4A7C15 + least) % BITS) | 1
        expected.append(bands)
    assert sketch(hashes, bounds).tolist() == expected


def keys(*values: int) -> np.ndarray:
    return np.array(values, np.uint64)


def test_the_places_of_a_key_that_several_have_are_together() -> None:
    assert together(keys(3, 0, 2, 3, 0, 2, 3, 1)) == [[2, 5], [0, 3, 6]]
    assert together(keys(0, 0)) == []
    assert together(keys()) == []


def test_papers_of_one_title_or_band_are_candidates_and_a_crowd_is_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(titles: list[int], bands: list[int]) -> Sketches:
        rows = np.zeros((len(titles), BANDS), np.uint64)
        rows[:, -1] = bands
        return Sketches(keys(*titles), rows, np.zeros(len(titles), bool))

    sketches = [of([7, 7], [1, 2]), of([7, 0], [9, 9])]
    assert candidates(sketches).tolist() == [[0, 1], [0, 2], [1, 2], [2, 3]]
    monkeypatch.setattr(corpus_filters, "CROWD", 3)
    assert candidates([of([5, 5, 5], [0] * 3)]).tolist() == [list(pair) for pair in combinations(range(3), 2)]
    monkeypatch.setattr(corpus_filters, "CROWD", 2)
    assert candidates([of([5, 5, 5], [0] * 3)]).tolist() == [[0, 1], [1, 2]]
    assert candidates([of([0], [0])]).tolist() == []
    assert candidates([of([5, 5], [3, 3])]).tolist() == [[0, 1]]
    monkeypatch.undo()
    assert len(candidates([of([5] * 50, [0] * 50)])) == 50 * 49 // 2
    assert len(candidates([of([5] * 51, [0] * 51)])) == 50


def test_resemblance_is_the_share_of_what_either_has() -> None:
    assert resemblance(keys(1, 2, 3), keys(2, 3, 4)) == 0.5
    assert resemblance(keys(1), keys(1)) == 1
    assert resemblance(keys(), keys()) == 0


def test_two_texts_need_nine_tenths_in_common_and_half_where_they_share_a_title() -> None:
    ten, nine, five = keys(*range(1, 11)), keys(*range(1, 10)), keys(*range(1, 6))
    sets = {0: ten, 1: nine, 2: five, 3: keys(*range(1, 5)), 7: ten}
    no_titles = keys(*[0] * 8)
    assert groups(np.array([[0, 1], [0, 2]]), no_titles, sets) == [(0, 1)]
    assert groups(np.array([[0, 2], [0, 3]]), keys(9, 0, 9, 9, 0, 0, 0, 0), sets) == [(0, 2)]
    assert groups(np.array([[0, 2]]), keys(9, 0, 8, 0, 0, 0, 0, 0), sets) == []
    assert groups(np.array([[0, 1], [1, 7]]), no_titles, sets) == [(0, 1, 7)]
    assert groups(np.zeros((0, 2), np.int64), no_titles, sets) == []


@pytest.mark.parametrize(
    ("standing", "later", "cited", "out"),
    [
        ("", "", "", {"b": "a", "c": "a"}),
        ("", "", "c", {"a": "c", "b": "c"}),
        ("", "", "bc", {"a": "b", "c": "b"}),
        ("bc", "a", "a", {"a": "b"}),
        ("", "b", "a", {"a": "b", "b": "b", "c": "b"}),
    ],
)
def test_of_a_group_one_stays(standing: str, later: str, cited: str, out: dict[str, str]) -> None:
    assert passed_over(["abc", "x"], standing=standing, later=later, cited=cited) == out


def test_chinese_abstracts_that_differ_in_a_few_characters_are_nearly_the_same() -> None:
    """By hand: n characters have n - 2 shingles, and one that is exchanged within them changes three."""
    text = "我们研究了蜜蜂的舞蹈行为和信息传递方式结果表明舞蹈能够准确地指示花朵的方向"
    assert len({*text[:3]} & {*text[3:6]}) == 0
    changed = text[:20] + "甲" + text[21:]
    hashes, bounds = shingles(pa.array([[text], [changed]], pa.list_(pa.string())))
    first, other = (np.unique(hashes[low:high]) for low, high in pairwise(bounds))
    assert (len(first), len(other)) == (len(text) - 2, len(text) - 2)
    assert resemblance(first, other) == (len(text) - 5) / (len(text) + 1)
