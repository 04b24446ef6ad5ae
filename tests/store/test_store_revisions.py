"""Judgements and adjudications: every change is a revision, readers get the latest, nothing is lost."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from annot.base.errors import InputError, StoreError
from annot.base.records import OLDER, Adjudication, Judgement
from annot.store import facet_labels
from annot.store.answers import (
    ADJUDICATIONS,
    JUDGEMENTS,
    AnnotationHistory,
    RecordedCount,
    SourcedAdjudication,
    SourcedJudgement,
    hashes_of,
)
from annot.store.database import Store
from annot.store.facet_labels import FacetLabels
from annot.store.models import Session
from annot.study.provenance import read_states, state
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stored import NOW

FIRST, LATER = "2024-05-01T12:00:00Z", "2024-05-02T12:00:00Z"
STUDIO = "label-studio"


def sourced(
    grade: int | None = 2,
    *,
    pair: tuple[str, str] = ("p1-method", "d1"),
    assessor: str = "a1",
    annotation: str = "7",
    source: str = STUDIO,
    payload: object = None,
    comment: str | None = None,
) -> SourcedJudgement:
    one = Judgement(*pair, assessor, grade, comment=comment, judged_at=FIRST, lead_time=12.25)
    return SourcedJudgement(one, source, annotation, {"id": annotation, "grade": grade} if payload is None else payload)


def record(store: Store, *given_judgements: SourcedJudgement, at: str = FIRST) -> RecordedCount:
    with store.begin() as session:
        return JUDGEMENTS.record(session, given_judgements, recorded_at=at)


def grades(store: Store) -> list[tuple[str, str, int | None, int]]:
    with store.read() as session:
        return [(one.doc_id, one.assessor, one.grade, one.revision) for one in JUDGEMENTS.records(session)]


def test_a_judgement_comes_back_whole(study: Store) -> None:
    one = Judgement(
        "p1-method", "d1", "a1", None, 1, "no abstract", "why?", FIRST, 3.5, ("cancelled", "foreign account")
    )
    given_judgement = SourcedJudgement(one, STUDIO, "7", {"result": [{"value": {"choices": ["x"]}}], "id": 7})
    assert record(study, given_judgement) == RecordedCount(1, 0, 0)
    with study.read() as session:
        assert JUDGEMENTS.records(session) == (one,)
        assert JUDGEMENTS.read(session) == (given_judgement._replace(recorded_at=FIRST),)


def test_the_same_judgement_again_changes_nothing(study: Store) -> None:
    assert record(study, sourced(), sourced(assessor="a2")) == RecordedCount(2, 0, 0)
    assert record(study, sourced(), sourced(assessor="a2"), sourced(pair=("p1-method", "d2")), at=LATER) == (1, 0, 2)
    assert grades(study) == [("d1", "a1", 2, 1), ("d1", "a2", 2, 1), ("d2", "a1", 2, 1)]


def test_a_changed_judgement_is_a_new_revision_and_the_old_one_stays(study: Store) -> None:
    record(study, sourced(2))
    assert record(study, sourced(3), at=LATER) == RecordedCount(0, 1, 0)
    assert record(study, sourced(3, payload={"id": "7", "updated": 1}), at=LATER) == RecordedCount(0, 1, 0)
    assert record(study, sourced(2), at=LATER) == RecordedCount(0, 1, 0)
    assert grades(study) == [("d1", "a1", 2, 4)]
    with study.read() as session:
        history = JUDGEMENTS.history(session, "p1-method", "d1")
    assert [(one.record.grade, one.record.revision, one.recorded_at) for one in history] == [
        (2, 1, FIRST),
        (3, 2, LATER),
        (3, 3, LATER),
        (2, 4, LATER),
    ]


def test_two_annotations_of_one_pair_are_two_lines_of_revisions(study: Store) -> None:
    record(study, sourced(1, annotation="10"), sourced(2, annotation="9"), sourced(3, annotation="", source="import"))
    with study.read() as session:
        assert [one.annotation for one in JUDGEMENTS.read(session)] == ["", "9", "10"]
        assert [one.grade for one in JUDGEMENTS.records(session)] == [3, 2, 1]


def line_of(store: Store, annotation: str = "7", server: str = "") -> AnnotationHistory[Judgement]:
    with store.read() as session:
        (found,) = [
            line
            for line in JUDGEMENTS.lines(session, server=server, person="a1")
            if line.current.annotation == annotation
        ]
    return found


def gone(store: Store, annotation: str = "7", server: str = "") -> RecordedCount:
    current = line_of(store, annotation, server).current
    with store.begin() as session:
        return JUDGEMENTS.record_gone(session, [(current, "lost")], recorded_at=LATER)


def withdraw(store: Store, line: AnnotationHistory[Judgement]) -> int:
    with store.begin() as session:
        return JUDGEMENTS.withdraw(session, [(line.current, "lost")], recorded_at=LATER)


def test_an_annotation_that_is_gone_counts_until_the_lead_withdraws_it_and_again_when_it_comes_back(
    study: Store,
) -> None:
    record(study, sourced(1, annotation="7"), sourced(2, annotation="8", pair=("p1-method", "d2")))
    assert gone(study) == RecordedCount(0, 1, 0)
    assert gone(study) == RecordedCount(0, 0, 1)
    assert grades(study) == [("d1", "a1", 1, 1), ("d2", "a1", 2, 1)]
    before = line_of(study)
    assert (before.counts, before.why) == (True, "gone from the server: lost")
    assert withdraw(study, before) == 1
    line = line_of(study)
    assert (line.counts, line.why) == (False, "withdrawn: lost")
    assert grades(study) == [("d1", "a1", None, 3), ("d2", "a1", 2, 1)]
    # Decided on a look that is out of date, it is not done a second time.
    assert withdraw(study, before) == 0
    assert record(study, sourced(1, annotation="7")) == RecordedCount(0, 1, 0)
    assert ("d1", "a1", 1, 4) in grades(study)


def test_what_the_lead_restores_counts_and_stays_when_it_is_not_found_again(study: Store) -> None:
    record(study, sourced(1), sourced(3))
    gone(study)
    withdraw(study, line_of(study))
    answer = line_of(study).answer
    assert answer is not None
    with study.begin() as session:
        (full,) = [line.answer for line in JUDGEMENTS.lines(session, person="a1", payload=True)]
        assert full is not None
        assert JUDGEMENTS.restore(session, [full], recorded_at=LATER) == 1
    line = line_of(study)
    assert (line.counts, line.kept, line.current.record.grade) == (True, True, 3)
    assert gone(study) == RecordedCount(0, 0, 1)
    assert line_of(study).kept
    with study.read() as session:
        assert [one.payload for one in JUDGEMENTS.read(session)] == [{"id": "7", "grade": 3}]
    # Found again, it is an answer like any other; nobody has to keep it.
    record(study, sourced(3))
    assert not line_of(study).kept


@pytest.mark.parametrize("flag", ["skipped", "by account 5, which is not this person's", "no grade"])
def test_a_spoilt_revision_is_kept_and_the_answer_before_it_stands(study: Store, flag: str) -> None:
    record(study, sourced(1))
    spoilt = sourced(None, payload={"id": "7"})
    record(study, spoilt._replace(record=replace(spoilt.record, flags=(flag,))), at=LATER)
    assert grades(study) == [("d1", "a1", 1, 1)]
    assert line_of(study).why == flag
    record(study, sourced(2), at=LATER)
    assert grades(study) == [("d1", "a1", 2, 3)]


def test_a_server_that_fell_back_does_not_take_the_place_of_the_later_answer(study: Store) -> None:
    def at(moment: str, grade: int) -> SourcedJudgement:
        return sourced(grade)._replace(changed_at=moment)

    record(study, at("2031-01-01T09:00:00Z", 1), at("2031-01-02T09:00:00Z", 3))
    for expected in (RecordedCount(0, 1, 0), RecordedCount(0, 0, 1)):
        assert record(study, at("2031-01-01T09:00:00Z", 1), at=LATER) == expected
    assert line_of(study).why == OLDER
    assert grades(study) == [("d1", "a1", 3, 2)]
    assert record(study, at("2031-01-03T09:00:00Z", 0), at=LATER) == RecordedCount(0, 1, 0)
    assert grades(study) == [("d1", "a1", 0, 4)]


def test_what_another_server_holds_is_not_gone_here(study: Store) -> None:
    here, there = sourced(1, annotation="7")._replace(server="one"), sourced(3, annotation="7")._replace(server="two")
    assert record(study, here, there) == RecordedCount(2, 0, 0)
    assert gone(study, server="one") == RecordedCount(0, 1, 0)
    withdraw(study, line_of(study, server="one"))
    assert not line_of(study, server="one").counts
    assert line_of(study, server="two").counts


def test_of_two_servers_the_later_answer_comes_last_whatever_its_number(study: Store) -> None:
    def at(server: str, annotation: str, grade: int, moment: str) -> SourcedJudgement:
        one = sourced(grade, annotation=annotation)
        return one._replace(server=server, record=replace(one.record, judged_at=moment))

    record(study, at("old", "900", 1, "2031-01-01T00:00:00Z"), at("new", "3", 2, "2031-02-01T00:00:00Z"))
    with study.read() as session:
        assert [one.grade for one in JUDGEMENTS.records(session)] == [1, 2]


def test_a_hidden_repeat_is_a_line_of_its_own(study: Store) -> None:
    first = sourced(1, annotation="7")
    again = first._replace(annotation="8", record=replace(first.record, grade=2, occasion=2))
    assert record(study, first, again) == RecordedCount(2, 0, 0)
    assert record(study, first, again) == RecordedCount(0, 0, 2)
    with study.read() as session:
        assert [(one.occasion, one.grade, one.revision) for one in JUDGEMENTS.records(session)] == [
            (1, 1, 1),
            (2, 2, 1),
        ]


def test_after_a_fault_nothing_is_written(study: Store) -> None:
    with pytest.raises(StoreError, match="the database refused the change"):
        record(study, sourced(1), sourced(10), sourced(-1, assessor="a2"))
    with pytest.raises(InputError, match="unknown query"):
        record(study, sourced(1), sourced(pair=("p9-method", "d1")))
    with pytest.raises(InputError, match="unknown assessor"):
        record(study, sourced(1), sourced(assessor="a9"))
    assert grades(study) == []


def test_text_that_a_database_cannot_hold_is_kept_in_the_payload(study: Store) -> None:
    comment = "odd \x00 and \ud83d half, \N{GRINNING FACE} whole"
    record(study, sourced(comment=comment, payload={"text": comment}))
    assert record(study, sourced(comment=comment, payload={"text": comment})) == RecordedCount(0, 0, 1)
    with study.read() as session:
        (one,) = JUDGEMENTS.read(session)
    assert one.record.comment == "odd \N{REPLACEMENT CHARACTER} and ? half, \N{GRINNING FACE} whole"
    assert one.payload == {"text": comment}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(["a1", "a2"]), st.sampled_from(["1", "2"]), st.integers(0, 3)), min_size=1))
def test_readers_get_what_was_recorded_last_however_it_was_cut_into_recordings(
    study: Store, said: list[tuple[str, str, int]]
) -> None:
    pair = ("p2-method", "d1")
    last: dict[tuple[str, str], int] = {}
    for assessor, annotation, grade in said:
        record(study, sourced(grade, pair=pair, assessor=assessor, annotation=annotation))
        last[assessor, annotation] = grade
    with study.read() as session:
        found = {(one.record.assessor, one.annotation): one.record.grade for one in JUDGEMENTS.read(session)}
        history = JUDGEMENTS.history(session, *pair)
    assert {key: found[key] for key in last} == last
    for key in last:
        revisions = [one.record.revision for one in history if (one.record.assessor, one.annotation) == key]
        assert revisions == list(range(1, len(revisions) + 1))


# Adjudications


def settled(grade: int | None, **changes: object) -> SourcedAdjudication:
    one = Adjudication("p1-method", "d1", "z1", grade, "shown", ("a2", "a1"), reason="r2", comment="clear")
    return SourcedAdjudication(replace(one, **changes), STUDIO, "70", {"grade": grade})


def settle(store: Store, one: SourcedAdjudication) -> RecordedCount:
    with store.begin() as session:
        return ADJUDICATIONS.record(session, [one], recorded_at=FIRST)


def test_adjudications_come_back_with_what_was_shown_and_every_revision(study: Store) -> None:
    assert settle(study, settled(1)) == RecordedCount(1, 0, 0)
    assert settle(study, settled(1)) == RecordedCount(0, 0, 1)
    assert settle(study, settled(1, shown=("a1", "a2"))) == RecordedCount(0, 1, 0)
    assert settle(study, settled(3)) == RecordedCount(0, 1, 0)
    with study.read() as session:
        assert ADJUDICATIONS.records(session) == (settled(3, revision=3).record,)
        history = ADJUDICATIONS.history(session, "p1-method", "d1")
        assert [one.record.shown for one in history] == [("a2", "a1"), ("a1", "a2"), ("a2", "a1")]
        assert history[-1] == settled(3, revision=3)._replace(recorded_at=FIRST)


def test_an_adjudication_that_is_gone_counts_until_it_is_withdrawn(study: Store) -> None:
    settle(study, settled(1))
    with study.begin() as session:
        (line,) = ADJUDICATIONS.lines(session, person="z1")
        assert ADJUDICATIONS.record_gone(session, [(line.current, "lost")], recorded_at=LATER) == RecordedCount(0, 1, 0)
        (one,) = ADJUDICATIONS.records(session)
        assert (one.grade, one.flags) == (1, ())
        assert ADJUDICATIONS.withdraw(session, [(line.current, "lost")], recorded_at=LATER) == 1
    with study.read() as session:
        (one,) = ADJUDICATIONS.records(session)
    assert (one.grade, one.flags, one.shown, one.revision) == (None, ("withdrawn: lost",), ("a2", "a1"), 3)


def given_at(grade: int | None, *flags: str, payload: object = None) -> SourcedJudgement:
    one = Judgement("p1-method", "d1", "a1", grade, flags=flags)
    return SourcedJudgement(one, "label-studio", "7", {"grade": grade} if payload is None else payload)  # type: ignore[arg-type]


def only_line(session: Session) -> AnnotationHistory[Judgement]:
    (found,) = JUDGEMENTS.lines(session)
    return found


def test_what_was_read_comes_with_the_answer_only_if_it_is_asked_for(study: Store) -> None:
    with study.begin() as session:
        JUDGEMENTS.record(session, [given_at(1)], recorded_at=NOW)
        assert only_line(session).current.payload is None
        told = given_at(2)._replace(account=5, changed_at=NOW, shown_sha256="1" * 64, server="s")
        JUDGEMENTS.record(session, [told], recorded_at=NOW)
        (other,) = JUDGEMENTS.lines(session, server="s")
        assert other.current == told._replace(payload=None, recorded_at=NOW)
        assert JUDGEMENTS.lines(session, payload=True)[0].current.payload == {"grade": 1}
        assert [one.payload for one in JUDGEMENTS.answers(session)] == [None, None]
        assert [one.payload for one in JUDGEMENTS.current(session)] == [None, None]
        both = [{"grade": 1}, {"grade": 2}]
        assert [one.payload for one in JUDGEMENTS.read(session)] == both
        assert [one.payload for one in JUDGEMENTS.history(session, "p1-method", "d1")] == both


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
