"""What a letter says of the server, the account, the work and publication, and to which file it goes."""

import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Assessor, Assignment, Judgement, PairKey, PairReturn
from annot.base.templating import render
from annot.base.words import ENGLISH
from annot.judging.exchange.servers import passwords_file
from annot.labelstudio import server as local
from annot.steps import backup as backing_up
from annot.steps import people as invite
from annot.steps.people import Addressee, Letter, Workload, _chosen, addressees, spoken_time
from annot.store import people, trials
from annot.store.answers import TRIALS, add_returned
from annot.store.models import Plan
from annot.store.people import read_notices
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, RECORDED, FirstPairs, Small, sent_to, sourced
from study_stages import copied

URL = "http://studio.example.org"
SIGN_UP = "/user/signup/?token=abc"
ANN = Assessor("a1", "Ann@example.org", False)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """a1 and a2 have the same forty pairs and judged ten each; no server is known."""
    return copied(Small(answers=FirstPairs(10)), "judged", tmp_path / "study")


class Server:
    """The accounts of a server, and for whom it was asked."""

    url = address = URL

    def __init__(self) -> None:
        self.accounts = {"ann@example.org": 1, "joe@example.org": 3}
        self.asked: list[str | None] = []

    def invitation(self) -> str:
        return SIGN_UP

    def user_ids(self) -> dict[str, int]:
        return self.accounts


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Server:
    standing = Server()

    @contextmanager
    def connect(_ws: Workspace, *, person: str | None = None) -> Iterator[Server]:
        standing.asked.append(person)
        yield standing

    monkeypatch.setattr(invite.servers, "connect", connect)
    return standing


def letters(ws: Workspace, *names: str, **of: Any) -> list[Letter]:
    usual: dict[str, Any] = {"contact": None, "days": {"judge": None, "adjudicate": None}, "out": None}
    return list(invite.invite(ws, names, **(usual | of)))


# -- what is known of the server ---------------------------------------------------------------------------------------


def test_who_has_no_account_is_told_where_to_sign_up(ws: Workspace, served: Server) -> None:
    ann, bob = letters(replace(ws, studio_url=URL), "a1", "a2")
    assert (f"{URL}{SIGN_UP}" in ann.text, f"{URL}{SIGN_UP}" in bob.text) == (False, True)
    assert served.asked == [None], "one server for all is asked once"


def test_on_a_server_of_the_study_the_lead_has_made_the_account(
    ws: Workspace, served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "status", lambda folder: "runs")
    written = passwords_file(ws, None)
    written.parent.mkdir(parents=True, exist_ok=True)
    written.write_text("a1\tann@example.org\tsecret\n", encoding="utf-8")
    ann, bob = letters(ws, "a1", "a2")
    assert SIGN_UP not in bob.text
    assert (ann.password, bob.password) == (written, None)


@pytest.mark.parametrize(
    ("both_sent", "url", "runs", "asked"),
    [
        (True, None, False, []),
        (True, URL, False, [None]),
        (True, None, True, [None]),
        (False, None, False, [None]),
    ],
)
def test_the_server_is_asked_if_it_is_named_or_runs_or_somebody_has_no_project(
    ws: Workspace,
    served: Server,
    monkeypatch: pytest.MonkeyPatch,
    both_sent: bool,
    url: str | None,
    runs: bool,
    asked: list[str | None],
) -> None:
    monkeypatch.setattr(local, "status", lambda folder: "runs" if runs else None)
    sent_to(ws, "a1", url=URL, remote=71)
    if both_sent:
        sent_to(ws, "a2", url=URL, remote=72)
    ann, _ = letters(replace(ws, studio_url=url), "a1", "a2")
    assert served.asked == asked
    assert ann.link == f"{URL}/projects/71/data?labeling=1"
    assert f"{URL}/projects/71/data" in ann.text


def test_with_servers_of_their_own_each_persons_is_asked(ws: Workspace, served: Server) -> None:
    letters(ws.replaced("judging", isolation="server"), "a1", "a2")
    assert served.asked == ["a1", "a2"]


LEFT_OPEN = {"whom": "Ada", "until": None, "asked": "facets"}


