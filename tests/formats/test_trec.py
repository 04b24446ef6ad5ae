"""TREC run and qrels files: what is read, what is refused, and that writing and reading are inverse."""

import io
import math

import ir_measures
import pytest
from annot.base.errors import InputError
from annot.base.records import Qrel, ScoredDoc, in_order, ranked
from annot.formats.trec import (
    Match,
    SubmittedRun,
    closest,
    facet_in_name,
    higher_is_better,
    read_matches,
    read_metadata,
    read_qrels,
    read_run,
    read_submitted,
    read_tagged_run,
    write_qrels,
    write_run,
)
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


@pytest.mark.parametrize("space", [" ", "\t", "  "])
def test_a_long_run_has_the_scores_that_ir_measures_reads_in_any_order_of_its_lines(space: str) -> None:
    lines = [f"q{i % 40} Q0 d\N{GREEK SMALL LETTER ALPHA}{i // 40} 1 {i * 37 % 101 / 7} bm25" for i in range(24_000)]
    text = "\n".join(lines).replace(" ", space)
    expected = {(row.query_id, row.doc_id): row.score for row in ir_measures.read_trec_run(io.StringIO(text))}
    tag, run = read_tagged_run(text.splitlines(), name="x.run")
    assert tag == "bm25"
    assert {(query_id, doc.doc_id): doc.score for query_id, docs in run.items() for doc in docs} == expected
    assert all(docs == tuple(sorted(docs, key=lambda doc: (-doc.score, doc.doc_id))) for docs in run.values())


@pytest.mark.parametrize(
    "line", ["q1 Q0 d5 9 1.5 t", "q1 Q0 e 9 nan t", "q1 Q0 e 9 1 u", "q1 Q0  9 1 t", "q1 Q0 e 9 1_0 t"]
)
def test_a_fault_at_the_end_of_a_long_run_is_told_with_its_line(line: str) -> None:
    lines = [f"q1 Q0 d{i} 1 {i} t" for i in range(24_000)]
    with pytest.raises(InputError) as caught:
        read_tagged_run([*lines, line], name="x.run")
    assert len(caught.value.faults) == 1
    assert "24001" in caught.value.faults[0].replace(",", "")


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


def submitted(text: str) -> SubmittedRun:
    return read_submitted(text.encode(), name="r.run")


def faults_of(data: str | bytes) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_submitted(data if isinstance(data, bytes) else data.encode(), name="r.run")
    return caught.value.faults


def ids_of(run: SubmittedRun) -> dict[str, list[str]]:
    return {query: [doc.doc_id for doc in docs] for query, docs in run.documents.items()}


def test_documents_are_in_the_order_of_ranks_and_those_there_twice_stay_twice() -> None:
    run = submitted("q Q0 c 3 0.1 t\nq Q0 a 1 0.3 t\np Q0 x 1 5 t\nq Q0 b 2 0.2 t\nq Q0 a 4 0.05 t\n")
    assert run.form == "trec"
    assert ids_of(run) == {"q": ["a", "b", "c", "a"], "p": ["x"]}
    assert run.documents["q"][0] == ScoredDoc("a", 0.3)
    assert run.rising == []
    assert run.metadata == {}


@pytest.mark.parametrize(
    ("first_rank", "order"), [("999999999", "ba"), ("9999999999", "ab"), ("x", "ab"), ("-7", "ab"), ("²", "ab")]
)
def test_a_rank_that_is_no_number_of_at_most_nine_digits_is_the_number_of_the_line(first_rank: str, order: str) -> None:
    assert ids_of(submitted(f"q Q0 a {first_rank} 2 t\nq Q0 b 3 1 t\n")) == {"q": list(order)}


def test_queries_whose_scores_only_rise_are_named() -> None:
    scores = {"rising": (1, 2, 2), "tied": (1, 1), "falling": (2, 1), "mixed": (1, 3, 2), "one": (1,)}
    lines = [f"{query} Q0 d{at} {at} {score} t" for query, of in scores.items() for at, score in enumerate(of, 1)]
    assert submitted("\n".join(lines)).rising == ["rising"]


def test_one_run_a_file() -> None:
    def with_tags(tags: str) -> str:
        return "".join(f"q Q0 d{tag} 1 1 {tag}\n" for tag in tags)

    assert faults_of(with_tags("ba")) == ("r.run: 2 tags (a, b), expected one run per file",)
    assert faults_of(with_tags("dcba")) == ("r.run: 4 tags (a, b, c), expected one run per file",)


def test_every_line_that_is_none_of_a_runs_is_named() -> None:
    assert set(faults_of("q Q0 a 1 nan t\n# tag: x\nq Q0 b 2 t\n")) == {
        "r.run:1: score 'nan', expected a finite number",
        "r.run:3: 5 columns, expected 6 (query_id Q0 doc_id rank score tag)",
    }
    assert faults_of("\n") == ("r.run: found no document",)
    assert faults_of(b"q Q0 a 1 1 t\nq Q0 \xff 1 1 t\n") == ("r.run:2: not UTF-8: invalid start byte",)


