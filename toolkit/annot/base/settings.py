"""`annot.toml` as a typed model: its sections with every default of the program, and how the file is read."""

from __future__ import annotations

import json
import logging
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from functools import cache
from itertools import chain
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    field_validator,
    model_validator,
)

from annot.base.errors import SettingsError
from annot.base.names import counted, near, plain_heading
from annot.base.words import ENGLISH_CODE

# ----------------------------------------------------------------------------------------------------------------------
# Base of the sections of `annot.toml`, which refuses values that no person writes.
# ----------------------------------------------------------------------------------------------------------------------


MOST = 1_000_000_000
"""Largest number in a study; work that grows with it still ends."""
MOST_LETTERS = 100_000
"""Most letters of one text."""
CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and line ends, and those that turn the direction of a line."""


class Section(BaseModel):
    """Table of annot.toml; an unknown key is refused, and so are values that no person writes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _as_people_write(cls, value: Any) -> Any:
        for item in _nested_values(value):
            if isinstance(item, str) and (control := CONTROL.search(item)):
                raise ValueError(f"found the control character U+{ord(control[0]):04X}, expected text")
            if isinstance(item, str) and len(item) > MOST_LETTERS:
                raise ValueError(f"found {len(item)} characters, expected at most {MOST_LETTERS}")
            if isinstance(item, int | float) and not abs(item) <= MOST:
                raise ValueError(f"found {item:.3g}, expected at most {MOST}")
        return value


def _nested_values(value: Any) -> Iterator[Any]:
    """Values in a value: itself, or those in a list of it; of a table the keys, since its values are checked by
    themselves.
    """
    if isinstance(value, list | tuple | dict):
        yield from chain.from_iterable(map(_nested_values, value))
    else:
        yield value


# ----------------------------------------------------------------------------------------------------------------------
# Sections of `annot.toml`, with every default of the program.
# ----------------------------------------------------------------------------------------------------------------------


TERM_AND_EMBEDDING_METHODS = (
    *("title_tfidf", "abs_tfidf", "title_cbow200", "abs_cbow200"),
    *("title_tfidfcbow200", "abs_tfidfcbow200"),
)
"""Six built-in pooling methods, under CSFCube's names."""

FileName = Annotated[str, Field(pattern=r"^\w[\w.+-]*$", max_length=100)]
"""Name in file names: letters, digits, and `_ . + -` within."""
LabelName = Annotated[str, Field(pattern=r"^\w[\w-]*$", max_length=30)]
"""Sentence label: letters, digits, `_` and `-`; it is in the screen's style sheet and in lists with commas."""
PaperType = Annotated[str, Field(pattern=r"^\S(.*\S)?$", max_length=60)]
MissingPolicy = Literal["drop", "zero"]
DrawMode = Literal["round-robin", "blocks", "depth"]
Convention = Literal["csfcube", "trec"]
Ties = Literal["order", "expected"]
RELEVANT_FROM = 2
"""Lowest relevant grade of a scale that has it."""
AlphaLevel = Literal["ordinal", "nominal", "interval"]
"""Distance of two grades: in Krippendorff's words the level of measurement."""
MOST_LABELS = 16
"""Number of letters that no other control of the labelling screen has as its key."""


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if len({name.casefold() for name in names}) != len(names):
        raise ValueError("two names are the same, or differ only in capitals")
    return names


Distinct = AfterValidator(_distinct)


class CollectionSettings(Section):
    name: str = "my-collection"
    """A short name for the study, used in file names and on the server."""
    title: str = ""
    """The title of the report, the datasheet and the release. If empty, the name."""
    version: str = "0.1"
    """The version of the collection."""
    language: str = "en"
    """The language of the documents (BCP 47). Sentences and words are cut by its rules."""
    topic_language: str = ""
    """The language of topics that are texts (BCP 47). If empty, that of the documents."""
    description: str = ""
    """A description of the collection, in a sentence or two."""
    creators: tuple[str, ...] = ()
    """Names of people or groups, as they want to be named in public."""
    licence: str = ""
    """Licence of the judgements, and of topics that are texts: an SPDX identifier or a URL."""
    topic_licence: str = ""
    """Licence of topics that come from elsewhere: an SPDX identifier, a URL or words. If empty, that of the
    judgements."""
    text_licence: str = ""
    """Licence of the documents' titles and texts. If empty, a release contains only their ids."""
    url: str = ""
    """The address where the collection can be found."""
    contact: str = ""
    """The person whom assessors should ask, for the letters of `annot invite`: a name, an address or a telephone
    number."""
    keywords: tuple[str, ...] = ()
    """Keywords under which the collection should be found."""
    citation: str = ""
    """A BibTeX entry. If empty, it is made from the other entries."""
    published: date | None = None
    """The date of publication. The only other dates in a release are the days of judging, in the datasheet."""

    @model_validator(mode="after")
    def _titled(self) -> CollectionSettings:
        self.__dict__["title"] = self.title.strip() or self.name
        return self

    @property
    def language_of_topics(self) -> str:
        """Language of topics that are texts."""
        return self.topic_language or self.language


