"""A plug-in of another distribution is installed, adds a part of each kind to a study that names it, and goes again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomlkit
from annot.base import plugins
from annot.base.errors import InputError
from annot.cli import commands
from annot.judging.exchange.outgoing import private_words
from annot.measuring.evaluation.measures import knows
from annot.measuring.sampled_study import cheap_label_of
from annot.ranking.methods import METHODS, known_methods
from annot.ranking.systems import known_systems
from annot.steps import plan
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from command_line import annot, annot_done
from small_study import FirstPairs, Small
from study_stages import copied

PACKAGE = Path(__file__).resolve().parents[1] / "example_plugin"
VERSION = "annot-example 1.2"
WORKS = [
    {
        **{"id": f"lee{year}", "type": "article-journal", "DOI": f"10.1000/{year}", "title": f"On abstracts of {year}"},
        **{"abstract": "We look at many abstracts of papers. " * 5, "issued": {"date-parts": [[year, 3]]}},
    }
    for year in (2019, 2020)
]


def forget() -> None:
    """Forget what was looked up, and the modules and commands of the plug-in."""
    for lookup in (plugins.parts, plugins.loaded, plugins.modules_of):
        lookup.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "annot_example"]:
        del sys.modules[name]
    commands.BY_WORDS.pop("count", None)
    commands.MODULES.pop("count", None)
    commands.COMMANDS.pop(commands.OF_PLUGINS, None)
    commands._loaded.cache_clear()


@pytest.fixture(scope="module")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the distribution, as pip installs it."""
    folder, source = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("source")
    for path in PACKAGE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            (source / path.relative_to(PACKAGE)).parent.mkdir(exist_ok=True)
            (source / path.relative_to(PACKAGE)).write_bytes(path.read_bytes())
    line = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*line, "--target", str(folder), str(source)], check=True)
    return folder


@pytest.fixture
def installed(distribution: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(distribution))
    forget()
    yield
    forget()


def using(ws: Workspace, *names: str, **settings: object) -> Workspace:
    """The study with these plug-ins in annot.toml."""
    document = tomlkit.parse(ws.settings_file.read_text(encoding="utf-8"))
    document["plugins"] = {"names": list(names)}
    for section, values in settings.items():
        document.setdefault(section, tomlkit.table()).update(values)
    ws.settings_file.write_text(tomlkit.dumps(document), encoding="utf-8")
    return Workspace.open(ws.root)


def study(folder: Path, stage: str) -> Workspace:
    return copied(Small(answers=FirstPairs(40)), stage, folder / "study")


def test_a_study_that_names_a_plugin_which_is_not_installed_says_so(tmp_path: Path) -> None:
    ws = using(study(tmp_path, "planned"), "example")
    assert annot("status", folder=ws.root).exit_code == 0
    assert annot("--help", folder=ws.root).exit_code == 0
    examined = annot("doctor", folder=ws.root)
    assert examined.exit_code == 1
    assert "example" in examined.stdout
    for words in (("pool", "--redraw"), ("run", "list"), ("count",)):
        refused = annot(*words, folder=ws.root)
        assert refused.exit_code == 2
        assert "example" in refused.message()
        assert "not installed" in refused.message()


@pytest.mark.usefixtures("installed")
def test_a_plugin_is_used_only_in_a_study_that_names_it(tmp_path: Path) -> None:
    ws = study(tmp_path, "settled")
    assert annot("count", folder=ws.root).exit_code == 2
    refused = annot("evaluate", "--measure", "example:Success@1", folder=ws.root)
    assert refused.exit_code == 2
    assert "[plugins]" in refused.message()
    assert "shortest" not in annot_done("run", "list", folder=ws.root).stdout
    assert known_methods() == METHODS
    ws = using(ws, "example")
    assert annot_done("count", folder=ws.root).stdout.startswith("4 queries")
    overview = annot_done("--help", folder=ws.root).stdout
    assert "Plug-ins" in overview
    assert "count" in overview.partition("More commands")[2]
    assert "shortest" in annot_done("run", "list", folder=ws.root).stdout
    assert VERSION in annot("doctor", folder=ws.root).stdout


