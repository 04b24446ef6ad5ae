"""A database lost without a backup: the files and the server give the study back, and every answer counts as before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import annot, annot_done
from fixtures_studio import Studio
from studies import address_of, make_study

pytestmark = pytest.mark.studio


def test_a_lost_database_is_made_anew_from_files_and_server(studio: Studio, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", studio, name="rebuilt", per_method=3)
    folder, pairs = study.folder, study.planned()["a1"]
    annot_done("push", folder=folder)
    study.judge("a1", {pair: at % 4 for at, pair in enumerate(pairs)})
    study.judge("a2", {pair: at % 4 if at else 3 for at, pair in enumerate(pairs)}, comment="looks so")
    annot_done("pull", folder=folder)
    annot_done("adjudicate", "push", folder=folder)
    study.judge("j1", {pairs[0]: 1}, "adjudicate", settled_by="slip")
    annot_done("adjudicate", "pull", folder=folder)
    annot_done("qrels", folder=folder)
    kept = {
        name: (folder / name).read_bytes()
        for name in ("exports/qrels.txt", "exports/judgements.jsonl", "pools/plan.jsonl", "pools/manifest.json")
    }
    status = annot_done("status", "--json", folder=folder).data
    assert annot("rebuild", folder=folder).exit_code == 2, "a database that is there is not made anew"

    (folder / "annot.db").unlink()
    annot_done("init", folder=folder)
    assert "annot facets" in annot("rebuild", folder=folder).stderr
    annot_done("facets", folder=folder)
    annot_done("rebuild", "--dry-run", folder=folder)
    assert annot_done("status", "--json", folder=folder).data["queries"] == 0
    rebuilt = annot_done("rebuild", "--json", folder=folder).data
    assert (rebuilt["people"], rebuilt["without_account"]) == (["a1", "a2", "j1"], [])
    people = annot_done("assessor", "list", "--json", folder=folder)
    assert address_of("a1") in people.stdout
    pushed = annot_done("push", "--json", folder=folder).data["projects"]
    assert [(one["there"], one["sent"]) for one in pushed] == [(len(pairs), 0)] * 2
    annot_done("pull", folder=folder)
    decided = json.loads(annot_done("adjudicate", "push", "--json", folder=folder).stdout)["data"]["projects"]
    assert [(one["planned"], one["sent"], one["withdrawn"]) for one in decided] == [(1, 0, 0)]
    annot_done("adjudicate", "pull", folder=folder)
    assert annot_done("status", "--json", folder=folder).data == status
    annot_done("qrels", folder=folder)
    annot_done("verify", folder=folder)
    assert kept == {name: (folder / name).read_bytes() for name in kept}
    assert {len(ids) for ids in study.projects().values()} == {1}
