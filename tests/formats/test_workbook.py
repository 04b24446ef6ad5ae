"""Papers in workbooks of Excel: as openpyxl writes them, as Excel does (texts shared), and as nobody should."""

import builtins
import datetime
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from annot.base.errors import InputError
from annot.formats.corpora.pieces import BrokenRecord, Piece
from annot.formats.corpora.tables import WORKBOOK, records, table_paper
from openpyxl.worksheet.formula import ArrayFormula

HEADER = ["Authors", "Article Title", "Abstract", "Publication Year", "DOI", "Pubmed Id"]
ROW = ["A, B", "A <i>title</i> & “more”", "An abstract.\nWith é and 𝒳.", 2004, "10.1/a", 12345]
READ = {
    **{"title": "A <i>title</i> & “more”", "abstract": "An abstract.\nWith é and 𝒳.", "year": "2004"},
    **{"doi": "10.1/a", "pmid": "12345"},
}


def written(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def rows(path: Path) -> list[tuple[int, Any]]:
    return list(records(Piece(str(path), "xlsx", 0, None)))


def papers(path: Path) -> list[dict[str, Any]]:
    return [table_paper(row) for _, row in rows(path) if row is not None]


MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PARTS = {
    "[Content_Types].xml": f"""<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{TYPE}.worksheet+xml"/>
<Override PartName="/xl/styles.xml" ContentType="{TYPE}.styles+xml"/>
<Override PartName="/xl/sharedStrings.xml" ContentType="{TYPE}.sharedStrings+xml"/></Types>""",
    "xl/workbook.xml": f"""<workbook {MAIN} xmlns:r="{OFFICE}"><sheets>
<sheet name="savedrecs" sheetId="1" r:id="rId1"/></sheets></workbook>""",
    "xl/_rels/workbook.xml.rels": f"""<Relationships
xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>
<Relationship Id="rId2" Type="{OFFICE}/styles" Target="styles.xml"/>
<Relationship Id="rId3" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>""",
    "xl/styles.xml": f"""<styleSheet {MAIN}><cellXfs count="1"><xf numFmtId="0"/></cellXfs></styleSheet>""",
}


def excel(path: Path, sheet: str, strings: Sequence[str] = (), **parts: str) -> Path:
    """A workbook in which cells share their texts, as Excel writes it; sheet: its rows, strings: XML of each text."""
    named = {name.replace("__", "/").replace("_xml", ".xml"): text for name, text in parts.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {
            **PARTS,
            "xl/sharedStrings.xml": f"<sst {MAIN}>{''.join(f'<si>{one}</si>' for one in strings)}</sst>",
            "xl/worksheets/sheet1.xml": f'<worksheet {MAIN}><dimension ref="A1:XFD1048576"/><sheetData>{sheet}'
            "</sheetData></worksheet>",
            **named,
        }.items():
            archive.writestr(name, text)
    return path


def shared(numbers: Sequence[int], row: int) -> str:
    cells = (f'<c r="{chr(65 + at)}{row}" t="s"><v>{number}</v></c>' for at, number in enumerate(numbers))
    return f'<row r="{row}" spans="1:3" ht="15" customHeight="1">{"".join(cells)}</row>'


def test_cells_are_read_as_text_whatever_their_type(tmp_path: Path) -> None:
    path = written(tmp_path / "p.xlsx", {"Sheet1": [HEADER, ROW, [], ["C", "Other", None, 2004.0, "", 7.0]]})
    second = {"title": "Other", "abstract": "", "year": "2004", "doi": None, "pmid": "7"}
    assert papers(path) == [READ, second]
    assert [place for place, _ in rows(path)] == [2, 4]


def test_a_year_may_be_a_date(tmp_path: Path) -> None:
    header = ["id", "title", "abstract", "year"]
    day = datetime.datetime(2004, 5, 1, 12)
    path = written(
        tmp_path / "p.xlsx", {"S": [header, [1, "A", "B", day], [2, "A", "B", day.date()], [3.0, "A", "B", 1e9]]}
    )
    assert [one["year"] for one in papers(path)] == ["2004", "2004", "1000000000"]
    assert [one["paper_id"] for one in papers(path)] == ["1", "2", "3"]


def test_formulas_are_text_and_nothing_is_computed(tmp_path: Path) -> None:
    link = '=HYPERLINK("http://x", "A title")'
    array = ArrayFormula("C2:C2", "=SUM(1,2)")
    path = written(
        tmp_path / "p.xlsx", {"S": [["id", "title", "text"], [1, link, array], [2, "=1+1", "=cmd|' /C calc'!A0"]]}
    )
    assert papers(path) == [
        {"paper_id": "1", "title": link, "abstract": "=SUM(1,2)"},
        {"paper_id": "2", "title": "=1+1", "abstract": "=cmd|' /C calc'!A0"},
    ]


def test_the_first_visible_sheet_with_papers_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path / "p.xlsx",
        {
            "Read me": [["How these were found"], ["PubMed", "3 May"]],
            "Old": [HEADER, ["", "Old", "", "", "", ""]],
            "Papers": [HEADER, ROW],
            "More": [HEADER, ROW, ROW],
        },
    )
    book = openpyxl.load_workbook(path)
    book["Old"].sheet_state = "hidden"
    book.save(path)
    assert papers(path) == [READ]
    assert WORKBOOK.sheet(str(path)) == "Papers"
    assert WORKBOOK.sheet(str(written(tmp_path / "one.xlsx", {"Papers": [HEADER, ROW]}))) == ""


def test_rows_before_the_header_and_merged_cells_are_no_papers(tmp_path: Path) -> None:
    path = written(tmp_path / "p.xlsx", {"S": [["Results of the search"], [], HEADER, ROW, ["All read"]]})
    book = openpyxl.load_workbook(path)
    book["S"].merge_cells("A1:F1")
    book["S"].merge_cells("A5:F5")
    book.save(path)
    assert [(place, table_paper(row)["title"]) for place, row in rows(path)] == [(4, READ["title"])]


def test_texts_that_cells_share_are_read_as_excel_writes_them(tmp_path: Path) -> None:
    strings = [
        *("<t>DOI</t>", "<t>Title</t>", "<t>Abstract</t>", "<t>10.1/a</t>"),
        '<r><t xml:space="preserve">A </t></r><r><rPr><i/></rPr><t>title</t></r><rPh sb="0" eb="1"><t>no</t></rPh>',
        "<t>One._x000D_\nTwo.</t>",
    ]
    sheet = shared((0, 1, 2), 1) + shared((3, 4, 5), 7)
    inline = '<row><c t="inlineStr"><is><t>10.1/b</t></is></c><c t="str"><v>B</v></c><c t="e"><v>#N/A</v></c></row>'
    assert rows(excel(tmp_path / "p.xlsx", sheet + inline, strings)) == [
        (7, {"DOI": "10.1/a", "Title": "A title", "Abstract": "One.\r\nTwo."}),
        (8, {"DOI": "10.1/b", "Title": "B", "Abstract": ""}),
    ]


def test_a_workbook_with_a_row_that_cannot_be_read_is_refused_with_the_row(tmp_path: Path) -> None:
    strings = [f"<t>{text}</t>" for text in ("DOI", "Title", "Abstract", "10.1/a")]
    sheet = shared((0, 1, 2), 1) + shared((3, 1, 2), 2) + shared((3, 1, 99), 3) + shared((3, 1, 2), 4)
    with pytest.raises(InputError, match="row 3 of sheet 'savedrecs' cannot be read: list index out of range"):
        rows(excel(tmp_path / "p.xlsx", sheet, strings))
    with pytest.raises(InputError, match=r"row [1-4] of sheet 'savedrecs' cannot be read: not well-formed"):
        rows(excel(tmp_path / "cut.xlsx", sheet.replace('r="4"', 'r="4').replace("99", "2"), strings))


def test_a_workbook_without_papers_is_one_fault(tmp_path: Path) -> None:
    path = written(
        tmp_path / "p.xlsx", {"Budget": [["Item", "Cost"], ["Pens", 3]], "Empty": [], "Ids": [["DOI", "Title"]]}
    )
    assert rows(path) == [
        (
            1,
            BrokenRecord(
                "the columns cannot be used",
                (
                    "sheet 'Budget': columns: found Item, Cost, expected an id and a text among them",
                    "sheet 'Ids': columns: found DOI, Title, expected an abstract among them",
                ),
                "",
            ),
        )
    ]
    assert rows(written(tmp_path / "empty.xlsx", {"S": []}))[0][1].faults == ("found no row in any sheet",)


def bomb(path: Path) -> Path:
    return excel(path, "", ["<t>" + " " * (1 << 26) + "</t>"])


def entities(path: Path) -> Path:
    declared = '<!DOCTYPE sst [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    return excel(path, "", xl__sharedStrings_xml=f"{declared}<sst {MAIN}><si><t>&b;</t></si></sst>")


def outside(path: Path) -> Path:
    declared = '<!DOCTYPE sst [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    return excel(path, "", xl__sharedStrings_xml=f"{declared}<sst {MAIN}><si><t>&a;</t></si></sst>")


def styles(path: Path) -> Path:
    return excel(path, "", xl__styles_xml=f"<styleSheet {MAIN}>{' ' * (1 << 23)}</styleSheet>")


def cut_off(path: Path) -> Path:
    whole = written(path, {"S": [HEADER, ROW]}).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def other(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "b")
    return path


def strict(path: Path) -> Path:
    """ISO's strict variant has other names."""
    namespace = "http://purl.oclc.org/ooxml"
    book = PARTS["xl/workbook.xml"].replace(OFFICE, f"{namespace}/officeDocument/relationships")
    return excel(path, "", xl__workbook_xml=book)


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (bomb, "unpacks to more than 100 times its size"),
        (entities, "declares the entity 'a'"),
        (outside, "declares the entity 'a'"),
        (styles, "more than 8388608 bytes"),
        (cut_off, "cannot be unpacked"),
        (other, "not a workbook that can be read"),
        (strict, "no sheet that can be read"),
        (lambda path: excel(path, "", xl__workbook_xml="<workbook"), "not a workbook that can be read"),
        (lambda path: excel(path, "", xl__sharedStrings_xml="<sst><si>"), "not a workbook that can be read"),
    ],
)
def test_a_workbook_that_cannot_be_read_is_refused(tmp_path: Path, make: Any, fault: str) -> None:
    path = make(tmp_path / "p.xlsx")
    with pytest.raises(InputError, match=fault) as refused:
        rows(path)
    assert str(path) in refused.value.message
    assert refused.value.hint


