"""Labels for a whole corpus: those that CRFsuite itself gives, wherever the shards are worked on, whoever is killed."""

import itertools
import json
import lzma
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest
from annot.base.parallel import Engine
from annot.base.records import Paper, Source
from annot.base.settings import Settings
from annot.corpus.labelling import SHIPPED_MODEL, LabelledAbstract, Labeller, features, read_labelled, train
from annot.corpus.query_sentences import offered_facets
from annot.steps import facets, setup
from annot.store.database import open_store
from annot.store.facet_labels import FacetLabels, put_corrections, read_labels
from annot.store.papers import PaperWriter, groups_of
from annot.study.workspace import Workspace
from demo_collection import papers as demo_papers
from hypothesis import given
from hypothesis import strategies as st

LABELS = Settings().labels.names
SHIPPED = files("annot.corpus.facets").joinpath(SHIPPED_MODEL).read_bytes()
STRANGE = (
    *(
        "",
        "...",
        "𝛼 日本語 \x00 \ufffd",
        "İstanbul's ÅNGSTRÖM STRAẞE",
        "٣٤ 3.14 1,000.5 ²",
        "don't o'clock 'tis",
        "\n\t",
    ),
    *("We propose", "this paper", "We show that results improve.", "we present experiments", "0", "a", "the aim of"),
)


def quietly(_done: int, _total: int | None) -> None: ...


class Plainly:
    """CRFsuite's own tagger, one abstract after the other."""

    def __init__(self, model: bytes) -> None:
        # The tagger reads from these bytes as long as it tags.
        self.raw = lzma.decompress(model)
        self.tagger = pycrfsuite.Tagger()
        self.tagger.open_inmemory(self.raw)

    def label(self, sentences: Sequence[str]) -> tuple[str, ...]:
        return tuple(self.tagger.tag(features(sentences))) if sentences else ()


@pytest.fixture(scope="module")
def shipped() -> tuple[Labeller, Plainly]:
    return Labeller(SHIPPED, name=SHIPPED_MODEL), Plainly(SHIPPED)


@pytest.fixture(scope="module")
def small(shared: Path) -> tuple[Labeller, Plainly]:
    """A model of two labels that has seen little."""
    given = learnt(shared / "csabstruct" / "train.jsonl")[:60]
    two = [
        LabelledAbstract(
            sentences=one.sentences,
            labels=tuple("background" if label == "background" else "new" for label in one.labels),
        )
        for one in given
    ]
    model = train(two)
    return Labeller(model, name="small"), Plainly(model)


def learnt(path: Path) -> tuple[LabelledAbstract, ...]:
    with path.open(encoding="utf-8") as lines:
        return read_labelled(lines, name=path.name, known_labels=LABELS)


