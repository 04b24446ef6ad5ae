"""Sixty made-up papers in a study with two queries, and what its pools hold."""

import json
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from annot.store import pools
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import Result
from study_stages import copy_study, set_in

MADE: dict[str, Path] = {}
"""Studies of these tests by what they were made of; nobody writes into them."""
WORDS = [f"word{at:03d}" for at in range(60)]


def words_of(number: int) -> list[str]:
    return random.Random(number).sample(WORDS, 40)


def paper(number: int, name: str | None = None, **given: object) -> str:
    """Every paper has the words of others, in an order of its own."""
    words = words_of(number)
    sentences = [" ".join(words[at : at + 10]) + "." for at in range(0, 40, 10)]
    record = {"paper_id": name or f"p{number}", "title": f"Title {number}", "abstract": sentences}
    return json.dumps(record | {"labels": ["background", "method", "method", "result"]} | given)


def made(ws: Workspace, annot: Callable[..., Result], lines: list[str], *more: tuple[str, ...]) -> None:
    """A study of these papers, with a query of the papers p5 and p12 each, and what `more` commands make of it.

    It is made once, and copied into the new study `ws` after that.
    """
    text = "\n".join(lines) + "\n"
    key = f"{more} {text}"
    if key in MADE:
        shutil.copytree(MADE[key], ws.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*-wal", "*-shm"))
        return
    set_in(ws.root, {"pool": {"methods": ["title_tfidf", "abs_tfidf", "cited"]}})
    (ws.root / "papers.jsonl").write_text(text, encoding="utf-8")
    for words in (
        ("corpus", "add", "papers.jsonl"),
        ("facets",),
        ("query", "add", "p5", "--facet", "method"),
        ("query", "add", "p12", "--facet", "method"),
        *more,
    ):
        done = annot(*words)
        assert done.exit_code == 0, done.stderr
    MADE[key] = Path(tempfile.mkdtemp(prefix="annot-made-")) / "study"
    copy_study(ws.root, MADE[key])


def drawn(ws: Workspace) -> dict[str, set[str]]:
    """The documents of each pool."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        found = pools.read_pools(session)
    return {paper_id: {entry.doc_id for entry in pool.entries} for paper_id, pool in found.items()}
