"""Scores of sentence labels against scikit-learn's."""

from __future__ import annotations

import pytest
from annot.base.settings import Settings
from annot.corpus.facets.scores import score
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support

LABELS = Settings().labels.names
LABEL = st.sampled_from(LABELS)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=8), min_size=1, max_size=12))
def test_scores_are_those_of_scikit_learn(abstracts: list[list[tuple[str, str]]]) -> None:
    scores = score(
        [[t for t, _ in pairs] for pairs in abstracts], [[p for _, p in pairs] for pairs in abstracts], labels=LABELS
    )
    truth = [t for pairs in abstracts for t, _ in pairs]
    predicted = [p for pairs in abstracts for _, p in pairs]
    assert scores.sentences == len(truth)
    assert scores.micro_f1 == pytest.approx(f1_score(truth, predicted, average="micro"))
    assert scores.macro_f1 == pytest.approx(f1_score(truth, predicted, average="macro"))
    expected = precision_recall_fscore_support(truth, predicted, labels=LABELS, zero_division=0)
    for label, precision, recall, f1, support in zip(LABELS, *expected, strict=True):
        found = scores.per_label[label]
        assert (found.precision or 0) == pytest.approx(precision)
        assert (found.recall or 0) == pytest.approx(recall)
        assert (found.f1 or 0) == pytest.approx(f1)
        assert found.support == support
    matrix = confusion_matrix(truth, predicted, labels=LABELS)
    assert [[scores.confusion[t][p] for p in LABELS] for t in LABELS] == matrix.tolist()


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
