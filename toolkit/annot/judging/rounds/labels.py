"""Labels: the sentence labels of the query papers to people who correct them, and their corrections back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from annot.base.errors import InputError, MissingInput, StudioError
from annot.base.names import check_name, counted
from annot.base.records import PairKey, Paper, Query, Source, grouped
from annot.corpus.corpus_facts import labels_of, papers_of
from annot.corpus.query_sentences import facet_sentences
from annot.judging.exchange.collecting import CollectedProject, PulledProject, RecordedProject
from annot.judging.exchange.outgoing import OutgoingProject, check_labels, check_outgoing, form_of
from annot.judging.exchange.round_parts import PARTS
from annot.judging.exchange.rounds import PreparedPush, Round, RoundOptions
from annot.judging.exchange.sending import accounts_on
from annot.judging.exchange.servers import (
    isolated,
    locate,
    marker_of,
    on_servers,
    people_with_servers,
    unreachable_finding,
)
from annot.labelstudio import studio_records
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import BY_ANOTHER, SKIPPED, Payload
from annot.labelstudio.tasks import LABELS_SHOWN, facets_task, pair_key, reads
from annot.store import people, projects
from annot.store.facet_labels import FacetLabels, put_corrections, read_labels
from annot.store.pools import put_queries, read_queries, read_topics
from annot.study.shown_versions import labels_asked
from annot.study.workspace import Workspace

PART = PARTS["labels"]


@dataclass(frozen=True, slots=True)
class PulledLabels(PulledProject):
    """What one person has corrected: `assigned` are abstracts, and `judged` those with a new correction."""

    sentences: int = 0
    """Sentences whose label is another one now."""
    queries: int = 0
    """Queries that are other sentences now."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person made of one paper."""

    paper: Paper
    """With the labels as corrected; without labels where the correction is not taken."""
    changed: int
    queries: tuple[Query, ...]
    """The queries of the paper that change, as they are to be."""
    notes: tuple[str, ...]
    made_at: str
    """By the server's clock."""