class ScaleSettings(Section):
    names: Annotated[tuple[str, ...], Distinct, Field(min_length=2, max_length=10)] = (
        *("Irrelevant", "Related", "Similar", "Near-identical"),
    )
    """The name of each grade, from grade 0 upward."""

    @property
    def grades(self) -> tuple[int, ...]:
        return tuple(range(len(self.names)))


class LabelSettings(Section):
    """The labels of sentences. The packaged model knows only the five defaults. For others, train a model
    with `annot facets train`.
    """

    names: tuple[LabelName, ...] = ("background", "objective", "method", "result", "other")
    """All sentence labels; each gets a key on the screen. The defaults are those of CSAbstruct (Cohan et al., EMNLP
    2019)."""
    sections: dict[str, tuple[str, ...]] = Field(default={})
    """Headings of structured abstracts, for each label: the sentences of a section have its label. The default labels
    have the usual ones, such as `METHODS`; a line adds further ones."""

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


IdKind = Literal["doi", "pmid", "openalex", "key"]
"""Kind of id; a citation key is the name of a record in its file: BibTeX's key, RIS's ID."""


class CorpusSettings(Section):
    require_title: bool = True
    """Documents without a title are left out and counted. If false, they are kept, as passages often have none."""
    min_sentences: Annotated[int, Field(ge=1)] = 3
    """Abstracts with fewer sentences are left out and counted."""
    max_sentences: Annotated[int, Field(ge=1)] = 20
    """Abstracts with more sentences are left out."""
    max_sentence_tokens: Annotated[int, Field(ge=1)] = 80
    """Abstracts with a longer sentence are left out. In scripts without spaces, two characters count as a word."""
    min_sentence_tokens: Annotated[int, Field(ge=0)] = 4
    """An abstract is left out if all its sentences are shorter than this."""
    ids: Annotated[tuple[IdKind, ...], Distinct, Field(min_length=1)] = ("doi", "pmid", "openalex", "key")
    """Records of libraries and databases have several ids. A paper takes the first that its record has, in this
    order; kinds that are not named follow."""

    may_leave_this_machine: bool | None = None
    """`true`: texts may be sent to a model elsewhere. `annot opinion ask` asks once and notes the answer here."""


