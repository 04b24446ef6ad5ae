"""Opinions on record, pairs to ask about, and permission to ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from annot.base.errors import Faults, InputError, MissingInput, numbered
from annot.base.names import counted, known_query, moment_now
from annot.judging.exchange.outgoing import HiddenWords
from annot.store import people, pools, projects
from annot.store.answers import JUDGEMENTS
from annot.store.models import AskedModel, ModelCall, Session
from annot.store.pools import read_queries
from annot.store.shown import Display, display_parts, hash_of_text, in_force, read_histories
from annot.study import workspace
from annot.study.judged_texts import judged_texts, paper_topics, texts_of_pair
from annot.study.outcome import Pair, outcome_of
from annot.study.workspace import SETTINGS_FILE, Workspace, given_text

from annot_opinions import stored
from annot_opinions.stored import ANSWERED, READ, REFUSED

# ----------------------------------------------------------------------------------------------------------------------
# Opinions asked or shown before people have judged may sway them, so the lead gives a reason that is published.
# ----------------------------------------------------------------------------------------------------------------------


What = Literal["asked", "shown"]

_WHY: dict[What, str] = {
    "asked": "no pair has been sent to an assessor yet, so the model's opinion could influence the plan and the people",
    "shown": "people have not settled all pairs yet, so the model's opinion could influence them",
}


def is_early(ws: Workspace, session: Session, what: What) -> bool:
    """True if it is too early to ask a model or to show its opinion.

    A model may be asked once pairs were sent, or judged elsewhere; its opinion may be shown once every planned pair is
    settled.
    """
    judged = bool(JUDGEMENTS.current(session))
    if what == "asked":
        return not judged and not projects.read_asked(session, round="judge")
    outcome = outcome_of(session, ws.settings)
    return not judged or bool(outcome.open or outcome.progress.unfinished)


def check_early(ws: Workspace, session: Session, what: What, *, why: str | None) -> str | None:
    """The reason to put on record, or None if it is not early. Raises InputError if a reason is needed and missing."""
    if not is_early(ws, session, what):
        return None
    reason = " ".join((why or "").split())
    if not reason:
        raise InputError(_WHY[what], hint='wait, or give the reason: --before-judging "why"; the datasheet repeats it')
    return reason


def note_early(session: Session, name: str, what: What, why: str) -> None:
    """Put the reason on record, once."""
    model = stored.read_asked_model(session, name)
    if (what, why) not in {(entry[1], entry[2]) for entry in model.early}:
        stored.put_asked_model(session, model._replace(early=(*model.early, (moment_now(), what, why))))


# ----------------------------------------------------------------------------------------------------------------------
# Permission to send texts of the study to a model on another machine: asked once, and noted in annot.toml.
#
# A study may come from someone else, so the address has to be allowed by the owner of this machine too:
# `annot.study.workspace`.
# ----------------------------------------------------------------------------------------------------------------------


MAY_LEAVE = "may_leave_this_machine"
KEY_VARIABLE = "ANNOT_OPINION_KEY"
"""Environment variable with the key of the model's server."""
WORDS = HiddenWords(names=stored.read_model_names, texts=stored.read_reasons, variables=(KEY_VARIABLE,))
"""Names of models and their opinions, and the reasons that models gave, which no task may show."""


def check_leaving(ws: Workspace, name: str, url: str, may_leave: Callable[[str], bool] | None) -> None:
    """Refuse to send texts to an address elsewhere unless the lead allows it.

    may_leave: asks the lead; None if there is no terminal. Raises InputError if the texts may not leave, and if the
    owner of this machine has not allowed the study to name the address.
    """
    from annot.labelstudio.http_client import is_loopback

    if is_loopback(url):
        return
    asked_by = f"{SETTINGS_FILE}, [opinions.{name}] url"
    allowed = ws.settings.corpus.may_leave_this_machine
    if allowed is None and may_leave is not None:
        allowed = may_leave(url)
        workspace.write_setting(ws.settings_file, "corpus", MAY_LEAVE, allowed)
        if allowed:
            workspace.allow(ws.root, url)
    if not allowed:
        raise InputError(
            f"{asked_by}: the texts of this study may not leave this machine",
            hint=f"if they may be sent to {url}, write {MAY_LEAVE} = true below [corpus] in {SETTINGS_FILE}; "
            "or ask a model on this machine",
        )
    ws.check_door(url, asked_by=asked_by)


