"""One record of a study, read in one transaction: all that is measured, reported and published is made from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlmodel import Session

from annot.base.errors import MissingInput
from annot.base.names import Called
from annot.base.records import WHOLE, Assessor, Assignment, Judgement, Pool, Query, Source, Topic
from annot.labelstudio.studio_records import Payload
from annot.store import adjudications, facet_labels, judgements, people, pools, projects, runs, trials
from annot.store.adjudications import read_accepted
from annot.store.judgements import read_returned
from annot.store.judging_models import PoolSample
from annot.store.people import Notice, Plan, read_notices
from annot.store.pools import read_sample
from annot.store.projects import Project
from annot.store.queries import read_queries, read_topics
from annot.store.revisions import Sourced
from annot.store.runs import Imported, StoredRun
from annot.store.shown import (
    OF_SETTINGS,
    Display,
    ShownVersion,
    display_parts,
    read_versions,
)
from annot.study.adjudication import Pair
from annot.study.made import States, states_of
from annot.study.outcome import Outcome, outcome_from, texts_of
from annot.study.rushed import NONE_RUSHED, Rushed, rushed_pairs
from annot.study.shown_versions import VersionNumbers, Versions, by_part
from annot.study.workspace import Workspace

if TYPE_CHECKING:
    from annot.study.judged_texts import JudgedTexts


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
    plan: Plan | None
    assignments: tuple[Assignment, ...]
    outcome: Outcome
    flagged: tuple[Judgement, ...]
    """Judgements that do not count."""
    sources: tuple[str, ...]
    """Sources of the judgements, by their names in the store."""
    projects: tuple[Project, ...]
    splits: dict[str, dict[str, tuple[str, ...]]]
    runs: tuple[StoredRun, ...]
    imports: tuple[Imported, ...]
    trials: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Facts of training and sub-study, by name."""
    trial_pairs: frozenset[Pair] = frozenset()
    """Pairs of training, hidden gold and sub-study, which people answer without knowing the grade."""
    notices: tuple[Notice, ...] = ()
    """Notices about the publication of people's words, the oldest first."""
    texts: dict[str, Topic] = field(default_factory=dict)
    """The topics that are texts, by id; all others are papers."""
    sample: PoolSample | None = None
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
    """Pairs that were answered faster than anyone can read."""
    states: States = field(default_factory=dict)
    """Fingerprints that show whether outputs are out of date."""

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
        """The topic of each query: the unit of chance, as several facets of one may be queries."""
        return {query.query_id: query.topic_id for query in self.queries}

    @property
    def faceted(self) -> bool:
        """True if facets are judged; if everything is judged whole, outputs do not mention them."""
        return faceted(self.ws, self.queries)

    @property
    def called(self) -> Called:
        """Names of its topics and documents in texts."""
        return _called(self.ws, self.queries, self.texts)

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


@dataclass(frozen=True, slots=True)
class ReleaseRecords:
    """Records that a release needs besides the snapshot: the labels to publish, and the records of the server."""

    labels: dict[str, tuple[str, ...]]
    """Sentence labels of the papers in queries and pools."""
    task_ids: frozenset[int]
    """Numbers of tasks; these and the payloads must not leave the study."""
    payloads: tuple[Payload, ...]
    """Payloads as they were pulled: judgements, then adjudications."""


def faceted(ws: Workspace, queries: Sequence[Query]) -> bool:
    """True if facets are judged; without queries, the setting of annot.toml."""
    return any(query.facet != WHOLE for query in queries) if queries else ws.settings.faceted


def called_in(ws: Workspace) -> Called:
    """Names of the topics and documents of this study in texts."""
    with ws.reading() as session:
        return _called(ws, read_queries(session), read_topics(session))


def _called(ws: Workspace, queries: Sequence[Query], texts: Collection[str]) -> Called:
    words = Called("topic", "document") if texts else Called()
    return words._replace(faceted=faceted(ws, queries), binary=len(ws.settings.scale.names) == 2)


def read_snapshot(ws: Workspace) -> Snapshot:
    """Read the whole study in one transaction."""
    with ws.reading() as session:
        return snapshot_of(session, ws)


def read_for_release(ws: Workspace) -> tuple[Snapshot, ReleaseRecords]:
    """The snapshot and the further records of a release, in one transaction. Raises MissingInput without any
    judgement."""
    with ws.reading() as session:
        snapshot = snapshot_of(session, ws)
        refuse_unjudged(snapshot)
        recorded: tuple[Sourced[Any], ...] = (*judgements.read_sourced(session), *adjudications.read_sourced(session))
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
    """The error of a study in which nothing is judged."""
    return MissingInput("no judgements", hint="get them with `annot pull` or `annot import FILES --as judgements`")


def refuse_unjudged(snapshot: Snapshot) -> None:
    """Raise MissingInput when nothing is judged."""
    if not snapshot.outcome.judgements:
        raise no_judgements()


def text_versions(session: Session) -> dict[str, tuple[ShownVersion, ...]]:
    """The versions of the papers that were corrected, by id, the oldest first."""
    if not judgements.count_corrected_texts(session):
        return {}
    from annot.study.judged_texts import corrected_versions

    return corrected_versions(session)


def snapshot_of(session: Session, ws: Workspace) -> Snapshot:
    """The study as this transaction sees it."""
    judged = judgements.read_current(session)
    assignments, plan = people.read_assignments(session), people.read_plan(session)
    answers = [sourced.record for sourced in judged]
    texts = texts_of(session)
    bodies = display_parts(session, (sourced.shown_sha256 for sourced in judged))
    displays = {sourced.record: bodies[sourced.shown_sha256] for sourced in judged if sourced.shown_sha256 in bodies}
    outcome = outcome_from(
        assignments,
        answers,
        adjudications.read_current(session),
        read_returned(session),
        asked=ws.settings.adjudication.asked,
        drawn=plan,
        accepted=read_accepted(session),
        texts=texts.values(),
    )
    return Snapshot(
        ws=ws,
        label_origins=facet_labels.count_by_origin(session),
        queries=read_queries(session),
        pools=pools.read_pools(session),
        rankings_sha256=pools.read_rankings_sha256(session),
        people=people.read_assessors(session),
        plan=plan,
        assignments=assignments,
        outcome=outcome,
        rushed=rushed_pairs(session, outcome),
        judged_texts=texts,
        text_versions=text_versions(session),
        flagged=tuple(answer for answer in answers if answer.flags),
        sources=tuple(sorted({sourced.source for sourced in judged})),
        projects=projects.read_projects(session),
        splits=runs.read_splits(session),
        runs=runs.read_runs(session),
        imports=runs.read_imports(session),
        trials=trials.read_trials(session),
        trial_pairs=frozenset((*trials.read_pairs(session), *(gold.pair for gold in trials.read_gold(session)))),
        notices=read_notices(session),
        texts=read_topics(session),
        sample=read_sample(session),
        shown=read_versions(session, *OF_SETTINGS),
        displays=displays,
        states=states_of(ws, session),
    )
