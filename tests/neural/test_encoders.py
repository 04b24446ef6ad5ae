"""Every way of reading and pooling against a plain computation with transformers, on models of random weights."""

from pathlib import Path

import numpy as np
import pytest
import tiny_models
import torch
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.ranking.systems import encoders
from transformers import AutoModel, AutoTokenizer

TEXTS = ["we learn graphs .", "it helps", "the results show better text than before , we parse data " * 5, "better ."]
PAPERS = [
    Paper("p0", "the model of text", ("we learn graphs .", "", "it helps with data and words .")),
    Paper("p1", "better", tuple(f"we show results {word} ." for word in tiny_models.WORDS[:12])),
    Paper("p2", "words " * 60, ("we learn .",)),
    Paper("p3", "data", ()),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.bert(tmp_path_factory.mktemp("models") / "bert")


def quietly(_done: int, _total: int | None) -> None:
    pass


def documents(folder: Path) -> np.ndarray:
    return encoders.open_paper_encoder(folder, "document", device=None, half=False, batch=32)(PAPERS, quietly)


def states(folder: Path, tokens: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The last states of one text alone, and the pooler's output."""
    with torch.no_grad():
        found = AutoModel.from_pretrained(folder).eval()(torch.tensor([tokens]))
    return found.last_hidden_state[0].numpy(), found.pooler_output[0].numpy()


@pytest.mark.parametrize("reading", ["cls", "pooler", "mean"])
def test_a_sentence_is_cut_and_pooled_as_named(folder: Path, reading: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    found = encoders.open_text_encoder(folder, reading, device=None)(TEXTS, quietly)
    for text, row in zip(TEXTS, found, strict=True):
        plain = tokenizer(text, add_special_tokens=False)["input_ids"]
        tokens = [tokenizer.cls_token_id, *plain[:38], tokenizer.sep_token_id]
        all_, pooler = states(folder, tokens)
        expected = {"cls": all_[0], "pooler": pooler, "mean": all_.mean(axis=0)}[reading]
        np.testing.assert_allclose(row, expected, atol=1e-5)
    assert len(tokenizer(TEXTS[2], add_special_tokens=False)["input_ids"]) > 38, "nothing was cut"


def test_a_sentence_transformers_folder_pools_as_it_says_itself(tmp_path: Path) -> None:
    folder = tiny_models.sentence_transformer(tmp_path / "st")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    found = encoders.open_text_encoder(folder, "own", device=None)(TEXTS, quietly)
    for text, row in zip(TEXTS, found, strict=True):
        plain = tokenizer(text, add_special_tokens=False)["input_ids"]
        all_, _ = states(folder, [tokenizer.cls_token_id, *plain[:10], tokenizer.sep_token_id])
        np.testing.assert_allclose(row, all_.mean(axis=0), atol=1e-5)


def test_a_document_is_title_separator_and_abstract_without_spaces(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    found = documents(folder)
    for paper, row in zip(PAPERS, found, strict=True):
        title = tokenizer(paper.title, add_special_tokens=False)["input_ids"]
        abstract = tokenizer(" ".join(paper.sentences), add_special_tokens=False)["input_ids"]
        plain = [*title, tokenizer.sep_token_id, *abstract]
        all_, _ = states(folder, [tokenizer.cls_token_id, *plain[:38], tokenizer.sep_token_id])
        np.testing.assert_allclose(row, all_[0], atol=1e-5)


def test_a_sentence_in_context_is_the_mean_of_its_own_tokens(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    found = encoders.encode_in_context(folder, PAPERS, advance=quietly)
    for paper, rows in zip(PAPERS, found, strict=True):
        tokens = [tokenizer.cls_token_id, *tokenizer(paper.title, add_special_tokens=False)["input_ids"]]
        tokens = [*tokens, tokenizer.sep_token_id][:39]
        owners: list[int] = [-1] * len(tokens)
        for at, sentence in enumerate(paper.sentences):
            own = tokenizer(sentence, add_special_tokens=False)["input_ids"]
            tokens, owners = tokens + own, owners + [at] * len(own)
        owners = owners[:39]
        all_, _ = states(folder, [*tokens[:39], tokenizer.sep_token_id])
        read = max([at for at in owners if at >= 0], default=-1) + 1
        assert len(rows) == read
        for at, row in enumerate(rows):
            places = [place for place, owner in enumerate(owners) if owner == at]
            expected = all_[places].mean(axis=0) if places else np.zeros(16)
            np.testing.assert_allclose(row, expected, atol=1e-5)
    assert [len(rows) for rows in found] == [3, 8, 0, 0], "a title or an abstract beyond the limit was read"


def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="not readable as weights"):
        documents(tmp_path)


def test_a_bi_encoder_of_aspire_mixes_the_first_tokens_of_all_layers(folder: Path, tmp_path: Path) -> None:
    """As its authors publish it: `bert_encoder.*` and `bert_layer_weights.weight` beside the weights of the hub."""
    mixed = tiny_models.bert(tmp_path / "specter-cocite")
    other = AutoModel.from_pretrained(tiny_models.bert(tmp_path / "other", seed=5)).eval()
    weights = torch.tensor([[0.3, -1.0, 2.0]])
    state = {f"bert_encoder.{name}": value for name, value in other.state_dict().items()}
    # Older versions of transformers stored this index, too.
    state["bert_encoder.embeddings.position_ids"] = torch.arange(40)[None]
    torch.save({**state, "bert_layer_weights.weight": weights}, mixed / "model_cur_best.pt")
    tokenizer = AutoTokenizer.from_pretrained(mixed)
    found = documents(mixed)
    shares = np.exp(weights[0].numpy()) / np.exp(weights[0].numpy()).sum()
    for paper, row in zip(PAPERS, found, strict=True):
        text = paper.title + tokenizer.sep_token + " ".join(paper.sentences)
        given = tokenizer(text, truncation=True, max_length=40, return_tensors="pt")
        with torch.no_grad():
            layers = other(**given, output_hidden_states=True).hidden_states
        expected = sum(share * layer[0, 0].numpy() for share, layer in zip(shares, layers, strict=True))
        np.testing.assert_allclose(row, expected, atol=1e-5)
    assert np.abs(found - documents(folder)).max() > 0.1
    torch.save({"model": weights}, mixed / "model_cur_best.pt")
    with pytest.raises(InputError, match=r"model_cur_best\.pt: not a checkpoint of Aspire's bi-encoder"):
        documents(mixed)
