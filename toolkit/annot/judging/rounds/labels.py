"""Labels: the sentence labels of the query papers to people who correct them, and their corrections back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from annot.base.errors import InputError, MissingInput, StudioError
from annot.base.names import check_name, counted
from annot.base.records import PairKey, Paper, Query, Source, grouped
from annot.base.words import Words
from annot.corpus.corpus_facts import labels_of, papers_of
from annot.corpus.query_sentences import facet_sentences
from annot.judging.exchange import collecting, servers
from annot.judging.exchange.outgoing import OutgoingProject, check_labels, check_outgoing, forms_of
from annot.judging.exchange.sending import accounts_on
from annot.judging.exchange.servers import PARTS
from annot.labelstudio import studio_records
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import BY_ANOTHER, DELETED, SKIPPED, Payload
from annot.labelstudio.tasks import LABELS_SHOWN, facets_task, pair_key, reads
from annot.store import people, projects
from annot.store.facet_labels import FacetLabels, put_corrections, read_labels
from annot.store.pools import put_queries, read_queries, read_topics
from annot.study.shown_versions import labels_asked
from annot.study.workspace import Workspace

PART = PARTS["labels"]


@dataclass(frozen=True, slots=True)
class PulledLabels(collecting.PulledProject):
    """One person's corrections: `assigned` counts abstracts, and `judged` those with a new correction."""

    sentences: int = 0
    """Sentences whose label has changed."""
    queries: int = 0
    """Queries whose sentences have changed."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One person's correction of one paper."""

    labels: FacetLabels | None
    """The corrected labels, with the moment by the server's clock; None if the correction is not taken."""
    changed: int
    queries: tuple[Query, ...]
    """Queries of the paper that change, with their new sentences."""
    notes: tuple[str, ...]


class LabelsRound(collecting.Round):
    """Each query paper to one of the people named; a paper that a person already has stays with them."""

    name = "labels"
    parts = (PART,)
    person = "person"
    option_names = frozenset({"assessor", "dry_run"})
    hint = "send them with `annot push labels --assessor NAME`"

    def prepare(self, ws: Workspace, options: collecting.RoundOptions, *, dry_run: bool) -> collecting.PreparedPush:
        """Make a task of every query paper, spread over the people named.

        Raises MissingInput without queries, InputError for people who are unknown or have no account on the server.
        """
        names = options.assessor
        if not names:
            raise InputError(
                "found no --assessor, expected who corrects the labels",
                hint="name the person: `annot push labels --assessor NAME`",
            )
        papers = _LabelledPapers(ws).papers
        everyone = [person.assessor for person in ws.read(people.read_assessors)]
        for name in names:
            check_name(name, everyone, what="assessor")
        if not papers:
            raise MissingInput(
                "no queries on facets of papers, so there are no labels to correct",
                hint="choose them with `annot query choose` or `annot query add`",
            )
        forms = forms_of(ws, PART, None)
        tasks_of = {name: _tasks(ws, papers, forms[name].words) for name in names}
        questions = dict.fromkeys(PairKey(paper_id, LABELS_SHOWN) for paper_id in papers)

        def spread(holders: Mapping[PairKey, str]) -> list[OutgoingProject]:
            holder_of = _spread(holders, questions, names)
            return [
                OutgoingProject(
                    *(forms[name], name),
                    {question: tasks_of[name][question] for question, person in holder_of.items() if person == name},
                )
                for name in names
            ]

        check_outgoing(ws, spread({}))
        return collecting.PreparedPush(spread({} if dry_run else _owners(ws, everyone, names, questions)), checked=True)

    def record(
        self, ws: Workspace, collected: collecting.CollectedProject, options: collecting.RoundOptions
    ) -> collecting.PullResult:
        """Record the latest answer to each paper as its labels, and the sentences of its queries."""
        name = collected.project.assessor
        on_record = _LabelledPapers(ws)
        readings = [reading for reading in collected.readings if SKIPPED not in reading.flags]
        answers = [
            reading for reading in readings if not any(flag.startswith((BY_ANOTHER, DELETED)) for flag in reading.flags)
        ]
        notes = [*collected.notes]
        if foreign := len(readings) - len(answers):
            notes.append(f"{name}: ignored {counted(foreign, 'answer')} by another account")
        answers.sort(key=lambda reading: (reading.changed_at or "", reading.payload["id"]))
        corrections = []
        for question, answer in sorted({reading.pair_key: reading.payload for reading in answers}.items()):
            paper = on_record.papers[question.query_id]
            last = on_record.corrected_at.get(paper.paper_id)
            shown = collected.data.get(question, {}).get(studio_records.TEXT_FIELD)
            if shown is not None and not reads(str(shown), "query", paper.title, paper.sentences):
                notes.append(f"{paper.paper_id}: ignored {name}'s labels, which are of the text before its correction")
            elif last is not None and datetime.fromisoformat(answer["updated_at"]) < last:
                notes.append(f"{paper.paper_id}: kept the correction on record, which is newer than {name}'s")
            else:
                corrections.append(correction_of(ws, paper, answer, on_record.queries, on_record.sent))
        if corrections and not options.dry_run:
            _keep(ws, corrections)
        row = PulledLabels(
            assessor=name,
            assigned=collected.tasks,
            judged=len(corrections),
            new=0,
            changed=0,
            flagged=foreign,
            lost=0,
            part=PART.title,
            sentences=sum(correction.changed for correction in corrections),
            queries=sum(len(correction.queries) for correction in corrections),
        )
        notes += (note for correction in corrections for note in correction.notes)
        return collecting.PullResult((row,), tuple(notes))


