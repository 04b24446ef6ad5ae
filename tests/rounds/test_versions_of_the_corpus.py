"""Qrels of each version of a corpus, and documents that are withdrawn while people judge."""

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import pytrec_eval
from annot.base.errors import InputError
from annot.base.records import GROWN, Addition, Draw, Gold, PoolEntry, nested
from annot.corpus import versions
from annot.corpus.versions import VersionWanted, withdraw
from annot.formats.trec import read_qrels, read_run
from annot.judging.plan_on_record import check
from annot.judging.stage import next_of
from annot.judging.trial_answers import FEEDBACK, ROUNDS, TRIAL, training_of
from annot.judging.trial_draws import assigned
from annot.labelstudio.tasks import split_key
from annot.pools.drawn_pools import write_pools
from annot.steps import corpus, plan, qrels
from annot.store import facet_labels, trials
from annot.store.pools import (
    documents_by_query,
    queries_by_id,
    read_corpus_versions,
    read_pools,
    read_queries,
    read_rankings_sha256,
    read_withdrawn,
    replace_pools,
)
from annot.study.workspace import Workspace
from command_line import annot, annot_done
from small_study import LABELS
from study_stages import quietly
from test_labels_round import corrected
from worlds import PEOPLE, QUERY, Pair, World

NEW = "late-1"
SECOND = VersionWanted("2027", "2026", "snapshot of May")


@pytest.fixture
def second(sent: World) -> World:
    """All pairs judged, and a second version of the corpus, whose document is in the pools and in the plan."""
    for name in ("a1", "a2"):
        sent.judge(name, dict.fromkeys(sent.pairs, 1))
    sent.pull()
    grow(sent.ws, NEW, SECOND)
    return sent


def grow(ws: Workspace, name: str, version: VersionWanted) -> None:
    """A document comes, pools draw it (as in `annot pool --grow`, without rankings), and it is planned."""
    file = ws.root / f"{name}.jsonl"
    record = {"paper_id": name, "title": f"Title of {name}", "labels": LABELS}
    abstract = [f"Sentence {number} of {name} is long enough to be kept." for number in LABELS]
    file.write_text(json.dumps(record | {"abstract": abstract}), encoding="utf-8")
    corpus.add(ws, [file], form=None, dry_run=False, advance=quietly, version=version)
    with ws.writing() as session:
        before = facet_labels.read_labels(session)
        facet_labels.replace_labels(session, [*before, facet_labels.FacetLabels(name, LABELS, "carried")])
        grown = []
        for pool in read_pools(session).values():
            addition = Addition(2 + len(pool.additions), GROWN, 5, (name,), "why", "me", None, version.version)
            entry = PoolEntry(name, Draw("title_tfidf", 9, 0.1, len(pool.entries) + 1, 1))
            grown.append(replace(pool, entries=(*pool.entries, entry), additions=(*pool.additions, addition)))
        replace_pools(session, grown, rankings_sha256=read_rankings_sha256(session))
    write_pools(ws, grown)
    plan.make(ws, queries=(), shares={}, seed=None, grow=True, dry_run=False)


def pairs_of(ws: Workspace, name: str) -> list[Pair]:
    with ws.reading() as session:
        return [
            (query_id, name) for query_id, docs in documents_by_query(session, withdrawn=True).items() if name in docs
        ]


def open_pairs(made: World, name: str, round: str = "judge") -> list[Pair]:
    """The pairs of the person's tasks without an answer."""
    answered = {annotation["task"] for annotation in made.studio.annotations.values()}
    return [split_key(key).pair for key, task in made.tasks(name, round).items() if task not in answered]


def judge(made: World, grade: int, *names: str) -> None:
    """The plan is sent, and everyone gives these documents this grade."""
    made.push()
    for name in ("a1", "a2"):
        theirs = [pair for pair in open_pairs(made, name) if pair[1] in names]
        made.judge(name, dict.fromkeys(theirs, grade))
    made.pull()


