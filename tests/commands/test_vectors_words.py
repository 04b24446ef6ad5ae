"""Word vectors from elsewhere: the tools' own formats, as gensim writes them, used in place of trained ones."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from annot.ranking import word_vectors
from command_line import annot_done
from gensim.models import FastText, KeyedVectors

WORDS = [
    "we",
    "study",
    "shape",
    "size",
    "colour",
    "weight",
    "of",
    "don't",
    "Upper",
    "two_words",
    "naïve",
    "</s>",
    "nan",
]
MATRIX = np.random.default_rng(1).normal(size=(len(WORDS), 5)).astype(np.float32)
MATRIX[-1] = np.nan
SENTENCES = {
    "a": ["We study shape.", "We study size, not colour.", "Weight of shape."],
    "b": ["We study colour.", "Size of size of weight.", "We study unknown words."],
    "c": ["Nothing known here.", "Really not.", "Only other terms."],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    annot_done("init", tmp_path / "study", folder=tmp_path)
    return tmp_path / "study"


def written(folder: Path, form: str) -> str:
    """The vectors in a file of this form, written by gensim; its name."""
    keyed = KeyedVectors(5)
    keyed.add_vectors(WORDS, MATRIX)
    name = {"text": "w.txt", "fastText text": "w.vec", "binary": "w.bin"}[form.removesuffix(" gz")]
    keyed.save_word2vec_format(str(folder / name), binary=form.startswith("binary"))
    if form.endswith("gz"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        name += ".gz"
    return name


@pytest.mark.parametrize("form", ["text", "fastText text", "binary gz"])
def test_word2vec_is_read_as_gensim_writes_it(folder: Path, form: str) -> None:
    name = written(folder, form)
    figures = annot_done("vectors", "add", "--words", name, "--dry-run", "--json", folder=folder).data
    assert not (folder / "corpus/word-vectors").exists()
    assert figures == annot_done("vectors", "add", "--words", name, "--json", folder=folder).data
    assert figures["form"] == ("word2vec binary" if form.startswith("binary") else "word2vec text")
    assert (figures["kept"], figures["unusable"], figures["not_finite"]) == (8, 4, 1)
    kept = word_vectors.load(folder / "corpus/word-vectors")
    assert kept.words == tuple(WORDS[:8])
    np.testing.assert_allclose(kept.matrix, MATRIX[:8], rtol=0 if form.startswith("binary") else 1e-5)
    assert kept.facts["file"] == name
    annot_done("vectors", "add", "--words", name, folder=folder)


def test_a_fasttext_model_gives_the_vectors_of_its_words(folder: Path) -> None:
    from gensim.models.fasttext import save_facebook_model

    model = FastText(
        [["shape", "size", "colour"], ["weight", "shape", "Size"]] * 20, vector_size=6, min_count=1, epochs=1, bucket=50
    )
    save_facebook_model(model, str(folder / "ft.bin"))
    figures = annot_done("vectors", "add", "--words", "ft.bin", "--json", folder=folder).data
    assert (figures["form"], figures["kept"], figures["unusable"]) == ("fastText binary", 4, 1)
    kept = word_vectors.load(folder / "corpus/word-vectors")
    for word, row in zip(kept.words, kept.matrix, strict=True):
        np.testing.assert_allclose(row, model.wv[word], rtol=1e-5)


def test_imported_word_vectors_rank_in_place_of_trained_ones(folder: Path) -> None:
    papers = [{"paper_id": name, "title": name.upper(), "abstract": text} for name, text in SENTENCES.items()]
    (folder / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in papers))
    settings = folder / "annot.toml"
    lines = settings.read_text().splitlines()
    lines = ['methods = ["abs_cbow200"]' if line.startswith("methods") else line for line in lines]
    settings.write_text(
        "\n".join("min_sentence_tokens = 0" if "min_sentence_tokens" in line else line for line in lines)
    )
    annot_done("corpus", "add", "papers.jsonl", folder=folder)
    annot_done("facets", folder=folder)
    annot_done("query", "add", "a", "--sentences", "1", "--facet", "method", folder=folder)
    annot_done("vectors", "add", "--words", written(folder, "binary"), folder=folder)
    annot_done("pool", folder=folder)
    row_of = dict(zip(WORDS[:8], MATRIX[:8].astype(float), strict=True))

    def average(name: str) -> np.ndarray:
        words = " ".join(SENTENCES[name]).lower().replace(".", " ").replace(",", " ").split()
        return np.mean([row_of[word] for word in words if word in row_of], axis=0)

    run = [line.split() for line in (folder / "pools/rankings/abs_cbow200.run").read_text().splitlines()]
    assert [line[2] for line in run] == ["b"], "c has no known word"
    assert float(run[0][4]) == pytest.approx(-float(np.linalg.norm(average("a") - average("b"))), rel=1e-5)
    manifest = json.loads((folder / "pools/rankings/manifest.json").read_text())
    said = manifest["methods"]["abs_cbow200"]["word_vectors"]
    kept = word_vectors.load(folder / "corpus/word-vectors")
    assert (said["imported"], said["sha256"]) == ("word2vec binary", word_vectors.sha256_of(kept.words, kept.matrix))
    assert not list((folder / ".annot" / "index").glob("*/words-*")), "nothing was trained"


def test_coverage_is_what_counting_by_hand_gives(folder: Path) -> None:
    name = written(folder, "binary")
    early = annot_done("vectors", "add", "--words", name, "--json", folder=folder)
    assert early.data["coverage"] is None
    assert "no corpus yet" in early.stderr
    papers = [{"paper_id": key, "title": "Shape of Size", "abstract": text} for key, text in SENTENCES.items()]
    (folder / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in papers))
    settings = folder / "annot.toml"
    lines = settings.read_text().splitlines()
    settings.write_text(
        "\n".join("min_sentence_tokens = 0" if "min_sentence_tokens" in line else line for line in lines)
    )
    annot_done("corpus", "add", "papers.jsonl", folder=folder)
    text = " ".join(f"{paper['title']} {' '.join(paper['abstract'])}" for paper in papers)
    totals = Counter(re.findall(r"[a-z]+", text.lower()))
    known = set(WORDS[:8])
    dry = annot_done("vectors", "add", "--words", name, "--dry-run", "--json", folder=folder)
    told = annot_done("vectors", "add", "--words", name, folder=folder)
    found = dry.data["coverage"]
    share = sum(totals[word] for word in known) / totals.total()
    assert found["running"] == pytest.approx(share)
    assert found["distinct"] == pytest.approx(len(known & set(totals)) / len(totals))
    lacking = sorted((word for word in totals if word not in known), key=lambda word: (-totals[word], word))
    assert found["lacking"] == [[word, totals[word]] for word in lacking[:10]]
    assert len(lacking) > 3
    assert f"{share:.1%}" in told.stdout
    assert f"warning: {share:.1%} of the running words have a vector, expected 90%" in told.stderr
    (folder / "all.vec").write_text(
        f"{len(totals) - 1} 2\n" + "".join(f"{word} 1 2\n" for word in sorted(totals) if word != lacking[-1])
    )
    nearly = annot_done("vectors", "add", "--words", "all.vec", folder=folder)
    assert "warning" not in nearly.stderr
    assert f"without a vector, with their counts: {lacking[-1]} (1)" in nearly.stderr
