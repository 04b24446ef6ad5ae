"""A judgements file under the names of the study: its queries, its people and the plan that its rows make."""

from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Assessor, Assignment, Paper, Query
from annot.base.settings import Settings
from annot.corpus.query_sentences import (
    check_adjudicated,
    check_facet,
    facet_sentences,
    make_query,
    offered_facets,
    persons_of,
    plan_of,
    queries_of,
    sentence_numbers,
    under_names,
)
from annot.formats.input_files import ByColumn
from annot.formats.judgements_file import FileJudgement, columns_of

SETTINGS = Settings.model_validate({"facets": {"method": ["method"], "new-method": ["result"], "all": []}})


def row(line: int, query: str, document: str = "d", assessor: str = "x", **changed: Any) -> FileJudgement:
    given: dict[str, Any] = {"grade": 1, "judged_at": None, "seconds": None, "comment": None, "occasion": 1, "row": {}}
    return FileJudgement(line, query, document, assessor, **(given | changed))


def faults_of(call: Any, *given: Any, **named: Any) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        call(*given, name="f", **named)
    return caught.value.faults


def test_a_query_ends_in_the_longest_facet_that_fits_or_has_the_given_one() -> None:
    rows = [row(1, "p-method"), row(2, "p-new-method"), row(3, "10-all"), row(4, "p-method"), row(5, "other")]
    found = queries_of(columns_of(rows), SETTINGS, "all", topics=(), name="f")
    assert {name: (one.query_id, one.topic_id, one.facet) for name, one in found.items()} == {
        "p-method": ("p-method", "p", "method"),
        "p-new-method": ("p-new-method", "p", "new-method"),
        "10-all": ("10-all", "10", "all"),
        "other": ("other-all", "other", "all"),
    }


def test_a_query_without_a_facet_and_one_that_is_there_under_two_names_are_faults() -> None:
    rows = [row(2, "p"), row(3, "-method"), row(4, "q-all")]
    assert faults_of(queries_of, columns_of(rows), SETTINGS, None, topics=()) == (
        "f:2: query 'p' does not end in a facet of annot.toml (-method, -new-method, -all)",
        "f:3: query '-method' does not end in a facet of annot.toml (-method, -new-method, -all)",
    )
    assert faults_of(queries_of, columns_of([row(1, "q-all"), row(2, "q")]), SETTINGS, "all", topics=()) == (
        "f:2: query 'q' is the same as 'q-all'",
    )


def test_a_topic_that_the_study_does_not_have_is_named_once_with_the_near_one() -> None:
    rows = [row(1, "051"), row(2, "51"), row(3, "9"), row(4, "9"), row(5, "051-method")]
    assert faults_of(queries_of, columns_of(rows), SETTINGS, None, topics={"051"}) == (
        "f:2: topic '51': not in this study; did you mean '051'?",
        "f:3: topic '9': not in this study",
        "f:5: topic '051-method': not in this study",
    )
    for topics in ({"051"}, set()):
        with pytest.raises(InputError) as caught:
            queries_of(columns_of(rows), SETTINGS, None, topics=topics, name="f")
        assert "annot query add --file" in (caught.value.hint or "")
        assert ("--facet" in (caught.value.hint or "")) is (not topics)


def test_people_get_the_next_free_pseudonym_unless_they_are_known() -> None:
    known = [Assessor("a1", "Ann", False), Assessor("j2", None, True)]
    rows = [row(1, "q", assessor=name) for name in ("Zoe", "Ann", "a3", "11", "9", "Judge", "j2", "Bob", "q12345")]
    found = persons_of(columns_of(rows), {"Judge", "j2"}, known, name="f", same_person=None)
    assert {name: (one.assessor, one.account, one.adjudicator) for name, one in found.items()} == {
        "Ann": ("a1", "Ann", False),
        "Bob": ("a2", "Bob", False),
        "Judge": ("j1", "Judge", True),
        "Zoe": ("a4", "Zoe", False),
        "a3": ("a3", None, False),
        "j2": ("j2", None, True),
        "q12345": ("a5", "q12345", False),
        "9": ("a6", "9", False),
        "11": ("a7", "11", False),
    }


def test_people_that_do_not_fit_are_faults() -> None:
    known = [Assessor("a1", "Ann", False)]
    rows = [row(1, "q", assessor="Ann"), row(2, "q", assessor="a1")]
    assert faults_of(persons_of, columns_of(rows), {"Ann", "Eve", "Dan"}, known, same_person=None) == (
        "f: 2 names given with --adjudicator not found in any row",
        "f: a1: an assessor in this study, an adjudicator in the file; give a1 another name in the file's decisions",
        "f: a1 has two names in the file",
    )


def named(*rows: FileJudgement) -> ByColumn:
    """The rows, of which those of j1 are an adjudicator's."""
    queries = {given.query: Query(f"{given.query}-all", given.query, "all", ()) for given in rows}
    persons = {given.assessor: Assessor(given.assessor, None, given.assessor == "j1") for given in rows}
    return under_names(columns_of(rows), queries, persons)


def test_new_rows_come_behind_the_plan_in_the_order_of_time_or_else_of_the_file() -> None:
    standing = (Assignment("p-all", "d1", "a1", 4), Assignment("p-all", "d2", "a1", 2))
    given = named(
        row(5, "p", "d3", judged_at="2031-02", assessor="a1"),
        row(6, "p", "d4", judged_at="2031-01", assessor="a1"),
        row(7, "p", "d1", assessor="a1"),
        row(9, "p", "d5", assessor="a2"),
        row(8, "p", "d6", judged_at="2031-01", assessor="a2"),
        row(10, "p", "d5", assessor="a2"),
        row(11, "p", "d5", occasion=2, assessor="a2"),
        row(12, "p", "d7", assessor="j1"),
    )
    assert plan_of(given, standing) == (
        *standing,
        Assignment("p-all", "d4", "a1", 5),
        Assignment("p-all", "d3", "a1", 6),
        Assignment("p-all", "d6", "a2", 1),
        Assignment("p-all", "d5", "a2", 2),
        Assignment("p-all", "d5", "a2", 3, 2),
    )


def test_an_adjudicator_gives_one_final_grade_to_a_judged_pair() -> None:
    plan = [Assignment("p-all", "d", "a1", 1)]
    fine = named(row(1, "p", assessor="j1"), row(2, "p", "e", grade=None, occasion=2, assessor="a1"))
    check_adjudicated(fine, plan, name="f")
    wrong = named(
        row(3, "p", grade=None, assessor="j1"), row(4, "p", occasion=2, assessor="j1"), row(5, "p", "e", assessor="j1")
    )
    assert faults_of(check_adjudicated, wrong, plan) == (
        "f:3: an adjudicator's row without a grade, expected the final one",
        "f:4: an adjudicator's row with a second occasion, expected one decision",
        "f:5: p e: adjudicated, but not judged by any assessor",
    )


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
    ("text", "numbers"), [("2,3", (2, 3)), (" 2-4, 7", (2, 3, 4, 7)), ("1 - 2", (1, 2)), ("2,2", (2, 2))]
)
def test_numbers_of_sentences_are_written_one_by_one_or_from_to(text: str, numbers: tuple[int, ...]) -> None:
    assert sentence_numbers(text) == numbers


@pytest.mark.parametrize("text", ["", "2,", "3-2", "a", "-1", "1234567", "1-2-3"])
def test_other_numbers_of_sentences_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected numbers from 1 such as 2,3 or 2-4"):
        sentence_numbers(text)
