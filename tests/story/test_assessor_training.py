"""Training: batch by batch, gold shown after each, and what is changed then is too late."""

from pathlib import Path

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.names import OF_PAPERS
from annot.judging.exchange.collecting import RoundOptions
from annot.publishing.report.terminal import rendered
from annot.steps import exchange, training
from annot.steps import training as gold_pairs
from annot.store import trials
from annot.store.database import open_store
from annot.study.snapshot import read_snapshot
from memory_studio import StudioOfMemory
from studies import Pair, Study, add_people, make_study
from studio_in_memory import Killed
from study_answers import ByPlace
from study_stages import quietly

NAMES = ("0 Irrelevant", "1 Related", "2 Similar", "3 Near-identical")


def send(study: Study, *names: str) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, int]]]:
    pushed = exchange.push(
        study.workspace, round="training", options=RoundOptions(assessor=names), dry_run=False, advance=quietly
    )
    rows = [(one.part, (one.assessor, one.there, one.sent)) for one in pushed.projects]
    return [row for part, row in rows if part == "training"], [row for part, row in rows if part != "training"]


def fetch(study: Study) -> tuple[tuple[int, int, int, int], tuple[str, ...]]:
    pulled = exchange.pull(study.workspace, round="training", advance=quietly)
    (one,) = pulled.assessors
    return (one.assigned, one.judged, one.new, one.changed), pulled.notes


def on_screen(study: Study, name: str, round: str) -> dict[Pair, dict[str, str]]:
    tasks = study.on_server(name, round)  # type: ignore[arg-type]
    return {tuple(task["data"]["pair_id"].split("/")): task["data"] for task in tasks}


