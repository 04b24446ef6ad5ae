"""Tables as rows with one figure each: which cells a row keeps, and how wholes and gaps are typed."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
from annot.base.names import OF_PAPERS, OF_TEXTS, StudyVocabulary
from annot.base.stats.values import Interval, Undefined
from annot.publishing.report import tidy
from annot.publishing.report.cells import COEFFICIENT, MEASURE, Number

WITH_ENDS = Number(0.5, MEASURE, Interval(0.4, 0.6, 0.95, "jackknife"), rests_on=(("pairs", 7),))
NONE = Number(Undefined("one grade"), COEFFICIENT)


def table(*records: dict[str, object], name: str = "t", words: StudyVocabulary = OF_PAPERS) -> Any:
    return SimpleNamespace(name=name, records=records, words=words)


def test_each_figure_of_a_record_is_a_row_with_the_other_cells() -> None:
    made = tidy.frame([table({"facet": "aim", "median": WITH_ENDS, "mean": NONE, "queries": 3})], figure="statistic")
    assert [*made.columns] == [
        "facet",
        "statistic",
        "value",
        "low",
        "high",
        "interval",
        "pairs",
        "queries",
        "undefined",
    ]
    first, second = made.to_dict("records")
    assert (first["statistic"], first["value"], first["low"], first["high"]) == ("median", 0.5, 0.4, 0.6)
    assert (first["interval"], first["undefined"], first["pairs"], first["queries"]) == ("jackknife", "", 7, 3)
    assert (second["statistic"], second["undefined"], second["interval"]) == ("mean", "one grade", "")
    assert pd.isna(second["value"])
    assert pd.isna(second["pairs"])
    assert (str(made["pairs"].dtype), str(made["value"].dtype)) == ("Int64", "float64")


def test_a_record_whose_figure_is_its_value_is_one_row() -> None:
    record = {"run": "a", "value": WITH_ENDS, "p": Number(0.03, MEASURE), "holds": True}
    made = tidy.frame([table(record)], parts=tidy.INTERVAL)
    assert made.to_dict("records") == [
        {"run": "a", "value": 0.5, "low": 0.4, "high": 0.6, "interval": "jackknife", "p": 0.03, "holds": True}
    ]


def test_a_record_without_figures_is_one_row_and_tables_may_be_named() -> None:
    made = tidy.frame([table({"rank": 1}, name="x"), table({"rank": None, "n": 2}, name="y")], named=True)
    assert [*made["table"]] == ["x", "y"]
    assert made["rank"].tolist() == [1, pd.NA]
    assert made["n"].tolist() == [pd.NA, 2]
    assert tidy.csv_text(made) == "table,rank,n\nx,1,\ny,,2\n"


def test_intervals_and_reasons_speak_of_the_topics_of_the_study_that_is_written_about() -> None:
    interval = Number(0.5, MEASURE, Interval(0.4, 0.6, 0.95, "jackknife over 4 query papers"))
    none = Number(Undefined("4 query papers: 6 are needed"), MEASURE)
    for words, unit in ((OF_PAPERS, "query papers"), (OF_TEXTS, "topics")):
        made = tidy.frame([table({"value": interval}, {"value": none}, words=words)])
        assert made["interval"].tolist() == [f"jackknife over 4 {unit}", ""]
        assert made["undefined"].tolist() == ["", f"4 {unit}: 6 are needed"]
