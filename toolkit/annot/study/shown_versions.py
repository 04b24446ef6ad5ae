"""Versions of the content that people are shown: on record, by each answer, and as it is now."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from annot.base.errors import FindingError
from annot.base.records import WHOLE, Paper, Query, Topic
from annot.base.words import ENGLISH_CODE, ON_SCREENS, Words, languages
from annot.store import shown as stored
from annot.store.answers import is_judged
from annot.store.models import Session
from annot.study import guidelines
from annot.study.workspace import Workspace

if TYPE_CHECKING:
    from annot.labelstudio.studio_records import Screen


# ----------------------------------------------------------------------------------------------------------------------
# The contents of all that tasks show, as annot.toml, guidelines and corpus have them now: each is the text that is
# hashed.
#
# `annot.store.shown` keeps their versions.
# ----------------------------------------------------------------------------------------------------------------------


def scale_content(ws: Workspace) -> str:
    """The names of the grades, from grade 0 upward."""
    return stored.as_json(list(ws.settings.scale.names))


def facet_content(ws: Workspace, facet: str) -> str:
    """The sentence labels of a facet."""
    return stored.as_json(labels_asked(ws, facet))


def labels_asked(ws: Workspace, facet: str) -> list[str]:
    """The sentence labels of a facet, in the order of the study's; none if the whole is judged."""
    return [label for label in ws.settings.labels.names if label in ws.settings.facets.get(facet, ())]


def text_content(paper: Paper) -> str:
    """A paper as people read it: its labels are marks of a task, and no text."""
    return stored.as_json({"title": paper.title, "sentences": list(paper.sentences)})


def with_text(paper: Paper, content: str, labels: Sequence[str] | None = None) -> Paper:
    """The paper with a text as `text_content` has it. labels: of its sentences."""
    text = json.loads(content)
    own_labels = None if labels is None else tuple(labels)
    return replace(paper, title=text["title"], sentences=tuple(text["sentences"]), labels=own_labels)


def topic_content(topic: Topic) -> str:
    """A topic that is a text."""
    shown = {"title": topic.title, "description": topic.description, "narrative": topic.narrative}
    return stored.as_json(shown | {"fields": dict(topic.fields)})


def screen_content(ws: Workspace, kind: Screen, words: Words) -> str:
    """Configuration of a screen, and its inputs (`annot.study.guidelines.screen_inputs`)."""
    inputs = guidelines.screen_inputs(ws, kind, words)
    return stored.as_json({"config": guidelines.screen(ws, kind, words), "kind": kind, "inputs": inputs})


# ----------------------------------------------------------------------------------------------------------------------
# Versions of content that people were shown, numbered, and the version that each answer was given by.
# ----------------------------------------------------------------------------------------------------------------------


Versions = Mapping[tuple[stored.Part, str], Sequence[stored.ShownVersion]]
"""Versions by part and subject, the oldest first."""


NAMES = {
    "scale": "the names of the grades",
    "facet": "the labels of {subject}",
    "guidelines": "the guidelines of {subject}",
    "topic": "the topic {subject}",
    "text": "the text of {subject}",
    "screen": "the screen {subject}",
    "words": "the words in {subject}",
}
SCREENS = {"judge": "the screen for judging", "adjudicate": "the screen for adjudication"}


@dataclass(frozen=True, slots=True)
class NumberedVersion:
    """One content among all that one thing had."""

    part: stored.Part
    subject: str
    name: str
    """Name of the content in words."""
    number: int
    """Number from 1, in the order of the first sending."""
    count: int
    """Number of all versions."""
    since: str
    """The day on which it was first sent (ISO 8601)."""
    why: str | None
    program: str | None
    sha256: str
    body: str
    in_force: bool
    """True for the version that was sent last."""

    def __str__(self) -> str:
        """The version in words, with its day and reason."""
        why = f": {self.why}" if self.why else ""
        return f"{self.name}, version {self.number} of {self.count}, first sent on {self.since}{why}"


