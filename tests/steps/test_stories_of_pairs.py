"""The whole story of a pair of a small study: texts, pool, people, answers, runs; each part from the records."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import Draw, PairKey, PairReturn, Paper
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
    assert found.given_to == (("a1", 2, 1), ("a2", 2, 1))
    assert sorted(found.sent_to) == [("a1", "judge"), ("a2", "judge")]
    assert [one.assessor for one in found.returned] == ["a1"]
    assert sorted(trace.trace(ws, P1, "d00").sent_to) == [("a1", "judge"), ("j1", "adjudicate")]
    assert (found.facet, found.query_sentences, found.imported) == ("method", (2,), False)
    # d01 is the first of the second method, the second of the pool.
    assert found.pool is not None
    assert (found.pool.position, found.pool.size, found.had_by) == (2, 10, ())
    assert [(run.tag, run.rank) for run in found.runs] == [("forward", 2), ("gappy", 2)]


def test_a_settled_pair_has_its_grade_and_who_gave_it(ws: Workspace) -> None:
    settled = trace.trace(ws, P1, "d08")
    assert (settled.grade, settled.adjudicator, settled.reason) == (3, "j1", "the facet was misread")
    assert (settled.qrel, settled.standing) == (None, "adjudicated")
    qrels.write(ws, partial=True)
    assert trace.trace(ws, P1, "d08").qrel == 3
    agreed = trace.trace(ws, P1, "d02")
    # (2 + 1) % 4, as both judged.
    assert (agreed.grade, agreed.qrel, agreed.adjudicator, agreed.reason) == (3, 3, None, None)
    waits = trace.trace(ws, P2, "d00")
    assert (waits.grade, waits.qrel, waits.standing, waits.said) == (None, None, "incomplete", ())


def test_a_pair_that_was_judged_elsewhere_says_so(ws: Workspace) -> None:
    with ws.writing() as session:
        (one,) = (one for one in people.read_assignments(session, "a1") if one.pair == (P2, "d00"))
        given = [one._replace(source="import", annotation="x") for one in sourced([judgement(one)])]
        JUDGEMENTS.record(session, given, recorded_at=RECORDED)
    assert trace.trace(ws, P2, "d00").imported
    assert not trace.trace(ws, P2, "d01").imported


def test_texts_come_with_their_labels_and_a_hash(ws: Workspace) -> None:
    found = trace.trace(ws, P1, "d00").document
    assert found is not None
    assert [(one.position, one.text, one.label) for one in found.sentences] == [
        (1, "Why d00.", "background"), (2, "How d00.", "method"), (3, "What d00.", "result"),
    ]  # fmt: skip
    assert [one.facet for one in found.sentences] == [ws.settings.facet_of(label) for label in LABELS]
    assert (found.title, found.year, found.labels_origin) == ("Title of d00", 2001, "carried")
    assert trace._paper(ws, None, None) is None
    paper = Paper("x", "Größe", ("One.", "Two."), 2001, None)
    plain = trace._paper(ws, paper, None)
    assert plain is not None
    assert [(one.label, one.facet) for one in plain.sentences] == [(None, None), (None, None)]
    known = {name: value for name, value in asdict(paper).items() if name != "part_of"}
    text = json.dumps(known, sort_keys=True, ensure_ascii=False)
    assert '"abstract"' not in text
    assert plain.sha256 == hashlib.sha256(text.encode()).hexdigest(), "of the fields by name, in UTF-8"


def test_a_document_that_no_method_drew_is_in_the_rankings(ws: Workspace) -> None:
    """`write_runs` puts d99 behind the pools of one method."""
    found = trace.trace(ws, P1, "d99")
    assert (found.pool, found.had_by) == (None, (Draw("title_tfidf", 11, 0.01, None),))
    assert [(run.tag, run.rank, run.of) for run in found.runs] == [("forward", None, 10), ("gappy", None, 9)]
    assert found.standing == "not planned"


def test_a_document_that_nobody_knows_is_refused_with_the_near_name(ws: Workspace) -> None:
    with pytest.raises(InputError, match=r"document 'd0': not in the corpus, nor judged or ranked for p1-method; .*d0"):
        trace.trace(ws, P1, "d0")
    with pytest.raises(InputError, match="p9-method"):
        trace.trace(ws, "p9-method", "d00")
    write_file(ws.runs / "other.run", write_run({P1: []}, tag="other") or f"{P1} Q0 strange 1 1 other\n")
    assert [run.rank for run in trace.trace(ws, P1, "strange").runs] == [None, None, 1]
