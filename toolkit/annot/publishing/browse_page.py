"""The page on which a collection is read, and links between the pages of a collection."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from annot.base.records import Paper, Pool, Ranking, Topic, grouped
from annot.base.settings import CollectionSettings
from annot.base.templating import render
from annot.formats.trec import Match, closest
from annot.labelstudio.tasks import spoken
from annot.measuring.evaluation.comparisons import NEAR_TOP, ErrorCase
from annot.publishing.report.figures import BROWSE_FILE
from annot.study.workspace import write_file

if TYPE_CHECKING:
    from annot.study.outcome import Pair
    from annot.study.snapshot import Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# The pages of a collection that are side by side, and the links between them; each page also works by itself.
#
# Separate commands write the pages, in any order. So each page is rendered with an empty place for links, and
# whatever writes one fills in the links of all pages next to it.
# ----------------------------------------------------------------------------------------------------------------------


CARD_FILE = "README.md"
PAGES = {
    CARD_FILE: "README",
    "report.html": "Report",
    BROWSE_FILE: "Browse",
    "certificate.html": "Reusability",
    "datasheet.html": "Datasheet",
    "report.md": "Report",
    "certificate.md": "Reusability",
    "datasheet.md": "Datasheet",
    "DATASHEET.md": "Datasheet",
}
"""Titles by file. The page for a meeting is not among them: assessors see it, and must not see the others."""
_PLACES = {
    ".html": re.compile(rb'<nav class="pages".*?</nav>\n'),
    ".md": re.compile(rb"^\[//\]: # \(pages\)\n(?:.+\n)?", re.MULTILINE),
}
"""Patterns of the output of `pages.html.j2` and `pages.md.j2`."""
_MARK = re.compile(rb'(<a )(?:data-)?(href="%b#)' % re.escape(BROWSE_FILE).encode())


def linked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Files, with links to each other in those that are pages."""
    return {name: with_links(content, name, files) for name, content in files.items()}


def with_links(content: bytes, name: str, files: Collection[str], *, above: str = "") -> bytes:
    """The page `name` with links to the pages among `files`; none if there is no other.

    A web page leads to web pages and the card, Markdown to Markdown. above: the path to the others, with a slash.
    """
    kind = PurePosixPath(name).suffix
    place = _PLACES.get(kind)
    if place is None:
        return content
    # A mark of a drawing leads to its query in browse; without that page it keeps the address, and leads nowhere.
    content = _MARK.sub(rb"\1" + (b"" if BROWSE_FILE in files else b"data-") + rb"\2", content)
    shown = [
        (file, title) for file, title in PAGES.items() if file in files and (file.endswith(kind) or file == CARD_FILE)
    ]
    values = {"page": name, "pages": shown if any(file != name for file, _ in shown) else (), "above": above}
    bar = render(f"pages{kind}.j2", values, overrides=None).encode()
    return place.sub(bar, content, count=1)


def pages_in(folder: Path) -> set[str]:
    """The pages in the folder, spelled as on the disk."""
    return {path.name for path in folder.glob("*") if path.is_file()} & PAGES.keys()


