"""Studies at every stage of the work: one builder for all tests; each stage is made once a session, and copied.

A recipe says what a study is made of and who answers what. The way to the plan is the steps' own; answers are written
into the store (`study_answers`), or given on a server (`rounds/worlds.py`).
"""

import fcntl
import hashlib
import json
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from itertools import cycle
from pathlib import Path
from typing import ClassVar

import pytest
import tomlkit
from annot.base.settings import TERM_AND_EMBEDDING_METHODS, Settings
from annot.corpus.corpus_facts import current_sha256
from annot.formats.trec import read_run
from annot.judging.trial_answers import NO_REASONS
from annot.pools.pool_design import DesignOverrides
from annot.publishing.release.prose import answer_sheet, questions
from annot.steps import corpus, facets, plan, pool, qrels, query
from annot.steps import people as assessors
from annot.steps import run as runs
from annot.steps.setup import init
from annot.store import facet_labels
from annot.store.models import Notice
from annot.store.papers import read_papers
from annot.store.people import record_notices
from annot.store.pools import put_queries, read_queries
from annot.study.workspace import Workspace, write_file
from annot_demo import simulated_people
from command_line import annot_done
from demo_collection import papers
from study_answers import ACCOUNTS, SEED, Answers, Golden, Simulated

STAGES = ("made", "labelled", "queried", "pooled", "planned", "sent", "judged", "settled", "measured")
"""Each is made from the one before it."""
COLLECTION = {
    "title": "A demonstration collection",
    "description": "Fictional abstracts, judged by programs.",
    "creators": ["The demo makers"],
    "licence": "CC-BY-4.0",
    "text_licence": "CC0-1.0",
    "url": "https://collection.example/demo",
    "published": "2031-02-03",
}
METHODS = [*TERM_AND_EMBEDDING_METHODS, "lsa", "cited"]
QUERY_PAPERS = [*simulated_people.query_papers().items()]
ENVIRONMENT = ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "ANNOT_DATABASE", "ANNOT_WORKSPACE")


def quietly(_done: int, _total: int | None) -> None:
    """No progress bar."""


