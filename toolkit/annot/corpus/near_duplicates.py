"""Papers with nearly the same abstract, such as a preprint and its journal version.

Broder: On the resemblance and containment of documents, SEQUENCES 1997: the resemblance of two texts is the share of
their shingles (here three words in a row) that they have in common. Candidates are papers of one title, and those whose
sketches agree in a band of minima (Leskovec, Rajaraman and Ullman: Mining of Massive Datasets, 2020, chapter 3);
what counts is the resemblance of their shingles themselves.

Of the fourteen pairs of one title among CSFCube's papers nine are one paper twice, with a resemblance of 0.61 or more,
and five are two papers, with 0.13 or less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.records import grouped

WORDS = 3
"""In a shingle."""
RESEMBLANCE = 0.9
"""From this resemblance on, two texts are nearly the same."""
OF_ONE_TITLE = 0.5
"""The same for two papers of one normalised title."""
BANDS, ROWS = 8, 4
"""A pair at 0.9 is a candidate with a chance of 0.9998, one at 0.3 with 0.06."""
CROWD = 50
"""In a larger group of candidates, each is compared only with the next one."""
SETTINGS = [WORDS, RESEMBLANCE, OF_ONE_TITLE, BANDS, ROWS]
"""The settings that decide which papers are nearly the same."""


class Sketches(NamedTuple):
    """The values by which candidates are found, one entry for each paper."""

    title: NDArray[np.uint64]
    """Hash of the normalised title; 0 for none."""
    bands: NDArray[np.uint64]
    """Shape (papers, BANDS); a row of zeros for a paper without a shingle."""
    passage: NDArray[np.bool_]
    """Whether its title is that of a document, which other passages have too."""


def shingles(sentences: Any) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The shingles of each paper as hashes, in the order of the text, and where each paper's begin and the last end.

    sentences: pyarrow array of lists of strings without nulls. Words are runs of letters and digits; case does not
    count for ASCII letters, and a word does not go on in the next sentence.
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
    first = bounds[:-1][bounds[:-1] < len(data)]
    begins[first] |= inside[first]
    starts = np.flatnonzero(begins)
    lists = sentences.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    of_sentence = np.repeat(np.arange(len(sentences)), lists)
    paper = of_sentence[np.searchsorted(bounds, starts, "right") - 1] if len(starts) else starts
    words = _word_hashes(letters, inside, starts)
    whole = np.arange(max(0, len(words) - WORDS + 1))
    whole = whole[paper[whole] == paper[whole + WORDS - 1]]
    hashes: NDArray[np.uint64] = np.zeros(len(whole), np.uint64)
    for at in range(WORDS):
        hashes = _mixed(hashes * np.uint64(0x9E3779B97F4A7C15) + words[whole + at])
    return hashes, np.searchsorted(paper[whole], np.arange(len(sentences) + 1))


def sketch(hashes: NDArray[np.uint64], bounds: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The bands of each paper, shape (papers, BANDS), from what `shingles` returns."""
    bands = np.zeros((len(bounds) - 1, BANDS), np.uint64)
    some = np.flatnonzero(np.diff(bounds))
    if not len(some):
        return bands
    factors = np.random.default_rng(1997).integers(1, 2**63, BANDS * ROWS, dtype=np.uint64) * 2 + 1
    for at, factor in enumerate(factors):
        least = np.minimum.reduceat(_mixed(hashes * factor), bounds[some])
        band = at // ROWS
        bands[some, band] = _mixed(bands[some, band] * np.uint64(0x9E3779B97F4A7C15) + least) | np.uint64(1)
    return bands


def candidates(sketches: Sequence[Sketches]) -> NDArray[np.int64]:
    """Pairs of papers, by their places over all sketches, shape (pairs, 2), that have a title or a band in common."""
    columns = [[one.title for one in sketches]]
    columns += [[one.bands[:, band] for one in sketches] for band in range(BANDS)]
    found = [np.array(list(_pairs(np.concatenate(column))), np.int64).reshape(-1, 2) for column in columns]
    return np.unique(np.concatenate(found), axis=0)


