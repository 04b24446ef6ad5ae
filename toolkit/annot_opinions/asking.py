"""Asking a model about many pairs, at a pace that its server bears."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx
from annot.base.errors import InputError, ModelError
from annot.base.names import counted, lasting, moment_now
from annot.base.records import Advance
from annot.base.settings import OpinionSettings
from annot.labelstudio.http_client import TOO_MANY, asked_to_wait, is_loopback
from annot.store.models import ModelCall
from annot.store.shown import hash_of_text
from annot.study.outcome import Pair
from annot.study.workspace import Workspace

from annot_opinions import stored
from annot_opinions.on_record import KEY_VARIABLE
from annot_opinions.prompts import completion_of, read_answer, unreadable_answer
from annot_opinions.stored import ANSWERED, READ, UNREADABLE_AFTER

# ----------------------------------------------------------------------------------------------------------------------
# A server that speaks OpenAI's chat completions: one request, and what came of it. By httpx alone.
#
# https://platform.openai.com/docs/api-reference/chat/create; ollama, vLLM, llama.cpp and `transformers serve` speak
# it too. The key comes from the environment and goes into one header. It is removed from whatever the server sends
# back, also if it comes back with JSON's escapes.
#
# Answers are asked for as they are. One in another encoding is refused unread: unpacked, a few bytes can be
# gigabytes.
# ----------------------------------------------------------------------------------------------------------------------


LONGEST_BODY = 1_000_000
"""Bytes of one answer; no grade with a reason needs more."""
BLOTTED = "[the key]"
RETRIED = (408, 409, 425, TOO_MANY)
"""Refusals that are temporary, as are those of 500 and above."""
DEEPEST = 8
"""Backslashes before one letter of an escaped key: JSON within JSON doubles them."""


class ServerReply(NamedTuple):
    """Outcome of one request."""

    status: int | None
    """HTTP's; None if no whole answer came."""
    body: str
    """The answer as it came, or the error."""
    seconds: float
    wait: float | None = None
    """Seconds that the server asks to wait."""
    unread: bool = False
    """True if the answer was not read to its end, because of its encoding or length."""

    @property
    def came(self) -> bool:
        """True if the model answered."""
        return self.status == 200 and not self.unread

    @property
    def may_recover(self) -> bool:
        """True if the same request may succeed later."""
        if self.unread:
            return False
        return self.status is None or self.status in RETRIED or self.status >= 500

    @property
    def too_many(self) -> bool:
        """True if the server refuses because it gets too many requests."""
        return self.status == TOO_MANY or (self.status == 503 and self.wait is not None)


