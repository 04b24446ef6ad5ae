"""Journeys of `docs/layout.md`: a reader of papers, a coefficient, a word on the screen and a column, each added,
used and removed.

A pool method is in `tests/pools/`.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from annot.api.agreeing import measure_agreement
from annot.base.settings import Settings
from annot.formats import corpora
from annot.formats.corpora.pieces import Format
from annot.labelstudio import screens
from annot.measuring.agreement import coefficients
from annot.publishing.report.tables import Column
from annot.steps import people
from annot.store.papers import find_papers
from annot.study import guidelines
from annot.study.workspace import Workspace

Run = Callable[..., Any]


def csl_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a work as reference managers export it (Citation Style Language, `csl-data.json` 1.0.2)."""
    parts = (record.get("issued") or {}).get("date-parts") or [[None]]
    return {
        **{name: record.get(source) for name, source in {"doi": "DOI", "pmid": "PMID", "key": "id"}.items()},
        **{name: record.get(name) for name in ("title", "abstract")},
        "year": parts[0][0],
    }


CSL = Format("csl-json", paper=csl_paper, bibliographic=True, fits=lambda record: {"type", "issued"} <= record.keys())
WORK = {
    **{"id": "lee2019", "type": "article-journal", "DOI": "10.1000/xyz", "title": "On abstracts"},
    **{"abstract": "We look at many abstracts of papers. " * 5, "issued": {"date-parts": [["2019", 3]]}},
}


def test_a_reader_of_papers_is_one_format(
    monkeypatch: pytest.MonkeyPatch, ws: Workspace, annot: Run, tmp_path: Path
) -> None:
    path = tmp_path / "library.json"
    path.write_text(json.dumps([WORK]), encoding="utf-8")
    with monkeypatch.context() as patch:
        # Reading asks the formats in this order, and plain JSON takes all that no other does.
        patch.setattr(corpora, "FORMATS", {CSL.name: CSL} | corpora.FORMATS)
        patch.setitem(corpora._ALL, CSL.name, CSL)
        assert annot("corpus", "add", path).exit_code == 0
    (paper,) = find_papers(ws.corpus, ["10.1000/xyz"]).values()
    assert (paper.title, paper.year, len(paper.sentences)) == ("On abstracts", 2019, 5)
    assert CSL.name not in corpora.FORMATS


def test_a_coefficient_is_one_function_and_a_title(monkeypatch: pytest.MonkeyPatch) -> None:
    name, within = "percent_within_two", partial(coefficients._percent, 2)
    monkeypatch.setitem(coefficients.OF_COUNTS, name, within)
    monkeypatch.setitem(coefficients.COEFFICIENTS, name, partial(coefficients.coefficient, name))
    monkeypatch.setitem(coefficients.TITLES, name, "Agreement within two grades, %")
    ratings = [[0, 0], [0, 1], [0, 2], [0, 3], [1, 3]]
    measured = measure_agreement(ratings, scale=range(4), coefficients=[name], level=None)
    frame = measured.to_frame()
    assert frame.loc[frame["coefficient"] == name, "value"].tolist() == [80.0]
    assert "Agreement within two grades, %" in measured.headline._repr_html_()


def test_the_word_on_a_button_is_one_line_of_the_words_of_a_study(ws: Workspace) -> None:
    old, new = "Cannot judge", "No grade"

    def texts() -> str:
        settings, words = Settings(), guidelines.words_in(ws, "en")
        screen = guidelines.screen(ws, "judge", words) + guidelines.screen(ws, "adjudicate", words)
        pages = [guidelines.page(ws, name, words=words) for name in ("general", "adjudication", "full-text")]
        instructions = screens.instructions_html(
            *(pages,),
            screen="judge",
            scale_names=settings.scale.names,
            language="en",
            labels=settings.labels.names,
            words=words,
        )
        return screen + instructions

    assert old in texts()
    own = ws.root / "templates" / "words" / "en.toml"
    own.parent.mkdir()
    own.write_text(f'[screen]\ncannot_judge = "{new}"\n', encoding="utf-8")
    assert new in texts()
    assert old not in texts()


def test_a_column_is_one_line(monkeypatch: pytest.MonkeyPatch, annot: Run, ws: Workspace) -> None:
    column = Column("letters", lambda person: len(person.assessor))
    monkeypatch.setattr(people, "PEOPLE", replace(people.PEOPLE, numbers=[*people.PEOPLE.numbers, column]))
    assert annot("assessor", "add", "anna", "--account", "anna@example.org").exit_code == 0
    assert "letters" in annot("assessor", "list").stdout.splitlines()[0]
    rows = list(csv.DictReader(io.StringIO(annot("assessor", "list", "--csv").stdout)))
    assert [(row["name"], row["letters"]) for row in rows] == [("anna", "4")]
