"""Papers of libraries and databases: each is kept once, is known by all its ids, and cites by any of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.corpus import corpus_facts, paper_ids
from annot.corpus.corpus_facts import papers_of
from annot.formats import corpora
from annot.formats.corpora.pieces import Format
from annot.pools.chain import broken_links
from annot.steps import corpus, query
from annot.steps.corpus import AddedPapers
from annot.store import papers
from annot.store.citations import IDS, added_files, cited_by
from annot.store.papers import remove_papers
from annot.study.workspace import Workspace
from small_study import Small
from study_stages import copied, quietly

LIBRARY = "library"
TEXT = "One two three four. Five six seven eight. Nine ten eleven twelve."
LONG = "The history of the reading room of a provincial library"
Add = Callable[..., AddedPapers]


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "made", tmp_path / "study").replaced("machine", processes=1)


@pytest.fixture
def add(ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Adds records as those of a library, as one file; `form` None as annot's own."""
    monkeypatch.setitem(corpora._ALL, LIBRARY, Format(LIBRARY, bibliographic=True))

    def added(*records: dict[str, Any], form: str | None = LIBRARY, name: str = "refs.jsonl") -> AddedPapers:
        path = tmp_path / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return corpus.add(ws, [path], form=form, dry_run=False, advance=quietly)

    return added


def record(title: str, **fields: object) -> dict[str, Any]:
    return {"title": title, "abstract": f"{title} said. {TEXT}", "year": 2020} | fields


def ids(ws: Workspace) -> list[str]:
    return list(papers.paper_ids(ws.corpus)) if ws.has_corpus else []


SAME = "another record of a paper that is kept"


def test_a_paper_is_kept_once_within_a_file_across_files_and_across_calls(ws: Workspace, add: Add) -> None:
    first = record("First", doi="10.1000/a", pmid="1")
    found = add(first, record("First, again", pmid="1", openalex="W1"), record("Other", openalex="W1"))
    assert (found.read, found.kept, found.rejected) == (3, 1, {SAME: 2})
    assert found.same_paper == (("10.1000/a", "1"), ("10.1000/a", "W1"))
    later = add(record("In another file", openalex="W1"), record("New", pmid="2"), name="more.jsonl")
    assert (later.kept, later.rejected, later.same_paper) == (1, {SAME: 1}, (("10.1000/a", "W1"),))
    assert ids(ws) == ["10.1000/a", "2"]
    again = add(first | {"abstract": f"With another end. {TEXT}"}, first, name="again.jsonl")
    assert again.rejected == {"id seen before, other content": 1, "id seen before, same content": 1}
    assert (again.differing_ids, again.same_paper) == (("10.1000/a",), ())


def test_the_first_record_that_passes_the_filters_is_kept(ws: Workspace, add: Add) -> None:
    bare = {"title": "First", "abstract": None, "year": 2020, "doi": "10.1000/a", "openalex": "W1"}
    found = add(bare | {"cited": [["pmid", "2"]]}, record("First", doi="10.1000/a"), record("Other", pmid="2"))
    assert (found.kept, found.rejected, found.citations) == (2, {"no abstract": 1}, 1)
    assert cited_by(ws.corpus, ["10.1000/a"]) == {"10.1000/a": ("2",)}
    assert add(record("Second", openalex="W1"), name="more.jsonl").rejected == {SAME: 1}


def test_title_and_year_tell_a_paper_unless_the_title_is_one_of_many(ws: Workspace, add: Add) -> None:
    found = add(
        record(LONG, doi="10.1000/a"),
        record(f"<i>{LONG.upper()}</i>.", abstract=f"As a preprint. {TEXT}", openalex="W1"),
        record(LONG, doi="10.1000/b", year=2021),
        record(LONG, doi="10.1000/c", year=None),
        record("Editorial", pmid="1", abstract=f"On bees. {TEXT}"),
        record("Editorial", pmid="2", abstract=f"On ants. {TEXT}"),
        record("Editorial.", pmid="3", abstract=f"On  bees: {TEXT}"),
    )
    assert ids(ws) == ["10.1000/a", "10.1000/b", "10.1000/c", "1", "2"]
    assert found.same_paper == (("10.1000/a", "W1"), ("1", "3"))
    assert set(found.same_title) == {("10.1000/a", "10.1000/b"), ("10.1000/a", "10.1000/c"), ("1", "2")}


def test_the_order_of_the_ids_is_the_studys(ws: Workspace, add: Add, tmp_path: Path) -> None:
    add(record("First", doi="10.1000/a", pmid="1"))
    path = tmp_path / "more.jsonl"
    lines = (record("First", doi="10.1000/a", pmid="1"), record("Second", doi="10.1000/b", pmid="2"))
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    other = ws.replaced("corpus", ids=("pmid",))
    found = corpus.add(other, [path], form=LIBRARY, dry_run=False, advance=quietly)
    assert (found.same_paper, ids(ws)) == ((("10.1000/a", "1"),), ["10.1000/a", "2"])


CITING = record("Citing", doi="10.1000/a", cited=[["doi", "10.1000/B"], ["pmid", "2"], ["openalex", "W9"]])
CITED = record("Cited", doi="10.1000/b", pmid="2")


