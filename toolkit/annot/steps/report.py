"""The report: everything that was measured, on one page, from the records."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annot.assessor_effect import AssessorEffect
from annot.evaluation.evaluated import Evaluated
from annot.evaluation.measures import DIALECTS
from annot.formats.trec import write_qrels
from annot.records import Source
from annot.report.html import page
from annot.report.latex import latex
from annot.report.markdown import markdown
from annot.report.sections import document
from annot.report.study import Study
from annot.stats.undefined import Undefined
from annot.store import papers
from annot.study.corpus_facts import has_corpus
from annot.study.measured import (
    CONVENTION,
    MEASURE,
    N_RANDOM,
    agreement_of,
    assessor_effect_of,
    assessors_of,
    binarised_agreement_of,
    evaluation_of,
    read_run_files,
)
from annot.study.outcome import Outcome
from annot.study.results import agreement_file, assessor_effect_file, evaluation_file
from annot.study.snapshot import Snapshot, read_snapshot
from annot.study.workspace import Workspace, sha256_of, write_file

REPORT_FILE = "report.html"
MADE_ELSEWHERE: dict[str, str] = {
    Source.CSFCUBE: "The judgements were imported from a published release.",
    Source.FILE: "The judgements were made with another tool and imported from a file. Who had which pair "
    "is what the file says; whether people worked blind to each other is not known here.",
}

SETTINGS_OF_OTHERS = "not told: the run came with the release"
CHAIN = (
    "corpus/manifest.json",
    "pools/rankings/manifest.json",
    "pools/manifest.json",
    "pools/plan.jsonl",
    "exports/decisions.jsonl",
    "exports/qrels.txt",
    "exports/agreement.json",
    "exports/evaluation.json",
    "exports/assessor-effect.json",
)


@dataclass(frozen=True, slots=True)
class Written:
    """Where the report lies."""

    path: Path
    sha256: str


def write(ws: Workspace) -> Written:
    """Write `exports/report.html`, the same as Markdown, and its tables as LaTeX.

    Evaluation is in it when there are qrels and runs; where it is not, the page says what is missing.
    """
    study = _study(read_snapshot(ws))
    files = dict(_measured(ws, study))
    made = document(study, chain=tuple(_chain(ws, files)))
    path = ws.exports / REPORT_FILE
    files[path] = page(made, overrides=ws.root / "templates")
    files[ws.exports / "report.md"] = markdown(made)
    files[ws.exports / "report.tex"] = latex(made)
    # All is made before anything is written: a template that does not hold leaves everything as it was.
    for place, text in files.items():
        write_file(place, text)
    return Written(path, sha256_of(path))


def _measured(ws: Workspace, study: Study) -> Iterator[tuple[Path, str]]:
    """The files with the figures that stand in the report."""
    yield agreement_file(ws, study.agreement)
    if not isinstance(study.evaluated, Undefined):
        yield evaluation_file(ws, study.evaluated)
    if not isinstance(study.mattering, Undefined):
        yield assessor_effect_file(ws, study.mattering)


def _chain(ws: Workspace, files: Mapping[Path, str]) -> Iterator[tuple[str, str]]:
    """The hash of every file of the chain, as it will be."""
    for name in CHAIN:
        path = ws.root / name
        if path in files:
            yield name, hashlib.sha256(files[path].encode()).hexdigest()
        elif path.is_file():
            yield name, sha256_of(path)


def _study(snapshot: Snapshot) -> Study:
    """What the sections are made from, all of it from one record."""
    ws, outcome, imports = snapshot.ws, snapshot.outcome, snapshot.imports
    return Study(
        settings=ws.settings,
        papers=papers.count_papers(ws.corpus) if has_corpus(ws) else 0,
        origins=snapshot.label_origins,
        queries=snapshot.queries,
        pools=snapshot.pools,
        pooled=bool(snapshot.pools) and not any(imported.what == Source.FILE for imported in imports),
        pairs=len(outcome.planned),
        judgements=outcome.judgements,
        agreed=sum(decision.origin == "agreed" for decision in outcome.decisions),
        single=_single(outcome),
        adjudicated=len(outcome.adjudications),
        open=len(outcome.open),
        incomplete=len(outcome.incomplete),
        decisions=outcome.decisions,
        agreement=agreement_of(snapshot),
        binarised=binarised_agreement_of(snapshot),
        diagnosed=assessors_of(snapshot),
        evaluated=_evaluated(snapshot),
        mattering=_assessor_effect(snapshot),
        run_settings=tuple(
            (run.tag, SETTINGS_OF_OTHERS if run.kind == Source.CSFCUBE else _settings_told(run.facts))
            for run in snapshot.runs
        ),
        notice=next(
            (str(imported.facts["notice"]) for imported in imports if imported.what == Source.SIMULATION), None
        ),
        made_elsewhere=next(
            (MADE_ELSEWHERE[imported.what] for imported in imports if imported.what in MADE_ELSEWHERE), None
        ),
    )


def _evaluated(snapshot: Snapshot) -> Evaluated | Undefined:
    missing = _nothing_to_measure(snapshot, runs=1)
    return missing or evaluation_of(
        snapshot, read_run_files(snapshot.ws), snapshot.outcome.qrels, dialects=tuple(DIALECTS)
    )


def _assessor_effect(snapshot: Snapshot) -> AssessorEffect | Undefined:
    missing = _nothing_to_measure(snapshot, runs=2)
    return missing or assessor_effect_of(
        snapshot,
        read_run_files(snapshot.ws),
        snapshot.outcome.qrels,
        dialect=CONVENTION,
        measure=MEASURE,
        n_random=N_RANDOM,
    )


def _single(outcome: Outcome) -> int:
    """Pairs that were settled by the only judgement that they have."""
    agreed = {(one.query_id, one.doc_id) for one in outcome.decisions if one.origin == "agreed"}
    return sum(pair in agreed and len(team) == 1 for pair, team in outcome.planned.items())


def _nothing_to_measure(snapshot: Snapshot, *, runs: int) -> Undefined | None:
    """What is missing where there are no qrels of these grades, or fewer than so many runs."""
    ws = snapshot.ws
    if not ws.qrels.is_file():
        return Undefined("exports/qrels.txt is not written yet; annot qrels writes it from the final grades")
    if ws.qrels.read_text(encoding="utf-8") != write_qrels(snapshot.outcome.qrels):
        return Undefined("exports/qrels.txt does not hold the final grades as they are now; annot qrels renews it")
    found = len(list(ws.runs.glob("*.run")))
    if found >= runs:
        return None
    return Undefined(
        f"exports/runs holds {found or 'no'} run{'' if found == 1 else 's'} and at least {runs} "
        f"{'is' if runs == 1 else 'are'} needed; annot run makes baselines, and run files of others can be put there"
    )


def _settings_told(facts: Mapping[str, Any]) -> str:
    """Settings in words, the nested ones in brackets; hashes cut to what tells them apart."""
    return ", ".join(f"{name.replace('_', ' ')} {_told(value)}" for name, value in sorted(facts.items()))


def _told(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({_settings_told(value)})"
    if isinstance(value, list | tuple):
        return " and ".join(map(_told, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return f"{text[:12]}…" if re.fullmatch("[0-9a-f]{64}", text) else text
