"""A Label Studio for each person: two assessors and an adjudicator on three servers, one of them away at times."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from annot.judging.exchange import audit
from annot.judging.exchange.servers import studio_folder
from annot.labelstudio.accounts import make_accounts
from annot.publishing.release.leaks import secrets_of
from annot.publishing.report import study as of_report
from annot.study.snapshot import read_for_release
from command_line import Result, annot, annot_done, difference, snapshot
from complete_study import counting, in_dispute, rating
from fixtures_studio import Studio
from memory_studio import StudioAtASocket, studio_at_a_socket
from studies import PEOPLE, Study, address_of, ready
from studio_contents import LEAD
from study_stages import quietly

NAMES = tuple(name for name, _ in PEOPLE)
ISOLATED = '\n[judging]\nisolation = "server"\n'
At = Callable[[str], Study]
"""The study as its server of this person shows it."""


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[At]:
    """A study whose people have their servers, all of them running."""
    folder = tmp_path_factory.mktemp("each") / "study"
    ws = ready(folder, name="each", per_method=1, more_settings=ISOLATED)
    with ExitStack() as stack:
        servers = {}
        for name in NAMES:
            studio_folder(ws, name).mkdir(parents=True)
            servers[name] = stack.enter_context(studio_at_a_socket(studio_folder(ws, name)))
            Study(folder, servers[name]).as_person(name).close()  # has signed up
        yield lambda name: Study(folder, servers[name])


def accounts_at(study: Study) -> set[str]:
    with study.studio.gateway() as gateway:
        return set(gateway.user_ids())


def run(study: Study, *typed: str) -> Result:
    return annot(*typed, folder=study.folder)


def test_each_server_holds_one_person_and_their_project_alone(at: At) -> None:
    first = at("a1")
    for there in (0, 1):
        both = ("--assessor", "a1", "--assessor", "a2")
        labels = annot_done("push", "labels", *both, "--json", folder=first.folder).data["projects"]
        assert [(row["assessor"], row["there"], row["sent"]) for row in labels] == [
            ("a1", there, 1 - there),
            ("a2", there, 1 - there),
        ]
    annot_done("pull", "labels", folder=first.folder)
    sent = annot_done("push", "--json", folder=first.folder)
    assert [row["assessor"] for row in sent.data["projects"]] == ["a1", "a2"]
    for name in ("a1", "a2"):
        there = at(name)
        assert accounts_at(there) == {LEAD, address_of(name)}
        assert list(there.projects()) == [name]
        assert len(there.listed_projects()) == 2, "the labels and the pairs"
        (address,) = [row["address"] for row in sent.data["projects"] if row["assessor"] == name]
        assert address.startswith(there.studio.url)
    assert at("j1").listed_projects() == []
    again = annot_done("push", "--json", folder=first.folder)
    assert {row["sent"] for row in again.data["projects"]} == {0}


def test_a_server_that_is_away_is_named_and_the_others_are_pulled(at: At) -> None:
    first, second = at("a1"), at("a2")
    pairs = first.planned()["a1"]
    first.judge("a1", {pair: place % 4 for place, pair in enumerate(pairs)})
    second.judge("a2", dict.fromkeys(pairs[:2], 1))
    annot_done("pull", "judging", folder=first.folder)
    before = counting(first)
    assert len(before) == len(pairs) + 2
    second.judge("a2", dict.fromkeys(pairs[2:], 1))
    assert isinstance(second.studio, StudioAtASocket)
    with second.studio.stopped():
        for command in (("pull",), ("push",)):
            away = run(first, *command)
            assert away.exit_code == 1
            assert "could not reach 1 server" in away.stderr
            assert "a2: the server of a2 is not running" in away.message()
            assert counting(first) == before
        assert "a2: not running" in annot_done("studio", "status", folder=first.folder).stdout
        audited = audit.audit(first.workspace, advance=quietly)
        assert [one.what for one in audited.findings] == ["a2: their server could not be reached"]
        kept = annot_done("backup", str(first.folder.parent / "one-away.tar.gz"), "--json", folder=first.folder)
        assert kept.data["projects"] == 2, "a1's pairs and the labels that a1 corrects"
        assert any("no copies of the projects of a2" in note for note in kept.data["notes"])
    annot_done("pull", "judging", folder=first.folder)
    assert len(counting(first)) == 2 * len(pairs)
    standing = snapshot(first.folder)
    annot_done("pull", "judging", folder=first.folder)
    assert not [name for name in difference(standing, snapshot(first.folder)) if not name.startswith(".annot/studios")]


def test_disputes_go_to_the_adjudicators_server_alone(at: At) -> None:
    first, judge = at("a1"), at("j1")
    annot_done("push", "adjudication", folder=first.folder)
    assert list(judge.projects("adjudicate")) == ["j1"]
    assert [len(at(name).listed_projects()) for name in NAMES] == [2, 2, 1]
    disputed = in_dispute(first)
    judge.judge("j1", dict.fromkeys(disputed, 2), "adjudicate")
    annot_done("pull", "adjudication", folder=first.folder)
    assert sum(len(key) == 3 and key[2] == "j1" for key in counting(first)) == len(disputed) > 0
    found = annot_done("check", "server", folder=first.folder)
    assert "no problems found" in found.stdout
    assert "5 projects" in found.stdout


def settled(at: At) -> Study:
    """The study with every dispute settled, whether the tests before have done it or not."""
    first, judge = at("a1"), at("j1")
    if not any("j1" in key for key in counting(first)):
        annot_done("push", folder=first.folder)
        pairs = first.planned()["a1"]
        first.judge("a1", {pair: place % 4 for place, pair in enumerate(pairs)})
        at("a2").judge("a2", dict.fromkeys(pairs, 1))
        annot_done("pull", "judging", folder=first.folder)
        annot_done("push", "adjudication", folder=first.folder)
        judge.judge("j1", dict.fromkeys(in_dispute(first), 2), "adjudicate")
        annot_done("pull", "adjudication", folder=first.folder)
    return first


def test_nothing_goes_to_an_address_that_is_nobodys_or_anothers(
    at: At, at_a_socket: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = at("a1"), at("a2")
    there = len(first.listed_projects())
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", at_a_socket.token)
    for command in (("push",), ("pull",), ("push", "adjudication"), ("check", "server")):
        refused = run(first, *command, "--url", at_a_socket.url)
        assert refused.exit_code == 2
        assert "does not belong to anyone in this study" in refused.message()
    taken = run(first, "assessor", "change", "a1", "--server", second.studio.url)
    assert taken.exit_code == 2
    assert "is the server of a2" in taken.message()
    # Another address of the same server: what is there tells whose it is.
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", second.studio.token)
    shared = run(first, "assessor", "change", "a1", "--server", second.studio.url.replace("127.0.0.1", "localhost"))
    assert shared.exit_code == 3
    assert "is also the server of a2" in shared.message()
    assert len(first.listed_projects()) == there


def test_a_server_elsewhere_is_reached_by_an_address_and_a_token_that_stay_here(
    at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, judge = at("a1"), at("j1")
    elsewhere = judge.studio.url.replace("127.0.0.1", "localhost")
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", judge.studio.token)
    annot_done("assessor", "change", "j1", "--server", elsewhere, folder=first.folder)
    monkeypatch.delenv("LABEL_STUDIO_API_KEY")
    kept = studio_folder(first.workspace, "j1") / "elsewhere.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert elsewhere in annot_done("assessor", "change", "j1", folder=first.folder).stdout
    settled = counting(first)
    task = judge.on_server("j1", "adjudicate")[0]
    key = task["data"]["pair_id"]
    with judge.as_person("j1") as person:
        person.change_annotation(task["annotations"][0]["id"], rating("0"))
    annot_done("pull", "adjudication", folder=first.folder)
    assert counting(first) == {**settled, (*key.split("/"), "j1"): 0}
    token = judge.studio.token.encode()
    holding = [path for path in first.folder.rglob("*") if path.is_file() and token in path.read_bytes()]
    assert kept in holding
    assert all(path.is_relative_to(kept.parent.parent) for path in holding)
    assert judge.studio.token in secret_texts(first)
    invited = annot_done("invite", "j1", "a1", folder=first.folder).stdout
    assert elsewhere in invited
    assert first.studio.url in invited
    kept.unlink()


def test_the_audit_finds_other_accounts_and_projects_on_a_persons_server(at: At) -> None:
    first = at("a1")
    with first.studio.gateway() as gateway:
        make_accounts(
            first.studio.url, {"a2": address_of("a2")}, invitation=gateway.invitation, passwords=first.studio.passwords
        )
    found = run(first, "check", "server", "--json")
    assert found.exit_code == 1
    assert [finding["kind"] for finding in found.data["server"]["findings"]] == ["strange account"]
    assert "a1: an account of a2 is on their server" in found.data["server"]["findings"][0]["what"]
    assert address_of("a2") not in found.stdout


def secret_texts(study: Study) -> set[str]:
    """What a release of the study is searched for."""
    snapshot_of_study, records = read_for_release(study.workspace, None)
    assert of_report.Study(snapshot_of_study).isolation == "server"
    return {value for _, value in secrets_of(snapshot_of_study, records, environ={}, allowed=())}
