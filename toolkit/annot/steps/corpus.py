"""Papers and citations into the corpus, and pairs whose texts were corrected."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from uuid import uuid4

from annot.base.errors import InputError
from annot.base.names import counted, known_query, sha256_of
from annot.base.parallel import Engine, map_shards
from annot.base.plugins import check_named
from annot.base.records import Advance, Source, grouped
from annot.corpus import adding, paper_ids
from annot.corpus import corpus_facts as facts_of_corpus
from annot.corpus.corpus_filters import SETTING_OF, Rejection, Tally
from annot.corpus.versions import NO_VERSION, BegunVersion, VersionWanted, begin_version
from annot.formats import citation_edges
from annot.formats.corpora import datasets, format_named
from annot.formats.corpora.pieces import Piece, PieceRead, UnreadError, cut_lines
from annot.formats.corpora.sections import HeadingCount, StructuredAbstracts
from annot.judging.exchange.displayed_content import decide
from annot.publishing.report.tables import Column, Columns, sentences
from annot.store import papers, pools
from annot.store.answers import Ruling, read_rulings
from annot.store.citations import ABOUT, FOLDER, IDS_MANIFEST
from annot.store.models import ImportedSource
from annot.store.pools import last_file, read_corpus_versions, read_withdrawn, withdrawn_ids
from annot.store.runs import put_import, read_imports
from annot.study.judged_texts import JudgedTexts, Pair, corrected_versions, judged_texts, paper_topics
from annot.study.outcome import outcome_of
from annot.study.snapshot import export_judgements
from annot.study.workspace import Workspace, check_files, write_file

# ----------------------------------------------------------------------------------------------------------------------
# Papers into the corpus: read, filtered, counted, kept as Parquet.
# ----------------------------------------------------------------------------------------------------------------------


REPORTED = 10
"""Number of examples of each kind to show; all are counted."""
NOTHING_KEPT = "nothing was kept; correct these files or leave them out (`annot corpus add --help` lists the formats)"
SCRATCH = ".adding"
"""Folder in the corpus for papers that were read, until all of them are part of the corpus."""


@dataclass(frozen=True, slots=True)
class AddedPapers:
    """Papers that were read, by their fate."""

    files: tuple[adding.FileRead, ...]
    read: int
    kept: int
    in_corpus: int
    rejected: dict[str, int]
    differing_ids: tuple[str, ...]
    """Repeated ids with other content; the first paper is kept."""
    same_title: tuple[tuple[str, str], ...]
    """Pairs of ids with one normalised title; both are kept."""
    alike_ids: tuple[tuple[str, str], ...]
    """Pairs of ids that differ only in case, Unicode form or ligatures; both are kept."""
    same_paper: tuple[tuple[str, str], ...]
    """Ids of a paper that is kept and of another record of it, from a library, that is not."""
    citations: int
    """Citations by papers of the corpus that the records have."""
    faults: tuple[str, ...]
    """Faults of the first records that cannot be read."""
    rejected_file: str | None
    """File of the records that cannot be read, with the fault of each; None if there are none."""
    cleaned: adding.Cleanings
    """Changes made to the texts of the papers."""
    structured: StructuredAbstracts
    """Number of papers whose abstracts have sections, and the labels of these."""
    sha256: str | None
    limits: dict[str, str]
    """Line of `[corpus]` in annot.toml that left papers out, by reason."""
    corrected: facts_of_corpus.CorrectionSummary
    """The papers that were replaced, and other changes that follow."""
    unreadable: int
    """Records of the files that cannot be read."""
    notes: tuple[tuple[str, int, str], ...]
    """Parts that were left out of records: the number of records, and the first part with its place."""
    retracted: tuple[str, ...]
    """Ids of retracted and withdrawn papers; they are kept."""
    repeated: tuple[tuple[str, int], ...]
    """Sentences that many papers share, with their number."""
    prisma: adding.PrismaNumbers
    lists_file: str | None
    """File of the ids in all these lists; None if there are none, and in a dry run."""
    version: BegunVersion | None = None
    """Version of the corpus that the papers belong to; None if it has only one."""
    still_withdrawn: tuple[str, ...] = ()
    """Ids of papers in the files that were withdrawn before, and stay so."""

    @property
    def finding(self) -> str:
        """Points that a person should check, in words; "" if there are none."""
        if self.unreadable:
            return f"{counted(self.unreadable, 'record')} cannot be read"
        if self.read and not (self.kept or self.prisma.duplicates or self.corrected.papers):
            return f"no paper was kept of {counted(self.read, 'record')}"
        return ""


class VersionContents(NamedTuple):
    """Documents that came and left with a version of the corpus."""

    version: str
    reason: str | None
    papers: int
    withdrawn: int
    words: str
    """Version on whose documents the word vectors were trained by which this one ranks."""


@dataclass(frozen=True, slots=True)
class CorpusContents(facts_of_corpus.CorpusFacts):
    """Contents of the corpus."""

    near_duplicates: tuple[tuple[str, ...], ...]
    """Groups of papers with nearly the same abstract, of which a pool has one."""
    passages: int
    """Number of papers that are passages of documents."""
    files: tuple[adding.FileRead, ...]
    """Additions by file; a file that was added twice is listed once."""
    from_others: int
    """Papers that came otherwise: with a release, or before the files were noted down."""
    versions: tuple[VersionContents, ...] = ()
    """Versions of the corpus, if it has more than one."""


def contents(ws: Workspace, *, advance: Advance) -> CorpusContents:
    """Count the papers and find the near-duplicates among them. Raises MissingInput for an empty corpus."""
    # It imports what makes indexes, which `corpus add` does not need.
    from annot.pools.admission import near_duplicates

    papers.count_papers(ws.corpus)
    facts = facts_of_corpus.corpus_facts(ws)
    alike = near_duplicates(ws, keep=True, advance=advance).texts
    with ws.reading() as session:
        files = adding.files_of(
            adding.merged(
                added.facts.get("files", ()) for added in read_imports(session) if added.what == Source.CORPUS
            )
        )
    return CorpusContents(
        **asdict(facts),
        near_duplicates=alike,
        passages=papers.count_passages(ws.corpus),
        files=files,
        from_others=max(0, facts.papers - sum(file.kept for file in files)),
        versions=_contents_by_version(ws),
    )


def _contents_by_version(ws: Workspace) -> tuple[VersionContents, ...]:
    from annot.ranking.index import trained_version

    with ws.reading() as session:
        versions = read_corpus_versions(session)
        left = Counter(gone.version for gone in read_withdrawn(session).values())
    contents, before, names = [], 0, [version.version for version in versions]
    for version in versions:
        name = version.version
        size = sum(group.papers for group in papers.groups_of(ws.corpus, last_file(versions, name)))
        words = trained_version(ws.settings.word_vectors.trained_in, names, name)
        contents.append(VersionContents(name, version.reason, size - before, left[name], words))
        before = size
    return tuple(contents)


def add(
    ws: Workspace,
    sources: Sequence[str | Path],
    *,
    form: str | None,
    dry_run: bool,
    advance: Advance,
    corrected: str | None = None,
    partial: bool = False,
    version: VersionWanted = NO_VERSION,
) -> AddedPapers:
    """Add the papers of files and of all in folders, or of datasets that `form` knows by name; the same again add none.

    form: None tells the format of each file from its beginning. corrected: why records of the corpus are replaced by
    those of the files that have their ids; None keeps the first. version: that the papers belong to, once pools were
    drawn. Records that cannot be read are counted and
    written aside. Raises InputError, and keeps nothing, if a file or folder has no record that can be read or, unless
    it may be `partial`, more than 20 and one in twenty that cannot; the error names every such file.
    """
    check_named([form or ""], ws.settings.plugins.names)
    by_name = form is not None and format_named(form).by_name
    found = [(str(source), str(source)) for source in sources] if by_name else adding.files_below(map(str, sources))
    folders = dict(found)
    entries, unknown = adding.formats_of([*folders], form, ws.settings.plugins.names)
    readable = {folders[name] for _, name in entries}
    # A file of no format is left out of a folder in which there are others.
    refused = [error for name, error in unknown.items() if folders[name] not in readable]
    try:
        if refused:
            raise refused[0]
        correction, rejects = facts_of_corpus.RecordCorrections(ws, corrected), _rejects(ws, folders, unknown)
        how: Any = {"partial": partial, "dry_run": dry_run, "advance": advance, "version": version}
        return _added(ws, entries, folders, rejects, correction, **how)
    except InputError as error:
        raise _joined_error(error, [*refused, *_unreadable(ws, entries, folders, unknown)]) from None


def _added(
    ws: Workspace,
    entries: list[tuple[str, str]],
    folders: Mapping[str, str],
    rejects: adding.Rejects,
    correction: facts_of_corpus.RecordCorrections,
    *,
    partial: bool,
    dry_run: bool,
    advance: Advance,
    version: VersionWanted,
) -> AddedPapers:
    """Add the papers of files whose formats are known. rejects: records that could not be read, and files left out."""
    names = [name for _, name in entries]
    files = adding.FilesRead(entries, folders)
    engine = Engine.in_place(ws.machine)
    tally, cleaning, headings = Tally(corrects=correction.is_wanted), adding.CleaningCount(), HeadingCount()
    works = any(format_named(form).bibliographic for form, _ in entries)
    _remember_corpus(ws, tally, engine, works=works)
    pending_ids, citations = paper_ids.PendingIds(tally), 0
    shared, retracted = Counter[str](), list[str]()
    before, titles_before = tally.known, len(tally.same_title)
    with ws.reading() as session:
        withdrawn, again = withdrawn_ids(session), set[str]()
    with _scratch(ws.corpus, dry_run) as scratch:
        entries = _joined(entries, scratch, engine, rejects)
        folder = scratch if correction.is_wanted or not dry_run else None
        reader = functools.partial(adding.read_lot, folder=folder, settings=ws.settings, works=works)
        parts = []
        for brought in map_shards(reader, list(enumerate(adding.lots_of(entries))), engine=engine):
            rejects.count(brought.pieces, brought.rejected)
            if (part := brought.keep(tally, cleaning, headings, retracted, correction.tables)) is not None:
                parts.append(part)
            correction.meet(brought.marks.ids)
            again |= withdrawn.intersection(brought.marks.ids.to_pylist() if withdrawn else ())
            pending_ids.take(brought.marks.works, brought.aside)
            files.take(brought.pieces)
            shared.update(brought.sentences)
            advance(tally.read, None)
        rejects.raise_if_unreadable(partial=partial)
        begun = begin_version(ws, version, changed=tally.kept, dry_run=dry_run)
        digest, rejected_file, lists_file, cleaned = None, None, None, cleaning.written(None, "")
        same_title, alike = tally.same_title[titles_before:], tally.alike_ids(before)
        rejected = {_worded(reason, ws): count for reason, count in sorted(tally.rejected.items())} | rejects.counts
        read = tally.read + sum(rejects.counts.values())
        corrected = correction.put_on_record(dry_run=dry_run)
        if not dry_run:
            hashes = {name: _hash_of(name) for name in names}
            content = hashlib.sha256("".join(sorted(hashes.values())).encode()).hexdigest()
            rejected_file = rejects.write(ws.corpus / f"rejected-{content[:12]}.jsonl")
            cleaned = cleaning.written(ws.corpus, content)
            kept_alike = {"kept: same title": same_title, "kept: ids that differ only in spelling": alike}
            if text := adding.id_lists(_lists(ws, tally, retracted) | kept_alike):
                lists_file = str(ws.corpus / f"lists-{content[:12]}.csv")
                write_file(Path(lists_file), text)
            facts = {"read": read, "kept": tally.kept, "rejected": rejected, "cleaned": cleaning.facts}
            facts |= {"files": files.facts(hashes)} | ({"papers_before": before} if before else {})
            facts |= {"sections": headings.facts} if headings.facts else {}
            _remember(ws, content, facts)
            pending_ids.write_ids(ws.corpus, content, scratch)
            correction.write()
            papers.append_parts(ws.corpus, parts)
            digest = facts_of_corpus.write_corpus_manifest(ws) if tally.known else None
            citations = pending_ids.write_citations(ws.corpus, content, names, digest, scratch) if digest else 0
    return AddedPapers(
        files=files.found,
        read=read,
        kept=tally.kept,
        in_corpus=before + tally.kept,
        rejected=rejected,
        differing_ids=tuple(tally.differing),
        same_title=tuple(same_title),
        alike_ids=tuple(alike),
        same_paper=tuple(tally.same_paper),
        citations=citations,
        faults=tuple(rejects.faults),
        rejected_file=rejected_file,
        cleaned=cleaned,
        structured=headings.found,
        sha256=digest,
        limits={
            _worded(reason, ws): f"{name} = {json.dumps(getattr(ws.settings.corpus, name))}"
            for reason, name in SETTING_OF.items()
            if reason in tally.rejected
        },
        corrected=corrected,
        unreadable=rejects.unreadable,
        notes=rejects.notes(),
        retracted=tuple(retracted),
        repeated=adding.shared_sentences(shared, papers=tally.read),
        prisma=adding.prisma_of(read, tally.rejected, tally.kept),
        lists_file=lists_file,
        version=begun,
        still_withdrawn=tuple(sorted(again)),
    )


def _remember_corpus(ws: Workspace, tally: Tally, engine: Engine, *, works: bool) -> None:
    """Add the papers of the corpus to the tally; works: also by their other ids."""
    groups = papers.groups_of(ws.corpus) if ws.has_corpus else []
    for known in map_shards(functools.partial(adding.known_marks, works=works), groups, engine=engine):
        tally.remember(known)
    if works:
        paper_ids.know_ids(tally, ws.corpus)


def _lists(ws: Workspace, tally: Tally, retracted: Iterable[str]) -> dict[str, Iterable[tuple[str, ...]]]:
    """Ids of papers that were left out, and of retracted ones, by heading."""
    return {
        **{f"left out: {_worded(reason, ws)}": ids for reason, ids in tally.left_out().items()},
        f"left out: {Rejection.DIFFERING_ID}": [(paper,) for paper in tally.differing],
        f"left out: {Rejection.SAME_PAPER}": [(other, kept) for kept, other in tally.same_paper],
        "kept: retracted or withdrawn": [(paper,) for paper in retracted],
    }


def _worded(reason: Rejection, ws: Workspace) -> str:
    """The reason in the words of the study: a document that is no paper has a text, not an abstract."""
    return "no text" if reason == Rejection.NO_ABSTRACT and not ws.settings.faceted else reason.value


def _rejects(ws: Workspace, folders: Mapping[str, str], unknown: Mapping[str, InputError]) -> adding.Rejects:
    rejects = adding.Rejects(ws.settings.document_word, most_shown=REPORTED, part_of=folders)
    for name, error in unknown.items():
        rejects.leave_out(name, _error_in_short(error))
    return rejects


def _unreadable(
    ws: Workspace, entries: Sequence[tuple[str, str]], folders: Mapping[str, str], unknown: Mapping[str, InputError]
) -> list[InputError]:
    """An error for each file or folder of which no record can be read; each is read up to its first paper.

    Rows of Semantic Scholar are no papers before they are joined.
    """
    pieces = []
    by_source = grouped(
        (folders[name], (form, name)) for form, name in entries if form != datasets.SEMANTIC_SCHOLAR.name
    )
    for whole, files in by_source.items():
        rejects = _rejects(ws, folders, {name: problem for name, problem in unknown.items() if folders[name] == whole})
        try:
            for lot in adding.lots_of(files):
                reading = adding.read_up_to_a_paper(lot, ws.settings)
                rejects.count(reading, None)
                if any(rejects.read for rejects in reading):
                    break
            rejects.raise_if_unreadable(partial=True)
        except InputError as error:
            pieces.append(error)
    return pieces


def _joined_error(error: InputError, others: Iterable[InputError]) -> InputError:
    """The error, joined with the others that report something else."""
    faults = error.faults or (error.message,)
    errors = {other.faults or (other.message,): other for other in others}
    if not {*faults} <= {*chain(*errors)}:
        errors[faults] = error
    if len(errors) == 1:
        return error
    together = [fault for other in errors.values() for fault in other.faults or (_error_in_short(other),)]
    return InputError(f"{len(errors)} files cannot be read", faults=together, hint=NOTHING_KEPT)


def _error_in_short(error: InputError) -> str:
    return f"{error.message}: {error.hint}" if isinstance(error, UnreadError) else error.message


def _joined(
    entries: list[tuple[str, str]], scratch: Path, engine: Engine, rejects: adding.Rejects
) -> list[tuple[str, str]]:
    """The files, with shares of joined rows in place of Semantic Scholar's, after all others."""
    apart = [name for form, name in entries if form == datasets.SEMANTIC_SCHOLAR.name]
    if not apart:
        return entries
    folder = scratch / "shares"
    spreading = functools.partial(datasets.spread_rows, folder=folder, shares=datasets.shares_of(apart))
    for read, rejected in map_shards(spreading, list(enumerate(apart)), engine=engine):
        rejects.count((read,), rejected)
    others = [entry for entry in entries if entry[1] not in apart]
    return [*others, *((datasets.JOINED.name, str(share)) for share in sorted(folder.glob("[0-9][0-9][0-9]")))]


