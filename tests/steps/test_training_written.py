"""A training of an encoder from its examples to its folder; the model itself is a stand-in."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.settings import Settings
from annot.ranking.encoding import weights_folder
from annot.study.workspace import Workspace
from annot_systems import encoder_training
from annot_systems.training_examples import DEV, TRAIN, recipe_of
from annot_systems.training_loop import Point, TrainingState

CURVE = [Point(0, 0.0, 0.0, None, 0.5, 0.25), Point(10, 1.0, 2.0, 0.75, 0.25, 0.875)]
STATE = TrainingState(10, CURVE, CURVE[1])


class Saved:
    """A model or a tokeniser: it writes one file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def save_pretrained(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / self.name).write_text("x", encoding="utf-8")


@dataclass
class Given:
    """Sixty examples to train on, or six to look at; and how they were checked."""

    path: Path
    checked: list[tuple[str, bool]]

    def __len__(self) -> int:
        return 60 if self.path.name == TRAIN else 6

    def check(self, _recipe: object, *, dev: bool) -> None:
        self.checked.append((self.path.name, dev))


class Machine:
    """What a training is done with, and what it was asked."""

    def __init__(self, patch: pytest.MonkeyPatch, *, mix: object = None) -> None:
        self.checked: list[tuple[str, bool]] = []
        self.facts: list[dict[str, Any]] = []
        self.losses: list[dict[str, Any]] = []
        loaded = SimpleNamespace(model=Saved("model"), tokenizer=Saved("tokenizer"), mix=mix)
        patch.setattr(encoder_training.encoders, "load", lambda folder, device: loaded)
        patch.setattr(encoder_training.training_examples, "Examples", self._examples)
        patch.setattr(encoder_training, "sha256_of", lambda path: f"of {path.name}")
        patch.setattr(encoder_training.system, "digest_of", lambda path: f"of {path.name}")
        patch.setattr(encoder_training.encoders, "open_text_encoder", lambda *_, device: "an aligner")
        patch.setattr(encoder_training, "EncoderTrainer", self._training)
        patch.setattr(encoder_training, "lines", self._drawing)

    def _examples(self, path: Path) -> Given:
        return Given(path, self.checked)

    def _training(self, *_: object, align: object, work: Path) -> Any:
        def run(facts: dict[str, Any], **_: object) -> TrainingState:
            self.facts.append({**facts, "align": align})
            return STATE

        return SimpleNamespace(run=run)

    def _drawing(self, losses: dict[str, Any], *, across: str, up: str) -> Any:
        self.losses.append({**losses, "axes": (across, up)})
        return SimpleNamespace(on_page="<svg/>")


def made(system: str, folder: Path, *, ws: Workspace | None = None, **of: Any) -> encoder_training.EncoderTraining:
    (folder / "start").mkdir(parents=True, exist_ok=True)
    (folder / "align").mkdir(exist_ok=True)
    usual: dict[str, Any] = {
        "data": folder / "data", "start": str(folder / "start"), "align": str(folder / "align"),
        "out": folder / "deep" / "weights", "device": None, "dry_run": False,
    }  # fmt: skip
    return encoder_training.make(
        ws, recipe_of(system), **(usual | of), advance=lambda done, total: None, tell=lambda *_: None
    )


def test_weights_record_and_curve_are_in_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    found = made("cosentbert", tmp_path)
    out = tmp_path / "deep" / "weights"
    assert (found.path, found.examples, found.dev_examples, found.done_before) == (out, 60, 6, False)
    assert (found.curve, found.best) == (tuple(CURVE), CURVE[1])
    assert sorted(path.name for path in out.iterdir()) == [
        "curve.csv", "curve.svg", "model", "tokenizer", "training.json",
    ]  # fmt: skip
    assert [path.name for path in out.parent.iterdir()] == ["weights"], "nothing is left of the work"
    assert sorted(machine.checked, key=lambda one: one[1]) == [(TRAIN, False), (DEV, True)]
    text = (out / "training.json").read_text(encoding="utf-8")
    record = json.loads(text)
    assert record["best"] == asdict(CURVE[1])
    assert [one["step"] for one in record["curve"]] == [0, 10]
    assert text == json.dumps(record, indent=2, sort_keys=True) + "\n", "by name, two spaces a level"
    head, first, _ = (out / "curve.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("step,")
    assert first.startswith("0,")
    assert machine.losses == [{"training": [(10, 0.75)], "dev": [(0, 0.5), (10, 0.25)], "axes": ("step", "loss")}]


def test_the_same_training_again_is_known_and_another_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    first = made("cosentbert", tmp_path)
    assert made("cosentbert", tmp_path) == replace(first, done_before=True)
    assert len(machine.facts) == 1
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="weights of another training"):
        made("cosentbert", tmp_path, start=str(tmp_path / "other"))


@pytest.mark.parametrize(
    ("system", "sha256", "align"), [("cosentbert", None, None), ("ts-aspire", "of align", "an aligner")]
)
def test_only_what_is_aligned_depends_on_another_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, sha256: str | None, align: str | None
) -> None:
    machine = Machine(monkeypatch)
    made(system, tmp_path)
    (facts,) = machine.facts
    assert (facts["align_sha256"], facts["align"], facts["start_sha256"]) == (sha256, align, "of start")
    assert (facts["train_sha256"], facts["dev_sha256"]) == (f"of {TRAIN}", f"of {DEV}")


def test_weights_go_to_the_study_unless_a_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch)
    ws = Workspace(tmp_path / "study", Settings())
    found = made("cosentbert", tmp_path, ws=ws, out=None, dry_run=True)
    assert found.path == weights_folder(ws) / "cosentbert"
    with pytest.raises(InputError, match="found no study here and no --out"):
        made("cosentbert", tmp_path, out=None, dry_run=True)


def test_weights_that_mix_layers_are_not_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch, mix=[0.5, 0.5])
    with pytest.raises(InputError, match="found weights with a mix of layers"):
        made("cosentbert", tmp_path)


def test_weights_are_a_folder_or_those_of_a_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, plain = tmp_path / "own", tmp_path / "plain"
    for folder in (own, plain):
        folder.mkdir()
    (own / "modules.json").write_text("[]", encoding="utf-8")
    assert encoder_training._weights(str(own), None) == (own, "own")
    assert encoder_training._weights(str(plain), None) == (plain, "cls")
    asked: list[Path] = []

    def system(weights: object) -> Sequence[Any]:
        return [SimpleNamespace(weights=weights)]

    def find(folder: Path) -> Path:
        asked.append(folder)
        return folder / "found"

    monkeypatch.setattr(
        encoder_training, "systems_of", lambda names, **_: system(SimpleNamespace(find=find, reading="document"))
    )
    assert encoder_training._weights("specter", None) == (Path("weights") / "found", "document")
    ws = Workspace(tmp_path, Settings())
    encoder_training._weights("specter", ws)
    assert asked == [Path("weights"), weights_folder(ws)]
    monkeypatch.setattr(encoder_training, "systems_of", lambda names, **_: system(None))
    with pytest.raises(InputError, match="a system without weights"):
        encoder_training._weights("tfidf", None)
