"""Guidelines changed in the middle of a study: noticed, sent with a word, and agreement shown by version."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from annot.base.records import PairKey
from annot.labelstudio.studio_records import write_result
from annot.publishing.release.parts import protocol_of
from annot.steps import exchange
from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from annot.store.projects import read_projects
from annot.store.shown import display_parts, read_shown
from annot.study import guidelines
from annot.study.snapshot import read_snapshot
from command_line import annot, annot_done
from fixtures_studio import Studio
from studies import make_study
from study_stages import quietly


def test_a_change_wants_a_word_and_splits_agreement(memory: Studio, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", memory, name="guided", per_method=4)
    exchange.push(study.workspace, round="judging", dry_run=False, advance=quietly)
    pairs = study.planned()["a1"]
    of_method = [pair for pair in pairs if pair[0].endswith("method")]
    early, late = of_method[:5], [pair for pair in pairs if pair not in of_method[:5]]
    study.judge("a2", {pair: at % 4 for at, pair in enumerate(early)})
    ids = study.judge("a1", {pair: at % 4 for at, pair in enumerate(early)})
    exchange.pull(study.workspace, round="judging", advance=quietly)
    assert "no guidelines were changed" in annot_done("agreement", "--by", "guidelines", folder=study.folder).stdout
    page = study.folder / "guidelines" / "method.md"
    text = guidelines.read(study.workspace, "method")
    page.write_text(f"{text}\nA method used only as a baseline counts for nothing.\n", encoding="utf-8")
    assert "the guidelines of method have changed" in annot_done("status", folder=study.folder).stdout
    for more in ([], ["--dry-run"], ["--changed", " "]):
        refused = annot("push", *more, folder=study.folder)
        assert refused.exit_code == 1
        assert "the guidelines of method have changed" in refused.stderr
    project = study.projects()["a1"][0]

    def shown_there() -> str:
        (found,) = [listed for listed in study.listed_projects() if listed["id"] == project]
        return str(found["expert_instruction"])

    def opens() -> bool:
        (found,) = [listed for listed in study.listed_projects() if listed["id"] == project]
        return bool(found["show_instruction"])

    # Who has answered goes straight on to the next pair; whoever is shown other guidelines reads them first.
    assert not opens()

    assert "only as a baseline" not in shown_there()
    annot_done("push", "--changed", "baselines were graded", folder=study.folder)
    assert "only as a baseline" in shown_there()
    assert opens()
    # A project that was not reached, as on another server, shows the earlier text; the next push brings it along.
    with closing(sqlite3.connect(study.folder / "annot.db")) as connection, connection:
        connection.execute("UPDATE task SET shown = '[' || json_extract(shown, '$[0]') || ']'")
    (finding, _) = annot("check", "server", "--json", folder=study.folder).data["server"]["findings"]
    open_of_method = len(of_method) - len(early)
    assert finding["what"] == f"a1: {open_of_method} open tasks with older guidelines than were sent last"
    # Nothing is left to say: the same push again asks for no word.
    exchange.pull(study.workspace, round="judging", advance=quietly)
    assert not opens()
    annot_done("push", folder=study.folder)
    assert not opens(), "the same instructions"
    assert "have changed" not in annot_done("status", folder=study.folder).stdout
    # One mind changed after the new version: that pair was judged by two.
    with study.as_person("a1") as person:
        person.change_annotation(ids[of_method[0]], write_result({}, grade=3))
    # By the new version the two agree on every second pair.
    study.judge("a1", {pair: at % 4 for at, pair in enumerate(late)})
    study.judge("a2", {pair: (at + at % 2) % 4 for at, pair in enumerate(late)})
    exchange.pull(study.workspace, round="judging", advance=quietly)
    found = annot_done("agreement", "--by", "guidelines", "--json", folder=study.folder).data
    assert [(version["facet"], version["number"], version["why"]) for version in found] == [
        ("method", 1, None),
        ("method", 2, "baselines were graded"),
    ]
    first, second = (version["table"]["groups"][-1] for version in found)
    places = [at for at, pair in enumerate(late) if pair in of_method]
    assert (first["n_pairs"], second["n_pairs"]) == (len(early) - 1, len(places))
    assert [version["mixed"] for version in found] == [1, 1]
    assert first["before"]["percent"]["median"] == 100
    equal = sum(at % 2 == 0 for at in places)
    assert second["before"]["percent"]["median"] == pytest.approx(100 * equal / len(places))
    assert "baselines were graded" in annot_done("agreement", "--by", "guidelines", folder=study.folder).stdout
    annot_done("report", folder=study.folder)
    assert "by version of the guidelines" in (study.folder / "exports" / "report.md").read_text(encoding="utf-8")
    # What each was judged by is on record: with the task, with every revision, and for audit and release.
    old, new = (version["sha256"] for version in found)
    with open_store(study.workspace.database_url) as store, store.read() as session:
        history = JUDGEMENTS.history(session, *of_method[0])
        (project_on_record,) = [one for one in read_projects(session) if one.assessor == "a1"]
        tasks = read_shown(session, project_on_record.project).by_task
        displays = display_parts(
            session,
            [*(one.shown_sha256 for one in history), *(sha256 for own in tasks.values() for _, sha256 in own)],
        )
    by_a1 = [one.shown_sha256 for one in history if one.record.assessor == "a1"]
    assert [displays[sha256]["guidelines"] for sha256 in by_a1 if sha256] == [old, new]
    for pair in (early[0], of_method[-1]):
        assert [displays[sha256]["guidelines"] for _, sha256 in tasks[PairKey(*pair)]] == [old, new]
    assert annot_done("check", "server", "--json", folder=study.folder).data["server"]["findings"] == []
    annot_done("check", "files", folder=study.folder)
    with closing(sqlite3.connect(study.folder / "annot.db")) as connection, connection:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute("UPDATE shown_version SET sha256 = 'another' WHERE part = 'guidelines'")
        connection.execute("DROP TRIGGER shown_version_no_update")
        connection.execute("UPDATE shown_version SET sha256 = 'another' WHERE part = 'guidelines' AND why IS NOT NULL")
    (finding, _) = annot("check", "server", "--json", folder=study.folder).data["server"]["findings"]
    assert finding["what"] == f"a1: {len(places) + 1} answers by guidelines that are not on record"
    assert "the guidelines of method sent on" in annot("check", "files", folder=study.folder).stdout
    with closing(sqlite3.connect(study.folder / "annot.db")) as connection, connection:
        connection.execute(f"UPDATE shown_version SET sha256 = '{new}' WHERE sha256 = 'another'")
    pages = protocol_of(read_snapshot(study.workspace))
    assert sorted(name for name in pages if "version" in name) == [
        "guidelines/method.version-1.md",
        "versions.jsonl",
    ]
    assert hashlib.sha256(pages["guidelines/method.version-1.md"].encode()).hexdigest() == old
