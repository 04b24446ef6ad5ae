"""Full texts of papers, sentence by sentence: which sentence cites which papers.

S2ORC's full texts (Lo et al. 2020): a line is a paper with `body_text`, paragraphs with `text` and `cite_spans`
(`start`, `end`, `ref_id`), and `bib_entries`, which link a `ref_id` to the id of a paper (`link`, in the release of
2019 `links`). In that release both are in `grobid_parse`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annot.base.errors import Faults
from annot.formats.input_files import Strict, read_models
from annot.formats.paper_records import number_as_text
from annot.formats.paper_text import split_sentences
from pydantic import BeforeValidator, Field, model_validator


@dataclass(frozen=True, slots=True)
class Context:
    """A sentence of a paper, and its citations."""

    text: str
    cited: tuple[str, ...]
    """Ids of papers, sorted, each once."""
    unlinked: int
    """Citations in it that the corpus knows no paper for."""


def read_citing_texts(lines: Iterable[str], *, name: str) -> Iterator[CitingText]:
    """The papers of a file, one a line, as they come.

    Raises InputError after the last line with every fault.
    """
    faults = Faults(name)
    for _, text in read_models(lines, faults, CitingText):
        yield text
    faults.raise_if_any(hint="expected full texts as S2ORC writes them: body_text with cite_spans, bib_entries")


def _contexts(part: _Paragraph, linked: Mapping[str, str]) -> Iterator[Context]:
    end = 0
    for sentence in split_sentences(part.text):
        start = part.text.index(sentence, end)
        end = start + len(sentence)
        spans = [span for span in part.cite_spans if start <= span.start < end]
        if spans:
            cited = {linked[span.ref_id] for span in spans if span.ref_id is not None and span.ref_id in linked}
            unlinked = sum(span.ref_id not in linked for span in spans)
            yield Context(" ".join(sentence.split()), tuple(sorted(cited)), unlinked)


def _empty(value: Any) -> Any:
    return [] if value is None else value


_Id = Annotated[str, BeforeValidator(number_as_text)]


class _Span(Strict):
    start: int
    ref_id: str | None = None


class _Paragraph(Strict):
    text: str
    cite_spans: Annotated[list[_Span], BeforeValidator(_empty)] = Field([])


class _Entry(Strict):
    link: _Id | None = None
    links: _Id | None = None


class CitingText(Strict):
    """A paper with its full text, and the places that cite something."""

    paper_id: Annotated[_Id, Field(min_length=1)]
    body_text: list[_Paragraph]
    bib_entries: dict[str, _Entry]
    mag_field_of_study: Annotated[list[str], BeforeValidator(_empty)] = Field([])
    """Fields of study; empty if the line does not say."""

    @property
    def contexts(self) -> Iterator[Context]:
        """The sentences that cite something."""
        entries = self.bib_entries.items()
        linked = {ref: paper_id for ref, entry in entries if (paper_id := entry.link or entry.links)}
        return (context for part in self.body_text for context in _contexts(part, linked))

    @model_validator(mode="before")
    @classmethod
    def _of_every_release(cls, record: dict[str, Any]) -> dict[str, Any]:
        fields = record.get("mag_field_of_study") or (record.get("metadata") or {}).get("mag_field_of_study")
        return {**record, **(record.get("grobid_parse") or {}), "mag_field_of_study": fields}
