"""What cleaning changed is told paper by paper, and in which ways."""

from typing import Any

import pytest
from annot.formats.cleaning import CleanedPaper, Way, clean, cleaned, counts_of, kinds, ways
from annot.formats.paper_records import paper_of_record
from hypothesis import given
from hypothesis import strategies as st


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
