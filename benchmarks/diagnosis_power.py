"""Count how often the diagnosis finds what was planted, and nothing where nothing was.

    nice python benchmarks/diagnosis_power.py papers [--studies 2000] [--planted 500] [--designs all] [--papers 12 25]
                                                   [--facets 3 3-]
    nice python benchmarks/diagnosis_power.py faults [--studies 520] [--planted 60]

`papers`: studies of so many query papers of one, two or three facets (with a dash: every third paper has one only),
20 pairs a query, four assessors: all judge all, two in turn judge each pair, or one team of two a paper. Everybody
has a severity of their own on every paper, for all of its facets, 0.3 grades around 0. Prints, in percent of studies
with nothing planted, those with a finding about people, about the guidelines, and with a change while judging; of
studies with a person stricter or more lenient by 0.8 grades, those that name this person, that name severity, and
that name anyone else, and those that say of this person that the study cannot see it ("unseen"). A cell of 2,000 and
500 studies takes 30 seconds of one processor.

Measured at alpha 0.02, with 2,000 and 500 studies a cell:

    design     papers facets  people guidelines changes  named as-severity others
    per-pair       12     1      2.1        1.1     1.9   97.2        87.4    3.0
    per-pair       12     2      1.4        1.3     1.8   98.8        95.4    2.6
    per-pair       12     2-     1.9        1.6     2.2   98.0        91.2    2.8
    per-pair       12     3      1.2        1.6     1.9   98.6        97.8    2.4
    per-pair       12     3-     2.2        1.5     3.3   97.8        91.4    3.6
    per-pair       25     1      1.5        1.0     2.2  100.0       100.0    1.2
    per-pair       25     2      1.2        1.2     2.4  100.0       100.0    2.8
    per-pair       25     2-     1.0        1.7     2.0  100.0       100.0    1.0
    per-pair       25     3      1.0        1.5     1.6  100.0       100.0    1.2
    per-pair       25     3-     1.7        2.2     2.9  100.0       100.0    1.6
    per-paper      25     3      0.9        1.5     1.8   96.0        90.0    0.4
    per-paper      25     3-     1.8        1.5     4.0   91.6        88.0    1.4

One team a paper, 200 and 100 studies a cell (`--designs per-paper --papers 8 12 16 25 --facets 1 3`): with fewer than
about 22 papers each of four people shares fewer than 11 with others, and the diagnosis says that it cannot see.

    design     papers facets  people guidelines changes  named as-severity others unseen
    per-paper       8     1      0.0        0.0     0.0    0.0         0.0    0.0  100.0
    per-paper      12     1      0.0        1.0     0.0    0.0         0.0    0.0  100.0
    per-paper      16     1      1.0        1.5     0.0   23.0        18.0    2.0   76.0
    per-paper      25     1      2.5        2.0     2.5   94.0        91.0    1.0    0.0
    per-paper       8     3      0.0        0.5     0.0    0.0         0.0    0.0  100.0
    per-paper      12     3      0.0        1.0     0.0    0.0         0.0    0.0  100.0
    per-paper      16     3      1.5        0.5     0.0   23.0        18.0    0.0   77.0
    per-paper      25     3      1.5        2.0     1.5   96.0        91.0    0.0    0.0

With queries as the units, findings about people were false in 10, 7 and 11 percent (all, per-pair, per-paper) of 300
studies of 25 papers at two facets, in 24, 15 and 28 percent at three.

`faults`: 50 queries of a paper each, and one team of two a query. At a design effect above 1 everybody has a severity
of their own on every query, 0 on average. Prints a line for each kind of study: the design effect measured, studies in
which the planted person was found, found and named as planted, in which anyone else was found, in which the guidelines
were suspected, and processor seconds a study. All of it takes three minutes of one processor.

Measured at alpha 0.02. Nothing planted: studies of 520 in which anybody was found. Planted: studies of 60 in which
the right person was found and named as planted, for a severity of 0.4 grades, a quarter of grade 1 moved, a quarter
of ratings random, or off by one, and one grade given throughout:

    design     effect  nothing  severity  share  slips  wobble  constant
    all           1.0     1.9%      100%    98%   100%    100%      100%
    all           3.0     1.0%      100%    87%   100%    100%      100%
    all           9.0     1.0%      100%    62%   100%     93%      100%
    per-pair      1.0     1.3%      100%    77%    98%     85%      100%
    per-pair      3.0     1.2%       98%    28%    92%     42%      100%
    per-pair      9.0     2.5%        8%     3%     5%      0%      100%
    per-query     1.0     2.7%      100%    62%   100%     85%      100%
    per-query     3.0     1.0%      100%    28%    98%     73%      100%
    per-query     9.0     2.1%       58%     7%    63%     20%      100%

Guidelines were suspected in 1.0 to 2.5 percent of the studies with nothing planted. Where severity was planted, anyone
else was found in at most 2 of 60. Two in turn at a design effect of 9 means that people differ from query to query by
1.1 grades: there nothing but a constant grade is told from chance.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / "toolkit"), str(CHECKOUT / "tests" / "diagnosis")]

from annot.measuring.diagnosis.findings import (  # noqa: E402
    Diagnosis,
    diagnose,
    drifts,
)
from simulated_assessors import Study, as_planted, design_effect, of_papers, simulate  # noqa: E402

EFFECTS = (1.0, 3.0, 9.0)
FAULTS = ("severity", "share", "slips", "wobble", "constant")
CARRIED, STRICTER = 0.3, 0.8
"""In grades: the standard deviation of everybody's severity on a paper, and by how much one person is stricter."""
BY_PAPERS = ("all", "per-pair", "per-paper")
FACETS = ("1", "2", "2-", "3", "3-")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=("faults", "papers"))
    parser.add_argument("--studies", type=int, default=520, help="with nothing planted, of each kind")
    parser.add_argument("--planted", type=int, default=60, help="with a fault, of each kind")
    parser.add_argument("--designs", nargs="+", default=list(BY_PAPERS), help="of the table by papers")
    parser.add_argument("--papers", type=int, nargs="+", default=[12, 25])
    parser.add_argument("--facets", nargs="+", default=FACETS, choices=FACETS, help="a dash: every third has one")
    parser.add_argument("--carried", type=float, default=CARRIED)
    options = parser.parse_args()
    if options.table == "papers":
        print("design     papers facets  people guidelines changes  named as-severity others unseen  seconds")
        for design in options.designs:
            for facets, fewer in ((int(one[0]), one.endswith("-")) for one in options.facets):
                for papers in options.papers:
                    by_papers(
                        papers,
                        Study(
                            design,
                            None,
                            queries=of_papers(papers, facets, fewer=fewer),
                            facets=facets,
                            fewer=fewer,
                            carried=options.carried,
                            size=STRICTER,
                        ),
                        options.studies,
                        options.planted,
                    )
        return
    print("design     effect measured  planted    studies  found  named  others   gaps  seconds")
    for fault in (None, *FAULTS):
        for design in ("all", "per-pair", "per-query"):
            for effect in EFFECTS:
                count(Study(design, fault, effect), options.planted if fault else options.studies)


