"""Everything that the store and the corpus know of a study, from one look: what is published is made from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from annot.errors import MissingInput
from annot.labelstudio.records import Payload
from annot.records import Assessor, Judgement, Pool, Query
from annot.store import adjudications, facet_labels, judgements, papers, people, pools, runs, splits, studio
from annot.store.database import open_store
from annot.store.people import Plan
from annot.store.queries import read_queries
from annot.store.runs import Imported, StoredRun
from annot.store.studio import Project
from annot.study.outcome import Outcome, outcome_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Study:
    """The study as it was at one moment."""

    ws: Workspace
    papers: int
    """0 where judgements were imported without a corpus."""
    years: tuple[int, int] | None
    """The first and the last; None where no paper has one."""
    without_year: int
    label_origins: dict[str, int]
    """Papers by where their sentence labels come from."""
    queries: tuple[Query, ...]
    pools: dict[str, Pool]
    rankings_sha256: dict[str, str]
    """What each pool was drawn from, by query paper."""
    people: tuple[Assessor, ...]
    plan: Plan | None
    outcome: Outcome
    flagged: tuple[Judgement, ...]
    """Judgements that do not count."""
    sources: tuple[str, ...]
    """Where the judgements come from, by the names in the store."""
    projects: tuple[Project, ...]
    task_ids: frozenset[int]
    payloads: tuple[Payload, ...]
    """What was pulled, as it came: judgements, then adjudications."""
    splits: dict[str, dict[str, tuple[str, ...]]]
    runs: tuple[StoredRun, ...]
    imports: tuple[Imported, ...]


def read_study(ws: Workspace) -> Study:
    """Read it all. Raises MissingInput when nothing is judged."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session)
        if not outcome.judgements:
            raise MissingInput("no judgements", hint="bring them in with `annot pull` or `annot import judgements`")
        judged = judgements.read_sourced(session)
        settled = adjudications.read_sourced(session)
        projects = studio.read_projects(session)
        has_corpus = any(ws.corpus.glob("*.parquet"))
        dated = papers.read_papers(ws.corpus, columns=("year",)) if has_corpus else ()
        years = Counter(paper.year for paper in dated)
        known = sorted(year for year in years if year is not None)
        return Study(
            ws=ws,
            papers=years.total(),
            years=(known[0], known[-1]) if known else None,
            without_year=years[None],
            label_origins=facet_labels.count_by_origin(session),
            queries=read_queries(session),
            pools=pools.read_pools(session),
            rankings_sha256=pools.read_rankings_sha256(session),
            people=people.read_assessors(session),
            plan=people.read_plan(session),
            outcome=outcome,
            flagged=tuple(one.judgement for one in judged if one.judgement.flags),
            sources=tuple(sorted({one.source for one in judged})),
            projects=projects,
            task_ids=frozenset(
                task for project in projects for task in studio.read_tasks(session, project.project).values()
            ),
            payloads=tuple(
                payload
                for payload in (*(one.payload for one in judged), *(one.payload for one in settled))
                if isinstance(payload, dict)
            ),
            splits=splits.read_splits(session),
            runs=runs.read_runs(session),
            imports=runs.read_imports(session),
        )
