"""Papers of a corpus that are kept: filters, duplicates by id, and nearly equal abstracts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.array_files import integers_of, mask_of, numbers, strings_of, truths
from annot.base.libraries import pc, pyarrow
from annot.base.records import Paper, grouped
from annot.base.settings import CorpusSettings
from annot.formats.cleaning import folded_id, normalised_title, work_text
from annot.formats.paper_text import count_words

# ----------------------------------------------------------------------------------------------------------------------
# Filters of a corpus: CSFCube's filters, and duplicates by id and, of records of libraries, by work.
#
# A paper is remembered by hashes of 64 bits, so that a corpus of any size can be told apart in little
# memory: among ten million papers two ids fall on one hash with a chance of 3 in a million.
# ----------------------------------------------------------------------------------------------------------------------


class Rejection(StrEnum):
    """Reason why a paper is not kept. Of several reasons, the first in this order counts."""

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
    """A hash of title, sentences, year, the document of a passage, and a language of the paper's own."""
    title: NDArray[np.uint64]
    """A hash of the normalised title; 0 if it is empty, and for a passage, whose title is that of its document."""
    reason: NDArray[np.uint8]
    """The position in REASONS of the first reason against the paper alone, or KEPT."""
    library: NDArray[np.bool_]
    """True if its record is from a library or a database, which may have several records of one paper."""
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

    ids_of: of each paper, None if none is a library's. works: recognise papers by their works, too.
    """
    papers = list(papers)
    known_by: Sequence[Ids] = [None] * len(papers) if ids_of is None else ids_of
    encoded = [
        (*(_hash(paper_id) for paper_id in ids or ()), *(0,) * (WORKS - 1 - len(ids or ())), _work(paper))
        for paper, ids in zip(papers, known_by, strict=True)
        if works
    ]
    rows = [
        (
            paper.paper_id,
            _hash(paper.paper_id),
            _hash(
                "\0".join(
                    (paper.title, *paper.sentences, str(paper.year), *filter(None, [paper.part_of, paper.language]))
                )
            ),
            title_mark(paper.title) if paper.part_of is None else 0,
            KEPT if settings is None or (why := rejection(paper, settings)) is None else REASONS.index(why),
        )
        for paper in papers
    ]
    ids, *hashes, reason = zip(*rows, strict=True) if rows else ((),) * 5
    of_id, content, of_title = (np.array(column, np.uint64) for column in hashes)
    return Marks(
        *(strings_of(ids), of_id, content, of_title, np.array(reason, np.uint8)),
        np.array([known_ids is not None for known_ids in known_by], bool),
        np.array(encoded, np.uint64).reshape(len(papers), WORKS if works else 0),
    )


def hashes_of(ids: Iterable[str]) -> NDArray[np.uint64]:
    """The hash of an id with its kind."""
    return np.array([_hash(paper_id) for paper_id in ids], np.uint64)


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
    ids, *columns = zip(*parts, strict=True)
    return Marks(pyarrow.concat_arrays(ids), *map(np.concatenate, columns))


class Tally:
    """Kept papers, in the order in which they came, with their marks.

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
        places = pc.index_in(paper_ids, value_set=self._all_ids())
        valid = truths(places.is_valid())
        self._works.add(works[valid], numbers(places.drop_null()).astype(np.uint64))

    def owners(self, works: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Places of the kept papers to which these records belong; -1 for a new paper."""
        known_works, place = (array.reshape(works.shape) for array in self._works.find(works.ravel()))
        first = known_works.argmax(axis=1)[:, None]
        return np.where(known_works.any(axis=1), np.take_along_axis(place, first, 1)[:, 0].astype(np.int64), -1)

    def ids_at(self, places: NDArray[np.int64]) -> Any:
        """The ids of the papers at these places, as a pyarrow array."""
        return self._all_ids().take(integers_of(places))

    def corrections(self, marks: Marks) -> NDArray[np.int64]:
        """The positions of the papers that replace one of the corpus: the first that passes under each of these ids.

        To be asked before `take` is given the same papers.
        """
        if not self._corrects:
            return np.zeros(0, np.int64)
        in_corpus, content = self._of_corpus.find(marks.id_hash)
        candidates = np.flatnonzero(in_corpus & (content != marks.content) & (marks.reason == KEPT))
        new = [row for row in candidates.tolist() if int(marks.id_hash[row]) not in self._corrected]
        first = {int(marks.id_hash[row]): row for row in reversed(new)}
        self._corrected |= {name: int(marks.content[row]) for name, row in first.items()}
        return np.array(sorted(first.values()), np.int64)

    def take(self, marks: Marks, corrected: Sequence[int] | NDArray[np.int64] = ()) -> NDArray[np.int64]:
        """Count these papers, and return the positions of those to keep, in order. corrected: of `corrections`.

        A paper with a known id counts as a repetition, even if there are other reasons against it. If several papers
        have one id, the first that passes is kept. Papers with the title of another are kept and reported: a query's
        twins are left out of its pool, not out of the corpus. Of the records of libraries, the first of each work is
        kept.
        """
        repeated = self._content.find(marks.id_hash)[0]
        passing = ~repeated & (marks.reason == KEPT)
        records = self._records(marks, passing)
        again = np.zeros(len(marks.ids), bool)
        again[list(records)] = True
        good = np.flatnonzero(passing & ~again)
        _, first = np.unique(marks.id_hash[good], return_index=True)
        new_rows = good[np.sort(first)]
        n_before = self.known
        self._keep(marks, new_rows)
        positions = _FirstUnder()
        positions.add(marks.id_hash[new_rows], new_rows.astype(np.uint64))
        present, place = positions.find(marks.id_hash)
        repeats = repeated | (present & (place < np.arange(len(marks.ids), dtype=np.uint64)))
        places = {
            row: owner if owner >= 0 else n_before + int(np.searchsorted(new_rows, ~owner))
            for row, owner in records.items()
        }
        works = marks.works[list(places)]
        rows, columns = np.nonzero(works)
        self._works.add(works[rows, columns], np.array(list(places.values()), np.uint64)[rows])
        self._same_paper += [(owner, marks.ids[row].as_py()) for row, owner in places.items() if not repeats[row]]
        other = self._now(marks.id_hash) != marks.content
        # A correction that does not pass the filters is counted under the reason.
        repeats &= ~(self._corrects & repeated & other & (marks.reason != KEPT))
        repeats[np.array(corrected, np.int64)] = False
        differs = repeats & other
        same_paper = repeats & ~other
        self.read += len(marks.ids)
        self.kept += len(new_rows)
        self.differing += marks.ids.filter(mask_of(differs)).to_pylist()
        self.rejected[Rejection.DIFFERING_ID] += int(differs.sum())
        self.rejected[Rejection.DUPLICATE_ID] += int(same_paper.sum())
        self.rejected[Rejection.SAME_PAPER] += int((again & ~repeats).sum())
        alone = ~repeats & ~again
        by_itself = np.bincount(marks.reason[alone], minlength=KEPT)
        failing = alone & (marks.reason != KEPT)
        self._left_out.append((marks.ids.filter(mask_of(failing)), marks.reason[failing]))
        self.rejected.update({reason: int(by_itself[index]) for index, reason in enumerate(REASONS)})
        self.rejected = +self.rejected
        return new_rows

    def _now(self, id_hash: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The content of the papers with these ids; of a replaced one, that of the new paper."""
        content = self._content.find(id_hash)[1]
        for row in np.flatnonzero(np.isin(id_hash, list(self._corrected))) if self._corrected else ():
            content[row] = self._corrected[int(id_hash[row])]
        return content

    def left_out(self) -> dict[Rejection, list[tuple[str]]]:
        """Ids of papers that were left out for their own properties, by reason."""
        pairs = (
            (REASONS[reason], (name,))
            for ids, reasons in self._left_out
            for reason, name in zip(reasons, ids.to_pylist(), strict=True)
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
        ids = self.ids_at(np.array([place for place, _ in self._same_paper], np.int64)).to_pylist()
        return [(paper_id, other) for paper_id, (_, other) in zip(ids, self._same_paper, strict=True)]

    def alike_ids(self, first: int) -> list[tuple[str, str]]:
        """Pairs of kept ids, the earlier first, that differ only in case, Unicode form or ligatures.

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
        return pyarrow.chunked_array(self._ids, pyarrow.string())

    def _records(self, marks: Marks, passing: NDArray[np.bool_]) -> dict[int, int]:
        """The papers of a library that are further records of a known one, with the place of that one; if it is among
        these papers, `~` its position."""
        if not marks.library.any():
            return {}
        known_works, place = (array.reshape(marks.works.shape) for array in self._works.find(marks.works.ravel()))
        first = dict(zip(marks.works[known_works].tolist(), place[known_works].astype(np.int64).tolist(), strict=True))
        candidates = known_works.any(axis=1) | _repeated(marks.works) | _repeated(marks.id_hash[:, None])
        owners: dict[int, int] = {}
        used: set[int] = set()
        # Only papers whose ids or works came before are compared one by one: all others are new.
        for row in np.flatnonzero(candidates).tolist():
            works, own_hash = list(filter(None, marks.works[row].tolist())), int(marks.id_hash[row])
            owner = next((first[work] for work in works if work in first), None)
            if owner is not None and marks.library[row]:
                owners[row] = owner
            elif passing[row] and own_hash not in used:
                used.add(own_hash)
                owner = ~row if owner is None else owner
            if owner is not None:
                for work in works:
                    first.setdefault(work, owner)
        return owners

    def _keep(self, marks: Marks, new_rows: NDArray[np.int64]) -> None:
        self._content.add(marks.id_hash[new_rows], marks.content[new_rows])
        self._ids.append(marks.ids.take(integers_of(new_rows)))
        titled = np.flatnonzero(marks.title[new_rows])
        titles, places = marks.title[new_rows][titled], (self.known + titled).astype(np.uint64)
        self._titles.add(titles, places)
        first = self._titles.find(titles)[1]
        self._same_title += zip(first[first != places].tolist(), places[first != places].tolist(), strict=True)
        rows, columns = np.nonzero(marks.works[new_rows])
        self._works.add(marks.works[new_rows][rows, columns], (self.known + rows).astype(np.uint64))
        self.known += len(new_rows)


class _FirstUnder:
    """The first value that was added under each key, both of 64 bits, in sorted runs that are merged as they grow."""

    def __init__(self) -> None:
        self._runs: list[tuple[NDArray[np.uint64], NDArray[np.uint64]]] = []

    def add(self, keys: NDArray[np.uint64], values: NDArray[np.uint64]) -> None:
        new = ~self.find(keys)[0]
        run, first = np.unique(keys[new], return_index=True)
        run_values = values[new][first]
        while self._runs and len(self._runs[-1][0]) <= 2 * len(run):
            longer, longer_values = self._runs.pop()
            run, run_values = np.concatenate((longer, run)), np.concatenate((longer_values, run_values))
            order = np.argsort(run, kind="stable")
            run, run_values = run[order], run_values[order]
        self._runs.append((run, run_values))

    def find(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
        """Mask of the known keys, and the value under each; 0 for an unknown key."""
        present, values = np.zeros(len(keys), bool), np.zeros(len(keys), np.uint64)
        for run, run_values in self._runs:
            if len(run):
                index = np.minimum(np.searchsorted(run, keys), len(run) - 1)
                found = run[index] == keys
                present |= found
                values[found] = run_values[index[found]]
        return present, values


def _repeated(values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Mask of rows that share a value with another row; 0 is no value."""
    _, inverse, counts = np.unique(values.ravel(), return_inverse=True, return_counts=True)
    is_shared = (counts[inverse].reshape(values.shape) > 1) & (values != 0)
    repeated: NDArray[np.bool_] = is_shared.any(axis=1)
    return repeated


def rejection(paper: Paper, settings: CorpusSettings) -> Rejection | None:
    """First reason not to keep `paper` for itself, or None. Tokens are the words of `count_words`."""
    if settings.require_title and not paper.title.strip():
        return Rejection.NO_TITLE
    if all(not sentence or sentence.isspace() for sentence in paper.sentences):
        return Rejection.NO_ABSTRACT
    if len(paper.sentences) < settings.min_sentences:
        return Rejection.FEW_SENTENCES
    if len(paper.sentences) > settings.max_sentences:
        return Rejection.MANY_SENTENCES
    most = settings.max_sentence_tokens
    # Clean text has no other white space than spaces, which are counted faster than tokens; some scripts have none.
    may_be_long = (
        text for text in paper.sentences if (len(text) > 2 * most and text.count(" ") >= most) or not text.isascii()
    )
    if any(count_words(sentence) > most for sentence in may_be_long):
        return Rejection.LONG_SENTENCE
    if not any(count_words(sentence) >= settings.min_sentence_tokens for sentence in paper.sentences):
        return Rejection.SHORT_SENTENCES
    return None


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


# ----------------------------------------------------------------------------------------------------------------------
# Papers with nearly the same abstract, such as a preprint and its journal version.
#
# Broder: On the resemblance and containment of documents, SEQUENCES 1997: the resemblance of two texts is the share
# of their shingles (here three words in a row) that they have in common. Candidates are papers of one title, and
# those whose sketches agree in a band of minima (Leskovec, Rajaraman and Ullman: Mining of Massive Datasets, 2020,
# chapter 3); what counts is the resemblance of their shingles themselves.
#
# Of the fourteen pairs of one title among CSFCube's papers nine are one paper twice, with a resemblance of 0.61 or
# more, and five are two papers, with 0.13 or less.
# ----------------------------------------------------------------------------------------------------------------------


WORDS = 3
"""Words in a shingle."""
RESEMBLANCE = 0.9
"""Resemblance from which two texts are nearly the same."""
OF_ONE_TITLE = 0.5
"""Resemblance from which two abstracts are nearly the same if the normalised titles are equal."""
BANDS, ROWS = 8, 4
"""A pair at 0.9 is a candidate with a chance of 0.9998, one at 0.3 with 0.06."""
_FIRST_ALONE, _LAST_ALONE = 0xE3, 0xE9
"""First bytes, in UTF-8, of the characters U+3000 to U+9FFF, which are written without spaces between words."""
CROWD = 50
"""Size of a group of candidates above which each is compared only with the next one."""
SETTINGS = [WORDS, RESEMBLANCE, OF_ONE_TITLE, BANDS, ROWS, _FIRST_ALONE, _LAST_ALONE]
"""The settings that decide which papers are nearly the same."""


class Sketches(NamedTuple):
    """The values by which candidates are found, one entry for each paper."""

    title: NDArray[np.uint64]
    """Hash of the normalised title; 0 for none."""
    bands: NDArray[np.uint64]
    """Shape (papers, BANDS); a row of zeros for a paper without a shingle."""
    passage: NDArray[np.bool_]
    """True if its title is that of a document, which other passages have too."""


def shingles(sentences: Any) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The shingles of each paper as hashes, in the order of the text, and where each paper's begin and the last end.

    sentences: pyarrow array of lists of strings without nulls. Words are runs of letters and digits, and single
    characters of Chinese and Japanese; case does not count for ASCII letters, and a word does not go on in the next
    sentence.
    """
    flat = sentences.flatten()
    _, place, text = flat.buffers()
    bounds = np.frombuffer(place, np.int32, len(flat) + 1, flat.offset * 4).astype(np.int64)
    data = np.frombuffer(text or b"", np.uint8)[bounds[0] : bounds[-1]]
    bounds -= bounds[0]
    letters = _letters()[data]
    inside = letters.astype(np.bool_)
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    alone = (data >= _FIRST_ALONE) & (data <= _LAST_ALONE)
    begins |= alone
    # A word of letters after such a character begins where the three bytes of that one end.
    after = np.flatnonzero(alone) + 3
    after = after[after < len(data)]
    begins[after] |= inside[after]
    first = bounds[:-1][bounds[:-1] < len(data)]
    begins[first] |= inside[first]
    starts = np.flatnonzero(begins)
    lists = numbers(sentences.value_lengths()).astype(np.int64)
    in_sentence = np.diff(np.searchsorted(starts, bounds))
    paper = np.repeat(np.repeat(np.arange(len(sentences)), lists), in_sentence)
    words = _word_hashes(letters, starts)
    hashes: NDArray[np.uint64] = np.zeros(max(0, len(words) - WORDS + 1), np.uint64)
    for offset in range(WORDS):
        hashes = _mixed(hashes * np.uint64(0x9E3779B97F4A7C15) + words[offset : offset + len(hashes)])
    whole = np.flatnonzero(paper[: len(hashes)] == paper[len(paper) - len(hashes) :])
    return hashes[whole], np.searchsorted(paper[whole], np.arange(len(sentences) + 1))


def sketch(hashes: NDArray[np.uint64], bounds: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Bands of each paper, shape (papers, BANDS), from the result of `shingles`."""
    bands = np.zeros((len(bounds) - 1, BANDS), np.uint64)
    some = np.flatnonzero(np.diff(bounds))
    if not len(some):
        return bands
    factors = np.random.default_rng(1997).integers(1, 2**63, BANDS * ROWS, dtype=np.uint64) * 2 + 1
    for index, factor in enumerate(factors):
        least = np.minimum.reduceat(_mixed(hashes * factor), bounds[some])
        band = index // ROWS
        bands[some, band] = _mixed(bands[some, band] * np.uint64(0x9E3779B97F4A7C15) + least) | np.uint64(1)
    return bands


def candidates(sketches: Sequence[Sketches]) -> NDArray[np.int64]:
    """Pairs of papers, by their places over all sketches, shape (pairs, 2), that have a title or a band in common."""
    columns = [[sketch.title for sketch in sketches]]
    columns += [[sketch.bands[:, band] for sketch in sketches] for band in range(BANDS)]
    pairs = [np.array(list(_pairs(np.concatenate(column))), np.int64).reshape(-1, 2) for column in columns]
    return np.unique(np.concatenate(pairs), axis=0)


def groups(
    pairs: NDArray[np.int64], titles: NDArray[np.uint64], sets: Mapping[int, NDArray[np.uint64]]
) -> list[tuple[int, ...]]:
    """The papers that are near-duplicates of one another, directly or through others, each group in order.

    pairs: candidates. titles: hash of each paper's normalised title, 0 where it is not its own. sets: the different
    shingles of each candidate.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    similar = [
        (first, other)
        for first, other in pairs.tolist()
        if resemblance(sets[first], sets[other])
        >= (OF_ONE_TITLE if titles[first] and titles[first] == titles[other] else RESEMBLANCE)
    ]
    members, edges = np.unique(np.array(similar, np.int64).reshape(-1, 2), return_inverse=True)
    edges = edges.reshape(len(similar), 2)
    graph = coo_matrix((np.ones(len(edges)), edges.T), shape=(len(members),) * 2)
    component = connected_components(graph)[1]
    members_by_group = grouped(zip(component.tolist(), members.tolist(), strict=True))
    return sorted(map(tuple, members_by_group.values()))


def resemblance(first: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    """The share of their different shingles that both have; 0 without any."""
    shared = len(np.intersect1d(first, other, assume_unique=True))
    return shared / total if (total := len(first) + len(other) - shared) else 0.0


def passed_over(
    alike: Iterable[Sequence[str]], *, standing: Iterable[str], later: Iterable[str], cited: Iterable[str]
) -> dict[str, str]:
    """Papers that stay out of one version of a pool, each with the near-duplicate that represents it.

    alike: groups of near-duplicates, each in the order of the corpus. standing: what the version has on record;
    later: what came with later ones. Of a group those stay that are standing; where one came later, none, so that it
    comes later again; else one that the query paper cites; else the first.
    """
    recorded, coming, by_citation = set(standing), set(later), set(cited)
    left_out: dict[str, str] = {}
    for group in alike:
        stay = [paper_id for paper_id in group if paper_id in recorded]
        new = [] if stay else [paper_id for paper_id in group if paper_id in coming]
        if not stay and not new:
            stay = [paper_id for paper_id in group if paper_id in by_citation][:1] or list(group[:1])
        left_out |= {paper_id: (*stay, *new)[0] for paper_id in group if paper_id not in stay}
    return left_out


def together(keys: NDArray[np.uint64]) -> list[list[int]]:
    """The places of each key that several have, in order, by key; 0 is no key."""
    order = np.argsort(keys, kind="stable")
    order = order[keys[order] > 0]
    cuts = np.flatnonzero(np.diff(keys[order])) + 1
    starts, ends = np.r_[0, cuts], np.r_[cuts, len(order)]
    is_group = ends - starts > 1
    return [order[start:end].tolist() for start, end in zip(starts[is_group], ends[is_group], strict=True)]


def _pairs(keys: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Pairs of places with one key, the lower first."""
    for crowd in together(keys):
        yield from combinations(crowd, 2) if len(crowd) <= CROWD else pairwise(crowd)


def _letters() -> NDArray[np.uint8]:
    """Table by byte: the small letter of a letter or digit of a word, 0 for anything between words."""
    table = np.zeros(256, np.uint8)
    for byte in range(256):
        if byte >= 128 or chr(byte).isalnum():
            table[byte] = ord(chr(byte).lower()) if byte < 128 else byte
    return table


def _word_hashes(letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    if not len(starts):
        return np.zeros(0, np.uint64)
    # The characters between two words are 0, and add nothing to the first word.
    letters, starts = letters[starts[0] :], (starts - starts[0]).astype(np.int32)
    place = np.arange(len(letters), dtype=np.int32)
    place -= np.repeat(starts, np.diff(starts, append=len(letters)))
    powers = np.cumprod(np.full(256, 0x100000001B3, np.uint64))
    weighted = powers[np.minimum(place, 255)]
    weighted *= letters
    return _mixed(np.add.reduceat(weighted, starts))


def _mixed(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of MurmurHash3, in place: every bit depends on every other."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        hashes ^= hashes >> np.uint64(33)
        hashes *= np.uint64(factor)
    hashes ^= hashes >> np.uint64(33)
    return hashes
