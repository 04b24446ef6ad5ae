"""Labelled abstracts that are read, and scores of labels against their definitions."""

import pytest
from annot.base.errors import InputError
from annot.base.settings import Settings
from annot.corpus.labelling import LabelledAbstract, read_labelled, score
from hypothesis import given, settings
from hypothesis import strategies as st

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


LABEL = st.sampled_from(LABELS)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=8), min_size=1, max_size=12))
def test_scores_are_those_of_their_definitions(abstracts: list[list[tuple[str, str]]]) -> None:
    scores = score(
        [[t for t, _ in pairs] for pairs in abstracts], [[p for _, p in pairs] for pairs in abstracts], labels=LABELS
    )
    truth = [t for pairs in abstracts for t, _ in pairs]
    predicted = [p for pairs in abstracts for _, p in pairs]
    assert scores.sentences == len(truth)
    pairs = list(zip(truth, predicted, strict=True))
    assert scores.micro_f1 == sum(t == p for t, p in pairs) / len(pairs)
    f1 = []
    for label in LABELS:
        found = scores.per_label[label]
        right, support, given_it = pairs.count((label, label)), truth.count(label), predicted.count(label)
        assert found.support == support
        assert found.precision == (right / given_it if given_it else None)
        assert found.recall == (right / support if support else None)
        assert found.f1 == (2 * right / (support + given_it) if support + given_it else None)
        f1 += [] if found.f1 is None else [found.f1]
    assert scores.macro_f1 == pytest.approx(sum(f1) / len(f1))
    assert all(scores.confusion[t][p] == pairs.count((t, p)) for t in LABELS for p in LABELS)


def test_what_is_undefined_is_none_and_never_zero() -> None:
    found = score([["method", "result"]], [["method", "method"]], labels=LABELS).per_label
    assert found["result"].precision is None
    assert found["result"].recall == 0
    assert found["result"].f1 == 0
    assert found["other"].recall is None
    assert found["other"].f1 is None


def test_labels_that_do_not_match_sentence_by_sentence_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score([["method", "result"]], [["method"]], labels=LABELS)
    with pytest.raises(ValueError, match="shorter"):
        score([["method"], ["result"]], [["method"]], labels=LABELS)
