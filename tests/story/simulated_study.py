"""A study from its first command to its qrels, event by event, as a lead and simulated people live through it."""

import json
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from annot.base.records import PairKey, Query
from annot.study import guidelines
from annot.study.workspace import Workspace, write_file
from simulated_crew import NEWCOMER, Crew, address_of
from simulated_lead import Hit, Lead
from simulated_log import Log, Pair, Plan, current, differences, qrels_differences
from simulated_setup import Size, gold_rows, make_study, write_rows

LEAVER = "a4"
STAGES = 11
"""Commands of a study that may be killed."""
RETURNED = 0.01
"""The share of the pairs that goes back to an assessor, at least three."""
WHY = "Look at the last sentence of the candidate again: is it about the facet?"


@dataclass(frozen=True, slots=True)
class Found:
    """What came of it."""

    counts: dict[str, int]
    hits: tuple[Hit, ...]
    seconds: float
    differences: tuple[str, ...]


class WholeStudy:
    """One study from its first command to its qrels.

    tell: called with a line as it goes on. switch: brings its server "up" or "down", where it is another than a Label
    Studio in the study's folder.
    """

    def __init__(
        self, folder: Path, size: Size, tell: Callable[[str], None], switch: Callable[[str], object] | None = None
    ) -> None:
        self.folder, self.size = folder, size
        self.log = Log()
        self._began = time.monotonic()
        self._tell: Callable[[str], None] = lambda text: tell(f"{time.monotonic() - self._began:6.0f} s  {text}")
        self._rng = random.Random(size.seed)
        self._lead = Lead(folder, kills=size.kills, stages=STAGES, rng=self._rng, tell=self._tell, switch=switch)
        self._crew = Crew(folder, self.log, seed=size.seed, serving=self._lead.serving)
        self._names = size.names
        self._queries: dict[str, Query] = {}
        self._changed = self._returned = 0
        self._planted: Pair = ("", "")

    def run(self) -> Found:
        """The study, event by event."""
        for event in self.events():
            event()
        return self.found()

    def events(self) -> tuple[Callable[[], object], ...]:
        """What happens, in order."""
        a_while = self.size.query_facets * self.size.candidates / 200
        return (
            self._set_up,
            partial(self._train, self._names),
            partial(self._lead.killable, "push", about=a_while),
            self._judge_the_first_half,
            partial(self._pull, about=a_while),
            self._change_minds,
            self._pull,
            partial(self._settle, share=0.5),
            self._replace_one,
            self._change_guidelines,
            self._judge_the_rest,
            self._pull,
            self._change_minds,
            self._pull,
            self._send_back,
            self._settle_the_rest,
            self._change_decisions,
            self._change_too_late,
            self._pull,
        )

    def stop(self) -> None:
        """Stop the server."""
        self._lead.stop()

    # -- what the lead does --------------------------------------------------------------------------------------------

    def _set_up(self) -> None:
        self._queries = make_study(self.folder, self.size, self._lead)
        self._lead.measure_start("check", "plan")
        self._tell(f"{self.size.query_facets * self.size.candidates} pairs planned for {len(self._names)} assessors")

    def _train(self, names: Sequence[str]) -> None:
        """These people judge gold pairs, facet by facet."""
        file = self.folder / "gold.csv"
        if not file.exists():
            write_rows(file, [("query_id", "doc_id", "grade", "why"), *gold_rows(self.folder, self.size, self._rng)])
            self._lead.done("train", "gold", str(file))
        chosen = [word for name in names for word in ("--assessor", name)]
        for _ in self.size.facets:
            self._lead.done("push", "training", *chosen)
            self._crew.judge(self._queries, names, round="train")
            self._lead.done("pull", "training")
            self.log.pull("train")
        self._tell(f"trained: {', '.join(names)}")

    def _pull(self, about: float = 1.0) -> None:
        self._lead.killable("pull", about=about)
        self.log.pull("judge")

    def _settle(self, *, share: float, killable: bool = True) -> bool:
        """One round of adjudication; whether anything is left to settle."""
        if killable:
            self._lead.killable("push", "adjudication", about=2.0)
        else:
            self._lead.done("push", "adjudication")
        answers = current(self.log, Plan.read(self.folder))
        given = {pair: [said.grade for said in by_person.values()] for pair, by_person in answers.items()}
        self._crew.settle(self._queries, given, share=share)
        self._lead.done("pull", "adjudication")
        self.log.pull("adjudicate")
        return any(row["open"] for row in self._lead.done("status", "--adjudication"))

    def _settle_the_rest(self) -> None:
        """Rounds of adjudication until nothing is open."""
        left = self._settle(share=1.0)
        while left:
            left = self._settle(share=1.0, killable=False)

    def _change_decisions(self) -> None:
        """Adjudicators change their minds; who cannot judge a pair any more leaves it to another one."""
        self._changed += self._crew.change_minds("adjudicate", lambda key: True)
        self._lead.done("pull", "adjudication")
        self.log.pull("adjudicate")
        while any(row["open"] for row in self._lead.done("status", "--adjudication")):
            self._settle(share=1.0, killable=False)

    def _replace_one(self) -> None:
        """Somebody new is trained and takes over what one person has still open; settled pairs are hidden."""
        new = NEWCOMER.name
        self._lead.done("assessor", "add", new, "--account", address_of(new))
        self._train([new])
        moved = self._lead.done("assessor", "leave", LEAVER, "--to", new)
        assert moved["open"] > 0, moved
        self._names = [new if name == LEAVER else name for name in self._names]
        hidden = self._lead.done("train", "hide")
        assert any(row["added"] for row in hidden), hidden
        self._tell(f"{LEAVER} replaced by {new}: {moved['open']} open pairs")

    def _change_guidelines(self) -> None:
        """A push wants a word on changed guidelines, and sends them then."""
        page = self.folder / "guidelines" / f"{self.size.facets[0]}.md"
        page.parent.mkdir(exist_ok=True)
        text = guidelines.read(Workspace.open(self.folder), self.size.facets[0])
        write_file(page, f"{text}\nA setting named in passing counts for nothing.\n")
        self._lead.done("push", code=1)
        self._lead.killable("push", "--changed", "settings in passing were graded", about=2.0)

    def _send_back(self) -> None:
        """Some pairs in dispute go back, all by one table, and are answered again."""
        plan = Plan.read(self.folder)
        settled = {key.pair_key.pair for key in self.log.now("adjudicate")}
        disputed = sorted(
            (pair, name)
            for pair, answers in current(self.log, plan).items()
            for name in answers
            if len({said.grade for said in answers.values()}) > 1 and pair not in settled and name in self._names
        )
        wanted = max(3, int(RETURNED * len(plan.assessors)))
        rows = [(*pair, name, WHY) for pair, name in self._rng.sample(disputed, wanted)]
        file = self.folder / "back.csv"
        write_rows(file, [("query_id", "doc_id", "to", "why"), *rows])
        self._lead.done("return", "--file", str(file))
        self._lead.killable("push", about=1.0)
        before = self._crew.answered
        self._crew.judge(self._queries, self._names)
        assert self._crew.answered == before + wanted, f"{self._crew.answered - before} returned pairs were answered"
        self._pull()
        self._returned = wanted

    # -- what the others do --------------------------------------------------------------------------------------------

    def _judge_the_first_half(self) -> None:
        sequences: dict[str, list[PairKey]] = {}
        for text in (self.folder / "pools" / "plan.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(text)
            asked = PairKey(one["query_id"], one["doc_id"], one.get("occasion", 1))
            sequences.setdefault(one["assessor"], []).append(asked)
        today = {(name, asked) for name, mine in sequences.items() for asked in mine[: len(mine) // 2]}
        self._crew.judge(self._queries, self._names, today=today)
        self._tell(f"{self._crew.answered} answers")

    def _judge_the_rest(self) -> None:
        """Everything that is open, with the server's restarts and a pull on the way."""
        crew = self._crew
        still_open = sum(row["assigned"] - row["judged"] for row in self._lead.done("status")["assessors"])
        parts, before = self.size.restarts + 2, crew.answered
        *at_restarts, at_pull = (before + part * still_open // parts for part in range(1, parts))
        with ThreadPoolExecutor(max_workers=1) as pool:
            working = None
            for at in at_restarts:
                # Held, they are sure to meet the server while it is down, however quick they are.
                crew.hold(at)
                working = working or pool.submit(crew.judge, self._queries, self._names)
                crew.wait_for(at, working)
                self._lead.restart(meanwhile=crew.meet_nobody)
            working = working or pool.submit(crew.judge, self._queries, self._names)
            crew.wait_for(at_pull, working)
            self._lead.done("pull")
            working.result()
        self._tell(f"{crew.answered} answers, people were interrupted {crew.interrupted} time(s)")

    def _change_minds(self) -> None:
        """Assessors change answers whose pairs nobody has settled yet."""
        settled = {key.pair_key.pair for key in self.log.now("adjudicate")}
        self._changed += self._crew.change_minds(
            "judge", lambda key: key.person in self._names and key.pair_key.pair not in settled
        )

    def _change_too_late(self) -> None:
        """One assessor changes an answer after its pair was settled."""
        settled = {key.pair_key.pair for key, said in self.log.now("adjudicate").items() if said.grade is not None}
        plan = Plan.read(self.folder)
        late = next(
            key
            for key in sorted(self.log.now("judge"))
            if key.pair_key.pair in settled and key.pair_key.occasion == 1 and plan.kind(key) == "judge"
            if key.person in self._names
        )
        self._changed += self._crew.change([late])
        self._planted = late.pair_key.pair

    # -- what came of it -----------------------------------------------------------------------------------------------

    def found(self) -> Found:
        """The store held against the log, and what the checks say."""
        plan, lead = Plan.read(self.folder), self._lead
        faults = [*differences(self.log, plan, self.folder / "annot.db")]
        check = lead.done("check", "plan")["plan"]
        faults += [f"annot check plan: {fault}" for fault in check["faults"]]
        sent = lead.done("push")["projects"]
        faults += [f"annot push: {row}" for row in sent if row["sent"] or row["withdrawn"] or row["updated"]]
        planted = [("after adjudication", [" ".join(self._planted)])]
        audited = [(one["kind"], one["pairs"]) for one in lead.done("check", "server", code=1)["server"]["findings"]]
        faults += [f"annot check server: found {one}" for one in audited if one not in planted]
        faults += [f"annot check server: did not find {one}" for one in planted if one not in audited]
        lead.done("qrels")
        faults += qrels_differences(self.log, plan, self.folder / "exports" / "qrels.txt")
        lead.done("agreement")
        lead.done("check", "files")
        if len(lead.hits) != self.size.kills:
            faults.append(f"{len(lead.hits)} kills, expected {self.size.kills}")
        kinds = [plan.kind(key) for key in self.log.lines]
        repeats = sum((key.person, key.pair_key) in plan.repeats for key in self.log.lines)
        counts = {
            "pairs": len(plan.assessors),
            "assessors": len(self._names) + 1,
            "judgements": kinds.count("judge"),
            "of them hidden repeats": repeats,
            "of them returned pairs": self._returned,
            "answers to hidden gold": kinds.count("hidden-gold"),
            "training answers": kinds.count("train"),
            "adjudications": kinds.count("adjudicate"),
            "answers changed": self._changed,
            "cannot judge": sum(line.states[-1].grade is None for line in self.log.lines.values()),
            "revisions compared": sum(len(line.pulled) for line in self.log.lines.values()),
            "times people were interrupted": self._crew.interrupted,
            "restarts": lead.restarts,
            "kills": len(lead.hits),
        }
        return Found(counts, tuple(lead.hits), time.monotonic() - self._began, tuple(faults))
