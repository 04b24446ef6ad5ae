"""Which project on the server is a person's: the one on record first, the one that carries our marker second."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Any, NamedTuple

from annot.base.errors import StudioError
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.project_verbs import PROJECT_SETTINGS
from annot.labelstudio.studio_records import StudioProject
from annot.store.projects import Project, Round


def marker_of(collection: str, round: Round, assessor: str) -> str:
    """What the project of this person carries in its description."""
    return f"{_word(collection)}/{round}/{assessor}"


def locate(gateway: Gateway, known: Project, *, marker: str, own: Collection[str]) -> StudioProject | None:
    """The person's project as it is on the server now; None where there is none.

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
                f"project {marked.project_id} on {gateway.url} carries this collection's name and {len(strangers)} "
                "task(s) that are not in its plan",
                hint="another study has that name: change collection.name in annot.toml, or delete that project",
            )
    return marked


def changed_by_hand(found: StudioProject, known: Project) -> dict[str, Any]:
    """What the project shows now in another way than after the last push, by name.

    Of one that an earlier version of this program sent, only the settings that every project has.
    """
    expected = known.shows or PROJECT_SETTINGS
    return {name: found.settings.get(name) for name, value in expected.items() if found.settings.get(name) != value}


class Twins(NamedTuple):
    """The projects that carried a person's marker beside their own."""

    removed: int
    """Empty ones, which are gone now."""
    left: tuple[StudioProject, ...]
    """Those that hold tasks; nothing in them is read."""

    def notes(self, assessor: str) -> list[str]:
        """What a person should know of them."""
        removed = [f"{assessor}: removed {self.removed} empty project(s) that the server had made twice"]
        return (removed if self.removed else []) + [
            f"{assessor}: project {twin.project_id}, a twin of {twin.tasks} task(s), is never read: look, and delete it"
            for twin in self.left
        ]


def remove_twins(gateway: Gateway, project_id: int, *, marker: str) -> Twins:
    """Delete the empty projects that carry the marker beside this one.

    A server that found its database locked repeats a creation, and the twin stays, for an assessor to open.
    """
    twins = gateway.marked_projects(marker, beside=project_id)
    left = tuple(twin for twin in twins if twin.tasks or twin.annotations)
    for twin in twins:
        if twin not in left:
            gateway.delete_project(twin.project_id)
    return Twins(len(twins) - len(left), left)


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