class QuerySettings(Section):
    periods: tuple[tuple[int, int], ...] = ()
    """Periods from which query papers are drawn evenly, each with its first and last year. If empty, they follow from
    the years of the corpus."""
    types: Annotated[tuple[PaperType, ...], Distinct, Field(min_length=1)] = (
        *("application", "empirical", "resource", "theoretical", "survey"),
    )
    """The types of papers for the rating sheet; `survey` is never chosen."""
    per_period: Annotated[int, Field(ge=1)] = 20
    """Papers that `annot query sample` draws from each period."""
    min_rating: Annotated[int, Field(ge=1, le=5)] = 3
    """Papers rated lower are never chosen."""
    two_facet_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of the chosen papers with two queries, on different facets."""


class PoolSettings(Section):
    mode: DrawMode = "round-robin"
    """The way pools are drawn. `round-robin`: the methods take turns. `blocks`: each method draws all its documents at
    once, as in CSFCube. `depth`: each pool is the union of the best `per_method` documents of all methods, as in
    TREC."""
    per_method: Annotated[int, Field(ge=1)] = 13
    """New documents that each method adds: 13 gives pools of about 100, 33 of about 250. In mode `depth`, how many of
    its best documents each method adds, whether or not others have them."""
    ranking_depth: Annotated[int, Field(ge=1)] = 500
    """Length of each ranking; no method draws from further down. This is not the depth of the pool."""
    methods: tuple[FileName, ...] = (*TERM_AND_EMBEDDING_METHODS, "specter", "cited")
    """The pooling methods, in the order in which they draw."""
    without: tuple[str, ...] = ()
    """Methods to leave out; the pools record this."""


def _count_or_word(word: str) -> PlainValidator:
    """One fault for a wrong value; a union of types would report one for each type."""

    def check(value: object) -> object:
        if value == word or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
            return value
        raise ValueError(f"expected a whole number of at least 1, or {word!r}")

    return PlainValidator(check)


class WordVectorSettings(Section):
    """Settings of gensim's CBOW. The default of `min_count` keeps the rare words of a small corpus."""

    dimensions: Annotated[int, Field(ge=2)] = 200
    """Length of each vector."""
    window: Annotated[int, Field(ge=1)] = 5
    """Context words on each side."""
    min_count: Annotated[int, Field(ge=1)] = 2
    """Rarer words get no vector."""
    epochs: Annotated[int | Literal["auto"], _count_or_word("auto")] = "auto"
    """Passes over the corpus. `auto`: as many as it takes to read 300 million words, at most 20."""
    seed: int = 1
    """The random seed of the training."""
    workers: Annotated[int | Literal["all"], _count_or_word("all")] = 1
    """Training threads. With one, the same seed gives the same vectors. `all` uses every core and is faster, but the
    vectors differ each time. What was trained is kept, and pools are drawn from it."""
    sample: Annotated[int, Field(ge=0)] = 0
    """Abstracts to read, drawn at random; 0 reads all."""
    trained_in: tuple[str, ...] = ()
    """Versions of the corpus in which word vectors and `lsa` are trained again. All others keep those of the version
    before."""

    @property
    def of_training(self) -> dict[str, Any]:
        """Settings by name that each training has."""
        return self.model_dump(exclude={"trained_in"})


class JudgingSettings(Section):
    language: str = ENGLISH_CODE
    """The language of the screens, the instructions and the letters: `en`, `de`, `es`, `zh`, or the name of a file in
    `templates/words/`. `annot assessor change a1 --language de` sets it for one person."""
    per_pair: Annotated[int, Field(ge=1)] = 2
    """Assessors per pair."""
    assignment: Literal["per-query", "per-pair"] = "per-query"
    """`per-query`: one team of assessors for each query, as in CSFCube. `per-pair`: a team is drawn for each pair."""
    repeats: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    """Share of each assessor's pairs to show a second time, unannounced, to measure how consistent the person is."""
    isolation: Literal["project", "server"] = "project"
    """`project`: one Label Studio, with a project for each person. `server`: a Label Studio for each person."""
    missing: MissingPolicy = "drop"
    """The treatment of a missing judgement in agreement. `drop`: leave it out. `zero`: count it as grade 0."""


