"""Full texts as S2ORC writes them: which papers each sentence or paragraph cites."""

import json
from typing import Any

import pytest
from annot.base.errors import InputError
from annot_systems.citing_texts import Context, read_citing_texts

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
