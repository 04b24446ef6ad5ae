"""Studies to open from Python: a small one, and CSFCube's."""

from pathlib import Path

import pytest
from annot import OpenStudy, open_study
from command_line import annot_done
from csfcube_study import csfcube_study as make_csfcube_study

JUDGEMENTS = """query,document,assessor,grade
q1,d1,a1,3
q1,d1,a2,2
q1,d2,a1,0
q1,d2,a2,0
q2,d1,a1,1
q2,d1,a2,1
q2,d3,a1,2
q2,d3,a2,
"""


@pytest.fixture
def small_study(tmp_path: Path) -> Path:
    """Two queries, two assessors, one judgement missing; `study/` in the test's folder."""
    annot_done("init", "study", folder=tmp_path)
    (tmp_path / "judgements.csv").write_text(JUDGEMENTS)
    annot_done("import", "--as", "judgements", tmp_path / "judgements.csv", "-f", "method", folder=tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture(scope="session")
def csfcube_study(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CSFCube's whole release, imported. Nobody writes into it."""
    return make_csfcube_study(shared, tmp_path_factory.mktemp("csfcube") / "study").root


@pytest.fixture(scope="session")
def csfcube(csfcube_study: Path) -> OpenStudy:
    """The same, opened once: its agreement takes seconds."""
    return open_study(csfcube_study)
