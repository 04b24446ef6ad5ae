"""The pages of what a person decided so far: what is on them, when a query is, and that nothing of others ever is."""

import re
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from annot.base.errors import LeakError
from annot.base.records import Assessor, Assignment, Judgement
from annot.judging.trial_answers import HIDDEN
from annot.labelstudio.studio_records import write_result
from annot.labelstudio.tasks import pair_key
from annot.publishing.so_far import write_pages
from annot.steps import exchange
from annot.store import people, trials
from annot.store.answers import JUDGEMENTS, TRIALS, SourcedJudgement
from corrections import correct
from small_study import RECORDED, sent_to
from study_stages import quietly, set_in
from worlds import PEOPLE, QUERY, Pair, World


class Cells(HTMLParser):
    """The rows of the tables on a page, and the address of each link by its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: dict[str, str] = {}
        self.address = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.address = dict(attrs).get("href") or ""
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip() and f"{data.strip()} "
        if self.address:
            self.links[data] = self.address
            self.address = ""


def pages(world: World, name: str, *, now: datetime | None = None) -> dict[str, str]:
    write_pages(world.ws, now=now or datetime.now(UTC))
    folder = world.ws.cache / "people" / name
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*"))}


def rows(page: str) -> list[list[str]]:
    return [[cell.strip() for cell in row] for row in Cells(page).rows[1:]]


def title(pair: Pair) -> str:
    return f"Title of {pair[1]}"


def judge(world: World, name: str, grades: Mapping[Pair, int], comment: str) -> None:
    there = world.tasks(name)
    for pair, grade in grades.items():
        answer = write_result({}, grade=grade, comment=comment)
        world.studio.annotate(there[pair_key(*pair)], answer, email=PEOPLE[name])


def test_a_query_is_on_the_page_once_nothing_of_it_is_open_and_links_to_its_pairs(sent: World) -> None:
    *most, last = sent.pairs
    judge(sent, "a1", {pair: at % 4 for at, pair in enumerate(most)}, "<b>sure</b>")
    exchange.pull_sent(sent.ws, advance=quietly)
    assert "Your grades" in pages(sent, "a1")["grades.html"]
    assert rows(pages(sent, "a1")["grades.html"]) == [], "one pair is open"
    judge(sent, "a1", {last: 3}, "late")
    exchange.pull_sent(sent.ws, advance=quietly)
    path = sent.ws.cache / "people" / "a1" / "grades.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    page = path.read_text(encoding="utf-8")
    assert {row[0]: row[1][0] for row in rows(page)} == {
        title(pair): str(at % 4) if pair != last else "3" for at, pair in enumerate(sent.pairs)
    }
    assert [row[1][0] for row in rows(page)] == sorted((row[1][0] for row in rows(page)), reverse=True)
    assert "<b>sure" not in page
    assert "&lt;b&gt;sure&lt;/b&gt;" in page
    numbers = sent.tasks("a1")
    links = Cells(page).links
    for pair in sent.pairs:
        assert links[title(pair)].endswith(f"/projects/{sent.project('a1')}/data?task={numbers[pair_key(*pair)]}")


def test_a_pair_whose_corrected_text_waits_for_a_decision_takes_its_query_off_the_page(judged: World) -> None:
    correct(judged, judged.pairs[0][1])
    assert rows(pages(judged, "a1")["grades.html"]) == [], "the lead may put the pair before its assessors again"


def test_a_pair_that_comes_back_takes_its_query_off_the_page(judged: World) -> None:
    assert len(rows(pages(judged, "a1")["grades.html"])) == 10
    repeat = Assignment(*judged.pairs[3], "a1", 11, 2)
    with judged.ws.writing() as session:
        plan = people.read_assignments(session)
        people.replace_plan(session, (*plan, repeat), plan=people.read_plan(session))
    assert rows(pages(judged, "a1")["grades.html"]) == [], "a hidden repeat is open"
    assert len(rows(pages(judged, "a2")["grades.html"])) == 10


def test_no_page_shows_a_pair_twice_or_says_that_it_was_repeated_or_is_gold(judged: World) -> None:
    """a1 gave 1 and, when the pair was repeated unannounced, 3; the hidden gold pair is like any other."""
    pair, gold = judged.pairs[3], (QUERY, "d99")
    with judged.ws.writing() as session:
        plan = people.read_assignments(session)
        people.replace_plan(session, (*plan, Assignment(*pair, "a1", 11, 2)), plan=people.read_plan(session))
        trials.add_assignments(session, HIDDEN, [Assignment(*gold, "a1", 1)])
    judged.push()
    judged.judge("a1", {pair: 3}, occasion=2)
    judged.judge("a1", {gold: 2})
    exchange.pull_sent(judged.ws, advance=quietly)
    page = pages(judged, "a1")["grades.html"]
    shown = {row[0]: row[1][0] for row in rows(page)}
    assert len(rows(page)) == len(shown) == 11
    assert (shown[title(pair)], shown[title(gold)]) == ("1", "2")
    told = re.sub(r"(?s)<style>.*</style>", "", page).lower()
    assert not re.search(r"gold|hidden|repeat|again|twice|occasion", told)


def test_open_training_in_a_query_keeps_it_off_the_page(judged: World) -> None:
    with judged.ws.writing() as session:
        trials.add_assignments(session, "substudy-full", [Assignment(*judged.pairs[0], "a1", 1)])
    assert rows(pages(judged, "a1")["grades.html"]) == []
    answer = Judgement(*judged.pairs[0], "a1", 2)
    with judged.ws.writing() as session:
        given = [SourcedJudgement(answer, "substudy-full", "77", {})]
        TRIALS.record(session, given, recorded_at=RECORDED)
    assert len(rows(pages(judged, "a1")["grades.html"])) == 10


def test_an_adjudicator_has_a_page_for_each_query_with_both_grades_and_whole_comments(sent: World) -> None:
    long = "The candidate counts cells, the query counts people; " * 20
    judge(sent, "a1", dict.fromkeys(sent.pairs, 1), "from the first")
    judge(sent, "a2", {pair: 1 if at > 1 else 3 for at, pair in enumerate(sent.pairs)}, long)
    sent.pull()
    assert "j1" not in [path.name for path in (sent.ws.cache / "people").glob("*")]
    sent.push("adjudication")
    settled = sent.tasks("j1", "adjudicate")
    words = write_result({}, grade=2, settled_by="slip", comment="Both count.")
    sent.studio.annotate(settled[pair_key(*sent.disputed[0])], words, email=PEOPLE["j1"])
    exchange.pull_sent(sent.ws, advance=quietly)
    (name,) = pages(sent, "j1")
    assert name == f"decisions-{QUERY}.html"
    (row,) = rows(pages(sent, "j1")[name])
    candidate, a, b, decision, reason = row
    assert candidate == title(sent.disputed[0])
    assert {a, b} == {"1 Related from the first", f"3 Near-identical {long.strip()}"}
    assert (decision, reason) == ("2 Similar", "slip: Both count.")


@pytest.mark.parametrize("policy", ["shown", "hidden"])
def test_no_page_holds_anything_of_others(judged: World, policy: str) -> None:
    """a1 gave 1 throughout; a2 gave 3 to two pairs and j1 settled them as 2; whoever else is named nowhere."""
    set_in(judged.folder, {"adjudication": {"ratings": policy}})
    judged.settle_all()
    write_pages(judged.ws, now=datetime.now(UTC))
    folder = judged.ws.cache / "people"
    everything = {path.parent.name: path.read_text(encoding="utf-8") for path in folder.glob("*/*")}
    assert set(everything) == {"a1", "a2", "j1"}
    for name, page in everything.items():
        others = {*PEOPLE} - {name}
        assert not re.search(rf"\b({'|'.join(others)})\b", re.sub(r"(?s)<style>.*</style>", "", page))
        assert not any(account in page for account in PEOPLE.values())
    assert {row[1] for row in rows(everything["a1"])} == {"1 Related"}, "neither a2's 3 nor j1's 2"
    assert {row[1] for row in rows(everything["a2"])} == {"1 Related", "3 Near-identical"}
    shown = {len(row) for row in rows(everything["j1"])}
    assert shown == ({5} if policy == "shown" else {3}), "whoever may not see the grades does not see them here"


@pytest.mark.parametrize("pseudonym", ["j2", "b", "h2"])
def test_a_pseudonym_that_is_in_the_pages_markup_stops_no_page(judged: World, pseudonym: str) -> None:
    with judged.ws.writing() as session:
        people.put_assessors(session, [Assessor(pseudonym, "other@example.org", adjudicator=True)])
    assert pages(judged, "a1").keys() == {"grades.html"}


def test_a_template_that_names_others_is_refused_and_nothing_is_written(judged: World) -> None:
    own = judged.ws.root / "templates" / "so-far.html.j2"
    own.parent.mkdir(exist_ok=True)
    own.write_text("{{ person }} and a2 of ann@example.org", encoding="utf-8")
    with pytest.raises(LeakError, match="would name others") as refused:
        write_pages(judged.ws, now=datetime.now(UTC))
    assert len(refused.value.faults) == 2
    assert not [*(judged.ws.cache / "people").glob("*")]
    judged.judge("a1", {judged.pairs[0]: 0})
    pulled, _ = exchange.pull_sent(judged.ws, advance=quietly)
    assert any("not written" in note and "a1: line 1" in note for note in pulled.notes), (
        "the answers are in all the same"
    )


def test_a_pseudonym_that_is_a_path_leads_nowhere(judged: World) -> None:
    """Such a name is in no study of ours, but a study may come from somebody else."""
    with judged.ws.writing() as session:
        people.put_assessors(session, [Assessor("../../../away", None, adjudicator=False)])
        given = SourcedJudgement(Judgement(*judged.pairs[0], "../../../away", 2), "import", "", {})
        JUDGEMENTS.record(session, [given], recorded_at=RECORDED)
    sent_to(judged.ws, "../../../away", given.record.pair_key, server="s", remote=9)
    write_pages(judged.ws, now=datetime.now(UTC))
    folder = judged.ws.cache / "people"
    assert {path.relative_to(folder).parts[0] for path in folder.glob("*")} == {"a1", "a2", "..%2F..%2F..%2Faway"}
    assert not [*judged.folder.parent.glob("away*"), *judged.folder.glob("away*")]
