"""README.md: short, and every block of it runs as printed. (Its study is typed in `story/test_documented_study.py`.)"""

import re

import pytest
from command_line import wrong_in
from documented import CHECKOUT, references, typed

README = CHECKOUT / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCKS = list(references.blocks(README))
MAKE, STUDY, PYTHON = BLOCKS


def test_readme_is_short() -> None:
    assert len(TEXT.split()) <= 900
    assert len(STUDY.code.splitlines()) <= 20


def test_the_python_block_runs() -> None:
    assert "exports/demo/query_papers.tsv" in typed(f"python - <<'END'\n{PYTHON.code}END", CHECKOUT)


def test_commands_in_the_prose_are_there() -> None:
    prose = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL).replace("\n", " ")
    mentioned = re.findall(r"`(annot [^`]+)`", prose)
    assert mentioned
    assert not [wrong for line in mentioned if (wrong := wrong_in(line))]


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)", TEXT))))
def test_a_link_leads_somewhere(target: str) -> None:
    assert target.startswith("https://") or (CHECKOUT / target).exists()
