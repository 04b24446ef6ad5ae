"""Facts of a judged collection, counted from its records."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annot import __version__
from annot.base.names import calling, without_ids
from annot.base.records import CITED, WHOLE, Source, grouped
from annot.base.settings import CollectionSettings
from annot.corpus.corpus_facts import CorpusFacts
from annot.corpus.corpus_filters import Rejection
from annot.formats.cleaning import CleanedCounts, counts_of
from annot.formats.corpora.sections import HeadingCount, StructuredAbstracts
from annot.formats.csfcube import ADJUDICATOR
from annot.formats.trec import TOPICS_FILE, write_topics
from annot.judging.comments import OfKind, own_words
from annot.judging.opinions.on_record import OpinionStatus
from annot.judging.trial_answers import HIDDEN, TRAIN, recorded_against_gold, recorded_substudy
from annot.measuring.agreement.estimates import AgreementTable, GroupAgreement
from annot.measuring.measured import read_audit, repeats_of
from annot.pools.drawn_pools import PoolOrigins
from annot.pools.frozen_rankings import ranked_corpus
from annot.pools.pooling import as_of, versions_of
from annot.publishing.release.parts import SampleInWords, protocol_of, sampled_of
from annot.publishing.report.cells import Number, coefficient
from annot.publishing.report.sections.agreement import summaries_of
from annot.publishing.report.sections.opinions import OpinionInWords, in_words
from annot.publishing.report.study import Study
from annot.publishing.report.tables import sentence, sentences, without
from annot.publishing.report.verdict import by_place
from annot.publishing.terms import Terms, citation_of
from annot.store.models import ImportedSource
from annot.store.papers import corpus_sha256, paper_ids
from annot.store.projects import StoredRound
from annot.study.outcome import Outcome, Pair, unexplained_of
from annot.study.snapshot import Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# Who judged a collection under which rules, and what came of it, counted from its records.
# ----------------------------------------------------------------------------------------------------------------------


def judging_facts(study: Snapshot, *, missing: str) -> dict[str, Any]:
    """Who judged under which rules, and what came of it.

    Sentences on the design rest on what was judged, never on how the plan was drawn: people leave. `same_team`:
    (queries of which the same assessors judged every judged pair, queries with judged pairs). `missing`: the policy
    for missing judgements in the agreement figures, `drop` or `zero`. `ratings`: what the adjudicator saw of the
    ratings, `shown`, `hidden` or `unknown`, or several where it differed. `studios`: servers on which people
    judged. `repeats`: answers to hidden repeats where both times a grade was given; `repeats_same`: those with the
    same grade again. `audit`: see `annot.measuring.measured.read_audit`. `not_counted`: (why judgements do not
    count, how many). `simulated`: whether programs stood in for the assessors. `imported`: `release`, `file`, or
    None if the judgements were made here; no plan and no audit of ours stands behind imported ones. `given_to`:
    (assessors of a pair, planned pairs that have so many). `pairs_by_judgements`: (judgements of a pair, pairs that
    have so many), of the judged pairs, the most first. `disputes`: see `_disputes`. `agreed`: pairs whose final
    grade is that of all their assessors, of whom there are several. `not_judged`: pairs of the pools that were to
    be judged and have no judgement, and all that were to be judged. `accepted`: (why, pairs with a final grade
    although they have fewer judgements than planned). `unsettled`: judged pairs that wait for a final grade.
    `unjudgeable`: (query, pairs that nobody can judge, planned pairs of it), of the queries that have such pairs;
    they have no final grade and never get one. `returned`: how often a pair was put before its assessor again with
    a reason; `returned_changed`: how often the answer then given is another one. `unexplained`: see
    `annot.study.outcome.UnexplainedSettlements`. `days`: the first and the last of the answers that count, None if
    none is on record or programs gave them. `single`: pairs whose final grade is the only judgement that they have.
    """
    outcome = study.outcome
    counting = [judgement for judgement in study.outcome.judgements if judgement.counts]
    answered = {(judgement.query_id, judgement.doc_id, judgement.assessor) for judgement in counting}
    judges = grouped((judgement.pair, judgement.assessor) for judgement in counting)
    teams = grouped((query_id, frozenset(names)) for (query_id, _), names in judges.items())
    by_pair = Counter((query_id, doc_id) for query_id, doc_id, _ in answered)
    repeats = repeats_of(outcome)
    # CSFCube's release does not say who adjudicated; the name in the store is ours.
    nameless = {ADJUDICATOR} if Source.CSFCUBE in study.sources else set()
    imported = "release" if Source.CSFCUBE in study.sources else "file" if Source.FILE in study.sources else None
    moments = [*(one.judged_at for one in counting), *(one.judged_at for one in outcome.adjudications.values())]
    days = sorted(moment[:10] for moment in moments if moment)
    report = Study(study)
    return {
        "sources": study.sources,
        "studio_versions": sorted({project.version for project in study.projects}),
        "assessors": len({judgement.assessor for judgement in counting}),
        "adjudicators": len({settled.adjudicator for settled in outcome.adjudications.values()} - nameless),
        "planned_per_pair": outcome.per_pair,
        "given_to": report.given_to,
        "same_team": (sum(len(set(of_query)) == 1 for of_query in teams.values()), len(teams)),
        "isolation": report.isolation,
        "studios": len({project.server for project in study.projects}),
        "terms_marked": not imported and _terms_marked(study),
        "missing": missing,
        "ratings": sorted(Counter(settled.ratings for settled in outcome.adjudications.values()).items()),
        "cannot_judge": sum(judgement.grade is None for judgement in counting),
        "missing_judgements": outcome.progress.missing,
        "repeats": len(repeats),
        "repeats_same": sum(repeat.first == repeat.second for repeat in repeats),
        "not_counted": sorted(
            Counter(without_ids(flag) for judgement in study.flagged for flag in judgement.flags).items()
        ),
        "audit": read_audit(study.ws),
        "simulated": report.notice is not None,
        "imported": imported,
        "pairs_by_judgements": sorted(Counter(by_pair.values()).items(), reverse=True),
        "disputes": _disputes(outcome),
        "agreed": sum(by_pair[decision.pair] > 1 for decision in outcome.decisions if decision.origin == "agreed"),
        "not_judged": _not_judged(study, by_pair.keys()),
        "accepted": report.accepted,
        "unsettled": len(
            by_pair.keys() - {decision.pair for decision in outcome.decisions} - outcome.unjudgeable.keys()
        ),
        "unjudgeable": _unjudgeable(outcome),
        **_returned(outcome),
        "unexplained": unexplained_of(outcome.adjudications, outcome.current),
        "days": (days[0], days[-1]) if days and report.notice is None else None,
        "single": sum(by_pair[decision.pair] == 1 for decision in outcome.decisions if decision.origin == "agreed"),
    }


def _disputes(outcome: Outcome) -> dict[str, int]:
    """How many pairs an adjudicator was wanted for: those in which the grades that count differ, or one is lacking
    because its assessor could not judge (`in_dispute`, which are `settled`, `open` or `closed` without a grade), and
    others on which an adjudicator decided (`besides`)."""
    differing = {one.pair for one in outcome.settlement.disputed if len({said.grade for said in one.judgements}) > 1}
    differing |= {one.pair for one in outcome.settlement.disputed if one.judgements[0].grade is None}
    return {
        "in_dispute": len(differing),
        "settled": len(differing & outcome.adjudications.keys()),
        "open": len(differing & set(outcome.open)),
        "closed": len(differing & outcome.unjudgeable.keys()),
        "besides": len(outcome.adjudications.keys() - differing),
    }


def _not_judged(study: Snapshot, judged: Collection[Pair]) -> tuple[int, int]:
    if Source.FILE in study.sources:
        return 0, 0
    wanted = {
        (query.query_id, entry.doc_id)
        for query in study.queries
        if query.topic_id in study.pools
        for entry in study.pools[query.topic_id].entries
    }
    if study.sample is not None:
        wanted = {pair for pair in wanted if study.sample.drawn(*pair)}
    return len(wanted - set(judged)), len(wanted)


def _unjudgeable(outcome: Outcome) -> list[tuple[str, int, int]]:
    planned = Counter(query_id for query_id, _ in outcome.planned)
    ended = Counter(query_id for query_id, _ in outcome.unjudgeable)
    return [(query_id, ended[query_id], planned[query_id]) for query_id in sorted(ended)]


def _returned(outcome: Outcome) -> dict[str, int]:
    said = {(answer.asked, answer.assessor): answer for answer in outcome.everything if answer.counts}
    changed = 0
    # What goes back because a text was corrected is no second look at the same pair.
    corrected = {(one.pair, one.assessor) for one in outcome.set_aside}
    returned = [one for one in outcome.returned if (one.pair, one.assessor) not in corrected]
    for back in returned:
        first, then = (said.get((asked, back.assessor)) for asked in (back.asked._replace(occasion=1), back.asked))
        changed += first is not None and then is not None and first.grade != then.grade
    return {"returned": len(returned), "returned_changed": changed}


def _terms_marked(study: Snapshot) -> bool:
    """Whether the screens mark the topic's words in the documents of pairs that are judged whole."""
    settings = study.ws.settings
    return settings.screen.mark_terms and not all(settings.facets.get(facet) for facet in study.facets.values())


