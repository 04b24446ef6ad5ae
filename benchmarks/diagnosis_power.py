"""Count how often the diagnosis finds what was planted, and nothing where nothing was.

    python benchmarks/diagnosis_power.py papers [--studies 2000] [--planted 500] [--designs all] [--papers 12 25]
                                              [--facets 3 3-]

`papers`: studies of so many query papers of one, two or three facets (with a dash: every third paper has one only),
20 pairs a query, four assessors: all judge all, two in turn judge each pair, or one team of two a paper. Everybody
has a severity of their own on every paper, for all of its facets, 0.3 grades around 0. Prints, in percent of studies
with nothing planted, those with a finding about people, about the guidelines, and with a change while judging; of
studies with a person stricter or more lenient by 0.8 grades, those that name this person, that name severity, and
that name anyone else, and those that say of this person that the study cannot see it ("unseen").
"""

import time
from dataclasses import replace

import numpy as np
from annot.measuring.diagnosis.findings import Diagnosis, diagnose, drifts
from command import Command
from simulated_assessors import Study, as_planted, of_papers, simulate

CARRIED, STRICTER = 0.3, 0.8
"""In grades: the standard deviation of everybody's severity on a paper, and by how much one person is stricter."""
BY_PAPERS = ("all", "per-pair", "per-paper")
FACETS = ("1", "2", "2-", "3", "3-")


COMMAND = Command(
    __doc__,
    options={
        "studies": 520,
        "planted": 60,
        "designs": BY_PAPERS,
        "papers": [12, 25],
        "facets": FACETS,
        "carried": CARRIED,
    },
    choices={"designs": BY_PAPERS, "facets": FACETS},
    smallest="papers --studies 2 --planted 2 --papers 12 --facets 1 2-",
    seconds=lambda options: (
        0.01 * (options.studies + options.planted) * len(options.designs) * len(options.papers) * len(options.facets)
    ),
)
COMMAND.parser.add_argument("table", choices=("papers",))


def main() -> None:
    options = COMMAND.read()
    print("design     papers facets  people guidelines changes  named as-severity others unseen  seconds")
    for design in options.designs:
        for facets, fewer in ((int(one[0]), one.endswith("-")) for one in options.facets):
            for papers in options.papers:
                study = Study(
                    design,
                    None,
                    queries=of_papers(papers, facets, fewer=fewer),
                    facets=facets,
                    fewer=fewer,
                    carried=options.carried,
                    size=STRICTER,
                )
                by_papers(papers, study, options.studies, options.planted)


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
        assert guilty is not None
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


if __name__ == "__main__":
    main()
