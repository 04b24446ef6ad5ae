"""Facts of a judged collection, counted from its records."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from annot import __version__
from annot.base.names import without_ids
from annot.base.records import CITED, NAMELESS_ADJUDICATOR, WHOLE, Source, grouped
from annot.corpus.corpus_facts import CorpusFacts
from annot.corpus.corpus_filters import Rejection
from annot.formats.cleaning import counts_of
from annot.formats.corpora.sections import HeadingCount, StructuredAbstracts
from annot.formats.trec import TOPICS_FILE, write_topics
from annot.judging.comments import PublishedWords
from annot.judging.trial_answers import HIDDEN, TRAIN, recorded_against_gold, recorded_substudy
from annot.measuring.agreement.estimates import AgreementTable, GroupAgreement
from annot.measuring.measured import read_audit, repeats_of
from annot.pools.drawn_pools import PoolOrigins
from annot.pools.frozen_rankings import ranked_corpus
from annot.pools.pooling import pool_in_version, versions_of
from annot.publishing.release.parts import SampleInWords, protocol_of
from annot.publishing.report.notices import notices_by_place
from annot.publishing.report.sections.agreement import figure_of, stages_of, summaries_at
from annot.publishing.report.sections.over_time import history
from annot.publishing.report.sections.whole import sections_added
from annot.publishing.report.study import Study
from annot.publishing.report.tables import missing_figures, sentence, sentences
from annot.publishing.terms import Terms, citation_of
from annot.store.models import ImportedSource, StoredRound
from annot.store.papers import corpus_sha256, paper_ids
from annot.study.outcome import Outcome, Pair, unexplained_of
from annot.study.snapshot import Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# People, rules and results of the judging, counted from its records.
# ----------------------------------------------------------------------------------------------------------------------


def judging_facts(study: Snapshot, *, missing: str) -> dict[str, Any]:
    """The people who judged, the rules that they followed, and the results.

    Sentences on the design rest on what was judged, never on how the plan was drawn: people leave. `missing`: the
    policy for missing judgements in the agreement figures, `drop` or `zero`.
    """
    report = Study(study)
    return {"missing": missing, **_design(study, report), **_answers(study), **_results(study, report)}


def _design(study: Snapshot, report: Study) -> dict[str, Any]:
    """The people, the plan and the servers.

    `same_team`: (queries of which the same assessors judged every judged pair, queries with judged pairs). `ratings`:
    the ratings that the adjudicator saw, `shown`, `hidden` or `unknown`, or several where it differed. `studios`:
    servers on which people judged. `simulated`: True if programs took the place of the assessors. `imported`:
    `release`, `file`, or None if the judgements were made here; imported ones have no plan and no audit of ours.
    `given_to`: (assessors of a pair, planned pairs that have that many).
    """
    outcome = study.outcome
    counting = [judgement for judgement in outcome.judgements if judgement.counts]
    judges = grouped((judgement.pair, judgement.assessor) for judgement in counting)
    teams = grouped((query_id, frozenset(names)) for (query_id, _), names in judges.items())
    nameless = {NAMELESS_ADJUDICATOR} if Source.CSFCUBE in study.sources else set()
    imported = "release" if Source.CSFCUBE in study.sources else "file" if Source.FILE in study.sources else None
    return {
        "sources": study.sources,
        "studio_versions": sorted({project.version for project in study.projects}),
        "assessors": len({judgement.assessor for judgement in counting}),
        "adjudicators": len({ruling.adjudicator for ruling in outcome.adjudications.values()} - nameless),
        "planned_per_pair": outcome.per_pair,
        "given_to": report.given_to,
        "same_team": (sum(len(set(of_query)) == 1 for of_query in teams.values()), len(teams)),
        "isolation": report.isolation,
        "studios": len({project.server for project in study.projects}),
        "terms_marked": not imported and _terms_marked(study),
        "ratings": sorted(Counter(ruling.ratings for ruling in outcome.adjudications.values()).items()),
        "simulated": report.notice is not None,
        "imported": imported,
    }


def _answers(study: Snapshot) -> dict[str, Any]:
    """The answers that count, those that do not, and those that were given twice.

    `repeats`: answers to hidden repeats where both times a grade was given; `repeats_same`: those with the same grade
    again. `not_counted`: (reason why judgements do not count, their number). `audit`: see
    `annot.measuring.measured.read_audit`. `returned`: how often a pair was put before its assessor again with a
    reason; `returned_changed`: how often the answer then given is another one.
    """
    repeats = repeats_of(study.outcome)
    return {
        "cannot_judge": sum(judgement.grade is None for judgement in study.outcome.judgements if judgement.counts),
        "missing_judgements": study.outcome.progress.missing,
        "repeats": len(repeats),
        "repeats_same": sum(repeat.first == repeat.second for repeat in repeats),
        "not_counted": sorted(
            Counter(without_ids(flag) for judgement in study.outcome.flagged for flag in judgement.flags).items()
        ),
        "audit": read_audit(study.ws),
        **_returned(study.outcome),
    }


def _results(study: Snapshot, report: Study) -> dict[str, Any]:
    """The pairs by what came of them.

    `pairs_by_judgements`: (judgements of a pair, pairs that have that many), of the judged pairs, the most first.
    `disputes`: see `_disputes`. `agreed`: pairs whose final grade is that of all their assessors, of whom there are
    several. `not_judged`: pairs of the pools that were to be judged and have no judgement, and all that were to be
    judged. `accepted`: (reason, pairs with a final grade although they have fewer judgements than planned).
    `unsettled`: judged pairs that wait for a final grade. `unjudgeable`: (query, pairs that cannot be judged, planned
    pairs of it), of the queries that have such pairs; they have no final grade and never get one. `withdrawn`: pairs
    with a final grade that no qrels have, because the document was withdrawn. `unexplained`: see
    `annot.study.outcome.UnexplainedSettlements`. `days`: the first and the last day of the answers that count, None
    if none is on record or programs gave them. `single`: pairs whose final grade is the only judgement that they have.
    """
    outcome = study.outcome
    counting = [judgement for judgement in outcome.judgements if judgement.counts]
    answered = {(judgement.pair, judgement.assessor) for judgement in counting}
    by_pair = Counter(pair for pair, _ in answered)
    agreed = [decision.pair for decision in outcome.decisions if decision.origin == "agreed"]
    moments = [answer.judged_at for answer in outcome.everything if answer.counts]
    moments += [ruling.judged_at for ruling in outcome.rulings]
    days = sorted(moment[:10] for moment in moments if moment)
    return {
        "pairs_by_judgements": sorted(Counter(by_pair.values()).items(), reverse=True),
        "disputes": _disputes(outcome),
        "agreed": sum(by_pair[pair] > 1 for pair in agreed),
        "not_judged": _unjudged_counts(study, by_pair.keys()),
        "accepted": report.accepted,
        "unsettled": len(
            by_pair.keys() - {decision.pair for decision in outcome.decisions} - outcome.unjudgeable.keys()
        ),
        "unjudgeable": _unjudgeable(outcome),
        "withdrawn": len(outcome.decisions) - len(outcome.to_show),
        "unexplained": unexplained_of(outcome.adjudications, outcome.current),
        "days": (days[0], days[-1]) if days and report.notice is None else None,
        "single": sum(by_pair[pair] == 1 for pair in agreed),
    }


def _disputes(outcome: Outcome) -> dict[str, int]:
    """Numbers of pairs for an adjudicator: those in which the grades that count differ, or one is lacking because its
    assessor could not judge (`in_dispute`, which are `settled`, `open` or `closed` without a grade), and others on
    which an adjudicator decided (`besides`)."""
    differing = {dispute[0].pair for dispute in outcome.disputed if len({judgement.grade for judgement in dispute}) > 1}
    differing |= {dispute[0].pair for dispute in outcome.disputed if dispute[0].grade is None}
    return {
        "in_dispute": len(differing),
        "settled": len(differing & outcome.adjudications.keys()),
        "open": len(differing & set(outcome.open)),
        "closed": len(differing & outcome.unjudgeable.keys()),
        "besides": len(outcome.adjudications.keys() - differing),
    }


def _unjudged_counts(study: Snapshot, judged: Collection[Pair]) -> tuple[int, int]:
    if Source.FILE in study.sources:
        return 0, 0
    to_judge = {
        (query.query_id, entry.doc_id)
        for query in study.queries
        if query.topic_id in study.pools
        for entry in study.pools[query.topic_id].entries
    }
    if study.sample is not None:
        to_judge = {pair for pair in to_judge if study.sample.drawn(*pair)}
    return len(to_judge - set(judged)), len(to_judge)


def _unjudgeable(outcome: Outcome) -> list[tuple[str, int, int]]:
    planned = Counter(query_id for query_id, _ in outcome.planned)
    ended = Counter(query_id for query_id, _ in outcome.unjudgeable)
    return [(query_id, ended[query_id], planned[query_id]) for query_id in sorted(ended)]


def _returned(outcome: Outcome) -> dict[str, int]:
    answer_to = {(answer.pair_key, answer.assessor): answer for answer in outcome.everything if answer.counts}
    changed = 0
    # A pair that goes back because a text was corrected gets no second look at the same text.
    corrected = {(answer.pair, answer.assessor) for answer in outcome.set_aside}
    returned = [answer for answer in outcome.returned if (answer.pair, answer.assessor) not in corrected]
    for back in returned:
        first = answer_to.get((back.pair_key._replace(occasion=1), back.assessor))
        second = answer_to.get((back.pair_key, back.assessor))
        changed += first is not None and second is not None and first.grade != second.grade
    return {"returned": len(returned), "returned_changed": changed}


def _terms_marked(study: Snapshot) -> bool:
    """True if the screens mark the topic's words in the documents of pairs that are judged as a whole."""
    settings = study.ws.settings
    return settings.screen.mark_terms and not all(settings.facets.get(facet) for facet in study.facets.values())


