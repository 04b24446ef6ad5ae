"""`annot corpus add` of exports: notices, retractions, notes and lists that are printed and written, and exit codes."""

import csv
import json
from pathlib import Path

import pytest
from command_line import annot, annot_done

SENTENCES = "Bees dance in field {0} today. Dances point to flowers {0}. We counted {0} dances in all."


@pytest.fixture
def study(tmp_path: Path) -> Path:
    annot_done("init", "study", folder=tmp_path)
    return tmp_path / "study"


def ris(number: int, *, title: str = "Dances of bees", after: str = "", lines: str = "") -> str:
    abstract = f"{SENTENCES.format(number)}{after}"
    return f"TY  - JOUR\nID  - k{number}\nTI  - {title} {number}\nAB  - {abstract}\n{lines}PY  - 2001\nER  - \n\n"


def write(study: Path, name: str, text: str) -> str:
    (study / name).write_text(text, encoding="utf-8")
    return name


def test_notices_are_cut_counted_by_rule_and_shown_with_an_example(study: Path) -> None:
    notices = [
        " (C) 2021 Elsevier Ltd",
        " (C) 2020 Elsevier Ltd",
        " (PsycInfo Database Record (c) 2022 APA, all rights reserved)",
    ]
    name = write(study, "scopus.ris", "".join(ris(number, after=notices[number % 3]) for number in range(6)))
    added = annot_done("corpus", "add", name, folder=study).stdout
    assert "a notice: copyright in 4, a notice: database record of APA in 2" in added.replace("\n", " ")
    assert "    copyright: (C) 2021 Elsevier Ltd\n" in added
    (path,) = (study / "corpus").glob("cleaned-*.jsonl")
    written = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [one["notices"][0][1] for one in written] == [notices[number % 3].strip() for number in range(6)]
    assert all(one["before"]["abstract"].endswith(one["notices"][0][1]) for one in written)
    assert all(len(one["after"]["abstract"]) == 3 for one in written)
    assert "all of these texts before and after" in added


def test_retracted_papers_and_parts_left_out_are_counted_and_all_ids_are_in_a_file(study: Path) -> None:
    text = (
        ris(1, title="RETRACTED: Dances") + ris(2, lines="M3  - Retracted\n") + ris(3, lines="AB  - A second text.\n")
    )
    name = write(study, "a.ris", text + ris(4) + ris(4).replace("ID  - k4", "ID  - k5"))
    rows = 'id,title,abstract,year\nt1,One,"{0}",n.d.\nt2,NA,"{0}",NA\nt3,Three,NA,2001-05-03\n'
    table = write(study, "a.csv", rows.format(SENTENCES.format(9)))
    done = annot("corpus", "add", name, table, folder=study)
    assert done.exit_code == 0
    assert "2 papers retracted or withdrawn (kept): k1, k2\n" in done.stdout
    assert "1 record: several lines of abstract were joined; the first: a.ris:16: A second text.\n" in done.stdout
    assert "1 record: a year that cannot be used was left out; the first: a.csv:2: n.d.\n" in done.stdout
    assert "PRISMA diagram: 8 identified, 1 duplicate removed, 2 removed for other reasons, 5 to screen" in done.stdout
    (path,) = (study / "corpus").glob("lists-*.csv")
    with path.open(encoding="utf-8-sig", newline="") as file:
        lists = [tuple(row.values()) for row in csv.DictReader(file)]
    assert lists == [
        ("left out: no title", "t2", ""),
        ("left out: no abstract", "t3", ""),
        ("left out: another record of a paper that is kept", "k5", "k4"),
        ("kept: retracted or withdrawn", "k1", ""),
        ("kept: retracted or withdrawn", "k2", ""),
    ]


def lines(good: int, bad: int) -> str:
    records = [{"paper_id": f"p{at}", "title": f"T{at}", "abstract": SENTENCES.format(at)} for at in range(good)]
    return "".join(f"{json.dumps(one)}\n" for one in records) + "{broken\n" * bad


@pytest.mark.parametrize(("papers", "shown"), [(4, False), (5, True)])
def test_a_sentence_of_five_papers_and_one_in_a_hundred_is_shown_with_its_count(
    study: Path, papers: int, shown: bool
) -> None:
    said = " Printed with permission of the bakers."
    name = write(study, "a.ris", "".join(ris(at, after=said if at < papers else "") for at in range(120)))
    added = annot_done("corpus", "add", name, "--dry-run", folder=study).stdout
    assert (f"    {papers}  {said.strip()}\n" in added) is shown
    if shown:
        more = write(study, "b.ris", "".join(ris(at, after=said if at < papers else "") for at in range(600)))
        assert said.strip() not in annot_done("corpus", "add", more, "--dry-run", folder=study).stdout
