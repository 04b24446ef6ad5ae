"""The pace of asking, shared by all connections: slower when the server refuses, slowly faster while it answers.

The time between two requests doubles with each refusal for being too many (HTTP 429), and shrinks a little with each
answer: additive increase and multiplicative decrease of the rate, as networks do it (Chiu and Jain 1989,
https://doi.org/10.1016/0169-7552(89)90019-6). After a failure all connections pause together. Then one request goes
ahead, and the others follow once a request is answered.

Failures are counted since the last answer, over all connections. Requests that were on their way together fail
together: they count as one.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

MOST_FAILURES = 6
"""After so many failures without an answer the server counts as unusable."""
FIRST_PAUSE = 1.0
"""Seconds of the first pause; each further one is twice as long."""
FIRST_GAP, SHORTEST_GAP = 0.1, 0.01
"""Seconds between two requests after the first refusal; and the gap below which there is none."""
SLOWER, FASTER = 2.0, 0.97
"""How the gap changes with a refusal, and with an answer."""
A_MINUTE = 60.0
A_GLANCE = 0.05
"""Seconds after which a connection looks again whether it may send."""


@dataclass
class Clock:
    """What time it is, and waiting; a test has its own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass
class Pacing:
    """When the next request may be sent."""

    clock: Clock
    tokens_a_minute: int | None
    failures: int = 0
    """Since the last answer; requests that were on their way together count once."""
    slowed: bool = False
    """Whether the server has refused a request for being too many."""
    _gap: float = 0.0
    _next_turn: float = 0.0
    _paused_until: float = 0.0
    _requests: int = 0
    _already_sent: int = 0
    """Requests up to this number were sent before the last failure was known."""
    _sent: deque[tuple[float, float]] = field(default_factory=deque)

    def wait(self, tokens: float, *, under_way: int) -> float:
        """Seconds to wait before a request with so many tokens may be sent; 0 for now.

        under_way: requests without an answer yet.
        """
        if self.failures and under_way:
            return A_GLANCE
        now = self.clock.now()
        return max(0.0, self._paused_until - now, self._next_turn - now, self._wait_for_tokens(tokens, now))

    def take_turn(self, tokens: float) -> int:
        """Note that a request is sent now; the number of the request."""
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
        """Pause all connections after a failure; the seconds of the pause, or None if it was known already.

        asked_wait: seconds that the server asks to wait. too_many: whether it refused because of too many requests.
        """
        known = number <= self._already_sent
        if not known:
            self._already_sent = self._requests
            self.failures += 1
            if too_many:
                self._gap, self.slowed = max(FIRST_GAP, self._gap * SLOWER), True
        pause = max(asked_wait or 0.0, 0.0 if known else FIRST_PAUSE * 2 ** (self.failures - 1))
        self._paused_until = max(self._paused_until, self.clock.now() + pause)
        return None if known else pause

    def _wait_for_tokens(self, tokens: float, now: float) -> float:
        """Seconds until so many tokens may be sent, 0 for now. A request with more than a minute's is sent alone."""
        while self._sent and self._sent[0][0] <= now - A_MINUTE:
            self._sent.popleft()
        limit = self.tokens_a_minute
        if limit is None or not self._sent or sum(count for _, count in self._sent) + tokens <= limit:
            return 0.0
        return self._sent[0][0] + A_MINUTE - now
