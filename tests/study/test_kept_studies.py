"""Studies that tests share: one process copies a study while another has its database open."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from study_stages import DEMO, QUERY_PAPERS, copied, kept

OPENS = """
import sqlite3, sys
print("begun", flush=True)
while True:
    database = sqlite3.connect(sys.argv[1])
    database.execute("SELECT count(*) FROM query").fetchall()
    database.close()
"""


def test_a_study_is_copied_while_another_process_opens_and_closes_its_database(tmp_path: Path) -> None:
    folder = kept(DEMO, "queried")
    queries = sum(len(facets) for _, facets in QUERY_PAPERS)
    with subprocess.Popen([sys.executable, "-c", OPENS, folder / "annot.db"], stdout=subprocess.PIPE) as opener:
        assert opener.stdout is not None
        opener.stdout.readline()
        try:
            for number in range(20):
                ws = copied(DEMO, "queried", tmp_path / str(number))
        finally:
            opener.kill()
    with closing(sqlite3.connect(ws.root / "annot.db")) as database:
        assert database.execute("SELECT count(*) FROM query").fetchone() == (queries,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
