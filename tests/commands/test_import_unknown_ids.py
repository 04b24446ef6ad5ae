"""Judgements of documents and by names that a spreadsheet or a typist changed: listed, and refused unless a switch says
what to do with them."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import Result, annot, annot_done, difference, snapshot

HEADER = "query,document,assessor,grade\n"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A topic and five documents, whose ids spreadsheets change."""
    folder = tmp_path / "study"
    annot_done("init", folder, "--kind", "topics", folder=tmp_path)
    settings = folder / "annot.toml"
    settings.write_text(settings.read_text().replace("min_sentences = 3", "min_sentences = 1"))
    rows = "".join(f'{name},On {name},"Bees dance in the field at noon. They fly."\n' for name in IDS)
    (folder / "docs.csv").write_text(f"id,title,text\n{rows}", encoding="utf-8")
    annot_done("corpus", "add", "docs.csv", folder=folder)
    annot_done("query", "add", "--id", "001", "--text", "What do bees do?", folder=folder)
    return folder


IDS = ("a", "100000", "MAR1", "007", "de\ufb01ne")


def brought(study: Path, *rows: str, options: tuple[str, ...] = ()) -> Result:
    (study / "j.csv").write_text(HEADER + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return annot("import", "j.csv", "--as", "judgements", *options, folder=study)


def grades(study: Path) -> dict[tuple[str, str], Any]:
    with closing(sqlite3.connect(study / "annot.db")) as connection:
        rows = connection.execute("SELECT doc_id, assessor, grade FROM judgement ORDER BY id").fetchall()
    return {(document, person): grade for document, person, grade in rows}


def test_every_unknown_id_is_listed_with_its_rows_and_what_it_was(study: Path) -> None:
    before = snapshot(study)
    rows = ("001,1E+05,Ada,1", "001,1E+05,Ben,0", "001,1-Mar,Ada,1", "001,7,Ada,1", "001,DEFINE,Ada,1", "001,x,Ada,1")
    refused = brought(study, *rows, "002,a,Ada,1", "001,a,ADA,1")
    assert refused.exit_code == 2
    for fault in (
        "j.csv:2, 3: document '1E+05': not in this study; it looks like a number in scientific notation",
        "j.csv:4: document '1-Mar': not in this study; it looks like a date written by a spreadsheet",
        "j.csv:5: document '7': not in this study; the corpus has '007' (a spreadsheet removes leading zeros)",
        "j.csv:6: document 'DEFINE': not in this study; the corpus has 'de\ufb01ne'",
        "j.csv:7: document 'x': not in this study",
        "j.csv:8: topic '002': not in this study; did you mean '001'?",
        "'Ada' (j.csv:2) and 'ADA' (j.csv:9) differ only in case",
        "--foreign drop",
        "--same-person",
    ):
        assert fault in refused.message()
    assert difference(before, snapshot(study)) == ["j.csv"]


def test_unknown_ids_are_left_out_or_kept_if_the_lead_says_so(study: Path) -> None:
    rows = ("001,a,Ada,1", "001,1E+05,Ada,1", "002,a,Ada,1")
    dropped = brought(study, *rows, options=("--foreign", "drop"))
    assert dropped.exit_code == 0, dropped.stderr
    assert "2 rows left out because of 2 unknown ids: 1E+05, 002" in dropped.stderr
    assert grades(study) == {("a", "a1"): 1}
    kept = brought(study, *rows[:2], options=("--foreign", "keep"))
    assert kept.exit_code == 0, kept.stderr
    assert "1 unknown id kept without a text" in kept.stderr
    assert grades(study) == {("a", "a1"): 1, ("1E+05", "a1"): 1}
    # What was kept once is on record: leaving its row out of a further import does not take it back, and says so.
    again = brought(study, *rows[:2], options=("--foreign", "drop"))
    assert "1 pair left out now was imported earlier and still on record" in again.stderr
    nothing_left = brought(study, rows[1], options=("--foreign", "drop"))
    assert nothing_left.exit_code == 2
    assert "so no row is left" in nothing_left.stderr
    # A topic without a text can be judged by nobody and is never kept.
    assert brought(study, rows[2], options=("--foreign", "keep")).exit_code == 2


# -- names -------------------------------------------------------------------------------------------------------------

THREE = ("001,a,Ada  B,1", "001,MAR1, ada b ,2", "001,007,ADAB,0", "001,a,Ben,1")


@pytest.mark.parametrize(("option", "people"), [("--same-person", 2), ("--different-people", 4)])
def test_one_person_or_several_as_the_lead_says(study: Path, option: str, people: int) -> None:
    assert brought(study, *THREE, options=(option,)).exit_code == 0
    assert len({person for _, person in grades(study)}) == people
    again = brought(study, *THREE, options=(option,))
    assert "0 new, 0 changed, 4 already in the study" in again.stdout
    # Names that are on record word for word are asked about once.
    assert brought(study, *THREE).exit_code == (0 if people == 4 else 2)
    # Of a further spelling one can only say whose it is if there is one such person.
    further = brought(study, "001,100000,aDaB,1", options=("--same-person",))
    assert further.exit_code == (2 if people == 4 else 0)
    assert len({person for _, person in grades(study)}) == people


def test_an_address_is_not_repeated(study: Path) -> None:
    refused = brought(study, "001,a,ada@example.org,1", "001,a,Ada@example.org,0")
    assert refused.exit_code == 2
    assert "an address (j.csv:2) and an address (j.csv:3)" in refused.message()
    assert "example.org" not in refused.stderr


# -- grades ------------------------------------------------------------------------------------------------------------


def test_a_pseudonym_of_another_case_is_refused(study: Path) -> None:
    annot_done("assessor", "add", "a1", "--account", "one@example.org", folder=study)
    refused = annot("assessor", "add", "A1", "--account", "two@example.org", folder=study)
    assert refused.exit_code == 2
    assert "differs from a1 only in case" in refused.message()
    assert annot_done("assessor", "add", "a1", "--account", "one@example.org", folder=study).exit_code == 0


def test_one_person_judges_a_pair_once_under_all_spellings(study: Path) -> None:
    refused = brought(study, "001,a,Ada,1", "001,a,ADA,0", options=("--same-person",))
    assert refused.exit_code == 2
    assert "j.csv:3: 001 a: a1 judged the pair on line 2 already" in refused.message()