class ModelServer:
    """One server with one model. `transport` replaces the network."""

    def __init__(self, settings: OpinionSettings, key: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        if not key.isascii() or any(letter.isspace() or not letter.isprintable() for letter in key):
            raise InputError(f"{KEY_VARIABLE} is not a key", hint="set it to the key alone, without spaces and quotes")
        self._settings = settings
        self._key = _escaped_pattern(key) if key else None
        self._http = httpx.AsyncClient(
            headers={"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {}),
            timeout=settings.timeout,
            transport=transport,
            # A proxy from the environment must not get requests to this machine.
            trust_env=not is_loopback(settings.url),
            limits=httpx.Limits(max_connections=settings.requests_at_once),
        )

    async def aclose(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def ask(self, prompt: str, *, repeat: int) -> ServerReply:
        """Send one prompt and wait for the whole answer."""
        begun = time.monotonic()
        status, wait, body, unread = None, None, "", False
        try:
            async with (
                asyncio.timeout(self._settings.timeout),
                self._http.stream("POST", address_of(self._settings), json=self._request(prompt, repeat)) as answer,
            ):
                body, unread = await _read(answer)
                status, wait = answer.status_code, asked_to_wait(answer.headers)
                if answer.has_redirect_location and not body:
                    body = f"it sends on to {answer.headers['Location']}, which is not followed"
        except TimeoutError:
            body = f"no answer within {self._settings.timeout:g} s"
        except httpx.HTTPError as error:
            body = f"{type(error).__name__}: {error}".rstrip(": ")
        body = self.without_key(body.replace("\0", "\ufffd"))
        return ServerReply(status, body, time.monotonic() - begun, wait, unread)

    def without_key(self, text: str) -> str:
        """The text with the key blotted out, whether plain or with JSON's escapes."""
        return self._key.sub(BLOTTED, text) if self._key else text

    def _request(self, prompt: str, repeat: int) -> Mapping[str, Any]:
        return {
            "model": self._settings.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self._settings.temperature,
            "seed": self._settings.seed + repeat - 1,
            self._settings.limit_called: self._settings.longest_answer,
            "stream": False,
        }


async def _read(answer: httpx.Response) -> tuple[str, bool]:
    """Body as text, or the reason why it was not read; and True if it was not."""
    encoding = answer.headers.get("Content-Encoding", "").strip()
    if encoding.lower() not in ("", "identity"):
        return f"an answer in the encoding {encoding[:40]!r}, which was not asked for", True
    content = bytearray()
    async for piece in answer.aiter_raw():
        content += piece
        if len(content) > LONGEST_BODY:
            return f"an answer of more than {LONGEST_BODY:,} bytes", True
    return content.decode("utf-8", "replace"), False


def _escaped_pattern(key: str) -> re.Pattern[str]:
    """A pattern of the key, each letter of which may be plain or escaped as JSON does it."""
    letters = (
        rf"(?:\\{{0,{DEEPEST}}}{re.escape(letter)}|\\{{1,{DEEPEST}}}u00(?i:{ord(letter):02x}))" for letter in key
    )
    return re.compile("".join(letters))


def address_of(settings: OpinionSettings) -> str:
    """Address for questions."""
    return f"{settings.url.rstrip('/')}/chat/completions"


# ----------------------------------------------------------------------------------------------------------------------
# The pace of asking, shared by all connections: slower when the server refuses, slowly faster while it answers.
#
# The time between two requests doubles with each refusal for being too many (HTTP 429), and shrinks a little with
# each answer: additive increase and multiplicative decrease of the rate, as networks do it (Chiu and Jain 1989,
# https://doi.org/10.1016/0169-7552(89)90019-6). After a failure all connections pause together. Then one request goes
# ahead, and the others follow once a request is answered.
#
# Failures are counted since the last answer, over all connections. Requests that were on their way together fail
# together: they count as one.
# ----------------------------------------------------------------------------------------------------------------------


MOST_FAILURES = 6
"""After this many failures without an answer the server counts as unusable."""
FIRST_PAUSE = 1.0
"""Seconds of the first pause; each further one is twice as long."""
FIRST_GAP, SHORTEST_GAP = 0.1, 0.01
"""Seconds between two requests after the first refusal; and the gap below which there is none."""
SLOWER, FASTER = 2.0, 0.97
"""Factors by which the gap changes with a refusal, and with an answer."""
A_MINUTE = 60.0
POLL_SECONDS = 0.05
"""Seconds after which a connection looks again whether it may send."""


@dataclass
class Clock:
    """Clock with a time and a wait; a test has its own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass
class RequestPace:
    """Moment when the next request may be sent."""

    clock: Clock
    tokens_a_minute: int | None
    failures: int = 0
    """Since the last answer; requests that were on their way together count once."""
    slowed: bool = False
    """True if the server has refused a request because there were too many."""
    _gap: float = 0.0
    _next_turn: float = 0.0
    _paused_until: float = 0.0
    _requests: int = 0
    _already_sent: int = 0
    """Requests up to this number were sent before the last failure was known."""
    _sent: deque[tuple[float, float]] = field(default_factory=deque)

    def wait(self, tokens: float, *, under_way: int) -> float:
        """Seconds to wait before a request with this many tokens may be sent; 0 for now.

        under_way: requests without an answer yet.
        """
        if self.failures and under_way:
            return POLL_SECONDS
        now = self.clock.now()
        return max(0.0, self._paused_until - now, self._next_turn - now, self._wait_for_tokens(tokens, now))

    def take_turn(self, tokens: float) -> int:
        """Note that a request is sent now; returns its number."""
        now = self.clock.now()
        self._sent.append((now, tokens))
        self._next_turn = now + self._gap
        self._requests += 1
        return self._requests

    def note_answer(self) -> None:
        """Note that the server has answered a request."""
        self.failures = 0
        self._gap = self._gap * FASTER if self._gap * FASTER >= SHORTEST_GAP else 0.0

    def note_failure(self, number: int, *, asked_wait: float | None, too_many: bool) -> float | None:
        """Pause all connections after a failure; returns the seconds, or None if the failure was already counted.

        asked_wait: seconds that the server asks to wait. too_many: whether it refused because of too many requests.
        """
        sent_before = number <= self._already_sent
        if not sent_before:
            self._already_sent = self._requests
            self.failures += 1
            if too_many:
                self._gap, self.slowed = max(FIRST_GAP, self._gap * SLOWER), True
        pause = max(asked_wait or 0.0, 0.0 if sent_before else FIRST_PAUSE * 2 ** (self.failures - 1))
        self._paused_until = max(self._paused_until, self.clock.now() + pause)
        return None if sent_before else pause

    def _wait_for_tokens(self, tokens: float, now: float) -> float:
        """Seconds until this many tokens may be sent, 0 for now. A request with more than a minute's is sent alone."""
        while self._sent and self._sent[0][0] <= now - A_MINUTE:
            self._sent.popleft()
        limit = self.tokens_a_minute
        if limit is None or not self._sent or sum(count for _, count in self._sent) + tokens <= limit:
            return 0.0
        return self._sent[0][0] + A_MINUTE - now


# ----------------------------------------------------------------------------------------------------------------------
# Asking a model about many pairs: several requests at once, each on record before it is sent and after it is
# answered.
#
# Whenever the program ends, no answer is lost: each is written down before the same connection asks the next
# question. A request that was on its way is asked again the next time, at most one for each connection. It counts
# with the most that it can have cost, because the server may have answered.
#
# The most money holds as long as no answer is longer than it may be. Some servers count hidden reasoning beyond that.
# One such answer for each connection can exceed the limit; every later request sets aside as much as the longest
# answer took.
# ----------------------------------------------------------------------------------------------------------------------


LONGEST_WAIT, LONGEST_WAIT_IF_ASKED = 60.0, 86_400.0
"""Seconds that a server may ask to wait; and if the lead lets it ask for more."""
SHORTEST_NOTED_PAUSE = 10.0
"""Seconds; shorter pauses for too many requests are announced once."""
REFUSED_IN_A_ROW = 5
"""After this many refusals in a row asking stops: the pair is not their reason."""
UNREADABLE_IN_A_ROW = 20
"""After this many answers in a row that cannot be read asking stops: all of them are paid for."""
FORM_OF_A_CHAT = 64
"""Tokens that a server may put around a prompt."""
BYTES_OF_A_TOKEN = 4
"""Characters for each token, about, in English."""
PER = 1_000_000
"""Prices are for this many tokens."""


class ToAsk(NamedTuple):
    """An opinion that has not been asked for yet."""

    pair: Pair
    repeat: int
    attempts: int
    """Requests for it that are on record."""
    unreadable: int
    """Answers to it that could not be read."""


def open_questions(
    pairs: Iterable[Pair],
    repeats: int,
    calls: Iterable[ModelCall],
    *,
    is_settling: Callable[[ModelCall], bool] = lambda call: True,
) -> list[ToAsk]:
    """Questions that are still open for these pairs, each pair's first opinion before any second one.

    is_settling: whether the answer to a request may settle its question.
    """
    asked_before: dict[tuple[str, str, int], list[ModelCall]] = {}
    for call in calls:
        asked_before.setdefault((call.query_id, call.doc_id, call.repeat), []).append(call)
    still_open = []
    for repeat in range(1, repeats + 1):
        for pair in pairs:
            earlier = asked_before.get((*pair, repeat), [])
            states = [call.state for call in earlier if is_settling(call)]
            if not READ & {*states} and states.count("unreadable") < UNREADABLE_AFTER:
                attempts = max((call.attempt for call in earlier), default=0)
                still_open.append(ToAsk(pair, repeat, attempts, states.count("unreadable")))
    return still_open


def cost_of(settings: OpinionSettings, tokens_in: float, tokens_out: float) -> float:
    """Cost of the tokens; 0 without prices."""
    return (tokens_in * (settings.price_in or 0) + tokens_out * (settings.price_out or 0)) / PER


def longest_answer(settings: OpinionSettings, calls: Iterable[ModelCall]) -> int:
    """The most tokens that an answer takes: servers count hidden reasoning, too, however much a model may write."""
    return max(settings.longest_answer, *(call.tokens_out or 0 for call in calls), 0)


def about_tokens(text: str) -> int:
    """Estimated number of tokens of a text, if no server has counted them."""
    return -(-len(text.encode()) // BYTES_OF_A_TOKEN)


@dataclass
class OpinionRequester:
    """Asks all questions of one opinion."""

    ws: Workspace
    """Study of the opinion, which stays open."""
    name: str
    settings: OpinionSettings
    server: ModelServer
    prompt_of: Callable[[Pair], str]
    shown_sha256: Mapping[Pair, str]
    """Hash of the prompt's display, which is on record."""
    spent: float
    """Amount spent under this name, by the record."""
    longest: int
    """Tokens to set aside for an answer: as many as a model may write, or as were counted for the longest answer."""
    advance: Advance = lambda done, total: None
    tell: Callable[[str], None] = lambda text: None
    clock: Clock = field(default_factory=Clock)
    longest_wait: float = LONGEST_WAIT
    """Seconds that the server may ask to wait."""
    stopped: str = ""
    """Reason why asking ended before everything was asked."""
    refused: dict[Pair, str] = field(default_factory=dict)
    """Pairs on which no opinion came, with the server's words."""
    readable: int = 0
    """Answers that could be read."""
    unreadable: str = ""
    """The last answer that could not be read, with the reason and the remedy."""

    def __post_init__(self) -> None:
        self._left: deque[ToAsk] = deque()
        self._done = self._total = self._under_way = self._refused_in_a_row = self._unreadable_in_a_row = 0
        self._pacing = RequestPace(self.clock, self.settings.tokens_a_minute)
        self._error: ModelError | None = None

    async def all(self, questions: Iterable[ToAsk]) -> None:
        """Ask all questions. Raises ModelError when the server cannot be used; answers until then are on record."""
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
            question = self._left.popleft()
            if await self._ask(question) and not self._over:
                self._done += 1
                self.advance(self._done, self._total)

    async def _ask(self, question: ToAsk) -> bool:
        """Send one request; returns True if the question is settled. If not, it is queued again."""
        prompt = self.prompt_of(question.pair)
        number = await self._turn(prompt)
        if number is None:
            return False
        question = question._replace(attempts=question.attempts + 1)
        call, reply = await self._send(question, prompt)
        if call.state in ANSWERED:
            self._pacing.note_answer()
            self._refused_in_a_row = 0
            if call.state in READ:
                self.readable += 1
                self._unreadable_in_a_row = 0
                return True
            self._count_unreadable(reply)
            question = question._replace(unreadable=question.unreadable + 1)
            if question.unreadable < UNREADABLE_AFTER:
                self._left.appendleft(question)
            return question.unreadable >= UNREADABLE_AFTER
        if reply.came or not reply.may_recover:
            self._refuse(question, reply)
            return True
        self._put_off(reply, number)
        # Last, so that a question on which the server always fails does not hold up the others.
        self._left.append(question)
        return False

    async def _turn(self, prompt: str) -> int | None:
        """Wait until the server, tokens and money allow a request; its number, or None if none is to be sent."""
        tokens = about_tokens(prompt) + self.longest
        while not self._over:
            most = self.settings.most_money
            if most is not None and self.spent + self._highest_cost(prompt) > most:
                if not self._under_way:
                    self.stopped = "most_money"
                    return None
                await self.clock.sleep(POLL_SECONDS)  # An answer may cost less than was set aside for it.
            elif wait := self._pacing.wait(tokens, under_way=self._under_way):
                await self.clock.sleep(wait)
            else:
                return self._pacing.take_turn(tokens)
        return None

    def _highest_cost(self, prompt: str) -> float:
        # No tokenizer of bytes makes more tokens of a prompt than it has bytes.
        return cost_of(self.settings, len(prompt.encode()) + FORM_OF_A_CHAT, self.longest)

    async def _send(self, question: ToAsk, prompt: str) -> tuple[ModelCall, ServerReply]:
        """One request, on record before it is sent and as soon as it is answered."""
        most = self._highest_cost(prompt)
        sent_at = moment_now("milliseconds")
        key = (self.name, *question.pair, question.repeat, question.attempts)
        shown = self.shown_sha256[question.pair]
        call = ModelCall(*key, "sent", hash_of_text(prompt), sent_at, most, shown_sha256=shown)
        with self.ws.writing() as session:
            stored.note_sent(session, call)
        self.spent += most
        self._under_way += 1
        try:
            reply = await self.server.ask(prompt, repeat=question.repeat)
        finally:
            self._under_way -= 1
        call = self._completed_call(call, reply, prompt)
        with self.ws.writing() as session:
            stored.note_answer(session, call)
        self.spent += call.cost - most
        self.longest = max(self.longest, call.tokens_out or 0)
        return call, reply

    def _completed_call(self, call: ModelCall, reply: ServerReply, prompt: str) -> ModelCall:
        """The request with its result. It keeps its highest cost if the server may have answered unheard."""
        noted = call._replace(state="failed", seconds=reply.seconds, status=reply.status, answer=reply.body)
        if not reply.came:
            return noted if reply.status is None or reply.unread else noted._replace(cost=0.0)
        completion = completion_of(reply.body)
        if completion.text is None:
            return noted
        answer = read_answer(completion.text, self.ws.settings.scale.grades)
        estimated = completion.tokens_in is None or completion.tokens_out is None
        tokens_in = about_tokens(prompt) if completion.tokens_in is None else completion.tokens_in
        tokens_out = about_tokens(completion.text) if completion.tokens_out is None else completion.tokens_out
        # Decoding may have put the key together again.
        without_key = self.server.without_key
        noted = noted._replace(
            state="unreadable",
            cost=cost_of(self.settings, tokens_in, tokens_out),
            estimated=estimated,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            served=None if completion.model is None else without_key(completion.model),
            version=None if completion.version is None else without_key(completion.version),
        )
        if answer is None:
            return noted
        grade, reason = answer
        return noted._replace(
            state="cannot_judge" if grade is None else "read", grade=grade, reason=without_key(reason)
        )

    def _count_unreadable(self, reply: ServerReply) -> None:
        """Keep an answer that cannot be read as an example; stop if there were too many in a row."""
        answer = unreadable_answer(completion_of(reply.body), self.ws.settings.scale.grades)
        self.unreadable = self.server.without_key(answer)
        self._unreadable_in_a_row += 1
        if self._unreadable_in_a_row >= UNREADABLE_IN_A_ROW and self._error is None:
            self._error = ModelError(
                f"opinion {self.name}: {self._unreadable_in_a_row} answers in a row cannot be read",
                faults=[f"the last one: {self.unreadable}"],
                hint="the settings of this opinion are fixed: ask under another name, in a section of its own in "
                "annot.toml",
            )

    def _put_off(self, reply: ServerReply, number: int) -> None:
        """Let all connections wait before the next request; stop if the server has failed too often."""
        slowed = self._pacing.slowed
        if reply.wait is not None and reply.wait > self.longest_wait:
            hint = "run the same command again then; what was answered is on record"
            if self.longest_wait < LONGEST_WAIT_IF_ASKED:
                hint += ". With --long-waits it waits by itself, for a day at most"
            asks = f"the server asks to wait {lasting(reply.wait)}: {_words(reply)}"
            self._error = ModelError(f"{address_of(self.settings)}: {asks}", hint=hint)
            return
        pause = self._pacing.note_failure(number, asked_wait=reply.wait, too_many=reply.too_many)
        if pause is None:
            return
        if self._pacing.failures >= MOST_FAILURES:
            reason = f"no answer to {counted(self._pacing.failures, 'request')} in a row"
            self._error = self._unusable(reply, reason)
        elif not (reply.too_many and slowed and pause < SHORTEST_NOTED_PAUSE):
            slower = ", and more slowly from then on" if reply.too_many and not slowed else ""
            self.tell(f"{_words(reply)}; asking again in {lasting(pause)}{slower}")

    def _refuse(self, question: ToAsk, reply: ServerReply) -> None:
        """Leave out a pair that the server refuses; stop if the pair is not the reason."""
        self._refused_in_a_row += 1
        self.refused[question.pair] = _words(reply)
        if reply.status in (401, 403, 404) or self._refused_in_a_row >= REFUSED_IN_A_ROW:
            reason = "the server refuses the question"
            if reply.came or reply.unread:
                reason = "the server answers, but not as OpenAI's chat completions do"
            self._error = self._unusable(reply, reason)

    def _unusable(self, reply: ServerReply, what: str) -> ModelError:
        hint = (
            f"check that the server runs, and check url and model in [opinions.{self.name}] of annot.toml; most "
            "addresses end in /v1. Then run the same command again; what was answered is on record"
        )
        if reply.status in (401, 403):
            hint = f"set the environment variable {KEY_VARIABLE} to a key that this server accepts"
        return ModelError(f"{address_of(self.settings)}: {what}: {_words(reply)}", hint=hint)


def _words(reply: ServerReply) -> str:
    """The error in one line."""
    body = " ".join(reply.body.split())[:200]
    if reply.status is None or reply.unread:
        return body
    if reply.came:
        return f"no answer of a model: {body or 'an empty body'}"
    return f"HTTP {reply.status}: {body or 'without a word'}"
