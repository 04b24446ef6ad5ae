"""Sentence labels and the facets they map to: learning, predicting and scoring labels, and making queries of them."""

from annot.facets.crf import SHIPPED_MODEL, SHIPPED_SETTINGS, CrfSettings, Labeller, train
from annot.facets.mapping import PaperLabels, facet_sentences, known_facet, label_papers, offered_facets
from annot.facets.query_sentences import make_query, sentence_numbers
from annot.facets.scores import LabelScore, LabelScores, score
from annot.facets.training import LabelledAbstract, read_labelled

__all__ = [
    "SHIPPED_MODEL",
    "SHIPPED_SETTINGS",
    "CrfSettings",
    "LabelScore",
    "LabelScores",
    "LabelledAbstract",
    "Labeller",
    "PaperLabels",
    "facet_sentences",
    "known_facet",
    "label_papers",
    "make_query",
    "offered_facets",
    "read_labelled",
    "score",
    "sentence_numbers",
    "train",
]
