"""Words of models that no task may show."""

from __future__ import annotations

from annot.judging.exchange.outgoing import HiddenWords
from annot.store.opinions import read_model_names, read_reasons

WORDS = HiddenWords(names=read_model_names, texts=read_reasons)
"""Names of models and their opinions, and the reasons that models gave."""
