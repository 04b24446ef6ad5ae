"""Whether texts of the study may be sent to a model on another machine: asked once, and noted in annot.toml.

A study may come from someone else, so the address has to be allowed by the owner of this machine too: `study.doors`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tomlkit

from annot.base.errors import InputError
from annot.judging.opinions.model_server import is_this_machine
from annot.study import doors
from annot.study.workspace import SETTINGS_FILE, Workspace, write_file

LEAVES = "may_leave_this_machine"


def check_leaving(ws: Workspace, name: str, url: str, may_leave: Callable[[str], bool] | None) -> None:
    """Let the texts go to an address elsewhere only if the lead allows it.

    may_leave: asks the lead; None if nobody can be asked. Raises InputError if they may not leave, and if
    the owner of this machine has not allowed the study to name the address.
    """
    if is_this_machine(url):
        return
    asked_by = f"{SETTINGS_FILE}, [opinions.{name}] url"
    allowed = ws.settings.corpus.may_leave_this_machine
    if allowed is None and may_leave is not None:
        allowed = may_leave(url)
        _note_leaving(ws.settings_file, allowed)
        if allowed:
            doors.allow(ws.root, url)
    if not allowed:
        raise InputError(
            f"{asked_by}: the texts of this study may not leave this machine",
            hint=f"if they may be sent to {url}, write {LEAVES} = true below [corpus] in {SETTINGS_FILE}; "
            "or ask a model on this machine",
        )
    ws.check_door(url, asked_by=asked_by)


def _note_leaving(path: Path, allowed: bool) -> None:
    document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    corpus: Any = document.setdefault("corpus", tomlkit.table())
    corpus[LEAVES] = allowed
    write_file(path, tomlkit.dumps(document))
