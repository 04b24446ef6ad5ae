"""Topics of a study that are texts, as the library opens them, and the figures that are measured on its tables."""

import re
import shutil
from pathlib import Path

import annot
import pytest
from command_line import annot_done
from study_stages import kept
from topic_study import GRADED, TOPICS, OfTopics


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
