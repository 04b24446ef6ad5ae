"""The sets of paper vectors that a study has, each a pooling method and a system under the name of its folder."""

from __future__ import annotations

import difflib

from annot.errors import MissingInput
from annot.ranking import vectors
from annot.ranking.methods import LSA, METHODS
from annot.ranking.vectors import Vectors
from annot.study.workspace import Workspace


def vectors_of(ws: Workspace, name: str) -> Vectors:
    """The vectors in `corpus/vectors/NAME`. Raises MissingInput with the commands that put them there."""
    folder = ws.vectors / name
    if not folder.is_dir():
        near = difflib.get_close_matches(name, (*METHODS, LSA), 1)
        raise MissingInput(
            f"{name}: no vectors at {folder}" + (f"; did you mean {near[0]!r}?" if near else ""),
            hint=f"make them with `annot encode {name}`, import them with `annot vectors import {name} FILES`, "
            f"or leave the method out with --without {name}",
        )
    return vectors.load(folder, hint=f"mend {folder}, or leave the method out with --without {name}")
