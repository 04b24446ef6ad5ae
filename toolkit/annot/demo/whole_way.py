"""The whole way on the packaged corpus of fictional papers, with simulated people who answer through Label Studio."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomlkit

from annot.base.errors import InputError
from annot.base.records import Advance, Ranking, Source
from annot.demo import packaged, simulated_people
from annot.demo.packaged import ADJUDICATOR, CAST
from annot.formats.trec import read_run
from annot.judging.exchange import audit
from annot.pools.pool_design import DesignOverrides
from annot.publishing.release.questions import answers_file
from annot.ranking.systems import USUAL
from annot.steps import (
    agreement,
    assessor,
    browse,
    corpus,
    evaluate,
    facets,
    plan,
    pool,
    pull,
    push,
    qrels,
    query,
    report,
    run,
    studio,
)
from annot.steps.init import init, settings_text
from annot.store.runs import Imported, put_import
from annot.study.workspace import CACHE, SETTINGS_FILE, Workspace, write_file

NAME = "annot-demo"
REPEATS = 0.08
SEED = 13
CLOSE = 20
"""Freshly trained rankings are compared with the frozen ones by their first 20 documents."""
TOLERANCE = 0.8
"""The least mean share of those 20 that must be the same; term rankings have to be equal."""
RUNS = (*USUAL, "lsa", "whole_bm25")
NOTICE = (
    "Everything on this page is a demonstration: the papers are fictional, and the assessors and the adjudicator are "
    "simulated. Nothing here says anything about real papers or people."
)

Tell = Callable[[str], None]
Watch = Callable[[str], AbstractContextManager[Advance]]
"""Opens a progress bar of that name, for as long as the context lasts."""


@dataclass(frozen=True, slots=True)
class Done:
    """Where to look, and what was simulated."""

    report: Path
    browse: Path
    address: str
    passwords: Path
    pairs: int
    judgements: int
    adjudicated: int
    simulated: str


def go(folder: Path, *, tell: Tell, watch: Watch) -> Done:
    """Go the whole way in `folder`; run again, it finishes what is missing and changes nothing else."""
    ws = _workspace(folder)
    tell("1/12 Label Studio: start a local server (the first time, installing it takes a minute or two)")
    (server,) = studio.up(ws, port=None, per_assessor=False, tell=lambda text: tell(f"     {text}"))
    tell("2/12 corpus: 150 fictional papers read and filtered")
    source = ws.cache / "demo-corpus.jsonl"
    write_file(source, packaged.corpus_text())
    corpus.add(ws, [source], form=None, dry_run=False, advance=_quietly)
    labelled = facets.label(ws, model=None, dry_run=False, advance=_quietly)
    share = f"; the packaged model agrees on {labelled.agreement:.0%}" if labelled.agreement else ""
    tell(f"3/12 facets: the corpus has a label for each sentence{share}")
    chosen = [(paper.paper_id, facet) for paper in packaged.query_papers() for facet in paper.facets]
    for paper_id, facet in chosen:
        query.add(ws, paper_id, facet=facet, sentences=None, dry_run=False)
    tell(f"4/12 queries: {len(chosen)} of {len(packaged.query_papers())} papers")
    with watch("ranking") as advance:
        _pools(ws, tell=tell, advance=advance)
    pairs = share_out(ws, tell=tell)
    with watch("sending tasks") as advance:
        pushed = push.push(ws, round="judging", dry_run=False, advance=advance)
    tell(f"7/12 push: {sum(project.planned for project in pushed.projects)} tasks in {len(pushed.projects)} projects")
    remember_simulation(ws)
    truth = simulated_people.demo_relevance()
    tell("8/12 judging: simulated assessors answer through Label Studio, each with their own account")
    with watch("judging") as advance:
        judged = simulated_people.judge(ws, seed=SEED, truth=truth, advance=advance)
    pull.pull(ws, round="judging", advance=_quietly)
    tell(f"     {judged} judgements pulled back")
    push.push(ws, round="adjudication", dry_run=False, advance=_quietly)
    with watch("settling") as advance:
        settled = simulated_people.settle(ws, seed=SEED, truth=truth, advance=advance)
    pull.pull(ws, round="adjudication", advance=_quietly)
    tell(f"9/12 adjudication: {settled} disputes settled by a simulated adjudicator")
    audited = audit.audit(ws, advance=_quietly)
    tell(f"     audit of {audited.projects} projects: {len(audited.findings) or 'nothing'} found")
    _runs(ws)
    page, collection = write_results(ws, tell=tell)
    return Done(
        report=page,
        browse=collection,
        address=server.url,
        passwords=server.passwords,
        pairs=pairs,
        judgements=judged,
        adjudicated=settled,
        simulated=f"{len(CAST)} assessors (each with their own severity, noise and speed) and one adjudicator",
    )


def share_out(ws: Workspace, *, tell: Tell) -> int:
    """The people, and who judges what; returns the number of pairs."""
    for person in (*CAST, ADJUDICATOR):
        assessor.add(
            ws, person.name, account=f"{person.name}@demo.example.org", adjudicator=person is ADJUDICATOR, dry_run=False
        )
    planned = plan.make(
        ws.replaced("judging", repeats=REPEATS), queries=(), shares={}, seed=None, grow=False, dry_run=False
    )
    again = sum(load.repeats for load in planned.loads)
    tell(
        f"6/12 plan: {planned.pairs} pairs, each for two of {len(CAST)} assessors, {again} of them asked again as "
        f"hidden repeats; plan {planned.sha256[:12]}"
    )
    for note in planned.notes:
        tell(f"     {note}")
    return planned.pairs


def write_results(ws: Workspace, *, tell: Tell) -> tuple[Path, Path]:
    """Measure a judged study and write its pages; returns the paths of the report and of the page for browsing."""
    table = agreement.measure(ws, missing=None, binarised_at=None, tell=tell)
    together = table.groups[-1]
    alpha, percent = together.before["alpha_ordinal"].median, together.before["percent"].median
    tell(f"10/12 agreement: ordinal alpha {alpha:.2f}, {percent:.0f}% equal grades (medians over queries)")
    written = qrels.write(ws, partial=False)
    evaluate.evaluate(
        ws, runs=(), convention=None, measures=(), ties="order", average="test", at_least_two=False, tell=tell
    )
    tell(f"11/12 qrels: {written.pairs} pairs; {len(RUNS)} systems run and evaluated in both conventions")
    page = report.write(ws)
    collection = browse.write(ws, partial=False)
    tell("12/12 report and browse page written")
    return page.path, collection.path


def _workspace(folder: Path) -> Workspace:
    """The demo's study, made in an empty folder; its settings are written whole, so a kill leaves no half."""
    settings_file = folder / SETTINGS_FILE
    if not settings_file.is_file():
        if folder.exists() and (not folder.is_dir() or any(path.name != CACHE for path in folder.iterdir())):
            raise InputError(f"{folder}: not empty, and not a demo study", hint="name another: annot demo FOLDER")
        write_file(settings_file, demo_settings())
    ws = Workspace.open(folder)
    if ws.settings.collection.name != NAME:
        raise InputError(
            f"{folder}: found the study {ws.settings.collection.name!r}, expected the demo",
            hint="name another: annot demo FOLDER",
        )
    init(folder, name=None, dry_run=False)
    if not answers_file(ws).exists():
        write_file(answers_file(ws), packaged.read("datasheet.toml"))
    return ws


