"""One record of a study, read in one transaction, and the plain files that follow from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from annot.base.errors import InputError, MissingInput
from annot.base.names import StudyVocabulary, check_name, counted, sha256_of, without_ids
from annot.base.records import Assessor, Assignment, Judgement, Pool, Qrel, Query, Source, Topic
from annot.formats import trec
from annot.formats.input_files import ByColumn, json_lines, table_lines
from annot.formats.judgements_file import OF_JUDGEMENT, decided
from annot.labelstudio.studio_records import Payload
from annot.store import answers as store_answers
from annot.store import facet_labels, models, people, pools, projects, runs, trials
from annot.store.papers import ids_after
from annot.store.people import read_notices
from annot.store.shown import OF_SETTINGS, Display, ShownVersion, display_parts, read_versions
from annot.study.outcome import NONE_RUSHED, Outcome, Pair, Rushed, outcome_of, rushed_pairs, texts_of
from annot.study.provenance import States, states_of
from annot.study.shown_versions import VersionNumbers, Versions, by_part, numbers_of_answers
from annot.study.workspace import Workspace, faceted, vocabulary, write_file, write_manifest

if TYPE_CHECKING:
    from annot.study.judged_texts import JudgedTexts


# ----------------------------------------------------------------------------------------------------------------------
# One record of a study, read in one transaction: all that is measured, reported and published is made from it.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The study as it was at one moment."""

    ws: Workspace
    label_origins: dict[str, int]
    """Number of papers by the origin of their sentence labels."""
    queries: tuple[Query, ...]
    pools: dict[str, Pool]
    rankings_sha256: dict[str, str]
    """Hash of the rankings behind each pool, by topic."""
    people: tuple[Assessor, ...]
    plan: models.Plan | None
    assignments: tuple[Assignment, ...]
    outcome: Outcome
    sources: tuple[str, ...]
    """Sources of the judgements, by their names in the store."""
    projects: tuple[models.Project, ...]
    splits: dict[str, dict[str, tuple[str, ...]]]
    runs: tuple[models.StoredRun, ...]
    imports: tuple[models.ImportedSource, ...]
    trials: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Facts of training and sub-study, by name."""
    trial_pairs: frozenset[Pair] = frozenset()
    """Pairs of training, hidden gold and sub-study, which people answer without knowing the grade."""
    notices: tuple[models.Notice, ...] = ()
    """Notices about the publication of people's words, the oldest first."""
    texts: dict[str, Topic] = field(default_factory=dict)
    """The topics that are texts, by id; all others are papers."""
    sample: models.PoolSample | None = None
    """Sample of the pools; None if all pairs are judged."""
    judged_texts: dict[Pair, JudgedTexts] = field(default_factory=dict)
    """Answered pairs with a corrected text."""
    text_versions: dict[str, tuple[ShownVersion, ...]] = field(default_factory=dict)
    """The versions of the papers that were corrected, by id, the oldest first."""
    shown: Versions = field(default_factory=dict)
    """The versions of scale, facets, guidelines and screens that were sent."""
    displays: dict[Judgement, Display] = field(default_factory=dict)
    """Display of the task of each judgement when it was given, if it is known."""
    rushed: Rushed = NONE_RUSHED
    """Pairs that were answered faster than anyone can read, with the limit."""
    states: States = field(default_factory=dict)
    """Fingerprints that show whether outputs are out of date."""
    corpora: tuple[str, ...] = ()
    """Versions of the corpus up to the one that this is about, the oldest first; none if the corpus has only one."""
    version: OneVersion | None = None
    """Facts of the one version of the corpus to which this is limited; None if it is the whole study."""

    @property
    def qrels_file(self) -> Path:
        """File of the qrels."""
        return self.ws.qrels_of(self.corpora[-1]) if self.version and self.version.last else self.ws.qrels

    @property
    def run_files(self) -> tuple[Path, ...]:
        """Files of the runs, by name."""
        return self.version.run_files if self.version else tuple(sorted(self.ws.runs.glob("*.run")))

    @property
    def outside(self) -> frozenset[str]:
        """Documents of the corpus that the version does not have."""
        return self.version.outside if self.version else frozenset()

    @property
    def version_numbers(self) -> VersionNumbers:
        """Versions of content that was shown in several, corrected texts included."""
        return VersionNumbers({**self.shown, **by_part(self.text_versions)})

    @property
    def samples(self) -> bool:
        """True if some pairs of the pools were not drawn for judging."""
        return self.sample is not None and not all(pair.drawn for pair in self.sample.pairs.values())

    @property
    def facets(self) -> dict[str, str]:
        """The facet of each query."""
        return {query.query_id: query.facet for query in self.queries}

    @property
    def topics(self) -> dict[str, str]:
        """The topic of each query: the sampling unit, as several facets of one may be queries."""
        return {query.query_id: query.topic_id for query in self.queries}

    @property
    def faceted(self) -> bool:
        """True if facets are judged; if everything is judged whole, outputs do not mention them."""
        return faceted(self.ws, self.queries)

    @property
    def words(self) -> StudyVocabulary:
        """Vocabulary of the study in texts."""
        return vocabulary(self.ws, self.queries, self.texts)

    @property
    def pooled(self) -> frozenset[str]:
        """The papers of queries and pools."""
        documents = (entry.doc_id for pool in self.pools.values() for entry in pool.entries)
        topic_ids = (query.topic_id for query in self.queries if query.topic_id not in self.texts)
        return frozenset((*topic_ids, *documents))

    @property
    def judged_elsewhere(self) -> bool:
        """True if the judgements were imported, so that the plan has only the pairs of a file."""
        return any(imported.what in (Source.CSFCUBE, Source.FILE) for imported in self.imports)


