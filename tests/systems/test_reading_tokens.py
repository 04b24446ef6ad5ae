"""Tokens of papers, alignment of sentences in training, and names of weights, without a model."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Paper
from annot.ranking.systems import encoders, systems_of
from annot.ranking.systems.encoders import (
    LoadedModel,
    document_text,
    first_line,
    metric_of,
    reading_of,
    text_tokens,
    tokens_in_context,
)
from annot.ranking.systems.system import EncoderWeights, digest_of
from annot_systems import training_loop
from annot_systems.training_examples import RECIPES, Example, recipe_of
from annot_systems.training_loop import Losses, by_contexts, by_themselves, negatives_within

CLS, SEP = 101, 102


class Tokenizer:
    """One token for each word: its number; `cls`, `sep` around a text where special tokens are wanted."""

    cls_token_id, sep_token_id, sep_token = CLS, SEP, "102"

    def __call__(self, text: Any, **how: Any) -> dict[str, Any]:
        if isinstance(text, str):
            assert how == {"add_special_tokens": False, "verbose": False}
            return {"input_ids": [int(word) for word in text.split()]}
        assert how["truncation"] is True
        return {"input_ids": [[int(word) for word in one.split()][: how["max_length"]] for one in text]}


def loaded(longest: int) -> LoadedModel:
    return LoadedModel(None, Tokenizer(), None, longest)


PAPER = Paper("p", "1 2", ("3 4 5", "", "6 7"))
WHOLE = [CLS, 1, 2, SEP, 3, 4, 5, 6, 7, SEP]


@pytest.mark.parametrize(
    ("longest", "tokens", "spans"),
    [
        # Title, separator and sentences, 8 tokens, between the two special ones.
        (512, WHOLE, [(4, 7), (7, 7), (7, 9)]),
        (10, WHOLE, [(4, 7), (7, 7), (7, 9)]),
        (9, [*WHOLE[:8], SEP], [(4, 7), (7, 7), (7, 8)]),
        # Nothing is left for the last sentence; the one without a token has its place.
        (8, [*WHOLE[:7], SEP], [(4, 7), (7, 7)]),
        (7, [*WHOLE[:6], SEP], [(4, 6), (6, 6)]),
        (5, [*WHOLE[:4], SEP], []),
        (4, [*WHOLE[:3], SEP], []),
    ],
)
def test_sentences_have_their_place_up_to_the_last_token_that_is_read(
    longest: int, tokens: list[int], spans: list[tuple[int, int]]
) -> None:
    tokens_read, spans_read = tokens_in_context(loaded(longest), PAPER)
    assert tokens_read == tokens
    assert [(span.start, span.stop) for span in spans_read] == spans


@pytest.mark.parametrize(("words", "read"), [(497, 497), (498, 497)])
def test_aspires_input_has_five_hundred_tokens_and_the_two_special_ones(words: int, read: int) -> None:
    # Title and separator are 3 of the 500.
    tokens, _ = tokens_in_context(loaded(512), Paper("p", "1 2", (" ".join(["7"] * words),)))
    assert tokens.count(7) == read
    assert len(tokens) == 1 + 3 + read + 1


def test_texts_are_cut_at_the_limit_of_the_model() -> None:
    assert text_tokens(loaded(3), ["1 2 3 4", "5"]) == [[1, 2, 3], [5]]
    assert text_tokens(loaded(3), []) == []
    assert document_text(loaded(3), Paper("p", "T", ("One.", "Two."))) == "T102One. Two."
    assert first_line(ValueError("what\nadvice\nmore")) == "what"


def test_the_most_alike_sentences_are_aligned_by_their_product() -> None:
    query = np.array([[1, 0], [0, 1], [2, 2]])
    other = np.array([[0, 3], [1, 0]])
    # Products: 0 1 / 3 0 / 6 2.
    assert by_themselves(query, other) == (2, 0)
    # Of the query the third is most like (4, -1), 6; of the other the first is most like (0, 1), 3.
    assert by_contexts(query, other, np.array([[4, -1]]), np.array([[0, 1]])) == (2, 0)
    assert by_contexts(query, other, np.array([[4, -3], [0, 0]]), np.array([[5, 0]])) == (0, 1)


def test_the_negative_within_a_batch_shares_no_paper() -> None:
    random = np.random.default_rng(1)
    papers = [("a", "b"), ("b", "c"), ("d",), ("a", "b", "c", "d")]
    drawn = [negatives_within(papers, random) for _ in range(40)]
    assert {found[0] for found in drawn} == {2}
    assert {found[1] for found in drawn} == {2}
    assert {found[2] for found in drawn} == {0, 1}
    assert {found[3] for found in drawn} == {None}


PLACES = {"One.": [0, 0], "Two.": [5, 1], "Three.": [0, 2], "Four.": [9, 0], "cites": [1, 0], "also": [0, 1]}
MINE = Example(Paper("p", "", ("One.", "Two.")), Paper("r", "", ("Three.", "Four.")), None, ("p", "r"), ("cites",))
OTHER = Example(Paper("s", "", ("Four.",)), Paper("t", "", ("Two.", "Three.")), None, ("s", "t"), ("also",))


def places(texts: Any) -> Any:
    return np.array([PLACES[text] for text in texts], np.float32)


@pytest.fixture
def in_numpy(monkeypatch: pytest.MonkeyPatch) -> Losses:
    """The losses of a recipe that aligns, with NumPy's distances in place of torch's."""
    monkeypatch.setattr(training_loop, "between", lambda left, right: np.linalg.norm(left[:, None] - right, axis=2))
    monkeypatch.setattr(training_loop, "l2", lambda left, right: np.linalg.norm(left - right, axis=1))
    return Losses(recipe_of("ts-aspire"), (), lambda texts, _advance: places(texts))


def test_the_distance_of_two_papers_is_that_of_the_sentences_that_were_aligned(in_numpy: Losses) -> None:
    vectors = in_numpy._vectors_to_align_by([MINE, OTHER])
    assert {text: row.tolist() for text, row in vectors.items()} == PLACES

    def distance(owner: Example | None, name: Any, *, read: int = 2) -> float:
        query, other = places(["One.", "Two."]), places(["Three.", "Four."][:read])
        return float(in_numpy._distance(MINE, owner, query=query, other=other, vectors=vectors, distance=name))

    # "Two." and "Four." have the largest product; so far as the encoder read it, the other is "Three." alone.
    assert distance(MINE, "abstract aligned") == pytest.approx(np.hypot(4, 1))
    assert distance(MINE, "abstract aligned", read=1) == pytest.approx(np.hypot(5, 1))
    # "cites" is most like "Two." and like "Four."; "also", of the other example, like its "Three.", the second.
    assert distance(MINE, "context aligned") == pytest.approx(np.hypot(4, 1))
    assert distance(OTHER, "context aligned") == pytest.approx(np.hypot(4, 1))
    assert distance(None, "single") == pytest.approx(2)
    assert distance(None, "vector") == pytest.approx(2)


def test_negatives_are_those_of_the_examples_or_of_the_batch(in_numpy: Losses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Losses, "_read", lambda self, tower, sides: [f"read {side.paper_id}" for side in sides])
    read = Losses(in_numpy.recipe, ("tower",), None)  # type: ignore[arg-type]
    own = [MINE._replace(negative=OTHER.query), OTHER._replace(negative=MINE.query)]
    assert read._negatives(own, ["a", "b"], None) == (["read s", "read p"], [None, None])
    random = np.random.default_rng(1)
    assert read._negatives([MINE, OTHER], ["a", "b"], random) == (["b", "a"], [OTHER, MINE])
    alone = OTHER._replace(papers=("p", "t"))
    assert read._negatives([MINE, alone], ["a", "b"], random) == ([None, None], [None, None])


def test_weights_of_a_document_are_read_by_their_first_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(encoders, "load", lambda folder, device, half: asked.append((device, half)) or loaded(9))
    monkeypatch.setattr(encoders, "_pooled", lambda *given, batch: (*given[1:3], batch))
    encode = encoders.open_paper_encoder(tmp_path, "document", device="cpu", half=True, batch=7)
    assert encode([Paper("p", "T", ("One.",))], lambda done, total: None) == ("cls", ["T102One."], 7)  # type: ignore[comparison-overlap]
    texts = encoders.open_text_encoder(tmp_path, "mean", device=None)
    assert texts(["a"], lambda done, total: None) == ("mean", ["a"], 32)  # type: ignore[comparison-overlap]
    assert asked == [("cpu", True), (None, False)]


def test_weights_are_read_as_their_files_say(tmp_path: Path) -> None:
    assert reading_of(tmp_path) == "document"
    (tmp_path / "modules.json").write_text("[]")
    assert reading_of(tmp_path) == "own"
    assert metric_of(tmp_path, "document") == "l2"
    assert metric_of(tmp_path, "own") == "cosine"
    for says, metric in (("euclidean", "l2"), ("cosine", "cosine"), (None, "cosine")):
        (tmp_path / "config_sentence_transformers.json").write_text(json.dumps({"similarity_fn_name": says}))
        assert metric_of(tmp_path, "own") == metric


@pytest.mark.parametrize(
    ("modules", "problem"),
    [
        ('[{"type": "sentence_transformers.models.Pooling"}]', ""),
        ('[{"type": "sentence_transformers.models.Pooling"}, {"type": "mine.Own"}]', "found module mine.Own"),
        ('{"type": 1}', "not a list of modules"),
        ('[{"name": "x"}]', "not a list of modules"),
        ("[", "not a list of modules"),
    ],
)
def test_code_that_comes_with_weights_is_refused(tmp_path: Path, modules: str, problem: str) -> None:
    encoders._refuse_code(tmp_path)
    (tmp_path / "modules.json").write_text(modules)
    if problem:
        with pytest.raises(InputError, match=problem):
            encoders._refuse_code(tmp_path)
    else:
        encoders._refuse_code(tmp_path)


@pytest.mark.parametrize("texts", [0, 1024, 1025])
def test_a_sentence_transformers_model_reads_a_thousand_texts_at_a_time(
    texts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lots: list[int] = []

    def encode(some: list[str], *, batch_size: int, show_progress_bar: bool) -> Any:
        assert (batch_size, show_progress_bar) == (32, False)
        lots.append(len(some))
        return [[float(text), 1.0] for text in some]

    model = SimpleNamespace(encode=encode, tokenizer=SimpleNamespace(sep_token="[SEP]"))
    asked: list[Any] = []
    monkeypatch.setattr(
        encoders, "_sentence_transformer", lambda folder, device, half: asked.append((device, half)) or model
    )
    told: list[tuple[int, int | None]] = []
    read = encoders.open_text_encoder(tmp_path, "own", device=None)
    found = read([str(at) for at in range(texts)], lambda done, total: told.append((done, total)))
    assert asked == [(None, False)]
    assert found[:, 0].tolist() == list(range(texts)) if texts else found.shape == (0, 0)
    assert found.dtype == np.float32
    assert sum(lots) == texts
    assert all(size <= 1024 for size in lots)
    assert len(lots) == -(-texts // 1024)
    assert [done for done, _ in told] == [min(1024 * (at + 1), texts) for at in range(len(lots))]
    assert {total for _, total in told} <= {texts}


def test_a_paper_is_read_as_title_separator_and_abstract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    asked: list[str] = []
    model = SimpleNamespace(
        encode_document=lambda some, **_: read.extend(some) or [[1.0]] * len(some),
        encode_query=lambda some, **_: asked.extend(some) or [[2.0]] * len(some),
        tokenizer=None,
    )
    monkeypatch.setattr(encoders, "_sentence_transformer", lambda folder, device, half: model)
    encode = encoders.open_paper_encoder(tmp_path, "own", device="cpu", half=False, batch=7)
    encode([Paper("p", "Title", ("One.", "Two.")), Paper("r", "", ())], lambda done, total: None)
    assert read == ["Title One. Two.", " "]
    of_topics = encoders.open_text_encoder(tmp_path, "own", device="cpu", batch=7, topics=True)
    assert of_topics(["What is asked?"], lambda done, total: None).tolist() == [[2.0]]
    assert asked == ["What is asked?"]


UNPUBLISHED = EncoderWeights("max-aspire", None, "context", trainable=True)


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        *((name, 0, False) for name in ("batch", "at_once", "epochs", "patience")),
        *((name, 0, True) for name in ("learning_rate", "warm_up", "margin", "check_every")),
        *(("margin", -1, False), ("margin", 10**9, True), ("margin", 10**9 + 1, False)),
        *(("entropy", 1e-6, True), ("entropy", 0.9e-6, False)),
    ],
)
def test_a_setting_of_a_training_is_taken_up_to_its_limits(name: str, value: float, taken: bool) -> None:
    if taken:
        assert getattr(recipe_of("specter-id", **{name: value}).settings, name) == value
    else:
        with pytest.raises(InputError, match="cannot be trained with these settings"):
            recipe_of("specter-id", **{name: value})


def test_encoders_of_sentences_are_trained_as_aspires_authors_set_them() -> None:
    """Settings of their `config/models_config`: CoSentBert in batches of 48, the inverse cloze task in batches of
    60."""
    pairs, cloze = recipe_of("cosentbert"), recipe_of("ictsentbert")
    of_pairs, of_cloze = pairs.settings, cloze.settings
    assert (of_pairs.batch, of_pairs.at_once, of_pairs.warm_up, of_pairs.epochs, of_pairs.loss) == (
        *(48, 48, 300, 2),
        "triplet",
    )
    assert (of_cloze.batch, of_cloze.at_once, of_cloze.warm_up, of_cloze.epochs, of_cloze.loss) == (
        *(60, 10, 12_000, 1),
        "softmax",
    )
    assert (of_pairs.learning_rate, of_cloze.learning_rate) == (2e-5, 2e-5)
    assert (pairs.examples, cloze.examples) == (None, None)
    assert [name for name, recipe in RECIPES.items() if recipe.two_towers] == ["ictsentbert"]
    assert {name for name, recipe in RECIPES.items() if recipe.aligned} == {"ts-aspire", "abs-aspire", "ts+ot-aspire"}
    assert {recipe.settings.check_every for recipe in RECIPES.values()} == {0}
    assert {recipe.settings.seed for recipe in RECIPES.values()} == {0}
    cocited = RECIPES["specter-cocite"].settings
    assert (cocited.batch, cocited.at_once, cocited.warm_up, cocited.epochs) == (30, 3, 2000, 1)
    assert RECIPES["specter-id"].examples == 660_000
    assert RECIPES["ot-aspire"].settings.at_once == 10


@pytest.mark.parametrize("file", ["config.json", "modules.json"])
def test_weights_are_found_by_either_file_of_settings(tmp_path: Path, file: str) -> None:
    own = tmp_path / "max-aspire"
    own.mkdir()
    with pytest.raises(MissingInput, match="max-aspire: no weights in") as caught:
        UNPUBLISHED.find(tmp_path)
    assert "never published" in str(caught.value.hint)
    assert "annot encoder train max-aspire" in str(caught.value.hint)
    (own / file).write_text("{}")
    assert UNPUBLISHED.find(tmp_path) == own


def test_what_has_to_be_got_is_a_name_on_the_hub_or_a_folder_of_your_own() -> None:
    assert UNPUBLISHED.needs == "weights of your own in weights/max-aspire"
    assert EncoderWeights("specter", "allenai/specter", "document").needs == "weights allenai/specter"


def test_the_cache_of_the_hub_is_looked_at_and_nothing_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NotThere(Exception): ...

    class NoName(Exception): ...

    def snapshot_download(hub: str, *, local_files_only: bool) -> str:
        assert local_files_only
        if hub == "a/b":
            return str(tmp_path / "cached")
        raise NoName if hub == "a b" else NotThere

    library = SimpleNamespace(constants=SimpleNamespace(HF_HUB_CACHE="/the/cache"), snapshot_download=snapshot_download)
    errors = SimpleNamespace(HFValidationError=NoName, LocalEntryNotFoundError=NotThere)
    monkeypatch.setitem(sys.modules, "huggingface_hub", library)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)  # type: ignore[arg-type]
    assert EncoderWeights("mine", "a/b", "cls").find(tmp_path) == tmp_path / "cached"
    with pytest.raises(MissingInput, match=rf"mine: no weights in {tmp_path}/mine or in /the/cache") as caught:
        EncoderWeights("mine", "c/d", "cls").find(tmp_path)
    assert caught.value.hint == f"fetch them with `hf download c/d --local-dir {tmp_path / 'mine'}`"
    with pytest.raises(InputError, match="a b: no such folder, and not the name of a model on the hub"):
        EncoderWeights("mine", "a b", "cls").find(tmp_path)


def test_a_digest_changes_with_names_and_contents_of_weights_and_with_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "model.bin").write_bytes(b"1")
    first = digest_of(tmp_path)
    (tmp_path / "README.md").write_text("not read")
    (tmp_path / "folder.json").mkdir()
    assert digest_of(tmp_path) == first
    (tmp_path / "below" / "model.bin").write_bytes(b"2")
    second = digest_of(tmp_path)
    (tmp_path / "below" / "model.bin").rename(tmp_path / "below" / "model.pt")
    assert len({first, second, digest_of(tmp_path)}) == 3


def test_a_folder_of_vectors_or_of_weights_is_a_system_and_vectors_come_first(tmp_path: Path) -> None:
    vectors, weights = tmp_path / "vectors", tmp_path / "weights"
    for folder in (vectors / "both", weights / "both", weights / "mine"):
        folder.mkdir(parents=True)
    found = systems_of(("mine", "fabs_bm25", "both"), vectors=vectors, weights=weights)
    assert [(one.name, one.family) for one in found] == [
        ("mine", "sentences"),
        ("fabs_bm25", "terms"),
        ("both", "abstracts"),
    ]
    for name, folders in (("mine", (vectors, None)), ("both", (None, None)), ("../weights/mine", (vectors, weights))):
        with pytest.raises(InputError, match="not known"):
            systems_of((name,), vectors=folders[0], weights=folders[1])
