"""Asking a model about many pairs: several requests at once, each on record before it is sent and after it is answered.

Whenever the program ends, no answer is lost: each is written down before the same connection asks the next question.
A request that was on its way is asked again the next time, at most one for each connection. It counts with the most
that it can have cost, because the server may have answered.

The most money holds as long as no answer is longer than it may be. Some servers count hidden reasoning beyond that. One
such answer for each connection can exceed the limit; every later request sets aside as much as the longest answer took.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from annot.base.errors import ModelError
from annot.base.names import counted
from annot.base.records import Advance
from annot.base.settings import OpinionSettings
from annot.judging.opinions.answers import completion_of, read_answer
from annot.judging.opinions.model_server import KEY_VARIABLE, ModelServer, ServerReply, address_of
from annot.judging.opinions.prompts import sha256_of
from annot.store import opinions
from annot.store.opinions import UNREADABLE_AFTER, ModelCall
from annot.study.adjudication import Pair
from annot.study.workspace import Workspace

MOST_TRIES = 6
"""Asking stops after so many requests for one opinion have failed in a row."""
FIRST_WAIT, LONGEST_WAIT = 1.0, 600.0
"""Seconds before a request is sent again, doubled each time; and the longest wait that a server may ask for."""
A_MOMENT = 0.5
"""Seconds; waits that differ by less are one wait to a reader."""
REFUSED_IN_A_ROW = 5
"""After so many refusals in a row asking stops: the pair is not their reason."""
FORM_OF_A_CHAT = 64
"""Tokens that a server may put around a prompt."""
BYTES_OF_A_TOKEN = 4
"""In English, about so many."""
A_MINUTE = 60.0
PER = 1_000_000
"""Prices are for so many tokens."""


class ToAsk(NamedTuple):
    """One opinion that is still to be asked for."""

    pair: Pair
    repeat: int
    attempts: int
    """Requests for it that are on record."""
    unreadable: int
    """Answers to it that could not be read."""


def open_questions(pairs: Iterable[Pair], repeats: int, calls: Iterable[ModelCall]) -> list[ToAsk]:
    """What is still to be asked about these pairs, each pair's first opinion before any second one."""
    known: dict[tuple[str, str, int], list[ModelCall]] = {}
    for call in calls:
        known.setdefault((call.query_id, call.doc_id, call.repeat), []).append(call)
    found = []
    for repeat in range(1, repeats + 1):
        for pair in pairs:
            own = known.get((*pair, repeat), [])
            states = [call.state for call in own]
            if "read" not in states and states.count("unreadable") < UNREADABLE_AFTER:
                attempts = max((call.attempt for call in own), default=0)
                found.append(ToAsk(pair, repeat, attempts, states.count("unreadable")))
    return found


def cost_of(settings: OpinionSettings, tokens_in: float, tokens_out: float) -> float:
    """What so many tokens cost; 0 without prices."""
    return (tokens_in * (settings.price_in or 0) + tokens_out * (settings.price_out or 0)) / PER


def most_tokens(prompt: str) -> int:
    """The most tokens that a prompt can be: no tokenizer of bytes makes more of it than it has bytes."""
    return len(prompt.encode()) + FORM_OF_A_CHAT


def longest_answer(settings: OpinionSettings, calls: Iterable[ModelCall]) -> int:
    """The most tokens that an answer takes: servers count hidden reasoning, too, however much a model may write."""
    return max(settings.longest_answer, *(call.tokens_out or 0 for call in calls), 0)