@contextmanager
def _scratch(corpus: Path, dry_run: bool) -> Iterator[Path]:
    """A folder below the corpus, or for a dry run elsewhere; empty at first and gone at the end."""
    if dry_run:
        with TemporaryDirectory(prefix="annot-") as elsewhere:
            yield Path(elsewhere)
        return
    scratch = corpus / SCRATCH
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _hash_of(name: str) -> str:
    return sha256_of(Path(name)) if Path(name).is_file() else hashlib.sha256(name.encode()).hexdigest()


def _remember(ws: Workspace, content: str, facts: Mapping[str, Any]) -> None:
    """Record the papers that were left out of these files. The same files again are no news, unless the
    limits have changed and leave out others."""
    with ws.writing() as session:
        same = [
            added for added in read_imports(session) if (added.what, added.source_sha256) == (Source.CORPUS, content)
        ]
        before = same[0].facts if same else None
        if before is None:
            put_import(session, ImportedSource(Source.CORPUS, content, facts))
        elif _limited(before) != _limited(facts):
            repeated = {reason: count for reason, count in before["rejected"].items() if reason in adding.REPEATED}
            more = {
                "kept": before["kept"] + facts["kept"],
                "rejected": repeated | _limited(facts),
                "cleaned": dict(Counter(before.get("cleaned", {})) + Counter(facts["cleaned"])),
            }
            if "files" in before:
                more["files"] = adding.merged([before["files"], facts["files"]])
            headings = HeadingCount()
            for recorded in (before, facts):
                headings.remember(recorded.get("sections", {}))
            more |= {"sections": headings.facts} if headings.facts else {}
            put_import(session, ImportedSource(Source.CORPUS, content, {**before, **more}))


