"""Tokens and counts of a few words, and the corpus that is made of them, with every figure counted by hand."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import numbers, strings_of
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.ranking import corpus as tokens
from annot.ranking import search
from annot.ranking.corpus import (
    Corpus,
    Shard,
    Vocabulary,
    counted,
    gather,
    in_order,
    lengths,
    make_shard,
    run_of,
    sparse,
    tokenise,
    vocabulary,
    with_data,
)
from annot.ranking.search import fit_bm25
from indexed import batches, corpus_of

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


@pytest.mark.parametrize(
    ("rule", "pieces", "found"),
    [
        ("terms", ["don't", "x", "b2", "ab_c"], [["don"], [], ["b2"], ["ab_c"]]),
        ("words", ["don't", "x", "b2", "ab_c"], [["don't"], ["x"], ["b2"], ["ab", "c"]]),
    ],
)
def test_pieces_fall_into_the_tokens_of_a_rule(rule: Any, pieces: list[str], found: list[list[str]]) -> None:
    words = vocabulary(strings_of(pieces), rule)
    names = words.strings.to_pylist()
    assert names == sorted({token for tokens in found for token in tokens})
    assert [[names[token] for token in words.expand(np.array([at], np.int32))[0]] for at in range(len(pieces))] == found


PAPERS = [
    Paper("a", "One two", ("Two two.", "Three é.")),
    Paper("b", "", ()),
    Paper("c", "Three", ("One.", "", "Two one four.")),
    Paper("d", "Two", ("Four",)),
]


def test_one_pass_over_the_papers_gives_pieces_sentences_and_documents() -> None:
    strings, streams = tokenise(batches(PAPERS, size=3))
    pieces, titles, abstracts = strings.to_pylist(), streams["title"], streams["abstract"]
    assert pieces == ["four", "one", "three", "two", "é"]
    assert [pieces[at] for at in abstracts.ids] == [
        "two",
        "two",
        "three",
        "é",
        "one",
        "two",
        "one",
        "four",
        "four",
    ]
    assert abstracts.sentences.tolist() == [0, 2, 4, 5, 5, 8, 9]
    assert abstracts.documents.tolist() == [0, 2, 2, 5, 6]
    assert abstracts.starts.tolist() == [0, 4, 4, 8, 9]
    assert (len(titles), titles.documents.tolist()) == (4, [0, 1, 2, 3, 4])
    assert [pieces[at] for at in titles.ids] == ["one", "two", "three", "two"]
    (whole,) = batches(PAPERS)
    some, streams = tokenise([whole.slice(2, 2), whole.slice(0, 1)])
    assert [some[int(at)].as_py() for at in streams["title"].ids] == ["three", "two", "one", "two"]
    assert [some[int(at)].as_py() for at in streams["abstract"].ids] == [
        "one",
        "two",
        "one",
        "four",
        "four",
        "two",
        "two",
        "three",
        "é",
    ]
    assert streams["abstract"].documents.tolist() == [0, 3, 4, 6]
    nothing, streams = tokenise([])
    assert (nothing.to_pylist(), len(streams["abstract"])) == ([], 0)


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


def test_blocks_are_of_unit_vectors_of_so_many_papers(corpus: Corpus) -> None:
    for size in (1, 3, 4, 9):
        found = list(search.blocks(corpus, "abstract", size=size))
        assert [block.shape[0] for block in found] == [min(size, 4 - at) for at in range(0, 4, size)]
        norms = np.concatenate([np.sqrt(block.multiply(block).sum(axis=1)).A1 for block in found])
        assert norms.tolist() == pytest.approx([1, 0, 1, 1])
        assert {block.dtype for block in found} == {np.dtype(np.float32)}


def test_bm25_by_its_formula(corpus: Corpus) -> None:
    """Robertson's: idf tf (k1 + 1) / (tf + k1 (1 - b + b length / mean))."""
    model = fit_bm25(corpus.statistics("abstract", "words"), k1=1.5, b=0.75, epsilon=0.25)
    assert model.mean_length == 2
    rare = math.log(3.5) - math.log(1.5)
    assert model.idf.tolist() == pytest.approx([0, rare, rare, 0])
    rows = corpus.counts("abstract", "words", np.array([0, 2]))
    query = corpus.sentences("c", [0], "words")
    expected = rare * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 4 / 2))
    assert model.scores(query, rows).tolist() == pytest.approx([0, expected])
    with pytest.raises(InputError, match="at least one token"):
        fit_bm25(corpus_of([Paper("p", "title", ())]).statistics("abstract", "words"), k1=1, b=1, epsilon=1)


def test_a_slice_of_an_arrow_array_begins_where_it_begins() -> None:
    import pyarrow as pa

    array = pa.array([5, 6, 7, 8], pa.int32())
    assert numbers(array[1:3]).tolist() == [6, 7]
    assert numbers(pa.array([], pa.int64())).tolist() == []
    assert tokens.numbers(pa.array([1], pa.uint8())).dtype == np.uint8
