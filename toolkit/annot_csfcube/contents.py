"""Files of a CSFCube release folder, each read by itself, with the faults of all of them together."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, NamedTuple, TypeVar

from annot.base.errors import Faults, InputError, MissingInput, json_problem, numbered
from annot.base.names import counted, near
from annot.base.records import Paper, Ranking, in_order
from annot.formats.cleaning import CleanedPaper, cleaned
from annot.formats.input_files import checked, unguarded
from annot.formats.paper_records import paper_of, read_papers
from pydantic import AfterValidator, AllowInfNan, BaseModel, ConfigDict, Field, Strict, TypeAdapter, model_validator

# ----------------------------------------------------------------------------------------------------------------------
# CSFCube's readable annotation files: one query and facet, its candidates with text, ratings, grade and sources.
# ----------------------------------------------------------------------------------------------------------------------


GRADE_WORDS = {"Irrelevant (0)": 0, "Related (+1)": 1, "Similar (+2)": 2, "Identical (+3)": 3}
ASSESSOR_OF_ANNOTATOR = {"1": "a3", "2": "a4", "3": "a2", "4": "a1"}
"""The readable files number the annotators differently from the JSON files, whose `relevance_ann3` is our `a3`."""

_PAPER_RULE = "=" * 35
_IDENTITY = (
    re.compile(r"paper_id: (?P<paper_id>\S+); YEAR: (?P<year>None|-?\d{1,4})"),
    "'paper_id: <id>; YEAR: <year>'",
)
_READABLE_RATINGS = (
    re.compile(
        r"difference: (?P<difference>\d); annotator(?P<first>[1-4]): (?P<rating>-1|[0-3]); "
        r"annotator(?!(?P=first))(?P<second>[1-4]): (?P<other>-1|[0-3])"
    ),
    "'difference: d; annotatorX: a; annotatorY: b', X and Y two of 1 to 4, a and b 0 to 3, or -1 for none",
)
_TEXT = (
    (re.compile(r"TITLE: ?(?P<title>.*)"), "'TITLE: ...'"),
    (re.compile(r"ABSTRACT: *(?P<abstract>.*)"), "'ABSTRACT: ...'"),
)
_QUERY_HEAD = ((re.compile("={70}"), "a line of 70 '='"), _IDENTITY, *_TEXT)
_CANDIDATE_HEAD = (
    (re.compile(_PAPER_RULE), "a line of 35 '='"),
    _IDENTITY,
    (re.compile(r"adju relevance: (?P<grade>.+)"), "'adju relevance: <grade>'"),
    _READABLE_RATINGS,
    (re.compile(r"sources: (?P<sources>\S+(?: - \S+)*)"), "'sources: <method> - <method>'"),
    *_TEXT,
)
"""The first lines of a block, and how messages call them. Sentences follow."""
_SENTENCE = re.compile(r"(?P<label>\w+): ?(?P<text>.*)")

Line = tuple[int, str]


class RatedPair(NamedTuple):
    """A candidate, its adjudicated grade, and the rating of each assessor; None for a missing rating (-1)."""

    doc_id: str
    grade: int
    ratings: dict[str, int | None]


@dataclass(frozen=True, slots=True)
class ReadableFile:
    """One readable file. Its candidates are sorted by falling grade: their order must not reach an assessor."""

    query: Paper
    papers: dict[str, Paper]
    """Every paper with its text, the query's too (where the query is a candidate as well, the query's own)."""
    pairs: dict[str, RatedPair]
    """Pairs by candidate."""
    sources: dict[str, tuple[str, ...]]
    """The methods that had each candidate; the first one drew it."""


def read_readable(lines: Iterable[str], faults: Faults, *, paper: Callable[..., Paper]) -> ReadableFile | None:
    """The content of one `<query>-<facet>-adju.txt`; None when it has faults, which are added to `faults`.

    paper: `paper_records.paper_of` with its rules.
    """
    faults_before = len(faults.found)
    blocks: list[list[Line]] = []
    for number, line in numbered(lines, faults):
        if not blocks or line == _PAPER_RULE:
            blocks.append([])
        blocks[-1].append((number, line))
    papers: list[Paper] = []
    pairs: dict[str, RatedPair] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for position, block in enumerate(blocks):
        fields = _fields_of(block, _CANDIDATE_HEAD if position else _QUERY_HEAD, faults)
        if fields is None:
            continue
        doc_id = fields["paper_id"]
        try:
            papers.append(
                paper(
                    doc_id,
                    fields["title"],
                    [sentence["text"] for sentence in fields["sentences"]],
                    year=None if fields["year"] == "None" else int(fields["year"]),
                    labels=[sentence["label"] for sentence in fields["sentences"]],
                    citations=(),
                )
            )
        except InputError as error:
            for fault in error.faults:
                faults.add(f"paper {doc_id}: {fault}", line=block[0][0])
        if position:
            if doc_id in pairs:
                faults.add(f"candidate {doc_id} is listed twice", line=block[0][0])
            pairs[doc_id] = _pair(fields, block, faults)
            sources[doc_id] = tuple(fields["sources"].split(" - "))
    if not blocks:
        faults.add("found no paper")
    if len(faults.found) > faults_before:
        return None
    return ReadableFile(papers[0], {paper.paper_id: paper for paper in reversed(papers)}, pairs, sources)


def _fields_of(block: list[Line], head: Sequence[tuple[re.Pattern[str], str]], faults: Faults) -> dict[str, Any] | None:
    """Fields of the lines of one paper, by the names in the patterns, and its `sentences`; None with faults."""
    if len(block) < len(head):
        faults.add(f"{len(block)} lines for one paper, expected at least {len(head)}", line=block[-1][0])
        return None
    faults_before = len(faults.found)
    fields: dict[str, Any] = {}
    for line, (pattern, expected) in zip(block, head, strict=False):
        fields |= _match(pattern, line, expected, faults)
    opening = [(block[len(head) - 1][0], fields["abstract"])] if fields.get("abstract") else []
    lines = [*opening, *block[len(head) :]]
    fields["sentences"] = [_match(_SENTENCE, line, "'<label>: <sentence>'", faults) for line in lines]
    return fields if len(faults.found) == faults_before else None


def _match(pattern: re.Pattern[str], line: Line, expected: str, faults: Faults) -> dict[str, str]:
    match = pattern.fullmatch(line[1])
    if match is None:
        faults.add(f"found {line[1][:60]!r}, expected {expected}", line=line[0])
        return {}
    return match.groupdict()


def _pair(fields: dict[str, Any], block: list[Line], faults: Faults) -> RatedPair:
    word = fields["grade"]
    if word not in GRADE_WORDS:
        faults.add(f"grade {word!r}: {near(word, GRADE_WORDS)}", line=block[2][0])
    ratings = {
        ASSESSOR_OF_ANNOTATOR[fields["first"]]: int(fields["rating"]),
        ASSESSOR_OF_ANNOTATOR[fields["second"]]: int(fields["other"]),
    }
    if int(fields["difference"]) != max(ratings.values()) - min(ratings.values()):
        faults.add(
            f"difference {fields['difference']} between {fields['rating']} and {fields['other']}", line=block[3][0]
        )
    grades = {assessor: None if rating == -1 else rating for assessor, rating in sorted(ratings.items())}
    return RatedPair(fields["paper_id"], GRADE_WORDS.get(word, 0), grades)


# ----------------------------------------------------------------------------------------------------------------------
# The files of a CSFCube release folder by their names, each read by itself, faults of all of them together.
#
# `read_readable` reads the readable annotation files.
# ----------------------------------------------------------------------------------------------------------------------


PAPERS_FILE = "abstracts-csfcube-preds.jsonl"
POOLS_FILE = "test-pid2pool-csfcube.json"
QUERIES_FILE = "queries-release.csv"
SPLITS_FILE = "evaluation_splits.json"
READABLE_FOLDER = "readable_annotations"
_RATINGS_FILE = re.compile(r"test-pid2anns-csfcube-([^-/]+)\.json")
_READABLE_FILE = re.compile(r"readable_annotations/([^/]+-[^-/]+)-adju\.txt")
_RANKED_FILE = re.compile(r"eval_scripts/sample_ranked_pools/test-pid2pool-csfcube-([^/]+)-([^-/]+)-ranked\.json")
_RATING_PREFIX = "relevance_ann"
_QUERY_COLUMNS = ("pid", "facet", "year", "title", "paper type")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Files:
    """The content of each file; None, or empty if several may be there, when there is no such file."""

    papers: dict[str, Paper] | None
    ratings: dict[str, dict[str, tuple[RatedPair, ...]]]
    """Pairs by facet and query paper."""
    readable: dict[str, ReadableFile]
    """Files by query id."""
    pools: dict[str, dict[str, tuple[str, ...]]] | None
    paper_types: dict[str, str] | None
    """Types by query id."""
    splits: dict[str, dict[str, tuple[str, ...]]]
    runs: dict[tuple[str, str], dict[str, Ranking]]
    """Rankings by tag and facet, then query paper."""
    changed: dict[str, CleanedPaper]
    """Papers whose text was cleaned, by id, from the file that the papers come from."""

    @property
    def facets(self) -> tuple[str, ...]:
        """Those with ratings."""
        return tuple(sorted({*self.ratings, *map(facet_of, self.readable)}))

    @property
    def papers_from(self) -> str:
        return READABLE_FOLDER if self.papers is None else PAPERS_FILE

    @property
    def listed(self) -> set[str]:
        """The ids of the queries of the list, the splits and the runs."""
        listed = {query_id for folds in self.splits.values() for query_ids in folds.values() for query_id in query_ids}
        listed |= {f"{query}-{facet}" for (_, facet), rankings in self.runs.items() for query in rankings}
        return listed | (self.paper_types or {}).keys()


def paper_and_facet(query_id: str) -> tuple[str, str]:
    paper_id, _, facet = query_id.rpartition("-")
    return paper_id, facet


def facet_of(query_id: str) -> str:
    return paper_and_facet(query_id)[1]


def ratings_name(facet: str) -> str:
    return f"test-pid2anns-csfcube-{facet}.json"


def readable_name(query_id: str) -> str:
    return f"{READABLE_FOLDER}/{query_id}-adju.txt"


def ranked_name(tag: str, facet: str) -> str:
    return f"eval_scripts/sample_ranked_pools/test-pid2pool-csfcube-{tag}-{facet}-ranked.json"


def is_release_file(path: str) -> bool:
    """True if a file of this path (relative to the release folder, with `/`) is one that is read."""
    return path in (PAPERS_FILE, POOLS_FILE, QUERIES_FILE, SPLITS_FILE) or any(
        pattern.fullmatch(path) for pattern in (_RATINGS_FILE, _READABLE_FILE, _RANKED_FILE)
    )


def read_files(files: Mapping[str, bytes], *, name: str, known_labels: Collection[str]) -> Files:
    """Every file of the release in `files`; others are passed over.

    Raises MissingInput when no file carries ratings, else InputError with the faults of all files.
    """
    if not any(_RATINGS_FILE.fullmatch(path) or _READABLE_FILE.fullmatch(path) for path in files):
        raise MissingInput(
            f"{name}: contains no ratings of a CSFCube release",
            hint=f"the folder should contain {ratings_name('<facet>')} or {readable_name('<query>-<facet>')}",
        )
    problems: list[str] = []
    in_papers: list[CleanedPaper] = []
    in_readable: list[CleanedPaper] = []

    def single(path: str, read: Callable[[str, Faults], T]) -> T | None:
        if path not in files:
            return None
        faults = Faults(f"{name}/{path}")
        try:
            return read(files[path].decode("utf-8-sig"), faults)
        except UnicodeDecodeError as error:
            faults.add(f"not UTF-8: {error.reason}", line=files[path].count(b"\n", 0, error.start) + 1)
        except InputError as error:
            # Only the reading of papers, and a file with very many faults, raise by themselves.
            faults.found = list(dict.fromkeys([*faults.found, *error.faults]))
        finally:
            problems.extend(faults.found)
        return None

    def several(pattern: re.Pattern[str], read: Callable[[str, Faults], T | None]) -> dict[tuple[str, ...], T]:
        matches = [match for path in sorted(files) if (match := pattern.fullmatch(path))]
        contents = {match.groups(): single(match[0], read) for match in matches}
        return {key: content for key, content in contents.items() if content is not None}

    def papers(text: str, faults: Faults) -> dict[str, Paper]:
        by_id: dict[str, Paper] = {}
        lines = io.StringIO(text, newline=None)
        for paper in read_papers(lines, name=faults.name, changed=in_papers, known_labels=known_labels):
            if paper.paper_id in by_id:
                faults.add(f"paper {paper.paper_id} is listed twice")
            by_id[paper.paper_id] = paper
        return by_id

    def readable(text: str, faults: Faults) -> ReadableFile | None:
        def paper(doc_id: str, title: str, sentences: list[str], **others: Any) -> Paper:
            read = paper_of(doc_id, title, sentences, known_labels=known_labels, **others)
            in_readable.extend(filter(None, [cleaned(read, title, sentences)]))
            return read

        return read_readable(io.StringIO(text, newline=None), faults, paper=paper)

    read = Files(
        papers=single(PAPERS_FILE, papers),
        ratings={facet: pairs for (facet,), pairs in several(_RATINGS_FILE, _read_ratings).items()},
        readable={query_id: file for (query_id,), file in several(_READABLE_FILE, readable).items()},
        pools=single(POOLS_FILE, _read_pools),
        paper_types=single(QUERIES_FILE, _read_paper_types),
        splits=single(SPLITS_FILE, _read_splits) or {},
        runs={(tag, facet): rankings for (tag, facet), rankings in several(_RANKED_FILE, _read_ranked).items()},
        changed={paper.paper_id: paper for paper in (in_papers if PAPERS_FILE in files else in_readable)},
    )
    if problems:
        raise InputError(f"{name}: {counted(len(problems), 'fault')}", faults=problems)
    return read


def _unrepeated(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} is listed twice")
    return names


_Text = Annotated[str, Strict(), Field(min_length=1)]
_Ids = Annotated[list[_Text], AfterValidator(_unrepeated)]
_Grade = Annotated[int, Strict(), Field(ge=0, le=3)]
_Rating = Annotated[int, Strict(), Field(ge=-1, le=3)]


class _RatedQuery(BaseModel):
    """The pairs of a query; a file also has lists of two assessors with their largest and smallest ratings."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[_Rating]]

    cands: _Ids
    relevance_adju: list[_Grade]

    @model_validator(mode="after")
    def _columns_fit(self) -> _RatedQuery:
        columns = {"relevance_adju": self.relevance_adju, **self.__pydantic_extra__}
        _same_length(self.cands, columns)
        rating_columns = [values for name, values in columns.items() if name.startswith(_RATING_PREFIX)]
        if len(rating_columns) != 2:
            raise ValueError(f"{len(rating_columns)} lists of ratings ({_RATING_PREFIX}...), expected 2")
        for name, compute in (("relevance_max", max), ("relevance_min", min)):
            rows = zip(self.cands, columns.get(name, ()), zip(*rating_columns, strict=True), strict=False)
            for doc_id, extreme, ratings in rows:
                if extreme != compute(ratings):
                    raise ValueError(f"candidate {doc_id}: {name} is {extreme}, the ratings are {list(ratings)}")
        return self

    def pairs(self) -> tuple[RatedPair, ...]:
        columns = {
            "a" + name.removeprefix(_RATING_PREFIX): [None if rating == -1 else rating for rating in ratings]
            for name, ratings in sorted(self.__pydantic_extra__.items())
            if name.startswith(_RATING_PREFIX)
        }
        return tuple(
            RatedPair(doc_id, grade, dict(zip(columns, ratings, strict=True)))
            for doc_id, grade, *ratings in zip(self.cands, self.relevance_adju, *columns.values(), strict=True)
        )


