"""What the assessors were given, as it was sent: guidelines, screen and plan, with the versions that they had."""

from __future__ import annotations

import json
from collections.abc import Mapping

from annot.base.records import Source
from annot.formats.json_lines import json_lines
from annot.judging.planning.drawing import plan_lines
from annot.study import guidelines
from annot.study.shown_versions import changed_versions, numbered, version_record
from annot.study.snapshot import Snapshot

VERSIONS_FILE = "versions.jsonl"
"""What was shown in several versions, a line each."""


def protocol_of(study: Snapshot) -> dict[str, str]:
    """What the assessors were given, by file: guidelines, screen and plan. Of imported judgements none is on record.

    They are those that were sent last, by the record; earlier versions are next to them, numbered as in
    `annot agreement --by guidelines`.
    """
    if Source.LABEL_STUDIO not in study.sources:
        return {}
    sent = {(one.part, one.subject): one for one in numbered(study.shown) if one.in_force}
    screen = sent.get(("screen", "judge"))
    return {
        **_pages_sent(study, {facet: one.body for (part, facet), one in sent.items() if part == "guidelines"}),
        **_earlier(study),
        "screen.xml": json.loads(screen.body)["config"] if screen else guidelines.screen(study.ws),
        "plan.jsonl": plan_lines(study.assignments),
    }


def _pages_sent(study: Snapshot, sent: Mapping[str, str]) -> dict[str, str]:
    """The page of each facet and the general one; if they have changed since, both as they were sent, in one file."""
    facets = sorted(set(study.facets.values()))
    changed = {facet for facet in facets if facet in sent and guidelines.shown(study.ws, facet).text != sent[facet]}
    pages = {facet: sent[facet] if facet in changed else guidelines.read(study.ws, facet).text for facet in facets}
    if changed != {*facets}:
        pages["general"] = guidelines.page(study.ws, "general")
    return {f"guidelines/{name}.md": text for name, text in pages.items()}


def _earlier(study: Snapshot) -> dict[str, str]:
    """What was sent in several versions: a list of them, and the earlier guidelines and screens whole."""
    changed = changed_versions(study.shown)
    if not changed:
        return {}
    files = {}
    for one in changed:
        if one.part == "guidelines" and not one.in_force:
            files[f"guidelines/{one.subject}.version-{one.number}.md"] = one.body
        elif (one.part, one.subject) == ("screen", "judge") and not one.in_force:
            files[f"screens/screen-{one.number}.xml"] = json.loads(one.body)["config"]
    listed = [
        version_record(one) | ({"content": json.loads(one.body)} if one.part in ("scale", "facet") else {})
        for one in changed
    ]
    return {VERSIONS_FILE: json_lines(listed), **files}