def test_without_openpyxl_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "p.xlsx", {"S": [HEADER, ROW]})
    real = builtins.__import__

    def without(name: str, *args: Any, **named: Any) -> Any:
        if name.startswith("openpyxl"):
            raise ModuleNotFoundError(name)
        return real(name, *args, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"p\.xlsx: needs openpyxl, which is not installed") as refused:
        rows(path)
    assert "pip install 'annot-collections[formats]'" in (refused.value.hint or "")


def with_part(path: Path, name: str, content: bytes) -> Path:
    """The workbook with another content of one part."""
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, old in parts.items():
            archive.writestr(part, content if part == name else old)
    return path


@pytest.mark.parametrize("part", ["xl/sharedStrings.xml", "xl/worksheets/sheet1.xml", "xl/workbook.xml"])
def test_a_part_is_read_in_its_own_encoding_or_refused_in_a_sentence(tmp_path: Path, part: str) -> None:
    texts = [f"<t>{text}</t>" for text in ("id", "title", "abstract", "1", "蜜蜂", "飞")]
    path = excel(tmp_path / "p.xlsx", shared((0, 1, 2), 1) + shared((3, 4, 5), 2), texts)
    with zipfile.ZipFile(path) as archive:
        content = archive.read(part).decode()
    for encoding in ("utf-8", "utf-16", "gb2312", "shift_jis", "euc-jp", "big5", "idna", "x-none", "zlib"):
        head = f'<?xml version="1.0" encoding="{encoding}"?>'
        known = encoding not in ("idna", "x-none", "zlib")
        data = (head + content).replace("飞", "舞").encode(encoding if known else "utf-8")
        with_part(path, part, data)
        try:
            found = [paper["title"] for paper in papers(path)]
        except InputError:
            # openpyxl reads workbooks in few other encodings.
            assert not known or not encoding.startswith("utf")
        else:
            assert known
            assert found == ["蜜蜂"]
