"""Templates: escaping, undefined names, the workspace's own files, and errors that name template and line."""

from pathlib import Path
from unittest.mock import patch

import pytest
from annot.base import templating
from annot.base.errors import InputError
from annot.base.templating import render
from annot.base.words import read_words


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["x.xml.j2", "x.html.j2", "x.xml", "x.html"])
def test_values_are_escaped_in_xml_and_html(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path, name, '<a b="{{ title }}"/>')
    assert render(name, {"title": 'a < b & "c"'}, overrides=folder) == '<a b="a &lt; b &amp; &#34;c&#34;"/>'


def test_an_undefined_name_is_an_error_with_template_and_line(tmp_path: Path) -> None:
    folder = write(tmp_path, "x.xml.j2", "<View>\n\n  {{ garde }}\n</View>")
    with pytest.raises(InputError, match=r"x\.xml\.j2:3: 'garde' is undefined"):
        render("x.xml.j2", {"grade": 1}, overrides=folder)


def test_broken_syntax_is_an_error_with_template_and_line(tmp_path: Path) -> None:
    folder = write(tmp_path, "x.xml.j2", "<View>\n{% for a in %}\n</View>")
    with pytest.raises(InputError, match=r"x\.xml\.j2:2: "):
        render("x.xml.j2", {}, overrides=folder)


def test_a_fault_in_an_included_template_names_the_included_one(tmp_path: Path) -> None:
    folder = write(tmp_path, "inner.xml.j2", "\n{{ nothing }}")
    write(tmp_path, "x.xml.j2", '{% include "inner.xml.j2" %}')
    with pytest.raises(InputError, match=r"inner\.xml\.j2:2: 'nothing' is undefined"):
        render("x.xml.j2", {}, overrides=folder)


def test_a_byte_order_mark_of_an_editor_is_no_text_of_a_template_or_of_words(tmp_path: Path) -> None:
    (tmp_path / "judge.xml.j2").write_text("<View>mine</View>", encoding="utf-8-sig")
    assert render("judge.xml.j2", {}, overrides=tmp_path) == "<View>mine</View>"
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "de.toml").write_text('[screen]\nnew = "Neu"\n', encoding="utf-8-sig")
    assert read_words("de", overrides=tmp_path)("screen.new") == "Neu"


def test_a_template_that_was_changed_or_is_of_another_study_is_compiled_again(tmp_path: Path) -> None:
    folder, other = (write(tmp_path / name, "x.txt.j2", f"{name} {{{{ n }}}}") for name in ("one", "two"))
    assert render("x.txt.j2", {"n": 1}, overrides=folder) == "one 1"
    assert render("x.txt.j2", {"n": 1}, overrides=other) == "two 1"
    write(folder, "x.txt.j2", "changed\n{{ nothing }}")
    with pytest.raises(InputError, match=r"one/x\.txt\.j2:2: 'nothing' is undefined"):
        render("x.txt.j2", {"n": 1}, overrides=folder)
    with pytest.raises(InputError, match=r"two/x\.txt\.j2:1: 'n' is undefined"):
        render("x.txt.j2", {}, overrides=other)


@pytest.mark.parametrize(
    "code",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ render.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.system('touch was_here') }}",
    ],
)
def test_a_template_reaches_nothing_behind_the_values_it_is_given(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write(tmp_path / "templates", "x.md.j2", code)
    with pytest.raises(InputError, match=r"x\.md\.j2:1: .*unsafe"):
        render("x.md.j2", {"render": render}, overrides=folder)
    assert not (tmp_path / "was_here").exists()


@pytest.mark.parametrize("is_writable", [True, False])
def test_packaged_templates_are_kept_compiled_and_those_of_studies_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_writable: bool
) -> None:
    study = write(tmp_path / "study", "x.txt.j2", "{{ n }}")
    place = tmp_path / "kept" if is_writable else study / "x.txt.j2" / "kept"
    monkeypatch.setattr(templating, "CACHE", place)
    for times_compiled in (2, 1 if is_writable else 2):
        monkeypatch.setattr(templating, "_COMPILED", templating.TemplateCache())
        jinja = templating.environment(overrides=study)
        with patch.object(jinja, "_compile", wraps=jinja._compile) as compiling:
            jinja.get_template("judge.xml.j2")
            assert jinja.get_template("x.txt.j2").render(n=1) == "1"
        assert compiling.call_count == times_compiled
    assert len([*place.glob("*")]) == is_writable
