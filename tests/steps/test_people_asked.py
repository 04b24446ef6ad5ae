"""What people wrote and were taught: comments, gold pairs, hidden pairs, the meeting, the sub-study, the status."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Assessor, Assignment, Gold, PairKey
from annot.judging.trial_answers import ROUNDS
from annot.publishing.report.status_page import StatusWords
from annot.steps import agreement, status_page, training
from annot.store import people, trials
from annot.store.answers import JUDGEMENTS
from annot.store.models import Plan
from annot.study.workspace import Workspace
from small_study import QUERIES, RECORDED, FirstPairs, Small, judgement, sent_to, sourced
from study_stages import copied

QUERY = QUERIES[0].query_id


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """a1 and a2 judged the ten pairs of the first query; j1 settled the last two as 3, with a reason."""
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")


def answered(ws: Workspace, position: int, **of: Any) -> None:
    """One more answer of a1."""
    with ws.writing() as session:
        (one,) = [one for one in people.read_assignments(session) if (one.assessor, one.position) == ("a1", position)]
        given = [replace(judgement(one), **of)]
        again = [one._replace(annotation=f"9{position}") for one in sourced(given)]
        JUDGEMENTS.record(session, again, recorded_at=RECORDED)


# -- comments ----------------------------------------------------------------------------------------------------------


def test_comments_are_listed_from_a_moment_on_newest_first(ws: Workspace) -> None:
    moments = {
        11: "2031-03-01T10:00:00+00:00",
        12: "2031-03-03T10:00:00+00:00",
        13: None,
        14: "2031-03-02T00:00:00+00:00",
    }
    for position, moment in moments.items():
        answered(ws, position, judged_at=moment, comment=f"of {position}")

    def listed(since: str | None) -> list[str]:
        return [row["comment"] for row in agreement.listing(ws, since=since).records]

    assert listed(None) == ["of 12", "of 14", "of 11", "of 13"]
    assert listed("2031-03-02T00:00:00+00:00") == ["of 12", "of 14"]
    assert listed("2031-03-02T00:00:01+00:00") == ["of 12"]


# -- training ----------------------------------------------------------------------------------------------------------


def test_gold_pairs_are_drawn_once_and_kept_in_a_file(ws: Workspace) -> None:
    dry = training.make(ws, None, dry_run=True)
    assert (dry.added, dry.path.exists()) == (dry.pairs, False)
    found = training.make(ws, None, dry_run=False)
    assert found == dry
    assert found.by_facet == {"method": found.pairs}
    lines = found.path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == found.pairs + 1
    assert {line.count("\t") for line in lines} == {3}
    with ws.reading() as session:
        standing = trials.read_gold(session)
    assert [one.position for one in standing] == list(range(1, found.pairs + 1))
    assert training.make(ws, None, dry_run=False).added == 0
    found.path.write_text("changed", encoding="utf-8")
    with pytest.raises(InputError, match="changed since it was last read"):
        training.make(ws, None, dry_run=True)


def test_gold_pairs_of_a_file_take_the_place_of_others(ws: Workspace) -> None:
    file = ws.root / "gold.tsv"
    with pytest.raises(MissingInput, match="no such file"):
        training.make(ws, file, dry_run=True)
    for grade in (1, 3):
        file.write_text(f"query_id\tdoc_id\tgrade\twhy\n{QUERY}\td00\t{grade}\t\n", encoding="utf-8")
        found = training.make(ws, file, dry_run=False)
        assert (found.pairs, found.by_grade, found.without_reason) == (1, {grade: 1}, 1)
        with ws.reading() as session:
            assert trials.read_gold(session) == (Gold(QUERY, "d00", grade, "", 1),)


def test_pairs_that_a_person_met_are_not_hidden_from_them(ws: Workspace) -> None:
    """a3 has the pairs of the first query in part; what a1 and a2 have is all that is settled."""
    with ws.writing() as session:
        people.put_assessors(session, [Assessor(name, f"{name}@example.org", False) for name in ("a3", "a4")])
        plan = [
            *people.read_assignments(session),
            *(Assignment(QUERIES[1].query_id, f"d0{at}", who, at + 1) for who in ("a3", "a4") for at in range(8)),
        ]
        people.replace_plan(session, plan, plan=Plan("x", 13, RECORDED, 2))
        people.set_left(session, "a4", RECORDED)
    with pytest.raises(MissingInput, match="no pair is settled yet"):
        training.hide(copied(Small(), "planned", ws.root.parent / "other"), share=0.1, dry_run=True)
    found = {one.assessor: one for one in training.hide(ws, share=0.25, dry_run=False)}
    assert found.keys() == {"a1", "a2", "a3"}
    assert (found["a3"].pairs, found["a3"].hidden, found["a1"].hidden, found["a2"].hidden) == (8, 2, 0, 0)
    again = {one.assessor: (one.hidden, one.added) for one in training.hide(ws, share=0.25, dry_run=True)}
    assert again["a3"] == (2, 0)


# -- meeting and datasheet ---------------------------------------------------------------------------------------------


def test_the_page_of_a_meeting_goes_to_the_exports_or_the_folder_named(ws: Workspace, tmp_path: Path) -> None:
    found = agreement.write(ws, since=None, out=None)
    assert (found.path, found.differing) == (ws.exports / "meeting.html", 2)
    other = agreement.write(ws, since="2031-03-11T12:08:00+00:00", out=tmp_path / "out")
    assert (other.path, other.pairs) == (tmp_path / "out" / "meeting.html", 2)
    assert found.pairs == 10
    assert (tmp_path / "out" / "meeting.md").is_file()


# -- sub-study ---------------------------------------------------------------------------------------------------------


def test_a_sub_study_is_for_people_who_are_there(ws: Workspace) -> None:
    with ws.writing() as session:
        people.set_left(session, "a2", RECORDED)
    with pytest.raises(InputError, match="assessor"):
        training.draw(ws, assessor="a2", queries=1, candidates=2, dry_run=True)
    assert training.draw(ws, assessor="a1", queries=1, candidates=2, dry_run=False).pairs == 2
    titles = (ws.substudy / "full-texts.tsv").read_text(encoding="utf-8")
    assert "Title of p1" in titles
    assert titles.count("Title of d") == 2


def test_a_sub_study_that_was_sent_is_not_drawn_again(ws: Workspace) -> None:
    training.draw(ws, assessor="a1", queries=1, candidates=2, dry_run=False)
    sent_to(ws, "a1", PairKey(QUERY, "d00"), round="substudy-full")
    with pytest.raises(InputError, match="the sub-study was already sent to a1"):
        training.draw(ws, assessor="a1", queries=1, candidates=3, dry_run=False)


# -- status page -------------------------------------------------------------------------------------------------------


def test_a_status_page_is_written_at_the_end_only_if_something_came(ws: Workspace) -> None:
    page = status_page.StatusPage(
        ws, lambda: StatusWords("annot pull", "people judge", ()), every=1, zone=UTC,
        clock=lambda: datetime(2031, 3, 14, 18, tzinfo=UTC),
    )  # fmt: skip
    page.finish()
    assert not page.path.exists()
    page.renew(news=False)
    assert 'data-every="60"' in page.path.read_text(encoding="utf-8")
    page.path.unlink()
    page.finish()
    assert not page.path.exists()
    page.renew(news=True)
    assert page.line.endswith("0 open disputes  a1 10/40, a2 10/40")
    page.path.unlink()
    page.finish()
    assert not page.path.exists()


@pytest.mark.parametrize(
    ("seconds", "written"), [(0, False), (0.5, False), (59.9, False), (60, True), (-0.5, True), (-60, True)]
)
def test_a_status_page_is_written_anew_after_a_minute_or_if_its_moment_is_still_to_come(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, seconds: float, written: bool
) -> None:
    """It names the moment in its head, whichever process wrote it."""
    begun = datetime(2031, 3, 14, 18, tzinfo=UTC)

    def page(at: datetime) -> status_page.StatusPage:
        said = StatusWords("annot pull", "people judge", ())
        return status_page.StatusPage(ws, lambda: said, every=90, zone=UTC, clock=lambda: at)

    first = page(begun).write()
    assert first.stat().st_mode & 0o777 == 0o600
    assert 'data-every="90"' in first.read_text(encoding="utf-8")
    later, again = page(begun + timedelta(seconds=seconds)), list[str]()
    monkeypatch.setattr(later, "write", lambda *, trouble="": again.append(trouble))
    later.renew(news=True, trouble="why")
    assert again == ["why"] * written
    later.finish()
    assert again == [*["why"] * written, ""], "what came since the last page is written"
    first.write_text("no page", encoding="utf-8")
    assert later._age() is None


# -- the sub-study is drawn once ---------------------------------------------------------------------------------------


def planned(ws: Workspace) -> set[str]:
    with ws.reading() as session:
        return {name for name, round in ROUNDS.items() if trials.read_assignments(session, round)}


def test_the_same_wishes_draw_nothing_again(tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(40)), "settled", tmp_path / "study")
    dry = training.draw(ws, assessor="a1", queries=2, candidates=3, dry_run=True)
    assert (dry.new, planned(ws), ws.substudy.exists()) == (True, set(), False)
    first = training.draw(ws, assessor="a1", queries=2, candidates=3, dry_run=False)
    assert first == dry
    assert (first.assessor, first.pairs, first.by_facet) == ("a1", 6, {"method": 2})
    assert sum(first.by_grade.values()) == first.pairs
    assert planned(ws) == set(ROUNDS)
    again = training.draw(ws, assessor="a1", queries=2, candidates=3, dry_run=False)
    assert (again.new, again.sha256) == (False, first.sha256)
    other = training.draw(ws, assessor="a1", queries=2, candidates=2, dry_run=False)
    assert (other.new, other.pairs) == (True, 4)


def test_where_nothing_is_settled_nothing_can_be_drawn(tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(0)), "settled", tmp_path / "study")
    with pytest.raises(MissingInput, match="no pair is settled"):
        training.draw(ws, assessor="a1", queries=2, candidates=3, dry_run=True)