def test_the_head_of_a_run_is_its_metadata() -> None:
    run = submitted(
        "# ir_metadata.start\n# tag: mine\n#seed: 3\n# data:\n#   name: 2031-03-14\n# ir_metadata.end\nq Q0 a 1 1 t\n"
    )
    assert run.metadata == {"tag": "mine", "seed": 3, "data": {"name": "2031-03-14"}}
    assert ids_of(run) == {"q": ["a"]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [("tg: 1", "unknown field 'tg'; did you mean 'tag'?"), ("- 1", "found '[1]', expected fields and values")],
)
def test_metadata_of_other_fields_are_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read_metadata(text, name="m.yaml")
    assert caught.value.faults == (f"m.yaml: metadata: {problem}",)


def test_metadata_that_are_not_yaml_are_refused_and_none_are_none() -> None:
    with pytest.raises(InputError, match="1 fault"):
        read_metadata("a: [", name="m.yaml")
    assert read_metadata("", name="m.yaml") == {}


def test_a_smaller_distance_of_a_ranked_pool_is_better() -> None:
    run = submitted('{"p": [["b", 1], ["a", 1], ["b", 1.5]], "q": []}')
    assert run.form == "csfcube"
    assert run.documents == {"p": (ScoredDoc("b", -1), ScoredDoc("a", -1), ScoredDoc("b", -1.5))}


def test_every_fault_of_a_ranked_pool_has_its_place() -> None:
    rows = '[["a", 1], ["", 2], ["b", "2"], ["c"], ["d", NaN], ["e", 3], ["f", 2]]'
    assert faults_of(f'{{"p": {rows}, "q": 7}}') == (
        'r.run: p, 2: found ["", 2], expected [candidate, distance]',
        'r.run: p, 3: found ["b", "2"], expected [candidate, distance]',
        'r.run: p, 4: found ["c"], expected [candidate, distance]',
        'r.run: p, 5: found ["d", NaN], expected [candidate, distance]',
        "r.run: p, 3: distance 2 after 3, expected smallest first",
        "r.run: q, 1: found 7, expected [candidate, distance]",
    )
    assert faults_of('{"p": [["a", 2], ["b", 1]]}') == ("r.run: p, 2: distance 1 after 2, expected smallest first",)
    assert faults_of('{"p": [["a", 1]], "p": [["b", 1]]}') == ("r.run: a query is listed twice in one object",)
    assert faults_of("{}") == ("r.run: found no document",)
    assert faults_of('{\n"p": [')[0].startswith("r.run:2: not valid JSON: ")


def test_distances_in_a_run_get_the_other_sign_and_rising_scores_are_asked_about() -> None:
    rising = submitted("".join(f"q{query} Q0 d{at} {at} {at} t\n" for query in range(5) for at in (1, 2)))
    turned = higher_is_better(rising, name="r", distances=True)
    assert turned.documents["q0"] == (ScoredDoc("d1", -1), ScoredDoc("d2", -2))
    assert turned.rising == []
    with pytest.raises(InputError, match="the scores of 5 queries rise") as caught:
        higher_is_better(rising, name="r", distances=False)
    assert list(caught.value.faults) == ["q0", "q1", "q2"]
    falling, pool = submitted("q Q0 a 1 2 t\nq Q0 b 2 1 t\n"), submitted('{"p": [["b", 1]]}')
    assert higher_is_better(falling, name="r", distances=False) == falling
    assert higher_is_better(pool, name="r", distances=True) == pool


def test_the_name_of_a_ranked_pool_tells_its_facet() -> None:
    assert facet_in_name("test-pid2pool-csfcube-a-b-result-ranked.json") == "result"
    assert facet_in_name("test-pid2pool-csfcube-result.json") is None


def test_each_sentence_of_the_query_keeps_its_closest() -> None:
    plan = (Match(2, 0, 0.2), Match(2, 4, 0.5), Match(2, 1, 0.5), Match(0, 3, -1.5), Match(0, 1, -2.0))
    assert closest(plan) == (Match(0, 3, -1.5), Match(2, 1, 0.5))
    assert closest(()) == ()


def test_lines_are_read_by_pair() -> None:
    lines = ['{"query_id": "q", "doc_id": "d", "matches": [[0, 1, 1], [1, 0, 0.25]]}\n', "\n"]
    assert read_matches(lines, name="x") == {("q", "d"): (Match(0, 1, 1.0), Match(1, 0, 0.25))}


def test_every_fault_is_told_with_its_line() -> None:
    good = '{"query_id": "q", "doc_id": "d", "matches": []}'
    lines = [
        good,
        good,
        '{"query_id": "q", "doc_id": "e", "matches": [[0, -1, 1]]}',
        '{"query_id": "q", "doc_id": "e", "matches": [[0, 1]]}',
        '{"query_id": "q", "doc_id": "e", "matches": [[0, 1, NaN]]}',
        '{"query_id": "q", "doc_id": "e", "matches": [["0", 1, 1]]}',
        '{"query_id": "q", "matches": []}',
        "[]",
    ]
    with pytest.raises(InputError) as caught:
        read_matches(lines, name="x.matches.jsonl")
    told = "\n".join(caught.value.faults)
    assert [f"x.matches.jsonl:{at}:" in told for at in range(1, 9)] == [False] + [True] * 7
    assert "document 'd' is listed twice for query 'q'" in told
