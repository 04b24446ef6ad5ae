"""The report on CSFCube's release has its paper's Tables 1 to 4, Figure 2 and the shares of Appendix D."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from annot.steps import publish, qrels
from csfcube_study import csfcube_study
from scipy import stats
from statsmodels.stats.proportion import proportion_confint


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


def in_brackets(page: str, *names: str) -> list[tuple[float, float]]:
    """The intervals in the table row that begins with these cells."""
    line = [one for one in page.splitlines() if one.startswith(f"| {' | '.join(names)} |")][-1]
    return [(float(low), float(high)) for low, high in re.findall(r"\[(-?[\d.]+), (-?[\d.]+)\]", line)]


def test_shares_have_wilson_intervals_over_whole_queries_as_statsmodels_has_them(whole: str, shared: Path) -> None:
    pairs = release_grades(shared)
    hits, sizes = np.array([[sum(grade == 0 for grade in of), len(of)] for of in pairs["background"].values()]).T
    share, clusters = hits.sum() / sizes.sum(), len(sizes)
    # For as many pairs as would tell so much were they independent, and with Student's t.
    variance = clusters / (clusters - 1) * (((hits - share * sizes) / sizes.sum()) ** 2).sum()
    worth = 1 + share * (1 - share) / variance
    alpha = 2 * stats.norm.sf(stats.t.ppf(0.975, clusters - 1))
    expected = proportion_confint(share * worth, worth, alpha=alpha, method="wilson")
    found = in_brackets(whole[: whole.index("## Appendix")], "background", "16", "1,877")[0]
    # In whole percent.
    assert found == pytest.approx([100 * end for end in expected], abs=0.51)


def release_grades(shared: Path) -> dict[str, dict[str, list[int]]]:
    """The final grades of the release by facet and query paper, read as plain JSON."""
    found: dict[str, dict[str, list[int]]] = {}
    for facet in ("background", "method"):
        (path,) = (shared / "csfcube").rglob(f"test-pid2anns-csfcube-{facet}.json")
        found[facet] = {paper: one["relevance_adju"] for paper, one in json.loads(path.read_text()).items()}
    return found


def test_the_interval_of_a_measure_keeps_the_queries_of_a_paper_together(exports: Path, shared: Path) -> None:
    """28 papers with 33 queries in two folds: the figure without each paper and Wilson's interval by hand."""
    evaluated = json.loads((exports / "evaluation.json").read_text())
    line = next(one for one in evaluated["lines"] if one["run"] == "specter" and one["facet"] == "together")
    values = {name: one["values"]["AP"] for name, one in evaluated["queries"]["specter"]["csfcube"].items()}
    papers = sorted({name.rpartition("-")[0] for name in values})
    folds = [
        [f"{paper}-{facet}" for paper, facet in (one.split("_") for one in names)]
        for fold, names in json.loads(next((shared / "csfcube").rglob("evaluation_splits.json")).read_text())[
            "all"
        ].items()
        if fold.endswith("_test")
    ]
    left_out = np.array(
        [
            np.mean([np.mean([values[name] for name in fold if not name.startswith(f"{paper}-")]) for fold in folds])
            for paper in papers
        ]
    )
    assert (len(papers), line["queries"]) == (28, 33)
    by_paper = line["values"]["AP"] + 27 * (left_out.mean() - left_out)
    relevant = [one["relevant"] for one in evaluated["queries"]["specter"]["csfcube"].values()]
    # A fifth of a relevant document at 0, and as much at 1, in topics.
    weight = 0.2 * np.mean([1 / max(1, number) for number in relevant])
    mean = (by_paper.sum() + weight) / (28 + 2 * weight)
    squares = ((by_paper - mean) ** 2).sum() + weight * mean**2 + weight * (1 - mean) ** 2
    variance = squares / (28 + 2 * weight - 1) / (28 + 2 * weight)
    n, t = mean * (1 - mean) / variance, stats.t.ppf(0.975, 27)
    middle = (mean + t**2 / (2 * n)) / (1 + t**2 / n)
    half = t / (1 + t**2 / n) * np.sqrt(mean * (1 - mean) / n + t**2 / (4 * n**2))
    found = line["intervals"]["AP"]
    assert (found["low"], found["high"]) == pytest.approx((middle - half, middle + half), abs=1e-6)
