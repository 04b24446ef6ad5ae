"""A server that was set back counts its annotations from an earlier number on; deleting alone sets nothing back."""

from __future__ import annotations

from pathlib import Path

import pytest
from annot.base.records import Asked, Assessor, Judgement, Query
from annot.judging.exchange.collecting import ANNOTATION_GONE, FORGOTTEN, Collected, Missing, with_set_back
from annot.labelstudio.annotations import Reading, read_annotation, write_result
from annot.store.database import open_store
from annot.store.judgements import JUDGEMENTS, SourcedJudgement
from annot.store.people import put_assessors
from annot.store.projects import Project
from annot.store.queries import put_queries

SERVER = "1 of 2031"


def read(number: int, minute: int, doc_id: str = "d10") -> Reading:
    """An answer of the first person's, made in this minute."""
    made = f"2031-01-01T10:{minute:02}:00.000000Z"
    payload = {"id": number, "completed_by": 7, "created_at": made, "updated_at": made}
    return read_annotation(
        {**payload, "result": write_result({}, grade=1)},
        asked=Asked("p1-method", doc_id),
        grades=range(4),
        accounts=[7],
    )


@pytest.mark.parametrize(
    ("again", "was_set_back"),
    [
        # Numbers 12 and 13 are gone; the server gives 12 again. It counts on where they were deleted by hand.
        ([(12, 30)], True),
        ([(11, 30)], True),
        ([(14, 30)], False),
        ([], False),
    ],
)
def test_a_number_that_is_given_again_tells(again: list[tuple[int, int]], was_set_back: bool, tmp_path: Path) -> None:
    project = Project(1, "judge", "a1", SERVER, "http://x", "1.23.2", 7, 40)
    with open_store(f"sqlite:///{tmp_path / 'annot.db'}") as store:
        with store.begin() as session:
            put_queries(session, [Query("p1-method", "p1", "method", (2,))])
            put_assessors(session, [Assessor("a1", None, False)])
            for number, minute in ((10, 1), (12, 2), (13, 3)):
                reading = read(number, minute)
                judged = Judgement("p1-method", f"d{number}", "a1", 1, judged_at=reading.created_at)
                given = SourcedJudgement(judged, "label-studio", str(number), None, server=SERVER)
                JUDGEMENTS.record(session, [given], recorded_at="2031-01-01T11:00:00Z")
        with store.read() as session:
            lines = JUDGEMENTS.lines(session)
        found = [read(10, 1)]
        found += [read(*one, "d12") for one in again]
        gone = tuple(Missing(line, ANNOTATION_GONE) for line in lines[1:])
        told = with_set_back(store, Collected(project, 0, [7], tuple(found), gone, (), 0, (), again=len(again)))
    assert bool(told.notes) is was_set_back
    assert {missing.why for missing in told.gone} == {FORGOTTEN if was_set_back else ANNOTATION_GONE}
    if was_set_back:
        assert told.notes[0].startswith("a1: the server was set back to an earlier state; 1 answer given again")
