"""Time `annot corpus add` on made-up records in each format that libraries and databases export.

    python benchmarks/importers.py [--formats ris csv] [--records 10000] [--processes 1]

A record has a title of 12 words, an abstract of about 200 with years, brackets and abbreviations, ten authors, a DOI
and a number; one abstract in three has letters or signs beyond ASCII, one in ten an entity and a tag, one in twenty is
missing. Prints the size of the file, seconds, papers a second, and the peak of memory of the command and its children.
"""

from __future__ import annotations

import csv
import json
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from command import Command

from pools import ANNOT, measured

SYLLABLES = [f"{first}{vowel}" for first in "bcdfglmnprstv" for vowel in ("a", "e", "i", "on", "ur")]
OPENERS = ["The", "We", "In", "This", "Our", "However,", "Results", "To", "For", "These", "It", "Although", "Patients"]
RARE = ["e.g. in", "et al. (2010)", "(p < 0.05)", "vs.", "3.5%", "n = 120", "[12]", "state-of-the-art", "U.S."]
BEYOND_ASCII = ["naïve", "±", "β-cell", "–", "Müller", "“quoted”", "10 µm", "≥"]
AUTHORS = [f"{first}, {initial}." for first in ("Müller", "García", "Li", "Smith", "Novák") for initial in "AB"]


class Record(NamedTuple):
    """The fields of a paper that every format has."""

    number: int
    title: str
    abstract: str | None
    year: int
    doi: str


def made_records(count: int) -> Iterator[Record]:
    """Made-up records, the same each time."""
    rng = random.Random(13)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(20_000)]
    cumulated = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    for number in range(1, count + 1):
        sentences = []
        for _ in range(rng.randint(7, 11)):
            spoken = rng.choices(words, cum_weights=cumulated, k=rng.randint(14, 28))
            spoken.insert(7, rng.choice(RARE))
            sentences.append(f"{rng.choice(OPENERS)} {' '.join(spoken)}.")
        if number % 3 == 0:
            sentences[1] = sentences[1].replace(" ", f" {rng.choice(BEYOND_ASCII)} ", 1)
        if number % 10 == 0:
            sentences[-1] = f"The <i>in vivo</i> rates of A&amp;B were higher. {sentences[-1]}"
        title = " ".join(rng.choices(words, cum_weights=cumulated, k=12)).capitalize()
        abstract = " ".join(sentences) if number % 20 else None
        yield Record(number, title, abstract, rng.randint(1990, 2025), f"10.1234/made.{number}")


def _ris(record: Record) -> str:
    authors = "".join(f"AU  - {author}\n" for author in AUTHORS)
    abstract = f"AB  - {record.abstract}\n" if record.abstract else ""
    return (
        f"TY  - JOUR\nTI  - {record.title}\n{authors}{abstract}PY  - {record.year}/03/01/\nJO  - A journal\nVL  - 7\n"
        f"SP  - 10\nEP  - 20\nKW  - one\nKW  - another\nDO  - {record.doi}\n"
        f"UR  - https://example.org/{record.number}\nER  - \n\n"
    )


def _bibtex(record: Record) -> str:
    text = (record.abstract or "").replace("%", r"\%").replace("ü", r"{\"u}")
    abstract = f"  abstract = {{{text}}},\n" if text else ""
    return (
        f"@article{{made{record.number},\n  title = {{{{{record.title}}}}},\n  author = {{{' and '.join(AUTHORS)}}},\n"
        f"{abstract}  journal = {{A journal}},\n  year = {record.year},\n  month = mar,\n"
        f"  doi = {{{record.doi}}}\n}}\n\n"
    )


def _medline(record: Record) -> str:
    def lines(tag: str, text: str) -> str:
        written = [f"{tag:4}- "]
        for word in text.split(" "):
            if len(written[-1]) + len(word) > 86:
                written.append("      ")
            written[-1] += f"{word} "
        return "".join(f"{line.rstrip()}\n" for line in written)

    authors = "".join(f"FAU - {author}\nAU  - {author}\nAD  - A university, a town\n" for author in AUTHORS)
    abstract = lines("AB", record.abstract) if record.abstract else ""
    return (
        f"PMID- {record.number}\nOWN - NLM\nSTAT- MEDLINE\nDP  - {record.year} Mar\n{lines('TI', record.title)}"
        f"LID - {record.doi} [doi]\n{abstract}{authors}LA  - eng\nPT  - Journal Article\nJT  - A journal\nSO  - 1-2\n\n"
    )


