"""A corpus that grows or is corrected after its pools were drawn: versions, and pools of the new documents alone."""

import json
import shlex
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import GROWN, Paper, Pool
from annot.corpus.versions import VersionWanted
from annot.formats.trec import read_run
from annot.pools import chain, drawn_pools, frozen_rankings
from annot.pools.frozen_rankings import ranked_corpus
from annot.steps import corpus, pool
from annot.store import pools as stored_pools
from annot.store.papers import corpus_sha256, paper_ids, read_papers
from annot.store.people import read_assignments
from annot.store.pools import read_corpus_versions, read_pools
from annot.study.workspace import Workspace
from command_line import annot, annot_done
from sklearn.feature_extraction.text import TfidfVectorizer
from study_stages import DEMO, NEW, copied, files_of, quietly, set_in, six


def pools_of(ws: Workspace) -> dict[str, Pool]:
    with ws.reading() as session:
        return read_pools(session)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(DEMO, "settled", tmp_path / "study")


@pytest.fixture
def second(ws: Workspace) -> Workspace:
    """A study with a second version of the corpus, whose documents no pool has yet."""
    wanted = VersionWanted("2027", "2026", "snapshot of May")
    corpus.add(ws, [six(ws)], form=None, dry_run=False, advance=quietly, version=wanted)
    return ws


def grow(ws: Workspace, **how: bool) -> pool.BuiltPools:
    return pool.build(ws, **{"grow": True, "dry_run": False, "advance": quietly} | how)


def test_six_papers_added_to_a_finished_study_end_in_a_plan_of_the_new_pairs(ws: Workspace) -> None:
    """The commands after the first are those that `next:` names."""
    name = six(ws).name
    with ws.reading() as session:
        planned = {*read_assignments(session)}
    refused = annot("corpus", "add", name, folder=ws.root)
    assert (refused.exit_code, "--version NAME --reason" in refused.stderr) == (2, True)
    said = annot_done("corpus", "add", name, "--version", "2027", "--reason", "snapshot of May", folder=ws.root)
    typed = []
    for _ in range(3):
        typed.append(said.next)
        said = annot_done(*typed[-1], folder=ws.root)
    assert [words[0] for words in typed] == ["facets", "pool", "plan"]
    assert said.next == ["push"]
    with ws.reading() as session:
        after = {*read_assignments(session)}
    assert planned <= after
    new = {assignment.pair for assignment in after - planned}
    assert {doc_id for _, doc_id in new} == {*NEW}
    assert {query_id for query_id, _ in new} == {query_id for query_id, _ in {one.pair for one in planned}}


def test_old_documents_stay_in_their_order_and_new_ones_have_two_ranks(second: Workspace) -> None:
    """The ranks among all and among the new follow from the cosines of scikit-learn."""
    before = pools_of(second)
    grow(second)
    papers = {paper.paper_id: " ".join(paper.sentences) for paper in read_papers(second.corpus)}
    vectors = TfidfVectorizer().fit_transform(papers.values())
    cosines = (vectors @ vectors.T).toarray()
    ids = list(papers)
    for topic_id, grown in pools_of(second).items():
        old = before[topic_id].entries
        assert grown.entries[: len(old)] == old
        new = grown.entries[len(old) :]
        assert {entry.doc_id for entry in new} == {*NEW}
        (addition,) = grown.additions
        assert (addition.method, addition.depth, addition.corpus) == (GROWN, before[topic_id].per_method, "2027")
        assert addition.reason == "snapshot of May"
        assert grown.methods == before[topic_id].methods
        scores = {ids[at]: -float(f"{score:.6g}") for at, score in enumerate(cosines[ids.index(topic_id)])}
        order = sorted((score, doc_id) for doc_id, score in scores.items() if doc_id != topic_id and score)
        ranking = [doc_id for _, doc_id in order]
        ranks = {
            entry.doc_id: (draw.rank, draw.new_rank)
            for entry in new
            for draw in (entry.drawn, *entry.also)
            if draw.method == "abs_tfidf"
        }
        among_new = [doc_id for doc_id in ranking if doc_id in NEW]
        assert ranks == {doc_id: (ranking.index(doc_id) + 1, at) for at, doc_id in enumerate(among_new, start=1)}


