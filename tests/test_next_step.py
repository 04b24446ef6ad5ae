"""What `annot status` and the last line of every command call next: the table, from facts alone."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from annot.judging.next_step import RULES, Facts, Rule, next_step, rule_of

PEOPLE = {"a1": 20, "a2": 18}
NEW = Facts()
QUERIED = Facts(papers=True, queries=4)
PLANNED = QUERIED._replace(pooled=4, planned=40)
SENT = PLANNED._replace(sent=True)
JUDGED = SENT._replace(judged=True)
PRODUCTS = frozenset({"agreement", "qrels", "evaluate", "report", "browse", "datasheet", "release", "backup"})
UNMEASURED = JUDGED._replace(old=PRODUCTS)


@pytest.mark.parametrize(
    ("facts", "command", "who"),
    [
        (NEW, "annot corpus add FILE", "you"),
        (NEW._replace(untitled=9), "annot init FOLDER --kind questions", "you"),
        (NEW._replace(faceted=False), "annot corpus add FILE", "you"),
        (NEW._replace(papers=True, unlabelled="3 papers of 40 have no labels"), "annot facets", "you"),
        (NEW._replace(papers=True), "annot query sample", "you"),
        (NEW._replace(papers=True, faceted=False), "annot query add --file FILE", "you"),
        (NEW._replace(papers=True, sheet=True), "annot query choose NUMBER", "you"),
        (QUERIED, "annot pool", "you"),
        (QUERIED._replace(pooled=3, unfound="T1"), "annot query remove T1", "you"),
        (QUERIED._replace(pooled=4, redraw=True), "annot pool --redraw", "you"),
        # Whoever adds people and draws the plan is not asked for the guidelines each time, only before they go out.
        (QUERIED._replace(pooled=4, unread=True, seats=2), "annot assessor add NAME --account EMAIL", "you"),
        (QUERIED._replace(pooled=4, unread=True), "annot plan", "you"),
        (PLANNED._replace(unread=True, to_send=40, to_train=("a1",)), "annot check guidelines", "you"),
        (PLANNED._replace(misfits=3, to_send=40), "annot check guidelines", "you"),
        (QUERIED._replace(pooled=4), "annot plan", "you"),
        (PLANNED._replace(to_train=("a1", "a2")), "annot push training", "you"),
        (PLANNED._replace(training=("a1",)), "annot pull training", "a1"),
        (PLANNED._replace(to_send=40), "annot push", "you"),
        (PLANNED._replace(to_send=40, serverless="none"), "annot studio up", "you"),
        (SENT._replace(to_judge=PEOPLE, serverless="a1", domain="s.org"), "annot studio up --domain s.org", "you"),
        (SENT._replace(to_judge=PEOPLE, first_night=True), "annot studio nightly", "a1 and a2"),
        (PLANNED._replace(signing_up=("a3",), without_letter=("a3",)), "annot invite", "you"),
        (SENT._replace(signing_up=("a3",), to_judge=PEOPLE), "annot push", "a3"),
        (SENT._replace(to_judge=PEOPLE, without_letter=("a1", "a2")), "annot invite", "you"),
        (SENT._replace(to_judge=PEOPLE), "annot pull", "a1 and a2"),
        # A pool that grew, a person who left, new guidelines.
        (SENT._replace(queries=5, to_judge=PEOPLE), "annot pool --grow", "you"),
        (PLANNED._replace(vacant=40), "annot assessor add NAME --account EMAIL", "you"),
        (PLANNED._replace(unpooled_plan=13, growing=13), "annot plan --withdraw", "you"),
        (SENT._replace(growing=3, to_judge=PEOPLE), "annot plan --grow", "you"),
        (SENT._replace(undrawn=3, to_judge=PEOPLE), "annot plan --grow", "you"),
        (SENT._replace(to_fill=3, vacant=3, to_judge=PEOPLE), "annot plan", "you"),
        (SENT._replace(changed="the names of the grades have changed"), 'annot push --changed "WHY"', "you"),
        (SENT._replace(refused="the number of grades has changed", changed="x"), "annot check", "you"),
        (SENT._replace(to_send=4, to_judge=PEOPLE), "annot push", "you"),
        (JUDGED._replace(vacant=3), "annot assessor add NAME --account EMAIL", "you"),
        # Disputes.
        (
            JUDGED._replace(open=3, without_adjudicator=3),
            "annot assessor add NAME --account EMAIL --adjudicator",
            "you",
        ),
        (JUDGED._replace(open=3, disputes_to_send=3), "annot push adjudication", "you"),
        (JUDGED._replace(open=3, adjudicators_signing_up=("j1",)), "annot push adjudication", "j1"),
        (JUDGED._replace(open=3, to_settle={"j1": 3}), "annot pull adjudication", "j1"),
        (JUDGED._replace(batch=2), "annot plan --grow", "you"),
        (JUDGED._replace(batch=2, to_pool="2027"), "annot pool --grow", "you"),
        (JUDGED._replace(to_pool="2027", elsewhere=True), "annot import FILE --as judgements", "you"),
        # What follows from the grades, in the order in which one is made of the other.
        (UNMEASURED, "annot agreement", "you"),
        (UNMEASURED._replace(old=PRODUCTS - {"agreement"}), "annot qrels", "you"),
        (JUDGED._replace(old_runs=("fabs_tfidf", "lsa")), "annot run fabs_tfidf lsa", "you"),
        (JUDGED._replace(old=frozenset({"evaluate"})), "annot run", "you"),
        (JUDGED._replace(runs=True, old=frozenset({"evaluate", "report"})), "annot evaluate", "you"),
        (JUDGED._replace(runs=True, old=frozenset({"report", "browse"})), "annot report", "you"),
        (JUDGED._replace(runs=True, old=frozenset({"browse", "datasheet"})), "annot browse", "you"),
        (JUDGED._replace(runs=True, old=frozenset({"datasheet"}), questions=9), "annot datasheet", "you"),
        (JUDGED._replace(runs=True, old=frozenset({"release"})), "annot release FOLDER", "you"),
        (JUDGED._replace(runs=True, old=frozenset({"release"}), release="../out"), "annot release ../out", "you"),
        (JUDGED._replace(runs=True, old=frozenset({"backup"})), "annot backup FILE", "you"),
        # Open questions hold up a release and nothing else, and are no step that comes again for ever.
        (JUDGED._replace(runs=True, old=frozenset({"release", "backup"}), questions=9), "annot backup FILE", "you"),
        (JUDGED._replace(runs=True, old=frozenset({"release"}), questions=9), "", "you"),
        (JUDGED._replace(runs=True), "", "you"),
        # Judged elsewhere: no corpus, no server, and nothing to browse or to release.
        (
            Facts(judged=True, elsewhere=True, queries=4, planned=40, open=2),
            "annot import FILE --as judgements --adjudicator NAME",
            "you",
        ),
        (Facts(judged=True, elsewhere=True, queries=4, planned=40, old=frozenset({"report"})), "annot report", "you"),
        (
            Facts(judged=True, elsewhere=True, queries=4, planned=40, old=frozenset({"browse", "release", "backup"})),
            "annot backup FILE",
            "you",
        ),
    ],
)
def test_each_stage_has_its_command(facts: Facts, command: str, who: str) -> None:
    found = next_step(facts)
    assert (found.command, found.who) == (command, who)
    assert "{" not in f"{found.command}{found.why}{found.who}"


def test_people_and_numbers_are_named() -> None:
    assert str(next_step(SENT._replace(to_judge=PEOPLE))) == (
        "annot pull (pairs still to judge: a1 20, a2 18; --watch pulls until all are judged)"
    )
    assert next_step(QUERIED._replace(pooled=3)).why == "1 query without a pool"
    assert next_step(JUDGED._replace(runs=True)).why.startswith("nothing is left to do")


def drawn(chance: random.Random) -> Facts:
    """A study at any stage, possible or not."""

    def value(name: str, usual: Any) -> Any:
        if isinstance(usual, bool):
            return chance.random() < 0.5
        if isinstance(usual, int):
            return chance.choice((0, 0, 1, 5))
        if isinstance(usual, tuple):
            return chance.choice(((), (), ("a1",), ("a1", "a2")))
        if isinstance(usual, frozenset):
            return frozenset(product for product in sorted(PRODUCTS) if chance.random() < 0.5)
        if name in ("changed", "refused", "unlabelled", "serverless", "to_pool", "unfound"):
            return chance.choice(("", "", "it has changed"))
        return usual if isinstance(usual, str) else chance.choice(({}, {}, PEOPLE))

    found = Facts(**{name: value(name, usual) for name, usual in Facts()._asdict().items()})
    return found._replace(queries=found.queries + found.pooled)


def settles(rule: Rule, facts: Facts) -> Iterator[dict[str, Any]]:
    """The facts that hold no more once the command has done its work: each alone, given its value in a new study."""
    done: dict[str, Any] = {name: type(value)() for name, value in facts._asdict().items() if name != "release"}
    done |= {"papers": True, "runs": True, "sheet": True, "planned": 1, "queries": 1, "pooled": facts.queries}
    # A command makes its own product, and no other.
    done["old"] = facts.old - {*rule.command.split()[1:2]}
    for name, value in done.items():
        after = facts._replace(**{name: value})
        if after != facts and not rule.when(after):
            yield {name: value}


def test_no_command_is_named_that_changes_nothing_and_every_way_ends() -> None:
    """Whatever the facts: what the command settles is a fact, and once that is settled the way goes on downwards."""
    chance = random.Random(1)
    seen = set()
    for _ in range(300):
        facts = drawn(chance)
        for _ in range(2 * len(RULES)):
            rule = rule_of(facts)
            seen.add(RULES.index(rule))
            if not rule.command:
                break
            settled = list(settles(rule, facts))
            assert settled, f"{rule.command}: named by a fact that no command can change: {facts}"
            facts = facts._replace(**chance.choice(settled))
        assert not next_step(facts).command
    assert seen == set(range(len(RULES)))
