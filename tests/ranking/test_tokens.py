"""Tokens and counts: the rules' regular expressions, and figures counted by hand."""

from __future__ import annotations

import math
import pickle
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import as_arrays, as_strings, numbers, strings_of
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.ranking import corpus as tokens
from annot.ranking import search
from annot.ranking.corpus import (
    RULES,
    Corpus,
    Field,
    Rule,
    Shard,
    Sparse,
    Vocabulary,
    counted,
    gather,
    in_order,
    lengths,
    make_shard,
    run_of,
    sparse,
    with_data,
)
from hypothesis import example, given
from hypothesis import strategies as st
from indexed import batches, corpus_of

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


def tokens_of(corpus: Corpus, row: Sparse, rule: Rule) -> Counter[str]:
    tokens = corpus.tokens(rule).to_pylist()
    return Counter({tokens[at]: int(number) for at, number in zip(row.indices, row.data, strict=True)})


@given(st.lists(sentences, min_size=1, max_size=5), st.data())
def test_chosen_sentences_can_be_cut_out(abstract: list[str], data: st.DataObject) -> None:
    corpus = corpus_of([Paper("other", "a title", ("one two",)), Paper("p", "t", tuple(abstract))], shard=1)
    chosen = data.draw(st.lists(st.integers(0, len(abstract) - 1)))
    expected = Counter(token for position in chosen for token in WORD.findall(abstract[position].lower()))
    assert tokens_of(corpus, corpus.sentences("p", chosen, "words"), "words") == expected
    every = Counter(token for sentence in abstract for token in WORD.findall(sentence.lower()))
    assert tokens_of(corpus, corpus.sentences("p", None, "words"), "words") == every


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4)))
def test_strings_go_to_arrow_and_to_their_arrays_and_back(texts: list[str]) -> None:
    found = strings_of(texts)
    assert found.to_pylist() == texts
    found.validate(full=True)
    assert as_strings(as_arrays("x", found), "x").to_pylist() == texts
    assert as_strings(as_arrays("x", found.slice(1)), "x").to_pylist() == texts[1:]


COUNTS = [[1, 0, 2], [0, 0, 0], [0, 3, 0], [4, 5, 6]]


def matrix(rows: list[list[int]]) -> Any:
    found = [(number, at) for row in rows for at, number in enumerate(row) if number]
    bounds = np.cumsum([0, *(sum(map(bool, row)) for row in rows)])
    data, columns = (np.array(part, np.int32) for part in zip(*found, strict=True))
    return sparse(data, columns, bounds, len(rows[0]))


@pytest.mark.parametrize(("start", "stop"), [(0, 4), (0, 1), (1, 3), (2, 4), (3, 9), (1, 2)])
def test_a_run_has_the_rows_from_the_first_up_to_the_last(start: int, stop: int) -> None:
    found = run_of(matrix(COUNTS), start, stop)
    assert found.toarray().tolist() == COUNTS[start:stop]
    assert found.indptr[0] == 0


def test_lengths_are_of_the_weighted_counts() -> None:
    weights = np.array([1.0, 2.0, 0.5])
    found = lengths(matrix(COUNTS), weights)
    assert found.tolist() == pytest.approx([math.hypot(1, 1), 0, 6, math.hypot(4, 10, 3)])
    assert with_data(matrix(COUNTS), np.arange(6)).toarray().tolist() == [[0, 0, 1], [0, 0, 0], [0, 2, 0], [3, 4, 5]]


def test_ids_are_counted_run_by_run() -> None:
    found = counted(np.array([2, 0, 2, 2, 1]), np.array([0, 3, 3, 5]), 4)
    assert found.toarray().tolist() == [[1, 0, 2, 0], [0, 0, 0, 0], [0, 1, 1, 0]]


def test_strings_are_numbered_in_the_order_of_their_characters() -> None:
    ordered, number_of = in_order(strings_of(["b", "c", "a"]))
    assert (ordered.to_pylist(), number_of.tolist()) == (["a", "b", "c"], [1, 2, 0])


def test_a_piece_gives_its_tokens_in_their_order() -> None:
    words = Vocabulary(strings_of("abc"), np.array([0, 2, 2, 3]), np.array([1, 0, 2], np.int32))
    found, widths = words.expand(np.array([2, 0, 1, 0], np.int32))
    assert (found.tolist(), widths.tolist()) == ([2, 1, 0, 1, 0], [1, 2, 0, 2])
    assert words.expand(np.zeros(0, np.int32))[0].tolist() == []
    assert words.matrix.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]


PAPERS = [
    Paper("a", "One two", ("Two two.", "Three é.")),
    Paper("b", "", ()),
    Paper("c", "Three", ("One.", "", "Two one four.")),
    Paper("d", "Two", ("Four",)),
]


