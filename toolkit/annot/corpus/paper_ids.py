"""Ids of papers in any spelling, and ids that the study does not have."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, compress, count
from operator import not_
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.base.array_files import distinct_rows, integers_of, mask_of, numbers, strings_of
from annot.base.errors import InputError
from annot.base.libraries import pc, pq, pyarrow
from annot.base.names import OF_PAPERS, OF_TEXTS, StudyVocabulary, counted, few, sha256_of
from annot.base.records import Query
from annot.corpus.corpus_filters import Tally, hashes_of
from annot.formats.cleaning import GLOBAL, IdentifiedRecord, folded_id, typed
from annot.formats.input_files import ByColumn, chosen_rows
from annot.store import citations, papers
from annot.store.papers import known_ids
from annot.study.workspace import read_manifest, write_file, write_manifest

# ----------------------------------------------------------------------------------------------------------------------
# Ids of papers in files: the paper that has an id in any spelling, and ids that the study does not have, which are
# listed with their rows and the likely cause, left out, or kept.
# ----------------------------------------------------------------------------------------------------------------------


class PapersById:
    """The papers of a corpus, as long as it does not change."""

    def __init__(self, corpus: Path) -> None:
        self.own = pyarrow.array(papers.paper_ids(corpus), pyarrow.string())
        """The ids of the papers, a pyarrow array."""
        tables = [citations.read_ids(path) for path in citations.id_files(corpus)]
        present = [table.filter(pc.is_in(table["paper_id"], value_set=self.own)) for table in tables]
        no_rows = pyarrow.table({name: pyarrow.array([], pyarrow.string()) for name in ("paper_id", "id")})
        other_tables = pyarrow.concat_tables([no_rows, *present]).combine_chunks()
        self._others, self._papers = other_tables["id"].combine_chunks(), other_tables["paper_id"].combine_chunks()
        self._bare = pc.replace_substring_regex(self._others, "^[a-z]+:", "")

    @property
    def has_other_ids(self) -> bool:
        """True if any paper is known by another id."""
        return len(self._others) > 0

    def named(self, ids: Any) -> Any:
        """The ids with each other id of a paper replaced by its own. An id of no paper gets its kind if it is a DOI or
        an OpenAlex id, or says its kind. ids: a pyarrow array of strings."""
        papers_found = self._papers_with_ids(ids)
        # Digits alone have no other spelling.
        odd = pc.and_(papers_found.is_null(), pc.match_substring_regex(ids, "[^0-9]"))
        spelled = pc.unique(ids.filter(odd))
        if len(spelled):
            with_kinds = pyarrow.array([_id_with_kind(spelling) for spelling in spelled.to_pylist()], pyarrow.string())
            with_kinds_found = pc.coalesce(self._papers_with_ids(with_kinds), with_kinds)
            papers_found = pc.coalesce(papers_found, with_kinds_found.take(pc.index_in(ids, value_set=spelled)))
        return pc.coalesce(papers_found, ids)

    def paper_of(self, paper_id: str) -> str | None:
        """The id in the corpus of the paper that has this id, however it is spelled; None if no paper has it."""
        (paper,) = self._papers_with_ids(self.named(pyarrow.array([paper_id], pyarrow.string()))).to_pylist()
        return None if paper is None else str(paper)

    def papers_of(self, several: Sequence[Sequence[str]]) -> list[str]:
        """The id in the corpus of each paper, which is given by its ids; its first id if it is not in the corpus."""
        papers_found = iter(
            self._papers_with_ids(
                pyarrow.array([paper_id for ids in several for paper_id in ids], pyarrow.string())
            ).to_pylist()
        )
        by_paper = [[next(papers_found) for _ in ids] for ids in several]
        return [next(filter(None, candidates), ids[0]) for candidates, ids in zip(by_paper, several, strict=True)]

    def _papers_with_ids(self, ids: Any) -> Any:
        """The papers that have these ids, spelled as on record; null for an id of no paper."""
        own_ids = self.own.take(pc.index_in(ids, value_set=self.own))
        kinds, bare = (self._papers.take(pc.index_in(ids, value_set=id_set)) for id_set in (self._others, self._bare))
        return pc.coalesce(own_ids, kinds, bare)


def _id_with_kind(text: str) -> str:
    """The id with its kind, if it is a DOI, an OpenAlex id, or a PMID that is called so."""
    named = (typed(kind, text) for kind in GLOBAL if kind != "pmid" or "pm" in text.lower() or "pub" in text.lower())
    return next(filter(None, named), text)


FOREIGN = ("drop", "keep")
"""Ways to import rows of unknown documents and query papers; None refuses them."""
SHOWN = 3
"""Ids that a note names."""
_MONTH = r"(?:jan|fe[bv]|ma[riy]|mrz|a[pv]r|jui?[nl]|aug|ao|sep|o[ck]t|nov|d[eé][cz])\w*\.?"
"""A month in English, German or French."""
_DATE = re.compile(
    rf"[0-9]{{1,2}}[-./]{{0,2}}{_MONTH}(?:[-./][0-9]{{2,4}})?|{_MONTH}[-./][0-9]{{1,4}}"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T00:00:00)?|[0-9]{1,2}([-./])[0-9]{1,2}\1[0-9]{2,4}",
    re.IGNORECASE,
)
_SCIENTIFIC = re.compile(r"[0-9]+(?:[.,][0-9]+)?E\+?[0-9]{1,2}", re.IGNORECASE)

RowsByFile = Mapping[str, ByColumn]
"""Rows by the file that they are from, as messages call it, with the columns of `FileJudgement`."""


def rows_in_corpus(
    rows: RowsByFile,
    queries: Mapping[str, Query],
    corpus: Path | None,
    *,
    topics: Collection[str],
    foreign: str | None,
) -> tuple[RowsByFile, tuple[str, ...]]:
    """The rows whose documents and query papers are in the corpus, or all of them with `foreign="keep"`, and notes on
    those whose ids are unknown.

    queries: by their name in the rows; without those of unknown topics. corpus: None if there is none, so that
    documents cannot be compared. topics: ids of topics that are texts. foreign: one of `FOREIGN`; None refuses such
    rows. Raises InputError with each unknown id, its rows and the likely cause.
    """
    topic_of = {name: query.topic_id for name, query in queries.items()}
    ids = {*_values(rows, "document"), *topic_of.values()}
    in_corpus = ids if corpus is None else known_ids(corpus, ids)
    known_topics = {*in_corpus, *topics}
    unknown_queries = {name: topic_id for name, topic_id in topic_of.items() if topic_id not in known_topics}
    if foreign == "drop":
        unknown_queries |= {name: name for name in {*_values(rows, "query")} - topic_of.keys()}
    complete, lines = _complete_rows(rows, unknown_queries, in_corpus, OF_TEXTS if topics else OF_PAPERS)
    notes = tuple(_notes_without_corpus(rows)) if corpus is None else ()
    if not lines:
        return rows, notes
    names = list(dict.fromkeys(name for _, name, _ in lines))
    n_ids = counted(len(names), "unknown id")
    left = len(_values(complete, "line"))
    n_rows = counted(len(_values(rows, "line")) - left, "row")
    if foreign is None or (foreign == "drop" and not left):
        remainder = ", so no row is left" if foreign else ""
        raise _unknown_ids_error(f"{', '.join(rows)}: {n_ids}, in {n_rows}{remainder}", lines, corpus)
    some = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    if foreign == "drop":
        return complete, (*notes, f"{n_rows} left out because of {n_ids}: {some}")
    return rows, (*notes, f"{n_ids} kept without a text, so systems cannot rank them: {some}")


def _values(rows: RowsByFile, name: str) -> list[Any]:
    """Values of a column in all files."""
    return [*chain.from_iterable(columns[name] for columns in rows.values())]


UnknownIds = dict[tuple[str, str, str], list[int]]
"""Lines of the rows with each unknown id, by the kind of text, the id, and the file."""


def _complete_rows(
    rows: RowsByFile, unknown_queries: Mapping[str, str], in_corpus: Collection[str], words: StudyVocabulary
) -> tuple[RowsByFile, UnknownIds]:
    """The rows whose query and document are known, and the ids of the others."""
    lines: UnknownIds = {}
    complete: dict[str, ByColumn] = {}
    for file, columns in rows.items():
        pairs = list(zip(columns["query"], columns["document"], strict=True))
        known = [query not in unknown_queries and document in in_corpus for query, document in pairs]
        for (query, document), line in compress(zip(pairs, columns["line"], strict=True), map(not_, known)):
            unknown = [(words.topic, unknown_queries[query])] if query in unknown_queries else []
            unknown += [] if document in in_corpus else [(words.document, document)]
            for noun, name in unknown:
                lines.setdefault((noun, name, file), []).append(line)
        complete[file] = chosen_rows(columns, known)
    return complete, lines


def _unknown_ids_error(message: str, lines: UnknownIds, corpus: Path | None) -> InputError:
    """The error with a fault for each unknown id."""
    causes = _likely_causes((name for _, name, _ in lines), corpus)
    return InputError(
        message,
        faults=[
            f"{file}:{_listed(numbers)}: {noun} {name!r}: not in this study{causes[name]}"
            for (noun, name, file), numbers in lines.items()
        ],
        hint="correct the ids, or add the missing texts first; --foreign drop leaves these rows out, and "
        "--foreign keep imports them without texts",
    )


def _listed(lines: Sequence[int]) -> str:
    return few([*dict.fromkeys(lines)], SHOWN)


def _notes_without_corpus(rows: RowsByFile) -> Iterator[str]:
    yield (
        "the study has no corpus yet, so the ids of documents were not checked; to check them, add the papers with "
        "`annot corpus add` and import the file again"
    )
    odd = {
        name: f"{file}:{line}"
        for file, columns in rows.items()
        for name, line in dict(zip(columns["document"], columns["line"], strict=True)).items()
        if _looks_like(name)
    }
    if odd:
        some = ", ".join(f"{name} ({place})" for name, place in [*odd.items()][:SHOWN])
        yield f"{counted(len(odd), 'id')} may have been changed by a spreadsheet: {some}"


def _likely_causes(names: Iterable[str], corpus: Path | None) -> dict[str, str]:
    """The likely reason why each id is unknown, to print after it; empty without one."""
    known = PapersById(corpus) if corpus else None
    ids: list[str] = known.own.to_pylist() if known else []
    spellings = {short: name for name in ids if name.startswith("0") and (short := name.lstrip("0")).isdecimal()}
    spellings |= {folded_id(name): name for name in ids}
    causes = {}
    for name in names:
        looks = _looks_like(name)
        causes[name] = f"; it looks like {looks} written by a spreadsheet" if looks else ""
        if (alike := spellings.get(folded_id(name))) is not None:
            zeros = name.isdecimal() and alike.isdecimal()
            causes[name] = f"; the corpus has {alike!r}{' (a spreadsheet removes leading zeros)' if zeros else ''}"
        elif known and known.has_other_ids and (paper := known.paper_of(name)):
            causes[name] = f"; it is another id of {paper!r}, which is in the corpus"
    return causes


def _looks_like(name: str) -> str:
    if _SCIENTIFIC.fullmatch(name):
        return "a number in scientific notation"
    return "a date" if _DATE.fullmatch(name) else ""


# ----------------------------------------------------------------------------------------------------------------------
# Other ids and citations in records of libraries, kept next to the corpus.
#
# While files are read, the rows of each lot are in scratch files. When all files are read, the rows are written under
# the ids of the kept papers. A record that was left out as a repetition counts for the paper that it repeats.
# ----------------------------------------------------------------------------------------------------------------------


Known = IdentifiedRecord | None
"""The ids of a record; None if it is not from a library."""


RowsAside = tuple[Path | None, Path | None]
"""Scratch files of one lot, of ids and of citations, with `at`, the position of the record, and `id`; None without
rows."""


class RowWriter(ExitStack):
    """Writes the scratch files of a lot; without a folder, none."""

    def __init__(self, folder: Path | None, name: str) -> None:
        super().__init__()
        self._paths = [folder and folder / f"{name}.{kind}" for kind in ("ids", "cited")]
        self._writers: list[Any] = [None, None]
        self._at = 0

    def add(self, known_papers: Sequence[Known]) -> None:
        """Write the rows of the next records."""
        for number, path in enumerate(self._paths):
            rows = [() if paper is None else (paper.ids, paper.cites)[number] for paper in known_papers]
            if not any(rows) or path is None:
                continue
            places = np.repeat(np.arange(self._at, self._at + len(rows)), [len(row) for row in rows])
            table = pyarrow.table({"at": integers_of(places), "id": strings_of(chain.from_iterable(rows))})
            if self._writers[number] is None:
                writer = pq.ParquetWriter(path, table.schema, compression="zstd")
                self._writers[number] = self.enter_context(writer)
            self._writers[number].write_table(table)
        self._at += len(known_papers)

    @property
    def written(self) -> RowsAside:
        """The paths of the scratch files."""
        ids, cited = (path if writer else None for path, writer in zip(self._paths, self._writers, strict=True))
        return ids, cited


def know_ids(tally: Tally, corpus: Path) -> None:
    """Add the other ids of the corpus's papers to the tally."""
    for path in citations.id_files(corpus):
        table = citations.read_ids(path)
        tally.know(table["paper_id"], hashes_of(table["id"].to_pylist()))


