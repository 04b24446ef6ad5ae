"""What the records tell of the datasheet's questions, in Markdown, each number with the command behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from annot.release.collection import TOGETHER, CollectionFacts, counted, figure_text, thousands
from annot.release.licences import licence

ISOLATION = {
    "project": (
        "Each assessor had a Label Studio project of their own on one server. The server did not enforce blindness; "
        "the audit checked afterwards whether it held."
    ),
    "server": "Each assessor had a Label Studio server of their own, so that nobody could open another's judgements.",
}
MISSING = {
    "drop": "a missing judgement is left out of the agreement figures, its pair stays with the grades that it has",
    "zero": "a missing judgement counts as grade 0 in the agreement figures",
}
RATINGS = {
    "shown": "The adjudicator saw the ratings, unnamed and in shuffled order.",
    "hidden": "The adjudicator did not see the ratings.",
    "unknown": "What the adjudicator saw of the ratings is not on record here.",
}


def told(facts: CollectionFacts) -> dict[str, tuple[str, ...]]:
    """Blocks of Markdown by question id; a question that the records say nothing about is not there."""
    return {question: blocks for question, tell in _TELL.items() if (blocks := tuple(filter(None, tell(facts))))}


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; a vertical bar in a cell is escaped, a line break becomes a space."""

    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(" ".join(str(cell).split()).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(headings), line(["---"] * len(headings)), *(line(row) for row in rows)])


def grades_table(facts: CollectionFacts) -> str:
    """Queries, pairs, judgements and final grades, a row a facet."""
    heads = ["facet", "queries", "pairs", "judgements", *facts.grades, "adjudicated", "over-ruled"]
    return markdown_table(
        heads,
        [
            [
                one.facet,
                *map(thousands, (one.queries, one.pairs, one.judgements)),
                *map(thousands, (*one.grades, one.adjudicated, one.over_ruled)),
            ]
            for one in facts.facets
        ],
    )


def agreement_table(facts: CollectionFacts) -> str:
    """Every coefficient with interval and n; nothing where none is known."""
    if not facts.agreement:
        return ""
    return markdown_table(
        [
            "facet",
            "adjudication",
            "coefficient",
            "statistic",
            f"value [{100 * facts.interval_level:g}% interval]",
            "queries",
            "pairs",
        ],
        [
            [
                "all together" if one.facet == TOGETHER else one.facet,
                *(one.stage, one.coefficient, one.statistic, figure_text(one)),
                *map(thousands, (one.n_queries, one.n_pairs)),
            ]
            for one in facts.agreement
        ],
    )


def simulation_notice(facts: CollectionFacts) -> str:
    """What must be said first where programs judged."""
    if not facts.judging.simulated:
        return ""
    return "**The judgements are simulated by programs.** They say nothing about how people would judge."


def missing_told(facts: CollectionFacts) -> str:
    """Which judgements are missing."""
    judging = facts.judging
    missing = thousands(judging.missing_judgements)
    if judging.imported == "file":
        told = f"{counted(judging.cannot_judge, 'judgement')} stand{'s' if judging.cannot_judge == 1 else ''} in what "
        told += "was imported without a grade; whether more were asked for is not on record here"
    elif judging.imported:
        told = f"{missing} judgements are missing in what was imported"
    else:
        told = f"{missing} planned judgements are missing, in {thousands(judging.cannot_judge)} cases an assessor "
        told += "could not judge"
    return told


def unjudged_told(facts: CollectionFacts) -> str:
    """What has no final grade."""
    told = "Papers outside of the pools are unjudged." if facts.pool.judged else "A pair without a grade is unjudged."
    if unsettled := facts.judging.unsettled:
        verb = "has no final grade and is" if unsettled == 1 else "have no final grade and are"
        told = f"{counted(unsettled, 'judged pair')} {verb} unjudged in the qrels. {told}"
    return told


def people_told(facts: CollectionFacts) -> str:
    """How many people judged and settled, and how many judgements the pairs have."""
    judging = facts.judging
    who = counted(judging.assessors, "assessor")
    if judging.adjudicators or not facts.adjudicated:
        who += f" and {counted(judging.adjudicators, 'adjudicator')}"
    else:
        who += "; who adjudicated is not on record here"
    if not judging.imported:
        return f"{who}; {judging.per_pair} judgements a pair, assigned {judging.assignment}."
    numbers = ", ".join(
        f"{counted(many, 'judgement')} on {counted(pairs, 'pair')}" for many, pairs in judging.pairs_by_judgements
    )
    return f"{who}; {numbers}."


