"""Papers from JSON Lines: both styles, cleaning, and every fault of a file with its line."""

import io
import json
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.formats.cleaning import clean
from annot.formats.corpora.sections import readable
from annot.formats.corpora.tables import document, usual_paper
from annot.formats.paper_records import document_of_record, paper_of_record, read_papers
from hypothesis import example, given, settings
from hypothesis import strategies as st

LABELS = Settings().labels.names

PLAIN = {
    "paper_id": "fic0101",
    "title": "A Title",
    "year": 2001,
    "abstract": ["We tag.", "It works."],
    "labels": ["method", "result"],
    "citations": ["fic0102", "fic0102", "fic0101", 7],
    "problem": "01",
}


def read(*records: Any) -> list[Paper]:
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    return list(read_papers(lines, name="corpus.jsonl", known_labels=LABELS))


def test_an_abstract_in_one_string_is_split_and_has_no_labels() -> None:
    paper = read({"id": "1", "title": "T", "year": "2020", "abstract": "Abstract. We tag, e.g. Names.\n\nIt works."})[0]
    assert paper == Paper("1", "T", ("We tag, e.g. Names.", "It works."), 2020)


def test_a_heading_and_empty_sentences_go_with_their_labels() -> None:
    record = {
        "id": "1",
        "title": " <i>T</i> ",
        "abstract": ["Abstract.", "<<ETX>>", "A tagger.", "It\u0092s good."],
        "labels": ["other", "background", "method", "result"],
    }
    assert read(record) == [Paper("1", "T", ("A tagger.", "It’s good."), None, ("method", "result"))]


@pytest.mark.parametrize(
    ("first", "left"),
    [
        ("Abstract: We tag.", "We tag."),
        ("ABSTRACT — We tag.", "We tag."),
        ("Abstract-We tag.", "We tag."),
        ("Abstract-level rules help.", "Abstract-level rules help."),
        ("Abstract meaning is hard.", "Abstract meaning is hard."),
        ("Abstraction.", "Abstraction."),
    ],
)
def test_only_the_heading_abstract_is_taken_from_the_first_sentence(first: str, left: str) -> None:
    assert read({"id": "1", "title": "T", "abstract": [first, "Abstract."]})[0].sentences == (left, "Abstract.")


def test_every_fault_is_listed_with_its_line_and_the_good_lines_were_yielded() -> None:
    good = [{**PLAIN, "paper_id": f"p{number}"} for number in range(16)]
    bad = [
        '{"paper_id": "p17", "title": ',
        {**PLAIN, "labels": ["method", "resutl"]},
        ["p19"],
        {"title": "T", "abstrct": "x"},
        {**PLAIN, "paper_id": "a b", "year": 2001.5, "abstract": ["x", 3]},
        {**PLAIN, "abstract": "One. Two."},
        {**PLAIN, "title": 3, "citations": "x"},
    ]
    lines = [record if isinstance(record, str) else json.dumps(record) for record in [*good, *bad]]
    papers = read_papers(lines, name="corpus.jsonl", known_labels=LABELS)
    seen: list[str] = []
    with pytest.raises(InputError, match=r"corpus\.jsonl: 11 faults") as caught:
        seen.extend(paper.paper_id for paper in papers)
    assert seen == [f"p{number}" for number in range(16)]
    assert caught.value.faults == (
        "corpus.jsonl:17: not valid JSON: Expecting value at column 30",
        "corpus.jsonl:18: unknown sentence label 'resutl': did you mean 'result'?",
        'corpus.jsonl:19: found ["p19"], expected one JSON object per line',
        "corpus.jsonl:20: no field 'paper_id': found title, abstrct",
        "corpus.jsonl:20: no field 'abstract': did you mean 'abstrct'?",
        "corpus.jsonl:21: paper_id: found 'a b', expected an id without white space",
        "corpus.jsonl:21: abstract, entry 2: found 3, expected a valid string",
        "corpus.jsonl:21: year: found 2001.5, expected a valid integer",
        "corpus.jsonl:22: labels need `abstract` as a list of sentences, found one string",
        "corpus.jsonl:23: title: found 3, expected a valid string",
        "corpus.jsonl:23: citations: found 'x', expected a valid list",
    )


def test_a_file_of_another_format_stops_after_a_thousand_faults() -> None:
    with pytest.raises(InputError, match="1000 faults, reading stopped"):
        list(read_papers(("x" for _ in range(10**9)), name="corpus.txt", known_labels=LABELS))


def test_bytes_that_are_not_utf8_are_a_fault() -> None:
    file = io.TextIOWrapper(io.BytesIO(b'{"id": "1", "title": "\xff", "abstract": "x"}\n'), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_papers(file, name="x", known_labels=LABELS))
    assert "not UTF-8" in caught.value.faults[0]


