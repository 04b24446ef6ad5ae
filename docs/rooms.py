"""The drawing of the rooms and their table, made from the imports of the package: `reference/rooms.svg`, `rooms.md`."""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
from annot.base.plugins import WINGS

HEAD = """# The rooms

From the ground up. Each number in the drawing shows how many modules of the room on the left import something from the
room above. There is no number to the right of the diagonal, so no two rooms import each other. The last lines are the
wings, which are packages next to the core.

![which room uses which](rooms.svg)

| room | contents, what it uses, where to begin | modules |
| --- | --- | --- |
"""


def rooms_used(path: Path) -> Iterator[str]:
    """The rooms that a module imports from, in functions and under TYPE_CHECKING too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("annot."))


def write(package: Path, folder: Path) -> None:
    """Write drawing and table into `folder`. Raises ValueError where two rooms import each other, at any remove."""
    modules = {
        room.name: [path for path in sorted(room.rglob("*.py")) if path.name != "__init__.py"]
        for room in package.iterdir()
        if (room / "__init__.py").is_file() and room.name != "templates"
    }
    ties = Counter(
        (room, used)
        for room, paths in modules.items()
        for path in paths
        for used in set(rooms_used(path)) & modules.keys() - {room}
    )
    order: list[str] = []
    while left := sorted(modules.keys() - set(order)):
        free = [room for room in left if not any((room, other) in ties for other in left)]
        if not free:
            raise ValueError(f"these rooms import each other: {', '.join(left)}")
        order.extend(free)
    draw(order, ties, folder / "rooms.svg")
    rows = [f"| `{room}` | {told(f'annot.{room}')} | {len(modules[room])} |" for room in order]
    for wing in WINGS:
        paths = [path for path in (package.parent / wing).rglob("*.py") if path.name != "__init__.py"]
        rows.append(f"| `{wing}` | {told(wing)} | {len(paths)} |")
    (folder / "rooms.md").write_text(HEAD + "\n".join([*rows, ""]), encoding="utf-8")


def told(package: str) -> str:
    """The docstring of a room or a wing, up to its second paragraph's end, as one line."""
    doc = importlib.import_module(package).__doc__ or ""
    return " ".join(" ".join(doc.split("\n\n")[:2]).split())


def draw(order: list[str], ties: Counter[tuple[str, str]], path: Path) -> None:
    """A square for each two rooms, darker where more modules import."""
    figure, axes = plt.subplots(figsize=(8, 6.4))
    most = max(ties.values())
    for row, room in enumerate(order):
        axes.add_patch(plt.Rectangle((row, row), 1, 1, color="#d0d0d0"))
        for column, used in enumerate(order):
            if count := ties[room, used]:
                axes.add_patch(plt.Rectangle((column, row), 1, 1, color="#1f5f8b", alpha=0.15 + 0.55 * count / most))
                axes.text(column + 0.5, row + 0.5, str(count), ha="center", va="center", fontsize=9)
    axes.set(xlim=(0, len(order)), ylim=(len(order), 0))
    axes.set_xticks([i + 0.5 for i in range(len(order))], order, rotation=50, ha="left", fontsize=9)
    axes.set_yticks([i + 0.5 for i in range(len(order))], order, fontsize=9)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    for side in axes.spines.values():
        side.set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
