"""Every state in which a study says something untrue: it is made on a finished study, and each place speaks of it."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pyarrow.parquet
import pytest
from annot.base.names import sha256_of
from annot.base.records import Judgement
from annot.base.words import ENGLISH, read_words
from annot.corpus.corpus_facts import write_corpus_manifest
from annot.judging import states as state_memory
from annot.judging.exchange.outgoing import TaskMaterial, form_of
from annot.judging.exchange.servers import PARTS
from annot.judging.states import STATES, STUDY_PARTS, Examination, StudyState, remembered_findings, words_of
from annot.publishing.report import figures
from annot.publishing.report.notices import RESTS_ON
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.papers import find_papers, paper_ids
from annot.store.people import read_assignments
from annot.store.pools import documents_by_query, read_queries
from annot.store.shown import SHOWN_CONTENT_TABLE, as_json, read_versions, record_versions, version
from annot.study import guidelines
from annot.study.provenance import states_of
from annot.study.workspace import Workspace
from command_line import annot, annot_done
from study_answers import PULLED_AT
from study_stages import copied, published, set_in

NEW = [f"new{number}" for number in range(6)]
"""Papers that are added after the pools were drawn."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that is judged and settled, with a run of one system: the report is next."""
    folder = tmp_path_factory.mktemp("finished") / "study"
    copied(replace(published(1), frozen_runs=False), "settled", folder)
    record_as_sent(Workspace.open(folder))
    for typed in (("agreement",), ("qrels",), ("run", "lsa"), ("evaluate",)):
        annot_done(*typed, folder=folder)
    assert annot_done("status", folder=folder).stdout.partition("next: ")[2].startswith("annot report ")
    return folder


def record_as_sent(ws: Workspace) -> None:
    """The versions that a push of the plan would have put on record."""
    with ws.reading() as session:
        pairs = {one.pair for one in read_assignments(session)}
    contents = form_of(ws, PARTS["judge"], TaskMaterial(ws, pairs), ENGLISH).contents
    with ws.writing() as session:
        record_versions(
            session, [version(*key, body, since="2021-01-01T00:00:00+00:00") for key, body in contents.items()]
        )


@pytest.fixture
def ws(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    # Drawings take most of the time of a release, and say nothing of states.
    monkeypatch.setattr(figures.Drawing, "on_page", "<svg></svg>")
    shutil.copytree(finished, tmp_path / "study")
    return Workspace.open(tmp_path / "study")


# -- how a study gets into each state ----------------------------------------------------------------------------------


def changed_rows(statement: str) -> Callable[[Workspace], None]:
    """What somebody does who writes into the database by hand."""

    def change(ws: Workspace) -> None:
        with closing(sqlite3.connect(ws.root / "annot.db")) as database, database:
            for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                database.execute(f"DROP TRIGGER {trigger}")
            assert database.execute(statement).rowcount == 1

    return change


def longer(pattern: str, more: bytes = b"\n") -> Callable[[Workspace], None]:
    """Something is put at the end of a file."""

    def change(ws: Workspace) -> None:
        path = sorted(ws.root.glob(pattern))[0]
        path.write_bytes(path.read_bytes() + more)

    return change


def twice_in_a_ranking(ws: Workspace) -> None:
    path = sorted(ws.rankings.glob("*.run"))[0]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join((*lines, lines[0])), encoding="utf-8")


def other_grade_in_the_qrels(ws: Workspace) -> None:
    first, rest = ws.qrels.read_text(encoding="utf-8").split("\n", 1)
    ws.qrels.write_text(f"{first[:-1]}{3 - int(first[-1])}\n{rest}", encoding="utf-8")


def packed_otherwise(ws: Workspace) -> None:
    (part,) = ws.corpus.glob("*.parquet")
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(part), part, compression="gzip")


