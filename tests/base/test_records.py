"""What the records say of themselves, the order of documents, and values under keys."""

import pytest
from annot.base.names import without_ids
from annot.base.records import (
    Adjudication,
    Assignment,
    Decision,
    Judgement,
    PairKey,
    PairReturn,
    Paper,
    ScoredDoc,
    as_trec_eval,
    grouped,
    in_order,
    nested,
    ranked,
    round_score,
)


@pytest.mark.parametrize(
    ("grade", "reason", "flags", "counts"),
    [
        (0, None, (), True),
        (None, "no abstract", (), True),
        (None, "", (), True),
        (None, None, (), False),
        (2, None, ("late",), False),
        (None, "no abstract", ("late",), False),
    ],
)
def test_a_grade_or_a_reason_counts_if_nothing_speaks_against_it(
    grade: int | None, reason: str | None, flags: tuple[str, ...], counts: bool
) -> None:
    assert Judgement("q", "d", "a1", grade, cannot_judge=reason, flags=flags).counts == counts
    adjudication = Adjudication("q", "d", "j1", grade, "shown", (), cannot_judge=reason, flags=flags)
    assert adjudication.counts == counts


def test_what_a_person_is_asked_is_a_pair_on_an_occasion() -> None:
    assert Judgement("q", "d", "a1", 1).pair_key == PairKey("q", "d", 1)
    assert Assignment("q", "d", "a1", 7).pair_key == PairKey("q", "d")
    assert Assignment("q", "d", "a1", 7, 2).pair_key == ("q", "d", 2)
    assert PairReturn("q", "d", "a1", 3, "why", "2031").pair_key.pair == ("q", "d")
    assert Adjudication("q", "d", "j1", 1, "shown", ()).pair_key == ("q", "d", 1)
    assert Decision("q", "d", 1, "agreed").pair == ("q", "d")


def test_what_a_record_has_that_says_nothing() -> None:
    judgement, adjudication = Judgement("q", "d", "a1", 1), Adjudication("q", "d", "j1", 1, "shown", ())
    assert (judgement.revision, judgement.occasion, judgement.flags) == (1, 1, ())
    assert (adjudication.revision, adjudication.flags) == (1, ())
    assert not PairReturn("q", "d", "a1", 3, "why", "2031").contested
    assert (Paper("p", "t", ()).labels, Paper("p", "t", ()).citations) == (None, ())


def test_documents_are_ranked_by_written_score_and_then_by_id() -> None:
    given = [ScoredDoc("b", 1.0000001), ScoredDoc("c", 2.0), ScoredDoc("a", 1.0), ScoredDoc("d", 1.00001)]
    assert [doc.doc_id for doc in ranked(given)] == ["c", "d", "a", "b"]
    assert [doc.score for doc in ranked(given)] == [2.0, 1.00001, 1.0, 1.0]
    assert [doc.doc_id for doc in as_trec_eval(ranked(given))] == ["c", "d", "b", "a"]
    assert [doc.doc_id for doc in in_order(given)] == ["c", "d", "b", "a"]


@pytest.mark.parametrize(
    ("score", "rounded"), [(1234567.0, 1234570.0), (0.12345649, 0.123456), (-0.1234565001, -0.123457), (7.0, 7.0)]
)
def test_a_score_has_six_significant_digits(score: float, rounded: float) -> None:
    assert round_score(score) == rounded


def test_values_under_keys_come_in_their_order_and_of_two_under_both_keys_the_last_stays() -> None:
    assert list(grouped([("b", 1), ("a", 2), ("b", 3)]).items()) == [("b", [1, 3]), ("a", [2])]
    assert nested([("b", "x", 1), ("a", "x", 2), ("b", "y", 3), ("b", "x", 4)]) == {
        "b": {"x": 4, "y": 3},
        "a": {"x": 2},
    }


@pytest.mark.parametrize(
    ("flag", "shown"),
    [
        ("by account 17 of ann", "by another account than the planned one"),
        ("answered by account 17, later", "answered by another account, later"),
        ("annotation 123 changed", "a later annotation changed"),
        ("no id", "no id"),
    ],
)
def test_the_servers_ids_stay_out_of_a_flag(flag: str, shown: str) -> None:
    assert without_ids(flag) == shown