def values(ws: Workspace, one: Addressee, known: invite._Server | None = None) -> dict[str, Any]:
    return invite._values(ws, one, known, ENGLISH, whom="", day=None, asked="facets")


def test_what_a_letter_is_made_from(ws: Workspace) -> None:
    work = Workload(40, 10, seconds=60.0, timed=True)
    project = sent_to(ws, "a1", url=URL, remote=71)
    known = invite._Server("http://known", frozenset({"ann@example.org"}), "http://known/sign-up")
    found = values(ws, Addressee(ANN, "judge", work, project, 3, project, 2), known)
    assert found["link"] == found["training_link"] == "http://known/projects/71/data?labeling=1"
    letter = " ".join(render("letter.txt.j2", {**found, **LEFT_OPEN}, overrides=None).split())
    assert "You start with 2 training pairs, here: http" in letter
    assert "what the grades mean. 1 more follows once you have answered these." in letter
    assert values(ws, Addressee(ANN, "judge", None, project._replace(remote_id=None), 0, None))["link"] is None
    changed = ws.replaced("adjudication", ratings="hidden").replaced("judging", isolation="server")
    apart = values(changed, Addressee(ANN, "judge", None, None, 0, None))
    assert (apart["shown"], apart["shared"]) == (False, False)


@pytest.mark.parametrize(
    ("role", "comments", "reasons", "published"),
    [
        ("judge", "left out", "published", False),
        ("judge", "published", "left out", True),
        ("adjudicate", "left out", "published", True),
        ("adjudicate", "published", "left out", False),
    ],
)
def test_each_role_is_told_of_its_own_words(
    ws: Workspace, role: Any, comments: str, reasons: str, published: bool
) -> None:
    decided = ws.replaced("release", comments=comments, reasons=reasons)
    assert values(decided, Addressee(ANN, role, None, None, 0, None))["published"] is published
    for text, says in (
        (f"I know that {ENGLISH(invite.THEIR_WORDS[role])} are published.", published),
        ("Dear a1", False),
    ):
        notice = invite._notice(decided, Letter("a1", role, None, "", text, None, None, counted=False), ENGLISH)
        assert (notice.assessor, notice.how, notice.published) == ("a1", "letter", says)
        assert notice.kind == ("comments" if role == "judge" else "reasons")


# -- files -------------------------------------------------------------------------------------------------------------


def test_letters_go_to_files_that_their_owner_alone_can_read(ws: Workspace, served: Server, tmp_path: Path) -> None:
    with ws.writing() as session:
        plan = people.read_assignments(session)
        people.replace_plan(session, [*plan, Assignment("p1-method", "d00", "j1", 1)], plan=Plan("2", 13, RECORDED, 2))
    made = letters(ws, out=Path("letters"))
    paths = [one.path for one in made]
    assert [path and path.relative_to(ws.root / "letters").as_posix() for path in paths] == [
        "a1.txt", "a2.txt", "j1-judging.txt", "j1-adjudication.txt",
    ]  # fmt: skip
    for one in made:
        assert one.path is not None
        assert one.path.read_text(encoding="utf-8") == one.text
        assert stat.S_IMODE(one.path.stat().st_mode) == 0o600
    (apart,) = letters(ws, "a1", out=tmp_path / "elsewhere")
    assert apart.path == tmp_path / "elsewhere" / "a1.txt"
    assert [one.counted for one in made] == [True, True, True, False]
    with ws.reading() as session:
        assert {one.assessor for one in read_notices(session)} == {"a1", "a2", "j1"}


def test_who_is_asked_and_until_when_is_in_the_letter(ws: Workspace, served: Server) -> None:
    (one,) = letters(ws, "a1", contact="lee@example.org", days={"judge": date(2031, 4, 5), "adjudicate": None})
    assert ("lee@example.org" in one.text, "5 April 2031" in one.text, one.contact) == (True, True, "lee@example.org")
    (plain,) = letters(ws, "a1")
    assert (ENGLISH("letter.sender") in plain.text, plain.contact) == (True, "")
    named = ws.replaced("collection", contact="kim@example.org")
    assert letters(named, "a1")[0].contact == "kim@example.org"
    assert letters(named, "a1", contact="")[0].contact == ""