def _tasks(ws: Workspace, papers: Mapping[str, Paper], words: Words) -> dict[PairKey, dict[str, Any]]:
    """The task of each paper, in the language of these words."""
    tasks = {}
    for number, (paper_id, paper) in enumerate(papers.items(), start=1):
        place = words("task.place", position=str(number), count=str(len(papers)))
        tasks[PairKey(paper_id, LABELS_SHOWN)] = facets_task(
            pair_key(paper_id, LABELS_SHOWN),
            paper,
            progress=place,
            words=words,
            collection=ws.settings.collection,
        )
    return tasks


def _keep(ws: Workspace, corrections: Sequence[Correction]) -> None:
    with ws.writing() as session:
        put_corrections(session, [correction.labels for correction in corrections if correction.labels is not None])
        put_queries(session, [query for correction in corrections for query in correction.queries])


def correction_of(
    ws: Workspace, paper: Paper, answer: Payload, queries: dict[str, list[Query]], sent: set[str]
) -> Correction:
    """The correction that an answer makes to the paper and its queries.

    The sentences of a query follow the labels, unless a person had chosen them by number. Queries that were sent stay
    as they were: assessors who see other sentences than their colleagues judge another query.
    """
    earlier = paper.labels or ()
    labels, without = _corrected(earlier, answer, ws.settings.labels.names)
    changed = sum(old != new for old, new in zip(earlier, labels, strict=True))
    if changed and paper.paper_id in sent:
        note = f"{paper.paper_id}: {counted(changed, 'correction')} ignored, because its queries had been sent"
        return Correction(None, 0, (), (note,))
    follow, notes = [], []
    if unlabelled := [number for number in without if paper.sentences[number].strip()]:
        kept_labels = ", ".join(f"sentence {number + 1} ({earlier[number]})" for number in unlabelled)
        removed = f"label removed from {counted(len(unlabelled), 'sentence')}; the earlier one counts"
        notes.append(f"{paper.paper_id}: {removed}: {kept_labels}")
    for query in queries.get(paper.paper_id, ()):
        if query.facet not in ws.settings.facets:
            continue
        sentences = facet_sentences(labels, query.facet, facets=ws.settings.facets)
        if query.sentences == sentences or query.sentences != facet_sentences(
            earlier, query.facet, facets=ws.settings.facets
        ):
            continue
        if sentences:
            follow.append(replace(query, sentences=sentences))
        else:
            notes.append(
                f"{query.query_id}: no sentence has the label of its facet now; its sentences stay as they were"
            )
    corrected = FacetLabels(paper.paper_id, labels, Source.CORRECTED, answer["updated_at"])
    return Correction(corrected, changed, tuple(follow), tuple(notes))


