"""Near-duplicates: all planted ones are found and no other; what resembles is computed by sets of words."""

import json
import random
import re
from itertools import combinations
from pathlib import Path

import numpy
import pyarrow
import pytest
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.corpus.corpus_facts import write_corpus_manifest
from annot.corpus.corpus_filters import passed_over, shingles
from annot.formats.cleaning import normalised_title
from annot.formats.paper_records import read_papers
from annot.pools.admission import near_duplicates
from annot.steps.setup import init
from annot.store.papers import PaperWriter
from annot.study.workspace import Workspace
from hypothesis import given
from hypothesis import strategies as st


def study(folder: Path, corpus: list[Paper]) -> Workspace:
    init(folder, name="small", dry_run=False)
    ws = Workspace.open(folder)
    with PaperWriter(ws.corpus) as writer:
        for paper in corpus:
            writer.add(paper)
    write_corpus_manifest(ws)
    return ws


def groups_of(ws: Workspace) -> set[tuple[str, ...]]:
    return set(near_duplicates(ws, keep=True, advance=lambda done, total: None).texts)


def word_shingles(sentences: tuple[str, ...]) -> set[tuple[str, ...]]:
    """The plain way, for text in ASCII."""
    words = re.findall("[a-z0-9]+", " ".join(sentences).lower())
    return set(zip(words, words[1:], words[2:], strict=False))


def jaccard(one: Paper, other: Paper) -> float:
    first, second = word_shingles(one.sentences), word_shingles(other.sentences)
    return len(first & second) / len(first | second) if first | second else 0.0


@given(st.lists(st.lists(st.text("abC1 .é-", max_size=14), max_size=4), max_size=5), st.integers(0, 3))
def test_shingles_are_three_words_in_a_row_of_one_paper(texts: list[list[str]], cut: int) -> None:
    whole = pyarrow.array(texts, pyarrow.list_(pyarrow.string()))
    hashes, bounds = shingles(whole[cut:])
    words = [re.findall("[abc1é]+", " ".join(sentences).replace("C", "c")) for sentences in texts[cut:]]
    expected = [list(zip(one, one[1:], one[2:], strict=False)) for one in words]
    assert numpy.diff(bounds).tolist() == list(map(len, expected))
    of_hash: dict[int, tuple[str, ...]] = {}
    for one, found in zip((shingle for paper in expected for shingle in paper), hashes.tolist(), strict=True):
        assert of_hash.setdefault(found, one) == one
    assert len(set(of_hash.values())) == len(of_hash)


@pytest.fixture(scope="module")
def released(shared: Path) -> list[Paper]:
    """The papers of the CSFCube release."""
    with (shared / "csfcube" / "abstracts-csfcube-preds.jsonl").open(encoding="utf-8") as lines:
        labels = Settings().labels.names
        return list(read_papers(lines, name="csfcube", known_labels=labels))


def test_of_the_released_pairs_of_one_title_those_with_one_text_are_found(
    tmp_path: Path, released: list[Paper]
) -> None:
    """The null: five of the fourteen pairs of one title are two papers, whose texts have 0.13 or less in common."""
    found = groups_of(study(tmp_path / "study", released))
    titles: dict[str, list[Paper]] = {}
    for paper in released:
        titles.setdefault(normalised_title(paper.title), []).append(paper)
    pairs = [pair for same in titles.values() for pair in combinations(same, 2)]
    alike = {(one.paper_id, other.paper_id) for one, other in pairs if jaccard(one, other) >= 0.5}
    assert (len(pairs), len(alike)) == (14, 9)
    assert {pair for pair in found if pair in {(one.paper_id, other.paper_id) for one, other in pairs}} == alike
    by_id = {paper.paper_id: paper for paper in released}
    others = [[by_id[name] for name in group] for group in found - alike]
    assert others
    assert all(jaccard(one, other) > 0.89 for one, other in others)


def as_published_again(paper: Paper, rng: random.Random, number: int) -> Paper:
    """The paper as another source has it: other case, marks and ends of sentences, and a word or two changed."""
    words = " ".join(paper.sentences).upper().replace(",", " ,").split()
    words[rng.randrange(len(words))] = "altered"
    cut = rng.randrange(1, len(words))
    return Paper(f"again{number}", paper.title.upper() + ".", (" ".join(words[:cut]), " ".join(words[cut:])), 1999)