def grades(ws: Workspace, file: str) -> dict[Pair, int]:
    text = (ws.exports / file).read_text(encoding="utf-8")
    return {(qrel.query_id, qrel.doc_id): qrel.relevance for qrel in read_qrels(text.splitlines(), name=file)}


def test_the_qrels_of_an_earlier_version_are_the_same_bytes_for_ever(second: World) -> None:
    with second.ws.reading() as session:
        first, newest = read_corpus_versions(session)
    assert newest.qrels is None
    # Of the second version no pair is judged yet, and the first is finished.
    qrels.write(second.ws, partial=True)
    old = (second.ws.exports / "qrels-2026.txt").read_bytes()
    assert old == second.ws.qrels.read_bytes() == (first.qrels or "").encode()
    judge(second, 2, NEW)
    qrels.write(second.ws, partial=False)
    assert grades(second.ws, "qrels.txt") == grades(second.ws, "qrels-2026.txt") | dict.fromkeys(
        pairs_of(second.ws, NEW), 2
    )
    # A third version, and an old pair that is decided in another way.
    grow(second.ws, "late-2", VersionWanted("2028", None, "snapshot of June"))
    second.judge("a1", {second.pairs[0]: 3})
    second.pull()
    (second.ws.exports / "qrels-2026.txt").unlink()
    qrels.write(second.ws, partial=True)
    assert (second.ws.exports / "qrels-2026.txt").read_bytes() == old
    assert second.pairs[0] not in grades(second.ws, "qrels.txt")
    assert {doc_id for _, doc_id in grades(second.ws, "qrels-2027.txt")} == {NEW, *(doc for _, doc in second.pairs)}
    assert annot("check", "files", folder=second.folder).exit_code == 0


def test_a_version_with_open_pairs_has_its_qrels_once_they_are_closed(sent: World) -> None:
    pairs = sent.pairs
    for name, theirs in (("a1", pairs), ("a2", pairs[1:])):
        sent.judge(name, dict.fromkeys(theirs, 1))
    sent.pull()
    grow(sent.ws, NEW, SECOND)
    qrels.write(sent.ws, partial=True)
    assert not (sent.ws.exports / "qrels-2026.txt").exists()
    sent.judge("a2", {pairs[0]: 1})
    sent.pull()
    qrels.write(sent.ws, partial=True)
    assert grades(sent.ws, "qrels-2026.txt") == dict.fromkeys(pairs, 1)


def test_a_document_that_is_withdrawn_while_its_task_is_open_is_shown_no_more(second: World) -> None:
    second.push()
    (pair,) = pairs_of(second.ws, NEW)
    assert all(pair in open_pairs(second, name) for name in ("a1", "a2"))
    # One person answers before, and is not asked again; the other has it open.
    second.judge("a1", {pair: 3})
    second.pull()
    found = withdraw(second.ws, [NEW], reason="retracted", version=VersionWanted(), dry_run=False)
    assert (found.documents, found.version, found.pairs, found.judged) == ((NEW,), "2027", 1, 1)
    assert next_of(second.ws).command == "annot push"
    second.push()
    assert pair not in open_pairs(second, "a2")
    assert next_of(second.ws).command not in ("annot push", "annot pull", "annot plan --grow")
    outcome = second.outcome
    assert (outcome.incomplete, outcome.open, outcome.progress.left) == ((), (), 0)
    qrels.write(second.ws, partial=False)
    assert NEW not in {doc_id for _, doc_id in grades(second.ws, "qrels.txt")}
    assert check(second.ws).faults == ()
    plan.make(second.ws, queries=(), shares={}, seed=None, grow=True, dry_run=False)
    second.push()
    assert pair not in open_pairs(second, "a2")
    again = withdraw(second.ws, [NEW], reason="retracted", version=VersionWanted(), dry_run=False)
    assert (again.documents, again.known) == ((), (NEW,))


