"""A conditional random field that labels the sentences of an abstract: its attributes, training and scores."""

from __future__ import annotations

import hashlib
import lzma
import math
import re
import struct
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from importlib.resources import files
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import AliasChoices, BaseModel, Field, model_validator

from annot.base.array_files import numbers, strings_of
from annot.base.errors import Faults, InputError
from annot.base.names import counted, near
from annot.formats.input_files import decompressed_xz, read_models

# ----------------------------------------------------------------------------------------------------------------------
# The attributes of sentences, and those of many abstracts at once as the numbers that a model gives them.
#
# Attributes that a model has never seen have no weight and are left out. The attributes of a sentence come in the
# order of `features`, so that its weights add up to the same last bit.
# ----------------------------------------------------------------------------------------------------------------------


FEATURE_SET = "annot-features-1"
"""Name of this set of features, in every model as the attribute that each sentence has. Change it with any feature:
a model trained on other features would label without a word of warning, and badly."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+(?:[.,]\d+)*")
_ASCII_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+(?:[.,][0-9]+)*")
"""A word in a text of ASCII's lower-case letters: matches like `_WORD`, in two thirds of the time."""

# Phrases by which an abstract turns from the problem to its own work, and from its work to what came out of it.
# Whether the turn is before, in or after a sentence tells more than the sentence's number does.
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
    """Words of a sentence in lower case, in order, and its numbers unchanged; punctuation is left out."""
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
    announcing = _turns([not ANNOUNCES.isdisjoint(marks) for marks in pairs], "a:")
    concluding = _turns(
        [
            not (CONCLUDING_PAIRS.isdisjoint(pair) and CONCLUDING_WORDS.isdisjoint(vocabulary))
            for pair, vocabulary in zip(pairs, vocabularies, strict=True)
        ],
        "c:",
    )
    count = len(tokens)
    rows: list[list[str]] = []
    for index, sentence in enumerate(tokens):
        row = [
            FEATURE_SET,
            f"p:{index}",
            f"e:{count - 1 - index}",
            f"r:{5 * index // count}",
            f"n:{count}",
            f"l:{min(len(sentence) // 5, 10)}",
            *announcing[index],
            *concluding[index],
        ]
        row += ["w:" + word for word in vocabularies[index]]
        row += ["2:" + pair for pair in pairs[index]]
        row += [f"f{n}:" + " ".join(sentence[:n]) for n in (1, 2, 3) if len(sentence) >= n]
        if index > 0:
            row += ["-w:" + word for word in vocabularies[index - 1]]
        if index < count - 1:
            row += ["+w:" + word for word in vocabularies[index + 1]]
        rows.append(row)
    return rows


def _turns(marks: Sequence[bool], prefix: str) -> list[tuple[str, ...]]:
    """Features of each sentence: a mark here, earlier, and later, each by itself and the three together."""
    rows: list[tuple[str, ...]] = []
    for index, mark in enumerate(marks):
        any_before, after = any(marks[:index]), any(marks[index + 1 :])
        rows.append(
            (
                f"{prefix}h{mark:d}",
                f"{prefix}b{any_before:d}",
                f"{prefix}n{after:d}",
                f"{prefix}{mark:d}{any_before:d}{after:d}",
            )
        )
    return rows


Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNSEEN = -1
"""Stands for an attribute that the model has no weight of."""


MOST_PIECES = 300_000
"""Pieces that are kept with their words: by far the most that come again, in a bounded memory."""