def labelled_together(labeller: Labeller, abstracts: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    counts = np.array([len(one) for one in abstracts], np.int64)
    codes = iter(labeller.label_all(list(itertools.chain(*abstracts)), counts))
    return [tuple(labeller.labels[next(codes)] for _ in one) for one in abstracts]


def test_csfcubes_papers_get_the_labels_that_crfsuite_gives(
    shipped: tuple[Labeller, Plainly], small: tuple[Labeller, Plainly], shared: Path
) -> None:
    lines = (shared / "csfcube" / "abstracts-csfcube-preds.jsonl").read_text(encoding="utf-8").splitlines()
    abstracts = [json.loads(line)["abstract"] for line in lines]
    assert len(abstracts) == 3368
    for labeller, plainly in (shipped, small):
        assert labelled_together(labeller, abstracts[::9]) == [plainly.label(one) for one in abstracts[::9]]


def test_csabstructs_abstracts_get_the_labels_that_crfsuite_gives(
    shipped: tuple[Labeller, Plainly], shared: Path
) -> None:
    abstracts = [one.sentences for one in learnt(shared / "csabstruct" / "dev.jsonl")]
    labeller, plainly = shipped
    assert labelled_together(labeller, abstracts) == [plainly.label(one) for one in abstracts]


@given(st.lists(st.lists(st.sampled_from(STRANGE) | st.text(max_size=30), max_size=9), max_size=6))
def test_any_text_gets_the_labels_that_crfsuite_gives(
    shipped: tuple[Labeller, Plainly], small: tuple[Labeller, Plainly], abstracts: list[list[str]]
) -> None:
    for labeller, plainly in (shipped, small):
        assert labelled_together(labeller, abstracts) == [plainly.label(one) for one in abstracts]


# `annot facets` on a corpus of several shards, where some papers came with labels


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """The packaged corpus in shards of 25 papers; every third paper keeps its labels."""
    setup.init(tmp_path / "study", name=None, dry_run=False)
    ws = Workspace.open(tmp_path / "study")
    monkeypatch.setattr("annot.store.papers.ROWS_IN_GROUP", 25)
    with PaperWriter(ws.corpus) as writer:
        for paper in mixed():
            writer.add(paper)
    assert len(groups_of(ws.corpus)) >= 4
    return ws


def mixed() -> list[Paper]:
    return [
        Paper(one.paper_id, one.title, one.sentences, one.year, one.labels if at % 3 == 0 else None)
        for at, one in enumerate(demo_papers())
    ]


def labels_of(ws: Workspace) -> list[FacetLabels]:
    with open_store(ws.database_url) as store, store.read() as session:
        return sorted(read_labels(session))


def label(
    ws: Workspace, *, processes: int = 1, cluster: str | None = None, dry_run: bool = False
) -> facets.LabellingResult:
    ws = ws.replaced("machine", processes=processes, cluster=cluster)
    return facets.label(ws, model=None, dry_run=dry_run, advance=quietly)


@pytest.mark.parametrize("engine", ["serial", "dask"])
def test_every_engine_gives_the_rows_and_counts_of_a_plain_loop(
    study: Workspace,
    shipped: tuple[Labeller, Plainly],
    engine: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setattr(facets, "FEWEST_FOR_PROCESSES", 0)
    predicted = {one.paper_id: shipped[1].label(one.sentences) for one in mixed()}
    origin = f"{Source.PREDICTED}:{shipped[0].sha256[:12]}"
    expected = [
        FacetLabels(one.paper_id, one.labels or predicted[one.paper_id], Source.CARRIED if one.labels else origin)
        for one in mixed()
    ]
    carried = [
        mine == theirs
        for one in mixed()
        for mine, theirs in zip(one.labels or (), predicted[one.paper_id], strict=False)
    ]
    if engine == "dask":
        cluster: Engine = request.getfixturevalue("cluster")
        # The workers stand in another folder than the command, which is in that of the study.
        monkeypatch.chdir(study.root)
        done = label(Workspace.open(Path()), cluster=cluster.cluster)
    else:
        done = label(study)
    assert labels_of(study) == sorted(expected)
    assert done.papers == len(expected)
    assert done.by_origin == dict(sorted(Counter(one.origin for one in expected).items()))
    assert done.by_label == dict(sorted(Counter(itertools.chain(*(one.labels for one in expected))).items()))
    assert done.by_facet == Counter(
        itertools.chain(*(offered_facets(one.labels, facets=study.settings.facets) for one in expected))
    )
    assert (done.carried_sentences, done.agreement) == (len(carried), sum(carried) / len(carried))


def test_killed_half_way_nothing_is_lost_and_the_next_run_ends_complete(study: Workspace) -> None:
    first = mixed()[1].paper_id
    with open_store(study.database_url) as store, store.begin() as session:
        put_corrections(session, [FacetLabels(first, ("other",) * len(mixed()[1].sentences), Source.CORRECTED)])
    before, listed = labels_of(study), list(study.root.iterdir())
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from annot.steps import facets\n"
        "from annot.study.workspace import Workspace\n"
        "def kills(done, total):\n"
        "    if done > total / 2:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "if __name__ == '__main__':\n"
        "    facets.FEWEST_FOR_PROCESSES = 0\n"
        "    ws = Workspace.open(Path(sys.argv[1])).replaced('machine', processes=2)\n"
        "    facets.label(ws, model=None, dry_run=False, advance=kills)\n"
    )
    script = study.root.parent / "script.py"
    script.write_text(program)
    killed = subprocess.run([sys.executable, str(script), str(study.root)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert labels_of(study) == before
    done = label(study)
    assert done.by_origin[Source.CORRECTED] == 1
    assert {one.paper_id for one in labels_of(study)} == {one.paper_id for one in mixed()}
    assert before[0] in labels_of(study)
    made = study.root / "made.json"
    there = {path for path in study.root.iterdir() if not re.search("-(wal|shm)$", path.name)}
    assert there - {made} == {*listed} - {made}
