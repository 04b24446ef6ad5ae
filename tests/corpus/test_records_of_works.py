"""Records of libraries are told apart in lots as they would be one by one, whatever the lots and the calls."""

from collections import Counter

import numpy as np
import pyarrow as pa
from annot.base.records import Paper
from annot.base.settings import CorpusSettings
from annot.corpus.corpus_filters import Ids, Marks, Rejection, Tally, hashes_of, marks_of
from annot.formats.cleaning import work_text
from hypothesis import given, settings
from hypothesis import strategies as st

SETTINGS = CorpusSettings(min_sentences=1)
Record = tuple[Paper, Ids]

LONG = "A title of one work that is longer than thirty letters"
KNOWN_BY = st.lists(st.sampled_from(("doi:1", "doi:2", "pmid:1", "pmid:2", "openalex:W1")), max_size=3, unique=True)
RECORDS = st.builds(
    lambda paper_id, title, year, text, ids: (Paper(paper_id, title, (text,) if text else (), year), ids),
    st.sampled_from("abcdefgh"),
    st.sampled_from((LONG, f"{LONG}, too", "Editorial", "???")),
    st.sampled_from((2020, 2021, None)),
    st.sampled_from(("One two three four five.", "Six seven eight nine ten.", "")),
    st.none() | KNOWN_BY.map(tuple),
)


def marks(lot: list[Record]) -> Marks:
    return marks_of([paper for paper, _ in lot], SETTINGS, [ids for _, ids in lot], works=True)


def names_of(paper: Paper, ids: Ids) -> list[str]:
    """What the record is known by beside its own id, in the order in which it is looked up."""
    work = work_text(paper.title, paper.year, " ".join(paper.sentences)) if paper.year is not None else ""
    return [*(ids or ()), *([work] if work else [])]


def one_by_one(records: list[Record]) -> tuple[list[Paper], Counter[Rejection], list[tuple[str, str]]]:
    """In plain dictionaries, each record when it comes."""
    kept: dict[str, Paper] = {}
    known: dict[str, str] = {}
    rejected: Counter[Rejection] = Counter()
    pairs = []
    for paper, ids in records:
        names = names_of(paper, ids)
        of = next((known[name] for name in names if name in known), None)
        there = kept.get(paper.paper_id)
        if there is not None:
            rejected[Rejection.DUPLICATE_ID if there == paper else Rejection.DIFFERING_ID] += 1
        elif of is not None and ids is not None:
            rejected[Rejection.SAME_PAPER] += 1
            pairs.append((of, paper.paper_id))
        elif not paper.sentences:
            rejected[Rejection.NO_ABSTRACT] += 1
        else:
            kept[paper.paper_id] = paper
            of = paper.paper_id if of is None else of
        if of is not None:
            for name in names:
                known.setdefault(name, of)
    return list(kept.values()), rejected, pairs


@settings(deadline=None, max_examples=300)
@given(st.lists(RECORDS, max_size=25), st.integers(0, 25))
def test_lots_give_what_one_by_one_gives(records: list[Record], cut: int) -> None:
    tally = Tally()
    lots = [lot for lot in (records[:cut], records[cut:]) if lot]
    taken = [lot[at][0] for lot in lots for at in tally.take(marks(lot))]
    kept, rejected, pairs = one_by_one(records)
    assert taken == kept
    assert tally.rejected == rejected
    assert sorted(tally.same_paper) == sorted(pairs)
    assert (tally.read, tally.kept) == (len(records), len(kept))


def test_papers_of_an_earlier_call_are_known_by_their_other_ids() -> None:
    tally = Tally()
    tally.remember(marks_of([Paper("a", LONG, ("x",), 2020), Paper("b", "Editorial", ("x",))], None, works=True))
    tally.know(pa.array(["b", "gone", "b"]), hashes_of(["pmid:1", "pmid:2", "doi:3"]))
    lot: list[Record] = [
        (Paper("1", "Other", ("y z y z y.",)), ("pmid:1",)),
        (Paper("2", "Other", ("y z y z y.",)), ("pmid:2",)),
        (Paper("3", LONG.upper(), ("y z y z y.",), 2020), ()),
    ]
    assert tally.take(marks(lot)).tolist() == [1]
    assert tally.same_paper == [("b", "1"), ("a", "3")]
    owners = tally.owners(marks(lot).works)
    assert tally.ids_at(owners).to_pylist() == ["b", "2", "a"]
    assert tally.owners(np.array([[0, 0, 0, 0], [7, 0, 0, 0]], np.uint64)).tolist() == [-1, -1]


def test_a_short_title_is_told_with_its_text_and_a_sign_of_chinese_says_more() -> None:
    assert work_text("Introduction to the special issue", 2020, "One.") != work_text(
        "Introduction to the special issue", 2020, "Two."
    )
    for title in (LONG, "机器翻译中的注意力机制研究"):
        assert work_text(title, 2020, "One.") == work_text(f"{title}.", 2020, "Two.") != ""
        assert work_text(title, 2020, "One.") != work_text(title, 2021, "One.")
    assert work_text("机器翻译", 2020, "One.") != work_text("机器翻译", 2020, "Two.")
    assert work_text("...", 2020, "One.") == ""
