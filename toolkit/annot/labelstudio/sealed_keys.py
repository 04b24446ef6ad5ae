"""Keys of tasks that tell nothing: what stands on the server in the place of `query/document/occasion`.

Label Studio shows every field of a task in a column of its data manager. A key that names the pair shows an assessor
which pairs are asked twice. On the server stands a keyed hash (HMAC-SHA-256) of project and key, so that two people's
projects do not show that they hold the same pair either. Inside the program keys stay what `tasks.pair_key` makes.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence

from annot.labelstudio.studio_records import KEY, Payload
from annot.labelstudio.tasks import pair_key

LETTERS = 24
"""Hexadecimal digits of a sealed key: 96 bits."""

OCCASIONS = range(1, 10)
"""How often one person may be asked one pair."""


class TaskKeys:
    """The keys of a study's tasks on any server.

    secrets: the first seals, all of them open: a study that was put together again has had others before.
    pairs: (query_id, doc_id) of everything that may stand on a server.
    """

    def __init__(self, secrets: Sequence[str], pairs: Iterable[tuple[str, str]]) -> None:
        self._secrets = [bytes.fromhex(secret) for secret in secrets]
        self._pairs = list(pairs)
        self._opened: dict[tuple[int, int], Mapping[str, str]] = {}

    def sealed(self, project_id: int, task: Payload) -> dict[str, object]:
        """The task as it is sent to that project."""
        key = _seal(self._secrets[0], project_id, task["data"][KEY])
        return {**task, "data": {**task["data"], KEY: key}}

    def opened(self, project_id: int, key: str) -> str:
        """What `key` stands for in that project. A key that is not ours, or was sent before keys were sealed, stays."""
        for occasion in OCCASIONS:
            if found := self._keys_of(project_id, occasion).get(key):
                return found
        return key

    def _keys_of(self, project_id: int, occasion: int) -> Mapping[str, str]:
        """The keys of all pairs, by what they are sealed as; made when they are first asked for."""
        if (project_id, occasion) not in self._opened:
            self._opened[project_id, occasion] = {
                _seal(secret, project_id, known): known
                for known in (pair_key(*pair, occasion) for pair in self._pairs)
                for secret in self._secrets
            }
        return self._opened[project_id, occasion]


def _seal(secret: bytes, project_id: int, key: str) -> str:
    return hmac.digest(secret, f"{project_id}/{key}".encode(), "sha256").hex()[:LETTERS]
