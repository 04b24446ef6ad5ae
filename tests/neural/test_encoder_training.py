"""Training: it learns what is there to be learnt and nothing else, goes on where it was killed, and is ranked with."""

import csv
import itertools
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models
import topics
from annot.base.records import Paper
from annot.formats.trec import read_run
from annot.ranking.systems.encoders import encode_in_context, open_paper_encoder, open_text_encoder
from annot_systems.sentences import by_attention, by_transport
from annot_systems.training_examples import RECIPES
from command_line import annot, annot_done

FAST = (
    *("--set", "learning_rate=0.003", "--set", "warm_up=0.1", "--set", "at_once=8", "--set", "batch=8"),
    *("--set", "epochs=3", "--set", "patience=50", "--set", "check_every=20"),
)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.bert(tmp_path_factory.mktemp("start") / "bert", positions=80, spread=0.15)


def train(system: str, start: Path, folder: Path, *more: object) -> dict[str, Any]:
    """Train on `folder/examples` into `folder/made`; what `--json` carries."""
    fixed = ("--data", folder / "examples", "--from", start, "--out", folder / "made", "--device", "cpu")
    by = ("--align", start) if RECIPES[system].aligned else ()
    found: dict[str, Any] = annot_done(
        "encoder", "train", system, *fixed, *by, *FAST, *more, "--json", folder=folder
    ).data
    return found


def made_for(system: str, folder: Path, **given: Any) -> None:
    recipe = RECIPES[system]
    own = recipe.of == "triplets"
    topics.examples(folder / "examples", own_negatives=own, texts=recipe.reads == "sentence", **given)


def accuracy(system: str, weights: Path, records: list[dict[str, Any]]) -> float:
    """How often the positive is nearer than the negative, over vectors as `annot run` makes them, in NumPy."""
    recipe = RECIPES[system]
    right = 0
    sides = [record[name] for record in records for name in ("query", "positive", "negative")]
    if recipe.reads == "sentence":
        vectors: Any = open_text_encoder(weights, "cls", device=None)(sides, quietly)
    else:
        papers = [Paper(one["paper_id"], one["title"], tuple(one["abstract"])) for one in sides]
        if recipe.reads == "document":
            vectors = open_paper_encoder(weights, "document", device=None, half=False, batch=32)(papers, quietly)
        else:
            vectors = encode_in_context(weights, papers, advance=quietly)
    for query, positive, negative in zip(vectors[::3], vectors[1::3], vectors[2::3], strict=True):
        if recipe.settings.loss == "softmax":
            scores = [query @ one for one in (positive, negative)]
        elif recipe.reads != "context":
            scores = [-np.linalg.norm(query - one) for one in (positive, negative)]
        else:
            parts = [
                -np.linalg.norm(query[:, None] - one[None], axis=2).astype(np.float64) for one in (positive, negative)
            ]
            if recipe.ranks_by == "single":
                scores = [part.max() for part in parts]
            elif recipe.ranks_by == "transport":
                scores = by_transport(parts, temperature=0.5, eps=1 / 20).scores
            else:
                scores = by_attention(parts, temperature=0.5).scores
        right += bool(scores[0] > scores[1])
    return right / len(records)


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def quietly(_done: int, _total: int | None) -> None:
    pass


@pytest.mark.parametrize(
    "system", ["specter-id", "specter-cocite", "cosentbert", "ictsentbert", "ts-aspire", "ot-aspire", "att-aspire"]
)
def test_a_trained_encoder_tells_topics_apart_that_it_did_not_tell_before(
    system: str, start: Path, tmp_path: Path
) -> None:
    made_for(system, tmp_path)
    found = train(system, start, tmp_path)
    rng = np.random.default_rng(99)
    texts = RECIPES[system].reads == "sentence"
    fresh = [topics.example(at, rng, shuffled=False, texts=texts) for at in range(120)]
    before, after = accuracy(system, start, fresh), accuracy(system, tmp_path / "made", fresh)
    assert before <= 0.6
    assert after >= 0.8
    assert found["best"]["dev_loss"] < found["curve"][0]["dev_loss"]
    assert found["best"]["dev_loss"] == min(one["dev_loss"] for one in found["curve"])
    rows = list(csv.DictReader((tmp_path / "made/curve.csv").read_text().splitlines()))
    assert [float(row["dev_loss"]) for row in rows] == [one["dev_loss"] for one in found["curve"]]
    assert "<svg" in (tmp_path / "made/curve.svg").read_text()