@pytest.mark.parametrize("lines", [[], ["\ufeff"], ["\n", " \t\n"]])
def test_lines_without_a_paper_are_a_fault(lines: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        list(read_papers(lines, name="corpus.jsonl", known_labels=LABELS))
    assert caught.value.faults == (
        "corpus.jsonl: found no line, or only blank ones, expected one paper per line (JSON Lines)",
    )


WORDS = st.text(st.characters(codec="utf-8"), max_size=20)


@settings(deadline=None)
@given(
    st.builds(
        Paper,
        paper_id=st.from_regex(r"[\w./:-]+", fullmatch=True),
        title=WORDS,
        sentences=st.lists(WORDS, max_size=5).map(tuple),
        year=st.none() | st.integers(0, 3000),
        labels=st.none(),
        citations=st.just(("c1", "c2")),
    ),
    st.data(),
)
def test_a_written_paper_is_read_back_as_it_was_but_for_cleaning(paper: Paper, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.sampled_from(LABELS), min_size=len(paper.sentences), max_size=len(paper.sentences)))
    record = {
        "paper_id": paper.paper_id,
        "title": paper.title,
        "abstract": list(paper.sentences),
        "year": paper.year,
        "labels": labels,
        "citations": list(paper.citations),
    }
    kept = [(text, label) for one, label in zip(paper.sentences, labels, strict=True) if (text := clean(one))]
    sentences, of_kept = zip(*kept, strict=True) if kept else ((), ())
    assert read(record) == [Paper(paper.paper_id, clean(paper.title), sentences, paper.year, of_kept, paper.citations)]


ODD = st.sampled_from(
    [None, True, "", "p 1", 7, -10_000, 9_999, "1999", "19 99", 1999.0, [], "a\x00", "An A&amp;B.\n\nB."]
)


PARTS = st.sampled_from([None, [], ["method"], ["method", "result"], ["method", "nonsense"], ["method", 7], "method"])


@given(
    fields=st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("paper_id", "title", "abstract", "year"), ODD) | {"paragraph_labels": PARTS}
    )
)
def test_a_field_that_says_nothing_changes_neither_the_paper_nor_the_faults(fields: dict[str, Any]) -> None:
    record = {"paper_id": "p1", "title": "A title", "abstract": "One. Two.", "year": 1999} | fields

    def outcome(**more: object) -> object:
        try:
            return document_of_record(record | more, LABELS)
        except InputError as error:
            return error.message, [fault.partition(": found")[0] for fault in error.faults]

    assert outcome() == outcome(citations=[])


GOOD: dict[str, Any] = {"paper_id": "p", "title": "A title", "abstract": ["One.", "Two."]}


def paper_with(**changed: Any) -> Paper:
    return paper_of_record(GOOD | changed, LABELS)


def refusal(**changed: Any) -> tuple[str, tuple[str, ...]]:
    with pytest.raises(InputError) as caught:
        paper_with(**changed)
    return caught.value.message, caught.value.faults


def test_a_field_is_found_under_each_of_its_names() -> None:
    assert paper_with() == Paper("p", "A title", ("One.", "Two."))
    others = {"_id": 7, "title": None, "abstract": "One. Two three.", "metadata": {"year": 1999}}
    assert paper_of_record(others, LABELS) == Paper("7", "", ("One.", "Two three."), 1999)
    assert paper_with(id="other").paper_id == "p"
    assert paper_with(pred_labels=["method_label", "other"]).labels == ("method", "other")
    assert paper_with(outbound_citations=[1, "b", 1, "p"]).citations == ("1", "b")
    assert paper_with(abstract=None).sentences == ()
    assert paper_with(text="never read").sentences == ("One.", "Two.")


TEXTS = st.text(st.sampled_from("Ab.: &;<i>$\\\n\tä\x7f"), max_size=12) | st.sampled_from(["Abstract. We.", "x", ""])
OTHERS = {"id": "q", "citations": ["c"], "labels": None, "language": "de", "metadata": {"year": 7}, "authors": ["A"]}


@given(
    st.fixed_dictionaries(
        {"paper_id": TEXTS, "title": TEXTS, "abstract": st.lists(TEXTS, max_size=3)},
        optional={"year": st.sampled_from([1999, True, "1999", 10_000, None])}
        | {name: st.just(value) for name, value in OTHERS.items()},
    )
)
@example({**GOOD, "authors": ["A"], "year": 1999})
def test_a_usual_paper_is_what_the_long_way_makes_of_its_record(record: dict[str, Any]) -> None:
    if (paper := usual_paper(record)) is None:
        assert record["title"] != GOOD["title"]
        return
    fields, notes = document(record), list[tuple[str, str]]()
    readable_record, changes = readable(fields, published=False)
    assert document_of_record(readable_record, LABELS, noted=notes) == paper
    assert changes(paper) is None
    assert not notes


@pytest.mark.parametrize(
    ("value", "year"), [(1999, 1999), ("1999", 1999), ("-5", -5), (9999, 9999), (-9999, -9999), (None, None), (0, 0)]
)
def test_a_year_has_at_most_four_digits(value: object, year: int | None) -> None:
    assert paper_with(year=value).year == year


@pytest.mark.parametrize("value", [10_000, -10_000, "19999", "1999.0", True, 1.5, ""])
def test_another_year_is_refused(value: object) -> None:
    message, (fault,) = refusal(year=value)
    assert message == "year cannot be used"
    assert fault.startswith(f"year: found {value!r}, ")


def test_labels_that_are_cut_off_are_none_and_others_have_to_fit() -> None:
    assert paper_with(pred_labels=["method"], pred_labels_truncated=True).labels is None
    assert paper_with(labels=["method", "other"], pred_labels_truncated=True).labels == ("method", "other")
    wrong = "labels do not fit the sentences"
    assert refusal(labels=["method"]) == (wrong, ("1 label for 2 sentences",))
    assert refusal(labels=["method"] * 3, pred_labels_truncated=True) == (wrong, ("3 labels for 2 sentences",))
    assert refusal(labels=["method"], abstract="One.") == (
        wrong,
        ("labels need `abstract` as a list of sentences, found one string",),
    )
    assert refusal(labels=["methd", "other"])[1] == ("unknown sentence label 'methd': did you mean 'method'?",)
