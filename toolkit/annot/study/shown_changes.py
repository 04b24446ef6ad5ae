"""Changes of annot.toml, the guidelines and the templates since they were sent.

The version on record counts until a push sends the new one with the lead's reason.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.errors import FindingError
from annot.base.records import WHOLE
from annot.store.judgements import is_judged
from annot.store.shown import IMPORTED, OF_SETTINGS, Part, ShownVersion, moved_names, read_versions
from annot.study import guidelines
from annot.study.shown_contents import facet_content
from annot.study.workspace import Workspace

Versions = Mapping[tuple[Part, str], tuple[ShownVersion, ...]]
BACK = "change [scale] names in annot.toml back"


class ShownChange(NamedTuple):
    """One changed content, compared with the record."""

    part: Part
    subject: str
    name: str
    """Name of the changed content, such as `the guidelines of method`."""
    detail: str
    """Old and new value; empty if they are long."""
    refused: str = ""
    """Reason why it cannot be sent, in words; empty if the lead's reason is enough."""

    @property
    def is_plural(self) -> bool:
        """True if the name takes a plural verb."""
        return self.name.startswith(("the names", "the guidelines"))


def changes_of(ws: Workspace, session: Session) -> tuple[ShownChange, ...]:
    """All that has changed since it was sent, or since grades were imported; nothing before that."""
    ws, versions = ws.as_written(), read_versions(session, *OF_SETTINGS)
    return (
        *scale_changes(ws.settings.scale.names, versions, judged=is_judged(session)),
        *_facet_changes(ws, versions),
        *guideline_changes(ws, [facet for part, facet in versions if part == "guidelines"], versions),
        *(change for part, kind in versions if part == "screen" for change in screen_changes(ws, kind, versions)),
    )


def scale_changes(names: Sequence[str], versions: Versions, *, judged: bool) -> Iterator[ShownChange]:
    """The names of the grades in annot.toml against those that were sent, or else those of the first import."""
    sent = versions.get(("scale", "")) or versions.get(("scale", IMPORTED))
    if sent is None:
        return
    recorded = json.loads(sent[-1].body)
    if list(names) == recorded:
        return
    if len(names) != len(recorded):
        yield ShownChange(
            *("scale", "", "the number of grades", f"{len(recorded)} on record, {len(names)} in annot.toml"),
            refused="the number of grades is fixed by the first push or the first imported grade",
        )
    elif (moved := moved_names(recorded, names)) and judged:
        yield ShownChange(
            *("scale", "", "the order of the grades", _pairs(recorded, names)),
            refused=f"a grade that was given means what was shown: {', '.join(moved)} would change places",
        )
    elif ("scale", "") in versions:
        yield ShownChange("scale", "", "the names of the grades", _pairs(recorded, names))


def guideline_changes(ws: Workspace, facets: Iterable[str], versions: Versions) -> Iterator[ShownChange]:
    """The guidelines of these facets that are no longer those that were sent last."""
    for facet in sorted(facets):
        sent = versions.get(("guidelines", facet))
        if not (sent and facet in {**ws.settings.facets, WHOLE: ()}):
            continue
        # Both ways, as no corpus is read here.
        if sent[-1].body not in (guidelines.shown(ws, facet, examples=with_them).text for with_them in (True, False)):
            yield ShownChange("guidelines", facet, f"the guidelines{'' if facet == WHOLE else f' of {facet}'}", "")


def screen_changes(ws: Workspace, kind: str, versions: Versions) -> Iterator[ShownChange]:
    """Changes of the study's own templates and the section [screen] since a screen was rendered."""
    screen: Any = kind
    if ("screen", kind) not in versions:
        return
    sent = json.loads(versions["screen", kind][-1].body)["inputs"]
    current = guidelines.screen_inputs(ws, screen)
    old_templates, new_templates = sent["templates"], current["templates"]
    for name in sorted({*old_templates, *new_templates}):
        if old_templates.get(name) != new_templates.get(name):
            how = "removed" if name not in new_templates else "new" if name not in old_templates else ""
            yield ShownChange("screen", kind, f"the template {name}", how)
    if sent["screen"] != current["screen"]:
        names = [name for name in current["screen"] if current["screen"][name] != sent["screen"].get(name)]
        pairs = [f"{name} {sent['screen'].get(name)}, now {current['screen'][name]}" for name in names]
        yield ShownChange("screen", kind, "[screen] in annot.toml", "; ".join(pairs))


def refuse_unexplained(changes: Iterable[ShownChange], why: str | None) -> None:
    """Raise FindingError for changes that cannot be sent, and for changes without a reason. why: the lead's."""
    why = (why or "").strip()
    distinct = list({(change.name, change.detail): change for change in changes}.values())
    if refused := [change for change in distinct if change.refused]:
        faults = [f"{change.refused} ({change.detail})" for change in refused]
        raise FindingError(f"{in_words(refused)}; nothing was sent", faults=faults, hint=BACK)
    if distinct and not why:
        raise FindingError(
            in_words(distinct),
            faults=[f"{change.name}: {change.detail}" for change in distinct if change.detail],
            hint='send what is new with `annot push --changed "WHY"`, or change it back',
        )


def in_words(changes: Sequence[ShownChange]) -> str:
    """Sentence that these have changed since they were sent."""
    names = [change.name for change in changes]
    if len(names) == 1 and not changes[0].is_plural:
        return f"{names[0]} has changed since it was sent"
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
    return f"{listed} have changed since they were sent"


def _facet_changes(ws: Workspace, versions: Versions) -> Iterator[ShownChange]:
    """Facets on record that have other labels in annot.toml, or are missing there."""
    for (part, facet), sent in versions.items():
        if part != "facet" or facet == WHOLE:
            continue
        recorded = json.loads(sent[-1].body)
        current = json.loads(facet_content(ws, facet)) if facet in ws.in_file.facets else None
        if recorded != current:
            yield ShownChange(
                "facet", facet, f"the facet {facet}", f"{_labels(recorded)} on record, {_labels(current)} now"
            )


def _labels(labels: Collection[str] | None) -> str:
    return "removed" if labels is None else ", ".join(labels) or "no label"


def _pairs(recorded: Sequence[str], names: Sequence[str]) -> str:
    pairs = enumerate(zip(recorded, names, strict=True))
    return "; ".join(f"{grade} {old}, now {new}" for grade, (old, new) in pairs if old != new)
