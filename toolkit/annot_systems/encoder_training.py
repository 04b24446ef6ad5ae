"""Examples for training an encoder, and the training."""

from __future__ import annotations

import itertools
import json
import math
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from annot.base.array_files import held_alone
from annot.base.errors import InputError, MissingInput
from annot.base.names import percent, sha256_of
from annot.base.records import Advance, Paper
from annot.corpus.corpus_facts import with_citations
from annot.formats.input_files import csv_of, json_lines, opened
from annot.publishing.report.figures import lines
from annot.publishing.report.tables import Column, Columns
from annot.ranking.encoding import weights_folder
from annot.ranking.systems import encoders, system, systems_of
from annot.store.papers import find_papers, paper_ids, read_papers
from annot.store.pools import read_queries
from annot.study.workspace import Workspace, check_files, write_file

from annot_systems import training_examples
from annot_systems.citing_texts import CitingText, read_citing_texts
from annot_systems.training_loop import EncoderTrainer, Length, Point, Tell, TrainingState, length_of

# ----------------------------------------------------------------------------------------------------------------------
# What encoders are trained on, written to files: co-citation contexts of full texts, and the examples made of them.
#
# Contexts are the sentences that cite several papers of the corpus.
# ----------------------------------------------------------------------------------------------------------------------


CONTEXT_WORDS = (5, 60)
"""Words of a co-citation context, at least and at most, as Aspire's authors have them."""
MOST_COCITED = 3
"""Papers of a set, for pairs of papers (Aspire, appendix A)."""
EASY, HARD = 3, 2
"""Triplets of a paper with a random negative, and with one that a paper it cites cites (SPECTER, section 4)."""
CLOZE_SENTENCES, CLOZE_REMOVED = 2, 0.9
"""For the inverse cloze task: sentences of an abstract, and how often such a sentence is dropped from it."""
QUERY_PAPER, NOT_NEEDED = "query papers of this study", "papers not needed"


def write_contexts(
    ws: Workspace, files: Sequence[Path], *, out: Path, fields: Sequence[str], dry_run: bool, advance: Advance
) -> training_examples.Cocitations:
    """Find the co-citations of papers of the corpus in S2ORC's full texts. All files are sound, or nothing is written.

    fields: of study, of the citing papers; none are all. The corpus's own filters (`[corpus]` in annot.toml, CSFCube's
    unless changed) say which abstracts qualify.
    """
    check_files(files)
    contexts, counts = training_examples.gather(
        _texts(files, advance), set(paper_ids(ws.corpus)), words=CONTEXT_WORDS, fields=fields
    )
    if not dry_run:
        write_file(out, json_lines(map(training_examples.context_record, contexts.items())))
    counts.path = out
    return counts


def _texts(files: Sequence[Path], advance: Advance) -> Iterator[CitingText]:
    done = 0
    for path in files:
        try:
            with opened(path) as file, TextIOWrapper(file, encoding="utf-8") as lines:
                for text in read_citing_texts(lines, name=str(path)):
                    done += 1
                    advance(done, None)
                    yield text
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not UTF-8 text at byte {error.start}") from None


@dataclass(frozen=True, slots=True)
class WrittenExamples:
    """Number of examples written, and of those left out, by reason."""

    system: str
    path: Path
    train: int
    dev: int
    left_out: Mapping[str, int]


def write_examples(
    ws: Workspace,
    recipe: training_examples.Recipe,
    *,
    contexts: Path | None,
    out: Path,
    examples: int | None,
    dev: int,
    dev_share: float,
    seed: int,
    dry_run: bool,
) -> WrittenExamples:
    """Write `train.jsonl` and `dev.jsonl`; no query paper of the study is in them.

    contexts: the file of `annot encoder contexts`; systems that are trained on co-citations need it. examples, dev,
    dev_share: as in `_Sampler`. Raises InputError,
    and writes nothing, if there is no example to train on, or no dev example although some are wanted.
    """
    with ws.reading() as session:
        queries = frozenset(query.topic_id for query in read_queries(session) if query.sentences)
    sampler = _Sampler(ws, recipe, queries, examples, dev, dev_share, seed)
    if recipe.of == "triplets":
        train, held_out = sampler.of_citations()
    else:
        if recipe.of == "cloze":
            train, held_out = sampler.of_abstracts()
        elif contexts is None:
            raise MissingInput(
                f"{recipe.system}: found no --contexts, expected a file of them",
                hint="make one with `annot encoder contexts`",
            )
        else:
            train, held_out = sampler.of_cocitations(training_examples.read_contexts(contexts))
        held_out, alone = training_examples.with_negatives(held_out, seed=seed)
        sampler.left_out.update(alone)
    first = list(itertools.islice(train, 1))
    if not first or (dev_share and not held_out):
        raise InputError(
            f"{recipe.system}: no {'dev example' if first else 'example to train on'}, so nothing is written",
            faults=[f"{count:,} left out: {reason}" for reason, count in sampler.left_out.most_common() if count],
            hint=f"add papers{' or contexts' if contexts else ''}, or change --dev-share",
        )
    n_held_out = _written(out / training_examples.DEV, held_out, dry_run=dry_run)
    n_train = _written(out / training_examples.TRAIN, itertools.chain(first, train), dry_run=dry_run)
    left_out = {reason: count for reason, count in sampler.left_out.most_common() if count}
    return WrittenExamples(recipe.system, out, n_train, n_held_out, left_out)