class SampleSettings(Section):
    """The draw of `annot plan --sample`. The first sample fixes `across`, `floor` and `unranked`."""

    across: Literal["query", "study"] = "query"
    """`query`: the same share of each query's pool. `study`: the share holds over all pools together."""
    floor: Annotated[float, Field(gt=0, le=1)] = 0.05
    """The smallest probability with which a pair is drawn."""
    unranked: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The probability of a document that no method ranked, because it is cited or was found by hand."""
    predict: Literal["ranker", "none"] = "ranker"
    """The grades that estimates take for pairs that were not drawn. `ranker`: a prediction from the rankings, which
    counts as far as it helps on other topics. `none`: no grades."""
    cheap_label: FileName | None = None
    """A model's opinion that predicts together with the rankings, by its name in `[opinions]`. It is fixed once
    judgements of drawn pairs were pulled, and only what was asked until then counts."""


class TrainingSettings(Section):
    """The agreement that an assessor must reach on gold pairs before judging."""

    per_facet: Annotated[int, Field(ge=1)] = 10
    """Gold pairs per facet."""
    threshold: Annotated[float, Field(ge=-1, le=1)] = 0.6
    """The quadratically weighted kappa with the gold grades that is needed to pass."""
    gate: Literal["estimate", "interval"] = "estimate"
    """The figure that must reach the threshold. `estimate`: kappa itself. `interval`: the lower end of its interval."""
    furthest: Annotated[int, Field(ge=0)] = 5
    """Number of pairs furthest from gold that the report lists for each assessor."""


class AgreementSettings(Section):
    """Intervals over query papers, and how models are compared with people."""

    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """The level of the intervals."""
    epsilon: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """The handicap of people in the test whether a model may replace one of them: 0.2 for experts, 0.15 for
    skilled people, 0.1 for crowd workers."""
    tolerated_favour: Annotated[float, Field(gt=0.015, lt=1)] = 0.1
    """A model is said to agree as people do only if a favour of this size for one run, in the measure by which runs
    are compared, would have been found in 80 of 100 studies. Above 0.015, which a run must gain to be named."""


class ForecastSettings(Section):
    """Forecasts of hours, dates and costs."""

    hourly_rate: Annotated[float, Field(ge=0)] | None = None
    """Cost of an hour of judging. Without it, no costs are shown."""
    currency: str = "EUR"
    """The currency of the costs."""
    dispute_seconds: Annotated[float, Field(gt=0)] | None = None
    """Time to settle a dispute. Without it, the time is estimated from settled disputes."""
    window_days: Annotated[int, Field(ge=1)] = 28
    """The pace is measured over this many past days."""
    fence: Annotated[float, Field(gt=0)] = 3.0
    """A time counts as a break or a slip if it is more than this many robust widths from the median, on a logarithmic
    scale."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """The level of the intervals."""
    draws: Annotated[int, Field(ge=100)] = 1000
    """Random draws for the interval of a forecast."""
    simulations: Annotated[int, Field(ge=10)] = 200
    """Simulated studies for `annot forecast --design`."""


class WatchSettings(Section):
    every: Annotated[int, Field(ge=1)] = 60
    """Seconds between two pulls."""


class AdjudicationSettings(Section):
    ratings: Literal["shown", "hidden"] = "shown"
    """`shown`: adjudicators see the grades of the assessors. `hidden`: they do not."""
    adjudicator_may_assess: bool = False
    """`true`: one person may be both assessor and adjudicator. They settle a pair that they judged only if no other
    adjudicator can."""
    cannot_judge: Literal["final", "second"] = "final"
    """The outcome if an adjudicator cannot judge a pair. `final`: it is closed without a grade. `second`: a second
    adjudicator is asked first."""

    @property
    def asked(self) -> int:
        """Number of adjudicators who must say that they cannot judge a pair before it is given up."""
        return 2 if self.cannot_judge == "second" else 1


class EvaluationSettings(Section):
    relevant_from: Annotated[int, Field(ge=1)] = RELEVANT_FROM
    """The lowest grade that counts as relevant in binary measures; if it is not set, 2, or the highest grade of a scale
    that ends below."""
    tolerated_loss: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """The part of the measure that a later system may lose, in `annot reusability`: its own finds are not judged."""
    error_kinds: tuple[str, ...] = (
        *("salient aspects", "multiple aspects", "domain-specific similarities"),
        *("mechanistic similarities", "context dependence", "qualitative results"),
    )
    """The kinds of error that you can enter in `errors.csv`. The defaults are those of CSFCube (Appendix G)."""


Publishing = Literal["published", "left out"]


class ReleaseSettings(Section):
    """The publication of texts that people wrote. There is no default: whoever publishes a study decides."""

    comments: Publishing | None = None
    """Comments that assessors wrote with their grades: `published` or `left out`."""
    reasons: Publishing | None = None
    """Reasons that adjudicators gave for the final grades: `published` or `left out`."""


class SystemSettings(Section):
    """Settings of the systems that compare sentences."""

    similarity: Literal["", "cosine", "l2"] = ""
    """The comparison of two sentences in all systems: `cosine` or `l2`. If empty, that of each system's paper."""
    temperature: Annotated[float, Field(gt=0)] = 0.5
    """Temperature of the softmax over sentences in Aspire, for queries on a facet."""
    whole_temperature: Annotated[float, Field(gt=0)] = 5000.0
    """The temperature for queries that are whole abstracts. By default, all sentences have nearly the same weight."""
    entropy: Annotated[float, Field(gt=0)] = 20.0
    """Aspire's lambda: the weight of the transport plan's entropy is 1 / lambda."""
    features: FileName = "lsa"
    """The features that SciSearch learns from: `lsa`, or a system for sentences or abstracts."""


class ScreenSettings(Section):
    """The screen for pairs that are judged whole, without a facet. Set this before the first push: pairs that are
    already judged stay as they were shown.
    """

    mark_terms: bool = False
    """`true`: the words of the topic are marked in the documents. Marks draw assessors to these words and away from
    documents that say the same in others, so they are off by default; the datasheet reports them."""
    fold_after: Annotated[int, Field(ge=50)] = 500
    """Words of a document that are shown at once. The rest is folded, and one key shows it."""


