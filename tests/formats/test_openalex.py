"""OpenAlex's works in every shape in which they come; inverted abstracts are turned back, and absurd ones refused."""

import json
import random
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.formats.corpora import Piece, format_named, format_of
from annot.formats.corpora.datasets import OPENALEX, text_of_inverted_index


def inverted(text: str) -> dict[str, list[int]]:
    """An abstract as OpenAlex has it: its words, each with its positions."""
    index: dict[str, list[int]] = {}
    for place, word in enumerate(text.split()):
        index.setdefault(word, []).append(place)
    return index


ABSTRACT = "Bäume &amp; trees: the trees of the city, <i>in vivo</i>. We measured, and we measured."
WORK: dict[str, Any] = {
    "id": "https://openalex.org/W2741809807",
    "doi": "https://doi.org/10.7717/PeerJ.4375",
    "title": "Trees of the <i>city</i>",
    "display_name": "Trees of the <i>city</i>",
    "publication_year": 2018,
    "publication_date": "2018-02-13",
    "ids": {
        **{"openalex": "https://openalex.org/W2741809807", "doi": "https://doi.org/10.7717/PeerJ.4375"},
        **{"mag": "2741809807", "pmid": "https://pubmed.ncbi.nlm.nih.gov/29456894"},
    },
    "authorships": [{"author_position": "first", "author": {"display_name": "Ngũgĩ wa Thiong'o"}}],
    "is_xpac": False,
    "referenced_works": ["https://openalex.org/W1560783210", "https://openalex.org/W4285719527", "W1724212071"],
    "abstract_inverted_index": inverted(ABSTRACT),
    "counts_by_year": [{"year": 2020, "cited_by_count": 7}],
}
PAPER = {
    "openalex": "W2741809807",
    "doi": "https://doi.org/10.7717/PeerJ.4375",
    "pmid": "https://pubmed.ncbi.nlm.nih.gov/29456894",
    "title": "Trees of the <i>city</i>",
    "abstract": ABSTRACT,
    "year": 2018,
    "cited": ["openalex:W1560783210", "openalex:W1724212071"],
}


def papers(path: Path) -> list[Mapping[str, Any]]:
    form = format_named(format_of(str(path), None))
    assert form is OPENALEX
    found = form.records(Piece(str(path), form.name, 0, None))
    return [form.paper(record) for _, record in found if isinstance(record, dict)]


@pytest.mark.parametrize(
    ("content", "several"),
    [
        (WORK, 1),
        ([WORK, WORK], 2),
        ({"meta": {"count": 2, "next_cursor": "x"}, "results": [WORK, WORK], "group_by": []}, 2),
        ({"group_by": [], "meta": {"count": 2}, "results": [WORK, WORK]}, 2),
    ],
    ids=["one work", "list", "page", "page with sorted names"],
)
def test_a_work_is_the_same_paper_alone_in_a_list_and_in_a_page(tmp_path: Path, content: Any, several: int) -> None:
    for name, indent in (("works.json", 2), ("part_000", None)):
        (tmp_path / name).write_text(json.dumps(content, indent=indent))
        assert papers(tmp_path / name) == [PAPER] * several


def test_releases_differ_in_where_the_abstract_is() -> None:
    bare = {name: value for name, value in WORK.items() if name != "abstract_inverted_index"}
    index = inverted(ABSTRACT)
    for more in (
        {"abstract_inverted_index_v3": index},
        {"abstract_inverted_index": None, "abstract_inverted_index_v3": index},
        {"abstract": ABSTRACT},
    ):
        assert OPENALEX.paper({**bare, **more}) == PAPER
    for more in ({}, {"abstract_inverted_index": None}, {"abstract_inverted_index": {}}, {"abstract": ""}):
        assert OPENALEX.paper({**bare, **more}) == {**PAPER, "abstract": None}


