"""Papers from their raw parts, and from JSON Lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, AliasPath, BeforeValidator, Field, ValidationError, model_validator

from annot.base.errors import Faults, InputError
from annot.base.names import counted, near
from annot.base.records import Paper
from annot.formats.cleaning import MISSING, PARAGRAPH, CleanedPaper, clean, cleaned, is_plain, without_heading
from annot.formats.input_files import Strict, in_words, read_objects
from annot.formats.paper_text import ENGLISH, known_language, language_code, language_name, language_of, sentences_in

# ----------------------------------------------------------------------------------------------------------------------
# One paper from its raw parts: labels named as ours, text cleaned, an abstract in one string split.
# ----------------------------------------------------------------------------------------------------------------------


def paper_of(
    paper_id: str,
    title: str,
    abstract: str | Sequence[str],
    *,
    year: int | None,
    labels: Sequence[str] | None,
    known_labels: Collection[str],
    citations: Iterable[str],
    language: str = ENGLISH,
    stated: str | None = None,
    part_of: str | None = None,
) -> Paper:
    """The paper with these parts.

    `labels` has the length of the list `abstract`, or has one for each paragraph of one string. Each is one of
    `known_labels`, or one with `_label` behind it, as CSFCube's are. The title and the sentences are cleaned, a heading
    `Abstract.` at the beginning goes, and empty sentences are left out with their labels. Citations keep their order;
    repeated ones and the paper itself go.
    A document that is part of itself is no passage. language: of the collection. stated: by the record, and kept with
    the paper if its text agrees. An abstract in one string is cut by the rules of its language.
    Raises InputError with a fault for each unknown label, and for an abstract that cannot be cut into sentences.
    """
    of_sentences = None if labels is None else _known(labels, known_labels)
    if isinstance(abstract, str):
        paragraphs = [clean(paragraph) for paragraph in PARAGRAPH.split(abstract)]
        _, paragraphs[0] = without_heading(paragraphs[0])
        used = language_of(" ".join(paragraphs), stated or language)
        parts = [sentences_in(paragraph, used) for paragraph in paragraphs]
        sentences = list(chain.from_iterable(parts))
        if of_sentences is not None:
            of_sentences = [label for label, part in zip(of_sentences, parts, strict=True) for _ in part]
    else:
        # One look at all sentences is faster than one at each.
        sentences = list(abstract if is_plain(" ".join(abstract)) else map(clean, abstract))
        if sentences:
            _, sentences[0] = without_heading(sentences[0])
        of_sentences = None if of_sentences is None else list(compress(of_sentences, sentences))
        sentences = list(filter(None, sentences))
        used = language_of(" ".join(sentences), stated) if stated else ""
    return Paper(
        paper_id=paper_id,
        title=clean(title),
        sentences=tuple(sentences),
        year=year,
        labels=None if of_sentences is None else tuple(of_sentences),
        citations=tuple(cited for cited in dict.fromkeys(citations) if cited != paper_id),
        part_of=None if part_of == paper_id else part_of,
        language=used if stated and used != language_code(language) else None,
    )


def _known(labels: Sequence[str], known_labels: Collection[str]) -> list[str]:
    bare = [label if label in known_labels else label.removesuffix("_label") for label in labels]
    unknown = dict.fromkeys(label for label in bare if label not in known_labels)
    if unknown:
        raise InputError(
            "unknown sentence label",
            faults=[f"unknown sentence label {label!r}: {near(label, known_labels)}" for label in unknown],
        )
    return bare


# ----------------------------------------------------------------------------------------------------------------------
# Papers from JSON Lines: plain, and in the style of CSFCube and S2ORC.
# ----------------------------------------------------------------------------------------------------------------------


def read_papers(
    lines: Iterable[str],
    *,
    name: str,
    known_labels: Collection[str],
    changed: list[CleanedPaper] | None = None,
) -> Iterator[Paper]:
    """The papers of a JSON Lines file, one object a line, as they come.

    Fields, found by their names (the first that is there and not null counts); any others are ignored:

    - id: `paper_id`, `id` or `_id`; a string or an integer, without white space. Required.
    - title: `title`, a string. Required; null is read as an empty title.
    - abstract: `abstract`, a list of sentences or one string (then split by `sentences_in`). Required;
      null is read as no sentence, so that the filters of the corpus count the paper.
    - language: `language`, `lang` or `metadata.language`, that of the abstract, as a code or an English name.
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
            paper = paper_of_record(record, known_labels)
        except InputError as error:
            for fault in error.faults:
                faults.add(fault, line=number)
            continue
        if changed is not None:
            changed += filter(None, [cleaned(paper, record.get("title") or "", record.get("abstract") or "")])
        yield paper
    if number == 0 and not faults.found:
        faults.add("found no line, or only blank ones, expected one paper per line (JSON Lines)")
        faults.raise_if_any(hint="nothing was kept; is this the right file?")
    faults.raise_if_any(hint="nothing was kept; correct or remove these lines")


