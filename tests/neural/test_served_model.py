"""A model's opinion from a real server: `transformers serve`, with a tiny model that this test makes.

The model needs no training: every letter leads to an answer as its next token, and an answer to the end.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
import torch
from annot.study.workspace import Workspace
from annot_opinions.steps import Selection, ask, listing, preview
from annot_opinions.stored import opinions_from, read_calls
from free_ports import held_ports
from needs import unavailable
from small_study import FirstPairs, Small
from study_stages import copied
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

ANSWERS = [f'{{"grade": {grade}, "reason": "Made so."}}' for grade in range(4)]
LIKELIEST = 2
BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())


def tiny_chat_model(folder: Path) -> Path:
    """A model that answers with a grade whatever it is asked, and most likely with grade 2."""
    plain = ["<s>", "</s>", *BYTES]
    tokenizer = Tokenizer(models.BPE(vocab={token: at for at, token in enumerate(plain)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens([AddedToken(answer, normalized=False) for answer in ANSWERS])
    ends = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "</s>"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **ends)
    fast.chat_template = "{{ bos_token }}{% for message in messages %}{{ message['content'] }}{% endfor %}"
    fast.save_pretrained(folder)
    letters = len(plain)
    config = LlamaConfig(
        **{"vocab_size": letters + len(ANSWERS), "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1},
        **{"num_attention_heads": 2, "max_position_embeddings": 30_000, "tie_word_embeddings": False},
        **{"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1},
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.model.layers.parameters():
            parameter.zero_()
        seen, said = model.model.embed_tokens.weight, model.lm_head.weight
        seen.zero_(), said.zero_()
        seen[:letters, 0] = seen[letters:, 1] = 1
        said[letters:, 0] = 10
        said[letters + LIKELIEST, 0] = 11
        said[1, 1] = 10
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a server, and its model's name."""
    if absent := [name for name in ("fastapi", "uvicorn", "openai") if find_spec(name) is None]:
        unavailable(f"`transformers serve` needs {', '.join(absent)}; `make test-neural` installs them")
    folder = tiny_chat_model(tmp_path_factory.mktemp("served") / "tiny")
    with held_ports() as ports:
        port = ports.port()
        command = [sys.executable, "-m", "transformers.cli.transformers", "serve", folder, "--device", "cpu"]
        log = (folder.parent / "log.txt").open("w")
        with log, subprocess.Popen(
            [*map(str, command), "--host", "127.0.0.1", "--port", str(port)],
            env={**os.environ, "HF_HUB_OFFLINE": "1"}, stdout=log, stderr=subprocess.STDOUT,
        ) as server:  # fmt: skip
            try:
                _wait(f"http://127.0.0.1:{port}/health", server, Path(log.name))
                yield f"http://127.0.0.1:{port}/v1", str(folder)
            finally:
                server.kill()


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        try:
            if httpx.get(address, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"no server after two minutes: {log.read_text()}")


def with_model(ws: Workspace, url: str, model: str) -> Workspace:
    with ws.settings_file.open("a", encoding="utf-8") as settings:
        settings.write(
            f'\n[opinions.small]\nurl = "{url}"\nmodel = "{model}"\nlongest_answer = 20\nrequests_at_once = 2\n'
            "repeats = 2\nprice_in = 1.0\nprice_out = 2.0\nmost_money = 5.0\n"
        )
    return Workspace.open(ws.root)


def test_a_real_server_is_asked_about_every_pair(served: tuple[str, str], tmp_path: Path) -> None:
    url, model = served
    ws = with_model(copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study"), url, model)
    query = Selection(queries=("p1-method",))
    promised = preview(ws, "small", query, before_judging=None)
    done = ask(ws, "small", query, before_judging=None)
    assert (promised.requests, done.asked, done.settled, done.stopped) == (20, 20, 20, "")
    with ws.reading() as session:
        calls = read_calls(session, "small")
        found = tuple(opinions_from(calls))
    assert {(one.grade, one.reason) for one in found} == {(LIKELIEST, "Made so.")}
    assert len({(one.pair, one.repeat) for one in found}) == 20
    assert all(call.state == "read" and not call.estimated for call in calls)
    # Its tokens are bytes, but for the answer's form in the prompt, which is none of its answers: `...` is the reason.
    first = min(calls, key=lambda call: (call.query_id, call.doc_id, call.repeat))
    assert first.tokens_in == len(promised.prompt.encode()) + 1
    assert first.tokens_out == 2
    (row,) = listing(ws)
    assert row.estimated == 0
    assert row.cost == pytest.approx((row.tokens_in * 1.0 + row.tokens_out * 2.0) / 1e6)
    assert row.served[0].startswith(model)
    assert ask(ws, "small", query, before_judging=None).asked == 0