def test_planted_near_duplicates_are_found_whatever_their_title(tmp_path: Path, released: list[Paper]) -> None:
    rng = random.Random(5)
    plain = [paper for paper in released if len(word_shingles(paper.sentences)) > 100]
    chosen = rng.sample(plain, 300)
    planted = [as_published_again(paper, rng, number) for number, paper in enumerate(chosen)]
    planted = [
        paper if at % 2 else Paper(paper.paper_id, f"Other {at}", paper.sentences) for at, paper in enumerate(planted)
    ]
    shortened = [Paper(f"short{at}", paper.title, paper.sentences[:-2]) for at, paper in enumerate(plain[-40:])]
    before = groups_of(study(tmp_path / "before", released))
    found = groups_of(study(tmp_path / "after", [*released, *planted, *shortened]))
    group_of = {name: group for group in found for name in group}
    missed = [one.paper_id for one, again in zip(chosen, planted, strict=True) if again.paper_id not in group_of]
    assert len(missed) <= 1
    assert all(
        again.paper_id in group_of[one.paper_id]
        for one, again in zip(chosen, planted, strict=True)
        if one.paper_id not in missed
    )
    expected = {paper.paper_id for at, paper in enumerate(shortened) if jaccard(paper, plain[at - 40]) >= 0.5}
    assert {name for name in group_of if name.startswith("short")} == expected
    made = {paper.paper_id for paper in (*planted, *shortened)}
    without = {tuple(name for name in group if name not in made) for group in found}
    assert {group for group in without if len(group) > 1} == before


def test_what_is_found_is_kept_by_the_hash_of_the_corpus(tmp_path: Path) -> None:
    text = tuple(f"We look at the {what} of papers that come twice." for what in ("shape", "size", "colour"))
    ws = study(
        tmp_path / "study", [Paper("a", "T", text), Paper("b", "t.", text), Paper("c", "T", ("Quite another text.",))]
    )
    assert groups_of(ws) == {("a", "b")}
    (kept,) = (ws.cache / "near-duplicates").iterdir()
    kept.write_text(kept.read_text().replace('"b"', '"x"'))
    assert groups_of(ws) == {("a", "x")}
    kept.write_text("{")
    assert groups_of(ws) == {("a", "b")}
    # As it was written before it told of titles.
    record = json.loads(kept.read_text())
    kept.write_text(json.dumps({"corpus": record["corpus"], "settings": record["settings"], "groups": [["x", "y"]]}))
    assert groups_of(ws) == {("a", "b")}
    with PaperWriter(ws.corpus) as writer:
        writer.add(Paper("d", "Other title", text))
    write_corpus_manifest(ws)
    assert groups_of(ws) == {("a", "b", "d")}


def test_passages_of_one_document_share_its_title_and_are_near_duplicates_by_their_text_alone(tmp_path: Path) -> None:
    def about(*whats: str) -> tuple[str, ...]:
        return tuple(f"We look at the {what} of papers that come twice." for what in whats)

    first, second = about("shape", "size", "colour", "age"), about("size", "colour", "age", "price")
    assert 0.5 <= jaccard(Paper("", "", first), Paper("", "", second)) < 0.9
    whole = [Paper("a", "T", first), Paper("b", "T", second)]
    passages = [Paper("a", "T", first, part_of="d"), Paper("b", "T", second, part_of="d")]
    again = Paper("c", "T", first, part_of="e")
    assert groups_of(study(tmp_path / "whole", whole)) == {("a", "b")}
    found = near_duplicates(study(tmp_path / "passages", [*passages, again]), keep=False, advance=lambda *_: None)
    assert found.texts == (("a", "c"),)
    # A query paper's pool has none of its other passages.
    assert found.of_same_title(["a"]) == {"a": ("b", "c")}


def test_of_a_group_the_one_on_record_stands_then_the_one_that_is_cited_then_the_first() -> None:
    alike = (("a", "b", "c"), ("d", "e"))
    assert passed_over(alike, standing=(), later=(), cited=()) == {"b": "a", "c": "a", "e": "d"}
    assert passed_over(alike, standing=(), later=(), cited=("c", "b")) == {"a": "b", "c": "b", "e": "d"}
    assert passed_over(alike, standing=("c", "e", "d"), later=(), cited=("b",)) == {"a": "c", "b": "c"}
    # One that came with a later version came with no earlier one, and neither did what it stands for.
    assert passed_over(alike, standing=(), later=("c",), cited=("d",)) == {"a": "c", "b": "c", "c": "c", "e": "d"}
    assert passed_over(alike, standing=("b",), later=("c",), cited=()) == {"a": "b", "c": "b", "e": "d"}
