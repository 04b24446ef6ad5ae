"""Pulling again and again: only what has changed is brought back, and nothing that comes late is missed."""

from __future__ import annotations

from datetime import timedelta

from annot.judging.exchange.collecting import PullCursor, PullResult
from annot.labelstudio.tasks import pair_key
from annot.steps import exchange
from annot.steps.exchange import watch
from worlds import PEOPLE, World, result


def test_only_what_has_changed_is_brought_back(sent: World) -> None:
    seen: dict[int, PullCursor] = {}
    sent.judge("a1", dict.fromkeys(sent.pairs[:3], 1))
    sent.pull(seen=seen)
    exported = sent.studio.count("GET", "/export")
    nothing = sent.pull(seen=seen)
    assert (nothing.assessors, sent.studio.count("GET", "/export")) == ((), exported)
    sent.judge("a1", {sent.pairs[3]: 2})
    (row,) = sent.pull(seen=seen).assessors
    assert (row.assessor, row.new, row.judged) == ("a1", 1, 4)


def test_a_change_that_was_made_earlier_and_is_seen_later_is_not_missed(sent: World) -> None:
    """Two transactions at once: the one with the earlier moment may end after the one that was pulled."""
    seen: dict[int, PullCursor] = {}
    first, second, third, *_ = sent.pairs
    sent.judge("a1", {first: 1})
    sent.pull(seen=seen)
    latest = sent.studio.now
    for late, pair, grade in ((5, second, 2), (9, third, 3)):
        sent.studio.now = latest - timedelta(seconds=late)
        sent.judge("a1", {pair: grade})
        (row,) = sent.pull(seen=seen).assessors
        assert (row.assessor, row.new) == ("a1", 1)
    assert sorted(one.grade for one in sent.outcome.judgements if one.grade) == [1, 2, 3]


def test_a_project_whose_tasks_changed_in_number_is_read_whole(sent: World) -> None:
    seen: dict[int, PullCursor] = {}
    made = sent.judge("a1", dict.fromkeys(sent.pairs[:2], 1))
    sent.pull(seen=seen)
    sent.studio.delete_task(sent.tasks("a1")[pair_key(*sent.pairs[0])])
    pulled = sent.pull(seen=seen)
    assert [one.why for one in pulled.lost] == ["its task was deleted"]
    sent.studio.delete_annotation(made[sent.pairs[1]])
    assert len(sent.pull(seen=seen).lost) >= 1


def test_a_watch_ends_when_everything_is_judged(sent: World) -> None:
    rounds = iter((("a1", sent.pairs[:5]), ("a1", sent.pairs[5:]), ("a2", sent.pairs)))
    brought: list[list[tuple[str, int]]] = []
    ended: list[bool] = []

    def wait(seconds: float) -> None:
        assert seconds == 7
        name, pairs = next(rounds)
        sent.judge(name, dict.fromkeys(pairs, 1))

    def show(pulled: PullResult) -> None:
        brought.append([(row.assessor, row.new) for row in pulled.assessors])

    watch(
        lambda seen: exchange.pull(sent.ws, round="judging", advance=lambda done, total: None, seen=seen),
        every=7,
        wait=wait,
        show=show,
        tell=lambda text: None,
        after=lambda came, why: ended.append(came),
    )
    assert brought == [[("a1", 5)], [("a1", 5)], [("a2", 10)]]
    assert ended == [False, True, True, True]


def test_an_answer_of_another_account_is_seen_by_a_watch_too(sent: World) -> None:
    seen: dict[int, PullCursor] = {}
    sent.judge("a1", {sent.pairs[0]: 1})
    sent.pull(seen=seen)
    sent.studio.annotate(sent.tasks("a2")[pair_key(*sent.pairs[0])], result(2), email=PEOPLE["a1"])
    (row,) = sent.pull(seen=seen).assessors
    assert (row.assessor, row.judged, row.flagged) == ("a2", 0, 1)