def another_title(*, judged: bool) -> Callable[[Workspace], None]:
    """Another record of a paper is in the corpus. judged: of one that people saw, in a corpus that was made again."""

    def change(ws: Workspace) -> None:
        (part,) = ws.corpus.glob("*.parquet")
        table = pyarrow.parquet.read_table(part)
        titles, place = table.column("title").to_pylist(), table.column("paper_id").to_pylist().index(paper(ws, judged))
        titles[place] = "A title that no method ranked"
        at, field = table.schema.get_field_index("title"), table.schema.field("title")
        pyarrow.parquet.write_table(table.set_column(at, field, [titles]), part)
        if judged:
            write_corpus_manifest(ws)

    return change


def corrected(*, judged: bool) -> Callable[[Workspace], None]:
    """A paper is corrected with a reason. judged: one that was judged before."""

    def correct(ws: Workspace) -> None:
        (text,) = find_papers(ws.corpus, [paper(ws, judged)]).values()
        record = {"paper_id": text.paper_id, "title": f"{text.title}, corrected", "abstract": text.sentences}
        record |= {"year": text.year, "labels": text.labels, "citations": text.citations}
        (ws.root / "corrected.jsonl").write_text(json.dumps(record), encoding="utf-8")
        annot_done("corpus", "add", "corrected.jsonl", "--corrected", "a slip", folder=ws.root)
        if judged:
            # The answers of this study have moments that are still to come.
            later = "since = '2031-01-01T00:00:00+00:00' WHERE part = 'text' AND since > '2022'"
            changed_rows(f"UPDATE shown_version SET {later}")(ws)

    return correct


def paper(ws: Workspace, judged: bool) -> str:
    """The first paper of the qrels, or the first of the corpus that is in no pool."""
    graded = [line.split()[2] for line in ws.qrels.read_text(encoding="utf-8").splitlines()]
    with ws.reading() as session:
        pooled = {doc_id for documents in documents_by_query(session).values() for doc_id in documents}
        pooled |= {query.topic_id for query in read_queries(session)}
    return graded[0] if judged else next(name for name in paper_ids(ws.corpus) if name not in pooled)


