"""A person's project on the server: found, made, or brought up to date.

It is the one on record first, and the one that carries our marker second.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from annot.base.errors import StudioError
from annot.base.names import counted, moment_now
from annot.labelstudio.gateway import PROJECT_SETTINGS, Gateway
from annot.labelstudio.studio_records import IN_WORDS, ProjectSpec, StudioProject
from annot.store import projects
from annot.store.projects import Project, StoredRound
from annot.study.workspace import Workspace


def marker_of(collection: str, round: StoredRound, assessor: str) -> str:
    """What the project of this person carries in its description."""
    return f"{_word(collection)}/{round}/{assessor}"


def locate(gateway: Gateway, known: Project, *, marker: str, own: Collection[str]) -> StudioProject | None:
    """The person's project as it is on the server now; None if there is none.

    own: the keys of all tasks that may stand in it. The names in annot.toml and on the server may have changed; the id
    on record counts, unless the server has given it to another project since. A project of our marker that this study
    does not know holds our tasks, or is another study's of that name: that one is left as it is, and StudioError is
    raised.
    """
    if known.remote_id is not None:
        found = gateway.project(known.remote_id)
        if found is not None and _is_the_same(gateway, found, known, own):
            return found
    marked = gateway.find_project(marker)
    if marked is not None:
        strangers = [task.key for task in gateway.tasks_of(marked.project_id) if task.key not in own]
        if strangers:
            raise StudioError(
                f"project {marked.project_id} on {gateway.url} has this collection's name, but "
                f"{counted(len(strangers), 'task')} from outside its plan",
                hint="another study has the same name: change collection.name in annot.toml, or delete that project",
            )
    return marked


def changed_by_hand(found: StudioProject, known: Project) -> dict[str, Any]:
    """What the project shows now in another way than after the last push, by name.

    Of one that an earlier version of this program sent, only the settings that every project has.
    """
    expected = known.shows or PROJECT_SETTINGS
    return {name: found.settings.get(name) for name, value in expected.items() if found.settings.get(name) != value}


class Duplicates(NamedTuple):
    """The projects that carried a person's marker beside their own."""

    removed: int
    """Empty ones, which are gone now."""
    left: tuple[StudioProject, ...]
    """Those that hold tasks; nothing in them is read."""

    def notes(self, assessor: str) -> list[str]:
        """What a person should know of them."""
        removed = [f"{assessor}: removed {counted(self.removed, 'empty project')} that the server had created twice"]
        return (removed if self.removed else []) + [
            f"{assessor}: project {one.project_id} is a duplicate with {counted(one.tasks, 'task')} and "
            "is never read: look at it, then delete it"
            for one in self.left
        ]


def remove_duplicates(gateway: Gateway, project_id: int, *, marker: str) -> Duplicates:
    """Delete the empty projects that carry the marker beside this one.

    A server that found its database locked repeats a creation, and the duplicate stays, for an assessor to open.
    """
    duplicates = gateway.marked_projects(marker, beside=project_id)
    left = tuple(duplicate for duplicate in duplicates if duplicate.tasks or duplicate.annotations)
    for duplicate in duplicates:
        if duplicate not in left:
            gateway.delete_project(duplicate.project_id)
    return Duplicates(len(duplicates) - len(left), left)


class BroughtProject(NamedTuple):
    """A person's project after it was brought up to date or made."""

    project_id: int
    duplicates: Duplicates
    changed: Mapping[str, Any]
    """What had been changed on the server by hand and is set back, as it was found."""

    def notes(self, assessor: str) -> list[str]:
        """What a person should know of it."""
        found = ", ".join(IN_WORDS.get(name, name) for name in self.changed)
        what = f"changed on the server by hand, and changed back now: {found}; see `annot check server`"
        return [*([f"{assessor}: {what}"] if found else []), *self.duplicates.notes(assessor)]


def bring_project(
    ws: Workspace, gateway: Gateway, spec: ProjectSpec, known: Project, own: Collection[str]
) -> BroughtProject:
    """The project as `spec` says, brought up to date or made; with the duplicates that it had, and what is set back."""
    found = locate(gateway, known, marker=spec.marker, own=own)
    by_hand = {} if found is None else changed_by_hand(found, known)
    if found is None:
        project_id = gateway.create_project(spec)
    else:
        project_id = found.project_id
        gateway.update_project(project_id, spec, opens=found.opens_instructions)
    now = gateway.project(project_id)
    assert now is not None
    if found is not None and found.settings["expert_instruction"] != now.settings["expert_instruction"]:
        # Who has read the earlier ones and answered has not read these.
        gateway.open_instructions(project_id, True)
    # What is as we want it was changed by a push that was killed before it could note that.
    changed = {name: value for name, value in by_hand.items() if now.settings.get(name) != value}
    with ws.writing() as session:
        projects.set_remote_project(session, known.project, project_id, created=now.created)
        moment = moment_now()
        projects.note_shows(session, known.project, now.settings, changed=changed, now=moment)
    return BroughtProject(project_id, remove_duplicates(gateway, project_id, marker=spec.marker), changed)


def _is_the_same(gateway: Gateway, found: StudioProject, known: Project, own: Collection[str]) -> bool:
    """Whether the project that has the id on record is the one that was recorded."""
    if known.created is not None and found.created is not None:
        return known.created == found.created
    keys = {task.key for task in gateway.tasks_of(found.project_id)}
    return not keys or not keys.isdisjoint(own)


def _word(name: str) -> str:
    """The collection's name as one word; where letters had to go, a hash keeps two names apart."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
