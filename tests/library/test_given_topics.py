"""The topic of each query, in a column or in the file next to the qrels: what figures take as their units."""

from collections.abc import Callable
from pathlib import Path

import annot
import pandas as pd
import pytest
from annot.base.errors import InputError

FRAME = pd.DataFrame(
    [("q1", "d1", "a", 1), ("q1", "d1", "b", 0), ("q2", "d1", "a", 1), ("q2", "d1", "b", 1)],
    columns=["query", "document", "assessor", "grade"],
)
QRELS = "q1 0 d1 1\nq2 0 d1 0\n"
RUN = {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}


def faults_of(call: Callable[[], object]) -> list[str]:
    with pytest.raises(InputError) as caught:
        call()
    return [*caught.value.faults]


def test_a_column_of_topics_is_the_unit_beside_a_column_of_queries_and_the_query_alone() -> None:
    named = FRAME.assign(topic_id="t")
    assert annot.measure_agreement(named).notes == (
        "topics are the sampling units: 2 queries on 1 topic, by the column 'topic_id'",
    )
    alone = FRAME.rename(columns={"query": "topic_id"})
    assert annot.measure_agreement(alone).notes[0].startswith("queries are taken as independent")
    both = annot.measure_agreement(named.assign(query_paper="p")).notes[0]
    assert both == "query papers are the sampling units: 2 queries on 1 paper, by the column 'query_paper'"
    (fault,) = faults_of(lambda: annot.measure_agreement(FRAME.assign(topic_id=[*"tttu"])))
    assert fault == "ratings: row 3: topic 'u' of query q2, expected 't' as in its other rows"
    assert "by the column 'topic_id'" in annot.measure_agreement(named, clusters="topic_id").notes[0]


def test_the_topics_next_to_the_qrels_come_with_them(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    beside = tmp_path / "query_topics.tsv"
    beside.write_text("query_id\ttopic_id\nq1\tt\nq2\tt\n")
    frame = annot.read_qrels(tmp_path / "qrels.txt")
    assert frame["topic_id"].tolist() == ["t", "t"]
    for given in (tmp_path / "qrels.txt", frame):
        told = annot.evaluate(RUN, given).notes[0]
        assert told == f"topics are the sampling units: 2 queries on 1 topic, by {beside}"
    beside.write_text("query_id\ttopic_id\nq1\tt\n")
    assert faults_of(lambda: annot.read_qrels(tmp_path / "qrels.txt")) == ["q2: no line, expected its topic"]
