"""`TAG.matches.jsonl`: which sentences a run matched."""

import pytest
from annot.base.errors import InputError
from annot.formats.trec import Match, closest, match_lines, read_matches


def test_each_sentence_of_the_query_keeps_its_closest() -> None:
    plan = (Match(2, 0, 0.2), Match(2, 4, 0.5), Match(2, 1, 0.5), Match(0, 3, -1.5), Match(0, 1, -2.0))
    assert closest(plan) == (Match(0, 3, -1.5), Match(2, 1, 0.5))
    assert closest(()) == ()


def test_lines_are_read_by_pair() -> None:
    lines = ['{"query_id": "q", "doc_id": "d", "matches": [[0, 1, 1], [1, 0, 0.25]]}\n', "\n"]
    assert read_matches(lines, name="x") == {("q", "d"): (Match(0, 1, 1.0), Match(1, 0, 0.25))}


def test_what_a_system_writes_is_read_again() -> None:
    found = {"q": {"d": (Match(0, 1, 0.75, -2.5), Match(1, 0, 0.25)), "e": ()}}
    again = read_matches(match_lines(found).splitlines(), name="x")
    assert again == {("q", doc_id): matches for doc_id, matches in found["q"].items()}


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
