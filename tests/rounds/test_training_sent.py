"""A push of training: what people would read in place of a reason is refused before anything is sent."""

import pytest
from annot.base.errors import InputError
from annot.base.records import Gold
from annot.store import trials
from worlds import QUERY, World

EXPLAINED = ("Both count cells.", "the assessors agreed: same sensor", "slip: the second count is of frogs")
REASONS = ("the assessors agreed", *EXPLAINED, " the assessors agreed ", "", "slip")
"""The words of the draw alone, nothing, and a cause alone explain no grade."""


def test_gold_with_the_words_of_the_draw_is_not_sent_and_all_such_pairs_are_listed(sent: World) -> None:
    golden = [Gold(QUERY, f"d0{at}", at % 4, why, at + 1) for at, why in enumerate(REASONS)]
    with sent.ws.writing() as session:
        trials.replace_gold(session, golden)
    with pytest.raises(InputError, match="4 gold pairs") as refused:
        sent.push("training", assessor=("j1",))
    listed = [fault.split(":")[1].strip() for fault in refused.value.faults]
    assert listed == [f"{QUERY} d0{at}" for at in (0, 4, 5, 6)]
    assert not sent.studio.projects_of("/train/"), "nothing was sent"
    with sent.ws.writing() as session:
        trials.replace_gold(session, [one._replace(why="Because.") for one in golden])
    (judged,) = sent.push("training", assessor=("j1",)).projects
    assert judged.sent == 7
