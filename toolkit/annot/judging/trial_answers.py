"""Answers of training and sub-study, compared with known grades and with each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annot.base.errors import MissingInput
from annot.base.records import Decision, Judgement, Query, nested
from annot.base.stats.values import Estimate, Interval, Undefined, rounding
from annot.judging.trial_draws import Pair, Verdict, batches_of, verdict
from annot.labelstudio.studio_records import DIFFERENCES, DIFFERENCES_OF_WHOLES
from annot.measuring.agreement.coefficients import HEADLINE, TITLES
from annot.measuring.agreement.estimates import AgreementOfGradings, agreement_between
from annot.measuring.diagnosis.findings import median_time_interval
from annot.store import people, trials
from annot.store.models import Session, StoredRound
from annot.store.pools import read_queries, withdrawn_ids
from annot.store.projects import read_hidden
from annot.study.outcome import current_judgements, outcome_of
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# The answers of rounds that never count, and each assessor against grades that are known: gold, open or hidden.
# ----------------------------------------------------------------------------------------------------------------------


TRAIN: StoredRound = "train"
FEEDBACK: StoredRound = "train-feedback"
HIDDEN: StoredRound = "hidden-gold"
TOO_LATE = "train-after-feedback"
"""The source of answers that were changed once the gold grade could be seen; kept, and never looked at."""
AGREED = "the assessors agreed"
"""Reason of a drawn gold pair until a person writes one, unless an assessor wrote a comment."""
NO_REASONS = frozenset(("", AGREED, *(cause.value for cause in (*DIFFERENCES, *DIFFERENCES_OF_WHOLES))))
"""Reasons of drawn gold pairs that explain no grade: nothing, these words, or a cause that an adjudicator chose by its
key."""
GATE = "kappa_quadratic"
FIGURES = (GATE, *HEADLINE)
NO_GRADE = "no grade"
"""The flag of an answer on the screen that asks for none: it says that the pair was looked at."""


@dataclass(frozen=True, slots=True)
class GradeGap:
    """A pair whose grade is far from gold."""

    query_id: str
    doc_id: str
    grade: int
    gold: int
    why: str


@dataclass(frozen=True, slots=True)
class TrainedAssessor:
    """One assessor against the gold grades."""

    assessor: str
    gold: int
    """Gold pairs that are given to this assessor."""
    batches: int
    """Number of batches of these pairs, each of one facet."""
    answered: int
    cannot_judge: int
    agreement: AgreementOfGradings
    """Agreement by coefficient; the gate's is the first."""
    threshold: float
    gate: str
    verdict: Verdict
    furthest: tuple[GradeGap, ...]
    """Widest gap first."""
    looked_at: int
    """Pairs that were opened again with the gold grade."""
    remarks: tuple[str, ...]
    """Comments written there."""
    changed_too_late: int
    """Answers changed when the gold grade could be seen; the earlier ones count."""
    planned_too: tuple[str, ...]
    """Pairs whose gold grade was shown and that the plan gives to this assessor."""


@dataclass(frozen=True, slots=True)
class HiddenGoldResult:
    """One assessor on the gold that is hidden among their pairs."""

    assessor: str
    hidden: int
    answered: int
    agreement: AgreementOfGradings
    furthest: tuple[GradeGap, ...]


def current_answers(session: Session, round: StoredRound) -> tuple[Judgement, ...]:
    """Latest answer that counts to each pair by each person, else the latest."""
    return current_judgements(answer.record for answer in trials.read_answers(session, round))


@rounding
def training_of(ws: Workspace, session: Session) -> tuple[TrainedAssessor, ...]:
    """Everyone in training, by pseudonym."""
    golden = {gold.pair: (gold.grade, gold.why) for gold in trials.read_gold(session)}
    queries = read_queries(session)
    facet_of = {query.query_id: query.facet for query in queries}
    papers = papers_of(queries)
    answers = by_person(current_answers(session, TRAIN))
    again = by_person(current_answers(session, FEEDBACK))
    withdrawn = withdrawn_ids(session)
    late = by_person(answer.record for answer in trials.read_answers(session, TOO_LATE))
    planned = by_person(people.read_assignments(session))
    recorded = trials.read_trials(session)
    settings = ws.settings.training
    trained = []
    for name, assigned in by_person(trials.read_assignments(session, TRAIN)).items():
        kept = staying(assigned, withdrawn, answers.get(name, {}))
        own_gold = {pair: golden[pair] for pair in kept if pair in golden}
        answered = [answer for pair, answer in answers.get(name, {}).items() if pair in own_gold and answer.counts]
        agreement, furthest = _agreement_with_grades(ws, grades_of(answered), own_gold, papers)
        shown = {tuple(pair) for pair in recorded.get(f"{FEEDBACK}/{name}", {}).get("pairs", ())}
        reviewed = [answer for _, answer in sorted(again.get(name, {}).items())]
        trained.append(
            TrainedAssessor(
                assessor=name,
                gold=len(own_gold),
                batches=len(batches_of(own_gold, facet_of)),
                answered=len(answered),
                cannot_judge=sum(answer.grade is None for answer in answered),
                agreement=agreement,
                threshold=settings.threshold,
                gate=settings.gate,
                verdict=verdict(
                    agreement.figures[GATE],
                    n_answered=len(answered),
                    n_gold=len(own_gold),
                    threshold=settings.threshold,
                    gate=settings.gate,
                ),
                furthest=furthest,
                looked_at=sum(answer.flags == (NO_GRADE,) for answer in reviewed),
                remarks=tuple(answer.comment for answer in reviewed if answer.comment),
                changed_too_late=len(late.get(name, {})),
                planned_too=tuple(" ".join(pair) for pair in sorted(shown & planned.get(name, {}).keys())),
            )
        )
    return tuple(trained)


