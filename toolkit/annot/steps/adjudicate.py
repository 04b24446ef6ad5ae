"""How far the disputes are settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from annot.store.database import open_store
from annot.study.adjudication import Pair
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the pairs of one query stand."""

    query_id: str
    pairs: int
    incomplete: int
    waiting: int
    """Pairs that were returned to an assessor who has not answered yet."""
    agreed: int
    disputed: int
    settled: int
    unjudgeable: int
    """Pairs that nobody can judge: they have ended, without a grade."""
    open: int


def status(ws: Workspace) -> tuple[Standing, ...]:
    """Every query's pairs by where they stand."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session, ws.settings)
    agreed, disputed = ([one.pair for one in of] for of in (outcome.settlement.agreed, outcome.settlement.disputed))
    ended = (outcome.adjudications, outcome.unjudgeable, outcome.open)
    kinds: tuple[Iterable[Pair], ...] = (outcome.incomplete, outcome.waiting, agreed, disputed, *ended)
    pairs, *counts = (Counter(query_id for query_id, _ in kind) for kind in (outcome.planned, *kinds))
    return tuple(Standing(name, pairs[name], *(count[name] for count in counts)) for name in sorted(pairs))
