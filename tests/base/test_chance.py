"""What is drawn follows from the seed and the key alone, and from now on always in the same way."""

import numpy as np
import pytest
from annot.base.stats.inference import generator


@pytest.mark.parametrize(
    ("seed", "key", "entropy"),
    [
        # The first half of what `printf '13\\x1fq1' | sha256sum` prints, and of `printf 7 | sha256sum`.
        (13, ("q1",), 0xE4B6DEF75F46AFF2673571098CAA1132),
        (7, (), 0x7902699BE42C8A8E46FBBB4501726517),
    ],
)
def test_a_study_is_drawn_again_as_it_was(seed: int, key: tuple[str, ...], entropy: int) -> None:
    assert generator(seed, *key).random(3).tolist() == np.random.default_rng(entropy).random(3).tolist()