class StoreSettings(Section):
    database: str = "annot.db"
    """A file in the study, or a PostgreSQL URL (`postgresql://...`). `ANNOT_DATABASE` takes precedence."""

    @field_validator("database")
    @classmethod
    def _names_a_file(cls, database: str) -> str:
        if "://" not in database and PurePath(database).name in ("", ".."):
            raise ValueError("does not name a file; expected one such as annot.db, or a PostgreSQL URL")
        return database


class MachineSettings(Section):
    """The cores or the cluster on which long work runs. These settings do not change any result."""

    processes: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of cores, as processes or threads. Without it, all available cores are used."""
    cluster: str = ""
    """The address of a Dask scheduler (`tcp://...`) whose workers do the work instead."""
    shards: str = ""
    """A folder at a URL (`s3://...`, or any other that fsspec knows) through which the workers of a cluster get papers
    and index. Leave it empty if they can read the study's folder."""

    @property
    def url(self) -> str:
        """Address where the workers fetch their files; empty if they see the study's folder."""
        return self.shards if self.cluster else ""


# ----------------------------------------------------------------------------------------------------------------------
# Typed model of `annot.toml`; every default of the program is in its sections, once.
#
# Unknown keys are refused, and the nearest known key is named.
# ----------------------------------------------------------------------------------------------------------------------


Kind = Literal["facets", "topics", "questions"]

_DEFAULTS = tomllib.loads(Path(__file__).with_name("kinds.toml").read_text("utf-8"))
OF_KIND: dict[str, dict[str, Any]] = {
    kind: {} if kind == "facets" else _DEFAULTS["texts"] | _DEFAULTS[kind] for kind in get_args(Kind)
}
"""Defaults that differ from those of facets, by kind."""


class OpinionSettings(Section):
    """One model that `annot opinion ask NAME` asks. Once it was asked, model, prompt and sampling are fixed. The other
    settings may change, and `repeats` may rise. A key is read from the environment variable `ANNOT_OPINION_KEY`, never
    from a file.
    """

    url: str = "http://localhost:11434/v1"
    """The address of a server that speaks OpenAI's chat completions, up to and with `/v1`."""
    model: str = ""
    """The model's name, as the server knows it."""
    template: FileName = "opinion.txt.j2"
    """The prompt's template: a file in `templates/` of the study, or the packaged one."""
    examples: Annotated[int, Field(ge=0, le=20)] = 0
    """Gold pairs of each facet that the prompt shows as examples. The model is not asked about them."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    """The temperature of the model's sampling."""
    seed: int = 13
    """The seed of the model's sampling; the second opinion on a pair has the next seed, and so on."""
    repeats: Annotated[int, Field(ge=1, le=20)] = 1
    """Opinions on each pair. With 2 or more, the model's agreement with itself is measured."""
    longest_answer: Annotated[int, Field(ge=10)] = 300
    """Tokens after which the model has to stop."""
    limit_called: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The name of that limit on the server."""
    requests_at_once: Annotated[int, Field(ge=1, le=256)] = 4
    """Requests that wait for an answer at the same time."""
    tokens_a_minute: Annotated[int, Field(ge=100)] | None = None
    """The most tokens to send and receive in a minute. Without it, there is no limit."""
    timeout: Annotated[float, Field(gt=0)] = 120.0
    """Seconds to wait for a whole answer."""
    price_in: Annotated[float, Field(ge=0)] | None = None
    """The price of a million tokens of prompts, in the currency of `[forecast]`."""
    price_out: Annotated[float, Field(ge=0)] | None = None
    """The price of a million tokens of answers."""
    most_money: Annotated[float, Field(gt=0)] | None = None
    """The most that all requests under this name may cost together. Asking stops before it would be exceeded. Hidden
    reasoning that a server counts beyond `longest_answer` can exceed it, by one answer for each connection at most."""
    family: tuple[str, ...] = ()
    """Runs or systems of the model's own family, by name or by a pattern such as `llama_*`: reports mark them."""
    report: bool = False
    """`true`: report, datasheet and release have this opinion although it has not answered all planned pairs. Other
    incomplete opinions count as trials, and only `annot opinion list` and `annot opinion report` show them."""

    @model_validator(mode="after")
    def _can_be_asked(self) -> OpinionSettings:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url: found {self.url!r}, expected an address such as http://localhost:11434/v1")
        if "@" in self.url or parts.query or parts.fragment:
            raise ValueError("url: found a user name, a password or a query in it; ANNOT_OPINION_KEY takes the key")
        if not self.model:
            raise ValueError("model: expected the name of the model, as the server knows it")
        if self.most_money is not None and (self.price_in is None or self.price_out is None):
            raise ValueError("most_money: needs price_in and price_out")
        return self


