"""A training of word vectors that continues after the last pass of a killed one, with the same numbers.

gensim begins with the first pass. A pass depends on the earlier ones only by the two matrices and the state of the
random numbers: the learning rate follows from its number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from annot.base import array_files
from annot.base.errors import InputError

KIND = "annot-unfinished-words-1"
SECONDS_BETWEEN_SAVES = 60.0
"""Seconds of training, at least, between two passes that are kept: 200,000 words of 200 numbers take 0.3 GB."""


class Resumable(Word2Vec):  # type: ignore[misc]
    """Word2Vec that keeps a pass over a file now and then, and leaves out the passes before one that was kept."""

    def keep_in(self, folder: Path, facts: Mapping[str, Any], *, after_epoch: Callable[[int], None]) -> None:
        """Save passes in `folder`, and continue from the one that a training with the same facts saved there.

        after_epoch: called with the number of passes done.
        """
        self._after_epoch = after_epoch
        self._folder, self._facts, self._done, self._kept_at = folder, dict(facts), 0, 0.0
        self._kept: Mapping[str, array_files.Array] = {}
        try:
            stored = array_files.load(folder, kind=KIND)
        except InputError:
            return
        if stored.facts["training"] == self._facts and not array_files.faults(folder):
            self._kept, self._done = stored.arrays, stored.facts["passes"]

    def _train_epoch_corpusfile(self, *args: Any, cur_epoch: int, **named: Any) -> Any:
        if cur_epoch < self._done:
            self._after_epoch(cur_epoch + 1)
            return 0, 0, 0
        if self._kept:
            self.wv.vectors[:], self.syn1neg[:] = self._kept["vectors"], self._kept["outputs"]
            *key, place = self._kept["random"]
            self.random.set_state(("MT19937", key, place))
            self._kept = {}
        counts = super()._train_epoch_corpusfile(*args, cur_epoch=cur_epoch, **named)
        if cur_epoch + 1 < self.epochs and self.total_train_time - self._kept_at >= SECONDS_BETWEEN_SAVES:
            self._kept_at = self.total_train_time
            _, key, place, *_ = self.random.get_state()
            arrays = {"vectors": self.wv.vectors, "outputs": self.syn1neg, "random": np.append(key, place)}
            facts = {"training": self._facts, "passes": cur_epoch + 1}
            array_files.save(self._folder, kind=KIND, arrays=arrays, texts={}, facts=facts)
        self._after_epoch(cur_epoch + 1)
        return counts
