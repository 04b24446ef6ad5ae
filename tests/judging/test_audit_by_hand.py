"""What an audit compares with what is on record: accounts, guidelines, filled in grades, and projects that are gone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from annot.base.records import Assignment, PairKey
from annot.judging.exchange import audit as audits
from annot.judging.exchange.audit import Audit, AuditFinding
from annot.judging.exchange.servers import Unreachable
from annot.labelstudio.screens import LABELS_FROM
from annot.labelstudio.studio_records import Prediction, StudioProject
from annot.labelstudio.tasks import pair_key
from annot.store import projects, trials
from annot.store.models import Project
from annot.study.workspace import Workspace
from small_study import FirstPairs, Small, sent_to
from study_stages import copied

D0, D1, D2 = (PairKey("p1-method", f"d0{at}") for at in range(3))
OTHER = PairKey("p2-method", "d00")
PROJECT = Project(1, "judge", "a1", "here", "http://studio.example", "1.23.2", 31, 7, None)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Planned, not judged."""
    return copied(Small(), "planned", tmp_path / "study")


class Server:
    """The accounts, projects and filled in labels of one server."""

    def __init__(
        self,
        accounts: Mapping[str, int] | None = None,
        *,
        markers: Sequence[str] = (),
        filled_in: Sequence[Prediction] = (),
        project: StudioProject | None = None,
    ) -> None:
        self.accounts, self.marked, self.filled_in, self.found = accounts or {}, markers, filled_in, project

    def user_ids(self) -> dict[str, int]:
        return dict(self.accounts)

    def whoami(self) -> int:
        return 1

    def markers(self) -> Sequence[str]:
        return self.marked

    def predictions(self, _number: int) -> Sequence[Prediction]:
        return self.filled_in

    def project(self, _number: int) -> StudioProject | None:
        return self.found

    def pull(self, _number: int) -> tuple[Any, ...]:
        return ()


def test_on_a_persons_own_server_are_the_person_and_the_lead(ws: Workspace) -> None:
    accounts = {"lead@example.org": 1, "ann@example.org": 5, "old@example.org": 6, "bob@example.org": 7, "x@y.z": 8}
    server: Any = Server(accounts, markers=["[annot:small/judge/a1", "[annot:small/judge/a2", "[annot:small/train/a2"])
    findings = list(audits._own_server_findings(ws, server, "a1", [6]))
    found = [one.what for one in findings]
    assert [one.count for one in findings] == [1, 1, 2]
    assert [what.split(" is on their")[0] for what in found[:-1]] == [
        "a1: an account of a2", "a1: account 8 of an unknown person",
    ]  # fmt: skip
    assert found[-1].startswith("a1: 2 projects of a2")


def test_accounts_are_named_by_their_person(ws: Workspace) -> None:
    server: Any = Server({"ann@example.org": 5, "x@y.z": 8, "bob@example.org": 7})
    assert audits.whose_accounts(ws, server, {"a1": [5, 6]}) == {1: "the lead's account", 5: "a1", 6: "a1", 7: "a2"}


