"""The fields of a paper in a line of JSON: their names, the values that fit, and the words for those that do not."""

import json
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.formats.corpora.sections import readable
from annot.formats.corpora.tables import document, usual_paper
from annot.formats.paper_records import document_of_record, paper_of_record, read_papers
from hypothesis import example, given
from hypothesis import strategies as st

LABELS = ("method", "other")
GOOD: dict[str, Any] = {"paper_id": "p", "title": "A title", "abstract": ["One.", "Two."]}


def read(**changed: Any) -> Paper:
    return paper_of_record(GOOD | changed, LABELS)


def refusal(**changed: Any) -> tuple[str, tuple[str, ...]]:
    with pytest.raises(InputError) as caught:
        read(**changed)
    return caught.value.message, caught.value.faults


def test_a_field_is_found_under_each_of_its_names() -> None:
    assert read() == Paper("p", "A title", ("One.", "Two."))
    others = {"_id": 7, "title": None, "abstract": "One. Two three.", "metadata": {"year": 1999}}
    assert paper_of_record(others, LABELS) == Paper("7", "", ("One.", "Two three."), 1999)
    assert read(id="other").paper_id == "p"
    assert read(pred_labels=["method_label", "other"]).labels == ("method", "other")
    assert read(outbound_citations=[1, "b", 1, "p"]).citations == ("1", "b")
    assert read(abstract=None).sentences == ()
    assert read(text="never read").sentences == ("One.", "Two.")


TEXTS = st.text(st.sampled_from("Ab.: &;<i>$\\\n\tä\x7f"), max_size=12) | st.sampled_from(["Abstract. We.", "x", ""])
OTHERS = {"id": "q", "citations": ["c"], "labels": None, "language": "de", "metadata": {"year": 7}, "authors": ["A"]}


@given(
    st.fixed_dictionaries(
        {"paper_id": TEXTS, "title": TEXTS, "abstract": st.lists(TEXTS, max_size=3)},
        optional={"year": st.sampled_from([1999, True, "1999", 10_000, None])}
        | {name: st.just(value) for name, value in OTHERS.items()},
    )
)
@example({**GOOD, "authors": ["A"], "year": 1999})
def test_a_usual_paper_is_what_the_long_way_makes_of_its_record(record: dict[str, Any]) -> None:
    if (paper := usual_paper(record)) is None:
        assert record["title"] != GOOD["title"]
        return
    fields, notes = document(record), list[tuple[str, str]]()
    readable_record, changes = readable(fields, published=False)
    assert document_of_record(readable_record, LABELS, noted=notes) == paper
    assert changes(paper) is None
    assert not notes


@pytest.mark.parametrize(
    ("value", "year"), [(1999, 1999), ("1999", 1999), ("-5", -5), (9999, 9999), (-9999, -9999), (None, None), (0, 0)]
)
def test_a_year_has_at_most_four_digits(value: object, year: int | None) -> None:
    assert read(year=value).year == year


@pytest.mark.parametrize("value", [10_000, -10_000, "19999", "1999.0", True, 1.5, ""])
def test_another_year_is_refused(value: object) -> None:
    message, (fault,) = refusal(year=value)
    assert message == "year cannot be used"
    assert fault.startswith(f"year: found {value!r}, ")


def test_labels_that_are_cut_off_are_none_and_others_have_to_fit() -> None:
    assert read(pred_labels=["method"], pred_labels_truncated=True).labels is None
    assert read(labels=["method", "other"], pred_labels_truncated=True).labels == ("method", "other")
    wrong = "labels do not fit the sentences"
    assert refusal(labels=["method"]) == (wrong, ("1 label for 2 sentences",))
    assert refusal(labels=["method"] * 3, pred_labels_truncated=True) == (wrong, ("3 labels for 2 sentences",))
    assert refusal(labels=["method"], abstract="One.") == (
        wrong,
        ("labels need `abstract` as a list of sentences, found one string",),
    )
    assert refusal(labels=["methd", "other"])[1] == ("unknown sentence label 'methd': did you mean 'method'?",)


@pytest.mark.parametrize("value", ["", "a b", "a\u00a0b", "a\0", True, 1.5])
def test_an_id_is_a_text_without_white_space_or_a_whole_number(value: object) -> None:
    message, faults = refusal(paper_id=value)
    assert message == "paper_id cannot be used"
    assert len(faults) == 1


def test_every_fault_of_a_record_is_named() -> None:
    with pytest.raises(InputError) as caught:
        paper_of_record({"paper_id": "p", "titel": "x", "abstract": ["One.", 2], "citations": "x"}, LABELS)
    assert caught.value.message == "no field 'title'"
    assert caught.value.faults == (
        "no field 'title': did you mean 'titel'?",
        "abstract, entry 2: found 2, expected a valid string",
        "citations: found 'x', expected a valid list",
    )


def test_lines_are_read_one_by_one_and_their_faults_come_together() -> None:
    lines = [json.dumps(GOOD), "", "no JSON", "[1]", json.dumps({"id": 1, "title": "", "abstract": [None]})]
    found = read_papers(lines, name="f", known_labels=LABELS)
    assert next(found).paper_id == "p"
    with pytest.raises(InputError) as caught:
        list(found)
    assert [fault.split(": ")[0] for fault in caught.value.faults] == ["f:3", "f:4", "f:5"]
    assert caught.value.faults[1] == "f:4: found [1], expected one JSON object per line"
    with pytest.raises(InputError) as caught:
        list(read_papers(["\n"], name="f", known_labels=LABELS))
    assert caught.value.faults == ("f: found no line, or only blank ones, expected one paper per line (JSON Lines)",)
