"""Judgements from other tools: what is read alike, and that every fault is told with its line and nobody's name."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Decision, Judgement
from annot.formats.judgements_file import (
    FileJudgement,
    judgement_record,
    read_judgements,
    read_relish,
    write_decisions,
    write_judgements,
)

SCALE = ("Irrelevant", "Related", "Similar", "Near-identical")
PLAIN = "query,document,assessor,grade\np1-method,d1,Ada,2\np1-method,d1,Ben,0\n"


def read(data: str | bytes, columns: Mapping[str, str] | None = None) -> tuple[FileJudgement, ...]:
    content = data.encode() if isinstance(data, str) else data
    return tuple(
        map(FileJudgement, *read_judgements(content, name="j.csv", columns=columns or {}, scale=SCALE).values())
    )


def pairs(found: tuple[FileJudgement, ...]) -> list[tuple[str, str, str, int | None]]:
    return [(one.query, one.document, one.assessor, one.grade) for one in found]


EXPECTED = [("p1-method", "d1", "Ada", 2), ("p1-method", "d1", "Ben", 0)]


@pytest.mark.parametrize(
    "data",
    [
        PLAIN.encode(),
        PLAIN.encode("utf-8-sig"),
        PLAIN.encode("utf-16"),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace(",", ";").encode(),
        PLAIN.replace(",", "\t").encode(),
        b"sep=,\r\n" + PLAIN.encode(),
        PLAIN.replace("query,document", "Topic ID,doc-id").replace("assessor,grade", "Annotator,Rating").encode(),
        PLAIN.replace("2", "2.0").replace(",0", ',"0,0"').encode(),
        PLAIN.replace(",2\n", ",similar\n").encode(),
        b"\n" + PLAIN.replace("\n", "\n\n").encode(),
    ],
    ids=["plain", "bom", "utf-16", "crlf", "semicolon", "tab", "sep", "names", "decimals", "grade name", "blank lines"],
)
def test_the_same_judgements_from_every_way_of_saving(data: bytes) -> None:
    assert pairs(read(data)) == EXPECTED


def test_json_lines_read_as_csv_does() -> None:
    lines = [
        {"query": "p1-method", "doc_id": "d1", "annotator": "Ada", "relevance": 2},
        {"query": "p1-method", "doc_id": "d1", "annotator": "Ben", "relevance": 0.0},
        {"query": "p1-method", "doc_id": 7, "annotator": 12, "relevance": None},
    ]
    found = read("".join(json.dumps(line) + "\n" for line in lines))
    assert pairs(found) == [*EXPECTED, ("p1-method", "7", "12", None)]
    assert found[2].row == lines[2]


def test_columns_by_option_win_over_names_that_are_recognised() -> None:
    data = "query,topic,document,assessor,grade,sure\nwhat is it,q1-method,d1,Ada,1,3\n"
    with pytest.raises(InputError, match="1 fault") as error:
        read(data)
    assert error.value.faults == ("j.csv: columns 'query' and 'topic' could both be the query",)
    (found,) = read(data, {"query": "topic", "grade": "sure"})
    assert (found.query, found.grade) == ("q1-method", 3)


def test_seconds_beside_a_moment() -> None:
    (found,) = read("query;doc;judge;grade;time;lead_time\nq-method;d1;Ada;1;2031-03-14;61,5\n")
    assert (found.judged_at, found.seconds) == ("2031-03-14T00:00:00+00:00", 61.5)


@pytest.mark.parametrize("column", ["score", "label", "Label"])
def test_a_score_or_a_label_is_the_grade_where_nothing_else_is(column: str) -> None:
    (found,) = read(f"topic;doc;rater;{column}\nq-method;d1;Ada;2\n")
    assert found.grade == 2
    (found,) = read("topic;doc;rater;score;rating\nq-method;d1;Ada;0,71;3\n")
    assert found.grade == 3


def test_a_column_that_another_field_has_is_not_suggested() -> None:
    with pytest.raises(InputError) as error:
        read("topic;doc;rater;points\nq-method;d1;Ada;2\n")
    (fault,) = error.value.faults
    assert fault.startswith("j.csv: no column for the grade; expected one named grade or relevance")
    with pytest.raises(InputError) as error:
        read("topic;doc;rater;grades\nq-method;d1;Ada;2\n")
    assert error.value.faults == ("j.csv: no column for the grade; did you mean 'grades'?",)


def test_a_repeat_has_an_occasion_of_its_own() -> None:
    first, again = read("query,document,assessor,grade,occasion\nq-method,d1,Ada,1,\nq-method,d1,Ada,2,2\n")
    assert [(one.occasion, one.grade) for one in (first, again)] == [(1, 1), (2, 2)]
    with pytest.raises(InputError) as error:
        read("query,document,assessor,grade,occasion\nq-method,d1,Ada,1,second\nq-method,d2,Ada,1,0\n")
    assert error.value.faults == (
        "j.csv:2: occasion 'second', expected 1, or 2 for a repeat",
        "j.csv:3: occasion '0', expected 1, or 2 for a repeat",
    )


def test_every_fault_is_told_at_once_with_its_line() -> None:
    data = (
        "query,document,assessor,grade,time\n"
        "q-method,d1,Ada Byron,4,\n"
        "q-method,d1,Ben,-1,\n"
        "q-method,d 2,Ben,1,\n"
        ",d3,,1.5,yesterday\n"
        "q-method,d4,Ada Byron,1,\n"
        "q-method,d5,Ben,1,,,x\n"
        "q-method,d4,Ada Byron,2,\n"
    )
    with pytest.raises(InputError) as error:
        read(data)
    assert sorted(error.value.faults) == [
        "j.csv:2: grade '4', expected 0 to 3, or an empty cell if there is none",
        "j.csv:3: grade '-1', expected 0 to 3, or an empty cell if there is none",
        "j.csv:4: document 'd 2', expected an id without white space",
        "j.csv:5: grade '1.5', expected 0 to 3, or an empty cell if there is none",
        "j.csv:5: no assessor, expected the name of an assessor",
        "j.csv:5: no query, expected an id",
        "j.csv:5: time 'yesterday', expected ISO 8601 (2031-03-14T18:00:00Z), Unix time, or the seconds it took",
        "j.csv:7: found 7 cells, expected 5; quote a cell with a separator",
        "j.csv:8: q-method d4: this assessor judged the pair on line 6 already; "
        "mark a repeated judgement with occasion 2",
    ]
    assert "Byron" not in " ".join(error.value.faults)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ("", "j.csv: found no judgement, expected a header and one row each"),
        ("query,document,assessor,grade\n", "j.csv: found no judgement, expected a header and one row each"),
        ('{"query": "q-method"\n', "j.csv:1: not valid JSON: "),
        ('[{"query": "q-method"}]', "j.csv: found a JSON array, expected one object per line"),
        ("query,document,grade\nq,d,1\n", "j.csv: no column for the assessor; expected one named assessor or "),
        ("query,document,asessor,grade\nq,d,A,1\n", "j.csv: no column for the assessor; did you mean 'asessor'?"),
        ("query,document,assessor,grade,grade\nq,d,A,1,2\n", "j.csv:1: column 'grade' occurs 2 times"),
        ('query,document,assessor,grade\nq,d,A,"1\n', "j.csv:2: not CSV from here on: "),
        ('{"query": "q", "doc": "d", "assessor": "A", "grade": true}', "j.csv:1: grade True, expected 0 to 3"),
        ('{"query": "q", "doc": [1], "assessor": "A", "grade": 1}', "j.csv:1: document [1], expected an id"),
    ],
)
def test_a_file_of_another_kind_is_refused(data: str, fault: str) -> None:
    with pytest.raises(InputError) as error:
        read(data)
    assert error.value.faults[0].startswith(fault)


def test_a_released_comment_holds_no_sign_that_turns_its_direction() -> None:
    judged = Judgement("q", "d", "a1", 1, comment="not \u202etnaveler\u202c at\nall")
    assert (
        json.loads(write_judgements([judged], again=(), comments=[judged], versions={}))["comment"]
        == "not tnaveler at\nall"
    )
    settled = Decision("q", "d", 1, "adjudicated", adjudicator="j1", reason="a1\u202e is right")
    (line,) = write_decisions([settled], [], comments={("q", "d"): "\u2066clear\u2069"}).splitlines()
    assert (json.loads(line)["reason"], json.loads(line)["comment"]) == ("a1 is right", "clear")
    assert json.loads(write_decisions([settled], [], comments={}))["comment"] is None


HEAD = "query,document,assessor,grade"


def of_scale(text: str | bytes, **columns: str) -> tuple[FileJudgement, ...]:
    data = text.encode() if isinstance(text, str) else text
    return tuple(
        map(FileJudgement, *read_judgements(data, name="j", columns=columns, scale=("no", "some", "all")).values())
    )


@pytest.mark.parametrize(
    ("time", "moment", "seconds"),
    [
        # A hundred million seconds after the beginning of 1970, and a hundred thousand million, in both units.
        ("100000000", "1973-03-03T09:46:40+00:00", None),
        ("100000000.5", "1973-03-03T09:46:40.500000+00:00", None),
        ("99999999.5", None, 99999999.5),
        ("100000000000", "1973-03-03T09:46:40+00:00", None),
        ("99999999999", "5138-11-16T09:46:39+00:00", None),
        ("0", None, 0.0),
        ("0.5", None, 0.5),
        ("nan", None, None),
    ],
)
def test_a_number_is_a_moment_from_a_hundred_million_on(time: str, moment: str | None, seconds: float | None) -> None:
    (found,) = of_scale(f"{HEAD},time\nq,d,Ada,1,{time}\n")
    assert (found.judged_at, found.seconds) == (moment, seconds)


@pytest.mark.parametrize("seconds", ["0", "0.25", "1,5"])
def test_seconds_are_a_number_from_zero_on(seconds: str) -> None:
    (found,) = of_scale(f'{HEAD},seconds\nq,d,Ada,1,"{seconds}"\n')
    assert found.seconds == float(seconds.replace(",", "."))


@pytest.mark.parametrize("seconds", ["-0.5", "-1", "inf", "1_0", "1,2,3", "1,2.3", "soon"])
def test_what_is_no_number_of_seconds_is_a_fault(seconds: str) -> None:
    with pytest.raises(InputError) as caught:
        of_scale(f'{HEAD},seconds\nq,d,Ada,1,"{seconds}"\n')
    assert caught.value.faults == (f"j:2: seconds {seconds!r}, expected a number, 0 or more",)


def judged(doc_id: str, **others: Any) -> Judgement:
    return Judgement(query_id="q", doc_id=doc_id, assessor="a1", grade=1, **others)


def test_only_what_was_given_again_is_marked_and_lines_are_in_order() -> None:
    first, again, repeat = judged("d2"), judged("d1", comment="why"), judged("d1", occasion=2)
    lines = write_judgements([first, repeat, again], again=[again], comments=[again], versions={}).splitlines()
    found = [json.loads(line) for line in lines]
    assert [(one["doc_id"], one["occasion"], one.get("returned"), one["comment"]) for one in found] == [
        ("d1", 1, True, "why"),
        ("d1", 2, None, None),
        ("d2", 1, None, None),
    ]
    assert "returned" not in judgement_record(first, again=False)


def relish(*entries: Any) -> bytes:
    return json.dumps(entries).encode()


def entry(pmid: str, relevant: str = "", partial: str = "", irrelevant: str = "") -> dict[str, Any]:
    return {"pmid": pmid, "response": {"relevant": [*relevant], "partial": [*partial], "irrelevant": [*irrelevant]}}


def test_faults_of_relish_name_the_entry() -> None:
    with pytest.raises(InputError) as caught:
        read_relish(relish(entry("7", "ab", "a"), {"pmid": "8"}, entry("9", "a")), name="r")
    (without,) = caught.value.faults
    assert without.startswith("r: entry 2: no field 'response'")
    with pytest.raises(InputError) as caught:
        read_relish(relish(entry("7", "ab", "a"), entry("9", "a")), name="r")
    assert caught.value.faults == ("r: entry 1: document 'a' occurs 2 times",)
    with pytest.raises(InputError) as caught:
        read_relish(b'"' + b"x" * 60 + b'"', name="r")
    (fault,) = caught.value.faults
    assert "found 'xxx" in fault
    assert "expected a valid list" in fault