def _limited(facts: Mapping[str, Any]) -> dict[str, int]:
    """Number of papers left out by a property of theirs, by reason."""
    return {reason: count for reason, count in facts["rejected"].items() if reason not in adding.REPEATED}


# ----------------------------------------------------------------------------------------------------------------------
# Citations into the study: who cites whom, from files too large for memory, for the papers of the corpus.
# ----------------------------------------------------------------------------------------------------------------------


def read_edges(
    piece: Piece, *, corpus: Path, papers: tuple[str, str | None], folder: Path | None
) -> tuple[PieceRead, Path | None]:
    """Read the citations of one piece, and write those of papers of the corpus. Returns the counts, and the path of the
    records that cannot be read.

    papers: the hash of the corpus, and that of the ids by which its papers are known. folder: where the files go; None
    writes none.
    """
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    known = _papers(corpus, *papers)
    name = f"{Path(piece.path).name}-{piece.start:015d}-{uuid4().hex[:8]}"
    read, rejected, writer = PieceRead(piece), folder and folder / f"{name}.jsonl", None
    for edges in citation_edges.edges_of(piece, known.papers_of):
        for place, broken in edges.broken:
            read.reject(read.places + place, broken, rejected)
        read.places += edges.places
        read.read += len(edges.citing)
        by_any = edges.any_ids and known.has_other_ids
        citing = known.named(edges.citing) if by_any else edges.citing
        in_corpus = pyarrow.compute.is_in(citing, value_set=known.own)
        citing, cited = citing.filter(in_corpus), edges.cited.filter(in_corpus)
        table = pyarrow.table({"citing": citing, "cited": known.named(cited) if by_any else cited})
        read.kept += len(table)
        if folder is not None and len(table):
            path = folder / f"{name}.parquet"
            writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema, compression="zstd")
            writer.write_table(table)
    if writer:
        writer.close()
    return read, rejected