def demo_settings(**sections: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    return {"pool": {"per_method": 3, "ranking_depth": 50, "methods": METHODS}, **sections}


@dataclass(frozen=True)
class Recipe:
    """A study of the demonstration's papers; with no parameter given, the demonstration itself."""

    file: str | None = None
    """`annot.toml` as it is typed, in place of the one that `annot init` writes."""
    settings: Mapping[str, Mapping[str, object]] = field(
        default_factory=lambda: demo_settings(
            # Word vectors that take no time.
            word_vectors={"epochs": 1, "dimensions": 10},
            collection={
                "title": "A demonstration collection",
                "description": "Invented papers, judged by nobody.",
                "url": "https://example.org/demo",
                "creators": ["The demonstration"],
            },
        )
    )
    """By section, what is set in `annot.toml`."""
    labels: str = "model"
    """The model's, or `carried`: as the collection has them."""
    queries: Sequence[tuple[str, Sequence[str]]] = tuple(QUERY_PAPERS)
    """Papers and their facets."""
    types: bool = False
    """Whether the papers have types."""
    frozen: bool = True
    """Pools from the packaged rankings, or ranked anew."""
    per_method: int | None = None
    people: Sequence[tuple[str, str]] = tuple((name, f"{name}@demo.example.org") for name in ACCOUNTS)
    """Names and accounts; those that begin with j are adjudicators."""
    told_at: str | None = None
    """When people were told what of theirs is published."""
    answers: Answers = field(default_factory=Golden)
    frozen_runs: bool = False

    USED_FROM: ClassVar[Mapping[str, str]] = {
        **{"labels": "labelled", "queries": "queried", "types": "queried", "frozen": "pooled", "per_method": "pooled"},
        **{"people": "planned", "told_at": "planned", "answers": "judged", "frozen_runs": "measured"},
    }
    """The stage from which on a parameter acts: what comes before is one study for all."""

    def key(self, stage: str) -> str:
        """What the study at this stage depends on."""
        acting = STAGES[: STAGES.index(stage) + 1]
        names = (one.name for one in fields(self) if self.USED_FROM.get(one.name, "made") in acting)
        return f"{type(self).__name__} {stage} {[(name, getattr(self, name)) for name in names]}"

    def made(self, folder: Path) -> None:
        if self.file is not None:
            write_file(folder / "annot.toml", self.file)
        init(folder, name=None if self.file else "annot-demo", dry_run=False)
        if self.settings:
            set_in(folder, self.settings)
        (folder / "papers.jsonl").write_text(simulated_people.corpus_text(), encoding="utf-8")

    def labelled(self, ws: Workspace) -> None:
        corpus.add(ws, [ws.root / "papers.jsonl"], form=None, dry_run=False, advance=quietly)
        if self.labels == "model":
            facets.label(ws, model=None, dry_run=False, advance=quietly)
            return
        with ws.writing() as session:
            carried = [facet_labels.FacetLabels(one.paper_id, one.labels or (), "carried") for one in papers()]
            facet_labels.replace_labels(session, carried)

    def queried(self, ws: Workspace) -> None:
        for paper_id, wanted in self.queries:
            for facet in wanted:
                query.add(ws, paper_id, facet=facet, sentences=None, dry_run=False)
        if self.types:
            types = dict(zip((paper_id for paper_id, _ in QUERY_PAPERS), cycle(Settings().queries.types)))
            with ws.writing() as session:
                put_queries(session, [replace(one, paper_type=types[one.topic_id]) for one in read_queries(session)])

    def pooled(self, ws: Workspace) -> None:
        for name, text in simulated_people.frozen("rankings").items() if self.frozen else ():
            write_file(ws.rankings / name, text)
        overrides = DesignOverrides(per_method=self.per_method)
        pool.build(
            ws, overrides=overrides, redraw=False, frozen=self.frozen, grow=False, dry_run=False, advance=quietly
        )

    def planned(self, ws: Workspace) -> None:
        for name, account in self.people:
            assessors.add(ws, name, account=account, adjudicator=name.startswith("j"), dry_run=False)
        if self.told_at is not None:
            with ws.writing() as session:
                told = [
                    Notice(name, "reasons" if name.startswith("j") else "comments", "screen", self.told_at, True)
                    for name, _ in self.people
                ]
                record_notices(session, told)
        plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=False)

    def sent(self, ws: Workspace) -> None:
        """To no server."""

    def judged(self, ws: Workspace) -> None:
        self.answers.judged(ws)

    def settled(self, ws: Workspace) -> None:
        self.answers.settled(ws)

    def measured(self, ws: Workspace) -> None:
        if self.frozen_runs:
            self.adopted(ws)
            qrels.write(ws, partial=False)
            return
        for typed in (("agreement",), ("qrels",), ("run", "fabs_tfidf", "fabs_bm25"), ("evaluate",)):
            annot_done(*typed, folder=ws.root)

    @staticmethod
    def adopted(ws: Workspace) -> None:
        """The packaged runs."""
        frozen = simulated_people.frozen("runs")
        for name, text in frozen.items():
            if name.endswith(".json"):
                facts = json.loads(text)
                rankings = read_run(frozen[f"{facts['tag']}.run"].splitlines(), name=name)
                runs.adopt(ws, facts["tag"], rankings, facts=facts["settings"])


DEMO = Recipe()


def published(query_papers: int, answers: Answers | None = None) -> Recipe:
    """A study of so many of the nine query papers, ready for a release, its datasheet answered."""
    return _Published(
        settings=demo_settings(
            collection=COLLECTION, release={"comments": "published", "reasons": "published"}, **{"": {"seed": SEED}}
        ),
        labels="carried",
        queries=QUERY_PAPERS[:query_papers],
        types=True,
        people=tuple(ACCOUNTS.items()),
        told_at="2029-01-01T00:00:00+00:00",
        answers=answers or Simulated(),
        frozen_runs=True,
    )


class _Published(Recipe):
    def made(self, folder: Path) -> None:
        super().made(folder)
        (folder / "datasheet.toml").write_text(answered(), encoding="utf-8")


