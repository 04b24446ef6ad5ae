"""`annot pull --watch`: again and again until all is judged, telling what is new and nothing twice."""

from collections.abc import Callable
from typing import Any

import annot.steps.exchange as pulling
import pytest
from annot.study.workspace import Workspace
from small_study import build

Run = Callable[..., Any]


def test_ctrl_c_ends_it_with_130_and_a_word(ws: Workspace, annot: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    build(ws, judged=25)

    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pulling, "pull", interrupted)
    result = annot("pull", "--watch")
    assert result.exit_code == 130
    assert result.stderr == "stopped watching; what was pulled is kept\n"