# -- work --------------------------------------------------------------------------------------------------------------


def test_hidden_gold_and_returned_pairs_are_work_of_their_person_alone(ws: Workspace) -> None:
    """a2 has five pairs fewer; of what a1 was asked beside the plan, the gold pair is answered."""
    gold = PairKey("p2-method", "d99")
    with ws.writing() as session:
        plan = [one for one in people.read_assignments(session) if one.assessor == "a1" or one.position <= 35]
        people.replace_plan(session, plan, plan=Plan("2", 13, RECORDED, 2), handed_on=people.read_assignments(session))
        trials.add_assignments(session, "hidden-gold", [Assignment(*gold.pair, "a1", 1)])
        add_returned(session, PairReturn("p1-method", "d00", "a1", 3, "Look again.", RECORDED))
        answer = sourced([Judgement(*gold.pair, "a1", 1)])
        TRIALS.record(session, [one._replace(source="hidden-gold") for one in answer], recorded_at=RECORDED)
    with ws.reading() as session:
        work = {one.person.assessor: one.work for one in addressees(session, ws)}
    assert work["a1"] is not None
    assert work["a2"] is not None
    assert (work["a1"].pairs, work["a1"].done) == (42, 11)
    assert (work["a2"].pairs, work["a2"].done) == (35, 10)


def test_a_backup_has_no_copy_of_a_letter_with_a_password(ws: Workspace, tmp_path: Path) -> None:
    passwords_file(ws).parent.mkdir(parents=True)
    passwords_file(ws).write_text("a1\tAnn@example.org\tpass-phrase-1\n", encoding="utf-8")
    for name, text in (("mail.txt", "Password: pass-phrase-1\n"), ("diary.txt", "We began on Monday.\n")):
        (ws.root / name).write_text(text, encoding="utf-8")
        (ws.root / name).chmod(0o644)
    written = backing_up.backup(ws, tmp_path / "study.tar.gz", dry_run=False, advance=lambda done, total: None)
    with tarfile.open(written.path) as packed:
        names = {Path(name).name for name in packed.getnames()}
    assert "diary.txt" in names
    assert "mail.txt" not in names
    assert any("mail.txt" in note for note in written.notes)


# -- who gets a letter in which role, how much work it names, and in which words it says the time ----------------------


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (2, "5 minutes"),
        (8, "10 minutes"),
        (22, "20 minutes"),
        (44, "45 minutes"),
        (45, "1 hour"),
        (74, "1 hour"),
        (76, "1.5 hours"),
        (150, "2.5 hours"),
    ],
)
def test_time_is_said_to_five_minutes_and_from_three_quarters_of_an_hour_on_to_half_hours(
    minutes: int, said: str
) -> None:
    assert spoken_time(minutes / 60, ENGLISH) == said


def test_the_time_of_a_letter_is_for_what_is_still_to_do() -> None:
    assert Workload(40, 10, seconds=60.0, timed=False).left == 30
    assert Workload(40, 10, seconds=60.0, timed=False).time(ENGLISH) == "30 minutes"
    assert Workload(40, 10, seconds=None, timed=False).time(ENGLISH) == ""


def letter(name: str, *, path: Path | None) -> Letter:
    return Letter(name, "judge", None, "", f"Dear {name}\n", path, None, counted=False)


def addressee(person: Assessor) -> Addressee:
    return Addressee(person, "judge", None, None, 0, None)


