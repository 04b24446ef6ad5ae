"""Whose words go into a release, counted person by person from a small study."""

from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import Adjudication, Judgement
from annot.judging.comments import PublishedWords, consent
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.models import Notice
from annot.store.people import record_notices
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from small_study import QUERIES, RECORDED, Small
from study_stages import copied

QUERY = QUERIES[0].query_id
EARLY, LATE, FAR = "2031-03-01T10:00:00+00:00", "2031-03-03T10:00:00+00:00", "2131-01-01T10:00:00+00:00"
TOLD = "2031-03-02T10:00:00+00:00"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """a1 has written before and after a letter, a2 before any; j1 has settled one pair with a reason."""
    ws = copied(Small(), "planned", tmp_path / "study")
    given = [
        Judgement(QUERY, "d01", "a1", 1, comment="Before.", judged_at=EARLY),
        Judgement(QUERY, "d02", "a1", 1, comment="After.", judged_at=LATE),
        Judgement(QUERY, "d03", "a1", 1, judged_at=LATE),
        Judgement(QUERY, "d02", "a2", 3, comment="Never told.", judged_at=LATE),
        Judgement(QUERY, "d03", "a2", 1, comment="Nor here.", judged_at=LATE),
    ]
    settled = Adjudication(QUERY, "d02", "j1", 2, "shown", ("a1", "a2"), comment="Because.", judged_at=LATE)
    with ws.writing() as session:
        JUDGEMENTS.record(
            session,
            [SourcedJudgement(one, "label-studio", str(at), {}) for at, one in enumerate(given)],
            recorded_at=RECORDED,
        )
        ADJUDICATIONS.record(session, [SourcedAdjudication(settled, "label-studio", "9", {})], recorded_at=RECORDED)
        record_notices(session, [Notice("a1", "comments", "letter", TOLD, True)])
    return ws


def decided(ws: Workspace, *, comments: str | None = "published", reasons: str | None = "published") -> PublishedWords:
    return PublishedWords(read_snapshot(ws.replaced("release", comments=comments, reasons=reasons)))


def test_words_are_published_of_who_had_been_told_when_they_wrote(ws: Workspace) -> None:
    found = decided(ws)
    comments, reasons = found.kinds
    assert (comments.given, comments.early, comments.published) == (4, {"a1": 1, "a2": 2}, 1)
    assert (reasons.given, reasons.early, reasons.published) == (1, {"j1": 1}, 0)
    assert ([one.comment for one in found.comments], found.reasons) == (["After."], {})
    assert found.undecided == ()
    assert [note.partition(" left out")[0] for note in found.notes] == [
        "1 of the comments by a1",
        "2 of the comments by a2",
        "1 of the reasons by j1",
    ]


@pytest.mark.parametrize(("comments", "undecided"), [("left out", 0), (None, 1)])
def test_what_is_left_out_or_not_decided_is_not_published(ws: Workspace, comments: str | None, undecided: int) -> None:
    found = decided(ws, comments=comments)
    assert (found.kinds[0].published, found.comments, len(found.undecided)) == (0, frozenset(), undecided)
    assert [note.partition(" left out")[0] for note in found.notes] == ["1 of the reasons by j1"]


def test_who_agrees_later_is_noted_down_once_with_the_words_of_the_lead(ws: Workspace) -> None:
    study = read_snapshot(ws)
    with pytest.raises(InputError):
        consent(study, how="by mail", people=["a9"])
    assert [one.assessor for one in consent(study, how="by mail", people=["a2"])] == ["a2"]
    assert read_snapshot(ws).notices == study.notices
    for name in ("a2", "j1"):
        with ws.writing() as session:
            record_notices(session, consent(study, how=f"{name} by mail", people=[name]))
    found = decided(ws)
    assert [(one.early, one.consents) for one in found.kinds] == [({"a1": 1}, ("a2 by mail",)), ({}, ("j1 by mail",))]
    assert found.reasons == {(QUERY, "d02"): "Because."}
    assert consent(read_snapshot(ws), how="all", people=())[0].assessor == "a1"
