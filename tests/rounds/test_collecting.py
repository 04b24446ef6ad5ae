"""What a pull reads of a project: by whose accounts, since when, and what it tells the server afterwards."""

from datetime import timedelta

from annot.base.records import PairKey
from annot.judging.exchange.collecting import PullCursor, lines_of
from annot.judging.withdrawn import lines_withdrawn, withdrawn_of
from annot.labelstudio.tasks import pair_key
from annot.store import projects
from worlds import PEOPLE, World, result


def test_a_project_with_no_tasks_any_more_says_so(sent: World) -> None:
    sent.judge("a1", {sent.pairs[0]: 1})
    sent.pull()
    sent.studio.empty_project(sent.project("a1"))
    pulled = sent.pull()
    assert [one.why for one in pulled.lost] == ["its project has no tasks"]
    assert "a1: 10 tasks missing from the server; `annot push` sends those without an answer again" in pulled.notes


def test_what_is_on_record_is_known_by_person_and_annotation(judged: World) -> None:
    with judged.ws.reading() as session:
        (a1, a2) = projects.read_projects(session)
    assert len(lines_of(judged.ws, a1)) == 10
    assert {line.record.assessor for line in lines_of(judged.ws, a2).values()} == {"a2"}
    assert lines_of(judged.ws, a1._replace(server="another")) == {}
    assert lines_of(judged.ws, a1._replace(round="train")) == {}


def test_an_answer_that_was_withdrawn_or_counts_on_is_listed_with_why(sent: World) -> None:
    made = sent.judge("a1", dict.fromkeys(sent.pairs[:3], 2))
    sent.pull()
    with sent.ws.reading() as session:
        assert withdrawn_of(session) == ()
    first, second, third = sent.pairs[:3]
    sent.studio.delete_annotation(made[first])
    sent.pull()
    with sent.ws.reading() as session:
        (one,) = withdrawn_of(session)
        (line,) = lines_withdrawn(session, "assessor")
        assert line.answer is not None
        assert line.answer.payload is None
    assert (one.pair_key, one.assessor, one.role, one.grade, one.counts) == (PairKey(*first), "a1", "assessor", 2, True)
    sent.pull(accept_deletions=True)
    sent.studio.delete_annotation(made[second])
    sent.studio.annotate(sent.tasks("a1")[pair_key(*second)], result(1), email=PEOPLE["a1"])
    sent.pull()
    with sent.ws.reading() as session:
        assert [(one.pair_key, one.counts) for one in withdrawn_of(session)] == [(PairKey(*first), False)]
    assert [one.grade for one in sent.outcome.judgements if one.pair == third] == [2]


# -- pulling again and again -------------------------------------------------------------------------------------------


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
