"""From labels to facets, and making queries."""

from __future__ import annotations

import pytest
from annot.base.errors import InputError
from annot.base.records import Paper, Query
from annot.base.settings import Settings
from annot.corpus.query_sentences import facet_sentences, make_query, offered_facets, sentence_numbers

FACETS = Settings().facets
LABELS = ("background", "objective", "method", "method", "other")
PAPER = Paper("p1", "A paper", ("One.", "Two.", "Three.", "Four.", "Five."))


def test_objective_counts_as_background_and_other_as_nothing() -> None:
    assert facet_sentences(LABELS, "background", facets=FACETS) == (0, 1)
    assert facet_sentences(LABELS, "method", facets=FACETS) == (2, 3)
    assert facet_sentences(LABELS, "result", facets=FACETS) == ()
    assert offered_facets(LABELS, facets=FACETS) == ("background", "method")


def test_the_labels_make_a_query_and_its_positions_count_from_0() -> None:
    assert make_query(PAPER, LABELS, "method", sentences=None, facets=FACETS) == Query(
        "p1-method", "p1", "method", (2, 3)
    )


def test_chosen_sentences_make_a_query_and_are_numbered_from_1() -> None:
    query = make_query(PAPER, LABELS, "method", sentences=(4, 2), facets=FACETS)
    assert query == Query("p1-method", "p1", "method", (1, 3))


def test_a_paper_without_a_sentence_of_the_facet_is_refused_and_its_labels_are_shown() -> None:
    with pytest.raises(InputError, match="paper p1 has no sentence of facet 'result'") as caught:
        make_query(PAPER, LABELS, "result", sentences=None, facets=FACETS)
    assert "1 background, 2 objective, 3 method, 4 method, 5 other" in caught.value.message
    assert caught.value.hint is not None
    assert "--sentences" in caught.value.hint


def test_an_unknown_facet_is_refused_with_the_near_name() -> None:
    for sentences in (None, (1,)):
        with pytest.raises(InputError, match="unknown facet 'methods': did you mean 'method'"):
            make_query(PAPER, LABELS, "methods", sentences=sentences, facets=FACETS)


def test_sentence_numbers_out_of_range_doubled_or_missing_are_all_told() -> None:
    with pytest.raises(InputError, match="paper p1") as caught:
        make_query(PAPER, LABELS, "method", sentences=(0, 3, 3, 6, -1), facets=FACETS)
    assert caught.value.faults == (
        "sentence -1: found no such sentence, expected 1 to 5",
        "sentence 0: found no such sentence, expected 1 to 5",
        "sentence 6: found no such sentence, expected 1 to 5",
        "sentence 3 is named twice",
    )
    with pytest.raises(InputError) as caught:
        make_query(PAPER, LABELS, "method", sentences=(), facets=FACETS)
    assert caught.value.faults == ("found no sentence numbers, expected at least one",)


def test_labels_that_do_not_fit_the_paper_are_refused() -> None:
    with pytest.raises(InputError, match="4 labels for 5 sentences"):
        make_query(PAPER, LABELS[:4], "method", sentences=None, facets=FACETS)


def test_sentence_numbers_are_read_as_people_write_them() -> None:
    assert sentence_numbers("2,3") == (2, 3)
    assert sentence_numbers(" 2 - 4, 7") == (2, 3, 4, 7)
    for text in ("", "2,", "a", "4-2", "-1", "1.5", "2;3"):
        with pytest.raises(InputError, match="expected numbers from 1"):
            sentence_numbers(text)
