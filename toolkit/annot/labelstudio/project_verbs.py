"""Projects on a Label Studio server: found by id or marker, made, brought up to date, copied, and heard of."""

from __future__ import annotations

import json
from typing import Any

from annot.base.errors import StudioError
from annot.labelstudio import refusals
from annot.labelstudio.door import PAGE_SIZE, READ, Door, integer, moment
from annot.labelstudio.studio_records import ProjectSpec, StudioProject, labelling_url

PROJECT_SETTINGS = {
    "sampling": "Sequential sampling",
    "maximum_annotations": 1,
    "show_skip_button": False,
    "enable_empty_annotation": False,
    # What fills the sentence labels is the task's own prediction; without this it would stay unused.
    "show_collab_predictions": True,
}
"""What every project of ours is set to, whoever it is for."""
WRITTEN = ("label_config", "title", "expert_instruction")
"""What else of a project people see: its screen, its name, and its instructions."""
ANSWERED = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED")
"""What the server calls a change of the answers."""


class Projects(Door):
    """What the gateway does with projects."""

    def project(self, project_id: int) -> StudioProject | None:
        """The project of this id; None where the server has none, and lists none of that id either.

        A server that is just starting, or a proxy, may answer 404 for what is there. Raises StudioError where that
        happens twice.
        """
        for _ in range(2):
            found = self._found(project_id)
            if found is not None or project_id not in self._descriptions():
                return found
        raise StudioError(
            f"{self.url} lists project {project_id} and finds nothing (404) when it is asked for it",
            hint="nothing was changed; run the command again when the server is well",
        )

    def marked_projects(self, marker: str, *, beside: int | None = None) -> tuple[StudioProject, ...]:
        """Every project that carries `marker`, the oldest first; without the one of the id `beside`.

        A creation that was killed may still be finished by a slow server, or repeated by one that found its database
        locked, beside the one that was made.
        """
        sign = _sign(marker)
        found = [number for number, text in self._descriptions().items() if sign in text and number != beside]
        return tuple(project for project in map(self.project, found) if project is not None)

    def projects_by_marker(self, begin: str) -> dict[str, int]:
        """The ids of the projects whose marker begins so, by marker; of several with one marker, the oldest."""
        sign = f"[annot:{begin}"
        found: dict[str, int] = {}
        for project_id, text in self._descriptions().items():
            if sign in text:
                found.setdefault(begin + text.partition(sign)[2].partition("]")[0], project_id)
        return found

    def find_project(self, marker: str) -> StudioProject | None:
        """The project that carries `marker`, or None.

        Of several, the one that holds tasks is meant, or else the oldest. Raises StudioError where several hold tasks.
        """
        found = self.marked_projects(marker)
        holding = [project for project in found if project.tasks]
        if len(holding) > 1:
            raise StudioError(
                f"{self.url}: projects {', '.join(str(project.project_id) for project in holding)} carry the same "
                f"marker {marker} and hold tasks, expected one",
                hint="look at them in Label Studio, delete all but one, and run the command again",
            )
        return next(iter((*holding, *found)), None)

    def delete_project(self, project_id: int) -> None:
        """Delete the project with all that is in it; one that is gone already is fine."""
        with self._deleting(f"project {project_id}"):
            self._client.projects.delete(project_id)

    def create_project(self, spec: ProjectSpec) -> int:
        """Make the project, without looking whether it is there; its id."""
        with self._asking(f"creating the project {spec.title!r}"):
            return integer(self._client.projects.create(**_fields(spec)).id)

    def update_project(self, project_id: int, spec: ProjectSpec, *, opens: bool = True) -> None:
        """Bring the project's screen, instructions and settings to `spec`. opens: as of `open_instructions`."""
        with self._asking(f"updating the project {spec.title!r}"):
            fields = _fields(spec)
            fields["show_instruction"] = fields["show_instruction"] and opens
            self._client.projects.update(project_id, **fields)

    def open_instructions(self, project_id: int, opens: bool) -> None:
        """Whether the instructions open by themselves whenever the page is loaded; their button stays in any case."""
        with self._asking(f"updating project {project_id}"):
            self._client.projects.update(project_id, show_instruction=opens)

    def labelling_url(self, project_id: int) -> str:
        """The link to give to the person whose project it is."""
        return labelling_url(self.url, project_id)

    def snapshot(self, project_id: int) -> dict[str, Any]:
        """The project as the server has it: its settings, and every task with annotations and predictions.

        Raises StudioError where the server sends fewer tasks than it counts.
        """
        doing = f"taking a copy of project {project_id}"
        with self._asking(doing):
            project = self._client.projects.get(project_id, request_options=READ)
            tasks = self._export(project_id, {})
            if len(tasks) < (counted := integer(project.task_number)):
                raise refusals.short(url=self.url, doing=doing, expected=counted, found=len(tasks), what="tasks")
            return {"project": json.loads(project.model_dump_json()), "tasks": tasks}

    # -- webhooks ------------------------------------------------------------------------------------------------------

    def webhooks(self) -> dict[int, str]:
        """The addresses that the server calls when something happened, by id."""
        with self._asking("listing the webhooks"):
            return {integer(hook.id): str(hook.url) for hook in self._client.webhooks.list(request_options=READ)}

    def add_webhook(self, project_id: int, address: str) -> int:
        """Have the server call this address, and say no more than what kind of thing happened, when answers change."""
        with self._asking(f"adding a webhook to project {project_id}"):
            made = self._client.webhooks.create(
                project=project_id, url=address, send_payload=False, send_for_all_actions=False, actions=ANSWERED
            )
            return integer(made.id)

    def delete_webhook(self, webhook_id: int) -> None:
        """Delete the webhook; one that is gone already is fine."""
        with self._deleting("a webhook"):
            self._client.webhooks.delete(webhook_id)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _found(self, project_id: int) -> StudioProject | None:
        with self._asking(f"looking at project {project_id}"):
            try:
                found = self._client.projects.get(project_id, request_options=READ)
            except Exception as error:
                if getattr(error, "status_code", None) == 404:
                    return None
                raise
            tasks, annotations = integer(found.task_number), integer(found.total_annotations_number)
            settings = {name: getattr(found, name) for name in (*PROJECT_SETTINGS, *WRITTEN)}
            opens = bool(found.show_instruction)
            return StudioProject(integer(found.id), moment(found.created_at), tasks, annotations, settings, opens)

    def _descriptions(self) -> dict[int, str]:
        doing = "listing the projects"
        with self._asking(doing):
            # Without their screens and instructions: those are long, and the server is slow at them.
            pager = self._client.projects.list(include="id,description", page_size=PAGE_SIZE, request_options=READ)
            listed = self._listed(pager, pager.response.count, doing=doing, what="projects")
            return {project_id: project.description or "" for project_id, project in listed.items()}

    def _export(self, project_id: int, asked: dict[str, Any]) -> list[dict[str, Any]]:
        """The tasks as the server exports them, those without an answer, too. It keeps a copy of every export."""
        options = {**READ, "additional_query_parameters": {"download_all_tasks": "true", **asked}}
        chunks = self._client.projects.exports.download_sync(id=project_id, export_type="JSON", request_options=options)
        tasks: list[dict[str, Any]] = json.loads(b"".join(chunks))
        return tasks


def _fields(spec: ProjectSpec) -> dict[str, Any]:
    return {
        "title": spec.title,
        "description": f"{spec.description} {_sign(spec.marker)}",
        "label_config": spec.label_config,
        "expert_instruction": spec.instructions,
        "show_instruction": bool(spec.instructions),
        "color": spec.color,
        **PROJECT_SETTINGS,
    }


def _sign(marker: str) -> str:
    return f"[annot:{marker}]"
