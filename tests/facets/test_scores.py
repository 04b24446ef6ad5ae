"""Scores of sentence labels against their definitions."""

import pytest
from annot.base.settings import Settings
from annot.corpus.labelling import score
from hypothesis import given, settings
from hypothesis import strategies as st

LABELS = Settings().labels.names
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
