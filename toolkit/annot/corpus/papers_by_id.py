"""Which paper of the corpus has an id, in any spelling: its own id or another one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annot.formats.same_work import GLOBAL, typed
from annot.store import citations, papers


class PapersById:
    """The papers of a corpus, as long as it does not change."""

    def __init__(self, corpus: Path) -> None:
        import pyarrow
        import pyarrow.compute

        self.own = pyarrow.array(papers.paper_ids(corpus), pyarrow.string())
        """The ids of the papers, a pyarrow array."""
        tables = [citations.read_ids(path) for path in citations.id_files(corpus)]
        there = [table.filter(pyarrow.compute.is_in(table["paper_id"], value_set=self.own)) for table in tables]
        no_rows = pyarrow.table({name: pyarrow.array([], pyarrow.string()) for name in ("paper_id", "id")})
        others = pyarrow.concat_tables([no_rows, *there]).combine_chunks()
        self._others, self._papers = others["id"].combine_chunks(), others["paper_id"].combine_chunks()
        self._bare = pyarrow.compute.replace_substring_regex(self._others, "^[a-z]+:", "")

    @property
    def has_other_ids(self) -> bool:
        """Whether any paper is known by another id."""
        return len(self._others) > 0

    def named(self, ids: Any) -> Any:
        """The ids with each other id of a paper replaced by its own. An id of no paper gets its kind if it is a DOI or
        an OpenAlex id, or says its kind. ids: a pyarrow array of strings."""
        import pyarrow
        import pyarrow.compute

        found = self._found(ids)
        # Digits alone have no other spelling.
        odd = pyarrow.compute.and_(found.is_null(), pyarrow.compute.match_substring_regex(ids, "[^0-9]"))
        spelled = pyarrow.compute.unique(ids.filter(odd))
        if len(spelled):
            with_kinds = pyarrow.array([_with_kind(one) for one in spelled.to_pylist()], pyarrow.string())
            known = pyarrow.compute.coalesce(self._found(with_kinds), with_kinds)
            found = pyarrow.compute.coalesce(found, known.take(pyarrow.compute.index_in(ids, value_set=spelled)))
        return pyarrow.compute.coalesce(found, ids)

    def paper_of(self, one: str) -> str | None:
        """The id in the corpus of the paper that has this id, however it is spelled; None if no paper has it."""
        import pyarrow

        (found,) = self._found(self.named(pyarrow.array([one], pyarrow.string()))).to_pylist()
        return None if found is None else str(found)

    def papers_of(self, several: Sequence[Sequence[str]]) -> list[str]:
        """The id in the corpus of each paper, which is given by its ids; its first id if it is not in the corpus."""
        import pyarrow

        found = iter(self._found(pyarrow.array([one for ids in several for one in ids], pyarrow.string())).to_pylist())
        there = [[next(found) for _ in ids] for ids in several]
        return [next(filter(None, known), ids[0]) for known, ids in zip(there, several, strict=True)]

    def _found(self, ids: Any) -> Any:
        """The papers that have these ids, spelled as on record; null for an id of no paper."""
        import pyarrow.compute

        own = self.own.take(pyarrow.compute.index_in(ids, value_set=self.own))
        kinds, bare = (
            self._papers.take(pyarrow.compute.index_in(ids, value_set=those)) for those in (self._others, self._bare)
        )
        return pyarrow.compute.coalesce(own, kinds, bare)


def _with_kind(text: str) -> str:
    """The id with its kind, if it is a DOI, an OpenAlex id, or a PMID that is called so."""
    named = (typed(kind, text) for kind in GLOBAL if kind != "pmid" or "pm" in text.lower() or "pub" in text.lower())
    return next(filter(None, named), text)