def settled_told(facts: CollectionFacts, *, cited: str) -> str:
    """Where the final grades come from. `cited`: the command behind it, if named."""
    over_ruled = sum(one.over_ruled for one in facts.facets)
    single = ""
    if facts.judging.single:
        single = f" On {counted(facts.judging.single, 'pair')} the only judgement is the final grade."
    return (
        f"{thousands(facts.adjudicated)} of {counted(facts.pairs, 'pair')} were settled by an adjudicator, in "
        f"{thousands(over_ruled)} of them with a grade that nobody had given{cited}.{single}"
    )


def per_item(facts: CollectionFacts) -> str:
    """How many judgements a pair has: `2`, or `1 to 3`."""
    found = [many for many, _ in facts.judging.pairs_by_judgements]
    if not facts.judging.imported or not found:
        return str(facts.judging.per_pair)
    return str(found[0]) if len(found) == 1 else f"{min(found)} to {max(found)}"


def _instances(facts: CollectionFacts) -> list[str]:
    what = "Papers (title and abstract), queries" if facts.papers else "Papers (by their ids), queries"
    made = "; ".join(f"{one.facet} = {', '.join(one.labels)}" for one in facts.facets if one.labels)
    facets = f"The facets are made of sentence labels: {made}."
    if not made:
        facets = f"The facets are {', '.join(one.facet for one in facts.facets)}; which sentences make them is not on "
        facets += "record here."
    return [
        f"{what} (a paper and one facet of it), and judgements of pairs of a query and a paper on the scale "
        f"{facts.scale}. {facets}"
    ]


def _count(facts: CollectionFacts) -> list[str]:
    pool = facts.pool
    sizes = f"{pool.smallest} to {pool.largest} papers, {pool.mean:.1f} on average"
    if pool.smallest == pool.largest:
        sizes = f"{pool.smallest} papers each"
    papers = f"{thousands(facts.papers)} papers{facts.command('corpus')}; " if facts.papers else ""
    pools = f"{counted(pool.pools, 'pool')} of {sizes}{facts.command('pool')}; " if pool.pools else ""
    return [
        f"{papers}{thousands(facts.queries)} queries{facts.command('queries')}; {pools}"
        f"{thousands(facts.pairs)} pairs with a final grade and "
        f"{thousands(facts.judgements)} judgements{facts.command('qrels')}.",
        grades_table(facts),
    ]


def _content(facts: CollectionFacts) -> list[str]:
    if not facts.papers:
        return ["Ids only: titles and abstracts are not on record here."]
    texts = (
        "Titles and abstracts as raw text, cut into sentences."
        if facts.with_text
        else "Ids only: titles and abstracts are not part of the release."
    )
    origins = "; ".join(f"{thousands(count)} papers {origin}" for origin, count in facts.sentence_labels)
    labels = f" Each sentence has a label: {origins}{facts.command('facets')}." if origins else ""
    return [f"{texts}{labels} Years: {facts.years}."]


def _label(facts: CollectionFacts) -> list[str]:
    return [
        f"The final grade of a pair, one of {facts.scale}. A pair without one is unjudged, which is not the same as 0. "
        "The raw judgements lie beside the final grades, under pseudonyms."
    ]


def _missing(facts: CollectionFacts) -> list[str]:
    policy = MISSING.get(facts.judging.missing, facts.judging.missing)
    years = f" {thousands(facts.without_year)} papers have no year." if facts.papers else ""
    return [f"{missing_told(facts)}{facts.command('judgements')}; {policy}.{years} {unjudged_told(facts)}"]


def _relationships(facts: CollectionFacts) -> list[str]:
    what = "qrels, judgements and pools" if facts.pool.pools else "qrels and judgements"
    return [f"Queries name their paper; {what} name query and paper by id."]


def _splits(facts: CollectionFacts) -> list[str]:
    if not facts.splits:
        return ["None on record." if facts.judging.imported else "None: the whole collection is meant for testing."]
    rows = [[facet, fold, queries] for facet, fold, queries in facts.splits]
    return ["Folds of queries:", markdown_table(["facet", "fold", "queries"], rows)]


def _errors(facts: CollectionFacts) -> list[str]:
    table = agreement_table(facts)
    head = (
        f"Agreement between the assessors, before and after adjudication{facts.command('agreement')}; intervals from "
        "resampling whole queries (BCa; percentile where BCa has no value):"
    )
    findings = "\n".join(f"- {finding}" for finding in facts.judging.audit)
    audit = f"The audit of the judgements{facts.command('audit')} found " + ("nothing." if not findings else "this:")
    if facts.judging.imported:
        audit = "Who answered what was not audited here: the judgements were imported."
    return [*([head, table] if table else []), audit, findings]