def test_accounts_of_all_rounds_are_taken_together_and_one_that_another_has_now_is_not_theirs(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = {"judge": 30, "train": 32}

    def lines(_ws: Workspace, project: Project) -> dict[Any, Any]:
        if project.assessor != "a1":
            return {}
        current = SimpleNamespace(account=answered[project.round])
        return {(D0, project.round): SimpleNamespace(current=current, counts=True)}

    monkeypatch.setattr(audits, "_lines", lines)
    here = [PROJECT, PROJECT._replace(round="train", account_id=33), PROJECT._replace(assessor="a2", account_id=32)]
    assert audits.accounts_at(ws, here) == {"a1": [30, 31, 33], "a2": [32]}


def filled_in(task: int, *, score: float | None = None, by: str = LABELS_FROM) -> Prediction:
    return Prediction(task, by, score, ())


def test_a_task_may_have_labels_filled_in_once(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [filled_in(1), filled_in(2), filled_in(2), filled_in(3, score=0.9), filled_in(4, by="a model")]
    monkeypatch.setattr(
        audits,
        "is_prediction_of_ours",
        lambda one, screen, labels: one.score is None and one.model_version == LABELS_FROM,
    )
    server: Any = Server(filled_in=given)
    assert audits._filled_in(ws, server, PROJECT) == {2, 3, 4}


@pytest.mark.parametrize(
    ("created", "on_record", "is_there"),
    [("one", "one", True), ("one", "two", False), (None, "one", True), ("one", None, True), (None, None, True)],
)
def test_a_project_is_the_one_that_was_made_then(
    ws: Workspace, created: str | None, on_record: str | None, is_there: bool
) -> None:
    server: Any = Server(project=StudioProject(7, created, 0, 0, {}, True))
    project = sent_to(ws, "a1", D0, D1, OTHER, created=on_record)
    found = audits.audited_project(ws, server, project, accounts=[31], people={})
    assert (found is not None) is is_there
    if found is not None:
        assert (found.person, found.push, found.planned) == (
            "a1",
            "annot push",
            {pair_key(*one) for one in (D0, D1, OTHER)},
        )
    assert audits.audited_project(ws, cast(Any, Server()), project, accounts=[31], people={}) is None


def test_a_project_of_a_round_that_never_counts_is_named_with_it(ws: Workspace) -> None:
    with ws.writing() as session:
        trials.add_assignments(session, "train", [Assignment(*D0.pair, "a1", 1)])
    project = sent_to(ws, "a1", D0, round="train")
    server: Any = Server(project=StudioProject(7, None, 0, 0, {}, True))
    found = audits.audited_project(ws, server, project, accounts=[31], people={})
    assert found is not None
    assert (found.person, found.push) == ("a1 (training)", "annot push training")


def test_answers_by_guidelines_that_nobody_sent_and_open_tasks_beside_old_ones_are_found(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """d00 was answered by guidelines that are not on record; d01 is open beside those that were sent first."""
    old, new = ("2031-01-01", "old"), ("2031-01-02", "new")
    shown = SimpleNamespace(by_task={D0: (old,), D1: (old,), D2: (old, new), OTHER: ()})

    def sources(asked: PairKey, _screen: str) -> dict[str, Any]:
        return {"guidelines": (old, new)} if asked.query_id == "p1-method" else {}

    monkeypatch.setattr(audits, "read_shown", lambda session, project, sources: shown)
    monkeypatch.setattr(audits, "read_sources", lambda session: sources)
    monkeypatch.setattr(audits, "display_parts", lambda session, names: {name: {"guidelines": name} for name in names})

    def on_record(asked: PairKey, sha256: str, *, counts: bool = True) -> Any:
        return SimpleNamespace(
            counts=counts, record=SimpleNamespace(pair_key=asked), current=SimpleNamespace(shown_sha256=sha256)
        )

    lines = [
        on_record(D0, "never"),
        on_record(D2, "old"),
        on_record(D1, "never", counts=False),
        on_record(OTHER, "never"),
    ]
    monkeypatch.setattr(audits, "lines_of", lambda ws, project: dict(enumerate(lines)))
    tasks = [
        SimpleNamespace(key=pair_key(*asked), annotations=given) for asked, given in ((D0, (1,)), (D1, ()), (D2, ()))
    ]
    audited: Any = SimpleNamespace(person="a1", tasks=tasks)
    found = {one.kind: (one.count, one.pairs) for one in audits._guidelines_findings(ws, PROJECT, audited)}
    assert found == {"unknown guidelines": (1, ("p1-method d00",)), "earlier guidelines": (1, ("p1-method d01",))}
    assert list(audits._guidelines_findings(ws, PROJECT._replace(round="train"), audited)) == []


def test_only_of_judging_it_is_known_when_a_pair_was_settled_and_hidden_gold_was_before(tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")
    with ws.writing() as session:
        trials.add_assignments(session, "hidden-gold", [Assignment("p1-method", "d08", "j1", 1)])
    moment = "2031-03-14T12:00:00+00:00"
    assert audits._settled(ws, PROJECT) == {("p1-method", "d08"): moment, ("p1-method", "d09"): moment}
    assert audits._settled(ws, PROJECT._replace(assessor="j1")) == {("p1-method", "d09"): moment}
    assert audits._settled(ws, PROJECT._replace(round="train")) == {}


RUSHED = AuditFinding("too fast", "a2: 3 answers", 3, "look", ("q0 d", "q1 d", "q2 d"))


def audited(ws: Workspace, patch: pytest.MonkeyPatch, *, lost: int, version: str = "1.23.2") -> Audit:
    """Of three projects that were sent, a1's is gone, a2's has two tasks with three answers, j1's server is away."""
    for at, (name, server) in enumerate((("a1", "here"), ("a2", "here"), ("j1", "there")), start=7):
        with ws.writing() as session:
            made = projects.open_project(
                session, round="judge", assessor=name, server=server, url="u", version="1.23.2", account_id=at
            )
            projects.set_remote_project(session, made.project, at)
            projects.record_tasks(session, made.project, {D0: 10 * at, D1: 10 * at + 1})
    with ws.writing() as session:
        projects.open_project(
            session, round="train", assessor="a1", server="here", url="u", version="1.0", account_id=1
        )
    tasks = [SimpleNamespace(annotations=(1, 2)), SimpleNamespace(annotations=(3,))]
    there: Any = SimpleNamespace(tasks=tasks, planned=frozenset({"x", "y"}))
    away = Unreachable("j1", "off", False)
    gateway = SimpleNamespace(identity=lambda: "here", version=lambda: version, url="http://here")

    def on_servers(_ws: object, names: Sequence[str], work: Any) -> tuple[Unreachable, ...]:
        assert list(names) == ["a1", "a2", "j1"]
        work(gateway, ["a1", "a2"])
        return (away,)

    patch.setattr(audits, "on_servers", on_servers)
    patch.setattr(audits, "accounts_at", lambda ws, here: {one.assessor: [1] for one in here})
    patch.setattr(audits, "whose_accounts", lambda *_: {})
    patch.setattr(
        audits, "audited_project", lambda ws, gateway, project, **_: there if project.assessor == "a2" else None
    )
    patch.setattr(audits, "count_lost_answers", lambda ws, project: lost)
    patch.setattr(audits, "of_project", lambda audited, settled: [])
    patch.setattr(audits, "rushed_of", lambda *_: (RUSHED,))
    told: list[tuple[int, int | None]] = []
    found = audits.audit(ws, advance=lambda done, total: told.append((done, total)))
    assert told == [(2, 6)]
    return found
