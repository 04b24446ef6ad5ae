"""What the index of a study holds on disk, and which of it the corpus and the settings of today still use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annot.base import storage
from annot.base.errors import MissingInput
from annot.base.threads import in_threads
from annot.ranking.index import lsa_place, places_of, words_place
from annot.ranking.index_parts import WHOLE, averages_name, shards_of
from annot.ranking.wordvectors import UNFINISHED
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Part:
    """A folder or file of the index."""

    path: Path
    used: bool
    """Whether a command would open it, with the corpus and the settings as they are."""
    bytes: int
    made: float
    """When the last of it was written, in seconds since 1970."""


def parts_of(ws: Workspace) -> tuple[Part, ...]:
    """Every part, by path. Raises MissingInput when the corpus is empty."""
    places = places_of(ws, keep=False)
    shards = shards_of(places)
    words = words_place(ws, places)
    used = {WHOLE, lsa_place(places).name, words.name}
    used.add(averages_name(words) if words.is_dir() else UNFINISHED)
    own = places.own("")

    def is_used(path: Path) -> bool:
        if path.parent == own:
            return path.name in used
        # Before the corpus of today is indexed, any shard may still be part of it.
        return (
            path.parent.name == "shards" and not path.name.startswith(".") and (shards is None or path.name in shards)
        )

    found = []
    for path in _folders(places.found):
        found.append(_measured(path, is_used(path)))
        # What a killed build was writing.
        found += [_measured(one, False) for one in path.rglob(".*") if found[-1].used]
    return tuple(sorted(found, key=lambda part: part.path))


def faults_of(ws: Workspace) -> tuple[str, ...]:
    """Every file of the index that is not as it was written, and every shard that is gone.

    Raises MissingInput where there is no index.
    """
    root = ws.cache / "index"
    abouts = sorted(root.rglob(storage.ABOUT))
    if not abouts:
        raise MissingInput(f"{root}: no index", hint="make it with `annot index`")
    gone = [
        f"{root / 'shards' / name}: found no folder, expected a shard of {whole.parent.name}"
        for whole in root.glob(f"corpora/*/{WHOLE}")
        for name in _names(whole / "shards.txt")
        if not (root / "shards" / name).is_dir()
    ]
    folders = [about.parent for about in abouts]
    return (*gone, *(fault for faults in in_threads(storage.faults, folders) for fault in faults))


def damaged(ws: Workspace) -> tuple[Path, ...]:
    """The folders to remove, so that what is not as it was written is made again."""
    folders = sorted(about.parent for about in (ws.cache / "index").rglob(storage.ABOUT))
    return tuple(folder for folder, faults in zip(folders, in_threads(storage.faults, folders), strict=True) if faults)


def _names(path: Path) -> list[str]:
    """The lines of a file; none where it is gone, which its folder tells."""
    return path.read_text(encoding="utf-8").split() if path.is_file() else []


def _folders(root: Path) -> Iterator[Path]:
    """What can be kept or removed by itself: shards, and what belongs to one corpus; whatever else is there, whole."""
    for top in root.glob("*"):
        if top.name == "shards":
            yield from top.glob("*")
        elif top.name == "corpora":
            for corpus in top.glob("*"):
                yield from corpus.glob("*")
        else:
            yield top


def _measured(path: Path, used: bool) -> Part:
    files = [one.stat() for one in (path, *path.rglob("*")) if one.is_file()]
    return Part(path, used, sum(one.st_size for one in files), max((one.st_mtime for one in files), default=0.0))