def test_only_people_who_are_there_and_have_an_account_are_invited() -> None:
    ann, bob = Assessor("a1", "ann@example.org", False), Assessor("a2", None, False)
    left = Assessor("a3", "c@example.org", False, left_on=RECORDED)
    everyone = {one.assessor: one for one in (ann, bob, left)}
    possible = [addressee(ann), addressee(bob)]
    assert _chosen(everyone, ("a1",), possible) == [addressee(ann)]
    assert _chosen({"a1": ann}, (), [addressee(ann)]) == [addressee(ann)]
    with pytest.raises(InputError, match="2 people cannot be invited") as error:
        _chosen(everyone, ("a1", "a2", "a3"), possible)
    assert [fault.partition(":")[0] for fault in error.value.faults] == ["a3", "a2"]
    with pytest.raises(InputError, match="1 person cannot be invited"):
        _chosen(everyone, (), possible)
    with pytest.raises(InputError, match="assessor"):
        _chosen(everyone, ("a9",), possible)
    with pytest.raises(MissingInput, match="no one to invite: the others have left"):
        _chosen(everyone, (), [])
    with pytest.raises(MissingInput, match=r"no one to invite$"):
        _chosen({}, (), [])


def found(ws: Workspace) -> list[Addressee]:
    with ws.reading() as session:
        return addressees(session, ws)


def study(folder: Path, *, judged: int) -> Workspace:
    return copied(Small(answers=FirstPairs(judged)), "judged", folder / "study")


def test_everyone_who_has_not_left_is_written_to_in_each_of_their_roles(tmp_path: Path) -> None:
    ws = study(tmp_path, judged=10)
    with ws.writing() as session:
        people.set_left(session, "a2", RECORDED)
    assert [(one.person.assessor, one.role) for one in found(ws)] == [("a1", "judge"), ("j1", "adjudicate")]
    with ws.writing() as session:
        plan = people.read_assignments(session)
        more = [*plan, Assignment("p1-method", "d00", "j1", 1)]
        people.replace_plan(session, more, plan=Plan("2", 13, RECORDED, 2))
    roles = [(one.person.assessor, one.role) for one in found(ws)]
    assert roles == [("a1", "judge"), ("j1", "judge"), ("j1", "adjudicate")]


def test_work_is_counted_from_the_plan_and_timed_by_what_the_person_took(tmp_path: Path) -> None:
    first, second, adjudicator = found(study(tmp_path, judged=10))
    assert first.work is not None
    assert second.work is not None
    assert (first.work.pairs, first.work.done, first.work.timed) == (40, 10, True)
    # a1 takes 24 to 36 s a pair, a2 twice that.
    assert first.work.seconds is not None
    assert second.work.seconds is not None
    assert 24 <= first.work.seconds <= 36 < 48 <= second.work.seconds <= 72
    assert (adjudicator.work, adjudicator.project, adjudicator.training) == (None, None, 0)


def test_without_a_time_a_pair_is_taken_to_take_a_minute(tmp_path: Path) -> None:
    first, *_ = found(study(tmp_path, judged=0))
    assert first.work == Workload(40, 0, seconds=60.0, timed=False)
    assert (first.project, first.training, first.training_project) == (None, 0, None)


def test_disputes_are_counted_once_they_are_sent(tmp_path: Path) -> None:
    ws = study(tmp_path, judged=10)
    asked = [PairKey("p1-method", doc) for doc in DOCUMENTS[-3:]]
    sent_to(ws, "j1", *asked, round="adjudicate", remote=None)
    assert found(ws)[-1].project is None
    sent_to(ws, "j1", *asked, round="adjudicate")
    for seconds in (None, 90.0):
        last = found(ws.replaced("forecast", dispute_seconds=seconds))[-1]
        assert last.project is not None
        assert last.project.remote_id == 7
        # d08 and d09 are in dispute, d07 is not.
        assert last.work == Workload(3, 1, seconds=seconds, timed=True)


def test_gold_pairs_come_first_until_they_are_passed(tmp_path: Path) -> None:
    ws = study(tmp_path, judged=0)
    with ws.writing() as session:
        gold = [Assignment("p1-method", doc, "a1", at) for at, doc in enumerate(("d00", "d01", "d02"), start=1)]
        trials.replace_assignments(session, "train", gold)
    sent_to(ws, "a1", *(one.pair_key for one in gold[:2]), round="train", remote=9)
    first, second, _ = found(ws)
    assert (first.training, second.training) == (3, 0)
    assert first.training_sent == 2, "the letter speaks of the pairs that the link opens"
    assert first.training_project is not None
    assert first.training_project.remote_id == 9
    assert second.training_project is None
