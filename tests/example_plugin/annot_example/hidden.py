"""Words that no task may show."""

from annot.judging.exchange.outgoing import HiddenWords

CODENAMES = HiddenWords(names=lambda _session: {"arm-b"}, texts=lambda _session: {"the treated half of the pool"})