def test_an_assessor_is_trained_batch_by_batch_and_nothing_of_it_counts(memory: StudioOfMemory, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", memory, name="training", per_method=6, stage="settled")
    final = ByPlace.final(study.workspace)
    ws = study.workspace
    with pytest.raises(MissingInput, match="no gold pairs"):
        send(study)
    made = gold_pairs.make(ws.replaced("training", per_facet=4), None, dry_run=False)
    assert (made.pairs, made.by_facet, made.by_grade) == (8, {"background": 4, "method": 4}, {0: 2, 1: 2, 2: 2, 3: 2})
    path = study.folder / "training" / "gold.tsv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    golden = {(row[0], row[1]): (int(row[2]), row[3]) for row in rows}
    assert {pair: grade for pair, (grade, _) in golden.items()} == {pair: final[pair] for pair in golden}
    whys = [why for _, why in golden.values()]
    assert set(whys) == {f"{ByPlace.reason}: {ByPlace.comment}", "the assessors agreed"}
    assert whys.count("the assessors agreed") == made.without_reason == 4
    # More are added to what stands; a file that was edited is not written over, but read in.
    assert gold_pairs.make(ws.replaced("training", per_facet=5), None, dry_run=False).added == 2
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("the assessors agreed", "both name the same sensor"), encoding="utf-8")
    with pytest.raises(InputError, match="changed since it was last read"):
        gold_pairs.make(ws, None, dry_run=False)
    gold_pairs.make(ws, path, dry_run=False)
    with open_store(ws.database_url) as store, store.read() as session:
        gold = {one.pair: one for one in trials.read_gold(session)}
    assert len(gold) == 10
    assert "both name the same sensor" in {one.why for one in gold.values()}

    # Those who have the pairs in the plan would learn their grade: nothing for them. a3 is new.
    pushed = exchange.push(ws, round="training", options=RoundOptions(assessor=()), dry_run=False, advance=quietly)
    assert pushed.projects == ()
    assert len(pushed.notes) == 2
    add_people(ws, [("a3", False)])
    assert send(study) == ([("a3", 0, 5)], [])
    assert send(study) == ([("a3", 5, 0)], [])
    batch = on_screen(study, "a3", "train")
    assert {data["facet"] for data in batch.values()} == {"background"}
    assert {data["progress"].split(" ·")[0] for data in batch.values()} == {
        *(f"{at} of 5" for at in range(1, 5)),
        "5 of 5, the last for now",
    }
    assert all(set(data) == {"pair_id", "facet", "facet_help", "progress", "pair_html"} for data in batch.values())

    # While one pair of the batch is open, nothing more comes.
    first, *others = batch
    answers = {pair: gold[pair].grade for pair in others}
    study.judge("a3", answers, "train", comment="seen")
    assert fetch(study)[0] == (10, 4, 4, 0)
    assert send(study) == ([("a3", 5, 0)], [])
    wrong = 3 if gold[first].grade < 2 else 0
    given = study.judge("a3", {first: wrong}, "train")
    assert fetch(study)[0] == (10, 5, 1, 0)
    # Killed at three places: the next push brings what is missing, and nothing twice.
    for number in (4, 8, 12):
        memory.server.kill_at(number)
        with pytest.raises(Killed):
            send(study)
    send(study)
    assert send(study) == ([("a3", 10, 0)], [("a3", 5, 0)])
    assert len(study.on_server("a3", "train")) == len(on_screen(study, "a3", "train")) == 10
    assert len(study.on_server("a3", "train-feedback")) == 5
    feedback = on_screen(study, "a3", "train-feedback")
    assert set(feedback) == set(batch)
    for pair, data in feedback.items():
        own = wrong if pair == first else gold[pair].grade
        assert (data["rating_own"], data["rating_gold"]) == (NAMES[own], NAMES[gold[pair].grade])
        assert (data["comment_own"], data["comment_gold"]) == (
            "no comment" if pair == first else "seen",
            gold[pair].why,
        )

    # Now the gold grade is known: an answer changed to it is kept, and does not count.
    with study.as_person("a3") as person:
        person.change_annotation(
            given[first],
            [
                {
                    "from_name": "rating",
                    "to_name": "pair",
                    "type": "choices",
                    "value": {"choices": [str(gold[first].grade)]},
                }
            ],
        )
        (task,) = [
            one["id"] for one in study.on_server("a3", "train-feedback") if one["data"]["pair_id"] == "/".join(first)
        ]
        person.annotate(
            task,
            [{"from_name": "comment", "to_name": "pair", "type": "textarea", "value": {"text": ["Why not?"]}}],
            lead_time=3.0,
        )
    second = [pair for pair in on_screen(study, "a3", "train") if pair not in batch]
    study.judge("a3", {pair: gold[pair].grade for pair in second[:-1]} | {second[-1]: None}, "train")
    (assigned, judged, _, _), notes = fetch(study)
    assert (assigned, judged) == (10, 10)
    assert "a3: 1 answer changed after the gold grade was shown; the earlier ones count" in notes
    assert fetch(study)[0] == (10, 10, 0, 0)
    row = "\t".join(first) + "\t"
    text = path.read_text(encoding="utf-8").replace(f"{row}{gold[first].grade}", f"{row}{wrong}")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="1 gold pair") as guarded:
        gold_pairs.make(ws, path, dry_run=False)
    assert guarded.value.faults == (f"{' '.join(first)}: grade {gold[first].grade} on record, found {wrong}",)

    (trained,) = training.report(ws).assessors
    assert (trained.gold, trained.answered, trained.cannot_judge) == (10, 10, 1)
    assert trained.agreement.n_pairs == 9
    assert trained.agreement.figures["percent"].value == pytest.approx(100 * 8 / 9, abs=1e-6)
    assert [(one.query_id, one.doc_id, one.grade) for one in trained.furthest] == [(*first, wrong)]
    assert (trained.changed_too_late, trained.looked_at, trained.remarks) == (1, 1, ("Why not?",))
    assert trained.planned_too == ()
    assert trained.verdict == ("passed" if trained.agreement.figures["kappa_quadratic"].value >= 0.6 else "not passed")
    shown = rendered("training", words=OF_PAPERS, found=training.report(ws))
    assert trained.verdict in shown
    assert "Why not?" in shown

    # The verdict is on record, as it was measured then.
    with open_store(ws.database_url) as store, store.read() as session:
        facts = trials.read_trials(session).get("train/a3")
    assert facts is not None
    assert (facts["verdict"], facts["pairs"], facts["threshold"]) == (trained.verdict, 9, 0.6)
    snapshot = read_snapshot(ws)
    assert {one.assessor for one in snapshot.outcome.judgements} == {"a1", "a2"}
    assert {(one.query_id, one.doc_id): one.grade for one in snapshot.outcome.decisions} == final
