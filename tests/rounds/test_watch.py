"""Pulling again and again: only what has changed is brought back, and nothing that comes late is missed."""

from datetime import timedelta

from annot.judging.exchange.collecting import PullCursor
from annot.labelstudio.tasks import pair_key
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


def test_an_answer_of_another_account_is_seen_by_a_watch_too(sent: World) -> None:
    seen: dict[int, PullCursor] = {}
    sent.judge("a1", {sent.pairs[0]: 1})
    sent.pull(seen=seen)
    sent.studio.annotate(sent.tasks("a2")[pair_key(*sent.pairs[0])], result(2), email=PEOPLE["a1"])
    (row,) = sent.pull(seen=seen).assessors
    assert (row.assessor, row.judged, row.flagged) == ("a2", 0, 1)
