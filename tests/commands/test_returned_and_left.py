"""An assessor leaves with a returned pair unanswered: the pair has again its decision, or goes to the adjudicator.

A pair that an adjudicator has settled can be put before an assessor, too.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest
from annot.base.records import Adjudication, Assignment, PairKey
from annot.judging.rounds import judging
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, read_returned
from annot.store.database import open_store
from annot.store.models import RETURNED_TABLE
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from command_line import Result
from small_study import QUERIES, build, judgement, sourced

Run = Callable[..., Result]
QUERY = QUERIES[1].query_id
WHY = "Look at the last sentence."


@pytest.mark.parametrize("contested", [False, True], ids=["its decision", "an adjudicator"])
def test_a_returned_pair_of_a_person_who_leaves_waits_for_nobody(ws: Workspace, annot: Run, *, contested: bool) -> None:
    """d00 is agreed, d08 in dispute; of the first query everything is settled."""
    build(ws, judged=40)
    before = annot("status", "--json").data
    for doc_id in ("d00", "d08"):
        assert annot("return", QUERY, doc_id, "--to", "a1", "--why", WHY).exit_code == 0
    waiting = annot("status", "--json").data
    assert (waiting["waiting"], waiting["agreed"]) == (2, before["agreed"] - 1)
    refused = annot("qrels")
    assert f"returned to a1, who has not answered yet; `annot return {QUERY} d00 --to a1 --undo`" in (refused.stderr)
    listed = annot("status", "--returned")
    assert f"annot return {QUERY} d00 --to a1 --undo" in listed.stderr
    assert "--undo" in annot("return", QUERY, "d00", "--to", "a1", "--why", "Another reason.").stderr

    left = annot("assessor", "leave", "a1", "--offline", *(["--to-adjudicator"] if contested else []))
    assert left.exit_code == 0
    assert f"  {QUERY} d00" in left.stdout
    assert ("An adjudicator decides:" in left.stdout) is contested
    assert "next: annot push adjudication" in left.stderr
    after = annot("status", "--json").data
    assert (after["waiting"], after["returned"], after["incomplete"]) == (0, 0, 0)
    assert after["agreed"] == before["agreed"] - contested
    assert after["open"] == before["open"] + contested
    sent = {asked.pair for parcel in judging.adjudication_outgoing_of(ws) for asked in parcel.tasks}
    assert ((QUERY, "d00") in sent) is contested
    assert (QUERY, "d08") in sent
    # Nothing is put before a person who has left.
    gone = annot("return", QUERY, "d01", "--to", "a1", "--why", WHY)
    assert gone.exit_code == 2
    assert "a1 has left the study" in gone.stderr
    assert "return it to a2" in gone.stderr


@pytest.mark.parametrize("grade", [1, 2], ids=["agreed", "in dispute again"])
def test_a_settled_pair_can_be_put_before_an_assessor_again(ws: Workspace, annot: Run, grade: int) -> None:
    """j1 has settled d08 of the first query, on which a1 gave 0 and a2 gave 1."""
    build(ws, judged=40)
    pair = (QUERIES[0].query_id, "d08")

    def decision() -> tuple[int, str] | None:
        with open_store(ws.database_url) as store, store.read() as session:
            found = {one.pair: one for one in outcome_of(session, ws.settings).decisions}.get(pair)
        return None if found is None else (found.grade, found.origin)

    def given(record: Assignment, grade: int, occasion: int) -> None:
        new = replace(judgement(record), grade=grade, occasion=occasion, judged_at="2040-01-01T00:00:00+00:00")
        with open_store(ws.database_url) as store, store.begin() as session:
            JUDGEMENTS.record(session, sourced([new]), recorded_at="2040-01-01T00:00:00+00:00")

    def to_adjudicate() -> set[PairKey]:
        return {asked for one in judging.adjudication_outgoing_of(ws) for asked in one.tasks if asked.pair == pair}

    def last_for_now() -> list[PairKey]:
        """What a1's tasks call the last for now, behind which nothing may come."""
        (mine,) = [parcel for parcel in judging.outgoing_of(ws) if parcel.assessor == "a1"]
        assert "the last for now" in list(mine.tasks.values())[-1]["data"]["progress"]
        return [asked for asked, task in mine.tasks.items() if "the last for now" in task["data"]["progress"]]

    def put_back(why: str) -> None:
        """The command, at a time after the small study's."""
        assert annot("return", *pair, "--to", "a1", "--why", why).exit_code == 0
        with open_store(ws.database_url) as store, store.begin() as session:
            rows = RETURNED_TABLE
            session.connection().execute(rows.update().values(returned_at="2035-01-01T00:00:00+00:00"))

    assert decision() == (3, "adjudicated")
    assert len(last_for_now()) == 1
    put_back(WHY)
    assert [asked.pair for asked in last_for_now()] == [pair]
    assert decision() is None
    assert annot("status", "--json").data["waiting"] == 1
    assert annot("return", *pair, "--to", "a1", "--undo").exit_code == 0
    assert decision() == (3, "adjudicated")

    put_back("Once more.")
    with open_store(ws.database_url) as store, store.read() as session:
        occasion = max(one.occasion for one in read_returned(session))
    given(Assignment(*pair, "a1", 1), grade, occasion)
    if grade == 1:
        assert decision() == (1, "agreed")
        assert not to_adjudicate()
        return
    # A task of its own, as the first one has its answer; what is decided on it stands.
    assert decision() is None
    assert to_adjudicate() == {PairKey(*pair, 2)}
    again = Adjudication(*pair, "j1", 0, "shown", ("a2", "a1"), judged_at="2041-01-01T00:00:00+00:00")
    with open_store(ws.database_url) as store, store.begin() as session:
        ADJUDICATIONS.record(
            session, [SourcedAdjudication(again, "label-studio", "8", {})], recorded_at="2041-01-01T00:00:00+00:00"
        )
    assert decision() == (0, "adjudicated")
    assert to_adjudicate() == {PairKey(*pair, 2)}
