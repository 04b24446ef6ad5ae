"""Tasks: escaped text, regions that point at it as a browser counts, keys that come back."""

from html.parser import HTMLParser

import pytest
from annot.base.records import PairKey, Paper, Query
from annot.base.settings import Settings
from annot.labelstudio.tasks import (
    TaskKeys,
    adjudicate_task,
    facets_task,
    is_link,
    judge_task,
    pair_key,
    reads,
    split_key,
)
from hypothesis import given
from hypothesis import strategies as st
from labelling_texts import CANDIDATE, FACETS, QUERY, SCALE, opinion, task, text

LABELS = Settings().labels.names

HOSTILE = '<script>alert(1)</script> & "quoted" \x00 é 𝒜𝒷 ‮rtl <b onclick=x>'


class _Sentences(HTMLParser):
    """What a browser makes of a column's paragraphs: their text nodes, and every tag and attribute there is."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.paragraphs: list[str] = []
        self._inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self._inside = tag == "p"
        if self._inside:
            self.paragraphs.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "p"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.paragraphs[-1] += data


def test_hostile_text_stays_text() -> None:
    made = task(query=text(HOSTILE, (HOSTILE,), ("method",)))
    seen = _Sentences(made["data"]["pair_html"])
    assert seen.tags == {"div", "h2", "span", "p", "details", "summary"}
    assert seen.attributes == {"class", "tabindex", "accesskey"}
    assert seen.paragraphs[0] == '<script>alert(1)</script> & "quoted" é 𝒜𝒷 ‮rtl <b onclick=x>'


texts = st.lists(st.tuples(st.text(min_size=1, max_size=40), st.sampled_from(LABELS)), min_size=1, max_size=5).map(
    lambda pairs: text("t", tuple(s for s, _ in pairs), tuple(label for _, label in pairs))
)


@given(query=texts, candidate=texts)
def test_every_region_covers_its_sentence_in_utf16_units(query: Paper, candidate: Paper) -> None:
    made = task(query=query, candidate=candidate)
    paragraphs = _Sentences(made["data"]["pair_html"]).paragraphs
    (prediction,) = made["predictions"]
    labels = {"query": query.labels or (), "cand": candidate.labels or ()}
    for region in prediction["result"]:
        side, _, index = region["id"].partition("-")
        value = region["value"]
        column = {"query": 1, "cand": 2}[side]
        assert value["start"] == value["end"] == f"/div[1]/div[{column}]/div[2]/p[{int(index) + 1}]/text()[1]"
        paragraph = paragraphs[int(index) + (0 if side == "query" else len(query.sentences))]
        units = paragraph.encode("utf-16-le")
        assert units[value["startOffset"] * 2 : value["endOffset"] * 2] == units
        assert value["text"] == paragraph
        assert value["labels"] == [labels[side][int(index)]]


def test_only_sentences_of_the_facet_are_marked() -> None:
    html = task(facet="background")["data"]["pair_html"]
    marked = [text for text in QUERY.sentences + CANDIDATE.sentences if f'<p class="a-s a-hit">{text}' in html]
    assert marked == [QUERY.sentences[0], QUERY.sentences[1], CANDIDATE.sentences[0]]
    assert html.count("a-wants-background a-wants-objective") == 2


def test_chosen_query_sentences_are_marked_whatever_their_label() -> None:
    html = task(facet="method", query_sentences=(0, 3))["data"]["pair_html"]
    assert f'<p class="a-s a-hit">{QUERY.sentences[0]}' in html
    assert f'<p class="a-s">{QUERY.sentences[2]}' in html
    assert "a-side a-query a-fixed" in html


def test_no_grade_is_filled_in() -> None:
    controls = {region["from_name"] for region in task()["predictions"][0]["result"]}
    assert controls == {"sentence_label"}


ASKED = st.builds(PairKey, st.text(min_size=1), st.text(min_size=1), st.integers(1, 3))


@given(ASKED)
def test_what_was_asked_comes_back_from_the_key(asked: PairKey) -> None:
    assert split_key(pair_key(*asked)) == asked


@given(ASKED, ASKED)
def test_two_tasks_never_share_a_key(one: PairKey, other: PairKey) -> None:
    assert (pair_key(*one) == pair_key(*other)) == (one == other)


def test_opinions_are_shown_by_grade_and_name_and_without_a_comment_it_says_so() -> None:
    opinions = [opinion(1, None, None), opinion(None, "outside my field", " see\nabove "), opinion(None, None, None)]
    data = adjudicate_task(task(), opinions, scale_names=SCALE)["data"]
    assert (data["rating_a"], data["comment_a"]) == ("1 Related", "no comment")
    assert (data["rating_b"], data["comment_b"]) == ("Could not judge: outside my field", "see above")
    assert data["rating_c"] == "Did not judge"


@pytest.mark.parametrize("facet", FACETS)
def test_a_task_carries_what_the_screen_asks_for(facet: str) -> None:
    assert set(task(facet=facet)["data"]) == {"pair_id", "facet", "facet_help", "progress", "pair_html"}


def test_text_is_shown_with_single_spaces_and_without_any_around_it() -> None:
    html = facets_task(
        "p/labels", text(" A  title ", ("Two  spaces.", " One, around. "), LABELS[:2]), progress="1 of 9"
    )
    seen = _Sentences(html["data"]["pair_html"])
    assert seen.paragraphs == ["Two spaces.", "One, around."]
    (prediction,) = html["predictions"]
    assert [region["value"]["text"] for region in prediction["result"]] == seen.paragraphs
    assert [region["value"]["start"] for region in prediction["result"]] == [
        f"/div[1]/div[1]/div[2]/p[{number}]/text()[1]" for number in (1, 2)
    ]


def test_a_sentence_of_nothing_but_spaces_has_no_region() -> None:
    made = facets_task("p/labels", text("t", ("One.", "  ", "Three."), LABELS[:3]), progress="1 of 9")
    assert [region["id"] for region in made["predictions"][0]["result"]] == ["query-0", "query-2"]


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("q/d", PairKey("q", "d")),
        ("q/d/2", PairKey("q", "d", 2)),
        ("q%2F1/d%25", PairKey("q/1", "d%")),
    ],
)
def test_a_key_is_query_and_document_and_from_the_second_time_on_the_occasion(key: str, asked: PairKey) -> None:
    assert split_key(key) == asked
    assert pair_key(*asked) == key
    assert pair_key("q", "d") == "q/d"


@pytest.mark.parametrize(
    ("where", "opens"),
    [
        ("https://example.org/x.pdf?a=1&b=2", True),
        ("http://example.org", True),
        ("ftp://example.org", False),
        ("https://example.org/a b", False),
        ('https://example.org/"x', False),
        ("see https://example.org", False),
        ("", False),
    ],
)
def test_only_an_address_of_the_web_is_a_link(where: str, opens: bool) -> None:
    assert is_link(where) is opens


# -- texts read back from a task ---------------------------------------------------------------------------------------


WORDS = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(
    [
        "",
        " ",
        "a  b",
        "<mark>x</mark>",
        "</p>",
        '<div class="a-side a-cand',
        "a & b",
        "\u2028",
        "\x00",
        "x</h2>",
        "&lt;",
    ]
)
TEXTS = st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=5))


@given(topic=TEXTS, document=TEXTS, labelled=st.booleans(), fold=st.sampled_from([1, 5, 1000]), mark=st.booleans())
def test_a_side_reads_as_the_text_that_it_was_made_of(
    topic: tuple[str, list[str]], document: tuple[str, list[str]], labelled: bool, fold: int, mark: bool
) -> None:
    papers = [
        Paper(name, title, tuple(sentences), labels=("method",) * len(sentences) if labelled else None)
        for name, (title, sentences) in (("p", topic), ("d", document))
    ]
    task = judge_task(
        question=PairKey("p-method", "d"),
        query=Query("p-method", "p", "method", (0,)),
        topic=papers[0],
        document=papers[1],
        facet_help="",
        facet_labels=("method",) if labelled else (),
        progress="",
        first=True,
        fold_after=fold,
        mark_terms=mark,
    )
    html = task["data"]["pair_html"]
    assert reads(html, "query", topic[0], topic[1])
    assert reads(html, "cand", document[0], document[1])
    assert not reads(html, "cand", f"{document[0]}x", document[1])
    assert not reads(html, "query", topic[0], [*topic[1], "Another sentence."])
    labels = Paper("p", topic[0], tuple(topic[1]), labels=("method",) * len(topic[1]))
    assert reads(facets_task("key", labels, progress="")["data"]["pair_html"], "query", topic[0], topic[1])


# -- sealed keys -------------------------------------------------------------------------------------------------------


SECRET, OTHER = "0f" * 32, "a1" * 32
PAIRS = [(f"fic1-{facet}", f"fic{100 + number}") for facet in ("method", "result") for number in range(40)]


def sealed(keys: TaskKeys, project: int, key: str) -> str:
    made = task()
    sent = keys.sealed(project, {**made, "data": {**made["data"], "pair_id": key}})
    data = sent["data"]
    assert isinstance(data, dict)
    assert {name: text for name, text in data.items() if name != "pair_id"} == {
        name: text for name, text in made["data"].items() if name != "pair_id"
    }
    return str(data["pair_id"])


def test_a_sealed_key_opens_again_and_tells_nothing() -> None:
    keys = TaskKeys([SECRET], PAIRS)
    plain = [pair_key(*pair, occasion) for pair in PAIRS for occasion in (1, 2)]
    shown = [sealed(keys, 7, key) for key in plain]
    assert [keys.opened(7, key) for key in shown] == plain
    assert len(set(shown)) == len(plain)
    assert {len(key) for key in shown} == {24}, "a repeat looks like any other"
    assert not any("fic" in key or "/" in key for key in shown)


def test_the_same_pair_has_another_key_in_each_project_and_in_each_study() -> None:
    key = pair_key(*PAIRS[0])
    keys, elsewhere = TaskKeys([SECRET], PAIRS), TaskKeys([OTHER], PAIRS)
    shown = {sealed(keys, 7, key), sealed(keys, 8, key), sealed(elsewhere, 7, key)}
    assert len(shown) == 3
    assert keys.opened(8, sealed(keys, 7, key)) == sealed(keys, 7, key), "of another project: not ours"


def test_keys_of_before_and_of_strangers_stay_as_they_are() -> None:
    keys = TaskKeys([SECRET, OTHER], PAIRS)
    assert keys.opened(7, sealed(TaskKeys([OTHER], PAIRS), 7, pair_key(*PAIRS[3]))) == pair_key(*PAIRS[3])
    for key in (pair_key(*PAIRS[1]), "who/knows", "0" * 24):
        assert keys.opened(7, key) == key


def test_up_to_nine_occasions_of_a_pair_are_recognised() -> None:
    keys = TaskKeys([SECRET], PAIRS)
    for occasion, opens in ((9, True), (10, False)):
        plain = pair_key(*PAIRS[0], occasion)
        assert (keys.opened(7, sealed(keys, 7, plain)) == plain) is opens