def by_part(texts: Mapping[str, Sequence[stored.ShownVersion]]) -> Versions:
    """The versions of papers, by part and subject. texts: by id."""
    return {("text", text_id): versions for text_id, versions in texts.items()}


def numbered(versions: Versions) -> tuple[NumberedVersion, ...]:
    """Distinct contents of each thing, numbered; a content that was sent again is not a new version."""
    versions_found: list[NumberedVersion] = []
    for (part, subject), rows in versions.items():
        if subject == stored.IMPORTED:
            continue
        contents = guidelines.distinct(rows)
        for number, row in enumerate(contents, start=1):
            facts: dict[str, Any] = row._replace(since=row.since[:10])._asdict()
            facts |= {"name": _name(part, subject), "number": number, "count": len(contents)}
            versions_found.append(NumberedVersion(**facts, in_force=row.sha256 == rows[-1].sha256))
    return tuple(versions_found)


def _name(part: stored.Part, subject: str) -> str:
    if part not in ("screen", "guidelines"):
        return NAMES[part].format(subject=subject)
    of, language = stored.subject_and_language(subject)
    special = {"guidelines": {WHOLE: "the guidelines"}, "screen": SCREENS}[part]
    return special.get(of, NAMES[part].format(subject=of)) + ("" if language == ENGLISH_CODE else f" in {language}")


def changed_versions(versions: Versions) -> tuple[NumberedVersion, ...]:
    """The versions of those things that were sent in several."""
    return tuple(version for version in numbered(versions) if version.count > 1)


def later_versions(versions: Versions) -> tuple[NumberedVersion, ...]:
    """Every version but the first of its thing."""
    return tuple(version for version in numbered(versions) if version.number > 1)


def version_record(version: NumberedVersion) -> dict[str, Any]:
    """A version in the file of versions, without its content."""
    names = ("part", "subject", "number", "since", "why", "program", "in_force", "sha256")
    return {name: getattr(version, name) for name in names}


class VersionNumbers:
    """Versions of content that was shown in several, and those among them that a display has."""

    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self._changed = {
            (version.part, version.subject, version.sha256): version for version in changed_versions(versions)
        }

    def of(
        self, display: stored.Display | None, query: Query, doc_id: str, *, screen: str = "judge"
    ) -> dict[str, NumberedVersion]:
        """The versions by which an answer was given, by the part of the display; none if the display is not known.

        screen: the kind of the answer's screen.
        """
        subjects: dict[str, tuple[stored.Part, str]] = {"topic": ("text", query.topic_id), "document": ("text", doc_id)}
        subjects |= stored.subjects_of(
            query.facet, stored.in_language(screen, stored.language_of(display, self._versions))
        )
        keys = {name: (*subject, (display or {}).get(name)) for name, subject in subjects.items()}
        return {name: self._changed[key] for name, key in keys.items() if key in self._changed}

    def __bool__(self) -> bool:
        """True if anything was shown in several versions."""
        return bool(self._changed)


def numbers_of_answers(
    displays: Mapping[Any, stored.Display], numbers: VersionNumbers, queries: Iterable[Query]
) -> dict[Any, dict[str, int]]:
    """Number of each version by which an answer was given, for content that was shown in several. displays: by
    answer."""
    by_id = {query.query_id: query for query in queries} if numbers else {}
    return {
        answer: {part: version.number for part, version in versions.items()}
        for answer, display in (displays.items() if numbers else ())
        if (versions := numbers.of(display, by_id[answer.pair[0]], answer.pair[1]))
    }


# ----------------------------------------------------------------------------------------------------------------------
# Changes of annot.toml, the guidelines and the templates since they were sent.
#
# The version on record counts until a push sends the new one with the lead's reason.
# ----------------------------------------------------------------------------------------------------------------------


ShownChanges = Mapping[tuple[stored.Part, str], tuple[stored.ShownVersion, ...]]
BACK = "change [scale] names in annot.toml back"


class ShownChange(NamedTuple):
    """One changed content, compared with the record."""

    part: stored.Part
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
        return self.name.startswith(("the names", "the guidelines", "the words"))


