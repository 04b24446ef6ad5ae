"""`cheap_label`: the opinion of a model predicts grades in a sampled study, where it cannot bias them."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from annot.base.errors import InputError, SettingsError
from annot.measuring.evaluation.evaluated import EvaluatedRuns
from annot.measuring.evaluation.measures import OpinionEffect
from annot.measuring.sampled_study import drawn_pairs
from annot.publishing.release.parts import sample_files
from annot.steps import evaluate, plan, publish
from annot.store.answers import Ruling, TextRuling, add_rulings
from annot.store.models import AskedModel, ModelCall, PoolSample
from annot.store.shown import as_json, hash_of_text, keep_contents, record_versions, version
from annot.study.snapshot import exported_qrels, read_snapshot
from annot.study.workspace import Workspace
from annot_opinions import stored
from command_line import annot
from sampled_study import DOCUMENTS, grade_of, judged, pooled, rankings
from small_study import QUERIES

SENT, LATER = "2031-03-01T00:00:00+00:00", "2031-03-15T00:00:00+00:00"
BEFORE, AFTER = "2031-03-14T17:59:59.500+00:00", "2031-03-14T18:00:01.000+00:00"
"""The first judgements are recorded in between."""
PAIRS = [(query.query_id, doc_id) for query in QUERIES for doc_id in DOCUMENTS]
Pair = tuple[str, str]


def labelled(ws: Workspace, name: str | None = "small", *, section: str = "small") -> Workspace:
    """The study with a model in annot.toml, whose opinion is to predict."""
    text = ws.settings_file.read_text(encoding="utf-8").partition("\n[sample]")[0]
    text += f'\n[sample]\n{"" if name is None else f"""cheap_label = "{name}" """}\n'
    ws.settings_file.write_text(f'{text}\n[opinions.{section}]\nmodel = "tiny"\n', encoding="utf-8")
    return Workspace.open(ws.root)


def near_people(query_id: str, doc_id: str) -> int:
    """A judge who is right about most pairs, and likes every fifth document."""
    return min(3, grade_of(query_id, doc_id) + 2 * (int(doc_id[1:]) % 5 == 0))


def asked(
    ws: Workspace,
    pairs: Collection[Pair] = PAIRS,
    *,
    at: str = BEFORE,
    says: Callable[[str, str], int] = near_people,
    examples: tuple[Pair, ...] = (),
    attempt: int = 1,
    document: str = "",
) -> None:
    """Note down what a model said, as asking it would. document: the text that it read of each document."""
    display = as_json({"document": hash_of_text(document)} if document else {})
    with ws.writing() as session:
        stored.put_asked_model(session, AskedModel("small", "http://h/v1", "tiny", {}, {}, examples, at))
        keep_contents(session, [display])
        for pair in pairs:
            call = ModelCall("small", *pair, 1, attempt, "sent", "abc", at, 0.0, shown_sha256=hash_of_text(display))
            stored.note_sent(session, call)
            stored.note_answer(session, call._replace(state="read", grade=says(*pair), reason="r", answer="a"))


def measured(ws: Workspace) -> EvaluatedRuns:
    return evaluate.evaluate(
        ws, runs=(), convention=None, measures=(), ties="order", average="test", at_least_two=True, tell=print
    )


def opinion_of(found: EvaluatedRuns) -> OpinionEffect:
    assert found.sampled is not None
    assert found.sampled.opinion is not None
    return found.sampled.opinion


def effect_of(found: EvaluatedRuns) -> str:
    return next(note for note in found.notes if note.startswith(("the opinion of", "with the opinion of")))


def sample_of(ws: Workspace) -> PoolSample:
    found = read_snapshot(ws).sample
    assert found is not None
    return found


def planned(ws: Workspace, share: float | None = 0.33) -> None:
    plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=False, sample=share)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A third is judged, the model was asked about all pairs before."""
    ws = labelled(pooled(tmp_path_factory.mktemp("made")))
    asked(ws)
    return judged(ws, share=0.33)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The same, without a model."""
    return judged(pooled(tmp_path_factory.mktemp("plain")), share=0.33)


@pytest.fixture(scope="module")
def unasked(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return judged(labelled(pooled(tmp_path_factory.mktemp("unasked"))), share=0.33)


@pytest.fixture
def to_ask(unasked: Workspace, tmp_path: Path) -> Workspace:
    """The same, but the model is not asked yet."""
    return Workspace.open(Path(shutil.copytree(unasked.root, tmp_path / "study")))


def predictions(ws: Workspace) -> dict[str, dict[str, tuple[float, ...]]]:
    snapshot = read_snapshot(ws)
    found = drawn_pairs(snapshot, exported_qrels(snapshot))
    assert found.predicted is not None
    assert found.by_rankings is not None
    return {
        query_id: {doc_id: tuple(row) for doc_id, row in of.items() if row != found.by_rankings[query_id][doc_id]}
        for query_id, of in found.predicted.items()
    }


def test_both_estimates_are_printed_and_which_interval_is_narrower(made: Workspace, plain: Workspace) -> None:
    found, alone = measured(made), measured(plain)
    one = opinion_of(found)
    assert alone.sampled is not None
    assert alone.sampled.opinion is None
    ours, theirs = (
        {line.run: line.values[found.measure] for line in of.lines if line.convention == found.convention}
        for of in (found, alone)
    )
    assert {tag: of[0] for tag, of in one.means.items()} == pytest.approx({tag: ours[tag] for tag in rankings()})
    assert {tag: of[1] for tag, of in one.means.items()} == pytest.approx({tag: theirs[tag] for tag in rankings()})
    assert ours["forward"] != theirs["forward"]
    assert (one.name, one.model, one.pairs) == ("small", "tiny", len(PAIRS))
    told = [note for note in found.notes if "opinion" in note]
    by_run = sorted(one.means, key=lambda tag: -one.means[tag][0])
    effect = effect_of(found)
    assert told == [
        effect,
        f"{found.measure} with the opinion of small, and in brackets with the rankings alone: "
        + ", ".join(f"{tag} {100 * ours[tag]:.1f} ({100 * theirs[tag]:.1f})" for tag in by_run),
    ]
    written = json.loads((made.exports / "evaluation.json").read_text(encoding="utf-8"))
    assert written["sample"]["opinion"]["means"] == {tag: list(of) for tag, of in one.means.items()}
    publish.write_report(made)
    publish.write_datasheet(made)
    for name in ("report.md", "datasheet.md"):
        assert f"{effect[0].upper()}{effect[1:]}." in (made.exports / name).read_text(encoding="utf-8")


def test_the_page_of_the_release_gives_the_same_figures_and_says_what_predicts(made: Workspace, tmp_path: Path) -> None:
    files = sample_files(read_snapshot(made))
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert "The rankings and the opinion of a model, small, predict f" in files["evaluate_sample.py"]
    found = measured(made)
    for tag in rankings():
        run = made.runs / f"{tag}.run"
        done = subprocess.run(
            [sys.executable, "-W", "error", tmp_path / "evaluate_sample.py", run, found.measure],
            capture_output=True, text=True, check=True, env={"PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        ((convention, name, _, value),) = (line.split("\t") for line in done.stdout.splitlines())
        assert (convention, name) == (found.convention, found.measure)
        assert float(value) == pytest.approx(found.evaluations[tag][convention].mean[name], abs=1e-9)
    out = tmp_path / "release"
    publish.release(
        made, out, with_text=None, licence=None, published=None, allowed=(), draft=True, dry_run=False
    )  # fmt: skip
    told = effect_of(found)
    card = (out / "README.md").read_text(encoding="utf-8")
    assert f"{told[0].upper()}{told[1:]}." in card
    assert "the predicted probability of each grade, by the rankings and the opinion of small" in card
    assert "by the rankings and the opinion of small" in (out / "croissant.json").read_text(encoding="utf-8")
    assert (out / "sample.tsv").read_text(encoding="utf-8") == files["sample.tsv"]


def test_only_what_was_asked_before_the_first_judgements_were_pulled_counts(to_ask: Workspace) -> None:
    assert opinion_of(measured(to_ask)).pairs == 0
    first = [pair for pair in PAIRS if pair[0] in ("p1-method", "p2-method", "p3-method")]
    asked(to_ask, first)
    some = predictions(to_ask)
    assert {query_id for query_id, of in some.items() if of} == {query_id for query_id, _ in first}
    assert opinion_of(measured(to_ask)).pairs == len(first)
    told = "the rankings alone predict 60 pairs, on which no answer of small counts"
    assert told in measured(to_ask).notes
    asked(to_ask, [pair for pair in PAIRS if pair not in first], at=AFTER)
    assert predictions(to_ask) == some
    assert told in measured(to_ask).notes


def test_a_model_that_was_asked_about_drawn_pairs_alone_predicts_nothing(to_ask: Workspace, plain: Workspace) -> None:
    asked(to_ask, [pair for pair, one in sample_of(to_ask).pairs.items() if one.drawn])
    found = measured(to_ask)
    assert "predicts nothing" in effect_of(found)
    by_rankings = measured(plain)
    assert found.lines == by_rankings.lines
    ours, theirs = (sample_files(read_snapshot(ws)) for ws in (to_ask, plain))
    assert ours == theirs


@pytest.mark.parametrize("ruling", ["stays", "again"])
def test_a_text_that_is_corrected_changes_no_prediction_whatever_was_drawn(to_ask: Workspace, ruling: Ruling) -> None:
    """Drawn pairs of d05 may stay with the earlier text, the others have the new one: predictions must not differ."""
    asked(to_ask, document="old")
    before, lines = predictions(to_ask), measured(to_ask).lines
    with to_ask.writing() as session:
        texts = [version("text", "d05", "old", since=SENT), version("text", "d05", "new", since=AFTER, why="erratum")]
        record_versions(session, texts)
        drawn = [query.query_id for query in QUERIES if sample_of(to_ask).pairs[query.query_id, "d05"].drawn]
        add_rulings(
            session,
            [TextRuling(query_id, "d05", "d05", texts[1].sha256, ruling, "so be it", LATER) for query_id in drawn],
        )
    # Whoever asks again about the corrected text, in time by the clock, gets no other prediction.
    asked(to_ask, [(query.query_id, "d05") for query in QUERIES], attempt=2, document="new", says=lambda *pair: 0)
    found = measured(to_ask)
    assert predictions(to_ask) == before
    assert [line.values for line in found.lines] == [line.values for line in lines]
    assert 0 < len(drawn) < len(QUERIES)
    others = len(QUERIES) - (len(drawn) if ruling == "stays" else 0)
    (note,) = [note for note in found.notes if "another version of a text" in note]
    assert note.startswith(f"on {others} pair")


def test_it_is_set_changed_and_removed_until_judgements_are_pulled_and_never_after(tmp_path: Path) -> None:
    ws = pooled(tmp_path)
    planned(ws)
    assert sample_of(ws).design.cheap_label is None
    for name in ("small", None, "small"):
        ws = labelled(ws, name)
        planned(ws, None)
        assert sample_of(ws).design.cheap_label == name
    ws = judged(ws, share=None)
    measured(ws)
    ws.settings_file.write_text(
        ws.settings_file.read_text(encoding="utf-8").replace("[opinions.small]", "[opinions.tiny]"), encoding="utf-8"
    )
    measured(Workspace.open(ws.root))
    for wrong in (None, "tiny"):
        ws = labelled(ws, wrong, section="tiny")
        found = f"sample.cheap_label: found {wrong or 'none'}, planned with small"
        for step in (planned, measured):
            with pytest.raises(InputError, match="the opinion that predicts") as error:
                step(ws)
            assert error.value.faults == (found,)
        text = annot("check", "plan", folder=ws.root)
        assert (text.exit_code, found in text.stdout) == (1, True)
    planned(labelled(ws, section="tiny"), 0.5)


def test_what_cannot_predict_is_refused_where_the_plan_is_made(tmp_path: Path) -> None:
    ws = labelled(pooled(tmp_path), "smal")
    with pytest.raises(InputError, match=r"no opinion is called 'smal'; did you mean 'small'\?") as error:
        planned(ws)
    assert "[opinions.smal]" in str(error.value.hint)
    ws = labelled(ws)
    with pytest.raises(InputError, match="small cannot predict without a sample"):
        planned(ws, None)
    with pytest.raises(InputError, match="small cannot predict with one topic"):
        plan.make(
            ws, queries=("p1-method",), shares={}, seed=None, grow=False, dry_run=False, sample=0.33
        )  # fmt: skip
    assert read_snapshot(ws).sample is None
    made = plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=True, sample=0.33)
    assert any("`annot opinion ask small`" in note for note in made.notes)
    text = ws.settings_file.read_text(encoding="utf-8")
    ws.settings_file.write_text(text.replace("[sample]", '[sample]\npredict = "none"'), encoding="utf-8")
    with pytest.raises(SettingsError) as wrong:
        Workspace.open(ws.root)
    assert "sample.cheap_label: predicts nothing with `predict" in str(wrong.value.faults)
