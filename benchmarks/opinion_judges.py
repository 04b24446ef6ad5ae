"""Plant judges of a known kind on collections that were judged whole: is the first sentence of `annot opinion` right?

    python benchmarks/opinion_judges.py CRANFIELD CSFCUBE [--seeds 20] [--fair 100] [--share 1] [--only CSFCube]
    python benchmarks/opinion_judges.py CRANFIELD CSFCUBE --topics 4 6 8 10 14 20 [--seeds 60]
    python benchmarks/opinion_judges.py CRANFIELD CSFCUBE --cases

Prints how often the first sentence is right, how often the plain rule would name a favoured run (`drawn anew`: the gain
beyond opinions redrawn among all pairs of one query and final grade), and how often a run is named as favoured and as
losing, over `--fair` seeds of fair judges. `--topics`: small studies of so many topics. `--share`: with a sample of the
pairs. `--cases`: the three cases of docs/explanation/model.md.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from annot.base.stats.inference import generator
from annot.base.stats.values import Undefined
from annot_opinions.label_quality import EACH, FINAL, PEOPLE, OpinionVerdict
from command import Command
from planted_judges import KINDS, Judge, Planted, favours, good, planted_on

CASES: dict[str, Judge] = {"good": good, "biased": favours, "lazy": KINDS["always 1"][0]}
"""The worked cases of `docs/explanation/model.md`."""


def sentences(planted: Planted, kind: str, seeds: int) -> Counter[str]:
    """How often each sentence is said, how often the right one, and how often the plain rule names a run."""
    judge, right_ones = KINDS[kind]
    found: Counter[str] = Counter()
    for seed in range(seeds):
        opinion = judge(planted, generator(seed, kind))
        one = planted.held(opinion, kind)
        named = () if isinstance(one.favour, Undefined) else one.favour.gaining
        found[one.verdict] += 1
        found["right"] += one.verdict in right_ones and (
            one.verdict is not OpinionVerdict.FAVOURS or planted.favoured in named
        )
        found["plain"] += planted.redrawn(opinion)
    return found


def named(planted: Planted, kind: str, seeds: int, *, share: float) -> Counter[str]:
    """How often a run is named as favoured, and as losing, and how often the favourite is named first.

    share: of the pairs that people judged; below 1 a sample is drawn for each seed.
    """
    found: Counter[str] = Counter()
    for seed in range(seeds):
        opinion = KINDS[kind][0](planted, generator(seed, kind)).astype(np.float64)
        at, ranked = planted.sampled(share, seed) if share < 1 else (np.arange(len(opinion)), planted.ranked)
        one = ranked.favour(opinion[at], planted.judged.rule)
        assert not isinstance(one, Undefined)
        first = one.gaining[:1] == (planted.favoured,)
        found.update(gaining=bool(one.gaining), losing=bool(one.losing), favourite=first)
    return found


SMALL: dict[str, Judge] = {
    "favours": favours,
    "good": good,
    **{kind: KINDS[kind][0] for kind in ("noisy", "by length", "by likeness", "finer")},
}
"""Judges of small studies."""


def small_studies(planted: Planted, numbers: Sequence[int], seeds: int) -> Iterator[str]:
    """A line for each judge and number of topics: how often each sentence is said, and the favour that is visible."""
    for kind, judge in SMALL.items():
        for n in numbers:
            studies = [
                planted.held(judge(planted, generator(seed, kind)), kind, topics=planted.some_topics(n, seed))
                for seed in range(seeds)
            ]
            verdicts = Counter(study.verdict for study in studies)
            known = [study.favour for study in studies if not isinstance(study.favour, Undefined)]
            visible = np.median([np.inf if favour.visible is None else favour.visible for favour in known])
            needed = np.median([np.inf if favour.topics_needed is None else favour.topics_needed for favour in known])
            counts = "".join(f"{100 * verdicts[verdict] / seeds:9.0f}" for verdict in SHOWN_VERDICTS)
            yield f"{planted.whole.name:10}{kind:12}{n:7}{counts}{100 * visible:9.1f}{needed:8.0f}"


SHOWN_VERDICTS = (
    OpinionVerdict.AS_PEOPLE,
    OpinionVerdict.NOISY_BUT_FAIR,
    OpinionVerdict.NOISY,
    OpinionVerdict.FAVOURS,
    OpinionVerdict.DOES_NOT_JUDGE,
    OpinionVerdict.TOO_FEW,
)


def cases(planted: Planted) -> Iterator[str]:
    """The worked cases: the first sentence, and what the page tells of each."""
    for name, judge in CASES.items():
        one = planted.held(judge(planted, generator(1, name)), name)
        alphas = {
            row.whom: f"{row.between.figures['alpha_ordinal'].value:.2f}"
            for row in one.agreement
            if row.facet == one.agreement[-1].facet and row.binarised_at is None
        }
        yield one.sentence
        yield "  ordinal alpha: " + ", ".join(f"{whom} {alphas[whom]}" for whom in (FINAL, EACH, PEOPLE))
        yield f"  replaces one assessor: {one.standing_in.may}, wins {one.standing_in.omega}"
        assert not isinstance(one.favour, Undefined)
        runs = sorted(one.favour.runs, key=lambda run: -run.by_model)
        for place, run in enumerate(one.favour.runs, start=1):
            if run.run in (*one.favour.gaining, planted.favoured, one.favour.runs[0].run):
                yield (
                    f"  {run.run}: place {place} by people, {runs.index(run) + 1} by the model; gain "
                    f"{100 * run.gain:+.1f}, beyond {100 * run.beyond:+.1f}, p {run.p_gains:.3f}"
                )


COMMAND = Command(
    __doc__,
    paths=("cranfield", "csfcube"),
    options={"seeds": 20, "fair": 100, "only": None, "share": 1.0, "cases": False},
    choices={"only": ("Cranfield", "CSFCube")},
    smallest="CRANFIELD CSFCUBE --cases",
    seconds=lambda options: (
        20
        if options.cases
        else (
            (20 + (0.6 * len(options.topics) * options.seeds if options.topics else 2 * (options.seeds + options.fair)))
            * (1 if options.only else 2)
        )
    ),
)
"""`--fair` are the seeds of fair judges; `--share` below 1 draws that share of the pairs, and tries only favours."""
COMMAND.parser.add_argument("--topics", type=int, nargs="+", help="instead, small studies of so many topics each")


def main() -> None:
    options = COMMAND.read()
    if options.cases:
        print("\n".join(cases(planted_on("CSFCube", options.csfcube))))
        return
    if options.topics:
        heads = "".join(f"{head:>9}" for head in ("agrees", "fair", "noisy", "favours", "no judge", "too few"))
        print(f"{'of 100':22}{'topics':>7}{heads}{'visible':>9}{'needed':>8}")
        for name in (options.only,) if options.only else ("CSFCube", "Cranfield"):
            planted = planted_on(name, options.csfcube if name == "CSFCube" else options.cranfield)
            for line in small_studies(planted, options.topics, options.seeds):
                print(line, flush=True)
        return
    print(f"{'of 100':27}{'right':>6}{'drawn anew':>12}{'favoured':>10}{'losing':>8}")
    for name in (options.only,) if options.only else ("CSFCube", "Cranfield"):
        planted = planted_on(name, options.csfcube if name == "CSFCube" else options.cranfield)
        for kind, (_, right) in KINDS.items():
            if options.share < 1:
                of = named(planted, kind, options.fair, share=options.share)
                favourite = f"{of['favourite']} times first" if kind == "favours" else ""
                print(f"{name:10}{kind:35}{of['gaining']:10.0f}{of['losing']:8.0f}  {favourite}", flush=True)
                continue
            said = sentences(planted, kind, options.seeds)
            seeds = options.fair if OpinionVerdict.NOISY_BUT_FAIR in right else options.seeds
            runs = named(planted, kind, seeds, share=1.0)
            shares = [100 * said[key] / options.seeds for key in ("right", "plain")]
            shares += [100 * runs[key] / seeds for key in ("gaining", "losing")]
            other = {str(key): n for key, n in said.items() if isinstance(key, OpinionVerdict) and key not in right}
            print(
                f"{name:10}{kind:17}{shares[0]:6.0f}{shares[1]:12.0f}{shares[2]:10.0f}{shares[3]:8.0f}  {other or ''}",
                flush=True,
            )


if __name__ == "__main__":
    main()
