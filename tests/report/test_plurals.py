"""One of something is never "1 pairs": templates write counts with `counted`, and verbs after them with `verb`."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
from annot.base.names import counted

FOLDER = Path(str(files("annot.templates")))
TEMPLATES = sorted(
    path.relative_to(FOLDER) for path in FOLDER.rglob("*.j2") if not re.search("(css|js).j2$", path.name)
)
NOUNS = (
    "pairs|queries|papers|pools|documents|judgements|adjudications|assessors|assignments|runs|sentences|tasks|projects|"
    "answers|abstracts|rows|labels|citations|candidates|files|revisions|manifests|near-duplicates|questions|days|sets|"
    "headings|others"
)
COUNT = re.compile(rf"\{{\{{((?:(?!\}}\}}).)*)\}}\}} (?:(?:query|open|unanswered|full|judged|more) )?(?:{NOUNS})\b")
NO_COUNTS = ("%.2f", "holding", "best.pairs", "name", "facet", "run ", "method ", "verb(", '"have"')
"""In expressions that no 1 comes out of: means, names, counts that another sentence speaks of where they are 1."""


@pytest.mark.parametrize("name", TEMPLATES, ids=str)
def test_no_template_writes_a_number_and_a_plural(name: Path) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    bare = [found[0] for found in COUNT.finditer(text) if not any(word in found[1] for word in (*NO_COUNTS, "counted"))]
    assert bare == []
    assert "(s)" not in re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL)


def test_counted_knows_the_plurals() -> None:
    assert [counted(1, name) for name in ("query", "day")] == ["1 query", "1 day"]
    assert [counted(2, name) for name in ("query", "day", "near-duplicate")] == [
        "2 queries",
        "2 days",
        "2 near-duplicates",
    ]
    assert counted(1000, "batch", "batches") == "1,000 batches"
