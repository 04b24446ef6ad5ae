"""Papers from JSON Lines: plain, and in the style of CSFCube and S2ORC."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, AliasPath, BeforeValidator, Field, ValidationError, model_validator

from annot.base.errors import Faults, InputError
from annot.base.names import counted
from annot.base.records import Paper
from annot.formats.cleaning import Cleaned
from annot.formats.json_lines import Strict, in_words, read_objects
from annot.formats.paper_text import PARAGRAPH, paper_of


def read_papers(
    lines: Iterable[str],
    *,
    name: str,
    known_labels: Collection[str],
    changed: list[Cleaned] | None = None,
) -> Iterator[Paper]:
    """The papers of a JSON Lines file, one object a line, as they come.

    Fields, found by their names (the first that is there and not null counts); any others are ignored:

    - id: `paper_id`, `id` or `_id`; a string or an integer, without white space. Required.
    - title: `title`, a string. Required; null is read as an empty title.
    - abstract: `abstract`, a list of sentences or one string (then split by `sentences.split_sentences`). Required;
      null is read as no sentence, so that the filters of the corpus count the paper.
    - year: `year` or `metadata.year`; an integer of at most four digits, also as a string, or null.
    - labels: `labels` or `pred_labels`, one for each sentence of a list; each one of `known_labels`, `background` or
      `background_label`.
      Where `pred_labels_truncated` is true and labels are missing at the end, the paper has no labels.
    - labels of paragraphs: `paragraph_labels`, one for each paragraph of an abstract that is one string.
    - citations: `citations` or `outbound_citations`, a list of ids.
    - document: `part_of` or `metadata.part_of`, of a passage the id of its document; null where it is none.

    Titles and sentences are cleaned (`cleaning.clean`), sentences of which nothing stays and a leading `Abstract.` are
    dropped with their labels; what that changed is put into `changed`.

    Raises InputError after the last line with every fault, `name:17: ...`; that every line is blank is one, too. A
    faulty line yields no paper, so what was yielded counts only once the iterator has ended.
    """
    faults = Faults(name)
    number = 0
    for number, record in read_objects(lines, faults):
        try:
            yield paper_of_record(record, known_labels, changed=changed)
        except InputError as error:
            for fault in error.faults:
                faults.add(fault, line=number)
    if number == 0 and not faults.found:
        faults.add("found no line, or only blank ones, expected one paper per line (JSON Lines)")
        faults.raise_if_any(hint="nothing was kept; is this the right file?")
    faults.raise_if_any(hint="nothing was kept; correct or remove these lines")


def document_of_record(
    record: Mapping[str, Any],
    known_labels: Collection[str],
    *,
    changed: list[Cleaned] | None = None,
    noted: list[tuple[str, str]] | None = None,
    titled: bool = False,
) -> Paper:
    """The document of one record, by the fields of `read_papers`; without a title it has an empty one.

    noted: takes what was left out of a field that is not required, with what was found there; None refuses it. titled:
    refuse a record without a title. Raises InputError with every fault; its message is what the first one has in common
    with others.
    """
    if (parts := _plain_parts(record)) is not None:
        paper_id, title, abstract, year, labels = parts
        more: dict[str, Any] = {"known_labels": known_labels, "citations": (), "changed": changed}
        return paper_of(paper_id, title, abstract, year=year, labels=labels, **more)
    if noted is not None:
        record = _usable(record, noted)
    try:
        return (_PaperLine if titled else _DocumentLine).model_validate(record).paper(known_labels, changed=changed)
    except ValidationError as error:
        raise InputError(_in_general(error), faults=in_words(error)) from None


paper_of_record = partial(document_of_record, titled=True)
"""The paper of one record, which has a title."""


MISSING = frozenset(("", "-", "na", "n/a", "#n/a", "nan", "none", "null"))
"""How programs write that a cell has no value, in any case: R, pandas, Python, spreadsheets."""
_A_YEAR = re.compile(r"(?<!\d)(?:1[4-9]|20)\d\d(?=(?:\d{4})?(?!\d))")
"""A year, alone or in a date such as `2001-05-03` or `20010503`."""


def year_in(texts: Iterable[object]) -> str | None:
    """The year in the first of these texts that has one.

    >>> year_in(["n.d.", "20010503", "1999"])
    '2001'
    """
    return next((match[0] for text in texts if (match := _A_YEAR.search(str(text)))), None)


def _usable(record: Mapping[str, Any], noted: list[tuple[str, str]]) -> Mapping[str, Any]:
    """The record without a year and without citations that cannot be used; a date gives its year."""
    fields = dict(record)
    year = _digits(record.get("year"))
    if year is not None and (not isinstance(year, int) or isinstance(year, bool) or abs(year) >= _YEARS):
        known = year_in([year])
        fields["year"] = int(known) if known else None
        if not known and str(year).strip().lower() not in MISSING:
            noted.append(("a year that cannot be used was left out", str(year)))
    for name in ("citations", "outbound_citations"):
        cited = record.get(name)
        ids = map(number_as_text, cited) if isinstance(cited, list) else ()
        usable = [paper_id for paper_id in ids if isinstance(paper_id, str) and _is_id(paper_id)]
        if cited is not None and (not isinstance(cited, list) or len(usable) < len(cited)):
            fields[name] = usable
            noted.append(("citations that cannot be used were left out", str(cited)))
    return fields


def _plain_parts(record: Mapping[str, Any]) -> tuple[str, str, str | list[str], int | None, list[str] | None] | None:
    """Id, title, abstract, year and labels of paragraphs of a record with an id, and no other field that means
    something.

    Most records are so, and need no model, which takes as long as all else that is done to them; None of any other.
    """
    if not _SELDOM.isdisjoint(record):
        return None
    paper_id, title, abstract, labels = map(record.get, ("paper_id", "title", "abstract", "paragraph_labels"))
    if title is None and "title" in record:
        title = ""
    if abstract is None and "abstract" in record:
        abstract = ""
    if not (isinstance(paper_id, str) and isinstance(title, str) and isinstance(abstract, str) and _is_id(paper_id)):
        return None
    year = _digits(record.get("year"))
    if year is not None and (not isinstance(year, int) or isinstance(year, bool) or abs(year) >= _YEARS):
        return None
    if labels is not None and not (
        isinstance(labels, list)
        and all(isinstance(label, str) for label in labels)
        and abstract
        and len(labels) == len(PARAGRAPH.split(abstract))
    ):
        return None
    return paper_id, title, abstract or [], year, labels


def _in_general(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    if not fault["loc"]:
        return "labels do not fit the sentences"
    return f"no field {fault['loc'][-1]!r}" if fault["type"] == "missing" else f"{fault['loc'][0]} cannot be used"


def _is_id(text: str) -> bool:
    return bool(text) and text.isprintable() and " " not in text


def _without_white_space(text: str) -> str:
    if not _is_id(text):
        raise ValueError(f"found {text!r}, expected an id without white space")
    return text


def _digits(value: object) -> object:
    return int(value) if isinstance(value, str) and re.fullmatch("-?[0-9]{1,4}", value) else value


def number_as_text(value: object) -> object:
    """An id that came as a whole number, as text; anything else as it is."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_Id = Annotated[str, BeforeValidator(number_as_text), AfterValidator(_without_white_space)]
