"""The files of BEIR and MTEB: corpus, queries, qrels in all of their forms, pools as `top_ranked`; and the module with
which ir_datasets reads a release, which is written into it.

Thakur et al.: BEIR, NeurIPS 2021 Datasets and Benchmarks, https://github.com/beir-cellar/beir; Muennighoff et al.:
MTEB, EACL 2023, https://github.com/embeddings-benchmark/mteb, whose re-ranking tasks read `top_ranked`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from annot.base.errors import Faults, InputError
from annot.base.records import WHOLE, Paper, Pool, Qrel, Query, Topic
from annot.base.settings import CollectionSettings
from annot.base.templating import render
from annot.formats.input_files import json_lines
from annot.formats.paper_text import language_code
from annot.formats.trec import BEIR_COLUMNS

SPLIT = "test"


class BeirFiles(NamedTuple):
    """Paths of the files, below the folder given."""

    corpus: str
    queries: str
    qrels: str
    """BEIR's, tab-separated with a header line."""
    hub_qrels: str
    """MTEB's, JSON Lines: the hub's loader reads all files of a repository as one format."""
    top_ranked: str


class Fields(NamedTuple):
    """Metadata of the records of a collection, and whether all queries have a text."""

    document: tuple[str, ...]
    query: tuple[str, ...]
    worded: bool

    @property
    def kinds(self) -> str:
        """Kind of the topics: `papers`, `texts` or `both`."""
        return "papers" if "paper_id" in self.query else "both" if "kind" in self.query else "texts"


def fields_of(
    papers: Collection[Paper], queries: Collection[Query], texts: Mapping[str, Topic], *, with_text: bool
) -> Fields:
    """Optional fields that the records of a collection have.

    texts: the topics that are texts, by id; any other topic is a paper. with_text: as in `write_beir`.
    """
    document = tuple(name for name in OF_DOCUMENTS if any(getattr(paper, name) is not None for paper in papers))
    asked_topics = [texts[query.topic_id] for query in queries if query.topic_id in texts]
    if not asked_topics:
        own_fields = ("paper_id", "facet") if with_text else ("paper_id", "facet", "sentences")
        return Fields(document, own_fields, with_text)
    mixed = len(asked_topics) < len(queries)
    has_more = any(topic.description or topic.narrative for topic in asked_topics)
    present = {
        "topic_id": any(query.query_id != query.topic_id for query in queries),
        "kind": mixed,
        "facet": any(query.facet != WHOLE for query in queries),
        "paper_type": any(query.paper_type is not None for query in queries),
        "sentences": mixed and not with_text,
        "title": mixed or has_more,
        **dict.fromkeys(TEXTS, has_more),
    }
    named = tuple(name for name, is_present in present.items() if is_present)
    return Fields(document, named, with_text or not mixed)


OF_DOCUMENTS = ("year", "part_of")
"""Fields of a document in addition to title and text; `part_of` is the document of which it is a passage."""
TEXTS = ("description", "narrative")
"""Fields of a topic in addition to its title."""


def beir_paths(folder: str, *, with_text: bool, worded: bool) -> BeirFiles:
    """Paths of the files of `write_beir`: `folder` is `""` or ends with `/`. worded: all queries have a text."""
    corpus, queries = "" if with_text else "-ids", "" if worded else "-ids"
    texts = (f"corpus{corpus}.jsonl", f"queries{queries}.jsonl")
    grades = (f"qrels/{SPLIT}.tsv", f"qrels/{SPLIT}.jsonl", f"top_ranked/{SPLIT}.jsonl")
    return BeirFiles(*(folder + name for name in (*texts, *grades)))


