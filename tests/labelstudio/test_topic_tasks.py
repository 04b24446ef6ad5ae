"""Tasks of pairs that are judged whole: what they show, and that they show nothing else."""

import re
from dataclasses import replace
from typing import Any

import pytest
from annot.base.errors import LeakError
from annot.base.records import Paper, Topic
from annot.base.words import ENGLISH
from annot.labelstudio.screens import lint_tasks
from annot.labelstudio.studio_records import Screen
from annot.labelstudio.tasks import (
    adjudicate_task,
    feedback_task,
    full_text_task,
    pieces,
    returned_task,
    singular,
    terms_of,
)
from labelling_texts import CANDIDATE, QUERY, SCALE, opinion
from labelling_texts import task as facet_task
from topic_texts import TOPIC, whole_task

PLACES = {"d": "https://example.org/d.pdf", "p": "Folder 3"}


def html(**shown: Any) -> str:
    return str(whole_task(**shown)["data"]["pair_html"])


def texts(shown: str) -> list[str]:
    """What both columns show; the fold that shows what the grades mean stands behind them."""
    columns = shown.split('<details class="a-criteria">')[0]
    return [text.strip() for text in re.split(r"<[^<>]*>", columns) if text.strip()]


def document(*sentences: str, title: str = "Title") -> Paper:
    return Paper("d", title, sentences)


def test_a_text_and_a_document_are_shown_in_order_and_nothing_of_fields_or_labels() -> None:
    task = whole_task(document=replace(CANDIDATE, labels=("method", "method", "result")))
    asked = [TOPIC.title, TOPIC.description, "Narrative", (TOPIC.narrative or "").strip()]
    assert texts(task["data"]["pair_html"]) == ["Topic", *asked, "Document", CANDIDATE.title, *CANDIDATE.sentences]
    assert task["predictions"] == []
    assert "method" not in task["data"]["pair_html"]


@pytest.mark.parametrize(
    ("topic", "wanted"),
    [
        (Topic("T1", "a"), ["a"]),
        (Topic("T1", "a", "b\n\nc\nd"), ["a", "b", "c d"]),
        (Topic("T1", "a", None, "n\n \nm"), ["a", "Narrative", "n", "m"]),
        (Topic("T1", "<b>a</b> & c"), ["&lt;b&gt;a&lt;/b&gt; &amp; c"]),
    ],
    ids=["a title alone", "a description of two paragraphs", "a narrative of two", "signs of HTML"],
)
def test_what_a_topic_has_is_shown_in_its_own_paragraphs(topic: Topic, wanted: list[str]) -> None:
    left = html(topic=topic).split('<div class="a-side a-cand">')[0]
    assert texts(left) == ["Topic", *wanted]
    assert ("<details" in left) == (topic.narrative is not None)


def test_a_narrative_is_folded_or_open() -> None:
    assert '<details class="a-narrative" open><summary accesskey="n">' in html(opened=True)
    assert '<details class="a-narrative"><summary accesskey="n">' in html(opened=False)


def test_a_paper_that_asks_whole_is_a_query_and_its_documents_are_candidates() -> None:
    assert texts(html(topic=QUERY))[:2] == ["Query", QUERY.title]
    assert "Candidate" in texts(html(topic=QUERY))


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (document(title="a"), ["Document", "a", ENGLISH("task.no_text")]),
        (document("b.", title=""), ["Document", "b."]),
        (document("b.", "", "  ", "c."), ["Document", "Title", "b.", "c."]),
    ],
    ids=["a title alone", "no title", "empty sentences"],
)
def test_a_document_shows_what_it_has(shown: Paper, wanted: list[str]) -> None:
    assert texts(html(document=shown).split('<div class="a-side a-cand">')[1]) == wanted


@pytest.mark.parametrize(
    ("fold_after", "open_sentences", "told"),
    [(6, 3, None), (5, 2, "3 words"), (3, 2, "3 words"), (2, 1, "5 words"), (0, 1, "5 words")],
)
def test_a_document_is_folded_from_the_sentence_that_is_beyond_the_length(
    fold_after: int, open_sentences: int, told: str | None
) -> None:
    sentences = ("One.", "Two three.", "Four five six.")
    right = html(document=document(*sentences), fold_after=fold_after).split('<div class="a-side a-cand">')[1]
    before, _, folded = right.partition('<details class="a-rest">')
    assert texts(before) == ["Document", "Title", *sentences[:open_sentences]]
    assert texts(folded) == ([] if told is None else [f"The rest of the document: {told}", *sentences[open_sentences:]])


def test_words_of_title_and_description_are_marked_in_title_and_text_and_nowhere_else() -> None:
    topic = Topic("T1", "R&D of bees", "What keeps a bee from its hives?", "Wasps do not count.")
    found = html(
        topic=topic, document=document("R&D: BEES keep hives.", "Wasps, beeswax.", title="A hive"), mark_terms=True
    )
    left, right = found.split('<div class="a-side a-cand">')
    assert "<mark>" not in left
    assert re.findall("<mark>(.*?)</mark>", right) == ["hive", "R", "D", "BEES", "keep", "hives"]
    assert "<mark>R</mark>&amp;<mark>D</mark>: <mark>BEES</mark>" in right
    assert "<mark>" not in html(topic=topic, document=document("Bees."))


def test_of_a_paper_only_the_words_of_its_title_are_marked() -> None:
    assert terms_of(Paper("p", "Bees and the heart", ("Wasps.",))) == {"bee", "heart"}