def about_tokens(text: str) -> int:
    """About how many tokens a text has, if no server has counted them."""
    return -(-len(text.encode()) // BYTES_OF_A_TOKEN)


@dataclass
class Clock:
    """What time it is, and waiting; a test has its own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass
class Asking:
    """Asks all questions of one opinion."""

    ws: Workspace
    """It stays open."""
    name: str
    settings: OpinionSettings
    server: ModelServer
    prompt_of: Callable[[Pair], str]
    spent: float
    """What was spent under this name, by the record."""
    longest: int
    """Tokens to set aside for an answer: as many as a model may write, or as were counted for the longest answer."""
    advance: Advance = lambda done, total: None
    tell: Callable[[str], None] = lambda text: None
    clock: Clock = field(default_factory=Clock)
    stopped: str = ""
    """Why asking ended before all was asked."""
    refused: dict[Pair, str] = field(default_factory=dict)
    """Pairs that the server refuses to be asked about, with its words."""

    def __post_init__(self) -> None:
        self._left: deque[ToAsk] = deque()
        self._done = self._total = self._under_way = self._in_a_row = 0
        self._not_before = 0.0
        self._sent: deque[tuple[float, float]] = deque()
        self._error: ModelError | None = None

    async def all(self, questions: Iterable[ToAsk]) -> None:
        """Ask them. Raises ModelError when the server cannot be used; all that was answered is on record."""
        self._left = deque(questions)
        self._total = len(self._left)
        self.advance(0, self._total)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.settings.requests_at_once, self._total)):
                    group.create_task(self._work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            await self.server.aclose()
        if self._error is not None:
            raise self._error

    @property
    def _over(self) -> bool:
        return bool(self.stopped) or self._error is not None

    async def _work(self) -> None:
        while self._left and not self._over:
            await self._settle(self._left.popleft())
            if not self._over:
                self._done += 1
                self.advance(self._done, self._total)

    async def _settle(self, question: ToAsk) -> None:
        """Ask one question until it is answered, refused, or unreadable too often."""
        prompt = self.prompt_of(question.pair)
        attempts, unreadable, failed = question.attempts, question.unreadable, 0
        while not self._over:
            if not await self._may_send(prompt):
                return
            attempts += 1
            call, reply = await self._send(question, attempts, prompt)
            if call.state == "read":
                self._in_a_row = 0
                return
            if call.state == "unreadable":
                self._in_a_row = 0
                unreadable += 1
                if unreadable >= UNREADABLE_AFTER:
                    return
            elif reply.for_now and not reply.came:
                failed += 1
                self._put_off(reply, failed)
            else:
                self._refuse(question, reply)
                return

    async def _may_send(self, prompt: str) -> bool:
        """Wait until the server, tokens and money allow a request; False if not enough money is left."""
        tokens = about_tokens(prompt) + self.longest
        while not self._over:
            now = self.clock.now()
            most = self.settings.most_money
            if most is not None and self.spent + self._most_cost(prompt) > most:
                if not self._under_way:
                    self.stopped = "most_money"
                    return False
                await self.clock.sleep(0.05)  # What comes back may cost less than was set aside for it.
            elif now < self._not_before:
                await self.clock.sleep(self._not_before - now)
            elif wait := self._wait_for_tokens(tokens, now):
                await self.clock.sleep(wait)
            else:
                self._sent.append((now, tokens))
                return True
        return False

    def _wait_for_tokens(self, tokens: float, now: float) -> float:
        """Seconds until so many tokens may be sent, 0 for now. A request with more than a minute's is sent alone."""
        most = self.settings.tokens_a_minute
        while self._sent and self._sent[0][0] <= now - A_MINUTE:
            self._sent.popleft()
        if most is None or not self._sent or sum(count for _, count in self._sent) + tokens <= most:
            return 0.0
        return self._sent[0][0] + A_MINUTE - now

    def _most_cost(self, prompt: str) -> float:
        return cost_of(self.settings, most_tokens(prompt), self.longest)

    async def _send(self, question: ToAsk, attempt: int, prompt: str) -> tuple[ModelCall, ServerReply]:
        """One request, on record before it is sent and as soon as it is answered."""
        most = self._most_cost(prompt)
        sent_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        key = (self.name, *question.pair, question.repeat, attempt)
        call = ModelCall(*key, "sent", sha256_of(prompt), sent_at, most)
        with self.ws.writing() as session:
            opinions.note_sent(session, call)
        self.spent += most
        self._under_way += 1
        try:
            reply = await self.server.ask(prompt, repeat=question.repeat)
        finally:
            self._under_way -= 1
        call = self._answered(call, reply, prompt)
        with self.ws.writing() as session:
            opinions.note_answer(session, call)
        self.spent += call.cost - most
        self.longest = max(self.longest, call.tokens_out or 0)
        return call, reply

    def _answered(self, call: ModelCall, reply: ServerReply, prompt: str) -> ModelCall:
        """The request with its result. It keeps its highest cost if the server may have answered unheard."""
        noted = call._replace(state="failed", seconds=reply.seconds, status=reply.status, answer=reply.body)
        if not reply.came:
            return noted if reply.status is None else noted._replace(cost=0.0)
        said = completion_of(reply.body)
        if said.text is None:
            return noted
        read = read_answer(said.text, self.ws.settings.scale.grades)
        estimated = said.tokens_in is None or said.tokens_out is None
        tokens_in = about_tokens(prompt) if said.tokens_in is None else said.tokens_in
        tokens_out = about_tokens(said.text) if said.tokens_out is None else said.tokens_out
        return noted._replace(
            state="unreadable" if read is None else "read",
            cost=cost_of(self.settings, tokens_in, tokens_out),
            estimated=estimated,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            served=said.model,
            version=said.version,
            grade=None if read is None else read.grade,
            reason=None if read is None else read.reason,
        )

    def _put_off(self, reply: ServerReply, failed: int) -> None:
        """Let all connections wait before the next request; stop if the server has failed too often."""
        wait = reply.wait if reply.wait is not None else FIRST_WAIT * 2 ** (failed - 1)
        if failed >= MOST_TRIES or wait > LONGEST_WAIT:
            self._error = self._unusable(reply, f"{counted(failed, 'request')} failed one after the other")
            return
        until = self.clock.now() + wait
        if until > self._not_before + A_MOMENT:  # Else another connection has said so just now.
            self.tell(f"{_words(reply)}; asking again in {wait:.0f} s")
        self._not_before = max(self._not_before, until)

    def _refuse(self, question: ToAsk, reply: ServerReply) -> None:
        """Leave out a pair that the server refuses; stop if the pair is not the reason."""
        self._in_a_row += 1
        self.refused[question.pair] = _words(reply)
        if reply.status in (401, 403, 404) or self._in_a_row >= REFUSED_IN_A_ROW:
            self._error = self._unusable(reply, "the server refuses the question")

    def _unusable(self, reply: ServerReply, what: str) -> ModelError:
        hint = "run the same command again when the server answers; what was answered is on record"
        if reply.status in (401, 403):
            hint = f"set the environment variable {KEY_VARIABLE} to a key that this server accepts"
        elif reply.status is None:
            hint = (
                f"check that the server runs and that url in [opinions.{self.name}] of annot.toml is right. Then run "
                "the same command again; what was answered is on record"
            )
        elif 300 <= reply.status < 500 and reply.status != 429:
            hint = f"check url and model in [opinions.{self.name}] of annot.toml"
        return ModelError(f"{address_of(self.settings)}: {what}: {_words(reply)}", hint=hint)


def _words(reply: ServerReply) -> str:
    """What went wrong, in one line."""
    body = " ".join(reply.body.split())[:200]
    return body if reply.status is None else f"HTTP {reply.status}" + (f": {body}" if body else "")


def served_models(calls: Iterable[ModelCall]) -> Mapping[tuple[str, str], tuple[str, int]]:
    """By the name and version that the server gave: the moment of the first answer, and how many there are."""
    found: dict[tuple[str, str], tuple[str, int]] = {}
    for call in sorted(calls, key=lambda one: one.sent_at):
        if call.state in ("read", "unreadable"):
            key = call.served or "", call.version or ""
            first, count = found.get(key, (call.sent_at, 0))
            found[key] = first, count + 1
    return found