def groups(
    pairs: NDArray[np.int64], titles: NDArray[np.uint64], sets: Mapping[int, NDArray[np.uint64]]
) -> list[tuple[int, ...]]:
    """The papers that are near-duplicates of one another, directly or through others, each group in order.

    pairs: candidates. titles: hash of each paper's normalised title, 0 where it is not its own. sets: the different
    shingles of each candidate.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    same = [
        (one, other)
        for one, other in pairs.tolist()
        if resemblance(sets[one], sets[other])
        >= (OF_ONE_TITLE if titles[one] and titles[one] == titles[other] else RESEMBLANCE)
    ]
    members, edges = np.unique(np.array(same, np.int64).reshape(-1, 2), return_inverse=True)
    edges = edges.reshape(len(same), 2)
    graph = coo_matrix((np.ones(len(edges)), edges.T), shape=(len(members),) * 2)
    component = connected_components(graph)[1]
    found = grouped(zip(component.tolist(), members.tolist(), strict=True))
    return sorted(map(tuple, found.values()))


def resemblance(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    """The share of their different shingles that both have; 0 without any."""
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / total if (total := len(one) + len(other) - shared) else 0.0


def passed_over(
    alike: Iterable[Sequence[str]], *, standing: Iterable[str], later: Iterable[str], cited: Iterable[str]
) -> dict[str, str]:
    """For one version of a pool, the papers that stay out of it, each with the near-duplicate that stands for it.

    alike: groups of near-duplicates, each in the order of the corpus. standing: what the version has on record;
    later: what came with later ones. Of a group those stay that are standing; where one came later, none, so that it
    comes later again; else one that the query paper cites; else the first.
    """
    recorded, coming, by_citation = set(standing), set(later), set(cited)
    out: dict[str, str] = {}
    for group in alike:
        stay = [one for one in group if one in recorded]
        came = [] if stay else [one for one in group if one in coming]
        if not stay and not came:
            stay = [one for one in group if one in by_citation][:1] or list(group[:1])
        out |= {one: (*stay, *came)[0] for one in group if one not in stay}
    return out


def together(keys: NDArray[np.uint64]) -> list[list[int]]:
    """The places of each key that several have, in order, by key; 0 is no key."""
    order = np.argsort(keys, kind="stable")
    order = order[keys[order] > 0]
    cuts = np.flatnonzero(np.diff(keys[order])) + 1
    starts, ends = np.r_[0, cuts], np.r_[cuts, len(order)]
    several = ends - starts > 1
    return [order[start:end].tolist() for start, end in zip(starts[several], ends[several], strict=True)]


def _pairs(keys: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Pairs of places with one key, the lower first."""
    for crowd in together(keys):
        yield from combinations(crowd, 2) if len(crowd) <= CROWD else pairwise(crowd)


def _letters() -> NDArray[np.uint8]:
    """By byte: a letter or digit of a word as a small letter, 0 for what lies between words."""
    table = np.zeros(256, np.uint8)
    for byte in range(256):
        if byte >= 128 or chr(byte).isalnum():
            table[byte] = ord(chr(byte).lower()) if byte < 128 else byte
    return table


def _word_hashes(
    letters: NDArray[np.uint8], inside: NDArray[np.bool_], starts: NDArray[np.int64]
) -> NDArray[np.uint64]:
    if not len(starts):
        return np.zeros(0, np.uint64)
    at = np.flatnonzero(inside)
    word = np.searchsorted(starts, at, "right") - 1
    powers = np.cumprod(np.full(256, 0x100000001B3, np.uint64))
    weighted = letters[at] * powers[np.minimum(at - starts[word], 255)]
    return _mixed(np.add.reduceat(weighted, np.searchsorted(at, starts)))


def _mixed(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of MurmurHash3: every bit depends on every other."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(33))
