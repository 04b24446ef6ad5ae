"""Topics of a study that are texts, as the library opens them, and the figures that are measured on its tables."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import annot
import pytest
from annot.publishing.report.tidy import csv_text
from command_line import annot_done
from study_stages import kept
from topic_study import DOCUMENTS, GRADED, TOPICS, OfTopics


@pytest.fixture(scope="module")
def texts() -> annot.OpenStudy:
    return annot.open_study(kept(OfTopics(scale=GRADED), "measured"))


@pytest.fixture(scope="module")
def mixed() -> annot.OpenStudy:
    return annot.open_study(kept(OfTopics(scale=GRADED, mixed=True), "measured"))


def test_topics_are_a_table_of_papers_and_texts(mixed: annot.OpenStudy) -> None:
    found = mixed.topics
    assert found.astype(object).where(found.notna(), None).to_dict("records") == [
        *(
            {
                **{"topic_id": one.topic_id, "kind": "text", "title": one.title},
                **{"description": one.description, "narrative": one.narrative, "queries": 1},
            }
            for one in TOPICS[:3]
        ),
        {
            **{"topic_id": "p4", "kind": "paper", "title": "Title of p4"},
            **{"description": None, "narrative": None, "queries": 1},
        },
    ]


def test_tables_name_the_topic_of_a_text_and_leave_out_facets_that_nobody_judges(texts: annot.OpenStudy) -> None:
    assert texts.queries.to_dict("records") == [
        {"query_id": one.topic_id, "topic_id": one.topic_id, "title": one.title} for one in TOPICS
    ]
    assert csv_text(texts.queries) == annot_done("query", "list", "--csv", folder=texts.path).stdout
    assert set(texts.agreement["facet"]) == {"together"}
    assert [*texts.judgements][:3] == ["query_id", "topic_id", "doc_id"]
    assert [*texts.qrels] == ["query_id", "topic_id", "doc_id", "relevance", "origin", "adjudicator", "reason"]
    assert [*texts.pool][:2] == ["topic_id", "doc_id"]
    assert set(texts.pool["topic_id"]) == set(texts.qrels["topic_id"]) == {one.topic_id for one in TOPICS}


def test_beside_papers_tables_keep_the_facets(mixed: annot.OpenStudy) -> None:
    row = mixed.queries.set_index("query_id").loc["p4-method"]
    assert (row["topic_id"], row["facet"], row["sentences"]) == ("p4", "method", "2")
    assert mixed.qrels.groupby("topic_id")["facet"].first().to_dict() == {
        **dict.fromkeys(("T1", "T2", "T3"), "whole"),
        "p4": "method",
    }
    assert set(mixed.agreement["facet"]) == {"method", "whole", "together"}
    assert [*mixed.judgements][:4] == ["query_id", "facet", "topic_id", "doc_id"]


def test_what_is_measured_on_the_tables_takes_topics_as_units(
    texts: annot.OpenStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The grade of document d at place n of topic t is (n + t) % 4 before place 8: counted by hand for the first."""
    measured = annot.measure_agreement(texts.judgements, final=texts.qrels)
    assert measured.notes == ("topics are the sampling units: 4 queries on 4 topics, by the column 'topic_id'",)
    evaluated = annot.evaluate(texts.runs, texts.qrels, convention="trec", measure="RR(rel=3)")
    assert evaluated.notes[0] == measured.notes[0]
    frame = evaluated.to_frame()
    of_run = frame[(frame["run"] == "forward") & (frame["measure"] == "RR(rel=3)")]
    # Grade 3 comes first at place 2, 1, 0 and 3 of the four topics.
    assert of_run["value"].item() == pytest.approx((1 / 3 + 1 / 2 + 1 + 1 / 4) / 4)
    assert set(frame["interval"].str.extract("over 4 (.*),", expand=False).dropna()) == {"topics, pseudo-topics"}
    for told in (measured, evaluated):
        assert "paper" not in repr(told) + re.sub("<style>.*</style>", "", told._repr_html_(), flags=re.DOTALL)
    folder = Path(shutil.copytree(texts.path, tmp_path / "study"))
    annot_done("qrels", folder=folder)
    read = annot.read_qrels(folder / "exports" / "qrels.txt")
    assert [*read.columns] == ["query_id", "doc_id", "relevance", "topic_id"]
    beside = folder / "exports" / "query_topics.tsv"
    assert annot.evaluate(texts.runs, read).notes[0].endswith(f"4 queries on 4 topics, by {beside}")


def test_a_study_lists_its_topics(texts: annot.OpenStudy) -> None:
    shown = texts._repr_html_()
    assert '<td class="name">topics</td>' in shown
    assert len(texts.papers) == len(DOCUMENTS) + 1
    assert texts._snapshot.pooled == set(DOCUMENTS)
