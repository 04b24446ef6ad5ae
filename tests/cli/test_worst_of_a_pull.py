"""A pull that finds several faults ends with the worst of them, and tells the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import FindingError, InputError, StudioError
from annot.cli import judge
from annot.steps import exchange as step


def pulled(monkeypatch: pytest.MonkeyPatch, *refused: Any, own: Any = None) -> Any:
    found = SimpleNamespace(assessors=(), notes=("a note",), finding=lambda _command: own)
    monkeypatch.setattr(step, "pull_sent", lambda *_, **__: (found, refused))
    return judge.pull(SimpleNamespace())  # type: ignore[arg-type]


def test_the_one_with_the_highest_exit_code_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    mild, worse = FindingError("answers differ"), StudioError("a server is away")
    assert mild.exit_code < worse.exit_code
    for refused, own in (((mild,), worse), ((worse,), mild)):
        answer = pulled(monkeypatch, *refused, own=own)
        assert answer.finding is worse
        assert answer.notes == ("a note", "answers differ")


def test_one_alone_is_raised_and_not_told_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    only = FindingError("answers differ")
    assert (pulled(monkeypatch, only).finding, pulled(monkeypatch, only).notes) == (only, ("a note",))
    assert pulled(monkeypatch).finding is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 5.0}, "--every can only be used with --watch"),
        ({"watch": True, "accept_deletions": True}, "--accept-deletions cannot be used with --watch"),
        ({"watch": True, "dry_run": True}, "cannot be used with a round or --dry-run"),
        ({"watch": True, "round": "labels"}, "cannot be used with a round or --dry-run"),
    ],
)
def test_options_that_exclude_each_other_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        judge.pull(SimpleNamespace(), **options)  # type: ignore[arg-type]
