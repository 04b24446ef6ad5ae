"""The five rounds: their people and tasks, the records that answers become, and the results put on record."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import fields

from annot.base.errors import InputError
from annot.base.names import check_name
from annot.judging.exchange.collecting import Round, RoundOptions
from annot.judging.rounds.judging import AdjudicationRound, JudgingRound
from annot.judging.rounds.labels import LabelsRound
from annot.judging.rounds.trials import SubstudyRound, TrainingRound

ROUNDS: dict[str, Round] = {
    round.name: round
    for round in (JudgingRound(), AdjudicationRound(), TrainingRound(), SubstudyRound(), LabelsRound())
}
"""Every round, by its name."""


def round_of(name: str) -> Round:
    """The round of this name. Raises InputError for another one."""
    check_name(name, list(ROUNDS), what="round")
    return ROUNDS[name]


def check_wishes(wishes: RoundOptions, *, allowed: Set[str], command: str) -> None:
    """Raise InputError for an option that this command does not have. command: `annot push labels` and the like."""
    for field in fields(wishes):
        if getattr(wishes, field.name) != field.default and field.name not in allowed:
            option, verb = f"--{field.name.replace('_', '-')}", " ".join(command.split()[:2])
            others = " and ".join(f"`{verb} {other.name}`" for other in ROUNDS.values() if field.name in other.wishes)
            raise InputError(f"{option} is not for `{command}`", hint=f"it is for {others}")
