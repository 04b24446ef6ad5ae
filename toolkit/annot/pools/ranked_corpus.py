"""The papers that the rankings behind the pools were made of, as distinct from papers added to the corpus later.

Papers are added behind the existing ones, in files of their own. So the corpus that was ranked is a beginning of the
current one, and its hash in the manifest of the rankings identifies it.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from annot.base.errors import AnnotError
from annot.base.records import Paper
from annot.corpus.corpus_facts import current_sha256
from annot.corpus.correcting import corrections
from annot.pools.frozen_rankings import CORPORA, rankings_manifest
from annot.store.paper_writing import table_of
from annot.store.papers import beginnings, paper_ids
from annot.study.workspace import Workspace, read_manifest


class RankedCorpus(NamedTuple):
    """Corpus that the rankings on record were made of, compared with the current one."""

    added: tuple[str, ...] = ()
    """The papers that were added after the last ranking, in the order of the corpus: no pool can have drawn them."""
    unknown: tuple[str, ...] = ()
    """Hashes of ranked corpora that are no beginning of the current corpus."""
    found: str = "no corpus"
    """Hash of the current corpus."""
    ranked: str | None = None
    """Hash of the last corpus that was ranked; None without rankings, or if it is no longer known."""
    corrected: tuple[str, ...] = ()
    """The papers that were corrected after they were ranked, by id: their ranks are those of the earlier records."""

    @property
    def differs_by_corrections(self) -> bool:
        """True if the corpus is the one that was ranked but for corrections on record."""
        return bool(self.corrected) and not (self.added or self.unknown)


def ranked_corpus(ws: Workspace) -> RankedCorpus:
    """Compare the corpus with the hashes in the manifest of the rankings. Methods that were added to pools later may
    have ranked a larger corpus than those before them: a paper counts as ranked if one method could have had it."""
    recorded = _recorded(ws)
    if not recorded or not ws.has_corpus:
        return RankedCorpus(unknown=tuple(sorted(recorded)))
    try:
        current = current_sha256(ws, keep=False)
        papers = {current: 0} if recorded == {current} else dict(beginnings(ws.corpus))
    except (AnnotError, OSError, ValueError):
        # pyarrow's errors on a damaged file are of the last two.
        return RankedCorpus(unknown=tuple(sorted(recorded)), found="a damaged file")
    if recorded == {current}:
        return RankedCorpus(found=current, ranked=current)
    corrected: set[str] = set()
    if recorded - papers.keys():
        earlier = _before_corrections(ws)
        for hashes, ids in earlier:
            if recorded & (hashes.keys() - papers.keys()):
                corrected |= ids
        papers = {sha256: count for hashes, _ in earlier for sha256, count in hashes.items()} | papers
    ranked = sorted(papers.keys() & recorded, key=papers.__getitem__)
    added = tuple(islice(paper_ids(ws.corpus), papers[ranked[-1]], None)) if ranked else ()
    unknown = tuple(sorted(recorded - papers.keys()))
    return RankedCorpus(added, unknown, current, ranked[-1] if ranked else None, tuple(sorted(corrected)))


def _before_corrections(ws: Workspace) -> list[tuple[dict[str, int], set[str]]]:
    """Hashes of the corpus before each correction and all later ones, with the papers that these changed."""
    with ws.reading() as session:
        past = corrections(session)
    states = []
    for number in range(len(past)):
        originals: dict[str, Paper] = {}
        for correction in past[number:]:
            originals = {paper.paper_id: paper for paper in correction.before} | originals
        rows = table_of(list(originals.values()), passages=True)
        states.append((dict(beginnings(ws.corpus, rows)), {*originals}))
    return states


def _recorded(ws: Workspace) -> set[str]:
    """Every corpus that a ranking on disk was made of."""
    try:
        manifest = read_manifest(rankings_manifest(ws), hint="")
    except AnnotError:
        return set()
    corpus = manifest.get("inputs", {}).get("corpus")
    later = (about.get("corpus_sha256") for about in manifest.get("methods", {}).values() if isinstance(about, dict))
    return {str(digest) for digest in (corpus, *later, *manifest.get(CORPORA, {}).values()) if digest}
