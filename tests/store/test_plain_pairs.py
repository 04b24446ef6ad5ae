"""Pairs that the database counts: together with the outcome of the others they are the outcome of all."""

import random
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from annot.base.records import Adjudication, Assignment, Judgement
from annot.base.settings import Settings
from annot.store.answers import (
    ADJUDICATIONS,
    JUDGEMENTS,
    SourcedAdjudication,
    SourcedJudgement,
    accept,
    count_plain_pairs,
    has_times,
)
from annot.store.database import Store, open_store
from annot.store.models import Plan
from annot.store.people import put_assessors, replace_plan
from annot.store.pools import put_queries
from annot.study.outcome import outcome_of
from annot.study.plain_pairs import counted_outcome, states_of
from stored import PEOPLE, QUERIES

WHEN = "2031-01-01T00:00:00+00:00"
PAIRS = [(query.query_id, f"d{number}") for query, number in product(QUERIES, range(9))]


def made(store: Store, rng: random.Random) -> None:
    """Any pair may lack an answer, have a second one, a repeat, no grade, an objection or a decision."""
    plan: list[Assignment] = []
    answers: list[SourcedJudgement] = []
    for pair, name in product(PAIRS, ("a1", "a2")):
        occasions = rng.choice([(1,), (1,), (1,), (1, 2), ()])
        plan += [Assignment(*pair, name, 0, occasion) for occasion in occasions]
        for occasion in occasions if rng.random() < 0.9 else ():
            answer = Judgement(*pair, name, rng.choice([0, 1, 1]), occasion=occasion)
            odd = rng.random()
            answer = replace(answer, grade=None, cannot_judge="unclear") if odd < 0.1 else answer
            answer = replace(answer, flags=("skipped",)) if odd > 0.9 else answer
            revisions = [answer, replace(answer, grade=2)][: rng.choice([1, 1, 1, 1, 2])]
            answers += [SourcedJudgement(one, "label-studio", rng.choice("77778"), {}) for one in revisions]
    places = {name: iter(range(1, len(plan) + 1)) for name in ("a1", "a2")}
    plan = [replace(row, position=next(places[row.assessor])) for row in plan]
    ruled = [Adjudication(*pair, "z1", 2, "shown", ()) for pair in PAIRS if rng.random() < 0.1]
    with store.begin() as session:
        put_queries(session, QUERIES)
        put_assessors(session, PEOPLE)
        replace_plan(session, plan, plan=Plan("", 1, WHEN, rng.choice([None, 1, 2])))
        JUDGEMENTS.record(session, answers, recorded_at=WHEN)
        settled = [SourcedAdjudication(ruling, "label-studio", "9", {}) for ruling in ruled]
        ADJUDICATIONS.record(session, settled, recorded_at=WHEN)


@pytest.mark.parametrize("seed", range(6))
def test_the_database_counts_as_the_outcome_does(url: str, seed: int) -> None:
    with open_store(url) as store:
        made(store, random.Random(seed))
        with store.read() as session:
            assert not has_times(session)
            plain, rest = counted_outcome(session, Settings(), whole=False)
            whole = outcome_of(session, Settings())
            # What was read once is not counted again.
            assert counted_outcome(session, Settings(), whole=False)[1] is whole
    assert plain.grades
    assert plain.grades.keys().isdisjoint(rest.planned)
    assert plain.grades.keys() | rest.planned.keys() == whole.planned.keys()
    assert states_of(rest, plain) == states_of(whole)
    assert plain.given + rest.progress.given == whole.progress.given
    assert rest.progress.left_by_assessor == whole.progress.left_by_assessor
    assert sorted([*plain.qrels, *rest.qrels]) == list(whole.qrels)
    assert plain.disputed + len(rest.open) == len(whole.open)
    assert plain.most <= 2


def test_pairs_with_a_note_of_the_lead_are_not_only_counted(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/annot.db") as store:
        made(store, random.Random(1))
        with store.begin() as session:
            accept(session, PAIRS[:1], why="enough", accepted_at=WHEN)
        with store.read() as session:
            plain, rest = counted_outcome(session, Settings(), whole=False)
            assert not plain.grades
            assert rest == outcome_of(session, Settings())


ODD = ("none", "unanswered", "twice", "unplanned", "flag", "no grade", "repeat", "revised", "settled", "too few")


@pytest.mark.parametrize("odd", ODD)
def test_pairs_are_only_counted_if_every_one_is_plain(url: str, odd: str) -> None:
    plan = [Assignment(*pair, name, at, 1) for name in ("a1", "a2") for at, pair in enumerate(PAIRS, 1)]
    answers = [
        Judgement(*row.pair, row.assessor, at * (3 if row.assessor == "a1" else 1) % 4 % 3)
        for at, row in enumerate(plan)
    ]
    first, last = answers[0], len(plan) // 2 + 1
    changes = {
        "twice": first,
        "unplanned": Judgement(first.query_id, "d99", "a1", 1),
        "repeat": replace(first, occasion=2),
        "flag": replace(first, flags=("skipped",)),
        "no grade": replace(first, grade=None, cannot_judge="unclear"),
        "revised": replace(first, grade=2),
    }
    if odd in ("flag", "no grade"):
        answers[0] = changes.pop(odd)
    if odd == "repeat":
        plan.append(Assignment(*first.pair, "a1", last, 2))
    if odd in ("unanswered", "twice", "unplanned"):
        # As many answers as questions do not hide it.
        answers.pop()
    given = [SourcedJudgement(answer, "file", "", None) for answer in answers]
    if odd in changes:
        given.append(SourcedJudgement(changes[odd], "file", "2" if odd == "twice" else "", None))
    with open_store(url) as store:
        with store.begin() as session:
            put_queries(session, QUERIES)
            put_assessors(session, PEOPLE)
            replace_plan(session, plan, plan=Plan("", 1, WHEN, 3 if odd == "too few" else 2))
            JUDGEMENTS.record(session, given, recorded_at=WHEN)
            if odd == "settled":
                ruling = SourcedAdjudication(Adjudication(*PAIRS[0], "z1", 2, "shown", ()), "file", "", None)
                ADJUDICATIONS.record(session, [ruling], recorded_at=WHEN)
        with store.read() as session:
            plain, rest = counted_outcome(session, Settings(), whole=False)
            whole = outcome_of(session, Settings())
            assert (count_plain_pairs(session, planned=len(plan)) is None) == (
                odd not in ("none", "settled", "too few")
            )
            assert (
                plain.number
                == len(plain.grades)
                == (0 if odd == "too few" else len(PAIRS) - {"none": 0, "twice": 2}.get(odd, 1))
            )
    assert plain.disputed or odd == "too few"
    assert plain.disputed == sum(grade is None for grade in plain.grades.values())
    assert states_of(rest, plain) == states_of(whole)
    assert plain.given + rest.progress.given == whole.progress.given
    assert sorted([*plain.qrels, *rest.qrels]) == list(whole.qrels)
