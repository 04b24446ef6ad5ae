"""The answers of rounds that never count, and each assessor in training against the gold grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from annot.agreement import HEADLINE
from annot.agreement.between import Between, agreement_between
from annot.records import Judgement
from annot.stats.values import Interval
from annot.store import people, trials
from annot.store.hidden_gold import read_hidden
from annot.store.projects import Round
from annot.study.outcome import current_judgements, outcome_of
from annot.study.workspace import Workspace
from annot.trials.sequence import Pair
from annot.trials.training import Verdict, verdict

TRAIN: Round = "train"
FEEDBACK: Round = "train-feedback"
TOO_LATE = "train-after-feedback"
"""The source of answers that were changed once the gold grade could be seen; kept, and never looked at."""
GATE = "kappa_quadratic"
FIGURES = (GATE, *HEADLINE)
NO_GRADE = "no grade"
"""The flag of an answer on the screen that asks for none: it says that the pair was looked at."""


@dataclass(frozen=True, slots=True)
class Far:
    """A pair whose grade is far from gold."""

    query_id: str
    doc_id: str
    grade: int
    gold: int
    why: str


@dataclass(frozen=True, slots=True)
class Trained:
    """One assessor against the gold grades."""

    assessor: str
    gold: int
    """Gold pairs that are given to this assessor."""
    answered: int
    cannot_judge: int
    agreement: Between
    """By coefficient; the gate's is the first."""
    threshold: float
    gate: str
    verdict: Verdict
    furthest: tuple[Far, ...]
    """Widest gap first."""
    looked_at: int
    """Pairs that were opened again with the gold grade."""
    remarks: tuple[str, ...]
    """What was written there."""
    changed_too_late: int
    """Answers changed when the gold grade could be seen; the earlier ones count."""
    planned_too: tuple[str, ...]
    """Pairs whose gold grade was shown and that the plan gives to this assessor."""


@dataclass(frozen=True, slots=True)
class Probed:
    """One assessor on the gold that is hidden among their pairs."""

    assessor: str
    hidden: int
    answered: int
    agreement: Between
    furthest: tuple[Far, ...]


def current_answers(session: Session, round: Round) -> tuple[Judgement, ...]:
    """Of each person's answers to a pair the latest that counts; where none counts, the latest."""
    return current_judgements(answer.record for answer in trials.read_answers(session, round))


def training_of(ws: Workspace, session: Session) -> tuple[Trained, ...]:
    """Everyone in training, by pseudonym."""
    golden = {one.pair: one for one in trials.read_gold(session)}
    given = by_person(trials.read_assignments(session, TRAIN))
    answers = by_person(current_answers(session, TRAIN))
    again = by_person(current_answers(session, FEEDBACK))
    late = by_person(one.record for one in trials.read_answers(session, TOO_LATE))
    planned = by_person(people.read_assignments(session))
    known = trials.read_trials(session)
    settings = ws.settings.training
    found = []
    for name, asked in given.items():
        pairs = [pair for pair in asked if pair in golden]
        answered = {pair: one for pair, one in answers.get(name, {}).items() if pair in pairs and one.counts}
        own = {pair: one.grade for pair, one in answered.items() if one.grade is not None}
        between = agreement_between(
            own,
            {pair: golden[pair].grade for pair in pairs},
            grades=ws.settings.scale.grades,
            level=ws.settings.agreement.level,
            coefficients=FIGURES,
        )
        far = sorted(own, key=lambda pair: (-abs(own[pair] - golden[pair].grade), pair))
        shown = {tuple(pair) for pair in known.get(f"{FEEDBACK}/{name}", {}).get("pairs", ())}
        found.append(
            Trained(
                assessor=name,
                gold=len(pairs),
                answered=len(answered),
                cannot_judge=len(answered) - len(own),
                agreement=between,
                threshold=settings.threshold,
                gate=settings.gate,
                verdict=verdict(
                    between.figures[GATE],
                    n_answered=len(answered),
                    n_gold=len(pairs),
                    threshold=settings.threshold,
                    gate=settings.gate,
                ),
                furthest=tuple(
                    Far(*pair, own[pair], golden[pair].grade, golden[pair].why)
                    for pair in far[: settings.furthest]
                    if own[pair] != golden[pair].grade
                ),
                looked_at=sum(one.flags == (NO_GRADE,) for one in again.get(name, {}).values()),
                remarks=tuple(one.comment for _, one in sorted(again.get(name, {}).items()) if one.comment),
                changed_too_late=len(late.get(name, {})),
                planned_too=tuple(" ".join(pair) for pair in sorted(shown & planned.get(name, {}).keys())),
            )
        )
    return tuple(found)


def hidden_gold_of(ws: Workspace, session: Session) -> tuple[Probed, ...]:
    """Everyone who has hidden gold among their pairs: their grades against the final ones, which are others'."""
    hidden = read_hidden(session)
    if not hidden:
        return ()
    outcome = outcome_of(session, ws.settings)
    final = {(one.query_id, one.doc_id): one.grade for one in outcome.decisions}
    given = by_person(current_answers(session, "hidden-gold"))
    found = []
    for name, pairs in hidden.items():
        answered = {pair: one for pair, one in given.get(name, {}).items() if pair in pairs and one.counts}
        own = {pair: one.grade for pair, one in answered.items() if one.grade is not None}
        between = agreement_between(
            own, final, grades=ws.settings.scale.grades, level=ws.settings.agreement.level, coefficients=FIGURES
        )
        far = sorted((pair for pair in own if pair in final), key=lambda pair: (-abs(own[pair] - final[pair]), pair))
        why = "the final grade"
        furthest = tuple(
            Far(*pair, own[pair], final[pair], why)
            for pair in far[: ws.settings.training.furthest]
            if own[pair] != final[pair]
        )
        found.append(Probed(name, len(pairs), len(answered), between, furthest))
    return tuple(found)


def on_record(trained: Trained) -> dict[str, Any]:
    """What stays on record of one assessor's training, for the datasheet."""
    return {
        **_gate_figure(trained.agreement),
        "gold": trained.gold,
        "answered": trained.answered,
        "threshold": trained.threshold,
        "gate": trained.gate,
        "verdict": trained.verdict,
    }


def hidden_on_record(probed: Probed) -> dict[str, Any]:
    """What stays on record of one assessor's answers to hidden gold, for the datasheet."""
    return {**_gate_figure(probed.agreement), "hidden": probed.hidden, "answered": probed.answered}


def _gate_figure(agreement: Between) -> dict[str, Any]:
    figure = agreement.figures[GATE]
    interval = figure.interval if isinstance(figure.interval, Interval) else None
    return {
        "pairs": agreement.n_pairs,
        "coefficient": GATE,
        "value": figure.value if isinstance(figure.value, float) else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
    }


def by_person(records: Any) -> dict[str, dict[Pair, Any]]:
    """Records of pairs by person and pair, in their order."""
    found: dict[str, dict[Pair, Any]] = {}
    for one in records:
        found.setdefault(one.assessor, {})[one.query_id, one.doc_id] = one
    return found
