"""The guidelines of a facet: what assessors read, as Markdown, as the project's instructions, as the screen's line."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from annot.errors import InputError
from annot.labelstudio.screens import judge_screen
from annot.study.workspace import Workspace

LONGEST_DEFINITION = 140
"""Characters; more does not fit the bar of the screen (requirement 9 of the screens)."""

NOT_FOR_ASSESSORS = ("adjudication", "labels", "queries", "sources")
"""Pages for others than assessors: settling, correcting labels, choosing queries, and what is owed to the source."""

OF_ROUNDS = ("full-text", "training")
"""Pages that come before the others where the sub-study shows full texts, and where training shows gold grades."""


class ScreenOf(Protocol):
    """What makes a screen of the study's settings."""

    def __call__(
        self, *, scale_names: Sequence[str], labels: Sequence[str], language: str, overrides: Path | None
    ) -> str: ...


@dataclass(frozen=True, slots=True)
class Guidelines:
    """What is said of one facet. `text` is Markdown."""

    facet: str
    definition: str
    text: str


def read(ws: Workspace, facet: str) -> Guidelines:
    """The guidelines of `facet`; a file in the study's `guidelines/` wins over the package's."""
    if facet not in ws.settings.facets:
        near = difflib.get_close_matches(facet, ws.settings.facets, 1)
        expected = f"did you mean {near[0]}?" if near else f"facets are {', '.join(ws.settings.facets)}"
        raise InputError(f"facet {facet!r}: not in annot.toml; {expected}")
    own = _text(ws, facet)
    definition = definition_of(own)
    if not 0 < len(definition) <= LONGEST_DEFINITION:
        raise InputError(
            f"guidelines/{facet}.md: the definition (first paragraph after the heading) has {len(definition)} "
            f"characters, expected 1 to {LONGEST_DEFINITION}",
            hint="shorten it: the screen shows it above every pair",
        )
    return Guidelines(facet, definition, own)


def shown(ws: Workspace, page: str) -> Guidelines:
    """What `annot guidelines show` prints: the page of a facet and the general one, or one of the others."""
    if page in (*NOT_FOR_ASSESSORS, *OF_ROUNDS) and page not in ws.settings.facets:
        return Guidelines(page, "", _text(ws, page))
    found = read(ws, page)
    return Guidelines(page, found.definition, f"{found.text.rstrip()}\n\n{general(ws)}")


def packaged_facets() -> set[str]:
    """The facets for which a page comes with annot."""
    pages = {page.name.removesuffix(".md") for page in files("annot.guidelines").iterdir() if page.name.endswith(".md")}
    return pages - {"general", *NOT_FOR_ASSESSORS, *OF_ROUNDS}


def general(ws: Workspace) -> str:
    """What holds for every facet, as Markdown."""
    return _text(ws, "general")


def page(ws: Workspace, name: str) -> str:
    """A page that comes before the others in a round of its own, as Markdown."""
    return _text(ws, name)


def adjudication(ws: Workspace) -> str:
    """What adjudicators read before all else, as Markdown."""
    return _text(ws, "adjudication")


def labels(ws: Workspace) -> str:
    """What those read who correct the labels of sentences, as Markdown."""
    return _text(ws, "labels")


def screen(ws: Workspace, made: ScreenOf = judge_screen) -> str:
    """The labelling configuration of the judging screen, or of the screen `made`, checked without a server."""
    return made(
        scale_names=ws.settings.scale.names,
        labels=ws.settings.labels.names,
        language=ws.settings.collection.language,
        overrides=ws.root / "templates",
    )


def _text(ws: Workspace, name: str) -> str:
    path = ws.root / "guidelines" / f"{name}.md"
    if path.is_file():
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not UTF-8 text at byte {error.start}", hint="save it as UTF-8") from None
    packaged = files("annot.guidelines") / f"{name}.md"
    if not packaged.is_file():
        raise InputError(
            f"guidelines/{name}.md: not in the study, and none comes with annot for this facet",
            hint=f"write {path}: a heading, the definition in one line, the grades",
        )
    return packaged.read_text(encoding="utf-8")


def definition_of(text: str) -> str:
    """The first paragraph that is not a heading, as one line."""
    for block in text.split("\n\n"):
        lines = [line.strip() for line in block.strip().splitlines() if line.strip() and not line.startswith("#")]
        if lines:
            return " ".join(lines)
    return ""
