"""A third of the pools judged, a top-up, then half: who is asked, what stays, what the release says.

The estimates are computed once more by loops, from the files of the release alone.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from annot.base.errors import InputError
from annot.judging import plan_on_record
from annot.steps import evaluate, exchange, plan, publish, qrels, run
from annot.steps import pool as pool_growth
from annot.store import pools
from annot.store.models import StoredRound
from memory_studio import StudioOfMemory
from scipy.linalg import hadamard
from studies import Pair, Study, make_study
from study_stages import quietly

SYSTEMS = ("fabs_tfidf", "fabs_bm25", "lsa")
RELEVANT = 2
Tasks = dict[Pair, tuple[int, int | None]]


def grade(name: str, pair: Pair) -> int:
    """What a person says: the second one is stricter about every third document."""
    number = int(pair[1].removeprefix("fic"))
    return max(0, (number * 7 + len(pair[0])) % 4 - (name == "a2" and number % 3 == 0))


def planned(study: Study, sample: float | None, *, grow: bool) -> None:
    plan.make(study.workspace, queries=(), shares={}, seed=None, grow=grow, dry_run=False, sample=sample)
    assert not plan_on_record.check(study.workspace).faults


def judged(study: Study) -> dict[str, Tasks]:
    """Send what is planned, judge what is new, settle what is disputed; by person, each pair's task and annotation."""
    exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly)
    for name in ("a1", "a2"):
        study.judge(name, {pair: grade(name, pair) for pair in unanswered(study, name)})
    exchange.pull(study.workspace, round="judging", advance=quietly)
    exchange.push(study.workspace, round="adjudication", dry_run=False, advance=quietly)
    study.judge("j1", {pair: grade("a1", pair) for pair in unanswered(study, "j1", "adjudicate")}, "adjudicate")
    exchange.pull(study.workspace, round="adjudication", advance=quietly)
    tasks = {name: on_server(study, name) for name in ("a1", "a2")}
    assert not [pair for of in tasks.values() for pair, (_, answer) in of.items() if answer is None]
    return tasks


def unanswered(study: Study, name: str, round: StoredRound = "judge") -> list[Pair]:
    return [pair for pair, (_, answer) in on_server(study, name, round).items() if answer is None]


def on_server(study: Study, name: str, round: StoredRound = "judge") -> Tasks:
    """The task of each pair, and its annotation."""
    return {
        tuple(task["data"]["pair_id"].split("/")): (task["id"], *(one["id"] for one in task["annotations"]), None)[:2]
        for task in study.on_server(name, round)
    }


class SampledPair(NamedTuple):
    """A line of the release's `sample.tsv`."""

    doc_id: str
    grade: int | None
    pi: float
    f: tuple[float, ...]
    weights: tuple[float, ...]
    """How much f counts in P, R, AP and NDCG."""