def _corrected(
    earlier: Sequence[str], answer: Payload, known: Sequence[str]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The label of each sentence, from the answer or else as before, and the numbers of sentences without an answer.

    An unknown label is no answer.
    """
    labels, without = list(earlier), set(range(len(earlier)))
    for region in answer.get("result", ()):
        side, _, number = str(region.get("id", "")).partition("-")
        chosen = (region.get("value") or {}).get("labels") or []
        if region.get("from_name") != studio_records.SENTENCE_LABEL or side != "query" or not number.isdigit():
            continue
        if len(chosen) == 1 and chosen[0] in known and int(number) < len(labels):
            labels[int(number)] = chosen[0]
            without.discard(int(number))
    return tuple(labels), tuple(sorted(without))


class _LabelledPapers:
    """Query papers with their labels on record, and their queries."""

    def __init__(self, ws: Workspace) -> None:
        with ws.reading() as session:
            texts, queries = read_topics(session), read_queries(session)
            by_facet = (row for row in queries if row.topic_id not in texts and labels_asked(ws, row.facet))
            self.queries = grouped((query.topic_id, query) for query in by_facet)
            """Queries of each paper."""
            ids = sorted(self.queries)
            labels = labels_of(session, ids)
            moments = {row.paper_id: row.corrected_at for row in read_labels(session, ids)}
            sent = {question.query_id for _, question in projects.read_asked(session)}
        check_labels(ws, labels)
        papers = papers_of(ws, ids)
        self.papers = {paper_id: replace(papers[paper_id], labels=labels[paper_id]) for paper_id in ids}
        self.sent = {query.topic_id for rows in self.queries.values() for query in rows if query.query_id in sent}
        """Papers of which some query was sent to be judged."""
        self.corrected_at = {name: datetime.fromisoformat(moment) for name, moment in moments.items() if moment}
        """Moments of the corrections that are on record with one."""


def _owners(
    ws: Workspace, everyone: Sequence[str], names: Sequence[str], tasks: Mapping[PairKey, Any]
) -> dict[PairKey, str]:
    """The person who already has a paper, by its question. Raises StudioError if a server cannot be reached."""
    keys = {pair_key(*question): question for question in tasks}
    holders: dict[PairKey, str] = {}

    def look(gateway: Gateway, names_here: Sequence[str]) -> None:
        _, faults = accounts_on(ws, gateway, [name for name in names if name in names_here])
        if faults:
            raise InputError(
                f"{counted(len(faults), 'person', 'people')} without access to {gateway.url}", faults=faults
            )
        server = gateway.identity()
        recorded = ws.read(projects.sent_projects, round="labels")
        for project in recorded:
            if project.server != server:
                continue
            marker = servers.marker_of(ws.settings.collection.name, "labels", project.assessor)
            current = servers.locate(gateway, project, marker=marker, known_keys=keys)
            listed = gateway.tasks_of(current.project_id) if current is not None else ()
            holders.update({keys[task.key]: project.assessor for task in listed if task.key in keys})

    # In mode `server`, a person without a server has no papers.
    with_server = servers.people_with_servers(ws)
    reachable = [name for name in everyone if name in names or name in with_server or not servers.isolated(ws)]
    unreachable = servers.unreachable_finding(servers.on_servers(ws, reachable, look), "annot push labels")
    if unreachable is not None:
        raise StudioError(unreachable.message, faults=unreachable.faults, hint=unreachable.hint)
    return holders


def _spread(holders: Mapping[PairKey, str], tasks: Iterable[PairKey], names: Sequence[str]) -> dict[PairKey, str]:
    """The person of each paper: a paper that no person has goes to the one of those named who has fewest."""
    holder_of = dict(holders)
    load = Counter(holders.values())
    for question in tasks:
        if question not in holder_of:
            holder_of[question] = min(names, key=lambda person: (load[person], names.index(person)))
            load[holder_of[question]] += 1
    return holder_of
