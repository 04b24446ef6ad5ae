"""Three facets of each paper, on which the same people are as far apart: wherever an interval is printed, whole papers
are its sampling units."""

import html
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import annot as library
import numpy as np
import pandas as pd
import pytest
from annot.base.stats.values import Interval
from annot.publishing.report.cells import COEFFICIENT, SHARE, Number
from command_line import annot_done
from judged_elsewhere import made_public
from scipy import stats

FACETS = ("background", "method", "result")
PAPERS = [f"p{at}" for at in range(1, 9)]
DOCUMENTS = 16


def judgements_csv() -> str:
    """On every facet of paper k the second assessor gives 2k of 16 documents another grade; two settle as the first."""
    rows = ["query,document,assessor,grade"]
    for place, paper in enumerate(PAPERS):
        for facet in FACETS:
            for at in range(DOCUMENTS):
                grade = at % 4
                other = (grade + 2) % 4 if at < 2 * place else grade
                names = {"Zoe Quill": grade, "Ada Byron": other} | ({"Ivo Judge": grade} if other != grade else {})
                rows += [f"{paper}-{facet},d{at},{name},{one}" for name, one in names.items()]
    return "\n".join(rows) + "\n"


def run_file() -> str:
    """A run that is as good on every facet of a paper, and worse from paper to paper."""
    lines = []
    for place, paper in enumerate(PAPERS):
        best = sorted(range(DOCUMENTS), key=lambda at: -(at % 4))
        for facet in FACETS:
            ranked = best[place:] + best[:place]
            lines += [f"{paper}-{facet} Q0 d{at} {n + 1} {99 - n} own" for n, at in enumerate(ranked)]
    return "\n".join(lines) + "\n"


class Planted(NamedTuple):
    root: Path
    release: Path
    clustered: dict[str, tuple[float, float]]
    """By statistic of alpha before adjudication, all facets together."""
    plain: dict[str, tuple[float, float]]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """The study with its report, its datasheet and its release; its intervals, and those of queries."""
    root = tmp_path_factory.mktemp("planted") / "study"
    annot_done("init", root, folder=root.parent)
    made_public(root)
    (root.parent / "judged.csv").write_text(judgements_csv(), encoding="utf-8")
    annot_done("import", "--as", "judgements", root.parent / "judged.csv", "--adjudicator", "Ivo Judge", folder=root)
    annot_done("qrels", folder=root)
    (root.parent / "own.run").write_text(run_file(), encoding="utf-8")
    annot_done("run", "import", root.parent / "own.run", "--tag", "own", folder=root)
    annot_done("report", folder=root)
    annot_done("datasheet", folder=root)
    annot_done("release", root.parent / "out", "--draft", folder=root)
    study = library.open_study(root)
    alone = study.judgements.drop(columns=["query_paper", "facet"])
    return Planted(root, root.parent / "out", ends(study.agreement), ends(measured(alone).to_frame()))


def measured(judgements: Any, **options: Any) -> library.MeasuredAgreement:
    return library.measure_agreement(judgements, coefficients=["alpha_ordinal"], **options)


