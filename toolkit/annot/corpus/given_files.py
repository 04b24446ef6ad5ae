"""The files that a person gave to be added to the corpus, and the format of each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from annot.base.errors import InputError
from annot.formats.corpora import format_named, format_of
from annot.study.workspace import check_files


def files_below(sources: Iterable[str]) -> list[tuple[str, str]]:
    """The files, each with what was given: itself, or a folder that it is in, of which all that is not hidden counts.

    Raises InputError with every file that is not there, and for a folder without one.
    """
    given = list(sources)
    check_files(path for path in map(Path, given) if not path.is_dir())
    found: list[tuple[str, str]] = []
    for source in given:
        below = _in_folder(source) if Path(source).is_dir() else [source]
        if not below:
            raise InputError(f"{source}: an empty folder, expected files of papers")
        found += [(name, source) for name in below]
    return found


def _in_folder(folder: str) -> list[str]:
    """In the order of their names; links to other folders are not followed."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(place, name) for name in names if not name.startswith(".")]
    return sorted(str(path) for path in found if path.is_file())


def formats_of(names: Sequence[str], form: str | None) -> tuple[list[tuple[str, str]], dict[str, InputError]]:
    """(format, name) of each file, and the errors by name of those that are in no format that is read; without files
    that another one brings."""
    found: dict[str, str] = {}
    errors: dict[str, InputError] = {}
    brought = set[Path]()
    # A folder that a file brings may have hundreds of thousands of others, and is beside it.
    for name in sorted(names, key=lambda name: name.count(os.sep)):
        if brought and not brought.isdisjoint(Path(name).parents):
            continue
        try:
            found[name] = format_of(name, form)
        except InputError as error:
            errors[name] = error
        else:
            if (folder := format_named(found[name]).brings(name)) is not None:
                brought.add(folder)
    return [(found[name], name) for name in names if name in found], errors
