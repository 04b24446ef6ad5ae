"""The files that a person adds to the corpus: their formats, and how many papers each of them added."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.base.names import counted
from annot.corpus.corpus_filters import Rejection
from annot.corpus.rejects import PieceRead
from annot.formats.corpora import encoding_in, format_named, format_of
from annot.formats.corpora.semantic_scholar import JOINED, SEMANTIC_SCHOLAR
from annot.formats.spreadsheet import written_sheet
from annot.study.workspace import check_files


def files_below(sources: Iterable[str]) -> list[tuple[str, str]]:
    """The files, each with its source: itself, or the folder that it is in. Hidden files of a folder are left out.

    Raises InputError with every file that is not there, and for a folder without one.
    """
    sources = list(sources)
    check_files(path for path in map(Path, sources) if not path.is_dir())
    files: list[tuple[str, str]] = []
    for source in sources:
        below = _in_folder(source) if Path(source).is_dir() else [source]
        if not below:
            raise InputError(f"{source}: an empty folder, expected files of papers")
        files += [(name, source) for name in below]
    return files


def _in_folder(folder: str) -> list[str]:
    """The files in a folder by their names; links to other folders are not followed."""
    paths = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place, name) for name in names if not name.startswith(".")]
    return sorted(str(path) for path in paths if path.is_file())


def formats_of(names: Sequence[str], form: str | None) -> tuple[list[tuple[str, str]], dict[str, InputError]]:
    """Format and name of each file, and the errors by name of files in no format that is read; without files that
    another one brings."""
    forms: dict[str, str] = {}
    errors: dict[str, InputError] = {}
    brought = set[Path]()
    # A folder that a file brings may have hundreds of thousands of others, and is beside it.
    for name in sorted(names, key=lambda name: name.count(os.sep)):
        if brought and not brought.isdisjoint(Path(name).parents):
            continue
        try:
            forms[name] = format_of(name, form)
        except InputError as error:
            errors[name] = error
        else:
            if (folder := format_named(forms[name]).brings(name)) is not None:
                brought.add(folder)
    return [(forms[name], name) for name in names if name in forms], errors


@dataclass(frozen=True, slots=True)
class FileRead:
    """The counts of one file. The files of Semantic Scholar, whose rows are joined, count as one."""

    name: str
    """The name alone: its folder belongs to a machine."""
    format: str
    encoding: str
    """The encoding of its text if that is not UTF-8; otherwise empty."""
    read: int = 0
    """Records, including those that cannot be read."""
    kept: int = 0
    """Papers that are new in the corpus."""
    without_abstract: int = 0
    without_year: int = 0
    without_id: int = 0
    """Records of a library without an id; their papers get one from title and year."""
    sheet: str = ""
    """The sheet that is read of a workbook with several; otherwise empty."""


_MANY = 100
COUNTS = ("read", "kept", "without_abstract", "without_year", "without_id")


class FilesRead:
    """The counts of all files. files: their formats and names. folders: the folder in whose place a file was read;
    the files of one folder and format count as one."""

    def __init__(self, files: Sequence[tuple[str, str]], folders: Mapping[str, str]) -> None:
        self._names: dict[str, list[str]] = {}
        self._counts: dict[str, FileRead] = {}
        self._key: dict[str, str] = {JOINED.name: JOINED.name}
        for form, name in files:
            encoding, sheet = encoding_in(form, name), format_named(form).sheet(name)
            whole = folders.get(name, name)
            key = JOINED.name if form == SEMANTIC_SCHOLAR.name else name if whole == name else f"{form} {whole}"
            key = " ".join(filter(None, (key, encoding, sheet))) if whole != name else key
            self._key[name] = key
            self._names.setdefault(key, []).append(name)
            self._counts.setdefault(key, FileRead(Path(whole).name or whole, form, encoding, sheet=sheet))
        for key, names in self._names.items():
            file = self._counts[key]
            if folders.get(names[0], names[0]) != names[0] and key != JOINED.name:
                self._counts[key] = replace(file, name=f"{file.name}: {counted(len(names), 'file')}")
            elif len(names) > 1:
                self._counts[key] = replace(file, name=f"{file.name} and {counted(len(names) - 1, 'more file')}")

    def take(self, pieces: Iterable[PieceRead]) -> None:
        """Count the records of these pieces."""
        for piece in pieces:
            key = self._key[JOINED.name if piece.piece.format == JOINED.name else piece.piece.path]
            counts = {name: getattr(piece, name) for name in COUNTS} | {"read": piece.read + piece.broken.total()}
            self._counts[key] = _sum(self._counts[key], counts)

    @property
    def found(self) -> tuple[FileRead, ...]:
        """The counts of each file, in the order in which the files were read."""
        return tuple(self._counts[name] for name in self._names)

    def facts(self, sha256: Mapping[str, str]) -> list[dict[str, Any]]:
        """The counts as the study remembers them; sha256: by name."""
        return [
            asdict(self._counts[key]) | {"sha256": _in_short([sha256[name] for name in names])}
            for key, names in self._names.items()
        ]


def _in_short(hashes: list[str]) -> list[str]:
    """The hashes, or the one of all if there are many."""
    return hashes if len(hashes) < _MANY else [hashlib.sha256("".join(sorted(hashes)).encode()).hexdigest()]


def merged(several: Iterable[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Facts of files. A file that was added again comes once: with all papers that it added, and its other counts of
    the last time."""
    files: dict[tuple[str, ...], dict[str, Any]] = {}
    for facts in several:
        for file in facts:
            key = tuple(file["sha256"])
            earlier = files.get(key, {"name": file["name"], "kept": 0})
            files[key] = {**file, "name": earlier["name"], "kept": earlier["kept"] + file["kept"]}
    return list(files.values())


