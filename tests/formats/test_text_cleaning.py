"""Cleaning: each kind of junk that facts on CSFCube name, what must stay, and what is told of it paper by paper."""

import unicodedata
from typing import Any

import pytest
from annot.formats.cleaning import CleanedPaper, Way, clean, cleaned, counts_of, kinds, ways, without_direction
from annot.formats.paper_records import paper_of_record
from hypothesis import given, settings
from hypothesis import strategies as st

pieces = st.one_of(
    st.sampled_from(
        [
            *"i></&;#p \n",
            *"\x00\x85\x80\x94â\ufb01é\u0308\u0958\ufffd\ud800",
            "&amp;",
            "&lt;",
            "<<ETX>>",
            "sup",
            "lt",
            "amp",
        ]
    ),
    st.text(st.characters(exclude_categories=()), max_size=3),
)


@settings(deadline=None)
@given(st.lists(pieces, max_size=12).map("".join))
def test_cleaning_twice_is_cleaning_once_and_leaves_nothing_unprintable(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    assert cleaned == " ".join(cleaned.split())
    assert not {unicodedata.category(char) for char in cleaned} & {"Cc", "Cs", "Co"}
    cleaned.encode("utf-8")


@settings(deadline=None)
@given(st.text(st.sampled_from("abc XYZ.,;:()'\"-0123456789$\\^_{}é"), max_size=60))
def test_ordinary_text_is_only_folded(text: str) -> None:
    assert clean(text) == " ".join(text.split())


@pytest.mark.parametrize(
    ("found", "meant"),
    [
        ("A &amp; B &#239; &quot;x&quot; &amp;lt;", 'A & B ï "x" <'),
        # Abstracts as journals' pages on OJS and NCBI's eSummary have them, and as their readers see them.
        ("(p &amp;lt; 0.05) and socio &amp;ndash; demographic", "(p < 0.05) and socio – demographic"),
        ("(1 + &epsis;) and &NA; AT&T R&D; x", "(1 + &epsis;) and &NA; AT&T R&D; x"),
        ("rumor dynamicsâ\x80\x94volume", "rumor dynamics—volume"),
        ("Dijkstra\x92s", "Dijkstra’s"),
        ("<i>O</i>(<i>T</i><sup>*</sup>) <italic>x</italic>", "O(T*) x"),
        (
            "patterns<P1,...,Pm>and <document,abstract> if a<b or c>d",
            "patterns<P1,...,Pm>and <document,abstract> if a<b or c>d",
        ),
        ("the ﬁrst ﬂow suﬃcient", "the first flow sufficient"),
        ("\ufffdIn this", "In this"),
        ("soft\u00adhyphen \u202eright\u202c \u2061n", "softhyphen right n"),
        ("  a \t b\r\n\u00a0 c\u2003d ", "a b c d"),
        ("نمی\u200cخواهم", "نمی\u200cخواهم"),
    ],
)
def test_junk_goes_and_text_stays(found: str, meant: str) -> None:
    assert clean(found) == meant


def test_an_entity_of_entities_is_its_character_however_often_it_was_escaped() -> None:
    assert clean("R&" + "amp;" * 5000 + "D of &" + "amp;" * 20 + "lt;x") == "R&D of <x"


def test_without_direction_only_the_signs_of_direction_go() -> None:
    assert without_direction("a\u202eb\u2066c\u200f\u061c d\né\u200c") == "abc d\né\u200c"


def changed(title: str, abstract: Any) -> CleanedPaper | None:
    record = {"paper_id": "p", "title": title, "abstract": abstract}
    return cleaned(paper_of_record(record, ("method",)), title, abstract or "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plain text, with <P1> and AT&T.", set()),
        ("An <i>italic</i> word.", {Way.TAGS}),
        ("Two<p>paragraphs.", {Way.TAGS}),
        ("A &lt; B.", {Way.ENTITIES}),
        ("A &lt;b&gt;bold&lt;/b&gt; word.", {Way.ENTITIES, Way.TAGS}),
        ("Two  spaces.", {Way.SPACES}),
        (" One before.", {Way.SPACES}),
        ("The \ufb01rst.", {Way.CHARACTERS}),
        ("It\x92s <b>here</b>  now.", {Way.CHARACTERS, Way.TAGS, Way.SPACES}),
    ],
)
def test_the_ways_are_what_was_wrong_with_the_text(text: str, expected: set[Way]) -> None:
    assert ways(text) == expected


@given(st.text(alphabet="a &;<>i/ltgamp#92\x92\ufb01\u200b \n", max_size=30))
def test_a_text_has_a_way_exactly_where_cleaning_changes_it(text: str) -> None:
    assert bool(ways(text)) == (clean(text) != text)


def test_a_heading_and_a_lost_sentence_are_told() -> None:
    found = changed("T", ["Abstract.", "We did that.", "\u200b"])
    assert found is not None
    assert found.ways == ('a leading "Abstract."', "other characters")
    assert found.before == {"abstract": ["Abstract.", "We did that.", "\u200b"]}
    assert found.after == {"abstract": ["We did that."]}
    assert found.other_number
    assert kinds(found) == ("papers", "abstracts", *found.ways, "other number of sentences")


def test_an_abstract_of_one_string_is_not_changed_by_being_cut_into_sentences() -> None:
    assert changed("T", "  We did that.\nIt helped a lot.\n\nSo we stopped.\n") is None
    found = changed("T", "Abstract: We did <i>that</i>.\nIt helped.")
    assert found is not None
    assert found.ways == ("tags", 'a leading "Abstract."')
    assert not found.other_number


def test_counts_are_those_of_papers() -> None:
    one, other = changed("A  title", ["Abstract.", "It <b>helped</b>."]), changed("T", ["It <i>helped</i>."])
    assert one is not None
    assert other is not None
    counted: dict[str, int] = {}
    for kind in (*kinds(one), *kinds(other)):
        counted[kind] = counted.get(kind, 0) + 1
    counts = counts_of(counted)
    assert (counts.papers, counts.titles, counts.abstracts, counts.other_number) == (2, 1, 2, 1)
    assert counts.ways == (("tags", 2), ("spaces", 1), ('a leading "Abstract."', 1))