def _external(facts: CollectionFacts) -> list[str]:
    if not facts.papers:
        return ["Titles and abstracts are not on record here; the ids are those of the imported judgements."]
    held = "are part of the release" if facts.with_text else "must be fetched from their source, by id"
    return [f"Titles and abstracts {held}."]


def _mechanisms(facts: CollectionFacts) -> list[str]:
    judging, pool = facts.judging, facts.pool
    without = f", without {', '.join(pool.without)}" if pool.without else ""
    seed = "" if pool.seed is None else f", seed {pool.seed}"
    depth = "" if pool.ranking_depth is None else f", rankings of {thousands(pool.ranking_depth)}"
    quota = "" if pool.per_method is None else f", {pool.per_method} new papers a method"
    drawn = f"drawn by {', '.join(pool.methods)}{without} ({pool.mode}{quota}{depth}{seed}){facts.command('pool')}"
    found = f"Pools were {drawn}"
    if not pool.judged:
        later = f"; they do not come from the pools here, {drawn}" if pool.pools else ""
        found = f"How the pairs to judge were found is not on record here{later}"
    version = ", read by annot" if judging.imported else " under annot"
    return [
        f"{found}. Judged with {judging.platform}{version} {facts.annot_version}. "
        f"{ISOLATION.get(judging.isolation, judging.isolation)}"
    ]


def _sampling(facts: CollectionFacts) -> list[str]:
    rejected = "; ".join(f"{reason}: {thousands(count)}" for reason, count in facts.rejected)
    filters = f"Papers left out of the corpus: {rejected}{facts.command('corpus')}. " if rejected else ""
    if not facts.pool.judged:
        return [f"{filters}How the judged papers were chosen is not on record here."]
    return [f"{filters}Of the corpus, only pooled papers are judged; a pool is no random sample."]


def _involved(facts: CollectionFacts) -> list[str]:
    judging = facts.judging
    who = "Simulated: " if judging.simulated else ""
    repeats = ""
    if judging.repeats:
        again = counted(judging.repeats, "pair")
        repeats = (
            f" {again} came a second time to the same assessor, unannounced; {thousands(judging.repeats_same)} of them "
            f"got the same grade again{facts.command('repeats')}."
        )
    return [f"{who}{people_told(facts)}{repeats}"]


def _done(facts: CollectionFacts) -> list[str]:
    ratings = facts.judging.ratings
    settled = settled_told(facts, cited=facts.command("qrels"))
    return [f"Equal grades stand; {settled} {RATINGS.get(ratings, ratings)}"]


def _raw(facts: CollectionFacts) -> list[str]:
    settled = ", and the adjudications with the reasons that were given" if facts.adjudicated else ""
    return [f"Yes: each assessor's judgements under pseudonyms{settled}."]


def _software(facts: CollectionFacts) -> list[str]:
    commands = ", ".join(f"`{command}`" for command in dict.fromkeys(facts.commands.values()))
    return [f"annot {facts.annot_version} (GPL-3.0-or-later)" + (f": {commands}." if commands else ".")]


def _when(facts: CollectionFacts) -> list[str]:
    return [f"Version {facts.version}" + (f": {facts.published}." if facts.published else ".")]


def _licence(facts: CollectionFacts) -> list[str]:
    judgements = "not chosen yet"
    if facts.licence:
        found = licence(facts.licence)
        judgements = f"[{found.name}]({found.url})"
    return [f"Judgements: {judgements}. Titles and abstracts: {facts.text_licence}."]


def _language(facts: CollectionFacts) -> list[str]:
    return [f"`{facts.language}` (BCP 47)."]


def _recording(facts: CollectionFacts) -> list[str]:
    return ["Does not apply: the texts are written."]


_TELL: dict[str, Callable[[CollectionFacts], list[str]]] = {
    "motivation.creators": lambda facts: [", ".join(facts.creators) + "."] if facts.creators else [],
    "composition.instances": _instances,
    "composition.count": _count,
    "composition.content": _content,
    "composition.label": _label,
    "composition.missing": _missing,
    "composition.relationships": _relationships,
    "composition.splits": _splits,
    "composition.errors": _errors,
    "composition.external": _external,
    "collection.mechanisms": _mechanisms,
    "collection.sampling": _sampling,
    "collection.involved": _involved,
    "preprocessing.done": _done,
    "preprocessing.raw": _raw,
    "preprocessing.software": _software,
    "distribution.when": _when,
    "distribution.licence": _licence,
    "statement.language": _language,
    "statement.recording": _recording,
}
