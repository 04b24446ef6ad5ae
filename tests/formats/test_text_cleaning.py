"""Cleaning: each kind of junk that facts on CSFCube name, what must stay, and that cleaning twice is cleaning once."""

import unicodedata

import pytest
from annot.formats.cleaning import clean, without_direction
from hypothesis import given, settings
from hypothesis import strategies as st

pieces = st.one_of(
    st.sampled_from(
        [
            "&amp;",
            "&lt;",
            "i",
            ">",
            "<",
            "/",
            "&",
            ";",
            "#",
            "\x00",
            "\x85",
            "â",
            "\x80",
            "\x94",
            "ﬁ",
            "é",
            "<<ETX>>",
            "\u0308",
            "\u0958",
            " ",
            "\n",
            "\ufffd",
            "\ud800",
            "p",
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
        ("Genes, &lt;i&gt;VLDLR&lt;/i&gt; and others", "Genes, VLDLR and others"),
        ("(1 + &epsis;) and &NA; AT&T R&D; x", "(1 + &epsis;) and &NA; AT&T R&D; x"),
        ("rumor dynamicsâ\x80\x94volume", "rumor dynamics—volume"),
        ("Dijkstra\x92s", "Dijkstra’s"),
        ("a\x81b\x00c\x07d", "abcd"),
        ("widely used.<<ETX>>", "widely used."),
        ("<i>O</i>(<i>T</i><sup>*</sup>) <italic>x</italic>", "O(T*) x"),
        ('<span class="a b">word</span><p>next</p>', "word next"),
        (
            "patterns<P1,...,Pm>and <document,abstract> if a<b or c>d",
            "patterns<P1,...,Pm>and <document,abstract> if a<b or c>d",
        ),
        ("the ﬁrst ﬂow suﬃcient", "the first flow sufficient"),
        ("\ufffdIn this", "In this"),
        ("\uf020Abstract", "Abstract"),
        ("soft\u00adhyphen \u202eright\u202c \u2061n", "softhyphen right n"),
        ("  a \t b\r\n\u00a0 c\u2003d ", "a b c d"),
        ("Nai\u0308ve", "Naïve"),
        ('as"thumbs up"or $N$-ary', 'as"thumbs up"or $N$-ary'),
        ("نمی\u200cخواهم", "نمی\u200cخواهم"),
    ],
)
def test_junk_goes_and_text_stays(found: str, meant: str) -> None:
    assert clean(found) == meant


def test_an_entity_of_entities_is_its_character_however_often_it_was_escaped() -> None:
    assert clean("R&" + "amp;" * 5000 + "D of &" + "amp;" * 20 + "lt;x") == "R&D of <x"


def test_without_direction_only_the_signs_of_direction_go() -> None:
    assert without_direction("a\u202eb\u2066c\u200f\u061c d\né\u200c") == "abc d\né\u200c"