def test_a_judged_document_that_is_withdrawn_stays_in_earlier_qrels(sent: World) -> None:
    for name in ("a1", "a2"):
        sent.judge(name, dict.fromkeys(sent.pairs, 1))
    sent.pull()
    gone = sent.pairs[0][1]
    with pytest.raises(InputError, match="the corpus has only one version"):
        withdraw(sent.ws, [gone], reason="retracted", version=VersionWanted(), dry_run=False)
    withdraw(sent.ws, [gone], reason="retracted", version=VersionWanted("2027", "2026"), dry_run=False)
    qrels.write(sent.ws, partial=False)
    assert grades(sent.ws, "qrels-2026.txt") == dict.fromkeys(sent.pairs, 1)
    assert grades(sent.ws, "qrels.txt") == {pair: 1 for pair in sent.pairs if pair[1] != gone}


def test_a_dispute_about_a_withdrawn_document_goes_to_no_adjudicator(judged: World) -> None:
    first, *others = judged.outcome.open
    withdraw(judged.ws, [first[1]], reason="retracted", version=VersionWanted("2", None), dry_run=False)
    judged.push("adjudication")
    assert {*open_pairs(judged, "j1", "adjudicate")} == {pair for pair in others if pair[1] != first[1]}
    assert first not in judged.outcome.open


def test_a_dispute_that_is_open_when_its_document_is_withdrawn_is_taken_back(judged: World) -> None:
    """One dispute is open and one was just settled on the server: the answer comes back, and counts no more."""
    judged.push("adjudication")
    first, second, *others = judged.disputed
    judged.judge("j1", {second: 2}, "adjudicate")
    gone = [first[1], second[1]]
    withdraw(judged.ws, gone, reason="retracted", version=VersionWanted("2", None), dry_run=False)
    judged.push("adjudication")
    judged.pull("adjudication")
    assert {*open_pairs(judged, "j1", "adjudicate")} == {*others}
    assert {first, second}.isdisjoint({qrel[:2] for qrel in judged.outcome.qrels})
    judged.push("adjudication")
    assert {*open_pairs(judged, "j1", "adjudicate")} == {*others}


def test_a_withdrawn_query_paper_keeps_its_queries_and_a_withdrawn_paper_stays_so(second: World) -> None:
    (query,) = {query_id for query_id, _ in second.pairs}
    with second.ws.reading() as session:
        paper = queries_by_id(session)[query].topic_id
    second.ws.root.joinpath("ids.txt").write_text(f"{paper}\n{NEW}\n", encoding="utf-8")
    said = annot_done("corpus", "withdraw", "ids.txt", "--reason", "retracted", folder=second.folder)
    assert f"{query}: queries about these stay" in said.stderr
    third = ("--version", "2028", "--reason", "June")
    again = annot_done("corpus", "add", f"{NEW}.jsonl", *third, folder=second.folder)
    assert f"1 paper was withdrawn and stays so: {NEW}" in again.stdout
    # Without a new document, no version has begun.
    with second.ws.reading() as session:
        assert [version.version for version in read_corpus_versions(session)] == ["2026", "2027"]
        assert {*read_withdrawn(session)} == {paper, NEW}
        assert documents_by_query(session)[query] == tuple(doc_id for _, doc_id in second.pairs)


def test_an_open_task_of_labels_stays_with_the_query_of_a_withdrawn_paper(planned: World) -> None:
    """The queries about the paper stay, and so do their sentences and who corrects their labels; a document of the
    pools that is withdrawn with it changes nothing of that."""
    planned.push("labels", assessor=("a1",))
    (task,) = planned.studio.tasks_of(planned.project("a1", "labels"))
    gone = ["p1", planned.pairs[0][1]]
    found = withdraw(planned.ws, gone, reason="retracted", version=VersionWanted("2", None), dry_run=False)
    assert (found.queries, found.pairs) == ((QUERY,), 1)
    again = planned.push("labels", assessor=("a1",))
    assert [(row.planned, row.sent, row.withdrawn) for row in again.projects] == [(1, 0, 0)]
    assert [kept["id"] for kept in planned.studio.tasks_of(planned.project("a1", "labels"))] == [task["id"]]
    planned.studio.annotate(task["id"], corrected("background", "method", "method"), email=PEOPLE["a1"])
    (row,) = planned.pull("labels").assessors
    assert (row.judged, row.lost) == (1, 0)
    with planned.ws.reading() as session:
        assert [query.sentences for query in read_queries(session)] == [(1, 2)]


