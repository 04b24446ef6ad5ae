"""The server is lost with everything on it: the restored study goes on, on an empty one, and nobody is asked twice."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import annot, annot_done
from complete_study import counting, http, in_dispute
from fixtures_studio import Studio
from memory_studio import studio_at_a_socket
from postgres import PostgresServer
from studies import Pair, Study, address_of, make_study

pytestmark = pytest.mark.postgres

PEOPLE = ("a1", "a2", "j1")


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Studio]:
    """Another Label Studio, on which only the administrator has an account."""
    folder = tmp_path / "empty"
    folder.mkdir()
    with studio_at_a_socket(folder) as made:
        yield made


def sent(result: object) -> dict[str, tuple[int, int, int]]:
    return {one["assessor"]: (one["there"], one["sent"], one["known"]) for one in result.data["projects"]}


def open_pairs(study: Study, name: str) -> list[Pair]:
    return [tuple(task["data"]["pair_id"].split("/")) for task in study.on_server(name) if not task["annotations"]]


def test_a_study_restored_beside_an_empty_server_goes_on_with_what_is_open(
    at_a_socket: Studio,
    empty: Studio,
    postgres_server: PostgresServer,
    postgres_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = make_study(tmp_path / "study", at_a_socket, name="moved", per_method=3)
    pairs = study.planned()["a1"]
    of_second = study.planned()["a2"]
    n, half = len(pairs), len(pairs) // 2
    annot_done("push", folder=study.folder)
    study.judge("a1", {pair: at % 4 for at, pair in enumerate(pairs)})
    study.judge("a2", {pair: (at + (at < 2)) % 4 for at, pair in enumerate(pairs[:half])})
    annot_done("pull", "judging", folder=study.folder)
    annot_done("push", "adjudication", folder=study.folder)
    first_dispute, second_dispute = in_dispute(study)
    study.judge("j1", {first_dispute: 2}, "adjudicate")
    annot_done("pull", "adjudication", folder=study.folder)
    annot_done("return", *pairs[3], "--to", "a1", "--why", "Read it again.", folder=study.folder)
    before = counting(study)
    study.judge("a2", {pairs[half]: 0})
    backup = tmp_path / "study.tar.gz"
    told = annot_done("backup", backup, folder=study.folder).stderr
    assert "a2: 1 answer not pulled; run `annot pull`" in told
    shutil.rmtree(study.folder)

    monkeypatch.setenv("LABEL_STUDIO_URL", empty.url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", empty.token)
    for url in (None, postgres_url):
        if url is not None:
            monkeypatch.setenv("ANNOT_DATABASE", url)
        folder = tmp_path / ("sqlite" if url is None else "postgres")
        restored = Study(folder, empty)
        annot_done("restore", backup, folder, folder=tmp_path)
        if url is None:
            nobody = annot("push", folder=folder)
            assert nobody.exit_code == 1
            assert "a1: has not signed up on the server yet" in nobody.stderr
            for name in PEOPLE:
                restored.as_person(name).close()
        # Only what needs an answer is sent: the returned pair, and what the second assessor has not judged on record.
        pushed = annot_done("push", "--json", folder=folder)
        assert sent(pushed) == {"a1": (0, 1, n), "a2": (0, n - half, half)}
        assert open_pairs(restored, "a2") == [pair for pair in of_second if pair not in pairs[:half]]
        assert open_pairs(restored, "a1") == [(*pairs[3], "2")]
        pulled = annot_done("pull", "judging", "--json", folder=folder).data["assessors"]
        assert [(one["new"], one["changed"], one["lost"]) for one in pulled] == [(0, 0, 0)] * 2
        assert counting(restored) == before
        decided = annot_done("push", "adjudication", "--json", folder=folder)
        assert sent(decided) == {"j1": (0, 1, 1)}
        annot_done("pull", "adjudication", folder=folder)
        assert counting(restored) == before
        assert sent(annot_done("push", "--json", folder=folder)) == {"a1": (1, 0, n), "a2": (n - half, 0, half)}
        assert annot_done("check", "server", "--json", folder=folder).data["server"]["findings"] == []
        if url is None:
            # The server is empty once more, for the study restored to PostgreSQL.
            for project in restored.listed_projects():
                http(restored, "DELETE", f"/api/projects/{project['id']}/")
            continue
        # Everything open is answered there, and the study ends.
        restored.judge("a2", {pair: at % 4 for at, pair in enumerate(pairs) if at >= half})
        restored.judge("a1", {(*pairs[3], "2"): 3})
        restored.judge("j1", {second_dispute: 1}, "adjudicate")
        annot_done("pull", "judging", folder=folder)
        annot_done("pull", "adjudication", folder=folder)
        added = {(*pair, "a2"): at % 4 for at, pair in enumerate(pairs) if at >= half}
        assert counting(restored) == before | added | {(*second_dispute, "j1"): 1}
        annot_done("qrels", folder=folder)
        annot_done("check", "files", folder=folder)
        annot_done("check", "server", folder=folder)
    assert address_of("a1") not in (folder / "exports" / "judgements.jsonl").read_text(encoding="utf-8")
