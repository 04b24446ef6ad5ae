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

from annot.diagnosis.findings import Diagnosis, diagnose  # noqa: E402
from simulated_assessors import DESIGNS, Study, as_planted, design_effect, simulate  # noqa: E402

EFFECTS = (1.0, 3.0, 9.0)
FAULTS = ("severity", "share", "slips", "wobble", "constant")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=520, help="with nothing planted, of each kind")
    parser.add_argument("--planted", type=int, default=60, help="with a fault, of each kind")
    options = parser.parse_args()
    print("design     effect measured  planted    studies  found  named  others   gaps  seconds")
    for fault in (None, *FAULTS):
        for design in DESIGNS:
            for effect in EFFECTS:
                count(Study(design, fault, effect), options.planted if fault else options.studies)


def count(study: Study, studies: int) -> None:
    """Print a line: studies with a finding on the planted person, named as planted, on anyone else, on guidelines."""
    found = named = others = gaps = 0
    effects = []
    started = time.process_time()
    for seed in range(studies):
        panel, planted = simulate(study, seed)
        diagnosis = diagnose(panel, level=0.95, seed=seed)
        assert isinstance(diagnosis, Diagnosis)
        reported = as_planted(diagnosis)
        people, guilty = {one.assessor for one in reported}, planted.assessor if planted else ""
        found += guilty in people
        named += planted in reported
        others += bool(people - {guilty})
        gaps += bool(diagnosis.gaps)
        if seed < 20:
            effects.append(design_effect(panel))
    measured, seconds = sum(effects) / len(effects), (time.process_time() - started) / studies
    print(
        f"{study.design:<10} {study.design_effect:>6} {measured:>8.1f}  {study.fault or 'nothing':<10} "
        f"{studies:>7} {found:>6} {named:>6} {others:>7} {gaps:>6} {seconds:>8.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
