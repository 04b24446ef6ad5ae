"""`annot opinion report`, the report's section, datasheet and card: what is shown of opinions, and when."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sampled_study
from annot.base.errors import InputError, MissingInput
from annot.base.names import OF_PAPERS
from annot.publishing.report.sections.whole import document
from annot.publishing.report.study import Study
from annot.steps import qrels
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from annot_opinions import steps
from annot_opinions.label_quality import OpinionVerdict
from annot_opinions.measured import measured_opinions
from annot_opinions.self_preference import Favour
from asked_study import made, put
from command_line import annot_done
from study_stages import DEMO, copied


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(DEMO, "measured", tmp_path / "study")


def test_a_study_without_opinions_says_nothing_of_models(ws: Workspace) -> None:
    found = document(Study(read_snapshot(ws)), chain=())
    assert not [one.anchor for one in (*found.body, *found.appendix) if one.anchor.startswith("opinion")]
    with pytest.raises(MissingInput, match="no model was asked for an opinion"):
        steps.measure(ws, None, before_judging=None)


def test_one_opinion_comes_with_all_its_figures(ws: Workspace) -> None:
    put(ws, "copy", lambda query, doc, final: final, repeats=2)
    (found,) = steps.measure(ws, "copy", before_judging=None)
    assert found.worth.n_compared == found.worth.n_pairs == len(read_snapshot(ws).outcome.decisions)
    assert found.worth.itself is not None
    assert found.worth.itself.figures["percent"].value == 100
    text = steps.describe((found,), OF_PAPERS)
    assert text.startswith(found.worth.sentence[:20])
    names = [table.name for table in steps.tables((found,), OF_PAPERS)]
    assert names[:2] == ["opinion-agreement", "opinion-confusion-copy"]
    with_final = [row for row in steps.tables((found,), OF_PAPERS)[0].rows if "final grades" in row]
    assert with_final
    assert all(any(str(cell) == "100" for cell in row) for row in with_final)


def test_several_opinions_have_a_row_each(ws: Workspace) -> None:
    put(ws, "copy", lambda query, doc, final: final)
    put(ws, "always", lambda query, doc, final: 1)
    put(ws, "silent", lambda query, doc, final: None)
    found = steps.measure(ws, None, before_judging=None)
    (table,) = steps.tables(found, OF_PAPERS)
    assert [(row[0], row[2]) for row in table.rows] == [
        ("always", "does not judge"),
        ("copy", str(found[1].worth.verdict)),
        ("silent", "does not judge"),
    ]
    assert found[1].worth.verdict is not OpinionVerdict.DOES_NOT_JUDGE
    assert found[2].worth.sentence == (
        "silent does not judge: 100% of its answers cannot be read, 0% say that the pair cannot be judged."
    )
    data = json.loads(annot_done("opinion", "report", "--json", folder=ws.root).stdout)["data"]
    assert [one["worth"]["verdict"] for one in data] == [str(one.worth.verdict) for one in found]


def test_the_report_has_a_chapter_of_them_and_no_grade_of_people_changes(ws: Workspace) -> None:
    qrels.write(ws, partial=False)
    before = ws.qrels.read_bytes()
    put(ws, "copy", lambda query, doc, final: final)
    found = document(Study(read_snapshot(ws)), chain=())
    chapters = {one.anchor: one for one in (*found.body, *found.appendix)}
    assert chapters["opinions"].paragraphs[0].startswith("copy ")
    assert [table.name for table in chapters["opinions"].tables] == ["opinions"]
    assert "opinion-agreement" in [table.name for table in chapters["opinions-all"].tables]
    qrels.write(ws, partial=False)
    assert ws.qrels.read_bytes() == before


def test_it_is_not_shown_before_people_are_done_without_a_word(tmp_path: Path) -> None:
    ws = made(tmp_path, judged=5, stage="judged")
    put(ws, "copy", lambda query, doc, final: final)
    assert measured_opinions(Study(read_snapshot(ws))) == ()
    with pytest.raises(InputError, match="people have not settled all pairs yet"):
        steps.measure(ws, None, before_judging=None)
    (found,) = steps.measure(ws, None, before_judging="a pilot")
    assert found.standing.early == ("shown: a pilot",)
    text = " ".join(steps.describe((found,), OF_PAPERS).split())
    assert "Before people had judged, it was shown: a pilot." in text


def test_in_a_sampled_study_each_pair_counts_as_many_as_it_represents(tmp_path: Path) -> None:
    ws = sampled_study.judged(sampled_study.pooled(tmp_path), share=0.33)
    put(ws, "shifted", lambda query, doc, final: min(3, final + (doc < "d30")))
    (found,) = steps.measure(ws, None, before_judging=None)
    snapshot = read_snapshot(ws)
    assert snapshot.sample is not None
    same = whole = 0.0
    for one in snapshot.outcome.decisions:
        weight = 1 / snapshot.sample.pairs[one.pair].probability
        whole += weight
        same += weight * (one.doc_id >= "d30" or one.grade == 3)
    (row,) = [one for one in found.worth.agreement if one.whom == "final grades" and one.binarised_at is None]
    assert row.between.figures["percent"].value == pytest.approx(100 * same / whole)
    assert isinstance(found.worth.favour, Favour)
    assert (found.worth.favour.n_topics, found.worth.favour.visible) == (4, None)
