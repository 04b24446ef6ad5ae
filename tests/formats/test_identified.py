"""Ids of records of libraries: one form for all spellings, the id that a paper takes, and ids that are made."""

import json
import subprocess
import sys
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.settings import CorpusSettings, IdKind, Settings
from annot.formats.cleaning import ID_KINDS, identified, normalised_id, typed
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

SICI = "10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o"


@pytest.mark.parametrize(
    ("raw", "doi"),
    [
        ("https://doi.org/10.1145/3397271.3401075", "10.1145/3397271.3401075"),
        ("http://dx.doi.org/10.1016/J.IPM.2020.102", "10.1016/j.ipm.2020.102"),
        ("doi:10.1000.10/123.", "10.1000.10/123"),
        ("10.1000/182 [doi]", "10.1000/182"),
        ("https://doi-org.proxy.example.edu/10.1000/182?sid=x#a", "10.1000/182"),
        ("10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O", SICI),
        ("https://doi.org/10.1002/%28SICI%291097-4571%28199806%2949%3A8%3C693%3A%3AAID-ASI4%3E3.0.CO%3B2-O", SICI),
        ("10.1016/0140-6736(92)90260-(x)", "10.1016/0140-6736(92)90260-(x)"),
        ("\ufeff10.1000/182\u200b", "10.1000/182"),
        ("10.12/x", None),
        ("10.1000/..", None),
    ],
)
def test_all_spellings_of_a_doi_are_one(raw: object, doi: str | None) -> None:
    assert normalised_id("doi", raw) == doi


@pytest.mark.parametrize(
    ("raw", "pmid"),
    [
        (12345678, "12345678"),
        (12345678.0, "12345678"),
        ("pmid123.1", "123"),
        ("https://pubmed.ncbi.nlm.nih.gov/123/", "123"),
        ("PMID: 123; PMCID: PMC456", "123"),
        ("PMC456", None),
        ("1234567890", None),
        ("0", None),
    ],
)
def test_all_spellings_of_a_pmid_are_its_digits(raw: object, pmid: str | None) -> None:
    assert normalised_id("pmid", raw) == pmid


@pytest.mark.parametrize(
    ("kind", "raw", "expected"),
    [
        ("openalex", "https://openalex.org/W2741809807", "W2741809807"),
        ("openalex", "https://api.openalex.org/works/w2741809807", "W2741809807"),
        ("openalex", "https://openalex.org/A5023888391", None),
        ("key", " Smith\t2020 a ", "Smith_2020_a"),
        ("key", "Mü\x00ller", "Müller"),
        ("key", "17", None),
        ("key", "x" * 501, None),
    ],
)
def test_openalex_ids_and_keys(kind: IdKind, raw: object, expected: str | None) -> None:
    assert normalised_id(kind, raw) == expected


def test_what_looks_like_a_work_of_openalex_is_one_only_if_it_is_called_so() -> None:
    found = [typed(kind, "W12") for kind in ("openalex", "key", "pmid", "doi")]
    assert found == ["openalex:W12", "key:W12", None, None]


@given(st.sampled_from(ID_KINDS), st.text(max_size=60) | st.text("10./(<>)W%3C pmid:&;", max_size=60))
def test_an_id_is_its_own_normal_form_and_has_no_white_space(kind: IdKind, raw: str) -> None:
    one = normalised_id(kind, raw)
    if one is not None:
        assert one.isprintable()
        assert not any(char.isspace() for char in one)
        assert normalised_id(kind, one) == one


RECORD: dict[str, Any] = {
    "title": "A title",
    "abstract": "A text.",
    "year": 2020,
    "key": "smith 2020",
    "openalex": "https://openalex.org/W7",
    "pmid": "PMID: 5",
    "doi": "10.1000/X",
    "cited": [("doi", "10.1000/Y"), ("pmid", 9), ("doi", "https://doi.org/10.1000/y"), ("openalex", "no id")],
}


def test_a_paper_takes_the_first_id_in_the_order_and_keeps_the_others() -> None:
    found = identified(RECORD, ID_KINDS)
    assert found.record == {"paper_id": "10.1000/x", "title": "A title", "abstract": "A text.", "year": 2020}
    assert found.ids == ("doi:10.1000/x", "pmid:5", "openalex:W7")
    assert found.cites == ("doi:10.1000/y", "pmid:9")
    assert not found.made
    for order, paper_id in ((["pmid"], "5"), (["key", "doi"], "smith_2020"), (["openalex", "key"], "W7")):
        again = identified(RECORD, order)
        assert (again.record["paper_id"], again.ids) == (paper_id, found.ids)
    assert identified({"key": "k", "title": "T"}, ["pmid"]).record["paper_id"] == "k"


def test_the_order_is_a_setting() -> None:
    assert CorpusSettings().ids == ID_KINDS
    assert Settings.model_validate({"corpus": {"ids": ["pmid", "doi"]}}).corpus.ids == ("pmid", "doi")
    for wrong in ([], ["doi", "doi"], ["isbn"]):
        with pytest.raises(ValidationError):
            CorpusSettings.model_validate({"ids": wrong})


def made(**fields: object) -> str:
    found = identified(fields, ID_KINDS)
    assert found.made
    assert found.ids == ()
    return str(found.record["paper_id"])


def test_a_record_without_an_id_has_one_made_from_its_title_and_year() -> None:
    long = "The history of the reading room of a provincial library"
    one = made(title=long, year=1999, key="12")
    assert one.startswith("made-")
    assert len(one) == 17
    assert one == made(title=f"<i>{long.upper()}</i>.", year="1999", abstract="Whatever.")
    assert one != made(title=long, year=2000)
    assert made(title="Editorial", year=1999, abstract="One.") != made(title="Editorial", year=1999, abstract="Two.")
    parts = [("AIM", "OBJECTIVE", "One."), ("", "", "Two.")]
    assert made(title="Editorial", abstract="One.  Two.") == made(title="Editorial", sections=parts)


def test_the_made_id_is_the_same_in_another_process() -> None:
    code = (
        "import json; from annot.formats.cleaning import identified\n"
        "print(json.dumps(identified({'title': 'Zoë'}, ()).record['paper_id']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == made(title="Zoë")


@pytest.mark.parametrize("title", [None, "", "???", 7])
def test_a_record_without_an_id_and_a_title_has_none(title: object) -> None:
    with pytest.raises(InputError, match="no id") as caught:
        identified({"title": title, "abstract": "A text.", "doi": "unknown"}, ID_KINDS)
    assert caught.value.faults == ("found no id and no title, expected one of them",)


@pytest.mark.parametrize("text", ["NA", "n/a ", "None", "-", "[No abstract available]", "No abstract is available."])
def test_words_in_place_of_an_abstract_are_none(text: str) -> None:
    """R writes `AB  - NA` for every record without an abstract, and Scopus a sentence."""
    assert identified({"title": "T", "abstract": text, "doi": "10.1/a"}, ID_KINDS).record["abstract"] is None
    assert identified({"title": "T", "abstract": f"{text} x", "doi": "10.1/a"}, ID_KINDS).record["abstract"]