def test_the_sheet_of_errors_has_no_withdrawn_document_but_the_words_on_it(sent: World) -> None:
    """All documents are relevant, so that runs have some far down; the lead has said of one error what kind it is, and
    not yet of another."""
    for name in ("a1", "a2"):
        sent.judge(name, dict.fromkeys(sent.pairs, 3))
    sent.pull()
    done = partial(annot_done, folder=sent.folder)
    done("qrels")
    done("run", "fabs_tfidf", "fabs_bm25")
    done("errors")
    path = sent.ws.root / "errors.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    said, unsaid, *_ = rows
    text = path.read_text(encoding="utf-8-sig")
    line = next(line for line in text.splitlines() if said["doc_id"] in line.split(",")[1])
    path.write_text(text.replace(line, line.replace(",,", ",salient aspects,", 1)), encoding="utf-8")
    gone = [said["doc_id"], unsaid["doc_id"]]
    withdraw(sent.ws, gone, reason="retracted", version=VersionWanted("2", None), dry_run=False)
    done("qrels")
    done("errors")
    with path.open(encoding="utf-8-sig", newline="") as file:
        after = {row["doc_id"]: row for row in csv.DictReader(file)}
    assert unsaid["doc_id"] not in after
    kept = after[said["doc_id"]]
    assert (kept["kind"], kept["grade"], kept["irrelevant_near_the_top"]) == ("salient aspects", "", "")
    assert after.keys() == {row["doc_id"] for row in rows} - {unsaid["doc_id"]}