def _pubmed(record: Record) -> str:
    authors = "".join(f"<Author><LastName>{a[:-4]}</LastName><Initials>{a[-2]}</Initials></Author>" for a in AUTHORS)
    text = escape(record.abstract or "", quote=False)
    if record.number % 3 == 0 and text:
        middle = text.find(". ", len(text) // 2) + 1
        parts = {"BACKGROUND": text[:middle], "RESULTS": text[middle:].strip()}
        abstract = "".join(f'<AbstractText Label="{k}" NlmCategory="{k}">{v}</AbstractText>' for k, v in parts.items())
    else:
        abstract = f"<AbstractText>{text}</AbstractText>"
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{record.number}</PMID><Article>'
        f"<Journal><JournalIssue><PubDate><Year>{record.year}</Year></PubDate></JournalIssue></Journal><ArticleTitle>{record.title}</ArticleTitle>"
        f"{f'<Abstract>{abstract}</Abstract>' if text else ''}<AuthorList>{authors}</AuthorList>"
        "</Article></MedlineCitation>"
        f'<PubmedData><ArticleIdList><ArticleId IdType="doi">{record.doi}</ArticleId></ArticleIdList></PubmedData>'
        "</PubmedArticle>\n"
    )


def _openalex(record: Record) -> str:
    index: dict[str, list[int]] = {}
    for position, word in enumerate(record.abstract.split() if record.abstract else ()):
        index.setdefault(word, []).append(position)
    return _line(
        id=f"https://openalex.org/W{record.number}",
        doi=f"https://doi.org/{record.doi}",
        title=record.title,
        publication_year=record.year,
        authorships=[{"author": {"display_name": author}} for author in AUTHORS],
        referenced_works=[f"https://openalex.org/W{record.number + more}" for more in range(1, 21)],
        abstract_inverted_index=index or None,
    )


def _jsonl(record: Record) -> str:
    return _line(
        paper_id=f"p{record.number}", title=record.title, abstract=record.abstract, year=record.year, authors=AUTHORS
    )


def _line(**fields: object) -> str:
    return json.dumps(fields) + "\n"


def _text(written: Callable[[Record], str], begin: str = "", end: str = "") -> Callable[[Path, Iterable[Record]], None]:
    def write(path: Path, records: Iterable[Record]) -> None:
        with path.open("w", encoding="utf-8") as file:
            file.write(begin)
            file.writelines(map(written, records))
            file.write(end)

    return write


def _rows(records: Iterable[Record]) -> Iterator[tuple[object, ...]]:
    yield "Authors", "Title", "Year", "DOI", "Abstract"
    for record in records:
        yield "; ".join(AUTHORS), record.title, record.year, record.doi, record.abstract or ""


def _csv(path: Path, records: Iterable[Record]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(_rows(records))


def _xlsx(path: Path, records: Iterable[Record]) -> None:
    import openpyxl

    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("papers")
    for row in _rows(records):
        sheet.append(row)
    workbook.save(path)


WRITERS: dict[str, Callable[[Path, Iterable[Record]], None]] = {
    "ris": _text(_ris),
    "bibtex": _text(_bibtex),
    "medline": _text(_medline),
    "pubmed": _text(_pubmed, '<?xml version="1.0" encoding="UTF-8"?>\n<PubmedArticleSet>\n', "</PubmedArticleSet>\n"),
    "openalex": _text(_openalex),
    "csv": _csv,
    "xlsx": _xlsx,
    "jsonl": _text(_jsonl),
}


COMMAND = Command(
    __doc__,
    options={"formats": [*WRITERS], "records": 10_000, "processes": 1},
    choices={"formats": [*WRITERS]},
    smallest="--formats pubmed --records 50",
    seconds=lambda options: len(options.formats) * (3 + 0.0005 * options.records),
)


def main() -> None:
    options = COMMAND.read()
    print(f"{options.records} records, {options.processes} process{'es' * (options.processes > 1)}")
    print(f"{'':10} {'file MB':>8} {'wall s':>8} {'cpu s':>8} {'papers/s':>9} {'of cpu':>8} {'MB':>7}")
    for name in options.formats:
        with tempfile.TemporaryDirectory() as folder:
            file, study = Path(folder, f"records.{name}"), Path(folder, "study")
            WRITERS[name](file, made_records(options.records))
            measured([ANNOT, "init", study])
            settings = study / "annot.toml"
            settings.write_text(settings.read_text().replace("# processes = 2", f"processes = {options.processes}"))
            cost, _ = measured([ANNOT, "corpus", "add", file, "-C", study])
            print(
                f"{name:10} {file.stat().st_size / 1e6:8.1f} {cost.wall:8.1f} {cost.processor:8.1f}"
                f" {options.records / cost.wall:9.0f} {options.records / cost.processor:8.0f} {cost.peak_mb:7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