class LabelsRound(Round):
    """Each query paper to one of the people named; a paper that somebody has stays with them."""

    name = "labels"
    parts = (PART,)
    person = "person"
    wishes = frozenset({"assessor", "dry_run"})
    hint = "send them with `annot push labels --assessor NAME`"

    def prepare(self, ws: Workspace, wishes: RoundOptions, *, dry_run: bool) -> PreparedPush:
        """Every query paper, spread over those named.

        Raises MissingInput without queries, InputError for people who are not known or have no account on the server.
        """
        names = wishes.assessor
        if not names:
            raise InputError(
                "found no --assessor, expected who corrects the labels",
                hint="name the person: `annot push labels --assessor NAME`",
            )
        on_record = _on_record(ws)
        papers, everyone = on_record.papers, on_record.everyone
        for name in names:
            check_name(name, everyone, what="assessor")
        if not papers:
            raise MissingInput(
                "no queries on facets of papers, so there are no labels to correct",
                hint="choose them with `annot query choose` or `annot query add`",
            )
        form = form_of(ws, PART, None)
        tasks = {
            PairKey(paper_id, LABELS_SHOWN): facets_task(
                pair_key(paper_id, LABELS_SHOWN), paper, progress=f"{number} of {len(papers)}"
            )
            for number, (paper_id, paper) in enumerate(papers.items(), start=1)
        }

        def spread(given: Mapping[PairKey, str]) -> list[OutgoingProject]:
            whose = _spread(given, tasks, names)
            return [
                OutgoingProject(form, name, {asked: tasks[asked] for asked, person in whose.items() if person == name})
                for name in names
            ]

        check_outgoing(ws, spread({}))
        return PreparedPush(spread({} if dry_run else _given(ws, everyone, names, tasks)), checked=True)

    def record(self, ws: Workspace, collected: CollectedProject, wishes: RoundOptions) -> RecordedProject:
        """The latest answer to each paper as its labels, and the sentences of its queries."""
        name = collected.project.assessor
        on_record = _on_record(ws)
        given = [one for one in collected.found if SKIPPED not in one.flags]
        own = [one for one in given if not any(flag.startswith(BY_ANOTHER) for flag in one.flags)]
        notes = [*collected.notes]
        if len(own) < len(given):
            notes.append(f"{name}: ignored {counted(len(given) - len(own), 'answer')} by another account")
        latest = {}
        for one in sorted(own, key=lambda one: (one.changed_at or "", one.payload["id"])):
            latest[one.asked] = one.payload
        corrections = []
        for asked, answer in sorted(latest.items()):
            paper = on_record.papers[asked.query_id]
            last = on_record.corrected_at.get(paper.paper_id)
            shown = collected.texts.get(asked)
            if shown is not None and not reads(shown, "query", paper.title, paper.sentences):
                notes.append(f"{paper.paper_id}: ignored {name}'s labels, which are of the text before its correction")
            elif last is not None and datetime.fromisoformat(answer["updated_at"]) < last:
                notes.append(f"{paper.paper_id}: kept the correction on record, which is newer than {name}'s")
            else:
                corrections.append(correction_of(ws, paper, answer, on_record.queries, on_record.sent))
        if corrections and not wishes.dry_run:
            taken = [one for one in corrections if one.paper.labels is not None]
            with ws.writing() as session:
                put_corrections(
                    session,
                    (
                        FacetLabels(one.paper.paper_id, one.paper.labels or (), Source.CORRECTED, one.made_at)
                        for one in taken
                    ),
                )
                put_queries(session, [query for one in corrections for query in one.queries])
        row = PulledLabels(
            *(name, collected.tasks, len(corrections), 0, 0, len(given) - len(own), 0, PART.title),
            sentences=sum(one.changed for one in corrections),
            queries=sum(len(one.queries) for one in corrections),
        )
        return RecordedProject(row, [*notes, *(note for one in corrections for note in one.notes)])


def correction_of(
    ws: Workspace, paper: Paper, answer: Payload, queries: dict[str, list[Query]], sent: set[str]
) -> Correction:
    """What the answer makes of the paper and of its queries.

    The sentences of a query follow the labels, unless a person had chosen them by number. What was sent to be judged
    stays as it was sent: assessors who see other sentences than their colleagues judge another query.
    """
    before = paper.labels or ()
    labels, without = _corrected(before, answer, ws.settings.labels.names)
    changed = sum(one != other for one, other in zip(before, labels, strict=True))
    if changed and paper.paper_id in sent:
        note = f"{paper.paper_id}: {counted(changed, 'correction')} ignored, because its queries had been sent"
        return Correction(replace(paper, labels=None), 0, (), (note,), answer["updated_at"])
    follow, notes = [], []
    if gone := [at for at in without if paper.sentences[at].strip()]:
        kept = ", ".join(f"sentence {at + 1} ({before[at]})" for at in gone)
        what = f"label removed from {counted(len(gone), 'sentence')}; the earlier one counts"
        notes.append(f"{paper.paper_id}: {what}: {kept}")
    for query in queries.get(paper.paper_id, ()):
        if query.facet not in ws.settings.facets:
            continue
        found = facet_sentences(labels, query.facet, facets=ws.settings.facets)
        if query.sentences == found or query.sentences != facet_sentences(
            before, query.facet, facets=ws.settings.facets
        ):
            continue
        if found:
            follow.append(replace(query, sentences=found))
        else:
            notes.append(
                f"{query.query_id}: no sentence has the label of its facet now; its sentences stay as they were"
            )
    return Correction(replace(paper, labels=labels), changed, tuple(follow), tuple(notes), answer["updated_at"])