def _written(path: Path, examples: Iterable[training_examples.Example], *, dry_run: bool) -> int:
    """Write examples as they come, to a file that is there whole or, where there are none, not at all; returns how
    many."""
    if dry_run:
        return sum(1 for _ in examples)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    count = 0
    with temporary.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json_lines([training_examples.as_record(example)]))
            count += 1
    if count:
        temporary.replace(path)
    else:
        temporary.unlink()
        path.unlink(missing_ok=True)
    return count


@dataclass(frozen=True)
class _Sampler:
    """Draws examples of a study: those to train on, as they come, and those to hold out."""

    ws: Workspace
    recipe: training_examples.Recipe
    queries: Set[str]
    """The query papers to leave out."""
    examples: int | None
    """Examples at most; None: the recipe's own number, or all."""
    dev: int
    """Dev examples at most."""
    dev_share: float
    """Share of papers or sets that may give dev examples."""
    seed: int
    left_out: Counter[str] = field(default_factory=Counter)

    def of_citations(self) -> tuple[Iterator[training_examples.Example], Sequence[training_examples.Example]]:
        papers_by_id = {paper.paper_id: paper for paper in read_papers(self.ws.corpus, columns=("citations",))}
        read = {paper_id: paper.citations for paper_id, paper in with_citations(self.ws, papers_by_id).items()}
        corpus = [paper_id for paper_id in read if paper_id not in self.queries]
        self.left_out[QUERY_PAPER] += len(read) - len(corpus)
        corpus_ids = set(corpus)
        citations = {paper_id: [cited for cited in read[paper_id] if cited in corpus_ids] for paper_id in corpus}
        drawn: list[list[tuple[str, tuple[str, str]]]] = []
        for names, most in self._sides(corpus):
            side: list[tuple[str, tuple[str, str]]] = []
            for paper_id in names:
                if most is not None and len(side) >= most:
                    self.left_out[NOT_NEEDED] += 1
                    continue
                found, short = training_examples.triplets(
                    paper_id, citations, corpus, easy=EASY, hard=HARD, seed=self.seed
                )
                side += [(paper_id, others) for others in found]
                self.left_out.update([short] if short else [])
            drawn.append(side[:most])
        papers = find_papers(
            self.ws.corpus, {paper_id for side in drawn for query, others in side for paper_id in (query, *others)}
        )
        train, dev = (
            [
                training_examples.Example(papers[query], papers[positive], papers[negative], (query,))
                for query, (positive, negative) in side
            ]
            for side in drawn
        )
        return iter(train), dev

    def of_abstracts(self) -> tuple[Iterator[training_examples.Example], Sequence[training_examples.Example]]:
        corpus, ids = self.ws.corpus, paper_ids(self.ws.corpus)
        (train, most), (dev, most_dev) = self._sides([paper_id for paper_id in ids if paper_id not in self.queries])
        self.left_out[QUERY_PAPER] += len(ids) - len(train) - len(dev)

        def examples(papers: Iterable[Paper]) -> Iterator[training_examples.Example]:
            for paper in papers:
                self.left_out["papers of one sentence"] += len(paper.sentences) < 2
                yield from training_examples.cloze(
                    paper, sentences=CLOZE_SENTENCES, removed=CLOZE_REMOVED, seed=self.seed
                )

        train_ids = set(train)
        stream = (paper for paper in read_papers(corpus) if paper.paper_id in train_ids)
        papers = find_papers(corpus, dev[:most_dev])
        held_out = examples(papers[paper_id] for paper_id in dev[:most_dev])
        return itertools.islice(examples(stream), most), list(itertools.islice(held_out, most_dev))

    def of_cocitations(
        self, contexts: Mapping[training_examples.Papers, Sequence[training_examples.CitationContext]]
    ) -> tuple[Iterator[training_examples.Example], Sequence[training_examples.Example]]:
        of_papers = self.recipe.of == "cocited papers"
        sets = {}
        for papers, sentences in contexts.items():
            if self.queries & set(papers):
                self.left_out["sets with a query paper of this study"] += 1
            elif of_papers and len(papers) > MOST_COCITED:
                self.left_out[f"sets of more than {MOST_COCITED} papers"] += 1
            elif not of_papers and len(sentences) < 2:
                self.left_out["sets with one context"] += 1
            else:
                sets["\x1f".join(papers)] = papers

        def size(papers: training_examples.Papers) -> int:
            return math.comb(len(papers if of_papers else contexts[papers]), 2)

        sides = []
        for names, most in self._sides(list(sets)):
            ordered = [sets[name] for name in names]
            sizes_before = itertools.accumulate(map(size, ordered), initial=0)
            chosen = [
                papers for papers, count in zip(ordered, sizes_before, strict=False) if most is None or count < most
            ]
            self.left_out["sets not needed"] += len(ordered) - len(chosen)
            sides.append((chosen, most))
        texts = find_papers(self.ws.corpus, {paper for chosen, _ in sides for papers in chosen for paper in papers})

        def examples(chosen: Sequence[training_examples.Papers]) -> Iterator[training_examples.Example]:
            for papers in chosen:
                if not texts.keys() >= set(papers):
                    self.left_out["sets with a paper that is not in the corpus"] += 1
                elif of_papers:
                    sentences = training_examples.contexts_of(papers, contexts[papers], seed=self.seed)
                    for first, second in itertools.combinations(papers, 2):
                        yield training_examples.Example(texts[first], texts[second], None, papers, sentences)
                else:
                    yield from training_examples.pairs_of_contexts(papers, contexts[papers])

        train, dev = (itertools.islice(examples(chosen), most) for chosen, most in sides)
        return train, list(dev)

    def _sides(self, names: Sequence[str]) -> list[tuple[list[str], int | None]]:
        """Names to train on and names to hold out, each with the number of examples to draw; None: all."""
        sides = training_examples.split(names, dev_share=self.dev_share, seed=self.seed)
        return list(zip(sides, (self.examples or self.recipe.examples, self.dev), strict=True))