def write_pages(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files, and update the links of the other pages; a page whose links are right is not touched."""
    names = pages_in(folder) | files.keys()
    for name, text in files.items():
        write_file(folder / name, with_links(text.encode("utf-8"), name, names))
    for name in sorted(pages_in(folder)):
        write_file(folder / name, with_links((folder / name).read_bytes(), name, names))


# ----------------------------------------------------------------------------------------------------------------------
# The page on which a collection is read: its data, and one HTML file that needs no network and no server.
# ----------------------------------------------------------------------------------------------------------------------


STANDINGS = ("not judged", "in dispute", "asked again", "nobody can judge")
"""States of a pair without a final grade; in the data it is -1 less its position here."""
NOT_DRAWN = "not drawn"
"""The last of them where a sample of the pools is judged."""
NOT_JUDGED, IN_DISPUTE, ASKED_AGAIN, NOBODY_CAN_JUDGE = (-1 - number for number in range(len(STANDINGS)))


@dataclass(frozen=True, slots=True)
class BrowsedRun:
    """Results of one run on the queries."""

    tag: str
    rankings: Mapping[str, Ranking]
    matches: Mapping[Pair, Sequence[Match]]
    values: Mapping[str, float]
    """The measure on each query, a fraction; empty while grades are not shown."""


def page_data(
    snapshot: Snapshot,
    systems: Sequence[BrowsedRun],
    *,
    papers: Mapping[str, Paper],
    labels: Mapping[str, Sequence[str]],
    measure: str,
    cases: Sequence[ErrorCase] | None,
    kinds: Mapping[Pair, str],
) -> dict[str, Any]:
    """The data of the page.

    papers, labels: by id, those of queries and pools. cases: errors of the systems; None if no grade is
    shown. kinds: those that the lead gave to pairs. Documents that a system
    ranks and that are neither pooled nor planned are left out, and counted.
    """
    settings = snapshot.ws.settings
    facets = list(dict.fromkeys((*settings.facets, *(query.facet for query in snapshot.queries))))
    draws = [draw for pool in snapshot.pools.values() for entry in pool.entries for draw in (entry.drawn, *entry.also)]
    methods = list(dict.fromkeys(draw.method for draw in draws))
    planned = grouped(sorted(snapshot.outcome.planned))
    standings = STANDINGS if snapshot.sample is None else (*STANDINGS, NOT_DRAWN)
    grades = _grades(snapshot)
    disputed = {dispute[0].pair for dispute in snapshot.outcome.disputed}
    texts = snapshot.texts
    # By id and whether it is a text: one may be called as a document is.
    place: dict[tuple[str, bool], int] = {}
    queries = []
    for query in snapshot.queries:
        pooled = _pooled(snapshot.pools.get(query.topic_id), methods)
        # Judgements that were imported may come without pools.
        doc_ids = list(dict.fromkeys((*pooled, *planned.get(query.query_id, ()))))
        queries.append(
            {
                "id": query.query_id,
                "paper": place.setdefault((query.topic_id, query.topic_id in texts), len(place)),
                "facet": facets.index(query.facet),
                "sentences": query.sentences,
                "docs": [place.setdefault((doc_id, False), len(place)) for doc_id in doc_ids],
                "methods": [pooled.get(doc_id, []) for doc_id in doc_ids],
                "systems": [_ranked(system, query.query_id, doc_ids) for system in systems],
                **({"text": _text(texts[query.topic_id])} if query.topic_id in texts else {}),
                **({} if cases is None else _judged(query.query_id, grades, disputed, doc_ids, systems, cases, kinds)),
            }
        )
    return {
        "language": settings.collection.language,
        **({"topicLanguage": settings.collection.language_of_topics} if texts else {}),
        "scale": settings.scale.names,
        "standings": standings,
        "facets": facets,
        "methods": methods,
        "systems": [system.tag for system in systems],
        "measure": measure,
        "graded": cases is not None,
        "papers": [
            [name, texts[name].title, None, [], []]
            if is_text
            else _paper(
                name,
                papers.get(name),
                [settings.facet_of(label) for label in labels.get(name, ())],
                facets,
                settings.collection,
            )
            for name, is_text in place
        ],
        "queries": queries,
    }


def _text(topic: Topic) -> list[tuple[str, str]]:
    """Texts of a topic in addition to its title, each with its heading."""
    parts = {"": topic.description, "Narrative": topic.narrative, **topic.fields}
    return [(name, part) for name, part in parts.items() if part]


def _pooled(pool: Pool | None, methods: Sequence[str]) -> dict[str, list[int]]:
    """The methods that had each document of the pool, the one that drew it first."""
    entries = pool.entries if pool is not None else ()
    return {entry.doc_id: [methods.index(draw.method) for draw in (entry.drawn, *entry.also)] for entry in entries}


def _ranked(system: BrowsedRun, query_id: str, doc_ids: Sequence[str]) -> dict[str, Any] | None:
    """The documents in the order of the system, with their ranks where some in between are left out."""
    ranking = system.rankings.get(query_id)
    if ranking is None:
        return None
    position_of = {doc_id: position for position, doc_id in enumerate(doc_ids)}
    ranks = [rank for rank, doc in enumerate(ranking, start=1) if doc.doc_id in position_of]
    matches = {
        position_of[doc_id]: [(*match[:2], float(f"{match.weight:.3g}")) for match in closest(of_pair)]
        for doc_id in position_of
        if (of_pair := system.matches.get((query_id, doc_id)))
    }
    value = system.values.get(query_id)
    return {
        "order": [position_of[ranking[rank - 1].doc_id] for rank in ranks],
        **({"ranks": ranks} if ranks != list(range(1, len(ranks) + 1)) else {}),
        **({"outside": len(ranking) - len(ranks)} if len(ranks) < len(ranking) else {}),
        **({"matches": matches} if matches else {}),
        **({} if value is None else {"value": round(100 * value, 1)}),
    }


def _grades(snapshot: Snapshot) -> dict[Pair, int]:
    """The final grade of each pair, or the number below 0 of its state."""
    outcome, sample = snapshot.outcome, snapshot.sample
    not_drawn = () if sample is None else (pair.pair for pair in sample.pairs.values() if not pair.drawn)
    return {
        **dict.fromkeys(not_drawn, -1 - len(STANDINGS)),
        **{decision.pair: decision.grade for decision in outcome.decisions},
        **dict.fromkeys(outcome.open, IN_DISPUTE),
        **dict.fromkeys(outcome.waiting, ASKED_AGAIN),
        **dict.fromkeys(outcome.unjudgeable, NOBODY_CAN_JUDGE),
    }


def _judged(
    query_id: str,
    grades: Mapping[Pair, int],
    disputed: Collection[Pair],
    doc_ids: Sequence[str],
    systems: Sequence[BrowsedRun],
    cases: Sequence[ErrorCase],
    kinds: Mapping[Pair, str],
) -> dict[str, Any]:
    """The grades of a query, where its assessors differed, and the errors (near the top, far down) and their kinds."""
    position_of = {doc_id: position for position, doc_id in enumerate(doc_ids)}
    errors: dict[str, list[list[int]]] = {system.tag: [[], []] for system in systems}
    for case in cases:
        if case.query_id == query_id and case.doc_id in position_of:
            errors[case.run][case.error != NEAR_TOP].append(position_of[case.doc_id])
    return {
        "grades": [grades.get((query_id, doc_id), NOT_JUDGED) for doc_id in doc_ids],
        "disputed": [position for doc_id, position in position_of.items() if (query_id, doc_id) in disputed],
        "errors": list(errors.values()),
        "kinds": {
            position_of[doc_id]: kind
            for (name, doc_id), kind in kinds.items()
            if name == query_id and doc_id in position_of
        },
    }


LANGUAGE = 6
"""The place of a paper's own language in what `_paper` gives."""


def _paper(
    paper_id: str,
    paper: Paper | None,
    facets_of: Sequence[str | None],
    facets: Sequence[str],
    collection: CollectionSettings,
) -> list[Any]:
    """Id, title, year, sentences, and the facet of each, -1 for none; without text where the corpus lacks the paper.

    Then the document of a passage and the paper's language, if one of them is not what all have.
    """
    if paper is None:
        return [paper_id, "", None, [], []]
    of_sentences = [-1 if facet is None else facets.index(facet) for facet in facets_of] or [-1] * len(paper.sentences)
    language = spoken(paper, collection)
    more = [paper.part_of, language] if language != collection.language else [paper.part_of] if paper.part_of else []
    return [paper_id, paper.title, paper.year, paper.sentences, of_sentences, *more]


LARGEST_PLAIN = 400_000
"""Characters of the page's data from which on they are packed, to a third of their size."""
_WORD = re.compile(rb"\\u[0-9a-f]{4}| ?[A-Za-z]+")
ONE_BYTE, TWO_BYTES = range(0x80, 0xC0), range(0xC0, 0x100)
"""First bytes of the codes of frequent words, and of those of all others."""


def pack(text: bytes) -> str:
    """ASCII text in base64, by gzip: a line with the list of the words that it has more than once, then the text with a
    code of one or two bytes for each of them, which saves a sixth of what gzip alone would take."""
    most = len(ONE_BYTE) + 256 * len(TWO_BYTES)
    words = [word for word, count in Counter(_WORD.findall(text)).most_common(most) if count > 1]
    codes = [bytes([first]) for first in ONE_BYTE] + [bytes([first, n]) for first in TWO_BYTES for n in range(256)]
    code_of = dict(zip(words, codes, strict=False))
    coded = _WORD.sub(lambda match: code_of.get(match[0], match[0]), text)
    head = json.dumps([word.decode() for word in words], separators=(",", ":")).encode()
    return b64encode(gzip.compress(head + b"\n" + coded, mtime=0)).decode()


def page(data: Mapping[str, Any], *, overrides: Path | None, sampled: bool = False, **values: object) -> str:
    """The page. values: variables of `browse.html.j2` in addition to the data; `overrides`: a folder whose file wins.
    sampled: True if a sample of the pools is judged."""
    # Inside a script element nothing is an entity, and only "<" can end it.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    packed = len(text) > LARGEST_PLAIN
    if packed:
        text = pack(json.dumps(data, separators=(",", ":")).encode())
    shown = {"data": Markup(text), "packed": packed, "sampled": sampled}
    shown["several_languages"] = any(len(paper) > LANGUAGE for paper in data.get("papers", ()))
    return render("browse.html.j2", {**shown, **values}, overrides=overrides)
