"""Sentence labels for the corpus, and training a labeller of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from annot.errors import InputError
from annot.facets.build import evaluate, table
from annot.facets.crf import SHIPPED_SETTINGS, Labeller
from annot.facets.crf import train as train_model
from annot.facets.mapping import label_papers
from annot.facets.scores import LabelScores
from annot.facets.training import LabelledAbstract, read_labelled
from annot.records import Source
from annot.report.text import text_table
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
    size: int
    sha256: str
    scores: LabelScores | None


def label(ws: Workspace, *, model: Path | None, dry_run: bool, advance: Advance) -> Labelled:
    """Label every paper: carried labels are kept, corrected ones stand, all others are predicted anew."""
    labeller = _labeller(model)
    tally = _Tally(ws, labeller)
    with open_store(ws.database_url, create=False) as store:
        labels = tally.count(_labels(ws, labeller, tally, advance))
        if dry_run:
            for _one in labels:
                pass
        else:
            with store.begin() as session:
                facet_labels.replace_labels(session, labels)
        with store.read() as session:
            corrected = facet_labels.count_by_origin(session).get(Source.CORRECTED, 0)
    origins = dict(tally.origins)
    if corrected:
        origins[Source.CORRECTED] = corrected
    return Labelled(
        papers=sum(tally.origins.values()),
        by_origin=dict(sorted(origins.items())),
        by_label=dict(sorted(tally.labels.items())),
        by_facet={facet: tally.facets[facet] for facet in ws.settings.facets},
        model=labeller.name,
        model_sha256=labeller.sha256,
        carried_sentences=tally.carried,
        agreement=tally.same / tally.carried if tally.carried else None,
    )


def describe(labelled: Labelled) -> str:
    """The counts in words."""
    lines = [f"{labelled.papers} papers labelled"]
    lines += [f"  {count} {origin}" for origin, count in labelled.by_origin.items()]
    total = sum(labelled.by_label.values())
    rows = [[label, count, f"{100 * count / total:.1f}%"] for label, count in labelled.by_label.items()]
    facets = [[facet, count] for facet, count in labelled.by_facet.items()]
    parts = [
        "\n".join(lines),
        text_table(["label", "sentences", "share"], rows),
        text_table(["facet", "papers that have it"], facets),
    ]
    if labelled.agreement is not None:
        parts.append(
            f"the model {labelled.model} gives {100 * labelled.agreement:.1f}% of the {labelled.carried_sentences} "
            "labels that the corpus carries"
        )
    return "\n\n".join(parts)


def train(file: Path, *, out: Path, held_out: Path | None) -> Trained:
    """Train a model on the labelled abstracts of `file` and write it to `out`."""
    if out.is_dir():
        raise InputError(f"{out}: a folder, expected the file of the model")
    abstracts = _read(file)
    checks = _read(held_out) if held_out is not None else None
    model = train_model(abstracts, settings=SHIPPED_SETTINGS)
    labeller = Labeller(model, name=str(out))
    scores = evaluate(labeller, checks) if checks is not None else None
    write_file(out, model)
    return Trained(out, len(abstracts), len(model), labeller.sha256, scores)


def describe_trained(trained: Trained) -> str:
    """The size of the model and its scores."""
    head = f"{trained.path}: {trained.abstracts} abstracts, {trained.size} bytes, SHA-256 {trained.sha256}"
    return head if trained.scores is None else f"{head}\n\n{table(trained.scores)}"


class _Tally:
    """Counts what passes by."""

    def __init__(self, ws: Workspace, labeller: Labeller) -> None:
        self.settings = ws.settings
        self.labeller = labeller
        self.origins: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()
        self.facets: Counter[str] = Counter()
        self.carried = 0
        self.same = 0

    def compare(self, sentences: tuple[str, ...], carried: tuple[str, ...]) -> None:
        predicted = self.labeller.label(sentences)
        self.carried += len(carried)
        self.same += sum(one == other for one, other in zip(carried, predicted, strict=True))

    def count(self, labels: Iterator[FacetLabels]) -> Iterator[FacetLabels]:
        for one in labels:
            self.origins[one.origin] += 1
            self.labels.update(one.labels)
            self.facets.update({facet for name in one.labels if (facet := self.settings.facet_of(name))})
            yield one


def _labels(ws: Workspace, labeller: Labeller, tally: _Tally, advance: Advance) -> Iterator[FacetLabels]:
    total = papers.count_papers(ws.corpus)
    predicted = f"{Source.PREDICTED}:{labeller.sha256[:SHA_PREFIX]}"
    everything = papers.read_papers(ws.corpus, columns=("sentences", "labels"))
    for done, paper in enumerate(everything, start=1):
        (found,) = label_papers([paper], labeller)
        if paper.labels is not None:
            tally.compare(paper.sentences, paper.labels)
        yield FacetLabels(paper.paper_id, found.labels, predicted if found.origin == "predicted" else Source.CARRIED)
        if done % OFTEN == 0 or done == total:
            advance(done, total)


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
