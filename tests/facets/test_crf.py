"""Training the labeller, the model that is shipped, and models that cannot be used."""

from __future__ import annotations

import hashlib
import lzma
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest
from annot.errors import InputError
from annot.facets.build import evaluate
from annot.facets.build import main as build
from annot.facets.crf import SHIPPED_MODEL, SHIPPED_SETTINGS, Labeller, train
from annot.facets.features import FEATURE_SET
from annot.facets.mapping import label_papers
from annot.facets.training import LabelledAbstract, read_labelled
from annot.records import Paper

TINY = tuple(
    LabelledAbstract(
        (f"Parsing of {thing} is hard.", f"We propose a {thing} model.", f"Results show gains on {thing}."),
        ("background", "objective", "result"),
    )
    for thing in ("trees", "graphs", "strings", "forests")
)


def labelled(path: Path) -> tuple[LabelledAbstract, ...]:
    with path.open(encoding="utf-8") as lines:
        return read_labelled(lines, name=path.name)


@pytest.fixture(scope="module")
def shipped() -> Labeller:
    return Labeller.load()


@pytest.fixture(scope="module")
def tiny() -> bytes:
    return train(TINY, settings=SHIPPED_SETTINGS)


def test_the_shipped_model_reaches_the_required_scores_on_held_out_abstracts(shipped: Labeller, shared: Path) -> None:
    scores = evaluate(shipped, labelled(shared / "csabstruct" / "dev.jsonl"))
    assert scores.sentences == 2026
    assert scores.micro_f1 >= 0.66
    assert scores.macro_f1 >= 0.62


def test_the_shipped_model_file_is_small_and_its_page_names_it(shipped: Labeller) -> None:
    room = files("annot.facets")
    model = room.joinpath(SHIPPED_MODEL).read_bytes()
    page = room.joinpath("MODEL.md").read_text(encoding="utf-8")
    assert len(model) <= 6_000_000
    assert shipped.sha256 == hashlib.sha256(model).hexdigest()
    assert shipped.sha256 in page
    assert f"{len(model):,} bytes" in page
    assert "Apache-2.0" in page


def test_a_model_of_some_hundred_abstracts_beats_the_most_frequent_label_by_far(shared: Path) -> None:
    training = labelled(shared / "csabstruct" / "train.jsonl")[:200]
    scores = evaluate(
        Labeller(train(training, settings=SHIPPED_SETTINGS), name="small"),
        labelled(shared / "csabstruct" / "dev.jsonl"),
    )
    assert scores.micro_f1 > 0.52  # always `background`: 681 of 2,026, 0.336


def test_a_model_learns_its_training_abstracts(tiny: bytes) -> None:
    labeller = Labeller(tiny, name="tiny")
    assert all(labeller.label(abstract.sentences) == abstract.labels for abstract in TINY)


def test_training_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    script = (
        "import sys, tests_of_crf as t; from annot.facets.crf import *;"
        "sys.stdout.buffer.write(train(t.TINY, settings=SHIPPED_SETTINGS))"
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


def test_a_labeller_can_be_sent_to_another_process(tiny: bytes) -> None:
    labeller = Labeller(tiny, name="tiny")
    copy = pickle.loads(pickle.dumps(labeller))
    assert copy.sha256 == labeller.sha256
    assert copy.label(TINY[1].sentences) == TINY[1].labels


def test_an_uncompressed_model_is_read_too(tiny: bytes) -> None:
    assert Labeller(lzma.decompress(tiny), name="raw").label(TINY[0].sentences) == TINY[0].labels


def test_files_that_are_no_model_are_refused_with_their_name_and_the_reason(tiny: bytes) -> None:
    raw = lzma.decompress(tiny)
    cases = {
        b"": "not a CRFsuite model",
        b"PK\x03\x04 something else": "not a CRFsuite model",
        raw[:-10]: "cut short",
        raw[:20]: "cut short",
        tiny[:-20]: "damaged",
        raw.replace(FEATURE_SET.encode(), b"another-features"): "other features",
    }
    assert len(FEATURE_SET) == len("another-features")
    for model, reason in cases.items():
        with pytest.raises(InputError, match=reason) as caught:
            Labeller(model, name="my.model")
        assert caught.value.message.startswith("my.model: ")


def test_a_model_with_labels_we_do_not_know_is_refused(tiny: bytes) -> None:
    raw = lzma.decompress(tiny).replace(b"objective\0", b"intention\0")
    with pytest.raises(InputError, match="unknown labels: found intention"):
        Labeller(raw, name="other")


def test_abstracts_with_fewer_than_two_labels_teach_nothing() -> None:
    with pytest.raises(InputError, match="found 1 label"):
        train([LabelledAbstract(("One.", "Two."), ("method", "method"))], settings=SHIPPED_SETTINGS)
    with pytest.raises(InputError, match="found 0 label"):
        train([], settings=SHIPPED_SETTINGS)


def test_labels_that_the_corpus_carries_are_kept_and_marked() -> None:
    class Always:
        def label(self, sentences: Sequence[str]) -> tuple[str, ...]:
            return ("other",) * len(sentences)

    papers = [
        Paper("p1", "One", ("A.", "B."), labels=("method", "result")),
        Paper("p2", "Two", ("A.", "B.", "C.")),
    ]
    assert [tuple(found) for found in label_papers(papers, Always())] == [
        ("p1", ("method", "result"), "corpus"),
        ("p2", ("other", "other", "other"), "predicted"),
    ]


def test_carried_labels_that_do_not_fit_the_sentences_are_refused(shipped: Labeller) -> None:
    with pytest.raises(InputError, match=r"paper p1: found 1 label\(s\) for 2 sentence\(s\)"):
        list(label_papers([Paper("p1", "One", ("A.", "B."), labels=("method",))], shipped))
    with pytest.raises(InputError, match="paper p1") as caught:
        list(label_papers([Paper("p1", "One", ("A.",), labels=("methods",))], shipped))
    assert caught.value.faults == ("unknown label 'methods', did you mean 'method'?",)


def test_the_build_command_writes_the_model_and_prints_both_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "tiny.jsonl"
    data.write_text(
        '{"abstract": ["Parsing is hard.", "We propose a model."], "labels": ["background", "objective"]}\n'
        '{"abstract": ["Tagging is hard.", "We propose a tagger."], "labels": ["background", "objective"]}\n',
        encoding="utf-8",
    )
    out = tmp_path / "model.xz"
    assert build([str(data), str(data), str(out)]) == 0
    printed = capsys.readouterr().out
    assert "4 sentences: micro-F1 1.0000, macro-F1 1.0000" in printed
    assert hashlib.sha256(out.read_bytes()).hexdigest() in printed


def test_the_build_command_says_what_is_wrong_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "broken.jsonl", tmp_path / "model.xz"
    data.write_text('{"abstract": ["A."], "labels": ["methd"]}\n', encoding="utf-8")
    assert build([str(data), str(data), str(out)]) == 2
    assert f"{data}:1: unknown label 'methd', did you mean 'method'?" in capsys.readouterr().err
    assert build([str(tmp_path / "none.jsonl"), str(data), str(out)]) == 2
    assert "none.jsonl" in capsys.readouterr().err
    assert build([]) == 2
    assert "usage" in capsys.readouterr().err
    assert not out.exists()
