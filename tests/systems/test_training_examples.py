"""Training examples of encoders: co-citations by reason, triplets, pairs, cloze, and their files."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot_systems.citing_texts import Context, read_citing_texts
from annot_systems.training_examples import (
    RECIPES,
    CitationContext,
    Example,
    Examples,
    Exclusion,
    as_record,
    cloze,
    contexts_of,
    gather,
    pairs_of_contexts,
    recipe_of,
    split,
    triplets,
    with_negatives,
)

CORPUS = {"a", "b", "c", "d"}
LIMITS: dict[str, Any] = {"words": (5, 12), "fields": ("Computer Science",)}


def text(paper_id: str, *contexts: tuple[str, str], field: str = "Computer Science") -> Any:
    """A full text; each context is its words and the letters it cites."""
    found = [Context(said, tuple(sorted(cited)), 0) for said, cited in contexts]
    return SimpleNamespace(paper_id=paper_id, mag_field_of_study=[field], contexts=found)


def test_every_context_is_kept_or_counted_by_its_reason() -> None:
    good = "both of them parse graphs (1, 2)"
    texts = [
        text("c1", (good, "ab"), ("others parse the same graphs (1, 2)", "ab"), ("one of them parses graphs [1]", "a")),
        text(
            "c2", (good.replace("1", "7"), "ab"), ("too short (1)", "ab"), ("nobody marks any citation in here", "ab")
        ),
        text("c3", ("these two do parse graphs as well [3, 4]", "ab"), (" ".join(["(word)"] * 13), "ab")),
        text("c4", ("in another field graphs are parsed [1]", "ab"), field="Biology"),
        text("c5", ("three and a stranger parse text [1-4]", "abcx"), ("strangers parse their own text [8]", "xy")),
    ]
    contexts, found = gather(texts, CORPUS, **LIMITS)
    assert {papers: [said.citing for said in sayings] for papers, sayings in contexts.items()} == {
        ("a", "b"): ["c1", "c3"],
        ("a", "b", "c"): ["c5"],
    }
    assert found.left_out == {
        Exclusion.SAME_PAPER: 1,
        Exclusion.ALONE: 2,
        Exclusion.COPY: 1,
        Exclusion.SHORT: 1,
        Exclusion.UNMARKED: 1,
        Exclusion.LONG: 1,
        Exclusion.FIELD: 1,
    }
    assert found.kept + found.left_out.total() == found.read == 11
    assert (found.texts, found.not_in_corpus) == (5, 3)


@pytest.mark.parametrize(("words", "kept"), [(4, False), (5, True), (12, True), (13, False)])
def test_contexts_of_the_fewest_and_the_most_words_are_kept(words: int, kept: bool) -> None:
    said = " ".join(["(1)", *["word"] * (words - 1)])
    assert bool(gather([text("c", (said, "ab"))], CORPUS, **LIMITS)[0]) == kept


def test_triplets_are_those_of_the_citation_graph() -> None:
    rng = np.random.default_rng(3)
    corpus = [f"p{at}" for at in range(60)]
    citations = {one: [corpus[at] for at in rng.integers(60, size=rng.integers(0, 4))] for one in corpus}
    hard_found, easy_found = 0, 0
    for query in corpus:
        found, why = triplets(query, citations, corpus, easy=3, hard=2, seed=1)
        cited = set(citations[query]) - {query}
        further = {far for near in cited for far in citations[near]} - cited - {query}
        if not cited:
            assert (found, why) == ([], "cites no paper of the corpus")
            continue
        expected = min(2, len(further))
        assert len(found) == expected + 3
        assert bool(why) == (expected < 2)
        for place, (positive, negative) in enumerate(found):
            assert positive in cited
            assert negative not in cited | {query}
            if place < expected:
                assert negative in further
        assert len({negative for _, negative in found[:expected]}) == expected
        hard_found, easy_found = hard_found + expected, easy_found + 3
        # A paper more in the corpus, which nobody cites, moves no hard negative and no positive of these.
        assert triplets(query, citations, corpus, easy=0, hard=2, seed=1) == triplets(
            query, citations, [*corpus, "new"], easy=0, hard=2, seed=1
        )
    assert hard_found > 40
    assert easy_found > 100


def test_a_name_stays_on_its_side_whoever_comes_beside_it() -> None:
    few, many = [f"n{at}" for at in range(300)], [f"n{at}" for at in range(3000)]
    train_few, dev_few = split(few, dev_share=0.2, seed=5)
    train_many, dev_many = split(many, dev_share=0.2, seed=5)
    assert set(train_few) <= set(train_many)
    assert set(dev_few) <= set(dev_many)
    assert not set(train_many) & set(dev_many)
    assert len(dev_many) / 3000 == pytest.approx(0.2, abs=0.03)
    assert [name for name in train_many if name in set(few)] == train_few


def test_cloze_takes_the_sentence_out_nine_times_of_ten() -> None:
    out = 0
    for at in range(1000):
        paper = Paper(f"p{at}", "t", ("one .", "two .", "three .", "four ."))
        found = list(cloze(paper, sentences=2, removed=0.9, seed=0))
        assert len({example.query for example in found}) == 2
        for example in found:
            assert isinstance(example.positive, str)
            rest = [one for one in paper.sentences if one != example.query]
            assert example.positive in (" ".join(rest), " ".join(paper.sentences))
            out += example.positive == " ".join(rest)
    # A binomial of 2,000 tries: five standard deviations.
    assert out / 2000 == pytest.approx(0.9, abs=5 * (0.9 * 0.1 / 2000) ** 0.5)
    assert not list(cloze(Paper("p", "t", ("alone .",)), sentences=2, removed=0.9, seed=0))
    assert len(list(cloze(Paper("p", "t", ("one .", "two .")), sentences=2, removed=0.9, seed=0))) == 2


def test_contexts_pair_up_and_ten_at_most_go_with_a_pair_of_papers() -> None:
    said = [CitationContext(f"c{at}", f"context {at}") for at in range(14)]
    kept = contexts_of(("a", "b"), said, seed=0)
    assert len(set(kept)) == 10
    assert set(kept) <= {one.text for one in said}
    pairs = list(pairs_of_contexts(("a", "b"), said[:4]))
    assert len({(one.query, one.positive) for one in pairs}) == 6


def test_a_negative_for_good_shares_no_paper_with_its_example() -> None:
    examples = [Example(f"q{at}", f"p{at}", None, (f"{at % 3}", f"{at % 4}")) for at in range(24)]
    found, left_out = with_negatives(examples, seed=0)
    papers_of = {one.positive: set(one.papers) for one in examples}
    for one in found:
        assert isinstance(one.negative, str)
        assert not papers_of[one.negative] & set(one.papers)
    assert not left_out
    alone = [Example("q", "p", None, ("1",)), Example("r", "s", None, ("1",))]
    assert with_negatives(alone, seed=0) == ([], {"no example to take a negative from": 2})


PAPERS = [Paper(f"p{at}", f"Title {at} – ü", ("One.", "Two.")) for at in range(4)]


def written(path: Path, examples: list[Example]) -> Examples:
    path.write_text("".join(json.dumps(as_record(one), ensure_ascii=False) + "\n" for one in examples), "utf-8")
    return Examples(path)


def test_examples_are_read_back_wherever_they_stand(tmp_path: Path) -> None:
    of_papers = Example(PAPERS[0], PAPERS[1], None, ("p0", "p1"), ("Both (1, 2).",))
    examples = [of_papers, of_papers._replace(negative=PAPERS[3], contexts=()), of_papers._replace(query=PAPERS[2])]
    found = written(tmp_path / "train.jsonl", examples)
    assert len(found) == 3
    assert found.read([2, 0, 1]) == [examples[2], examples[0], examples[1]]


def test_every_example_of_another_kind_is_named_with_its_line(tmp_path: Path) -> None:
    papers = Example(PAPERS[0], PAPERS[1], None, ("p0",))
    texts = Example("one", "two", None, ("p0",))
    faults: dict[str, Any] = {}
    for name, dev, examples in (
        ("ts-aspire", False, [papers._replace(contexts=("c",)), papers, texts, papers._replace(negative=PAPERS[2])]),
        ("specter-id", False, [papers, papers._replace(negative=PAPERS[2])]),
        ("cosentbert", True, [texts, texts._replace(negative="three")]),
    ):
        with pytest.raises(InputError) as error:
            written(tmp_path / "x.jsonl", examples).check(recipe_of(name), dev=dev)
        faults[name] = [fault.removeprefix(f"{tmp_path}/") for fault in error.value.faults]
    assert faults == {
        "ts-aspire": [
            "x.jsonl:2: found no contexts, expected sentences that cite both papers",
            "x.jsonl:3: found texts, expected papers",
            "x.jsonl:4: found a negative, expected none: others of its batch give it",
        ],
        "specter-id": ["x.jsonl:1: found no negative, expected one of its own"],
        "cosentbert": ["x.jsonl:1: found no negative, expected one of its own"],
    }


def test_aspire_is_trained_as_its_appendices_say() -> None:
    """Appendices E and F: batches of 30, warm-up of 2000 steps, margin 1, 2e-5 (1e-5 for both losses), lambda 20."""
    for name in ("ts-aspire", "ot-aspire", "ts+ot-aspire", "specter-cocite"):
        recipe = RECIPES[name]
        settings = recipe.settings
        rate = 1e-5 if name == "ts+ot-aspire" else 2e-5
        assert (settings.batch, settings.warm_up, settings.margin, settings.learning_rate) == (30, 2000, 1.0, rate)
        assert (settings.temperature, settings.entropy, recipe.examples) == (0.5, 20.0, 1_300_000)
        assert recipe.start == "specter"


def test_specter_is_trained_as_its_section_4_says() -> None:
    """Margin 1, 2e-5, a tenth of the steps to warm up, two epochs, four at once and 32 a step, from SciBERT."""
    recipe = RECIPES["specter-id"]
    settings = recipe.settings
    assert (settings.margin, settings.learning_rate, settings.warm_up, settings.epochs) == (1.0, 2e-5, 0.1, 2)
    assert (settings.at_once, settings.batch, recipe.start) == (4, 32, "scibert-uncased")


TEXT = "Graphs help [1, 2], as e.g. Lee et al. (2010) say. Others differ [3]. Nobody is cited here."


def spans(text: str, **marks: str | None) -> list[dict[str, Any]]:
    return [
        {"start": text.index(mark), "end": text.index(mark) + len(mark), "text": mark, "ref_id": ref}
        for mark, ref in marks.items()
    ]


def marked(text: str, marks: dict[str, str | None]) -> dict[str, Any]:
    return {"section": "Work", "text": text, "cite_spans": spans(text, **marks), "ref_spans": []}


PARAGRAPHS = [marked(TEXT, {"[1": "B0", "2]": "B1", "(2010)": "B2", "[3]": None}), {"text": "No spans."}]
OF_2020 = {
    "paper_id": "77",
    "body_text": PARAGRAPHS,
    "bib_entries": {"B0": {"link": "12"}, "B1": {"link": "11"}, "B2": {"link": None}},
    "mag_field_of_study": ["Computer Science"],
}
OF_2019 = {
    "paper_id": "77",
    "metadata": {"mag_field_of_study": ["Computer Science"]},
    "grobid_parse": {
        "body_text": PARAGRAPHS,
        "bib_entries": {"B0": {"links": "12"}, "B1": {"links": 11}, "B2": {"links": ""}},
    },
}


@pytest.mark.parametrize("record", [OF_2020, OF_2019])
def test_citations_belong_to_the_sentence_that_their_marker_stands_in(record: dict[str, Any]) -> None:
    (found,) = read_citing_texts([json.dumps(record)], name="full.jsonl")
    assert (found.paper_id, found.mag_field_of_study) == ("77", ["Computer Science"])
    assert tuple(found.contexts) == (
        Context("Graphs help [1, 2], as e.g. Lee et al. (2010) say.", ("11", "12"), unlinked=1),
        Context("Others differ [3].", (), unlinked=1),
    )


def test_a_sentence_that_stands_twice_has_the_citations_of_each_place() -> None:
    text = "See it. See it."
    paragraph = {"text": text, "cite_spans": [{"start": 8, "end": 11, "ref_id": "B0"}]}
    record = {"paper_id": "1", "body_text": [paragraph], "bib_entries": {"B0": {"link": "5"}}}
    (found,) = read_citing_texts([json.dumps(record)], name="x")
    assert [context.cited for context in found.contexts] == [("5",)]


def test_every_line_that_is_no_full_text_is_named() -> None:
    lines = [json.dumps({"paper_id": "1"}), "{", json.dumps(OF_2020), json.dumps({**OF_2020, "body_text": "text"})]
    with pytest.raises(InputError) as error:
        list(read_citing_texts(lines, name="full.jsonl"))
    assert [fault.split(": ")[0] for fault in error.value.faults] == [
        *("full.jsonl:1", "full.jsonl:1", "full.jsonl:2", "full.jsonl:4")
    ]
