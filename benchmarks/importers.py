"""Time `annot corpus add` on made-up records in each format that libraries and databases export.

    python benchmarks/importers.py [FORMAT ...] [--records 10000] [--processes 1]

A record has a title of 12 words, an abstract of about 200 with years, brackets and abbreviations, ten authors, a DOI
and a number; one abstract in three has letters or signs beyond ASCII, one in ten an entity and a tag, one in twenty is
missing. Prints for each format the size of its file, wall and processor seconds, papers a second of both, and the peak
of memory in MB: the proportional set of the command and of all it has started.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from pools import ANNOT, measured

SYLLABLES = [f"{first}{vowel}" for first in "bcdfglmnprstv" for vowel in ("a", "e", "i", "on", "ur")]
OPENERS = ["The", "We", "In", "This", "Our", "However,", "Results", "To", "For", "These", "It", "Although", "Patients"]
RARE = ["e.g. in", "et al. (2010)", "(p < 0.05)", "vs.", "3.5%", "n = 120", "[12]", "state-of-the-art", "U.S."]
BEYOND_ASCII = ["naïve", "±", "β-cell", "–", "Müller", "“quoted”", "10 µm", "≥"]
AUTHORS = [f"{first}, {initial}." for first in ("Müller", "García", "Li", "Smith", "Novák") for initial in "AB"]


class Record(NamedTuple):
    """What every format has of a paper."""

    number: int
    title: str
    abstract: str | None
    year: int
    doi: str


def made(count: int) -> Iterator[Record]:
    """The same records each time."""
    rng = random.Random(13)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(20_000)]
    cumulated = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    for number in range(1, count + 1):
        sentences = []
        for _ in range(rng.randint(7, 11)):
            said = rng.choices(words, cum_weights=cumulated, k=rng.randint(14, 28))
            said.insert(7, rng.choice(RARE))
            sentences.append(f"{rng.choice(OPENERS)} {' '.join(said)}.")
        if number % 3 == 0:
            sentences[1] = sentences[1].replace(" ", f" {rng.choice(BEYOND_ASCII)} ", 1)
        if number % 10 == 0:
            sentences[-1] = f"The <i>in vivo</i> rates of A&amp;B were higher. {sentences[-1]}"
        title = " ".join(rng.choices(words, cum_weights=cumulated, k=12)).capitalize()
        abstract = " ".join(sentences) if number % 20 else None
        yield Record(number, title, abstract, rng.randint(1990, 2025), f"10.1234/made.{number}")


def _ris(one: Record) -> str:
    authors = "".join(f"AU  - {author}\n" for author in AUTHORS)
    abstract = f"AB  - {one.abstract}\n" if one.abstract else ""
    return (
        f"TY  - JOUR\nTI  - {one.title}\n{authors}{abstract}PY  - {one.year}/03/01/\nJO  - A journal\nVL  - 7\n"
        f"SP  - 10\nEP  - 20\nKW  - one\nKW  - another\nDO  - {one.doi}\n"
        f"UR  - https://example.org/{one.number}\nER  - \n\n"
    )


def _bibtex(one: Record) -> str:
    text = (one.abstract or "").replace("%", r"\%").replace("ü", r"{\"u}")
    abstract = f"  abstract = {{{text}}},\n" if text else ""
    return (
        f"@article{{made{one.number},\n  title = {{{{{one.title}}}}},\n  author = {{{' and '.join(AUTHORS)}}},\n"
        f"{abstract}  journal = {{A journal}},\n  year = {one.year},\n  month = mar,\n  doi = {{{one.doi}}}\n}}\n\n"
    )


def _medline(one: Record) -> str:
    def lines(tag: str, text: str) -> str:
        words, found = text.split(" "), [f"{tag:4}- "]
        for word in words:
            if len(found[-1]) + len(word) > 86:
                found.append("      ")
            found[-1] += f"{word} "
        return "".join(f"{line.rstrip()}\n" for line in found)

    authors = "".join(f"FAU - {author}\nAU  - {author}\nAD  - A university, a town\n" for author in AUTHORS)
    abstract = lines("AB", one.abstract) if one.abstract else ""
    return (
        f"PMID- {one.number}\nOWN - NLM\nSTAT- MEDLINE\nDP  - {one.year} Mar\n{lines('TI', one.title)}"
        f"LID - {one.doi} [doi]\n{abstract}{authors}LA  - eng\nPT  - Journal Article\nJT  - A journal\nSO  - 1-2\n\n"
    )


def _pubmed(one: Record) -> str:
    authors = "".join(f"<Author><LastName>{a[:-4]}</LastName><Initials>{a[-2]}</Initials></Author>" for a in AUTHORS)
    text = escape(one.abstract or "", quote=False)
    if one.number % 3 == 0 and text:
        middle = text.find(". ", len(text) // 2) + 1
        parts = {"BACKGROUND": text[:middle], "RESULTS": text[middle:].strip()}
        given = "".join(f'<AbstractText Label="{k}" NlmCategory="{k}">{v}</AbstractText>' for k, v in parts.items())
    else:
        given = f"<AbstractText>{text}</AbstractText>"
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{one.number}</PMID><Article>'
        f"<Journal><JournalIssue><PubDate><Year>{one.year}</Year></PubDate></JournalIssue></Journal><ArticleTitle>{one.title}</ArticleTitle>"
        f"{f'<Abstract>{given}</Abstract>' if text else ''}<AuthorList>{authors}</AuthorList>"
        "</Article></MedlineCitation>"
        f'<PubmedData><ArticleIdList><ArticleId IdType="doi">{one.doi}</ArticleId></ArticleIdList></PubmedData>'
        "</PubmedArticle>\n"
    )


def _openalex(one: Record) -> str:
    index: dict[str, list[int]] = {}
    for at, word in enumerate(one.abstract.split() if one.abstract else ()):
        index.setdefault(word, []).append(at)
    return _line(
        id=f"https://openalex.org/W{one.number}",
        doi=f"https://doi.org/{one.doi}",
        title=one.title,
        publication_year=one.year,
        authorships=[{"author": {"display_name": author}} for author in AUTHORS],
        referenced_works=[f"https://openalex.org/W{one.number + more}" for more in range(1, 21)],
        abstract_inverted_index=index or None,
    )


def _jsonl(one: Record) -> str:
    return _line(paper_id=f"p{one.number}", title=one.title, abstract=one.abstract, year=one.year, authors=AUTHORS)


def _line(**fields: object) -> str:
    return json.dumps(fields) + "\n"


def _text(of: Callable[[Record], str], begin: str = "", end: str = "") -> Callable[[Path, Iterable[Record]], None]:
    def write(path: Path, records: Iterable[Record]) -> None:
        with path.open("w", encoding="utf-8") as file:
            file.write(begin)
            file.writelines(map(of, records))
            file.write(end)

    return write


def _rows(records: Iterable[Record]) -> Iterator[tuple[object, ...]]:
    yield "Authors", "Title", "Year", "DOI", "Abstract"
    for one in records:
        yield "; ".join(AUTHORS), one.title, one.year, one.doi, one.abstract or ""


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=f"One of {', '.join(WRITERS)}; all without any.")
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    print(f"{options.records} records, {options.processes} process{'es' * (options.processes > 1)}")
    print(f"{'':10} {'file MB':>8} {'wall s':>8} {'cpu s':>8} {'papers/s':>9} {'of cpu':>8} {'MB':>7}")
    for name in options.formats or WRITERS:
        with tempfile.TemporaryDirectory() as folder:
            file, study = Path(folder, f"records.{name}"), Path(folder, "study")
            WRITERS[name](file, made(options.records))
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