class OneVersion(NamedTuple):
    """One version of the corpus, by the documents and pairs that it does not have."""

    names: tuple[str | None, ...]
    """Names of the versions up to this one; None is the first, too."""
    last: str | None
    """Name of its last file; None if it has all files of the corpus."""
    outside: frozenset[str]
    """Documents that came later, or were withdrawn by then."""
    later: frozenset[Pair]
    """Pairs that came later."""
    run_files: tuple[Path, ...] = ()
    """Files of runs: those of an earlier version are in a folder of its name, or left from its time."""

    def has(self, pair: Pair) -> bool:
        """True for a pair that came before or with the version, and whose document the version has."""
        return pair not in self.later and pair[1] not in self.outside


@dataclass(frozen=True, slots=True)
class ReleaseRecords:
    """Records that a release needs besides the snapshot: the labels to publish, and the records of the server."""

    labels: dict[str, tuple[str, ...]]
    """Sentence labels of the papers in queries and pools."""
    task_ids: frozenset[int]
    """Numbers of tasks; these and the payloads must not leave the study."""
    payloads: tuple[Payload, ...]
    """Payloads as they were pulled: judgements, then adjudications."""


def read_snapshot(ws: Workspace) -> Snapshot:
    """Read the whole study in one transaction."""
    return ws.read(snapshot_of, ws)


def read_for_release(
    ws: Workspace, read: Callable[[models.Session, Workspace], Snapshot] | None = None
) -> tuple[Snapshot, ReleaseRecords]:
    """The snapshot and the further records of a release, in one transaction. read: the reader of a part of the study;
    None reads the whole. Raises MissingInput without any judgement."""
    with ws.reading() as session:
        snapshot = (read or snapshot_of)(session, ws)
        refuse_unjudged(snapshot)
        recorded: tuple[store_answers.SourcedAnswer[Any], ...] = (
            *store_answers.JUDGEMENTS.read(session),
            *store_answers.ADJUDICATIONS.read(session),
        )
        return snapshot, ReleaseRecords(
            labels={paper.paper_id: paper.labels for paper in facet_labels.read_labels(session, snapshot.pooled)},
            task_ids=frozenset(
                task_id
                for project in snapshot.projects
                for task_id in projects.read_tasks(session, project.project).values()
            ),
            payloads=tuple(sourced.payload for sourced in recorded if isinstance(sourced.payload, dict)),
        )


def no_judgements() -> MissingInput:
    """Error for a study without judgements."""
    return MissingInput("no judgements", hint="get them with `annot pull` or `annot import FILES --as judgements`")


def refuse_unjudged(snapshot: Snapshot) -> None:
    """Raise MissingInput when nothing is judged."""
    if not snapshot.outcome.judgements:
        raise no_judgements()


def text_versions(session: models.Session) -> dict[str, tuple[ShownVersion, ...]]:
    """The versions of the papers that were corrected, by id, the oldest first."""
    if not store_answers.count_corrected_texts(session):
        return {}
    from annot.study.judged_texts import corrected_versions

    return corrected_versions(session)


