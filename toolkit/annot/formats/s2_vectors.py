"""Vectors of papers as Semantic Scholar's embedding datasets hold them: JSON Lines, plain or `.gz`.

Each line has a `corpusid` and a `vector`, numbers in a JSON string (api.semanticscholar.org/datasets). SPECTER has two
versions, which are different spaces: the first is not that of the public model either (github.com/allenai/specter,
issue 24), the second is that of `allenai/specter2`. Which one a file holds is told by a `model` on its lines, where
there is one, or by the name of the dataset in its path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annot.base.errors import InputError
from annot.formats.corpora.cutting import Piece, read_lines
from annot.formats.vector_blocks import ROWS, Block, Tally

SPACES = {"1": "semantic-scholar/specter_v1", "2": "allenai/specter2"}
"""The space of each version of SPECTER."""

_CORPUS_ID = re.compile(rb'"corpusid"\s*:\s*"?(\d+)"?\s*[,}]')
_DATASET = re.compile(r"embeddings-specter_v([12])")


class Spaces:
    """What the files say of the space of their vectors: one at most, or they are refused."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def say(self, space: str, where: str, tally: Tally) -> None:
        """Note that `where` names this space. Raises InputError when another place named another."""
        self._said.setdefault(space, where)
        tally.space = space
        if len(self._said) > 1:
            raise InputError(
                "the files hold two spaces",
                faults=[f"{at}: {one}" for one, at in self._said.items()],
                hint="import each alone",
            )


def read_s2_vectors(path: Path, papers: Collection[str], tally: Tally, spaces: Spaces) -> Iterator[Block]:
    """The rows of these papers; a line of another paper is passed over unparsed.

    Raises InputError when the file is broken off, or names another space than one read before.
    """
    if dataset := _DATASET.search(str(path)):
        spaces.say(SPACES[dataset[1]], str(path), tally)
    ids: list[str] = []
    rows: list[NDArray[np.float64]] = []
    start = 0
    for number, line in enumerate(_lines(path), start=1):
        named = _CORPUS_ID.search(line)
        if not line.strip():
            continue
        if named is not None and named[1].decode() not in papers:
            tally.foreign += 1
            continue
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
            paper_id, vector = str(record["corpusid"]), record["vector"]
            row = np.asarray(json.loads(vector) if isinstance(vector, str) else vector, dtype=np.float64)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            tally.note(f"{where}: not a line of an embedding dataset: {type(error).__name__}: {error}")
            continue
        if row.ndim != 1 or paper_id not in papers:
            tally.note(f"{where}: corpusid {paper_id}, vector {str(vector)[:40]}: expected a paper and its numbers")
            continue
        if isinstance(model := record.get("model"), str):
            spaces.say(_space_of(model), where, tally)
        # A block has one width, so that a row of another begins one, whose place is then told.
        if rows and (len(row) != len(rows[0]) or len(rows) == ROWS):
            yield Block(ids, np.stack(rows), f"{path}:{start}")
            ids, rows = [], []
        start = start if rows else number
        ids.append(paper_id)
        rows.append(row)
    if rows:
        yield Block(ids, np.stack(rows), f"{path}:{start}")


def _space_of(model: str) -> str:
    """The space of a model by its name there: `specter@v0.1.1` is the first SPECTER, `specter_v2` its successor."""
    name = model.lower()
    if not name.startswith("specter"):
        return f"semantic-scholar/{model}"
    return SPACES["2" if re.match("specter_?v?2", name) else "1"]


def _lines(path: Path) -> Iterator[bytes]:
    return (line for _, line in read_lines(Piece(str(path), "", 0, None)))
