"""TREC's runs, qrels and topics, runs that others hand in, and the sentences that runs matched."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise, repeat
from operator import itemgetter, le
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from annot.base.errors import Faults, InputError, json_problem, numbered
from annot.base.names import near
from annot.base.records import WRITTEN, PlacedDoc, Qrel, Query, Ranking, ScoredDoc, Topic, grouped, in_order
from annot.formats.input_files import read_models, unicode_of_start

# ----------------------------------------------------------------------------------------------------------------------
# TREC's runs, qrels and topics (https://trec.nist.gov/data/qrels_eng/, trec_eval's README); each query's topic.
# ----------------------------------------------------------------------------------------------------------------------


def read_run(lines: Iterable[str], *, name: str) -> dict[str, Ranking]:
    """The rankings of a run by query id, read as `read_tagged_run` reads it."""
    return read_tagged_run(lines, name=name)[1]


def read_tagged_run(lines: Iterable[str], *, name: str) -> tuple[str, dict[str, Ranking]]:
    """The tag of a run and its rankings by query id, from lines of `query_id Q0 doc_id rank score tag`, separated by
    white space; empty lines are skipped.

    The rank column and the order of the lines are ignored, as trec_eval does: documents are ordered by score, then by
    id. Scores are finite numbers, higher is better, and keep all their digits.
    Raises InputError with every fault: columns, scores, repeated documents, more than one tag, no line at all.
    """
    faults = Faults(name)
    rows = list(numbered(lines, faults))
    scored: dict[str, dict[str, float]] = {}
    tag: str | None = None
    if len(rows) >= _MANY_LINES and not faults.found:
        scored, tag = _scores_by_query([text for _, text in rows])
    # If something is wrong, each line is looked at.
    for number, (query_id, _, doc_id, _, score, found_tag) in run_columns(() if scored else rows, faults):
        tag = found_tag if tag is None else tag
        if found_tag != tag:
            faults.add(f"tag {found_tag!r}, expected {tag!r} as in the lines before", line=number)
        value = score_of(score, faults, line=number)
        documents = scored.setdefault(query_id, {})
        if doc_id in documents:
            faults.add(f"document {doc_id!r} is listed twice for query {query_id!r}", line=number)
        documents[doc_id] = value or 0.0
    faults.raise_if_any(found=scored, nothing="found no lines of a run")
    rankings = {query_id: in_order(documents.items()) for query_id, documents in scored.items()}
    return tag or "", rankings


_MANY_LINES = 20_000
"""Number of lines from which on it pays to import Arrow."""


def _scores_by_query(lines: Sequence[str]) -> tuple[dict[str, dict[str, float]], str | None]:
    """Score of each document by query id, and the tag; nothing if something is wrong, or columns are not divided by one
    space or tab.
    """
    from pyarrow import ArrowInvalid, BufferReader, csv, dictionary, float64, int32, string

    nothing: tuple[dict[str, dict[str, float]], None] = {}, None
    text = dictionary(int32(), string())
    types = {"score": float64(), "query": text, "Q0": text, "document": text, "rank": text, "tag": text}
    try:
        table = csv.read_csv(
            BufferReader("\n".join(lines).encode()),
            csv.ReadOptions(column_names=["query", "Q0", "document", "rank", "score", "tag"], use_threads=False),
            csv.ParseOptions(delimiter="\t" if "\t" in "".join(lines[:1]) else " ", quote_char=False),
            csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except (ArrowInvalid, UnicodeEncodeError):
        return nothing
    # Minus zero becomes zero.
    scores = [score + 0.0 for score in table["score"].to_pylist()]
    parts = [column.unify_dictionaries().combine_chunks() for column in table.select([*types][1:]).columns]
    words = [part.dictionary.to_pylist() for part in parts]
    joined = [*chain.from_iterable(words)]
    query_of = parts[0].indices.to_pylist()
    if len(scores) != len(lines) or len(words[4]) > 1 or " ".join(joined).split() != joined:
        return nothing
    # A document is the same text for all queries and runs: less memory, and found faster in what follows.
    doc_ids = [*map([*map(sys.intern, words[2])].__getitem__, parts[2].indices.to_pylist())]
    changes = [place for place, (above, below) in enumerate(pairwise(query_of), 1) if above != below]
    scored: dict[str, dict[str, float]] = {}
    for start, end in pairwise((0, *changes, len(scores))):
        documents = zip(doc_ids[start:end], scores[start:end], strict=True)
        scored.setdefault(words[0][query_of[start]], {}).update(documents)
    sound = all(map(math.isfinite, scores)) and sum(map(len, scored.values())) == len(scores)
    return (scored, words[4][0]) if sound else nothing


def _columns(texts: Sequence[str], number: int, faults: Faults) -> list[list[str]]:
    """Columns of lines; none if a line has another number of them, there is no line, or there are faults."""
    # A list for each line is what takes Python's garbage collector long.
    cells = " ".join(texts).split()
    if faults.found or not texts or len(cells) != number * len(texts):
        return []
    # In most files all white space is one space between two columns, which is quicker to see.
    by_spaces = {*map(str.count, texts, repeat(" "))} == {number - 1}
    only_spaces = len("".join(texts)) == len("".join(cells)) + (number - 1) * len(texts)
    if not (by_spaces and only_spaces) and any(len(text.split()) != number for text in texts):
        return []
    return [cells[place::number] for place in range(number)]


def _scores(texts: Collection[str]) -> list[float]:
    """Finite numbers that the texts are, without a negative zero; none if one is another text."""
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return []
    finite = all(map(math.isfinite, numbers)) and "_" not in "".join(texts)
    return [number or 0.0 for number in numbers] if finite else []


def run_columns(lines: Iterable[tuple[int, str]], faults: Faults) -> Iterator[tuple[int, list[str]]]:
    """The six columns of each numbered line of a run; another number of them is a fault."""
    for number, line in lines:
        columns = line.split()
        if len(columns) == 6:
            yield number, columns
        else:
            faults.add(f"{len(columns)} columns, expected 6 (query_id Q0 doc_id rank score tag)", line=number)


def write_run(rankings: Mapping[str, Iterable[ScoredDoc]], *, tag: str) -> str:
    """The text of a run file: queries by id, documents as `annot.base.records.in_order` has them, ranks from 1.

    Scores are written with all their digits; the program's own have six of them. Every reader that keeps to score, then
    id, gets the same order.
    Raises InputError with every id or tag that is empty or has white space in it, every score that is not finite, and
    every repeated document.
    """
    return "".join(run_lines(rankings, tag=tag).values())


def run_lines(rankings: Mapping[str, Iterable[ScoredDoc]], *, tag: str) -> dict[str, str]:
    """Lines of a run file by query id, in their order: the parts of `write_run`, with the same errors."""
    faults = Faults(f"run {tag}")
    _check_id(tag, "tag", faults)
    scored = {query_id: list(documents) for query_id, documents in sorted(rankings.items())}
    _check_pairs({query_id: [doc_id for doc_id, _ in documents] for query_id, documents in scored.items()}, faults)
    for query_id, documents in scored.items():
        for doc_id, score in documents if not all(map(math.isfinite, [score for _, score in documents])) else ():
            if not math.isfinite(score):
                faults.add(f"query {query_id!r}: document {doc_id!r} has score {score}, expected a finite number")
    faults.raise_if_any()
    return {query_id: _lines(query_id, documents, tag) for query_id, documents in scored.items()}


def rankings_sha256(lines: Mapping[str, Mapping[str, str]], topic_id: str) -> str:
    """Hash of the rankings from which the pool of one topic was drawn, by each method, as run files.

    lines: by method, then by topic, as `run_lines` has them.
    """
    digest = hashlib.sha256()
    for method in sorted(lines):
        digest.update(lines[method][topic_id].encode())
    return digest.hexdigest()


QRELS_COLUMNS = ("query_id", "0", "doc_id", "relevance")
BEIR_COLUMNS = ("query-id", "corpus-id", "score")


def refuse_grades_of_models(lines: Iterable[str], *, name: str) -> None:
    """Raise InputError if lines of qrels name a model in their second column: they are not people's grades."""
    columns = (line.split() for line in lines)
    marked = {row[1] for row in columns if row[1:] and row[1].startswith(MODEL_MARK)}
    models = sorted(name.removeprefix(MODEL_MARK) for name in marked)
    if models:
        raise InputError(
            f"{name}: a model's grades ({', '.join(models)}), expected people's",
            hint="`annot qrels` writes people's grades; compare both with `annot qrels compare`",
        )


