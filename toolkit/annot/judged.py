"""Which judgements count."""

from __future__ import annotations

from collections.abc import Iterable

from annot.errors import InputError
from annot.records import Judgement


def counted(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Of several revisions of a judgement the latest; then those that carry flags do not count.

    Raises InputError when one assessor has two judgements of a pair in one revision.
    """
    standing: dict[tuple[str, str, str], Judgement] = {}
    faults: dict[str, None] = {}
    for judgement in judgements:
        key = (judgement.query_id, judgement.doc_id, judgement.assessor)
        other = standing.get(key)
        if other is not None and other.revision == judgement.revision:
            faults[f"{' '.join(key)}: two judgements with revision {judgement.revision}, expected one"] = None
        if other is None or other.revision < judgement.revision:
            standing[key] = judgement
    if faults:
        raise InputError(f"{len(faults)} fault(s) in the judgements", faults=faults)
    return tuple(judgement for judgement in standing.values() if not judgement.flags)
