"""The whole way on the packaged corpus of fictional papers, with simulated people who answer through Label Studio."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import tomlkit
from annot.base.errors import InputError
from annot.base.names import percent
from annot.base.records import Advance, Ranking, Source
from annot.formats.trec import read_run
from annot.judging.exchange import audit
from annot.measuring.sampled.estimates import notes_of
from annot.publishing.release.prose import answer_sheet, answers_file, parse_answers
from annot.ranking.systems import USUAL, USUAL_OF_TEXTS
from annot.steps import agreement, corpus, evaluate, exchange, facets, plan, pool, publish, qrels, query, run, setup
from annot.steps import people as assessor
from annot.steps.setup import init, settings_text, write_words
from annot.store import people
from annot.store.models import ImportedSource
from annot.store.pools import read_sample
from annot.store.runs import put_import
from annot.study.workspace import CACHE, SETTINGS_FILE, Workspace, study_above, write_file

from annot_demo import simulated_people
from annot_demo.simulated_people import ADJUDICATOR, CAST

NAME = "annot-demo"
DRAFT = "release-draft"
DEEPER = 3
"""Factor by which methods are drawn deeper if a sample is judged: a third of these pools is as many pairs again."""
REPEATS = 0.08
SEED = 13
CLOSE = 20
"""Freshly trained rankings are compared with the frozen ones by their first 20 documents."""
TOLERANCE = 0.8
"""The least mean share of those 20 that must be the same; term rankings have to be equal."""
RUNS = (*USUAL, "lsa", "whole_bm25")
RUNS_OF_TEXTS = (*USUAL_OF_TEXTS, "lsa")
NOTICE = (
    "Everything on this page is a demonstration: the papers are fictional, and the assessors and the adjudicator are "
    "simulated. Nothing here says anything about real papers or people."
)

DemoKind = Literal["facets", "questions"]
Tell = Callable[[str], None]
Watch = Callable[[str], AbstractContextManager[Advance]]
"""Opens a progress bar of that name, for as long as the context lasts."""


@dataclass(slots=True)
class Steps:
    """Messages of the demonstration, with numbered steps."""

    tell: Tell
    number: int
    begun: int = 0

    def begin(self, text: str) -> None:
        """The next step."""
        self.begun += 1
        self.tell(f"{self.begun}/{self.number} {text}")

    def add(self, text: str) -> None:
        """More on the same step."""
        self.tell(f"     {text}")


@dataclass(frozen=True, slots=True)
class Done:
    """Pages to open, and a list of simulated parts."""

    report: Path
    browse: Path
    released: Path | None
    """The draft of a release that shows how a sample is published."""
    address: str
    passwords: Path
    pairs: int
    judgements: int
    adjudicated: int
    simulated: str


def go(folder: Path, *, kind: DemoKind = "facets", sample: float | None = None, tell: Tell, watch: Watch) -> Done:
    """Make the whole study in `folder`; a second run only adds missing parts.

    sample: judge only a sample with this share of the pools.
    """
    ws = _workspace(folder, kind, deeper=1 if sample is None else DEEPER)
    _refuse_another_share(ws, sample)
    steps = Steps(tell, number=(12 if kind == "facets" else 11) + (sample is not None))
    steps.begin("Label Studio: start a local server (the first time, it is installed)")
    (server,) = setup.up(ws, port=None, tell=steps.add)
    steps.begin("corpus: 150 fictional papers read and filtered")
    source = ws.cache / "demo-corpus.jsonl"
    write_file(source, simulated_people.corpus_text())
    corpus.add(ws, [source], form=None, dry_run=False, advance=_quietly)
    (_papers_asked if kind == "facets" else _questions_asked)(ws, steps, watch)
    return _judged(ws, kind, sample, server, steps, watch)


def _judged(
    ws: Workspace, kind: DemoKind, sample: float | None, server: setup.State, steps: Steps, watch: Watch
) -> Done:
    """Steps from the plan to the pages."""
    pairs = share_out(ws, steps, sample)
    with watch("sending tasks") as advance:
        pushed = exchange.push(ws, round="judging", dry_run=False, advance=advance)
    steps.begin(f"push: {sum(project.planned for project in pushed.projects)} tasks in {len(pushed.projects)} projects")
    remember_simulation(ws)
    truth = simulated_people.demo_relevance(kind)
    steps.begin("judging: simulated assessors answer through Label Studio, each with their own account")
    with watch("judging") as advance:
        judged = simulated_people.judge(ws, seed=SEED, truth=truth, advance=advance)
    exchange.pull(ws, round="judging", advance=_quietly)
    steps.add(f"{judged} judgements pulled back")
    exchange.push(ws, round="adjudication", dry_run=False, advance=_quietly)
    with watch("settling") as advance:
        settled = simulated_people.settle(ws, seed=SEED, truth=truth, advance=advance)
    exchange.pull(ws, round="adjudication", advance=_quietly)
    steps.begin(f"adjudication: {settled} disputes settled by a simulated adjudicator")
    audited = audit.audit(ws, advance=_quietly)
    steps.add(f"audit of {audited.projects} projects: {len(audited.findings) or 'nothing'} found")
    if kind == "facets":
        _runs(ws, frozen=sample is None)
    else:
        run.make(ws, systems=RUNS_OF_TEXTS, advance=_quietly)
    page, collection = write_results(ws, steps)
    return Done(
        report=page,
        browse=collection,
        released=None if sample is None else _release(ws, steps),
        address=server.url,
        passwords=server.passwords,
        pairs=pairs,
        judgements=judged,
        adjudicated=settled,
        simulated=f"{len(CAST)} assessors (each with their own severity, noise and speed) and one adjudicator",
    )


def _papers_asked(ws: Workspace, steps: Steps, watch: Watch) -> None:
    """Sentence labels, query papers with their facets, and pools from the packaged rankings."""
    labelled = facets.label(ws, model=None, dry_run=False, advance=_quietly)
    share = f"; the packaged model agrees on {percent(labelled.agreement, 0)}" if labelled.agreement else ""
    steps.begin(f"facets: the corpus has a label for each sentence{share}")
    chosen = [(paper_id, facet) for paper_id, several in simulated_people.query_papers().items() for facet in several]
    for paper_id, facet in chosen:
        query.add(ws, paper_id, facet=facet, sentences=None, dry_run=False)
    steps.begin(f"queries: {len(chosen)} of {len(simulated_people.query_papers())} papers")
    with watch("ranking") as advance:
        _pools(ws, steps, advance=advance)


def _questions_asked(ws: Workspace, steps: Steps, watch: Watch) -> None:
    """Questions, and pools from rankings that are made now."""
    questions = simulated_people.questions()
    for question in questions:
        query.add_text(ws, question.topic, dry_run=False)
    steps.begin(f"topics: {len(questions)} questions, each with a description and a narrative")
    with watch("ranking") as advance:
        built = pool.build(ws, dry_run=False, advance=advance)
    steps.begin(f"pools: drawn by {len(ws.settings.pool.methods)} methods")
    for note in built.notes:
        steps.add(note)


def share_out(ws: Workspace, steps: Steps, sample: float | None = None) -> int:
    """Add the people and plan the pools or a sample; returns the number of pairs to judge."""
    for person in (*CAST, ADJUDICATOR):
        assessor.add(
            ws, person.name, account=f"{person.name}@demo.example.org", adjudicator=person is ADJUDICATOR, dry_run=False
        )
    planned = plan.make(
        ws.replaced("judging", repeats=REPEATS),
        queries=(),
        shares={},
        seed=None,
        grow=False,
        dry_run=False,
        sample=sample,
    )
    again = sum(load.repeats for load in planned.loads)
    steps.begin(
        f"plan: {planned.pairs} pairs, each for two of {len(CAST)} assessors, {again} of them asked again as "
        f"hidden repeats; plan {planned.sha256[:12]}"
    )
    for note in planned.notes:
        steps.add(note)
    return planned.pairs


def write_results(ws: Workspace, steps: Steps) -> tuple[Path, Path]:
    """Measure a judged study and write its pages; returns the paths of the report and of the page for browsing."""
    table = agreement.measure(ws, missing=None, binarised_at=None, tell=steps.tell)
    alpha, equal = (getattr(table.groups[-1].before[name], table.best) for name in ("alpha_ordinal", "percent"))
    summary = {"median": "medians over queries", "pooled": "of the whole pools, estimated from the sample"}[table.best]
    steps.begin(f"agreement: ordinal alpha {alpha:.2f}, {equal:.0f}% equal grades ({summary})")
    written = qrels.write(ws, partial=False)
    evaluated = evaluate.evaluate(
        ws, runs=(), convention=None, measures=(), ties="order", average="test", at_least_two=False, tell=steps.tell
    )
    systems = len(RUNS if ws.settings.faceted else RUNS_OF_TEXTS)
    steps.begin(f"qrels: {written.pairs} pairs; {systems} systems run and evaluated in both conventions")
    for note in () if evaluated.sampled is None else notes_of(evaluated.sampled, evaluated.measure):
        steps.add(note)
    page = publish.write_report(ws)
    collection = publish.write_browse_page(ws, partial=False)
    steps.begin("report and browse page written")
    return page, collection.path


def _release(ws: Workspace, steps: Steps) -> Path:
    """A draft of the release, with the table of the sample and the program that measures a run on it."""
    released = publish.release(
        ws, ws.root / DRAFT, with_text=None, licence=None, published=None, allowed=(), draft=True, dry_run=False
    )
    steps.begin(
        f"release: a draft of {len(released.files)} files, with the sample and a program that measures a run on it"
    )
    return released.folder


def _refuse_another_share(ws: Workspace, sample: float | None) -> None:
    """Raise InputError if the study is planned already with another share of the pools, or whole."""
    with ws.reading() as session:
        planned, plan = people.read_plan(session), read_sample(session)
    share = None if plan is None else plan.design.share
    if planned is not None and share != sample:
        present, wanted = ("whole pools" if part is None else f"a sample of {part:g}" for part in (share, sample))
        raise InputError(
            f"{ws.root}: found the demo with {present}, expected {wanted}", hint="name another: annot demo FOLDER"
        )


def _workspace(folder: Path, kind: DemoKind, *, deeper: int) -> Workspace:
    """The demo's study, made in an empty folder; its settings are written whole, so a kill leaves no half."""
    settings_file = folder / SETTINGS_FILE
    if not settings_file.is_file():
        if (study := study_above(folder)) is not None:
            raise InputError(f"{folder}: inside the study {study}", hint="run the demo in a folder outside it")
        if folder.exists() and (
            not folder.is_dir() or any(path.name not in (CACHE, "templates") for path in folder.iterdir())
        ):
            raise InputError(f"{folder}: not empty, and not a demo study", hint="name another: annot demo FOLDER")
        write_words(folder, kind)
        write_file(settings_file, demo_settings(kind, deeper=deeper))
    ws = Workspace.open(folder)
    present = ws.settings.collection.name, ws.settings.kind
    if present != (NAME, kind):
        problem = f"{folder}: found the study {present[0]!r} of {present[1]}, expected the demo of {kind}"
        raise InputError(problem, hint="name another: annot demo FOLDER")
    init(folder, name=None, dry_run=False)
    if not answers_file(ws).exists():
        write_file(answers_file(ws), demo_answers(kind))
    return ws


