"""A judged study, and a folder of tiny weights for each kind of system."""

from pathlib import Path

import pytest
import tiny_models
import torch
from study_stages import copied, published

# More threads only wait for each other over models this small.
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three query papers, judged, with qrels, and weights for a sentence, an abstract and an Aspire system."""
    ws = copied(published(3), "measured", tmp_path_factory.mktemp("neural") / "study")
    for at, name in enumerate(("unsimcse", "specter", "ot-aspire", "att-aspire")):
        tiny_models.bert(ws.root / "weights" / name, seed=at, positions=120)
    tiny_models.sentence_transformer(ws.root / "weights" / "mpnet-1b", seed=9)
    tiny_models.sentence_transformer(ws.root / "weights" / "mine", seed=10)
    return ws.root
