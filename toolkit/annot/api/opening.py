"""A study's folder opened for reading: its tables, row by row."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from annot.api.displaying import NotebookResult
from annot.base.names import counted
from annot.base.records import Decision, Judgement
from annot.publishing.report import study_tables, tidy
from annot.publishing.report.tables import Column, Columns, sentences
from annot.steps.inputs import EVERYTHING, OF_A_SAMPLE, PAPER_COLUMN, TOPIC_COLUMN
from annot.store.papers import count_papers, paper_schema, texts_of_papers
from annot.study.snapshot import Snapshot, read_snapshot
from annot.study.workspace import Workspace

if TYPE_CHECKING:
    from annot.publishing.report.tables import Table


class TableOfStudy(NamedTuple):
    """A table that a study has: its name, its number of rows, and the meaning of a row."""

    name: str
    rows: int | None
    """None if it is not known before the table is read."""
    of: str


TABLES = Columns[TableOfStudy](
    [Column("Table", lambda row: row.name), Column("One row for each", lambda row: row.of)],
    [Column("Rows", lambda row: None if row.rows is None else f"{row.rows:,}")],
)


@dataclass(frozen=True, eq=False, repr=False)
class OpenStudy(NotebookResult):
    """A study as it was when `annot.open_study` read it; nothing is ever written.

    Its tables are for the project lead. They have what assessors and adjudicators must not see while they work: who
    gave which grade, which answers are to hidden repeats, and which method drew a document. Which pairs are mixed into
    people's work because their grade is known (gold), and the answers to them, is in none of the tables. For what may
    be published use `annot release`.

    Attributes
    ----------
    path : Path
        The study's folder.
    """

    path: Path
    _snapshot: Snapshot
    notes = ()
    _hint = "study_hint"

    @cached_property
    def queries(self) -> pd.DataFrame:
        """Every query, as `annot query list` prints them: query_id, paper_id, facet, year, sentences, title.

        ``sentences`` are the places of the query's sentences in the abstract, from 1, as text: ``2,3``. ``year`` is a
        whole number, or empty. Titles and years are read from the corpus when the table is first used. If topics are
        texts, ``topic_id`` is in place of ``paper_id``; without any paper among them, there is no facet, year and
        sentence.
        """
        snapshot = self._snapshot
        listed = study_tables.listed_queries(snapshot.ws, snapshot.queries, snapshot.texts)
        return tidy.listed(study_tables.query_columns(listed), listed)

    @cached_property
    def topics(self) -> pd.DataFrame:
        """Everything that is asked: topic_id, kind (``paper`` or ``text``), title, description, narrative, queries.

        ``queries`` is how many queries a topic has: a paper has one for each of its facets. Description and narrative
        are those of a text. Titles of papers are read from the corpus when the table is first used.
        """
        snapshot = self._snapshot
        columns = study_tables.topic_columns(snapshot.ws, snapshot.queries, snapshot.texts)
        return tidy.listed(columns, sorted({query.topic_id for query in snapshot.queries}))

    @cached_property
    def papers(self) -> pd.DataFrame:
        """Every paper of the corpus: paper_id, title, year, sentences (how many), abstract; of passages also part_of.

        Nothing of it is read before the table is first used. Text is held by pyarrow: 800,000 papers take about as much
        memory as their files take unpacked. Empty if the study has no corpus.
        """
        ws = self._snapshot.ws
        if not ws.has_corpus:
            return tidy.empty_table(["paper_id", "title", "year", "sentences", "abstract"]).astype(
                {"sentences": "Int64"}
            )
        schema = paper_schema()
        types = {schema.field("title").type: pd.StringDtype("pyarrow"), schema.field("year").type: pd.Int64Dtype()}
        frame: pd.DataFrame = texts_of_papers(ws.corpus).to_pandas(types_mapper=types.get)
        return frame

    @cached_property
    def runs(self) -> pd.DataFrame:
        """The rankings in ``exports/runs/``: query_id, doc_id, rank (from 1), score, run (its tag) and system.

        The files are read when the table is first used. `annot.evaluate` takes this table as it is.
        """
        from annot.measuring.measured import read_run_files

        ws = self._snapshot.ws
        frame = tidy.rankings(read_run_files(ws) if self._run_files else {})
        systems = {run.tag: run.system for run in self._snapshot.runs}
        return frame.assign(system=frame["run"].replace(systems))

    @cached_property
    def comments(self) -> pd.DataFrame:
        """Comments of assessors, newest first, as `annot comments` prints them: judged_at, assessor, query_id, doc_id,
        ...

        The last columns are facet, occasion, grade, cannot_judge, comment and counts (whether the answer does).
        ``grade`` is empty if none was given.
        """
        columns = study_tables.comment_columns(self._snapshot.facets)
        return tidy.listed(columns, study_tables.commented(self._snapshot.outcome.everything))

    @cached_property
    def progress(self) -> pd.DataFrame:
        """Progress of each assessor, as `annot status` prints it: assessor, assigned, judged, left.

        ``assigned`` and ``judged`` count pairs, with hidden repeats; ``left`` is whether the person has left the study.
        """
        snapshot = self._snapshot
        return tidy.listed(study_tables.PROGRESS, study_tables.progress_of(snapshot.people, snapshot.outcome))

    @cached_property
    def judgements(self) -> pd.DataFrame:
        """Every judgement: query_id, facet, query_paper, doc_id, assessor, occasion, grade, cannot_judge, comment, ...

        The last columns are flags, revision and times. ``occasion`` is 2 for the answer to a hidden repeat; ``flags``
        are the reasons for which a judgement does not count; ``grade`` is empty if none was given. If topics are
        texts, ``topic_id`` is in place of ``query_paper``, and there is no ``facet`` where all are judged whole.
        `annot.measure_agreement` takes this table as it is.
        """
        columns = ["query_id", *self._of_query, "doc_id", "assessor", "occasion", "grade", "cannot_judge"]
        rows = [
            {**self._row(judgement), "flags": "; ".join(judgement.flags)}
            for judgement in self._snapshot.outcome.everything
        ]
        columns += ["comment", "flags", "revision", "judged_at", "lead_time"]
        frame = pd.DataFrame(rows, columns=columns) if rows else tidy.empty_table(columns)
        return frame.astype({"grade": "Int64", "lead_time": "float64"})

    @cached_property
    def qrels(self) -> pd.DataFrame:
        """Every final grade: query_id, facet, query_paper, doc_id, relevance, origin, adjudicator, reason.

        A pair that is not settled has no row: unjudged is not 0. If topics are texts, ``topic_id`` is in place of
        ``query_paper``, and there is no ``facet`` where all are judged whole. `annot.evaluate` takes this table as it
        is.
        """
        columns = ["query_id", *self._of_query, "doc_id", "relevance", "origin", "adjudicator", "reason"]
        decisions = self._snapshot.outcome.decisions
        rows = [{**self._row(decision), "relevance": decision.grade} for decision in decisions]
        frame = pd.DataFrame(rows, columns=columns) if rows else tidy.empty_table(columns)
        if self._snapshot.sample is not None:
            frame.attrs[OF_A_SAMPLE] = True
        return frame

    @cached_property
    def pool(self) -> pd.DataFrame:
        """Every pooled document: query_paper, doc_id, turn, method, rank, score, also_had_by.

        All facets of a query paper share its pool. If topics are texts, ``topic_id`` is in place of ``query_paper``.
        """
        frames = [tidy.pool(pool) for pool in self._snapshot.pools.values()]
        columns = [PAPER_COLUMN, "doc_id", "turn", "method", "rank", "score", "also_had_by"]
        frame = pd.concat(frames, ignore_index=True) if frames else tidy.empty_table(columns)
        return frame.rename(columns={PAPER_COLUMN: self._topic_column})

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """The figures of `annot agreement`, as `MeasuredAgreement.to_frame` has them.

        Pairs that not all of their assessors have judged yet are left out. Raises MissingInput when nothing is judged.
        Of texts that are judged whole, ``facet`` is ``together`` in every row.
        """
        from annot.measuring.measured import agreement_of

        frame = tidy.agreement(agreement_of(self._snapshot), self._snapshot.words)
        return frame if "facet" in self._of_query else frame[frame["facet"] == EVERYTHING].reset_index(drop=True)

    @cached_property
    def evaluation(self) -> pd.DataFrame:
        """The figures of `annot evaluate`, as `MeasuredRuns.to_frame` has them.

        If a sample of the pools is judged, they are estimates of the whole pools. `annot.evaluate` of ``runs`` and
        ``qrels`` measures on the judged documents alone, whatever was drawn. Raises MissingInput if there are no runs.
        """
        from annot.measuring.measured import conventions_of, evaluation_of, read_run_files

        snapshot = self._snapshot
        runs, qrels = read_run_files(snapshot.ws), snapshot.outcome.qrels
        return tidy.evaluation(evaluation_of(snapshot, runs, qrels, conventions=conventions_of(snapshot.ws.settings)))

    @property
    def _run_files(self) -> int:
        return sum(1 for _ in self._snapshot.ws.runs.glob("*.run"))

    def _said(self) -> tuple[str, ...]:
        snapshot = self._snapshot
        outcome = snapshot.outcome
        return sentences(
            "library.study",
            name=snapshot.ws.settings.collection.name,
            folder=self.path,
            queries=len(snapshot.queries),
            judgements=len(outcome.judgements),
            pairs=len(outcome.planned),
            graded=len(outcome.decisions),
            open=len(outcome.open),
        )

    def _shown(self) -> Table:
        snapshot, ws = self._snapshot, self._snapshot.ws
        outcome = snapshot.outcome
        return TABLES.of(
            [
                TableOfStudy("topics", len(set(snapshot.topics.values())), "topic: a query paper, or a text"),
                TableOfStudy("queries", len(snapshot.queries), "query"),
                TableOfStudy("papers", count_papers(ws.corpus) if ws.has_corpus else 0, "paper of the corpus"),
                TableOfStudy("pool", sum(len(pool.entries) for pool in snapshot.pools.values()), "document of a pool"),
                TableOfStudy("judgements", len(outcome.everything), "judgement"),
                TableOfStudy("comments", sum(bool(answer.comment) for answer in outcome.everything), "comment"),
                TableOfStudy("progress", len({assignment.assessor for assignment in snapshot.assignments}), "assessor"),
                TableOfStudy("qrels", len(outcome.decisions), "final grade"),
                TableOfStudy("runs", None, f"document that a run ranks, in {counted(self._run_files, 'run')}"),
                TableOfStudy("agreement", None, "figure of agreement"),
            ]
        )

    def _row(self, grading: Judgement | Decision) -> dict[str, Any]:
        """Fields of a judgement or decision, with the facet and the topic of its query."""
        of_query = {"facet": self._facets[grading.query_id], self._topic_column: self._topics[grading.query_id]}
        return asdict(grading) | of_query

    @cached_property
    def _facets(self) -> dict[str, str]:
        return self._snapshot.facets

    @cached_property
    def _topics(self) -> dict[str, str]:
        return self._snapshot.topics

    @property
    def _topic_column(self) -> str:
        return TOPIC_COLUMN if self._snapshot.texts else PAPER_COLUMN

    @property
    def _of_query(self) -> tuple[str, ...]:
        """Columns of a row that come from its query: a text that is judged as a whole has no facet."""
        faceted = not self._snapshot.texts or self._snapshot.faceted
        return (*(("facet",) if faceted else ()), self._topic_column)


def open_study(path: str | PathLike[str] = ".") -> OpenStudy:
    """Open a study's folder for reading.

    What is in the database is read at once, in one transaction: the tables are consistent, and later pulls do not
    change them. Papers and runs are files, and are read when they are first used.

    Parameters
    ----------
    path : str or path
        The folder with ``annot.toml``.

    Returns
    -------
    OpenStudy
        With the tables ``topics``, ``queries``, ``papers``, ``pool``, ``judgements``, ``comments``, ``progress``,
        ``qrels``, ``runs`` and ``agreement``.

    Raises
    ------
    MissingInput
        If the folder is not a study, or its database is missing.
    SettingsError
        With every fault in ``annot.toml``.

    Examples
    --------
    >>> import annot
    >>> study = annot.open_study("study")
    >>> study.judgements[["query_id", "doc_id", "assessor", "grade"]].head(2)
      query_id doc_id assessor  grade
    0    q1-method     d1       a1      3
    1    q1-method     d1       a2      2
    """
    workspace = Workspace.open(Path(path))
    return OpenStudy(workspace.root, read_snapshot(workspace))
