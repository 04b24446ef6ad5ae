"""The pages of the release, card and datasheet: their templates and what these may call."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.markdown_html import converter
from annot.base.records import Qrel, Query, Topic, grouped
from annot.base.templating import Exact, render
from annot.formats.beir import SPLIT, BeirFiles, Fields, dataset_id, language_code, module_name
from annot.measuring.agreement.coefficients import TITLES
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.release.questions import Answers, answered, questions, unanswered
from annot.publishing.report.cells import COEFFICIENT, SECONDS, coefficient, measured
from annot.publishing.terms import known_licence, licence_named


def fill(template: str, facts: CollectionFacts, *, overrides: Path | None, **values: Any) -> str:
    """The template, told the facts and the licences of judgements, of topics where they have one of their own, and of
    texts where they are released; None if they are not known ones.

    overrides: a folder of templates that win over the package's.
    """
    terms = facts.terms
    licences = {
        "licence": licence_named(terms.licence) if terms.licence else None,
        "topic_licence": known_licence(terms.topic_licence) if facts.topics[1] else None,
        "text_licence": known_licence(terms.text_licence) if terms.with_text else None,
    }
    functions = {"cell": cell, "flowed": flowed, "quoted": quoted, "estimate": measured, "coefficient": coefficient}
    named = {"SECONDS": SECONDS, "COEFFICIENT": COEFFICIENT, "titles": TITLES}
    return render(template, {"facts": facts, **licences, **functions, **named, **values}, overrides=overrides)


def cell(text: object) -> str:
    """`text` for a cell of a Markdown table: a vertical bar is escaped, a line break becomes a space."""
    return " ".join(str(text).split()).replace("|", "\\|")


def flowed(text: str) -> str:
    """Each paragraph on one line; tables and lists keep their lines."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        blocks.append(("\n" if lines and lines[0].startswith(("| ", "- ")) else " ").join(lines))
    return "\n\n".join(filter(None, blocks))


def quoted(text: str) -> str:
    """`text` as a string of YAML: the same as in JSON, but for what YAML takes for line breaks or refuses."""
    return Exact(
        "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in json.dumps(text, ensure_ascii=False))
    )


SIZES = (
    *("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B"),
    *("1B<n<10B", "10B<n<100B", "100B<n<1T", "n>1T"),
)


def size_category(count: int) -> str:
    """The hub's name for a number of rows.

    >>> size_category(999), size_category(1000)
    ('n<1K', '1K<n<10K')
    """
    return SIZES[min(max(len(str(count)) - 3, 0), len(SIZES) - 1)]


class ExamplePair(NamedTuple):
    """A row of the qrels."""

    query: str
    facet: str
    candidate: str
    grade: int


def example_pairs(
    qrels: Iterable[Qrel], queries: Iterable[Query], titles: Mapping[str, str], texts: Mapping[str, Topic]
) -> tuple[ExamplePair, ...]:
    """Three pairs of one query: of its highest grade, of a middle one, and of its lowest.

    The query is the first of those with the most grades; fewer than three give fewer pairs. titles: by paper,
    of those that are shown by title in place of id. texts: the topics that are texts.
    """
    graded = grouped((qrel.query_id, qrel) for qrel in sorted(qrels))
    found = {query_id: {qrel.relevance: qrel for qrel in reversed(own)} for query_id, own in graded.items()}
    if not found:
        return ()
    of_grade = max(found.values(), key=len)
    grades = sorted(of_grade, reverse=True)
    shown = [of_grade[grade] for grade in dict.fromkeys((grades[0], grades[len(grades) // 2], grades[-1]))]
    (query,) = (one for one in queries if one.query_id == shown[0].query_id)
    text = texts.get(query.topic_id)
    named = ((titles.get(query.topic_id) if text is None else text.title) or query.query_id, query.facet)
    return tuple(ExamplePair(*named, titles.get(one.doc_id) or one.doc_id, one.relevance) for one in shown)


def dataset_card(
    facts: CollectionFacts,
    *,
    beir: BeirFiles,
    fields: Fields,
    examples: Sequence[ExamplePair],
    holds: Collection[str],
    overrides: Path | None,
) -> str:
    """The card. The size in its header is that of the largest table: papers, or final grades.

    holds: the other files and folders of the release. overrides: a folder of templates that win over the package's.
    """
    configs = [("default", SPLIT, beir.hub_qrels)]
    if facts.terms.with_text:
        configs.append(("corpus", "corpus", beir.corpus))
    if fields.worded:
        configs.append(("queries", "queries", beir.queries))
    return fill(
        "card.md.j2",
        facts,
        overrides=overrides,
        beir=beir,
        fields=fields,
        languages=list(dict.fromkeys(map(language_code, facts.languages))),
        configs=[*configs, ("top_ranked", SPLIT, beir.top_ranked)],
        size=size_category(max(facts.corpus.papers, facts.total("pairs"))),
        dataset_id=dataset_id,
        irds_module=module_name(facts.collection.name),
        examples=examples,
        holds=holds,
    )


def datasheet_markdown(facts: CollectionFacts, answers: Answers, *, overrides: Path | None) -> str:
    """The datasheet in Markdown; a question that a person must still answer says so.

    overrides: a folder of templates that win over the package's.
    """
    topics = bool(facts.topics[1])
    asked = questions(topics=topics)
    return fill(
        "datasheet.md.j2",
        facts,
        overrides=overrides,
        sections=[(title, list(own)) for title, own in groupby(asked, key=lambda question: question.section)],
        answers={question: text.strip() for question, text in answers.items() if answered(answers, question)},
        open={question.id for question in unanswered(answers, topics=topics)},
    )


def datasheet_html(facts: CollectionFacts, markdown: str, *, overrides: Path | None) -> str:
    """The datasheet as one HTML page that needs nothing else; HTML tags in `markdown` are shown as text."""
    page = converter(extensions=["tables", "sane_lists", "toc"], extension_configs={"toc": {"toc_depth": "2-2"}})
    body = page.convert(markdown)
    return fill("datasheet.html.j2", facts, overrides=overrides, body=body, contents=page.toc_tokens)