@rounding
def hidden_gold_of(ws: Workspace, session: Session) -> tuple[HiddenGoldResult, ...]:
    """Everyone who has hidden gold among their pairs: their grades against the final ones, which are others'."""
    hidden = read_hidden(session)
    if not hidden:
        return ()
    final = {
        pair: (grade, "the final grade")
        for pair, grade in grades_of(outcome_of(session, ws.settings).decisions).items()
    }
    answers = by_person(current_answers(session, HIDDEN))
    papers = papers_of(read_queries(session))
    results = []
    for name, pairs in hidden.items():
        answered = [answer for pair, answer in answers.get(name, {}).items() if pair in pairs and answer.counts]
        results.append(
            HiddenGoldResult(
                name, len(pairs), len(answered), *_agreement_with_grades(ws, grades_of(answered), final, papers)
            )
        )
    return tuple(results)


def staying(pairs: Iterable[Pair], withdrawn: Collection[str], kept: Collection[Pair]) -> list[Pair]:
    """The pairs whose documents were not withdrawn (`gone`), or that are `kept` all the same."""
    return [pair for pair in pairs if pair[1] not in withdrawn or pair in kept]


def on_record(trained: TrainedAssessor) -> dict[str, Any]:
    """Record of one assessor's training, for report and datasheet."""
    names = ("gold", "batches", "answered", "threshold", "gate", "verdict")
    return {**_gate_figure(trained.agreement), **{name: getattr(trained, name) for name in names}}


def hidden_on_record(probed: HiddenGoldResult) -> dict[str, Any]:
    """Record of one assessor's answers to hidden gold, for report and datasheet."""
    return {**_gate_figure(probed.agreement), "hidden": probed.hidden, "answered": probed.answered}


def figure_on_record(figure: Estimate) -> dict[str, float | None]:
    """A figure as it is noted down when it is measured."""
    bounds = {name: getattr(figure.interval, name, None) for name in ("low", "high", "level")}
    return {"value": figure.value if isinstance(figure.value, float) else None, **bounds}


def figure_from_record(facts: Mapping[str, Any]) -> Estimate:
    """The figure that `figure_on_record` recorded; the reason why a figure was undefined is not on record."""
    none = Undefined("not defined when it was measured")
    interval = none if facts["low"] is None else Interval(facts["low"], facts["high"], facts["level"], "")
    return Estimate(none if facts["value"] is None else facts["value"], interval)


def recorded_against_gold(known: Mapping[str, Mapping[str, Any]], round: StoredRound) -> Iterator[dict[str, Any]]:
    """Record of each assessor in the round who has pairs with both grades: `kappa`, and the counts.

    known: records of all trials, by name.
    """
    for name, facts in known.items():
        if name.startswith(f"{round}/") and facts.get("pairs"):
            yield {**facts, "assessor": name.partition("/")[2], "kappa": figure_from_record(facts)}


def grades_of(answers: Iterable[Judgement | Decision]) -> dict[Pair, int]:
    """The grade of each pair that has one."""
    return {answer.pair: answer.grade for answer in answers if answer.grade is not None}


def papers_of(queries: Iterable[Query]) -> dict[str, str]:
    """The paper of each query."""
    return {query.query_id: query.topic_id for query in queries}


def by_person(records: Any) -> dict[str, dict[Pair, Any]]:
    """Records of pairs by person and pair, in their order."""
    return nested((record.assessor, record.pair, record) for record in records)


def _agreement_with_grades(
    ws: Workspace, given_grades: Mapping[Pair, int], expected: Mapping[Pair, tuple[int, str]], papers: Mapping[str, str]
) -> tuple[AgreementOfGradings, tuple[GradeGap, ...]]:
    """Agreement of a person's grades with the given (grade, reason), and the pairs that differ most."""
    grades = {pair: grade for pair, (grade, _) in expected.items()}
    agreement = agreement_between(
        given_grades,
        grades,
        grades=ws.settings.scale.grades,
        level=ws.settings.agreement.level,
        coefficients=FIGURES,
        topics=papers,
    )
    apart = [
        GradeGap(*pair, grade, *expected[pair])
        for pair, grade in given_grades.items()
        if pair in expected and grade != grades[pair]
    ]
    apart.sort(key=lambda gap: (-abs(gap.grade - gap.gold), gap.query_id, gap.doc_id))
    return agreement, tuple(apart[: ws.settings.training.furthest])


