"""An adjudicator leaves: what they settled stays, what they have not goes to another."""

from __future__ import annotations

from collections.abc import Callable

from annot.base.records import Assessor, PairKey
from annot.judging.rounds import judging
from annot.store import people, projects
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import Result
from small_study import DOCUMENTS, QUERIES, build


def test_open_disputes_of_an_adjudicator_who_left_go_to_another(ws: Workspace, annot: Callable[..., Result]) -> None:
    """j1 settled the two disputes of the first query and was sent those of the second."""
    build(ws, judged=40)
    sent = [PairKey(query.query_id, doc_id) for query in QUERIES[:2] for doc_id in DOCUMENTS[-2:]]
    with open_store(ws.database_url) as store, store.begin() as session:
        people.put_assessors(session, [Assessor("j2", "jan@example.org", True)])
        project = projects.open_project(
            session, round="adjudicate", assessor="j1", server="s", url="u", version="1", account_id=7
        )
        projects.record_tasks(session, project.project, {asked: at for at, asked in enumerate(sent)})
    assert set(parcels(ws)["j1"]) >= set(sent)
    left = annot("assessor", "leave", "j1", "--json")
    assert left.exit_code == 0
    assert (left.data["open"], left.data["kept"]) == (0, 0)
    after = parcels(ws)
    # What j1 has settled stays; the project is still looked at, so that the rest is withdrawn.
    assert set(after["j1"]) == set(sent[:2])
    assert set(after["j2"]) == {PairKey(query.query_id, doc_id) for query in QUERIES[1:] for doc_id in DOCUMENTS[-2:]}


def parcels(ws: Workspace) -> dict[str, list[PairKey]]:
    return {parcel.assessor: list(parcel.tasks) for parcel in judging.adjudication_outgoing_of(ws)}
