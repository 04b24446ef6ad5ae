"""Which papers of a corpus are kept: CSFCube's filters, and duplicates by id and by title."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from annot.records import Paper
from annot.settings import CorpusSettings


class Rejection(StrEnum):
    """Why a paper is not kept, in the order in which the reasons are looked for: the first one counts."""

    DUPLICATE_ID = "id seen before, same content"
    DIFFERING_ID = "id seen before, other content"
    NO_TITLE = "no title"
    NO_ABSTRACT = "no abstract"
    FEW_SENTENCES = "too few sentences"
    MANY_SENTENCES = "too many sentences"
    LONG_SENTENCE = "a sentence too long"
    SHORT_SENTENCES = "all sentences too short"


@dataclass(slots=True)
class Tally:
    """What became of the papers, and what is remembered of those kept: ids, and digests of content and title."""

    read: int = 0
    kept: int = 0
    rejected: Counter[Rejection] = field(default_factory=Counter)
    differing: list[str] = field(default_factory=list)
    """Ids that came again with another title, abstract or year; the first paper is kept."""
    same_title: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of kept ids with one normalised title: the first paper that had it, and this one."""
    _content: dict[str, bytes] = field(default_factory=dict, repr=False)
    _title: dict[bytes, str] = field(default_factory=dict, repr=False)

    def remember(self, paper: Paper) -> None:
        """Know `paper` as kept (one of an earlier `corpus add`), without counting it as read or kept."""
        self._content[paper.paper_id] = _digest(paper.title, *paper.sentences, str(paper.year))
        title = normalised_title(paper.title)
        if title:
            first = self._title.setdefault(_digest(title), paper.paper_id)
            if first != paper.paper_id:
                self.same_title.append((first, paper.paper_id))

    def repeats(self, paper: Paper) -> Rejection | None:
        """The reason when a paper of this id is known already."""
        known = self._content.get(paper.paper_id)
        if known is None:
            return None
        same = known == _digest(paper.title, *paper.sentences, str(paper.year))
        return Rejection.DUPLICATE_ID if same else Rejection.DIFFERING_ID


def filter_papers(papers: Iterable[Paper], settings: CorpusSettings, tally: Tally) -> Iterator[Paper]:
    """The papers to keep, as they come; `tally` counts every one read, kept, and rejected by its first reason.

    Filters: CSFCube's datasheet (3 to 20 sentences, no sentence of over 80 tokens, not all of under 4). Of papers with
    one id the first that passes is kept. Papers with the title of another are kept and reported: a query's twins are
    kept out of its pool, not out of the corpus.
    """
    for paper in papers:
        tally.read += 1
        reason = tally.repeats(paper) or rejection(paper, settings)
        if reason is None:
            tally.kept += 1
            tally.remember(paper)
            yield paper
            continue
        tally.rejected[reason] += 1
        if reason is Rejection.DIFFERING_ID:
            tally.differing.append(paper.paper_id)


def rejection(paper: Paper, settings: CorpusSettings) -> Rejection | None:
    """The first reason not to keep `paper` by itself, or None. Tokens are what white space separates."""
    if not paper.title.strip():
        return Rejection.NO_TITLE
    if not any(sentence.strip() for sentence in paper.sentences):
        return Rejection.NO_ABSTRACT
    if len(paper.sentences) < settings.min_sentences:
        return Rejection.FEW_SENTENCES
    if len(paper.sentences) > settings.max_sentences:
        return Rejection.MANY_SENTENCES
    lengths = [len(sentence.split()) for sentence in paper.sentences]
    if max(lengths) > settings.max_sentence_tokens:
        return Rejection.LONG_SENTENCE
    if max(lengths) < settings.min_sentence_tokens:
        return Rejection.SHORT_SENTENCES
    return None


def normalised_title(title: str) -> str:
    """`title` without what differs between two records of one paper: case, form of characters, all but letters and
    digits. Empty for a title without any; such titles are never taken for the same.

    >>> normalised_title('All You Need is"Love"') == normalised_title("All you need is “love”.")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", title).casefold())
    return "".join(char for char in folded if char.isalnum())


def _digest(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).digest()