BY_WORDS = ("fabs_bm25", "fabs_tfidfcbow200", "fabs_tfidfppmi200", "lsa")


def test_a_run_of_an_earlier_version_is_the_same_bytes_as_in_its_time(ws: Workspace) -> None:
    """Weights of terms, lengths and vectors come from the documents of that version, also if its index is gone."""
    annot_done("run", *BY_WORDS, "--replace", folder=ws.root)
    then = {tag: ws.run_file(tag).read_bytes() for tag in BY_WORDS}
    trained = {tag: facts_of_run(ws.run_file(tag)) for tag in BY_WORDS}
    annot_done("corpus", "add", six(ws).name, "--version", "2027", "--reason", "May", folder=ws.root)
    grow(ws)
    annot_done("run", *BY_WORDS, folder=ws.root)
    annot_done("index", "--clean", folder=ws.root)
    annot_done("run", *BY_WORDS, "--corpus", "1", folder=ws.root)
    for tag in BY_WORDS:
        assert ws.run_file(tag).read_bytes() != then[tag], tag
        assert ws.run_file(f"1/{tag}").read_bytes() == then[tag], tag
    # Vectors are kept, unless annot.toml says otherwise; `annot corpus show` says which version they are of.
    by_vectors = BY_WORDS[1:3]
    kept = {tag: facts_of_run(ws.run_file(tag))["word_vectors"]["sha256"] for tag in by_vectors}
    assert kept == {tag: trained[tag]["word_vectors"]["sha256"] for tag in by_vectors}
    assert (
        "version 2027: 6 papers came; word vectors of version 1" in annot_done("corpus", "show", folder=ws.root).stdout
    )
    set_in(ws.root, {"word_vectors": {"trained_in": ["2027"]}})
    annot_done("run", *BY_WORDS, folder=ws.root)
    for tag in by_vectors:
        anew = facts_of_run(ws.run_file(tag))["word_vectors"]
        assert (anew["sha256"] != kept[tag], anew["abstracts"]) == (True, trained[tag]["word_vectors"]["abstracts"] + 6)
    annot_done("run", *BY_WORDS, "--corpus", "1", folder=ws.root)
    assert all(ws.run_file(f"1/{tag}").read_bytes() == then[tag] for tag in BY_WORDS)
    assert (
        "version 2027: 6 papers came; word vectors of version 2027"
        in annot_done("corpus", "show", folder=ws.root).stdout
    )


def facts_of_run(path: Path) -> dict[str, Any]:
    """Settings in the metadata of a run."""
    settings: dict[str, Any] = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["settings"]
    return settings


def test_a_version_without_new_documents_leaves_the_pools_as_they_are(ws: Workspace) -> None:
    (ws.root / "gone.txt").write_text(pools_of(ws)["fic0407"].entries[0].doc_id)
    words = ("corpus", "withdraw", "gone.txt", "--reason", "retracted", "--version", "2027")
    said = annot_done(*words, folder=ws.root)
    assert said.next == ["agreement"]
    files = files_of(ws.pools)
    assert annot_done("pool", "--grow", folder=ws.root).next == said.next
    assert files_of(ws.pools) == files
    corpus.add(
        ws, [six(ws)], form=None, dry_run=False, advance=quietly, version=VersionWanted("2028", None, "snapshot of May")
    )
    grow(ws)
    for grown in pools_of(ws).values():
        assert [(addition.corpus, {*addition.documents}) for addition in grown.additions] == [("2028", {*NEW})]


def test_every_version_is_drawn_again_from_the_files(second: Workspace) -> None:
    grow(second)
    replayed = drawn_pools.replay(second, advance=quietly)
    assert (replayed.differences, replayed.cited_since, replayed.cited_gone) == ({}, 0, 0)
    corpus.add(
        second,
        [six(second, ["late-1", "late-2"])],
        form=None,
        dry_run=False,
        advance=quietly,
        version=VersionWanted("2028", None, "snapshot of June"),
    )
    grow(second)
    assert {pool.of_corpus for pool in pools_of(second).values()} == {"2028"}
    assert drawn_pools.replay(second, advance=quietly).differences == {}
    annot_done("check", "pools", folder=second.root)
    annot_done("plan", "--grow", folder=second.root)
    annot_done("check", "files", folder=second.root)
    run = second.rankings / "2027" / "abs_tfidf.run"
    text = run.read_text(encoding="utf-8")
    assert {doc.doc_id for docs in read_run(text.splitlines(), name="2027").values() for doc in docs} == {*NEW}
    run.write_text(text + "\n", encoding="utf-8")
    changed = annot("check", "files", folder=second.root)
    assert (changed.exit_code, "pools/rankings/2027/abs_tfidf.run" in changed.stdout) == (1, True)