@lru_cache(maxsize=1)
def _papers(corpus: Path, _corpus_sha256: str, _ids_sha256: str | None) -> paper_ids.PapersById:
    """The papers of the corpus by their ids; a process keeps them."""
    return paper_ids.PapersById(corpus)


CITATIONS_SCRATCH = ".citations"
"""Folder in the corpus for citations that were read of a file, until the file is complete."""


@dataclass(frozen=True, slots=True)
class CitationsRead:
    """Citations in one file."""

    file: str
    sha256: str
    corpus_sha256: str
    """Hash of the corpus whose papers' citations were kept."""
    ids_sha256: str | None
    """Hash of the other ids of its papers; None if there were none."""
    citations: int
    kept: int
    """Number of citations by papers of the corpus."""
    rejected: dict[str, int]


@dataclass(frozen=True, slots=True)
class AddedCitations:
    """Citations that were read, by their fate."""

    files: tuple[CitationsRead, ...]
    known: tuple[str, ...]
    """Files that were added before, to the same corpus."""
    faults: tuple[str, ...]
    """Faults of the first records that cannot be read."""
    rejected_files: tuple[str, ...]


def add_citations(ws: Workspace, files: Sequence[Path], *, dry_run: bool, advance: Advance) -> AddedCitations:
    """Add the citations of files; a file that was added before is passed over until the corpus has grown.

    Citations are kept where the corpus has the citing paper. Records that cannot be read are counted and written aside.
    Raises InputError if a file is not there or has no citation that can be read; those before it stay added.
    """
    check_files(files)
    digest, ids = facts_of_corpus.recorded_sha256(ws), ws.corpus / IDS_MANIFEST
    papers = (digest, sha256_of(ids) if ids.is_file() else None)
    found, known, faults, rejected_files = [], [], [], []
    for path in files:
        sha256 = sha256_of(path)
        place = ws.corpus / FOLDER / sha256[:16]
        if _hashes_of_folder(place) == papers:
            known.append(str(path))
            continue
        scratch = ws.corpus / CITATIONS_SCRATCH
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            read, rejects = _read(ws, path, sha256, papers, None if dry_run else scratch, advance)
            if not dry_run:
                place.parent.mkdir(exist_ok=True)
                shutil.rmtree(place, ignore_errors=True)
                scratch.replace(place)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        found.append(read)
        faults += rejects.faults
        if read.rejected and not dry_run:
            rejected_files.append(str(place / "rejected.jsonl"))
    if not dry_run:
        paper_ids.write_citations_manifest(ws.corpus, digest)
    return AddedCitations(tuple(found), tuple(known), tuple(faults[:REPORTED]), tuple(rejected_files))


