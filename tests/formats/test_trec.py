"""TREC run and qrels files: what is read, what is refused, and that writing and reading are inverse."""

import io
import math

import pytest
from annot.base.errors import InputError
from annot.base.records import Qrel, ScoredDoc, in_order, ranked
from annot.formats.trec import read_qrels, read_run, read_tagged_run, write_qrels, write_run
from hypothesis import given, settings
from hypothesis import strategies as st

ids = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(
    lambda text: not any(char.isspace() for char in text) and not text.startswith("\ufeff")
)
scores = st.floats(allow_nan=False, allow_infinity=False)
rankings = st.dictionaries(
    ids,
    st.dictionaries(ids, scores, min_size=1, max_size=6).map(lambda d: [ScoredDoc(*pair) for pair in d.items()]),
    min_size=1,
    max_size=4,
)


@settings(deadline=None)
@given(rankings, ids)
def test_a_run_read_back_is_the_run_that_was_written(documents: dict[str, list[ScoredDoc]], tag: str) -> None:
    text = write_run(documents, tag=tag)
    expected = {query_id: in_order(scored) for query_id, scored in documents.items()}
    assert read_tagged_run(io.StringIO(text), name="x.run") == (tag, expected)
    assert write_run(read_run(io.StringIO(text), name="x.run"), tag=tag) == text


@settings(deadline=None)
@given(st.dictionaries(st.tuples(ids, ids), st.integers(-2, 5), min_size=1, max_size=10))
def test_qrels_read_back_are_the_qrels_that_were_written(grades: dict[tuple[str, str], int]) -> None:
    qrels = [Qrel(*pair, grade) for pair, grade in grades.items()]
    assert read_qrels(io.StringIO(write_qrels(qrels)), name="qrels.txt") == tuple(sorted(qrels))


def test_a_run_is_written_column_by_column_with_ties_by_id_and_the_digits_of_its_scores() -> None:
    text = write_run(
        {
            "q2": [ScoredDoc("d1", 1.0)],
            "q1": [ScoredDoc("d9", 0.12345649), ScoredDoc("d10", 0.12345651), ScoredDoc("z", -0.0)],
        },
        tag="bm25",
    )
    assert text == ("q1 Q0 d10 1 0.12345651 bm25\nq1 Q0 d9 2 0.12345649 bm25\nq1 Q0 z 3 0 bm25\nq2 Q0 d1 1 1 bm25\n")
    ours = ranked([ScoredDoc("d9", 0.33333331), ScoredDoc("d10", 0.33333330), ScoredDoc("d8", 1234567.0)])
    assert write_run({"q": ours}, tag="t") == "q Q0 d8 1 1.23457e+06 t\nq Q0 d10 2 0.333333 t\nq Q0 d9 3 0.333333 t\n"


def test_order_comes_from_the_scores_and_neither_from_the_rank_column_nor_from_the_lines() -> None:
    run = read_run(["q Q0 low 1 0.5 t\n", "q Q0 high 2 1.5e0 t\r\n", "\n", "q\tQ0\tmid  3 1 t"], name="x.run")
    assert [doc.doc_id for doc in run["q"]] == ["high", "mid", "low"]


def test_every_fault_of_a_run_is_listed_with_its_line() -> None:
    lines = ["q Q0 d1 1 2.0 t\n"] * 2 + ["q Q0 d2 1 nan t\n", "q Q0 d3 1 1_0 t", "q Q0 d4 1 inf t", "q Q0 d5 1 high t"]
    lines += ["q Q0 d6 1 0.5\n", "q Q0 d7 1 0.5 other\n"]
    with pytest.raises(InputError) as caught:
        read_run(lines, name="pools/bm25.run")
    assert caught.value.faults == (
        "pools/bm25.run:2: document 'd1' is listed twice for query 'q'",
        "pools/bm25.run:3: score 'nan', expected a finite number",
        "pools/bm25.run:4: score '1_0', expected a finite number",
        "pools/bm25.run:5: score 'inf', expected a finite number",
        "pools/bm25.run:6: score 'high', expected a finite number",
        "pools/bm25.run:7: 5 columns, expected 6 (query_id Q0 doc_id rank score tag)",
        "pools/bm25.run:8: tag 'other', expected 't' as in the lines before",
    )


