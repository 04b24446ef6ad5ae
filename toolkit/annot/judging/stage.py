"""The stage of a study: its records at one moment, and the facts on which the next step depends; no server is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlmodel import Session

from annot.base.errors import AnnotError
from annot.base.names import counted, verb
from annot.base.records import Assignment, Judgement, PairKey, Source, grouped
from annot.judging.next_step import Facts, Next, next_step
from annot.judging.withdrawn import tasks_to_withdraw
from annot.store import facet_labels, people, pools, projects, runs, trials
from annot.store.adjudications import last_opinions, read_current
from annot.store.judgements import count_corrected_texts, has_texts_on_record
from annot.store.pools import read_queries, read_sample, read_topics, to_judge
from annot.store.projects import StoredRound, read_hidden
from annot.store.shown import OF_SETTINGS, read_versions
from annot.study.outcome import Pair, outcome_of, texts_of
from annot.study.provenance import has_letter, is_current, read_made, states_of
from annot.study.workspace import Workspace, read_manifest

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
"""What is made of the study, by command, and the file in exports/ that has to be there."""


def next_of(ws: Workspace) -> Next:
    """What is next in the study."""
    with ws.opened() as study, study.reading() as session:
        return next_step(Stage(session, study).facts())


class Stage:
    """The records of a study as one transaction sees them."""

    def __init__(self, session: Session, ws: Workspace) -> None:
        self.session, self.ws = session, ws
        self.labelled = sum(facet_labels.count_by_origin(session).values())
        """Papers with sentence labels."""
        self.queries = read_queries(session)
        self.sample = read_sample(session)
        """Where a sample of the pools is judged."""
        pooled = pools.documents_by_query(session)
        self.documents = to_judge(pooled, self.sample)
        """The papers of each query's pool that are to be judged."""
        self.not_drawn = sum(map(len, pooled.values())) - sum(map(len, self.documents.values()))
        self.everyone = people.read_assessors(session)
        self.plan = people.read_assignments(session)
        self.sent = projects.read_sent(session)
        """What each person was sent to judge, without hidden gold."""
        self.outcome = outcome_of(session, ws.settings)
        self.texts = texts_of(session)
        """The answered pairs of which a text was corrected."""
        self.waiting = {pair for pair, one in self.texts.items() if one.state == "waits"}
        """Those that wait for the lead's decision."""
        self.answered = self.outcome.answered
        """Every answer that counts, planned or not."""
        self.changes, self.versions = self._changes()
        """What has changed since it was sent; and what was sent again with a change, in words."""
        self.made, self.states = read_made(ws), states_of(ws, session)
        self.projects = [one for one in projects.read_projects(session) if one.remote_id is not None]
        imported = runs.judgements_imported(session)
        gone = self.outcome.people - {one.assessor for one in self.projects} if imported else set()
        present = [one for one in self.everyone if one.left_on is None and one.assessor not in gone]
        may_assess = ws.settings.adjudication.adjudicator_may_assess
        self.judges = {one.assessor for one in present if one.account and (may_assess or not one.adjudicator)}
        self.adjudicators = {one.assessor for one in present if one.adjudicator}
        self.elsewhere = imported and not present

    @property
    def to_withdraw(self) -> int:
        """Unanswered tasks on the server of people who no longer have the pairs."""
        return tasks_to_withdraw(self.sent, self.plan, self.outcome)

    @property
    def corrected(self) -> int:
        """Texts that were corrected."""
        return count_corrected_texts(self.session)

    @property
    def on_other_texts(self) -> int:
        """Unanswered tasks on the server with a text that was corrected since, or that wait for the lead's decision."""
        if not self.corrected:
            return 0
        from annot.study.judged_texts import tasks_on_other_texts

        other = tasks_on_other_texts(self.session, "judge", self.texts)
        return sum(
            (name, asked) not in self.answered and (asked.pair in self.waiting or asked in other.get(name, ()))
            for name, own in self.sent.items()
            for asked in own
        )

    def _changes(self) -> tuple[tuple[ShownChange, ...], tuple[str, ...]]:
        versions = read_versions(self.session, *OF_SETTINGS)
        if not versions:
            return (), ()
        # Only here: in no other study is anything on record that could have changed.
        from annot.study.shown_versions import changes_of, later_versions

        return changes_of(self.ws, self.session), tuple(map(str, later_versions(versions)))

    def _uncorrected(self) -> int:
        """Texts that are not those on record, although no correction says so."""
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
        """What the next step depends on."""
        outcome, papers, require_title = self.outcome, self.ws.has_corpus, self.ws.settings.corpus.require_title
        planned = {query_id for query_id, _ in outcome.planned}
        pooled = {query.query_id for query in self.queries if query.query_id in self.documents}
        sent = projects.was_sent(self.session)
        owing = outcome.progress.left_by_assessor
        gone = {one.assessor for one in self.everyone if one.left_on is not None}
        found = Facts(
            papers=papers,
            untitled=0 if papers or not require_title else runs.rejected(self.session)[UNTITLED],
            faceted=self.ws.settings.faceted,
            unlabelled=self._unlabelled() if papers and self.ws.settings.faceted else "",
            sheet=self.ws.sheet.is_file(),
            queries=len(self.queries),
            pooled=len(pooled),
            redraw=not self.plan and "pool" in self.made and not self._current("pool"),
            unread=not (sent or outcome.judgements or self.elsewhere or self._current("guidelines")),
            misfits=self.made.get("guidelines", {}).get("misfits", 0),
            seats=0 if planned or self.elsewhere else max(0, self.ws.settings.judging.per_pair - len(self.judges)),
            elsewhere=self.elsewhere,
            sent=sent,
            planned=len(outcome.planned),
            growing=0 if self.elsewhere else sum(1 for _ in self._growing(planned)),
            undrawn=0 if self.elsewhere else len(self._undrawn(planned)),
            to_fill=sum(bool(self.judges - {*outcome.planned[pair]}) for pair in outcome.progress.vacant),
            batch=len(pooled - planned),
            uncorrected=self._uncorrected(),
            to_decide=len(self.waiting),
            changed=self._changed_in_words(refused=False),
            refused=self._changed_in_words(refused=True),
            leavers=tuple(sorted(owing.keys() & gone)),
            missing=sum(n for name, n in owing.items() if name not in self.judges),
            vacant=len(outcome.progress.vacant),
            open=len(outcome.open),
            without_adjudicator=sum(not self._may_settle(pair) for pair in outcome.open),
            judged=bool(outcome.judgements),
            **self._training(),
            **self._judging(),
            **self._settling(),
        )
        found = found._replace(without_letter=self._without_letter(found))
        # What follows from the grades is looked at once there are all.
        waiting = found.to_judge or outcome.progress.left or found.open
        return found if not found.judged or waiting else found._replace(**self._products())

    def _unlabelled(self) -> str:
        if not self.labelled:
            return "the sentences of the corpus have no labels yet"
        if "facets" not in self.made or self._current("facets"):
            return ""
        papers = self.labelled
        with suppress(AnnotError):
            papers = read_manifest(self.ws.corpus / "manifest.json", hint="").get("papers", papers)
        if (lacking := papers - self.labelled) > 0:
            return f"{counted(lacking, 'paper')} of {papers:,} {verb(lacking, 'has', 'have')} no sentence labels"
        return "the papers or the settings have changed since sentences were labelled"

    def _current(self, what: str) -> bool:
        return is_current(self.made, what, self.states)

    def _growing(self, planned: set[str]) -> Iterator[Pair]:
        """Pairs of planned queries that `annot plan --grow` would add, or give to more people."""
        known, documents = self.outcome.planned, self.documents
        if self.sample is not None and self._undrawn(planned):
            # Only here: no other study needs what draws a sample.
            from annot.judging.pool_samples import sample_of

            pooled = [query for query in self.queries if query.query_id in documents]
            current = pools.read_pools(self.session)
            coming = sample_of(current, pooled, design=self.sample.design, before=self.sample)
            documents = to_judge(documents, coming)
        for query_id in sorted(planned & documents.keys()):
            yield from ((query_id, doc) for doc in documents[query_id] if (query_id, doc) not in known)
        wanted, drawn = self.ws.settings.judging.per_pair, self.outcome.per_pair
        if drawn is not None and drawn < wanted <= len(self.judges):
            yield from known

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
        """What everyone was sent in a round."""
        found: dict[str, set[PairKey]] = {}
        for one in self.projects:
            if one.round == round:
                found.setdefault(one.assessor, set()).update(projects.read_tasks(self.session, one.project))
        return found

    def _training(self) -> dict[str, Any]:
        """Who is in training, of those who have nothing to judge yet."""
        if not trials.read_gold(self.session):
            return {}
        given = _pairs_of(trials.read_assignments(self.session, TRAIN))
        sent = {name: {asked.pair for asked in own} for name, own in self._tasks(TRAIN).items()}
        answers = (answer.record for answer in trials.read_answers(self.session, TRAIN))
        done = _pairs_of(answer for answer in answers if answer.counts)
        known = trials.read_trials(self.session)
        to_train, training = [], []
        for name in sorted(name for name in self.judges if not self.sent.get(name)):
            own, answered = sent.get(name, set()), done.get(name, set())
            shown = {tuple(pair) for pair in known.get(f"{FEEDBACK}/{name}", {}).get("pairs", ())}
            if own - answered:
                training.append(name)
            elif not own or given.get(name, set()) - own or answered - shown:
                to_train.append(name)
        return {"to_train": tuple(to_train), "training": tuple(training)}

    def _judging(self) -> dict[str, Any]:
        """What has to be sent, and who has what to judge."""
        hidden = {name: {PairKey(*pair) for pair in own} for name, own in read_hidden(self.session).items()}
        gold = self._tasks("judge") if hidden else {}
        probed = trials.read_answers(self.session, "hidden-gold") if hidden else ()
        answered = {(one.record.assessor, one.record.asked) for one in probed if one.record.counts}
        pending = grouped((*self.outcome.progress.pending, *self.outcome.progress.pending_repeats))
        unsent: dict[str, int] = {}
        to_judge: dict[str, int] = {}
        for name in self.judges:
            left = {asked for asked in hidden.get(name, ()) if (name, asked) not in answered} | {*pending.get(name, ())}
            left = {asked for asked in left if asked.pair not in self.waiting}
            there = left & (self.sent.get(name, set()) | (gold.get(name, set()) & hidden.get(name, set())))
            unsent |= {name: len(left - there)} if left - there else {}
            to_judge |= {name: len(there)} if there else {}
        # A push leaves out who has not signed up, and what was answered meanwhile: the same again would change nothing.
        # It sends again what a pull has found deleted since.
        pushed = self._current("push")
        signing_up = unsent.keys() & self._without_account("push") if pushed else set()
        restyled = to_judge and not pushed and self._restyled("push")
        waiting = sum(many for name, many in unsent.items() if name not in signing_up)
        waiting += 0 if pushed else self.to_withdraw + self.on_other_texts + (sum(to_judge.values()) if restyled else 0)
        return {"to_send": waiting, "signing_up": tuple(sorted(signing_up)), "to_judge": to_judge}

    def _settling(self) -> dict[str, Any]:
        """What of the disputes has to be sent, and who has what to settle."""
        noted = self._tasks("adjudicate")
        holders = grouped((asked, name) for name in sorted(self.adjudicators & noted.keys()) for asked in noted[name])
        to_settle: dict[str, int] = {}
        unsent, stale = 0, 0
        shows = last_opinions(self.session) if noted else {}
        said = {one.pair: one.judgements for one in self.outcome.settlement.disputed}
        for pair in self.outcome.open:
            if pair in self.waiting:
                continue
            asked = PairKey(*pair, 1 + self.outcome.reopened.get(pair, 0))
            person = next((name for name in holders.get(asked, ()) if name in self._may_settle(pair)), None)
            if person is None:
                unsent += bool(self._may_settle(pair))
                continue
            to_settle[person] = to_settle.get(person, 0) + 1
            now = {(one.assessor, one.grade, one.cannot_judge, one.comment) for one in said[pair]}
            stale += now != set(shows.get((person, pair), now))
        disputed = set(self.outcome.open) - self.waiting
        ended = {(name, asked.pair) for name, own in noted.items() for asked in own if asked.pair not in disputed}
        if ended:
            ended -= {(one.record.adjudicator, one.record.pair) for one in read_current(self.session)}
        pushed = self._current("push adjudication")
        restyled = to_settle and not pushed and self._restyled("push adjudication")
        signing_up = self.adjudicators & self._without_account("push adjudication") if unsent and pushed else set()
        waiting = 0 if signing_up else unsent
        waiting += 0 if pushed else stale + len(ended) + (sum(to_settle.values()) if restyled else 0)
        return {
            "disputes_to_send": waiting,
            "adjudicators_signing_up": tuple(sorted(signing_up)),
            "to_settle": to_settle,
        }

    def _may_settle(self, pair: Pair) -> set[str]:
        """The present adjudicators who may settle a dispute."""
        passed_on = {one.adjudicator for one in self.outcome.passed_on.get(pair, ())}
        free = self.adjudicators - {*self.outcome.planned[pair]} - passed_on
        may_assess = self.ws.settings.adjudication.adjudicator_may_assess and not passed_on
        return free or (self.adjudicators if may_assess else set())

    def _without_account(self, what: str) -> set[str]:
        """People whom the last push left out because the server did not have their accounts."""
        return set(self.made.get(what, {}).get("without_account", ()))

    def _restyled(self, what: str) -> bool:
        """Whether the screens would not be as this push left them."""
        return self.made.get(what, {}).get("screens") not in (None, self.states["screens"])

    def _without_letter(self, found: Facts) -> tuple[str, ...]:
        own = {(str(one.round), one.assessor): one for one in self.projects}
        judges = found.training or (*found.to_judge, *found.signing_up)
        roles = [("judge", name) for name in judges]
        roles += [("adjudicate", name) for name in (*found.to_settle, *found.adjudicators_signing_up)]
        # Whoever has answered without a letter of ours knew where to begin.
        begun = {("judge", one.assessor) for one in self.outcome.judgements}
        begun |= {("adjudicate", one.adjudicator) for one in self.outcome.adjudications.values()}
        begun -= {tuple(role.split("/")) for role in self.made.get("invite", {})}
        wanted = {one for one in roles if one not in begun and not has_letter(self.made, *one, own.get(one))}
        return tuple(sorted({name for _, name in wanted}))

    def _products(self) -> dict[str, Any]:
        """What is gone, or older than what it is made from."""
        release, datasheet = self.made.get("release", {}), self.made.get("datasheet", {})
        folder = str(release.get("folder", ""))
        written = bool(folder) and (self.ws.root / folder).is_dir()
        current = {name: (self.ws.exports / file).is_file() and self._current(name) for name, file in PRODUCTS.items()}
        current |= {"qrels": self._qrels_hold(), "release": written and self._current("release")}
        current |= {"backup": self._current("backup")}
        current["agreement"] |= max(Counter(one.pair for one in self.outcome.judgements).values()) < 2  # no two people
        found = self._refusing()
        current |= {state.product: False for state in found if state.product}
        old_runs = tuple(self._old_runs())
        # A run whose file is gone is made again first; what is wrong with others is named after that.
        others = [state for state in found if not (state.product or (old_runs and state.untrue == {"runs"}))]
        parts = {state.part for state in others}
        return {
            "old": frozenset(name for name, is_so in current.items() if not is_so),
            "untrue": tuple(state.says for state in others),
            "untrue_part": parts.pop() if len(parts) == 1 else "",
            "old_runs": old_runs,
            "runs": any(self.ws.runs.glob("*.run")),
            "questions": n if isinstance(n := datasheet.get("open"), int) else 0,
            "release": folder if written else "FOLDER",
        }

    def _refusing(self) -> list[StudyState]:
        """The states that the study is in and in which there is no release."""
        # Only once there are all grades, as for the qrels.
        from annot.judging.states import remembered_findings

        return [finding.state for finding in remembered_findings(self.ws, self.states) if finding.state.refused]

    def _qrels_hold(self) -> bool:
        # Only once there are all grades: until then the next step is known without these modules.
        from annot.formats.trec import topics_file, write_qrels
        from annot.study.snapshot import DECISIONS_FILE

        beside = (DECISIONS_FILE, topics_file(read_topics(self.session)))
        files = (self.ws.qrels, *(self.ws.exports / name for name in beside))
        if not all(file.is_file() for file in files):
            return False
        return self.ws.qrels.read_text(encoding="utf-8") == write_qrels(self.outcome.qrels)

    def _old_runs(self) -> Iterator[str]:
        """The runs of our own systems; those of others are brought in again by whoever has them."""
        there = {path.name for path in self.ws.runs.glob("*.run")}
        for run in runs.read_runs(self.session) if self.documents else ():
            holds = f"{run.tag}.run" in there and self._current(f"run/{run.tag}")
            if run.kind == Source.BASELINE and not holds:
                yield run.tag


def _pairs_of(records: Iterable[Assignment | Judgement]) -> dict[str, set[Pair]]:
    """The pairs of each person."""
    return {name: set(own) for name, own in grouped((one.assessor, one.pair) for one in records).items()}
