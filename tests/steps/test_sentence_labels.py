"""Sentence labels: which models fit a study, how a model is trained, and how papers without labels leave."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.corpus.labelling import shipped_model
from annot.steps import facets
from annot.store import facet_labels, papers
from annot.store.papers import PaperWriter, groups_of
from annot.store.runs import read_imports
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, LABELS, Small
from study_stages import copied, quietly

ALL = Settings().labels.names


def giving(*labels: str) -> Any:
    return SimpleNamespace(labels=labels)


@pytest.mark.parametrize(
    ("labels", "of_package", "own"),
    [(ALL, True, True), (ALL[:2], False, True), ((*ALL, "aim"), False, False), (("aim",), False, False)],
)
def test_a_model_may_lack_labels_of_the_study_unless_it_comes_with_annot(
    labels: tuple[str, ...], of_package: bool, own: bool
) -> None:
    model = Path("model.xz")
    for path, fits, name in ((None, of_package, "the model that comes with annot"), (model, own, "model.xz: the")):
        found = facets._misfit(giving(*labels), path, ALL)
        assert (found is None) == fits
        assert found is None or found.message.startswith(name)


def shard(*given: Paper, tmp_path: Path, fits: bool = True) -> dict[str, list[Any]]:
    tmp_path.mkdir(exist_ok=True)
    with PaperWriter(tmp_path) as writer:
        for one in given:
            writer.add(one)
    (of,) = groups_of(tmp_path)
    return dict(facets.label_shard(of, model=shipped_model(), name="m", labels=ALL, fits=fits).to_pydict())


METHOD = Paper("a", "A", ("We propose a new method.", "We propose it."), 2001, ("method", "method"))
ODD = Paper("b", "B", ("We propose a new method.",), 2001, ("background",))


def test_labels_that_the_model_gives_too_are_counted(tmp_path: Path) -> None:
    found = shard(METHOD, ODD, tmp_path=tmp_path / "all")
    assert (found["labels"], found["carried"]) == (["method,method", "background"], [True, True])
    assert found["agreeing"][0] <= 2
    alone = shard(ODD, tmp_path=tmp_path / "odd")
    predicted = shard(Paper("b", "B", ODD.sentences, 2001), tmp_path=tmp_path / "bare")
    (label,) = predicted["labels"]
    assert label != "background"
    assert alone["agreeing"] == [0]


def test_a_paper_without_sentences_has_no_label(tmp_path: Path) -> None:
    found = shard(METHOD, Paper("none", "N", (), 2001), tmp_path=tmp_path)
    assert found["labels"] == ["method,method", ""]


def test_without_a_model_that_fits_only_carried_labels_are_kept(tmp_path: Path) -> None:
    found = shard(METHOD, Paper("b", "B", ("One.",), 2001), tmp_path=tmp_path, fits=False)
    assert (found["labels"], found["agreeing"]) == (["method,method", None], [0, 0])


def test_labels_put_aside_come_back_with_their_origin() -> None:
    rows = [["a", "b", "c", "d"], ["method,result", "", "other", None], [True, True, False, False], [1, 0, 0, 0]]
    batch = pa.RecordBatch.from_arrays([*map(pa.array, rows)], schema=facets.LABELLED)
    assert list(facets.labels_in(batch, predicted_by="predicted:1")) == [
        facet_labels.FacetLabels("a", ("method", "result"), "carried"),
        facet_labels.FacetLabels("b", (), "carried"),
        facet_labels.FacetLabels("c", ("other",), "predicted:1"),
    ]


# -- the step ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "labelled", tmp_path / "study")


def label(ws: Workspace, model: Path | None = None) -> facets.LabellingResult:
    return facets.label(ws.replaced("machine", processes=1), model=model, dry_run=False, advance=quietly)


def origins(ws: Workspace) -> dict[str, int]:
    with ws.reading() as session:
        return dict(facet_labels.count_by_origin(session))


def test_labels_of_others_stay_on_record_if_the_model_does_not_fit(ws: Workspace) -> None:
    """The model that comes with annot gives no label aim."""
    own = ws.replaced("labels", names=(*ALL, "aim"))
    with PaperWriter(ws.corpus, name="more.parquet") as writer:
        writer.add(Paper("bare", "Bare", ("One.",), 2001))
        writer.add(Paper("known", "Known", ("One.",), 2001))
        writer.add(Paper("fixed", "Fixed", ("One.",), 2001))
    with ws.writing() as session:
        given = [facet_labels.FacetLabels("known", ("result",), "predicted:1")]
        facet_labels.replace_labels(session, given, keep=None)
        facet_labels.put_corrections(session, [facet_labels.FacetLabels("fixed", ("method",), "corrected", "2031")])
    found = label(own)
    assert (found.without, found.model, found.model_sha256) == (("bare",), None, None)
    assert found.by_origin["predicted:1"] == 1
    assert found.by_origin["corrected"] == 1
    assert (found.misfit or "").startswith("the model that comes with annot gives other labels")
    assert (found.agreement, found.carried_sentences) == (None, 0)
    assert origins(ws)["predicted:1"] == 1
    with ws.writing() as session:
        facet_labels.replace_labels(session, [facet_labels.FacetLabels("bare", ("result",), "predicted:2")], keep=None)
    assert (label(own).without, label(own).misfit) == ((), None)


def test_only_new_and_changed_papers_are_labelled_again_with_the_labels_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A twin study without labels on record is labelled whole; corrections of people are in both."""
    ws, twin = (copied(Small(), "labelled", tmp_path / name) for name in ("study", "twin"))

    def bring(name: str, texts: dict[str, str]) -> None:
        for of in (ws, twin):
            with PaperWriter(of.corpus, name=f"{name}.parquet") as writer:
                for paper_id, text in texts.items():
                    writer.add(Paper(paper_id, paper_id.title(), (text, "We propose a new method."), 2001))

    labelled: list[str] = []

    def counting(shard: papers.RowGroups, **how: Any) -> pa.RecordBatch:
        labelled.append(shard.path.stem)
        return label_shard(shard, **how)

    label_shard = facets.label_shard
    monkeypatch.setattr(facets, "label_shard", counting)
    bring("first", {"a": "Cells were counted.", "b": "Cells move."})
    bring("more", {"c": "Much is unknown."})
    label(ws)
    fixed = facet_labels.FacetLabels("a", (LABELS[0], LABELS[0]), "corrected", "2031-01-01")
    for of in (ws, twin):
        with of.writing() as session:
            facet_labels.put_corrections(session, [fixed])
            facet_labels.remove_labels(session, ["c"])
    with ws.writing() as session:
        gone = facet_labels.FacetLabels("gone", ("result",), next(name for name in origins(ws) if ":" in name))
        facet_labels.put_corrections(session, [gone])
    bring("new", {"d": "We found more."})
    labelled.clear()
    found = label(ws)
    # Papers that came with labels are read again, for their share that the model gives, too.
    assert {*labelled} == {"part-00001", "more", "new"}
    assert replace(found, by_earlier_run=0) == label(twin)
    rows = []
    for of in (ws, twin):
        with of.reading() as session:
            rows.append({row.paper_id: row for row in facet_labels.read_labels(session)})
    assert rows[0] == rows[1]
    assert (rows[0]["a"], sum(found.by_origin.values())) == (fixed, found.papers)