def papers_added(ws: Workspace) -> None:
    text = [f"This sentence is number {number} of an abstract of some length." for number in range(4)]
    lines = [json.dumps({"paper_id": name, "title": f"Title of {name}", "abstract": [name, *text]}) for name in NEW]
    (ws.root / "more.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert added_without_version(ws)["kept"] == len(NEW)


def added_without_version(ws: Workspace) -> Any:
    """What `corpus add` says where it asks for no version, as before 1.1."""
    with mock.patch("annot.steps.corpus.begin_version", return_value=None):
        return annot_done("corpus", "add", "more.jsonl", "--json", folder=ws.root).data


def cited_later(ws: Workspace) -> None:
    (ws.root / "edges.csv").write_text("fic0407,fic0101\nfic0407,fic0102\n", encoding="utf-8")
    annot_done("import", "--as", "citations", "edges.csv", folder=ws.root)
    # As if there had been others when the pools were drawn.
    pools, plan = ws.pools / "manifest.json", ws.pools / "plan.manifest.json"
    for path, source, sha256 in (
        (pools, "corpus/citations/manifest.json", "0" * 64),
        (plan, "pools/manifest.json", ""),
        (ws.exports / "qrels.manifest.json", "pools/plan.manifest.json", ""),
    ):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        manifest["inputs"][source] = sha256 or sha256_of(ws.root / source)
        path.write_text(json.dumps(manifest), encoding="utf-8")


def guidelines_without_a_grade(ws: Workspace) -> None:
    page = annot_done("guidelines", "method", folder=ws.root).stdout
    assert "## 3 Near-identical" in page
    (ws.root / "guidelines" / "method.md").write_text(page.replace("## 3 Near-identical", "## Near-identical"))


def other_guidelines_on_record(ws: Workspace) -> None:
    with ws.writing() as session:
        (sent,) = (one.body for one in read_versions(session, "guidelines")["guidelines", "method"])
        session.connection().execute(SHOWN_CONTENT_TABLE.insert().values(sha256="0" * 64, body=sent))
        again = version("guidelines", "method", sent, since="2029-01-02T03:04:05")
        record_versions(session, [again._replace(sha256="0" * 64)])


def settings(**sections: dict[str, object]) -> Callable[[Workspace], None]:
    return lambda ws: set_in(ws.root, sections)


def other_words_of_a_language_that_was_sent(ws: Workspace) -> None:
    shown = as_json(read_words("de", overrides=None).shown)
    with ws.writing() as session:
        record_versions(session, [version("words", "de", shown, since="2021-01-01T00:00:00+00:00")])
    own = ws.root / "templates" / "words" / "de.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[screen]\nwhy = "Wieso?"\n', encoding="utf-8")


def one_sentence_more(ws: Workspace) -> None:
    page = guidelines.page(ws, "method")
    (ws.root / "guidelines" / "method.md").write_text(f"{page}\nA baseline alone is no method.\n", encoding="utf-8")


def found_on_the_server(ws: Workspace) -> None:
    finding = {"kind": "too fast", "what": "a1: 5 answers given in less than 2 s", "count": 5, "do": "", "pairs": []}
    audit = {"judgements_sha256": "", "projects": 4, "tasks": 94, "answers": 94, "findings": [finding], "fast": {}}
    (ws.exports / "audit.json").write_text(json.dumps(audit), encoding="utf-8")


class Made(NamedTuple):
    """A state: how a study gets into it, and what is said of it where."""

    make: Callable[[Workspace], None]
    checked: str
    """What `annot check` prints."""
    coming: str
    """The command that `annot status` names; empty if this state is no reason for one."""
    place: str
    """How the question of the datasheet begins whose answer does not hold; empty if it is the report's on runs."""


ASKED, SHOWN, LABEL = "How many instances of", "What data does each", "Does each instance have a label"
FOUND, PEOPLE, ERRORS = "How was the data collected", "Who took part", "Are there errors"
PUSH = 'annot push --changed "WHY"'
# fmt: off
MADE = {
    "the plan has faults":
        Made(changed_rows("UPDATE assignment SET position = 999 WHERE rowid = (SELECT min(rowid) FROM assignment)"),
        "the positions should run from 1 to", "annot check plan", PEOPLE),
    "pools are not what is drawn from their rankings":
        Made(changed_rows("UPDATE pool SET seed = seed + 1 WHERE rowid = (SELECT min(rowid) FROM pool)"),
        " on record, ", "annot check", FOUND),
    "the guidelines do not fit the study": Made(guidelines_without_a_grade,
        "grade 3 is not defined: no text below a heading", PUSH, FOUND),
    "files of the index have changed since they were written":
        Made(longer(".annot/index/corpora/*/lsa-*/vectors.npy"), "vectors.npy", "annot check index", FOUND),
    "files of the corpus have changed since they were written": Made(packed_otherwise,
        "corpus/part-00001.parquet: changed", "annot check files", SHOWN),
    "the corpus does not begin with the papers that were ranked": Made(another_title(judged=False),
        "made from another corpus", "annot check", SHOWN),
    "papers were added after the pools were drawn": Made(papers_added, f"drawn: {', '.join(NEW)}", "annot run lsa",
        ASKED),
    "citations were added after the pools were drawn": Made(cited_later,
        "its input corpus/citations/manifest.json has changed since", "annot report", FOUND),
    "a ranking behind the pools has changed since it was written": Made(twice_in_a_ranking,
        "changed; pools/rankings/manifest.json says", "annot check files", FOUND),
    "a pool differs from the one on record": Made(longer("pools/queries/*.jsonl"),
        "differs from the pool in the database", "annot check", ASKED),
    "the file of the plan is not the plan on record": Made(longer("pools/plan.jsonl"), "pools/plan.jsonl: changed",
        "annot check", PEOPLE),
    "what tasks showed has changed on record since it was sent": Made(other_guidelines_on_record,
        "the guidelines of method sent on 2029-01-02: the stored content has changed", "annot check files", ERRORS),
    "judgements or adjudications on record have changed since they were recorded":
        Made(changed_rows("UPDATE judgement SET comment = 'mine' WHERE id = 1"), "judgement 1 (", "annot check files",
        LABEL),
    "the qrels do not follow from the judgements on record": Made(other_grade_in_the_qrels,
        "exports/qrels.txt: does not follow", "annot qrels", LABEL),
    "a run has changed since it was recorded": Made(longer("exports/runs/lsa.run", b"\n"),
        "exports/runs/lsa.run: changed", "annot check files", ""),
    "the number or the order of the grades has changed since they were put on record": Made(settings(scale={"names":
        ["Irrelevant", "Similar", "Related", "Near-identical"]}),
        "the order of the grades: 1 Related, now Similar; 2 Similar, now Related", "annot check", LABEL),
    "the names of the grades have changed since they were sent": Made(settings(scale={"names": ["Irrelevant",
        "Linked", "Similar", "Near-identical"]}), "the names of the grades: 1 Related, now Linked", PUSH, LABEL),
    "facets have changed since they were sent": Made(settings(facets={"method": ["method", "other"]}),
        "the facet method: method on record, method, other now", PUSH, LABEL),
    "guidelines have changed since they were sent": Made(one_sentence_more, "the guidelines of method", PUSH, FOUND),
    "templates or [screen] have changed since they were sent": Made(settings(screen={"fold_after": 300}),
        "[screen] in annot.toml: fold_after 500, now 300", PUSH, FOUND),
    "words of the screens have changed since they were sent": Made(other_words_of_a_language_that_was_sent,
        "the words in de: screen.why 'Warum?', now 'Wieso?'", PUSH, FOUND),
    "texts have changed since they were sent, without a reason": Made(another_title(judged=True),
        "without a reason: fic", 'annot corpus add --corrected "WHY" FILE', SHOWN),
    # Both queries of the paper have it in their pool.
    "pairs wait for your decision, because a text was corrected after they were judged": Made(corrected(judged=True),
        ": 2 pairs", "annot corpus corrected", LABEL),
    "pools were drawn from texts before their correction": Made(corrected(judged=False),
        "pools were drawn from texts before their correction: fic", "annot run lsa", FOUND),
    "the last check of the server has findings": Made(found_on_the_server, "", "annot report", ERRORS),
}
# fmt: on


def answers(text: str) -> dict[str, str]:
    """The answers of a datasheet in Markdown by question."""
    parts = [part.partition("\n") for part in text.split("\n### ")[1:]]
    return {question: answer.partition("\n## ")[0] for question, _, answer in parts}


def test_the_list_and_what_is_made_of_it_have_the_same_names() -> None:
    assert {state.says for state in STATES} == MADE.keys()
    assert {state.says for state in STATES if state.lasting} == {
        "papers were added after the pools were drawn",
        "citations were added after the pools were drawn",
        "pools were drawn from texts before their correction",
    }
    assert all(state.untrue <= STUDY_PARTS.keys() for state in STATES)
    assert all(rests_on <= STUDY_PARTS.keys() for rests_on in RESTS_ON.values())
    assert set().union(*(state.untrue for state in STATES)) <= set().union(*RESTS_ON.values()), "each has a place"


OF_A_KIND = {(state.notice, state.refused, state.lasting, state.product): state.says for state in STATES}
"""One state of each kind of notice: what follows from it is seen at every place."""


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.says.replace(" ", "-"))
def test_a_state_binds_the_check_the_next_step_the_pages_and_the_release(state: StudyState, ws: Workspace) -> None:
    made, folder = MADE[state.says], ws.root
    made.make(ws)
    if state.part != "server":
        checked = annot("check", state.part, folder=folder)
        # What nothing can mend is listed, and is no problem.
        assert (checked.exit_code, made.checked in checked.stdout) == (int(not state.lasting), True), checked.stdout
        if state.part == "sent":
            assert f"hint: {state.remedy}" in " ".join(checked.stderr.split())
    if state.says not in OF_A_KIND.values():
        return
    coming = annot_done("status", folder=folder).stdout.partition("next: ")[2]
    assert coming.startswith(f"{made.coming} "), coming
    if made.coming == PUSH or state.notice == "recorded":
        assert "sent counts" in coming
    else:
        assert (state.says in coming) is (state.refused and not state.product)
    # With findings only that no command can mend, there is a release, and it names them.
    release = annot("release", "../release", "--dry-run", folder=folder)
    assert release.exit_code == int(state.refused), release.stderr
    named = [line for line in release.stderr.splitlines() if line.strip().startswith(f"{state.says}: ")]
    assert all(line.endswith(f"; {state.remedy}") for line in named)
    assert named
    assert told_at(ws, made.place, state)


