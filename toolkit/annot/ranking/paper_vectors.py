"""The vectors that a study has: of words, imported or trained, and sets of vectors of its papers."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from annot.base.errors import InputError, MissingInput
from annot.base.records import CITED
from annot.base.settings.sections import FileName, PoolSettings
from annot.ranking import vectors, wordvectors
from annot.ranking.methods import METHODS
from annot.ranking.submission import imported_methods
from annot.ranking.systems import SYSTEMS
from annot.ranking.vectors import Vectors
from annot.ranking.wordvectors import WordVectors
from annot.study.workspace import Workspace


def imported_word_vectors(ws: Workspace) -> WordVectors | None:
    """Word vectors that `annot vectors add --words` imported; None if there are none."""
    return wordvectors.load(ws.word_vectors) if ws.word_vectors.is_dir() else None


_FILE_NAME: TypeAdapter[str] = TypeAdapter(FileName)


def vectors_of(ws: Workspace, name: str) -> Vectors:
    """Vectors in `corpus/vectors/NAME`, to be searched. Raises MissingInput with how to add them."""
    folder = ws.vectors / name
    if not folder.is_dir():
        near = difflib.get_close_matches(name, METHODS)
        raise MissingInput(
            f"{name}: no vectors at {folder}" + (f"; did you mean {near[0]!r}?" if near else ""),
            hint=f"make them with `annot vectors add {name} --encoder {name}`, or from files with `annot vectors add "
            f"{name} FILES`; import a run of that engine with `annot pool import`; or leave the method out with "
            f"--without {name}",
        )
    return vectors.load(
        folder, hint=f"correct the files in {folder}, or leave the method out with --without {name}", unread=True
    )


def check_set_name(name: str) -> None:
    """Raise InputError when a set of vectors cannot be called so: it names a folder, a method and a system at once."""
    try:
        _FILE_NAME.validate_python(name)
    except ValidationError:
        raise InputError(f"{name!r}: expected letters, digits, and _ . + - within") from None
    if (name in SYSTEMS and SYSTEMS[name].family != "abstracts") or name in (*METHODS, CITED):
        raise InputError(
            f"{name}: the name of a method that has no vectors", hint="give the vectors a name of their own"
        )


def check_replaceable(ws: Workspace, name: str, space: str, *, encoded: bool) -> None:
    """Raise InputError when the set of this name holds vectors of another space, or of another origin, and if a run
    of another engine draws pools under it.

    encoded: True if an encoder makes the new ones, False if they are imported.
    """
    if name in imported_methods(ws):
        raise InputError(f"{name}: the name of an imported run", hint="give the vectors a name of their own")
    folder = ws.vectors / name
    about = _about(folder)
    if not about:
        return
    hint = "give the new vectors another name, or remove the folder first"
    if about.get("space") != space:
        raise InputError(
            f"{folder}: vectors of {about.get('space')}, found {space}: vectors of two spaces must not be mixed",
            hint=hint,
        )
    if ("weights_sha256" in about) != encoded:
        origin = "were not encoded here" if encoded else "an encoder made"
        raise InputError(f"{folder}: contains vectors that {origin}; they would be lost", hint=hint)


def only_space(ws: Workspace, name: str) -> str | None:
    """The space of vectors that are imported under this name, if the name alone determines it: the name itself.

    None if it does not: an encoder of several versions has this name, or the set holds vectors of another space.
    """
    recorded = _about(ws.vectors / name).get("space", name)
    return name if recorded == name and name not in SYSTEMS else None


def _about(folder: Path) -> dict[str, Any]:
    """Description of a set; empty if there is no set."""
    path = folder / vectors.ABOUT
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def absent_by_default(ws: Workspace) -> tuple[str, ...]:
    """Methods that a new study lists by default and whose vectors are missing."""
    listed = [name for name in PoolSettings().methods if name not in (*METHODS, CITED)]
    brought = imported_methods(ws)
    return tuple(name for name in listed if not (ws.vectors / name).is_dir() and name not in brought)


def recorded_files(ws: Workspace) -> Iterator[tuple[Path, str, str]]:
    """Files of the sets that were written here, each with its SHA-256 and the record that has it."""
    for about in sorted(ws.vectors.glob(f"*/{vectors.ABOUT}")):
        for name, sha256 in json.loads(about.read_text(encoding="utf-8")).get("files", {}).items():
            yield about.parent / name, sha256, str(about.relative_to(ws.root))
