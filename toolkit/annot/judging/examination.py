"""One look at a study, from which the finders of its states (`annot.judging.states`) read what they need."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from annot.base.records import Advance, Source
from annot.judging import guideline_faults, plan_on_record
from annot.pools import chain, pool_facts
from annot.pools.ranked_corpus import RankedCorpus, ranked_corpus
from annot.ranking import index
from annot.store import people, pools
from annot.store.judgements import read_judgements, sources_of_judgements
from annot.store.queries import read_queries
from annot.study.shown_changes import ShownChange, changes_of
from annot.study.workspace import Workspace

THINGS = {
    "count": "how many papers there are",
    "corpus": "the papers of the corpus",
    "rankings": "the rankings behind the pools",
    "pools": "the pools",
    "plan": "the plan",
    "guidelines": "the guidelines",
    "blindness": "that everyone judged alone",
    "judgements": "the judgements",
    "qrels": "the final grades",
    "runs": "the runs",
    "index": "what is ranked again",
    "names": "the names of the grades",
    "facets": "the facets",
    "sent": "what a push would send",
}
"""What a page or a release can rest on, in words. A page names what it rests on by these."""


class Examination:
    """One look at a study, for all finders: what several of them need is read or computed once, when first asked for.

    advance: hears of work that takes long.
    """

    def __init__(self, ws: Workspace, *, advance: Advance = lambda _done, _total: None) -> None:
        self.ws, self._advance = ws, advance

    @cached_property
    def plan(self) -> plan_on_record.PlanCheck:
        """The plan against the pools, the people and its file."""
        return plan_on_record.check(self.ws)

    @cached_property
    def pools(self) -> pool_facts.Replayed:
        """The pools, drawn again."""
        return pool_facts.replay(self.ws, advance=self._advance)

    @cached_property
    def guidelines(self) -> guideline_faults.CheckedGuidelines:
        """The guidelines against the scale, the facets and the corpus."""
        return guideline_faults.check(self.ws)

    @cached_property
    def ranked(self) -> RankedCorpus:
        """The papers that the rankings could hold."""
        return ranked_corpus(self.ws)

    @cached_property
    def added(self) -> tuple[str, ...]:
        """The papers that were added after the pools were drawn, and that no query, pool, plan or judgement has."""
        later = self.ranked.added
        if not later:
            return ()
        with self.ws.reading() as session:
            used = {query.topic_id for query in read_queries(session)}
            used |= {doc_id for documents in pools.documents_by_query(session).values() for doc_id in documents}
            used |= {planned.doc_id for planned in people.read_assignments(session)}
            used |= {judgement.doc_id for judgement in read_judgements(session)}
        return tuple(paper_id for paper_id in later if paper_id not in used)

    def broken(self, *links: str) -> Iterator[str]:
        """What has changed of these links of the chain of hashes since it was written."""
        with self.ws.reading() as session:
            for link in links:
                yield from chain.broken(self.ws, session, link)

    @cached_property
    def index(self) -> tuple[str, ...]:
        """Files of the index that have changed."""
        return index.faults_of(self.ws)

    @cached_property
    def changes(self) -> tuple[ShownChange, ...]:
        """What is no longer as people were sent it."""
        with self.ws.reading() as session:
            return changes_of(self.ws, session)

    @cached_property
    def things(self) -> frozenset[str]:
        """What of `THINGS` the study says anything about: guidelines and a server only if people judged by them."""
        with self.ws.reading() as session:
            judged_here = Source.LABEL_STUDIO in sources_of_judgements(session)
        return frozenset(THINGS if judged_here else THINGS.keys() - {"guidelines", "blindness"})