# ----------------------------------------------------------------------------------------------------------------------
# The pairs that a model is asked about: all pooled ones, the planned ones, or those that a file names.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Selection:
    """The pairs that a model is asked about: all pooled ones, the planned ones, or those that a file names."""

    planned: bool = False
    queries: tuple[str, ...] = ()
    file: Path | None = None


def selected_pairs(ws: Workspace, selection: Selection) -> list[Pair]:
    """The pairs of a selection, in order. Raises InputError for unknown queries, and MissingInput if it has no pair."""
    with ws.reading() as session:
        queries = {query.query_id: query for query in read_queries(session)}
        pooled = pools.documents_by_query(session)
        planned = people.planned_pairs(session) if selection.planned else set()
    if selection.file is not None:
        pairs = _named(selection.file, queries)
    else:
        pairs = [(query_id, doc_id) for query_id, doc_ids in pooled.items() for doc_id in doc_ids]
        pairs = [pair for pair in pairs if not selection.planned or pair in planned]
    for query_id in selection.queries:
        known_query(queries, query_id)
    chosen = [pair for pair in pairs if not selection.queries or pair[0] in selection.queries]
    if not chosen:
        raise MissingInput(
            f"no {'planned' if selection.planned else 'pooled'} pairs to ask about",
            hint="plan them with `annot plan`" if selection.planned else "draw pools with `annot pool`",
        )
    return chosen


def _named(path: Path, queries: Iterable[str]) -> list[Pair]:
    """The pairs of a file: a query and a document in each line, or TREC qrels, whose grades are not read."""
    faults, pairs = Faults(str(path)), dict[Pair, None]()
    known_queries = set(queries)
    for line, text in numbered(
        given_text(path, expected="a query id and a document id in each line").splitlines(), faults
    ):
        columns = text.split()
        if len(columns) not in (2, 4):
            faults.add(
                f"{counted(len(columns), 'column')}, expected a query id and a document id, or TREC qrels", line=line
            )
        elif columns[0] not in known_queries:
            faults.add(f"query {columns[0]!r}: not in this study", line=line)
        else:
            pairs[columns[0], columns[1 if len(columns) == 2 else 2]] = None
    faults.raise_if_any(hint="`annot query list` shows the queries", found=pairs, nothing="no pairs")
    return [*pairs]


# ----------------------------------------------------------------------------------------------------------------------
# Answers on the texts that pairs are judged on, and answers on other versions.
# ----------------------------------------------------------------------------------------------------------------------


def on_judged_texts(session: Session, calls: Iterable[ModelCall]) -> tuple[list[ModelCall], list[ModelCall]]:
    """Requests to a model that showed the texts that their pairs are judged on, and those that showed others.

    A request without a recorded display showed the texts in force when it was sent.
    """
    calls = list(calls)
    histories = {text_id: history for (part, text_id), history in read_histories(session).items() if part == "text"}
    pairs, topics = judged_texts(session), paper_topics(session)
    displays = display_parts(session, (call.shown_sha256 for call in calls))

    def is_judged(call: ModelCall) -> bool:
        required = pairs[call.pair].required if call.pair in pairs else {}
        shown = displays.get(call.shown_sha256 or "", {})
        return all(
            (shown.get(part) or in_force(histories[text_id], call.sent_at))
            == required.get(text_id, histories[text_id][-1][1])
            for text_id, part in texts_of_pair(call.pair, topics).items()
            if text_id in histories
        )

    sides: tuple[list[ModelCall], list[ModelCall]] = ([], [])
    for call in calls:
        sides[not is_judged(call)].append(call)
    return sides


# ----------------------------------------------------------------------------------------------------------------------
# Figures of one opinion on record.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpinionStatus:
    """Figures of one opinion on record."""

    name: str
    model: str
    url: str
    pairs: int
    """Pairs with an opinion that could be read."""
    repeats: int
    unreadable: int
    cannot_judge: int
    """Opinions that say that the pair cannot be judged."""
    requests: int
    failed: int
    """Requests without an answer, including those that were on their way when the program ended."""
    tokens_in: int
    tokens_out: int
    estimated: int
    """Answers whose tokens the server did not count."""
    cost: float
    served: tuple[str, ...]
    """Names and versions that the server gave, oldest first."""
    prompt_sha256: str
    since: str
    early: tuple[str, ...]
    """Reasons why it was asked or shown before people had judged."""
    set_aside: int
    """Pairs whose answers are all on another version of a text than people judged; they are not compared."""
    planned: int
    """Planned pairs, without those that its prompt shows."""
    planned_answered: int
    """Planned pairs that it has answered, or that the server refuses."""
    named: bool
    """True if it is reported in any case: its section has `report = true`, or it predicts grades."""

    @property
    def reported(self) -> bool:
        """True if report, datasheet and release include it; all others are trials."""
        return self.named or 0 < self.planned == self.planned_answered

    @property
    def reason_not_reported(self) -> str:
        """The pairs that a trial lacks, and the setting that includes it all the same."""
        return (
            f"it has answered {self.planned_answered} of {counted(self.planned, 'planned pair')}; to include it, set "
            f"report = true in [opinions.{self.name}]"
        )