# ----------------------------------------------------------------------------------------------------------------------
# Facts of a judged collection, counted from its records: card, datasheet and Croissant are filled from it.
#
# Events are counted from rows, never taken from settings; the name of the collection is in the settings.
# ----------------------------------------------------------------------------------------------------------------------


HASHED_IMPORTS: Mapping[str, str] = {
    Source.CSFCUBE: "imported release, all its files",
    Source.FILE: "imported file of judgements",
}


class CollectionFacts:
    """The whole collection, counted."""

    def __init__(self, measured: Study, corpus: CorpusFacts, terms: Terms) -> None:
        study, agreement = measured.snapshot, measured.agreement
        settings = study.ws.settings
        ranked = ranked_corpus(study.ws).ranked if measured.added else None
        if study.version:
            ranked = corpus_sha256(study.ws.corpus, study.version.last)
        imports = tuple(_counted_imports(study, set(measured.added)))
        figures = list(_figures(agreement, agreement.groups if study.faceted else agreement.groups[-1:]))
        folds = [(name, *fold) for name, of_name in study.splits.items() for fold in of_name.items()]
        cleaned = sum((Counter(imported.facts.get("cleaned", {})) for imported in imports), Counter[str]())
        self.terms, self.corpus, self.annot_version = terms, corpus, __version__
        self.collection, self.vocabulary, self.faceted = settings.collection, study.words, study.faceted
        self.rejected = _rejected(imports)
        """Papers left out by the corpus filters, by reason."""
        self.sentence_labels = tuple(measured.label_origins.items())
        """Papers by where their sentence labels come from."""
        self.grades = settings.scale.names
        """The names of the grades from 0 upward."""
        self.facets, self.pool = list(_facets(study, agreement)), _pool(study, measured.origins)
        self.judging = judging_facts(study, missing=agreement.missing)
        self.agreement = [{**figure, "value": str(figure["value"])} for figure in figures]
        """Figures of `_figures` in words."""
        self.agreement_without = missing_figures((figure["value"] for figure in figures), study.words)
        """Reasons why figures in `agreement` have no value or no interval."""
        self.agreement_best = agreement.best
        """The statistic in `agreement`: `pooled` if a sample of the pools was judged."""
        self.agreement_too_thin = agreement.too_thin
        """Sampled queries that have no figures of their own, because too few pairs were drawn."""
        self.interval_level = settings.agreement.level
        """Level of the intervals in `agreement`, e.g. 0.95."""
        self.overruled = sentence("agreement.overruled")
        """Rule by which a grade counts as overruled, in a sentence; the same in card, datasheet and report."""
        self.splits = tuple((name, fold, len(query_ids)) for name, fold, query_ids in folds)
        """Facet (or `all`), fold, queries."""
        self.protocol = protocol_of(study)
        """See `annot.publishing.release.parts`."""
        self.hashes = tuple(_hashes(study, corpus, self.protocol, ranked=ranked))
        """Input files of the numbers as (file, SHA-256), corpus first."""
        self.training = tuple(_gold_results(study, TRAIN))
        """Results of each assessor in training, unnamed: gold pairs, batches, verdict, threshold, kappa with its
        interval."""
        self.hidden_gold = tuple(_gold_results(study, HIDDEN))
        """Results of each assessor with hidden gold among their pairs, unnamed: answers, kappa with its interval."""
        self.substudy = recorded_substudy(study.trials)
        """Agreement of abstracts, full texts and final grades, two by two, and seconds a pair; None without a
        sub-study."""
        self.cleaned, self.structured = counts_of(cleaned), _structured(imports)
        """Changes to the papers' texts as they were read, counted, and the structured abstracts as they were added,
        whose sections gave their sentences labels."""
        self.words = PublishedWords(study).kinds
        """Texts that people wrote in their own words, by kind, and whether they are published."""
        self.unrated = _unrated(study)
        """Queries whose papers were taken without a rating."""
        self.topics = _topics(study)
        """Topics with a query: papers, and texts."""
        self.sampled = None if measured.sample_cost is None else SampleInWords(measured)
        """Facts that users of the grades must know if a sample of the pools was judged."""
        self.added = tuple(part for sections in sections_added(measured) for part in sections.pages(measured))
        """Chapters that wings and plug-ins add to datasheet and card."""
        self.untrue = notices_by_place(measured.findings, study.words)
        """Sentences by the place of a page, one for each of its foundations that does not hold."""
        self.history = measured.once(history)
        """Sizes of the collection with each version of its corpus up to this one, of the report."""

    def total(self, count: str) -> Any:
        """The sum over facets of a count; None if one has none."""
        counts = [facet[count] for facet in self.facets]
        return None if None in counts else sum(counts)

    @property
    def scale(self) -> str:
        """`0 Irrelevant, 1 Related ...`."""
        return ", ".join(f"{grade} {name}" for grade, name in enumerate(self.grades))

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of documents and topics; that of the topics comes second, if it is another one."""
        of_topics = (self.collection.language_of_topics,) if self.topics[1] else ()
        return tuple(dict.fromkeys((self.collection.language, *of_topics)))

    @property
    def citation(self) -> str:
        """Citation of the collection."""
        return citation_of(self.collection, self.terms)


def _gold_results(study: Snapshot, round: StoredRound) -> Iterator[dict[str, Any]]:
    """Results by figure, so that the order does not reveal a name."""
    figures = list(recorded_against_gold(study.trials, round))
    for row in sorted(figures, key=lambda row: (row["value"] is None, row["value"] or 0.0)):
        yield {**row, "assessor": ""}


def _counted_imports(study: Snapshot, uncounted: set[str]) -> Iterator[ImportedSource]:
    """The imports on record without those additions to the corpus that brought only papers which are not counted."""
    papers = paper_ids(study.ws.corpus) if uncounted else ()
    for imported in study.imports:
        first, added = imported.facts.get("papers_before", 0), imported.facts.get("kept", 0)
        brought = papers[first : first + added] if imported.what == Source.CORPUS else ()
        if not brought or not uncounted.issuperset(brought):
            yield imported


def _rejected(imports: Sequence[ImportedSource]) -> tuple[tuple[str, int], ...]:
    """Papers that the filters left out, over everything that was added; a paper that came twice is in the corpus."""
    total = Counter[str]()
    for imported in imports:
        if imported.what == Source.CORPUS:
            total.update(imported.facts["rejected"])
    return tuple(sorted((reason, papers) for reason, papers in total.items() if reason != Rejection.DUPLICATE_ID))


def _structured(imports: Sequence[ImportedSource]) -> StructuredAbstracts:
    """The headings, over everything that was added."""
    total = HeadingCount()
    for imported in imports:
        total.remember(imported.facts.get("sections", {}))
    return total.found


def _unrated(study: Snapshot) -> int:
    """Number of queries that were chosen from a sample without a rating."""
    unrated = [imported.facts["queries"] for imported in study.imports if imported.what == Source.UNRATED]
    return len(set(chain(*unrated)) & {query.query_id for query in study.queries})


def _topics(study: Snapshot) -> tuple[int, int]:
    topics = set(study.topics.values())
    return len(topics - study.texts.keys()), len(topics & study.texts.keys())


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
    facet_labels = study.ws.settings.facets
    for facet, labels in (facet_labels | {WHOLE: facet_labels.get(WHOLE, ())}).items():
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
    """Draws of the pools, and their sizes in documents.

    `rules`: a pool for each rule (mode, quota, depth, seed) by which some were drawn. `judged`: whether the judged
    pairs were found by these pools; False if judgements were imported without them. `versions`: additions after the
    draw (`annot.pools.pooling.Version`). `ranked`: whether the ranks at which the methods had their documents are on
    record. `origins`: sentences on near-duplicates and on citations that were added; `citations`: whether any were
    added without papers.
    """
    pools = study.pools.values()
    rules = {(pool.mode, pool.per_method, pool.ranking_depth, pool.seed): pool for pool in pools}
    methods = {method for pool in pools for method in pool_in_version(pool, 1).methods}
    return {
        "rules": [rules[rule] for rule in sorted(rules, key=repr)],
        "methods": sorted(methods, key=lambda name: (name != CITED, name)),
        "without": sorted({method for pool in pools for method in pool.without}),
        "sizes": [len(pool.entries) for pool in pools],
        "judged": bool(pools) and Source.FILE not in study.sources,
        "versions": versions_of(pools),
        "origins": sentences("collection.origins", words=study.words, origins=origins),
        "citations": any(citation.sha256 is not None for citation in origins.citations),
        "ranked": any(entry.drawn.rank is not None for pool in pools for entry in pool.entries),
    }


def _figures(table: AgreementTable, groups: Sequence[GroupAgreement]) -> Iterator[dict[str, Any]]:
    """Each coefficient as the median over the queries of a facet, or of all (`together`), before and after
    adjudication: its name as it is printed, and its value with the interval. Where a sample of the pools was judged, of
    all pairs together."""
    pooled = table.best == "pooled"
    for group, stage in stages_of(groups):
        summaries = summaries_at(group, stage)
        for name in (*table.headline, *(name for name in ("ac2",) if name in table.distinct)):
            summary = summaries[name]
            yield {
                "facet": group.name,
                "stage": stage,
                "coefficient": table.titles[name],
                "value": figure_of(name, summaries, table.best),
                "n_queries": group.n_queries if pooled else summary.n_queries,
                "n_pairs": summary.n_pairs_pooled if pooled else summary.n_pairs,
            }


def _hashes(
    study: Snapshot, corpus: CorpusFacts, protocol: Mapping[str, str], *, ranked: str | None
) -> Iterator[tuple[str, str]]:
    """ranked: of the corpus without the papers that came after the pools were drawn, or with a later version; None if
    there are none."""
    if ranked:
        yield "corpus, its content" if study.version else "corpus as it was ranked, its content", ranked
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