def answered(*, topics: bool = False, **given: str) -> str:
    """The text of a `datasheet.toml` with an answer to every question; `given` by section and key, `__` between.

    topics: of a study with topics that are texts.
    """
    asked = questions(topics=topics)
    answers = {one.id: f"What is true of {one.id}." for one in asked if one.kind == "prose"}
    answers["composition.people"] = "No."
    return answer_sheet(answers | {key.replace("__", "."): text for key, text in given.items()}, topics=topics)


def give_reasons(folder: Path) -> None:
    """A sentence in place of the words of the draw, so that the gold pairs may be sent."""
    path = folder / "training" / "gold.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.rsplit("\t", 1) for line in lines]
    told = [f"{pair}\t{'both say so' if why in NO_REASONS else why}\n" for pair, why in cells]
    path.write_text("".join(told), encoding="utf-8")
    annot_done("train", "gold", "training/gold.tsv", folder=folder)


def set_in(folder: Path, sections: Mapping[str, Mapping[str, object]]) -> None:
    """Write these settings into `annot.toml`; those of the section "" are above all sections."""
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text(encoding="utf-8"))
    for name, values in sections.items():
        (settings.setdefault(name, tomlkit.table()) if name else settings).update(values)
    path.write_text(tomlkit.dumps(settings), encoding="utf-8")


NEW = [f"new-{number}" for number in range(6)]


def six(ws: Workspace, names: list[str] = NEW) -> Path:
    """Papers that share words with those of the demonstration."""
    first = 3 if names is NEW else 30
    old = list(read_papers(ws.corpus))[first : first + len(names)]
    path = ws.root / f"{names[0]}.jsonl"
    records = [
        {"paper_id": name, "title": f"{paper.title} again, by {name}", "year": 2031}
        | {"abstract": [f"Case {name} is new.", *paper.sentences[1:], f"So it was in {name}."]}
        for name, paper in zip(names, old, strict=True)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below the folder with its bytes, but for what Python compiled there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }


# -- made once a session, and copied -----------------------------------------------------------------------------------

_kept_in: list[Path] = []


def keep_in(folder: Path) -> None:
    """Where the session's studies are kept; workers of one session share the folder."""
    folder.mkdir(exist_ok=True)
    _kept_in[:] = [folder]


def kept(recipe: Recipe, stage: str) -> Path:
    """The study at this stage, for copying or reading. Nobody writes into it."""
    with (_kept_in[0] / "lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in ENVIRONMENT:
            patch.delenv(name, raising=False)
        patch.setenv("NO_COLOR", "1")
        return _kept(recipe, stage)


def copied(recipe: Recipe, stage: str, folder: Path) -> Workspace:
    """A copy of the study at this stage in `folder`."""
    copy_study(kept(recipe, stage), folder)
    ws = Workspace.open(folder)
    if (ws.cache / "corpus.json").exists():
        # The corpus's files have other times and numbers here than the ones they were remembered by.
        current_sha256(ws, keep=True)
    return ws


def advance(recipe: Recipe, folder: Path, *, after: str | None, to: str) -> Workspace:
    """Bring the study in `folder` from one stage (None: there is none yet) to another, without keeping it."""
    for stage in STAGES[0 if after is None else STAGES.index(after) + 1 : STAGES.index(to) + 1]:
        getattr(recipe, stage)(folder if stage == "made" else Workspace.open(folder))
    return Workspace.open(folder)


def _kept(recipe: Recipe, stage: str) -> Path:
    place = _kept_in[0] / hashlib.sha256(recipe.key(stage).encode()).hexdigest()[:16]
    if not place.exists():
        before = STAGES[STAGES.index(stage) - 1] if stage != STAGES[0] else None
        begun = place.with_suffix(".begun")
        shutil.rmtree(begun, ignore_errors=True)
        if before is not None:
            copy_study(_kept(recipe, before), begun)
        ws = advance(recipe, begun, after=before, to=stage)
        with closing(sqlite3.connect(ws.root / ws.settings.store.database)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        begun.rename(place)
    return place


def copy_study(source: Path, folder: Path) -> Path:
    """Copy a kept study without the log of its database: it is empty, and comes and goes as other workers read."""
    return Path(shutil.copytree(source, folder, symlinks=True, ignore=shutil.ignore_patterns("*-wal", "*-shm")))