def test_papers_without_labels_leave_the_corpus(ws: Workspace) -> None:
    with PaperWriter(ws.corpus, name="more.parquet") as writer:
        writer.add(Paper("bare", "Bare", ("One.",), 2001))
    assert facets.leave_out(ws, dry_run=False) == (("bare",), len(DOCUMENTS) + 5)
    assert "bare" not in papers.paper_ids(ws.corpus)
    with ws.reading() as session:
        (noted,) = [one.facts for one in read_imports(session)]
    assert noted == {"read": 0, "kept": 0, "rejected": {facets.NO_LABELS: 1}}


def test_a_query_paper_without_labels_cannot_leave(tmp_path: Path) -> None:
    ws = copied(Small(), "pooled", tmp_path / "study")
    with ws.writing() as session:
        some = [facet_labels.FacetLabels(name, LABELS, "carried") for name in ("p1", "d99")]
        facet_labels.replace_labels(session, some)
    with pytest.raises(InputError, match="cannot be removed") as error:
        facets.leave_out(ws, dry_run=False)
    assert {fault.partition(":")[0] for fault in error.value.faults} == {"p2", "p3", "p4", *DOCUMENTS}
    with ws.writing() as session:
        facet_labels.replace_labels(session, [])
    with pytest.raises(InputError, match="no paper has sentence labels"):
        facets.leave_out(ws, dry_run=True)


# -- training ----------------------------------------------------------------------------------------------------------


def abstracts(path: Path, *labels: str, begin: str = "Sentence") -> Path:
    lines = [{"sentences": [f"{begin} {at} {one}." for one in labels], "labels": labels} for at in range(4)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_model_learns_the_labels_of_its_file(tmp_path: Path, ws: Workspace) -> None:
    out = tmp_path / "model.xz"
    usual = abstracts(tmp_path / "usual.jsonl", *ALL)
    assert facets.train(usual, out=out, held_out=None, ws=None).scores is None
    odd = abstracts(tmp_path / "odd.jsonl", "aim", "method")
    held_out = abstracts(tmp_path / "held.jsonl", "aim", "method", begin="Another")
    found = facets.train(odd, out=out, held_out=held_out, ws=None)
    assert (found.abstracts, found.left_out, found.size) == (4, 0, out.stat().st_size)
    assert found.scores is not None
    assert found.scores.confusion.keys() == {"aim", "method"}
    with pytest.raises(InputError, match="unknown label 'aim'"):
        facets.train(odd, out=out, held_out=None, ws=ws)


def test_abstracts_that_are_held_out_are_not_learnt_from(tmp_path: Path) -> None:
    given = abstracts(tmp_path / "few.jsonl", *ALL)
    with pytest.raises(InputError, match="no training data are left"):
        facets.train(given, out=tmp_path / "model.xz", held_out=given, ws=None)
