"""Opinions of models: tables of their own, from which answers come back as they came."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from annot.base.errors import InputError, MissingInput, StoreError
from annot.store import pools
from annot.store.database import Store, connect_store, drop_tables, dump, load
from annot.store.models import AskedModel, ModelCall
from annot_opinions import stored

NOW = "2026-11-01T10:00:00+00:00"
ASKED = AskedModel(
    *("small", "http://localhost:1/v1", "tiny", {"temperature": 0.5, "seed": 13}, {"method": "Grade é 𝛼"}),
    (("p1-method", "d9"),), NOW, ((NOW, "asked", "a pilot"),),
)  # fmt: skip


def call(doc_id: str, attempt: int, grade: int | None = None, *, state: str = "", repeat: int = 1) -> ModelCall:
    found = state or ("unreadable" if grade is None else "read")
    sent = ModelCall("small", "p1-method", doc_id, repeat, attempt, "sent", "abc", NOW, 0.25)
    if found == "sent":
        return sent
    return sent._replace(
        state=found, cost=0.125, estimated=False, answer="it\n\u2028 said", grade=grade, reason="because"
    )


def written(store: Store, calls: Sequence[ModelCall]) -> None:
    with store.begin() as session:
        stored.put_asked_model(session, ASKED)
        for one in calls:
            stored.note_sent(session, one._replace(state="sent", cost=0.25, grade=None, answer=None, reason=None))
            stored.note_answer(session, one)


def test_an_opinion_is_the_first_answer_that_can_be_read_or_none_after_two_that_cannot(study: Store) -> None:
    written(
        study,
        [
            *(call("d1", 1), call("d1", 2, 3)),
            *(call("d2", 1), call("d2", 2, state="failed"), call("d2", 3)),
            *(call("d3", 1), call("d4", 1, state="sent"), call("d5", 1, state="failed")),
            *(call("d6", 1, 0), call("d6", 1, 2, repeat=2)),
        ],
    )
    with study.read() as session:
        found = tuple(stored.opinions_from(stored.read_calls(session, "small")))
        assert stored.opinion_names(session) == ("small",)
    assert [(*one.pair, one.repeat, one.grade, one.state) for one in found] == [
        ("p1-method", "d1", 1, 3, "read"),
        ("p1-method", "d2", 1, None, "unreadable"),
        ("p1-method", "d6", 1, 0, "read"),
        ("p1-method", "d6", 2, 2, "read"),
    ]


def test_who_cannot_judge_a_pair_is_not_asked_about_it_again_and_has_no_grade(study: Store) -> None:
    written(study, [call("d1", 1), call("d1", 2, state="cannot_judge"), call("d2", 1, 3)])
    with study.read() as session:
        found = tuple(stored.opinions_from(stored.read_calls(session, "small")))
        until = stored.grades_of(stored.calls_until(session, "small", None))
    assert (found[0].doc_id, found[0].grade, found[0].cannot_judge) == ("d1", None, True)
    assert not found[1].cannot_judge
    # As answered, so that what predicts grades knows that it was asked about the whole pool.
    assert until == {("p1-method", "d1", 1): None, ("p1-method", "d2", 1): 3}


def test_what_was_sent_costs_the_most_that_it_can_until_an_answer_says_less(study: Store) -> None:
    written(study, [call("d1", 1, 1), call("d2", 1, state="sent")])
    with study.read() as session:
        assert [one.cost for one in stored.read_calls(session, "small")] == [0.125, 0.25]
        assert stored.read_calls(session, "other") == ()


def test_reasons_of_four_words_and_more_are_known_for_a_models(study: Store) -> None:
    reasons = ("three short words", "four words are enough", "four words are enough", "")
    written(study, [call(f"d{at}", 1, 1)._replace(reason=reason) for at, reason in enumerate(reasons)])
    with study.read() as session:
        assert stored.read_reasons(session) == {"four words are enough"}


def test_a_grade_is_kept_with_an_answer_that_was_read_and_with_no_other(study: Store) -> None:
    declined = call("d1", 1, state="cannot_judge")
    for wrong in (
        *(call("d1", 1)._replace(grade=2), call("d1", 1, 2)._replace(grade=None), call("d1", 1, 10)),
        *(declined._replace(grade=0), declined._replace(state="declined")),
    ):
        with pytest.raises(StoreError, match="opinion_call"):
            written(study, [wrong])


def test_a_query_that_a_model_was_asked_stays(study: Store) -> None:
    written(study, [call("d1", 1, 1)])
    with study.begin() as session, pytest.raises(InputError, match="1 question to a model"):
        pools.remove_query(session, "p1-method")
    with study.begin() as session, pytest.raises(InputError, match="1 question to a model"):
        pools.replace_queries(session, [one for one in pools.read_queries(session) if one.topic_id == "p2"])


def test_a_name_that_was_never_asked_is_an_error_that_names_the_like(study: Store) -> None:
    written(study, [])
    with study.read() as session, pytest.raises(MissingInput, match=r"smal: no model .*small"):
        stored.read_asked_model(session, "smal")


def test_opinions_come_back_from_a_dump(study: Store, url: str, tmp_path: Path) -> None:
    calls = [call("d1", 1, 1), call("d2", 1), call("d3", 1, state="sent")]
    written(study, calls)
    with study.begin() as session:
        stored.put_asked_model(session, ASKED._replace(early=()))
    (tmp_path / "dump").mkdir()
    with study.read() as session:
        dumped = dump(session.connection(), tmp_path / "dump")
    with study.begin() as session:
        drop_tables(session.connection())
    with connect_store(url, create=True) as store:
        with store.begin() as session:
            load(session.connection(), dumped, tmp_path / "dump")
        with store.read() as session:
            assert stored.read_calls(session, "small") == tuple(calls)
            assert stored.read_asked_models(session) == (ASKED._replace(early=()),)
