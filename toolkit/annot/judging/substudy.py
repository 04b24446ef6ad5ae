"""What the sub-study shows: the same pairs on abstracts, on full texts and by their final grades, and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlmodel import Session

from annot.base.errors import MissingInput
from annot.base.records import Judgement
from annot.base.stats.values import Estimate, Undefined, rounding
from annot.judging.trial_answers import current_answers, figure_from_record, figure_on_record, grades_of, papers_of
from annot.measuring.agreement.coefficients import HEADLINE, TITLES
from annot.measuring.agreement.pooled import Between, agreement_between
from annot.measuring.diagnosis.pace import median_time_interval
from annot.store import trials
from annot.store.projects import StoredRound
from annot.store.queries import read_queries
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace

TRIAL = "substudy"
ON_RECORD = "substudy-figures"
ROUNDS: dict[str, StoredRound] = {"abstract": "substudy-abstract", "full": "substudy-full"}
"""The round of each view."""
NAMES = {"abstract": "abstracts", "full": "full texts", "final": "final grades"}
HINT = "draw it with `annot substudy draw --assessor a1`"


@dataclass(frozen=True, slots=True)
class View:
    """The answers of one view."""

    view: str
    pairs: int
    answered: int
    graded: int
    cannot_judge: int
    seconds: Estimate
    """The median time a pair."""
    timed: int


@dataclass(frozen=True, slots=True)
class Compared:
    """Two gradings of the pairs."""

    first: str
    second: str
    agreement: Between


@dataclass(frozen=True, slots=True)
class SubstudyReport:
    """What the sub-study found."""

    assessor: str
    level: float
    titles: dict[str, str]
    views: tuple[View, ...]
    compared: tuple[Compared, ...]
    changes: dict[int, int]
    """Pairs by the grade on the full texts less that on the abstracts."""
    judged_before: int
    """Pairs that the assessor has judged for the collection as well."""


def plan_of(session: Session) -> dict[str, Any]:
    """What is on record of the draw. Raises MissingInput before it."""
    facts = trials.read_trial(session, TRIAL)
    if facts is None:
        raise MissingInput("no sub-study is drawn", hint=HINT)
    return facts


@rounding
def substudy_of(ws: Workspace, session: Session) -> SubstudyReport:
    """How far the views agree with each other and with the final grades, and the time a pair takes in each."""
    assessor = plan_of(session)["assessor"]
    answers = {view: current_answers(session, round) for view, round in ROUNDS.items()}
    outcome = outcome_of(session, ws.settings)
    asked = {one.pair for one in trials.read_assignments(session, ROUNDS["abstract"])}
    if not any(answers.values()):
        raise MissingInput("no answers to the sub-study", hint="run `annot pull substudy`")
    level = ws.settings.agreement.level
    grades = {view: grades_of(one for one in given if not one.flags) for view, given in answers.items()}
    final = grades_of(outcome.decisions)
    papers = papers_of(read_queries(session))
    grades["final"] = {pair: final[pair] for pair in asked if pair in final}
    compared = tuple(
        Compared(
            NAMES[first],
            NAMES[second],
            agreement_between(
                grades[first],
                grades[second],
                grades=ws.settings.scale.grades,
                level=level,
                coefficients=HEADLINE,
                topics=papers,
            ),
        )
        for first, second in (("abstract", "full"), ("abstract", "final"), ("full", "final"))
    )
    changes = [grades["full"][pair] - grades["abstract"][pair] for pair in grades["full"] if pair in grades["abstract"]]
    judged = {one.pair for one in outcome.judgements if one.assessor == assessor and one.counts}
    return SubstudyReport(
        assessor=assessor,
        level=level,
        titles={name: TITLES[name] for name in HEADLINE},
        views=tuple(_view(view, len(asked), given, papers, level) for view, given in answers.items()),
        compared=compared,
        changes={change: changes.count(change) for change in sorted(set(changes))},
        judged_before=len(judged & asked),
    )


def on_record(found: SubstudyReport) -> dict[str, Any]:
    """What stays on record, for report and datasheet."""
    return {
        "assessor": found.assessor,
        "compared": [
            {
                "first": one.first,
                "second": one.second,
                "pairs": one.agreement.n_pairs,
                "figures": {name: figure_on_record(figure) for name, figure in one.agreement.figures.items()},
            }
            for one in found.compared
        ],
        "views": [{"view": one.view, "timed": one.timed, **figure_on_record(one.seconds)} for one in found.views],
    }


def recorded_substudy(known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """What `on_record` noted down, its figures as estimates; None if no two gradings share a pair."""
    facts = known.get(ON_RECORD)
    compared = [
        {**one, "figures": {name: figure_from_record(figure) for name, figure in one["figures"].items()}}
        for one in (facts["compared"] if facts else ())
        if one["pairs"]
    ]
    if facts is None or not compared:
        return None
    views = [{**one, "seconds": figure_from_record(one)} for one in facts["views"]]
    return {**facts, "compared": compared, "views": views}


def _view(view: str, pairs: int, given: Sequence[Judgement], papers: Mapping[str, str], level: float) -> View:
    answered = [one for one in given if one.counts]
    timed = [one for one in answered if one.lead_time]
    times = np.array([one.lead_time for one in timed], dtype=np.float64)
    queries = [one.query_id for one in timed]
    none = Undefined("no answer has a time")
    seconds = Estimate(none, none)
    if timed:
        interval = median_time_interval(times, queries, [papers[name] for name in queries], level)
        seconds = Estimate(float(np.median(times)), interval)
    graded = sum(one.grade is not None for one in answered)
    return View(NAMES[view], pairs, len(answered), graded, len(answered) - graded, seconds, len(times))