@pytest.mark.parametrize("system", ["specter-id", "max-aspire"])
def test_labels_that_say_nothing_teach_nothing(system: str, start: Path, tmp_path: Path) -> None:
    made_for(system, tmp_path, shuffled=True)
    train(system, start, tmp_path)
    fresh = [topics.example(at, np.random.default_rng([7, at]), shuffled=True, texts=False) for at in range(400)]
    # A fair coin 400 times: four standard deviations.
    assert accuracy(system, tmp_path / "made", fresh) == pytest.approx(0.5, abs=4 * 0.5 / 400**0.5)


KILLED = """
import os, signal, sys
sys.path[:0] = {path!r}
import torch
torch.set_num_threads(1)
from annot.cli import main, output
from annot_systems import training_loop as loop
taken = loop.EncoderTrainer.step
def step(training, number):
    if number == {step}:
        os.kill(os.getpid(), signal.SIGKILL)
    return taken(training, number)
loop.EncoderTrainer.step = step
sys.argv = ["annot", *{arguments!r}]
main.run()
"""


@pytest.mark.parametrize("step", [5, 27])
def test_a_training_that_was_killed_ends_in_the_weights_of_one_that_was_not(
    step: int, start: Path, tmp_path: Path
) -> None:
    """Killed before the first state is kept, and between two states."""
    made_for("ts-aspire", tmp_path, train=80, dev=20)
    whole = train("ts-aspire", start, tmp_path, "--set", "check_every=8", "--set", "epochs=4")
    arguments = [
        "encoder",
        "train",
        "ts-aspire",
        "--data",
        "examples",
        "--from",
        start,
        "--align",
        start,
        "--out",
        "again",
    ]
    arguments += ["--device", "cpu", *FAST, "--set", "check_every=8", "--set", "epochs=4"]
    program = KILLED.format(path=sys.path, step=step, arguments=[str(one) for one in arguments])
    killed = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (tmp_path / "again.training").is_dir()
    assert not (tmp_path / "again").exists()
    assert (tmp_path / "again.training/state.pt").is_file() == (step == 27)
    # With another setting it does not go on.
    refused = annot(*arguments, "--set", "margin=2", folder=tmp_path)
    if step == 27:
        assert refused.exit_code == 2
        assert "began with another settings" in refused.message()
        found = annot_done(*arguments, "--json", folder=tmp_path)
        assert found.data["curve"] == whole["curve"]
        assert f"step {whole['length']['check_every']} of" not in found.stderr, "it began anew"
        ours, theirs = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("again", "made"))
        assert ours == theirs
        assert not (tmp_path / "again.training").exists()


