"""What the sentence labeller sees of each sentence of an abstract: words, place, cues, and the words next door."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

FEATURE_SET = "annot-features-1"
"""Name of this set of features, in every model as the attribute that each sentence has. Change it with any feature:
a model trained on other features would label without a word of warning, and badly."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+(?:[.,]\d+)*")
_ASCII_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+(?:[.,][0-9]+)*")
"""The same for a text of ASCII's small letters, in two thirds of the time."""

# Phrases by which an abstract turns from the problem to its own work, and from its work to what came out of it.
# Whether the turn lies before, in or after a sentence tells more than the sentence's number does.
ANNOUNCES = frozenset(
    f"{first} {second}"
    for firsts, seconds in (
        (("this",), ("article", "paper", "report", "research", "study", "survey", "thesis", "work")),
        (("the", "our"), ("aim", "aims", "goal", "goals", "objective", "objectives", "purpose")),
        (("we",), ("address", "consider", "describe", "develop", "examine", "explore")),
        (("we",), ("introduce", "investigate", "present", "propose", "show", "study")),
    )
    for first in firsts
    for second in seconds
)
CONCLUDING_WORDS = frozenset(
    (
        *("achieve", "achieves", "conclude", "evaluation", "experiment", "experiments", "finding", "findings"),
        *("improve", "improves", "indicate", "indicates", "outperform", "outperforms", "result", "results"),
    )
)
CONCLUDING_PAIRS = frozenset(("demonstrate that", "demonstrates that", "found that", "show that", "shows that"))


def words(sentence: str) -> list[str]:
    """The words of a sentence in lower case, in order; every number is `0`, punctuation is left out."""
    return ["0" if word[0].isdecimal() else word for word in spellings(sentence)]


def spellings(sentence: str) -> list[str]:
    """The words of a sentence in lower case, in order, and its numbers as they stand; punctuation is left out."""
    text = sentence.lower()
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def features(sentences: Sequence[str]) -> list[list[str]]:
    """The attributes of each sentence of one abstract, in a fixed order (training must not depend on hash seeds).

    Words (`w:`), pairs of neighbouring words (`2:`), the first one to three words (`f1:` to `f3:`), the place from
    the start, from the end and in fifths (`p:`, `e:`, `r:`), the number of sentences (`n:`), the length in steps of
    five words (`l:`), the words of the sentence before (`-w:`) and after (`+w:`), and for the two turns of an
    abstract whether it lies in this sentence, before it or after it (`a:`, `c:`).
    """
    tokens = [words(sentence) for sentence in sentences]
    vocabularies = [list(dict.fromkeys(sentence)) for sentence in tokens]
    pairs = [list(dict.fromkeys(map(" ".join, pairwise(sentence)))) for sentence in tokens]
    announcing = _turns([not ANNOUNCES.isdisjoint(found) for found in pairs], "a:")
    concluding = _turns(
        [
            not (CONCLUDING_PAIRS.isdisjoint(found) and CONCLUDING_WORDS.isdisjoint(vocabulary))
            for found, vocabulary in zip(pairs, vocabularies, strict=True)
        ],
        "c:",
    )
    count = len(tokens)
    rows: list[list[str]] = []
    for at, sentence in enumerate(tokens):
        row = [
            FEATURE_SET,
            f"p:{at}",
            f"e:{count - 1 - at}",
            f"r:{5 * at // count}",
            f"n:{count}",
            f"l:{min(len(sentence) // 5, 10)}",
            *announcing[at],
            *concluding[at],
        ]
        row += ["w:" + word for word in vocabularies[at]]
        row += ["2:" + pair for pair in pairs[at]]
        row += [f"f{n}:" + " ".join(sentence[:n]) for n in (1, 2, 3) if len(sentence) >= n]
        if at > 0:
            row += ["-w:" + word for word in vocabularies[at - 1]]
        if at < count - 1:
            row += ["+w:" + word for word in vocabularies[at + 1]]
        rows.append(row)
    return rows


def _turns(found: Sequence[bool], prefix: str) -> list[tuple[str, ...]]:
    """For each sentence, whether the cue is here, before and after (`found`): each alone, and the three together."""
    rows: list[tuple[str, ...]] = []
    for at, here in enumerate(found):
        before, after = any(found[:at]), any(found[at + 1 :])
        rows.append(
            (
                f"{prefix}h{here:d}",
                f"{prefix}b{before:d}",
                f"{prefix}n{after:d}",
                f"{prefix}{here:d}{before:d}{after:d}",
            )
        )
    return rows
