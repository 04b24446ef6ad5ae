"""The one pass over the text gives, for every rule, the tokens that its regular expression finds."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from annot.errors import InputError, MissingInput
from annot.ranking import storage, tokens
from annot.ranking.counts import count, count_pieces, document_frequency
from annot.ranking.tokens import RULES, Rule, TokenisedCorpus, tokenise, vocabulary
from annot.records import Paper
from hypothesis import example, given
from hypothesis import strategies as st

SCIKIT = re.compile(r"(?u)\b\w\w+\b")
WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")

sentences = st.text(
    alphabet=st.one_of(st.sampled_from("aB9_' .,-\n\0’éßİΣσςµª\u0301字\ud800\u2028"), st.characters()), max_size=30
)


def tokens_of(corpus: TokenisedCorpus, rule: Rule, pieces: np.ndarray) -> list[str]:
    words = vocabulary(corpus, rule)
    return [words.tokens[token] for token in words.expand(pieces)[0]]


def test_the_rules_are_scikit_learns_and_the_words_of_the_published_baselines() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    assert RULES["terms"].pattern == TfidfVectorizer().token_pattern
    assert RULES["words"].pattern == WORD.pattern


@given(st.lists(st.tuples(sentences, st.lists(sentences, max_size=4)), max_size=5))
@example([("Don't", ["İstanbul's naïve_x ΑΣ", "ΑΣ'Α b\0c \ud800d", "''a''b 'c'"])])
def test_every_rule_finds_in_the_pieces_what_it_finds_in_the_text(texts: list[tuple[str, list[str]]]) -> None:
    corpus = tokenise(Paper(str(row), title, tuple(abstract)) for row, (title, abstract) in enumerate(texts))
    for rule, pattern in (("terms", SCIKIT), ("words", WORD)):
        for row, (title, abstract) in enumerate(texts):
            for stream, text in ((corpus.titles, title), (corpus.abstracts, " ".join(abstract))):
                pieces = stream.ids[stream.starts[row] : stream.starts[row + 1]]
                assert tokens_of(corpus, rule, pieces) == pattern.findall(text.lower())  # type: ignore[arg-type]


@given(st.lists(sentences, min_size=1, max_size=5), st.data())
def test_chosen_sentences_can_be_cut_out(abstract: list[str], data: st.DataObject) -> None:
    corpus = tokenise([Paper("other", "a title", ("one two",)), Paper("p", "t", tuple(abstract))])
    chosen = data.draw(st.lists(st.integers(0, len(abstract) - 1)))
    expected = [token for position in chosen for token in WORD.findall(abstract[position].lower())]
    assert tokens_of(corpus, "words", corpus.sentence_ids("p", chosen)) == expected


def test_sentences_that_are_not_there_are_named_together() -> None:
    corpus = tokenise([Paper("p", "t", ("one", "two"))])
    with pytest.raises(InputError) as caught:
        corpus.sentence_ids("p", [2, 0, -1])
    assert caught.value.faults == ("p: no sentence 2; expected 0 to 1", "p: no sentence -1; expected 0 to 1")


def test_batches_do_not_show(papers: list[Paper], corpus: TokenisedCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_BATCH", 100)
    again = tokenise(papers)
    assert sorted(again.pieces) == sorted(corpus.pieces)
    for rule in RULES:
        for one, other in ((again.titles, corpus.titles), (again.abstracts, corpus.abstracts)):
            assert np.array_equal(one.sentences, other.sentences)
            assert tokens_of(again, rule, one.ids) == tokens_of(corpus, rule, other.ids)


def test_an_id_that_comes_twice_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        tokenise([Paper("p", "a", ()), Paper("q", "b", ()), Paper("p", "c", ())])
    assert caught.value.faults == ("p: again",)


def test_counts_are_the_tokens_of_each_document(papers: list[Paper], corpus: TokenisedCorpus) -> None:
    words = vocabulary(corpus, "words")
    counts = count(corpus.abstracts, words)
    for row, paper in enumerate(papers):
        line = counts[np.array([row])]
        found = {words.tokens[token]: int(number) for token, number in zip(line.indices, line.data, strict=True)}
        assert found == Counter(WORD.findall(" ".join(paper.sentences).lower()))
        assert counts[row].sum() == sum(found.values())
    whole = count_pieces(corpus.abstracts.ids, words)
    assert int(whole.sum()) == int(counts.sum())
    assert np.array_equal(np.asarray((counts > 0).sum(axis=0)).ravel(), document_frequency(counts))


def test_streams_come_back_from_their_folder(corpus: TokenisedCorpus, tmp_path: Path) -> None:
    tokens.save(corpus, tmp_path / "tokens")
    back = tokens.load(tmp_path / "tokens")
    assert isinstance(back.abstracts.ids, np.memmap)
    assert (back.paper_ids, back.pieces) == (corpus.paper_ids, corpus.pieces)
    for one, other in ((back.titles, corpus.titles), (back.abstracts, corpus.abstracts)):
        assert all(
            np.array_equal(getattr(one, name), getattr(other, name)) for name in ("ids", "sentences", "documents")
        )


def test_a_folder_of_another_kind_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match=r"no about\.json"):
        tokens.load(tmp_path)
    storage.save(tmp_path / "x", kind="other", arrays={}, texts={}, facts={})
    with pytest.raises(InputError, match="found kind 'other'"):
        tokens.load(tmp_path / "x")


def test_lists_keep_every_character_but_the_line_feed(tmp_path: Path) -> None:
    strings = ("a\rb", "\u2028", "", " c ", "\x85")
    storage.save(tmp_path / "x", kind="k", arrays={}, texts={"names": strings}, facts={})
    assert storage.load(tmp_path / "x", kind="k").texts["names"] == strings
