"""The page `In a notebook`, run in a real one: every result that ends a cell is shown, as a table or as a drawing."""

import ast
from typing import Any

import nbclient
import nbformat
import pytest
from command_line import annot_done
from documented import CHECKOUT, DOCS, references

PAGE = [block.code for block in references.blocks(DOCS / "howto" / "notebook.md") if block.language == "python"]
MORE = {
    "with pyplot": "import matplotlib.pyplot as plt\nevaluated.plot()",
    "hostile": "annot.draw_pool({'<script>a</script>': {'<img src=x>': ['<b>d</b>']}})",
    "large": "annot.draw_pool({'m': {f'q{at}': [f'd{one}' for one in range(100)] for at in range(200)}})",
    "lines": "print(agreement)",
}
"""Cells that are on no page."""
JUDGEMENTS = "query,document,assessor,grade\nq1,d1,a1,3\nq1,d1,a2,2\nq1,d2,a1,0\nq1,d2,a2,0\nq2,d1,a1,1\nq2,d1,a2,1\n"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What each cell shows, by its code or its name in `MORE`. A kernel starts once for all."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "exports").symlink_to(CHECKOUT / "exports")
    annot_done("init", "study", folder=folder)
    (folder / "j.csv").write_text(JUDGEMENTS)
    annot_done("import", "--as", "judgements", folder / "j.csv", "-f", "method", folder=folder / "study")
    cells = {code: code for code in PAGE} | MORE
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells.values()])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
            patch.setenv(name, str(folder / name))
        resources = {"metadata": {"path": str(folder)}}
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    # On a busy machine matplotlib says that it looks for fonts.
    return {
        name: [output for output in cell.outputs if "font cache" not in output.get("text", "")]
        for name, cell in zip(cells, notebook.cells, strict=True)
    }


@pytest.mark.parametrize("code", PAGE)
def test_a_cell_of_the_page_shows_its_last_line(code: str, outputs: dict[str, list[Any]]) -> None:
    assert isinstance(ast.parse(code).body[-1], ast.Expr)
    (shown,) = outputs[code]
    assert shown.output_type == "execute_result"
    assert len(shown.data["text/plain"]) < 2000
    if code.strip().endswith(".plot()"):
        assert shown.data["image/png"]
    else:
        assert "<td" in shown.data["text/html"]


def test_a_drawing_is_shown_once_with_pyplot_too(outputs: dict[str, list[Any]]) -> None:
    (shown,) = outputs["with pyplot"]
    assert shown.data["image/png"]


def test_what_people_wrote_stays_text(outputs: dict[str, list[Any]]) -> None:
    html = outputs["hostile"][0].data["text/html"].split("</style>")[1]
    assert "&lt;img src=x&gt;" in html
    assert "<script" not in html
    assert "<img" not in html
