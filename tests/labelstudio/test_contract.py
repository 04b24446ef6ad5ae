"""What the package asks of a Label Studio: one list of requests, held against a real server and the one in memory.

What the tests of rounds find out on the server in memory holds for the real one because of this list.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from annot.labelstudio.gateway import PROJECT_SETTINGS
from fixtures_studio import GUARD, Studio
from studio_in_memory import StudioInMemory

SCREEN = (
    '<View><Text name="t" value="$pair_html"/><Choices name="rating" toName="t"><Choice value="1"/></Choices></View>'
)
RESULT = [{"from_name": "rating", "to_name": "t", "type": "choices", "value": {"choices": ["1"]}}]
TASKS = [
    {
        "data": {"pair_id": f"k{at}", "pair_html": "x"},
        "predictions": [{"model_version": "m", "score": 0.5, "result": RESULT}],
    }
    for at in range(3)
]
LISTED = {"project": "{project}", "include": "id,data,total_annotations,cancelled_annotations,updated_at"}
EVERYTHING = {"exportType": "JSON", "download_all_tasks": "true"}
UNANSWERED = [
    {"filter": f"filter:tasks:{count}", "operator": "equal", "type": "Number", "value": 0}
    for count in ("total_annotations", "cancelled_annotations")
]
CHANGED = {"filter": "filter:tasks:updated_at", "operator": "greater_or_equal", "type": "Datetime", "value": "{since}"}
NOWHERE = 987654


@dataclass(frozen=True)
class Asked:
    """A request, and what matters of its answer."""

    method: str
    path: str
    status: int
    keys: tuple[str, ...] = ()
    """What the answer holds, or the first of its list; a dot leads further in."""
    values: dict[str, Any] = field(default_factory=dict)
    """What stands there; `#` is how many."""
    body: Any = None
    params: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    """What later requests call a value of this answer, by name: `{name}` in their paths and bodies."""
    token: str = ""


TASK_KEYS = ("id", "data", "total_annotations", "cancelled_annotations", "updated_at")
PROJECT_KEYS = ("id", "title", "description", "label_config", "expert_instruction", "show_instruction", "created_at")
COUNTS = ("task_number", "total_annotations_number")
ANNOTATION_KEYS = (
    *("id", "task", "project", "result", "completed_by", "updated_by", "was_cancelled", "lead_time"),
    *("created_at", "updated_at"),
)
REFUSAL = ("status_code", "detail")
# fmt: off
CONTRACT = (
    Asked("GET", "/api/version/", 200, ("release",), {"release": "1.23.2"}),
    Asked("GET", "/api/current-user/whoami", 200, ("id", "email", "active_organization"), kept={"me": "id"}),
    Asked("GET", "/api/current-user/token", 200, ("token",)),
    Asked("GET", "/api/users/", 200, ("0.id", "0.email")),
    Asked("GET", "/api/users/", 401, REFUSAL, {"detail": "Invalid token."}, token="wrong"),
    Asked("GET", "/api/organizations/", 200, ("0.id", "0.created_at")),
    Asked("GET", "/api/invite", 200, ("invite_url",)),
    # -- projects
    Asked("POST", "/api/projects/", 201, PROJECT_KEYS, {"title": "The contract", **PROJECT_SETTINGS},
          body={"title": "The contract", "description": "[annot:contract/judge/a1]", "label_config": SCREEN,
          "expert_instruction": "Read.", "show_instruction": True, "color": "#617ADA", **PROJECT_SETTINGS},
          kept={"project": "id"}),
    Asked("POST", "/api/projects/", 400, ("validation_errors.title",), body={"title": "T", "label_config": SCREEN}),
    Asked("POST", "/api/projects/", 400, ("validation_errors.title",), body={"title": "T" * 51}),
    Asked("POST", "/api/projects/", 400, ("validation_errors.label_config",),
          body={"title": "Tas", "label_config": "<View>"}),
    Asked("GET", "/api/projects/{project}/", 200, (*PROJECT_KEYS, *COUNTS, *PROJECT_SETTINGS),
          dict.fromkeys(COUNTS, 0)),
    Asked("GET", f"/api/projects/{NOWHERE}/", 404, REFUSAL, {"detail": "No Project matches the given query."}),
    Asked("GET", "/api/projects/", 200, ("count", "results.0.id", "results.0.description"),
          params={"include": "id,description", "page_size": 500}),
    Asked("GET", "/api/projects/", 404, REFUSAL, {"detail": "Invalid page."}, params={"page": 2, "page_size": 500}),
    # -- tasks out
    Asked("POST", "/api/projects/{project}/import", 201, ("task_ids.2",), {"task_count": 3, "prediction_count": 3},
          TASKS, {"return_task_ids": "true"}, {"first": "task_ids.0", "second": "task_ids.1", "third": "task_ids.2"}),
    Asked("POST", f"/api/projects/{NOWHERE}/import", 404, body=TASKS),
    Asked("POST", "/api/projects/{project}/import", 400, ("validation_errors.non_field_errors",),
          body=[{"data": {"other": 1}}]),
    Asked("POST", "/api/projects/{project}/import", 400, ("validation_errors.non_field_errors",), body=[]),
    Asked("GET", "/api/tasks/", 200, tuple(f"tasks.0.{key}" for key in TASK_KEYS),
          {"total": 3, "tasks.#": 2, "tasks.0.data.pair_id": "k0"},
          params={**LISTED, "fields": "task_only", "page_size": 2, "page": 1}),
    Asked("GET", "/api/tasks/", 200, (), {"total": 3, "tasks.#": 1, "tasks.0.data.pair_id": "k2"},
          params={**LISTED, "fields": "task_only", "page_size": 2, "page": 2}, kept={"since": "tasks.0.updated_at"}),
    Asked("GET", "/api/tasks/", 404, REFUSAL, {"detail": "Invalid page."},
          params={**LISTED, "page_size": 2, "page": 3}),
    Asked("GET", "/api/tasks/", 404, REFUSAL, params={"project": NOWHERE, "page_size": 2}),
    Asked("GET", "/api/predictions/", 200, ("0.task", "0.model_version", "0.score", "0.result"),
          {"#": 3, "0.score": 0.5}, params={"project": "{project}"}),
    # -- answers
    Asked("POST", "/api/tasks/{first}/annotations/", 201, ANNOTATION_KEYS, {"was_cancelled": False, "lead_time": 4.0},
          {"result": RESULT, "lead_time": 4.0}, kept={"annotation": "id"}),
    Asked("POST", "/api/tasks/{second}/annotations/", 201, ANNOTATION_KEYS, {"was_cancelled": True},
          {"result": [], "was_cancelled": True}),
    Asked("POST", f"/api/tasks/{NOWHERE}/annotations/", 404, REFUSAL, body={"result": []}),
    Asked("GET", "/api/tasks/{first}/annotations/", 200, ("0.id", "0.completed_by"), {"#": 1}),
    Asked("GET", "/api/projects/{project}/", 200, COUNTS,
          {"task_number": 3, "total_annotations_number": 1, "skipped_annotations_number": 1}),
    Asked("PATCH", "/api/annotations/{annotation}/", 200, ANNOTATION_KEYS, {"result": []}, {"result": []}),
    Asked("GET", "/api/annotations/{annotation}/", 200, ANNOTATION_KEYS, {"result": []}),
    Asked("PATCH", f"/api/annotations/{NOWHERE}/", 404, REFUSAL, body={"result": []}),
    Asked("GET", "/api/tasks/", 200, (),
          {"total": 3, "tasks.0.total_annotations": 1, "tasks.1.cancelled_annotations": 1},
          params={**LISTED, "query": {"filters": {"conjunction": "and", "items": [CHANGED]}}},
          kept={"changed": "tasks.0.updated_at"}),
    Asked("GET", "/api/tasks/", 200, (), {"total": 1, "tasks.0.id": "{first}"},
          params={**LISTED, "query": {"filters": {"conjunction": "and", "items": [{**CHANGED,
          "value": "{changed}"}]}}}),
    Asked("GET", "/api/projects/{project}/export", 200,
          (*(f"0.{key}" for key in TASK_KEYS), *(f"0.annotations.0.{key}" for key in ANNOTATION_KEYS),
          "0.annotations.0.unique_id"), {"#": 3, "0.meta": {}, "1.cancelled_annotations": 1, "2.annotations.#": 0},
          params=EVERYTHING),
    Asked("GET", "/api/projects/{project}/export", 200, (), {"#": 1, "0.id": "{third}"},
          params={**EVERYTHING, "ids[]": "{third}"}),
    Asked("GET", "/api/projects/{project}/export", 200, (), {"#": 2}, params={"exportType": "JSON"}),
    Asked("GET", f"/api/projects/{NOWHERE}/export", 404, params=EVERYTHING),
    # -- what is changed and deleted
    Asked("PATCH", "/api/tasks/{third}/", 200, ("updated_at",), {"data.pair_html": "new"},
          {"data": {"pair_id": "k2", "pair_html": "new"}}),
    Asked("PATCH", f"/api/tasks/{NOWHERE}/", 404, REFUSAL, body={"data": {}}),
    Asked("POST", "/api/dm/actions/", 200, (), {"processed_items": 1},
          {"selectedItems": {"all": False, "included": ["{first}", "{second}", "{third}"]},
          "filters": {"conjunction": "and", "items": UNANSWERED}}, {"id": "delete_tasks", "project": "{project}"}),
    Asked("POST", "/api/projects/{project}/import", 201, ("task_ids.1",), {"task_count": 2}, TASKS[:2],
          {"return_task_ids": "true"}, {"copy": "task_ids.0"}),
    Asked("GET", "/api/tasks/", 200, (), {"total": 4, "tasks.2.data.pair_id": "k0"}, params=LISTED),
    Asked("DELETE", "/api/annotations/{annotation}/", 204),
    Asked("DELETE", "/api/annotations/{annotation}/", 404, REFUSAL),
    Asked("GET", "/api/projects/{project}/export", 200, (), {"0.total_annotations": 0, "0.annotations.#": 0},
          params=EVERYTHING),
    Asked("GET", "/api/tasks/", 200, (), {"total": 3, "tasks.0.id": "{first}"},
          params={**LISTED, "query": {"filters": {"conjunction": "and", "items": [{**CHANGED,
          "value": "{changed}"}]}}}),
    Asked("DELETE", "/api/tasks/{first}/", 204),
    Asked("DELETE", "/api/tasks/{first}/", 404, REFUSAL),
    Asked("GET", "/api/predictions/", 200, (), {"#": 3}, params={"project": "{project}"}),
    Asked("POST", "/api/predictions/", 201, ("id", "result"), {"task": "{copy}", "model_version": "m"},
          {"task": "{copy}", "result": RESULT, "model_version": "m"}),
    Asked("POST", "/api/projects/{project}/import", 201, (), {"task_count": 1}, TASKS[0]),
    Asked("GET", "/api/predictions/", 200, (), {"#": 5}, params={"project": "{project}"}),
    # -- a project that is changed, and goes
    Asked("PATCH", "/api/projects/{project}/", 200, PROJECT_KEYS,
          {"title": "By hand", "show_instruction": False, "task_number": 4},
          {"title": "By hand", "show_instruction": False}),
    Asked("PATCH", "/api/projects/{project}/", 400, REFUSAL, body={"label_config": "<View>"}),
    Asked("PATCH", f"/api/projects/{NOWHERE}/", 404, REFUSAL, body={"title": "Nowhere"}),
    Asked("DELETE", "/api/projects/{project}/tasks/", 204),
    Asked("GET", "/api/projects/{project}/", 200, PROJECT_KEYS, {"task_number": 0}),
    Asked("DELETE", "/api/projects/{project}/", 204),
    Asked("DELETE", "/api/projects/{project}/", 404, REFUSAL),
    Asked("GET", "/api/tasks/{copy}/", 404, REFUSAL),
)
# fmt: on
"""In their order: later requests use what earlier ones made."""


def test_the_server_in_memory_keeps_the_contract() -> None:
    studio = StudioInMemory()
    with httpx.Client(base_url=studio.url, transport=studio.transport) as http:
        assert broken(http, studio.token) == []


@pytest.mark.studio
def test_a_real_server_keeps_the_contract(studio: Studio) -> None:
    with httpx.Client(base_url=studio.url, timeout=GUARD, trust_env=False) as http:
        assert broken(http, studio.token) == []


def test_accounts_in_memory_are_made_and_opened_with_forms() -> None:
    studio = StudioInMemory()
    form = {"email": "ann@example.org", "password": "secret", "csrfmiddlewaretoken": "form"}
    with httpx.Client(base_url=studio.url, transport=studio.transport) as http:
        assert http.post("/user/login/", data=form).status_code == 403
        http.get("/user/login/")
        assert http.post("/user/login/", data=form).status_code == 200
        assert http.post("/user/signup/", data=form).is_redirect
        assert "already exists" in http.post("/user/signup/", data=form).text
        assert http.post("/user/login/", data=form).is_redirect
        assert http.get("/api/current-user/whoami").json()["email"] == "ann@example.org"


def broken(http: httpx.Client, token: str) -> list[str]:
    """Every line of the contract that this server does not keep."""
    known: dict[str, Any] = {}
    found = []
    for at, one in enumerate(CONTRACT):
        headers = {"Authorization": f"Token {one.token or token}"}
        params = {
            name: json.dumps(filled(value, known)) if isinstance(value, dict) else filled(value, known)
            for name, value in one.params.items()
        }
        path = one.path.format(**known)
        answer = http.request(one.method, path, params=params, json=filled(one.body, known), headers=headers)
        told = f"{at}: {one.method} {path}"
        if answer.status_code != one.status:
            found.append(f"{told}: {answer.status_code}, expected {one.status}: {answer.text[:200]}")
            continue
        said = answer.json() if (one.keys or one.values or one.kept) else None
        found += [f"{told}: no {key} in {answer.text[:300]}" for key in one.keys if at_path(said, key) is MISSING]
        for key, value in filled(one.values, known).items():
            if at_path(said, key) != value:
                found.append(f"{told}: {key} is {at_path(said, key)!r}, expected {value!r}")
        known |= {name: at_path(said, key) for name, key in one.kept.items()}
    return found


MISSING = object()


def at_path(found: Any, path: str) -> Any:
    """What is there, by `tasks.0.id`; `#` is the length."""
    for part in path.split("."):
        if part == "#":
            return len(found)
        try:
            found = found[int(part)] if isinstance(found, list) else found[part]
        except (KeyError, IndexError, TypeError, ValueError):
            return MISSING
    return found


def filled(value: Any, known: dict[str, Any]) -> Any:
    """With what earlier answers gave in place of `{name}`."""
    if isinstance(value, dict):
        return {name: filled(one, known) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, known) for one in value]
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        return known[value[1:-1]]
    return value