# ----------------------------------------------------------------------------------------------------------------------
# What is true of a judged collection, counted from its records: card, datasheet and Croissant are filled from it.
#
# What happened is counted from rows, never taken from settings; what the collection is called stands in the settings.
# ----------------------------------------------------------------------------------------------------------------------


HASHED_IMPORTS: Mapping[str, str] = {
    Source.CSFCUBE: "imported release, all its files",
    Source.FILE: "imported file of judgements",
}


@dataclass(frozen=True, slots=True)
class CollectionFacts:
    """The whole collection."""

    collection: CollectionSettings
    """What it is called, and by whom it was made."""
    terms: Terms
    corpus: CorpusFacts
    rejected: tuple[tuple[str, int], ...]
    """Papers left out by the corpus filters, by reason."""
    sentence_labels: tuple[tuple[str, int], ...]
    """Papers by where their sentence labels come from."""
    grades: tuple[str, ...]
    """The names of the grades from 0 upward."""
    facets: list[dict[str, Any]]
    """See `_facets`, for `pool` `_pool`, for `judging` `judging_facts`, for `agreement` `_figures`."""
    pool: dict[str, Any]
    judging: dict[str, Any]
    agreement: list[dict[str, Any]]
    overruled: str
    """What counts as overruled, in a sentence; the same in card, datasheet and report."""
    interval_level: float
    """Of the intervals in `agreement`, e.g. 0.95."""
    splits: tuple[tuple[str, str, int], ...]
    """Facet (or `all`), fold, queries."""
    hashes: tuple[tuple[str, str], ...]
    """(file, SHA-256) of what the numbers were computed from, corpus first."""
    protocol: Mapping[str, str] = field(default_factory=dict)
    """See `annot.publishing.release.parts`."""
    annot_version: str = __version__
    agreement_without: tuple[str, ...] = ()
    """Why figures in `agreement` have no value or no interval."""
    agreement_best: str = "median"
    """The statistic in `agreement`; where a sample of the pools was judged, `pooled`."""
    agreement_too_thin: int = 0
    """Sampled queries that have no figures of their own, because too few pairs were drawn."""
    training: tuple[dict[str, Any], ...] = ()
    """Of each assessor in training, unnamed: gold pairs, batches, verdict, threshold, kappa with its interval."""
    hidden_gold: tuple[dict[str, Any], ...] = ()
    """Of each assessor with hidden gold among their pairs, unnamed: how many answered, kappa with its interval."""
    cleaned: CleanedCounts = counts_of({})  # noqa: RUF009
    """What was cleaned of the papers' texts as they were read."""
    structured: StructuredAbstracts = HeadingCount().found
    """The structured abstracts as they were added, whose sections gave their sentences labels."""
    words: tuple[OfKind, ...] = ()
    """What people wrote in words of their own, and whether it goes out."""
    unrated: int = 0
    """Queries whose papers were taken without a rating."""
    topics: tuple[int, int] = (0, 0)
    """Topics with a query: papers, and texts."""
    faceted: bool = True
    """Whether facets are judged."""
    sampled: SampleInWords | None = None
    """Where a sample of the pools was judged: what users of the grades must know."""
    opinions: tuple[OpinionInWords, ...] = ()
    """What models would have judged, where they were asked."""
    untrue: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By place of a page, a sentence for each thing that it rests on and that is not true."""
    early_trials: tuple[OpinionStatus, ...] = ()
    """Opinions that are not reported, but were asked or shown before people had judged."""
    substudy: dict[str, Any] | None = None
    """How abstracts, full texts and final grades agree, two by two, and seconds a pair; None without a sub-study."""

    def total(self, count: str) -> Any:
        """The sum over facets of a count; None if one has none."""
        counts = [facet[count] for facet in self.facets]
        return None if None in counts else sum(counts)

    @property
    def scale(self) -> str:
        """`0 Irrelevant, 1 Related ...`."""
        return ", ".join(f"{grade} {name}" for grade, name in enumerate(self.grades))

    @property
    def topic_word(self) -> str:
        """What a topic is called: one that is a paper has a word of its own."""
        return "topic" if self.topics[1] else "query paper"

    @property
    def topic_language(self) -> str:
        """Of the topics that are texts."""
        return self.collection.language_of_topics

    @property
    def languages(self) -> tuple[str, ...]:
        """Of documents and topics; the topics' second, where it is another one."""
        both = (self.collection.language, *((self.topic_language,) if self.topics[1] else ()))
        return tuple(dict.fromkeys(both))

    @property
    def citation(self) -> str:
        """How to cite it."""
        return citation_of(self.collection, self.terms)