def _corrected(before: Sequence[str], answer: Payload, known: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The label of each sentence: as answered, or as it was if the answer has none; and the numbers of those without.

    A sentence that the answer gives a label which is not known is among those without.
    """
    labels, without = list(before), set(range(len(before)))
    for region in answer.get("result", ()):
        side, _, number = str(region.get("id", "")).partition("-")
        given = (region.get("value") or {}).get("labels") or []
        if region.get("from_name") != studio_records.SENTENCE_LABEL or side != "query" or not number.isdigit():
            continue
        if len(given) == 1 and given[0] in known and int(number) < len(labels):
            labels[int(number)] = given[0]
            without.discard(int(number))
    return tuple(labels), tuple(sorted(without))


class _OnRecord(NamedTuple):
    """What is known of the query papers."""

    papers: dict[str, Paper]
    """With their labels, by id."""
    queries: dict[str, list[Query]]
    """Of each paper."""
    sent: set[str]
    """The papers of which some query was sent to be judged."""
    corrected_at: dict[str, datetime]
    """When the corrections on record were made, as far as that is known."""
    everyone: list[str]


def _on_record(ws: Workspace) -> _OnRecord:
    with ws.reading() as session:
        texts = read_topics(session)
        by_facet = (one for one in read_queries(session) if one.topic_id not in texts and labels_asked(ws, one.facet))
        queries = grouped((query.topic_id, query) for query in by_facet)
        ids = sorted(queries)
        labels = labels_of(session, ids)
        made = {one.paper_id: one.corrected_at for one in read_labels(session, ids)}
        everyone = [person.assessor for person in people.read_assessors(session)]
        asked = {asked.query_id for _, asked in projects.read_asked(session)}
    check_labels(ws, labels)
    found = papers_of(ws, ids)
    return _OnRecord(
        papers={paper_id: replace(found[paper_id], labels=labels[paper_id]) for paper_id in ids},
        queries=queries,
        sent={paper_id for paper_id, own in queries.items() if any(query.query_id in asked for query in own)},
        corrected_at={paper_id: datetime.fromisoformat(at) for paper_id, at in made.items() if at is not None},
        everyone=everyone,
    )


def _given(
    ws: Workspace, everyone: Sequence[str], names: Sequence[str], tasks: Mapping[PairKey, Any]
) -> dict[PairKey, str]:
    """Who has which papers already. Raises StudioError if a server cannot be asked: nobody knows then."""
    keys = {pair_key(*asked): asked for asked in tasks}
    given: dict[PairKey, str] = {}

    def look(gateway: Gateway, here: Sequence[str]) -> None:
        _, faults = accounts_on(ws, gateway, [name for name in names if name in here])
        if faults:
            raise InputError(
                f"{counted(len(faults), 'person', 'people')} without access to {gateway.url}", faults=faults
            )
        server = gateway.identity()
        with ws.reading() as session:
            known = [one for one in projects.read_projects(session, round="labels") if one.server == server]
        for project in known:
            marker = marker_of(ws.settings.collection.name, "labels", project.assessor)
            there = locate(gateway, project, marker=marker, own=keys) if project.remote_id is not None else None
            listed = gateway.tasks_of(there.project_id) if there is not None else ()
            given.update({keys[task.key]: project.assessor for task in listed if task.key in keys})

    # In mode `server` somebody without a server has none.
    with_server = people_with_servers(ws)
    asked = [name for name in everyone if name in names or name in with_server or not isolated(ws)]
    unreachable = unreachable_finding(on_servers(ws, asked, look), "annot push labels")
    if unreachable is not None:
        raise StudioError(unreachable.message, faults=unreachable.faults, hint=unreachable.hint)
    return given


def _spread(given: Mapping[PairKey, str], tasks: Iterable[PairKey], names: Sequence[str]) -> dict[PairKey, str]:
    """Who gets which paper: one that nobody has goes to whoever of those named has fewest."""
    whose = dict(given)
    load = Counter(given.values())
    for asked in tasks:
        if asked not in whose:
            whose[asked] = min(names, key=lambda person: (load[person], names.index(person)))
            load[whose[asked]] += 1
    return whose
