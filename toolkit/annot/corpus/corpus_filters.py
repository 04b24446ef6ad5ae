"""Which papers of a corpus are kept: CSFCube's filters, and duplicates by id and, of records of libraries, by work.

What is remembered of a paper are hashes of 64 bits, so that a corpus of any size can be told apart in little memory:
among ten million papers two ids fall on one hash with a chance of 3 in a million.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.arrow_arrays import integers_of, mask_of, numbers, strings_of, truths
from annot.base.records import Paper, grouped
from annot.base.settings.sections import CorpusSettings
from annot.formats.same_work import folded_id, normalised_title, work_text


class Rejection(StrEnum):
    """Why a paper is not kept. Of several reasons, the first in this order counts."""

    DUPLICATE_ID = "id seen before, same content"
    DIFFERING_ID = "id seen before, other content"
    SAME_PAPER = "another record of a paper that is kept"
    NO_TITLE = "no title"
    NO_ABSTRACT = "no abstract"
    FEW_SENTENCES = "too few sentences"
    MANY_SENTENCES = "too many sentences"
    LONG_SENTENCE = "a sentence too long"
    SHORT_SENTENCES = "all sentences too short"


SETTING_OF = {
    Rejection.NO_TITLE: "require_title",
    Rejection.FEW_SENTENCES: "min_sentences",
    Rejection.MANY_SENTENCES: "max_sentences",
    Rejection.LONG_SENTENCE: "max_sentence_tokens",
    Rejection.SHORT_SENTENCES: "min_sentence_tokens",
}
"""The setting in `[corpus]` that leaves a paper out."""
REASONS = tuple(Rejection)
KEPT = len(REASONS)
"""The value in `Marks.reason` of a paper without a reason against it."""


class Marks(NamedTuple):
    """The values that tell papers apart, one entry for each paper."""

    ids: Any
    """A pyarrow array of strings."""
    id_hash: NDArray[np.uint64]
    content: NDArray[np.uint64]
    """A hash of title, sentences, year, and the document of a passage."""
    title: NDArray[np.uint64]
    """A hash of the normalised title; 0 if it is empty, and for a passage, whose title is that of its document."""
    reason: NDArray[np.uint8]
    """The position in REASONS of the first reason against the paper alone, or KEPT."""
    library: NDArray[np.bool_]
    """Whether its record is from a library or a database, which may have several records of one paper."""
    works: NDArray[np.uint64]
    """Hashes by which records of one work are found, shape (n, 4), 0 for none: up to three ids with their kinds, then
    `work_text`. Shape (n, 0) if no file of a library is added."""


Ids = tuple[str, ...] | None
"""The ids of a library's record, with their kinds; None for any other record."""
WORKS = 4


def marks_of(
    papers: Iterable[Paper],
    settings: CorpusSettings | None,
    ids_of: Sequence[Ids] | None = None,
    *,
    works: bool = False,
) -> Marks:
    """The marks of papers; without settings, none of them has a reason against it.

    ids_of: of each paper, None if none is a library's. works: tell the papers by their works, too.
    """
    papers = list(papers)
    known_by: Sequence[Ids] = [None] * len(papers) if ids_of is None else ids_of
    told = [
        (*(_hash(one) for one in ids or ()), *(0,) * (WORKS - 1 - len(ids or ())), _work(paper))
        for paper, ids in zip(papers, known_by, strict=True)
        if works
    ]
    rows = [
        (
            paper.paper_id,
            _hash(paper.paper_id),
            _hash("\0".join((paper.title, *paper.sentences, str(paper.year), *filter(None, [paper.part_of])))),
            title_mark(paper.title) if paper.part_of is None else 0,
            KEPT if settings is None or (found := rejection(paper, settings)) is None else REASONS.index(found),
        )
        for paper in papers
    ]
    ids, *hashes, reason = zip(*rows, strict=True) if rows else ((),) * 5
    of_id, content, of_title = (np.array(column, np.uint64) for column in hashes)
    return Marks(
        *(strings_of(ids), of_id, content, of_title, np.array(reason, np.uint8)),
        np.array([one is not None for one in known_by], bool),
        np.array(told, np.uint64).reshape(len(papers), WORKS if works else 0),
    )


def hashes_of(ids: Iterable[str]) -> NDArray[np.uint64]:
    """The hash of an id with its kind."""
    return np.array([_hash(one) for one in ids], np.uint64)


