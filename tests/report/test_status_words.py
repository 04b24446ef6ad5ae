"""Words and tables of the look at a study under way."""

from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.stats.values import Estimate, Finish, Undefined
from annot.judging.progress import AssessorProgress, PersonByDay, QueryProgress
from annot.labelstudio.studio_records import project_url
from annot.measuring.forecast.hours import PairTime
from annot.publishing.report.status_page import PersonProgress, _link, moment, tables
from annot.study.plain_pairs import states_of

NOW = datetime(2031, 3, 14, 18, 0)
NONE = Undefined("nothing yet")


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (datetime(2031, 3, 14, 7, 5), "today 07:05"),
        (datetime(2031, 3, 13, 23, 59), "yesterday 23:59"),
        (datetime(2031, 3, 12, 23, 59), "Wed 12 March"),
        (datetime(2031, 3, 15, 0, 1), "Sat 15 March"),
        (None, ""),
    ],
)
def test_a_moment_of_today_and_yesterday_has_its_time(at: datetime | None, words: str) -> None:
    assert moment(at, NOW) == words


def test_pairs_are_counted_in_one_state_each() -> None:
    pairs = [("q", f"d{at}") for at in range(10)]
    outcome: Any = SimpleNamespace(
        adjudications={pairs[0]: 1, ("other", "d"): 2},
        planned=dict.fromkeys(pairs, ()),
        agreed=[SimpleNamespace(pair=pair) for pair in pairs[:3]],
        progress=SimpleNamespace(vacant={pairs[3]: 1}),
        unjudgeable=pairs[4:5],
        open=pairs[5:6],
        waiting=(),
        incomplete=(*pairs[3:4], *pairs[6:10]),
    )
    assert states_of(outcome) == {"agreed": 2, "settled": 1, "unjudgeable": 1, "open": 1, "vacant": 1, "incomplete": 4}


def test_a_project_has_a_link_if_it_is_on_the_web() -> None:
    def link(url: str, remote_id: int | None) -> str | None:
        project: Any = SimpleNamespace(url=url, remote_id=remote_id)
        return _link(project)

    assert link("javascript:alert(1)", 3) is None
    assert link("https://studio.example", None) is None
    for address in ("http://studio.example", "https://studio.example"):
        assert link(address, 3) == project_url(address, 3)


def look() -> Any:
    def forecast(name: str, time: object, end: object) -> Any:
        hours = Estimate(2.5, NONE)
        return SimpleNamespace(
            assessor=name, time=time, pairs_per_day=12.34, hours_left=hours, finish=Finish(end, NONE, 0.95)
        )

    return SimpleNamespace(
        assessors=(AssessorProgress("a1", 9, 5, 1, {0: 3, 1: 1}), AssessorProgress("a2", 9, 0, 0, {0: 0, 1: 0})),
        queries=(
            QueryProgress("q1", 4, 4, {"a1": (4, 4), "a2": (4, 4)}),
            QueryProgress("q2", 5, 0, {"a1": (1, 5)}),
            QueryProgress("q3", 5, 0, {"a2": (0, 5)}),
        ),
        agreement=None,
        forecast=SimpleNamespace(
            assessors=(forecast("a2", NONE, NONE), forecast("a1", PairTime(5, 41.6, 42.0), "2031-03-20")),
            hours_spent=1.0,
            hours_left=Estimate(2.5, NONE),
            cost_spent=NONE,
            cost_left=Estimate(NONE, NONE),
        ),
        settling=SimpleNamespace(hours=Estimate(0.5, NONE), cost=Estimate(NONE, NONE)),
    )


def test_queries_under_way_are_those_begun_and_not_complete() -> None:
    _, under_way, *_ = tables(look(), OF_PAPERS, all_queries=False)
    assert under_way.headings == ("query", "pairs", "complete", "a1", "a2")
    assert under_way.rows == (("q2", 5, 0, "1/5", ""),)
    _, every, *_ = tables(look(), OF_PAPERS, all_queries=True)
    assert [row[0] for row in every.rows] == ["q1", "q2", "q3"]


def test_a_person_on_the_page_has_their_own_counts_links_and_leave() -> None:
    def project(who: str, round: str, remote_id: int | None) -> Any:
        return SimpleNamespace(assessor=who, round=round, url="http://studio.example", remote_id=remote_id)

    snapshot: Any = SimpleNamespace(
        projects=[
            project("a1", "judge", 1),
            project("a1", "adjudicate", 2),
            project("a2", "judge", 3),
            project("a1", "judge", None),
        ],
        people=[SimpleNamespace(assessor="a1", left_on=None), SimpleNamespace(assessor="a2", left_on="2031-01-01")],
    )
    days = {"a1": PersonByDay((0, 2), 2, NOW)}
    first = PersonProgress(snapshot, "a1", days, "assessor", seen=AssessorProgress("a1", 9, 5, 1, {}))
    assert (first.done, first.of, first.days, first.last, first.left) == (5, 9, (0, 2), NOW, False)
    assert first.links == (project_url("http://studio.example", 1),)
    second = PersonProgress(snapshot, "a2", days, "assessor")
    assert (second.done, second.of, second.days, second.left) == (0, None, (), True)
    assert second.links == (project_url("http://studio.example", 3),)
    settling = PersonProgress(snapshot, "a1", days, "adjudicator")
    assert (settling.done, settling.links) == (2, (project_url("http://studio.example", 2),))
