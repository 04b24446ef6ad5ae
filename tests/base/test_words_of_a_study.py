"""What texts call the topics and documents of the study that they are about."""

from pathlib import Path

from annot.base.names import OF_PAPERS, StudyVocabulary
from annot.publishing.report import commands
from annot.publishing.report.tables import facet_column
from annot.study import snapshot
from study_stages import copied
from topic_study import GRADED, OfTopics

OF_TEXTS = StudyVocabulary("topic", "document", faceted=False, binary=True, query="topic")


def test_units_alpha_and_reasons_follow_them() -> None:
    assert (OF_PAPERS.unit, OF_TEXTS.unit) == ("paper", "topic")
    assert (OF_PAPERS.alpha, OF_TEXTS.alpha) == ("Krippendorff's ordinal alpha", "Krippendorff's alpha")
    reason = "the value is 1 or 0, on all query papers or without one of them"
    assert OF_PAPERS.said(reason) == reason
    assert OF_TEXTS.said(reason) == "the value is 1 or 0, on all topics or without one of them"
    assert OF_TEXTS.said("Fewer than 6 queries, `query list`") == "Fewer than 6 topics, `query list`"


def test_a_facet_is_a_column_where_facets_are_judged_and_always_in_the_data() -> None:
    of_papers, of_texts = facet_column(str, OF_PAPERS), facet_column(str, OF_TEXTS)
    assert (of_papers.heading, of_papers.field) == ("Facet", "facet")
    assert (of_texts.heading, of_texts.field) == ("", "facet")


def test_a_column_of_query_papers_is_one_of_topics_and_keeps_its_name_in_the_data() -> None:
    (heading, *_), (of_texts, *_) = commands.added(OF_PAPERS).names, commands.added(OF_TEXTS).names
    assert (heading.heading, heading.field) == ("query paper", "query_paper")
    assert (of_texts.heading, of_texts.field) == ("topic", "query_paper")


def test_the_words_of_a_study_follow_from_its_queries_topics_and_scale(tmp_path: Path) -> None:
    binary = copied(OfTopics(), "queried", tmp_path / "binary")
    mixed = copied(OfTopics(scale=GRADED, mixed=True), "queried", tmp_path / "mixed")
    assert binary.vocabulary == snapshot.read_snapshot(binary).words == OF_TEXTS
    assert mixed.vocabulary == snapshot.read_snapshot(mixed).words == StudyVocabulary("topic", "document")


def test_without_queries_annot_toml_says_whether_facets_are_judged(tmp_path: Path) -> None:
    bare = copied(OfTopics(), "labelled", tmp_path / "bare")
    assert bare.vocabulary == StudyVocabulary(faceted=False, binary=True)