def ends(figures: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """The interval of each statistic of alpha before adjudication, of all facets together."""
    rows = figures[
        (figures["facet"] == "together")
        & (figures["adjudication"] == "before")
        & (figures["coefficient"] == "alpha_ordinal")
        & figures["statistic"].isin(["median", "mean", "pooled"])
    ]
    return {row.statistic: (row.low, row.high) for row in rows.itertuples()}


def printed(low: float, high: float, *, precise: bool) -> str:
    """The interval as it is printed."""
    return Number((low + high) / 2, COEFFICIENT, Interval(low, high, 0.95, "")).parts(precise=precise)[1]


def test_the_intervals_are_those_of_papers(planted: Planted) -> None:
    """The mean by pseudo-values over papers (Efron and Tibshirani 1993, 11.6); over queries it is far narrower."""
    by_query = library.open_study(planted.root)
    frame = measured(by_query.judgements).per_query()
    values = frame.set_index("query_id")["value"]
    papers = np.array([name.partition("-")[0] for name in values.index])
    whole, left = np.arctanh(values.mean()), [np.arctanh(values[papers != paper].mean()) for paper in PAPERS]
    half = stats.t.ppf(0.975, 7) * math.sqrt(7 / 8 * ((left - np.mean(left)) ** 2).sum())
    assert planted.clustered["mean"] == pytest.approx((np.tanh(whole - half), np.tanh(whole + half)), rel=1e-6)
    for statistic in ("median", "mean", "pooled"):
        (low, high), (narrow_low, narrow_high) = planted.clustered[statistic], planted.plain[statistic]
        assert max(narrow_low - low, high - narrow_high) > 0.1


@pytest.mark.parametrize("name", ["report.html", "report.md", "report.tex"])
def test_the_report_prints_them(planted: Planted, name: str) -> None:
    page = html.unescape((planted.root / "exports" / name).read_text(encoding="utf-8"))
    for statistic in ("median", "mean", "pooled"):
        assert printed(*planted.clustered[statistic], precise=True) in page
        assert printed(*planted.plain[statistic], precise=True) not in page
    first = printed(*planted.clustered["median"], precise=False)
    assert page.count(first) >= 1
    assert printed(*planted.plain["median"], precise=False) not in page


@pytest.mark.parametrize("folder", ["exports", "release"])
def test_the_file_of_figures_holds_them(planted: Planted, folder: str) -> None:
    root = planted.release if folder == "release" else planted.root / "exports"
    together = json.loads((root / "agreement.json").read_text(encoding="utf-8"))["groups"][-1]
    intervals = together["before"]["alpha_ordinal"]["intervals"]
    for statistic, (low, high) in planted.clustered.items():
        assert (intervals[statistic]["low"], intervals[statistic]["high"]) == (low, high)
        assert "8 query papers" in intervals[statistic]["method"]
    for share in ("disputed", "overruled"):
        assert "8 query papers" in json.dumps(together[share]["intervals"]) or share == "overruled"


@pytest.mark.parametrize("name", ["DATASHEET.md", "datasheet.html", "README.md"])
def test_datasheet_and_card_of_the_release_print_them(planted: Planted, name: str) -> None:
    page = html.unescape((planted.release / name).read_text(encoding="utf-8"))
    assert "query papers as the sampling units" in page
    assert printed(*planted.clustered["median"], precise=False) in page
    assert printed(*planted.plain["median"], precise=False) not in page


def test_grades_and_disputes_are_shares_by_paper(planted: Planted) -> None:
    """Wilson's interval with a variance over papers: those of queries would be narrower by a factor."""
    disputed = json.loads((planted.root / "exports" / "agreement.json").read_text())["groups"][-1]["disputed"]
    interval = disputed["intervals"]["pooled"]
    shares = np.array([2 * place / DOCUMENTS for place in range(8)])
    p = shares.mean()
    worth = 1 + p * (1 - p) / ((shares - p).var(ddof=1) / 8)
    t = stats.t.ppf(0.975, 7)
    middle = (p + t * t / (2 * worth)) / (1 + t * t / worth)
    half = t / (1 + t * t / worth) * math.sqrt(p * (1 - p) / worth + t * t / (4 * worth**2))
    assert (interval["low"], interval["high"]) == pytest.approx((middle - half, middle + half), rel=1e-6)
    shown = Number(p, SHARE, Interval(interval["low"], interval["high"], 0.95, "")).parts(precise=False)[1]
    assert shown in (planted.root / "exports" / "report.md").read_text(encoding="utf-8")


def test_evaluate_reads_the_papers_beside_the_qrels_and_says_so(planted: Planted, tmp_path: Path) -> None:
    """As `annot evaluate` has it; without the file the interval is narrower, and the notes say so."""
    run, qrels = planted.release / "runs" / "own.run", planted.release / "qrels.txt"
    told = json.loads(annot_done("evaluate", "--json", folder=planted.root).stdout)["data"]
    (line,) = (
        one for one in told["lines"] if (one["convention"], one["facet"], one["run"]) == ("trec", "together", "own")
    )
    expected = {name: (one["low"], one["high"]) for name, one in line["intervals"].items() if "low" in one}
    assert expected

    def found(evaluated: library.MeasuredRuns) -> dict[str, tuple[float, float]]:
        rows = evaluated.to_frame().query("run == 'own' and convention == 'trec' and low == low")
        return {row.measure: (row.low, row.high) for row in rows.itertuples()}

    for given in (qrels, library.read_qrels(qrels)):
        evaluated = library.evaluate(run, given)
        assert found(evaluated) == expected
        assert evaluated.notes[0] == (
            f"query papers are the sampling units: 24 queries on 8 papers, by {planted.release / 'query_papers.tsv'}"
        )
    frame = library.read_qrels(qrels).rename(columns={"query_paper": "paper"})
    assert found(library.evaluate(run, frame, clusters="paper")) == expected
    (tmp_path / "qrels.txt").write_bytes(qrels.read_bytes())
    alone = library.evaluate(run, tmp_path / "qrels.txt")
    assert alone.notes[0].startswith("queries are taken as independent")
    assert all(low > expected[name][0] and high <= expected[name][1] for name, (low, high) in found(alone).items())
    assert alone.to_frame()["interval"].str.contains("over 24 queries").any()
