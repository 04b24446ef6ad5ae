"""What a push is about to send, from the records alone: to whom, which pairs, and in which round."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Adjudication, Assessor, Assignment, Gold, Judgement, PairKey, Query
from annot.judging.exchange.collecting import NO_OPTIONS, RoundOptions
from annot.judging.exchange.outgoing import OutgoingProject
from annot.judging.rounds import judging, round_of
from annot.judging.rounds.trials import TrainingRound, _timely_source
from annot.labelstudio.studio_records import ReadAnnotation
from annot.store import people, pools, trials
from annot.store.answers import ADJUDICATIONS, TRIALS, SourcedAnswer
from annot.study.workspace import Workspace
from small_study import RECORDED, FirstPairs, Small, sent_to
from study_stages import copied

P1, P2, RESULT = "p1-method", "p2-method", "p1-result"


@pytest.fixture
def planned(tmp_path: Path) -> Workspace:
    """Forty pairs each for a1 and a2, with a query of another facet that is not planned."""
    ws = copied(Small(), "planned", tmp_path / "study")
    with ws.writing() as session:
        pools.put_queries(session, [Query(RESULT, "p1", "result", (2,))])
    return ws


@pytest.fixture
def judged(tmp_path: Path) -> Workspace:
    """All is judged, with eight disputes."""
    return copied(Small(answers=FirstPairs(40)), "judged", tmp_path / "judged")


def add(ws: Workspace, name: str) -> None:
    with ws.writing() as session:
        people.put_assessors(session, [Assessor(name, f"{name}@example.org", name.startswith("j"))])


def leave(ws: Workspace, name: str) -> None:
    with ws.writing() as session:
        people.set_left(session, name, RECORDED)


def tasks(given: Sequence[OutgoingProject]) -> dict[str, list[PairKey]]:
    return {one.assessor: list(one.tasks) for one in given}


GOLD = [(P1, "p2"), (P1, "d99"), (RESULT, "d00"), (RESULT, "d01")]


def golden(ws: Workspace, *more: tuple[str, str]) -> None:
    with ws.writing() as session:
        trials.replace_gold(session, [Gold(*pair, 1, "So.", at) for at, pair in enumerate((*GOLD, *more), 1)])


def training(ws: Workspace, *names: str, dry_run: bool = True) -> tuple[dict[str, list[int]], list[str]]:
    """How many tasks each has in its parts, and the notes."""
    prepared = TrainingRound().prepare(ws, RoundOptions(assessor=names), dry_run=dry_run)
    found: dict[str, list[int]] = {}
    for one in prepared.outgoing:
        found.setdefault(one.assessor, []).append(len(one.tasks))
    return found, list(prepared.notes)


def test_gold_that_the_plan_gives_to_a_person_is_not_sent_to_them(planned: Workspace) -> None:
    golden(planned, (P1, "d00"))
    add(planned, "a3")
    _, notes = training(planned)
    assert notes == [
        "a1: left out 1 gold pair that the plan gives to a1",
        "a2: left out 1 gold pair that the plan gives to a2",
    ]
    with planned.writing() as session:
        trials.add_assignments(session, "train", [Assignment(P1, "d00", "a1", 1), Assignment(P2, "d00", "a1", 2)])
    _, notes = training(planned)
    assert notes == ["a2: left out 1 gold pair that the plan gives to a2"], "what a1 was given stays"
    training(planned, dry_run=False)
    with planned.reading() as session:
        kept = trials.read_assignments(session, "train", "a1")
    assert {one.pair for one in kept} == {*GOLD, (P1, "d00")}


@pytest.mark.parametrize(
    ("answered", "skipped", "sent"),
    [(0, 0, [2]), (1, 0, [2]), (1, 1, [2]), (2, 0, [4, 2]), (3, 0, [4, 2]), (4, 0, [4, 4])],
)
def test_the_next_batch_comes_with_the_last_answer_of_the_one_before(
    planned: Workspace, answered: int, skipped: int, sent: list[int]
) -> None:
    golden(planned)
    training(planned, "a1", dry_run=False)
    with planned.writing() as session:
        order = [one.pair for one in trials.read_assignments(session, "train", "a1")]
        given = [
            SourcedAnswer(Judgement(*pair, "a1", 1, flags=("skipped",) if at >= answered else ()), "train", f"{at}", {})
            for at, pair in enumerate(order[: answered + skipped])
        ]
        TRIALS.record(session, given, recorded_at=RECORDED)
    assert training(planned, "a1")[0] == {"a1": sent}


def test_which_gold_grades_can_be_seen_is_noted_before_they_are_sent(planned: Workspace) -> None:
    golden(planned)
    training(planned, "a1", dry_run=False)
    with planned.writing() as session:
        order = [one.pair for one in trials.read_assignments(session, "train", "a1")]
        given = [SourcedAnswer(Judgement(*pair, "a1", 1), "train", f"{at}", {}) for at, pair in enumerate(order[:2])]
        TRIALS.record(session, given, recorded_at=RECORDED)
    round = TrainingRound()
    prepared = round.prepare(planned, RoundOptions(assessor=("a1",)), dry_run=True)
    with planned.writing() as session:
        round.before_sending(session, prepared.outgoing)
        shown = trials.read_trials(session)["train-feedback/a1"]["pairs"]
        assert sorted(map(tuple, shown)) == sorted(order[:2])
        source = _timely_source("a1", session)
    assert [source(reading(order[0], grade)) for grade in (1, 2)] == ["train", "train-after-feedback"]
    assert source(reading(order[2], 3)) == "train", "its gold grade was never shown"
    with planned.writing() as session:
        trials.put_trial(session, "train-feedback/a1", {"pairs": order})
        source = _timely_source("a1", session)
    assert source(reading(order[2], 3)) == "train", "it was never answered before"


def reading(pair: tuple[str, str], grade: int) -> ReadAnnotation:
    return ReadAnnotation(
        pair_key=PairKey(*pair), grade=grade, cannot_judge=None, comment=None, settled_by=None, lead_time=None,
        created_at=RECORDED, changed_at=RECORDED, account=7, flags=(), payload={"id": 1},
    )  # fmt: skip


def test_a_dispute_stays_with_whom_it_was_sent_to_until_they_leave(judged: Workspace) -> None:
    (one,) = judging.adjudication_outgoing_of(judged)
    disputed = [asked.pair for asked in one.tasks]
    assert (one.assessor, len(disputed), {asked.occasion for asked in one.tasks}) == ("j1", 8, {1})
    add(judged, "j2")
    shared = tasks(judging.adjudication_outgoing_of(judged))
    assert {name: len(own) for name, own in shared.items()} == {"j1": 4, "j2": 4}
    assert sorted(asked.pair for own in shared.values() for asked in own) == sorted(disputed)
    sent_to(judged, "j1", *(PairKey(*pair) for pair in disputed), round="adjudicate", remote=None)
    assert {name: len(own) for name, own in tasks(judging.adjudication_outgoing_of(judged)).items()} == {"j1": 8}
    leave(judged, "j1")
    assert {name: len(own) for name, own in tasks(judging.adjudication_outgoing_of(judged)).items()} == {
        "j1": 0,
        "j2": 8,
    }


@pytest.mark.parametrize(("ratings", "shown"), [("shown", 8), ("hidden", 0)])
def test_an_adjudicator_sees_the_grades_only_if_they_are_shown(judged: Workspace, ratings: str, shown: int) -> None:
    ws = judged.replaced("adjudication", ratings=ratings)
    (one,) = judging.adjudication_outgoing_of(ws)
    assert (len(one.tasks), len(one.opinions)) == (8, shown)


def test_a_decision_keeps_its_pair_with_who_made_it(judged: Workspace) -> None:
    add(judged, "j2")
    decided = Adjudication(P1, "d08", "j2", 1, "shown", ("a1", "a2"), judged_at="2031-03-14T12:00:00+00:00")
    with judged.writing() as session:
        ADJUDICATIONS.record(session, [SourcedAnswer(decided, "label-studio", "7", {})], recorded_at=RECORDED)
    found = tasks(judging.adjudication_outgoing_of(judged))
    assert (PairKey(P1, "d08") in found["j1"], PairKey(P1, "d08") in found["j2"]) == (False, True)


def test_full_texts_come_once_every_pair_is_judged_on_its_abstract(planned: Workspace) -> None:
    pairs = [(P1, "d00"), (P1, "d01")]
    with planned.writing() as session:
        trials.put_trial(session, "substudy", {"assessor": "a1"})
        for round in ("substudy-abstract", "substudy-full"):
            rows = [Assignment(*pair, "a1", at) for at, pair in enumerate(pairs, 1)]
            trials.add_assignments(session, round, rows)  # type: ignore[arg-type]
    substudy = round_of("substudy")
    with pytest.raises(InputError, match="a push of the sub-study needs its view"):
        substudy.prepare(planned, NO_OPTIONS, dry_run=True)
    (one,) = substudy.prepare(planned, RoundOptions(view="abstract"), dry_run=True).outgoing
    assert (one.assessor, [asked.pair for asked in one.tasks], one.part.stored) == ("a1", pairs, "substudy-abstract")
    for answered, left in ((0, "2 pairs not judged"), (1, "1 pair not judged")):
        with planned.writing() as session:
            given = [
                SourcedAnswer(Judgement(*pair, "a1", 1), "substudy-abstract", pair[1], {}) for pair in pairs[:answered]
            ]
            TRIALS.record(session, given, recorded_at=RECORDED)
        with pytest.raises(InputError, match=f"{left} on the abstracts yet"):
            substudy.prepare(planned, RoundOptions(view="full"), dry_run=True)
    with planned.writing() as session:
        given = [SourcedAnswer(Judgement(*pairs[1], "a1", 1), "substudy-abstract", pairs[1][1], {})]
        TRIALS.record(session, given, recorded_at=RECORDED)
    with pytest.raises(MissingInput, match="no such file"):
        substudy.prepare(planned, RoundOptions(view="full"), dry_run=True)
