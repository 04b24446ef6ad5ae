"""Rebuild a sentence model from files: `python -m annot.facets.build TRAIN.jsonl DEV.jsonl OUT`.

It prints the scores on DEV and the size and SHA-256 of OUT. It is what `make facet-model` runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

from annot.errors import InputError
from annot.facets.crf import SHIPPED_SETTINGS, Labeller, train
from annot.facets.scores import LabelScores, score
from annot.facets.training import LabelledAbstract, read_labelled

USAGE = "usage: python -m annot.facets.build TRAIN.jsonl DEV.jsonl OUT"


def evaluate(labeller: Labeller, abstracts: tuple[LabelledAbstract, ...]) -> LabelScores:
    """The scores of a labeller on labelled abstracts."""
    return score(
        [abstract.labels for abstract in abstracts],
        [labeller.label(abstract.sentences) for abstract in abstracts],
    )


def table(scores: LabelScores) -> str:
    """The scores as lines of text: over all labels, then per label."""
    lines = [
        f"{scores.sentences} sentences: micro-F1 {scores.micro_f1:.4f}, macro-F1 {scores.macro_f1:.4f}",
        f"{'label':<12}{'precision':>10}{'recall':>10}{'F1':>10}{'n':>8}",
    ]
    for label, entry in scores.per_label.items():
        cells = "".join(f"{'-' if x is None else f'{x:.3f}':>10}" for x in (entry.precision, entry.recall, entry.f1))
        lines.append(f"{label:<12}{cells}{entry.support:>8}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Train, write and score one model. The exit code: 0 done, 2 bad input or usage."""
    if len(arguments) != 3:
        print(USAGE, file=sys.stderr)
        return 2
    train_file, dev_file, out = map(Path, arguments)
    try:
        training, dev = _read(train_file), _read(dev_file)
        model = train(training, settings=SHIPPED_SETTINGS)
        labeller = Labeller(model, name=str(out))
        scores = evaluate(labeller, dev)
        out.write_bytes(model)
    except (InputError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        for fault in getattr(error, "faults", ()):
            print(f"  {fault}", file=sys.stderr)
        return 2
    print(table(scores))
    print(f"{out}: {len(model)} bytes, SHA-256 {labeller.sha256}")
    return 0


def _read(path: Path) -> tuple[LabelledAbstract, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error}") from None
    return read_labelled(text.split("\n"), name=str(path))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