def read_qrels(lines: Iterable[str], *, name: str) -> tuple[Qrel, ...]:
    """The qrels in lines of `query_id 0 doc_id relevance`, in their order; empty lines are skipped.

    The second column is ignored, as trec_eval does; with BEIR's header on the first line, there is none. MTEB's lines
    are objects with BEIR's columns. Raises InputError with every fault: columns, relevance that is no integer, repeated
    pairs, no line at all.
    """
    faults = Faults(name)
    rows = list(numbered(lines, faults))
    if (columns := _columns([text for _, text in rows], len(QRELS_COLUMNS), faults)) and all(
        map(_is_grade, grades := {*columns[3]})
    ):
        number_of = {text: int(text) for text in grades}
        if len({*zip(columns[0], columns[2], strict=True)}) == len(rows):
            return tuple(map(Qrel, columns[0], columns[2], map(number_of.__getitem__, columns[3])))
    # BEIR's columns, or something is wrong: each line is looked at.
    qrels: dict[tuple[str, str], Qrel] = {}
    expected: tuple[str, ...] = QRELS_COLUMNS
    for number, line in rows:
        is_object = line.startswith("{") and f'"{BEIR_COLUMNS[0]}"' in line
        row = _beir_values(line) if is_object else tuple(line.split())
        if row == BEIR_COLUMNS and number == 1:
            expected = row
            continue
        if is_object:
            expected = BEIR_COLUMNS
        if len(row) != len(expected):
            faults.add(f"{len(row)} columns, expected {len(expected)} ({' '.join(expected)})", line=number)
            continue
        query_id, doc_id, relevance = row[0], *row[-2:]
        if not _is_grade(relevance):
            faults.add(f"relevance {relevance!r}, expected an integer", line=number)
            continue
        if (query_id, doc_id) in qrels:
            faults.add(f"document {doc_id!r} is listed twice for query {query_id!r}", line=number)
        qrels[query_id, doc_id] = Qrel(query_id, doc_id, int(relevance))
    faults.raise_if_any(found=qrels, nothing="found no lines of qrels")
    return tuple(qrels.values())


