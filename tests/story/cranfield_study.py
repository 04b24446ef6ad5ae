"""Cranfield's questions as a study of annot: drawn into pools, judged by two simulated people who err, released.

What they say is Cranfield's own grade of the document, seen with the noise and the severity of the demonstration's
people. So the grades that come out, and every figure, can be held against a collection that was judged whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import ir_measures
from annot.base.records import Qrel, Query, Source
from annot.demo import simulated_people
from annot.demo.simulated_people import ADJUDICATOR, CAST
from annot.formats.beir import dataset_id, module_name
from annot.formats.trec import read_qrels, read_run
from annot.pools.pool_design import DesignOverrides
from annot.publishing.release.prose import answer_sheet, questions
from annot.steps import agreement as agreements
from annot.steps import check, corpus, evaluate, exchange, people, plan, pool, qrels, query, run
from annot.steps import publish as browse
from annot.steps import publish as release
from annot.steps import publish as report
from annot.steps.setup import init
from annot.store.models import ImportedSource
from annot.store.runs import put_import
from annot.study.workspace import Workspace, write_file
from judged_whole import Cranfield

Pair = tuple[str, str]
SYSTEMS = ("whole_bm25", "whole_tfidf", "whole_cbow200", "whole_tfidfcbow200")
MEASURES = [ir_measures.AP, ir_measures.nDCG @ 10]
SETTINGS = """
kind = "questions"
seed = {seed}

[collection]
name = "cranfield-questions"
title = "Questions of Cranfield"
description = "Questions on aerodynamics with graded abstracts, judged again by simulated people."
creators = ["a benchmark of annot"]
licence = "CC0-1.0"
text_licence = "https://ir.dcs.gla.ac.uk/resources/test_collections/cran/"
url = "https://ir.dcs.gla.ac.uk/resources/test_collections/cran/"

[scale]
names = ["Unrelated", "Related", "Partial answer", "Full answer"]

[evaluation]
relevant_from = 1

[release]
comments = "left out"
reasons = "left out"