def released(study: Study, folder: Path) -> dict[str, list[SampledPair]]:
    """A draft of the release; its sample, by query."""
    how = {"with_text": None, "licence": None, "published": None, "allowed": (), "draft": True, "dry_run": False}
    publish.release(study.workspace, folder, **how)
    found: dict[str, list[SampledPair]] = {}
    with (folder / "sample.tsv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file, delimiter="\t"):
            f = tuple(float(line[name]) for name in sorted(line) if name.startswith("f"))
            given = int(line["grade"]) if line["grade"] else None
            weights = tuple(float(line[f"w_{kind}"]) for kind in ("P", "R", "AP", "NDCG"))
            found.setdefault(line["query_id"], []).append(
                SampledPair(line["doc_id"], given, float(line["probability"]), f, weights)
            )
    return found


def grades_of(sample: Mapping[str, Sequence[SampledPair]]) -> dict[Pair, int | None]:
    return {(query_id, one.doc_id): one.grade for query_id, pool in sample.items() for one in pool}


def pairs_of(sample: Mapping[str, Sequence[SampledPair]]) -> set[Pair]:
    return {*grades_of(sample)}


def drawn(sample: Mapping[str, Sequence[SampledPair]]) -> set[Pair]:
    return {pair for pair, grade in grades_of(sample).items() if grade is not None}


def replicates(pool: Sequence[SampledPair], weight: float) -> Iterator[dict[str, list[float]]]:
    """By document, the estimates that it has grade 1, 2, 3 or a higher one: first themselves, then as they scatter."""
    moving = [pair.doc_id for pair in pool if pair.grade is not None and pair.pi < 1]
    size = 1
    while size <= len(moving):
        size *= 2
    half = [[int(sign) for sign in row[1 : len(moving) + 1]] for row in hadamard(size)]
    for signs in ([0] * len(moving), *half, *([-sign for sign in row] for row in half)):
        moved = dict(zip(moving, signs, strict=True))
        estimates = {}
        for pair in pool:
            estimates[pair.doc_id] = []
            for least in range(1, len(pair.f)):
                f = weight * sum(pair.f[least:])
                off = 0.0 if pair.grade is None else (pair.grade >= least) - f
                h = f + off / pair.pi + moved.get(pair.doc_id, 0) * math.sqrt(1 - pair.pi) / pair.pi * off
                estimates[pair.doc_id].append(h)
        yield estimates


def known_grades(pool: Sequence[SampledPair]) -> dict[str, list[float]]:
    """By document, whether it is known to have grade 1, 2, 3 or a higher one."""
    return {
        pair.doc_id: [float(pair.grade is not None and pair.grade >= least) for least in range(1, len(pair.f))]
        for pair in pool
    }


def filled_in(pool: Sequence[SampledPair], counts_from: int) -> dict[str, list[float]]:
    """The same; where a grade is not known it is predicted, with one document of `counts_from` or more at most."""
    grades = known_grades(pool)
    guesses = {
        pair.doc_id: [sum(pair.f[least:]) for least in range(1, len(pair.f))] for pair in pool if pair.grade is None
    }
    shrunk = max(1.0, sum(guess[counts_from - 1] for guess in guesses.values()))
    return grades | {doc_id: [value / shrunk for value in guess] for doc_id, guess in guesses.items()}


def ideal(counts: Sequence[float], pool: int) -> float:
    """The DCG of the best order of a pool: each grade's documents fill the first places, the last of them in part."""
    total = 0.0
    for count in counts:
        full = min(max(0, math.floor(count)), pool)
        total += sum(1 / math.log2(rank + 1) for rank in range(1, full + 1))
        total += (min(count, pool) - full) / math.log2(full + 2)
    return total


def parts(h: Mapping[str, Sequence[float]], ranking: Sequence[str]) -> dict[str, tuple[float, float]]:
    """What each measure divides, and by what."""
    hits, gained, precisions, at_20 = 0.0, 0.0, 0.0, 0.0
    for rank, doc_id in enumerate(ranking, start=1):
        relevant = h[doc_id][RELEVANT - 1] if doc_id in h else 0.0
        precisions += relevant * (1 + hits) / rank
        hits += relevant
        at_20 += relevant * (rank <= 20)
        gained += sum(h.get(doc_id, ())) / math.log2(rank + 1)
    counts = [sum(column) for column in zip(*h.values(), strict=True)]
    number = counts[RELEVANT - 1]
    best = ideal(counts, len(h))
    return {"P@20": (at_20, 20), "R@20": (at_20, number), "AP": (precisions, number), "nDCG": (gained, best)}


def plainly(pool: Sequence[SampledPair], ranking: Sequence[str]) -> dict[str, float]:
    """trec_eval's P@20, R@20, AP and nDCG of one list, estimated for the whole pool, by the formulas of the docs."""
    guessed = any(pair.pi < 1 and sum(pair.f[1:]) > 0 for pair in pool)
    known = parts(known_grades(pool), ranking)
    values = {}
    for name, weight in zip(known, pool[0].weights, strict=True):
        (top, whole), *others = (parts(h, ranking)[name] for h in replicates(pool, weight))
        least = max(known[name][1], 1.0)
        if name == "P@20":
            values[name] = top / whole
        elif known[name][1] == 0 and guessed:
            top, whole = parts(filled_in(pool, 1 if name == "nDCG" else RELEVANT), ranking)[name]
            values[name] = within(top / max(whole, 1.0))
        else:
            held = weight * least if guessed else least
            ratios = [within(top / max(whole, held, 1e-9)) for top, whole in others]
            values[name] = within(2 * within(top / max(whole, least)) - sum(ratios) / len(ratios))
    found, relevant = known["R@20"]
    unknown = {pair.doc_id for pair in pool if pair.grade is None}
    ahead = len(unknown & {*ranking[:20]})
    fewest = found / (relevant + len(unknown) - ahead) if relevant + len(unknown) - ahead else 0.0
    most = (found + ahead) / (relevant + ahead) if relevant + ahead else 0.0
    values["R@20"] = min(max(values["R@20"], fewest), most)
    return values


def within(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def rankings(file: Path) -> dict[str, list[str]]:
    """The documents of a run file by query, best first; trec_eval puts the last id of a tie first."""
    scores: dict[str, list[tuple[float, str]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        query_id, _, doc_id, _, score, _ = line.split()
        scores.setdefault(query_id, []).append((float(format(float(score), ".6g")), doc_id))
    return {query_id: [doc_id for _, doc_id in sorted(of, reverse=True)] for query_id, of in scores.items()}


def evaluated(study: Study) -> dict[str, dict[str, dict[str, float]]]:
    """What `annot evaluate` finds, by run and query."""
    qrels.write(study.workspace, partial=False)
    run.make(study.workspace, systems=SYSTEMS, advance=quietly)
    how = {"convention": None, "measures": (), "ties": "order", "average": "test", "at_least_two": False, "tell": print}
    found = evaluate.evaluate(study.workspace, runs=(), **how).evaluations
    return {tag: {one.query_id: one.values for one in found[tag]["trec"].queries} for tag in SYSTEMS}


def same_estimates(study: Study, folder: Path) -> dict[str, list[SampledPair]]:
    """That the figures follow from the files of the release; returns its sample."""
    printed, sample = evaluated(study), released(study, folder)
    for system, by_query in printed.items():
        of_run = rankings(folder / "runs" / f"{system}.run")
        assert by_query.keys() == sample.keys()
        for query_id, pool in sample.items():
            expected = plainly(pool, of_run[query_id])
            assert {name: by_query[query_id][name] for name in expected} == pytest.approx(expected, abs=1e-9)
    return sample


def top_up(study: Study, number: int) -> set[Pair]:
    """A new system ranks so many papers of no pool for each query paper; the pairs that its pools then have more."""
    ids = [json.loads(line)["paper_id"] for line in (study.folder / "papers.jsonl").read_text("utf-8").splitlines()]
    with study.workspace.reading() as session:
        before = pools.documents_by_query(session)
        topics = pools.read_pools(session)
    lines = []
    for topic_id, pool in topics.items():
        known = {topic_id, *(entry.doc_id for entry in pool.entries)}
        new = [doc_id for doc_id in ids if doc_id not in known][:number]
        lines += [f"{topic_id} Q0 {doc_id} {rank} {-rank} new\n" for rank, doc_id in enumerate(new, start=1)]
    file = study.folder / "new.run"
    file.write_text("".join(lines), encoding="utf-8")
    how = {"depth": number, "only": (), "reason": "a new system", "by": "ada", "grow": True, "dry_run": False}
    pool_growth.top_up(study.workspace, method="new", file=file, advance=quietly, **how)
    with study.workspace.reading() as session:
        after = pools.documents_by_query(session)
    return {(query_id, doc_id) for query_id, own in after.items() for doc_id in {*own} - {*before[query_id]}}


def kept(earlier: Mapping[str, Tasks], later: Mapping[str, Tasks]) -> bool:
    """Whether everybody's tasks and answers are there as they were."""
    return all({pair: later[name].get(pair) for pair in tasks} == tasks for name, tasks in earlier.items())


def test_a_third_is_judged_on_a_server_then_what_a_new_system_found_and_then_half(
    memory: StudioOfMemory, tmp_path: Path
) -> None:
    study = make_study(tmp_path / "study", memory, name="sampled", per_method=10, stage="pooled")
    planned(study, 0.33, grow=False)
    third = judged(study)
    sample = same_estimates(study, tmp_path / "third")
    assert len(drawn(sample)) < 0.6 * sum(map(len, sample.values()))
    assert all(tasks.keys() == drawn(sample) for tasks in third.values())
    assert on_server(study, "j1", "adjudicate").keys() < drawn(sample)

    new = top_up(study, 12)
    with pytest.raises(InputError, match="would be added to a study that was sent"):
        planned(study, None, grow=False)
    planned(study, None, grow=True)
    topped_up = judged(study)
    larger = same_estimates(study, tmp_path / "topped-up")
    assert pairs_of(larger) == pairs_of(sample) | new
    assert drawn(larger) - new == drawn(sample)
    assert 0 < len(drawn(larger) & new) < len(new)
    assert all(tasks.keys() == drawn(larger) for tasks in topped_up.values())
    assert kept(third, topped_up)

    planned(study, 0.5, grow=True)
    half = judged(study)
    raised = same_estimates(study, tmp_path / "half")
    assert drawn(larger) < drawn(raised)
    assert pairs_of(raised) == pairs_of(larger)
    assert all(tasks.keys() == drawn(raised) for tasks in half.values())
    assert kept(topped_up, half)
    now = grades_of(raised)
    assert {pair: now[pair] for pair in drawn(larger)} == {pair: grades_of(larger)[pair] for pair in drawn(larger)}