def facts_of(measured: Study, corpus: CorpusFacts, terms: Terms) -> CollectionFacts:
    """The facts, counted."""
    study, agreement = measured.snapshot, measured.agreement
    settings = study.ws.settings
    protocol = protocol_of(study)
    ranked = ranked_corpus(study.ws).ranked if measured.added else None
    imports = tuple(_counted_imports(study, set(measured.added)))
    figures = list(_figures(agreement, agreement.groups if study.faceted else agreement.groups[-1:]))
    with calling(lambda: study.called):
        return CollectionFacts(
            collection=settings.collection,
            terms=terms,
            corpus=corpus,
            rejected=_rejected(imports),
            sentence_labels=tuple(measured.label_origins.items()),
            grades=settings.scale.names,
            facets=list(_facets(study, agreement)),
            overruled=sentence("agreement.overruled"),
            pool=_pool(study, measured.origins),
            judging=judging_facts(study, missing=agreement.missing),
            agreement=[{**one, "value": str(one["value"])} for one in figures],
            agreement_without=without(one["value"] for one in figures),
            agreement_best=agreement.best,
            agreement_too_thin=agreement.too_thin,
            interval_level=settings.agreement.level,
            splits=tuple(
                (name, fold, len(query_ids))
                for name, folds in study.splits.items()
                for fold, query_ids in folds.items()
            ),
            hashes=tuple(_hashes(study, corpus, protocol, ranked=ranked)),
            protocol=protocol,
            training=tuple(_against_gold(study, TRAIN)),
            hidden_gold=tuple(_against_gold(study, HIDDEN)),
            cleaned=_cleaned(imports),
            structured=_structured(imports),
            words=own_words(study).kinds,
            unrated=len(_unrated(study)),
            topics=_topics(study),
            faceted=study.faceted,
            sampled=sampled_of(measured),
            untrue=by_place(measured.findings),
            opinions=in_words(measured.reported_opinions),
            early_trials=tuple(
                one.standing for one in measured.opinions_on_record if one.standing.early and not one.standing.reported
            ),
            substudy=recorded_substudy(study.trials),
        )