class PluginSettings(Section):
    """Packages of others that add methods, formats, measures or commands to this study."""

    names: tuple[FileName, ...] = ()
    """Names of the plug-ins that the study uses. They must be installed."""


class Settings(Section):
    """The whole study."""

    seed: Annotated[int, Field(ge=0)] = 13
    """The seed of everything that is drawn at random."""
    kind: Kind = "facets"
    """The kind of judging: `facets` of papers, or `topics` or `questions` as a whole. It selects the packaged
    guidelines and the defaults of some settings. A study with facets and topics is of kind `facets`."""
    collection: CollectionSettings = CollectionSettings()
    scale: ScaleSettings = ScaleSettings()
    labels: LabelSettings = LabelSettings()
    facets: dict[FileName, tuple[str, ...]] = Field(
        default={"background": ("background", "objective"), "method": ("method",), "result": ("result",)}
    )
    """The sentence labels of each facet; `other` belongs to none. A facet without labels is the whole abstract."""
    corpus: CorpusSettings = CorpusSettings()
    queries: QuerySettings = QuerySettings()
    pool: PoolSettings = PoolSettings()
    word_vectors: WordVectorSettings = WordVectorSettings()
    judging: JudgingSettings = JudgingSettings()
    sample: SampleSettings = SampleSettings()
    training: TrainingSettings = TrainingSettings()
    agreement: AgreementSettings = AgreementSettings()
    forecast: ForecastSettings = ForecastSettings()
    watch: WatchSettings = WatchSettings()
    adjudication: AdjudicationSettings = AdjudicationSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    systems: SystemSettings = SystemSettings()
    screen: ScreenSettings = ScreenSettings()
    release: ReleaseSettings = ReleaseSettings()
    opinions: dict[FileName, OpinionSettings] = Field(default={})
    """The models that are asked for an opinion, each under a name."""
    plugins: PluginSettings = PluginSettings()
    store: StoreSettings = StoreSettings()
    machine: MachineSettings = MachineSettings()

    @model_validator(mode="before")
    @classmethod
    def _begin_as_its_kind(cls, document: Any) -> Any:
        return _begun(document) if isinstance(document, dict) else document

    @model_validator(mode="after")
    def _sections_fit(self) -> Settings:
        owner: dict[str, str] = {}
        for facet, labels in self.facets.items():
            for label in labels:
                if label not in self.labels.names:
                    raise ValueError(f"facets.{facet}: unknown label {label!r}; {near(label, self.labels.names)}")
                if label in owner:
                    raise ValueError(f"facets.{facet}: label {label!r} already belongs to {owner[label]!r}")
                owner[label] = facet
        if self.kind != "facets" and self.faceted:
            raise ValueError(f"facets: a study of {self.kind} has none; expected only `whole = []`")
        self._fit_scale(len(self.scale.names) - 1)
        label_of: dict[str, str] = {}
        for label, headings in self.labels.sections.items():
            place = f"labels.sections.{label}"
            if label not in self.labels.names:
                raise ValueError(f"{place}: unknown label {label!r}; {near(label, self.labels.names)}")
            for heading in headings:
                if (other := label_of.setdefault(plain_heading(heading), label)) != label:
                    raise ValueError(f"{place}: heading {heading!r} already belongs to {other!r}")
        if self.sample.cheap_label is not None and self.sample.predict == "none":
            raise ValueError('sample.cheap_label: predicts nothing with `predict = "none"`; delete one line')
        return self

    def _fit_scale(self, highest: int) -> None:
        """Lower the lowest relevant grade to the highest of the scale if it is not set."""
        evaluation = self.evaluation
        if evaluation.relevant_from <= highest:
            return
        if "relevant_from" in evaluation.model_fields_set:
            raise ValueError(
                f"evaluation.relevant_from: found {evaluation.relevant_from}, expected at most {highest}, the highest"
                " grade of scale.names; correct the line, or delete it"
            )
        fitted = evaluation.model_copy(update={"relevant_from": highest})
        fitted.model_fields_set.discard("relevant_from")
        self.__dict__["evaluation"] = fitted

    def with_record(self, names: tuple[str, ...], facets: dict[str, tuple[str, ...]]) -> Settings:
        """Copy with these names of the grades and these facets, which are on record."""
        evaluation = self.evaluation
        if "relevant_from" not in evaluation.model_fields_set:
            evaluation = evaluation.model_copy(update={"relevant_from": min(RELEVANT_FROM, len(names) - 1)})
        scale = self.scale.model_copy(update={"names": names})
        return self.model_copy(update={"scale": scale, "facets": facets, "evaluation": evaluation})

    @property
    def faceted(self) -> bool:
        """True if the study has facets, for which sentences need labels."""
        return any(self.facets.values())

    @property
    def document_word(self) -> str:
        """Word for a document of the corpus: `paper` if facets are judged."""
        return "paper" if self.faceted else "document"

    def facet_of(self, label: str) -> str | None:
        """Facet that `label` belongs to, or None."""
        return next((facet for facet, labels in self.facets.items() if label in labels), None)