def demo_settings(kind: DemoKind = "facets", *, deeper: int = 1) -> str:
    """The text of annot.toml."""
    document: Any = tomlkit.parse(settings_text(NAME, kind))
    document["seed"] = SEED
    name = {"facets": "settings.toml", "questions": "questions.toml"}[kind]
    for table, values in tomllib.loads(simulated_people.read(name)).items():
        document[table].update(values)
    document["pool"]["per_method"] *= deeper
    return tomlkit.dumps(document)


def demo_answers(kind: DemoKind) -> str:
    """The answers of the demonstration's datasheet."""
    text = simulated_people.read("datasheet.toml")
    if kind == "facets":
        return text
    answers = simulated_people.read("questions_datasheet.toml")
    return answer_sheet(
        parse_answers(text, name="datasheet.toml") | parse_answers(answers, name="questions_datasheet.toml"),
        topics=True,
    )


def _pools(ws: Workspace, steps: Steps, *, advance: Advance) -> None:
    """Rank, compare with the frozen rankings, and draw from those: the same pools on every machine."""
    overlap = _freeze_rankings(ws, advance=advance)
    built = pool.build(ws, frozen=True, dry_run=False, advance=advance)
    trained = [value for method, value in overlap.items() if "tfidf" not in method or "cbow" in method]
    steps.begin(
        f"pools: {built.notes[0]}, drawn from the packaged rankings; newly trained ones share at "
        f"least {percent(min(trained), 0)} of the first {CLOSE} documents with them (tolerance {percent(TOLERANCE)})"
    )