def test_a_paper_cites_by_any_id_papers_that_come_before_or_after(ws: Workspace, add: Add) -> None:
    assert add(CITING).citations == 3
    assert papers_of(ws, ["10.1000/a"])["10.1000/a"].citations == ("doi:10.1000/b", "pmid:2", "openalex:W9")
    add(CITED, name="more.jsonl")
    assert papers_of(ws, ["10.1000/a"])["10.1000/a"].citations == ("10.1000/b", "openalex:W9")
    add(record("Cited", openalex="W9", doi="10.1000/b"), name="openalex.jsonl")
    assert papers_of(ws, ["10.1000/a"])["10.1000/a"].citations == ("10.1000/b",)
    ((name, kept),) = [(one.name, one.kept) for one in added_files(ws.corpus)]
    assert (name, kept) == ("refs.jsonl", 3)


def contents(ws: Workspace) -> dict[str, bytes]:
    """Every file of the corpus but its times."""
    files = sorted(path for path in ws.corpus.rglob("*") if path.is_file())
    return {path.relative_to(ws.corpus).as_posix(): path.read_bytes() for path in files}


def test_the_same_file_again_changes_nothing(ws: Workspace, add: Add) -> None:
    add(CITING, CITED, CITED | {"doi": None, "openalex": "W2"})
    before = {path: path.stat().st_mtime_ns for path in ws.corpus.rglob("*") if path.is_file()}
    found = add(CITING, CITED, CITED | {"doi": None, "openalex": "W2"})
    assert (found.kept, found.citations) == (0, 3)
    assert {path: path.stat().st_mtime_ns for path in ws.corpus.rglob("*") if path.is_file()} == before
    with ws.reading() as session:
        assert broken_links(ws, session) == ()


def test_a_record_that_limits_left_out_does_not_come_back_beside_another_of_its_paper(ws: Workspace, add: Add) -> None:
    short = record("First", doi="10.1000/a", openalex="W1", abstract="One two three four. Five six seven eight.")
    found = add(short, record("First", openalex="W1"))
    assert (found.rejected, ids(ws)) == ({"too few sentences": 1}, ["W1"])
    path = Path(ws.root.parent / "refs.jsonl")
    wider = corpus.add(ws.replaced("corpus", min_sentences=1), [path], form=LIBRARY, dry_run=False, advance=quietly)
    assert (wider.kept, wider.same_paper, ids(ws)) == (0, (("W1", "10.1000/a"),), ["W1"])


def test_a_damaged_file_of_ids_is_named_with_its_remedy(ws: Workspace, add: Add) -> None:
    add(CITING, CITED)
    before = contents(ws)
    (file,) = (ws.corpus / IDS).glob("*.parquet")
    file.write_bytes(b"other")
    with pytest.raises(InputError, match=f"{file.name}: not a Parquet file"):
        add(CITING, CITED)
    file.unlink()
    add(CITING, CITED)
    assert contents(ws) == before


@pytest.mark.parametrize("at", ["append_parts", "write_corpus_manifest", "write_manifest", "write_citations_manifest"])
def test_a_command_that_was_killed_heals_when_it_runs_again(
    ws: Workspace, add: Add, at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = (CITING, CITED, CITED | {"doi": None, "openalex": "W2"}, record(LONG, openalex="W9"))

    class Killed(BaseException):
        """Nothing of the program catches it."""

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        place = next(module for module in (paper_ids, corpus_facts, corpus, papers) if hasattr(module, at))
        patched.setattr(place, at, killed)
        with pytest.raises(Killed):
            add(*records)
    add(*records)
    healed = contents(ws)
    whole = copied(Small(), "made", tmp_path / "whole").replaced("machine", processes=1)
    corpus.add(whole, [tmp_path / "refs.jsonl"], form=LIBRARY, dry_run=False, advance=quietly)
    assert healed == contents(whole)
    assert cited_by(ws.corpus, ["10.1000/a"]) == {"10.1000/a": ("10.1000/b", "W9")}


def test_a_paper_that_was_taken_out_comes_back_under_another_id(ws: Workspace, add: Add) -> None:
    add(CITING, CITED)
    remove_papers(ws.corpus, ["10.1000/b"])
    assert papers_of(ws, ["10.1000/a"])["10.1000/a"].citations == ("10.1000/b", "openalex:W9")
    found = add(record("Cited", pmid="2"), name="more.jsonl")
    assert (found.kept, ids(ws)) == (1, ["10.1000/a", "2"])
    assert papers_of(ws, ["10.1000/a"])["10.1000/a"].citations == ("10.1000/b", "2", "openalex:W9")


def test_a_query_names_its_paper_by_any_id(ws: Workspace, add: Add) -> None:
    add(record("First", doi="10.1000/a", pmid="1", openalex="W1"), record("Second", doi="10.1000/b", pmid="11"))
    for given in ("10.1000/a", "1", "pmid:1", "W1", "https://openalex.org/W1", "https://doi.org/10.1000/A"):
        assert query._paper(ws, given).title == "First"
    for given in ("W2", "pmid:2", "10.1000/c"):
        with pytest.raises(InputError, match="not known"):
            query.add(ws, given, facet="method", sentences="1", dry_run=True)
