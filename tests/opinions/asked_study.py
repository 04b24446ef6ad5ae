"""A small study of which a model is asked."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annot.store.models import AskedModel, ModelCall
from annot.store.shown import Display, as_json, hash_of_text, keep_contents
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from annot_opinions import steps as opinion_ask
from annot_opinions import stored
from annot_opinions.asking import Clock
from annot_opinions.steps import AskedOpinion, Selection
from small_study import FirstPairs, Small
from study_stages import copied

NOW = "2026-01-01T00:00:00+00:00"
PRICED = {"price_in": 1_000.0, "price_out": 10_000.0}
"""A thousandth and a hundredth for a token."""


def made(tmp_path: Path, *, judged: int = 10, stage: str = "settled") -> Workspace:
    """Four queries of ten pooled documents; a1 and a2 have judged the first so many pairs of each."""
    return copied(Small(answers=FirstPairs(judged)), stage, tmp_path / "study")


def with_model(ws: Workspace, url: str, name: str = "small", **settings: Any) -> Workspace:
    """The study with a model in annot.toml."""
    values = {"url": url, "model": "tiny", **settings}
    lines = "\n".join(f"{key} = {_toml(value)}" for key, value in values.items())
    text = ws.settings_file.read_text(encoding="utf-8")
    before, _, _ = text.partition(f"\n[opinions.{name}]\n")
    ws.settings_file.write_text(f"{before}\n[opinions.{name}]\n{lines}\n", encoding="utf-8")
    return Workspace.open(ws.root)


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


def ask(ws: Workspace, name: str = "small", selection: Selection = Selection(), **more: Any) -> AskedOpinion:  # noqa: B008
    return opinion_ask.ask(ws, name, selection, **{"before_judging": None, **more})


def calls_of(ws: Workspace, name: str = "small") -> tuple[ModelCall, ...]:
    with ws.reading() as session:
        return stored.read_calls(session, name)


def opinions_of(ws: Workspace, name: str = "small") -> tuple[ModelCall, ...]:
    with ws.reading() as session:
        return tuple(stored.opinions_from(stored.read_calls(session, name)))


def put(
    ws: Workspace,
    name: str,
    grade: Callable[[str, str, int], int | None],
    *,
    repeats: int = 1,
    most: int | None = None,
    shown: Display | None = None,
    early: tuple[tuple[str, str, str], ...] = (),
) -> None:
    """A model's opinion of the pairs with a final grade, or the first so many: `grade` gets its ids and final grade.

    shown: what each of its prompts showed, without the texts.
    """
    final = {one.pair: one.grade for one in read_snapshot(ws).outcome.decisions[:most]}
    asked = AskedModel(name, "http://localhost/v1", f"org/{name}", {}, {}, (), NOW, early)
    display = None if shown is None else as_json(shown)
    sha256 = None if display is None else hash_of_text(display)
    with ws.writing() as session:
        keep_contents(session, [display] if display else [])
        stored.put_asked_model(session, asked)
        for pair, given in final.items():
            for repeat in range(1, repeats + 1):
                said = grade(*pair, given)
                for attempt in (1,) if said is not None else (1, 2):
                    state = "read" if said is not None else "unreadable"
                    call = ModelCall(
                        name,
                        *pair,
                        repeat,
                        attempt,
                        state,
                        "abc",
                        NOW,
                        0.25,
                        grade=said,
                        reason="",
                        shown_sha256=sha256,
                    )
                    stored.note_sent(session, call)


@dataclass
class Hurried(Clock):
    """Time that goes by only while somebody waits, and then at once."""

    at: float = 0.0
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.now, self.sleep = lambda: self.at, self._sleep

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        before = self.at
        await asyncio.sleep(0.001)
        self.at = max(self.at, before + seconds)
