"""What texts call the topics and documents of the study that they are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from annot.base.names import StudyVocabulary, called, calling, said
from annot.base.stats.values import Interval
from annot.base.templating import environment
from annot.cli.commands import called_in
from annot.publishing.report.cells import COEFFICIENT, Number
from annot.publishing.report.tables import Column, Columns, facet_column
from annot.study import snapshot
from annot.study.workspace import Workspace
from study_stages import copied
from topic_study import GRADED, OfTopics

OF_TEXTS = StudyVocabulary("topic", "document", faceted=False, binary=True)


def test_without_a_study_they_are_papers_and_facets_and_the_words_hold_as_long_as_they_are_asked_for() -> None:
    assert called() == StudyVocabulary("query paper", "paper", faceted=True, binary=False)
    with calling(lambda: OF_TEXTS):
        assert called() is OF_TEXTS
        with calling(StudyVocabulary):
            assert called() == StudyVocabulary()
        assert called() is OF_TEXTS
    with pytest.raises(ZeroDivisionError), calling(lambda: OF_TEXTS):
        raise ZeroDivisionError
    assert called() == StudyVocabulary()


def test_the_words_are_asked_for_by_the_first_text_that_needs_them() -> None:
    def never() -> StudyVocabulary:
        raise AssertionError("asked for")

    with calling(never):
        environment(overrides=None).from_string("4 queries").render()
        assert said("fewer than 6 queries") == "fewer than 6 queries"


def test_units_alpha_and_reasons_follow_them() -> None:
    assert (StudyVocabulary().unit, OF_TEXTS.unit) == ("paper", "topic")
    assert (StudyVocabulary().alpha, OF_TEXTS.alpha) == ("Krippendorff's ordinal alpha", "Krippendorff's alpha")
    reason = "the value is 1 or 0, on all query papers or without one of them"
    assert said(reason) == reason
    wide = Number(0.5, COEFFICIENT, Interval(-0.9, 0.9, 0.95, "jackknife"))
    assert "(too few papers)" in str(wide)
    with calling(lambda: OF_TEXTS):
        assert said(reason) == "the value is 1 or 0, on all topics or without one of them"
        assert environment(overrides=None).from_string("{{ r | said }} {{ called().unit }}").render(r=reason) == (
            "the value is 1 or 0, on all topics or without one of them topic"
        )
        assert "(too few topics)" in str(wide)


def test_a_facet_is_a_column_where_facets_are_judged_and_always_in_the_data() -> None:
    assert (facet_column(str).heading, facet_column(str).field) == ("Facet", "facet")
    with calling(lambda: OF_TEXTS):
        assert (facet_column(str).heading, facet_column(str).field) == ("", "facet")


def test_a_column_of_query_papers_is_one_of_topics_and_keeps_its_name_in_the_data() -> None:
    columns = Columns[str]([Column("query paper", str)])
    assert columns.of(["p1"]).headings == ("query paper",)
    with calling(lambda: OF_TEXTS):
        found = columns.of(["T1"])
    assert (found.headings, found.records) == (("topic",), ({"query_paper": "T1"},))


def test_the_words_of_a_study_follow_from_its_queries_topics_and_scale(tmp_path: Path) -> None:
    binary = copied(OfTopics(), "queried", tmp_path / "binary")
    mixed = copied(OfTopics(scale=GRADED, mixed=True), "queried", tmp_path / "mixed")
    assert snapshot.vocabulary_of(binary) == snapshot.read_snapshot(binary).words == OF_TEXTS
    assert snapshot.vocabulary_of(mixed) == snapshot.read_snapshot(mixed).words == StudyVocabulary("topic", "document")
    assert called_in(binary)() == OF_TEXTS
    assert called_in(None)() == StudyVocabulary()


def test_without_queries_annot_toml_says_whether_facets_are_judged(tmp_path: Path) -> None:
    bare = copied(OfTopics(), "labelled", tmp_path / "bare")
    assert snapshot.vocabulary_of(bare) == StudyVocabulary(faceted=False, binary=True)


def test_a_study_that_cannot_be_read_is_written_about_in_the_usual_words(tmp_path: Path) -> None:
    lost = copied(OfTopics(), "queried", tmp_path / "lost")
    (tmp_path / "lost" / "annot.db").unlink()
    assert called_in(Workspace.open(lost.root))() == StudyVocabulary()