def _against_gold(study: Snapshot, round: StoredRound) -> Iterator[dict[str, Any]]:
    """By figure, so that the order tells nobody's name."""
    found = list(recorded_against_gold(study.trials, round))
    for one in sorted(found, key=lambda one: (one["value"] is None, one["value"] or 0.0)):
        yield {**one, "assessor": ""}


def _counted_imports(study: Snapshot, uncounted: set[str]) -> Iterator[ImportedSource]:
    """The imports on record without those additions to the corpus that brought only papers which are not counted."""
    papers = paper_ids(study.ws.corpus) if uncounted else ()
    for imported in study.imports:
        first, kept = imported.facts.get("papers_before", 0), imported.facts.get("kept", 0)
        brought = papers[first : first + kept] if imported.what == Source.CORPUS else ()
        if not brought or not uncounted.issuperset(brought):
            yield imported


def _rejected(imports: Sequence[ImportedSource]) -> tuple[tuple[str, int], ...]:
    """Papers that the filters left out, over everything that was added; a paper that came twice is in the corpus."""
    total = Counter[str]()
    for imported in imports:
        if imported.what == Source.CORPUS:
            total.update(imported.facts["rejected"])
    return tuple(sorted((reason, papers) for reason, papers in total.items() if reason != Rejection.DUPLICATE_ID))