def files_of(facts: Iterable[Mapping[str, Any]]) -> tuple[FileRead, ...]:
    """Facts of files as records. Facts of another version may have other keys, which are skipped."""
    return tuple(FileRead(**{name: file[name] for name in FileRead.__slots__ if name in file}) for file in facts)


def by_format(files: Iterable[FileRead]) -> dict[str, tuple[int, FileRead]]:
    """The number of files of each format, with the sum of their counts."""
    formats: dict[str, tuple[int, FileRead]] = {}
    for file in files:
        number, total = formats.get(file.format, (0, FileRead("", file.format, "")))
        formats[file.format] = number + 1, _sum(total, asdict(file))
    return formats


def _sum(total: FileRead, counts: Mapping[str, Any]) -> FileRead:
    return replace(total, **{name: getattr(total, name) + counts[name] for name in COUNTS})


REPEATED = (Rejection.DUPLICATE_ID, Rejection.DIFFERING_ID, Rejection.SAME_PAPER)


@dataclass(frozen=True, slots=True)
class PrismaNumbers:
    """The first boxes of a flow diagram (Page et al.: The PRISMA 2020 statement, BMJ 372:n71, figure 1)."""

    identified: int
    duplicates: int
    other_reasons: int
    """Papers left out by the limits of the corpus, or because they cannot be read."""
    to_screen: int


def prisma_of(read: int, rejected: Mapping[Rejection, int], kept: int) -> PrismaNumbers:
    """The numbers of what was read and kept. rejected: of readable papers, by reason."""
    duplicates = sum(rejected.get(reason, 0) for reason in REPEATED)
    return PrismaNumbers(read, duplicates, read - kept - duplicates, kept)


def id_lists(lists: Mapping[str, Iterable[tuple[str, ...]]]) -> str:
    """CSV with one id a row, under the name of its list; `other_id` is the paper that it is compared with. Empty if all
    lists are."""
    rows = [(name, ids[0], ids[1] if len(ids) > 1 else "") for name, several in lists.items() for ids in several]
    return written_sheet([("list", "id", "other_id"), *rows]) if rows else ""


FEWEST, SHARE = 5, 0.01
"""A sentence is shown if at least so many papers have it, and this share of all."""
_ALL = 1_000
"""Papers of a lot; all sentences of a smaller one are counted."""


def common_in_lot(counts: Mapping[str, int], *, papers: int) -> dict[str, int]:
    """The number of papers of each sentence of a lot; of many papers, only of sentences that come again."""
    fewest = 1 if papers < _ALL else 1 + papers // 1_000
    return {sentence: count for sentence, count in counts.items() if count >= fewest}


def shared_sentences(counts: Counter[str], *, papers: int) -> tuple[tuple[str, int], ...]:
    """Sentences that many papers share, perhaps notices that no rule knows, with their numbers; the most frequent
    first."""
    fewest = max(FEWEST, SHARE * papers)
    return tuple((sentence, count) for sentence, count in counts.most_common() if count >= fewest)
