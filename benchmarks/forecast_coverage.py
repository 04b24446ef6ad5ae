"""Count how often the forecast of a design from a small pilot holds what then comes: pilots of CSFCube's queries.

    python benchmarks/forecast_coverage.py CSFCUBE_FOLDER [--pilots 40] [--sizes 4 5 8 12] [--simulations 60]

Each pilot is drawn from the 33 queries of two facets, and a design of 123 pairs a query is forecast from it at 95%.
`all`: a design of 33 queries, against all 33 (the pilot's among them, so somewhat more are held than of a study to
come). `rest`: a design of as many queries as are left, against these. Grades and disputes are CSFCube's; it has no
times, so they are planted: two people at 30 and 60 seconds, queries that differ by 0.3 (logarithm), pairs by 0.5.
Prints a line a size and target: intervals of 100 that held, and their mean length.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from annot.base.array_files import Array
from annot.base.records import Judgement
from annot.base.stats.values import Interval
from annot.measuring.agreement.estimates import ratings_of
from annot.measuring.forecast.design import Design, DesignForecast, JointGrades, joint_grades, simulate_design
from annot.measuring.forecast.hours import Rules
from annot.steps import setup
from annot.store.database import open_store
from annot.store.pools import read_queries
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from annot_csfcube.importing import import_release
from command import Command

GRADES = (0, 1, 2, 3)
PAIRS = 123
FIGURES = ("alpha", "width", "disputes", "hours")


COMMAND = Command(
    __doc__,
    paths=("folder",),
    options={"pilots": 40, "sizes": [4, 5, 8, 12], "simulations": 60},
    smallest="CSFCUBE --pilots 1 --sizes 4 --simulations 39",
    seconds=lambda options: 3 + 0.0075 * len(options.sizes) * options.pilots * options.simulations,
)
FEWEST_SIMULATIONS = 39
"""Fewer have no interval at 95%."""


def main() -> None:
    options = COMMAND.read()
    if options.simulations < FEWEST_SIMULATIONS:
        COMMAND.parser.error(f"--simulations {options.simulations}: at least {FEWEST_SIMULATIONS} are needed")
    whole = csfcube(options.folder)
    print(f"{'queries':>7} {'target':<6} " + " ".join(f"{name:>8} {'length':>7}" for name in FIGURES))
    for size in options.sizes:
        for target in ("all", "rest"):
            held, lengths = np.zeros(len(FIGURES)), np.zeros(len(FIGURES))
            for seed in range(options.pilots):
                rng = np.random.default_rng([size, seed])
                order = rng.permutation(len(whole.tables))
                pilot, study = order[:size], order if target == "all" else order[size:]
                seconds = planted(rng, len(order))
                found = forecast(whole, pilot, len(study), seconds, options.simulations, seed)
                comes = truth(whole, study, seconds)
                estimates = (found.coefficient, found.width, found.disputed, found.hours_judging)
                for at, (one, value) in enumerate(zip(estimates, comes, strict=True)):
                    assert isinstance(one.interval, Interval), one.interval
                    held[at] += one.interval.low <= value <= one.interval.high
                    lengths[at] += one.interval.high - one.interval.low
            figures = zip(100 * held / options.pilots, lengths / options.pilots, strict=True)
            print(f"{size:>7} {target:<6} " + " ".join(f"{a:>8.0f} {b:>7.3f}" for a, b in figures), flush=True)


def csfcube(folder: Path) -> JointGrades:
    """What the two assessors of each pair said, as `annot import --as csfcube` brings it in."""
    with tempfile.TemporaryDirectory() as name:
        setup.init(Path(name), name=None, dry_run=False)
        ws = Workspace.open(Path(name))
        import_release(ws, folder, dry_run=False)
        with open_store(ws.database_url, create=False) as store, store.read() as session:
            outcome = outcome_of(session, ws.settings)
            facets = {query.query_id: query.facet for query in read_queries(session)}
    ratings = ratings_of(outcome.of_answered_pairs, (), facets)
    return joint_grades(ratings, per_pair=2, seed=1, grades=GRADES, missing="drop")


def planted(rng: np.random.Generator, queries: int) -> Array:
    """Seconds of each pair, shape (queries, 2, PAIRS)."""
    difficulty = rng.normal(0, 0.3, (queries, 1, 1))
    return np.exp(np.log([[30.0], [60.0]]) + difficulty + rng.normal(0, 0.5, (queries, 2, PAIRS)))


def forecast(
    whole: JointGrades, pilot: Array, queries: int, seconds: Array, simulations: int, seed: int
) -> DesignForecast:
    judged = [
        Judgement(whole.query_ids[query], f"d{at}", f"a{person}", 0, lead_time=float(time))
        for query in pilot
        for person, row in enumerate(seconds[query])
        for at, time in enumerate(row)
    ]
    order = sorted(pilot, key=lambda at: whole.query_ids[at])
    return simulate_design(
        Design(queries=queries, pool_size=PAIRS, per_pair=2, assessors=2, repeats=0.0),
        pilot=judged,
        joint=replace(whole, query_ids=tuple(whole.query_ids[at] for at in order), tables=whole.tables[order]),
        coefficient="alpha_ordinal",
        settled=(),
        dispute_seconds=60.0,
        simulations=simulations,
        rules=Rules(fence=3.0, window_days=28, hourly_rate=None, level=0.95, draws=max(200, simulations), seed=seed),
    )


def truth(whole: JointGrades, study: Array, seconds: Array) -> tuple[float, ...]:
    tables = whole.tables[study]
    alpha = whole.estimate(tables, name="alpha_ordinal", level=0.95)
    assert isinstance(alpha.value, float)
    assert isinstance(alpha.interval, Interval)
    return (
        alpha.value,
        alpha.interval.high - alpha.interval.low,
        float(tables[:, whole.disputed].sum() / tables.sum()),
        float(seconds[study].sum()) / 3600,
    )


if __name__ == "__main__":
    main()