def _gate_figure(agreement: AgreementOfGradings) -> dict[str, Any]:
    return {"pairs": agreement.n_pairs, "coefficient": GATE, **figure_on_record(agreement.figures[GATE])}


# ----------------------------------------------------------------------------------------------------------------------
# What the sub-study shows: the same pairs on abstracts, on full texts and by their final grades, and the time.
# ----------------------------------------------------------------------------------------------------------------------


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
class ComparedGradings:
    """Two gradings of the pairs."""

    first: str
    second: str
    agreement: AgreementOfGradings


@dataclass(frozen=True, slots=True)
class SubstudyReport:
    """Results of the sub-study."""

    assessor: str
    level: float
    titles: dict[str, str]
    views: tuple[View, ...]
    compared: tuple[ComparedGradings, ...]
    changes: dict[int, int]
    """Pairs by the grade on the full texts less that on the abstracts."""
    judged_before: int
    """Pairs that the assessor has judged for the collection as well."""


def plan_of(session: Session) -> dict[str, Any]:
    """Record of the draw. Raises MissingInput before it."""
    facts = trials.read_trials(session).get(TRIAL)
    if facts is None:
        raise MissingInput("no sub-study is drawn", hint=HINT)
    return facts


@rounding
def substudy_of(ws: Workspace, session: Session) -> SubstudyReport:
    """Agreement of the views with each other and with the final grades, and the time for a pair in each."""
    assessor = plan_of(session)["assessor"]
    answers = {view: current_answers(session, round) for view, round in ROUNDS.items()}
    outcome = outcome_of(session, ws.settings)
    pairs = {assignment.pair for assignment in trials.read_assignments(session, ROUNDS["abstract"])}
    if not any(answers.values()):
        raise MissingInput("no answers to the sub-study", hint="run `annot pull substudy`")
    level = ws.settings.agreement.level
    grades = {
        view: grades_of(answer for answer in answers_in_view if not answer.flags)
        for view, answers_in_view in answers.items()
    }
    final = grades_of(outcome.decisions)
    papers = papers_of(read_queries(session))
    grades["final"] = {pair: final[pair] for pair in pairs if pair in final}
    compared = tuple(
        ComparedGradings(
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
    judged = {answer.pair for answer in outcome.judgements if answer.assessor == assessor and answer.counts}
    return SubstudyReport(
        assessor=assessor,
        level=level,
        titles={name: TITLES[name] for name in HEADLINE},
        views=tuple(
            _view(view, len(pairs), answers_in_view, papers, level) for view, answers_in_view in answers.items()
        ),
        compared=compared,
        changes={change: changes.count(change) for change in sorted(set(changes))},
        judged_before=len(judged & pairs),
    )


def substudy_on_record(report: SubstudyReport) -> dict[str, Any]:
    """Record for report and datasheet."""
    return {
        "assessor": report.assessor,
        "compared": [
            {
                "first": compared.first,
                "second": compared.second,
                "pairs": compared.agreement.n_pairs,
                "figures": {name: figure_on_record(figure) for name, figure in compared.agreement.figures.items()},
            }
            for compared in report.compared
        ],
        "views": [{"view": view.view, "timed": view.timed, **figure_on_record(view.seconds)} for view in report.views],
    }


def recorded_substudy(known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """Results that `substudy_on_record` recorded, its figures as estimates; None if no two gradings share a pair."""
    facts = known.get(ON_RECORD)
    compared = [
        {**entry, "figures": {name: figure_from_record(figure) for name, figure in entry["figures"].items()}}
        for entry in (facts["compared"] if facts else ())
        if entry["pairs"]
    ]
    if facts is None or not compared:
        return None
    views = [{**entry, "seconds": figure_from_record(entry)} for entry in facts["views"]]
    return {**facts, "compared": compared, "views": views}


def _view(view: str, pairs: int, answers: Sequence[Judgement], papers: Mapping[str, str], level: float) -> View:
    answered = [answer for answer in answers if answer.counts]
    timed = [answer for answer in answered if answer.lead_time]
    times = np.array([answer.lead_time for answer in timed], dtype=np.float64)
    queries = [answer.query_id for answer in timed]
    none = Undefined("no answer has a time")
    seconds = Estimate(none, none)
    if timed:
        interval = median_time_interval(times, queries, [papers[name] for name in queries], level)
        seconds = Estimate(float(np.median(times)), interval)
    graded = sum(answer.grade is not None for answer in answered)
    return View(NAMES[view], pairs, len(answered), graded, len(answered) - graded, seconds, len(times))