def _read(
    ws: Workspace,
    path: Path,
    sha256: str,
    papers: tuple[str, str | None],
    scratch: Path | None,
    advance: Advance,
) -> tuple[CitationsRead, adding.Rejects]:
    if scratch is not None:
        scratch.mkdir()
    rejects = adding.Rejects("citation", most_shown=REPORTED)
    reader = functools.partial(read_edges, corpus=ws.corpus, papers=papers, folder=scratch)
    citations = kept = 0
    for piece, rejected in map_shards(reader, _pieces(str(path)), engine=Engine.in_place(ws.machine)):
        rejects.count((piece,), rejected)
        citations += piece.read
        kept += piece.kept
        advance(citations, None)
    rejects.raise_if_unreadable(partial=True)
    read = CitationsRead(str(path), sha256, *papers, citations, kept, rejects.counts)
    if scratch is not None:
        rejects.write(scratch / "rejected.jsonl")
        (scratch / ABOUT).write_text(json.dumps(asdict(read), indent=2) + "\n", encoding="utf-8")
    return read, rejects


def _pieces(name: str) -> list[Piece]:
    form = citation_edges.edge_format(name)
    cut = cut_lines if form in (citation_edges.SEMANTIC_SCHOLAR, citation_edges.COLUMNS) else format_named(form).cut
    return [Piece(name, form, start, stop) for start, stop in cut(name)]


