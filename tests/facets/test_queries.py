"""From labels to facets, and making queries."""

from __future__ import annotations

import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.corpus.query_sentences import facet_sentences, make_query, offered_facets

FACETS = Settings().facets
LABELS = ("background", "objective", "method", "method", "other")
PAPER = Paper("p1", "A paper", ("One.", "Two.", "Three.", "Four.", "Five."))


def test_objective_counts_as_background_and_other_as_nothing() -> None:
    assert facet_sentences(LABELS, "background", facets=FACETS) == (0, 1)
    assert facet_sentences(LABELS, "method", facets=FACETS) == (2, 3)
    assert facet_sentences(LABELS, "result", facets=FACETS) == ()
    assert offered_facets(LABELS, facets=FACETS) == ("background", "method")


def test_an_unknown_facet_is_refused_with_the_near_name() -> None:
    for sentences in (None, (1,)):
        with pytest.raises(InputError, match="unknown facet 'methods': did you mean 'method'"):
            make_query(PAPER, LABELS, "methods", sentences=sentences, facets=FACETS)


def test_labels_that_do_not_fit_the_paper_are_refused() -> None:
    with pytest.raises(InputError, match="4 labels for 5 sentences"):
        make_query(PAPER, LABELS[:4], "method", sentences=None, facets=FACETS)
