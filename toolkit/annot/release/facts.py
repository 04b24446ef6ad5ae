"""What is true of the collection, from its records: the numbers and words of card, datasheet and Croissant."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from annot import __version__
from annot.agreement import HEADLINE, AgreementTable, Interval, Summary, Undefined
from annot.corpus_filters import Rejection
from annot.formats.csfcube import ADJUDICATOR
from annot.pooling import CITED
from annot.records import Judgement, Source
from annot.release.collection import AgreementFigure, CollectionFacts, FacetFacts, JudgingFacts, PoolFacts
from annot.store.papers import corpus_sha256
from annot.study.corpus_facts import CorpusFacts
from annot.study.measured import repeats_of
from annot.study.snapshot import Snapshot

COEFFICIENTS = (*HEADLINE, "ac2")
NOT_RELEASED = "not part of the release, and not ours to license"


def facts_of(
    study: Snapshot,
    corpus: CorpusFacts,
    agreement: AgreementTable,
    *,
    with_text: bool,
    licence: str,
    text_licence: str,
    published: str,
) -> CollectionFacts:
    """The facts. What happened is counted from rows; what the collection is called stands in the settings."""
    collection, settings = study.ws.settings.collection, study.ws.settings
    return CollectionFacts(
        name=collection.name,
        title=collection.title,
        version=collection.version,
        description=collection.description,
        language=collection.language,
        licence=licence,
        text_licence=text_licence or NOT_RELEASED,
        with_text=with_text,
        creators=collection.creators,
        url=collection.url,
        published=published,
        cite_as=collection.citation or None,
        keywords=collection.keywords,
        papers=corpus.papers,
        rejected=_rejected(study),
        first_year=corpus.years[0] if corpus.years else None,
        last_year=corpus.years[1] if corpus.years else None,
        without_year=corpus.without_year,
        sentence_labels=tuple((_origin(origin), count) for origin, count in study.label_origins.items()),
        grades=settings.scale.names,
        facets=tuple(_facets(study)),
        pool=_pool(study),
        judging=_judging(study, missing=agreement.missing),
        agreement=tuple(_figures(agreement)),
        interval_level=settings.agreement.level,
        splits=tuple(
            (name, fold, len(query_ids)) for name, folds in study.splits.items() for fold, query_ids in folds.items()
        ),
        runs=tuple(run.tag for run in study.runs),
        annot_version=__version__,
        hashes=tuple(_hashes(study, corpus)),
        commands=_commands(study, corpus, missing=agreement.missing),
    )


def _rejected(study: Snapshot) -> tuple[tuple[str, int], ...]:
    """Papers that the filters left out, over everything that was added; a paper that came twice is in the corpus."""
    total = Counter[str]()
    for one in study.imports:
        if one.what == Source.CORPUS:
            total.update(
                {name: count for name, count in one.facts["rejected"].items() if name != Rejection.DUPLICATE_ID}
            )
    return tuple(sorted(total.items()))


def _origin(origin: str) -> str:
    if origin.startswith(Source.PREDICTED):
        return f"labelled by a model (SHA-256 {origin.removeprefix(f'{Source.PREDICTED}:')}…)"
    words: dict[str, str] = {
        Source.CARRIED: "with labels that the corpus carries",
        Source.CORRECTED: "with labels that a person corrected",
    }
    return words[Source(origin)]


def _facets(study: Snapshot) -> Iterable[FacetFacts]:
    facet_of = {query.query_id: query.facet for query in study.queries}
    given: dict[tuple[str, str], set[int | None]] = {}
    judgements = Counter[str]()
    for one in _counting(study):
        given.setdefault((one.query_id, one.doc_id), set()).add(one.grade)
        judgements[facet_of[one.query_id]] += 1
    there = set(facet_of.values())
    sentences = {query.facet for query in study.queries if query.sentences}
    for facet, labels in study.ws.settings.facets.items():
        if facet in there:
            decisions = [one for one in study.outcome.decisions if facet_of[one.query_id] == facet]
            grades = Counter(one.grade for one in decisions)
            yield FacetFacts(
                facet=facet,
                labels=labels if facet in sentences else (),
                queries=sum(found == facet for found in facet_of.values()),
                pairs=len(decisions),
                judgements=judgements[facet],
                grades=tuple(grades[grade] for grade in study.ws.settings.scale.grades),
                adjudicated=sum(one.origin == "adjudicated" for one in decisions),
                over_ruled=sum(one.grade not in given.get((one.query_id, one.doc_id), set()) for one in decisions),
            )


def _pool(study: Snapshot) -> PoolFacts:
    """How the pools were drawn; where they differ, each way is named."""
    pools = list(study.pools.values())
    sizes = [len(pool.entries) for pool in pools]
    names = {method for pool in pools for method in pool.methods}
    ways = sorted({(pool.mode, pool.per_method, pool.ranking_depth, pool.seed) for pool in pools}, key=repr)
    mode, per_method, depth, seed = ways[0] if len(ways) == 1 else (_several(ways), None, None, None)
    return PoolFacts(
        mode=mode,
        methods=tuple(sorted(names, key=lambda name: (name != CITED, name))),
        without=tuple(sorted({method for pool in pools for method in pool.without})),
        per_method=per_method,
        ranking_depth=depth,
        seed=seed,
        pools=len(pools),
        smallest=min(sizes, default=0),
        mean=sum(sizes) / len(sizes) if sizes else 0.0,
        largest=max(sizes, default=0),
        judged=bool(pools) and Source.FILE not in study.sources,
    )


def _several(ways: Iterable[tuple[str, int | None, int | None, int | None]]) -> str:
    told = []
    for mode, per_method, depth, seed in ways:
        parts = {"{} new papers a method": per_method, "rankings of {}": depth, "seed {}": seed}
        told.append(", ".join([mode, *(words.format(value) for words, value in parts.items() if value is not None)]))
    return "; ".join(told)


def _judging(study: Snapshot, *, missing: str) -> JudgingFacts:
    outcome = study.outcome
    counting = _counting(study)
    teams: dict[str, set[tuple[str, ...]]] = {}
    for (query_id, _), team in outcome.planned.items():
        teams.setdefault(query_id, set()).add(team)
    answered = {(one.query_id, one.doc_id, one.assessor) for one in counting}
    asked = {(*pair, assessor) for pair, team in outcome.planned.items() for assessor in team}
    repeats = repeats_of(outcome)
    ratings = sorted({one.ratings for one in outcome.adjudications.values()})
    by_pair = Counter((query_id, doc_id) for query_id, doc_id, _ in answered)
    # CSFCube's release does not say who adjudicated; the name in the store is ours.
    nameless = {ADJUDICATOR} if Source.CSFCUBE in study.sources else set()
    agreed = {(one.query_id, one.doc_id) for one in outcome.decisions if one.origin == "agreed"}
    return JudgingFacts(
        platform=", ".join(_platform(source, study) for source in study.sources),
        assessors=len({one.assessor for one in counting}),
        adjudicators=len({one.adjudicator for one in outcome.adjudications.values()} - nameless),
        per_pair=_most_common([len(team) for team in outcome.planned.values()]),
        assignment="per-query" if all(len(found) == 1 for found in teams.values()) else "per-pair",
        isolation=_isolation(study),
        missing=missing,
        ratings=ratings[0] if len(ratings) == 1 else " and ".join(ratings) or "Nothing was adjudicated.",
        cannot_judge=sum(one.grade is None for one in counting),
        missing_judgements=len(asked - answered),
        repeats=len(repeats),
        repeats_same=sum(one.first == one.second for one in repeats),
        audit=_audit(study.flagged),
        simulated=any(one.what == Source.SIMULATION for one in study.imports),
        imported="release" if Source.CSFCUBE in study.sources else "file" if Source.FILE in study.sources else None,
        pairs_by_judgements=tuple(sorted(Counter(by_pair.values()).items())),
        unsettled=len(by_pair.keys() - {(one.query_id, one.doc_id) for one in outcome.decisions}),
        single=sum(by_pair[pair] == 1 for pair in agreed),
    )


def _platform(source: str, study: Snapshot) -> str:
    versions = " and ".join(sorted({one.version for one in study.projects}))
    words: dict[str, str] = {
        Source.LABEL_STUDIO: f"Label Studio {versions} (free edition)",
        Source.CSFCUBE: "another tool (CSFCube's release was imported)",
        Source.FILE: "another tool (a file of judgements was imported)",
    }
    return words[source]


def _isolation(study: Snapshot) -> str:
    """`server` where every assessor had one of their own, as the projects on record say."""
    if Source.LABEL_STUDIO not in study.sources:
        return (
            "In which order they judged, what they were shown and how they were kept apart is not on record here: "
            "the judgements were imported."
        )
    judging = [project for project in study.projects if project.round == "judge"]
    servers = {project.server for project in judging}
    return "server" if len(judging) > 1 and len(servers) == len(judging) else "project"


def _audit(flagged: Iterable[Judgement]) -> tuple[str, ...]:
    """Why judgements do not count, each reason with how often; ids of the server are no part of it."""
    reasons = Counter(re.sub(r"\d+", "N", flag) for one in flagged for flag in one.flags)
    return tuple(
        f"{count} judgement{'' if count == 1 else 's'} not counted: {reason}"
        for reason, count in sorted(reasons.items())
    )


def _figures(table: AgreementTable) -> Iterable[AgreementFigure]:
    for group in table.groups:
        for name in COEFFICIENTS:
            yield _figure(group.before[name], facet=group.name, stage="before", title=table.titles[name])
        for name in COEFFICIENTS:
            yield _figure(group.after[name], facet=group.name, stage="after", title=table.titles[name])


def _figure(summary: Summary, *, facet: str, stage: Literal["before", "after"], title: str) -> AgreementFigure:
    value = summary.median
    interval: Interval | Undefined = Undefined("too few queries")
    if summary.intervals:
        # As `annot agreement` and the report print it.
        both = summary.intervals["median"]
        interval = both.percentile if isinstance(both.bca, Undefined) else both.bca
    return AgreementFigure(
        facet=facet,
        stage=stage,
        coefficient=title,
        statistic="median over queries",
        value=None if isinstance(value, Undefined) else value,
        low=None if isinstance(interval, Undefined) else interval.low,
        high=None if isinstance(interval, Undefined) else interval.high,
        n_queries=summary.n_queries,
        n_pairs=summary.n_pairs,
        undefined=value.reason if isinstance(value, Undefined) else None,
        without_interval=interval.reason if isinstance(interval, Undefined) else None,
    )


def _hashes(study: Snapshot, corpus: CorpusFacts) -> Iterable[tuple[str, str]]:
    if corpus.papers:
        yield "corpus, its content", corpus_sha256(study.ws.corpus)
    words: dict[str, str] = {
        Source.CSFCUBE: "the imported release, all its files",
        Source.FILE: "an imported file of judgements",
    }
    for one in study.imports:
        if one.what in words:
            yield words[one.what], one.source_sha256
    rankings = "".join(f"{paper_id} {sha256}\n" for paper_id, sha256 in study.rankings_sha256.items())
    if rankings and Source.CSFCUBE not in study.sources:
        yield "rankings behind the pools, all", hashlib.sha256(rankings.encode()).hexdigest()
    if study.plan is not None and Source.LABEL_STUDIO in study.sources:
        yield "pools/plan.jsonl", study.plan.sha256
    for run in study.runs:
        yield f"runs/{run.tag}.run", run.sha256


def _commands(study: Snapshot, corpus: CorpusFacts, *, missing: str) -> Mapping[str, str]:
    ours = {
        "corpus": "annot corpus add",
        "facets": "annot facets",
        "queries": "annot query list",
        "pool": "annot pool",
        "judgements": "annot pull",
        "audit": "annot pull",
    }
    if Source.CSFCUBE in study.sources:
        ours = dict.fromkeys(ours, "annot import csfcube")
    elif Source.LABEL_STUDIO not in study.sources:
        ours |= dict.fromkeys(("judgements", "audit"), "annot import judgements")
    there = {"corpus": corpus.papers, "facets": study.label_origins, "pool": study.pools}
    ours = {group: command for group, command in ours.items() if there.get(group, True)}
    return ours | {"agreement": f"annot agreement --missing {missing}", "qrels": "annot qrels"}


def _counting(study: Snapshot) -> list[Judgement]:
    return [
        one
        for one in study.outcome.judgements
        if not one.flags and (one.grade is not None or one.cannot_judge is not None)
    ]


def _most_common(values: Sequence[int]) -> int:
    """The most frequent value, the smaller one of two; 0 where there is none."""
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value), default=0)