def write_beir(
    *,
    papers: Collection[Paper],
    queries: Iterable[Query],
    texts: Mapping[str, Topic],
    qrels: Iterable[Qrel],
    pools: Iterable[Pool],
    judged: Mapping[str, Iterable[str]],
    folder: str,
    with_text: bool,
) -> dict[str, bytes]:
    """The files by path, everything ordered by id.

    The text of a query on a paper is the sentences that make it; its metadata give the type of its paper where that
    is on record. The text of a topic that is a text is its description, as in BEIR's own TREC-COVID and Robust04, or
    its title where it has none; its metadata have title, description and narrative.
    `top_ranked` is its topic's pool, by id: a pool has no order that may be learned from. Of a query in `judged`, to
    whose judgements no pool led, it is the documents named there. A pair that has no qrel is unjudged; BEIR's own
    measures count it as 0.

    texts: the topics that are texts, by id; any other topic is a paper. with_text: False where the licence of the
    papers' texts does not allow to pass them on. Then there is no `corpus.jsonl`, but `corpus-ids.jsonl`; and with
    papers among the topics no `queries.jsonl`, but `queries-ids.jsonl` (paper, facet, positions of the sentences), so
    that no program takes empty texts for the real ones.

    Every paper of a query, a pool or a judgement is among `papers`; without texts, they may lack some. Raises
    InputError with every query without a pool.
    """
    by_id = {paper.paper_id: paper for paper in papers}
    ordered = sorted(queries, key=lambda query: query.query_id)
    fields = fields_of(papers, ordered, texts, with_text=with_text)
    grades = sorted(qrels)
    pooled = {pool.topic_id: [entry.doc_id for entry in pool.entries] for pool in pools}
    ranked = {query.query_id: pooled[query.topic_id] for query in ordered if query.topic_id in pooled}
    ranked |= {query_id: list(doc_ids) for query_id, doc_ids in judged.items()}
    faults = Faults("BEIR files")
    for query in ordered:
        if query.query_id not in ranked:
            topic = "topic" if query.topic_id in texts else "paper"
            faults.add(f"query {query.query_id}: its {topic} {query.topic_id} has no pool")
    faults.raise_if_any(hint="draw it with `annot pool`")

    def query_record(query: Query) -> dict[str, Any]:
        paper = by_id.get(query.topic_id) if with_text else None
        if fields.kinds == "papers":
            return _paper_record(query, paper)
        return _query_record(query, texts.get(query.topic_id), paper, fields)

    paths = beir_paths(folder, with_text=with_text, worded=fields.worded)
    lines = {
        paths.corpus: json_lines(_document(paper, fields, with_text) for _, paper in sorted(by_id.items())),
        paths.queries: json_lines(map(query_record, ordered)),
        paths.qrels: "".join("\t".join(map(str, row)) + "\n" for row in [BEIR_COLUMNS, *grades]),
        paths.hub_qrels: json_lines(dict(zip(BEIR_COLUMNS, qrel, strict=True)) for qrel in grades),
        paths.top_ranked: json_lines(
            {"query-id": query.query_id, "corpus-ids": sorted(set(ranked[query.query_id]))} for query in ordered
        ),
    }
    return {path: text.encode("utf-8") for path, text in lines.items()}


def _document(paper: Paper, fields: Fields, with_text: bool) -> dict[str, Any]:
    if not with_text:
        return {"_id": paper.paper_id} | _metadata(
            {name: paper.part_of for name in fields.document if name == "part_of"}
        )
    record = {"_id": paper.paper_id, "title": paper.title, "text": " ".join(paper.sentences)}
    return record | _metadata({name: getattr(paper, name) for name in fields.document})


def _paper_record(query: Query, paper: Paper | None) -> dict[str, Any]:
    """paper: None if its text is not passed on."""
    origin = {"paper_id": query.topic_id, "facet": query.facet}
    if query.paper_type is not None:
        origin["paper_type"] = query.paper_type
    if paper is None:
        return {"_id": query.query_id, "metadata": {**origin, "sentences": list(query.sentences)}}
    return {"_id": query.query_id, "text": _sentences(query, paper), "metadata": {**origin, "title": paper.title}}


