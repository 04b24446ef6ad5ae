"""Judgements in files: where a number becomes a moment, what a wrong file is told, and what is written of repeats."""

import json
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Judgement
from annot.formats.judgements_file import (
    FileJudgement,
    judgement_record,
    read_judgements,
    read_relish,
    write_judgements,
)

HEAD = "query,document,assessor,grade"


def read(text: str | bytes, **columns: str) -> tuple[FileJudgement, ...]:
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
    (found,) = read(f"{HEAD},time\nq,d,Ada,1,{time}\n")
    assert (found.judged_at, found.seconds) == (moment, seconds)


@pytest.mark.parametrize("seconds", ["0", "0.25", "1,5"])
def test_seconds_are_a_number_from_zero_on(seconds: str) -> None:
    (found,) = read(f'{HEAD},seconds\nq,d,Ada,1,"{seconds}"\n')
    assert found.seconds == float(seconds.replace(",", "."))


@pytest.mark.parametrize("seconds", ["-0.5", "-1", "inf", "1_0", "1,2,3", "1,2.3", "soon"])
def test_what_is_no_number_of_seconds_is_a_fault(seconds: str) -> None:
    with pytest.raises(InputError) as caught:
        read(f'{HEAD},seconds\nq,d,Ada,1,"{seconds}"\n')
    assert caught.value.faults == (f"j:2: seconds {seconds!r}, expected a number, 0 or more",)


def test_a_column_named_exactly_wins_over_one_that_looks_like_it() -> None:
    text = "Topic Id,topic_id,document,assessor,grade\nq1,q2,d,Ada,1\n"
    assert [read(text, query=name)[0].query for name in ("Topic Id", "topic_id")] == ["q1", "q2"]


def judgement(doc_id: str, **others: Any) -> Judgement:
    return Judgement(query_id="q", doc_id=doc_id, assessor="a1", grade=1, **others)


def test_only_what_was_given_again_is_marked_and_lines_are_in_order() -> None:
    first, again, repeat = judgement("d2"), judgement("d1", comment="why"), judgement("d1", occasion=2)
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
