"""Labels that papers came with are kept, the others are predicted, and each paper's origin is on record."""

import re
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.steps import facets
from annot.store import facet_labels
from annot.store.papers import PaperWriter
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, LABELS, Small
from study_stages import copied

CARRIED = 4 + len(DOCUMENTS) + 1
"""Query papers, documents, and one in no pool: each has one sentence of every label."""


def label(ws: Workspace, *, dry_run: bool = False) -> facets.LabellingResult:
    return facets.label(
        ws.replaced("machine", processes=1), model=None, dry_run=dry_run, advance=lambda _done, _total: None
    )


def test_carried_labels_are_counted_by_label_facet_and_origin(tmp_path: Path) -> None:
    found = label(copied(Small(), "labelled", tmp_path / "study"), dry_run=True)
    assert (found.papers, found.without, found.misfit) == (CARRIED, (), None)
    assert found.by_origin == {"carried": CARRIED}
    assert found.by_label == dict.fromkeys(LABELS, CARRIED)
    assert set(found.by_facet.values()) == {CARRIED}
    assert found.carried_sentences == CARRIED * len(LABELS)


def test_a_prediction_names_the_model_by_the_first_twelve_digits_of_its_hash(tmp_path: Path) -> None:
    ws = copied(Small(), "labelled", tmp_path / "study")
    with PaperWriter(ws.corpus) as writer:
        writer.add(Paper("new", "A new paper", ("We measured it.", "It is large."), 2002))
    found = label(ws)
    (origin,) = found.by_origin.keys() - {"carried"}
    assert found.by_origin == {"carried": CARRIED, origin: 1}
    assert re.fullmatch("predicted:[0-9a-f]{12}", origin)
    assert origin == f"predicted:{str(found.model_sha256)[:12]}"
    assert (found.by_earlier_run, label(ws).by_earlier_run) == (0, 1)
    with ws.reading() as session:
        (one,) = facet_labels.read_labels(session, ["new"])
    assert (one.origin, len(one.labels)) == (origin, 2)
    assert set(one.labels) <= set(LABELS)


def test_a_label_that_the_study_does_not_have_is_named_with_its_paper(tmp_path: Path) -> None:
    ws = copied(Small(), "labelled", tmp_path / "study")
    with PaperWriter(ws.corpus) as writer:
        writer.add(Paper("odd", "An odd paper", ("One.", "Two.", "Three."), 2002, ("method", "method", "aim")))
        writer.add(Paper("zzz", "Another", ("One.",), 2002, ("method",)))
    with pytest.raises(InputError, match="paper odd came with the label 'aim', expected one of background, "):
        label(ws, dry_run=True)