class _ReleasedPool(BaseModel):
    cands: _Ids
    cand_source: list[Annotated[tuple[_Text, ...], Field(min_length=1)]]

    @model_validator(mode="after")
    def _columns_fit(self) -> _ReleasedPool:
        _same_length(self.cands, {"cand_source": self.cand_source})
        return self


def _smallest_first(rows: list[tuple[str, float]]) -> list[tuple[str, float]]:
    _unrepeated([doc_id for doc_id, _ in rows])
    for (_, nearer), (doc_id, farther) in pairwise(rows):
        if farther < nearer:
            raise ValueError(f"candidate {doc_id}: distance {farther} after {nearer}, expected smallest first")
    return rows


_Distance = Annotated[float, Strict(), AllowInfNan(False)]
_SplitQuery = Annotated[str, Field(pattern="_")]
_RATING_COLUMNS = TypeAdapter(dict[str, _RatedQuery])
_POOLS = TypeAdapter(dict[str, _ReleasedPool])
_RANKED = TypeAdapter(dict[str, Annotated[list[tuple[_Text, _Distance]], AfterValidator(_smallest_first)]])
_SPLITS = TypeAdapter(dict[str, dict[str, Annotated[list[_SplitQuery], AfterValidator(_unrepeated)]]])


def _read_ratings(text: str, faults: Faults) -> dict[str, tuple[RatedPair, ...]]:
    """`test-pid2anns-csfcube-<facet>.json`: by query paper, its pairs in the file's order.

    Assessor `aX` is the one of `relevance_annX`. A rating of -1 was never given and becomes None.
    """
    return {query: rated.pairs() for query, rated in (_parsed(_RATING_COLUMNS, text, faults) or {}).items()}