[pool]
per_method = {per_method}
"""
NOTICE = "The assessors and the adjudicator are simulated: they know Cranfield's grades and make mistakes."
PEOPLE = (("a1", False), ("a2", False), ("j1", True))


READ = """
import importlib, json, sys
import ir_datasets
importlib.import_module(sys.argv[1])
read = ir_datasets.load(sys.argv[2])
print(json.dumps({
    "queries": {one.query_id: one.default_text() for one in read.queries_iter()},
    "qrels": {f"{one.query_id} {one.doc_id}": one.relevance for one in read.qrels_iter()},
    "ranked": [f"{one.query_id} {one.doc_id}" for one in read.scoreddocs_iter()],
    "documents": [one.doc_id for one in read.docs_iter() if one.default_text().strip()],
}))
"""
"""Read in a process of its own, as a user of the release does: its folder is on the path."""


class Bias(NamedTuple):
    """A mean of one system by the grades of the study, by Cranfield's of what was pooled, and by all of Cranfield's."""

    system: str
    measure: str
    study: float
    pooled: float
    whole: float


@dataclass
class Found:
    """What came of it."""

    counts: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    agreement: dict[str, float] = field(default_factory=dict)
    """Medians over questions, before adjudication."""
    right: float = 0.0
    """The share of final grades that are Cranfield's."""
    biases: list[Bias] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What the check of all files and readers of the release object to."""


class CranfieldStudy:
    """The study in a folder, step by step. start: called with the folder once there is one, and starts its server."""

    def __init__(
        self,
        folder: Path,
        cranfield: Cranfield,
        *,
        asked: int,
        per_method: int,
        seed: int,
        start: Callable[[Workspace], object],
        tell: Callable[[str], None],
    ) -> None:
        self.folder, self.cranfield, self.seed, self.found = folder, cranfield, seed, Found()
        self._start, self._tell = start, tell
        # Spread over the file: neighbours are questions of one person.
        step = len(cranfield.questions) // asked
        self.questions = dict([*cranfield.questions.items()][::step][:asked])
        write_file(folder / "annot.toml", SETTINGS.format(seed=seed, per_method=per_method))
        init(folder, name=None, dry_run=False)
        self.ws = Workspace.open(folder)

    def run(self) -> Found:
        """From the corpus to the release."""
        self.begun()
        self.ended()
        return self.found

    def begun(self) -> None:
        """Up to the plan."""
        self._timed(corpus=self.fill, pools=self.draw, plan=self.share_out)

    def ended(self) -> None:
        """From the first task to the release."""
        self._timed(judging=self.judge, adjudication=self.settle, figures=self.measure, release=self.publish)

    def fill(self) -> None:
        """Documents and questions."""
        added = corpus.add(self.ws, [self.cranfield.documents], form=None, dry_run=False, advance=_quietly)
        self.found.counts |= {"documents": added.kept, "without a text": added.rejected.get("no text", 0)}
        file = self.folder / "questions.jsonl"
        lines = (json.dumps({"id": name, "text": text}) + "\n" for name, text in self.questions.items())
        write_file(file, "".join(lines))
        query.add_topic_file(self.ws, str(file), dry_run=False)

    def draw(self) -> None:
        """The pools, by the methods of annot.toml."""
        pool.build(
            self.ws,
            overrides=DesignOverrides(),
            redraw=False,
            frozen=False,
            grow=False,
            dry_run=False,
            advance=_quietly,
        )

    def share_out(self) -> None:
        """A server, people and the plan."""
        self._start(self.ws)
        for name, adjudicates in PEOPLE:
            people.add(self.ws, name, account=account_of(name), adjudicator=adjudicates, dry_run=False)
        planned = plan.make(self.ws, queries=(), shares={}, seed=None, grow=False, dry_run=False)
        self.found.counts |= {"questions": len(self.questions), "pairs": planned.pairs}

    def judge(self) -> None:
        """Sent, judged by both, pulled."""
        exchange.push(self.ws, round="judging", dry_run=False, advance=_quietly)
        cast = [asdict(person) for person in (*CAST[:2], ADJUDICATOR)]
        digest = hashlib.sha256(json.dumps(cast, sort_keys=True).encode()).hexdigest()
        with self.ws.writing() as session:
            put_import(session, ImportedSource(Source.SIMULATION, digest, {"notice": NOTICE, "cast": cast}))
        answered = simulated_people.judge(self.ws, seed=self.seed, truth=self._truth, advance=_quietly)
        exchange.pull(self.ws, round="judging", advance=_quietly)
        self.found.counts["judgements"] = answered

    def settle(self) -> None:
        """What they disagree about, settled, and the final grades written."""
        exchange.push(self.ws, round="adjudication", dry_run=False, advance=_quietly)
        settled = simulated_people.settle(self.ws, seed=self.seed, truth=self._truth, advance=_quietly)
        exchange.pull(self.ws, round="adjudication", advance=_quietly)
        written = qrels.write(self.ws, partial=False)
        self.found.counts |= {"adjudicated": settled, "final grades": written.pairs}

    def measure(self) -> None:
        """Agreement, runs, their figures, and what the pages show."""
        table = agreements.measure(self.ws, missing=None, binarised_at=None, tell=self._tell)
        together = table.groups[-1]
        names = ("alpha_ordinal", "kappa_quadratic", "percent")
        self.found.agreement = {name: together.before[name].median for name in names if name in together.before}
        run.make(self.ws, systems=SYSTEMS, advance=_quietly)
        evaluate.evaluate(
            self.ws, runs=(), convention=None, measures=(), ties="order", average="test", at_least_two=True,
            tell=self._tell,
        )  # fmt: skip
        report.write_report(self.ws)
        browse.write_browse_page(self.ws, partial=False)
        final = {(one.query_id, one.doc_id): one.relevance for one in _qrels(self.ws.qrels)}
        self.found.right = sum(self._grade(*pair) == grade for pair, grade in final.items()) / len(final)
        self.found.biases = list(self._biases(final))

    def publish(self) -> None:
        """The release, held against the study, and read by ir_datasets."""
        answers = {
            one.id: "See the documentation of Cranfield." for one in questions(topics=True) if one.kind == "prose"
        }
        write_file(self.folder / "datasheet.toml", answer_sheet(answers | {"composition.people": "No."}, topics=True))
        folder = self.folder / "release"
        release.release(
            self.ws, folder, with_text=True, licence=None, published=None, allowed=(), draft=False, dry_run=False
        )
        checked = check.check(self.ws, "files", release=folder, advance=_quietly)
        self.found.problems += [part.text for part in checked.parts.values() if part.findings]
        self.found.problems += self._read_by_ir_datasets(folder)

    def _read_by_ir_datasets(self, folder: Path) -> Iterator[str]:
        """What ir_datasets reads of the released module that is not in the study."""
        environment = os.environ | {"PYTHONPATH": str(folder), "IR_DATASETS_HOME": str(self.folder / "ir_datasets")}
        name = self.ws.settings.collection.name
        command = [sys.executable, "-c", READ, module_name(name), dataset_id(name)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            yield f"ir_datasets cannot read the release: {done.stderr}"
            return
        read = json.loads(done.stdout)
        final = {f"{one.query_id} {one.doc_id}": one.relevance for one in _qrels(self.ws.qrels)}
        if read["queries"] != self.questions:
            yield f"ir_datasets reads {len(read['queries'])} questions, expected {len(self.questions)} with their texts"
        if read["qrels"] != final:
            yield f"ir_datasets reads {len(read['qrels'])} grades, expected the {len(final)} of the study"
        if sorted(read["ranked"]) != sorted(final):
            yield f"ir_datasets reads {len(read['ranked'])} documents to rank, expected the {len(final)} judged"
        if without := {pair.split()[1] for pair in read["ranked"]} - set(read["documents"]):
            yield f"ir_datasets reads no text of {', '.join(sorted(without))}"

    def _biases(self, final: Mapping[Pair, int]) -> Iterator[Bias]:
        whole = {pair: grade for pair, grade in self.cranfield.grades.items() if pair[0] in self.questions}
        by_study, by_pooled, by_whole = map(_as_qrels, (final, {pair: self._grade(*pair) for pair in final}, whole))
        for system in SYSTEMS:
            rankings = read_run(self.ws.run_file(system).read_text(encoding="utf-8").splitlines(), name=system).rankings
            scored = {query: {doc.doc_id: doc.score for doc in ranking} for query, ranking in rankings.items()}
            means = [ir_measures.calc_aggregate(MEASURES, given, scored) for given in (by_study, by_pooled, by_whole)]
            for measure in MEASURES:
                yield Bias(system, str(measure), *(mean[measure] for mean in means))

    def _grade(self, question: str, document: str) -> int:
        return self.cranfield.grades.get((question, document), 0)

    def _truth(self, query: Query, document: str) -> float:
        return float(self._grade(query.topic_id, document))

    def _timed(self, **steps: Callable[[], None]) -> None:
        for name, step in steps.items():
            began = time.monotonic()
            step()
            self.found.seconds[name] = time.monotonic() - began
            self._tell(f"{name}: {self.found.seconds[name]:.0f} s")


def account_of(name: str) -> str:
    """The address of a person."""
    return f"{name}@cranfield.example.org"


def _qrels(path: Path) -> tuple[Qrel, ...]:
    return read_qrels(path.read_text(encoding="utf-8").splitlines(), name=path.name)


def _as_qrels(grades: Mapping[Pair, int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (question, document), grade in grades.items():
        found.setdefault(question, {})[document] = grade
    return found


def _quietly(_done: int, _total: int | None) -> None:
    """No progress bar."""