def _begun(document: dict[str, Any]) -> dict[str, Any]:
    """Content of annot.toml, with the defaults of its kind if it leaves them out.

    >>> _begun({"kind": "topics", "pool": {"per_method": 9}})["pool"]["methods"][0]
    'abs_bm25'
    """
    kind = document.get("kind")
    usual = OF_KIND.get(kind, {}) if isinstance(kind, str) else {}
    both = {section for section in usual.keys() & document.keys() - {"facets"} if isinstance(document[section], dict)}
    return usual | document | {section: usual[section] | document[section] for section in both}


def settings_of(kind: Kind) -> Settings:
    """Settings that a new study of this kind begins with."""
    return Settings.model_validate({"kind": kind})


RENAMED: dict[str, str] = {}
"""New name of each setting that a released version called otherwise, such as `pool.depth: pool.ranking_depth`.

A released name is read for ever.
"""


def read_settings(path: Path) -> Settings:
    """Read the settings in the TOML file at `path`; a note gives the new line of each renamed setting.

    Raises SettingsError with every fault found.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise SettingsError(f"{path}: no such file", hint="make a study with `annot init`") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    try:
        return Settings.model_validate(_renamed_settings(document, path))
    except ValidationError as error:
        faults = [_fault(entry, document) for entry in error.errors()]
        raise SettingsError(f"{path}: {counted(len(faults), 'fault')}", faults=faults) from None


def _renamed_settings(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """The settings under their present names. Raises SettingsError if one has its old and its new name."""
    for old, new in RENAMED.items():
        (section, name), (new_section, new_name) = old.split("."), new.split(".")
        table = document.get(section)
        if not isinstance(table, dict) or name not in table:
            continue
        target = document.setdefault(new_section, {})
        if new_name in target:
            raise SettingsError(f"{path}: found {old} and {new}, its new name", hint=f"delete the line {name}")
        target[new_name] = table.pop(name)
        if not table:
            del document[section]
        line = f"{new_name} = {json.dumps(target[new_name], ensure_ascii=False)}"
        _note(f"{path}: {old} is called {new} now; write `{line}` in [{new_section}] in its place")
    return document


@cache
def _note(text: str) -> None:
    """Warn once of what a command may read several times."""
    logging.getLogger("annot").warning(text)


def _fault(entry: Any, document: dict[str, Any]) -> str:
    place = ".".join(str(part) for part in entry["loc"]) or "the file"
    if entry["type"] == "extra_forbidden":
        return f"{place}: unknown key; {near(str(entry['loc'][-1]), _known_keys(entry['loc'][:-1]))}"
    value = entry.get("input")
    problem = str(entry["ctx"]["error"]) if entry["type"] == "value_error" else entry["msg"]
    shown = "" if isinstance(value, dict) or "found " in problem else f", found {value!r:.100}"
    return f"{place}: {problem}{shown}"


def _known_keys(location: tuple[Any, ...]) -> list[str]:
    model: type[BaseModel] = Settings
    parts = iter(location)
    for part in parts:
        annotation = model.model_fields[str(part)].annotation
        if get_origin(annotation) is dict:
            annotation = get_args(annotation)[1]
            next(parts, None)
        assert isinstance(annotation, type)
        assert issubclass(annotation, BaseModel)
        model = annotation
    return list(model.model_fields)