def _read_pools(text: str, faults: Faults) -> dict[str, dict[str, tuple[str, ...]]]:
    """`test-pid2pool-csfcube.json`: by query paper, its candidates in the order drawn, each with the methods that had
    it; the first one drew it."""
    pools = _parsed(_POOLS, text, faults) or {}
    return {query: dict(zip(pool.cands, pool.cand_source, strict=True)) for query, pool in pools.items()}


def _read_ranked(text: str, faults: Faults) -> dict[str, Ranking]:
    """`...-ranked.json`: by query paper, its candidates, smallest distance first; the score is the negated distance."""
    return {
        query: in_order((doc_id, -distance) for doc_id, distance in rows)
        for query, rows in (_parsed(_RANKED, text, faults) or {}).items()
    }


def _read_splits(text: str, faults: Faults) -> dict[str, dict[str, tuple[str, ...]]]:
    """`evaluation_splits.json`: by facet (or `all`) and fold, the query id of each `<query paper>_<facet>`."""
    return {
        facet: {fold: tuple("-".join(name.rsplit("_", 1)) for name in names) for fold, names in folds.items()}
        for facet, folds in (_parsed(_SPLITS, text, faults) or {}).items()
    }


def _read_paper_types(text: str, faults: Faults) -> dict[str, str]:
    """`queries-release.csv`: `pid,facet,year,title,paper type`, line ends CRLF or LF; the paper type by query id."""
    rows = csv.DictReader(io.StringIO(text, newline=""))
    missing = [column for column in _QUERY_COLUMNS if column not in (rows.fieldnames or ())]
    if missing:
        faults.add(f"no column {', '.join(missing)}, expected {','.join(_QUERY_COLUMNS)}", line=1)
        return {}
    types: dict[str, str] = {}
    for row in rows:
        if None in row or None in row.values():
            faults.add(f"expected {len(_QUERY_COLUMNS)} columns", line=rows.line_num)
            continue
        query_id = f"{unguarded(row['pid'])}-{unguarded(row['facet'])}"
        if query_id in types:
            faults.add(f"query {query_id} is listed twice", line=rows.line_num)
        types[query_id] = unguarded(row["paper type"])
    return types


def _same_length(candidates: Sequence[str], columns: dict[str, Any]) -> None:
    for name, values in columns.items():
        if len(values) != len(candidates):
            raise ValueError(f"{name} has {len(values)} values for {len(candidates)} candidates")


def _parsed(adapter: TypeAdapter[T], text: str, faults: Faults) -> T | None:
    """The content of a JSON file as its model has it; None when it has faults, which are added to `faults`."""

    def unrepeated(members: list[tuple[str, Any]]) -> dict[str, Any]:
        for name, count in Counter(name for name, _ in members).items():
            if count > 1:
                faults.add(f"{name!r} is listed twice in one object")
        return dict(members)

    try:
        return checked(adapter.validate_python, json.loads(text, object_pairs_hook=unrepeated), faults)
    except (ValueError, RecursionError) as error:
        faults.add(json_problem(error), line=error.lineno if isinstance(error, json.JSONDecodeError) else None)
    return None
