"""Write the judgements of a crowd that never was: many assessors, a few of whom did most, with unequal overlap.

    python benchmarks/crowd.py crowd.csv [--judgements 100000] [--assessors 800] [--queries 100] [--seed 1]
    annot init crowd && annot -C crowd import crowd.csv --as judgements --facet background
    time annot -C crowd agreement --all
    time annot -C crowd agreement --by assessor

Five people judge each document, on a scale of four grades; a person works through sets of ten documents of one query.
How much a person takes on is log-normal: the most diligent do hundreds of sets, half of them no more than a few.
Queries differ in how similar their documents are and in how hard they are to judge, people in how strict and how
careful they are; one in twenty guesses. Any seed gives the same file on every machine.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

THRESHOLDS = np.array([-0.2, 0.8, 1.8])
PER_DOCUMENT = 5
SET = 10
"""Documents that a person judges in one go."""
GUESSING = 0.05
HEADINGS = ("query", "document", "assessor", "grade", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--judgements", type=int, default=100_000)
    parser.add_argument("--assessors", type=int, default=800)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with options.file.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADINGS)
        writer.writerows(judgements(options.judgements, options.assessors, options.queries, options.seed))


def judgements(wanted: int, assessors: int, queries: int, seed: int) -> Iterator[tuple[object, ...]]:
    """So many rows, or up to a set of each query fewer, under `HEADINGS`; every assessor has at least one set."""
    rng = np.random.default_rng(seed)
    diligence = rng.lognormal(0, 1.5, assessors)
    strictness, care = rng.normal(0, 0.3, assessors), np.exp(rng.normal(0, 0.3, assessors))
    guessing = rng.random(assessors) < GUESSING
    pace = np.exp(rng.normal(3, 0.5, assessors))
    waiting = list(rng.permutation(assessors))
    sets = wanted // (PER_DOCUMENT * SET * queries)
    for query in range(queries):
        mean, hardness = rng.normal(-0.3, 0.8), np.exp(rng.normal(-0.5, 0.35))
        for at in range(sets):
            similarity = rng.normal(mean, 1, SET)
            new = [waiting.pop() for _ in range(min(len(waiting), PER_DOCUMENT))]
            chance = np.delete(diligence, new) / np.delete(diligence, new).sum()
            others = rng.choice(np.delete(np.arange(assessors), new), PER_DOCUMENT - len(new), replace=False, p=chance)
            for person in (*new, *others):
                seen = similarity - strictness[person] + hardness / care[person] * rng.normal(size=SET)
                grades = (seen[:, None] > THRESHOLDS).sum(axis=1)
                if guessing[person]:
                    grades = rng.integers(0, len(THRESHOLDS) + 1, SET)
                seconds = pace[person] * np.exp(rng.normal(0, 0.5, SET))
                for place, (grade, time) in enumerate(zip(grades, seconds, strict=True)):
                    document = f"d{query:03}-{at * SET + place:03}"
                    yield f"q{query:03}", document, f"p{person:03}", grade, f"{time:.1f}"


if __name__ == "__main__":
    main()