def told_at(ws: Workspace, place: str, state: StudyState) -> bool:
    """Whether the answer to the question that begins so, or the report's answer on runs, tells of the state."""
    if not place:
        annot_done("report", folder=ws.root)
        report = (ws.exports / "report.md").read_text(encoding="utf-8")
        return f"Do not rely on this: {state.says}" in report.partition("## Which system is best?")[2][:800]
    annot_done("datasheet", folder=ws.root)
    (answer,) = (
        answer
        for question, answer in answers((ws.exports / "datasheet.md").read_text(encoding="utf-8")).items()
        if question.startswith(place)
    )
    return {
        "untrue": f"Do not rely on this: {state.says}",
        "added": f"6 papers were added to the corpus after the pools were drawn: {', '.join(NEW)}",
        "recorded": f"{state.says[0].upper()}{state.says[1:]}: ",
        "cited": "Citations were added after the pools were drawn.",
        "waiting": "A text was corrected after pairs had been judged on it (fic",
        "corrected": "1 paper was corrected after the pools were drawn: fic",
        "audited": "The last check of the server has 1 finding: a1: 5 answers given in less than 2 s",
    }[state.notice] in answer


def test_what_was_left_out_and_cleaned_is_counted_for_the_papers_that_were_ranked(ws: Workspace) -> None:
    """Of a file that was added after the pools were drawn, no figure of the datasheet speaks."""
    text = [f"This sentence is number {number} of an abstract of some length." for number in range(4)]
    records = [
        {"paper_id": "later", "title": "A <i>cleaned</i> title", "abstract": text},
        {"paper_id": "short", "title": "Too short to be kept", "abstract": ["One sentence alone is here."]},
    ]
    (ws.root / "more.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    added = added_without_version(ws)
    assert (added["kept"], added["rejected"], added["cleaned"]["counts"]["titles"]) == (1, {"too few sentences": 1}, 1)
    annot_done("datasheet", folder=ws.root)
    sheet = (ws.exports / "datasheet.md").read_text(encoding="utf-8")
    assert "1 paper was added to the corpus after the pools were drawn: later" in sheet
    assert "left out of the corpus" not in sheet
    assert "was cleaned as it was read" not in sheet


def test_a_draft_lists_each_state_and_each_chapter_speaks_of_its_own(ws: Workspace) -> None:
    rankings = "a ranking behind the pools has changed since it was written"
    judgements = "judgements or adjudications on record have changed since they were recorded"
    for name in (rankings, judgements):
        MADE[name].make(ws)
    annot_done("release", "../draft", "--draft", folder=ws.root)
    draft = ws.root.parent / "draft"
    missing = (draft / "MISSING.md").read_text(encoding="utf-8").partition("Left out:")[0]
    assert f"- {rankings}: pools/rankings/" in missing
    assert f"- {judgements}: judgement 1 (" in missing
    chapters = {title: text for title, _, text in (part.partition("\n") for part in re.split("\n##+ ", report(draft)))}
    assert told_of(chapters["Can its judgements be trusted?"]) == {judgements}
    assert f"**Not known, because {judgements}" in chapters["Can its judgements be trusted?"]
    assert told_of(chapters["Which system is best?"]) == {rankings, judgements}
    assert told_of(chapters["Pools"]) == {rankings}
    assert told_of(chapters["Agreement"]) == {judgements}
    assert told_of(chapters["Queries"]) == told_of(chapters["What should be done next?"]) == set()
    assert told_of((draft / "README.md").read_text(encoding="utf-8")) == {rankings, judgements}
    # Pages of the study itself, and what is printed.
    annot_done("browse", folder=ws.root)
    assert told_of((ws.exports / "browse.html").read_text(encoding="utf-8")) == {rankings, judgements}
    assert told_of(annot_done("agreement", folder=ws.root).stderr) == {judgements}
    assert told_of(annot_done("evaluate", folder=ws.root).stderr) == {rankings, judgements}


def report(folder: Path) -> str:
    return (folder / "report.md").read_text(encoding="utf-8")


def told_of(text: str) -> set[str]:
    """The states that a text speaks of."""
    return {state.says for state in STATES if f"Do not rely on this: {state.says}." in text}


def test_papers_that_no_pool_could_hold_are_left_out_and_named(ws: Workspace) -> None:
    papers_added(ws)
    annot_done("release", "../out", folder=ws.root)
    out = ws.root.parent / "out"
    documents = (out / "beir" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    ids = {json.loads(line)["_id"] for line in documents}
    # The demonstration has 150 papers.
    assert (len(documents), ids & {*NEW}) == (150, set())
    assert "The corpus has 150 papers." in report(out)
    for page in ("README.md", "DATASHEET.md"):
        text = (out / page).read_text(encoding="utf-8")
        assert "150 papers" in text
        assert "156" not in text
        assert f"6 papers were added to the corpus after the pools were drawn: {', '.join(NEW)}." in text


def test_an_added_paper_that_is_judged_stays(ws: Workspace) -> None:
    papers_added(ws)
    with ws.reading() as session:
        (first, *_) = read_queries(session)
    with ws.writing() as session:
        judged = Judgement(first.query_id, "new3", "a1", 1)
        JUDGEMENTS.record(session, [SourcedJudgement(judged, "label-studio", "new", None)], recorded_at=PULLED_AT)
    assert Examination(ws).added == tuple(name for name in NEW if name != "new3")


def test_what_was_found_is_remembered_until_a_file_changes(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def words(state: StudyState, study: Examination) -> tuple[str, ...]:
        looked.append(state.says)
        return words_of(state, study)

    monkeypatch.setattr(state_memory, "words_of", words)
    states = states_of(ws)
    assert remembered_findings(ws, states) == {}
    looked.clear()
    assert remembered_findings(ws, states) == {}
    assert looked == []
    longer("exports/runs/lsa.run")(ws)
    found = remembered_findings(ws, states)
    assert (looked, [state.says for state in found]) == (
        ["a run has changed since it was recorded"],
        ["a run has changed since it was recorded"],
    )
    assert remembered_findings(ws, states, on={"plan"}) == {}
    (ws.cache / state_memory.MEMORY_FILE).write_text("[]", encoding="utf-8")
    assert remembered_findings(ws, states, on={"runs"}) == found


def test_a_row_is_seen_that_was_changed_while_another_program_has_the_database_open(ws: Workspace) -> None:
    with closing(sqlite3.connect(ws.root / "annot.db")) as elsewhere:
        elsewhere.execute("SELECT count(*) FROM judgement").fetchall()
        states = states_of(ws)
        assert remembered_findings(ws, states, on={"judgements"}) == {}
        MADE["judgements or adjudications on record have changed since they were recorded"].make(ws)
        assert states_of(ws) == states, "what the program itself would have written"
        (state,) = remembered_findings(ws, states, on={"judgements"})
        assert state.says == "judgements or adjudications on record have changed since they were recorded"