def _cleaned(imports: Sequence[ImportedSource]) -> CleanedCounts:
    """What was cleaned, over everything that was added."""
    total = Counter[str]()
    for imported in imports:
        total.update(imported.facts.get("cleaned", {}))
    return counts_of(total)


def _structured(imports: Sequence[ImportedSource]) -> StructuredAbstracts:
    """The headings, over everything that was added."""
    total = HeadingCount()
    for imported in imports:
        total.remember(imported.facts.get("sections", {}))
    return total.found


def _unrated(study: Snapshot) -> set[str]:
    """The queries that were chosen from a sample without a rating."""
    known = {query.query_id for query in study.queries}
    return {name for one in study.imports if one.what == Source.UNRATED for name in one.facts["queries"]} & known


def _topics(study: Snapshot) -> tuple[int, int]:
    asked = set(study.topics.values())
    return len(asked - study.texts.keys()), len(asked & study.texts.keys())


def _facets(study: Snapshot, agreement: AgreementTable) -> Iterator[dict[str, Any]]:
    """Each facet's counts.

    `labels`: the sentence labels that make it; none if no sentence of its queries is on record. `grades[g]`: pairs
    with the final grade g. `overruled`: as the report counts them; None while disputes are open. `doubly`: the pairs
    with two grades or more, among which they are counted.
    """
    facet_of = study.facets
    counting = [judgement for judgement in study.outcome.judgements if judgement.counts]
    groups = {group.name: group for group in agreement.groups}
    queries, judgements = Counter(facet_of.values()), Counter(facet_of[judgement.query_id] for judgement in counting)
    with_sentences = {query.facet for query in study.queries if query.sentences}
    known = study.ws.settings.facets
    for facet, labels in (known | {WHOLE: known.get(WHOLE, ())}).items():
        if facet in queries:
            decisions = [decision for decision in study.outcome.decisions if facet_of[decision.query_id] == facet]
            grades = Counter(decision.grade for decision in decisions)
            group = groups.get(facet)
            yield {
                "facet": facet,
                "labels": labels if facet in with_sentences else (),
                "queries": queries[facet],
                "pairs": len(decisions),
                "judgements": judgements[facet],
                "grades": tuple(grades[grade] for grade in study.ws.settings.scale.grades),
                "adjudicated": sum(decision.origin == "adjudicated" for decision in decisions),
                "overruled": 0 if group is None else None if group.not_settled else group.overruled.pooled.count,
                "doubly": 0 if group is None else group.overruled.pooled.of,
            }