# ----------------------------------------------------------------------------------------------------------------------
# Training an encoder: from weights and examples to a folder of weights that `annot run` reads.
# ----------------------------------------------------------------------------------------------------------------------


RECORD, CURVE_FILE, DRAWING = "training.json", "curve.csv", "curve.svg"
CURVE: Columns[Point] = Columns(
    [Column("step", lambda row: f"{row.step:,}")],
    [
        Column("learning rate", lambda row: f"{row.learning_rate:.2g}"),
        Column("loss", lambda row: "" if row.train_loss is None else f"{row.train_loss:.4f}"),
        Column("dev loss", lambda row: f"{row.dev_loss:.4f}"),
        Column("dev accuracy", lambda row: percent(row.dev_accuracy, 1)),
    ],
)
"""Table of the learning curve."""
"""Files next to the weights: the inputs of the training, and the curve of the loss."""
ALIGN_BY = "cosentbert"
"""Aspire's encoder of sentences (section 3.2.2)."""


@dataclass(frozen=True, slots=True)
class EncoderTraining:
    """A training, done or planned."""

    system: str
    path: Path
    """Folder of the weights, also before they are there."""
    examples: int
    dev_examples: int
    length: Length
    settings: Mapping[str, Any]
    curve: tuple[Point, ...]
    """Empty for a dry run."""
    best: Point | None
    done_before: bool
    """True if these weights were trained before."""
    notes: tuple[str, ...]


