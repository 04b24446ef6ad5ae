"""The labelling configurations of the two screens, rendered from the templates and checked without a server."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annot.errors import InputError
from annot.labelstudio import controls
from annot.templating import render

JUDGE = "judge.xml.j2"
ADJUDICATE = "adjudicate.xml.j2"


def judge_screen(*, scale_names: Sequence[str], overrides: Path | None) -> str:
    """The configuration of the screen on which an assessor judges. `overrides` is the workspace's `templates/`.

    Raises InputError (template, line, cause) where a template does not render or does not hold.
    """
    return _screen(JUDGE, scale_names=scale_names, opinions=0, overrides=overrides)


def adjudicate_screen(*, scale_names: Sequence[str], opinions: int, overrides: Path | None) -> str:
    """The configuration of the adjudicator's screen; `opinions` others' are shown (0 where the policy hides them)."""
    return _screen(ADJUDICATE, scale_names=scale_names, opinions=opinions, overrides=overrides)


def _screen(template: str, *, scale_names: Sequence[str], opinions: int, overrides: Path | None) -> str:
    from annot.labelstudio.gateway import check_label_config

    values: dict[str, Any] = {
        "controls": controls,
        "grades": [
            {"value": str(grade), "key": str(grade), "html": f"<b>{grade}</b> {html.escape(name)}"}
            for grade, name in enumerate(scale_names)
        ],
        "opinions": [f"{letter}" for letter in "abcdefghij"[:opinions]],
    }
    xml = render(template, values, overrides=overrides)
    try:
        check_label_config(xml)
    except InputError as error:
        raise InputError(f"{template}: {error.message}", hint="correct the template") from None
    return xml
