"""Revisions of one annotation: their result, their hashes, and the order of pools."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.errors import StoreError
from annot.base.records import OLDER, Judgement
from annot.base.settings import Settings
from annot.store import facet_labels
from annot.store.answers import JUDGEMENTS, AnnotationHistory, SourcedJudgement, hashes_of
from annot.store.database import Store
from annot.store.facet_labels import FacetLabels
from annot.store.models import ImportedSource, Session
from annot.store.pools import read_pools
from annot.store.runs import put_import
from annot.study.provenance import read_states, state
from annot.study.snapshot import snapshot_of
from annot.study.workspace import Workspace
from sqlalchemy import text
from stored import NOW, pool, write_pools


def given(grade: int | None, *flags: str, payload: object = None) -> SourcedJudgement:
    one = Judgement("p1-method", "d1", "a1", grade, flags=flags)
    return SourcedJudgement(one, "label-studio", "7", {"grade": grade} if payload is None else payload)  # type: ignore[arg-type]


def line(session: Session) -> AnnotationHistory[Judgement]:
    (found,) = JUDGEMENTS.lines(session)
    return found


def test_an_answer_is_kept_from_the_leads_word_to_the_next_answer(study: Store) -> None:
    with study.begin() as session:
        JUDGEMENTS.record(session, [given(1)], recorded_at=NOW)
        assert not line(session).kept
        JUDGEMENTS.record_gone(session, [(line(session).current, "deleted")], recorded_at=NOW)
        assert (line(session).kept, line(session).counts) == (False, True)
        answer = line(session).answer
        assert answer is not None
        JUDGEMENTS.restore(session, [answer], recorded_at=NOW)
        assert line(session).kept
        JUDGEMENTS.record_gone(session, [(line(session).current, "its project is gone")], recorded_at=NOW)
        assert (line(session).kept, line(session).why) == (True, "gone from the server: its project is gone")
        JUDGEMENTS.withdraw(session, [(line(session).current, "a mistake")], recorded_at=NOW)
        assert (line(session).kept, line(session).counts) == (False, False)
        JUDGEMENTS.record(session, [given(2)], recorded_at=NOW)
        assert (line(session).kept, line(session).record.grade) == (False, 2)


def test_what_is_read_again_is_no_revision_and_what_changed_is_the_next(study: Store) -> None:
    early, late = "2031-01-01T00:00:00+00:00", "2031-01-02T00:00:00+00:00"
    with study.begin() as session:
        first = given(1)._replace(changed_at=late)
        assert JUDGEMENTS.record(session, [first, first], recorded_at=NOW) == (1, 0, 1)
        assert JUDGEMENTS.record(session, [first], recorded_at=NOW) == (0, 0, 1)
        second = given(2)._replace(changed_at=late)
        assert JUDGEMENTS.record(session, [second], recorded_at=NOW) == (0, 1, 0)
        assert (line(session).record.grade, line(session).record.revision) == (2, 2)
        # A server that fell back behind the answer on record is not believed; the lead's word is.
        assert JUDGEMENTS.record(session, [given(3)._replace(changed_at=early)], recorded_at=NOW).revised == 1
        assert (line(session).record.grade, line(session).latest.record.flags) == (2, (OLDER,))
        assert JUDGEMENTS.restore(session, [given(0)._replace(changed_at=early)], recorded_at=NOW) == 1
        assert (line(session).record.grade, line(session).record.revision, line(session).kept) == (0, 4, True)


def test_what_was_never_an_answer_is_not_kept(study: Store) -> None:
    with study.begin() as session:
        JUDGEMENTS.record(session, [given(None, "skipped")], recorded_at=NOW)
        assert (line(session).kept, line(session).answer) == (False, None)


def test_what_was_read_comes_with_the_answer_only_if_it_is_asked_for(study: Store) -> None:
    with study.begin() as session:
        JUDGEMENTS.record(session, [given(1)], recorded_at=NOW)
        assert line(session).current.payload is None
        told = given(2)._replace(account=5, changed_at=NOW, shown_sha256="1" * 64, server="s")
        JUDGEMENTS.record(session, [told], recorded_at=NOW)
        (other,) = JUDGEMENTS.lines(session, server="s")
        assert other.current == told._replace(payload=None, recorded_at=NOW)
        assert JUDGEMENTS.lines(session, payload=True)[0].current.payload == {"grade": 1}
        assert [one.payload for one in JUDGEMENTS.answers(session)] == [None, None]
        assert [one.payload for one in JUDGEMENTS.current(session)] == [None, None]
        both = [{"grade": 1}, {"grade": 2}]
        assert [one.payload for one in JUDGEMENTS.read(session)] == both
        assert [one.payload for one in JUDGEMENTS.history(session, "p1-method", "d1")] == both


@pytest.mark.parametrize(("grade", "fits"), [(-1, False), (0, True), (9, True), (10, False)])
def test_a_grade_is_between_0_and_9(study: Store, grade: int, fits: bool) -> None:
    if fits:
        with study.begin() as session:
            assert JUDGEMENTS.record(session, [given(grade)], recorded_at=NOW).added == 1
        return
    with pytest.raises(StoreError, match="the database refused the change"), study.begin() as session:
        JUDGEMENTS.record(session, [given(grade)], recorded_at=NOW)


def test_a_hash_does_not_see_the_order_of_what_is_hashed() -> None:
    def sha(said: str) -> str:
        return hashlib.sha256(said.encode()).hexdigest()

    assert hashes_of(["b", "a"], [[1], ["ä"]]) == [sha('{"a": "\\u00e4", "b": 1}')]
    assert state({"b": 1, "a": 2}) == sha('{"a": 2, "b": 1}')


def test_a_corrected_label_is_another_state_and_a_predicted_one_is_counted(study: Store) -> None:
    def labelled(label: str, origin: str) -> str:
        with study.begin() as session:
            facet_labels.put_corrections(session, [FacetLabels("p1", (label,), origin)])
            return read_states(session)["labels"]

    assert labelled("method", "predicted:abc") == labelled("result", "predicted:abc")
    assert labelled("method", "corrected") != labelled("result", "corrected")


def test_pools_are_read_by_their_paper_and_documents_are_counted_from_1(study: Store) -> None:
    write_pools(study, replace(pool("p2", "x"), mode="blocks"), pool("p1", "b", "a"))
    with study.read() as session:
        assert list(read_pools(session)) == ["p1", "p2"]
        rows = session.connection().execute(text("SELECT doc_id, position FROM pool_entry WHERE topic_id = 'p1'"))
        assert sorted(map(tuple, rows)) == [("a", 2), ("b", 1)]


@pytest.mark.parametrize(("what", "elsewhere"), [("csfcube", True), ("judgements-file", True), ("runs", False)])
def test_a_snapshot_says_whether_judgements_come_from_elsewhere(
    study: Store, tmp_path: Path, what: str, elsewhere: bool
) -> None:
    with study.begin() as session:
        put_import(session, ImportedSource(what, "1" * 64, {}))
        found = snapshot_of(session, Workspace(tmp_path, Settings()))
    assert found.judged_elsewhere is elsewhere
