"""The best path through labels, and the weights of a small model, against every path and against CRFsuite itself."""

import itertools
import lzma
import re
from importlib.resources import files

import numpy as np
import pycrfsuite
import pytest
from annot.base.errors import InputError
from annot.corpus import labelling
from annot.corpus.labelling import SETTINGS, LabelledAbstract, Labeller, features, read_weights, train, viterbi


def abstract(sentences: tuple[str, ...], labels: tuple[str, ...]) -> LabelledAbstract:
    return LabelledAbstract(sentences=sentences, labels=labels)


ABSTRACTS = [
    abstract((f"Parsing of {thing} is hard.", f"We propose {thing}.", f"Results show {thing}."), labels)
    for thing, labels in (
        ("trees", ("background", "objective", "result")),
        ("graphs", ("background", "objective", "result")),
        ("strings", ("background", "background", "result")),
    )
]


@pytest.fixture(scope="module")
def model() -> bytes:
    return train(ABSTRACTS)


def best_path(state: np.ndarray, transition: np.ndarray) -> list[int]:
    """The first, of all paths, with the largest sum."""
    labels = range(state.shape[1])

    def weight(path: tuple[int, ...]) -> float:
        steps = sum(transition[one, other] for one, other in itertools.pairwise(path))
        return float(sum(state[at, label] for at, label in enumerate(path)) + steps)

    return list(max(itertools.product(labels, repeat=len(state)), key=lambda path: round(weight(path), 9)))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("counts", [[1], [4], [2, 1, 5], [1, 1], [3, 5, 2, 1]])
def test_the_best_path_of_each_sequence_is_the_heaviest_of_all(seed: int, counts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    state, transition = rng.normal(size=(sum(counts), 3)), rng.normal(size=(3, 3))
    ends = np.cumsum(counts)
    expected = [best_path(state[end - count : end], transition) for count, end in zip(counts, ends, strict=True)]
    assert viterbi(state, transition, np.array(counts)).tolist() == [label for path in expected for label in path]


def test_of_equal_paths_the_first_label_is_taken() -> None:
    assert viterbi(np.zeros((3, 2)), np.zeros((2, 2)), np.array([2, 1])).tolist() == [0, 0, 0]
    state = np.array([[0.0, 1], [1, 0]])
    assert viterbi(state, np.zeros((2, 2)), np.array([2])).tolist() == [1, 0]
    assert viterbi(state, np.array([[0.0, 0], [-2, 0]]), np.array([2])).tolist() == [0, 0]


def test_the_weights_are_those_that_crfsuite_reads(model: bytes) -> None:
    raw = lzma.decompress(model)
    tagger = pycrfsuite.Tagger()
    tagger.open_inmemory(raw)
    says = tagger.info()
    found = read_weights(raw, name="m")
    assert set(found.labels) == {"background", "objective", "result"}
    assert [found.labels.index(label) for label in tagger.labels()] == [0, 1, 2]
    assert sorted(found.attributes.values()) == list(range(len(found.attributes)))
    assert set(found.attributes) == set(says.attributes)
    for (attribute, label), weight in says.state_features.items():
        at = found.labels.index(label), found.attributes[attribute]
        assert found.state[at] == pytest.approx(weight, abs=1e-5)
    assert np.count_nonzero(found.state) <= len(says.state_features)
    for (one, other), weight in says.transitions.items():
        at = found.labels.index(one), found.labels.index(other)
        assert found.transition[at] == pytest.approx(weight, abs=1e-5)
    assert np.count_nonzero(found.transition) == len(says.transitions)


@pytest.mark.parametrize("at_once", [1, 2, 3, 1000])
def test_many_abstracts_get_the_labels_of_crfsuite(model: bytes, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelling, "AT_ONCE", at_once)
    raw = lzma.decompress(model)
    tagger = pycrfsuite.Tagger()
    tagger.open_inmemory(raw)
    every = [one.sentences for one in ABSTRACTS] + [(), ("Results show nothing.",), ("We propose it.", "It is hard.")]
    labeller = Labeller(model, name="m")
    expected = [label for one in every if one for label in tagger.tag(features(one))]
    codes = labeller.label_all(list(itertools.chain(*every)), np.array([len(one) for one in every]))
    assert [labeller.labels[code] for code in codes] == expected
    assert labeller.label(every[0]) == tuple(expected[:3])
    assert labeller.label_all([], np.zeros(0, np.int64)).tolist() == []


def test_the_penalty_is_the_one_that_the_page_of_the_model_states() -> None:
    page = files("annot.corpus.facets").joinpath("MODEL.md").read_text(encoding="utf-8")
    (penalty,) = re.findall(r"L-BFGS with c2 = (\d+)", page)
    assert {"c2": float(penalty)} == SETTINGS


@pytest.mark.parametrize("cut", [8, 40, 100])
def test_a_model_whose_tables_are_cut_is_refused(model: bytes, cut: int) -> None:
    raw = lzma.decompress(model)
    short = bytearray(raw[:cut])
    short[4:8] = len(short).to_bytes(4, "little")
    with pytest.raises(InputError, match="m: not a CRFsuite model"):
        read_weights(bytes(short), name="m")
    with pytest.raises(InputError, match=f"found {len(raw) - 1} bytes, expected {len(raw)}"):
        read_weights(raw[:-1], name="m")
    with pytest.raises(InputError, match="found b'lXRF' at the start"):
        read_weights(b"lXRF" + raw[4:], name="m")


def test_two_labels_are_enough_to_learn_from_and_one_is_not() -> None:
    assert Labeller(train([abstract(("One.", "Two."), ("a", "b"))]), name="m").labels == ("a", "b")
    with pytest.raises(InputError, match="1 label in the training abstracts, expected 2 or more"):
        train([abstract(("One.", "Two."), ("a", "a"))])
