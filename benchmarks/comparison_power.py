"""Count how often `annot evaluate` names a difference that is none, and how often it finds one that is there.

    python benchmarks/comparison_power.py [--studies 2000] [--papers 6 9 12 20 50] [--runs 2 6 12]
        [--part errors|others|power] [--null NAME ...]

Query papers are the units. Errors: no run is better than another (in `one leads`, all but one; only differences between
the others count). `max t` is the test that decides, `Holm` and `Tukey` are those of the CSV. Power: of true
differences, how many are found; `raw mean` is the step-down maximum of the mean instead of t.
"""

import itertools
from collections.abc import Callable

import numpy as np
from annot.base.array_files import Array
from annot.base.stats.inference import holm, max_t_tests, randomisation_tests, tukey_tests
from annot.measuring.evaluation import comparisons
from annot.measuring.evaluation.comparisons import ALPHA
from command import Command

PERMUTATIONS = 2_048
"""All flips up to 12 papers, drawn ones above: the error rate is the same with few, as the observed one counts."""
Runs = Array
"""Shape (runs, papers): what each paper adds to the mean of each run."""
Test = Callable[[Runs], Array]
"""The corrected p of each pair of runs."""


def main() -> None:
    options = COMMAND.read()
    nulls = {title: NULLS[title] for title in options.null}
    of_runs = {f"{runs:>3} runs": (max_t, runs) for runs in options.runs}
    of_tests = {name: (test, 6) for name, test in TESTS.items()}
    for part, head, sizes, rows in (
        ("errors", "errors of max t, %", options.papers, of_runs),
        ("others", "errors of 6 runs, %", (9, 20), of_tests),
    ):
        if options.part in (None, part):
            print(f"{head:<32}" + "".join(f"{papers:>8}" for papers in sizes))
            for title, draw in nulls.items():
                for name, (test, runs) in rows.items():
                    cells = [errors(test, draw, runs, papers, options.studies) for papers in sizes]
                    print(f"{title:<24}{name:<8}" + "".join(f"{100 * cell:>8.1f}" for cell in cells), flush=True)
    if options.part in (None, "power"):
        power(max(1, options.studies // 10))


def max_t(values: Runs) -> Array:
    return max_t_tests(differences(values), alpha=ALPHA, permutations=PERMUTATIONS, seed=1).p_values


def by_holm(values: Runs) -> Array:
    p_values = randomisation_tests(differences(values), exact_up_to=20, permutations=PERMUTATIONS, seed=1)
    return np.array(holm(p_values.tolist()))


def by_tukey(values: Runs) -> Array:
    return tukey_tests(values.T, pairs_of(len(values)), permutations=999, seed=1)


def by_raw_mean(values: Runs) -> Array:
    """The step-down maximum of the mean, from drawn flips."""
    rows = differences(values)
    signs = np.random.default_rng(1).choice((-1.0, 1.0), (rows.shape[1], PERMUTATIONS))
    observed = np.abs(rows.sum(axis=1))
    upwards = np.argsort(observed)
    largest = np.maximum.accumulate(np.abs(rows[upwards] @ signs), axis=0)
    p_values = np.empty(len(rows))
    reached = ((largest >= observed[upwards, None] - 1e-9).sum(axis=1) + 1) / (PERMUTATIONS + 1)
    p_values[upwards] = np.maximum.accumulate(reached[::-1])[::-1]
    return p_values


TESTS = {"max t": max_t, "Holm": by_holm, "Tukey": by_tukey}


def pairs_of(runs: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(runs), 2))


def differences(values: Runs) -> Array:
    return np.array([values[a] - values[b] for a, b in pairs_of(len(values))])


def errors(test: Test, draw: Callable[..., Runs], runs: int, papers: int, studies: int) -> float:
    """The share of studies in which a difference is named that is none."""
    rng = np.random.default_rng(1000 * papers + runs)
    null = [b > 0 and a > 0 if draw is one_leads else True for a, b in pairs_of(runs)]
    if not any(null):
        return float("nan")
    return float(np.mean([(test(draw(runs, papers, rng))[null] <= ALPHA).any() for _ in range(studies)]))


def alike(runs: int, papers: int, rng: np.random.Generator) -> Runs:
    return rng.beta(2, 2, papers) + rng.normal(0, 0.15, (runs, papers))


def facets(runs: int, papers: int, rng: np.random.Generator) -> Runs:
    """One to three queries a paper, which share most of its chance; a paper weighs as many queries as it has."""
    sizes = rng.integers(1, 4, papers)
    of_paper = rng.normal(0, 0.15, (runs, papers)) + rng.normal(0, 0.05, (runs, papers)) / np.sqrt(sizes)
    return np.asarray((rng.beta(2, 2, papers) + of_paper) * sizes * papers / sizes.sum())


def near_copies(runs: int, papers: int, rng: np.random.Generator) -> Runs:
    """Families of three whose members hardly differ; families differ by much."""
    families = rng.normal(0, 0.3, (-(-runs // 3), papers))
    return np.asarray(rng.beta(2, 2, papers) + families[np.arange(runs) // 3] + rng.normal(0, 0.01, (runs, papers)))


def one_leads(runs: int, papers: int, rng: np.random.Generator) -> Runs:
    return np.asarray(alike(runs, papers, rng) + 0.3 * (np.arange(runs) == 0)[:, None])


def spread(runs: int, papers: int, rng: np.random.Generator) -> Runs:
    """Runs differ in spread from 0.05 to 0.3; differences are symmetric."""
    return rng.beta(2, 2, papers) + rng.normal(0, np.linspace(0.05, 0.3, runs)[:, None], (runs, papers))


def skewed(runs: int, papers: int, rng: np.random.Generator) -> Runs:
    """Values from 0 to 1 with a mean of 0.3, of a spread from 0.1 to 0.3 by run: the wider, the more skewed."""
    weight = 0.3 * 0.7 / np.linspace(0.1, 0.3, runs)[:, None] ** 2 - 1
    return rng.beta(0.3 * weight, 0.7 * weight, (runs, papers))


def very_skewed(runs: int, papers: int, rng: np.random.Generator) -> Runs:
    """Exponential with a long tail upwards, of a spread from 0.05 to 0.3."""
    chance = rng.exponential(1, (runs, papers)) - 1
    return rng.beta(2, 2, papers) + np.linspace(0.05, 0.3, runs)[:, None] * chance


NULLS = {
    "alike": alike,
    "facets of a paper": facets,
    "families of near copies": near_copies,
    "one leads": one_leads,
    "unequal spread": spread,
    "unequal and skewed": skewed,
    "unequal and very skewed": very_skewed,
}


COMMAND = Command(
    __doc__,
    options={"studies": 2000, "papers": [6, 9, 12, 20, 50], "runs": [2, 6, 12], "null": [*NULLS], "part": None},
    choices={"null": [*NULLS], "part": ["errors", "others", "power"]},
    smallest="--studies 2 --papers 6 9 --runs 2 6",
    seconds=lambda options: (
        options.studies * (0.007 + 0.0007 * len(options.null) * (6 + len(options.papers) * len(options.runs)))
    ),
)


def power(studies: int) -> None:
    print("of true differences found, %          max t    Holm   Tukey  raw mean")
    tests = {**TESTS, "raw mean": by_raw_mean}
    for papers in (6, 9, 20):
        for lead in (0.1, 0.2):
            rng = np.random.default_rng(papers)
            found = dict.fromkeys(tests, 0.0)
            for _ in range(studies):
                # Two groups of three runs; the first leads the second.
                values = alike(6, papers, rng) + lead * (np.arange(6) < 3)[:, None]
                true = [a < 3 <= b for a, b in pairs_of(6)]
                for name, test in tests.items():
                    found[name] += (test(values)[true] <= ALPHA).mean() / studies
            shown = "".join(f"{100 * found[name]:>8.0f}" for name in tests)
            print(f"6 runs, {papers} papers, a lead of {lead:<8}{shown}", flush=True)
    for papers in (12, 50):
        rng = np.random.default_rng(papers)
        found = dict.fromkeys(tests, 0)
        for _ in range(studies):
            # A copy better by 0.01, beside four runs that differ from both by much.
            values = near_copies(2, papers, rng)
            values[0] += 0.01
            values = np.vstack([values, rng.normal(0.5, 0.3, (4, papers))])
            for name, test in tests.items():
                found[name] += test(values)[0] <= ALPHA
        shares = "".join(f"{100 * found[name] / studies:>8.0f}" for name in tests)
        print(f"near copies, {papers} papers               {shares}", flush=True)
    print("leads of the difference called detectable that are found, %")
    for runs in (2, 6, 12):
        for papers in (6, 9, 12, 20, 50):
            rng = np.random.default_rng(papers + runs)
            held = []
            for _ in range(studies * 2):
                rows = differences(alike(runs, papers, rng))
                deciding = max_t_tests(rows, alpha=ALPHA, permutations=PERMUTATIONS, seed=1)
                detectable = comparisons._detectable(rows.std(axis=1, ddof=1), papers, deciding)
                if detectable is not None:
                    values = alike(runs, papers, rng)
                    values[0] += detectable
                    held.append(max_t(values)[0] <= ALPHA)
            share = f"{100 * np.mean(held):>6.0f}" if held else f"{'-':>6}"
            print(f"{runs:>3} runs {papers:>3} papers {share} ({len(held)} studies)", flush=True)


if __name__ == "__main__":
    main()
