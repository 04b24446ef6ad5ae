"""The demonstration's files, made once more from its simulated people's answers: byte for byte what the checkout has.

No server takes part: what people answer is written into the store as a pull would write it.
"""

import pytest
from annot.base.records import Adjudication, Judgement, PairKey
from annot.store import people
from annot.study.outcome import outcome_of
from annot.study.snapshot import export_judgements
from annot.study.workspace import Workspace
from annot_demo import simulated_people, whole_way
from annot_demo.simulated_people import SimulatedAnswer
from study_answers import GOLDEN, record
from study_stages import Recipe, copied, files_of

ONLY_FROM_A_SERVER = {"audit.json"}


def silently(_text: str) -> None:
    """Nobody reads what the demonstration prints."""


@pytest.fixture(scope="module")
def undrawn() -> None:
    """Figures are looked at here."""


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    recipe = Recipe(file=whole_way.demo_settings(), settings={}, labels="carried")
    ws = copied(recipe, "pooled", tmp_path_factory.mktemp("demonstration") / "study")
    whole_way.share_out(ws, whole_way.Steps(silently, number=12))
    whole_way.remember_simulation(ws)
    truth = simulated_people.demo_relevance()
    judging = simulated_people.judging_people(ws, seed=whole_way.SEED, truth=truth)
    with ws.reading() as session:
        planned = people.read_assignments(session)
    record(ws, (judgement(one.assessor, one.pair_key, judging[one.assessor]) for one in planned))
    ((adjudicator, respond),) = simulated_people.settling_people(ws, seed=whole_way.SEED, truth=truth).items()
    with ws.reading() as session:
        outcome = outcome_of(session, ws.settings)
    export_judgements(ws, outcome)
    record(ws, decided=[decision(adjudicator, PairKey(*one[0].pair), respond) for one in outcome.disputed])
    recipe.adopted(ws)
    whole_way.write_results(ws, whole_way.Steps(silently, number=12))
    return ws


def judgement(assessor: str, asked: PairKey, respond: simulated_people.Respond) -> Judgement:
    answer, _ = answered(respond, asked)
    return Judgement(
        *asked.pair,
        assessor,
        answer.grade,
        cannot_judge=answer.cannot_judge,
        comment=answer.comment,
        lead_time=answer.lead_time,
        occasion=asked.occasion,
    )


def decision(adjudicator: str, asked: PairKey, respond: simulated_people.Respond) -> Adjudication:
    answer, why = answered(respond, asked)
    said = {"reason": why, "comment": answer.comment, "lead_time": answer.lead_time}
    return Adjudication(*asked.pair, adjudicator, answer.grade, "shown", (), **said)


def answered(respond: simulated_people.Respond, asked: PairKey) -> tuple[SimulatedAnswer, str | None]:
    response = respond(asked)
    assert response is not None
    return response


FROZEN = files_of(GOLDEN / "exports" / "demo")


@pytest.mark.parametrize("name", sorted(FROZEN.keys() - ONLY_FROM_A_SERVER - {"runs/__init__.py"}))
def test_the_exports_are_those_of_the_checkout(demonstration: Workspace, name: str) -> None:
    assert (demonstration.exports / name).read_bytes() == FROZEN[name]
