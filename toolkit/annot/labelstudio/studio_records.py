"""What travels between the gateway and the steps: plain records, no type of the client library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

KEY = "pair_id"
"""The field of a task's data that holds our key."""

TEXT_FIELD = "pair_html"
"""The field of a task's data that holds the two papers."""

Payload = Mapping[str, Any]
"""A JSON object as the server sent it or will get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSpec:
    """What a project is to be. `marker` is our own key: titles are not unique on the server."""

    marker: str
    """One word, such as `my-collection/judge/a1`; it stands in brackets at the end of the description."""
    title: str
    """3 to 50 characters."""
    description: str
    label_config: str
    instructions: str
    """HTML, shown on entering the stream and behind a button of the top bar."""
    color: str
    may_be_empty: bool = False
    """Whether a task may be submitted with nothing chosen, labelled or written."""


class StudioProject(NamedTuple):
    """A project as the server has it."""

    project_id: int
    created: str | None
    """When the server made it, as the server writes it: a server that was restored gives an id twice."""
    tasks: int
    annotations: int
    """All annotations, cancelled ones included."""
    settings: Mapping[str, Any]
    """Its screen, its title, its instructions and the gateway's `PROJECT_SETTINGS`, as they are now."""
    opens_instructions: bool
    """Whether the instructions open whenever the page is loaded: they do until the person has answered."""


IN_WORDS = {"label_config": "the screen", "title": "the title", "expert_instruction": "the instructions"}
"""What people see of a project, beside its tasks; settings go by the server's own names."""


class StudioTask(NamedTuple):
    """A task as the server lists it. `key` is our own, opened; None for a task without one."""

    task_id: int
    key: str | None
    annotations: int
    """All annotations, cancelled ones included."""
    data: Payload
    """What the task shows."""
    updated_at: str | None = None
    """When it, or an annotation of it, was last made, changed or deleted, as the server writes it."""


class PulledTask(NamedTuple):
    """A task and every annotation on it, verbatim; an empty tuple where there is none (or none any more)."""

    key: str | None
    annotations: tuple[dict[str, Any], ...]
    updated_at: str | None = None
    """As of `StudioTask`."""
    data: Mapping[str, Any] = {}
    """What the task shows."""
    task_id: int | None = None
    """The server's."""


class Prediction(NamedTuple):
    """What is filled in on a task before anybody has answered."""

    task_id: int
    model_version: str | None
    score: float | None
    result: tuple[Payload, ...]


class Delivery(NamedTuple):
    """What an import did. `task_ids` maps every key of the request to its one task on the server."""

    task_ids: dict[str, int]
    sent: int
    """Tasks sent by this call and found afterwards; the others were there already."""
    spared: int
    """Tasks that are not there and were not sent, because their answer is known."""
    removed: int
    """Of these, the ones that stood there unanswered and are deleted now."""
    updated: int
    """Unanswered tasks that were there and showed something else, such as another place in the person's order."""
    renewed: int
    """Tasks that were there, and were deleted and sent again."""


def labelling_url(server: str, project_id: int) -> str:
    """The link to give to the person whose project it is: it opens the stream of tasks and nothing else."""
    return f"{server}/projects/{project_id}/data?labeling=1"


def project_url(server: str, project_id: int) -> str:
    """The link for the lead: it opens the project with all of its tasks."""
    return f"{server.rstrip('/')}/projects/{project_id}/data"
