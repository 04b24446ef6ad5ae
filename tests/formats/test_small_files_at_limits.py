"""Small files of many formats: what is read at the limits, and how much of a wrong record is shown."""

import json

import pytest
from annot.base.errors import Faults, InputError
from annot.base.records import Query
from annot.formats.cleaning import clean
from annot.formats.corpora.xml_papers import acl_records as acl_records
from annot.formats.corpora.xml_papers import anthology_id
from annot.formats.input_files import Strict, read_models, read_objects
from annot.formats.paper_records import paper_of
from annot.formats.trec import (
    QUERY_PAPERS_FILE,
    QUERY_TOPICS_FILE,
    Match,
    match_lines,
    read_matches,
    read_metadata,
    read_query_topics,
    read_submitted,
    write_query_topics,
)


@pytest.mark.parametrize(
    ("file", "header"), [(QUERY_PAPERS_FILE, "query_id\tquery_paper"), (QUERY_TOPICS_FILE, "query_id\ttopic_id")]
)
def test_topics_of_queries_read_back_are_those_that_were_written(file: str, header: str) -> None:
    queries = [Query("q2", "p1", "method", (0,)), Query("q1", "p1", "result", (0,)), Query("q3", "p2", "method", (0,))]
    text = write_query_topics(queries, file=file)
    assert text == f"{header}\nq1\tp1\nq2\tp1\nq3\tp2\n"
    found = read_query_topics(text.splitlines(keepends=True), file=file, name="f")
    assert found == {"q1": "p1", "q2": "p1", "q3": "p2"}
    assert read_query_topics([header, "q1\tp1", "q1\tp1"], file=file, name="f") == {"q1": "p1"}


@pytest.mark.parametrize(
    ("file", "column", "what"), [(QUERY_PAPERS_FILE, "query_paper", "paper"), (QUERY_TOPICS_FILE, "topic_id", "topic")]
)
def test_each_wrong_line_of_the_topics_of_queries_is_a_fault(file: str, column: str, what: str) -> None:
    header = f"query_id\t{column}"
    shape = f"expected a query and its {what}, with a tab between"
    lines = ["query\tpaper", "q1", "q2\tp2\tx", "\tp3", "q4\tp4", "q4\tp5", header]
    with pytest.raises(InputError) as caught:
        read_query_topics(lines, file=file, name="f")
    assert caught.value.faults == (
        f"f:1: found 'query\\tpaper', expected the header 'query_id\\t{column}'",
        *(f"f:{line}: {shape}" for line in (2, 3, 4)),
        f"f:6: {what} 'p5' of query q4, expected 'p4' as above",
    )


def test_a_wrong_part_of_a_run_is_told_with_its_place_and_forty_characters() -> None:
    with pytest.raises(InputError) as caught:
        read_submitted(b"\n\xff", name="f")
    assert caught.value.faults == ("f:2: not UTF-8: invalid start byte",)
    with pytest.raises(InputError) as caught:
        read_submitted(json.dumps({"q": [["d", 1], ["x" * 60]]}).encode(), name="f")
    assert caught.value.faults == ('f: q, 2: found ["' + "x" * 38 + ", expected [candidate, distance]",)
    with pytest.raises(InputError) as caught:
        read_metadata("x" * 60, name="f")
    assert caught.value.faults == ("f: metadata: found '" + "x" * 40 + "', expected fields and values",)


MARK = "\u0316"


@pytest.mark.parametrize(("before", "given", "kept"), [("x", 30, 30), ("x", 31, 30), ("Ω", 30, 30), ("Ω", 40, 30)])
def test_thirty_marks_in_a_row_stay(before: str, given: int, kept: int) -> None:
    assert clean(before + MARK * given) == before + MARK * kept


def test_marks_are_counted_anew_after_each_letter() -> None:
    text = ("Ω" + MARK * 30) * 2
    assert clean(text) == text
    assert clean(text + MARK) == text


def test_what_is_escaped_ten_times_is_taken_out_and_its_sign_is_a_space() -> None:
    assert clean("&" + "#38;" * 8 + "lt; x") == "< x"
    assert clean("a&" + "#38;" * 9 + "lt;x") == "a x"


def test_letters_that_were_not_misread_stay_beside_one_that_was() -> None:
    assert clean("Ã© it\x92s") == "Ã© it’s"


class Named(Strict):
    name: str


def test_objects_and_models_of_lines() -> None:
    lines = ['{"name": NaN}', '{"name": "a"}', json.dumps("x" * 60)]
    faults = Faults("f")
    assert list(read_objects(lines, faults)) == [(1, {"name": None}), (2, {"name": "a"})]
    assert faults.found == ['f:3: found "' + "x" * 39 + ", expected one JSON object per line"]
    assert list(read_objects(lines[:1], faults, constants=True)) == [(1, {"name": "NaN"})]
    of_models = Faults("f")
    assert list(read_models(lines[:2], of_models, Named)) == [(2, Named(name="a"))]
    assert of_models.found == ["f:1: name: found None, expected a valid string"]


@pytest.mark.parametrize(
    ("collection", "volume", "number", "expected"),
    [
        ("D19", "4", "7", "D19-4007"),
        ("D19", "5", "7", "D19-0507"),
        ("D19", "6", "7", "D19-0607"),
        ("D18", "5", "7", "D18-5007"),
        ("C69", "1", "7", "C69-0107"),
        ("2020.acl", "main", "7", "2020.acl-main.7"),
    ],
)
def test_ids_of_the_anthology(collection: str, volume: str, number: str, expected: str) -> None:
    assert anthology_id(collection, volume, number) == expected


def test_matches_have_figures_of_six_decimals_and_only_numbers_are_read() -> None:
    text = match_lines({"q": {"d": (Match(0, 1, 0.12345678, 0.5), Match(1, 2, 1.0))}})
    assert json.loads(text)["matches"] == [[0, 1, 0.123457, 0.5], [1, 2, 1.0]]
    assert read_matches([text], name="f")["q", "d"] == (Match(0, 1, 0.123457, 0.5), Match(1, 2, 1.0))
    for wrong in ('[0, 1, "0.5"]', "[0, 1, 1e999]", "[true, 1, 0.5]", "[-1, 1, 0.5]", "[0.0, 1, 0.5]"):
        with pytest.raises(InputError):
            read_matches(['{"query_id": "q", "doc_id": "d", "matches": [' + wrong + "]}"], name="f")


def test_labels_are_named_as_ours_or_as_csfcubes_and_go_with_their_sentence() -> None:
    def labelled(*labels: str) -> tuple[str, ...] | None:
        return paper_of(
            *("a", "T", ["One.", " ", "Two."]),
            year=None,
            labels=labels,
            known_labels=("method", "a_label"),
            citations=(),
        ).labels

    assert labelled("method", "method", "a_label") == ("method", "a_label")
    assert labelled("method_label", "a_label", "a_label_label") == ("method", "a_label")
    with pytest.raises(InputError) as caught:
        labelled("methods", "method", "x_label")
    assert [fault.partition(":")[0] for fault in caught.value.faults] == [
        "unknown sentence label 'methods'",
        "unknown sentence label 'x'",
    ]
