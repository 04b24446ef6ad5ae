"""The report: everything that was measured, on one page, from the records."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annot.assessor_effect import DoesItMatter
from annot.evaluation.evaluated import Evaluated
from annot.records import Source
from annot.report.html import page
from annot.report.latex import latex
from annot.report.markdown import markdown
from annot.report.sections import document
from annot.report.study import Study
from annot.stats.undefined import Undefined
from annot.steps import agreement as agreement_step
from annot.steps import agreement_assessors as diagnosis_step
from annot.steps import assessor_effect as reusability_step
from annot.steps import evaluate as evaluate_step
from annot.steps.qrels import QRELS_FILE
from annot.store import facet_labels, papers, people, pools
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.store.runs import read_imports, read_runs
from annot.study.outcome import Outcome, outcome_of
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
    "exports/reusability.json",
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
    study = _read(ws)
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
    yield agreement_step.file_of(ws, study.agreement)
    if not isinstance(study.evaluated, Undefined):
        yield evaluate_step.file_of(ws, study.evaluated)
    if not isinstance(study.mattering, Undefined):
        yield reusability_step.file_of(ws, study.mattering)


def _chain(ws: Workspace, files: Mapping[Path, str]) -> Iterator[tuple[str, str]]:
    """The hash of every file of the chain, as it will be."""
    for name in CHAIN:
        path = ws.root / name
        if path in files:
            yield name, hashlib.sha256(files[path].encode()).hexdigest()
        elif path.is_file():
            yield name, sha256_of(path)


def _read(ws: Workspace) -> Study:
    agreement = agreement_step.compute(ws, missing=None, binarised_at=None)
    binarised = agreement_step.at_each_grade(ws)
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session)
        queries = read_queries(session)
        imports = read_imports(session)
        drawn = pools.read_pools(session)
        return Study(
            settings=ws.settings,
            papers=papers.count_papers(ws.corpus) if any(ws.corpus.glob("*.parquet")) else 0,
            origins=facet_labels.count_by_origin(session),
            queries=queries,
            pools=drawn,
            pooled=bool(drawn) and not any(one.what == Source.FILE for one in imports),
            pairs=len(outcome.planned),
            judgements=outcome.judgements,
            agreed=sum(one.origin == "agreed" for one in outcome.decisions),
            single=_single(outcome),
            adjudicated=len(outcome.adjudications),
            open=len(outcome.open),
            decisions=outcome.decisions,
            agreement=agreement,
            binarised=binarised,
            diagnosed=diagnosis_step.of_outcome(
                ws,
                outcome,
                {one.query_id: one.facet for one in queries},
                plan=people.read_assignments(session),
                elsewhere=any(one.what in MADE_ELSEWHERE for one in imports),
            ),
            evaluated=_evaluated(ws),
            mattering=_mattering(ws),
            run_settings=tuple(
                (run.tag, SETTINGS_OF_OTHERS if run.kind == Source.CSFCUBE else _settings_told(run.facts))
                for run in read_runs(session)
            ),
            notice=next((str(one.facts["notice"]) for one in imports if one.what == Source.SIMULATION), None),
            made_elsewhere=next((MADE_ELSEWHERE[one.what] for one in imports if one.what in MADE_ELSEWHERE), None),
        )


def _evaluated(ws: Workspace) -> Evaluated | Undefined:
    missing = _nothing_to_measure(ws, runs=1)
    return missing or evaluate_step.compute(ws, files=(), dialect=None)


def _mattering(ws: Workspace) -> DoesItMatter | Undefined:
    missing = _nothing_to_measure(ws, runs=2)
    return missing or reusability_step.compute(
        ws,
        dialect=reusability_step.DIALECT,
        measure_name=reusability_step.MEASURE,
        mixtures=reusability_step.MIXTURES,
    )


def _single(outcome: Outcome) -> int:
    """Pairs that were settled by the only judgement that they have."""
    agreed = {(one.query_id, one.doc_id) for one in outcome.decisions if one.origin == "agreed"}
    return sum(pair in agreed and len(team) == 1 for pair, team in outcome.planned.items())


def _nothing_to_measure(ws: Workspace, *, runs: int) -> Undefined | None:
    """What is missing where there are no qrels, or fewer than so many runs."""
    if not (ws.exports / QRELS_FILE).is_file():
        return Undefined(f"exports/{QRELS_FILE} is not written yet; annot qrels writes it from the final grades")
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
