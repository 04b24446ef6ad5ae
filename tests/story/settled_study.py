"""A study whose pairs are settled: what people and a server give for that is put into the store as a pull would."""

from __future__ import annotations

from pathlib import Path

from annot.base.records import Adjudication, Judgement
from annot.store.adjudications import SourcedAdjudication, record_adjudications
from annot.store.database import open_store
from annot.store.judgements import SourcedJudgement, record_judgements
from fixtures_studio import Studio
from studies import Pair, Study, make_study

AT = "2026-01-01T00:00:00+00:00"
REASON, COMMENT = "guideline gap", "One aspect is shared."


def settled_study(folder: Path, studio: Studio, *, name: str, per_method: int) -> tuple[Study, dict[Pair, int]]:
    """Two queries judged by a1 and a2, every second pair settled by j1; and the final grade of each pair, all four."""
    study = make_study(folder, studio, name=name, per_method=per_method)
    pairs = sorted(study.planned()["a1"])
    final = {pair: at % 4 for at, pair in enumerate(pairs)}
    judged, decided = [], []
    for at, (pair, grade) in enumerate(final.items()):
        disputed = at % 8 < 4
        for person, given in (("a1", grade), ("a2", (grade + 1) % 4 if disputed else grade)):
            judged.append(SourcedJudgement(Judgement(*pair, person, given), "label-studio", f"{person}-{at}", None))
        if disputed:
            settled = Adjudication(*pair, "j1", grade, "shown", (), reason=REASON, comment=COMMENT, judged_at=AT)
            decided.append(SourcedAdjudication(settled, "label-studio", str(at), None))
    with open_store(study.workspace.database_url) as store, store.begin() as session:
        record_judgements(session, judged, recorded_at=AT)
        record_adjudications(session, decided, recorded_at=AT)
    return study, final