def test_what_a_work_lacks_its_paper_lacks() -> None:
    nothing = dict.fromkeys(("openalex", "doi", "pmid", "title", "abstract", "year")) | {"cited": []}
    assert OPENALEX.paper({"ids": {}, "title": None, "referenced_works": None}) == nothing
    assert OPENALEX.paper({"id": "W7", "ids": None, "display_name": "T", "publication_date": "1999-01-01"}) == {
        **nothing, "openalex": "W7", "title": "T", "year": "1999",
    }  # fmt: skip
    assert OPENALEX.paper({"ids": {"openalex": "https://openalex.org/W7", "doi": "10.1/x"}})["doi"] == "10.1/x"


@pytest.mark.parametrize(
    "given", ["W12", "w12", "https://openalex.org/W12", "http://openalex.org/w12", "https://api.openalex.org/works/W12"]
)
def test_the_id_of_a_work_is_what_its_address_ends_with(given: str) -> None:
    assert OPENALEX.paper({"id": given})["openalex"] == "W12"


@pytest.mark.parametrize("given", ["https://openalex.org/A5023888391", "https://openalex.org/S1", "W", "W12/x", 12])
def test_what_is_no_work_is_refused(given: object) -> None:
    with pytest.raises(InputError) as caught:
        OPENALEX.paper({"id": given, "display_name": "Ada"})
    assert caught.value.message == "no work"
    assert caught.value.faults == (f"id: found {given!r}, expected a work, such as W2741809807",)


def test_a_deleted_work_is_no_paper_and_cited_by_none() -> None:
    with pytest.raises(InputError) as caught:
        OPENALEX.paper({"id": "https://openalex.org/W4285719527", "title": "Deleted Work"})
    assert caught.value.message == "a deleted work"
    assert all("W4285719527" not in one for one in PAPER["cited"])


def test_an_index_is_turned_back_whatever_the_order_of_its_words() -> None:
    rng = random.Random(7)
    words = ["the", "of", "Ökologie,", "p<0.05", "(n=12)", "–", "ﬁn.", "数据", "\u00a0x"]
    for length in (1, 2, 10, 300):
        text = [rng.choice(words) for _ in range(length)]
        index: dict[str, list[int]] = {}
        for place, word in enumerate(text):
            index.setdefault(word, []).append(place)
        mixed = {word: rng.sample(index[word], len(index[word])) for word in rng.sample([*index], len(index))}
        assert text_of_inverted_index(mixed, name="abstract") == " ".join(text)


def test_positions_without_a_word_are_passed_over_and_a_second_word_at_one_is_left_out() -> None:
    assert text_of_inverted_index({"a": [0], "c": [2], "d": [90]}, name="x") == "a c d"
    assert text_of_inverted_index({"a": [0, 0, 1], "b": [1, 2]}, name="x") == "a a b"
    assert text_of_inverted_index({"a": [], "b": [0]}, name="x") == "b"
    assert text_of_inverted_index({"a": []}, name="x") is None


@pytest.mark.parametrize(
    ("index", "found"),
    [
        ({"a": [0], "b": [-1]}, "'b' at position -1"),
        ({"a": ["0"]}, "'a' at position '0'"),
        ({"a": [0.5]}, "'a' at position 0.5"),
        ({"a": [True]}, "'a' at position True"),
        ({"a": [None]}, "'a' at position None"),
        ({"a": [0], "b": [10**15]}, "position 1000000000000000 for 2 words"),
        ({"a": [102]}, "position 102 for 1 words"),
        (["a", "b"], "['a', 'b']"),
        ("{", "'{'"),
    ],
)
def test_an_absurd_index_is_refused_with_what_is_absurd(index: object, found: str) -> None:
    with pytest.raises(InputError) as caught:
        OPENALEX.paper({**WORK, "abstract_inverted_index": index})
    assert caught.value.message == "abstract_inverted_index cannot be used"
    assert caught.value.faults == (f"abstract_inverted_index: found {found}, expected words with positions",)
    assert text_of_inverted_index({"a": [101]}, name="x") == "a"


def test_a_huge_position_costs_nothing() -> None:
    tracemalloc.start()
    with pytest.raises(InputError):
        text_of_inverted_index({"a": [10**12]}, name="x")
    assert tracemalloc.get_traced_memory()[1] < 1 << 16
    tracemalloc.stop()