def _hashes_of_folder(place: Path) -> tuple[str, str | None] | None:
    """The hashes of the corpus to which the file of this folder was added, and of its other ids; None if it was
    not."""
    try:
        about = json.loads((place / ABOUT).read_text(encoding="utf-8"))
        return str(about["corpus_sha256"]), about.get("ids_sha256")
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


# ----------------------------------------------------------------------------------------------------------------------
# The pairs that were judged before their topic or document was corrected, and the lead's decisions on them.
# ----------------------------------------------------------------------------------------------------------------------


STATES = {
    "waits": "waits for your decision",
    "stays": "stays with the earlier text",
    "again": "judged again on the corrected text",
    "newest": "judged again on the corrected text",
}


@dataclass(frozen=True, slots=True)
class CorrectedPair:
    """An answered pair of which a text was corrected."""

    query_id: str
    doc_id: str
    corrected: tuple[str, ...]
    """Ids of its corrected texts."""
    why: tuple[str, ...]
    """Reason of the latest correction."""
    answers: int
    """Answers on an earlier version that are in force: of assessors."""
    state: str
    decision: str | None
    """Reason of the decision."""


PAIRS = Columns[CorrectedPair](
    [
        Column("query", lambda pair: pair.query_id, "query_id"),
        Column("document", lambda pair: pair.doc_id, "doc_id"),
        Column("corrected", lambda pair: ", ".join(pair.corrected)),
        Column("why", lambda pair: "; ".join(pair.why)),
        Column("answers", lambda pair: pair.answers),
        Column("state", lambda pair: pair.state),
        Column("reason for the decision", lambda pair: pair.decision or "", "decision"),
    ]
)


