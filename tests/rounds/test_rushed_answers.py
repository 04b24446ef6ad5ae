"""Answers faster than anyone can read: held keys are found, and ordinary people are not, however fast they are."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from annot.base.records import Adjudication, Judgement
from annot.judging.exchange.audit import rushed_of
from annot.measuring.measured import assessors_of
from annot.publishing.report.tables import sentences
from annot.steps import exchange
from annot.steps.status import status
from annot.study.outcome import outcome_of, reading_limit, rushed_pairs, too_fast
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from small_study import FirstPairs, Small
from study_answers import record
from study_stages import copied, quietly
from worlds import World

START = datetime(2031, 3, 14, 9, tzinfo=UTC)
SERVER = 0.8
"""Seconds that Label Studio takes from one pair to the next."""


def session_of(seconds: Iterable[float | None], *, pauses: dict[int, float] | None = None) -> list[Judgement]:
    """Answers one after the other, with the seconds that Label Studio counts. pauses: what it does not count before an
    answer, such as the time in which the pair was read before the page was loaded again."""
    moment, given = START, []
    for at, lead_time in enumerate(seconds):
        moment += timedelta(seconds=SERVER + (lead_time or 9) + (pauses or {}).get(at, 0))
        given.append(Judgement("q", f"d{at}", "a1", 1, judged_at=moment.isoformat(), lead_time=lead_time))
    return given


def names(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [doc_id for _, doc_id in pairs]


def test_held_keys_are_found_from_the_second_answer_on() -> None:
    """The first of them may have been on the screen for long."""
    assert names(too_fast(session_of([20, 0.43, 0.43, 0.43, 31]), 1.0)) == ["d1", "d2", "d3"]
    assert names(too_fast(session_of([0.43, 0.43]), 1.0)) == ["d1"]


@pytest.mark.parametrize("reading", [12.0, 3600.0, 20 * 3600.0])
def test_a_pair_that_was_read_before_the_page_was_loaded_again_is_not_too_fast(reading: float) -> None:
    """The second showing took .6 s: the person had read the pair, reloaded the page or went home, and came back."""
    assert too_fast(session_of([20, 0.6, 25], pauses={1: reading}), 1.0) == ()


def test_answers_without_times_or_that_do_not_count_are_left_out() -> None:
    given = session_of([20, None, 0.4, 0.4])
    assert names(too_fast(given[:2], 1.0)) == []
    undated = [Judgement("q", "x", "a1", 1, lead_time=0.1), Judgement("q", "y", "a1", 1, judged_at="?", lead_time=0.1)]
    assert too_fast(undated, 1.0) == ()
    flagged = Judgement("q", "z", "a1", 1, judged_at=given[-1].judged_at, lead_time=0.1, flags=("skipped",))
    assert names(too_fast([*given[:1], flagged], 1.0)) == []


def test_ordinary_fast_readers_are_not_found() -> None:
    """1,600 answers each of people whose usual pair takes 8 to 60 s, log-normal as in studies of judging times; an
    answer needs at least the two keys and a glance, 1.2 s. Twenty studies; the yardstick is each study's own."""
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(20):
        times = [1.2 + usual * np.exp(0.5 * rng.standard_normal(1600)) for usual in (8, 20, 60)]
        people = [session_of(map(float, own)) for own in times]
        limit = reading_limit(people)
        assert limit == pytest.approx(0.05 * 21.2, rel=0.05), "the median person's median"
        found += sum(len(too_fast(own, limit)) for own in people)
    assert found == 0


def test_the_limit_is_a_second_until_people_have_twenty_times_and_no_hasty_person_lowers_it() -> None:
    slow, hasty = session_of([100.0] * 20), session_of([0.5] * 20)
    assert reading_limit([]) == reading_limit([slow[:19]]) == 1.0
    assert reading_limit([slow]) == reading_limit([slow, hasty]) == 5.0
    assert reading_limit([hasty]) == reading_limit([session_of([10.0] * 20)]) == 1.0


def test_status_and_its_page_count_them_and_nothing_is_dropped(tmp_path: Path) -> None:
    ws: Workspace = copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")
    assert status(ws).rushed == (), "thirty and sixty seconds a pair"
    last = max(one.judged_at or "" for one in outcome(ws).everything if one.assessor == "a1")
    moments = [(datetime.fromisoformat(last) + timedelta(seconds=at)).isoformat() for at in (1, 2, 3)]
    record(
        ws,
        [Judgement("p2-method", f"d0{at}", "a1", 2, judged_at=moments[at], lead_time=0.4) for at in range(2)],
        [Adjudication("p1-method", "d09", "j1", 3, "shown", ("a1", "a2"), judged_at=moments[2], lead_time=0.2)],
        prefix="held",
    )
    found = status(ws)
    assert len(found.rushed) == 1, "the decision of j1 came hours after the one before it"
    (told,) = (line for line in sentences("status.notices", found=found) if "faster than anyone" in line)
    assert "a1: 2 answers faster than anyone can read (under 1.0 s; they count)" in told, (
        "ten times each are no median yet"
    )
    assert told.endswith("p2-method d00; p2-method d01")
    held = {("p2-method", "d00"), ("p2-method", "d01")}
    assert held <= {one.pair for one in outcome(ws).everything if one.counts}
    paces = {pace.assessor: {*pace.too_fast} for pace in assessors_of(read_snapshot(ws)).paces}
    assert paces == {"a1": held, "a2": set()}, "the report has the same rule"


def outcome(ws: Workspace):  # type: ignore[no-untyped-def]
    with ws.reading() as session:
        return outcome_of(session, ws.settings)


def test_a_pull_tells_which_answers_these_are(sent: World) -> None:
    made = sent.judge("a1", dict.fromkeys(sent.pairs[:3], 1))
    for at, number in enumerate(made.values()):
        moment = f"2031-03-14T09:00:0{at}.000000Z"
        sent.studio.annotations[number] |= {"lead_time": 0.43, "created_at": moment}
    pulled, _ = exchange.pull_sent(sent.ws, advance=quietly)
    (note,) = (note for note in pulled.notes if "faster" in note)
    assert all(" ".join(pair) in note for pair in sent.pairs[1:3])
    with sent.ws.reading() as session:
        (rushed,) = rushed_of(rushed_pairs(session, outcome_of(session, sent.ws.settings)))
    assert len(rushed.pairs) == 2
    assert len(sent.outcome.judgements) == 3, "all of them count"