def make(
    ws: Workspace | None,
    recipe: training_examples.Recipe,
    *,
    data: Path,
    start: str | None,
    align: str | None,
    out: Path | None,
    device: str | None,
    dry_run: bool,
    advance: Advance,
    tell: Tell,
) -> EncoderTraining:
    """Train, or continue an interrupted training of the same settings.

    start, align: a folder of weights or the name of a system; None takes those of the paper. out: None is
    `weights/SYSTEM` of the study. Raises InputError if `out` is there and was not trained so.
    """
    if out is None:
        if ws is None:
            raise InputError("found no study here and no --out, expected a folder for the weights")
        out = weights_folder(ws) / recipe.system
    train_on, dev = (
        training_examples.Examples(data / training_examples.TRAIN),
        training_examples.Examples(data / training_examples.DEV),
    )
    train_on.check(recipe, dev=False)
    dev.check(recipe, dev=True)
    length = length_of(len(train_on), recipe.settings)
    planned = EncoderTraining(
        *(recipe.system, out, len(train_on), len(dev), length, asdict(recipe.settings)),
        curve=(),
        best=None,
        done_before=False,
        notes=_notes(length),
    )
    start_folder, _ = _weights(start or recipe.start, ws)
    aligner = _weights(align or ALIGN_BY, ws) if recipe.aligned else None
    if dry_run:
        return planned
    facts = {
        "system": recipe.system,
        "settings": asdict(recipe.settings),
        "train_sha256": sha256_of(train_on.path),
        "dev_sha256": sha256_of(dev.path),
        "start_sha256": system.digest_of(start_folder),
        "align_sha256": system.digest_of(aligner[0]) if aligner else None,
    }
    recorded = _record(out, facts)
    if recorded is not None:
        return replace(planned, curve=tuple(recorded.curve), best=recorded.best, done_before=True)
    loaded = encoders.load(start_folder, device)
    if loaded.mix is not None:
        raise InputError(f"{start_folder}: found weights with a mix of layers, expected weights without one")
    work = out.with_name(f"{out.name}.training")
    with held_alone(
        work / "lock", busy=f"{work}: another process trains there", hint="wait until it ends, or choose another --out"
    ):
        aligned_by = encoders.open_text_encoder(*aligner, device=device) if aligner else None
        training = EncoderTrainer(recipe, loaded, train_on, dev, align=aligned_by, work=work)
        progress = training.run(facts, advance=advance, tell=tell)
        _write(out, work / "made", loaded, facts, progress)
        shutil.rmtree(work)
    return replace(planned, curve=tuple(progress.curve), best=progress.best)


def line(point: Point, steps: int) -> str:
    """Line on one evaluation with the dev examples."""
    loss = "" if point.train_loss is None else f"loss {point.train_loss:.4f}, "
    dev = f"dev loss {point.dev_loss:.4f}, dev accuracy {percent(point.dev_accuracy, 1)}"
    return f"step {point.step:,} of {steps:,}: {loss}{dev}"


def _notes(length: Length) -> tuple[str, ...]:
    if length.warm_up < length.steps:
        return ()
    return (f"the warm-up takes {length.warm_up:,} of {length.steps:,} steps; --set warm_up=0.1 takes a tenth of them",)


def _weights(name: str, ws: Workspace | None) -> tuple[Path, system.Reading]:
    """A folder of weights, or those of a system, and how they are read. Raises MissingInput if there are none."""
    if Path(name).is_dir():
        return Path(name), "own" if (Path(name) / "modules.json").is_file() else "cls"
    (system,) = systems_of([name], vectors=None, weights=None)
    if system.weights is None:
        raise InputError(f"{name}: a system without weights, expected a folder of weights or a system with an encoder")
    folder = Path("weights") if ws is None else weights_folder(ws)
    return system.weights.find(folder), system.weights.reading


def _record(out: Path, facts: Mapping[str, Any]) -> TrainingState | None:
    """The training that made the weights at `out`; None if there are none yet."""
    if not out.exists():
        return None
    path = out / RECORD
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"facts": None}
    if stored["facts"] != json.loads(json.dumps(facts)):
        raise InputError(
            f"{out}: weights of another training are there", hint="choose another --out, or remove the folder"
        )
    curve = [Point(**point) for point in stored["curve"]]
    return TrainingState(curve[-1].step, curve, Point(**stored["best"]))


def _write(out: Path, weights: Path, loaded: Any, facts: Mapping[str, Any], progress: TrainingState) -> None:
    """Weights, tokeniser, record and curve: the folder is there whole, or not at all."""
    shutil.rmtree(weights, ignore_errors=True)
    loaded.model.save_pretrained(weights)
    loaded.tokenizer.save_pretrained(weights)
    assert progress.best is not None, "a training looks at the dev examples"
    record = {"facts": facts, "curve": [asdict(point) for point in progress.curve], "best": asdict(progress.best)}
    write_file(weights / RECORD, json.dumps(record, indent=2, sort_keys=True) + "\n")
    write_file(weights / CURVE_FILE, csv_of([[field.name for field in fields(Point)], *map(astuple, progress.curve)]))
    losses = {
        "training": [(point.step, point.train_loss) for point in progress.curve if point.train_loss is not None],
        "dev": [(point.step, point.dev_loss) for point in progress.curve],
    }
    write_file(weights / DRAWING, lines(losses, across="step", up="loss").on_page)
    out.parent.mkdir(parents=True, exist_ok=True)
    weights.rename(out)