def by_papers(papers: int, study: Study, studies: int, planted: int) -> None:
    """Print a line: of studies with nothing, those with a finding about people, guidelines or a change, in percent; of
    studies with a strict person, those that name that person, do so for severity, and name anyone else."""
    started = time.process_time()
    nothing, strict = np.zeros((studies, 3)), np.zeros((planted, 4))
    for seed in range(studies):
        panel, _ = simulate(study, seed)
        diagnosis = diagnose(panel, level=0.95)
        assert isinstance(diagnosis, Diagnosis)
        changes = any(one.changed for one in drifts(panel, fence=3.0))
        nothing[seed] = bool(diagnosis.findings), bool(diagnosis.gaps), changes
    for seed in range(planted):
        panel, guilty = simulate(replace(study, fault="severity"), seed)
        diagnosis = diagnose(panel, level=0.95)
        assert isinstance(diagnosis, Diagnosis)
        reported = as_planted(diagnosis)
        people = {one.assessor for one in reported}
        named, others = guilty.assessor in people, bool(people - {guilty.assessor})
        strict[seed] = named, guilty in reported, others, guilty.assessor in diagnosis.untested
    seconds = (time.process_time() - started) / (studies + planted)
    false, found = 100 * nothing.mean(axis=0), 100 * strict.mean(axis=0)
    print(
        f"{study.design:<10} {papers:>6} {study.facets:>5}{'-' if study.fewer else ' '} "
        f"{false[0]:>7.1f} {false[1]:>10.1f} {false[2]:>7.1f} {found[0]:>6.1f} {found[1]:>11.1f} {found[2]:>6.1f} "
        f"{found[3]:>6.1f} {seconds:>8.3f}",
        flush=True,
    )


def count(study: Study, studies: int) -> None:
    """Print a line: studies with a finding on the planted person, named as planted, on anyone else, on guidelines."""
    found = named = others = gaps = 0
    effects = []
    started = time.process_time()
    for seed in range(studies):
        panel, planted = simulate(study, seed)
        diagnosis = diagnose(panel, level=0.95)
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
