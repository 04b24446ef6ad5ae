"""The round in which people correct sentence labels: who gets which abstract, and what comes back."""

from typing import Any

import pytest
from annot.base.errors import InputError
from annot.corpus.corpus_facts import labels_of
from annot.judging.rounds.labels import PulledLabels
from annot.store.pools import read_queries
from worlds import PEOPLE, World


def corrected(*labels: str) -> list[dict[str, Any]]:
    """The regions of an answer, a label for each sentence."""
    return [
        {
            "id": f"query-{at}",
            "from_name": "sentence_label",
            "to_name": "pair",
            "type": "labels",
            "value": {"labels": [one]},
        }
        for at, one in enumerate(labels)
    ]


def abstract(world: World, name: str) -> int:
    (task,) = world.studio.tasks_of(world.project(name, "labels"))
    return int(task["id"])


def labels(world: World) -> tuple[str, ...]:
    with world.ws.reading() as session:
        return labels_of(session, ["p1"])["p1"]


def test_each_abstract_goes_to_one_person_and_stays_with_them(planned: World) -> None:
    with pytest.raises(InputError, match="found no --assessor"):
        planned.push("labels")
    (row,) = [row for row in planned.push("labels", assessor=("a2",)).projects if row.planned]
    assert (row.assessor, row.planned, row.sent) == ("a2", 1, 1)
    again = planned.push("labels", assessor=("a1", "a2"))
    assert {row.assessor: (row.planned, row.sent) for row in again.projects} == {"a1": (0, 0), "a2": (1, 0)}
    (task,) = planned.studio.tasks_of(planned.project("a2", "labels"))
    assert task["data"]["progress"] == "1 of 1"


def test_the_latest_answer_of_the_person_becomes_the_labels_and_the_query_follows(planned: World) -> None:
    planned.push("labels", assessor=("a1",))
    task = abstract(planned, "a1")
    planned.studio.annotate(task, corrected("method", "result", "other"), email=PEOPLE["a1"])
    planned.studio.annotate(task, corrected("background", "method", "method"), email=PEOPLE["a1"])
    planned.studio.annotate(task, corrected("other", "other", "other"), email=PEOPLE["a2"])
    planned.studio.annotate(task, corrected("other", "other", "other"), email=PEOPLE["a1"], cancelled=True)
    looked = planned.pull("labels", dry_run=True)
    assert labels(planned) == ("background", "method", "result")
    pulled = planned.pull("labels")
    assert looked.assessors == pulled.assessors
    (row,) = pulled.assessors
    assert isinstance(row, PulledLabels)
    assert (row.assigned, row.judged, row.new, row.changed, row.flagged, row.lost) == (1, 1, 0, 0, 1, 0)
    assert (row.sentences, row.queries, row.part) == (1, 1, "labels")
    assert "a1: ignored 1 answer by another account" in pulled.notes
    assert labels(planned) == ("background", "method", "method")
    with planned.ws.reading() as session:
        assert [query.sentences for query in read_queries(session)] == [(1, 2)]
