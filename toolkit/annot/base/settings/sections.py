"""The sections of `annot.toml`, with every default of the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import chain
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, field_validator

TERM_AND_EMBEDDING_METHODS = (
    *("title_tfidf", "abs_tfidf", "title_cbow200", "abs_cbow200"),
    *("title_tfidfcbow200", "abs_tfidfcbow200"),
)
"""The six built-in pooling methods, under CSFCube's names."""

FileName = Annotated[str, Field(pattern=r"^\w[\w.+-]*$", max_length=100)]
"""What files are named after: letters, digits, and `_ . + -` within."""
LabelName = Annotated[str, Field(pattern=r"^\w[\w-]*$", max_length=30)]
"""A sentence label: letters, digits, `_` and `-`; it stands in the screen's style sheet and in lists with commas."""
PaperType = Annotated[str, Field(pattern=r"^\S(.*\S)?$", max_length=60)]
MissingPolicy = Literal["drop", "zero"]
DrawMode = Literal["round-robin", "blocks", "depth"]


MOST = 1_000_000_000
"""No number of a study is larger, and work that grows with one still ends."""
MOST_LETTERS = 100_000
"""Of one text."""
CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and line ends, and those that turn the direction of a line."""
MOST_LABELS = 16
"""The letters that no other control of the labelling screen has as its key."""


class Section(BaseModel):
    """A table of annot.toml; an unknown key is refused, and so is what no person writes into one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _as_people_write(cls, value: Any) -> Any:
        for found in _within(value):
            if isinstance(found, str) and (control := CONTROL.search(found)):
                raise ValueError(f"found the control character U+{ord(control[0]):04X}, expected text")
            if isinstance(found, str) and len(found) > MOST_LETTERS:
                raise ValueError(f"found {len(found)} characters, expected at most {MOST_LETTERS}")
            if isinstance(found, int | float) and not abs(found) <= MOST:
                raise ValueError(f"found {found:.3g}, expected at most {MOST}")
        return value


def _within(value: Any) -> Iterator[Any]:
    """The value, or what is in a list of it; of a table the keys, since what they hold is looked at by itself."""
    if isinstance(value, list | tuple | dict):
        yield from chain.from_iterable(map(_within, value))
    else:
        yield value


class CollectionSettings(Section):
    name: str = "my-collection"
    """The short name of the study; file names and the server use it."""
    title: str = "A test collection"
    """The title of the report, the datasheet and the release."""
    version: str = "0.1"
    """The version of the collection."""
    language: str = "en"
    """The language of the abstracts (BCP 47)."""
    description: str = ""
    """What the collection is, in a sentence or two."""
    creators: tuple[str, ...] = ()
    """Names of people or groups, as they want to be named in public."""
    licence: str = ""
    """Of the judgements: an SPDX identifier or a URL."""
    text_licence: str = ""
    """Of titles and abstracts; while it is empty, a release holds their ids only."""
    url: str = ""
    """Where the collection is found."""
    contact: str = ""
    """Whom assessors ask, in the invitations of `annot invite`: a name, an address, a telephone number."""
    keywords: tuple[str, ...] = ()
    """Words under which it shall be found."""
    citation: str = ""
    """BibTeX; while it is empty, the citation is made of the other entries."""
    published: date | None = None
    """The only date that a release carries."""