def test_runs_of_several_versions_are_never_compared_and_each_version_has_its_scores(judged: World) -> None:
    """The scores of the earlier version are those of pytrec_eval on its qrels."""
    judged.push("adjudication")
    judged.judge("j1", dict.fromkeys(judged.disputed, 2), "adjudicate")
    judged.pull("adjudication")
    done = partial(annot_done, folder=judged.folder)
    done("qrels")
    done("run", "fabs_tfidf", "fabs_bm25")
    grow(judged.ws, NEW, SECOND)
    judge(judged, 3, NEW)
    done("qrels")
    refused = annot("evaluate", folder=judged.folder)
    assert refused.exit_code == 2
    for words in ("fabs_bm25: ranks version 2026", "annot run fabs_bm25 fabs_tfidf", "annot evaluate --corpus 2026"):
        assert words in refused.message()
    then = done("evaluate", "--corpus", "2026", "--json").data
    done("run", "fabs_tfidf", "fabs_bm25")
    now = done("evaluate", "--json").data
    assert (then["corpus"], now["corpus"]) == ("2026", "2027")
    # The runs of then were kept when those of now took their places.
    kept = done("evaluate", "--corpus", "2026", "--json").data
    assert kept == then
    assert json.loads((judged.ws.runs / "fabs_bm25.json").read_text("utf-8"))["convention"] == "csfcube"
    restated = now["versions"]
    last = {(row["facet"], row["run"]): row["value"] for row in restated if row["corpus"] == "2027"}
    before = {(row["facet"], row["run"]): row["value"] for row in restated if row["corpus"] == "2026"}
    lines = {
        (row["facet"], row["run"]): row["values"]["NDCG%20"] for row in kept["lines"] if row["convention"] == "csfcube"
    }
    assert before == {key: lines[key] for key in last}
    for row in restated:
        if row["since"]:
            parts = [row[name]["value"] for name in ("difference", "by_documents", "by_queries")]
            assert parts == pytest.approx([last[row["facet"], row["run"]] - before[row["facet"], row["run"]]] * 2 + [0])
    done("run", "fabs_ppmi200")
    said = annot("evaluate", folder=judged.folder)
    assert "annot run fabs_ppmi200 --corpus 2026" in said.stderr
    done("run", "fabs_tfidf", "fabs_bm25", "--corpus", "2026")
    again = done("evaluate", "--corpus", "2026", "--json").data
    for data, file, folder in (
        (now, "qrels.txt", judged.ws.runs),
        (again, "qrels-2026.txt", judged.ws.runs / "2026"),
    ):
        qrel = nested((query_id, doc_id, grade) for (query_id, doc_id), grade in grades(judged.ws, file).items())
        measures = pytrec_eval.RelevanceEvaluator(qrel, {"ndcg", "map"})
        for tag in ("fabs_tfidf", "fabs_bm25"):
            run = read_run((folder / f"{tag}.run").read_text("utf-8").splitlines(), name=tag)
            scores = {query_id: {doc.doc_id: doc.score for doc in docs} for query_id, docs in run.items()}
            assert (NEW in scores[judged.pairs[0][0]]) is (data is now)
            expected = measures.evaluate(scores)
            for query_id, found in data["queries"][tag]["trec"].items():
                assert found["values"]["nDCG"] == pytest.approx(expected[query_id]["ndcg"], abs=1e-6)
    assert annot("run", "--corpus", "2025", folder=judged.folder).exit_code == 2
    about = json.loads((judged.ws.runs / "2026" / "fabs_bm25.json").read_text("utf-8"))
    assert about["settings"]["corpus"] == "2026"
    # A run of this year on last year's qrels: the documents that came since are named; a run of that year has none.
    of_2026 = ("--qrels", "exports/qrels-2026.txt")
    warned = done("evaluate", "exports/runs/fabs_bm25.run", *of_2026, "--json")
    documents = len({*run_of(judged.ws.run_file("fabs_bm25"))})
    for words in (f"1 of its {documents} documents are not in version 2026", f": {NEW};", "ranks version 2027,"):
        assert words in warned.stderr
    assert warned.data["corpus"] == "2026"
    assert "are not in" not in done("evaluate", "exports/runs/2026/fabs_bm25.run", *of_2026).stderr
    assert "are not in" not in done("evaluate", "fabs_bm25", "--qrels", "exports/qrels.txt").stderr
    mixed = annot("evaluate", "exports/runs/2026/fabs_tfidf.run", "fabs_bm25", *of_2026, folder=judged.folder)
    assert (mixed.exit_code, "runs of other versions" in mixed.message()) == (2, True)
    # The document is withdrawn now: the qrels of this year do not have it, and the run still ranks it.
    withdraw(judged.ws, [NEW], reason="retracted", version=VersionWanted(), dry_run=False)
    done("qrels")
    assert (
        f"are not in version 2027 of the corpus, which exports/qrels.txt is of: {NEW};"
        in done("evaluate", "fabs_bm25", "--qrels", "exports/qrels.txt").stderr
    )
    # The record of a kept run that was changed by hand is named, with the command that makes it again.
    for text in ("{", "{}", "[]"):
        (judged.ws.runs / "2026" / "fabs_bm25.json").write_text(text, encoding="utf-8")
        broken = annot("evaluate", "--corpus", "2026", folder=judged.folder)
        assert (broken.exit_code, "fabs_bm25.json: not the record" in broken.message()) == (2, True)


