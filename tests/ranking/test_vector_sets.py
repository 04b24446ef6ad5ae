"""Sets of vectors of a study: their names, their replacement, and the record of their files."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.settings import Settings
from annot.ranking.given_vectors import (
    check_replaceable,
    check_set_name,
    imported_word_vectors,
    only_space,
    recorded_files,
    vectors_of,
)
from annot.ranking.index import Places, words_place
from annot.study.workspace import Workspace
from annot_systems.training_examples import recipe_of


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, Settings())


def about(ws: Workspace, name: str, **facts: Any) -> None:
    (ws.vectors / name).mkdir(parents=True)
    (ws.vectors / name / "vectors.json").write_text(json.dumps(facts))


@pytest.mark.parametrize("name", ["mine", "a.b-c+d_1", "specter", "ö"])
def test_a_set_may_be_called_like_a_file_or_an_encoder_of_abstracts(name: str) -> None:
    check_set_name(name)


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "a b", "x" * 101])
def test_a_set_has_the_name_of_a_file(name: str) -> None:
    with pytest.raises(InputError, match="expected letters, digits"):
        check_set_name(name)


@pytest.mark.parametrize("name", ["cited", "abs_tfidf", "fabs_tfidf", "ot-aspire"])
def test_a_set_does_not_take_the_name_of_a_method_without_vectors(name: str) -> None:
    with pytest.raises(InputError, match="the name of a method that has no vectors"):
        check_set_name(name)


def test_only_vectors_of_the_same_space_and_origin_are_replaced(ws: Workspace) -> None:
    check_replaceable(ws, "mine", "s", encoded=True)
    about(ws, "mine", space="s")
    check_replaceable(ws, "mine", "s", encoded=False)
    with pytest.raises(InputError, match="contains vectors that were not encoded here"):
        check_replaceable(ws, "mine", "s", encoded=True)
    with pytest.raises(InputError, match="vectors of s, found other"):
        check_replaceable(ws, "mine", "other", encoded=False)
    about(ws, "made", space="s", weights_sha256="1")
    check_replaceable(ws, "made", "s", encoded=True)
    with pytest.raises(InputError, match="contains vectors that an encoder made"):
        check_replaceable(ws, "made", "s", encoded=False)
    ws.imported_rankings.mkdir(parents=True)
    (ws.imported_rankings / "manifest.json").write_text('{"methods": {"run": {}}}')
    with pytest.raises(InputError, match="the name of an imported run"):
        check_replaceable(ws, "run", "s", encoded=False)


def test_a_name_that_could_be_of_several_spaces_says_none(ws: Workspace) -> None:
    assert only_space(ws, "mine") == "mine"
    assert only_space(ws, "specter") is None
    about(ws, "mine", space="other")
    about(ws, "own", space="own")
    assert (only_space(ws, "mine"), only_space(ws, "own")) == (None, "own")


def test_recorded_files_are_named_with_hash_and_record(ws: Workspace) -> None:
    about(ws, "b", files={"ids.txt": "1", "vectors.npy": "2"})
    about(ws, "a")
    assert list(recorded_files(ws)) == [
        (ws.vectors / "b" / "ids.txt", "1", "corpus/vectors/b/vectors.json"),
        (ws.vectors / "b" / "vectors.npy", "2", "corpus/vectors/b/vectors.json"),
    ]


def test_vectors_that_are_not_there_are_asked_for_by_name(ws: Workspace) -> None:
    assert imported_word_vectors(ws) is None
    with pytest.raises(MissingInput, match=r"mine: no vectors at \S+mine$") as caught:
        vectors_of(ws, "mine")
    assert "annot vectors add mine --encoder mine" in str(caught.value.hint)
    with pytest.raises(MissingInput, match=r"did you mean 'abs_tfidf'\?"):
        vectors_of(ws, "abs_tfdf")


def test_an_index_that_was_made_before_is_found_again(ws: Workspace) -> None:
    places = Places(ws.cache / "index", ws.cache / "new", "0123456789abcdef" * 4, "")
    assert places.corpus_part("lsa") == ws.cache / "new" / "corpora" / "0123456789abcdef" / "lsa"
    settings = json.dumps(ws.settings.word_vectors.of_training, sort_keys=True)
    name = f"words-{hashlib.sha256(settings.encode()).hexdigest()[:16]}"
    assert words_place(ws, places, "cbow") == places.corpus_part(name)
    (ws.cache / "index" / "corpora" / "0123456789abcdef" / name).mkdir(parents=True)
    assert words_place(ws, places, "cbow") == ws.cache / "index" / "corpora" / "0123456789abcdef" / name
    (ws.cache / "index" / "shards" / "one").mkdir(parents=True)
    (ws.cache / "new" / "shards" / "two").mkdir(parents=True)
    assert places.made_before == {"one", "two"}
    ws.word_vectors.mkdir(parents=True)
    assert words_place(ws, places, "cbow") == ws.word_vectors


@pytest.mark.parametrize(
    ("system", "given", "problem"),
    [
        ("cosentbert", {"at_once": 1}, "at_once: found 1, expected 2 or more"),
        ("cosentbert", {"batch": 1}, "at_once: found 1, expected 2 or more"),
        ("specter-id", {"loss": "softmax"}, "loss: found softmax, expected triplet"),
        ("ot-aspire", {"loss": "softmax"}, "loss: found softmax, expected triplet"),
        ("cosentbert", {"epochs": 0}, "cannot be trained with these settings"),
        ("cosentbert", {"epoch": 1}, "setting 'epoch': not known"),
        ("cosentbrt", {}, "system to train 'cosentbrt': not known"),
    ],
)
def test_settings_of_a_training_that_do_not_fit_are_refused(system: str, given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        recipe_of(system, **given)
