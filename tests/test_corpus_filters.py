"""Which papers are kept: each reason by itself, the order of reasons, duplicates by id and by title."""

import json
from collections import Counter
from pathlib import Path

import pytest
from annot.base.records import Paper
from annot.base.settings import CorpusSettings
from annot.corpus.corpus_filters import Rejection, Tally, marks_of, rejection
from annot.formats.cleaning import normalised_title
from hypothesis import given, settings
from hypothesis import strategies as st

SETTINGS = CorpusSettings()
FOUR = "one two three four"


def paper(paper_id: str = "p1", title: str = "Title", sentences: tuple[str, ...] = (FOUR,) * 3) -> Paper:
    return Paper(paper_id, title, sentences)


def kept_of(
    papers: list[Paper], tally: Tally, *, settings: CorpusSettings = SETTINGS, cut: int | None = None
) -> list[Paper]:
    """The papers that the tally takes, given to it in two lots or in one."""
    lots = [papers] if cut is None else [papers[:cut], papers[cut:]]
    return [lot[at] for lot in lots for at in tally.take(marks_of(lot, settings))]


@pytest.mark.parametrize(
    ("sentences", "reason"),
    [
        ((FOUR,) * 3, None),
        ((FOUR,) * 20, None),
        ((FOUR,) * 2, Rejection.FEW_SENTENCES),
        ((FOUR,) * 21, Rejection.MANY_SENTENCES),
        ((" ".join(["w"] * 80), FOUR, FOUR), None),
        ((" ".join(["w"] * 81), FOUR, FOUR), Rejection.LONG_SENTENCE),
        (("one two three",) * 3, Rejection.SHORT_SENTENCES),
        (("one two three", "one", FOUR), None),
        ((), Rejection.NO_ABSTRACT),
        (("", " ", ""), Rejection.NO_ABSTRACT),
        ((" ".join(["w"] * 81),), Rejection.FEW_SENTENCES),
    ],
)
def test_the_first_reason_by_the_limits_of_the_datasheet(sentences: tuple[str, ...], reason: Rejection | None) -> None:
    assert rejection(paper(sentences=sentences), SETTINGS) is reason


def test_a_paper_without_title_is_not_kept() -> None:
    assert rejection(paper(title=" "), SETTINGS) is Rejection.NO_TITLE
    untitled = CorpusSettings(require_title=False)
    assert rejection(paper(title=" "), untitled) is None
    assert rejection(paper(title="", sentences=("",)), untitled) is Rejection.NO_ABSTRACT


def test_a_passage_shares_its_title_with_its_document_and_counts_as_another_with_another_document() -> None:
    tally = Tally()
    first, second = (Paper(name, "On Bees", (FOUR,) * 3, part_of="d1") for name in ("d1-1", "d1-2"))
    moved = Paper("d1-1", "On Bees", (FOUR,) * 3, part_of="d9")
    assert kept_of([first, second, first, moved, paper("p3", "On Bees")], tally) == [
        *(first, second, paper("p3", "On Bees"))
    ]
    assert tally.same_title == []
    assert tally.rejected == {Rejection.DUPLICATE_ID: 1, Rejection.DIFFERING_ID: 1}


def test_the_first_good_paper_of_an_id_is_kept_and_the_others_are_told_apart() -> None:
    tally = Tally()
    papers = [
        paper("p1", "First", (FOUR,)),
        paper("p1", "Second"),
        paper("p1", "Second"),
        paper("p1", "Third"),
        paper("p2", "Other"),
    ]
    kept = kept_of(papers, tally)
    assert kept == [papers[1], papers[4]]
    assert (tally.read, tally.kept) == (5, 2)
    assert tally.rejected == {Rejection.FEW_SENTENCES: 1, Rejection.DUPLICATE_ID: 1, Rejection.DIFFERING_ID: 1}
    assert tally.differing == ["p1"]
    assert tally.same_title == []


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            paper,
            st.sampled_from("abc"),
            st.sampled_from(("T", "t.", "U")),
            st.integers(0, 25).map(lambda n: (FOUR,) * n),
        ),
        max_size=30,
    ),
    st.integers(0, 30),
)
def test_every_paper_is_kept_or_counted_once_as_one_by_one(papers: list[Paper], cut: int) -> None:
    tally = Tally()
    kept = kept_of(papers, tally, cut=cut)
    first: dict[str, Paper] = {}
    rejected: Counter[Rejection] = Counter()
    for one in papers:
        if one.paper_id in first:
            same = first[one.paper_id] == one
            rejected[Rejection.DUPLICATE_ID if same else Rejection.DIFFERING_ID] += 1
        elif (reason := rejection(one, SETTINGS)) is not None:
            rejected[reason] += 1
        else:
            first[one.paper_id] = one
    assert kept == list(first.values())
    assert (tally.read, tally.kept, tally.rejected) == (len(papers), len(first), rejected)
    titles: dict[str, str] = {}
    pairs = [(titles.setdefault(normalised_title(one.title), one.paper_id), one.paper_id) for one in kept]
    assert tally.same_title == [pair for pair in pairs if pair[0] != pair[1]]
    assert kept_of(kept, Tally()) == kept


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('All You Need is"Love"', "All you need is “love”."),
        ("Straße", "STRASSE"),
        ("Naïve Bayes", "Nai\u0308ve  bayes"),
        ("The ﬁrst x²", "the first X2"),
        ("ΛΌΓΟΣ", "λόγος"),
    ],
)
def test_titles_that_differ_in_writing_only_are_the_same(one: str, other: str) -> None:
    assert normalised_title(one) == normalised_title(other) != ""


def test_the_released_papers_pass_the_filters_that_their_authors_used(shared: Path) -> None:
    """CSFCube's datasheet: its corpus was filtered so before anything was drawn from it."""
    tally = Tally()
    with (shared / "csfcube" / "abstracts-csfcube-preds.jsonl").open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    papers = [Paper(one["paper_id"], one["title"], tuple(one["abstract"]), one["metadata"]["year"]) for one in records]
    kept = kept_of(papers, tally)
    assert (tally.read, len(kept), tally.rejected) == (3368, 3368, Counter())


def test_ids_that_look_alike_are_paired_with_those_of_this_and_of_earlier_files() -> None:
    """NFC and NFD of é, the ligature ﬁ, the full-width 1 (Unicode's own examples of equivalence), and case."""
    earlier = [paper("A1"), paper("caf\u00e9"), paper("x"), paper("X")]
    later = [
        paper("a1"),
        paper("cafe\u0301"),
        paper("\ufb01n"),
        paper("fin"),
        paper("FIN"),
        paper("\uff12"),
        paper("3"),
    ]
    tally = Tally()
    tally.remember(marks_of(earlier, None))
    kept_of(later, tally, cut=4)
    pairs = {frozenset(pair) for pair in tally.alike_ids(len(earlier))}
    assert pairs == {
        frozenset(pair) for pair in (("A1", "a1"), ("caf\u00e9", "cafe\u0301"), ("\ufb01n", "fin"), ("\ufb01n", "FIN"))
    }
    assert ("x", "X") in tally.alike_ids(0)
    assert Tally().alike_ids(0) == []