@dataclass(frozen=True, slots=True)
class TextDecisionResult:
    """Result of a decision."""

    ruling: Ruling
    pairs: tuple[Pair, ...]
    """Pairs that had waited for it."""
    returned: int
    """Answers that go back to their assessors."""


def listing(ws: Workspace) -> tuple[CorrectedPair, ...]:
    """Answered pairs of which a text was corrected, those that wait first."""
    with ws.reading() as session:
        texts = corrected_versions(session)
        topics = paper_topics(session)
        pairs = judged_texts(session).values()
        reasons = {(ruling.query_id, ruling.doc_id): ruling.why for ruling in read_rulings(session)}

    def described(pair: JudgedTexts) -> CorrectedPair:
        ids = [text_id for text_id in (topics.get(pair.query_id, ""), pair.doc_id) if text_id in texts]
        return CorrectedPair(
            *pair.pair,
            corrected=tuple(ids),
            why=tuple(texts[text_id][-1].why or "" for text_id in ids),
            answers=len(pair.answers),
            state=STATES[pair.state],
            decision=None if pair.state == "waits" else reasons.get(pair.pair),
        )

    return tuple(map(described, sorted(pairs, key=lambda pair: (pair.state != "waits", pair.pair))))


def rule(
    ws: Workspace,
    pair: Pair | None,
    *,
    of_text: str | None,
    every: bool,
    ruling: Ruling,
    why: str,
    dry_run: bool,
) -> TextDecisionResult:
    """Decide on one pair, on those that wait because of one corrected text, or on all that wait.

    Raises InputError for a pair or a text that waits for no decision, and without a reason.
    """
    if [pair is not None, of_text is not None, every].count(True) != 1:
        raise InputError(
            "expected QUERY DOC, --of ID or --all", hint="`annot corpus corrected` lists the pairs that wait"
        )
    why = " ".join(why.split())
    if not why:
        raise InputError(f"--{ruling}: empty, expected why you decide so")
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    with ws.writing() as session:
        waiting = [text for text in judged_texts(session).values() if text.state == "waits"]
        if pair is not None:
            known_query(pools.queries_by_id(session), pair[0])
            chosen: Sequence[Pair] = [pair]
        else:
            chosen = [text.pair for text in waiting if every or of_text in text.to_decide]
        if of_text is not None and not chosen:
            raise InputError(
                f"--of {of_text}: no pair waits because of it", hint="`annot corpus corrected` lists the pairs"
            )
        new, returned = decide(session, chosen, ruling, why=why, now=now)
        outcome = outcome_of(session, ws.settings)
        if dry_run:
            session.rollback()
    if not dry_run:
        export_judgements(ws, outcome)
    return TextDecisionResult(ruling, tuple(ruling.pair for ruling in new), len(returned))


def describe(decided: TextDecisionResult) -> str:
    """Sentences on the decisions."""
    return "\n".join(sentences("commands.text_decided", decided=decided))
