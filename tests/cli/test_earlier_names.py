"""Commands and options under the names that an earlier release had for them."""

from pathlib import Path

import annot as library
import pytest
from annot.cli import commands
from command_line import annot, annot_done

MAJOR, MINOR = map(int, commands.__version__.split(".")[:2])


def test_an_earlier_name_works_and_says_the_new_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renamed = {
        "papers count": ("corpus show", f"{MAJOR}.{MINOR}"),
        "init --called": ("init --name", f"{MAJOR}.{MINOR}"),
        "corpus list": ("corpus show", f"{MAJOR}.{MINOR - 2}"),
    }
    monkeypatch.setattr(commands, "RENAMED", renamed)
    until = f"works before annot {MAJOR}.{MINOR + 2}"
    made = annot_done("init", "study", "--called=bees", "--kind", "topics", folder=tmp_path)
    assert f"`annot init --called` is an earlier name, which {until}: write `annot init --name`" in made.stderr
    assert 'name = "bees"' in (tmp_path / "study" / "annot.toml").read_text("utf-8")
    counted = annot("papers", "count", "--json", folder=tmp_path / "study")
    assert f"which {until}: write `annot corpus show`" in counted.stderr
    assert "earlier name" not in counted.stdout
    present = annot("corpus", "show", "--json", folder=tmp_path / "study")
    assert (counted.exit_code, counted.stdout) == (present.exit_code, present.stdout)
    assert "earlier name" not in present.stderr
    # Two minor versions after its announcement a name is none any more.
    assert annot("corpus", "list", folder=tmp_path / "study").exit_code == 2


def test_an_earlier_name_of_the_library_warns_with_the_present_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(library._RENAMED, "krippendorff", "alpha")
    with pytest.warns(FutureWarning, match="annot.krippendorff is called annot.alpha now"):
        assert library.krippendorff is library.alpha
