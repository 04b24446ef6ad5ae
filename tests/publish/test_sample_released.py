"""A release of pools of which a sample was judged: figures from its files alone, and what it says of trec_eval."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.evaluation.evaluated import EvaluatedRuns
from annot.measuring.evaluation.measures import SampleCost
from annot.publishing.release.parts import PRELS
from annot.publishing.report.tables import sentence
from annot.steps import backup, evaluate, publish
from annot.study.snapshot import exported_qrels, read_snapshot
from annot.study.workspace import Workspace
from measured_runs import evaluate as plainly
from sampled_study import judged, pooled, rankings
from study_stages import files_of, quietly

MEASURES = ("P@5", "P@20", "R@20", "NDCG%20", "NDCG%100", "NDCG@10", "AP", "nDCG", "nDCG@10")


def measure(ws: Workspace, convention: str | None, *measures: str, so_far: bool = False) -> EvaluatedRuns:
    return evaluate.evaluate(
        ws, runs=(), convention=convention, measures=measures, ties="order", average="plain", at_least_two=False,
        tell=print, so_far=so_far,
    )  # fmt: skip


def made(ws: Workspace, folder: Path) -> Path:
    """As a draft: the documents of the study's pools are not in its corpus."""
    publish.release(
        ws, folder, with_text=None, licence=None, published=None, allowed=(), draft=True, dry_run=False
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def third(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return judged(pooled(tmp_path_factory.mktemp("third")), share=0.33)


@pytest.fixture(scope="module")
def released(third: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(third, tmp_path_factory.mktemp("released") / "release")


def from_files(folder: Path, run: Path) -> dict[tuple[str, str, str], float]:
    """By convention, measure and query, as the page in the release prints them, without this program."""
    done = subprocess.run(
        [sys.executable, "-W", "error", folder / "evaluate_sample.py", run, "-q", *MEASURES],
        capture_output=True, text=True, check=True, env={"PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {(convention, name, query): float(value) for convention, name, query, value in rows if value != "-"}


def estimates(ws: Workspace, tag: str, **how: bool) -> Iterator[tuple[tuple[str, str, str], float]]:
    for convention, unknown in {"csfcube": "nDCG", "trec": "NDCG"}.items():
        known = [one for one in MEASURES if not one.startswith(unknown)]
        found = measure(ws, convention, *known, **how).evaluations[tag][convention]
        for name in found.mean:
            if name in MEASURES:
                yield (convention, name, "all"), found.mean[name]
                for query in found.queries:
                    if (value := query.shown(name)) is not None:
                        yield (convention, name, query.query_id), value


def test_the_page_gives_the_figures_of_annot_evaluate_from_the_released_files_alone(
    third: Workspace, released: Path, tmp_path: Path
) -> None:
    (tmp_path / "alone").mkdir()
    for name in ("sample.tsv", "evaluate_sample.py"):
        (tmp_path / "alone" / name).write_bytes((released / name).read_bytes())
    for tag in rankings():
        expected = dict(estimates(third, tag))
        assert len({name for _, name, _ in expected}) == len(MEASURES)
        assert from_files(tmp_path / "alone", released / "runs" / f"{tag}.run") == pytest.approx(expected, abs=1e-9)


def test_the_table_has_every_pair_of_the_pools_and_makes_trecs_form(third: Workspace, released: Path) -> None:
    snapshot = read_snapshot(third)
    assert snapshot.sample is not None
    heading, *rows = (line.split("\t") for line in (released / "sample.tsv").read_text().splitlines())
    assert heading == [
        "query_id",
        "doc_id",
        "grade",
        "probability",
        "f0",
        "f1",
        "f2",
        "f3",
        "w_P",
        "w_R",
        "w_NDCG",
        "w_AP",
    ]
    assert {(query, doc): float(pi) for query, doc, _, pi, *_ in rows} == {
        pair: one.probability for pair, one in snapshot.sample.pairs.items()
    }
    drawn = {(one.query_id, one.doc_id): str(one.relevance) for one in exported_qrels(snapshot)}
    assert {(query, doc): grade for query, doc, grade, *_ in rows if grade} == drawn
    assert all(re.fullmatch(r"[01]\.\d{6}", one) for row in rows for one in row[4:])
    assert all(sum(map(float, row[4:8])) == pytest.approx(1, abs=4e-6) for row in rows)
    assert not any(path.startswith("csfcube/") for path in files_of(released))
    subprocess.run(["sh", "-c", PRELS], cwd=released, check=True)
    try:
        prels = [line.split() for line in (released / "prels.txt").read_text().splitlines()]
    finally:
        (released / "prels.txt").unlink()
    assert prels == [[query, doc, grade, "1", pi] for query, doc, grade, pi, *_ in rows if grade]


def test_every_page_says_first_that_plain_evaluation_is_wrong_and_by_how_much(third: Workspace, released: Path) -> None:
    found = measure(third, None)
    by_judged = {
        tag: plainly(run, exported_qrels(read_snapshot(third)), convention="csfcube", relevant_from=2, ties="order")
        for tag, run in rankings().items()
    }
    off = [abs(of.mean["NDCG%20"] - found.evaluations[tag]["csfcube"].mean["NDCG%20"]) for tag, of in by_judged.items()]
    assert max(off) > 0.1
    warning = (
        "Only a sample of the pools was judged, and plain trec_eval on `qrels.txt` is wrong: it counts what was not "
        f"drawn as not relevant. On 2 runs of this study, NDCG%20 is then off by {sum(off) / 2:.3f} on average and by "
        f"{max(off):.3f} at most."
    )
    for name in ("README.md", "DATASHEET.md"):
        text = (released / name).read_text(encoding="utf-8")
        assert warning in text[text.index("\n# ") if name == "README.md" else 0 :][:1000]
    assert json.loads((released / "croissant.json").read_text())["description"].startswith(warning)
    module = (released / "irds_small.py").read_text(encoding="utf-8")
    assert warning in " ".join(module[:1200].split())
    tables = {one["name"]: one for one in json.loads((released / "croissant.json").read_text())["recordSet"]}
    assert [one["name"].partition("/")[2] for one in tables["sample"]["field"]][-8:-4] == ["f0", "f1", "f2", "f3"]


def wider(by: float, low: float | None = None, high: float = 0.0) -> Estimate:
    return Estimate(by, Undefined("no range") if low is None else Interval(low, high, 0.9, "bootstrap"))


ONE_RUN = Estimate(*[Undefined("there is one run")] * 2)


@pytest.mark.parametrize(
    ("cost", "told"),
    [
        (
            SampleCost(2081, 6244, 0.33, wider(0.15), wider(0.29, 0.2112, 0.4), 0, 0),
            "A third of the pool was judged, drawn with known probabilities (2,081 of 6,244 pairs). That widens the "
            "interval of a difference between two systems by 29% [21, 40].",
        ),
        (
            SampleCost(33, 100, 0.33, wider(0.15), wider(-0.1, -0.201, 0.05), 0, 0),
            "A third of the pool was judged, drawn with known probabilities (33 of 100 pairs). That does not widen the "
            "interval of a difference between two systems (-10% [-20, 5]).",
        ),
        (
            SampleCost(50, 100, 0.5, wider(0.2), ONE_RUN, 0, 0, bias=0.0421, biased=True),
            "Half of the pool was judged, drawn with known probabilities (50 of 100 pairs). That widens the interval "
            "of a system's score by 20%. The scores of systems are expected to be about 4.2 points of 100 too high, "
            "more than their intervals allow for. That moves all systems in the same direction: compare them with each "
            "other, not with those of other collections.",
        ),
    ],
)
def test_the_certificate_says_what_is_known(cost: SampleCost, told: str) -> None:
    assert sentence("sample.certificate", cost=cost) == told


def test_a_sampled_study_survives_backup_and_restore(third: Workspace, tmp_path: Path) -> None:
    backup.backup(third, tmp_path / "study.zip", dry_run=False, advance=quietly)
    found = backup.restore(tmp_path / "study.zip", tmp_path / "again", replace=False, wait_seconds=1, dry_run=False)
    again = Workspace.open(tmp_path / "again")
    sample = read_snapshot(third).sample
    assert sample is not None
    assert found.rows["sample"] == 1
    assert found.rows["sampled_pair"] == len(sample.pairs)
    assert read_snapshot(again).sample == sample
    assert dict(estimates(again, "forward")) == dict(estimates(third, "forward"))
