"""Folders of weights, settings of a training, and matrices that a system of terms needs."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from annot.base.errors import InputError, MissingInput
from annot.ranking.systems import systems_of
from annot.ranking.systems.system import EncoderWeights, digest_of
from annot_systems.training_examples import RECIPES, recipe_of

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