def snapshot_of(session: models.Session, ws: Workspace, has: Callable[[Pair], bool] | None = None) -> Snapshot:
    """Snapshot of the study in this transaction. has: true for the pairs whose answers are read; None reads all."""
    texts = {pair: text for pair, text in texts_of(session).items() if has is None or has(pair)}
    outcome = outcome_of(session, ws.settings, texts=texts, has=has)
    displays = _displays(session)
    return Snapshot(
        ws=ws,
        label_origins=facet_labels.count_by_origin(session),
        queries=pools.read_queries(session),
        pools=pools.read_pools(session),
        rankings_sha256=pools.read_rankings_sha256(session),
        people=people.read_assessors(session),
        plan=people.read_plan(session),
        assignments=outcome.assignments,
        outcome=outcome,
        rushed=rushed_pairs(session, outcome),
        judged_texts=texts,
        text_versions=text_versions(session),
        sources=tuple(sorted(store_answers.sources_of_judgements(session))),
        projects=projects.read_projects(session),
        splits=runs.read_splits(session),
        runs=runs.read_runs(session),
        imports=runs.read_imports(session),
        trials=trials.read_trials(session),
        trial_pairs=frozenset((*trials.read_pairs(session), *(gold.pair for gold in trials.read_gold(session)))),
        notices=read_notices(session),
        texts=pools.read_topics(session),
        sample=pools.read_sample(session),
        shown=read_versions(session, *OF_SETTINGS),
        displays={answer: shown for answer, shown in displays.items() if has is None or has(answer.pair)},
        states=states_of(ws, session),
        corpora=tuple(version.version for version in pools.read_corpus_versions(session)),
    )


# ----------------------------------------------------------------------------------------------------------------------
# The plain files that follow from the outcome: judgements, final grades, qrels; and the sheet of errors, read.
# ----------------------------------------------------------------------------------------------------------------------


DECISIONS_FILE, JUDGEMENTS_FILE = "decisions.jsonl", "judgements.jsonl"
SET_ASIDE = "given on another version of a text than the pair is judged on"
HINT = "write them with `annot qrels`"
PARTIAL = "write only the settled pairs with --partial"
FINISH = f"finish with `annot pull` and `annot push adjudication`, or {PARTIAL}"
FINISH_IMPORTED = (
    "finish with `annot push adjudication`, import the adjudicator's grades with `annot import FILE --as judgements "
    f"--adjudicator NAME`, or {PARTIAL}"
)
WHERE_SHORT = 'if judgements are missing, add a person and plan again, or use --partial or --allow-single "why"'


EXPORTED = (*OF_JUDGEMENT, "comment", "flags")
"""Fields of a judgement in the file."""


def export_judgements(ws: Workspace, outcome: Outcome) -> None:
    """Write `exports/judgements.jsonl`: hidden repeats among them, under pseudonyms, without times and server ids.

    An answer that was given because the pair was returned is marked with `returned`, and one on another version of a
    text than the pair is judged on has a flag. If something was shown in several versions, `versions` has the numbers
    of those by which the answer was given, as in a release.
    """
    again, aside = outcome.repeated_answers, set(outcome.set_aside)
    numbers, names = ws.read(_numbers), EXPORTED
    rows: Iterable[tuple[Any, ...]] = map(attrgetter(*names), outcome.everything)
    if outcome.flagged or aside:
        rows = (
            (*row[:-1], [*map(without_ids, (*row[-1], *([SET_ASIDE] if judgement in aside else [])))])
            for row, judgement in zip(rows, outcome.everything, strict=True)
        )
    if not (again or numbers):
        write_file(ws.exports / JUDGEMENTS_FILE, table_lines(names, list(zip(*rows, strict=True))))
        return
    lines = (
        dict(zip(names, row, strict=True))
        | ({"versions": numbers[judgement]} if numbers.get(judgement) else {})
        | ({"returned": True} if judgement in again else {})
        for row, judgement in zip(rows, outcome.everything, strict=True)
    )
    write_file(ws.exports / JUDGEMENTS_FILE, json_lines(lines))


