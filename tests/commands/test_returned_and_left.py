"""An assessor leaves with a returned pair unanswered: the pair has again its decision, or goes to the adjudicator."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from annot.steps import adjudicate
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import Result
from small_study import QUERIES, build

Run = Callable[..., Result]
QUERY = QUERIES[1].query_id
WHY = "Look at the last sentence."


@pytest.mark.parametrize("contested", [False, True], ids=["its decision", "an adjudicator"])
def test_a_returned_pair_of_a_person_who_leaves_waits_for_nobody(ws: Workspace, annot: Run, *, contested: bool) -> None:
    """d00 is agreed, d08 in dispute; of the first query everything is settled."""
    build(ws, judged=40)
    before = annot("status", "--json").data
    for doc_id in ("d00", "d08"):
        assert annot("adjudicate", "return", QUERY, doc_id, "--to", "a1", "--why", WHY).exit_code == 0
    waiting = annot("status", "--json").data
    assert (waiting["waiting"], waiting["agreed"]) == (2, before["agreed"] - 1)
    refused = annot("qrels")
    assert "--undo" in refused.stderr
    assert "--undo" in annot("adjudicate", "return", QUERY, "d00", "--to", "a1", "--why", "Another reason.").stderr

    left = annot("assessor", "leave", "a1", "--offline", *(["--to-adjudicator"] if contested else []))
    assert left.exit_code == 0
    assert f"  {QUERY} d00" in left.stdout
    assert ("annot adjudicate push" in left.stdout) is contested
    after = annot("status", "--json").data
    assert (after["waiting"], after["returned"], after["incomplete"]) == (0, 0, 0)
    assert after["agreed"] == before["agreed"] - contested
    assert after["open"] == before["open"] + contested
    with open_store(ws.database_url) as store:
        sent = {asked.pair for parcel in adjudicate.parcels_of(ws, store) for asked in parcel.tasks}
    assert ((QUERY, "d00") in sent) is contested
    assert (QUERY, "d08") in sent
    # Nothing is put before a person who has left.
    gone = annot("adjudicate", "return", QUERY, "d01", "--to", "a1", "--why", WHY)
    assert gone.exit_code == 2
    assert "a1 has left the study" in gone.stderr
    assert "return it to a2" in gone.stderr
