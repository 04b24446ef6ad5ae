"""The attributes of sentences, and those of many abstracts at once as the numbers that a model gives them.

What a model has never seen has no weight and is left out. The attributes of a sentence come in the order of
`features`, so that its weights add up to the same last bit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import reduce
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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


Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNSEEN = -1
"""Stands for an attribute that the model has no weight of."""


class Attributes(NamedTuple):
    """Pairs of a sentence and an attribute of it."""

    sentences: Ints
    """Array, shape (n,): positions of sentences, from 0, over all abstracts."""
    attributes: Ints
    """Array, shape (n,): the model's numbers."""


MOST_WORDS = 300_000
"""Words that are kept with their numbers: by far the most that come again, in a bounded memory."""


class _Words(dict[str, int]):
    """The number of each word, from 1; 0 stands for all words that no attribute of the model has."""

    def __missing__(self, word: str) -> int:
        number = self.get("0", 0) if word[0].isdecimal() else 0
        if len(self) < MOST_WORDS:
            self[word] = number
        return number


class _Phrases:
    """Sequences of words of one length, found by one number each."""

    def __init__(self, words: Mapping[str, int], phrases: Iterable[str]) -> None:
        self.phrases = tuple(phrases)
        self._base = len(words) + 1
        numbers = [[words[word] for word in phrase.split(" ")] for phrase in self.phrases]
        self._index = pd.Index(self._keys(*np.array(numbers, np.int64).T) if numbers else np.array([], np.int64))

    def _keys(self, *words: Ints) -> Ints:
        return reduce(lambda keys, numbers: keys * self._base + numbers, words)

    def find(self, *words: Ints) -> Ints:
        """Positions in `phrases` of the first word with its followers; UNSEEN where there is no such phrase."""
        return np.asarray(self._index.get_indexer(pd.Index(self._keys(*words))))


