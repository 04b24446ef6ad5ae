"""Changes of assessors in words, how many rows of their tables are shown, and how figures of work stand in cells."""

from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.stats.values import Interval, Undefined
from annot.measuring.diagnosis.findings import Drift, Measure
from annot.publishing.report.sections import assessors
from annot.publishing.report.tables import Table

HALVES: Any = (SimpleNamespace(label="first", mean=1.234, n=5), SimpleNamespace(label="second", mean=2.345, n=6))
NO = Undefined("too few")


def drift(who: str, measure: Measure, detectable: float | Undefined = NO, **changes: Any) -> Drift:
    usual: dict[str, Any] = {
        "against": ("x", "y"), "n": 11, "queries": 4, "p_value": 0.5, "changed": False, "levels": HALVES,
    }  # fmt: skip
    return Drift(who, measure, detectable=detectable, **(usual | changes))


def looked(*drifts: Drift, **changes: Any) -> Any:
    usual = {
        "drifts": drifts,
        "streaks": (),
        "paces": (),
        "power": 0.8,
        "order": "the plan's order",
        "fence": 3.0,
        "reading_limit": 1.0,
    }
    return SimpleNamespace(**(usual | changes))


def test_changes_that_no_size_would_show_are_said_with_the_papers_needed() -> None:
    found = looked(drift("a2", "severity"), drift("a1", "severity"), drift("a1", "speed", 1.5))
    told = " ".join(assessors.changes(found))
    # Three tests: n papers are parted into halves in C(n, n/2) ways, and 2 * 3 of these must be 2% or less: of 300 ways
    # or more the first is C(11, 5) = 462.
    assert "For a1 and a2 some changes could not have been detected at any size; at least 11 query papers" in told
    enough = looked(*(drift("a1", "severity", queries=11), drift("a1", "speed", 1.5), drift("a2", "speed", 1.5)))
    assert "papers are needed" not in " ".join(assessors.changes(enough))
    short = looked(*(drift("a1", "severity", queries=10), drift("a1", "speed", 1.5), drift("a2", "speed", 1.5)))
    assert "at least 11 query papers are needed" in " ".join(assessors.changes(short))


def test_what_was_not_tested_is_not_beyond_all_sizes() -> None:
    told = " ".join(assessors.changes(looked(drift("a1", "severity", levels=()), drift("a1", "speed", 1.5))))
    assert "some changes could not" not in told
    # One test: 2 of C(8, 4) = 70 ways are more than 2%, 2 of C(9, 4) = 126 are less.
    (told,) = assessors.changes(looked(drift("a1", "severity", levels=())))
    assert told.startswith("Whether assessors change is not known")
    assert "would need at least 9 query papers" in told


@pytest.mark.parametrize(("rows", "shown"), [(199, 199), (200, 200), (201, 200)])
def test_two_hundred_rows_are_shown(rows: int, shown: int, monkeypatch: pytest.MonkeyPatch) -> None:
    long = Table("t", "", ("n",), tuple((at,) for at in range(rows)), "annot", notes=("first.",))
    monkeypatch.setattr(assessors, "_grades", lambda found, words: [long])
    monkeypatch.setattr(assessors, "_reason_tables", lambda found, queries, words: [])
    monkeypatch.setattr(assessors, "_work", lambda found, words: [Table("none", "", (), (), "annot")])
    (found,) = assessors.tables(looked(diagnosed=None))
    assert len(found.rows) == shown
    assert found.rows[-1] == (shown - 1,)
    more = ("200 of 201 rows are shown; `annot agreement --by assessor --json` prints all.",)
    assert found.notes == ("first.", *(more if rows > shown else ()))


def work(**changes: Any) -> dict[str, Table]:
    return {one.name: one for one in assessors._work(looked(**changes), OF_PAPERS)}


def test_a_pace_is_shown_of_those_who_were_timed() -> None:
    between = Interval(10.0, 30.0, 0.95, "bootstrap")
    timed = SimpleNamespace(
        assessor="a1", n=8, median=20.26, median_interval=between, q1=11.11, q3=33.33, winsorised=22.22, n_slow=2,
        too_fast=(("q1", "d1"),),
    )  # fmt: skip
    found = work(paces=[SimpleNamespace(n=0), timed])
    (row,) = found["pace"].rows
    assert [str(cell) for cell in row] == ["a1", "8", "20 [10, 30]", "11.1", "33.3", "22.2", "2", "1"]
    assert "3 robust widths" in found["pace"].caption
    assert "less than 1.0 s" in found["pace"].caption
    assert "pace" not in work(paces=[SimpleNamespace(n=0)])


def test_a_row_of_changes_has_its_unit_both_halves_and_what_could_be_found() -> None:
    found = work(
        drifts=[
            *(drift("a1", "severity", 0.3), drift("a1", "agreement", 0.154), drift("a1", "speed")),
            drift("a2", "speed", 1.5, levels=()),
        ]
    )["change-sizes"]
    assert [[str(cell) for cell in row] for row in found.rows] == [
        ["a1", "severity (grades)", "4", "1.23", f"{2.345:.2f}", "0.5", "0.30 grades"],
        ["a1", "agreement (share of partners with the same grade)", "4", "1.23", f"{2.345:.2f}", "0.5", "15 points"],
        ["a1", "speed (seconds per pair)", "4", "1.2", "2.3", "0.5", "–"],
    ]
