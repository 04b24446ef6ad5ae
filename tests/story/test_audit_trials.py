"""The audit of training and sub-study: every breach is found, and nothing in a clean study."""

from __future__ import annotations

from pathlib import Path

from annot.judging.exchange import audit
from annot.judging.exchange.collecting import RoundOptions
from annot.labelstudio.studio_records import write_result
from annot.steps import exchange, training
from annot.steps import training as gold_pairs
from annot.store.models import StoredRound
from command_line import annot_done
from complete_study import http
from fixtures_studio import Studio
from studies import Study, add_people, make_study
from study_stages import give_reasons, quietly


def found(study: Study) -> dict[str, list[str]]:
    """What the audit says of each kind."""
    kinds: dict[str, list[str]] = {}
    for finding in audit.audit(study.workspace, advance=quietly).findings:
        kinds.setdefault(finding.kind, []).append(finding.what)
    return kinds


def answer_all(study: Study, name: str, round: StoredRound) -> None:
    """The person gives grade 3 to everything that is open."""
    open_tasks = [task for task in study.on_server(name, round) if not task["annotations"]]
    study.judge(name, {tuple(task["data"]["pair_id"].split("/")): 3 for task in open_tasks}, round)


def change_task(study: Study, name: str, round: StoredRound, **changed: str) -> None:
    """Somebody changes what the person's last task shows."""
    task = study.as_exported(name, round)[-1]
    assert {**task["data"], **changed} != task["data"]
    http(study, "PATCH", f"/api/tasks/{task['id']}/", json={"data": {**task["data"], **changed}})


def test_breaches_in_training_and_substudy_are_found(memory: Studio, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", memory, name="audited-trials", per_method=3, stage="settled")
    ws = study.workspace
    add_people(ws, [("a3", False)])
    gold_pairs.make(ws.replaced("training", per_facet=2), None, dry_run=False)
    give_reasons(study.folder)
    exchange.push(ws, round="training", options=RoundOptions(assessor=("a3",)), dry_run=False, advance=quietly)
    for _ in range(2):
        answer_all(study, "a3", "train")
        exchange.pull(ws, round="training", advance=quietly)
        exchange.push(ws, round="training", options=RoundOptions(assessor=("a3",)), dry_run=False, advance=quietly)
    training.draw(ws, assessor="j1", queries=1, candidates=2, dry_run=False)
    exchange.push(ws, round="substudy", options=RoundOptions(view="abstract"), dry_run=False, advance=quietly)
    answer_all(study, "j1", "substudy-abstract")
    exchange.pull(ws, round="substudy", advance=quietly)
    table = study.folder / "substudy" / "full-texts.tsv"
    papers = [line.partition("\t")[0] for line in table.read_text(encoding="utf-8").splitlines()[1:]]
    rows = ["paper_id\twhere", *(f"{paper}\tshelf {at}" for at, paper in enumerate(papers))]
    table.write_text("\n".join(rows), encoding="utf-8")
    exchange.push(ws, round="substudy", options=RoundOptions(view="full"), dry_run=False, advance=quietly)
    answer_all(study, "j1", "substudy-full")
    exchange.pull(ws, round="substudy", advance=quietly)
    assert len(study.on_server("a3", "train-feedback")) == 4
    assert found(study) == {}
    # Another account, as the lead says, in the middle of the training.
    annot_done(
        "assessor", "change", "a3", "--account", study.studio.account("trials-another").email, folder=study.folder
    )
    exchange.push(ws, round="training", options=RoundOptions(assessor=("a3",)), dry_run=False, advance=quietly)
    assert found(study) == {}

    trained, abstracts = study.on_server("a3", "train"), study.on_server("j1", "substudy-abstract")
    with memory.gateway() as administrator:
        administrator.annotate(trained[0]["id"], write_result({}, grade=0), lead_time=9.0)
        administrator.change_annotation(abstracts[0]["annotations"][0]["id"], write_result({}, grade=0))
        administrator.delete_annotation(trained[1]["annotations"][0]["id"])
    http(study, "DELETE", f"/api/tasks/{abstracts[1]['id']}/")
    (project,) = study.projects("substudy-abstract")["j1"]
    http(study, "PATCH", f"/api/projects/{project}/", json={"maximum_annotations": 2})
    last = study.as_exported("a3", "train-feedback")[-1]["data"]["rating_gold"]
    change_task(study, "a3", "train-feedback", rating_gold="0 Irrelevant" if last != "0 Irrelevant" else "1 Related")
    change_task(study, "j1", "substudy-full", facet="other")
    assert found(study) == {
        "other account": ["a3 (training): 1 answer by another account (by the lead's account)"],
        "answered twice": ["a3 (training): 1 task with more than one answer"],
        "answer gone": ["a3 (training): 1 answer on record but missing from the server"],
        "edited by another": [
            "j1 (sub-study, abstracts): 1 answer last changed by an account other than the author's "
            "(by the lead's account)"
        ],
        "task gone": ["j1 (sub-study, abstracts): 1 task missing from the server"],
        "project changed": ["j1 (sub-study, abstracts): changed on the server by hand: maximum_annotations"],
        "task changed": [
            "j1 (sub-study, full texts): 1 task showing content that was never sent",
            "a3 (training, gold grades): 1 task showing content that was never sent",
        ],
    }
    http(study, "DELETE", f"/api/projects/{study.projects('train')['a3'][0]}/")
    lost = f"it contained {len(trained)} answers that are on record"
    assert found(study)["project gone"] == [f"a3: their project is missing from the server (training); {lost}"]
