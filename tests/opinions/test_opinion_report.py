"""`annot opinion report`, the report's section, datasheet and card: what is shown of opinions, and when."""

from pathlib import Path

import pytest
import sampled_study
from annot.base.errors import MissingInput
from annot.base.names import OF_PAPERS
from annot.publishing.report.sections.whole import document
from annot.publishing.report.study import Study
from annot.steps import qrels
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from annot_opinions import steps
from annot_opinions.self_preference import Favour
from asked_study import put
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