def run_of(path: Path) -> list[str]:
    """Documents in a run, each as often as it is ranked."""
    return [line.split()[2] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("ids", "reason", "problem"),
    [(["d00", "nobody"], "retracted", "1 document not in the corpus"), (["d00"], " ", "found no words")],
)
def test_nothing_is_withdrawn_by_a_wrong_list(second: World, ids: list[str], reason: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        withdraw(second.ws, ids, reason=reason, version=VersionWanted(), dry_run=False)
    second.ws.root.joinpath("ids.txt").write_text("d00\nd01\n", encoding="utf-8")
    said = annot("corpus", "withdraw", "ids.txt", "--reason", "why", "--dry-run", folder=second.folder)
    assert (said.exit_code, "2 documents would be withdrawn from version 2027" in said.stdout) == (0, True)
    with second.ws.reading() as session:
        assert documents_by_query(session) == documents_by_query(session, withdrawn=True)


def test_no_trial_shows_a_withdrawn_document_again(settled: World) -> None:
    """In training one pair is open and one was answered; both documents are withdrawn, and others go on."""
    open_one, answered, other = [(QUERY, doc_id) for _, doc_id in settled.pairs[:3]]
    with settled.ws.writing() as session:
        golden = [Gold(*pair, 1, "Both count cells.", at) for at, pair in enumerate((open_one, answered, other), 1)]
        trials.replace_gold(session, golden)
        trials.add_assignments(session, ROUNDS["abstract"], assigned("j1", settled.pairs))
        trials.put_trial(session, TRIAL, {"assessor": "j1"})
    settled.push("training", assessor=("j1",))
    settled.push("substudy", view="abstract")
    settled.judge("j1", {answered: 1}, "train")
    settled.pull("training")
    withdrawn = [open_one[1], answered[1]]
    withdraw(settled.ws, withdrawn, reason="retracted", version=VersionWanted("2", None), dry_run=False)
    settled.push("training", assessor=("j1",))
    settled.push("substudy", view="abstract")
    assert open_pairs(settled, "j1", "train") == [other]
    assert {*open_pairs(settled, "j1", ROUNDS["abstract"])} == {
        pair for pair in settled.pairs if pair[1] not in withdrawn
    }
    settled.judge("j1", {other: 1}, "train")
    settled.pull("training")
    settled.push("training", assessor=("j1",))
    assert open_pairs(settled, "j1", FEEDBACK) == [other]
    with settled.ws.reading() as session:
        (trained,) = training_of(settled.ws, session)
    assert (trained.gold, trained.answered) == (2, 2)
    # Nothing that is drawn from settled pairs has them, either.
    assert {decision.doc_id for decision in settled.outcome.decisions} >= {*withdrawn}
    assert {decision.doc_id for decision in settled.outcome.to_show}.isdisjoint(withdrawn)


class Killed(BaseException):
    pass


def killed(*_: object, **__: object) -> None:
    raise Killed


def test_a_withdrawal_that_was_killed_is_finished_and_two_at_once_are_one(
    sent: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    doc_id = sent.pairs[0][1]
    again = partial(
        withdraw, sent.ws, [doc_id], reason="retracted", version=VersionWanted("2027", "2026"), dry_run=False
    )
    with monkeypatch.context() as patched:
        patched.setattr(versions, "withdraw_documents", killed)
        with pytest.raises(Killed):
            again()
    with sent.ws.reading() as session:
        assert read_withdrawn(session) == {}

    with ThreadPoolExecutor(2) as pool:
        both = [future.result() for future in [pool.submit(again) for _ in range(2)]]
    assert sorted((found.documents, found.known) for found in both) == [((), (doc_id,)), ((doc_id,), ())]
    with sent.ws.reading() as session:
        assert [*read_withdrawn(session)] == [doc_id]
        assert [version.version for version in read_corpus_versions(session)] == ["2026", "2027"]


def test_an_addition_that_was_killed_is_finished_by_the_same_command(
    sent: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kills come when the version is on record alone, and when the document is in the corpus too."""
    for place in ("annot.store.papers.append_parts", "annot.corpus.corpus_facts.write_corpus_manifest"):
        with monkeypatch.context() as patched:
            patched.setattr(place, killed)
            with pytest.raises(Killed):
                grow(sent.ws, NEW, SECOND)
    grow(sent.ws, NEW, SECOND)
    with sent.ws.reading() as session:
        assert [version.version for version in read_corpus_versions(session)] == ["2026", "2027"]
    assert pairs_of(sent.ws, NEW)
    files = sorted(sent.ws.corpus.rglob("*.parquet"))
    file = sent.ws.root / f"{NEW}.jsonl"
    refused = annot("corpus", "add", str(file), "--version", "2026", "--reason", "May", folder=sent.folder)
    assert (refused.exit_code, "an earlier version" in refused.message()) == (2, True)
    same = annot("corpus", "add", str(file), "--version", "2027", "--reason", "May", folder=sent.folder)
    assert (same.exit_code, sorted(sent.ws.corpus.rglob("*.parquet"))) == (0, files), same.stderr