def document_of_record(
    record: Mapping[str, Any],
    known_labels: Collection[str],
    *,
    noted: list[tuple[str, str]] | None = None,
    titled: bool = False,
    language: str = ENGLISH,
) -> Paper:
    """The document of one record, by the fields of `read_papers`; without a title it has an empty one.

    noted: takes what was left out of a field that is not required, with what was found there; None refuses it. titled:
    refuse a record without a title. language: of a record that states none. Raises InputError with every fault; its
    message is what the first one has in common with others.
    """
    if noted is not None:
        record = _usable(record, noted)
    try:
        line = (_PaperLine if titled else _DocumentLine).model_validate(record)
    except ValidationError as error:
        raise InputError(_general_fault(error), faults=in_words(error)) from None
    paper = line.paper(known_labels, language)
    if noted is not None and line.text:
        used = language_of(" ".join(paper.sentences), line.language or language)
        if used != language_code(language):
            note = f"sentences were cut as {language_name(used)}, not as {language_name(language_code(language))}"
            noted.append((note, line.text))
    return paper


paper_of_record = partial(document_of_record, titled=True)
"""The paper of one record, which has a title."""


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
    if year is not None and (not isinstance(year, int) or isinstance(year, bool) or abs(year) >= YEARS):
        known_year = year_in([year])
        fields["year"] = int(known_year) if known_year else None
        if not known_year and str(year).strip().lower() not in MISSING:
            noted.append(("a year that cannot be used was left out", str(year)))
    for name in ("citations", "outbound_citations"):
        cited = record.get(name)
        ids = map(number_as_text, cited) if isinstance(cited, list) else ()
        usable = [paper_id for paper_id in ids if isinstance(paper_id, str) and _is_id(paper_id)]
        if cited is not None and (not isinstance(cited, list) or len(usable) < len(cited)):
            fields[name] = usable
            noted.append(("citations that cannot be used were left out", str(cited)))
    return fields


def _general_fault(error: ValidationError) -> str:
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


_PaperId = Annotated[str, BeforeValidator(number_as_text), AfterValidator(_without_white_space)]
YEARS = 10_000
_Year = Annotated[int, Field(gt=-YEARS, lt=YEARS)]


class _DocumentLine(Strict):
    paper_id: _PaperId = Field(validation_alias=AliasChoices("paper_id", "id", "_id"))
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
    citations: list[_PaperId] = Field(
        default_factory=list, validation_alias=AliasChoices("citations", "outbound_citations")
    )
    language: Annotated[str | None, BeforeValidator(known_language)] = Field(
        None, validation_alias=AliasChoices("language", "lang", AliasPath("metadata", "language"))
    )
    part_of: _PaperId | None = Field(None, validation_alias=AliasChoices("part_of", AliasPath("metadata", "part_of")))

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, record: dict[str, Any]) -> dict[str, Any]:
        empty = {"title": "", "abstract": []}
        values = {name: value for name, value in record.items() if value is not None and name != "text"}
        values |= {name: value for name, value in empty.items() if name in record and not record[name]}
        if isinstance(values.get("abstract"), str):
            values |= {"text": values["abstract"], "abstract": []}
        return values

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

    def paper(self, known_labels: Collection[str], language: str) -> Paper:
        return paper_of(
            self.paper_id,
            self.title,
            self.text or self.abstract,
            year=self.year,
            labels=self.labels if self.paragraph_labels is None else self.paragraph_labels,
            known_labels=known_labels,
            citations=self.citations,
            language=language,
            stated=self.language,
            part_of=self.part_of,
        )


class _PaperLine(_DocumentLine):
    title: str
