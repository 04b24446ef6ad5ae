"""Runs as they are handed in: the order of ranks is kept, and every line that is none of a run's is named."""

import pytest
from annot.base.errors import InputError
from annot.base.records import ScoredDoc
from annot.formats.trec import SubmittedRun, facet_in_name, higher_is_better, read_metadata, read_submitted


def read(text: str) -> SubmittedRun:
    return read_submitted(text.encode(), name="r.run")


def faults_of(data: str | bytes) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_submitted(data if isinstance(data, bytes) else data.encode(), name="r.run")
    return caught.value.faults


def ids(run: SubmittedRun) -> dict[str, list[str]]:
    return {query: [doc.doc_id for doc in docs] for query, docs in run.documents.items()}


def test_documents_are_in_the_order_of_ranks_and_those_there_twice_stay_twice() -> None:
    run = read("q Q0 c 3 0.1 t\nq Q0 a 1 0.3 t\np Q0 x 1 5 t\nq Q0 b 2 0.2 t\nq Q0 a 4 0.05 t\n")
    assert run.form == "trec"
    assert ids(run) == {"q": ["a", "b", "c", "a"], "p": ["x"]}
    assert run.documents["q"][0] == ScoredDoc("a", 0.3)
    assert run.rising == []
    assert run.metadata == {}


@pytest.mark.parametrize(
    ("first_rank", "order"), [("999999999", "ba"), ("9999999999", "ab"), ("x", "ab"), ("-7", "ab"), ("²", "ab")]
)
def test_a_rank_that_is_no_number_of_at_most_nine_digits_is_the_number_of_the_line(first_rank: str, order: str) -> None:
    assert ids(read(f"q Q0 a {first_rank} 2 t\nq Q0 b 3 1 t\n")) == {"q": list(order)}


def test_queries_whose_scores_only_rise_are_named() -> None:
    scores = {"rising": (1, 2, 2), "tied": (1, 1), "falling": (2, 1), "mixed": (1, 3, 2), "one": (1,)}
    lines = [f"{query} Q0 d{at} {at} {score} t" for query, of in scores.items() for at, score in enumerate(of, 1)]
    assert read("\n".join(lines)).rising == ["rising"]


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
    run = read(
        "# ir_metadata.start\n# tag: mine\n#seed: 3\n# data:\n#   name: 2031-03-14\n# ir_metadata.end\nq Q0 a 1 1 t\n"
    )
    assert run.metadata == {"tag": "mine", "seed": 3, "data": {"name": "2031-03-14"}}
    assert ids(run) == {"q": ["a"]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tg: 1", "unknown field 'tg'; did you mean 'tag'?"),
        ("- 1", "found '[1]', expected fields and values"),
    ],
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
    run = read('{"p": [["b", 1], ["a", 1], ["b", 1.5]], "q": []}')
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
    rising = read("".join(f"q{query} Q0 d{at} {at} {at} t\n" for query in range(5) for at in (1, 2)))
    turned = higher_is_better(rising, name="r", distances=True)
    assert turned.documents["q0"] == (ScoredDoc("d1", -1), ScoredDoc("d2", -2))
    assert turned.rising == []
    with pytest.raises(InputError, match="the scores of 5 queries rise") as caught:
        higher_is_better(rising, name="r", distances=False)
    assert list(caught.value.faults) == ["q0", "q1", "q2"]
    falling, pool = read("q Q0 a 1 2 t\nq Q0 b 2 1 t\n"), read('{"p": [["b", 1]]}')
    assert higher_is_better(falling, name="r", distances=False) == falling
    assert higher_is_better(pool, name="r", distances=True) == pool


def test_the_name_of_a_ranked_pool_tells_its_facet() -> None:
    assert facet_in_name("test-pid2pool-csfcube-a-b-result-ranked.json") == "result"
    assert facet_in_name("test-pid2pool-csfcube-result.json") is None