@pytest.mark.usefixtures("installed")
def test_a_method_draws_pools_and_its_plugin_is_on_record(tmp_path: Path) -> None:
    ws = using(study(tmp_path, "queried"), "example", pool={"methods": ["abs_dirichlet"], "per_method": 3})
    annot_done("pool", folder=ws.root)
    manifest = json.loads((ws.rankings / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["methods"] == {"abs_dirichlet": {"tokens": "words", "mu": 3.0}}
    assert manifest["plugins"] == {"example": VERSION}


@pytest.mark.usefixtures("installed")
def test_a_system_a_measure_a_table_a_chapter_a_fact_and_a_file_of_a_release(tmp_path: Path) -> None:
    ws = using(study(tmp_path, "settled"), "example")
    annot_done("qrels", "--partial", folder=ws.root)
    annot_done("run", "shortest", folder=ws.root)
    with ws.reading() as session:
        from annot.store.runs import read_runs

        facts = {run.tag: run.facts for run in read_runs(session)}["shortest"]
    assert facts["plugins"] == {"example": VERSION}
    rows = annot_done("evaluate", "shortest", "--measure", "example:Success@1", "--json", folder=ws.root).data
    assert "example:Success@1" in json.dumps(rows)
    assert "Example" in annot("evaluate", "--against", "example", folder=ws.root).stdout
    annot_done("report", folder=ws.root)
    page = (ws.exports / "report.md").read_text(encoding="utf-8")
    assert "The example counts 4 pools." in page
    assert "the example fund" in page
    assert VERSION in page
    annot("release", ws.root / "out", "--draft", folder=ws.root)
    triples = (ws.root / "out" / "example" / "triples.txt").read_text(encoding="utf-8")
    assert len(triples.splitlines()) == len(ws.qrels.read_text(encoding="utf-8").splitlines())


@pytest.mark.usefixtures("installed")
def test_papers_topics_and_judgements_are_read(tmp_path: Path) -> None:
    annot_done("init", tmp_path / "study", folder=tmp_path)
    ws = using(Workspace.open(tmp_path / "study"), "example", corpus={"min_sentences": 1})
    (tmp_path / "library.jsonl").write_text("".join(json.dumps(work) + "\n" for work in WORKS), encoding="utf-8")
    (tmp_path / "topics.txt").write_text("#topics\nt1: abstracts of papers\nt2: titles\n", encoding="utf-8")
    (tmp_path / "votes.txt").write_text("#votes\nt1 10.1000/2019 yes\nt1 10.1000/2020 no\n", encoding="utf-8")
    added = annot_done("corpus", "add", tmp_path / "library.jsonl", "--json", folder=ws.root)
    assert "example:csl" in json.dumps(added.data)
    annot_done("query", "add", "--file", tmp_path / "topics.txt", folder=ws.root)
    imported = annot_done("import", tmp_path / "votes.txt", "--json", folder=ws.root)
    assert imported.data["counts"] == {"votes": 2}


@pytest.mark.usefixtures("installed")
def test_words_are_hidden_and_grades_predicted(tmp_path: Path) -> None:
    ws = using(study(tmp_path, "planned"), "example", sample={"cheap_label": "rank-one"})
    with ws.reading() as session:
        assert "arm-b" in private_words(ws, session)
    plan.withdraw(ws, queries=(), sent=False, dry_run=False)
    plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=False, sample=0.5)
    label = cheap_label_of(read_snapshot(ws))
    assert label is not None
    assert label.model == "the first draw"
    assert set(label.shares) == {f"p{number}-method" for number in range(1, 5)}


@pytest.mark.usefixtures("installed")
def test_names_of_plugins_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert knows("trec", "example:Success@5")
    assert not knows("trec", "example:Recall@5")
    assert "shortest" in known_systems(("example",))
    with pytest.raises(InputError, match="not installed here; installed are example"):
        plugins.parts("systems", ("exampel",))
    module = plugins.modules_of(("example",))["example"]
    monkeypatch.setitem(module.PARTS, "pool_methods", {"abs_tfidf": "annot_example.ranking:DIRICHLET"})
    plugins.parts.cache_clear()
    plugins.loaded.cache_clear()
    with pytest.raises(InputError, match="abs_tfidf, which annot has itself"):
        known_methods(("example",))
    monkeypatch.setitem(module.PARTS, "pool_methods", {"abs_new": "annot_example.ranking:NOWHERE"})
    plugins.parts.cache_clear()
    plugins.loaded.cache_clear()
    with pytest.raises(InputError, match=r"'abs_new' at annot_example\.ranking:NOWHERE, which cannot be imported"):
        known_methods(("example",))
