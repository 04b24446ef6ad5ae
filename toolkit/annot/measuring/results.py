"""Files of exports/ with measurements, and the sentences that runs matched."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annot.base.names import called
from annot.base.stats.power import POWER
from annot.base.stats.values import to_json
from annot.formats.matches import ENDING, Match, Matches, match_lines, read_matches
from annot.measuring.evaluation.comparisons import ALPHA
from annot.measuring.evaluation.evaluated import Evaluated
from annot.measuring.evaluation.measures import QueryMeasures
from annot.study.adjudication import Pair
from annot.study.exports import JUDGEMENTS_FILE
from annot.study.workspace import Workspace, sha256_of, write_file

AUDIT_FILE = "audit.json"


def keep(ws: Workspace, name: str, text: str, *, tell: Callable[[str], None]) -> None:
    """Write a file of figures into `exports/`; if the study can only be read, `tell` that they are not kept."""
    try:
        write_file(ws.exports / name, text)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        tell(f"{ws.exports / name}: cannot be written ({error.strerror}); the figures are only printed here")


AGREEMENT_FILE, EVALUATION_FILE, EFFECT_FILE = "agreement.json", "evaluation.json", "assessor-effect.json"
"""Files in `exports/`: an `AgreementTable`, `evaluation_data`, an `AssessorEffect`."""


def evaluation_data(evaluated: Evaluated) -> Any:
    """Data of the lines, the comparisons and the queries' own values."""
    return {
        "relevant_from": evaluated.relevant_from,
        "intervals": {"over": f"{called().topic}s", "level": evaluated.level},
        "lines": evaluated.lines,
        "ceiling": evaluated.ceiling,
        "comparison": {
            "convention": evaluated.convention,
            "measure": evaluated.measure,
            "test": "two-sided paired randomisation test",
            "unit": called().topic,
            "correction": "step-down maximum of t (Westfall and Young 1993), over all pairs of runs of a facet",
            "alpha": ALPHA,
            "power": POWER,
            "verdicts": evaluated.verdicts,
            "pairs": evaluated.comparisons,
        },
        "queries": {
            tag: {
                convention: {query.query_id: _shown(query) for query in evaluation.queries}
                for convention, evaluation in by_convention.items()
            }
            for tag, by_convention in evaluated.evaluations.items()
        },
        "notes": (*filter(None, [evaluated.warning]), *evaluated.notes),
        **({} if evaluated.sampled is None else {"sample": evaluated.sampled}),
        **({} if evaluated.restated is None else {"restated": evaluated.restated}),
    }


def _shown(query: QueryMeasures) -> Any:
    """Values of the query, null if an estimate cannot be true."""
    return to_json(query) | {"values": {name: query.shown(name) for name in query.values}}


def judgements_sha256(ws: Workspace) -> str:
    """Hash of `exports/judgements.jsonl`; "" if it is not written yet."""
    path = ws.exports / JUDGEMENTS_FILE
    return sha256_of(path) if path.is_file() else ""


def read_audit(ws: Workspace) -> dict[str, Any] | None:
    """Findings of the last `annot check server`; `current` is true if they are about the judgements as they are now."""
    try:
        audit: dict[str, Any] = json.loads((ws.exports / AUDIT_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return audit | {"current": audit["judgements_sha256"] == judgements_sha256(ws)}


def as_text(data: Any) -> str:
    """JSON of a record, or of data that JSON can carry, in the format of files."""
    return json.dumps(to_json(data), indent=2, ensure_ascii=False) + "\n"


def matches_file(ws: Workspace, tag: str) -> Path:
    """Path of the file with the matches of a run."""
    return ws.runs / f"{tag}{ENDING}"


def write_matches(ws: Workspace, tag: str, matches: Matches | None) -> None:
    """Write the matches of a run; an earlier file of the same tag is removed if this run matched nothing."""
    if matches is None:
        matches_file(ws, tag).unlink(missing_ok=True)
    else:
        write_file(matches_file(ws, tag), match_lines(matches))


def matches_of(ws: Workspace, tag: str) -> dict[Pair, tuple[Match, ...]]:
    """Matches of a run in each pair, heaviest first; empty if the run has no such file."""
    path = matches_file(ws, tag)
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8") as lines:
        return read_matches(lines, name=str(path))