def test_a_smaller_number_and_only_one_topic_can_be_asked_for(second: Workspace) -> None:
    first, *others = sorted(pools_of(second))
    annot_done("pool", "--grow", "--per-method", "1", "--query", first, folder=second.root)
    grown = pools_of(second)
    (addition,) = grown[first].additions
    assert addition.depth == 1
    assert not any(grown[name].additions for name in others)
    assert drawn_pools.replay(second, advance=quietly).differences == {}


def test_the_same_again_changes_nothing_and_a_killed_growth_is_finished(
    second: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(frozen_rankings, "write_rankings", killed)
        with pytest.raises(Killed):
            grow(second)
    assert not any(pool.additions for pool in pools_of(second).values())
    with monkeypatch.context() as patched:
        patched.setattr(drawn_pools, "write_pools", killed)
        with pytest.raises(Killed):
            grow(second)
    assert annot("check", "pools", folder=second.root).exit_code != 0
    grow(second)
    assert drawn_pools.replay(second, advance=quietly).differences == {}
    files = files_of(second.pools)
    grow(second)
    assert files_of(second.pools) == files


def test_pools_on_record_are_not_drawn_in_another_way(second: Workspace) -> None:
    for words in (("--redraw",), ("--mode", "depth"), ("--seed", "5")):
        refused = annot("pool", "--grow", *words, folder=second.root)
        assert (refused.exit_code, "belong to versions of the corpus" in refused.message()) == (2, True)
    refused = annot("pool", folder=second.root)
    assert (refused.exit_code, "would be added to a study that was judged" in refused.message()) == (2, True)
    assert not any(pool.additions for pool in pools_of(second).values())


REFUSED = {
    "--version 2028": "--reason: found no words",
    "--version a/b --reason May": "expected letters",
    "--version 2026 --reason May": "an earlier version",
    "--version 2027 --reason May": "pools were drawn from it",
    "": "--version 2027 continues that version",
}


def test_a_version_that_cannot_be_is_refused_and_nothing_is_kept(second: Workspace) -> None:
    grow(second)
    six(second, ["late-1"])
    files = sorted(second.corpus.rglob("*"))
    for words, problem in REFUSED.items():
        refused = annot("corpus", "add", "late-1.jsonl", *words.split(), folder=second.root)
        assert (refused.exit_code, problem in refused.message()) == (2, True), refused.stderr
    assert sorted(second.corpus.rglob("*")) == files
    with second.reading() as session:
        assert [version.version for version in read_corpus_versions(session)] == ["2026", "2027"]


def test_a_version_that_is_added_twice_is_there_once(second: Workspace) -> None:
    name = f"{NEW[0]}.jsonl"
    again = annot_done("corpus", "add", name, "--version", "2027", "--reason", "May", "--json", folder=second.root)
    assert (again.data["kept"], again.data["version"]["is_new"]) == (0, False)
    # Until a pool has drawn from it, it can be completed.
    six(second, ["late-1"])
    annot_done("corpus", "add", "late-1.jsonl", "--version", "2027", "--reason", "May", folder=second.root)
    grow(second)
    for grown in pools_of(second).values():
        assert {doc_id for addition in grown.additions for doc_id in addition.documents} == {*NEW, "late-1"}


@pytest.mark.postgres
def test_two_additions_at_once_on_a_server_make_one_version_of_both(
    ws: Workspace, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process has papers of its own; the second waits for the first, and continues its version."""
    annot_done("backup", str(tmp_path / "study.zip"), folder=ws.root)
    monkeypatch.setenv("ANNOT_DATABASE", postgres_url)
    annot_done("restore", str(tmp_path / "study.zip"), "shared", folder=tmp_path)
    shared = Workspace.open(tmp_path / "shared")
    files = [six(shared), six(shared, ["late-1", "late-2"])]
    command = [sys.executable, "-c", "from annot.cli.main import run; run()", "corpus", "add"]
    words = ["--version", "2027", "--first", "2026", "--reason", "May", "--wait", "300"]
    started = [
        subprocess.Popen([*command, file.name, *words], cwd=shared.root, stderr=subprocess.PIPE, text=True)
        for file in files
    ]
    ended = [(process.communicate(timeout=300)[1], process.returncode) for process in started]
    assert [code for _, code in ended] == [0, 0], ended
    with shared.reading() as session:
        assert [version.version for version in read_corpus_versions(session)] == ["2026", "2027"]
    ids = [paper.paper_id for paper in read_papers(shared.corpus)]
    assert sorted(ids[-8:]) == sorted([*NEW, "late-1", "late-2"])
    grow(shared)
    for grown in pools_of(shared).values():
        assert {doc_id for addition in grown.additions for doc_id in addition.documents} <= {*ids[-8:]}
    assert drawn_pools.replay(shared, advance=quietly).differences == {}


def test_without_pools_all_documents_are_of_the_first_version(tmp_path: Path) -> None:
    ws = copied(DEMO, "queried", tmp_path / "study")
    with pytest.raises(InputError, match="there are no pools yet"):
        corpus.add(ws, [six(ws)], form=None, dry_run=False, advance=quietly, version=VersionWanted("2", None, "May"))


def test_pools_from_a_file_say_how_they_grow_by_a_method_or_by_a_second_file(tmp_path: Path) -> None:
    annot_done("init", "study", "--kind", "questions", folder=tmp_path)
    ws = Workspace.open(tmp_path / "study")
    texts = (
        "A wing lifts the body.",
        "No wing bends in a gale.",
        "Wind on one wing is drag.",
        "Heat wears a wing out.",
    )
    records = [json.dumps({"_id": f"d{at}", "title": f"Wing {at}", "text": text}) for at, text in enumerate(texts)]
    (ws.root / "old.jsonl").write_text("\n".join(records[:3]) + "\n")
    (ws.root / "new.jsonl").write_text(records[3] + "\n")
    (ws.root / "topics.jsonl").write_text(json.dumps({"_id": "q1", "text": "Which wing lifts?"}) + "\n")
    (ws.root / "mine.csv").write_text("query_id,doc_id,assessor,grade\nq1,d0,ann,1\nq1,d1,ann,0\n")
    for words in (
        "corpus add old.jsonl",
        "query add --file topics.jsonl",
        "import --as judgements mine.csv",
        "corpus add new.jsonl --version 2 --reason May",
    ):
        said = annot_done(*words.split(), folder=ws.root)
    assert said.next == ["import", "FILE", "--as", "judgements"]
    grown = annot_done("pool", "--grow", folder=ws.root)
    command = 'annot pool add --method abs_bm25 --depth NUMBER --grow --reason "WHY"'
    assert "1 pool came from a file without the rule by which it was drawn, and does not grow" in grown.stderr
    assert command in grown.message()
    other = Workspace.open(copytree(ws.root, tmp_path / "other"))
    annot_done(*shlex.split(command.replace("NUMBER", "4"))[1:], folder=ws.root)
    assert {entry.doc_id for entry in pools_of(ws)["q1"].entries} == {"d0", "d1", "d2", "d3"}
    assert "came from a file" not in annot_done("pool", "--grow", folder=ws.root).stderr
    # The qrels of the first version stay as they were.
    (other.root / "second.csv").write_text("query_id,doc_id,assessor,grade\nq1,d3,ann,1\nq1,d2,ann,1\n")
    said = annot_done("import", "--as", "judgements", "second.csv", folder=other.root)
    assert {entry.doc_id for entry in pools_of(other)["q1"].entries} == {"d0", "d1", "d2", "d3"}
    assert said.next == ["qrels"]
    assert "came from a file" not in annot_done("pool", "--grow", folder=other.root).stderr
    annot_done("qrels", folder=other.root)
    assert [
        [line.split()[2] for line in (other.exports / name).read_text().splitlines()]
        for name in ("qrels-1.txt", "qrels.txt")
    ] == [["d0", "d1"], ["d0", "d1", "d2", "d3"]]
    annot_done("check", "pools", folder=other.root)


def put(ws: Workspace, paper: Paper, *, corrected: str | None = None, **changes: object) -> corpus.AddedPapers:
    record = {name: value for name, value in asdict(paper).items() if name not in ("sentences", "labels", "part_of")}
    file = ws.root / "one.jsonl"
    file.write_text(json.dumps(record | {"abstract": list(paper.sentences)} | changes) + "\n", encoding="utf-8")
    return corpus.add(ws, [file], form=None, dry_run=False, advance=quietly, corrected=corrected)


def test_pools_stay_and_only_the_correction_is_told(tmp_path: Path) -> None:
    ws = copied(DEMO, "pooled", tmp_path / "study")
    first, second = list(read_papers(ws.corpus))[3:5]
    pools = {path.name: path.read_bytes() for path in ws.query_pools.glob("*.jsonl")}
    ranked = corpus_sha256(ws.corpus)
    put(ws, first, corrected="erratum", title="Corrected once")
    put(ws, second, corrected="erratum", title="Corrected, too")
    put(ws, first, corrected="another erratum", title="Corrected twice")
    found = ranked_corpus(ws)
    assert (found.corrected, found.unknown, found.added) == (tuple(sorted([first.paper_id, second.paper_id])), (), ())
    assert found.ranked == ranked != corpus_sha256(ws.corpus)
    put(
        ws, Paper("new-1", "A paper that was added later", tuple(f"Sentence {at} of the new paper." for at in range(4)))
    )
    assert ranked_corpus(ws).added == ("new-1",)
    with ws.reading() as session:
        assert list(chain.link_faults(ws, session, chain.CORPUS)) == []
    assert {path.name: path.read_bytes() for path in ws.query_pools.glob("*.jsonl")} == pools
    assert drawn_pools.replay(ws, advance=quietly).differences == {}


def test_a_correction_that_is_killed_is_finished_by_the_same_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annot.corpus import corpus_facts

    ws = copied(DEMO, "pooled", tmp_path / "study")
    chosen = list(read_papers(ws.corpus))[5]

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(corpus_facts, "replace_papers", killed)
        with suppress(Killed):
            put(ws, chosen, corrected="erratum", title="Corrected")
    assert len(list(paper_ids(ws.corpus))) == len(set(paper_ids(ws.corpus)))
    put(ws, chosen, corrected="erratum", title="Corrected")
    assert list(read_papers(ws.corpus))[5].title == "Corrected"
    with ws.reading() as session:
        from annot.store.shown import read_versions

        assert [one.why for one in read_versions(session, "text")["text", chosen.paper_id]] == [None, "erratum"]
    assert ranked_corpus(ws).unknown == ()


def test_a_new_query_gets_a_pool_from_the_corrected_corpus_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pools on record are judged, so they cannot be drawn again; a restored text is ranked as before."""
    ws = copied(DEMO, "settled", tmp_path / "study")
    with ws.reading() as session:
        drawn = stored_pools.read_pools(session)
    pooled = {entry.doc_id for pool in drawn.values() for entry in pool.entries}
    papers = {paper.paper_id: paper for paper in read_papers(ws.corpus)}
    new = next(name for name in papers if name not in {*drawn, *pooled})
    put(ws, papers[sorted(pooled - drawn.keys())[0]], corrected="erratum", title="Corrected")
    before = {path.name: path.read_bytes() for path in ws.query_pools.glob("*.jsonl")}
    annot_done("query", "add", new, "--facet", "method", folder=ws.root)
    annot_done("pool", "--query", f"{new}-method", folder=ws.root)
    after = {path.name: path.read_bytes() for path in ws.query_pools.glob("*.jsonl")}
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {f"{new}.jsonl"}
    manifest = json.loads((ws.rankings / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["corpora"] == {new: corpus_sha256(ws.corpus)}
    assert ranked_corpus(ws).unknown == ranked_corpus(ws).added == ()
    assert annot("check", "pools", folder=ws.root).exit_code == 0
    # Papers that were added without a version, as before 1.1, are another matter: no pool on record can hold them.
    monkeypatch.setattr(corpus, "begin_version", lambda *_, **__: None)
    put(ws, Paper("new-1", "A paper that was added later", tuple(f"Sentence {at} of it is here." for at in range(4))))
    refused = annot("pool", "--query", f"{new}-method", folder=ws.root)
    assert refused.exit_code == 2
    assert "the corpus has changed since the other pools were drawn" in refused.stderr