def demo_settings() -> str:
    document: Any = tomlkit.parse(settings_text(NAME))
    document["seed"] = SEED
    for table, values in tomllib.loads(packaged.read("settings.toml")).items():
        document[table].update(values)
    return tomlkit.dumps(document)


def _pools(ws: Workspace, *, tell: Tell, advance: Advance) -> None:
    """Rank, compare with the frozen rankings, and draw from those: the same pools on every machine."""
    overlap = _freeze_rankings(ws, advance=advance)
    built = pool.build(
        ws, overrides=DesignOverrides(), redraw=False, frozen=True, grow=False, dry_run=False, advance=advance
    )
    trained = [value for method, value in overlap.items() if "tfidf" not in method or "cbow" in method]
    tell(
        f"5/12 pools: {built.notes[0]}, drawn from the packaged rankings; newly trained ones share at "
        f"least {100 * min(trained):.0f}% of the first {CLOSE} documents with them (tolerance {100 * TOLERANCE:.0f}%)"
    )


def _freeze_rankings(ws: Workspace, *, advance: Advance) -> dict[str, float]:
    """Put the frozen rankings in the place of fresh ones; returns how much fresh ones have in common with them."""
    fresh, _ = pool.fresh_rankings(ws, advance=advance)
    frozen = packaged.frozen("rankings")
    overlap = {
        method: _overlap(by_paper, read_run(frozen[f"{method}.run"].splitlines(), name=method).rankings)
        for method, by_paper in fresh.items()
    }
    for name, text in frozen.items():
        write_file(ws.rankings / name, text)
    return overlap


def _overlap(rankings: Mapping[str, Ranking], frozen: Mapping[str, Ranking]) -> float:
    """The mean share of the first documents that two sets of rankings have in common; each has that many."""

    def first(ranking: Ranking) -> set[str]:
        return {doc.doc_id for doc in ranking[:CLOSE]}

    shares = [len(first(ranking) & first(frozen[paper_id])) / CLOSE for paper_id, ranking in rankings.items()]
    return sum(shares) / len(shares)


def _runs(ws: Workspace) -> None:
    """The baselines; those of word vectors are replaced by the frozen ones, the same on every machine."""
    run.make(ws, systems=RUNS, advance=_quietly)
    frozen = packaged.frozen("runs")
    for name, text in frozen.items():
        if name.endswith(".run"):
            record = json.loads(frozen[name.replace(".run", ".json")])
            rankings = read_run(text.splitlines(), name=name).rankings
            run.adopt(ws, record["tag"], rankings, facts=record["settings"])


def remember_simulation(ws: Workspace) -> None:
    cast = [asdict(person) for person in (*CAST, ADJUDICATOR)]
    digest = hashlib.sha256(json.dumps(cast, sort_keys=True).encode()).hexdigest()
    with ws.writing() as session:
        put_import(session, Imported(Source.SIMULATION, digest, {"notice": NOTICE, "cast": cast}))


def _quietly(_done: int, _total: int | None) -> None:
    """No progress bar: the demo narrates."""
