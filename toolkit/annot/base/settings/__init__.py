"""`annot.toml` as a typed model; every default of the program stands in its sections, once.

Unknown keys are refused, and the nearest known key is named.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

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
"""By kind, the defaults that are not those of facets."""


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
    store: sections.StoreSettings = sections.StoreSettings()
    machine: sections.MachineSettings = sections.MachineSettings()

    @model_validator(mode="before")
    @classmethod
    def _begin_as_its_kind(cls, given: Any) -> Any:
        return _begun(given) if isinstance(given, dict) else given

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

    def _fit_scale(self, highest: int) -> None:
        """Where the lowest relevant grade is not set, it is one of the scale's."""
        evaluation = self.evaluation
        if evaluation.relevant_from <= highest:
            return
        if "relevant_from" in evaluation.model_fields_set:
            raise ValueError(
                f"evaluation.relevant_from: found {evaluation.relevant_from}, expected at most {highest}, the highest"
                " grade of scale.names; correct the line, or delete it"
            )
        self.__dict__["evaluation"] = evaluation.model_copy(update={"relevant_from": highest})

    @property
    def faceted(self) -> bool:
        """Whether anything is judged by facets, for which sentences need labels."""
        return any(self.facets.values())

    @property
    def document_word(self) -> str:
        """What a document of the corpus is called: `paper` where facets are judged."""
        return "paper" if self.faceted else "document"

    def facet_of(self, label: str) -> str | None:
        """The facet that `label` belongs to, or None."""
        return next((facet for facet, labels in self.facets.items() if label in labels), None)


def _begun(given: dict[str, Any]) -> dict[str, Any]:
    """What is given in annot.toml, with the defaults of its kind where it gives nothing.

    >>> _begun({"kind": "topics", "pool": {"per_method": 9}})["pool"]["methods"][0]
    'abs_bm25'
    """
    kind = given.get("kind")
    usual = OF_KIND.get(kind, {}) if isinstance(kind, str) else {}
    both = {section for section in usual.keys() & given.keys() - {"facets"} if isinstance(given[section], dict)}
    return usual | given | {section: usual[section] | given[section] for section in both}


def settings_of(kind: Kind) -> Settings:
    """The settings that a new study of this kind begins with."""
    return Settings.model_validate({"kind": kind})


def read_settings(path: Path) -> Settings:
    """The settings in the TOML file at `path`. Raises SettingsError with every fault found."""
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
    found = entry.get("input")
    problem = str(entry["ctx"]["error"]) if entry["type"] == "value_error" else entry["msg"]
    shown = "" if isinstance(found, dict) or "found " in problem else f", found {found!r:.100}"
    return f"{place}: {problem}{shown}"


def _known_keys(location: tuple[Any, ...]) -> list[str]:
    model: type[BaseModel] = Settings
    for part in location:
        annotation = model.model_fields[str(part)].annotation
        assert isinstance(annotation, type)
        assert issubclass(annotation, BaseModel)
        model = annotation
    return list(model.model_fields)