class AttributeReader:
    """Reads the attributes of sentences as numbers of one model."""

    def __init__(self, attributes: Mapping[str, int]) -> None:
        """`attributes`: the model's number of each attribute."""
        self._numbers = attributes
        named: dict[str, list[str]] = {prefix: [] for prefix in ("w", "-w", "+w", "2", "f1", "f2", "f3")}
        for attribute in attributes:
            prefix, _, rest = attribute.partition(":")
            if prefix in named:
                named[prefix].append(rest)
        cues = {*ANNOUNCES, *CONCLUDING_PAIRS}
        words = dict.fromkeys(chain(*(phrase.split(" ") for phrase in chain(*named.values(), cues, CONCLUDING_WORDS))))
        self._words = _Words({word: number for number, word in enumerate(words, start=1)})
        self._of_word = {prefix: self._lookup(f"{prefix}:", ("", *words)) for prefix in ("w", "-w", "+w", "f1")}
        self._concluding_words = _among(("", *words), CONCLUDING_WORDS)
        self._pairs = _Phrases(self._words, dict.fromkeys((*named["2"], *named["f2"], *cues)))
        self._of_pair = {prefix: self._lookup(f"{prefix}:", self._pairs.phrases) for prefix in ("2", "f2")}
        self._announcing = _among(self._pairs.phrases, ANNOUNCES)
        self._concluding_pairs = _among(self._pairs.phrases, CONCLUDING_PAIRS)
        self._triples = _Phrases(self._words, named["f3"])
        self._of_triple = self._lookup("f3:", self._triples.phrases)

    def _lookup(self, prefix: str, values: Iterable[object]) -> Ints:
        """The model's numbers of attributes; the last element, for position UNSEEN, is UNSEEN too."""
        return np.array([*(self._numbers.get(f"{prefix}{value}", UNSEEN) for value in values), UNSEEN])

    def read(self, sentences: Sequence[str], counts: Ints) -> Attributes:
        """The attributes of the sentences of many abstracts.

        sentences: those of all abstracts, one after the other.
        counts: array, shape (abstracts,): how many sentences each abstract has; at least 1.
        """
        find = self._words.__getitem__
        tokens = [list(map(find, spellings(sentence))) for sentence in sentences]
        lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
        words = np.fromiter(chain.from_iterable(tokens), np.int64, int(lengths.sum()))
        sentence_of = np.repeat(np.arange(len(tokens)), lengths)
        place = _Places(counts)
        parts: list[tuple[Ints, Ints]] = []

        def put(rows: Ints, attributes: Ints) -> None:
            known = attributes != UNSEEN
            parts.append((rows[known], attributes[known]))

        every = np.arange(len(tokens))
        put(every, np.full(len(tokens), self._numbers.get(FEATURE_SET, UNSEEN)))
        fifths = 5 * place.at // place.count
        for prefix, values in (
            ("p:", place.at),
            ("e:", place.count - 1 - place.at),
            ("r:", fifths),
            ("n:", place.count),
            ("l:", np.minimum(lengths // 5, 10)),
        ):
            put(every, self._lookup(prefix, range(values.max(initial=0) + 1))[values])

        own_sentence, own_word = _distinct(sentence_of[words > 0], words[words > 0])
        followed = np.flatnonzero(sentence_of[1:] == sentence_of[:-1])
        pairs = self._pairs.find(words[followed], words[followed + 1])
        pair_sentence, pair = _distinct(sentence_of[followed][pairs != UNSEEN], pairs[pairs != UNSEEN])
        announcing = _any(pair_sentence[self._announcing[pair]], len(tokens))
        concluding = _any(pair_sentence[self._concluding_pairs[pair]], len(tokens))
        concluding |= _any(own_sentence[self._concluding_words[own_word]], len(tokens))
        for prefix, here in (("a:", announcing), ("c:", concluding)):
            before, after = place.any_before(here), place.any_after(here)
            for kind, cue in (("h", here), ("b", before), ("n", after)):
                put(every, self._lookup(f"{prefix}{kind}", (0, 1))[cue.astype(int)])
            together = (f"{code:03b}" for code in range(8))
            put(every, self._lookup(prefix, together)[4 * here + 2 * before + 1 * after])

        put(own_sentence, self._of_word["w"][own_word])
        put(pair_sentence, self._of_pair["2"][pair])
        starts = np.cumsum(lengths) - lengths
        one, two, three = (np.flatnonzero(lengths >= number) for number in (1, 2, 3))
        put(one, self._of_word["f1"][words[starts[one]]])
        put(two, self._of_pair["f2"][self._pairs.find(words[starts[two]], words[starts[two] + 1])])
        at = starts[three]
        put(three, self._of_triple[self._triples.find(words[at], words[at + 1], words[at + 2])])
        for prefix, step, missing in (("-w", 1, place.at == place.count - 1), ("+w", -1, place.at == 0)):
            neighboured = ~missing[own_sentence]
            put(own_sentence[neighboured] + step, self._of_word[prefix][own_word[neighboured]])
        rows, attributes = zip(*parts, strict=True)
        return Attributes(np.concatenate(rows), np.concatenate(attributes))


class _Places:
    """Where each sentence stands in its abstract."""

    def __init__(self, counts: Ints) -> None:
        self._first = np.repeat(np.cumsum(counts) - counts, counts)
        self.count = np.repeat(counts, counts)
        self.at = np.arange(len(self.count)) - self._first

    def any_before(self, found: Bools) -> Bools:
        """For each sentence, whether one before it in its abstract is among those found."""
        so_far = np.concatenate(([0], np.cumsum(found)))
        return np.asarray(so_far[self._first + self.at] > so_far[self._first])

    def any_after(self, found: Bools) -> Bools:
        """For each sentence, whether one after it in its abstract is among those found."""
        so_far = np.concatenate(([0], np.cumsum(found)))
        return np.asarray(so_far[self._first + self.count] > so_far[self._first + self.at + 1])


def _among(phrases: Iterable[str], cues: Set[str]) -> Bools:
    return np.array([phrase in cues for phrase in phrases])


def _any(sentences: Ints, count: int) -> Bools:
    return np.bincount(sentences, minlength=count) > 0


def _distinct(sentences: Ints, values: Ints) -> tuple[Ints, Ints]:
    """The pairs, each once, in the order in which they first come."""
    base = int(values.max(initial=0)) + 1
    keys = pd.unique(sentences * base + values)
    return keys // base, keys % base
