"""Reading labelled abstracts."""

import pytest
from annot.base.errors import InputError
from annot.base.settings import Settings
from annot.corpus.labelling import LabelledAbstract, read_labelled

LABELS = Settings().labels.names


def test_csabstructs_key_and_our_own_are_read_alike() -> None:
    lines = [
        '\ufeff{"abstract_id": 0, "sentences": ["A.", "B."], "labels": ["background", "method"]}\n',
        "\n",
        '{"paper_id": "p1", "title": "T", "abstract": ["C."], "labels": ["other"]}',
    ]
    assert read_labelled(lines, name="x.jsonl", known_labels=LABELS) == (
        LabelledAbstract(sentences=("A.", "B."), labels=("background", "method")),
        LabelledAbstract(sentences=("C.",), labels=("other",)),
    )


def test_every_broken_line_is_named_with_its_number_and_fault() -> None:
    lines = [
        '{"abstract": ["A."], "labels": ["method"]}',
        '{"abstract": ["A."], "labels": ["method"]',
        "[1, 2]",
        '{"title": "T", "labels": ["method"]}',
        '{"abstract": ["A."]}',
        '{"abstract": "A.", "labels": ["method"]}',
        '{"abstract": [], "labels": []}',
        '{"abstract": ["A.", "B."], "labels": ["method"]}',
        '{"abstract": ["A.", "B."], "labels": ["methods", "conclusion"]}',
    ]
    with pytest.raises(InputError, match=r"^x\.jsonl: 8 faults") as caught:
        read_labelled(lines, name="x.jsonl", known_labels=LABELS)
    faults = caught.value.faults
    assert [fault.split(": ", 1)[0] for fault in faults] == [f"x.jsonl:{number}" for number in range(2, 10)]
    for fault, part in zip(
        faults,
        (
            "not valid JSON",
            "found [1, 2], expected one JSON object per line",
            "no field 'sentences': found title, labels",
            "no field 'labels': found abstract",
            "abstract: found 'A.', expected a valid tuple",
            "abstract: found [], expected at least 1 item",
            "found 1 label for 2 sentences",
            "unknown label 'conclusion', expected one of background, objective, method, result, other; "
            "unknown label 'methods', did you mean 'method'?",
        ),
        strict=True,
    ):
        assert part in fault


def test_a_file_without_abstracts_is_refused_and_shows_what_is_expected() -> None:
    with pytest.raises(InputError, match="1 fault") as caught:
        read_labelled(["\n", "  \n"], name="empty.jsonl", known_labels=LABELS)
    assert caught.value.faults == ("empty.jsonl: no abstracts found",)
    assert caught.value.hint is not None
    assert '"labels"' in caught.value.hint


def test_json_nested_beyond_reason_is_a_fault_like_any_other() -> None:
    with pytest.raises(InputError) as caught:
        read_labelled(["[" * 200_000], name="x.jsonl", known_labels=LABELS)
    assert caught.value.faults[0].startswith("x.jsonl:1: not valid JSON")
