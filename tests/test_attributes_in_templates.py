"""Attributes that templates read are names in the code: a branch that no test draws fails here, not for a user."""

import re
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, nodes

CHECKOUT = Path(__file__).parent.parent
BUILT_IN = {*dir(str), *dir(dict), *dir(list), *dir(datetime), *dir(Path), "index", "index0", "first", "last", "length"}
"""Attributes of plain values and of Jinja's loop."""


def test_every_attribute_that_a_template_reads_exists() -> None:
    environment = Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
    folder = CHECKOUT / "templates"
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.j2")}
    trees = {name: environment.parse(text) for name, text in texts.items()}
    assert len(trees) > 50
    code = [path.read_text(encoding="utf-8") for path in (CHECKOUT / "toolkit").rglob("*.py")]
    tables = [path.read_text(encoding="utf-8") for path in folder.rglob("*.toml*")]
    known = {*re.findall(r"\w+", "\n".join([*code, *tables])), *BUILT_IN}
    known |= {node.name for tree in trees.values() for node in tree.find_all((nodes.Macro, nodes.Block))}
    read = {(name, node.attr) for name, tree in trees.items() for node in tree.find_all(nodes.Getattr)}
    assert not [place for place in read if place[1] not in known]
