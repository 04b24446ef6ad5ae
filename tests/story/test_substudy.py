"""The sub-study on a real Label Studio: abstracts first, full texts then, and nothing of it in the collection."""

import json
from pathlib import Path

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.names import OF_PAPERS
from annot.judging.exchange.collecting import RoundOptions
from annot.publishing.report.terminal import rendered
from annot.steps import exchange, qrels, training
from annot.study.snapshot import export_judgements, read_snapshot
from fixtures_studio import Studio
from studies import Pair, Study, make_study
from study_answers import ByPlace
from study_stages import quietly


def send(study: Study, view: str, texts: Path | None = None) -> list[tuple[int, int]]:
    pushed = exchange.push(
        study.workspace, round="substudy", options=RoundOptions(view=view, texts=texts), dry_run=False, advance=quietly
    )
    return [(one.there, one.sent) for one in pushed.projects]


def fetch(study: Study, view: str) -> list[tuple[int, int, int, int]]:
    pulled = exchange.pull(study.workspace, round="substudy", advance=quietly)
    return [(one.assigned, one.judged, one.new, one.changed) for one in pulled.assessors if view in one.part]


def asked(study: Study, view: str) -> list[Pair]:
    lines = (study.folder / "substudy" / "plan.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [(one["query_id"], one["doc_id"]) for one in found if one["view"] == view]


def test_a_substudy_is_judged_in_two_views_and_counts_nowhere(memory: Studio, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", memory, name="substudy", per_method=6, stage="settled")
    final = ByPlace.final(study.workspace)
    ws = study.workspace
    with pytest.raises(MissingInput, match="no sub-study is drawn"):
        send(study, "abstract")
    with pytest.raises(InputError, match="cannot be drawn") as refused:
        training.draw(ws, assessor="j1", queries=2, candidates=5, dry_run=False)
    assert list(refused.value.faults) == [
        f"{facet}: queries with 5 or more settled pairs: found 1, expected 2" for facet in ("background", "method")
    ]
    training.draw(ws, assessor="j1", queries=1, candidates=3, dry_run=False)
    drawn = training.draw(ws, assessor="j1", queries=1, candidates=5, dry_run=False)
    assert (drawn.pairs, drawn.by_facet) == (10, {"background": 1, "method": 1})
    assert set(drawn.by_grade) == {0, 1, 2, 3}
    pairs = asked(study, "abstract")
    assert sorted(asked(study, "full")) == sorted(pairs) != pairs
    assert {grade: [final[pair] for pair in pairs].count(grade) for grade in range(4)} == drawn.by_grade

    # The places of the full texts are wanted from the beginning, and the table keeps what is written into it.
    assert send(study, "abstract") == [(0, 10)]
    assert send(study, "abstract") == [(10, 0)]
    table = study.folder / "substudy" / "full-texts.tsv"
    heading, *rows = table.read_text(encoding="utf-8").splitlines()
    papers = [row.split("\t")[0] for row in rows]
    assert heading == "paper_id\twhere\ttitle"
    assert set(papers) == {name for pair in pairs for name in (pair[0].rpartition("-")[0], pair[1])}
    places = {name: f"https://example.org/{name}.pdf?a=1&b=2" for name in papers} | {papers[0]: "Ordner/ä.pdf"}
    table.write_text(
        "\n".join(["paper_id\twhere", *(f"{name}\t{where}" for name, where in places.items())]), encoding="utf-8"
    )
    assert training.draw(ws, assessor="j1", queries=1, candidates=5, dry_run=False).new is False
    assert "Ordner/ä.pdf" in table.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="was already sent to j1"):
        training.draw(ws, assessor="j1", queries=1, candidates=4, dry_run=False)

    # Abstracts first: one pair open, one not answered by the right account, and the full texts wait.
    on_abstract: dict[Pair, int | None] = {pair: final[pair] for pair in pairs}
    on_abstract[pairs[0]] = None
    study.judge("j1", {pair: grade for pair, grade in on_abstract.items() if pair != pairs[-1]}, "substudy-abstract")
    assert fetch(study, "abstract") == [(10, 9, 9, 0)]
    with pytest.raises(InputError, match=r"1 pair not judged on the abstracts yet"):
        send(study, "full")
    study.judge("j1", {pairs[-1]: on_abstract[pairs[-1]]}, "substudy-abstract")
    assert fetch(study, "abstract") == [(10, 10, 1, 0)]
    assert fetch(study, "abstract") == [(10, 10, 0, 0)]

    # The full view shows the titles and where the texts are: no abstract, no grade, no label.
    (tmp_path / "short.csv").write_text("paper_id,where\n" + f"{papers[0]},here\n", encoding="utf-8")
    with pytest.raises(InputError) as lacking:
        send(study, "full", tmp_path / "short.csv")
    assert len(lacking.value.faults) == len(papers) - 1
    assert send(study, "full") == [(0, 10)]
    tasks = {task["data"]["pair_id"]: task for task in study.on_server("j1", "substudy-full")}
    assert set(tasks) == {"/".join(pair) for pair in pairs}
    for pair in pairs:
        task = tasks["/".join(pair)]
        html = task["data"]["pair_html"]
        assert set(task["data"]) == {"pair_id", "facet", "facet_help", "progress", "pair_html"}
        assert html.count('<p class="a-s">') == 2
        where = places[pair[1]].replace("&", "&amp;")
        assert (f'<a href="{where}"' in html) == where.startswith("https")
        assert where in html
    study.judge("j1", {pair: min(3, final[pair] + (at == 0)) for at, pair in enumerate(pairs)}, "substudy-full")
    assert fetch(study, "full") == [(10, 10, 10, 0)]

    # What was answered stays on record, whatever happens to the server's project afterwards.
    (project,) = study.projects("substudy-abstract")["j1"]
    with memory.gateway() as gateway:
        gateway.delete_project(project)
    found = training.substudy_report(ws)
    views = {view.view: (view.pairs, view.answered, view.cannot_judge, view.timed) for view in found.views}
    assert views == {"abstracts": (10, 10, 1, 10), "full texts": (10, 10, 0, 10)}
    assert [view.seconds.value for view in found.views] == [4.0, 4.0]
    between, abstract_final, full_final = (one.agreement for one in found.compared)
    assert (between.n_pairs, abstract_final.n_pairs, full_final.n_pairs) == (9, 9, 10)
    assert {one.value for one in abstract_final.figures.values()} == {1.0, 100.0}
    shifted = final[pairs[0]] < 3
    assert full_final.figures["percent"].value == (90.0 if shifted else 100.0)
    assert found.changes == {0: 9}
    assert "full texts" in rendered("substudy", words=OF_PAPERS, found=found)

    # Nothing of it is a judgement, a grade or an assignment of the collection.
    snapshot = read_snapshot(ws)
    assert len(snapshot.outcome.judgements) == 2 * len(final)
    assert {(one.query_id, one.doc_id): one.grade for one in snapshot.outcome.decisions} == final
    assert {one.assessor for one in snapshot.assignments} == {"a1", "a2"}
    qrels.write(ws, partial=False)
    export_judgements(ws, snapshot.outcome)
    assert len((study.folder / "exports" / "judgements.jsonl").read_text(encoding="utf-8").splitlines()) == 2 * len(
        final
    )