def _status_of(ws: Workspace, session: Session, opinion: OpinionOnRecord) -> OpinionStatus:
    """Figures of one opinion."""
    record, calls, settings = opinion.asked, opinion.calls, ws.settings.opinions.get(opinion.asked.name)
    planned = _planned_pairs(session) - {*record.examples}
    current_pairs, other_pairs = ({call.pair for call in part} for part in (opinion.settled, opinion.set_aside))
    answered, states = (
        [call for call in calls if call.state in ANSWERED],
        Counter(call.state for call in opinion.settled),
    )
    settled = {call.pair for call in calls if call.state in READ or call.status in REFUSED}
    return OpinionStatus(
        name=record.name,
        model=record.model,
        url=record.url,
        pairs=len({call.pair for call in opinion.settled if call.grade is not None}),
        repeats=max((call.repeat for call in opinion.settled), default=0),
        unreadable=states["unreadable"],
        cannot_judge=states["cannot_judge"],
        requests=len(calls),
        failed=len(calls) - len(answered),
        tokens_in=sum(filter(None, (call.tokens_in for call in answered))),
        tokens_out=sum(filter(None, (call.tokens_out for call in answered))),
        estimated=sum(call.estimated for call in answered),
        cost=sum(call.cost for call in calls),
        served=tuple(" ".join(filter(None, key)) for key in served_models(calls)),
        prompt_sha256=hash_of_text("\n".join(dict(sorted(record.prompts.items())).values())),
        since=record.since,
        early=tuple(f"{use}: {why}" for _, use, why in record.early),
        set_aside=len(other_pairs - current_pairs),
        planned=len(planned),
        planned_answered=len(planned & (settled | current_pairs | other_pairs)),
        named=(settings is not None and settings.report) or ws.settings.sample.cheap_label == record.name,
    )


def _planned_pairs(session: Session) -> set[Pair]:
    """Pairs of the plan, those that lack an assessor included."""
    plan = people.read_plan(session)
    return people.planned_pairs(session).union(plan.vacant if plan else ())


class OpinionOnRecord:
    """One opinion with every request for it."""

    def __init__(self, ws: Workspace, session: Session, asked: AskedModel) -> None:
        self.asked, self.calls = asked, stored.read_calls(session, asked.name)
        self.settled, self.set_aside = map(tuple, map(stored.opinions_from, on_judged_texts(session, self.calls)))
        """Final opinion of the model on each pair, on the texts on which it is judged; and on other versions of them.
        """
        self.displays = display_parts(session, (call.shown_sha256 for call in self.calls))
        """Displays of its prompts, by hash."""
        self.standing = _status_of(ws, session, self)

    def display_of(self, opinion: ModelCall) -> Display:
        """The display of an opinion's prompt; empty if it is not on record."""
        return self.displays.get(opinion.shown_sha256 or "", {})


def opinions_on_record(ws: Workspace) -> tuple[OpinionOnRecord, ...]:
    """All opinions of a study, by name."""
    with ws.reading() as session:
        return tuple(OpinionOnRecord(ws, session, model) for model in stored.read_asked_models(session))


def served_models(calls: Iterable[ModelCall]) -> Mapping[tuple[str, str], tuple[str, int]]:
    """Moment of the first answer and number of answers, by the name and version that the server gave."""
    served: dict[tuple[str, str], tuple[str, int]] = {}
    for call in sorted(calls, key=lambda call: call.sent_at):
        if call.state in ANSWERED:
            key = call.served or "", call.version or ""
            first, count = served.get(key, (call.sent_at, 0))
            served[key] = first, count + 1
    return served


def changes_of_model(calls: Sequence[ModelCall]) -> Iterator[str]:
    """A note for the lead if the server did not answer with one model throughout."""
    served = served_models(calls)
    if len(served) > 1:
        parts = [
            f"{' '.join(filter(None, key)) or 'without a name'} from {since} ({counted(count, 'answer')})"
            for key, (since, count) in served.items()
        ]
        yield f"the server changed its model half-way: {', then '.join(parts)}"
