"""The parts of a pair's story: where it stands, what counts, what an adjudicator saw, and how it came into the pool."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Addition, Adjudication, Assignment, Draw, Judgement, PoolEntry, Query
from annot.steps import trace
from annot.store.answers import SourcedAdjudication, SourcedJudgement
from small_study import pool_of

PAIR = ("q", "d")
NINE, TEN, ELEVEN = (f"2031-03-14T{hour:02}:00:00+00:00" for hour in (9, 10, 11))


def outcome(**of: object) -> Any:
    usual: dict[str, object] = dict.fromkeys(("waiting", "open", "incomplete", "current", "repeats"), ())
    return SimpleNamespace(**usual | {"adjudications": {}, "unjudgeable": {}, "planned": {PAIR: ("a1",)}} | of)


@pytest.mark.parametrize(
    ("of", "standing"),
    [
        ({}, "agreed"),
        ({"incomplete": (PAIR,)}, "incomplete"),
        ({"incomplete": (PAIR,), "open": (PAIR,)}, "in dispute"),
        ({"open": (PAIR,), "waiting": (PAIR,)}, "returned"),
        ({"planned": {}, "waiting": (PAIR,)}, "not planned"),
        ({"planned": {}, "unjudgeable": {PAIR: ()}}, "nobody can judge"),
        ({"unjudgeable": {PAIR: ()}, "adjudications": {PAIR: None}}, "adjudicated"),
        ({"incomplete": (("q", "e"),), "open": (("q", "e"),), "waiting": (("q", "e"),)}, "agreed"),
    ],
)
def test_a_pair_stands_where_it_got_furthest(of: dict[str, object], standing: str) -> None:
    assert trace._standing(PAIR, outcome(**of), None) == standing


def judged(who: str, grade: int | None, at: str | None, **of: Any) -> SourcedJudgement:
    changed, ruling = of.pop("changed_at", None), of.pop("ruling", None)
    record = Judgement("q", "d", who, grade, judged_at=at, **of)
    return SourcedJudgement(record, "label-studio", "7", {}, ELEVEN, changed_at=changed, ruling=ruling)


def settled(grade: int | None = 2, at: str | None = TEN, **of: Any) -> SourcedAdjudication:
    ruling, shown = of.pop("ruling", None), of.pop("shown", ("a2", "a1"))
    record = Adjudication("q", "d", "j1", grade, of.pop("ratings", "shown"), shown, judged_at=at, **of)
    return SourcedAdjudication(record, "label-studio", "8", {}, ELEVEN, ruling=ruling)


def traced(*history: SourcedJudgement | SourcedAdjudication, of: Any = None) -> list[trace.TracedAnswer]:
    nothing_changed = SimpleNamespace(of=lambda *_, **__: {})
    snapshot: Any = SimpleNamespace(outcome=of or outcome(), version_numbers=nothing_changed)
    return list(trace._answers(history, snapshot, Query("q", "p", "aim", ()), {}))


def test_an_answer_counts_if_the_grade_is_made_of_it_or_it_answers_a_repeat() -> None:
    first, again = judged("a1", 1, NINE), judged("a1", 2, TEN, occasion=2)
    earlier, flagged = judged("a1", 0, NINE, revision=2), judged("a1", 3, NINE, flags=("late",))
    of = outcome(current=(first.record, flagged.record), repeats=(again.record,))
    said = traced(first, again, earlier, flagged, of=of)
    assert [one.counts for one in said] == [True, True, False, False]
    assert [one.repeat for one in said] == [False, True, False, False]
    other = replace(again.record, assessor="a2")
    (alone,) = traced(again, of=outcome(repeats=(other,)))
    assert (alone.repeat, alone.counts) == (False, False)


def test_an_adjudication_counts_if_it_is_the_one_that_settled_or_ended_the_pair() -> None:
    one, other, unable = settled(2), settled(3), settled(None, cannot_judge="no text")
    said = traced(one, other, unable, of=outcome(adjudications={PAIR: one.record}))
    assert [found.counts for found in said] == [True, False, False]
    said = traced(one, unable, of=outcome(unjudgeable={PAIR: (unable.record,)}))
    assert [found.counts for found in said] == [False, True]
    assert {(found.repeat, found.role) for found in said} == {(False, "adjudicator")}


def test_an_answer_is_from_when_it_was_changed_and_the_leads_word_from_when_it_was_recorded() -> None:
    said = traced(
        judged("a1", 1, NINE),
        judged("a1", 1, NINE, changed_at=TEN),
        judged("a1", 1, None),
        judged("a1", 1, NINE, ruling="withdrawn"),
    )
    assert [one.at for one in said] == [NINE, TEN, ELEVEN, ELEVEN]
    assert [one.source for one in said] == [*["label-studio"] * 3, "withdrawn by the lead"]


def test_a_document_is_in_the_pool_by_a_draw_or_by_what_brought_it_in() -> None:
    pool = pool_of("p1")
    entry, addition = trace._pooled(pool, "d03")
    assert entry is not None
    assert (entry.drawn.method, addition) == ("abs_tfidf", None)
    assert trace._pooled(pool, "d99") == trace._pooled(None, "d03") == (None, None)
    added = [Addition(at, "manual", None, (name,), "Found.", None, None) for at, name in ((2, "m1"), (3, "m2"))]
    more = tuple(PoolEntry(one.documents[0], Draw("manual", 1, None, None), ()) for one in added)
    grown = replace(pool, entries=(*pool.entries, *more), additions=tuple(added))
    assert [trace._pooled(grown, name)[1] for name in ("d00", "m1", "m2")] == [None, *added]


def test_a_document_that_nothing_knows_is_refused_with_the_near_name() -> None:
    plan = (Assignment("q", "doc-17", "a1", 1), Assignment("other", "doc-18", "a1", 2))
    with pytest.raises(InputError, match=r"document 'doc-1': not in the corpus, nor judged or ranked for q; .*doc-17"):
        trace._refuse_unknown(("q", "doc-1"), None, plan)
    with pytest.raises(InputError, match="d09"):
        trace._refuse_unknown(("q", "d090"), pool_of("p1"), ())
    with pytest.raises(InputError) as error:
        trace._refuse_unknown(("q", "elsewhere"), None, ())
    assert "; " not in error.value.message