def _is_grade(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdigit() and len(text) < 10


def _beir_values(line: str) -> tuple[str, ...]:
    """Values of the columns of BEIR that a line of JSON has; a grade may be written as 1.0."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return ()
    values = [record[name] for name in BEIR_COLUMNS if isinstance(record.get(name), str | int | float)]
    return tuple(str(int(value) if isinstance(value, float) and value.is_integer() else value) for value in values)


MODEL_MARK = "model="
"""Beginning of the second column if a model gave the grades: no command accepts these as people's grades."""


def write_qrels(qrels: Iterable[Qrel], *, source: str = "0") -> str:
    """The text of a qrels file, ordered by query id, then document id. source: its second column.

    Raises InputError with every id that is empty or has white space in it and every repeated pair.
    """
    faults = Faults("qrels")
    ordered = sorted(qrels)
    _check_pairs(grouped((query_id, doc_id) for query_id, doc_id, _ in ordered), faults)
    faults.raise_if_any()
    return "".join(f"{query_id} {source} {doc_id} {relevance}\n" for query_id, doc_id, relevance in ordered)


def score_of(text: str, faults: Faults, *, line: int) -> float | None:
    """The text as a number; any other text, nan and infinity are faults."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and "_" not in text:
        return value
    faults.add(f"score {text!r}, expected a finite number", line=line)
    return None


def _lines(query_id: str, documents: Collection[ScoredDoc], tag: str) -> str:
    falling = in_order(documents)
    texts = _written([score for _, score in falling])
    ranks: Iterable[int] = range(1, 1 + len(falling))
    if places := {doc.doc_id: doc.rank for doc in documents if type(doc) is PlacedDoc}:
        ranks = [places.get(doc_id, rank) for rank, (doc_id, _) in zip(ranks, falling, strict=True)]
    rows = zip(falling, ranks, texts, strict=True)
    return "".join([f"{query_id} Q0 {doc_id} {rank} {text} {tag}\n" for (doc_id, _), rank, text in rows])


def _written(scores: Iterable[float]) -> list[str]:
    """Each score as the program's own are written if that is all of it, else with as many digits as it takes."""
    # Adding zero turns -0.0 into 0.
    texts = [(score, format(score + 0.0, WRITTEN)) for score in scores]
    return [text if float(text) == score else repr(float(score)) for score, text in texts]


def _check_pairs(documents: Mapping[str, Sequence[str]], faults: Faults) -> None:
    """Add the ids that cannot be written, and the documents that a query has twice. documents: by query id."""
    ids = list({*documents}.union(*documents.values()))
    distinct = all(len({*doc_ids}) == len(doc_ids) for doc_ids in documents.values())
    if distinct and " ".join(ids).split() == ids:
        return
    for query_id, doc_ids in documents.items():
        for doc_id, count in Counter(doc_ids).items():
            _check_id(query_id, "query id", faults)
            _check_id(doc_id, f"query {query_id!r}: document id", faults)
            if count > 1:
                faults.add(f"query {query_id!r}: document {doc_id!r} is listed twice")


def _check_id(text: str, noun: str, faults: Faults) -> None:
    if text.split() != [text]:
        faults.add(f"{noun} {text!r}, expected one without white space")


QUERY_PAPERS_FILE, QUERY_TOPICS_FILE = "query_papers.tsv", "query_topics.tsv"
TOPIC_COLUMNS = {QUERY_PAPERS_FILE: "query_paper", QUERY_TOPICS_FILE: "topic_id"}
"""The column of the topic of each query, by file: the first where every topic is a paper, the second where one is a
text."""


def topics_file(texts: Collection[str]) -> str:
    """The file of the topic of each query. texts: the topics that are texts."""
    return QUERY_TOPICS_FILE if texts else QUERY_PAPERS_FILE


def write_query_topics(queries: Iterable[Query], *, file: str) -> str:
    """The text of the file, ordered by query id."""
    lines = sorted(f"{query.query_id}\t{query.topic_id}\n" for query in queries)
    return "".join((f"{_header(file)}\n", *lines))


def read_query_topics(lines: Iterable[str], *, file: str, name: str) -> dict[str, str]:
    """The topic of each query, by its id. Raises InputError with every fault, with `name` and line."""
    faults = Faults(name)
    topics: dict[str, str] = {}
    noun = TOPIC_COLUMNS[file].removeprefix("query_").removesuffix("_id")
    for number, line in numbered(lines, faults):
        cells = line.split("\t")
        if number == 1:
            if line != _header(file):
                faults.add(f"found {line!r}, expected the header {_header(file)!r}", line=number)
        elif len(cells) != 2 or not all(cells):
            faults.add(f"expected a query and its {noun}, with a tab between", line=number)
        elif topics.setdefault(cells[0], cells[1]) != cells[1]:
            faults.add(f"{noun} {cells[1]!r} of query {cells[0]}, expected {topics[cells[0]]!r} as above", line=number)
    faults.raise_if_any()
    return topics


def _header(file: str) -> str:
    return f"query_id\t{TOPIC_COLUMNS[file]}"


TOPICS_FILE = "topics.xml"
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_topics(topics: Iterable[Topic]) -> str:
    """The text of a topics file as TREC has them since the Web tracks: title, description and narrative of each, by id.

    Characters that XML does not have are left out. There is no XML declaration, as in TREC's own files: some readers
    decode a file first, and then refuse one.
    """
    # It brings a client of HTTP, for documents elsewhere.
    from xml.sax.saxutils import escape, quoteattr

    lines = ["<topics>"]
    for topic in sorted(topics, key=lambda topic: topic.topic_id):
        lines.append(f"  <topic number={quoteattr(topic.topic_id)}>")
        for name in ("title", "description", "narrative"):
            if text := getattr(topic, name):
                written = escape(_NOT_IN_XML.sub("", text), {"\r": "&#13;"})
                lines.append(f"    <{name}>{written}</{name}>")
        lines.append("  </topic>")
    return "\n".join((*lines, "</topics>")) + "\n"


# ----------------------------------------------------------------------------------------------------------------------
# Runs as others hand them in: a TREC run file, or CSFCube's ranked pools in JSON, with what their maker says of them.
#
# Nothing is put right here: documents that are there twice stay twice, so that whoever takes the run can say so. The
# metadata is that of ir_metadata (Breuer, Keller and Schaer 2022, ir_metadata: An Extensible Metadata Schema for IR
# Experiments, SIGIR; https://www.ir-metadata.org), as the head of the run file or in a file of its own.
# ----------------------------------------------------------------------------------------------------------------------


_RANKED_POOLS = re.compile(r"test-pid2pool-csfcube-(?P<tag>.+)-(?P<facet>[^-/]+)-ranked\.json")
FIELDS = (
    *("schema-version", "run-version", "tag", "platform", "research goal", "implementation", "method", "actor", "data"),
    *("system", "seed", "software", "settings", "hashes", "hardware", "seconds"),
)
"""Fields of the metadata: those of ir_metadata 0.1, then others for which it has no place."""


@dataclass(frozen=True, slots=True)
class SubmittedRun:
    """One file as it was handed in."""

    form: str
    """`trec` or `csfcube`."""
    documents: dict[str, tuple[ScoredDoc, ...]]
    """Rankings by query id (in a ranked pool by query paper), in the order of ranks; higher scores are better."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Metadata in the head of the file itself."""

    @property
    def rising(self) -> list[str]:
        """Queries whose scores only rise from rank to rank, as distances do."""
        scores = {query_id: [doc.score for doc in docs] for query_id, docs in self.documents.items()}
        return [name for name, several in scores.items() if several == sorted(several) and several[0] < several[-1]]


def read_submitted(data: bytes, *, name: str) -> SubmittedRun:
    """The run in `data`. Raises InputError with every line that is none of a run's, and every score that is no number.

    A TREC run may begin with ir_metadata's head, in lines that start with `#`. In a ranked pool a smaller distance is
    better: scores are distances with the other sign.
    """
    faults = Faults(name)
    try:
        text = data.decode(unicode_of_start(data)).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        faults.add(f"not UTF-8: {error.reason}", line=data.count(b"\n", 0, error.start) + 1)
        faults.raise_if_any(hint="expected a TREC run or CSFCube's ranked pools in JSON")
        raise
    run = _ranked_pools(text, faults) if text.lstrip().startswith("{") else _trec(text, faults)
    hint = "expected a TREC run (query_id Q0 doc_id rank score tag) or CSFCube's ranked pools in JSON"
    faults.raise_if_any(hint=hint, found=run.documents, nothing="found no document")
    return run


def read_metadata(text: str, *, name: str) -> dict[str, Any]:
    """The metadata in YAML, of which JSON is a part. Raises InputError with every field that is not known."""
    faults = Faults(name)
    metadata = _metadata(text, faults)
    faults.raise_if_any(hint="https://www.ir-metadata.org lists the fields")
    return metadata


def higher_is_better(run: SubmittedRun, *, name: str, distances: bool) -> SubmittedRun:
    """The run with higher scores for better documents; distances: those of a TREC run are distances.

    Raises InputError if scores that are none rise from rank to rank, as distances do.
    """
    if run.form == "trec" and distances:
        negated = {
            query_id: tuple(ScoredDoc(doc.doc_id, -doc.score) for doc in docs)
            for query_id, docs in run.documents.items()
        }
        return SubmittedRun(run.form, negated, run.metadata)
    if run.rising:
        raise InputError(
            f"{name}: the scores of {len(run.rising)} queries rise from rank to rank, as distances do",
            faults=run.rising[:3],
            hint="higher scores are better in a TREC run; if these are distances, add --distances",
        )
    return run


def facet_in_name(file_name: str) -> str | None:
    """The facet in the name of a file of CSFCube's ranked pools.

    >>> facet_in_name("test-pid2pool-csfcube-specter-method-ranked.json")
    'method'
    """
    match = _RANKED_POOLS.fullmatch(file_name)
    return match["facet"] if match else None


def _trec(text: str, faults: Faults) -> SubmittedRun:
    numbers, texts, head = _parted(text, faults)
    columns: Sequence[Sequence[Any]] = _columns(texts, 6, faults)
    scores: Sequence[Any] = _scores(columns[4]) if columns else ()
    if not scores:
        # Something is wrong: each line is looked at.
        rows = run_columns(zip(numbers, texts, strict=True), faults)
        read = [(number, *row, score_of(row[4], faults, line=number)) for number, row in rows]
        sound = zip(*[row for row in read if row[-1] is not None], strict=True)
        numbers, *columns, scores = list(sound) or [()] * 8
    query_ids, _, doc_ids, ranks, _, tags = columns
    if len({*tags}) > 1:
        faults.add(f"{len({*tags})} tags ({', '.join(sorted({*tags})[:3])}), expected one run per file")
    place_of = {rank: int(rank) for rank in {*ranks} if rank.isascii() and rank.isdigit() and len(rank) < 10}
    places = list(map(place_of.get, ranks, numbers))
    documents = _by_query(query_ids, places, list(map(ScoredDoc, doc_ids, scores)))
    return SubmittedRun("trec", documents, _metadata("\n".join(head), faults))


def _parted(text: str, faults: Faults) -> tuple[Sequence[int], list[str], list[str]]:
    """Numbers and texts of the lines of a run, without blank ones, and the lines of its head."""
    lines = text.splitlines()
    if "#" not in text and text[:1] != "\ufeff" and all(map(str.strip, lines)):
        return range(1, 1 + len(lines)), lines, []
    rows = list(numbered(lines, faults))
    head = [re.sub("^# ?", "", line) for _, line in rows if line.startswith("#")]
    rows = [row for row in rows if not row[1].startswith("#")]
    return [number for number, _ in rows], [line for _, line in rows], head


def _by_query(
    query_ids: Iterable[str], places: Sequence[int], docs: Sequence[ScoredDoc]
) -> dict[str, tuple[ScoredDoc, ...]]:
    """Documents of each query by their places. query_ids: of each line, mostly grouped by query."""
    ranked: dict[str, tuple[list[int], list[ScoredDoc]]] = {}
    end = 0
    for query_id, same in groupby(query_ids):
        start, end = end, end + sum(1 for _ in same)
        of_query = ranked.setdefault(query_id, ([], []))
        of_query[0].extend(places[start:end])
        of_query[1].extend(docs[start:end])
    return {query_id: tuple(_by_place(*of_query)) for query_id, of_query in ranked.items()}


def _by_place(places: list[int], docs: list[ScoredDoc]) -> list[ScoredDoc]:
    if all(map(le, places, places[1:])):
        return docs
    return [doc for _, doc in sorted(zip(places, docs, strict=True), key=itemgetter(0))]


def _ranked_pools(text: str, faults: Faults) -> SubmittedRun:
    documents: dict[str, tuple[ScoredDoc, ...]] = {}

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            faults.add("a query is listed twice in one object")
        return dict(pairs)

    try:
        pools = json.loads(text, object_pairs_hook=members)
    except (ValueError, RecursionError) as error:
        faults.add(json_problem(error), line=error.lineno if isinstance(error, json.JSONDecodeError) else None)
        return SubmittedRun("csfcube", {})
    for query, rows in pools.items():
        docs = []
        for position, row in enumerate(rows if isinstance(rows, list) else [rows], start=1):
            match row:
                case [str(doc_id), int() | float() as distance] if doc_id and math.isfinite(distance):
                    docs.append(ScoredDoc(doc_id, -float(distance)))
                case _:
                    faults.add(
                        f"found {json.dumps(row)[:40]}, expected [candidate, distance]", place=f"{query}, {position}"
                    )
        falling = next((rank for rank in range(1, len(docs)) if docs[rank].score > docs[rank - 1].score), None)
        if falling is not None:
            expected = f"distance {-docs[falling].score:g} after {-docs[falling - 1].score:g}, expected smallest first"
            faults.add(expected, place=f"{query}, {falling + 1}")
        if docs:
            documents[query] = tuple(docs)
    return SubmittedRun("csfcube", documents)


def _metadata(text: str, faults: Faults) -> dict[str, Any]:
    import yaml

    yaml_lines = [line for line in text.splitlines() if line.strip() not in ("ir_metadata.start", "ir_metadata.end")]
    try:
        document = yaml.safe_load("\n".join(yaml_lines))
    except yaml.YAMLError as error:
        faults.add(f"metadata: not YAML: {' '.join(str(error).split())}")
        return {}
    if document is None:
        return {}
    if not isinstance(document, dict):
        faults.add(f"metadata: found {str(document)[:40]!r}, expected fields and values")
        return {}
    for key in document:
        if key not in FIELDS:
            faults.add(f"metadata: unknown field {key!r}; {near(str(key), FIELDS)}")
    # Through JSON, in which it is kept: a date becomes text.
    plain: dict[str, Any] = json.loads(json.dumps(document, default=str))
    return plain


# ----------------------------------------------------------------------------------------------------------------------
# Sentences that a run matched, in `TAG.matches.jsonl` next to the run: `{"query_id", "doc_id", "matches"}` a line.
#
# Each match is `[query_sentence, doc_sentence, weight]`, with the similarity of the two behind it where it is known;
# positions from 0 in the two abstracts.
# ----------------------------------------------------------------------------------------------------------------------


ENDING = ".matches.jsonl"


class Match(NamedTuple):
    """A sentence of the query and a sentence of a document that a score rests on."""

    query_sentence: int
    doc_sentence: int
    weight: float
    """The share of the score's mass that goes from the one to the other; 1 for a single best pair."""
    similarity: float | None = None
    """Cosine, or negated distance: higher is better."""


Matches = Mapping[str, Mapping[str, tuple[Match, ...]]]
"""The matches of each document of each query, heaviest first."""

_Sentence = Annotated[int, Field(strict=True, ge=0)]
_Figure = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query_id: str
    doc_id: str
    matches: list[tuple[_Sentence, _Sentence, _Figure] | tuple[_Sentence, _Sentence, _Figure, _Figure]]


def read_matches(lines: Iterable[str], *, name: str) -> dict[tuple[str, str], tuple[Match, ...]]:
    """The matches of each (query_id, doc_id). Raises InputError with every fault, a pair given twice among them."""
    faults = Faults(name)
    by_pair: dict[tuple[str, str], tuple[Match, ...]] = {}
    for number, line in read_models(lines, faults, _Line):
        if (line.query_id, line.doc_id) in by_pair:
            faults.add(f"document {line.doc_id!r} is listed twice for query {line.query_id!r}", line=number)
        by_pair[line.query_id, line.doc_id] = tuple(Match(*match) for match in line.matches)
    faults.raise_if_any()
    return by_pair


def match_lines(matches: Matches) -> str:
    """The text of the file; figures of six decimals."""
    return "".join(
        json.dumps({"query_id": query_id, "doc_id": doc_id, "matches": list(map(_rounded, of_pair))}) + "\n"
        for query_id, documents in matches.items()
        for doc_id, of_pair in documents.items()
    )


def closest(matches: Iterable[Match]) -> tuple[Match, ...]:
    """Closest sentence of the document for each sentence of the query, the first of several as close."""
    best: dict[int, Match] = {}
    for match in sorted(matches, key=lambda match: (match.query_sentence, -match.weight, match.doc_sentence)):
        best.setdefault(match.query_sentence, match)
    return tuple(best.values())


def _rounded(match: Match) -> list[float]:
    return [value if isinstance(value, int) else round(value, 6) for value in match if value is not None]
