"""Small studies of the packaged corpus at every stage of the work, made through the command line alone.

What people and a Label Studio server give is put into the store as a pull would: the frozen judgements and decisions of
the demonstration. So the study is the demonstration's, and its golden files hold for it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import tomlkit
from annot.base.records import Adjudication, Judgement
from annot.base.settings.sections import TERM_AND_EMBEDDING_METHODS
from annot.demo import packaged
from annot.store.adjudications import SourcedAdjudication, record_adjudications
from annot.store.database import open_store
from annot.store.judgements import SourcedJudgement, record_judgements
from annot.study.workspace import Workspace
from command_line import annot_done

GOLDEN = Path(__file__).resolve().parents[2]
PULLED_AT = "2026-01-01T00:00:00+00:00"
ASSESSORS = ("a1", "a2", "a3", "a4")
ADJUDICATOR = "j1"


def made(folder: Path) -> None:
    """An empty workspace with the demonstration's settings, but word vectors that take no time."""
    annot_done("init", folder, "--name", "annot-demo", folder=folder.parent)
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text(encoding="utf-8"))
    settings["pool"].update({"per_method": 3, "ranking_depth": 50})
    settings["pool"]["methods"] = [*TERM_AND_EMBEDDING_METHODS, "lsa", "cited"]
    settings["word_vectors"].update({"epochs": 1, "dimensions": 10})
    settings["collection"].update(
        {
            "title": "A demonstration collection",
            "description": "Invented papers, judged by nobody.",
            "url": "https://example.org/demo",
            "creators": ["The demonstration"],
        }
    )
    path.write_text(tomlkit.dumps(settings), encoding="utf-8")
    (folder / "papers.jsonl").write_text(packaged.corpus_text(), encoding="utf-8")


def labelled(folder: Path) -> None:
    annot_done("corpus", "add", "papers.jsonl", folder=folder)
    annot_done("facets", folder=folder)


def queried(folder: Path) -> None:
    for one in packaged.query_papers():
        for facet in one.facets:
            annot_done("query", "add", one.paper_id, "--facet", facet, folder=folder)


def pooled(folder: Path) -> None:
    (folder / "pools" / "rankings").mkdir(parents=True)
    for name, text in packaged.frozen("rankings").items():
        (folder / "pools" / "rankings" / name).write_text(text, encoding="utf-8")
    annot_done("pool", "--frozen", folder=folder)


def planned(folder: Path) -> None:
    for name in ASSESSORS:
        annot_done("assessor", "add", name, "--account", f"{name}@demo.example.org", folder=folder)
    annot_done(
        "assessor", "add", ADJUDICATOR, "--account", f"{ADJUDICATOR}@demo.example.org", "--adjudicator", folder=folder
    )
    annot_done("plan", folder=folder)


def judged(folder: Path) -> None:
    judgements = [
        Judgement(**{**line, "flags": tuple(line["flags"])}) for line in _golden_lines("exports/demo/judgements.jsonl")
    ]
    with open_store(Workspace.open(folder).database_url, create=False) as store, store.begin() as session:
        sourced = [SourcedJudgement(one, "label-studio", str(at), None) for at, one in enumerate(judgements, start=1)]
        record_judgements(session, sourced, recorded_at=PULLED_AT)


def settled(folder: Path) -> None:
    decisions = [line for line in _golden_lines("exports/demo/decisions.jsonl") if line["origin"] == "adjudicated"]
    with open_store(Workspace.open(folder).database_url, create=False) as store, store.begin() as session:
        record_adjudications(
            session,
            [
                SourcedAdjudication(
                    Adjudication(
                        line["query_id"],
                        line["doc_id"],
                        line["adjudicator"],
                        line["grade"],
                        "shown",
                        (),
                        reason=line["reason"],
                    ),
                    "label-studio",
                    str(at),
                    None,
                )
                for at, line in enumerate(decisions, start=1)
            ],
            recorded_at=PULLED_AT,
        )


def measured(folder: Path) -> None:
    annot_done("agreement", folder=folder)
    annot_done("qrels", folder=folder)
    annot_done("run", "fabs_tfidf", "fabs_bm25", folder=folder)
    annot_done("evaluate", folder=folder)


STAGES: dict[str, Callable[[Path], None]] = {
    step.__name__: step for step in (made, labelled, queried, pooled, planned, judged, settled, measured)
}
"""Each stage builds on the one before it."""


def build(folder: Path) -> dict[str, Path]:
    """A study for each stage, below `folder`."""
    found: dict[str, Path] = {}
    before = None
    for stage, step in STAGES.items():
        place = folder / stage
        if before is not None:
            shutil.copytree(before, place)
        step(place)
        found[stage] = before = place
    return found


def _golden_lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines()]
