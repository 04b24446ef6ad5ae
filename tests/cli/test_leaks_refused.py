"""Every push refuses a leak before anything is sent, in both modes: words, file names, orders, titles of projects."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from annot.store import people, pools, trials
from annot.store.database import open_store
from annot.store.models import StoredRound
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from command_line import annot, annot_done, difference, snapshot
from spoiling import Spoil, both, write
from spoiling import replace as with_text
from study_stages import give_reasons

ADDRESS = "a2@demo.example.org"
TITLE = 'title = "A demonstration collection"'


def titled(title: str) -> Spoil:
    return with_text("annot.toml", TITLE, f'title = "{title}"')


def guided(text: str) -> Spoil:
    return both(
        *(write(f"guidelines/{facet}.md", f"# {facet}\n\n{text}\n") for facet in ("background", "method", "result"))
    )


def in_drawn_order(folder: Path) -> None:
    """Everybody's pairs stand as the pools were drawn."""
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        plan, everything = people.read_plan(session), people.read_assignments(session)
        place = {
            (query, doc): at for query, docs in pools.documents_by_query(session).items() for at, doc in enumerate(docs)
        }
        told = sorted(everything, key=lambda one: (one.assessor, one.query_id, place[one.query_id, one.doc_id]))
        assert plan is not None
        people.replace_plan(session, [replace(one, position=at) for at, one in enumerate(told, start=1)], plan=plan)


def gold(folder: Path) -> None:
    """Gold pairs, and somebody who has none of them in the plan."""
    annot_done("train", "gold", "--per-facet", "6", folder=folder)
    give_reasons(folder)
    annot_done("assessor", "add", "a9", "--account", "a9@demo.example.org", folder=folder)
    annot_done("push", "training", "--dry-run", folder=folder)


def substudy(folder: Path) -> None:
    annot_done("substudy", "draw", "--assessor", "j1", "--candidates", "4", folder=folder)
    annot_done("push", "substudy", "--view", "abstract", "--dry-run", folder=folder)


def by_grade(round: StoredRound, assessor: str) -> Spoil:
    """What is asked stands by its known grade, facet by facet or query by query."""

    def spoil(folder: Path) -> None:
        ws = Workspace.open(folder)
        with open_store(ws.database_url) as store, store.begin() as session:
            asked = trials.read_assignments(session, round)
            if round == "train":
                grades = {one.pair: one.grade for one in trials.read_gold(session)}
                asked = tuple(people.Assignment(*pair, assessor, 1) for pair in grades)
            else:
                grades = {(one.query_id, one.doc_id): one.grade for one in outcome_of(session, ws.settings).decisions}

            def told(one: people.Assignment) -> tuple[str, int, str]:
                group = one.query_id.rpartition("-")[2] if round == "train" else one.query_id
                return group, grades[one.query_id, one.doc_id], one.doc_id

            ordered = [replace(one, position=at) for at, one in enumerate(sorted(asked, key=told), start=1)]
            trials.replace_assignments(session, round, ordered)

    return spoil


def full_texts(where: str) -> Spoil:
    """The abstracts are judged, and each full text is a file of such a name."""

    def spoil(folder: Path) -> None:
        from usual import answered

        substudy(folder)
        answered("substudy-abstract", folder)
        table = folder / "substudy" / "full-texts.tsv"
        papers = [line.partition("\t")[0] for line in table.read_text(encoding="utf-8").splitlines()[1:]]
        rows = [f"{paper}\t{where.format(at=at)}" for at, paper in enumerate(papers)]
        table.write_text("\n".join(["paper_id\twhere", *rows]), encoding="utf-8")

    return spoil


BY_ADDRESS, BY_METHOD = titled(ADDRESS), guided("Found by abs_tfidf.")
NAMES_ADDRESS, NAMES_METHOD = f"names '{ADDRESS}'", "facet_help names 'abs_tfidf'"
ABSTRACTS, FULL_TEXTS = "push substudy --view abstract", "push substudy --view full"


class Leak(NamedTuple):
    """What is pushed at which stage, what is wrong, and what the refusal says."""

    push: str
    stage: str
    plant: Spoil
    says: str


LEAKS = {
    "push: order": Leak("push", "planned", in_drawn_order, "reveals the order in which the pool was drawn"),
    "push: an account": Leak("push", "planned", BY_ADDRESS, NAMES_ADDRESS),
    "push: another person": Leak("push", "planned", titled("As a3 has it"), "description names 'a3'"),
    "push: a method in the title": Leak("push", "planned", titled("Found by abs_tfidf"), "names 'abs_tfidf'"),
    "push: a method": Leak("push", "planned", BY_METHOD, NAMES_METHOD),
    "push adjudication: an account": Leak("push adjudication", "judged", BY_ADDRESS, NAMES_ADDRESS),
    "push adjudication: a person": Leak("push adjudication", "judged", guided("As a1 has it."), "names 'a1'"),
    "push training: order": Leak(
        "push training", "settled", both(gold, by_grade("train", "a9")), "reveals the gold grades"
    ),
    "push training: an account": Leak("push training", "settled", both(gold, BY_ADDRESS), NAMES_ADDRESS),
    "push training: a method": Leak("push training", "settled", both(gold, BY_METHOD), NAMES_METHOD),
    "push substudy: order": Leak(
        ABSTRACTS, "settled", both(substudy, by_grade("substudy-abstract", "j1")), "reveals the final grades"
    ),
    "push substudy: an account": Leak(ABSTRACTS, "settled", both(substudy, BY_ADDRESS), NAMES_ADDRESS),
    "push substudy: a file named after a method": Leak(
        FULL_TEXTS, "settled", full_texts("lsa/{at}.pdf"), "the place of a full text names 'lsa'"
    ),
    "push substudy: a file named after a person": Leak(
        FULL_TEXTS, "settled", full_texts("{at} for a1.pdf"), "the place of a full text names 'a1'"
    ),
    "push labels: an account": Leak("push labels --assessor a1", "planned", BY_ADDRESS, NAMES_ADDRESS),
    "push labels: another person": Leak("push labels --assessor a1", "planned", titled("With a2"), "names 'a2'"),
}


@pytest.mark.parametrize(("name", "mode"), [*((name, "project") for name in LEAKS), ("push: an account", "server")])
def test_a_planted_leak_is_refused_before_anything_is_sent(name: str, mode: str, study: Callable[[str], Path]) -> None:
    leak = LEAKS[name]
    folder = study(leak.stage)
    with_text("annot.toml", 'isolation = "project"', f'isolation = "{mode}"')(folder)
    leak.plant(folder)
    before = snapshot(folder)
    for dry in ((), ("--dry-run",)):
        refused = annot(*leak.push.split(), *dry, folder=folder)
        assert refused.exit_code == 2
        assert leak.says in refused.message()
        assert "nothing was sent" in refused.message()
        if not leak.push.startswith("push training"):  # it notes down whom it trains in which order
            assert not difference(before, snapshot(folder))


@pytest.mark.parametrize("where", ["https://example.org/specter/a1.pdf", "shelf {at}"])
def test_a_link_leads_to_what_everybody_can_find(where: str, study: Callable[[str], Path]) -> None:
    folder = study("settled")
    full_texts(where)(folder)
    annot_done("push", "substudy", "--view", "full", "--dry-run", folder=folder)
