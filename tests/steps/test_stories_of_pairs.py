"""The whole story of a pair of a small study: texts, pool, people, answers, runs; each part from the records."""

from __future__ import annotations

from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import PairKey, PairReturn, Paper
from annot.formats.trec import write_run
from annot.steps import qrels, trace
from annot.store import people, projects
from annot.store.answers import JUDGEMENTS, add_returned
from annot.store.models import StoredRound
from annot.study.workspace import Workspace, write_file
from small_study import LABELS, RECORDED, FirstPairs, Small, judgement, sourced, write_runs
from study_stages import copied

P1, P2 = "p1-method", "p2-method"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """a1 and a2 judged the ten pairs of p1 and differ on d08 and d09, which j1 settled as 3."""
    ws = copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")
    write_runs(ws)
    return ws


def sent(ws: Workspace, round: StoredRound, name: str, *doc_ids: str) -> None:
    with ws.writing() as session:
        made = projects.open_project(
            session, round=round, assessor=name, server="s", url="u", version="1", account_id=1
        )
        projects.record_tasks(session, made.project, {PairKey(P1, doc): at for at, doc in enumerate(doc_ids, 1)})


def test_an_agreed_pair_has_its_people_places_and_ranks(ws: Workspace) -> None:
    sent(ws, "judge", "a1", "d00", "d01")
    sent(ws, "judge", "a2", "d01")
    sent(ws, "adjudicate", "j1", "d00")
    sent(ws, "train", "a2", "d00")
    with ws.writing() as session:
        add_returned(session, PairReturn(P1, "d01", "a1", 3, "Look again.", RECORDED))
        add_returned(session, PairReturn(P1, "d02", "a1", 3, "Look again.", RECORDED))
    qrels.write(ws, partial=True)
    found = trace.trace(ws, P1, "d01")
    assert [(assignment.assessor, assignment.position) for assignment in found.given_to] == [("a1", 2), ("a2", 2)]
    assert [pair_return.assessor for pair_return in found.returned] == ["a1"]
    assert (found.query.facet, found.query.sentences, found.imported) == ("method", (1,), False)
    # d01 is the first of the second method, the second of the pool.
    assert found.pool is not None
    assert (found.pool.drawn.rank, found.pool.drawn.turn) == (1, 2)
    assert found.runs == {"forward": 2, "gappy": 2}


def test_a_settled_pair_has_its_grade_and_who_gave_it(ws: Workspace) -> None:
    settled = trace.trace(ws, P1, "d08")
    assert settled.decision is not None
    assert (settled.decision.grade, settled.decision.origin) == (3, "adjudicated")
    by_adjudicator = next(answer for answer in settled.answers if answer.role == "adjudicator")
    assert (by_adjudicator.person, by_adjudicator.reason) == ("j1", "the facet was misread")
    assert (settled.qrel, settled.standing) == (None, "adjudicated")
    qrels.write(ws, partial=True)
    assert trace.trace(ws, P1, "d08").qrel == 3
    agreed = trace.trace(ws, P1, "d02")
    # (2 + 1) % 4, as both judged.
    assert agreed.decision is not None
    assert (agreed.decision.grade, agreed.decision.origin, agreed.qrel) == (3, "agreed", 3)
    waits = trace.trace(ws, P2, "d00")
    assert (waits.decision, waits.qrel, waits.standing, waits.answers) == (None, None, "incomplete", ())


def test_a_pair_that_was_judged_elsewhere_says_so(ws: Workspace) -> None:
    with ws.writing() as session:
        (one,) = (one for one in people.read_assignments(session, "a1") if one.pair == (P2, "d00"))
        given = [one._replace(source="import", annotation="x") for one in sourced([judgement(one)])]
        JUDGEMENTS.record(session, given, recorded_at=RECORDED)
    assert trace.trace(ws, P2, "d00").imported
    assert not trace.trace(ws, P2, "d01").imported


def test_texts_come_with_their_labels(ws: Workspace) -> None:
    found = trace.trace(ws, P1, "d00").document
    assert found == Paper("d00", "Title of d00", ("Why d00.", "How d00.", "What d00."), 2001, LABELS)


def test_a_document_that_nobody_knows_is_refused_with_the_near_name(ws: Workspace) -> None:
    with pytest.raises(InputError, match=r"document 'd0': not in the corpus, nor judged or ranked for p1-method; .*d0"):
        trace.trace(ws, P1, "d0")
    with pytest.raises(InputError, match="p9-method"):
        trace.trace(ws, "p9-method", "d00")
    write_file(ws.runs / "other.run", write_run({P1: []}, tag="other") or f"{P1} Q0 strange 1 1 other\n")
    assert trace.trace(ws, P1, "strange").runs == {"forward": None, "gappy": None, "other": 1}