_YEARS = 10_000
_Year = Annotated[int, Field(gt=-_YEARS, lt=_YEARS)]
_SELDOM = {"metadata", "labels", "pred_labels", "citations", "outbound_citations", "part_of"}
"""Fields that mean something, and that few records have."""


class _DocumentLine(Strict):
    paper_id: _Id = Field(validation_alias=AliasChoices("paper_id", "id", "_id"))
    title: str = ""
    abstract: list[str]
    text: str = ""
    """The abstract where it comes as one string."""
    year: Annotated[_Year | None, BeforeValidator(_digits)] = Field(
        None, validation_alias=AliasChoices("year", AliasPath("metadata", "year"))
    )
    labels: list[str] | None = Field(None, validation_alias=AliasChoices("labels", "pred_labels"))
    labels_truncated: Any = Field(None, validation_alias="pred_labels_truncated")
    paragraph_labels: list[str] | None = None
    citations: list[_Id] = Field([], validation_alias=AliasChoices("citations", "outbound_citations"))
    part_of: _Id | None = Field(None, validation_alias=AliasChoices("part_of", AliasPath("metadata", "part_of")))

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, record: dict[str, Any]) -> dict[str, Any]:
        empty = {"title": "", "abstract": []}
        known = {name: value for name, value in record.items() if value is not None and name != "text"}
        known |= {name: value for name, value in empty.items() if name in record and not record[name]}
        if isinstance(known.get("abstract"), str):
            known |= {"text": known["abstract"], "abstract": []}
        return known

    @model_validator(mode="after")
    def _one_label_a_paragraph(self) -> _DocumentLine:
        if self.paragraph_labels is not None:
            if not self.text:
                raise ValueError("paragraph_labels need `abstract` as one string")
            paragraphs = len(PARAGRAPH.split(self.text))
            if len(self.paragraph_labels) != paragraphs:
                labels = counted(len(self.paragraph_labels), "label")
                raise ValueError(f"{labels} for {counted(paragraphs, 'paragraph')}")
        return self

    @model_validator(mode="after")
    def _one_label_a_sentence(self) -> _DocumentLine:
        if self.labels is None:
            return self
        if self.text:
            raise ValueError("labels need `abstract` as a list of sentences, found one string")
        if self.labels_truncated is True and len(self.labels) < len(self.abstract):
            self.labels = None
        elif len(self.labels) != len(self.abstract):
            raise ValueError(f"{counted(len(self.labels), 'label')} for {counted(len(self.abstract), 'sentence')}")
        return self

    def paper(self, known_labels: Collection[str], *, changed: list[Cleaned] | None) -> Paper:
        return paper_of(
            self.paper_id,
            self.title,
            self.text or self.abstract,
            year=self.year,
            labels=self.labels if self.paragraph_labels is None else self.paragraph_labels,
            known_labels=known_labels,
            citations=self.citations,
            part_of=self.part_of,
            changed=changed,
        )


class _PaperLine(_DocumentLine):
    title: str