def test_weights_that_were_trained_are_ranked_with_at_once(study: Path, start: Path, tmp_path: Path) -> None:
    """The whole way in a study: full texts, examples, training, run, and the same again."""
    full_texts(study)
    annot_done("encoder", "contexts", "full.jsonl", "--out", "contexts.jsonl", folder=study)
    examples = ("--contexts", "contexts.jsonl", "--out", "examples", "--dev-share", "0.3")
    told = annot_done("encoder", "examples", "ts+ot-aspire", *examples, "--json", folder=study).data
    queries = {query["topic_id"] for query in annot_done("query", "list", "--json", folder=study).data}
    lines = [line for name in ("train", "dev") for line in read_lines(study / f"examples/{name}.jsonl")]
    assert len(lines) == told["train"] + told["dev"]
    assert told["left_out"]["sets with a query paper of this study"]
    assert not queries & {side["paper_id"] for line in lines for key, side in line.items() if isinstance(side, dict)}
    fixed = ("--data", "examples", "--from", start, "--align", start, *FAST)
    trained = annot_done("encoder", "train", "ts+ot-aspire", *fixed, "--json", folder=study).data
    assert trained["path"] == "weights/ts+ot-aspire"
    annot_done("run", "ts+ot-aspire", folder=study)
    run = read_run((study / "exports/runs/ts+ot-aspire.run").read_text().splitlines(), name="x")
    assert run
    settings = json.loads((study / "exports/runs/ts+ot-aspire.json").read_text())["settings"]
    assert settings["encoder"] == "ts+ot-aspire"
    before = (study / "weights/ts+ot-aspire/model.safetensors").stat().st_mtime_ns
    again = annot_done("encoder", "train", "ts+ot-aspire", *fixed, "--json", folder=study).data
    assert again["done_before"]
    assert again["curve"] == trained["curve"]
    assert (study / "weights/ts+ot-aspire/model.safetensors").stat().st_mtime_ns == before
    refused = annot("encoder", "train", "ts+ot-aspire", *fixed, "--set", "seed=3", folder=study)
    assert refused.exit_code == 2
    assert "weights of another training are there" in refused.message()


def full_texts(study: Path) -> None:
    """Full texts in which every paper of the corpus is cited with the next one."""
    ids = [line["paper_id"] for line in read_lines(study / "papers.jsonl")]
    lines = []
    for at, (one, other) in enumerate(itertools.pairwise(ids)):
        text = f"The models of text number {at} parse graphs (1) with data (2)."
        spans = [{"start": text.index(f"({n})"), "end": text.index(f"({n})") + 3, "ref_id": f"B{n}"} for n in (1, 2)]
        entries = {"B1": {"link": one}, "B2": {"link": other}}
        body = [{"text": text, "cite_spans": spans}]
        lines.append({"paper_id": f"c{at}", "body_text": body, "bib_entries": entries})
    (study / "full.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_training_without_use_ends_early_and_the_start_is_kept(start: Path, tmp_path: Path) -> None:
    made_for("specter-id", tmp_path, shuffled=True)
    found = train(
        "specter-id", start, tmp_path, "--set", "learning_rate=0.3", "--set", "patience=2", "--set", "check_every=2"
    )
    assert found["curve"][-1]["step"] < found["length"]["steps"]
    assert len(found["curve"]) == found["curve"].index(found["best"]) + 1 + 2


HOLD = """
import fcntl, sys
file = open("lock", "w")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_two_trainings_into_one_folder_refuse_each_other(start: Path, tmp_path: Path) -> None:
    made_for("specter-id", tmp_path)
    work = tmp_path / "made.training"
    work.mkdir()
    command = [sys.executable, "-c", HOLD]
    holder = subprocess.Popen(command, cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        fixed = ("--data", "examples", "--from", start, "--out", "made", *FAST)
        refused = annot("encoder", "train", "specter-id", *fixed, folder=tmp_path)
    finally:
        holder.communicate()
    assert refused.exit_code == 1
    assert "another process trains there" in refused.message()


def test_a_device_that_is_not_there_is_told(start: Path, tmp_path: Path) -> None:
    made_for("specter-id", tmp_path, train=4, dev=4)
    fixed = ("--data", "examples", "--from", start, "--out", "made", *FAST)
    refused = annot("encoder", "train", "specter-id", *fixed, "--device", "cuda:77", folder=tmp_path)
    assert refused.exit_code == 2
    assert "--device cuda:77" in refused.message()
    assert [path.name for path in tmp_path.iterdir()] == ["examples"]
