"""Co-citations: sets of papers that one sentence cites together, with all such sentences, filtered as Aspire does.

Mysore et al. 2022 (Aspire), appendix A: abstracts that pass the filters of CSFCube, sets of 2 or 3 papers to train on
abstracts, of 2 or more for the encoder of sentences. What the paper leaves open is as in its authors' code
(github.com/allenai/aspire, `pre_proc_cocits.py`): contexts of 5 to 60 words with a bracket in them; copies that differ
in digits only count once, and so do several of one citing paper.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from annot.base.errors import Faults, InputError, MissingInput
from annot.formats.citation_edges import CitingText
from annot.formats.json_lines import Strict, read_models

Papers = tuple[str, ...]
"""Ids of papers that were cited together, sorted."""


class Exclusion(StrEnum):
    """Why a context is not kept, in the order in which the reasons are looked for: the first one counts."""

    FIELD = "of another field"
    ALONE = "cites fewer than two papers of the corpus"
    SHORT = "too few words"
    LONG = "too many words"
    UNMARKED = "no bracket around a citation"
    SAME_PAPER = "the citing paper already has a context for these papers"
    COPY = "same words as in another paper"


class Limits(NamedTuple):
    """Which contexts are kept. words: of a context. fields: of the citing paper, one is enough; none are all."""

    fewest_words: int
    most_words: int
    fields: tuple[str, ...]


class CitationContext(NamedTuple):
    """What a paper says where it cites some papers together."""

    citing: str
    text: str


@dataclass(slots=True)
class Cocitations:
    """The contexts of each set of papers, and what was left out."""

    contexts: dict[Papers, list[CitationContext]] = field(default_factory=dict)
    texts: int = 0
    """Full texts read."""
    read: int = 0
    """Contexts read: places that cite something."""
    left_out: Counter[Exclusion] = field(default_factory=Counter)
    unlinked: int = 0
    """Citations without a known paper; the others of their sentence count."""
    not_in_corpus: int = 0
    """Citations of papers that the corpus does not have."""

    @property
    def kept(self) -> int:
        return sum(map(len, self.contexts.values()))


def gather(texts: Iterable[CitingText], corpus: Collection[str], *, limits: Limits) -> Cocitations:
    """The co-citations of papers of the corpus, sets in the order of their ids, contexts in that of the texts.

    corpus: the ids of papers whose abstract is known and passes the filters.
    """
    found = Cocitations()
    sayings: dict[Papers, set[str]] = {}
    citing: set[tuple[Papers, str]] = set()
    for text in texts:
        found.texts += 1
        for context in text.contexts:
            found.read += 1
            found.unlinked += context.unlinked
            papers = tuple(paper_id for paper_id in context.cited if paper_id in corpus)
            found.not_in_corpus += len(context.cited) - len(papers)
            words = re.sub(r"\d", "", context.text)
            reason = _reason(text, context.text, papers, limits)
            if reason is None and (papers, text.paper_id) in citing:
                reason = Exclusion.SAME_PAPER
            if reason is None and words in sayings.setdefault(papers, set()):
                reason = Exclusion.COPY
            if reason is not None:
                found.left_out[reason] += 1
                continue
            sayings[papers].add(words)
            citing.add((papers, text.paper_id))
            found.contexts.setdefault(papers, []).append(CitationContext(text.paper_id, context.text))
    found.contexts = dict(sorted(found.contexts.items()))
    return found


def _reason(text: CitingText, said: str, papers: Papers, limits: Limits) -> Exclusion | None:
    words = len(said.split())
    if limits.fields and not set(limits.fields) & set(text.fields):
        return Exclusion.FIELD
    if len(papers) < 2:
        return Exclusion.ALONE
    if words < limits.fewest_words:
        return Exclusion.SHORT
    if words > limits.most_words:
        return Exclusion.LONG
    return None if re.search(r"[()\[\]]", said) else Exclusion.UNMARKED


def context_record(cited_together: tuple[Papers, Sequence[CitationContext]]) -> dict[str, object]:
    """A set of papers with its contexts as a line of the file has them."""
    papers, said = cited_together
    return {"papers": papers, "contexts": [one._asdict() for one in said]}


def read_contexts(path: Path) -> dict[Papers, list[CitationContext]]:
    """The contexts of each set of papers in a file. Raises InputError with every fault."""
    if not path.is_file():
        problem = "a folder, expected a file" if path.is_dir() else "no such file"
        raise MissingInput(f"{path}: {problem}", hint="make it with `annot encoder contexts`")
    faults = Faults(str(path))
    found: dict[Papers, list[CitationContext]] = {}
    with path.open(encoding="utf-8") as lines:
        for _, line in read_models(lines, faults, _ContextLine):
            found[tuple(line.papers)] = line.contexts
    faults.raise_if_any(hint="expected what `annot encoder contexts` writes")
    if not found:
        raise InputError(f"{path}: no context", hint="`annot encoder contexts` prints what it left out, and why")
    return found


class _ContextLine(Strict):
    papers: list[str]
    contexts: list[CitationContext]
