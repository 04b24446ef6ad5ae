"""The next step of a study, from its first command to the backup of its release: one table, read downwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from annot.base.names import counted


class Facts(NamedTuple):
    """Facts on which the next step depends; the defaults are those of a new study."""

    papers: bool = False
    """True if there is a corpus."""
    untitled: int = 0
    """Papers that were left out because they have no title, while the corpus is empty."""
    faceted: bool = True
    """True if facets are judged; else queries are topics or questions."""
    unlabelled: str = ""
    """Reason why the sentences of the corpus have to be labelled; empty if they are labelled."""
    sheet: bool = False
    """True if there is a sheet of sampled papers to rate."""
    query: str = "query"
    """Noun of the study for a query."""
    queries: int = 0
    pooled: int = 0
    """Queries that have a pool."""
    unfound: str = ""
    """First query whose pool was drawn and has no document; empty if there is none."""
    to_pool: str = ""
    """Version of the corpus whose new documents pools lack; empty if they have them."""
    redraw: bool = False
    """True if the settings of pools have changed since they were drawn, and nothing is planned."""
    unread: bool = False
    """True if the current guidelines were never checked, and nothing was sent."""
    misfits: int = 0
    """Places in the guidelines that do not fit the study, when they were checked as they are."""
    seats: int = 0
    """People who are missing before a plan can be drawn."""
    elsewhere: bool = False
    """True if the judgements were imported and no person judges here."""
    sent: bool = False
    """True if people have tasks: from then on, pairs are added with --grow only."""
    planned: int = 0
    """Pairs of the plan."""
    unpooled_plan: int = 0
    """Planned pairs that are in no pool any more: none of them was sent or judged."""
    growing: int = 0
    """Pairs of planned queries that the plan does not have, or not for as many people as annot.toml says by now."""
    undrawn: int = 0
    """Pairs of planned queries from which the sample has not drawn yet."""
    to_fill: int = 0
    """Pairs that lack an assessor since a person left, and that a present person could take."""
    batch: int = 0
    """Queries with a pool of which no pair is planned."""
    serverless: str = ""
    """Reason why a server has to be started before the next step; empty if none has to."""
    domain: str = ""
    """Domain of the servers, if it has to be named again."""
    first_night: bool = False
    """True if people elsewhere have servers here, and answers were never pulled and backed up at night."""
    to_train: tuple[str, ...] = ()
    """People who should get the next batch of gold pairs, or their answers with the gold grade."""
    unexplained: str = ""
    """Clause about gold pairs without a reason, which are not sent; empty if all have one."""
    training: tuple[str, ...] = ()
    """People who have gold pairs to judge."""
    uncorrected: int = 0
    """Texts that differ from the record without a correction."""
    to_decide: int = 0
    """Pairs that wait for the lead's decision, because a text was corrected after they were judged."""
    changed: str = ""
    """Changes since the last push that need a reason, in words."""
    refused: str = ""
    """Changes since the last push that cannot be sent, in words."""
    to_send: int = 0
    """Tasks that a push would send, take back or show as annot.toml has them now."""
    signing_up: tuple[str, ...] = ()
    """People whom a complete push left out: they have no account on the server yet."""
    without_letter: tuple[str, ...] = ()
    """People who have tasks, or should sign up, and have no letter."""
    to_judge: Mapping[str, int] = {}
    """Open tasks by assessor."""
    leavers: tuple[str, ...] = ()
    """People who left and have a pair without a counting answer: their answer was withdrawn since."""
    missing: int = 0
    """Judgements of people who are not there to give them."""
    vacant: int = 0
    """Pairs that lack an assessor."""
    without_adjudicator: int = 0
    """Disputes that no present adjudicator may settle."""
    disputes_to_send: int = 0
    """Disputes that a push would send, send again or take back."""
    adjudicators_signing_up: tuple[str, ...] = ()
    """Adjudicators who got nothing from a push of the disputes: they have no account on the server yet."""
    to_settle: Mapping[str, int] = {}
    """Open disputes by adjudicator."""
    open: int = 0
    """Disputes."""
    judged: bool = False
    """True if there are judgements."""
    old: frozenset[str] = frozenset()
    """Commands whose product is missing, or older than the records that it is made from."""
    old_runs: tuple[str, ...] = ()
    """Runs whose file is gone, or whose pools have changed since."""
    runs: bool = False
    """True if there are any runs."""
    untrue: tuple[str, ...] = ()
    """Clauses about everything that is untrue in a finished study."""
    untrue_part: str = ""
    """Part of the study that all of it is in; empty if it is in several."""
    questions: int = 0
    """Questions of the datasheet without an answer."""
    release: str = "FOLDER"
    """Folder of the release."""


