"""Weights from somebody else: what comes with them is never run, whatever asks for it."""

import io
import json
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tiny_models
from annot.base.errors import AnnotError
from annot.ranking.systems.encoders import load, open_text_encoder

PAYLOAD = """
from pathlib import Path
Path({mark!r}).write_text("ran")
from transformers import BertConfig, BertModel, BertTokenizerFast
class Payload(BertModel): ...
class PayloadConfig(BertConfig):
    model_type = "payload"
class PayloadTokenizer(BertTokenizerFast): ...
"""


class Command:
    """What a pickle of it runs when it is opened."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.mark, "ran")


def change(path: Path, **more: Any) -> None:
    held = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps(held | more))


def foreign_module(folder: Path) -> None:
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["type"] = "payload.Payload"
    (folder / "modules.json").write_text(json.dumps(modules))


def inner(folder: Path) -> Path:
    """Where a sentence-transformers folder has its first module."""
    return folder / json.loads((folder / "modules.json").read_text())[0]["path"]


def auto_map(folder: Path) -> None:
    mapped = {"AutoConfig": "payload.PayloadConfig", "AutoModel": "payload.Payload"}
    place = inner(folder) if (folder / "modules.json").is_file() else folder
    for target in {folder, place}:
        (target / "payload.py").write_text((folder / "payload.py").read_text())
    change(place / "config.json", auto_map=mapped, model_type="payload", architectures=["Payload"])
    change(place / "tokenizer_config.json", auto_map={"AutoTokenizer": ["payload.PayloadTokenizer", None]})


def settings_that_trust(folder: Path) -> None:
    auto_map(folder)
    trusting = {"trust_remote_code": True}
    for name in ("model_args", "model_kwargs", "tokenizer_args", "config_args", "processor_kwargs", "config_kwargs"):
        change(inner(folder) / "sentence_bert_config.json", **{name: trusting})


def pickled_weights(folder: Path) -> None:
    place = inner(folder) if (folder / "modules.json").is_file() else folder
    (place / "model.safetensors").unlink()
    with (place / "pytorch_model.bin").open("wb") as file:
        pickle.dump({"embeddings": Command(folder / "ran")}, file, protocol=2)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is executed of files called payload, by the interpreter's own word; a person says yes to every question."""
    ran: list[str] = []
    watching = [True]

    def watch(event: str, given: tuple[Any, ...]) -> None:
        if watching[0] and event == "exec" and "payload" in str(getattr(given[0], "co_filename", "")):
            ran.append(str(given[0].co_filename))

    sys.addaudithook(watch)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 20))
    yield ran
    watching[0] = False


@pytest.mark.parametrize("spoil", [foreign_module, auto_map, settings_that_trust, pickled_weights])
def test_a_hostile_folder_of_sentence_transformers_runs_nothing(
    tmp_path: Path, watched: list[str], monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None]
) -> None:
    folder = tiny_models.sentence_transformer(tmp_path / "model")
    (folder / "payload.py").write_text(PAYLOAD.format(mark=str(folder / "ran")))
    spoil(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    with pytest.raises(AnnotError) as caught:
        open_text_encoder(folder, "own", device=None)
    assert str(folder) in caught.value.message
    assert not (folder / "ran").exists()
    assert not watched


@pytest.mark.parametrize("spoil", [auto_map, pickled_weights])
def test_a_hostile_folder_of_transformers_runs_nothing(
    tmp_path: Path, watched: list[str], monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None]
) -> None:
    folder = tiny_models.bert(tmp_path / "model")
    (folder / "payload.py").write_text(PAYLOAD.format(mark=str(folder / "ran")))
    spoil(folder)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    with pytest.raises(AnnotError) as caught:
        load(folder)
    assert str(folder) in caught.value.message
    assert not (folder / "ran").exists()
    assert not watched
