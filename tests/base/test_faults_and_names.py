"""Faults with their places, lines with their numbers, and names that are found or refused with the near one."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from annot.base.errors import MOST_FAULTS, Faults, InputError, json_problem, numbered
from annot.base.names import (
    LONGEST_FILE_NAME,
    check_name,
    close_to,
    counted,
    file_name,
    known_query,
    moment_given,
    moment_now,
    moment_of,
    near,
    verb,
)
from annot.base.records import Query


def test_a_fault_names_the_input_its_line_and_its_place() -> None:
    faults = Faults("f")
    faults.add("one")
    faults.add("two", line=3)
    faults.add("three", place="x, y")
    faults.add("four", line=4, place="x")
    assert faults.found == ["f: one", "f:3: two", "f: x, y: three", "f:4: x: four"]


def test_all_faults_are_raised_together() -> None:
    faults = Faults("f")
    faults.raise_if_any()
    faults.add("one")
    with pytest.raises(InputError, match=r"^f: 1 fault\n") as caught:
        faults.raise_if_any(hint="try", found=(), nothing="found nothing")
    assert caught.value.faults == ("f: one",)
    faults.add("two")
    with pytest.raises(InputError, match=r"^f: 2 faults\n"):
        faults.raise_if_any()


def test_that_nothing_was_found_is_a_fault_where_it_is_asked_for() -> None:
    Faults("f").raise_if_any(found=[1], nothing="found nothing")
    with pytest.raises(InputError) as caught:
        Faults("f").raise_if_any(found=[], nothing="found nothing")
    assert caught.value.faults == ("f: found nothing",)


def test_reading_stops_at_a_thousand_faults() -> None:
    faults = Faults("f")
    for line in range(1, MOST_FAULTS):
        faults.add("bad", line=line)
    with pytest.raises(InputError, match="f: 1000 faults, reading stopped") as caught:
        faults.add("bad", line=MOST_FAULTS)
    assert len(caught.value.faults) == 1000


def test_lines_are_numbered_from_one_and_blank_ones_left_out() -> None:
    faults = Faults("f")
    assert list(numbered(["\ufeffa\r\n", " \n", "\ufeffb", "c \n"], faults)) == [(1, "a"), (3, "\ufeffb"), (4, "c ")]
    assert not faults.found


def test_bytes_that_are_not_utf8_end_the_reading() -> None:
    def lines() -> Iterator[str]:
        yield "a\n"
        yield b"\xff".decode()

    faults = Faults("f")
    assert list(numbered(lines(), faults)) == [(1, "a")]
    assert faults.found == ["f:2: not UTF-8: invalid start byte (bytes b'\\xff')"]


def test_what_is_wrong_with_json_is_said_in_words() -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads('{"a": }')
    assert json_problem(caught.value) == "not valid JSON: Expecting value at column 7"
    assert json_problem(RecursionError()) == "not valid JSON: nested too deeply"
    assert json_problem(ValueError()) == "not valid JSON: a number of too many digits"


def test_the_near_name_is_asked_about_or_some_names_are_shown() -> None:
    assert near("methd", ["result", "method"]) == "did you mean 'method'?"
    twenty = [f"{at:02}" for at in range(20)]
    assert near("x", twenty) == f"expected one of {', '.join(twenty)}"
    assert near("x", [*twenty, "20"]) == f"expected one of {', '.join(twenty[:10])} and 11 more"
    assert near("x", []) == "there is none"
    assert (close_to("methd", ["method"]), close_to("x", ["method"])) == ("did you mean 'method'?", "")


def test_an_unknown_name_is_refused() -> None:
    check_name("a", ["a"], what="thing")
    with pytest.raises(InputError, match=r"^thing 'ab': not known; expected one of x$"):
        check_name("ab", ["x"], what="thing")
    with pytest.raises(InputError, match=r"^thing 'a': not known; there is none yet$"):
        check_name("a", [], what="thing")
    query = Query("12-method", "12", "method", ())
    assert known_query({"12-method": query}, "12-method") is query
    with pytest.raises(InputError, match=r"not in this study; did you mean '12-method'\?"):
        known_query({"12-method": query}, "12-methd")
    with pytest.raises(InputError, match=r"^query 'x': not in this study$"):
        known_query({}, "x")


def test_the_file_of_a_long_id_is_cut_and_told_apart_by_its_hash() -> None:
    longest = "a" * LONGEST_FILE_NAME
    assert file_name(longest, ".x") == longest + ".x"
    assert file_name("a/b c", "") == "a%2Fb%20c"
    one, other = file_name(longest + "b", ".x"), file_name(longest + "c", ".x")
    assert one != other
    assert one.startswith("a" * 100 + "+")
    assert len(one) == 100 + 1 + 64 + 2


def test_a_moment_without_a_zone_is_utc() -> None:
    assert moment_of("2031-03-14T10:00:00+02:00") == datetime(2031, 3, 14, 8, tzinfo=UTC)
    assert moment_of("2031-03-14") == datetime(2031, 3, 14, tzinfo=UTC)
    assert (moment_of(None), moment_of("soon")) == (None, None)
    assert moment_given("2031-03-14", option="--from") == datetime(2031, 3, 14, tzinfo=UTC)
    with pytest.raises(InputError, match="--from 'soon': not a date, expected ISO 8601"):
        moment_given("soon", option="--from")
    assert abs((datetime.now(UTC) - datetime.fromisoformat(moment_now())).total_seconds()) < 5
    assert len(moment_now()) == len("2031-03-14T10:00:00+00:00")


@pytest.mark.parametrize(("n", "words"), [(0, "0 queries"), (1, "1 query"), (2, "2 queries"), (1000, "1,000 queries")])
def test_a_count_has_its_noun(n: int, words: str) -> None:
    assert counted(n, "query") == words
    assert counted(n, "day").endswith("day" if n == 1 else "days")
    assert counted(n, "batch", "batches").endswith("batch" if n == 1 else "batches")
    assert verb(n, "lacks", "lack") == ("lacks" if n == 1 else "lack")