class Rule(NamedTuple):
    """A rule for the next step, whose texts are filled in from the facts."""

    when: Callable[[Facts], object]
    command: str
    """Text to type; words in capitals are for the lead to decide. Empty if nothing is left to do."""
    why: str
    who: str = "you"
    """Person who acts first; the command follows."""

    def __str__(self) -> str:
        return f"{self.command} ({self.why})" if self.command else self.why


LETTER = "a letter for {without_letter} that says where to begin"
OLD = "is missing or out of date"
RULES: tuple[Rule, ...] = (
    # A server that is down is in the way only of a step that needs one; otherwise the fact is empty.
    Rule(lambda f: f.serverless, "annot studio up{domain}", "{serverless}"),
    # The corpus, its labels, and the queries.
    Rule(
        lambda f: f.untitled and not f.judged,
        "annot init FOLDER --kind questions",
        "{untitled} left out without a title: passages are judged by questions, in a study of their own; "
        "to judge facets anyway, set require_title = false in annot.toml",
    ),
    Rule(lambda f: not f.papers and not f.judged, "annot corpus add FILE", "a study begins with its {documents}"),
    Rule(lambda f: f.unlabelled, "annot facets", "{unlabelled}"),
    Rule(
        lambda f: not f.queries and not f.faceted,
        "annot query add --file FILE",
        "the topics or questions to find documents for",
    ),
    Rule(
        lambda f: not f.queries and not f.sheet,
        "annot query sample",
        "draws papers to choose queries from; if you know them, use annot query add",
    ),
    Rule(lambda f: not f.queries, "annot query choose NUMBER", "rate the papers in queries.csv first"),
    # Pools, people, and the plan.
    Rule(
        lambda f: f.unfound and not f.elsewhere,
        "annot query remove {unfound}",
        "no method found a document for it; you can add it again in other words",
    ),
    Rule(
        lambda f: f.papers and not f.elsewhere and f.pooled < f.queries, "annot pool{grow}", "{unpooled} without a pool"
    ),
    Rule(
        lambda f: f.to_pool and f.elsewhere,
        "annot import FILE --as judgements",
        "no pool has new documents of version {to_pool} of the corpus yet; for pairs without judgements, "
        "annot pool --grow names the command",
    ),
    Rule(lambda f: f.to_pool, "annot pool --grow", "no pool has new documents of version {to_pool} of the corpus yet"),
    Rule(lambda f: f.redraw, "annot pool --redraw", "[pool] in annot.toml has changed since the pools were drawn"),
    Rule(lambda f: f.seats, "annot assessor add NAME --account EMAIL", "a plan needs at least {seats}"),
    Rule(
        lambda f: not f.planned and not f.elsewhere,
        "annot plan",
        "assigns the pairs; first add everyone who will judge",
    ),
    Rule(
        lambda f: f.unpooled_plan,
        "annot plan --withdraw",
        "{unpooled_plan} of the plan left the pools; annot plan then assigns again what was not sent",
    ),
    Rule(lambda f: f.undrawn, "annot plan{grow}", "{undrawn} new in the pools, from which the sample is not drawn yet"),
    Rule(lambda f: f.growing, "annot plan{grow}", "{growing} without an assessor in the plan"),
    Rule(lambda f: f.to_fill, "annot plan", "{to_fill} without an assessor, because a person left"),
    Rule(
        lambda f: f.vacant and not f.sent and not f.judged and not f.elsewhere,
        "annot assessor add NAME --account EMAIL",
        "{vacant} without an assessor, because a person left",
    ),
    Rule(lambda f: f.unread, "annot check guidelines", "read the guidelines first: everyone who judges follows them"),
    Rule(
        lambda f: f.misfits and not f.sent and not f.judged,
        "annot check guidelines",
        "{misfits} not fit the study; correct the pages before you send anything",
    ),
    # Training, where there are gold pairs.
    Rule(lambda f: f.to_train, "annot push training", "gold pairs for {to_train}{unexplained}"),
    Rule(lambda f: f.training and f.without_letter, "annot invite", LETTER),
    Rule(lambda f: f.training, "annot pull training", "training comes first for {training}", "{training}"),
    # Out to the people who judge, and back.
    Rule(
        lambda f: f.uncorrected,
        'annot corpus add --corrected "WHY" FILE',
        "texts have changed since they were sent, without a reason: {uncorrected}; or restore the corpus from a backup",
    ),
    Rule(
        lambda f: f.to_decide,
        "annot corpus corrected",
        "pairs wait for your decision, because a text was corrected after they were judged: {to_decide}",
    ),
    Rule(
        lambda f: f.refused,
        "annot check",
        "after you have changed [scale] names in annot.toml back: {refused}, and what was sent counts",
    ),
    Rule(lambda f: f.changed, 'annot push --changed "WHY"', "{changed}; until then, what was sent counts"),
    Rule(lambda f: f.to_send, "annot push", "{to_send} to send, withdraw or update on the server"),
    Rule(lambda f: f.without_letter, "annot invite", LETTER),
    Rule(lambda f: f.signing_up, "annot push", "waiting for these people to sign up: {signing_up}", "{signing_up}"),
    Rule(
        lambda f: f.to_judge and f.first_night,
        "annot studio nightly",
        "pulls, backs up and checks; `annot studio nightly 03:15` has the machine do it every night; pairs still to "
        "judge: {to_judge}",
        "{judges}",
    ),
    Rule(
        lambda f: f.to_judge,
        "annot pull",
        "pairs still to judge: {to_judge}; --watch pulls until all are judged",
        "{judges}",
    ),
    Rule(lambda f: f.missing and f.elsewhere, "annot import FILE --as judgements", "{missing} still missing"),
    Rule(
        lambda f: f.leavers,
        "annot assessor leave {leaver}",
        "once more: pairs of {leavers} have no answer that counts any more, and can go to others",
    ),
    Rule(lambda f: f.missing, "annot pull", "{missing} still missing"),
    Rule(
        lambda f: f.vacant,
        "annot assessor add NAME --account EMAIL",
        '{vacant} without an assessor; annot qrels --allow-single "WHY" accepts them as they are',
    ),
    # Disputes.
    Rule(
        lambda f: f.open and f.elsewhere,
        "annot import FILE --as judgements --adjudicator NAME",
        "{open} in dispute; import the adjudicator's grades",
    ),
    Rule(
        lambda f: f.without_adjudicator,
        "annot assessor add NAME --account EMAIL --adjudicator",
        "{without_adjudicator} in dispute without an adjudicator",
    ),
    Rule(lambda f: f.disputes_to_send, "annot push adjudication", "{disputes_to_send} in dispute to send or withdraw"),
    Rule(
        lambda f: f.adjudicators_signing_up,
        "annot push adjudication",
        "waiting for these people to sign up: {adjudicators_signing_up}",
        "{adjudicators_signing_up}",
    ),
    Rule(lambda f: f.to_settle, "annot pull adjudication", "disputes still to settle: {to_settle}", "{adjudicators}"),
    Rule(lambda f: f.open, "annot pull adjudication", "{open} in dispute and not settled yet"),
    # The next batch, where the plan had only some of the queries.
    Rule(
        lambda f: f.batch and not f.elsewhere,
        "annot plan{grow}",
        "{batch} without a plan; annot query remove removes one",
    ),
    # Differences from the record, before anything is made of it.
    Rule(lambda f: f.untrue, "annot check{part}", "{untrue}; there is no release until that is mended"),
    # Products of the grades.
    Rule(lambda f: "agreement" in f.old, "annot agreement", f"exports/agreement.json {OLD}"),
    Rule(lambda f: "qrels" in f.old, "annot qrels", "exports/qrels.txt does not have the current final grades"),
    Rule(lambda f: f.old_runs, "annot run {old_runs}", "missing, or made before the pools or the corpus changed"),
    Rule(lambda f: f.papers and f.pooled and not f.runs, "annot run", "no system has ranked the pools yet"),
    Rule(lambda f: f.runs and "evaluate" in f.old, "annot evaluate", f"exports/evaluation.json {OLD}"),
    Rule(lambda f: "report" in f.old, "annot report", f"exports/report.html {OLD}"),
    Rule(lambda f: f.papers and "browse" in f.old, "annot browse", f"exports/browse.html {OLD}"),
    # Out to the public, and kept.
    Rule(lambda f: "datasheet" in f.old, "annot datasheet", f"exports/datasheet.md {OLD}"),
    Rule(
        lambda f: f.papers and not f.questions and "release" in f.old,
        "annot release {release}",
        "no release has the current state; the command lists what [collection] in annot.toml lacks",
    ),
    Rule(lambda f: "backup" in f.old, "annot backup FILE", "no backup has the current state"),
    Rule(
        lambda f: f.questions,
        "",
        "nothing is left to do here; to publish, answer {questions} in datasheet.toml, then run annot datasheet "
        "(annot release FOLDER --draft needs no answers)",
    ),
    Rule(lambda f: True, "", "nothing is left to do; after a change, annot status names the next step"),
)
"""Rules in the order of the work; the first that holds is the next step."""

