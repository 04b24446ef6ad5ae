"""The templates of the release: what they may call, and the paragraphs that they make."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from annot.release.collection_facts import CollectionFacts
from annot.release.licences import licence
from annot.report.words import counted
from annot.templating import render


def fill(template: str, facts: CollectionFacts, *, overrides: Path | None, **values: Any) -> str:
    """The template, told the facts. overrides: a folder of templates that win over the package's."""
    named = licence(facts.terms.licence) if facts.terms.licence else None
    functions = {"counted": counted, "cell": cell, "flowed": flowed, "quoted": quoted}
    return render(template, {"facts": facts, "licence": named, **functions, **values}, overrides=overrides)


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
    return "".join(
        char if char.isprintable() else f"\\U{ord(char):08x}" for char in json.dumps(text, ensure_ascii=False)
    )
