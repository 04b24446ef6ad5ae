"""Count how often the diagnosis finds what was planted, and nothing where nothing was.

    nice python benchmarks/diagnosis_power.py [--studies 600] [--planted 100]

TABLE
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / "toolkit"), str(CHECKOUT / "tests" / "diagnosis")]

from simulated_assessors import DESIGNS, Study, design_effect, diagnosed, simulate  # noqa: E402

EFFECTS = (1.0, 3.0, 9.0)
FAULTS = ("severity", "share", "slips", "wobble", "constant")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=600, help="with nothing planted, of each kind")
    parser.add_argument("--planted", type=int, default=100, help="with a fault, of each kind")
    options = parser.parse_args()
    print("design     effect  planted    studies  found  named  other people  seconds")
    for fault in (None, *FAULTS):
        for design in DESIGNS:
            for effect in EFFECTS:
                count(Study(design, fault, effect), options.planted if fault else options.studies)


def count(study: Study, studies: int) -> None:
    """Print a line: studies with the planted person found, named as planted, and with a finding on anyone else."""
    found = named = others = 0
    effect = 0.0
    started = time.process_time()
    for seed in range(studies):
        panel, planted = simulate(study, seed)
        reported = diagnosed(panel)
        guilty = planted.assessor if planted else ""
        found += guilty in {one.assessor for one in reported}
        named += planted in reported
        others += bool({one.assessor for one in reported} - {guilty})
        effect += design_effect(panel) / studies if seed < 20 else 0.0
    seconds = (time.process_time() - started) / studies
    print(
        f"{study.design:<10} {study.design_effect:>6} {study.fault or 'nothing':<10} {studies:>7} {found:>6} {named:>6} "
        f"{others:>13} {seconds:>8.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
