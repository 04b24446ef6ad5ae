"""Count how often the diagnosis finds what was planted, and nothing where nothing was: 100 seeds a study.

    python benchmarks/diagnosis_power.py [--seeds 100] [--first 0] [--more]

Prints a line a study: seeds in which the planted finding (right assessor, right kind, right threshold) was reported, in
which it was reported and nothing else, and processor seconds a seed. `--more` runs harder studies than those promised.

Measured over seeds 0-99 at alpha 0.02 (all / per-pair / per-query): nothing planted and nothing found 97 / 97 / 98;
found of severity 100 / 99 / 100, of a quarter of grade 1 moved 99 / 99 / 95, of slips 100 / 100 / 100; 0.13 to 0.43 s.
Limits, of 50: the threshold moved as a whole (by a quarter of a grade) 49 / 46 / 45, ratings off by one 49 / 44 / 47.
With noise 0.5 (60 percent agreement) and two judgements a pair, a quarter of grade 1 moved is found in 41, the whole
threshold in 34, severity in 50, slips in 49. Where queries differ in noise by 0.3 (logarithm), with one team a query, a
quarter of grade 1 moved is found in 40, and something is found where nothing was planted in 3.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / "toolkit"), str(CHECKOUT / "tests" / "diagnosis")]

from simulated_assessors import DESIGNS, Study, diagnosed, simulate  # noqa: E402

PROMISED = [Study(design, fault) for fault in (None, "severity", "share", "slips") for design in DESIGNS]
MORE = [
    *(Study(design, fault) for fault in ("move", "wobble", "shuffle") for design in DESIGNS),
    *(Study("per-pair", fault, noise=0.5) for fault in (None, "severity", "share", "move", "slips")),
    *(Study("per-query", fault, uneven=0.3) for fault in (None, "severity", "share", "slips")),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--more", action="store_true")
    options = parser.parse_args()
    print(f"{'design':<10} {'planted':<9} {'noise':>5} {'uneven':>6} {'found':>6} {'alone':>6} {'of':>4} {'s each':>7}")
    for study in MORE if options.more else PROMISED:
        found = alone = 0
        started = time.process_time()
        for seed in range(options.first, options.first + options.seeds):
            panel, planted = simulate(study, seed)
            reported = diagnosed(panel)
            found += planted in reported if planted else not reported
            alone += reported == ({planted} if planted else set())
        each = (time.process_time() - started) / options.seeds
        print(
            f"{study.design:<10} {study.fault or 'nothing':<9} {study.noise:>5} {study.uneven:>6} "
            f"{found:>6} {alone:>6} {options.seeds:>4} {each:>7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
