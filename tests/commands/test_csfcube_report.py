"""The report on CSFCube's release has its paper's Tables 1 to 4, Figure 2 and the shares of Appendix D."""

import re
from pathlib import Path

import pytest
from annot.steps import publish, qrels
from csfcube_study import csfcube_study


@pytest.fixture(scope="module")
def exports(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the report as HTML page, Markdown and LaTeX."""
    ws = csfcube_study(shared, tmp_path_factory.mktemp("csfcube") / "study")
    qrels.write(ws, partial=False)
    publish.write_report(ws)
    return ws.exports


@pytest.fixture(scope="module")
def whole(exports: Path) -> str:
    """The report as Markdown."""
    return (exports / "report.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(whole: str) -> str:
    """The appendix, which has figures as they were published."""
    return whole[whole.index("## Appendix") :]


def section(page: str, title: str) -> str:
    """A section of the appendix."""
    return page[page.index(f"### {title}\n") :].partition("\n### ")[0]


def rows(page: str, *names: str) -> list[list[str]]:
    """The cells of the table rows that begin with these cells, without intervals."""
    found = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and tuple(cells[: len(names)]) == names:
            found.append([cell.split(" [")[0] for cell in cells[len(names) :]])
    return found


def test_the_first_screen_alone_answers(whole: str) -> None:
    """Krippendorff's alpha over all queries, by hand from Table 2's queries; SPECTER against a random order."""
    first = whole[: whole.index("## Agreement")]
    assert "33 queries, 4,051 judged pairs" in first
    # Trust, and for what: the whole interval lies below Krippendorff's least, 0.667.
    assert "**To compare systems: not known. As labels of single pairs: adjudicated grades only.**" in first
    told = re.search(
        r"alpha between assessors is (0\.\d+) \(median over 33 queries.*interval \[(0\.\d+), (0\.\d+)\]", first
    )
    assert told is not None
    value, low, high = map(float, told.groups())
    assert low < value < high < 0.667
    assert "only one run has been measured" in first
    # The best system, and how certain that is.
    assert "**specter is the only run.**" in first
    assert re.search(r"specter reaches 52% in NDCG%20 .*random order would reach 24\.\d%, which is clearly less", first)
    assert "Add a second run" in first


def test_table_1_counts_relevant_documents_per_query(page: str) -> None:
    assert "33 queries of 28 papers, 122.76 pairs each" in page
    # The shares follow from the means: 39.27 and 10.18 of 122.76 pairs.
    assert rows(page, "together", "1 or higher") == [["12", "87", "39.27", "32.0%", "33", "4,051"]]
    assert rows(page, "together", "2 or higher") == [["1", "35", "10.18", "8.3%", "33", "4,051"]]
    assert rows(page, "background", "1 or higher")[0][-1] == "1,877"
    assert rows(page, "method", "1 or higher")[0][-1] == "2,174"


@pytest.mark.parametrize(
    ("facet", "when", "figures"),
    [
        ("background", "before", ["0.4553", "0.4288", "0.2814", "57.07"]),
        ("method", "before", ["0.3086", "0.2557", "0.2029", "69.60"]),
        ("background", "after", ["0.7310", "0.7201", "0.6214", "77.68"]),
        ("method", "after", ["0.6258", "0.6107", "0.5371", "84.47"]),
    ],
)
def test_table_2_gives_the_agreement_before_and_after(page: str, facet: str, when: str, figures: list[str]) -> None:
    assert rows(page, facet, when)[0][2:6] == figures


@pytest.mark.parametrize("name", ["report.html", "report.md", "report.tex"])
def test_percent_agreement_is_printed_as_the_paper_prints_it(exports: Path, name: str) -> None:
    text = (exports / name).read_text(encoding="utf-8")
    # Of 1877 and 2174 pairs, the medians over queries; before and after adjudication, in both tables.
    for printed in ("57.07", "69.60", "77.68", "84.47"):
        assert text.count(f"{printed} ") + text.count(f"{printed}<") >= 2
    cells_with_four_decimals = re.findall(r"[>|&] ?(\d{2,}\.\d{4})\b", text)
    assert not cells_with_four_decimals


def test_tables_3_and_4_give_specter_in_both_conventions(page: str) -> None:
    measures = section(page, "Runs: every measure")
    csfcube, trec = rows(measures, "background", "specter")
    assert csfcube[:6] == ["24.81", "35.31", "57.45", "82.24", "66.70", "43.95"]
    assert trec[:5] == ["40.31", "35.31", "56.93", "83.61", "43.64"]
    csfcube, trec = rows(measures, "method", "specter")
    assert csfcube[:6] == ["11.72", "13.58", "40.81", "62.77", "37.41", "22.44"]
    assert trec[:5] == ["17.44", "13.58", "40.81", "65.93", "22.44"]


def test_figure_2_crosses_the_two_facets_of_a_paper(page: str) -> None:
    assert "520 candidates of 5 papers" in page
    assert rows(page, "background 0 Irrelevant") == [["229", "36", "8", "0"]]
    assert rows(page, "background 1 Related") == [["127", "38", "15", "2"]]
    assert rows(page, "background 2 Similar") == [["36", "12", "8", "0"]]
    assert rows(page, "background 3 Near-identical") == [["5", "3", "1", "0"]]


def test_appendix_d_shows_what_citations_are_worth(page: str) -> None:
    cited = page[page.index("Final grades of papers that the query paper cites") :]
    assert [rows(cited, facet)[0][0] for facet in ("background", "method")] == ["16", "17"]
    assert rows(cited, "background")[0][-1] == "79.7%"
    assert rows(cited, "method")[0][-1] == "88.8%"


def test_adjudication_is_as_published(page: str) -> None:
    needed = section(page, "Adjudication")
    assert rows(needed, "background")[0] == ["1,877", "769", "41.0%", "1,877", "58", "3.1%", "3.44%", "16"]
    assert rows(needed, "method")[0] == ["2,174", "725", "33.3%", "2,174", "44", "2.0%", "2.40%", "17"]
