"""CSFCube's release, imported and released again: the same data, and no claim of ours."""

import importlib
import json
import sys
from pathlib import Path

import pytest
from annot.base.records import Qrel
from annot.base.settings import Settings
from annot.steps import publish
from annot.steps.publish import release
from annot.store.database import open_store
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from annot_csfcube.files import read_release
from csfcube_study import csfcube_study
from judged_elsewhere import made_public
from study_stages import files_of


@pytest.fixture(scope="module")
def ws(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    ws = csfcube_study(shared, tmp_path_factory.mktemp("csfcube") / "study")
    made_public(ws.root, name="csfcube-again")
    return Workspace.open(ws.root)


@pytest.fixture(scope="module")
def released(ws: Workspace) -> Path:
    folder = ws.root.parent / "release"
    given = {"with_text": True, "licence": "CC-BY-NC-4.0", "published": None, "allowed": ()}
    release(ws, folder, **given, draft=False, dry_run=False)
    return folder


def decided(ws: Workspace) -> list[Qrel]:
    with open_store(ws.database_url) as store, store.read() as session:
        return [Qrel(one.query_id, one.doc_id, one.grade) for one in outcome_of(session, ws.settings).decisions]


def test_its_own_format_holds_what_was_imported(ws: Workspace, released: Path) -> None:
    labels = ws.settings.facets
    found = read_release(
        files_of(released / "csfcube"), name="again", known_labels=Settings().labels.names, facet_labels=labels
    )
    assert sorted(Qrel(one.query_id, one.doc_id, one.grade) for one in found.decisions) == decided(ws)


def test_nothing_is_told_of_plan_audit_adjudicator_or_rankings_that_the_release_does_not_name(
    ws: Workspace, released: Path
) -> None:
    publish.write_datasheet(ws)
    text = (ws.exports / "datasheet.md").read_text(encoding="utf-8")
    metadata = json.loads((released / "croissant.json").read_text(encoding="utf-8"))
    everything = text + json.dumps({name: value for name, value in metadata.items() if name.startswith("rai:")})
    for never in (
        "Label Studio",
        "planned",
        "plan.jsonl",
        "found nothing",
        "The adjudicator saw the",
        "rankings behind",
    ):
        assert never not in everything
    assert "1 adjudicator" not in everything
    assert "who adjudicated is not on record here" in everything
    assert "under annot" not in everything
    assert "independently" not in metadata["rai:dataAnnotationProtocol"]
    assert "imported release, all its files" in text
    card = (released / "README.md").read_text(encoding="utf-8")
    assert "at which rank" not in card


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning:ir_datasets")
def test_mlcroissant_and_ir_datasets_read_it(
    ws: Workspace, released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=str(released / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    assert (set(issues.errors), set(issues.warnings)) == (set(), set())
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(str(released))
    import ir_datasets

    before = dict(ir_datasets.registry._registered)
    try:
        importlib.import_module("irds_csfcube_again")
        qrels = list(ir_datasets.load("csfcube-again").qrels_iter())
        assert [Qrel(*qrel[:3]) for qrel in qrels] == decided(ws)
    finally:
        ir_datasets.registry._registered = before
        sys.modules.pop("irds_csfcube_again", None)