def export_imported(ws: Workspace, judged: ByColumn | None) -> None:
    """Write the file of `export_judgements` after an import: as a table, unless an answer took the place of another.

    judged: columns of all judgements on record; None reads them.
    """
    with ws.reading() as session:
        notes = store_answers.read_returned(session), texts_of(session), _numbers(session)
        columns = None if any(notes) else store_answers.plain_answers(session, EXPORTED, judged)
    if columns is None:
        export_judgements(ws, ws.read(outcome_of, ws.settings))
    else:
        write_file(ws.exports / JUDGEMENTS_FILE, table_lines(EXPORTED, columns))


def _numbers(session: models.Session) -> dict[Judgement, dict[str, int]]:
    """Numbers of the versions by which each judgement was given, for content that was shown in several versions."""
    numbers = VersionNumbers({**read_versions(session, *OF_SETTINGS), **by_part(text_versions(session))})
    if not numbers:
        return {}
    return numbers_of_answers(_displays(session), numbers, pools.read_queries(session))


def _displays(session: models.Session) -> dict[Judgement, Display]:
    """The display of each answer's task when it was given, if it is known."""
    judged = store_answers.JUDGEMENTS.current(session) if store_answers.has_displays(session) else ()
    bodies = display_parts(session, (sourced.shown_sha256 for sourced in judged))
    return {sourced.record: bodies[sourced.shown_sha256] for sourced in judged if sourced.shown_sha256 in bodies}


def export_qrels(
    ws: Workspace,
    outcome: Outcome,
    queries: Iterable[Query],
    texts: Collection[str],
    *,
    earlier: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Qrel, ...]:
    """Write `exports/qrels.txt`, next to it each query's topic and each decision with its origin, and their manifest.

    texts: the topics that are texts. earlier: the text of the qrels of each earlier version of the corpus.
    """
    decisions, topics = ws.exports / DECISIONS_FILE, ws.exports / trec.topics_file(texts)
    write_file(ws.qrels, trec.write_qrels(outcome.qrels))
    of_versions = {ws.qrels_of(version): text for version, text in earlier.items()}
    for path, text in of_versions.items():
        write_file(path, text)
    write_file(
        decisions, json_lines(decided(outcome.decisions, [rulings[-1] for rulings in outcome.unjudgeable.values()]))
    )
    write_file(topics, trec.write_query_topics(queries, file=topics.name))
    for unused_name in trec.TOPIC_COLUMNS.keys() - {topics.name}:
        (ws.exports / unused_name).unlink(missing_ok=True)
    plan = ws.pools / "plan.manifest.json"
    write_manifest(
        ws.exports / "qrels.manifest.json",
        files=[ws.qrels, topics, decisions, *of_versions],
        inputs={"pools/plan.manifest.json": sha256_of(plan)} if plan.is_file() else {},
        facts={
            "pairs": len(outcome.qrels),
            "unjudgeable": len(outcome.unjudgeable),
            "open": len(outcome.open),
            "incomplete": len(outcome.progress.unfinished),
        },
    )
    return outcome.qrels


def final_qrels(session: models.Session, ws: Workspace) -> dict[str, str]:
    """The text of the qrels of each version of the corpus before the newest, which goes on record.

    Once a later version has begun and all pairs of a version are closed, its qrels never change. A version with open
    pairs is left out.
    """
    versions = pools.read_corpus_versions(session)
    texts = {version.version: version.qrels for version in versions[:-1] if version.qrels is not None}
    if waiting := [version for version in versions[:-1] if version.qrels is None]:
        outcome = outcome_of(session, ws.settings)
        unfinished = {*outcome.open, *outcome.waiting, *outcome.incomplete}
        for version in waiting:
            has = version_of(session, ws, version.version).has
            planned = filter(has, outcome.planned)
            if outcome.decisions and unfinished.isdisjoint(planned):
                qrels = (Qrel(*row.pair, row.grade) for row in outcome.decisions if has(row.pair))
                texts[version.version] = trec.write_qrels(qrels)
                pools.keep_qrels(session, version.version, texts[version.version])
    return {version.version: texts[version.version] for version in versions if version.version in texts}


