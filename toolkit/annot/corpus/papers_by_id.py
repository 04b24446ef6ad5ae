"""Ids of papers in files: the paper that has an id in any spelling, and ids that the study does not have, which are
listed with their rows and the likely cause, left out, or kept."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.errors import InputError
from annot.base.names import called, counted
from annot.base.records import Query
from annot.formats.judgements_file import FileJudgement
from annot.formats.same_work import GLOBAL, folded_id, typed
from annot.store import citations, papers
from annot.store.papers import known_ids


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


FOREIGN = ("drop", "keep")
"""What can be done with rows of unknown documents and query papers, apart from refusing them."""
SHOWN = 3
"""Ids that a note names."""
MONTHS = {
    **{"JAN": "jan", "FEB": "fe[bv]", "MAR": "mar|mrz", "APR": "a[pv]r", "MAY": "ma[iy]", "JUN": "juin|jun"},
    **{"JUL": "juil|jul", "AUG": "aug|ao", "SEP": "sep", "OCT": "o[ck]t", "NOV": "nov", "DEC": "d[eé][cz]"},
}
"""How months begin in English, German and French."""
_MONTH = rf"(?P<month>(?:{'|'.join(MONTHS.values())})\w*)\.?"
_DATE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<day>[0-9]{{1,2}})[-./]{{0,2}}{_MONTH}(?:[-./][0-9]{{2,4}})?",
        rf"{_MONTH}[-./](?P<day>[0-9]{{1,4}})",
        r"[0-9]{4}-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?:T00:00:00)?",
        r"(?P<day>[0-9]{1,2})(?P<sep>[-./])(?P<month>[0-9]{1,2})(?P=sep)[0-9]{2,4}",
    )
)
_SCIENTIFIC = re.compile(r"([0-9]+(?:[.,][0-9]+)?)E\+?([0-9]{1,2})", re.IGNORECASE)

RowsByFile = Mapping[str, Sequence[FileJudgement]]
"""Rows by the file that they are from, as messages call it."""


class CheckedRows(NamedTuple):
    """The rows to import, and notes on those whose ids are unknown."""

    rows: RowsByFile
    notes: tuple[str, ...]


def rows_in_corpus(
    rows: RowsByFile,
    queries: Mapping[str, Query],
    corpus: Path | None,
    *,
    topics: Collection[str],
    foreign: str | None,
) -> CheckedRows:
    """The rows whose documents and query papers are in the corpus, or all of them with `foreign="keep"`.

    queries: by their name in the rows; without those of unknown topics. corpus: None if there is none, so that
    documents cannot be compared. topics: ids of topics that are texts. foreign: one of `FOREIGN`; None refuses such
    rows. Raises InputError with each unknown id, its rows and the likely cause.
    """
    topic_of = {name: query.topic_id for name, query in queries.items()}
    wanted = {row.document for several in rows.values() for row in several} | {*topic_of.values()}
    known = wanted if corpus is None else known_ids(corpus, wanted)
    known_queries = {name for name, topic_id in topic_of.items() if topic_id in known or topic_id in topics}
    lines: dict[tuple[str, str, str], list[int]] = {}
    kept: dict[str, list[FileJudgement]] = {}
    for file, row in ((file, row) for file, several in rows.items() for row in several):
        asked = row.query in known_queries or (row.query not in topic_of and foreign != "drop")
        if not asked:
            lines.setdefault((called().topic, topic_of.get(row.query, row.query), file), []).append(row.line)
        if row.document not in known:
            lines.setdefault((called().document, row.document, file), []).append(row.line)
        kept.setdefault(file, []).extend([row] if asked and row.document in known else [])
    notes = tuple(_notes_without_corpus(rows)) if corpus is None else ()
    if not lines:
        return CheckedRows(rows, notes)
    names = list(dict.fromkeys(name for _, name, _ in lines))
    ids = counted(len(names), "unknown id")
    gone = counted(sum(len(several) - len(kept[file]) for file, several in rows.items()), "row")
    if foreign is None or (foreign == "drop" and not any(kept.values())):
        cause_of = LikelyCause(corpus)
        left = ", so no row is left" if foreign else ""
        raise InputError(
            f"{', '.join(rows)}: {ids}, in {gone}{left}",
            faults=[
                f"{file}:{_listed(numbers)}: {noun} {name!r}: not in this study{cause_of(name)}"
                for (noun, name, file), numbers in lines.items()
            ],
            hint="correct the ids, or add the missing texts first; --foreign drop leaves these rows out, and "
            "--foreign keep imports them without texts",
        )
    some = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    if foreign == "drop":
        return CheckedRows(kept, (*notes, f"{gone} left out because of {ids}: {some}"))
    return CheckedRows(rows, (*notes, f"{ids} kept without a text, so systems cannot rank them: {some}"))


def _listed(lines: Sequence[int]) -> str:
    several = [*dict.fromkeys(lines)]
    return ", ".join(map(str, several[:SHOWN])) + (f" and {len(several) - SHOWN} more" if len(several) > SHOWN else "")


def _notes_without_corpus(rows: RowsByFile) -> Iterator[str]:
    yield (
        "the study has no corpus yet, so the ids of documents were not checked; to check them, add the papers with "
        "`annot corpus add` and import the file again"
    )
    odd = {row.document: f"{file}:{row.line}" for file, several in rows.items() for row in several}
    odd = {name: place for name, place in odd.items() if _looks_like(name)}
    if odd:
        some = ", ".join(f"{name} ({place})" for name, place in [*odd.items()][:SHOWN])
        yield f"{counted(len(odd), 'id')} may have been changed by a spreadsheet: {some}"


class LikelyCause:
    """Says why an id may be unknown, by the ids of the corpus that are like it."""

    def __init__(self, corpus: Path | None) -> None:
        self._corpus = corpus

    @cached_property
    def _papers(self) -> PapersById | None:
        return PapersById(self._corpus) if self._corpus else None

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """The ids of the corpus by `folded_id`, and without leading zeros."""
        ids: list[str] = self._papers.own.to_pylist() if self._papers else []
        short = {stripped: name for name in ids if name.startswith("0") and (stripped := name.lstrip("0")).isdecimal()}
        return short | {folded_id(name): name for name in ids}

    def __call__(self, name: str) -> str:
        """The likely cause, to be put behind the id; empty if there is none."""
        if (same := self._spellings.get(folded_id(name))) is not None:
            zeros = name.isdecimal() and same.isdecimal()
            return f"; the corpus has {same!r}{' (a spreadsheet removes leading zeros)' if zeros else ''}"
        if self._papers and self._papers.has_other_ids and (paper := self._papers.paper_of(name)):
            return f"; it is another id of {paper!r}, which is in the corpus"
        if not (looks := _looks_like(name)):
            return ""
        meant = next((self._spellings[key] for key in map(folded_id, _before(name)) if key in self._spellings), None)
        return f"; it looks like {looks} written by a spreadsheet{f' (the corpus has {meant!r})' if meant else ''}"


def _looks_like(name: str) -> str:
    if _SCIENTIFIC.fullmatch(name):
        return "a number in scientific notation"
    return "a date" if any(pattern.fullmatch(name) for pattern in _DATE) else ""


def _before(name: str) -> Iterator[str]:
    """Ids that a spreadsheet turns into this one.

    >>> [*_before("1E+05")], "MAR1" in _before("1-Mar"), "3-1" in _before("2031-03-01")
    (['100000'], True, True)
    """
    if number := _SCIENTIFIC.fullmatch(name):
        yield f"{Decimal(number[1].replace(',', '.')).scaleb(int(number[2])):.0f}"
    for date in filter(None, (pattern.fullmatch(name) for pattern in _DATE)):
        day, written = int(date["day"]), date["month"]
        for month, (english, pattern) in enumerate(MONTHS.items(), start=1):
            if re.match(pattern, written, re.IGNORECASE) or (written.isdecimal() and int(written) == month):
                for start in (english, f"{month}", f"{month:02}"):
                    yield from (f"{start}{sep}{end}" for sep in ("", *"-/.") for end in (f"{day}", f"{day:02}"))
                yield from (f"{day}{sep}{month}" for sep in "-/.")