class PendingIds:
    """The rows of all lots, until the papers that are kept are known."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._lots: list[tuple[NDArray[np.uint64], RowsAside]] = []

    def take(self, works: NDArray[np.uint64], rows: RowsAside) -> None:
        """Remember the rows of a lot. works: the works of its records."""
        if rows != (None, None):
            self._lots.append((works, rows))

    def write_ids(self, corpus: Path, content: str, scratch: Path) -> None:
        """Write the other ids of papers that no file has yet, to one that is named after the hash of the files read.

        This comes before the papers: a command that was killed and runs again finds by them what it had added.
        """
        tables = [self._rows_of_papers(works, ids) for works, (ids, _) in self._lots if ids]
        if not tables:
            return
        table = distinct_rows(pyarrow.concat_tables(tables))
        table = _rows_without_hashes(table, _hashed(citations.id_files(corpus), table["paper_id"]))
        if len(table):
            part = scratch / "ids.parquet"
            pq.write_table(table, part, compression="zstd")
            _move_to_free_name(part, corpus / citations.IDS / content[:16])
        _vouch(corpus / citations.IDS_MANIFEST, citations.id_files(corpus), inputs={}, facts={})

    def write_citations(self, corpus: Path, content: str, names: Sequence[str], digest: str, scratch: Path) -> int:
        """Write the citations that no file has yet to where `annot import --as citations` puts them. Returns the number
        of citations, including known ones.

        names: of the files that were read. digest: the hash of the corpus.
        """
        part, n_found, writer = scratch / "cited.parquet", 0, None
        files_before = citations.citation_files(corpus)
        citing = [table["citing"].unique() for table in self._cited()] if files_before else []
        known_hashes = _hashed(files_before, pyarrow.chunked_array(citing, pyarrow.string()))
        with ExitStack() as stack:
            for table in self._cited():
                n_found += len(table)
                if not len(new := _rows_without_hashes(table, known_hashes)):
                    continue
                if writer is None:
                    writer = pq.ParquetWriter(part, table.schema, compression="zstd")
                    stack.enter_context(writer)
                writer.write_table(new)
        place = corpus / citations.FOLDER / content[:16]
        if writer is not None:
            _move_to_free_name(part, place / "cited")
        if files := sorted(place.glob("*.parquet")):
            n_rows = sum(pq.read_metadata(path).num_rows for path in files)
            sources = sorted(Path(name).name for name in names)
            about = (
                json.dumps({"files": sources, "sha256": content, "kept": n_rows}, indent=2, ensure_ascii=False) + "\n"
            )
            if not (path := place / citations.ABOUT).is_file() or path.read_text(encoding="utf-8") != about:
                write_file(path, about)
        if self._lots:
            write_citations_manifest(corpus, digest)
        return n_found

    def _cited(self) -> Iterator[Any]:
        for works, (_, cited) in self._lots:
            if cited:
                table = distinct_rows(self._rows_of_papers(works, cited).rename_columns(["citing", "cited"]))
                if len(table):
                    yield table

    def _rows_of_papers(self, works: NDArray[np.uint64], path: Path) -> Any:
        """The rows with papers in place of records; rows that belong to no paper are left out."""
        # `read_table` imports pandas where that is installed.
        table = pq.ParquetFile(path).read()
        owners = self._tally.owners(works)[numbers(table["at"])]
        table = table.filter(mask_of(owners >= 0))
        ids = self._tally.ids_at(owners[owners >= 0])
        return pyarrow.table({"paper_id": ids, "id": table["id"]})


def write_citations_manifest(corpus: Path, digest: str) -> None:
    """Write the manifest of all citations. digest: the hash of the corpus."""
    ids = corpus / citations.IDS_MANIFEST
    inputs = {f"corpus/{citations.IDS_MANIFEST}": sha256_of(ids)} if ids.is_file() else {}
    facts = {"corpus_sha256": digest}
    _vouch(corpus / citations.MANIFEST, citations.citation_files(corpus), inputs=inputs, facts=facts)


def _vouch(manifest: Path, files: Sequence[Path], *, inputs: Mapping[str, str], facts: Mapping[str, str]) -> None:
    """Write a manifest. One that names the same files and inputs stays as it is, with its facts."""
    if manifest.is_file():
        hashes = {file.relative_to(manifest.parent).as_posix(): sha256_of(file) for file in files}
        written = read_manifest(manifest, hint="add the papers or the citations again")
        if (written.get("files"), written.get("inputs")) == (hashes, inputs):
            return
    if files:
        write_manifest(manifest, files=files, inputs=inputs, facts=facts)


def _move_to_free_name(part: Path, path: Path) -> None:
    """Move the file there under that name, or with the next number if the name is taken."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = (f"{path.name}{f'-{number}' if number > 1 else ''}.parquet" for number in count(1))
    part.replace(next(place for name in names if not (place := path.with_name(name)).exists()))


def _hashed(files: Sequence[Path], first: Any) -> NDArray[np.uint64]:
    """The hashes of the rows of the files whose first column has one of the values of `first`, a pyarrow array."""
    if not files:
        return np.array([], np.uint64)
    needed = first.unique()
    column = "paper_id" if files[0].parent.name == citations.IDS else "citing"
    return np.concatenate([np.array([], np.uint64), *map(_hashes, citations.rows_of(files, column, needed))])


def _rows_without_hashes(table: Any, known_hashes: NDArray[np.uint64]) -> Any:
    """The rows whose hashes are not among these."""
    return table.filter(mask_of(~np.isin(_hashes(table), known_hashes))) if len(known_hashes) else table


def _hashes(table: Any) -> NDArray[np.uint64]:
    first, other = (column.to_pylist() for column in table.columns)
    return hashes_of(f"{first_id}\0{that}" for first_id, that in zip(first, other, strict=True))