class _Pieces(dict[str, tuple[int, ...]]):
    """Numbers of the words in a piece of text without spaces, from 1; 0 is any word that no attribute of the model has.

    No word goes on beyond a space, and most pieces come again and again.
    """

    def __init__(self, number_of: Mapping[str, int]) -> None:
        super().__init__()
        self._number_of = number_of

    def __missing__(self, piece: str) -> tuple[int, ...]:
        of_piece = tuple([self._number_of.get(word, 0) for word in words(piece)])
        if len(self) < MOST_PIECES:
            self[piece] = of_piece
        return of_piece


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
        number_of = {word: number for number, word in enumerate(words, start=1)}
        self._pieces = _Pieces(number_of)
        self._of_word = {prefix: self._lookup(f"{prefix}:", ("", *words)) for prefix in ("w", "-w", "+w", "f1")}
        self._concluding_words = _has_cue(("", *words), CONCLUDING_WORDS)
        self._pairs = _Phrases(number_of, dict.fromkeys((*named["2"], *named["f2"], *cues)))
        self._of_pair = {prefix: self._lookup(f"{prefix}:", self._pairs.phrases) for prefix in ("2", "f2")}
        self._announcing = _has_cue(self._pairs.phrases, ANNOUNCES)
        self._concluding_pairs = _has_cue(self._pairs.phrases, CONCLUDING_PAIRS)
        self._triples = _Phrases(number_of, named["f3"])
        self._of_triple = self._lookup("f3:", self._triples.phrases)

    def _lookup(self, prefix: str, values: Iterable[object]) -> Ints:
        """The model's numbers of attributes; the last element, for position UNSEEN, is UNSEEN too."""
        return np.array([*(self._numbers.get(f"{prefix}{value}", UNSEEN) for value in values), UNSEEN])

    def read(self, sentences: Sequence[str], counts: Ints) -> tuple[Ints, Ints]:
        """The attributes of the sentences of many abstracts: positions of sentences over all abstracts, and with each
        the model's number of an attribute that it has.

        sentences: those of all abstracts, one after the other.
        counts: array, shape (abstracts,): how many sentences each abstract has; at least 1.
        """
        pieces = pc.split_pattern(strings_of([" ".join(sentences)]), " ").flatten().dictionary_encode()
        distinct = [self._pieces[piece] for piece in pieces.dictionary.to_pylist()]
        width_of = np.fromiter(map(len, distinct), np.int64, len(distinct))
        piece_of = numbers(pieces.indices)
        widths, begins = width_of[piece_of], (np.cumsum(width_of) - width_of)[piece_of]
        ends = np.cumsum(widths)
        words = np.fromiter(chain.from_iterable(distinct), np.int64, int(width_of.sum()))
        words = words[np.repeat(begins - ends + widths, widths) + np.arange(ends[-1])]
        n_pieces = np.array([sentence.count(" ") + 1 for sentence in sentences])
        lengths = np.add.reduceat(widths, np.cumsum(n_pieces) - n_pieces)
        sentence_of = np.repeat(np.arange(len(sentences)), lengths)
        place = _Places(counts)
        parts: list[tuple[Ints, Ints]] = []

        def put(rows: Ints, attributes: Ints) -> None:
            is_known = attributes != UNSEEN
            parts.append((rows[is_known], attributes[is_known]))

        everywhere = np.arange(len(sentences))
        put(everywhere, np.full(len(sentences), self._numbers.get(FEATURE_SET, UNSEEN)))
        fifths = 5 * place.at // place.count
        for prefix, values in (
            ("p:", place.at),
            ("e:", place.count - 1 - place.at),
            ("r:", fifths),
            ("n:", place.count),
            ("l:", np.minimum(lengths // 5, 10)),
        ):
            put(everywhere, self._lookup(prefix, range(values.max(initial=0) + 1))[values])

        own_sentence, own_word = _distinct(sentence_of[words > 0], words[words > 0])
        followed = np.flatnonzero(sentence_of[1:] == sentence_of[:-1])
        pairs = self._pairs.find(words[followed], words[followed + 1])
        pair_sentence, pair = _distinct(sentence_of[followed][pairs != UNSEEN], pairs[pairs != UNSEEN])
        announcing = _any(pair_sentence[self._announcing[pair]], len(sentences))
        concluding = _any(pair_sentence[self._concluding_pairs[pair]], len(sentences))
        concluding |= _any(own_sentence[self._concluding_words[own_word]], len(sentences))
        for prefix, marked in (("a:", announcing), ("c:", concluding)):
            any_before, after = place.any_before(marked), place.any_after(marked)
            for kind, cue in (("h", marked), ("b", any_before), ("n", after)):
                put(everywhere, self._lookup(f"{prefix}{kind}", (0, 1))[cue.astype(int)])
            together = (f"{code:03b}" for code in range(8))
            put(everywhere, self._lookup(prefix, together)[4 * marked + 2 * any_before + 1 * after])

        put(own_sentence, self._of_word["w"][own_word])
        put(pair_sentence, self._of_pair["2"][pair])
        starts = np.cumsum(lengths) - lengths
        one_long, two, three = (np.flatnonzero(lengths >= number) for number in (1, 2, 3))
        put(one_long, self._of_word["f1"][words[starts[one_long]]])
        put(two, self._of_pair["f2"][self._pairs.find(words[starts[two]], words[starts[two] + 1])])
        begins = starts[three]
        put(three, self._of_triple[self._triples.find(words[begins], words[begins + 1], words[begins + 2])])
        for prefix, step, missing in (("-w", 1, place.at == place.count - 1), ("+w", -1, place.at == 0)):
            neighboured = ~missing[own_sentence]
            put(own_sentence[neighboured] + step, self._of_word[prefix][own_word[neighboured]])
        rows, attributes = zip(*parts, strict=True)
        return np.concatenate(rows), np.concatenate(attributes)


class _Places:
    """Position of each sentence in its abstract."""

    def __init__(self, counts: Ints) -> None:
        self._first = np.repeat(np.cumsum(counts) - counts, counts)
        self.count = np.repeat(counts, counts)
        self.at = np.arange(len(self.count)) - self._first

    def any_before(self, marks: Bools) -> Bools:
        """Mask of sentences with an earlier one in the same abstract that is marked."""
        so_far = np.concatenate(([0], np.cumsum(marks)))
        return np.asarray(so_far[self._first + self.at] > so_far[self._first])

    def any_after(self, marks: Bools) -> Bools:
        """Mask of sentences with a later one in the same abstract that is marked."""
        so_far = np.concatenate(([0], np.cumsum(marks)))
        return np.asarray(so_far[self._first + self.count] > so_far[self._first + self.at + 1])


def _has_cue(phrases: Iterable[str], cues: Set[str]) -> Bools:
    return np.array([phrase in cues for phrase in phrases])


def _any(sentences: Ints, count: int) -> Bools:
    return np.bincount(sentences, minlength=count) > 0


def _distinct(sentences: Ints, values: Ints) -> tuple[Ints, Ints]:
    """The pairs, each once, in the order in which they first come."""
    base = int(values.max(initial=0)) + 1
    keys = pd.unique(sentences * base + values)
    return keys // base, keys % base


# ----------------------------------------------------------------------------------------------------------------------
# Labels of sentences: abstracts to learn from, a linear-chain conditional random field, and its scores.
#
# Abstracts come as JSON Lines, CSAbstruct's (`sentences`) and our own (`abstract`). The model family is that of
# Lafferty, McCallum and Pereira (ICML 2001), as CRFsuite implements it. The library is imported when a model is
# trained or first used.
# ----------------------------------------------------------------------------------------------------------------------


class LabelledAbstract(BaseModel):
    """One abstract to learn from or to be scored on: its sentences, and the label of each."""

    sentences: tuple[str, ...] = Field(min_length=1, validation_alias=AliasChoices("sentences", "abstract"))
    labels: tuple[str, ...]

    @model_validator(mode="after")
    def _one_label_a_sentence(self) -> LabelledAbstract:
        if len(self.sentences) != len(self.labels):
            raise ValueError(
                f"found {counted(len(self.labels), 'label')} for {counted(len(self.sentences), 'sentence')}"
            )
        return self


def read_labelled(
    lines: Iterable[str], *, name: str, known_labels: Collection[str] | None
) -> tuple[LabelledAbstract, ...]:
    """The abstracts in `lines`, one JSON object a line: `labels`, and `sentences` or `abstract`; other keys are free.

    known_labels: the labels that exist; None takes those of the file.
    Empty lines are passed over. Raises InputError with the line of every fault; `name` is the file in the messages.
    """
    faults = Faults(name)
    abstracts = []
    for line, abstract in read_models(lines, faults, LabelledAbstract):
        abstracts.append(abstract)
        unknown = [] if known_labels is None else sorted({*abstract.labels}.difference(known_labels))
        if known_labels is not None and unknown:
            problems = (f"unknown label {label!r}, {near(label, known_labels)}" for label in unknown)
            faults.add("; ".join(problems), line=line)
    faults.raise_if_any(
        hint='expected one JSON object per line, {"abstract": ["...", "..."], "labels": ["background", "method"]}; '
        "remove lines without labels",
        found=abstracts,
        nothing="no abstracts found",
    )
    return tuple(abstracts)


def without_held_out(
    abstracts: Sequence[LabelledAbstract], held_out: Sequence[LabelledAbstract]
) -> tuple[LabelledAbstract, ...]:
    """The abstracts that share no sentence with those held out; case and spacing make no difference."""
    kept_back = {_plain(sentence) for abstract in held_out for sentence in abstract.sentences}
    return tuple(abstract for abstract in abstracts if kept_back.isdisjoint(map(_plain, abstract.sentences)))


def _plain(sentence: str) -> str:
    return " ".join(sentence.lower().split())


@dataclass(frozen=True, slots=True)
class LabelScore:
    """One label's figures, fractions from 0 to 1; None if undefined."""

    precision: float | None
    """None if no sentence was given the label."""
    recall: float | None
    """None if no sentence has the label in truth."""
    f1: float | None
    """2 tp / (2 tp + fp + fn); None if the label occurs on neither side."""
    support: int
    """Number of sentences that truly have the label."""


@dataclass(frozen=True, slots=True)
class LabelScores:
    """The figures over all sentences, and per label."""

    sentences: int
    micro_f1: float
    """F1 over all sentences; with one label a sentence it equals the accuracy."""
    macro_f1: float
    """Mean of the labels' F1, over those where it is defined."""
    per_label: dict[str, LabelScore]
    """Scores in the order of the labels given."""
    confusion: dict[str, dict[str, int]]
    """`confusion[truth][predicted]`: number of sentences; labels in the order given."""


def score(
    truths: Iterable[Sequence[str]], predictions: Iterable[Sequence[str]], *, labels: Sequence[str]
) -> LabelScores:
    """The scores of `predictions` against `truths`: for each abstract, in the same order, its labels in order.

    `labels` are all that there are. There is at least one sentence. Raises ValueError when the two do not match
    sentence by sentence.
    """
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    pairs = [pair for of_abstract in zip(truths, predictions, strict=True) for pair in zip(*of_abstract, strict=True)]
    truth, predicted = zip(*pairs, strict=True)
    figures = precision_recall_fscore_support(truth, predicted, labels=labels, zero_division=math.nan)
    per_label = {
        label: LabelScore(_defined(precision), _defined(recall), _defined(f1), int(support))
        for label, precision, recall, f1, support in zip(labels, *figures, strict=True)
    }
    defined = [entry.f1 for entry in per_label.values() if entry.f1 is not None]
    confusion = confusion_matrix(truth, predicted, labels=labels).tolist()
    return LabelScores(
        sentences=len(pairs),
        micro_f1=sum(truth == other for truth, other in pairs) / len(pairs),
        macro_f1=sum(defined) / len(defined),
        per_label=per_label,
        confusion={label: dict(zip(labels, row, strict=True)) for label, row in zip(labels, confusion, strict=True)},
    )


def _defined(figure: float) -> float | None:
    return None if math.isnan(figure) else float(figure)


_MAGIC = b"lCRF"
_HEADER = struct.Struct("<4sI4sIIIIIIIII")
_FEATURES_HEADER = struct.Struct("<4sII")
_FEATURE = [("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")]
_STATE, _TRANSITION = 0, 1
_NAMES_HEADER = struct.Struct("<4sIIIII")
_NAME = struct.Struct("<II")


class Weights(NamedTuple):
    """Weights of a linear-chain conditional random field; L labels, A attributes."""

    labels: tuple[str, ...]
    attributes: dict[str, int]
    """The number of each attribute, from 0."""
    state: NDArray[np.float64]
    """Array, shape (L, A): the weight of a label where the attribute is seen; 0 where none was learnt."""
    transition: NDArray[np.float64]
    """Array, shape (L, L): the weight of a label (second) after another (first)."""


def read_weights(raw: bytes, *, name: str) -> Weights:
    """Weights in the bytes of an uncompressed model file; messages call it `name`.

    Raises InputError when it is not a whole model.
    """
    if not raw.startswith(_MAGIC):
        raise InputError(f"{name}: not a CRFsuite model: found {raw[:4]!r} at the start, expected {_MAGIC!r}")
    stated = int.from_bytes(raw[4:8], "little")
    if stated != len(raw):
        raise InputError(f"{name}: the model is cut short: found {len(raw)} bytes, expected {stated}")
    try:
        header = _HEADER.unpack_from(raw)
        features_at, labels_at, attributes_at = header[7:10]
        labels = _names(raw, labels_at)
        attributes = _names(raw, attributes_at)
        _chunk, _size, count = _FEATURES_HEADER.unpack_from(raw, features_at)
        learnt = np.frombuffer(raw, _FEATURE, count, features_at + _FEATURES_HEADER.size)
        state = np.zeros((len(labels), len(attributes)))
        transition = np.zeros((len(labels), len(labels)))
        emissions, follows = learnt[learnt["kind"] == _STATE], learnt[learnt["kind"] == _TRANSITION]
        state[emissions["target"], emissions["source"]] = emissions["weight"]
        transition[follows["source"], follows["target"]] = follows["weight"]
    except (struct.error, ValueError, IndexError) as error:
        raise InputError(f"{name}: not a CRFsuite model: {error}") from None
    return Weights(tuple(labels), {attribute: number for number, attribute in enumerate(attributes)}, state, transition)


def _names(raw: bytes, start: int) -> list[str]:
    """The strings of a constant database that begins at `start`, in the order of their numbers."""
    *_, count, list_at = _NAMES_HEADER.unpack_from(raw, start)
    names = []
    for offset in np.frombuffer(raw, "<u4", count, start + list_at).tolist():
        _number, size = _NAME.unpack_from(raw, start + offset)
        begin = start + offset + _NAME.size
        names.append(raw[begin : begin + size - 1].decode())
    return names


SHIPPED_MODEL = "csabstruct.crfsuite.xz"
"""Model in this package; `MODEL.md` next to it gives its origin."""

AT_ONCE = 1_000
"""Abstracts that are labelled together: enough for whole arrays, and few enough for the processor's cache."""

SETTINGS = {"c2": 16.0}
"""Weight of the L2 penalty, the only setting of a training in addition to the data and CRFsuite's own settings. The
shipped model was trained with it."""


def train(abstracts: Iterable[LabelledAbstract]) -> bytes:
    """A model file (xz) trained on `abstracts`; the same abstracts in the same order give the same bytes.

    CRFsuite writes a model to a path only, so it goes through a private temporary file.
    Raises InputError when there is nothing to learn from.
    """
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(SETTINGS)
    used: set[str] = set()
    for abstract in abstracts:
        trainer.append(features(abstract.sentences), abstract.labels)
        used.update(abstract.labels)
    if len(used) < 2:
        raise InputError(
            f"nothing to learn from: {counted(len(used), 'label')} in the training abstracts, expected 2 or more"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        trainer.train(str(path))
        return lzma.compress(path.read_bytes(), format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, preset=9)


class Labeller:
    """Labels the sentences of abstracts with one model, many abstracts at once."""

    sha256: str
    """SHA-256 of the model file's bytes, in hexadecimal."""
    labels: tuple[str, ...]
    """The labels that it gives: those of the abstracts it was trained on."""

    def __init__(self, model: bytes, *, name: str) -> None:
        """The labeller of the model file `model` (as `train` gives it, or as CRFsuite wrote it, uncompressed).

        `name` is its name in messages. Raises InputError when it is not a model, or not one of these features.
        """
        self.name = name
        self.sha256 = hashlib.sha256(model).hexdigest()
        content = decompressed_xz(model, name=name, expected="a model made by `annot facets train`")
        self._weights = read_weights(content, name=name)
        if FEATURE_SET not in self._weights.attributes:
            raise InputError(
                f"{name}: trained on other features than {FEATURE_SET!r}",
                hint="train it again with `annot facets train FILE`",
            )
        self.labels = self._weights.labels
        self._reader = AttributeReader(self._weights.attributes)

    @classmethod
    def load(cls) -> Labeller:
        """The labeller of the model shipped with the package."""
        return cls(shipped_model(), name=SHIPPED_MODEL)

    def label(self, sentences: Sequence[str]) -> tuple[str, ...]:
        """The most probable sequence of labels: one for each sentence of one whole abstract, in order."""
        labels = self.label_all(sentences, np.array([len(sentences)]))
        return tuple(self.labels[code] for code in labels)

    def label_all(self, sentences: Sequence[str], counts: Ints) -> Ints:
        """The most probable sequence of labels of each abstract, as CRFsuite's tagger finds it.

        sentences: those of all abstracts, one after the other.
        counts: array, shape (abstracts,): how many sentences each abstract has.
        Returns an array, shape (sentences,): positions in `labels`.
        """
        counts = counts[counts > 0]
        ends = np.cumsum(counts)
        labels: list[Ints] = [np.zeros(0, np.int64)]
        for first in range(0, len(counts), AT_ONCE):
            some = counts[first : first + AT_ONCE]
            end = int(ends[first + len(some) - 1])
            labels.append(self._label_some(sentences[end - int(some.sum()) : end], some))
        return np.concatenate(labels)

    def _label_some(self, sentences: Sequence[str], counts: Ints) -> Ints:
        rows, attributes = self._reader.read(sentences, counts)
        # bincount adds in the order of the attributes, as CRFsuite does: ties and near-ties come out alike.
        state = np.array(
            [np.bincount(rows, weights[attributes], minlength=len(sentences)) for weights in self._weights.state]
        )
        return viterbi(state.T, self._weights.transition, counts)


def shipped_model() -> bytes:
    """The model file that comes with the package."""
    return files("annot.corpus.facets").joinpath(SHIPPED_MODEL).read_bytes()


def viterbi(state: NDArray[np.float64], transition: NDArray[np.float64], counts: Ints) -> Ints:
    """The best path through the labels of each sequence (Viterbi 1967); of equal ones, the first label.

    state: array, shape (items, L): the score of each label for each item of all sequences, one after the other.
    transition: array, shape (L, L): the score of a label (second) after another (first).
    counts: array, shape (sequences,): how many items each sequence has; at least 1.
    Returns an array, shape (items,): a label for each item.
    """
    first = np.cumsum(counts) - counts
    best = state[first]
    previous = np.zeros(state.shape, int)
    for step in range(1, int(counts.max())):
        active = np.flatnonzero(counts > step)
        items = first[active] + step
        scores = best[active][:, :, None] + transition
        previous[items] = scores.argmax(axis=1)
        best[active] = scores.max(axis=1) + state[items]
    path = np.zeros(len(state), int)
    path[first + counts - 1] = best.argmax(axis=1)
    for step in range(int(counts.max()) - 1, 0, -1):
        items = first[counts > step] + step
        path[items - 1] = previous[items, path[items]]
    return path