def _freeze_rankings(ws: Workspace, *, advance: Advance) -> dict[str, float]:
    """Replace fresh rankings by the frozen ones; returns how much the two have in common."""
    fresh, _ = pool.fresh_rankings(ws, advance=advance)
    frozen = simulated_people.frozen("rankings")
    overlap = {
        method: _overlap(by_paper, read_run(frozen[f"{method}.run"].splitlines(), name=method))
        for method, by_paper in fresh.items()
    }
    for name, text in frozen.items():
        write_file(ws.rankings / name, text)
    return overlap


def _overlap(rankings: Mapping[str, Ranking], frozen: Mapping[str, Ranking]) -> float:
    """Mean share of the best documents that two sets of rankings have in common."""

    def first(ranking: Ranking) -> set[str]:
        return {doc.doc_id for doc in ranking[:CLOSE]}

    shares = [len(first(ranking) & first(frozen[paper_id])) / CLOSE for paper_id, ranking in rankings.items()]
    return sum(shares) / len(shares)


def _runs(ws: Workspace, *, frozen: bool) -> None:
    """The baselines; those of word vectors are replaced by the frozen ones, the same on every machine.

    frozen: False where pools are deeper than those that the frozen runs rank.
    """
    run.make(ws, systems=RUNS, advance=_quietly)
    files = simulated_people.frozen("runs") if frozen else {}
    for name, text in files.items():
        if name.endswith(".run"):
            record = json.loads(files[name.replace(".run", ".json")])
            rankings = read_run(text.splitlines(), name=name)
            run.adopt(ws, record["tag"], rankings, facts=record["settings"])


def remember_simulation(ws: Workspace) -> None:
    cast = [asdict(person) for person in (*CAST, ADJUDICATOR)]
    digest = hashlib.sha256(json.dumps(cast, sort_keys=True).encode()).hexdigest()
    with ws.writing() as session:
        put_import(session, ImportedSource(Source.SIMULATION, digest, {"notice": NOTICE, "cast": cast}))


def _quietly(_done: int, _total: int | None) -> None:
    """Show no progress bar: the demo prints its own messages."""