def _work(paper: Paper) -> int:
    """The hash of the paper's work; 0 without a title or a year, and for a passage."""
    if paper.year is None or paper.part_of is not None:
        return 0
    text = work_text(paper.title, paper.year, " ".join(paper.sentences))
    return _hash(text) if text else 0


def title_mark(title: str) -> int:
    """The hash of the normalised title; 0 if it is empty."""
    return _hash(normalised) if (normalised := normalised_title(title)) else 0


def joined(parts: Sequence[Marks]) -> Marks:
    """The marks of several lots of papers, one after the other; at least one lot."""
    import pyarrow

    ids, *columns = zip(*parts, strict=True)
    return Marks(pyarrow.concat_arrays(ids), *map(np.concatenate, columns))


class Tally:
    """Which papers were kept, in the order in which they came, and the marks of the kept ones.

    corrects: whether a paper replaces the one of the corpus that has its id and another content.
    """

    def __init__(self, *, corrects: bool = False) -> None:
        self._corrects = corrects
        self._corrected: dict[int, int] = {}
        """The content of each paper that was replaced, by the hash of its id."""
        self.read = 0
        self.kept = 0
        self.rejected: Counter[Rejection] = Counter()
        self.differing: list[str] = []
        """Ids that came again with another title, abstract or year; the first paper is kept."""
        self._content = _FirstUnder()
        self._of_corpus = _FirstUnder()
        """The content of the papers that may be corrected."""
        self._titles = _FirstUnder()
        self._works = _FirstUnder()
        self._ids: list[Any] = []
        self.known = 0
        """Papers in the corpus: those kept, and those remembered."""
        self._same_title: list[tuple[int, int]] = []
        self._same_paper: list[tuple[int, str]] = []
        self._left_out: list[tuple[Any, NDArray[np.uint8]]] = []

    def remember(self, marks: Marks) -> None:
        """Remember these papers of an earlier `corpus add`, without counting them as read or kept."""
        self._keep(marks, np.arange(len(marks.ids)))
        if self._corrects:
            self._of_corpus.add(marks.id_hash, marks.content)

    def know(self, paper_ids: Any, works: NDArray[np.uint64]) -> None:
        """Remember these other ids of papers; unknown papers are skipped. paper_ids: a pyarrow array."""
        import pyarrow.compute

        places = pyarrow.compute.index_in(paper_ids, value_set=self._all_ids())
        there = truths(places.is_valid())
        self._works.add(works[there], numbers(places.drop_null()).astype(np.uint64))

    def owners(self, works: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The places of the kept papers that these are records of; -1 if there is none."""
        there, place = (found.reshape(works.shape) for found in self._works.find(works.ravel()))
        first = there.argmax(axis=1)[:, None]
        return np.where(there.any(axis=1), np.take_along_axis(place, first, 1)[:, 0].astype(np.int64), -1)

    def ids_at(self, places: NDArray[np.int64]) -> Any:
        """The ids of the papers at these places, as a pyarrow array."""
        return self._all_ids().take(integers_of(places))

    def corrections(self, marks: Marks) -> NDArray[np.int64]:
        """The positions of the papers that replace one of the corpus: the first that passes under each of these ids.

        To be asked before `take` is given the same papers.
        """
        if not self._corrects:
            return np.zeros(0, np.int64)
        known, content = self._of_corpus.find(marks.id_hash)
        candidates = np.flatnonzero(known & (content != marks.content) & (marks.reason == KEPT))
        new = [at for at in candidates.tolist() if int(marks.id_hash[at]) not in self._corrected]
        first = {int(marks.id_hash[at]): at for at in reversed(new)}
        self._corrected |= {name: int(marks.content[at]) for name, at in first.items()}
        return np.array(sorted(first.values()), np.int64)

    def take(self, marks: Marks, corrected: Sequence[int] | NDArray[np.int64] = ()) -> NDArray[np.int64]:
        """Count these papers, and return the positions of those to keep, in order. corrected: of `corrections`.

        A paper with a known id counts as a repetition, even if there are other reasons against it. If several papers
        have one id, the first that passes is kept. Papers with the title of another are kept and reported: a query's
        twins are left out of its pool, not out of the corpus. Of the records of libraries, the first of each work is
        kept.
        """
        known = self._content.find(marks.id_hash)[0]
        passing = ~known & (marks.reason == KEPT)
        records = self._records(marks, passing)
        again = np.zeros(len(marks.ids), bool)
        again[list(records)] = True
        good = np.flatnonzero(passing & ~again)
        _, first = np.unique(marks.id_hash[good], return_index=True)
        kept = good[np.sort(first)]
        before = self.known
        self._keep(marks, kept)
        within = _FirstUnder()
        within.add(marks.id_hash[kept], kept.astype(np.uint64))
        here, place = within.find(marks.id_hash)
        repeats = known | (here & (place < np.arange(len(marks.ids), dtype=np.uint64)))
        places = {at: of if of >= 0 else before + int(np.searchsorted(kept, ~of)) for at, of in records.items()}
        works = marks.works[list(places)]
        rows, columns = np.nonzero(works)
        self._works.add(works[rows, columns], np.array(list(places.values()), np.uint64)[rows])
        self._same_paper += [(of, marks.ids[at].as_py()) for at, of in places.items() if not repeats[at]]
        other = self._now(marks.id_hash) != marks.content
        # What would correct a paper and does not pass is counted under what speaks against it.
        repeats &= ~(self._corrects & known & other & (marks.reason != KEPT))
        repeats[np.array(corrected, np.int64)] = False
        differs = repeats & other
        same = repeats & ~other
        self.read += len(marks.ids)
        self.kept += len(kept)
        self.differing += marks.ids.filter(mask_of(differs)).to_pylist()
        self.rejected[Rejection.DIFFERING_ID] += int(differs.sum())
        self.rejected[Rejection.DUPLICATE_ID] += int(same.sum())
        self.rejected[Rejection.SAME_PAPER] += int((again & ~repeats).sum())
        alone = ~repeats & ~again
        by_itself = np.bincount(marks.reason[alone], minlength=KEPT)
        failing = alone & (marks.reason != KEPT)
        self._left_out.append((marks.ids.filter(mask_of(failing)), marks.reason[failing]))
        self.rejected.update({reason: int(by_itself[at]) for at, reason in enumerate(REASONS)})
        self.rejected = +self.rejected
        return kept

    def _now(self, id_hash: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The content of the papers with these ids; of a replaced one, that of the new paper."""
        content = self._content.find(id_hash)[1]
        for at in np.flatnonzero(np.isin(id_hash, list(self._corrected))) if self._corrected else ():
            content[at] = self._corrected[int(id_hash[at])]
        return content

    def left_out(self) -> dict[Rejection, list[tuple[str]]]:
        """The ids of the papers that were left out for what they are, by reason."""
        pairs = (
            (REASONS[at], (name,)) for ids, of in self._left_out for at, name in zip(of, ids.to_pylist(), strict=True)
        )
        return grouped(pairs)

    @property
    def same_title(self) -> list[tuple[str, str]]:
        """Pairs of kept ids with the same normalised title: the first paper that had it, and a later one."""
        pairs = np.array(self._same_title, np.int64).reshape(-1, 2)
        return list(zip(*(self.ids_at(column).to_pylist() for column in pairs.T), strict=True))

    @property
    def same_paper(self) -> list[tuple[str, str]]:
        """Pairs of ids: a kept paper's, and that of another record of it, which was left out."""
        kept = self.ids_at(np.array([place for place, _ in self._same_paper], np.int64)).to_pylist()
        return [(one, other) for one, (_, other) in zip(kept, self._same_paper, strict=True)]

    def alike_ids(self, first: int) -> list[tuple[str, str]]:
        """Pairs of kept ids that differ only in case, Unicode form or ligatures: one, and one of a later paper.

        first: the place of the first paper whose id is compared with all others.
        """
        folded = np.array([hash(folded_id(name)) for part in self._ids for name in part.to_pylist()], np.int64)
        order = np.argsort(folded, kind="stable")
        repeats = np.flatnonzero(folded[order][1:] == folded[order][:-1]) + 1
        places = order[np.union1d(repeats - 1, repeats)]
        alike = grouped((folded_id(name), name) for name in self.ids_at(places).to_pylist())
        new = {*self.ids_at(places[places >= first]).to_pylist()}
        return [(names[0], name) for names in alike.values() for name in names[1:] if {name, names[0]} & new]

    def _all_ids(self) -> Any:
        import pyarrow

        return pyarrow.chunked_array(self._ids, pyarrow.string())

    def _records(self, marks: Marks, passing: NDArray[np.bool_]) -> dict[int, int]:
        """The papers of a library that are further records of a known one, with the place of that one; if it is among
        these papers, `~` its position."""
        if not marks.library.any():
            return {}
        there, place = (found.reshape(marks.works.shape) for found in self._works.find(marks.works.ravel()))
        first = dict(zip(marks.works[there].tolist(), place[there].astype(np.int64).tolist(), strict=True))
        met = there.any(axis=1) | _repeated(marks.works) | _repeated(marks.id_hash[:, None])
        found: dict[int, int] = {}
        taken: set[int] = set()
        # Only those are gone through whose ids or works came before: the others are told apart from all.
        for at in np.flatnonzero(met).tolist():
            works, own = list(filter(None, marks.works[at].tolist())), int(marks.id_hash[at])
            of = next((first[one] for one in works if one in first), None)
            if of is not None and marks.library[at]:
                found[at] = of
            elif passing[at] and own not in taken:
                taken.add(own)
                of = ~at if of is None else of
            if of is not None:
                for one in works:
                    first.setdefault(one, of)
        return found

    def _keep(self, marks: Marks, kept: NDArray[np.int64]) -> None:
        self._content.add(marks.id_hash[kept], marks.content[kept])
        self._ids.append(marks.ids.take(integers_of(kept)))
        titled = np.flatnonzero(marks.title[kept])
        titles, places = marks.title[kept][titled], (self.known + titled).astype(np.uint64)
        self._titles.add(titles, places)
        first = self._titles.find(titles)[1]
        self._same_title += zip(first[first != places].tolist(), places[first != places].tolist(), strict=True)
        rows, columns = np.nonzero(marks.works[kept])
        self._works.add(marks.works[kept][rows, columns], (self.known + rows).astype(np.uint64))
        self.known += len(kept)


class _FirstUnder:
    """The first value that was added under each key, both of 64 bits, in sorted runs that are merged as they grow."""

    def __init__(self) -> None:
        self._runs: list[tuple[NDArray[np.uint64], NDArray[np.uint64]]] = []

    def add(self, keys: NDArray[np.uint64], values: NDArray[np.uint64]) -> None:
        new = ~self.find(keys)[0]
        run, first = np.unique(keys[new], return_index=True)
        under = values[new][first]
        while self._runs and len(self._runs[-1][0]) <= 2 * len(run):
            longer, values_there = self._runs.pop()
            run, under = np.concatenate((longer, run)), np.concatenate((values_there, under))
            order = np.argsort(run, kind="stable")
            run, under = run[order], under[order]
        self._runs.append((run, under))

    def find(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
        """Which of the keys are known, and the value under each; 0 for an unknown key."""
        there, found = np.zeros(len(keys), bool), np.zeros(len(keys), np.uint64)
        for run, under in self._runs:
            if len(run):
                at = np.minimum(np.searchsorted(run, keys), len(run) - 1)
                here = run[at] == keys
                there |= here
                found[here] = under[at[here]]
        return there, found


def _repeated(values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which rows share a value with another row; 0 is no value."""
    _, inverse, counts = np.unique(values.ravel(), return_inverse=True, return_counts=True)
    several = (counts[inverse].reshape(values.shape) > 1) & (values != 0)
    found: NDArray[np.bool_] = several.any(axis=1)
    return found


def rejection(paper: Paper, settings: CorpusSettings) -> Rejection | None:
    """The first reason not to keep `paper` by itself, or None. Tokens are what white space separates."""
    if settings.require_title and not paper.title.strip():
        return Rejection.NO_TITLE
    if all(not sentence or sentence.isspace() for sentence in paper.sentences):
        return Rejection.NO_ABSTRACT
    if len(paper.sentences) < settings.min_sentences:
        return Rejection.FEW_SENTENCES
    if len(paper.sentences) > settings.max_sentences:
        return Rejection.MANY_SENTENCES
    most = settings.max_sentence_tokens
    # White space in clean text is blanks, which are counted faster than tokens.
    if any(sentence.count(" ") >= most and len(sentence.split()) > most for sentence in paper.sentences):
        return Rejection.LONG_SENTENCE
    if not any(len(sentence.split()) >= settings.min_sentence_tokens for sentence in paper.sentences):
        return Rejection.SHORT_SENTENCES
    return None


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
