"""The sentences that make a query: by their labels, or as a person chose them."""

import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.corpus.query_sentences import check_facet, facet_sentences, make_query, offered_facets, sentence_numbers

FACETS = {"background": ("background", "objective"), "method": ("method",), "all": ()}
LABELS = ("objective", "other", "background")
PAPER = Paper("p", "t", ("One.", "Two.", "Three."))


def refusal(call: object, *given: object, **named: object) -> tuple[str, tuple[str, ...]]:
    with pytest.raises(InputError) as caught:
        call(*given, **named)  # type: ignore[operator]
    return caught.value.message, caught.value.faults


def test_a_facet_has_the_sentences_of_its_labels_and_a_whole_abstract_all() -> None:
    assert facet_sentences(LABELS, "background", facets=FACETS) == (0, 2)
    assert facet_sentences(LABELS, "method", facets=FACETS) == ()
    assert facet_sentences(LABELS, "all", facets=FACETS) == (0, 1, 2)
    assert offered_facets(LABELS, facets=FACETS) == ("background", "all")
    assert refusal(check_facet, "methd", facets=FACETS)[0] == "unknown facet 'methd': did you mean 'method'?"


def test_a_query_is_made_by_labels_or_of_chosen_sentences() -> None:
    query = make_query(PAPER, LABELS, "background", facets=FACETS, sentences=None)
    assert (query.query_id, query.topic_id, query.facet, query.sentences) == ("p-background", "p", "background", (0, 2))
    assert make_query(PAPER, LABELS, "method", facets=FACETS, sentences=(3, 1)).sentences == (0, 2)


def test_a_query_without_a_sentence_is_refused() -> None:
    message, _ = refusal(make_query, PAPER, LABELS, "method", facets=FACETS, sentences=None)
    assert message == (
        "paper p has no sentence of facet 'method': found 1 objective, 2 other, 3 background; "
        "expected at least one of method"
    )
    message, _ = refusal(make_query, PAPER, LABELS[:1], "method", facets=FACETS, sentences=(1,))
    assert message == "paper p: 1 label for 3 sentences"
    assert refusal(make_query, PAPER, LABELS, "method", facets=FACETS, sentences=(0, 4, 1, 1)) == (
        "paper p: the sentences cannot be chosen",
        (
            "sentence 0: found no such sentence, expected 1 to 3",
            "sentence 4: found no such sentence, expected 1 to 3",
            "sentence 1 is named twice",
        ),
    )
    assert refusal(make_query, PAPER, LABELS, "method", facets=FACETS, sentences=())[1] == (
        "found no sentence numbers, expected at least one",
    )


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2,3", (2, 3)),
        (" 2-4, 7", (2, 3, 4, 7)),
        ("3-3", (3,)),
        ("1 - 2", (1, 2)),
        ("2,2", (2, 2)),
        ("123456", (123456,)),
    ],
)
def test_numbers_of_sentences_are_written_one_by_one_or_from_to(text: str, numbers: tuple[int, ...]) -> None:
    assert sentence_numbers(text) == numbers


@pytest.mark.parametrize("text", ["", "2,", "3-2", "a", "-1", "1234567", "1-2-3"])
def test_other_numbers_of_sentences_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected numbers from 1 such as 2,3 or 2-4"):
        sentence_numbers(text)
