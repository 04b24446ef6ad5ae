"""The records, which judgements count, the order of documents, and draws that follow from seed and key."""

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.names import without_ids
from annot.base.records import (
    Adjudication,
    Decision,
    Judgement,
    ScoredDoc,
    as_trec_eval,
    counted,
    first_judgements,
    grouped,
    in_order,
    nested,
    ranked,
    round_score,
)
from annot.base.stats.inference import generator


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
        ("by an account that the server has deleted", "by another account than the planned one"),
        ("answered by account 17, later", "answered by another account, later"),
        ("annotation 123 changed", "a later annotation changed"),
        ("no id", "no id"),
    ],
)
def test_the_servers_ids_stay_out_of_a_flag(flag: str, shown: str) -> None:
    assert without_ids(flag) == shown


FACETS = {"q": "method"}


def test_the_latest_revision_counts_where_it_has_no_flag() -> None:
    first, second = Judgement("q", "d", "a1", 1), Judgement("q", "d", "a1", 2, revision=2)
    other = Judgement("q", "e", "a1", 0)
    assert counted([second, other, first]) == (second, other)
    assert counted([first, other, second]) == (second, other)
    flagged = Judgement("q", "d", "a1", 3, revision=3, flags=("too late",))
    assert counted([first, second, flagged, other]) == (other,)


def test_a_hidden_repeat_and_another_person_are_judgements_of_their_own() -> None:
    rows = [Judgement("q", "d", "a1", 1), Judgement("q", "d", "a1", 2, occasion=2), Judgement("q", "d", "a2", 3)]
    assert counted(rows) == tuple(rows)
    assert first_judgements(rows, [], FACETS, grades=None) == (rows[0], rows[2])


def test_two_judgements_in_one_revision_are_refused_once() -> None:
    rows = [Judgement("q", "d", "a1", grade) for grade in (1, 2, 3)]
    with pytest.raises(InputError) as caught:
        counted(rows)
    assert caught.value.faults == ("q d a1: two judgements with revision 1, expected one",)


def test_every_fault_of_judgements_and_decisions_is_named() -> None:
    rows = [Judgement("q", "d", "a1", 4), Judgement("q", "d", "a2", None), Judgement("x", "d", "a1", 0)]
    decisions = [Decision("q", "d", -1, "adjudicated"), Decision("q", "e", 3, "agreed")]
    with pytest.raises(InputError) as caught:
        first_judgements(rows, decisions, FACETS, grades=range(4))
    assert caught.value.faults == (
        "x: judged, but not a known query",
        "q d: a1 has grade 4, expected one of 0, 1, 2, 3",
        "q d: the final decision has grade -1, expected one of 0, 1, 2, 3",
    )


def test_without_a_scale_any_grade_is_taken() -> None:
    rows = (Judgement("q", "d", "a1", 99),)
    assert first_judgements(rows, [Decision("q", "d", 98, "adjudicated")], FACETS, grades=None) == rows


@pytest.mark.parametrize(
    ("seed", "key", "entropy"),
    [
        # The first half of what `printf '13\\x1fq1' | sha256sum` prints, and of `printf 7 | sha256sum`.
        (13, ("q1",), 0xE4B6DEF75F46AFF2673571098CAA1132),
        (7, (), 0x7902699BE42C8A8E46FBBB4501726517),
    ],
)
def test_a_study_is_drawn_again_as_it_was(seed: int, key: tuple[str, ...], entropy: int) -> None:
    assert generator(seed, *key).random(3).tolist() == np.random.default_rng(entropy).random(3).tolist()
