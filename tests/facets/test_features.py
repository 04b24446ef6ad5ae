"""What the labeller sees of a sentence."""

from annot.corpus.labelling import FEATURE_SET, features, words

ABSTRACT = (
    "Parsing noisy text is hard.",
    "In this paper we propose 2 new parsers, and 1,000 rules.",
    "Results show that both improve by 3.5 points.",
)


def test_words_are_lower_case_numbers_are_0_and_punctuation_is_gone() -> None:
    assert words("We don't use 1,000 rules -- 3.5% of É. Müller's!") == [
        *("we", "don't", "use", "0", "rules", "0", "of", "é", "müller's"),
    ]


def test_every_sentence_has_its_place_from_both_ends() -> None:
    rows = features(ABSTRACT)
    assert [{"p:0", "e:2", "n:3"} <= set(rows[0]), {"p:1", "e:1"} <= set(rows[1]), {"p:2", "e:0"} <= set(rows[2])] == [
        True,
        True,
        True,
    ]
    assert all(FEATURE_SET in row for row in rows)


def test_a_sentence_sees_its_words_pairs_first_words_and_length() -> None:
    first = features(ABSTRACT)[0]
    assert {"w:noisy", "2:noisy text", "f1:parsing", "f2:parsing noisy", "f3:parsing noisy text", "l:1"} <= set(first)


def test_a_sentence_sees_the_words_of_both_neighbours_and_none_further() -> None:
    rows = features(ABSTRACT)
    assert {"-w:parsing", "+w:results"} <= set(rows[1])
    assert not any(part.startswith("-w:") for part in rows[0])
    assert not any(part.startswith("+w:") for part in rows[2])
    assert "+w:results" not in rows[0]


def test_a_sentence_knows_whether_the_turn_to_the_own_work_and_to_the_outcome_lies_before_or_after_it() -> None:
    rows = features(ABSTRACT)
    assert [next(part for part in row if len(part) == 5 and part.startswith("a:")) for row in rows] == [
        *("a:001", "a:100", "a:010"),
    ]
    assert {"c:h0", "c:b0", "c:n1"} <= set(rows[0])
    assert {"c:h1", "c:b0", "c:n0"} <= set(rows[2])
