"""Training the labeller, the model that is shipped, and models that cannot be used."""

import hashlib
import json
import lzma
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.settings import Settings
from annot.corpus.labelling import (
    FEATURE_SET,
    SHIPPED_MODEL,
    LabelledAbstract,
    Labeller,
    LabelScores,
    read_labelled,
    score,
    train,
    without_held_out,
)

LABELS = Settings().labels.names

TINY = tuple(
    LabelledAbstract(
        sentences=(f"Parsing of {thing} is hard.", f"We propose a {thing} model.", f"Results show gains on {thing}."),
        labels=("background", "objective", "result"),
    )
    for thing in ("trees", "graphs", "strings", "forests")
)


def labelled(path: Path) -> tuple[LabelledAbstract, ...]:
    with path.open(encoding="utf-8") as lines:
        return read_labelled(lines, name=path.name, known_labels=LABELS)


def scores_of(labeller: Labeller, abstracts: tuple[LabelledAbstract, ...]) -> LabelScores:
    return score([one.labels for one in abstracts], [labeller.label(one.sentences) for one in abstracts], labels=LABELS)


@pytest.fixture(scope="module")
def shipped() -> Labeller:
    return Labeller.load()


@pytest.fixture(scope="module")
def tiny() -> bytes:
    return train(TINY)


def test_the_shipped_model_reaches_the_required_scores_on_held_out_abstracts(shipped: Labeller, shared: Path) -> None:
    scores = scores_of(shipped, labelled(shared / "csabstruct" / "dev.jsonl"))
    assert scores.sentences == 2026
    assert scores.micro_f1 >= 0.68
    assert scores.macro_f1 >= 0.63


def test_the_shipped_model_file_is_small_and_its_page_names_it(shipped: Labeller) -> None:
    room = files("annot.corpus.facets")
    model = room.joinpath(SHIPPED_MODEL).read_bytes()
    page = room.joinpath("MODEL.md").read_text(encoding="utf-8")
    assert len(model) <= 6_000_000
    assert shipped.sha256 == hashlib.sha256(model).hexdigest()
    assert shipped.sha256 in page
    assert f"{len(model):,} bytes" in page
    assert "Apache-2.0" in page


def test_accuracy_follows_the_confidence_of_the_labels_as_the_page_says(shipped: Labeller, shared: Path) -> None:
    facet_of = {label: facet for facet, labels in Settings().facets.items() for label in labels}
    held_out = map(json.loads, (shared / "csabstruct" / "dev.jsonl").read_text(encoding="utf-8").splitlines())
    found = [
        (sure, label == predicted, facet_of.get(label, label) == facet_of.get(predicted, predicted))
        for one in held_out
        for sure, label, predicted in zip(one["confs"], one["labels"], shipped.label(one["sentences"]), strict=True)
    ]
    page = files("annot.corpus.facets").joinpath("MODEL.md").read_text(encoding="utf-8")
    for least, sentences in {0: 2026, 0.4: 1851, 0.6: 1063, 0.8: 424}.items():
        _, right, facets = zip(*(row for row in found if row[0] >= least), strict=True)
        assert f"| {sentences:,} | {sum(right) / len(right):.3f} | {sum(facets) / len(facets):.3f} |" in page
        assert len(right) == sentences


def test_abstracts_that_share_a_sentence_with_those_held_out_are_not_learnt_from(shared: Path) -> None:
    folder = shared / "csabstruct"
    training, held_out = labelled(folder / "train.jsonl"), labelled(folder / "dev.jsonl")
    kept = without_held_out(training, held_out)
    assert (len(training), len(kept)) == (1668, 1613)
    spelt = {" ".join(sentence.lower().split()) for one in held_out for sentence in one.sentences}
    assert not [one for one in kept for sentence in one.sentences if " ".join(sentence.lower().split()) in spelt]


def test_a_model_learns_its_training_abstracts(tiny: bytes) -> None:
    labeller = Labeller(tiny, name="tiny")
    assert all(labeller.label(abstract.sentences) == abstract.labels for abstract in TINY)


def test_training_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    script = (
        "import sys, tests_of_crf as t; from annot.corpus.labelling import *;sys.stdout.buffer.write(train(t.TINY))"
    )
    (tmp_path / "tests_of_crf.py").write_text(Path(__file__).read_text(encoding="utf-8"), encoding="utf-8")
    import annot

    room = str(Path(annot.__file__).parent.parent)
    models = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), room]), "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(models) == 1
    assert Labeller(models.pop(), name="tiny").label(TINY[0].sentences) == TINY[0].labels


def test_a_sentence_of_any_text_gets_a_label_and_no_sentences_get_none(shipped: Labeller) -> None:
    assert shipped.label(()) == ()
    assert len(shipped.label(("", "...", "𝛼 日本語 \x00 \ufffd", "x" * 100_000))) == 4


def test_files_that_are_no_model_are_refused_with_their_name_and_the_reason(tiny: bytes) -> None:
    raw = lzma.decompress(tiny)
    cases = {
        b"": "not a CRFsuite model",
        b"PK\x03\x04 something else": "not a CRFsuite model",
        raw[:-10]: "cut short",
        raw[:20]: "cut short",
        tiny[:-20]: "cannot be decompressed",
        raw.replace(FEATURE_SET.encode(), b"another-features"): "other features",
    }
    assert len(FEATURE_SET) == len("another-features")
    for model, reason in cases.items():
        with pytest.raises(InputError, match=reason) as caught:
            Labeller(model, name="my.model")
        assert caught.value.message.startswith("my.model: ")