class ScaleSettings(Section):
    names: tuple[str, ...] = ("Irrelevant", "Related", "Similar", "Near-identical")
    """The name of each grade, from grade 0 upward."""

    @field_validator("names")
    @classmethod
    def _at_least_two(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not 2 <= len(names) <= 10:
            raise ValueError("a scale has 2 to 10 grades (one digit key each)")
        if len(set(names)) != len(names):
            raise ValueError("two grades have the same name")
        return names

    @property
    def grades(self) -> tuple[int, ...]:
        return tuple(range(len(self.names)))


class LabelSettings(Section):
    """The labels of the sentences. The shipped model knows the five of the default only: for others, train one with
    `annot facets train`."""

    names: tuple[LabelName, ...] = ("background", "objective", "method", "result", "other")
    """Every label that a sentence may have; each gets a key on the screen. The default is CSAbstruct's (Cohan et al.,
    EMNLP 2019)."""

    @field_validator("names")
    @classmethod
    def _told_apart(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not 2 <= len(names) <= MOST_LABELS:
            raise ValueError(f"a study has 2 to {MOST_LABELS} labels (one letter key each)")
        for position, name in enumerate(names):
            for other in names[:position] + names[position + 1 :]:
                if name.lower().endswith(other.lower()):
                    raise ValueError(f"label {name!r} is or ends with label {other!r}: the screen would confuse them")
        return names


class CorpusSettings(Section):
    min_sentences: Annotated[int, Field(ge=1)] = 3
    """An abstract with fewer sentences is left out, and counted."""
    max_sentences: Annotated[int, Field(ge=1)] = 20
    """An abstract with more sentences is left out."""
    max_sentence_tokens: Annotated[int, Field(ge=1)] = 80
    """An abstract with a longer sentence is left out."""
    min_sentence_tokens: Annotated[int, Field(ge=0)] = 4
    """An abstract is rejected when all its sentences are shorter than this."""


class QuerySettings(Section):
    periods: tuple[tuple[int, int], ...] = ()
    """Years, first and last, from which query papers are drawn evenly; without any they follow from the corpus."""
    types: Annotated[tuple[PaperType, ...], Field(min_length=1)] = (
        *("application", "empirical", "resource", "theoretical", "survey"),
    )
    """The types that the rating sheet may give a paper; one called `survey` is never chosen."""
    per_period: Annotated[int, Field(ge=1)] = 20
    """Papers that `annot query sample` draws from each period."""
    min_rating: Annotated[int, Field(ge=1, le=5)] = 3
    """Papers rated lower are never chosen."""
    two_facet_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The share of the chosen papers that gives two queries, of different facets."""

    @field_validator("types")
    @classmethod
    def _types_differ(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        if len({name.lower() for name in types}) != len(types):
            raise ValueError("two types differ only in capitals")
        return types


class PoolSettings(Section):
    mode: DrawMode = "round-robin"
    """How pools are drawn: the methods take turns; each takes its whole quota at once (`blocks`, as CSFCube); or the
    union of the best `per_method` of each (`depth`, as TREC)."""
    per_method: Annotated[int, Field(ge=1)] = 13
    """New documents that each method adds: 13 gives pools of about 100, 33 of about 250. In mode `depth`, the
    depth of the pool: how many of its best each method adds, whether others have them or not."""
    ranking_depth: Annotated[int, Field(ge=1)] = 500
    """Documents that each ranking holds; no method draws from further down. It is not the depth of the pool."""
    methods: tuple[FileName, ...] = (*TERM_AND_EMBEDDING_METHODS, "specter", "cited")
    """The pooling methods, in the order in which they draw."""
    without: tuple[str, ...] = ()
    """Methods left out, on the record."""


def _at_least_one_or(word: str) -> PlainValidator:
    """One fault for a wrong value, where a union of types would tell one for each of them."""

    def check(value: object) -> object:
        if value == word or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
            return value
        raise ValueError(f"expected a whole number of at least 1, or {word!r}")

    return PlainValidator(check)


class WordVectorSettings(Section):
    """gensim's CBOW. The minimum count follows the size of the corpus: rare words of a small corpus still count."""

    dimensions: Annotated[int, Field(ge=2)] = 200
    """Numbers in a vector."""
    window: Annotated[int, Field(ge=1)] = 5
    """Words looked at on each side."""
    min_count: Annotated[int, Field(ge=1)] = 2
    """A rarer word gets no vector."""
    epochs: Annotated[int | Literal["auto"], _at_least_one_or("auto")] = "auto"
    """Passes over the corpus; `auto` takes as many as read 300 million running words, 20 at the most."""
    seed: int = 1
    """What the training draws by chance follows from it."""
    workers: Annotated[int | Literal["all"], _at_least_one_or("all")] = 1
    """Threads of the training. One gives the same vectors from the same seed; `all`, one a core, is faster, and no two
    trainings agree: what was trained is kept, and pools are drawn from that."""
    sample: Annotated[int, Field(ge=0)] = 0
    """Abstracts that are read, drawn by the seed; 0 reads all."""


class JudgingSettings(Section):
    per_pair: Annotated[int, Field(ge=1)] = 2
    """Assessors of each pair."""
    assignment: Literal["per-query", "per-pair"] = "per-query"
    """`per-query`: one fixed pair of assessors per query (as CSFCube); `per-pair`: drawn for each pair."""
    repeats: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    """The share of an assessor's pairs that are asked again, unannounced: what one person's grades are worth."""
    isolation: Literal["project", "server"] = "project"
    """`project`: one Label Studio, with a project for each person; `server`: a Label Studio for each person."""
    missing: MissingPolicy = "drop"
    """How agreement treats a judgement that is missing: it is left out of its pair, or counts as grade 0."""


class TrainingSettings(Section):
    """What an assessor must reach on gold pairs before judging."""

    per_facet: Annotated[int, Field(ge=1)] = 10
    """Gold pairs of each facet."""
    threshold: Annotated[float, Field(ge=-1, le=1)] = 0.6
    """The quadratically weighted kappa with the gold grades that passes."""
    gate: Literal["estimate", "interval"] = "estimate"
    """What must reach the threshold: the figure itself, or the lower end of its interval."""
    furthest: Annotated[int, Field(ge=0)] = 5
    """Pairs furthest from gold that the report names for each assessor."""


class AgreementSettings(Section):
    """The intervals over query papers."""

    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """The level of the intervals."""


class ForecastSettings(Section):
    """What the hours, dates and costs still to come are reckoned with."""

    hourly_rate: Annotated[float, Field(ge=0)] | None = None
    """What an hour of judging costs; None when it is not known."""
    currency: str = "EUR"
    """The currency of the costs."""
    dispute_seconds: Annotated[float, Field(gt=0)] | None = None
    """What settling one dispute takes; None learns it from the adjudications there are."""
    window_days: Annotated[int, Field(ge=1)] = 28
    """The pace is that of so many days before now."""
    fence: Annotated[float, Field(gt=0)] = 3.0
    """Widths of the log times from their median beyond which a time is idling or a slip."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """The level of the intervals."""
    draws: Annotated[int, Field(ge=100)] = 1000
    """Draws behind the interval of a forecast."""
    simulations: Annotated[int, Field(ge=10)] = 200
    """Studies that `annot forecast --design` plays through."""


class WatchSettings(Section):
    every: Annotated[int, Field(ge=1)] = 60
    """Seconds between two looks at the server."""


class AdjudicationSettings(Section):
    ratings: Literal["shown", "hidden"] = "shown"
    """Whether the adjudicator sees the grades that were given."""
    adjudicator_may_assess: bool = False
    """Whether somebody may be assessor and adjudicator at once; never of the same pair."""
    cannot_judge: Literal["final", "second"] = "final"
    """What an adjudicator's "cannot judge" does: it ends the pair, which nobody can judge then, or a second adjudicator
    is asked first."""

    @property
    def asked(self) -> int:
        """How many adjudicators must say that they cannot judge a pair before it is given up."""
        return 2 if self.cannot_judge == "second" else 1


class EvaluationSettings(Section):
    relevant_from: Annotated[int, Field(ge=1)] = 2
    """The smallest grade that counts as relevant in binary measures."""
    tolerated_loss: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """Of the measure, for `annot reusability`: what a system that came later may lose because its own finds are not
    judged."""
    error_kinds: tuple[str, ...] = (
        *("salient aspects", "multiple aspects", "domain-specific similarities"),
        *("mechanistic similarities", "context dependence", "qualitative results"),
    )
    """What the lead may call an error in `errors.csv`. The default is CSFCube's (Appendix G)."""


Publishing = Literal["published", "left out"]


class ReleaseSettings(Section):
    """What people wrote in words of their own. Neither has a default: whoever publishes a study decides."""

    comments: Publishing | None = None
    """What assessors wrote beside their grades."""
    reasons: Publishing | None = None
    """What adjudicators wrote beside the final grades."""


class SystemSettings(Section):
    """What the systems that compare sentences depend on."""

    similarity: Literal["", "cosine", "l2"] = ""
    """How systems of sentences compare two of them; empty is each system's own, that of its paper."""
    temperature: Annotated[float, Field(gt=0)] = 0.5
    """Of the softmax that weighs sentences in Aspire's transport and attention, where a query is a facet."""
    whole_temperature: Annotated[float, Field(gt=0)] = 5000.0
    """The same where a query is a whole abstract: all sentences weigh alike."""
    entropy: Annotated[float, Field(gt=0)] = 20.0
    """Aspire's lambda: the entropy of a plan weighs 1 / lambda."""
    features: Annotated[tuple[FileName, ...], Field(min_length=1)] = ("lsa",)
    """What SciSearch learns from: `lsa`, or systems of sentences or abstracts. Of several it takes the best for each
    facet, on training queries."""


class StoreSettings(Section):
    database: str = "annot.db"
    """A file in the workspace, or a PostgreSQL URL (`postgresql://...`). `ANNOT_DATABASE` wins over it."""

    @field_validator("database")
    @classmethod
    def _names_a_file(cls, database: str) -> str:
        if "://" not in database and PurePath(database).name in ("", ".."):
            raise ValueError("does not name a file; expected one such as annot.db, or a PostgreSQL URL")
        return database


class MachineSettings(Section):
    """Where long work runs. It changes no result."""

    processes: Annotated[int, Field(ge=1)] | None = None
    """Cores at work at most, as processes or threads; None takes every core that the program may use."""
    cluster: str = ""
    """The address of a Dask scheduler (`tcp://...`), whose workers do the work instead."""
    shards: str = ""
    """A folder at a URL (`s3://...`, or any that fsspec knows) through which the cluster's workers get the papers and
    the index; empty where they see the study's folder."""

    @property
    def url(self) -> str:
        """Where the workers fetch what they need; empty where they see the study's folder."""
        return self.shards if self.cluster else ""
