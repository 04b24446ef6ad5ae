"""Topics of ad-hoc search made into queries by example, as Aspire made TRECCOVID-RF of TREC-COVID.

Mysore, Cohan and Hope, NAACL 2022, appendix on evaluation data: an abstract of the highest grade becomes the query; the
topic's other relevant papers are relevant to it, and papers relevant to other topics alone are not.
"""

from __future__ import annotations

from collections.abc import Iterable

from annot.base.errors import InputError
from annot.base.records import Qrel, nested
from annot.base.stats.seeding import generator

QUERY_GRADE = 2
"""A paper of this grade can be its topic's query."""


def topics_as_papers(qrels: Iterable[Qrel], *, per_topic: int, seed: int) -> tuple[Qrel, ...]:
    """Binary qrels whose query ids are papers: `per_topic` of each topic, drawn among those of grade 2, from the seed.

    A topic with fewer gives all it has. A paper that was drawn for one topic is not drawn for another. What is graded
    1 or 2 for any topic is a candidate of every query; it is relevant (1) where its own topic has it so.
    Raises InputError when no topic has a paper of grade 2.
    """
    grades = nested(qrel for qrel in qrels if qrel.relevance > 0)
    candidates = sorted({doc_id for documents in grades.values() for doc_id in documents})
    taken: set[str] = set()
    made: list[Qrel] = []
    for topic in sorted(grades):
        free = sorted(doc_id for doc_id, grade in grades[topic].items() if grade >= QUERY_GRADE and doc_id not in taken)
        order = generator(seed, "topic", topic).permutation(len(free))
        for at in order[:per_topic]:
            query = free[at]
            taken.add(query)
            made += (Qrel(query, doc_id, int(doc_id in grades[topic])) for doc_id in candidates if doc_id != query)
    if not made:
        raise InputError(f"no topic has a document of grade {QUERY_GRADE}, expected TREC-COVID's grades 0, 1, 2")
    return tuple(sorted(made))
