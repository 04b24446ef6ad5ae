"""Files of runs that were made elsewhere, read from disk."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.errors import FindingError
from annot.base.templating import counted
from annot.formats.submitted_run import SubmittedRun, higher_is_better, read_metadata, read_submitted
from annot.ranking.submission import Finding
from annot.study.given_files import given_bytes, given_text


class HandedIn(NamedTuple):
    """A run, and the SHA-256 of its file."""

    run: SubmittedRun
    sha256: str


def read_run_file(path: Path, *, distances: bool) -> HandedIn:
    """The run in the file; distances: its scores are distances. Raises InputError where it is none."""
    data = given_bytes(path, expected="a TREC run, or CSFCube's ranked pools")
    run = higher_is_better(read_submitted(data, name=str(path)), name=str(path), distances=distances)
    return HandedIn(run, hashlib.sha256(data).hexdigest())


def read_metadata_file(path: Path | None) -> dict[str, Any]:
    """The metadata in the file; none where none is named. Raises InputError where it is not metadata."""
    if path is None:
        return {}
    return read_metadata(given_text(path, expected="metadata in YAML or JSON"), name=str(path))


def refuse_findings(findings: Sequence[Finding], path: Path, remedies: Mapping[str, str]) -> None:
    """Raise FindingError with the findings, if there are any. remedies: by what was found, the option for it."""
    if findings:
        raise FindingError(
            f"{path}: not imported",
            faults=[
                f"{one.what}: {one.count} in {counted(one.queries, 'query')}: {', '.join(one.examples)}"
                for one in findings
            ],
            hint="correct the file, or say " + " and ".join(dict.fromkeys(remedies[one.what] for one in findings)),
        )
