"""The story of one pair as a table: what happened to it, in the order of the work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from annot.api.rows import Row, frame, kept


def story(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each thing that happened to one pair, in the order of the work."""
    return frame(
        {"step": "", "by": "", "rank": None, "score": None, "grade": None, "revision": None, "at": None, "note": None}
        | event
        for event in _events(data)
    )


def _events(data: Mapping[str, Any]) -> Iterator[Row]:
    pooled = data["pool"]
    if pooled is not None:
        added = pooled["added"] or {"reason": None, "made_at": None}
        drawn = {"step": "drawn", "by": pooled["drawn"]["method"], **kept(pooled["drawn"], "rank", "score")}
        yield {**drawn, "at": added["made_at"], "note": added["reason"]}
    for draw in pooled["also"] if pooled is not None else data["had_by"]:
        yield {"step": "ranked", "by": draw["method"], **kept(draw, "rank", "score")}
    for assessor, position, occasion in data["given_to"]:
        yield {"step": "given", "by": assessor, "note": f"pair {position} of theirs" + ", a repeat" * (occasion > 1)}
    for person, round_ in data["sent_to"]:
        yield {"step": "sent", "by": person, "note": round_}
    for said in data["said"]:
        yield {
            "step": "judged" if said["role"] == "assessor" else "adjudicated",
            "by": said["person"],
            **kept(said, "grade", "revision"),
            "at": said["judged_at"],
            "note": "; ".join(
                part for part in (*said["flags"], said["cannot_judge"], said["reason"], said["comment"]) if part
            ),
        }
    yield {"step": "decided", "by": data["adjudicator"] or "", "grade": data["grade"], "note": data["standing"]}
    yield {"step": "in the qrels", "grade": data["qrel"]}
    for run in data["runs"]:
        yield {"step": "retrieved", "by": run["tag"], **kept(run, "rank", "score")}