def test_every_fault_of_qrels_is_listed_with_its_line() -> None:
    with pytest.raises(InputError) as caught:
        read_qrels(["q 0 d 1\n", "q 0 d 2\n", "q 0 e 1.5\n", "q e 1\n"], name="qrels.txt")
    assert [fault.split(": ")[0] for fault in caught.value.faults] == ["qrels.txt:2", "qrels.txt:3", "qrels.txt:4"]


def test_qrels_of_beir_have_a_header_and_no_second_column() -> None:
    lines = ["query-id\tcorpus-id\tscore\n", "q1\td1\t1\n", "q1\td2\t0\n"]
    assert read_qrels(lines, name="test.tsv") == (Qrel("q1", "d1", 1), Qrel("q1", "d2", 0))
    with pytest.raises(InputError) as caught:
        read_qrels([*lines, "q1 0 d3 1\n", lines[0]], name="test.tsv")
    assert caught.value.faults == (
        "test.tsv:4: 4 columns, expected 3 (query-id corpus-id score)",
        "test.tsv:5: relevance 'score', expected an integer",
    )


def test_qrels_of_mteb_are_objects_with_the_columns_of_beir() -> None:
    lines = ['{"query-id":"q1","corpus-id":"d1","score":1}\n', '{"query-id":7,"corpus-id":"d2","score":0.0,"x":[]}\n']
    assert read_qrels(lines, name="test.jsonl") == (Qrel("q1", "d1", 1), Qrel("7", "d2", 0))
    with pytest.raises(InputError) as caught:
        read_qrels([*lines, '{"query-id":"q1","corpus-id":"d3"}\n', '{"query-id"\n'], name="test.jsonl")
    expected = "columns, expected 3 (query-id corpus-id score)"
    assert caught.value.faults == (f"test.jsonl:3: 2 {expected}", f"test.jsonl:4: 0 {expected}")


@pytest.mark.parametrize("bad", ["", "a b", "a\u00a0b", "a\u2028b", "a\x1fb"])
def test_an_id_that_could_not_be_read_back_is_refused_on_writing(bad: str) -> None:
    with pytest.raises(InputError):
        write_run({"q": [ScoredDoc(bad, 1.0)]}, tag="t")
    with pytest.raises(InputError):
        write_run({bad: [ScoredDoc("d", 1.0)]}, tag="t")
    with pytest.raises(InputError):
        write_run({"q": [ScoredDoc("d", 1.0)]}, tag=bad)
    with pytest.raises(InputError):
        write_qrels([Qrel("q", bad, 1)])


@pytest.mark.parametrize("relevance", ["9" * 5000, "9" * 10, "1.0", "x"])
def test_a_relevance_that_is_no_grade_is_a_fault(relevance: str) -> None:
    with pytest.raises(InputError) as caught:
        read_qrels([f"q 0 d {relevance}"], name="qrels.txt")
    assert caught.value.faults[0].startswith("qrels.txt:1: relevance ")
    assert read_qrels(["q 0 d 999999999"], name="qrels.txt") == (Qrel("q", "d", 999_999_999),)


def test_scores_that_are_not_finite_and_repeated_documents_are_refused_on_writing() -> None:
    documents = [ScoredDoc("a", math.nan), ScoredDoc("b", math.inf), ScoredDoc("c", 1.0), ScoredDoc("c", 2.0)]
    with pytest.raises(InputError) as caught:
        write_run({"q": documents}, tag="t")
    assert len(caught.value.faults) == 3
    with pytest.raises(InputError):
        write_qrels([Qrel("q", "d", 1), Qrel("q", "d", 2)])