def _pool(study: Snapshot, origins: PoolOrigins) -> dict[str, Any]:
    """How the pools were drawn, and their sizes in documents.

    `rules`: a pool for each rule (mode, quota, depth, seed) by which some were drawn. `judged`: whether the judged
    pairs were found by these pools; not where judgements were imported without them. `versions`: what was added after
    the draw (`annot.pools.pooling.Version`). `ranked`: whether the ranks at which the methods had their documents are
    on record. `origins`: what is told of near-duplicates and of citations that were added, in sentences; `citations`:
    whether any were added without papers.
    """
    pools = study.pools.values()
    rules = {(pool.mode, pool.per_method, pool.ranking_depth, pool.seed): pool for pool in pools}
    methods = {method for pool in pools for method in as_of(pool, 1).methods}
    return {
        "rules": [rules[rule] for rule in sorted(rules, key=repr)],
        "methods": sorted(methods, key=lambda name: (name != CITED, name)),
        "without": sorted({method for pool in pools for method in pool.without}),
        "sizes": [len(pool.entries) for pool in pools],
        "judged": bool(pools) and Source.FILE not in study.sources,
        "versions": versions_of(pools),
        "origins": sentences("collection.origins", origins=origins),
        "citations": any(one.sha256 is not None for one in origins.citations),
        "ranked": any(entry.drawn.rank is not None for pool in pools for entry in pool.entries),
    }


def _figures(table: AgreementTable, groups: Sequence[GroupAgreement]) -> Iterator[dict[str, Any]]:
    """Each coefficient as the median over the queries of a facet, or of all (`together`), before and after
    adjudication: its name as it is printed, and its value with the interval. Where a sample of the pools was judged, of
    all pairs together."""
    pooled = table.best == "pooled"
    for group, stage, summaries in summaries_of(groups):
        for name in (*table.headline, *(name for name in ("ac2",) if name in table.distinct)):
            summary = summaries[name]
            yield {
                "facet": group.name,
                "stage": stage,
                "coefficient": table.titles[name],
                "value": Number(
                    summary.pooled if pooled else summary.median,
                    coefficient(name),
                    (summary.intervals or {}).get(table.best),
                ),
                "n_queries": group.n_queries if pooled else summary.n_queries,
                "n_pairs": summary.n_pairs_pooled if pooled else summary.n_pairs,
            }


def _hashes(
    study: Snapshot, corpus: CorpusFacts, protocol: Mapping[str, str], *, ranked: str | None
) -> Iterator[tuple[str, str]]:
    """ranked: of the corpus without the papers that were added after the pools were drawn; None if there are none."""
    if ranked:
        yield "corpus as it was ranked, its content", ranked
    elif corpus.papers:
        yield "corpus, its content", corpus_sha256(study.ws.corpus)
    if study.texts:
        yield TOPICS_FILE, hashlib.sha256(write_topics(study.texts.values()).encode()).hexdigest()
    for imported in study.imports:
        if imported.what in HASHED_IMPORTS:
            yield HASHED_IMPORTS[imported.what], imported.source_sha256
    rankings = "".join(f"{paper_id} {sha256}\n" for paper_id, sha256 in study.rankings_sha256.items())
    if rankings and Source.CSFCUBE not in study.sources:
        yield "rankings behind the pools, all", hashlib.sha256(rankings.encode()).hexdigest()
    for name, text in protocol.items():
        yield name, hashlib.sha256(text.encode()).hexdigest()
    for run in study.runs:
        yield f"runs/{run.tag}.run", run.sha256
