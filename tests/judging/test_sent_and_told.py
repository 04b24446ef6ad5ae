"""What a push and a pull say, and what a push has to send again: each rule on made-up tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Judgement, PairKey
from annot.base.words import ENGLISH
from annot.judging.exchange import sending
from annot.judging.exchange.collecting import Lost, PullResult, RoundOptions
from annot.judging.exchange.outgoing import OutgoingProject, TaskForm
from annot.judging.exchange.servers import PARTS, Unreachable
from annot.judging.rounds import check_options, round_of
from annot.labelstudio.studio_records import StudioTask
from annot.labelstudio.tasks import pair_key
from annot.store.models import Notice, StoredRound

FIRST, SECOND, THIRD = (PairKey("q", f"d{at}") for at in (1, 2, 3))
AT = "2031-01-01T00:00:00.000+00:00"

PUBLISHED = ENGLISH("screen.published")


def outgoing(
    round: StoredRound, tasks: Mapping[PairKey, Mapping[str, str]], *, screen: str = "", **more: Any
) -> OutgoingProject:
    """What a1 is to find: of each task what is shown beside its key."""
    made = {asked: {"data": {"pair_id": pair_key(*asked), **data}} for asked, data in tasks.items()}
    return OutgoingProject(TaskForm(PARTS[round], screen, "", ENGLISH), "a1", made, **more)


def listed(*tasks: tuple[PairKey | None, int, Mapping[str, str]]) -> list[StudioTask]:
    return [
        StudioTask(at, None if asked is None else pair_key(*asked), answers, data)
        for at, (asked, answers, data) in enumerate(tasks, start=1)
    ]


def stale(
    one: OutgoingProject, there: Sequence[StudioTask], noted: Sequence[PairKey] = (), gone: Sequence[str] = ()
) -> list[int]:
    own = {pair_key(*asked): asked for asked in (FIRST, SECOND, THIRD)}
    known = {pair_key(*question) for question in noted}
    return [task.task_id for task in sending._stale(there, one, own, known, gone)]


SHOWN, OTHER = {"rating_a": "1 Related"}, {"rating_a": "2 Similar"}


def test_tasks_about_a_withdrawn_document_are_stale_unless_they_are_answered() -> None:
    there = listed((FIRST, 0, {}), (SECOND, 0, {}))
    same = outgoing("train", {FIRST: {}, SECOND: {}})
    assert stale(same, there, gone=[SECOND.doc_id]) == [2]
    assert stale(same, [task._replace(annotations=1) for task in there], gone=[SECOND.doc_id]) == []


def test_of_disputes_those_that_ended_and_those_that_show_other_opinions_are_stale() -> None:
    there = listed((FIRST, 0, SHOWN), (SECOND, 0, OTHER), (THIRD, 0, SHOWN), (None, 0, OTHER))
    assert stale(outgoing("adjudicate", {FIRST: SHOWN, SECOND: SHOWN}), there) == [2, 3]
    answered = [task._replace(annotations=1) for task in there]
    assert stale(outgoing("adjudicate", {FIRST: SHOWN, SECOND: SHOWN}), answered) == []
    assert stale(outgoing("adjudicate", {FIRST: {}}), listed((FIRST, 0, {}))) == []
    strange = [StudioTask(9, "who/knows", 0, OTHER)]
    assert stale(outgoing("adjudicate", {FIRST: SHOWN}), strange) == []


def test_of_judging_what_comes_behind_a_new_task_is_stale_and_of_training_nothing() -> None:
    tasks: dict[PairKey, Mapping[str, str]] = {FIRST: {}, SECOND: {}, THIRD: {}}
    there = listed((SECOND, 0, {}), (THIRD, 0, {}))
    assert stale(outgoing("judge", tasks), there, [SECOND, THIRD]) == [1, 2]
    assert stale(outgoing("judge", tasks), there, [FIRST, SECOND, THIRD]) == []
    assert stale(outgoing("train", tasks), there, [SECOND, THIRD]) == []


def test_the_opinions_that_are_shown_now_are_those_of_new_tasks_and_of_tasks_that_show_the_same() -> None:
    said = {asked: [Judgement(*asked.pair, "a1", 1)] for asked in (FIRST, SECOND)}
    one = outgoing("adjudicate", {FIRST: SHOWN, SECOND: SHOWN, THIRD: SHOWN}, opinions=said)
    there = [StudioTask(1, "x", 0, SHOWN), StudioTask(2, "y", 1, OTHER)]
    assert sending._opinions_on_server(one, there, {FIRST: 1, SECOND: 2, THIRD: 3}) == {FIRST: said[FIRST]}
    assert sending._opinions_on_server(one, there, {FIRST: 7, SECOND: 1}) == said
    assert sending._opinions_on_server(one, there, {}) == {}


@pytest.mark.parametrize(
    ("round", "screen", "notices"),
    [
        ("judge", f"<x>{PUBLISHED}</x>", [Notice("a1", "comments", "screen", AT, True)]),
        ("judge", "<x/>", [Notice("a1", "comments", "screen", AT, False)]),
        ("adjudicate", PUBLISHED, [Notice("a1", "reasons", "screen", AT, True)]),
        ("train", PUBLISHED, []),
    ],
)
def test_what_a_screen_says_of_publication_is_noted_for_what_is_published(
    round: StoredRound, screen: str, notices: list[Notice]
) -> None:
    assert sending._notices(outgoing(round, {}, screen=screen), AT) == notices


def lost(
    count: int, *, push: str = "annot push", why: str = "its task was deleted", who: str = "a1"
) -> tuple[Lost, ...]:
    return tuple(Lost(who, "q", f"d{at}", 1, why, push) for at in range(count))


@pytest.mark.parametrize(
    ("count", "fault"),
    [
        (1, "a1: 1 answer, its task was deleted: q d0"),
        (4, "a1: 4 answers, its task was deleted: q d0, q d1, q d2, ..."),
    ],
)
def test_of_lost_answers_three_pairs_are_named(count: int, fault: str) -> None:
    finding = PullResult((), (), lost(count)).finding("annot pull")
    assert finding is not None
    assert finding.faults == (fault,)
    assert finding.hint is not None
    assert "`annot pull --accept-deletions`" in finding.hint
    assert "; `annot push` sends missing tasks" in finding.hint


def test_lost_answers_are_grouped_by_person_and_reason_and_every_push_is_named() -> None:
    several = (
        *lost(1),
        *lost(2, who="a2"),
        *lost(1, why="skipped"),
        *lost(1, push="annot push adjudication", who="j1"),
    )
    finding = PullResult((), (), several).finding("annot pull")
    assert finding is not None
    assert [fault.partition(":")[0] for fault in finding.faults] == ["a1", "a1", "a2", "j1"]
    assert finding.message.startswith("5 answers changed or missing on the server")
    assert "`annot push` and `annot push adjudication` send missing tasks" in (finding.hint or "")


def test_a_server_that_is_away_is_part_of_the_finding_and_withdrawn_answers_are_not() -> None:
    away = (Unreachable("a3", "away", False),)
    assert PullResult((), (), lost(1), withdrawn=True).finding("annot pull") is None
    assert PullResult((), ()).finding("annot pull") is None
    alone = PullResult((), (), lost(1), True, away).finding("annot pull")
    both = PullResult((), (), lost(1), False, away).finding("annot pull")
    assert alone is not None
    assert both is not None
    assert alone.faults == ("a3: away",)
    assert both.faults == ("a1: 1 answer, its task was deleted: q d0", "a3: away")
    assert both.message == f"1 answer changed or missing on the server; what is on record still counts; {alone.message}"


def test_a_wish_for_another_round_is_refused_with_the_rounds_that_know_it() -> None:
    check_options(RoundOptions(accept_deletions=True), allowed={"accept_deletions"}, command="annot pull")
    check_options(RoundOptions(), allowed=set(), command="annot push")
    with pytest.raises(InputError, match="--accept-deletions is not for `annot pull training`") as caught:
        check_options(
            RoundOptions(accept_deletions=True),
            allowed=round_of("training").option_names,
            command="annot pull training",
        )
    assert caught.value.hint == "it is for `annot pull judging` and `annot pull adjudication`"
    with pytest.raises(InputError, match="round"):
        round_of("nothing")
