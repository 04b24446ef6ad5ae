"""Sentence labels for the corpus, and training a labeller of one's own."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from annot.errors import InputError
from annot.facets.crf import Labeller
from annot.facets.crf import train as train_model
from annot.facets.query_sentences import offered_facets
from annot.facets.scores import ConfidentScore, LabelScores, by_confidence, score
from annot.facets.training import LabelledAbstract, read_labelled, without_held_out
from annot.records import Source
from annot.report.terminal import told
from annot.settings import Settings
from annot.store import facet_labels, papers
from annot.store.database import open_store
from annot.store.facet_labels import FacetLabels
from annot.study.workspace import Workspace, write_file

Advance = Callable[[int, int | None], None]

SHA_PREFIX = 12
OFTEN = 500


@dataclass(frozen=True, slots=True)
class Labelled:
    """What `annot facets` did. `agreement` is the share of carried labels that the model gives too."""

    papers: int
    by_origin: dict[str, int]
    by_label: dict[str, int]
    by_facet: dict[str, int]
    """Papers with at least one sentence of the facet."""
    model: str
    model_sha256: str
    carried_sentences: int
    agreement: float | None


@dataclass(frozen=True, slots=True)
class Trained:
    """A model that was trained, and its scores on held-out abstracts where there were any."""

    path: Path
    abstracts: int
    left_out: int
    """Abstracts not learnt from, since they share a sentence with those held out."""
    size: int
    sha256: str
    scores: LabelScores | None
    by_confidence: tuple[ConfidentScore, ...] = ()


def label(ws: Workspace, *, model: Path | None, dry_run: bool, advance: Advance) -> Labelled:
    """Label every paper: carried labels are kept, corrected ones stand, all others are predicted anew."""
    labeller = _labeller(model)
    predicted_by = f"{Source.PREDICTED}:{labeller.sha256[:SHA_PREFIX]}"
    total = papers.count_papers(ws.corpus)
    origins, labels, facets, carried = Counter[str](), Counter[str](), Counter[str](), Counter[bool]()

    def labelled() -> Iterator[FacetLabels]:
        """What is to be kept of each paper, counted as it passes by."""
        for done, paper in enumerate(papers.read_papers(ws.corpus, columns=("sentences", "labels")), start=1):
            predicted = labeller.label(paper.sentences)
            kept = predicted if paper.labels is None else paper.labels
            if paper.labels is not None:
                carried.update(mine == theirs for mine, theirs in zip(paper.labels, predicted, strict=True))
            origin = predicted_by if paper.labels is None else Source.CARRIED
            origins[origin] += 1
            labels.update(kept)
            facets.update(offered_facets(kept, facets=ws.settings.facets))
            yield FacetLabels(paper.paper_id, kept, origin)
            if done % OFTEN == 0 or done == total:
                advance(done, total)

    with open_store(ws.database_url, create=False) as store:
        if dry_run:
            deque(labelled(), maxlen=0)
        else:
            with store.begin() as session:
                facet_labels.replace_labels(session, labelled())
        with store.read() as session:
            corrected = facet_labels.count_by_origin(session).get(Source.CORRECTED, 0)
    by_origin = origins | ({Source.CORRECTED: corrected} if corrected else {})
    return Labelled(
        papers=origins.total(),
        by_origin=dict(sorted(by_origin.items())),
        by_label=dict(sorted(labels.items())),
        by_facet={facet: facets[facet] for facet in ws.settings.facets},
        model=labeller.name,
        model_sha256=labeller.sha256,
        carried_sentences=carried.total(),
        agreement=carried[True] / carried.total() if carried else None,
    )


def describe(labelled: Labelled) -> str:
    """The counts in words."""
    return told("facets", labelled=labelled)


def train(file: Path, *, out: Path, held_out: Path | None) -> Trained:
    """Train a model on the labelled abstracts of `file` and write it to `out`."""
    if out.is_dir():
        raise InputError(f"{out}: a folder, expected the file of the model")
    given = _read(file)
    checks = _read(held_out) if held_out is not None else ()
    abstracts = without_held_out(given, checks)
    model = train_model(abstracts)
    labeller = Labeller(model, name=str(out))
    trained = Trained(out, len(abstracts), len(given) - len(abstracts), len(model), labeller.sha256, None)
    if checks:
        predicted = [labeller.label(abstract.sentences) for abstract in checks]
        trained = replace(
            trained,
            scores=score([abstract.labels for abstract in checks], predicted),
            by_confidence=by_confidence(checks, predicted, facets=Settings().facets),
        )
    write_file(out, model)
    return trained


def describe_trained(trained: Trained) -> str:
    """The size of the model and its scores."""
    return told("trained", trained=trained)


def _labeller(model: Path | None) -> Labeller:
    if model is None:
        return Labeller.load()
    if not model.is_file():
        raise InputError(f"{model}: no such file, expected a model", hint="make one with `annot facets train FILE`")
    return Labeller(model.read_bytes(), name=str(model))


def _read(path: Path) -> tuple[LabelledAbstract, ...]:
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected labelled abstracts as JSON Lines")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error.reason} at byte {error.start}") from None
    return read_labelled(text.split("\n"), name=str(path))
