"""Subject of a report: one snapshot of a study, and its measurements, each made when it is first used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

from annot.base.names import StudyVocabulary
from annot.base.records import Decision, Judgement, Pool, Query, Ranking, Source, grouped
from annot.base.settings import Settings
from annot.base.stats.values import Estimate, Undefined, Value
from annot.formats.trec import write_qrels
from annot.judging.progress import as_judgements
from annot.judging.states import Examination, StateFindings, findings_of
from annot.measuring import measured
from annot.measuring.agreement.estimates import AgreementTable
from annot.measuring.assessor_effect import AssessorEffect
from annot.measuring.diagnosis.findings import AssessorAnalysis
from annot.measuring.evaluation.evaluated import EvaluatedRuns
from annot.measuring.evaluation.measures import SampleCost
from annot.measuring.forecast.hours import hours_spent, seconds_of, speed_of
from annot.measuring.sampled.grades import GradeCounts
from annot.measuring.sampled_study import grade_counts
from annot.measuring.study_analyses import assessor_effect_of
from annot.pools.drawn_pools import PoolOrigins, origins_of
from annot.publishing.report.tables import sentence
from annot.publishing.terms import Terms, terms_of
from annot.store import facet_labels, papers
from annot.study.outcome import Outcome, Pair
from annot.study.snapshot import Snapshot
from annot.study.workspace import read_kinds

T = TypeVar("T")


class Work(NamedTuple):
    """Working time of people, by the times on record."""

    hours: Value
    timed: int
    answers: int


@dataclass(frozen=True)
class Study:
    """Source of all sections: a snapshot and its measurements."""

    snapshot: Snapshot
    released: Terms | None = None
    """The terms of the release that the report is part of."""
    _once: dict[Callable[[Study], Any], Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def once(self, function: Callable[[Study], T]) -> T:
        """Result of a wing's or plug-in's function of this study, computed at the first call."""
        if function not in self._once:
            self._once[function] = function(self)
        return cast("T", self._once[function])

    @property
    def terms(self) -> Terms:
        """Terms of publication; without a release, those of annot.toml."""
        collection = self.settings.collection
        return self.released or terms_of(collection, with_text=None, licence=None, published=None)[0]

    @property
    def settings(self) -> Settings:
        return self.snapshot.ws.settings

    @cached_property
    def words(self) -> StudyVocabulary:
        """Vocabulary in which the study is written about."""
        return self.snapshot.words

    @property
    def outcome(self) -> Outcome:
        return self.snapshot.outcome

    @cached_property
    def papers(self) -> int:
        """Number of papers that pools could be drawn from; 0 if the study was judged elsewhere without a corpus."""
        ws = self.snapshot.ws
        return papers.count_papers(ws.corpus) - len(self.added) if ws.has_corpus else 0

    @cached_property
    def examination(self) -> Examination:
        """Verdicts on the study."""
        return Examination(self.snapshot.ws)

    @cached_property
    def added(self) -> tuple[str, ...]:
        """Papers that are not counted, and not released: they were added after the pools were drawn, or the version of
        the corpus does not have them."""
        return tuple(sorted({*self.examination.added, *self.snapshot.outside}))

    @cached_property
    def label_origins(self) -> dict[str, int]:
        """Papers by the origin of their sentence labels, without those not counted."""
        if not self.added:
            return self.snapshot.label_origins
        with self.snapshot.ws.reading() as session:
            later = Counter(label.origin for label in facet_labels.read_labels(session, self.added))
        counts = Counter(self.snapshot.label_origins) - later
        return dict(sorted(counts.items()))

    @cached_property
    def findings(self) -> StateFindings:
        """The states in which the study says something that is not true."""
        return findings_of(self.examination)

    @property
    def queries(self) -> tuple[Query, ...]:
        return self.snapshot.queries

    @property
    def query_papers(self) -> int:
        """Papers that queries were made of."""
        return len({query.topic_id for query in self.queries})

    @property
    def pools(self) -> dict[str, Pool]:
        return self.snapshot.pools

    @property
    def pooled(self) -> bool:
        """True if the judged pairs come from these pools; False if judgements were imported without them."""
        return bool(self.pools) and not any(imported.what == Source.FILE for imported in self.snapshot.imports)

    @cached_property
    def origins(self) -> PoolOrigins:
        """Facts that the pools depend on in addition to the draws."""
        return origins_of(self.snapshot.ws, self.pools, without=self.added)

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        return self.outcome.judgements

    @property
    def graded(self) -> int:
        """Judgements that count and have a grade."""
        return sum(not judgement.flags and judgement.grade is not None for judgement in self.judgements)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return self.outcome.decisions

    @property
    def withdrawn(self) -> tuple[int, int]:
        """Documents that were withdrawn from the corpus, and pairs with a final grade on them, which no qrels of the
        newest version have."""
        return len(self.outcome.withdrawn), len(self.outcome.decisions) - len(self.outcome.to_show)

    @property
    def agreed(self) -> int:
        """Pairs settled without a person: their assessors gave the same grade, or there is only one."""
        return sum(decision.origin == "agreed" for decision in self.decisions)

    @property
    def single(self) -> int:
        """Number of pairs with a final grade that only one assessor had."""
        agreed = {decision.pair for decision in self.decisions if decision.origin == "agreed"}
        return sum(pair in agreed and len(team) == 1 for pair, team in self.outcome.planned.items())

    @property
    def given_to(self) -> list[tuple[int, int]]:
        """(assessors of a pair, planned pairs that have that many), the most first."""
        return sorted(Counter(len(team) for team in self.outcome.planned.values()).items(), reverse=True)

    @property
    def accepted(self) -> list[tuple[str, int]]:
        """(why, pairs with a final grade although they have fewer judgements than planned)."""
        accepted = self.outcome.accepted
        reasons = [accepted[decision.pair] for decision in self.decisions if decision.pair in accepted]
        return sorted(Counter(reasons).items())

    @property
    def open(self) -> int:
        """Pairs in dispute without a decision."""
        return len(self.outcome.open)

    @property
    def unjudgeable(self) -> int:
        """Pairs that cannot be judged: they are closed without a final grade."""
        return len(self.outcome.unjudgeable)

    @property
    def returned(self) -> int:
        """Number of times that a pair was put before its assessor again."""
        return len(self.outcome.returned)

    @property
    def incomplete(self) -> int:
        """Pairs that wait for a judgement, also for one that was asked again."""
        return len(self.outcome.progress.unfinished)

    @cached_property
    def work(self) -> Work:
        """Hours of judging and adjudicating, including answers without a grade."""
        counting = (answer for answer in self.outcome.everything if answer.counts)
        by_person = grouped((answer.assessor, answer) for answer in (*counting, *as_judgements(self.outcome.rulings)))
        speed = speed_of(by_person, fence=self.settings.forecast.fence)
        answers = [answer for of_person in by_person.values() for answer in of_person]
        return Work(hours_spent(by_person, speed), sum(map(bool, map(seconds_of, answers))), len(answers))

    @property
    def notice(self) -> str | None:
        """Warning that a reader must know before believing any number."""
        of_simulation = (imported for imported in self.snapshot.imports if imported.what == Source.SIMULATION)
        return next((str(imported.facts["notice"]) for imported in of_simulation), None)

    @property
    def made_elsewhere(self) -> str | None:
        """Origin of the judgements, if they were not made here."""
        if not self.snapshot.judged_elsewhere:
            return None
        released = any(imported.what == Source.CSFCUBE for imported in self.snapshot.imports)
        return sentence("grades.elsewhere", released=released)

    @property
    def isolation(self) -> str:
        """`server` if no two people shared one in any round, else `project`; `unknown` of imported judgements."""
        if Source.LABEL_STUDIO not in self.snapshot.sources:
            return "unknown"
        owners = {(project.server, project.assessor) for project in self.snapshot.projects}
        servers, people = ({pair[position] for pair in owners} for position in (0, 1))
        return "server" if len(people) > 1 and len(servers) == len(owners) else "project"

    @property
    def run_settings(self) -> tuple[tuple[str, str], ...]:
        """Each run's tag and its settings in words."""
        return tuple(
            (run.tag, sentence("runs.of_release") if run.kind == Source.CSFCUBE else _in_words(run.facts))
            for run in self.snapshot.runs
        )

    @property
    def sample_cost(self) -> SampleCost | None:
        """Cost of judging a sample of the pools; its size alone, if no run is measured."""
        sample = self.snapshot.sample
        if sample is None or not self.snapshot.samples:
            return None
        if not isinstance(self.evaluated, Undefined) and self.evaluated.sampled is not None:
            return self.evaluated.sampled
        drawn = sum(pair.drawn for pair in sample.pairs.values())
        none = Undefined("no run is measured")
        unknown = Estimate(none, none)
        return SampleCost(drawn, len(sample.pairs), sample.design.share, unknown, unknown, outside=0, floored=0)

    @cached_property
    def grade_counts(self) -> dict[str, GradeCounts] | None:
        """Estimated documents of each query's pool by grade; None if all pairs were to be judged."""
        return grade_counts(self.snapshot) if self.snapshot.samples else None

    @property
    def certificate(self) -> str:
        """Share of the pools that was judged, and its cost; empty if all of it was."""
        return (
            self.snapshot.words.said(sentence("sample.certificate", cost=self.sample_cost)) if self.sample_cost else ""
        )

    @property
    def level(self) -> float:
        """Level of the report's own intervals."""
        return self.snapshot.ws.settings.agreement.level

    @cached_property
    def agreement(self) -> AgreementTable:
        return measured.agreement_of(self.snapshot)

    @property
    def by_guidelines(self) -> tuple[measured.ByGuidelines, ...]:
        """Agreement by each version of the guidelines, if they were changed."""
        return measured.agreement_by_guidelines(self.snapshot)

    @cached_property
    def binarised(self) -> tuple[AgreementTable, ...]:
        """The headline coefficients at each grade or higher against lower; empty on a scale of two grades."""
        return measured.binarised_agreement_of(self.snapshot)

    @cached_property
    def diagnosed(self) -> AssessorAnalysis:
        """Comparison of the assessors."""
        return measured.assessors_of(self.snapshot)

    @cached_property
    def runs(self) -> dict[str, dict[str, Ranking]]:
        """Runs of the study, by tag."""
        return measured.runs_of(self.snapshot)

    @cached_property
    def evaluated(self) -> EvaluatedRuns | Undefined:
        """The runs, or why there is nothing to measure."""
        if missing := self._missing(runs=1):
            return missing
        inputs = (self.snapshot, self.runs, self.outcome.qrels)
        conventions = measured.conventions_of(self.settings)
        evaluated = measured.evaluation_of(*inputs, conventions=conventions, unfinished=True)
        return measured.with_earlier(*inputs, evaluated)

    @property
    def error_kinds(self) -> dict[Pair, str]:
        """Kind of error that the lead gave to a pair."""
        return read_kinds(self.snapshot.ws)

    @cached_property
    def effect(self) -> AssessorEffect | Undefined:
        """Effect of the assessors on the runs, or the reason why there is nothing to rank."""
        if missing := self._missing(runs=2):
            return missing
        convention, measure = measured.primary_of(self.snapshot.ws.settings)
        return assessor_effect_of(
            self.snapshot, self.runs, self.outcome.qrels, convention=convention, measure=measure, unfinished=True
        )

    def _missing(self, *, runs: int) -> Undefined | None:
        """Reason why the runs cannot be compared: no qrels of these grades, or fewer runs than needed."""
        file, n_runs = self.snapshot.qrels_file, len(self.snapshot.run_files)
        written = file.read_text(encoding="utf-8") if file.is_file() else None
        missing = "runs" if written == write_qrels(self.outcome.qrels) else "qrels" if written is None else "old_qrels"
        if missing == "runs" and n_runs >= runs:
            return None
        return Undefined(sentence("runs.missing", missing=missing, file=file.name, found=n_runs, needed=runs))


def _in_words(facts: Mapping[str, Any]) -> str:
    """Settings in words, the nested ones in brackets; hashes cut to a few characters."""
    settings = {name: value for name, value in sorted(facts.items()) if value not in (None, {}, [])}
    return ", ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in settings.items())


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({_in_words(value)})"
    if isinstance(value, list | tuple):
        return " and ".join(map(_value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return f"{text[:12]}…" if re.fullmatch("[0-9a-f]{64}", text) else text
