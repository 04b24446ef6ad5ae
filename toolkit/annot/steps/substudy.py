"""The sub-study: pairs judged on the abstracts and then on the full texts, apart from the collection."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlmodel import Session

from annot.base.errors import InputError, MissingInput
from annot.base.names import check_name, moment_now
from annot.corpus.corpus_facts import papers_of
from annot.formats.spreadsheet import read_full_texts, write_full_texts
from annot.judging.substudy import ROUNDS, TRIAL, SubstudyReport, substudy_of
from annot.judging.trial_answers import grades_of
from annot.judging.trials.draws import assigned, draw_substudy, plan_lines, query_by_query
from annot.store import people, projects, trials
from annot.store.queries import read_queries, read_topics
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace, given_bytes, write_file, write_manifest


@dataclass(frozen=True, slots=True)
class PlannedSubstudy:
    """The sub-study as it is planned."""

    assessor: str
    pairs: int
    by_facet: dict[str, int]
    by_grade: dict[int, int]
    """Pairs by the final grade they had when they were drawn."""
    seed: int
    sha256: str
    texts: Path
    """Where to write the places of the full texts."""
    new: bool


def draw(ws: Workspace, *, assessor: str, queries: int, candidates: int, dry_run: bool) -> PlannedSubstudy:
    """Draw the pairs for one assessor, `queries` a facet and `candidates` a query. The same wishes again draw nothing.

    Raises InputError once something of another draw was sent, and if too little is settled.
    """
    texts = ws.substudy / "full-texts.tsv"
    wishes = {"assessor": assessor, "per_facet": queries, "per_query": candidates, "seed": ws.settings.seed}
    with ws.reading() as session:
        present = [one.assessor for one in people.read_assessors(session) if one.left_on is None]
        check_name(assessor, present, what="assessor")
        standing = trials.read_trial(session, TRIAL)
        known, without = read_queries(session), read_topics(session).keys()
        final = grades_of(outcome_of(session, ws.settings).decisions)
    if standing is not None and all(standing[name] == value for name, value in wishes.items()):
        return _planned(standing, texts, new=False)
    if not final:
        raise MissingInput("no pair is settled yet", hint="`annot status --adjudication` shows the progress")
    drawn = draw_substudy(known, final, per_facet=queries, per_query=candidates, seed=ws.settings.seed)
    asked = {view: query_by_query(drawn.pairs, TRIAL, view, seed=ws.settings.seed) for view in ROUNDS}
    lines = plan_lines(asked)
    facts: dict[str, Any] = {
        **wishes,
        "by_facet": drawn.by_facet,
        "by_grade": {str(grade): count for grade, count in drawn.by_grade.items()},
        "pairs": len(drawn.pairs),
        "sha256": hashlib.sha256(lines.encode()).hexdigest(),
        "created": moment_now(),
    }
    topic_of = {query.query_id: query.topic_id for query in known}
    # A topic that is a text has no other one.
    papers = papers_of(ws, {name for pair in drawn.pairs for name in (topic_of[pair[0]], pair[1])} - without)
    if not dry_run:
        with ws.writing() as session:
            _refuse_sent(session)
            trials.put_trial(session, TRIAL, facts)
            for view, sequence in asked.items():
                trials.replace_assignments(session, ROUNDS[view], assigned(assessor, sequence))
        write_file(ws.substudy / "plan.jsonl", lines)
        write_file(texts, write_full_texts({name: paper.title for name, paper in papers.items()}, _places(texts)))
        write_manifest(ws.substudy / "manifest.json", files=[ws.substudy / "plan.jsonl"], inputs={}, facts=wishes)
    return _planned(facts, texts, new=True)


def report(ws: Workspace) -> SubstudyReport:
    """How far the views agree with each other and with the final grades, and the time a pair takes in each."""
    with ws.reading() as session:
        return substudy_of(ws, session)


def _planned(facts: Mapping[str, Any], texts: Path, *, new: bool) -> PlannedSubstudy:
    by_grade = {int(grade): count for grade, count in facts["by_grade"].items()}
    names = ("assessor", "pairs", "by_facet", "seed", "sha256")
    return PlannedSubstudy(**{name: facts[name] for name in names}, by_grade=by_grade, texts=texts, new=new)


def _refuse_sent(session: Session) -> None:
    sent = [
        project
        for round in ROUNDS.values()
        for project in projects.read_projects(session, round=round)
        if projects.read_tasks(session, project.project)
    ]
    if sent:
        raise InputError(
            f"the sub-study was already sent to {sent[0].assessor}",
            hint="a study has only one; see `annot substudy report`",
        )


def _places(texts: Path) -> dict[str, str]:
    """What is already in the table; a table that cannot be read is not overwritten."""
    if not texts.is_file():
        return {}
    return read_full_texts(given_bytes(texts, expected="a table of full texts"), name=str(texts), wanted=None)