@pytest.mark.parametrize("text", ["", "bees", "of bees.", "a bee's life", "Bees bees"])
def test_pieces_are_the_whole_text(text: str) -> None:
    assert "".join(piece for piece, _ in pieces(text, frozenset({"bee"}))) == text


def test_no_piece_is_empty() -> None:
    terms = frozenset({"bee", "hive"})
    assert list(pieces("Bees, hive", terms)) == [("Bees", True), (", ", False), ("hive", True)]
    assert list(pieces("hive.", terms)) == [("hive", True), (".", False)]
    assert list(pieces("", terms)) == []


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        *(("queries", "query"), ("daies", "daie"), ("horses", "horse"), ("algaes", "algae"), ("bees", "bee")),
        *(("does", "doe"), ("owls", "owl"), ("corpus", "corpus"), ("glass", "glass"), ("owl", "owl")),
    ],
)
def test_plurals_lose_their_ending_by_harmans_rules(word: str, stem: str) -> None:
    assert singular(word) == stem


def lint(task: dict[str, Any], screen: Screen = "judge") -> None:
    lint_tasks([task], screen=screen, labels=("method",), private=("bm25", "a1"))


def full_text(topic: Topic | Paper) -> dict[str, Any]:
    return full_text_task(whole_task(topic=topic), topic, document("b."), PLACES, facet="whole")


FEEDBACK = feedback_task(whole_task(), opinion(1, None, None), gold=2, why="So.", scale_names=SCALE)
PASSING: list[tuple[dict[str, Any], Screen]] = [
    (whole_task(opened=True, mark_terms=True, fold_after=5), "judge"),
    (whole_task(topic=Topic("T1", "bm25 by a1")), "judge"),
    (whole_task(topic=QUERY), "judge"),
    (returned_task(whole_task(mark_terms=True), "Once more."), "judge"),
    (adjudicate_task(whole_task(), [opinion(1, None, "a")], scale_names=SCALE), "adjudicate"),
    (FEEDBACK, "feedback"),
    (full_text(TOPIC), "full-text"),
    (full_text(Paper("p", "a", ())), "full-text"),
]


@pytest.mark.parametrize(("task", "screen"), PASSING)
def test_tasks_of_pairs_judged_whole_pass(task: dict[str, Any], screen: Screen) -> None:
    lint(task, screen)


LEAKS = [
    ('<details class="a-narrative">', '<details class="a-rank">'),
    ("Narrative", "<b>Narrative</b>"),
    ("</details>", "</details><p>bm25</p>"),
    ('<p class="a-s">', '<p class="a-s a-hit">'),
    ("<span>Topic</span>", "<span>bm25</span>"),
    ("<span>Document</span>", "<span>Document 3</span>"),
    ("<mark>", '<mark title="0.93">'),
    ('class="a-pair a-whole', 'class="a-pair'),
]


@pytest.mark.parametrize(("old", "new"), LEAKS)
def test_anything_else_between_the_texts_is_a_leak(old: str, new: str) -> None:
    task = whole_task(mark_terms=True)
    assert old in task["data"]["pair_html"]
    task["data"]["pair_html"] = task["data"]["pair_html"].replace(old, new)
    with pytest.raises(LeakError):
        lint(task)


def test_the_columns_of_a_facet_and_those_of_a_whole_are_not_mixed() -> None:
    by_facet, whole = facet_task(), whole_task()
    by_facet["data"]["pair_html"] = by_facet["data"]["pair_html"].replace('"a-pair a-is', '"a-pair a-whole a-is')
    whole["data"]["progress"] = "1 of 3 · topic 1, candidate 1 of 3"
    for task in (by_facet, whole):
        with pytest.raises(LeakError):
            lint(task)


def test_a_text_keeps_its_column_where_full_texts_are_judged_and_a_paper_links_its_own() -> None:
    found = full_text(TOPIC)["data"]["pair_html"]
    assert texts(found)[:3] == ["Topic", TOPIC.title, TOPIC.description]
    assert '<details class="a-narrative" open>' in found
    assert texts(found)[-4:] == ["Document", "Title", "Judge by the full text.", "https://example.org/d.pdf"]
    of_paper = texts(full_text(Paper("p", "a", ()))["data"]["pair_html"])
    instead = "Judge by the full text, not by the abstract."
    places = list(PLACES.values())[::-1]
    assert of_paper == ["Query", "a", instead, places[0], "Candidate", "Title", instead, places[1]]


def test_terms_are_marked_as_whole_words_in_every_script() -> None:
    def marked(topic: str, text: str) -> list[str]:
        shown = list(pieces(text, terms_of(Topic("T", topic))))
        assert "".join(piece for piece, _ in shown) == text
        return [piece for piece, is_term in shown if is_term]

    assert marked("हिन्दी भाषा", "यह भाषा हिन्दी है, हिन्द नहीं।") == ["भाषा", "हिन्दी"]
    assert marked("танцы пчёл", "Пчёл много; танцы пчёл.") == ["Пчёл", "танцы", "пчёл"]
    # A pair of characters is a term; pairs that touch are marked as one.
    assert marked("蜜蜂舞蹈", "研究蜜蜂的舞蹈，蜜蜂舞蹈。") == ["蜜蜂", "舞蹈", "蜜蜂舞蹈"]
    assert marked("the bee's hive", "Bee’s hive, bee's hives") == ["hive", "bee's", "hives"]