def changes_of(ws: Workspace, session: Session) -> tuple[ShownChange, ...]:
    """All that has changed since it was sent, or since grades were imported; nothing before that."""
    ws, versions = ws.as_written(), stored.read_versions(session, *stored.OF_SETTINGS)
    return (
        *scale_changes(ws.settings.scale.names, versions, judged=is_judged(session)),
        *_facet_changes(ws, versions),
        *guideline_changes(ws, [facet for part, facet in versions if part == "guidelines"], versions),
        *(change for part, kind in versions if part == "screen" for change in screen_changes(ws, kind, versions)),
        *_changes_of_words(ws, versions),
    )


def _changes_of_words(ws: Workspace, versions: ShownChanges) -> Iterator[ShownChange]:
    """The words of languages that are no longer those that were sent last."""
    for language in (subject for part, subject in versions if part == "words"):
        words = _words_if_known(ws, language)
        recorded = json.loads(versions["words", language][-1].body)
        if words is not None and recorded != words.shown:
            pairs = (
                f"{table}.{key} {recorded.get(table, {}).get(key)!r}, now {value!r}"
                for table in ON_SCREENS
                for key, value in words.shown[table].items()
                if recorded.get(table, {}).get(key) != value
            )
            yield ShownChange("words", language, _name("words", language), "; ".join(pairs))


def _words_if_known(ws: Workspace, language: str) -> Words | None:
    return guidelines.words_in(ws, language) if language in languages(ws.root / "templates") else None


def scale_changes(names: Sequence[str], versions: ShownChanges, *, judged: bool) -> Iterator[ShownChange]:
    """The names of the grades in annot.toml against those that were sent, or else those of the first import."""
    sent = versions.get(("scale", "")) or versions.get(("scale", stored.IMPORTED))
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
    elif (moved := stored.moved_names(recorded, names)) and judged:
        yield ShownChange(
            *("scale", "", "the order of the grades", _pairs(recorded, names)),
            refused=f"a grade that was given means what was shown: {', '.join(moved)} would change places",
        )
    elif ("scale", "") in versions:
        yield ShownChange("scale", "", "the names of the grades", _pairs(recorded, names))


def guideline_changes(ws: Workspace, facets: Iterable[str], versions: ShownChanges) -> Iterator[ShownChange]:
    """The guidelines of these facets, in their language, that are no longer those that were sent last."""
    for subject in sorted(facets):
        sent, (facet, language) = versions.get(("guidelines", subject)), stored.subject_and_language(subject)
        words = _words_if_known(ws, language)
        if not sent or words is None or facet not in {**ws.settings.facets, WHOLE: ()}:
            continue
        # Both ways, as no corpus is read here.
        both = (guidelines.shown(ws, facet, examples=with_them, words=words) for with_them in (True, False))
        if sent[-1].body not in both:
            yield ShownChange("guidelines", subject, _name("guidelines", subject), "")


def screen_changes(ws: Workspace, kind: str, versions: ShownChanges) -> Iterator[ShownChange]:
    """Changes of the study's own templates and the section [screen] since a screen was rendered."""
    screen, language = stored.subject_and_language(kind)
    words = _words_if_known(ws, language)
    if ("screen", kind) not in versions or words is None:
        return
    sent = json.loads(versions["screen", kind][-1].body)["inputs"]
    current = guidelines.screen_inputs(ws, cast("Screen", screen), words)
    old_templates, new_templates = sent["templates"], current["templates"]
    for name in sorted({*old_templates, *new_templates}):
        if old_templates.get(name) != new_templates.get(name):
            how = "removed" if name not in new_templates else "new" if name not in old_templates else ""
            yield ShownChange("screen", kind, f"the template {name}", how)
    if sent.get("words") != current.get("words") and ("words", language) not in versions:
        yield ShownChange("screen", kind, _name("words", language), f"new in templates/words/{language}.toml")
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


def _facet_changes(ws: Workspace, versions: ShownChanges) -> Iterator[ShownChange]:
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