def version_of(session: models.Session, ws: Workspace, name: str) -> OneVersion:
    """The version of the corpus of this name. Raises InputError for one that is not on record."""
    versions = pools.read_corpus_versions(session)
    names = [version.version for version in versions]
    check_name(name, names, what="--corpus")
    to_version, last = (None, *names[: names.index(name) + 1]), pools.last_file(versions, name)
    outside = {row.doc_id for row in pools.read_withdrawn(session).values() if row.version in to_version}
    if last and ws.has_corpus:
        outside.update(ids_after(ws.corpus, last))
    corpora = {topic_id: pool.corpora for topic_id, pool in pools.read_pools(session).items()}
    later = frozenset(
        (query.query_id, doc_id)
        for query in pools.read_queries(session)
        for doc_id, came_with in corpora.get(query.topic_id, {}).items()
        if came_with not in to_version
    )
    return OneVersion(to_version, last, frozenset(outside), later)


def documents_in(session: models.Session, version: OneVersion) -> dict[str, tuple[str, ...]]:
    """Documents of the pools in pairs of a version of the corpus, by query, in the order drawn."""
    documents = pools.documents_by_query(session, withdrawn=True)
    of_version = {name: tuple(doc for doc in docs if version.has((name, doc))) for name, docs in documents.items()}
    return {name: docs for name, docs in of_version.items() if docs}


def refuse_qrels_of_models(ws: Workspace) -> None:
    """Raise InputError if a model's grades are in the place of the study's qrels."""
    if ws.qrels.is_file():
        with ws.qrels.open(encoding="utf-8", errors="replace") as lines:
            trec.refuse_grades_of_models(lines, name=str(ws.qrels))


def exported_qrels(snapshot: Snapshot, file: Path | None = None) -> tuple[Qrel, ...]:
    """Qrels of the study on disk, or those in a file.

    Raises MissingInput when they have not been written, InputError when they are not of this study's queries.
    """
    ws, path = snapshot.ws, file or snapshot.qrels_file
    if not path.is_file():
        raise MissingInput(f"{path}: not written yet", hint=HINT)
    refuse_qrels_of_models(ws)
    with path.open(encoding="utf-8") as lines:
        qrels = trec.read_qrels(lines, name=str(path))
    strangers = sorted({qrel.query_id for qrel in qrels} - {query.query_id for query in snapshot.queries})
    if strangers:
        raise InputError(
            f"{path}: {len(strangers)} of its queries are not in this study",
            faults=[f"query {name!r}: not in this study" for name in strangers],
            hint=HINT,
        )
    return qrels


def refuse_unfinished(outcome: Outcome, *, partial: bool) -> None:
    """Raise InputError naming every pair without a final grade, unless `partial`; MissingInput if none has one."""
    if not outcome.judgements:
        raise no_judgements()
    if not outcome.decisions and not outcome.unjudgeable:
        raise MissingInput("no pair is settled yet", hint="see `annot status --adjudication`")
    faults = unfinished(outcome)
    if partial or not faults:
        return
    finish = FINISH_IMPORTED if outcome.per_pair is None else FINISH
    hints = [*([finish] if len(faults) > len(outcome.short) else []), *([WHERE_SHORT] if outcome.short else [])]
    raise InputError(f"{counted(len(faults), 'pair')} without a final grade", faults=faults, hint="; ".join(hints))


def unfinished(outcome: Outcome) -> list[str]:
    """Pairs that may still get a final grade, and why they have none. A pair that cannot be judged is closed."""
    faults = [
        f"{' '.join(pair)}: in dispute, "
        + ("one adjudicator could not judge it, a second is needed" if pair in outcome.passed_on else "not adjudicated")
        for pair in outcome.open
    ]
    assessor_of = {key.pair: name for name, key in outcome.progress.pending}
    faults += [
        f"{' '.join(pair)}: returned to {assessor_of[pair]}, who has not answered yet; `annot return "
        f"{' '.join(pair)} --to {assessor_of[pair]} --undo` takes it back"
        for pair in outcome.waiting
    ]
    short = set(outcome.short)
    faults += [f"{' '.join(pair)}: not judged by all assessors yet" for pair in outcome.incomplete if pair not in short]
    return faults + too_few(outcome)


def too_few(outcome: Outcome) -> list[str]:
    """The pairs that have fewer judgements than planned and that no present assessor will complete."""
    answers = outcome.judgements if outcome.short else ()
    counts = Counter(judgement.pair for judgement in answers if judgement.counts)
    return [f"{' '.join(pair)}: {counts[pair]} of {outcome.per_pair} judgements" for pair in outcome.short]
