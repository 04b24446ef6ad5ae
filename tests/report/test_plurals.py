"""One of something is never "1 pairs": templates write counts with `counted`, and verbs after them with `verb`."""

import re
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest
from annot.base.names import OF_PAPERS, counted
from annot.base.stats.values import Undefined
from annot.publishing.report.sections.runs import table_of_lines
from annot.publishing.report.tables import sentences
from annot.publishing.report.terminal import rendered

FOLDER = Path(str(files("annot.templates")))
TEMPLATES = sorted(
    path.relative_to(FOLDER) for path in FOLDER.rglob("*.j2") if not re.search("(css|js).j2$", path.name)
)
NOUNS = (
    "pairs|queries|papers|pools|documents|judgements|adjudications|assessors|assignments|runs|sentences|tasks|projects|"
    "answers|abstracts|rows|labels|citations|candidates|files|revisions|manifests|near-duplicates|questions|days|sets"
)
COUNT = re.compile(rf"\{{\{{((?:(?!\}}\}}).)*)\}}\}} (?:(?:query|open|unanswered|full|judged) )?(?:{NOUNS})\b")
NO_COUNTS = ("%.2f", "holding", "best.pairs", "name", "facet", "run ", "method ", "verb(", '"have"')
"""In expressions that no 1 comes out of: means, names, counts that another sentence speaks of where they are 1."""
ONE_OF_MANY = re.compile(rf"\b1 (?:(?:query|open|judged) )?(?:{NOUNS}|figures|assessors)\b")


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


def test_sentences_of_one_thing_are_in_the_singular() -> None:
    planned = {
        "unheeded": (), "before": 1, "new": 1, "dry_run": False, "filled": 1, "by_query": [("q1", 1)], "short": 1,
        "wants_grow": False, "too_many": ("a1",), "n_assessors": 1, "per_pair": 1, "apart": [], "few": [],
        "n_topics": 1, "visible": None,
        "fewest": 6,
        "sent": False, "sample": None,
    }  # fmt: skip
    facts = SimpleNamespace(sizes=(1,), documents=1, hubs=(), passed_over=1, methods=(), drought={}, versions=())
    found = SimpleNamespace(
        **dict.fromkeys(("pairs", "assignments", "unplanned", "to_withdraw"), 1),
        sha256="0" * 64, loads=(), overlaps=(), faults=("it",), notes=(),
    )  # fmt: skip
    texts = [
        *sentences("commands.planned", **planned),
        *sentences("commands.open_questions", file="datasheet.toml", n=1, shown=["uses.tasks"]),
        rendered("pool-stats", facts=facts),
        rendered("checked", found=found),
    ]
    assert not [text for text in texts if ONE_OF_MANY.search(text)]
    assert "1 pair has fewer than 1 assessor" in " ".join(texts)
    assert "1 near-duplicate of other papers was skipped" in " ".join(texts)


def test_why_figures_have_no_interval_is_said_once_below_the_table() -> None:
    few = Undefined("3 query papers: an interval needs 4", "fewer than 4 query papers")
    line = SimpleNamespace(
        values={"AP": 0.5, "P": 0.4}, intervals={"AP": few, "P": few}, spread={}, facet="method", run="bm25", runs=1,
        convention="trec", queries=3, average="mean",
    )  # fmt: skip
    evaluated = SimpleNamespace(level=0.95, several=False, words=OF_PAPERS, corpus=None)
    made = table_of_lines(evaluated, "trec", [line] * 3)  # type: ignore[arg-type, list-item]
    assert made.notes == ("6 figures have no interval: 3 query papers: an interval needs 4.",)
    assert "interval" not in made.caption
