"""The letters of `annot invite`, through a whole study on a server that is a stand-in."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from annot.base.words import ENGLISH
from annot.steps import people as invite
from annot.store import people, projects
from annot.store.database import open_store
from annot.store.models import StoredRound
from annot.store.people import read_notices
from annot.study import guidelines
from annot.study.workspace import Workspace
from small_study import build

Run = Callable[..., Any]
PUBLISHED = ENGLISH("screen.published")
URL = "http://studio.example.org"
SIGN_UP = "/user/signup/?token=abc"


class Server:
    """What `annot invite` asks of a Label Studio."""

    url = address = URL

    def __init__(self) -> None:
        self.accounts = {"ann@example.org": 1, "joe@example.org": 3}

    def invitation(self) -> str:
        return SIGN_UP

    def user_ids(self) -> dict[str, int]:
        return self.accounts


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    standing = Server()

    @contextmanager
    def connect(_ws: Workspace, *, person: str | None = None) -> Iterator[Server]:
        yield standing

    monkeypatch.setattr(invite.servers, "connect", connect)
    monkeypatch.setenv("LABEL_STUDIO_URL", URL)
    monkeypatch.setenv("ANNOT_ALLOW", URL)
    return standing


def sent(ws: Workspace, round: StoredRound, name: str) -> None:
    """A project of this person, as a push makes it."""
    with open_store(ws.database_url) as store, store.begin() as session:
        made = projects.open_project(
            session, round=round, assessor=name, server="s", url=URL, version="1.23", account_id=1
        )
        projects.set_remote_project(session, made.project, {"a1": 71, "j1": 75}[name])
        if round == "adjudicate":
            open_pairs = [
                one.pair_key for one in people.read_assignments(session, "a1") if one.doc_id in ("d08", "d09")
            ]
            projects.record_tasks(session, made.project, {asked: at for at, asked in enumerate(open_pairs, start=1)})


def letters(annot: Run, *more: str) -> dict[str, str]:
    done = annot("invite", "--json", *more)
    assert done.exit_code == 0, done.stderr
    return {one["assessor"]: one["text"] for one in done.data}


def test_the_second_letter_has_the_number_the_day_and_the_link(ws: Workspace, annot: Run, server: Server) -> None:
    build(ws, judged=20)
    server.accounts["bob@example.org"] = 2
    before = letters(annot, "--until", "2031-05-01")["a1"]
    assert "40 pairs (20 left); this takes about 10 minutes." in before
    assert "Please finish by 1 May 2031." in before
    assert "A later letter has the link" in before
    assert '"40 of 40, the last for now"' in before
    sent(ws, "judge", "a1")
    sent(ws, "adjudicate", "j1")
    after = letters(annot)
    assert f"Project:  {URL}/projects/71/data?labeling=1" in after["a1"]
    assert "Please finish by" not in after["a1"]
    assert "ask the person who sent you this letter for the page with your grades so far" in after["a1"]
    assert "for the page with your decisions so far" in after["j1"]
    days = letters(annot, "--until", "2031-05-01", "--settle-by", "2031-06-01")
    assert [re.findall(r"Please finish by (.*?)[.]", days[name]) for name in ("a1", "j1")] == [
        ["1 May 2031"],
        ["1 June 2031"],
    ]
    assert "Please finish by" not in letters(annot, "--until", "2031-05-01")["j1"], "that day is the assessors'"
    assert "If you need more time, please tell us early." in days["j1"]
    # a2 gives twice as long.
    assert "(20 left); this takes about 20 minutes." in after["a2"]
    # Two of the four disputes of the first two queries are settled; the tasks of all eight were sent.
    assert f"Project:  {URL}/projects/75/data?labeling=1" in after["j1"]
    assert "8 pairs (2 left); this takes about 5 minutes. There may be more" in after["j1"]


def test_what_a_letter_says_of_publication_is_on_record_from_the_first_that_says_it(
    ws: Workspace, annot: Run, server: Server
) -> None:
    build(ws, judged=0)
    settings = ws.settings_file.read_text(encoding="utf-8")
    assert '# comments = "published"' in settings
    ws.settings_file.write_text(settings.replace('# comments = "published"', 'comments = "left out"'), encoding="utf-8")
    quiet = letters(annot)
    assert "- Not published: the comments that you write." in quiet["a1"]
    assert "the reasons that you write, under the name j1" in quiet["j1"]
    assert screens(ws) == (False, True)
    ws.settings_file.write_text(settings, encoding="utf-8")
    for _ in range(2):
        assert "the comments that you write, under the name a1" in letters(annot)["a1"]
    assert screens(ws) == (True, True)
    with open_store(ws.database_url) as store, store.read() as session:
        said = [(one.assessor, one.kind, one.how, one.published) for one in read_notices(session)]
    assert said == [
        ("j1", "reasons", "letter", True),
        ("a1", "comments", "letter", True),
        ("a2", "comments", "letter", True),
    ]
    # A letter of the study's own that does not say it tells nobody.
    own = ws.root / "templates" / "letter.txt.j2"
    own.parent.mkdir(exist_ok=True)
    own.write_text("Come and judge.\n", encoding="utf-8")
    assert set(letters(annot).values()) >= {"Come and judge.\n"}
    with open_store(ws.database_url) as store, store.read() as session:
        assert not [one for one in read_notices(session) if one.assessor == "a1"][-1].published


def screens(ws: Workspace) -> tuple[bool, bool]:
    """Whether the judging screen and that of adjudicators say that what is written there is published."""
    study = Workspace.open(ws.root)
    return tuple(PUBLISHED in guidelines.screen(study, kind) for kind in ("judge", "adjudicate"))  # type: ignore[return-value]
