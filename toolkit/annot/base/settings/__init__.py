"""Typed model of `annot.toml`; every default of the program is in its sections, once.

Unknown keys are refused, and the nearest known key is named.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError, model_validator

from annot.base.errors import SettingsError
from annot.base.names import counted, near, plain_heading
from annot.base.settings import sections
from annot.base.settings.section import Section

Kind = Literal["facets", "topics", "questions"]

_TEXTS: dict[str, Any] = {
    "facets": {"whole": []},
    # Short documents are let in, and long ones: there is nothing to label in them. Passages often have no title.
    "corpus": {
        **{"require_title": False, "min_sentences": 1, "max_sentences": 1000},
        **{"max_sentence_tokens": 1000, "min_sentence_tokens": 1},
    },
    # Four methods that rank a text and need no title; 25 each give pools of about 100, as the defaults of facets do.
    "pool": {"per_method": 25, "methods": ["abs_bm25", "abs_tfidf", "abs_tfidfcbow200", "lsa"]},
}
_ERROR_KINDS = ["other words", "ambiguous word", "part of the need", "mentioned in passing", "background knowledge"]

OF_KIND: dict[str, dict[str, Any]] = {
    "facets": {},
    # TREC's ad-hoc tracks count every grade above 0 as relevant.
    "topics": _TEXTS
    | {
        "scale": {"names": ["Not relevant", "Relevant", "Highly relevant"]},
        "evaluation": {"relevant_from": 1, "error_kinds": _ERROR_KINDS},
    },
    # The four grades of TREC's Deep Learning track (Craswell et al., 2020), in our own words; from 2 on relevant.
    "questions": _TEXTS
    | {
        "scale": {"names": ["Unrelated", "Related", "Partial answer", "Full answer"]},
        "evaluation": {"error_kinds": _ERROR_KINDS},
    },
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
    template: sections.FileName = "opinion.txt.j2"
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
    """What the server calls that limit."""
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
    """Whether report, datasheet and release have this opinion although it has not answered all planned pairs. Other
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


class Settings(Section):
    """The whole study."""

    seed: Annotated[int, Field(ge=0)] = 13
    """The seed of everything that is drawn at random."""
    kind: Kind = "facets"
    """What people judge: `facets` of papers, or `topics` or `questions` as a whole. It selects the packaged
    guidelines and the defaults of some settings. A study with facets and topics is of kind `facets`."""
    collection: sections.CollectionSettings = sections.CollectionSettings()
    scale: sections.ScaleSettings = sections.ScaleSettings()
    labels: sections.LabelSettings = sections.LabelSettings()
    facets: dict[sections.FileName, tuple[str, ...]] = Field(
        default={"background": ("background", "objective"), "method": ("method",), "result": ("result",)}
    )
    """The sentence labels of each facet; `other` belongs to none. A facet without labels is the whole abstract."""
    corpus: sections.CorpusSettings = sections.CorpusSettings()
    queries: sections.QuerySettings = sections.QuerySettings()
    pool: sections.PoolSettings = sections.PoolSettings()
    word_vectors: sections.WordVectorSettings = sections.WordVectorSettings()
    judging: sections.JudgingSettings = sections.JudgingSettings()
    sample: sections.SampleSettings = sections.SampleSettings()
    training: sections.TrainingSettings = sections.TrainingSettings()
    agreement: sections.AgreementSettings = sections.AgreementSettings()
    forecast: sections.ForecastSettings = sections.ForecastSettings()
    watch: sections.WatchSettings = sections.WatchSettings()
    adjudication: sections.AdjudicationSettings = sections.AdjudicationSettings()
    evaluation: sections.EvaluationSettings = sections.EvaluationSettings()
    systems: sections.SystemSettings = sections.SystemSettings()
    screen: sections.ScreenSettings = sections.ScreenSettings()
    release: sections.ReleaseSettings = sections.ReleaseSettings()
    opinions: dict[sections.FileName, OpinionSettings] = Field(default={})
    """The models that are asked for an opinion, each under a name."""
    store: sections.StoreSettings = sections.StoreSettings()
    machine: sections.MachineSettings = sections.MachineSettings()

    @model_validator(mode="before")
    @classmethod
    def _begin_as_its_kind(cls, document: Any) -> Any:
        return _begun(document) if isinstance(document, dict) else document

    @model_validator(mode="after")
    def _facets_fit(self) -> Settings:
        owner: dict[str, str] = {}
        for facet, labels in self.facets.items():
            for label in labels:
                if label not in self.labels.names:
                    raise ValueError(f"facets.{facet}: unknown label {label!r}; {near(label, self.labels.names)}")
                if label in owner:
                    raise ValueError(f"facets.{facet}: label {label!r} already belongs to {owner[label]!r}")
                owner[label] = facet
        if self.kind != "facets" and self.faceted:
            raise ValueError(
                f"facets: a study of {self.kind} has none; expected only `whole = []`, or no line with `kind`"
            )
        self._fit_scale(len(self.scale.names) - 1)
        return self

    @model_validator(mode="after")
    def _headings_fit(self) -> Settings:
        owner: dict[str, str] = {}
        for label, headings in self.labels.sections.items():
            place = f"labels.sections.{label}"
            if label not in self.labels.names:
                raise ValueError(f"{place}: unknown label {label!r}; {near(label, self.labels.names)}")
            for heading in headings:
                if (other := owner.setdefault(plain_heading(heading), label)) != label:
                    raise ValueError(f"{place}: heading {heading!r} already belongs to {other!r}")
        return self

    @model_validator(mode="after")
    def _cheap_label_predicts(self) -> Settings:
        if self.sample.cheap_label is not None and self.sample.predict == "none":
            raise ValueError(
                'sample.cheap_label: predicts nothing with `predict = "none"`; delete one of the two lines'
            )
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
            evaluation = evaluation.model_copy(update={"relevant_from": min(sections.RELEVANT_FROM, len(names) - 1)})
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


def read_settings(path: Path) -> Settings:
    """Read the settings in the TOML file at `path`. Raises SettingsError with every fault found."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise SettingsError(f"{path}: no such file", hint="make a study with `annot init`") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    try:
        return Settings.model_validate(document)
    except ValidationError as error:
        faults = [_fault(entry, document) for entry in error.errors()]
        raise SettingsError(f"{path}: {counted(len(faults), 'fault')}", faults=faults) from None


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