def _query_record(query: Query, topic: Topic | None, paper: Paper | None, fields: Fields) -> dict[str, Any]:
    """The record of a query on a text or, without a topic, on a paper, with the fields that those on texts have."""
    values = {name: getattr(query, name) for name in ("topic_id", "facet", "paper_type")}
    values |= {"kind": "text" if topic else "paper", "sentences": list(query.sentences)}
    values |= {name: getattr(topic or paper, name, None) for name in ("title", *TEXTS)}
    record = {"_id": query.query_id}
    if topic:
        record["text"] = topic.description or topic.title
    elif paper:
        record["text"] = _sentences(query, paper)
    return record | _metadata({name: values[name] for name in fields.query})


def _metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"metadata": dict(values)} if values else {}


def _sentences(query: Query, paper: Paper) -> str:
    return " ".join(paper.sentences[position] for position in query.sentences)


def dataset_id(name: str) -> str:
    """The collection's name as `ir_datasets` ids are: lower-case letters, digits and hyphens.

    >>> dataset_id("Demo Collection, 2nd")
    'demo-collection-2nd'
    """
    slug = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
    if not slug:
        raise InputError(f"collection name {name!r}: no letter or digit (a-z, 0-9) in it", hint="set collection.name")
    return slug


TYPES = {
    **dict.fromkeys(("paper_id", "topic_id", "kind", "facet"), "str"),
    **dict.fromkeys(("title", "description", "narrative", "paper_type", "part_of"), "Optional[str]"),
    "sentences": "Tuple[int, ...]",
    "year": "Optional[int]",
}
"""Types of the fields that records have in their metadata."""


def module_name(name: str) -> str:
    """The name of the module's file without `.py`: one that can be imported.

    >>> module_name("2nd collection")
    'irds_2nd_collection'
    """
    return "irds_" + dataset_id(name).replace("-", "_")


def write_irds(
    collection: CollectionSettings,
    *,
    files: BeirFiles,
    docs_sha256: str,
    with_text: bool,
    fields: Fields,
    facets: Sequence[str],
    grades: Sequence[str],
    warning: str = "",
) -> str:
    """The source of the module. It needs Python 3.8, `ir_datasets` and the files named, nothing else.

    It registers `<id>` with all queries and `<id>/<facet>` for each facet: documents, queries, qrels, and the pools as
    scored documents with score 0, since a pool has no order. A query has a text, and each field that its record in
    the queries' file has; with a text alone, it is ir_datasets' own `GenericQuery`.

    Of a language `ir_datasets` shows the first part of its tag (BCP 47), and nothing for queries in two languages.
    files: relative to the module. docs_sha256: of the corpus file; the document store that `ir_datasets` builds is
    kept under it, so that another version of the collection never reads this one's. with_text: as in `beir.write_beir`;
    without it there are no documents. fields: of the records in the files. grades: the names of the grades from 0
    upward. warning: what the qrels must not be used for, in its first lines.
    """
    documents, topic_code = map(language_code, (collection.language, collection.language_of_topics))
    codes = {"papers": {documents}, "texts": {topic_code}, "both": {documents, topic_code}}[fields.kinds]
    constants = {
        "TITLE": collection.title,
        "ID": dataset_id(collection.name),
        "LANGUAGE": documents,
        "FACETS": tuple(facets),
        "GRADES": dict(enumerate(grades)),
        "DOCS": files.corpus if with_text else None,
        "DOCS_SHA256": docs_sha256,
        "QUERIES": files.queries,
        "QRELS": files.qrels,
        "POOLS": files.top_ranked,
    }
    values = {
        "module": module_name(collection.name),
        "id": dataset_id(collection.name),
        "with_text": with_text,
        "fields": fields,
        "types": TYPES,
        "warning": textwrap.fill(warning, 118),
        "constants": {constant: repr(value) for constant, value in constants.items()},
        "queries_language": "LANGUAGE" if codes == {documents} else repr(topic_code) if len(codes) == 1 else "None",
    }
    return render("irds.py.j2", values, overrides=None)