@pytest.fixture(params=[1, 2, 3, 4])
def corpus(request: pytest.FixtureRequest) -> Corpus:
    return corpus_of(PAPERS, shard=request.param)


WORDS = ["four", "one", "three", "two"]
ABSTRACTS = [[0, 0, 1, 2], [0, 0, 0, 0], [1, 2, 0, 1], [1, 0, 0, 0]]


def test_counts_are_those_of_the_corpus_however_it_is_cut(corpus: Corpus) -> None:
    assert len(corpus) == 4
    assert corpus.tokens("words").to_pylist() == WORDS
    rows = np.array([3, 0, 2, 0, 1])
    assert corpus.counts("abstract", "words", rows).toarray().tolist() == [ABSTRACTS[row] for row in rows]
    assert corpus.counts("title", "words", np.array([0, 3])).toarray().tolist() == [[0, 1, 0, 1], [0, 0, 0, 1]]
    assert corpus.totals("abstract", "words").tolist() == [2, 2, 1, 3]
    assert corpus.totals("abstract", "words", np.array([0, 3])).tolist() == [1, 0, 1, 2]
    of_abstracts = corpus.statistics("abstract", "words")
    assert (of_abstracts.documents, of_abstracts.frequency.tolist(), of_abstracts.running) == (4, [2, 1, 1, 2], 8)
    assert of_abstracts.smooth_idf.tolist() == pytest.approx([math.log(5 / (1 + n)) + 1 for n in (2, 1, 1, 2)])
    # A letter by itself is no term, and é is none of the words.
    assert corpus.tokens("terms").to_pylist() == WORDS
    one, two = math.log(5 / 2) + 1, math.log(5 / 3) + 1
    assert corpus.norms("abstract").tolist() == pytest.approx(
        [math.hypot(one, 2 * two), 0, math.hypot(two, 2 * one, two), two]
    )


def test_rows_and_sentences_are_found_by_the_paper(corpus: Corpus) -> None:
    assert corpus.rows(["d", "a", "d"]).tolist() == [3, 0, 3]
    assert corpus.rows([]).tolist() == []
    with pytest.raises(InputError) as caught:
        corpus.rows(["x", "a", "y", "x"])
    assert caught.value.faults == ("x: not in the corpus", "y: not in the corpus")
    assert corpus.sentences("c", None, "words").toarray().tolist() == [[1, 2, 0, 1]]
    assert corpus.sentences("c", [2, 0], "words").toarray().tolist() == [[1, 2, 0, 1]]
    assert corpus.sentences("c", [1], "words").toarray().tolist() == [[0, 0, 0, 0]]
    assert corpus.sentences("a", [0], "words").toarray().tolist() == [[0, 0, 0, 2]]
    with pytest.raises(InputError) as caught:
        corpus.sentences("c", [0, 3, -1], "words")
    assert caught.value.faults == ("c: no sentence 3, expected 0 to 2", "c: no sentence -1, expected 0 to 2")
    again = pickle.loads(pickle.dumps(corpus))
    assert again.rows(["b"]).tolist() == [1]


def test_papers_of_one_id_are_refused() -> None:
    shards = [Shard(make_shard(batches([PAPERS[at], PAPERS[0]]))) for at in (1, 2)]
    with pytest.raises(InputError, match="ids that are not unique") as caught:
        gather(shards)
    assert caught.value.faults == ("a: more than one paper has this id",)


@pytest.mark.parametrize("block", [1, 2, 20_000])
@pytest.mark.parametrize("few", [0, 8])
def test_papers_rank_by_the_cosine_of_their_weights(
    corpus: Corpus, block: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "BLOCK", block)
    monkeypatch.setattr(search, "FEW", few)
    one, two = math.log(5 / 2) + 1, math.log(5 / 3) + 1
    first = 2 * two * two / math.hypot(one, 2 * two) / math.hypot(two, 2 * one, two)
    last = two / math.hypot(two, 2 * one, two)
    queries = corpus.counts("abstract", "terms", np.array([2, 1, 0]))
    found = search.rank_by_terms(
        corpus, "abstract", search.Tfidf(corpus, "abstract"), queries, depths=np.array([9, 9, 1])
    )
    assert [[doc.doc_id for doc in ranking] for ranking in found] == [["c", "d", "a"], [], ["a"]]
    near = [pytest.approx(score, rel=1e-5) for score in sorted((1, first, last), reverse=True)]
    assert [doc.score for doc in found[0]] == near


def test_a_slice_of_an_arrow_array_begins_where_it_begins() -> None:
    import pyarrow as pa

    array = pa.array([5, 6, 7, 8], pa.int32())
    assert numbers(array[1:3]).tolist() == [6, 7]
    assert numbers(pa.array([], pa.int64())).tolist() == []
    assert tokens.numbers(pa.array([1], pa.uint8())).dtype == np.uint8