COUNTED = {
    "seats": ("more person", "more people"),
    "to_send": ("task", "tasks"),
    "missing": ("judgement", "judgements"),
    "uncorrected": ("text", "texts"),
    "questions": ("question", "questions"),
    "untitled": ("record was", "records were"),
    "misfits": ("place in the guidelines does", "places in the guidelines do"),
}
"""Nouns of counted facts, singular and plural; the other facts count pairs."""

COMMANDS_OF_RULES = frozenset(
    " ".join(word for word in rule.command.split()[1:last] if word.islower() and word.isalpha())
    for rule in RULES
    for last in (2, 3)
) | {"studio up"}
"""Commands in the table, without `annot` and options. A word after a command may be its verb or an argument."""


def next_step(facts: Facts) -> Rule:
    """The next step: the first rule that holds, in words."""
    rule, words = rule_of(facts), _words(facts)
    return Rule(rule.when, *(text.format_map(words) for text in rule[1:]))


def rule_of(facts: Facts) -> Rule:
    """The first rule that holds."""
    return next(rule for rule in RULES if rule.when(facts))


def _words(facts: Facts) -> Mapping[str, str]:
    """Words for the texts of the table."""
    return {name: _in_words(name, fact) for name, fact in facts._asdict().items()} | {
        "grow": " --grow" if facts.sent else "",
        "domain": f" --domain {facts.domain}" if facts.domain else "",
        "part": f" {facts.untrue_part}" if facts.untrue_part else "",
        "documents": "papers" if facts.faceted else "documents",
        "unpooled": counted(facts.queries - facts.pooled, facts.query),
        "batch": counted(facts.batch, facts.query),
        "judges": _listed(facts.to_judge),
        "adjudicators": _listed(facts.to_settle),
        "leaver": next(iter(facts.leavers), ""),
        "old_runs": " ".join(facts.old_runs),
    }


def _in_words(name: str, fact: object) -> str:
    if isinstance(fact, Mapping):
        return ", ".join(f"{person} {count}" for person, count in sorted(fact.items()))
    if isinstance(fact, tuple):
        return _listed(fact)
    if isinstance(fact, int):
        singular, plural = COUNTED.get(name, ("pair", "pairs"))
        return f"{fact} {singular if fact == 1 else plural}"
    return str(fact)


def _listed(names: Iterable[str]) -> str:
    *others, last = sorted(names) or [""]
    return f"{', '.join(others)} and {last}" if others else last
