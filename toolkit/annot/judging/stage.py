"""Stage of a study: its records at one moment, and the facts on which the next step depends; no server is asked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from annot.base.names import counted
from annot.base.records import Assignment, Gold, Judgement, PairKey, Source, grouped
from annot.judging.next_step import Facts, Rule, next_step, rule_of
from annot.judging.withdrawn import tasks_to_withdraw
from annot.store import facet_labels, people, pools, projects, runs, trials
from annot.store.answers import ADJUDICATIONS, count_corrected_texts, has_texts_on_record, last_opinions
from annot.store.models import Session, StoredRound
from annot.store.pools import documents_came, read_corpus_versions, read_queries, read_sample, read_topics, to_judge
from annot.store.projects import read_hidden
from annot.store.shown import OF_SETTINGS, read_versions
from annot.study.outcome import Pair, texts_of
from annot.study.plain_pairs import counted_outcome
from annot.study.provenance import has_letter, is_current, read_made, states_of
from annot.study.workspace import Workspace

if TYPE_CHECKING:
    from annot.judging.states import StudyState
    from annot.study.shown_versions import ShownChange

TRAIN: StoredRound = "train"
FEEDBACK = "train-feedback"
UNTITLED = "no title"
"""The reason for which `corpus add` leaves out a paper without a title."""
PRODUCTS = {
    "agreement": "agreement.json",
    "evaluate": "evaluation.json",
    "report": "report.html",
    "browse": "browse.html",
    "datasheet": "datasheet.md",
}
"""Files in exports/ that commands make of the study, by command."""


def next_of(ws: Workspace) -> Rule:
    """The next step of the study."""
    with ws.opened() as study, study.store() as store:
        # Findings about files are remembered by the files' dates.
        store.settle()
        with study.reading() as session:
            return next_step(Stage(session, study).facts())


class Stage:
    """The records of a study as one transaction sees them."""

    def __init__(self, session: Session, ws: Workspace, *, whole: bool = False) -> None:
        """whole: every pair is in `outcome`, none is only counted."""
        self.session, self.ws = session, ws
        self.labelled = sum(facet_labels.count_by_origin(session).values())
        """Papers with sentence labels."""
        self.queries = read_queries(session)
        self.sample = read_sample(session)
        """The sample of the pools that is judged; None if whole pools are."""
        self.pooled = pools.queries_with_pool(session)
        self.everyone = people.read_assessors(session)
        self.sent = projects.read_sent(session)
        """Questions that each person was sent to judge, without hidden gold."""
        self.texts = texts_of(session)
        """The answered pairs of which a text was corrected."""
        self.waiting = {pair for pair, texts in self.texts.items() if texts.state == "waits"}
        """Pairs that wait for the lead's decision."""
        self.changes, self.versions = self._changes()
        """Changes since the last push, and later versions that were sent, in words."""
        self.made, self.states = read_made(ws), states_of(ws, session)
        everything = projects.read_projects(session)
        self.projects = [project for project in everything if project.remote_id is not None]
        # What is on a server, and who may settle a dispute, is a matter of each pair.
        whole = whole or bool(everything) or any(person.adjudicator for person in self.everyone)
        self.plain, self.outcome = counted_outcome(session, ws.settings, whole=whole)
        """The pairs that the database counts, and the outcome of the others."""
        self.pairs = self.plain.number + len(self.outcome.planned)
        """Number of pairs of the plan."""
        imported = runs.judgements_imported(session)
        elsewhere = self._people_elsewhere() if imported else set()
        present = [person for person in self.everyone if person.left_on is None and person.assessor not in elsewhere]
        may_assess = ws.settings.adjudication.adjudicator_may_assess
        self.judges = {
            person.assessor for person in present if person.account and (may_assess or not person.adjudicator)
        }
        self.adjudicators = {person.assessor for person in present if person.adjudicator}
        self.elsewhere = imported and not present

    @cached_property
    def planned(self) -> Set[Pair]:
        """The pairs of the plan."""
        return self.plain.grades.keys() | self.outcome.planned.keys()

    @cached_property
    def _drawn_into_pools(self) -> dict[str, tuple[str, ...]]:
        return pools.documents_by_query(self.session)

    @cached_property
    def documents(self) -> dict[str, tuple[str, ...]]:
        """The papers of each query's pool that are to be judged."""
        return to_judge(self._drawn_into_pools, self.sample)

    @property
    def not_drawn(self) -> int:
        """Number of pairs of the pools that the sample leaves out."""
        if self.sample is None:
            return 0
        return sum(map(len, self._drawn_into_pools.values())) - sum(map(len, self.documents.values()))

    @property
    def answered_by(self) -> Set[str]:
        """People with a judgement on record."""
        return self.plain.given.keys() | {row.assessor for row in self.outcome.judgements}

    def _people_elsewhere(self) -> Set[str]:
        """People who judged elsewhere: they have answers on record and no project."""
        working = {project.assessor for project in self.projects}
        return (self.plain.given.keys() | self.outcome.people) - working

    @property
    def to_withdraw(self) -> int:
        """Number of unanswered tasks on the server for people who no longer have the pairs."""
        return tasks_to_withdraw(self.sent, self.outcome)

    @property
    def corrected(self) -> int:
        """Number of texts that were corrected."""
        return count_corrected_texts(self.session)

    @property
    def on_other_texts(self) -> int:
        """Number of unanswered tasks with a text that was corrected since, or that wait for the lead's decision."""
        if not self.corrected:
            return 0
        from annot.study.judged_texts import tasks_on_other_texts

        on_others, answered = tasks_on_other_texts(self.session, "judge", self.texts), self.outcome.answered
        return sum(
            (name, question) not in answered and (question.pair in self.waiting or question in on_others.get(name, ()))
            for name, questions in self.sent.items()
            for question in questions
        )

    def _changes(self) -> tuple[tuple[ShownChange, ...], tuple[str, ...]]:
        versions = read_versions(self.session, *OF_SETTINGS)
        if not versions:
            return (), ()
        # Imported here alone: no other study has anything on record that could have changed.
        from annot.study.shown_versions import changes_of, later_versions

        return changes_of(self.ws, self.session), tuple(map(str, later_versions(versions)))

    def _uncorrected(self) -> int:
        """Number of texts that differ from the record without a correction."""
        if not has_texts_on_record(self.session):
            return 0
        from annot.corpus.corpus_facts import uncorrected

        return len(uncorrected(self.ws, self.session, self.states))

    def _changed_in_words(self, *, refused: bool) -> str:
        changes = [change for change in self.changes if bool(change.refused) is refused]
        if not changes:
            return ""
        from annot.study.shown_versions import in_words

        return in_words(changes)

    def facts(self) -> Facts:
        """The facts on which the next step depends."""
        outcome, sent = self.outcome, projects.was_sent(self.session)
        owing = outcome.progress.left_by_assessor
        people_left = {person.assessor for person in self.everyone if person.left_on is not None}
        papers, settings = self.ws.has_corpus, self.ws.settings
        facts = Facts(
            papers=papers,
            untitled=0 if papers or not settings.corpus.require_title else runs.rejected(self.session)[UNTITLED],
            faceted=settings.faceted,
            unlabelled=self._unlabelled() if papers and settings.faceted else "",
            sheet=self.ws.sheet.is_file(),
            redraw=not self.pairs and "pool" in self.made and not self._current("pool"),
            unread=not (sent or self.answered_by or self.elsewhere or self._current("guidelines")),
            misfits=self.made.get("guidelines", {}).get("misfits", 0),
            elsewhere=self.elsewhere,
            sent=sent,
            uncorrected=self._uncorrected(),
            to_decide=len(self.waiting),
            changed=self._changed_in_words(refused=False),
            refused=self._changed_in_words(refused=True),
            leavers=tuple(sorted(owing.keys() & people_left)),
            missing=sum(n for name, n in owing.items() if name not in self.judges),
            vacant=len(outcome.progress.vacant),
            open=self.plain.disputed + len(outcome.open),
            without_adjudicator=self.plain.disputed + sum(not self._may_settle(pair) for pair in outcome.open),
            judged=bool(self.answered_by),
        )
        for fill in (self._with_plan, self._with_training, self._with_judging, self._with_disputes):
            facts = fill(facts)
        facts = facts._replace(without_letter=self._people_without_letter(facts))
        # The products of the grades are looked at once all grades are there.
        waiting = facts.to_judge or outcome.progress.left or facts.open
        return self._with_servers(facts if not facts.judged or waiting else self._with_products(facts))

    def _with_plan(self, facts: Facts) -> Facts:
        """Facts about the queries, their pools, and the plan."""
        outcome, judged_here = self.outcome, not self.elsewhere
        planned = people.planned_queries(self.session).union(query_id for query_id, _ in outcome.planned)
        missing_people = max(0, self.ws.settings.judging.per_pair - len(self.judges))
        return facts._replace(
            query=self.ws.vocabulary.query,
            queries=len(self.queries),
            pooled=len(self.pooled),
            unfound=self._unfound(self.pooled | planned),
            to_pool=self._version_to_pool(),
            seats=missing_people if judged_here and not planned else 0,
            planned=self.pairs,
            unpooled_plan=self._unpooled_plan() if judged_here else 0,
            growing=sum(1 for _ in self._growing(planned)) if judged_here else 0,
            undrawn=len(self._undrawn(planned)) if judged_here else 0,
            to_fill=sum(bool(self.judges - {*outcome.planned[pair]}) for pair in outcome.progress.vacant),
            batch=len(self.pooled - planned),
        )

    def _unfound(self, others: Set[str]) -> str:
        """First query, without the others, whose pool was drawn and has no document."""
        without = [query for query in self.queries if query.query_id not in others]
        drawn = pools.read_rankings_sha256(self.session) if without else {}
        return next((query.query_id for query in without if query.topic_id in drawn), "")

    def _unlabelled(self) -> str:
        if not self.labelled:
            return "the sentences of the corpus have no labels yet"
        if "facets" not in self.made or self._current("facets"):
            return ""
        return "the papers or the settings have changed since sentences were labelled"

    def _current(self, product: str) -> bool:
        return is_current(self.made, product, self.states)

    def _version_to_pool(self) -> str:
        """Newest version of the corpus, if pools lack its documents: they were drawn from an earlier one, or came with
        judgements and have none of the new documents; else empty."""
        versions = read_corpus_versions(self.session)
        if not versions:
            return ""
        newest, after = versions[-1].version, versions[-1].after
        if self.elsewhere:
            # Most studies have one version, and need no papers for what is next.
            from annot.store.papers import ids_after

            new = {*ids_after(self.ws.corpus, after)} if self.ws.has_corpus else set()
            return newest if new and new.isdisjoint(chain.from_iterable(self.documents.values())) else ""
        # Pools from a file have no rule to grow by.
        ruled = (pool for pool in pools.read_pools(self.session).values() if pool.per_method and pool.ranking_depth)
        drawn_from = {pool.of_corpus for pool in ruled}
        return newest if any(documents_came(self.ws.corpus, versions, corpus) for corpus in drawn_from) else ""

    def _unpooled_plan(self) -> int:
        """Number of planned pairs that left the pools, but for those of withdrawn documents, which stay planned."""
        pairs = {(query_id, doc_id) for query_id, documents in self.documents.items() for doc_id in documents}
        return sum(doc_id not in self.outcome.withdrawn for _, doc_id in self.planned - pairs)

    def _growing(self, planned: set[str]) -> Iterator[Pair]:
        """Pairs of planned queries that `annot plan --grow` would add, or give to more people."""
        for query_id in sorted(planned & self.documents.keys()):
            yield from ((query_id, doc) for doc in self.documents[query_id] if (query_id, doc) not in self.planned)
        per_pair, drawn = self.ws.settings.judging.per_pair, self.outcome.per_pair
        if drawn is not None and drawn < per_pair <= len(self.judges):
            yield from self.planned

    def _undrawn(self, planned: set[str]) -> list[Pair]:
        """Pairs of planned queries from which the sample has not drawn yet."""
        if self.sample is None:
            return []
        return [
            (query_id, doc)
            for query_id in planned & self.documents.keys()
            for doc in self.documents[query_id]
            if (query_id, doc) not in self.sample.pairs
        ]

    def _tasks(self, round: StoredRound) -> dict[str, set[PairKey]]:
        """Questions that everyone was sent in a round."""
        tasks: dict[str, set[PairKey]] = {}
        for project in self.projects:
            if project.round == round:
                tasks.setdefault(project.assessor, set()).update(projects.read_tasks(self.session, project.project))
        return tasks

    def _with_training(self, facts: Facts) -> Facts:
        """People in training, among those who have nothing to judge yet."""
        gold_pairs = trials.read_gold(self.session)
        if not gold_pairs:
            return facts
        assigned = _pairs_of(trials.read_assignments(self.session, TRAIN))
        sent = {name: {question.pair for question in questions} for name, questions in self._tasks(TRAIN).items()}
        answers = (answer.record for answer in trials.read_answers(self.session, TRAIN))
        done = _pairs_of(answer for answer in answers if answer.counts)
        recorded = trials.read_trials(self.session)
        to_train, training = [], []
        for name in sorted(name for name in self.judges if not self.sent.get(name)):
            questions, answered = sent.get(name, set()), done.get(name, set())
            shown = {tuple(pair) for pair in recorded.get(f"{FEEDBACK}/{name}", {}).get("pairs", ())}
            to_have = assigned.get(name, set())
            gone = {pair for pair in questions | answered | to_have if pair[1] in self.outcome.withdrawn}
            still_open = questions - answered
            if still_open and not still_open & gone:
                training.append(name)
            elif still_open or not questions or to_have - questions - gone or answered - shown - gone:
                to_train.append(name)
        return facts._replace(to_train=tuple(to_train), training=tuple(training), unexplained=_unexplained(gold_pairs))

    def _with_judging(self, facts: Facts) -> Facts:
        """Tasks of judging to send, and open tasks by person."""
        hidden = {name: {PairKey(*pair) for pair in pairs} for name, pairs in read_hidden(self.session).items()}
        gold = self._tasks("judge") if hidden else {}
        probed = trials.read_answers(self.session, "hidden-gold") if hidden else ()
        answered = {(answer.record.assessor, answer.record.pair_key) for answer in probed if answer.record.counts}
        pending = grouped((*self.outcome.progress.pending, *self.outcome.progress.pending_repeats))
        unsent: dict[str, int] = {}
        to_judge: dict[str, int] = {}
        for name in self.judges:
            probing = (question for question in hidden.get(name, ()) if (name, question) not in answered)
            left = {question for question in (*probing, *pending.get(name, ())) if question.pair not in self.waiting}
            on_server = left & (self.sent.get(name, set()) | (gold.get(name, set()) & hidden.get(name, set())))
            if left - on_server:
                unsent[name] = len(left - on_server)
            if on_server:
                to_judge[name] = len(on_server)
        # A push leaves out people without an account, and pairs that were answered meanwhile: another one would change
        # nothing. It sends tasks again that a pull has found deleted since.
        pushed = self._current("push")
        signing_up = unsent.keys() & self._people_without_account("push") if pushed else set()
        waiting = sum(many for name, many in unsent.items() if name not in signing_up)
        if not pushed:
            waiting += self.to_withdraw + self.on_other_texts
            waiting += sum(to_judge.values()) if to_judge and self._restyled("push") else 0
        return facts._replace(to_send=waiting, signing_up=tuple(sorted(signing_up)), to_judge=to_judge)

    def _with_disputes(self, facts: Facts) -> Facts:
        """Disputes to send, and open disputes by adjudicator."""
        noted = self._tasks("adjudicate")
        holders = grouped(
            (question, name) for name in sorted(self.adjudicators & noted.keys()) for question in noted[name]
        )
        to_settle: dict[str, int] = {}
        unsent, stale = 0, 0
        shows = last_opinions(self.session) if noted else {}
        judgements = {dispute[0].pair: dispute for dispute in self.outcome.disputed} if holders else {}
        for pair in self.outcome.open if self.adjudicators else ():
            if pair in self.waiting:
                continue
            question = PairKey(*pair, 1 + self.outcome.reopened.get(pair, 0))
            person = next((name for name in holders.get(question, ()) if name in self._may_settle(pair)), None)
            if person is None:
                unsent += bool(self._may_settle(pair))
                continue
            to_settle[person] = to_settle.get(person, 0) + 1
            now = {
                (judgement.assessor, judgement.grade, judgement.cannot_judge, judgement.comment)
                for judgement in judgements[pair]
            }
            stale += now != set(shows.get((person, pair), now))
        pushed = self._current("push adjudication")
        signing_up = (
            self.adjudicators & self._people_without_account("push adjudication") if unsent and pushed else set()
        )
        waiting = 0 if signing_up else unsent
        if not pushed:
            waiting += stale + self._ended_disputes(noted)
            waiting += sum(to_settle.values()) if to_settle and self._restyled("push adjudication") else 0
        return facts._replace(
            disputes_to_send=waiting, adjudicators_signing_up=tuple(sorted(signing_up)), to_settle=to_settle
        )

    def _with_servers(self, facts: Facts) -> Facts:
        """Facts about servers, if the next step is to send work there or to fetch it."""
        is_named = self.ws.studio_url or os.environ.get("LABEL_STUDIO_URL")
        if is_named or not rule_of(facts).command.startswith(("annot push", "annot pull")):
            return facts
        # Imported here alone: most commands need nothing of servers.
        from annot.judging.exchange import servers

        working = {*facts.training, *facts.to_judge, *facts.to_settle}
        new = servers.without_their_tasks(self.ws, working, self.projects)
        return facts._replace(
            to_train=tuple(sorted({*facts.to_train, *new.intersection(facts.training)})),
            to_send=facts.to_send + sum(facts.to_judge[name] for name in new.intersection(facts.to_judge)),
            disputes_to_send=facts.disputes_to_send
            + sum(facts.to_settle[name] for name in new & facts.to_settle.keys()),
            serverless=servers.serverless(
                self.ws, sorted(self.judges | self.adjudicators), is_new=not (self.projects or facts.judged)
            ),
            domain=servers.domain_on_record(self.ws, self.projects),
            first_night=servers.awaits_first_night(self.ws),
        )

    def _ended_disputes(self, noted: Mapping[str, Set[PairKey]]) -> int:
        """Number of tasks without an answer about pairs that are no dispute any more. noted: tasks by adjudicator."""
        disputed = set(self.outcome.open) - self.waiting
        ended = {
            (name, question.pair)
            for name, questions in noted.items()
            for question in questions
            if question.pair not in disputed
        }
        if ended:
            ended -= {(ruling.record.adjudicator, ruling.record.pair) for ruling in ADJUDICATIONS.current(self.session)}
        return len(ended)

    def _may_settle(self, pair: Pair) -> set[str]:
        """The present adjudicators who may settle a dispute."""
        if not self.adjudicators:
            return set()
        passed_on = {ruling.adjudicator for ruling in self.outcome.passed_on.get(pair, ())}
        free = self.adjudicators - {*self.outcome.planned[pair]} - passed_on
        may_assess = self.ws.settings.adjudication.adjudicator_may_assess and not passed_on
        return free or (self.adjudicators if may_assess else set())

    def _people_without_account(self, push: str) -> set[str]:
        """People whom the last push left out because the server did not have their accounts."""
        return set(self.made.get(push, {}).get("without_account", ()))

    def _restyled(self, push: str) -> bool:
        """True if the screens have changed since this push."""
        return self.made.get(push, {}).get("screens") not in (None, self.states["screens"])

    def _people_without_letter(self, facts: Facts) -> tuple[str, ...]:
        project_of = {(str(project.round), project.assessor): project for project in self.projects}
        judges = facts.training or (*facts.to_judge, *facts.signing_up)
        roles = [("judge", name) for name in judges]
        roles += [("adjudicate", name) for name in (*facts.to_settle, *facts.adjudicators_signing_up)]
        # A person who has answered without a letter of ours knew where to begin.
        begun = {("judge", name) for name in self.answered_by}
        begun |= {("adjudicate", ruling.adjudicator) for ruling in self.outcome.adjudications.values()}
        begun -= {tuple(role.split("/")) for role in self.made.get("invite", {})}
        lacking = {
            role for role in roles if role not in begun and not has_letter(self.made, *role, project_of.get(role))
        }
        return tuple(sorted({name for _, name in lacking}))

    def _with_products(self, facts: Facts) -> Facts:
        """Products that are gone, or older than the records that they are made from."""
        release, datasheet = self.made.get("release", {}), self.made.get("datasheet", {})
        folder = str(release.get("folder", ""))
        written = bool(folder) and (self.ws.root / folder).is_dir()
        current = {name: (self.ws.exports / file).is_file() and self._current(name) for name, file in PRODUCTS.items()}
        current |= {"qrels": self._qrels_hold(), "release": written and self._current("release")}
        current |= {"backup": self._current("backup")}
        judged_by = Counter(judgement.pair for judgement in self.outcome.judgements)
        current["agreement"] |= max((self.plain.most, *judged_by.values())) < 2  # no two people
        states = self._refusing()
        current |= {state.product: False for state in states if state.product}
        old_runs = tuple(self._old_runs())
        # A run whose file is gone is made again first; faults of the others are named after that.
        others = [state for state in states if not (state.product or (old_runs and state.untrue == {"runs"}))]
        parts = {state.part for state in others}
        return facts._replace(
            old=frozenset(name for name, is_current in current.items() if not is_current),
            untrue=tuple(state.says for state in others),
            untrue_part=parts.pop() if len(parts) == 1 else "",
            old_runs=old_runs,
            runs=any(self.ws.runs.glob("*.run")),
            questions=n if isinstance(n := datasheet.get("open"), int) else 0,
            release=folder if written else "FOLDER",
        )

    def _refusing(self) -> list[StudyState]:
        """States of the study in which it cannot be released."""
        # Imported once all grades are there, as for the qrels.
        from annot.judging.states import remembered_findings

        return [state for state in remembered_findings(self.ws, self.states) if state.refused]

    def _qrels_hold(self) -> bool:
        # Imported once all grades are there: until then the next step needs none of these modules.
        from annot.formats.trec import topics_file, write_qrels
        from annot.study.snapshot import DECISIONS_FILE

        other_names = (DECISIONS_FILE, topics_file(read_topics(self.session)))
        files = (self.ws.qrels, *(self.ws.exports / name for name in other_names))
        if not all(file.is_file() for file in files):
            return False
        return self.ws.qrels.read_text(encoding="utf-8") == write_qrels((*self.plain.qrels, *self.outcome.qrels))

    def _old_runs(self) -> Iterator[str]:
        """Missing or outdated runs of our own systems; runs of others have to be imported again."""
        files = {path.name for path in self.ws.runs.glob("*.run")}
        for run in runs.read_runs(self.session) if self.pooled else ():
            is_valid = f"{run.tag}.run" in files and self._current(f"run/{run.tag}")
            if run.kind == Source.BASELINE and not is_valid:
                yield run.tag


def _pairs_of(records: Iterable[Assignment | Judgement]) -> dict[str, set[Pair]]:
    """The pairs of each person."""
    return {name: set(pairs) for name, pairs in grouped((record.assessor, record.pair) for record in records).items()}


def _unexplained(gold_pairs: Iterable[Gold]) -> str:
    """Clause about gold pairs that are not sent because they have no reason; empty if all have one."""
    from annot.judging.trial_answers import NO_REASONS

    bare = sum(gold.why.strip() in NO_REASONS for gold in gold_pairs)
    return f"; first give {counted(bare, 'pair')} a reason in training/gold.tsv" if bare else ""
