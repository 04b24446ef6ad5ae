"""The pages of the release, card and datasheet: their templates and what these may call; licences by name."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from datetime import date
from html import unescape
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.errors import InputError
from annot.base.settings.sections import CollectionSettings
from annot.base.templating import Exact, render
from annot.formats.beir import SPLIT, BeirFiles, dataset_id, module_name
from annot.measuring.agreement.coefficients import TITLES
from annot.publishing.release.collection_facts import CollectionFacts, Terms
from annot.publishing.release.questions import Answers, answered, questions, unanswered
from annot.publishing.report.cells import COEFFICIENT, SECONDS, coefficient, measured

_IN_SMALL_LETTERS = (
    *("CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "CC-BY-NC-ND-4.0"),
    *("MIT", "Apache-2.0"),
)
HUB_NAMES = {name: name.lower() for name in _IN_SMALL_LETTERS} | {
    "ODC-By-1.0": "odc-by",
    "ODbL-1.0": "odbl",
    "PDDL-1.0": "pddl",
    "GPL-3.0-or-later": "gpl-3.0",
}
"""The Hugging Face hub's list, by SPDX identifier; others are `other` there, with name and link."""

_CREATIVE_COMMONS = re.compile(r"CC-(BY(?:-NC)?(?:-SA|-ND)?)-(\d\.\d)")


def fill(template: str, facts: CollectionFacts, *, overrides: Path | None, **values: Any) -> str:
    """The template, told the facts and the licences of judgements and (where they are released) texts, None where they
    are not known ones. overrides: a folder of templates that win over the package's."""
    terms = facts.terms
    licences = {
        "licence": licence_named(terms.licence) if terms.licence else None,
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


def dataset_card(facts: CollectionFacts, *, beir: BeirFiles, holds: Collection[str], overrides: Path | None) -> str:
    """The card. The size in its header is that of the largest table: papers, or final grades.

    holds: the other files and folders of the release. overrides: a folder of templates that win over the package's.
    """
    configs = [("default", SPLIT, beir.hub_qrels)]
    if facts.terms.with_text:
        configs += [("corpus", "corpus", beir.corpus), ("queries", "queries", beir.queries)]
    return fill(
        "card.md.j2",
        facts,
        overrides=overrides,
        beir=beir,
        configs=[*configs, ("top_ranked", SPLIT, beir.top_ranked)],
        size=size_category(max(facts.corpus.papers, facts.total("pairs"))),
        dataset_id=dataset_id,
        irds_module=module_name(facts.collection.name),
        holds=holds,
    )


def datasheet_markdown(facts: CollectionFacts, answers: Answers, *, overrides: Path | None) -> str:
    """The datasheet in Markdown; a question that a person must still answer says so.

    overrides: a folder of templates that win over the package's.
    """
    return fill(
        "datasheet.md.j2",
        facts,
        overrides=overrides,
        sections=[(title, list(asked)) for title, asked in groupby(questions(), key=lambda question: question.section)],
        answers={question: text.strip() for question, text in answers.items() if answered(answers, question)},
        open={question.id for question in unanswered(answers)},
    )


def datasheet_html(facts: CollectionFacts, markdown: str, *, overrides: Path | None) -> str:
    """The datasheet as one HTML page that needs nothing else; HTML tags in `markdown` are shown as text."""
    from markdown import Markdown
    from markdown.treeprocessors import Treeprocessor
    from markdown.util import AMP_SUBSTITUTE

    class Links(Treeprocessor):
        """A link leads to a web page, a mailbox or a place on this page; any other, such as a script, loses its aim."""

        def run(self, root: Any) -> None:
            for link in root.iter("a"):
                address = unescape(link.get("href", "").replace(AMP_SUBSTITUTE, "&"))
                if not address.lower().startswith(("https://", "http://", "mailto:", "#")):
                    link.attrib.pop("href", None)

    converter: Any = Markdown(
        extensions=["tables", "sane_lists", "toc"], extension_configs={"toc": {"toc_depth": "2-2"}}
    )
    # What people and papers wrote is text: without these two, HTML in it stays visible instead of being obeyed.
    converter.preprocessors.deregister("html_block")
    converter.inlinePatterns.deregister("html")
    # An image would be fetched from a server, which then knows who reads: it becomes a link.
    for name in ("image_link", "image_reference", "short_image_ref"):
        converter.inlinePatterns.deregister(name)
    converter.treeprocessors.register(Links(converter), "links", priority=5)
    body = converter.convert(markdown)
    return fill("datasheet.html.j2", facts, overrides=overrides, body=body, contents=converter.toc_tokens)


class Licence(NamedTuple):
    """A licence as each place wants it."""

    name: str
    """The SPDX identifier, or the URL given."""
    url: str
    hub: str


def licence_named(name: str) -> Licence:
    """The licence of an SPDX identifier (in any case of letters) or a URL.

    >>> licence_named("cc-by-4.0")
    Licence(name='CC-BY-4.0', url='https://creativecommons.org/licenses/by/4.0/', hub='cc-by-4.0')
    """
    if re.fullmatch(r"https?://\S+", name):
        return Licence(name, name, "other")
    spdx = next((known for known in HUB_NAMES if known.lower() == name.lower()), name)
    if not re.fullmatch(r"[A-Za-z0-9.+-]+", spdx):
        raise InputError(f"licence {name!r}: expected an SPDX identifier such as CC-BY-4.0 (https://spdx.org) or a URL")
    if spdx == "CC0-1.0":
        url = "https://creativecommons.org/publicdomain/zero/1.0/"
    elif match := _CREATIVE_COMMONS.fullmatch(spdx):
        url = f"https://creativecommons.org/licenses/{match[1].lower()}/{match[2]}/"
    else:
        url = f"https://spdx.org/licenses/{spdx}.html"
    return Licence(spdx, url, HUB_NAMES.get(spdx, "other"))


NEEDED = {
    "creators": "the names of its makers, as they want to be named in public",
    "description": "two or three sentences",
    "url": "the address where the collection can be found",
}
"""What of `[collection]` a release cannot do without."""


def terms_of(
    collection: CollectionSettings, *, with_text: bool | None, licence: str | None, published: date | None
) -> tuple[Terms, tuple[str, ...]]:
    """The terms as far as they are given, and what `[collection]` lacks for a release."""
    faults = []
    with_text = bool(collection.text_licence) if with_text is None else with_text
    name = licence or collection.licence
    if not name:
        faults.append('collection.licence: empty, expected an SPDX identifier such as "CC-BY-4.0" or a URL (--licence)')
    else:
        try:
            licence_named(name)
        except InputError as error:
            faults.append(error.message)
            name = ""
    faults += [
        f"collection.{key}: empty, expected {what}" for key, what in NEEDED.items() if not getattr(collection, key)
    ]
    if with_text and not collection.text_licence:
        faults.append("collection.text_licence: empty, expected the licence of the texts; or release with --ids-only")
        with_text = False
    day = published or collection.published
    return Terms(with_text, name, collection.text_licence, day.isoformat() if day else ""), tuple(faults)


def known_licence(words: str) -> Licence | None:
    """The licence that `words` name by a known identifier or a URL; None where they are words about one.

    >>> known_licence("with the publishers") is None
    True
    """
    known = any(words.lower() == name.lower() for name in HUB_NAMES)
    if known or _CREATIVE_COMMONS.fullmatch(words) or re.fullmatch(r"https?://\S+", words):
        return licence_named(words)
    return None
