"""The guidelines of a facet: what assessors read, as Markdown, as the project's instructions, as the screen's line."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib.resources import files

from annot.base.errors import InputError
from annot.labelstudio.controls import Screen
from annot.labelstudio.screens import facets_screen, screen_of
from annot.study.workspace import Workspace

LONGEST_DEFINITION = 140
"""Characters; more does not fit the bar of the screen (requirement 9 of the screens)."""

NOT_FOR_ASSESSORS = ("adjudication", "labels", "queries", "sources")
"""Pages for others than assessors: settling, correcting labels, choosing queries, and what is owed to the source."""

OF_ROUNDS = ("full-text", "training")
"""Pages that come before the others where the sub-study shows full texts, and where training shows gold grades."""


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
    own = page(ws, facet)
    definition = definition_of(own)
    if not 0 < len(definition) <= LONGEST_DEFINITION:
        raise InputError(
            f"guidelines/{facet}.md: the definition (first paragraph after the heading) has {len(definition)} "
            f"characters, expected 1 to {LONGEST_DEFINITION}",
            hint="shorten it: the screen shows it above every pair",
        )
    return Guidelines(facet, definition, own)


def shown(ws: Workspace, name: str) -> Guidelines:
    """What `annot guidelines` prints: the page of a facet and the general one, or one of the others."""
    if name in (*NOT_FOR_ASSESSORS, *OF_ROUNDS) and name not in ws.settings.facets:
        return Guidelines(name, "", page(ws, name))
    found = read(ws, name)
    return Guidelines(name, found.definition, f"{found.text.rstrip()}\n\n{page(ws, 'general')}")


def packaged_facets() -> set[str]:
    """The facets for which a page comes with annot."""
    names = [page.name for page in files("annot.study.guideline_pages").iterdir()]
    pages = {name.removesuffix(".md") for name in names if name.endswith(".md")}
    return pages - {"general", *NOT_FOR_ASSESSORS, *OF_ROUNDS}


def screen(ws: Workspace, kind: Screen = "judge") -> str:
    """The labelling configuration of a screen, checked without a server."""
    if kind == "facets":
        return facets_screen(labels=ws.settings.labels.names, overrides=ws.root / "templates")
    words = ws.settings.release.reasons if kind == "adjudicate" else ws.settings.release.comments
    with_opinions = kind == "adjudicate" and ws.settings.adjudication.ratings != "hidden"
    return screen_of(
        kind,
        scale_names=ws.settings.scale.names,
        labels=ws.settings.labels.names,
        language=ws.settings.collection.language,
        opinions=ws.settings.judging.per_pair if with_opinions else 0,
        overrides=ws.root / "templates",
        published=kind in ("judge", "adjudicate") and words != "left out",
    )


def page(ws: Workspace, name: str) -> str:
    """A page of this name, as Markdown; a file in the study's `guidelines/` wins over the package's."""
    path = ws.root / "guidelines" / f"{name}.md"
    if path.is_file():
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not UTF-8 text at byte {error.start}", hint="save it as UTF-8") from None
    packaged = files("annot.study.guideline_pages") / f"{name}.md"
    if not packaged.is_file():
        raise InputError(
            f"guidelines/{name}.md: not in the study", hint=f"write {path}: a heading, the definition, the grades"
        )
    return packaged.read_text(encoding="utf-8")


def definition_of(text: str) -> str:
    """The first paragraph that is not a heading, as one line."""
    for block in text.split("\n\n"):
        lines = [line.strip() for line in block.strip().splitlines() if line.strip() and not line.startswith("#")]
        if lines:
            return " ".join(lines)
    return ""
