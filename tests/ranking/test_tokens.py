"""The one pass over the text gives, for every rule, the tokens that its regular expression finds."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base import array_files
from annot.base.array_files import as_arrays, as_strings, strings_of
from annot.base.errors import InputError, MissingInput
from annot.base.records import Paper
from annot.ranking.corpus import RULES, Corpus, Field, Rule, Sparse, make_shard
from hypothesis import example, given
from hypothesis import strategies as st
from indexed import batches, corpus_of
from numpy.typing import NDArray

SCIKIT = re.compile(r"(?u)\b\w\w+\b")
WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")

sentences = st.text(
    alphabet=st.one_of(
        st.sampled_from("aB9_' .,-\n\0’éßİΣσςµª\u0301字\u2028"), st.characters(exclude_categories=["Cs"])
    ),
    max_size=30,
)


def found_in(corpus: Corpus, rule: Rule, field: Field, row: int) -> list[str]:
    """The tokens of a field of a paper, in their order."""
    number = int(np.searchsorted(corpus.starts, row, side="right")) - 1
    shard, row = corpus.shards[number], int(row - corpus.starts[number])
    words, stream = shard.vocabulary(rule), shard.stream(field)
    return [
        words.strings[token].as_py()
        for token in words.expand(stream.ids[stream.starts[row] : stream.starts[row + 1]])[0]
    ]


def test_the_rules_are_scikit_learns_and_the_words_of_the_published_baselines() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    assert RULES["terms"].pattern == TfidfVectorizer().token_pattern
    assert RULES["words"].pattern == WORD.pattern


@given(st.lists(st.tuples(sentences, st.lists(sentences, max_size=4)), max_size=5), st.integers(1, 5))
@example([("Don't", ["İstanbul's naïve_x ΑΣ", "ΑΣ.Α", "ΑΣ'Α b\0c d", "''a''b 'c'", "K"])], 1)
def test_every_rule_finds_in_the_pieces_what_it_finds_in_the_text(
    texts: list[tuple[str, list[str]]], shard: int
) -> None:
    papers = [Paper(str(row), title, tuple(abstract)) for row, (title, abstract) in enumerate(texts)]
    corpus = corpus_of(papers, shard=shard)
    for rule, pattern in (("terms", SCIKIT), ("words", WORD)):
        for row, (title, abstract) in enumerate(texts):
            for field, text in (("title", title), ("abstract", " ".join(abstract))):
                assert found_in(corpus, rule, field, row) == pattern.findall(text.lower())  # type: ignore[arg-type]


def counted(corpus: Corpus, row: Sparse, rule: Rule) -> Counter[str]:
    tokens = corpus.tokens(rule).to_pylist()
    return Counter({tokens[at]: int(number) for at, number in zip(row.indices, row.data, strict=True)})


@given(st.lists(sentences, min_size=1, max_size=5), st.data())
def test_chosen_sentences_can_be_cut_out(abstract: list[str], data: st.DataObject) -> None:
    corpus = corpus_of([Paper("other", "a title", ("one two",)), Paper("p", "t", tuple(abstract))], shard=1)
    chosen = data.draw(st.lists(st.integers(0, len(abstract) - 1)))
    expected = Counter(token for position in chosen for token in WORD.findall(abstract[position].lower()))
    assert counted(corpus, corpus.sentences("p", chosen, "words"), "words") == expected
    every = Counter(token for sentence in abstract for token in WORD.findall(sentence.lower()))
    assert counted(corpus, corpus.sentences("p", None, "words"), "words") == every


def test_sentences_that_are_not_there_are_named_together() -> None:
    corpus = corpus_of([Paper("p", "t", ("one", "two"))])
    with pytest.raises(InputError) as caught:
        corpus.sentences("p", [2, 0, -1], "words")
    assert caught.value.faults == ("p: no sentence 2, expected 0 to 1", "p: no sentence -1, expected 0 to 1")


def test_an_id_that_comes_twice_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        corpus_of([Paper("p", "a", ()), Paper("q", "b", ()), Paper("p", "c", ())], shard=2)
    assert caught.value.faults == ("p: more than one paper has this id",)


def test_a_shard_comes_back_from_its_folder(papers: list[Paper], tmp_path: Path) -> None:
    arrays = make_shard(batches(papers))
    array_files.save(tmp_path / "shard", kind="k", arrays=arrays, texts={}, facts={})
    back = array_files.load(tmp_path / "shard", kind="k").arrays
    assert set(back) == set(arrays)
    for name, array in arrays.items():
        assert not back[name].flags.writeable
        assert back[name].base is not None
        assert np.array_equal(back[name], array)
    assert array_files.faults(tmp_path / "shard") == []
    with (tmp_path / "shard" / "pieces_utf8.npy").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"?")
    (tmp_path / "shard" / "title_ids.npy").unlink()
    told = "\n".join(array_files.faults(tmp_path / "shard"))
    assert "pieces_utf8.npy: found" in told
    assert "title_ids.npy: found no file" in told


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3), np.float32),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(10**5, dtype=np.int32),
        np.array(7, np.uint8),
        np.array([True, False]),
        np.ones((2, 3, 4), np.float16),
    ],
)
def test_an_array_is_mapped_as_numpy_loads_it(tmp_path: Path, array: NDArray[Any]) -> None:
    np.save(tmp_path / "a.npy", array)
    found = array_files.mapped(tmp_path / "a.npy")
    assert (found.shape, found.dtype, found.flags.writeable) == (array.shape, array.dtype, False)
    assert np.array_equal(found, np.load(tmp_path / "a.npy"))


def test_a_file_that_is_cut_short_or_of_another_version_is_not_mapped(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(9))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="smaller"):
        array_files.mapped(path)
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.arange(9), version=(2, 0))
    with pytest.raises(ValueError, match="version"):
        array_files.mapped(path)
    np.save(path, np.array(["words"]))
    with pytest.raises(ValueError, match="array of numbers"):
        array_files.mapped(path)


def test_a_folder_of_another_kind_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match=r"about\.json is missing"):
        array_files.load(tmp_path, kind="annot-shard-1")
    array_files.save(tmp_path / "x", kind="other", arrays={}, texts={}, facts={})
    with pytest.raises(InputError, match="found kind 'other'"):
        array_files.load(tmp_path / "x", kind="annot-shard-1")


def test_lists_keep_every_character_but_the_line_feed(tmp_path: Path) -> None:
    strings = ("a\rb", "\u2028", "", " c ", "\x85")
    array_files.save(tmp_path / "x", kind="k", arrays={}, texts={"names": strings}, facts={})
    assert array_files.load(tmp_path / "x", kind="k").texts["names"] == strings


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4)))
def test_strings_go_to_arrow_and_to_their_arrays_and_back(texts: list[str]) -> None:
    found = strings_of(texts)
    assert found.to_pylist() == texts
    found.validate(full=True)
    assert as_strings(as_arrays("x", found), "x").to_pylist() == texts
    assert as_strings(as_arrays("x", found.slice(1)), "x").to_pylist() == texts[1:]
