"""Guidelines changed in the middle of a study: noticed, sent with a word, and agreement shown by version."""

from __future__ import annotations

from pathlib import Path

import pytest
from annot.steps import pull, push
from annot.study import guidelines
from command_line import annot, annot_done
from fixtures_studio import Studio
from studies import make_study, quietly

pytestmark = pytest.mark.studio


def test_a_change_wants_a_word_and_splits_agreement(studio: Studio, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", studio, name="guided", per_method=4)
    push.push(study.workspace, url=None, api_key=None, dry_run=False, advance=quietly)
    pairs = study.planned()["a1"]
    of_method = [pair for pair in pairs if pair[0].endswith("method")]
    early, late = of_method[:5], [pair for pair in pairs if pair not in of_method[:5]]
    for name in ("a1", "a2"):
        study.judge(name, {pair: at % 4 for at, pair in enumerate(early)})
    pull.pull(study.workspace, url=None, api_key=None, advance=quietly)
    assert "no guidelines were changed" in annot_done("agreement", "guidelines", folder=study.folder).stdout
    page = study.folder / "guidelines" / "method.md"
    text = guidelines.read(study.workspace, "method").text
    page.write_text(f"{text}\nA method used only as a baseline counts for nothing.\n", encoding="utf-8")
    assert "the guidelines of method have changed" in annot_done("status", folder=study.folder).stdout
    for more in ([], ["--dry-run"], ["--guidelines-changed", " "]):
        refused = annot("push", *more, folder=study.folder)
        assert refused.exit_code == 1
        assert "the guidelines of method have changed since" in refused.stderr
    project = study.projects()["a1"][0]

    def shown_there() -> str:
        (found,) = [listed for listed in study.listed_projects() if listed["id"] == project]
        return str(found["expert_instruction"])

    assert "only as a baseline" not in shown_there()
    annot_done("push", "--guidelines-changed", "baselines were graded", folder=study.folder)
    assert "only as a baseline" in shown_there()
    # Nothing is left to say: the same push again asks for no word.
    annot_done("push", folder=study.folder)
    assert "have changed" not in annot_done("status", folder=study.folder).stdout
    # By the new version the two agree on every second pair.
    study.judge("a1", {pair: at % 4 for at, pair in enumerate(late)})
    study.judge("a2", {pair: (at + at % 2) % 4 for at, pair in enumerate(late)})
    pull.pull(study.workspace, url=None, api_key=None, advance=quietly)
    found = annot_done("agreement", "guidelines", "--json", folder=study.folder).data
    assert [(version["facet"], version["number"], version["why"]) for version in found] == [
        ("method", 1, None),
        ("method", 2, "baselines were graded"),
    ]
    first, second = (version["table"]["groups"][-1] for version in found)
    places = [at for at, pair in enumerate(late) if pair in of_method]
    assert (first["n_pairs"], second["n_pairs"]) == (len(early), len(places))
    assert first["before"]["percent"]["median"] == 100
    equal = sum(at % 2 == 0 for at in places)
    assert second["before"]["percent"]["median"] == pytest.approx(100 * equal / len(places))
    assert "baselines were graded" in annot_done("agreement", "guidelines", folder=study.folder).stdout
    annot_done("report", folder=study.folder)
    assert "by version of the guidelines" in (study.folder / "exports" / "report.md").read_text(encoding="utf-8")
